//! One JSON object as it arrives or leaves: `SaleToPOIRequest` or `SaleToPOIResponse`. It is plain, or has a `NexoBlob`
//! and a `SecurityTrailer` in place of the body.
//!
//! A message is limited to [`MAX_MESSAGE`] bytes, and to a maximum number of fields at each of the two outer levels.
//! The nesting of the types here is far below the 128 levels where serde_json stops. Ignored parts are skipped without
//! recursion, so their nesting has no limit. A repeated name is refused at an outer level and for a field that is read,
//! because its meaning is ambiguous. Other repeated names are ignored.

use std::fmt;

use serde::de::{self, DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::enums::{Category, MessageType, Words};
use super::header::{Header, HeaderError, HeaderWrong};
use super::request::{Request, RequestBody};
use super::response::{Response, ResponseBody};
use super::seal::{Blob, BlobError, Key, Nonce, SecurityTrailer};

/// The largest message in bytes, plain or sealed. A payment is smaller than 5 kB, but a print request may contain
/// pictures.
pub const MAX_MESSAGE: usize = 256 * 1024;
/// Maximum number of fields of an outer level. The protocol has four.
const MOST_FIELDS: usize = 64;
/// Maximum number of characters in the error text about a field.
const LONGEST_PROBLEM: usize = 200;

const REQUEST: &str = "SaleToPOIRequest";
const RESPONSE: &str = "SaleToPOIResponse";
const HEADER: &str = "MessageHeader";
const BLOB: &str = "NexoBlob";
const TRAILER: &str = "SecurityTrailer";

/// The reason why a message cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The message is too large.
    #[error("the message is larger than {most} bytes")]
    TooLarge {
        /// The limit in bytes.
        most: usize,
    },
    /// The message is not valid JSON, or not UTF-8.
    #[error("the message is not JSON: {problem}")]
    NotJson {
        /// The error and its position.
        problem: String,
    },
    /// The message does not contain exactly one request or response.
    #[error("the message must be an object with SaleToPOIRequest or SaleToPOIResponse")]
    NotOne,
    /// A field of the header is wrong.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The body for the header's category is missing.
    #[error("{expected} is missing")]
    NoBody {
        /// The name of the body.
        expected: String,
    },
    /// The message has a body of another category, or a plain body next to a sealed one.
    #[error("{found} is not the body of this message")]
    OtherBody {
        /// The name of the body.
        found: String,
    },
    /// The message is a response, but the terminal sent no request.
    #[error("a till must send SaleToPOIRequest, not a response")]
    Response,
    /// This category has no response.
    #[error("{category} has no response")]
    NoResponse {
        /// The category.
        category: Category,
    },
    /// A field of the body or of the header is wrong.
    #[error("{field}: {problem}")]
    Field {
        /// The path of the field, such as `PaymentRequest.PaymentData.PaymentType`.
        field: String,
        /// The error.
        problem: String,
    },
}

/// The content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// `SaleToPOIRequest`.
    Request(Request),
    /// `SaleToPOIResponse`.
    Response(Response),
}

/// A message as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Envelope {
    /// A plain message.
    Plain(Message),
    /// A sealed message, which needs its key.
    Sealed(Sealed),
}

/// A sealed message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The plain header. Trust it only after the message is opened.
    pub header: Header,
    blob: Blob,
}

/// A message that was sealed with a known key.
#[derive(Debug)]
pub struct Opened<'k> {
    /// The key, which also seals the answer.
    pub key: &'k Key,
    /// The content. The sender has the key, so the till may learn the error in the content.
    pub message: Result<Message, ReadError>,
}

impl Envelope {
    /// Reads a message.
    ///
    /// # Errors
    /// Returns [`ReadError`]. Errors in a sealed body are found when the message is opened.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        Self::read_with(bytes, ResponseBody::read)
    }

    /// Reads a message at the terminal, which refuses responses. A program that only calls this function contains no
    /// code that reads responses.
    ///
    /// # Errors
    /// Returns [`ReadError`]. Errors in a sealed body are found when the message is opened.
    pub fn read_at_terminal(bytes: &[u8]) -> Result<Self, ReadError> {
        Self::read_with(bytes, refuse_response)
    }

    fn read_with(bytes: &[u8], read_response: ReadResponse) -> Result<Self, ReadError> {
        let parts = Parts::read(bytes)?;
        if parts.field(BLOB).is_none() {
            return Ok(Self::Plain(parts.message(read_response)?));
        }
        if let Some((found, _)) = parts.bodies().next() {
            return Err(ReadError::OtherBody { found });
        }
        Ok(Self::Sealed(Sealed { header: parts.header()?, blob: parts.blob() }))
    }
}

