//! Secrets in separate files. They are read once, wiped when dropped, and refused if other users could have read them.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use zeroize::Zeroizing;

use crate::settings::{ConfigFault, fault};

/// The minimum number of characters. A shorter secret can be guessed.
const MIN_CHARACTERS: usize = 16;
/// The maximum size of a secret file, in bytes. A larger file is not a secret.
const MAX_BYTES: usize = 4096;
/// The maximum size of a private key file, in bytes. An RSA key of 8192 bits has 6.4 kB in PEM form.
const MAX_KEY: usize = 16 * 1024;

/// The reason why a file gives no secret. The text never contains the file's content.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {cause}; create it with the secret on one line, owned by the agent's user, mode 0600", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        #[source]
        cause: io::Error,
    },
    /// The path is a folder, a pipe or a device.
    #[error("{}: is not a regular file; put the secret on one line into a file", file.display())]
    NotAFile {
        /// The file.
        file: PathBuf,
    },
    /// Other users may read, write or run the file.
    #[error("{f}: other users may open it (mode {mode:04o}); run: chmod 0600 {f}, and replace the secret", f = file.display())]
    Open {
        /// The file.
        file: PathBuf,
        /// The permission bits.
        mode: u32,
    },
    /// The content is not one line of printable ASCII without spaces.
    #[error("{}: must hold one line of {MIN_CHARACTERS} to {MAX_BYTES} printable ASCII characters without spaces; write the secret again", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
    },
    /// The content is not a private key in PEM form.
    #[error("{}: must hold one private key in PEM form, up to {MAX_KEY} bytes; write the key again", file.display())]
    NotAKey {
        /// The file.
        file: PathBuf,
    },
}

/// Reads a secret: a regular file that only its owner can open, with one line of at least 16 printable ASCII
/// characters.
///
/// # Errors
/// Returns any [`SecretError`].
pub fn secret_file(path: &Path) -> Result<Zeroizing<String>, SecretError> {
    read(path, true)
}

/// Reads a secret that systemd passed (`LoadCredential=`). `path` is in `$CREDENTIALS_DIRECTORY`. systemd controls the
/// access, and may grant it through an access list that appears in the mode. The mode is therefore not checked.
///
/// # Errors
/// Returns any [`SecretError`] except [`SecretError::Open`].
pub fn secret_credential(path: &Path) -> Result<Zeroizing<String>, SecretError> {
    read(path, false)
}

/// Reads a private key in PEM form: a regular file that only its owner can open.
///
/// # Errors
/// Returns any [`SecretError`] except [`SecretError::Malformed`].
pub fn key_file(path: &Path) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    key(path, true)
}

/// Reads a private key that systemd passed.
///
/// # Errors
/// The same as for [`key_file`], except [`SecretError::Open`].
pub fn key_credential(path: &Path) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    key(path, false)
}

fn key(path: &Path, private: bool) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    let (mut bytes, length) = bytes(path, private, MAX_KEY)?;
    let marked = bytes[..length].windows(12).any(|window| window == b"PRIVATE KEY-");
    if length > MAX_KEY || !marked {
        return Err(SecretError::NotAKey { file: path.to_owned() });
    }
    bytes.truncate(length);
    Ok(bytes)
}

fn read(path: &Path, private: bool) -> Result<Zeroizing<String>, SecretError> {
    let (bytes, length) = bytes(path, private, MAX_BYTES + 2)?;
    secret_line(&bytes[..length], path)
}

