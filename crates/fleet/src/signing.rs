//! The keys that sign commands, settings and keys. They are files of a person or of a program, and never in the
//! database or at the broker.
//!
//! A file is a private key in PEM form (PKCS#8), with the key's name and kind in lines before it:
//!
//! ```text
//! name: desk 2026
//! kind: desk
//! -----BEGIN PRIVATE KEY-----
//! ```

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pos_daemon::secret::{SecretError, key_credential, key_file};
use pos_fleet_terms::{CommandKey, DocumentKind, DocumentSignature, Envelope, KeyKind};
use ring::digest::{SHA256, digest};
use ring::signature::{ECDSA_P256_SHA256_ASN1, ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject as _;
use zeroize::Zeroizing;

/// The longest name of a key, in characters.
const LONGEST_NAME: usize = 64;
/// The length of a line in a PEM file.
const PEM_LINE: usize = 64;
/// The beginning of an Ed25519 key in the first version of PKCS#8, which every program reads (RFC 8410, 7).
const PKCS8: [u8; 16] = *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
/// The length of the key after it.
const SEED: usize = 32;
/// The mode of a key.
const PRIVATE: u32 = 0o600;

/// The reason why a key cannot be used. No text contains a key.
#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    /// The file cannot be read, or others may open it.
    #[error(transparent)]
    File(#[from] SecretError),
    /// The file exists.
    #[error("{}: the file exists; a key is never replaced", .0.display())]
    Exists(PathBuf),
    /// The file cannot be written.
    #[error("{}: cannot be written: {cause}", file.display())]
    NotWritten {
        /// The file.
        file: PathBuf,
        /// The error from the operating system.
        #[source]
        cause: io::Error,
    },
    /// The file has another content.
    #[error("{}: is not a key of pos-fleet key new (Ed25519, PKCS#8 in PEM form, with its name and kind)", .0.display())]
    NotAKey(PathBuf),
    /// The name is empty, too long, or has a control character.
    #[error("the name of a key has 1 to {LONGEST_NAME} characters, and no control character")]
    Name,
    /// The system gives no random numbers.
    #[error("the system gives no random numbers")]
    NoRandom,
}

/// A key that signs.
pub struct SigningKey {
    name: String,
    kind: KeyKind,
    pair: Ed25519KeyPair,
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} key {:?}", self.kind.word(), self.name)
    }
}

impl SigningKey {
    /// Makes a new key, and writes it into a new file that only its owner can open.
    ///
    /// # Errors
    /// Fails if the file exists or cannot be written.
    pub fn generate(file: &Path, kind: KeyKind, name: &str) -> Result<Self, SigningError> {
        let is_good = (1..=LONGEST_NAME).contains(&name.chars().count()) && !name.contains(char::is_control);
        if !is_good || name.trim() != name {
            return Err(SigningError::Name);
        }
        let mut key = Zeroizing::new([0; PKCS8.len() + SEED]);
        key[..PKCS8.len()].copy_from_slice(&PKCS8);
        getrandom::fill(&mut key[PKCS8.len()..]).map_err(|_| SigningError::NoRandom)?;
        write(file, &text(name, kind, key.as_ref())).map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => SigningError::Exists(file.to_owned()),
            _ => SigningError::NotWritten { file: file.to_owned(), cause },
        })?;
        Self::load(file)
    }

    /// Reads a key from a file that only its owner can open, or that systemd passed.
    ///
    /// # Errors
    /// Fails if others may open the file, or if its content is another one.
    pub fn load(file: &Path) -> Result<Self, SigningError> {
        let is_credential = std::env::var_os("CREDENTIALS_DIRECTORY").is_some_and(|it| file.starts_with(it));
        let bytes = if is_credential { key_credential(file)? } else { key_file(file)? };
        Self::read(&bytes).ok_or_else(|| SigningError::NotAKey(file.to_owned()))
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let value = |field: &str| {
            let values = text.lines().take_while(|line| !line.starts_with("-----"));
            values.filter_map(|line| line.strip_prefix(field)).map(str::trim).next()
        };
        let name = value("name:").filter(|name| !name.is_empty())?.to_owned();
        let kind = value("kind:")?;
        let kind = [KeyKind::Till, KeyKind::Desk, KeyKind::Config].into_iter().find(|it| it.word() == kind)?;
        let key = PrivatePkcs8KeyDer::from_pem_slice(bytes).ok()?;
        // The first version of PKCS#8 has no public key to compare with.
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(key.secret_pkcs8_der()).ok()?;
        Some(Self { name, kind, pair })
    }

    /// Returns the key's name for people.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the key's kind.
    #[must_use]
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// Returns the key's name in documents: SHA-256 of its public bytes, in hexadecimal.
    #[must_use]
    pub fn id(&self) -> String {
        id_of(self.public())
    }

    /// Returns the public bytes.
    #[must_use]
    pub fn public(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }

    /// Returns the public key as a terminal's configuration names it.
    #[must_use]
    pub fn for_terminals(&self, till: Option<String>) -> CommandKey {
        CommandKey { name: self.name.clone(), kind: self.kind, public: hex::encode(self.public()), till }
    }

    /// Signs a document.
    #[must_use]
    pub fn sign(&self, kind: DocumentKind, document: Vec<u8>) -> Envelope {
        let mut envelope = Envelope { kind, document, signatures: Vec::new() };
        self.add_to(&mut envelope);
        envelope
    }

    /// Adds the signature of this key to a document.
    pub fn add_to(&self, envelope: &mut Envelope) {
        let signature = self.pair.sign(&envelope.signed_bytes());
        envelope.signatures.push(DocumentSignature { key: self.id(), bytes: signature.as_ref().to_vec() });
    }
}