impl Sealed {
    /// Opens the message with one of the keys. All keys are tried, so the time does not reveal which one fits.
    ///
    /// # Errors
    /// Returns [`BlobError`] for any error in the sealed part, including a header that differs from the plain one.
    pub fn open<'k>(&self, keys: &'k [Key]) -> Result<Opened<'k>, BlobError> {
        self.open_with(keys, ResponseBody::read)
    }

    /// Opens the message at the terminal, which refuses responses.
    ///
    /// # Errors
    /// Returns [`BlobError`] for any error in the sealed part, including a header that differs from the plain one.
    pub fn open_at_terminal<'k>(&self, keys: &'k [Key]) -> Result<Opened<'k>, BlobError> {
        self.open_with(keys, refuse_response)
    }

    fn open_with<'k>(&self, keys: &'k [Key], read_response: ReadResponse) -> Result<Opened<'k>, BlobError> {
        let mut opened = None;
        for key in keys {
            if let Ok(plaintext) = key.open(&self.blob) {
                opened = Some((key, plaintext));
            }
        }
        let (key, plaintext) = opened.ok_or(BlobError)?;
        let parts = Parts::read(&plaintext).map_err(|_| BlobError)?;
        if parts.header().map_err(|_| BlobError)? != self.header || parts.field(BLOB).is_some() {
            return Err(BlobError);
        }
        Ok(Opened { key, message: parts.message(read_response) })
    }
}

impl Message {
    /// Returns the header.
    #[must_use]
    pub fn header(&self) -> &Header {
        match self {
            Self::Request(request) => &request.header,
            Self::Response(response) => &response.header,
        }
    }

    /// Encodes the message as JSON.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        match self {
            Self::Request(request) => framed(REQUEST, request),
            Self::Response(response) => framed(RESPONSE, response),
        }
    }

    /// Encodes and seals the message. The nonce must be random, and must not be used again with this key.
    #[must_use]
    pub fn seal(&self, key: &Key, nonce: Nonce) -> Vec<u8> {
        let frame = if matches!(self, Self::Request(_)) { REQUEST } else { RESPONSE };
        self.sealed(frame, key, nonce)
    }

    /// Encodes and seals the message as an answer. The frame is always `SaleToPOIResponse`, even for a notification,
    /// which is a request. Adyen's clients expect a sealed answer only in this frame, and take the kind from its
    /// content.
    #[must_use]
    pub fn seal_as_answer(&self, key: &Key, nonce: Nonce) -> Vec<u8> {
        self.sealed(RESPONSE, key, nonce)
    }

    fn sealed(&self, frame: &str, key: &Key, nonce: Nonce) -> Vec<u8> {
        #[derive(Serialize)]
        #[serde(rename_all = "PascalCase")]
        struct SealedMessage<'a> {
            message_header: &'a Header,
            nexo_blob: &'a str,
            security_trailer: &'a SecurityTrailer,
        }
        let Blob { sealed, trailer } = key.seal(&self.write(), nonce);
        framed(frame, &SealedMessage { message_header: self.header(), nexo_blob: &sealed, security_trailer: &trailer })
    }
}

/// The function that reads the body of a response, which has this category and name.
type ReadResponse = fn(Category, &str, &RawValue) -> Result<ResponseBody, ReadError>;

fn refuse_response(_: Category, _: &str, _: &RawValue) -> Result<ResponseBody, ReadError> {
    Err(ReadError::Response)
}

/// Returns the plain header of a message if it is readable. It is needed to answer a message that is otherwise
/// unreadable.
#[must_use]
pub fn header_of(bytes: &[u8]) -> Option<Header> {
    Parts::read(bytes).ok()?.header().ok()
}

fn framed(frame: &str, message: &impl Serialize) -> Vec<u8> {
    let object = std::collections::BTreeMap::from([(frame, message)]);
    serde_json::to_vec(&object).expect("texts, numbers and lists of them can be written")
}

/// Parses a part of a message into its type. An error names the wrong field but does not repeat its content.
pub(super) fn typed<T: DeserializeOwned>(name: &str, raw: &RawValue) -> Result<T, ReadError> {
    // Without this check, serde would accept a list of the fields in order.
    if !raw.get().starts_with('{') {
        return Err(ReadError::Field { field: name.to_owned(), problem: "must be an object".to_owned() });
    }
    let mut json = serde_json::Deserializer::from_str(raw.get());
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." { name.to_owned() } else { format!("{name}.{path}") };
        ReadError::Field { field, problem: problem(error.inner()) }
    })
}

