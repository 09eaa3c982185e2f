//! Signed documents, as DSSE envelopes (Dead Simple Signing Envelope, protocol version 1.0.2).
//!
//! A signature covers the exact bytes of the document and its kind, so a document of one kind never counts as one of
//! another. This module neither makes nor checks signatures: it reads and writes the envelope, and returns the bytes
//! that a signature covers.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::LARGEST;

/// The greatest number of signatures of one document.
const MOST_SIGNATURES: usize = 4;
/// The greatest length of one signature in bytes. That of the longest algorithm in use, ECDSA on P-256, has 72.
const LONGEST_SIGNATURE: usize = 128;
/// The length of a key's name in hexadecimal: SHA-256 of the key.
const KEY_ID_DIGITS: usize = 64;

/// The kind of a signed document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// A command to one terminal.
    Command,
    /// The settings that the fleet gives.
    Settings,
    /// The command keys that the fleet gives.
    Keys,
    /// A terminal's result of a command.
    Result,
    /// A terminal's report about settings and keys.
    Report,
}

impl DocumentKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Command, Self::Settings, Self::Keys, Self::Result, Self::Report];

    /// Returns the type in the envelope.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Command => "application/vnd.pos-agent.command+json",
            Self::Settings => "application/vnd.pos-agent.settings+json",
            Self::Keys => "application/vnd.pos-agent.keys+json",
            Self::Result => "application/vnd.pos-agent.result+json",
            Self::Report => "application/vnd.pos-agent.report+json",
        }
    }

    /// Returns the bytes that a signature of this document covers (DSSE, "PAE").
    #[must_use]
    pub fn signed_bytes(self, document: &[u8]) -> Vec<u8> {
        authenticated(self.media_type(), document)
    }
}

/// The pre-authentication encoding of DSSE: type and document, each with its length.
fn authenticated(media_type: &str, document: &[u8]) -> Vec<u8> {
    let mut bytes = format!("DSSEv1 {} {media_type} {} ", media_type.len(), document.len()).into_bytes();
    bytes.extend_from_slice(document);
    bytes
}

/// A signature of a document.
#[derive(Clone, PartialEq, Eq)]
pub struct DocumentSignature {
    /// The key's name: SHA-256 of the public key, in hexadecimal. It is a hint only: a reader takes the key's bytes
    /// from a trusted place.
    pub key: String,
    /// The signature.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for DocumentSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a signature of {}", self.key)
    }
}

/// A document with its signatures, which are not checked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The kind.
    pub kind: DocumentKind,
    /// The exact bytes of the document.
    pub document: Vec<u8>,
    /// The signatures.
    pub signatures: Vec<DocumentSignature>,
}

/// The JSON form of an envelope.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Form {
    payload_type: String,
    payload: String,
    signatures: Vec<FormSignature>,
}

#[derive(Serialize, Deserialize)]
struct FormSignature {
    #[serde(default)]
    keyid: String,
    sig: String,
}

/// The reason why bytes are no envelope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// Too many bytes.
    #[error("an envelope of {0} bytes is longer than {LARGEST}")]
    TooLong(usize),
    /// Not the JSON form, or not base64.
    #[error("not a signed document: {0}")]
    NotOne(String),
    /// A document of another kind.
    #[error("the type {0:?} is not known")]
    Type(String),
    /// No signature, too many, or one with a wrong length.
    #[error("a document has 1 to {MOST_SIGNATURES} signatures of 1 to {LONGEST_SIGNATURE} bytes")]
    Signatures,
    /// A key's name that is no SHA-256 in hexadecimal.
    #[error("the name of a key is not {KEY_ID_DIGITS} hexadecimal digits")]
    Key,
}

