//! The gateway's access token: read from a file that its owner alone can read, or from a systemd credential; never shown.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use hyper::header::HeaderValue;
use zeroize::Zeroizing;

use super::Error;
use crate::config;

/// Longest token, in bytes: what common HTTP servers take in one header line.
const MAX_TOKEN: usize = 4096;

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
        Self::read(&place(config, credentials.as_deref())?)
    }

    pub(super) fn header(&self) -> HeaderValue {
        self.0.clone()
    }

    fn read(path: &Path) -> Result<Self, Error> {
        let unreadable = |source| Error::TokenUnreadable { path: path.to_owned(), source };
        let unfit = |why: String| Error::TokenUnfit { path: path.to_owned(), why };
        // Not blocking: a FIFO would otherwise hold the start for ever.
        let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).expect("open flags are an int");
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(unreadable)?;
        // Asked of the open file, not of its name: nobody can exchange it in between.
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(unfit("it is not a regular file".to_owned()));
        }
        if metadata.mode() & 0o077 != 0 {
            let mode = metadata.mode() & 0o777;
            return Err(unfit(format!(
                "others than its owner have rights to it (mode {mode:03o}); run: chmod 600 {}",
                path.display()
            )));
        }
        Self::from_line(&read_bounded(file).map_err(unreadable)?).map_err(|why| unfit(why.to_owned()))
    }

    /// One line of printable ASCII without spaces; the line feed at its end may be missing.
    fn from_line(content: &[u8]) -> Result<Self, &'static str> {
        let line = content.strip_suffix(b"\n").unwrap_or(content);
        if line.is_empty() {
            return Err("it is empty; write the access token of the gateway's back office into it");
        }
        if line.len() > MAX_TOKEN {
            return Err("it is too long for an access token");
        }
        if !line.iter().all(u8::is_ascii_graphic) {
            return Err("it must hold the access token alone: one line of printable characters without spaces");
        }
        let mut value = Zeroizing::new(Vec::with_capacity(7 + line.len()));
        value.extend_from_slice(b"Bearer ");
        value.extend_from_slice(line);
        let mut value =
            HeaderValue::from_maybe_shared(Bytes::from_owner(value)).expect("printable ASCII is a header value");
        value.set_sensitive(true);
        Ok(Self(value))
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

/// At most one byte more than a token and its line feed, in a buffer that never grows and is wiped.
fn read_bounded(mut file: File) -> std::io::Result<Zeroizing<Vec<u8>>> {
    let mut content = Zeroizing::new(vec![0; MAX_TOKEN + 2]);
    let mut filled = 0;
    while filled < content.len() {
        match file.read(&mut content[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    content.truncate(filled);
    Ok(content)
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
    fn a_token_is_one_line_of_printable_ascii() {
        for good in [&b"OGFjN2E0"[..], b"abc==\n"] {
            assert!(Token::from_line(good).is_ok());
        }
        for bad in [&b""[..], b"\n", b"a\nb", b"a b", b"a\r\n", "é".as_bytes(), &[b'x'; MAX_TOKEN + 1]] {
            assert!(Token::from_line(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_token_is_never_shown() {
        let token = Token::from_line(b"topsecret").unwrap();
        assert!(!format!("{token:?} {:?}", token.header()).contains("topsecret"));
        assert_eq!(token.header().as_bytes(), b"Bearer topsecret");
    }
}