/// Returns the error text of serde_json without position and value. The position refers to a part that the reader of
/// the error does not see. The value may be a card number in a wrong field.
fn problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(before, _)| before);
    let text = match text.rsplit_once(", expected ").filter(|_| text.starts_with("invalid ")) {
        Some((_, expected)) => format!("must be {expected}"),
        None => text.to_owned(),
    };
    text.chars().take(LONGEST_PROBLEM).collect()
}

/// The unparsed fields of an object.
pub(super) struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Fields<'a> {
    pub(super) fn read(name: &str, text: &'a str) -> Result<Self, ReadError> {
        serde_json::from_str(text).map_err(|error: serde_json::Error| {
            if error.is_data() {
                ReadError::Field { field: name.to_owned(), problem: problem(&error) }
            } else {
                ReadError::NotJson { problem: error.to_string() }
            }
        })
    }

    /// Returns names and values as text.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.get()))
    }

    fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Fields(Vec::new());
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    if fields.get(&name).is_some() {
                        return Err(de::Error::custom("a name occurs twice"));
                    }
                    if fields.0.len() == MOST_FIELDS {
                        return Err(de::Error::custom("too many fields"));
                    }
                    fields.0.push((name, value));
                }
                Ok(fields)
            }
        }

        from.deserialize_map(Object)
    }
}

/// The unparsed message within its frame.
struct Parts<'a> {
    is_request: bool,
    fields: Fields<'a>,
}

impl<'a> Parts<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, ReadError> {
        if bytes.len() > MAX_MESSAGE {
            return Err(ReadError::TooLarge { most: MAX_MESSAGE });
        }
        let text = str::from_utf8(bytes).map_err(|error| ReadError::NotJson { problem: error.to_string() })?;
        let frame = Fields::read("the message", text)?;
        let (is_request, name, message) = match (frame.get(REQUEST), frame.get(RESPONSE)) {
            (Some(request), None) => (true, REQUEST, request),
            (None, Some(response)) => (false, RESPONSE, response),
            _ => return Err(ReadError::NotOne),
        };
        let fields = Fields::read(name, message.get())?;
        Ok(Self { is_request, fields })
    }

    fn field(&self, name: &str) -> Option<&'a RawValue> {
        self.fields.get(name)
    }

    fn header(&self) -> Result<Header, ReadError> {
        let raw = self.field(HEADER).ok_or_else(|| ReadError::NoBody { expected: HEADER.to_owned() })?;
        let header: Header = typed(HEADER, raw)?;
        header.check()?;
        Ok(header)
    }

    /// Returns every field with the body of a category.
    fn bodies(&self) -> impl Iterator<Item = (String, &'a RawValue)> {
        let name = |category: &Category| {
            if self.is_request { Some(category.request_name()) } else { category.response_name() }
        };
        let names = Category::ALL.iter().filter_map(name);
        names.filter_map(|name| self.field(&name).map(|raw| (name, raw)))
    }

    fn message(&self, read_response: ReadResponse) -> Result<Message, ReadError> {
        let header = self.header()?;
        let category = header.message_category;
        // This check does not apply to the frame of a sealed message, because a sealed notification may be in a
        // response frame.
        let right = match header.message_type {
            MessageType::Request => self.is_request && category != Category::Event,
            MessageType::Notification => self.is_request && category == Category::Event,
            MessageType::Response => !self.is_request,
        };
        if !right {
            return Err(HeaderError { field: "MessageType", wrong: HeaderWrong::Kind }.into());
        }
        let expected = if self.is_request { Some(category.request_name()) } else { category.response_name() };
        let expected = expected.ok_or(ReadError::NoResponse { category })?;
        let (mut own, mut other) = (None, None);
        for (name, raw) in self.bodies() {
            if name == expected { own = Some(raw) } else { other = Some(name) }
        }
        if let Some(found) = other {
            return Err(ReadError::OtherBody { found });
        }
        let raw = own.ok_or_else(|| ReadError::NoBody { expected: expected.clone() })?;
        Ok(if self.is_request {
            Message::Request(Request { body: RequestBody::read(category, raw)?, header })
        } else {
            Message::Response(Response { body: read_response(category, &expected, raw)?, header })
        })
    }

    /// Reads the sealed part. A blob that is not a text, or a damaged trailer, fails at the same point and with the
    /// same error as a wrong one.
    fn blob(&self) -> Blob {
        let sealed = self.field(BLOB).and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        let trailer = self.field(TRAILER).and_then(|raw| typed(TRAILER, raw).ok());
        Blob { sealed, trailer: trailer.unwrap_or_else(SecurityTrailer::wrong) }
    }
}
