//! The gateway's access token: read from a file that its owner alone can read, or from a systemd credential; never shown.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use hyper::header::HeaderValue;
use zeroize::Zeroizing;

use super::Error;
use crate::config::{self, secret_credential, secret_file};

/// An access token, as the value of the `Authorization` header (interface: Authentication, 2). Its buffer is ours and wiped
/// when the last user drops it; hyper and rustls copy it into their write buffers with each request.
#[derive(Clone)]
pub struct Token(HeaderValue);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    /// Reads the token from `token-file` or from `$CREDENTIALS_DIRECTORY/token-credential`.
    ///
    /// # Errors
    /// Every [`Error`] about tokens; each names the file and the remedy.
    pub fn load(config: &config::Gateway) -> Result<Self, Error> {
        let credentials = std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from);
        let path = place(config, credentials.as_deref())?;
        let read = if config.token_file.is_some() { secret_file } else { secret_credential };
        Ok(Self::new(&read(&path)?))
    }

    pub(super) fn header(&self) -> HeaderValue {
        self.0.clone()
    }

    fn new(token: &str) -> Self {
        let mut value = Zeroizing::new(Vec::with_capacity(7 + token.len()));
        value.extend_from_slice(b"Bearer ");
        value.extend_from_slice(token.as_bytes());
        let mut value =
            HeaderValue::from_maybe_shared(Bytes::from_owner(value)).expect("printable ASCII is a header value");
        value.set_sensitive(true);
        Self(value)
    }
}

/// The file that holds the token.
fn place(config: &config::Gateway, credentials: Option<&Path>) -> Result<PathBuf, Error> {
    match (&config.token_file, &config.token_credential) {
        (Some(file), None) => Ok(file.clone()),
        (None, Some(name)) => {
            let wrong = |why| Error::Credential { name: name.clone(), why };
            if name.is_empty() || name.contains('/') || name.starts_with('.') {
                return Err(wrong("it must be the name of a credential, not a path"));
            }
            let folder = credentials.ok_or_else(|| {
                wrong("systemd passes no credentials; add LoadCredential= to the unit, or use token-file")
            })?;
            Ok(folder.join(name))
        }
        _ => Err(Error::TokenPlace),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gateway(file: Option<&str>, credential: Option<&str>) -> config::Gateway {
        let mut text = "url = \"https://gateway.example\"\nentity-id = \"\"\nca-file = \"/ca.pem\"\n".to_owned();
        for (key, value) in [("token-file", file), ("token-credential", credential)] {
            if let Some(value) = value {
                text += &format!("{key} = \"{value}\"\n");
            }
        }
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn the_token_is_in_exactly_one_place() {
        let credentials = Path::new("/run/credentials/pos-agent.service");
        let folder = Some(credentials);
        assert_eq!(place(&gateway(Some("/etc/token"), None), folder).unwrap(), Path::new("/etc/token"));
        assert_eq!(place(&gateway(None, Some("token")), folder).unwrap(), credentials.join("token"));
        assert!(matches!(place(&gateway(None, None), folder), Err(Error::TokenPlace)));
        assert!(matches!(place(&gateway(Some("/t"), Some("t")), folder), Err(Error::TokenPlace)));
        assert!(matches!(place(&gateway(None, Some("token")), None), Err(Error::Credential { .. })));
        assert!(matches!(place(&gateway(None, Some("../token")), folder), Err(Error::Credential { .. })));
    }

    #[test]
    fn a_token_is_never_shown() {
        let token = Token::new("topsecret");
        assert!(!format!("{token:?} {:?}", token.header()).contains("topsecret"));
        assert_eq!(token.header().as_bytes(), b"Bearer topsecret");
    }
}
