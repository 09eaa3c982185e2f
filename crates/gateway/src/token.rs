//! The gateway's access token, read from a file that only its owner can read, or from a systemd credential. It is never
//! shown.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use hyper::header::HeaderValue;
use zeroize::Zeroizing;

use super::Error;
use pos_daemon::secret::{secret_credential, secret_file};

use crate::config;

/// An access token, as the value of the `Authorization` header (interface: Authentication, 2). Its buffer is our own,
/// and is wiped when its last user drops it. With each request, hyper and rustls copy the token into their write
/// buffers.
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
    /// Returns an [`Error`] about the token, which names the file and the remedy.
    pub fn load(config: &config::Gateway) -> Result<Self, Error> {
        Self::load_from(config, credentials().as_deref())
    }

    /// Reads the token like [`Self::load`], with the given folder of systemd's credentials, for a process that systemd
    /// did not start.
    ///
    /// # Errors
    /// The same as for [`Self::load`].
    pub fn load_from(config: &config::Gateway, credentials: Option<&Path>) -> Result<Self, Error> {
        let path = place(config, credentials)?;
        let read = if config.token_file.is_some() { secret_file } else { secret_credential };
        Ok(Self::new(&read(&path)?))
    }

    /// Returns a token that no gateway accepts, for a client that reaches no gateway.
    #[must_use]
    pub fn none() -> Self {
        Self::new("none")
    }

    pub(super) fn header(&self) -> HeaderValue {
        self.0.clone()
    }

    /// Returns the expiry in seconds since 1970 if the token contains it: a JWT with `exp` (RFC 7519, 4.1.4). The claim
    /// is not verified, because only the gateway can verify it and only a warning depends on it.
    #[must_use]
    pub fn expires(&self) -> Option<i64> {
        let mut parts = self.0.as_bytes().strip_prefix(b"Bearer ")?.split(|byte| *byte == b'.');
        let (_header, claims, _signature) = (parts.next()?, parts.next()?, parts.next()?);
        let claims = Zeroizing::new(URL_SAFE_NO_PAD.decode(claims).ok().filter(|_| parts.next().is_none())?);
        // Only this field is read.
        #[derive(serde::Deserialize)]
        struct Claims {
            exp: serde_json::Number,
        }
        let exp = serde_json::from_slice::<Claims>(&claims).ok()?.exp;
        exp.as_i64().filter(|exp| *exp > 0)
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

/// Returns the folder in which systemd put this process's credentials.
pub(super) fn credentials() -> Option<PathBuf> {
    std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from)
}

/// Returns the file that contains the token.
pub(super) fn place(config: &config::Gateway, credentials: Option<&Path>) -> Result<PathBuf, Error> {
    match (&config.token_file, &config.token_credential) {
        (Some(file), None) => Ok(file.clone()),
        (None, Some(name)) => credential("token-credential", name, credentials),
        _ => Err(Error::TokenPlace),
    }
}

/// Returns the file of a systemd credential.
pub(super) fn credential(key: &'static str, name: &str, credentials: Option<&Path>) -> Result<PathBuf, Error> {
    let wrong = |why| Error::Credential { key, name: name.to_owned(), why };
    if name.is_empty() || name.contains('/') || name.starts_with('.') {
        return Err(wrong("it must be the name of a credential, not a path"));
    }
    let folder = credentials.ok_or_else(|| {
        wrong("systemd passes no credentials; add LoadCredential= to the unit, or set a file instead")
    })?;
    Ok(folder.join(name))
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

    /// Reads the claims of the example in RFC 7519, 3.1, which contain `"exp":1300819380`.
    #[test]
    fn the_end_of_a_jwt_is_read_and_other_tokens_have_none() {
        let rfc = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt\
                   cGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(Token::new(rfc).expires(), Some(1_300_819_380));
        for other in ["topsecret", "a.b.c", "a.e30.c", &format!("{rfc}.x"), "..", "a.eyJleHAiOiJzb29uIn0.c"] {
            assert_eq!(Token::new(other).expires(), None, "{other}");
        }
    }

    #[test]
    fn a_token_is_never_shown() {
        let token = Token::new("topsecret");
        assert!(!format!("{token:?} {:?}", token.header()).contains("topsecret"));
        assert_eq!(token.header().as_bytes(), b"Bearer topsecret");
    }
}