/// Returns the name of a command key in documents.
#[must_use]
pub fn id_of(public: &[u8]) -> String {
    hex::encode(digest(&SHA256, public))
}

/// Returns whether one of the signatures is of this command key.
#[must_use]
pub fn is_signed_by(envelope: &Envelope, public: &[u8]) -> bool {
    let (key, bytes) = (UnparsedPublicKey::new(&ED25519, public), envelope.signed_bytes());
    envelope.signatures.iter().any(|signature| key.verify(&bytes, &signature.bytes).is_ok())
}

/// Returns whether one of the signatures is of a terminal's key: a point on P-256, as its certificate has it.
#[must_use]
pub fn is_signed_by_terminal(envelope: &Envelope, point: &[u8]) -> bool {
    let (key, bytes) = (UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point), envelope.signed_bytes());
    envelope.signatures.iter().any(|signature| key.verify(&bytes, &signature.bytes).is_ok())
}

fn text(name: &str, kind: KeyKind, key: &[u8]) -> Zeroizing<String> {
    let base64 = Zeroizing::new(STANDARD.encode(key));
    let word = kind.word();
    // The capacity is enough for all, so no copy remains on the heap.
    let mut text = Zeroizing::new(String::with_capacity(1024));
    text.push_str(&format!("name: {name}\nkind: {word}\n-----BEGIN PRIVATE KEY-----\n"));
    let mut rest = base64.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(PEM_LINE));
        text.push_str(line);
        text.push('\n');
        rest = after;
    }
    text.push_str("-----END PRIVATE KEY-----\n");
    text
}

/// Writes a new file. It is on the disk when this returns.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let mut opened = OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(file)?;
    let written = opened.write_all(text.as_bytes()).and_then(|()| opened.sync_all());
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = written.and_then(|()| fs::File::open(folder)?.sync_all());
    written.inspect_err(|_| {
        // Half a key is of no use.
        let _ = fs::remove_file(file);
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_a_closed_file_that_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("desk.pem");
        let key = SigningKey::generate(&file, KeyKind::Desk, "desk 2026").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let read = SigningKey::load(&file).unwrap();
        assert_eq!((read.name(), read.kind(), read.id()), ("desk 2026", KeyKind::Desk, key.id()));
        let again = SigningKey::generate(&file, KeyKind::Desk, "desk 2026");
        assert!(matches!(again, Err(SigningError::Exists(it)) if it == file));
        for name in ["", " desk", "a\nb", &"a".repeat(65)] {
            let refused = SigningKey::generate(&folder.path().join("other"), KeyKind::Desk, name);
            assert!(matches!(refused, Err(SigningError::Name)), "{name:?}");
        }
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(SigningKey::load(&file), Err(SigningError::File(SecretError::Open { .. }))));
        let shown = format!("{key:?}");
        assert_eq!(shown, "the desk key \"desk 2026\"");
    }

    #[test]
    fn another_file_is_refused_without_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key.pem");
        SigningKey::generate(&file, KeyKind::Till, "web").unwrap();
        let good = fs::read_to_string(&file).unwrap();
        for wrong in [
            good.replace("kind: till", "kind: king"),
            good.replace("name: web\n", ""),
            good.replace("MC4CAQ", "MC4CAR"),
            good.lines().filter(|line| !line.starts_with("-----END")).collect(),
        ] {
            assert_ne!(wrong, good);
            fs::write(&file, &wrong).unwrap();
            let error = SigningKey::load(&file).unwrap_err();
            assert!(matches!(error, SigningError::NotAKey(_)), "{error}");
            let secret = good.lines().nth(3).unwrap();
            assert!(!format!("{error} {error:?}").contains(&secret[..16]));
        }
    }

    /// RFC 8032, 7.1, TEST 3.
    #[test]
    fn signatures_are_those_of_the_specification() {
        let bytes = |text: &str| hex::decode(text).unwrap();
        let seed = bytes("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7");
        let public = bytes("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025");
        let expected = bytes(
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
             18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        );
        let pair = Ed25519KeyPair::from_seed_and_public_key(&seed, &public).unwrap();
        assert_eq!(pair.sign(&bytes("af82")).as_ref(), expected);
        let key = SigningKey { name: "test".to_owned(), kind: KeyKind::Desk, pair };
        let mut envelope = key.sign(DocumentKind::Command, b"{}".to_vec());
        assert!(is_signed_by(&envelope, &public));
        assert_eq!(envelope.signatures[0].key, id_of(&public));
        // The kind is signed too.
        envelope.kind = DocumentKind::Settings;
        assert!(!is_signed_by(&envelope, &public));
        envelope.kind = DocumentKind::Command;
        envelope.document.push(b' ');
        assert!(!is_signed_by(&envelope, &public));
        UnparsedPublicKey::new(&ED25519, &public).verify(&bytes("af82"), &expected).unwrap();
    }

    #[test]
    fn openssl_reads_the_key_and_signs_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key.pem");
        let key = SigningKey::generate(&file, KeyKind::Config, "config a").unwrap();
        let envelope = key.sign(DocumentKind::Settings, b"{\"v\":1}".to_vec());
        let message = folder.path().join("message");
        fs::write(&message, envelope.signed_bytes()).unwrap();
        let signed = std::process::Command::new("openssl")
            .args(["pkeyutl", "-sign", "-rawin", "-inkey"])
            .arg(&file)
            .arg("-in")
            .arg(&message)
            .output()
            .unwrap();
        assert_eq!(signed.stdout, envelope.signatures[0].bytes, "{}", String::from_utf8_lossy(&signed.stderr));
    }
}