impl Envelope {
    /// Reads an envelope.
    ///
    /// # Errors
    /// Fails if the bytes are too many, or are not an envelope of a known kind.
    pub fn read(bytes: &[u8]) -> Result<Self, EnvelopeError> {
        if bytes.len() > LARGEST {
            return Err(EnvelopeError::TooLong(bytes.len()));
        }
        let form: Form = serde_json::from_slice(bytes).map_err(|error| EnvelopeError::NotOne(error.to_string()))?;
        let kind = DocumentKind::ALL.into_iter().find(|kind| kind.media_type() == form.payload_type);
        let kind = kind.ok_or_else(|| EnvelopeError::Type(form.payload_type.chars().take(100).collect()))?;
        if !(1..=MOST_SIGNATURES).contains(&form.signatures.len()) {
            return Err(EnvelopeError::Signatures);
        }
        let decoded = |text: &str| STANDARD.decode(text).map_err(|error| EnvelopeError::NotOne(error.to_string()));
        let document = decoded(&form.payload)?;
        let signature = |FormSignature { keyid, sig }: FormSignature| {
            let bytes = decoded(&sig)?;
            let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            match (1..=LONGEST_SIGNATURE).contains(&bytes.len()) {
                false => Err(EnvelopeError::Signatures),
                true if keyid.len() != KEY_ID_DIGITS || !keyid.bytes().all(is_digit) => Err(EnvelopeError::Key),
                true => Ok(DocumentSignature { key: keyid, bytes }),
            }
        };
        let signatures = form.signatures.into_iter().map(signature).collect::<Result<_, _>>()?;
        Ok(Self { kind, document, signatures })
    }

    /// Writes the envelope.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let signature =
            |one: &DocumentSignature| FormSignature { keyid: one.key.clone(), sig: STANDARD.encode(&one.bytes) };
        let form = Form {
            payload_type: self.kind.media_type().to_owned(),
            payload: STANDARD.encode(&self.document),
            signatures: self.signatures.iter().map(signature).collect(),
        };
        // Texts and lists alone cannot fail to become JSON.
        serde_json::to_vec(&form).unwrap_or_default()
    }

    /// Returns the bytes that each signature covers.
    #[must_use]
    pub fn signed_bytes(&self) -> Vec<u8> {
        self.kind.signed_bytes(&self.document)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Checks the example of the specification (secure-systems-lab/dsse, protocol.md, "Test Vectors").
    #[test]
    fn the_signed_bytes_are_those_of_the_specification() {
        let bytes = authenticated("http://example.com/HelloWorld", b"hello world");
        assert_eq!(bytes, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    }

    #[test]
    fn what_is_no_envelope_is_refused_by_name() {
        let good = Envelope {
            kind: DocumentKind::Command,
            document: b"{}".to_vec(),
            signatures: vec![DocumentSignature { key: "ab".repeat(32), bytes: vec![7; 64] }],
        };
        let text = String::from_utf8(good.write()).unwrap();
        assert_eq!(Envelope::read(text.as_bytes()).as_ref(), Ok(&good));
        let one = format!("{{\"keyid\":\"{}\",\"sig\":\"AA==\"}}", "ab".repeat(32));
        let five = format!("[{one},{one},{one},{one},{one}]");
        let begin = text.find("\"signatures\":").unwrap() + 13;
        let with = |list: &str| format!("{}{list}}}", &text[..begin]);
        for (wrong, why) in [
            ("{}".to_owned(), "not a signed document"),
            (text.replace(".command+json", ".shell+json"), "is not known"),
            (text.replace("e30=", "e30"), "not a signed document"),
            (text.replace("abab", "ABAB"), "not 64 hexadecimal digits"),
            (with("[]"), "1 to 4 signatures"),
            (with(&five), "1 to 4 signatures"),
            (with("[{\"sig\":\"AA==\"}]"), "not 64 hexadecimal digits"),
            (" ".repeat(LARGEST + 1), "longer than"),
        ] {
            let said = Envelope::read(wrong.as_bytes()).unwrap_err().to_string();
            assert!(said.contains(why), "{wrong}: {said}");
        }
    }

    proptest! {
        #[test]
        fn an_envelope_is_read_as_it_was_written(
            kind in prop::sample::select(DocumentKind::ALL.to_vec()),
            document in prop::collection::vec(any::<u8>(), 0..400),
            signatures in prop::collection::vec(("[0-9a-f]{64}", prop::collection::vec(any::<u8>(), 1..72)), 1..4),
        ) {
            let signatures = signatures.into_iter().map(|(key, bytes)| DocumentSignature { key, bytes }).collect();
            let envelope = Envelope { kind, document, signatures };
            prop_assert_eq!(Envelope::read(&envelope.write()), Ok(envelope));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Envelope::read(&bytes);
        }
    }
}