/// Extracts the secret from typed or received input. The error uses `name` in place of a file name.
///
/// # Errors
/// Returns [`SecretError::Malformed`].
pub fn secret_line(typed: &[u8], name: &Path) -> Result<Zeroizing<String>, SecretError> {
    let malformed = || SecretError::Malformed { file: name.to_owned() };
    let line = typed.strip_suffix(b"\n").unwrap_or(typed);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let fits = (MIN_CHARACTERS..=MAX_BYTES).contains(&line.len()) && line.iter().all(u8::is_ascii_graphic);
    let text = std::str::from_utf8(line).ok().filter(|_| fits).ok_or_else(malformed)?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// Reads the beginning of a file, up to one byte more than `most`. Returns the bytes and their number.
fn bytes(path: &Path, private: bool, most: usize) -> Result<(Zeroizing<Vec<u8>>, usize), SecretError> {
    let unreadable = |cause| SecretError::Unreadable { file: path.to_owned(), cause };
    // NONBLOCK: opening a pipe must not wait for a writer. The metadata comes from the opened file, not from its name.
    let nonblock = i32::try_from(OFlags::NONBLOCK.bits()).expect("a flag is below 2^31");
    let mut file = OpenOptions::new().read(true).custom_flags(nonblock).open(path).map_err(unreadable)?;
    let facts = file.metadata().map_err(unreadable)?;
    if !facts.is_file() {
        return Err(SecretError::NotAFile { file: path.to_owned() });
    }
    let mode = facts.permissions().mode() & 0o7777;
    if private && mode & 0o077 != 0 {
        return Err(SecretError::Open { file: path.to_owned(), mode });
    }
    // The buffer never grows, so no copy remains on the heap.
    let mut bytes = Zeroizing::new(vec![0; most + 1]);
    let mut length = 0;
    while length < bytes.len() {
        match file.read(&mut bytes[length..]) {
            Ok(0) => break,
            Ok(n) => length += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
    Ok((bytes, length))
}

/// Checks whether systemd passed a credential with this name to this process. Returns `None` outside of systemd. A
/// credential of one byte counts as missing, because the unit's `SetCredential=` gives a line feed in place of a
/// missing file.
pub fn credential_is_there(name: &str) -> Option<bool> {
    let folder = std::env::var_os("CREDENTIALS_DIRECTORY")?;
    Some(fs::metadata(Path::new(&folder).join(name)).is_ok_and(|facts| facts.is_file() && facts.len() > 1))
}

/// Converts the fault of a secret file into a fault of the key that names it.
///
/// # Errors
/// Returns the fault.
pub fn in_words<T>(key: &str, read: Result<T, SecretError>) -> Result<T, ConfigFault> {
    read.map_err(|error| {
        let text = error.to_string();
        let (wrong, remedy) = text.split_once("; ").unwrap_or((&text, "write the secret again"));
        fault(key, wrong, remedy)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_one_closed_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let write = |content: &[u8], mode| {
            fs::write(&file, content).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            secret_file(&file)
        };
        for good in ["0123456789abcdef", "0123456789abcdef\n", "0123456789abcdef\r\n"] {
            assert_eq!(write(good.as_bytes(), 0o600).unwrap().as_str(), "0123456789abcdef");
        }
        assert!(write(b"0123456789abcdef", 0o400).is_ok());
        // systemd grants a credential through an access list, which appears as permissions of the group.
        assert!(write(b"0123456789abcdef", 0o440).is_err());
        assert!(secret_credential(&file).is_ok());
        for mode in [0o640, 0o604, 0o620, 0o601, 0o644] {
            assert!(matches!(write(b"0123456789abcdef", mode), Err(SecretError::Open { mode: m, .. }) if m == mode));
        }
        let long = [b'a'; MAX_BYTES + 1];
        for wrong in [
            &b""[..],
            b"0123456789abcde",
            b"0123456789abcdef\n\n",
            b"0123456789 abcdef",
            b"0123456789abcdef\nmore",
            b"0123456789abcd\xC3\xA9f",
            b"0123456789abcdef\0",
            &long,
        ] {
            let error = write(wrong, 0o600).unwrap_err();
            assert!(matches!(error, SecretError::Malformed { .. }), "{error}");
            assert!(!error.to_string().contains("0123456789"), "{error}");
        }
    }

    #[test]
    fn a_key_is_a_closed_file_in_pem_form() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key.pem");
        let write = |content: &[u8], mode| {
            fs::write(&file, content).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            key_file(&file)
        };
        let pem = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        assert_eq!(write(pem, 0o600).unwrap().as_slice(), pem);
        assert!(matches!(write(pem, 0o640), Err(SecretError::Open { mode: 0o640, .. })));
        assert!(key_credential(&file).is_ok());
        for wrong in [&b""[..], b"-----BEGIN CERTIFICATE-----", &[pem.as_slice(), &[b'\n'; MAX_KEY]].concat()] {
            assert!(matches!(write(wrong, 0o600), Err(SecretError::NotAKey { .. })));
        }
    }

    #[test]
    fn what_is_not_a_file_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(secret_file(folder.path()), Err(SecretError::NotAFile { .. })));
        let absent = folder.path().join("absent");
        assert!(matches!(secret_file(&absent), Err(SecretError::Unreadable { .. })));
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert!(matches!(secret_file(&pipe), Err(SecretError::NotAFile { .. })));
    }
}
