//! One JSON object as it arrives and as it leaves: `SaleToPOIRequest` or `SaleToPOIResponse`, plain, or with a
//! `NexoBlob` and a `SecurityTrailer` in place of the body.
//!
//! It is bounded: [`MAX_MESSAGE`] bytes, and so many fields at the two outer levels. Types as deep as ours are far from
//! the 128 levels where serde_json stops; what is passed over unread is not read by recursion, and may be as deep as
//! has room in the message. A name that stands twice at an outer level, or of a field that is read, is refused: which
//! of the two was meant is not guessed. Anywhere else nobody looks at it.

use std::fmt;

use serde::de::{self, DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::enums::{Category, MessageType, Words};
use super::header::{Header, HeaderError, HeaderWrong};
use super::request::{Request, RequestBody};
use super::response::{Response, ResponseBody};
use super::seal::{Blob, BlobError, Key, Nonce, SecurityTrailer};

/// The largest message, plain or sealed. A payment is below 5 kB; what a till prints may have pictures in it.
pub const MAX_MESSAGE: usize = 256 * 1024;
/// Most fields of an outer level; there are four.
const MOST_FIELDS: usize = 64;
/// Most characters of what is said about a field.
const LONGEST_PROBLEM: usize = 200;

const REQUEST: &str = "SaleToPOIRequest";
const RESPONSE: &str = "SaleToPOIResponse";
const HEADER: &str = "MessageHeader";
const BLOB: &str = "NexoBlob";
const TRAILER: &str = "SecurityTrailer";

/// Why a message cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// There is too much of it.
    #[error("the message is larger than {most} bytes")]
    TooLarge {
        /// Bytes.
        most: usize,
    },
    /// It is not JSON, or not UTF-8.
    #[error("the message is not JSON: {problem}")]
    NotJson {
        /// What is wrong, and where.
        problem: String,
    },
    /// There is no request and no response in it, or more than one.
    #[error("the message must be an object with SaleToPOIRequest or SaleToPOIResponse")]
    NotOne,
    /// A field of the header.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// There is no body of the header's category.
    #[error("{expected} is missing")]
    NoBody {
        /// Its name.
        expected: String,
    },
    /// A body of another category, or one beside a sealed one.
    #[error("{found} is not the body of this message")]
    OtherBody {
        /// Its name.
        found: String,
    },
    /// Nothing is answered to this category.
    #[error("{category} has no response")]
    NoResponse {
        /// The category.
        category: Category,
    },
    /// A field of the body, or of the header.
    #[error("{field}: {problem}")]
    Field {
        /// Its path, as `PaymentRequest.PaymentData.PaymentType`.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// What a message says.
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
    /// It can be read by everybody.
    Plain(Message),
    /// It can be read with the key.
    Sealed(Sealed),
}

/// A sealed message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// Its clear header, which is to be believed only when the message was opened.
    pub header: Header,
    blob: Blob,
}

/// A message that was sealed with this key.
#[derive(Debug)]
pub struct Opened<'k> {
    /// The key; the answer is sealed with it.
    pub key: &'k Key,
    /// What it says. Who sent it had the key: the till can be told what is wrong with it.
    pub message: Result<Message, ReadError>,
}

impl Envelope {
    /// Reads a message.
    ///
    /// # Errors
    /// [`ReadError`]. What is wrong with a sealed body is found when it is opened.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let parts = Parts::read(bytes)?;
        if parts.field(BLOB).is_none() {
            return Ok(Self::Plain(parts.message()?));
        }
        if let Some((found, _)) = parts.bodies().next() {
            return Err(ReadError::OtherBody { found });
        }
        Ok(Self::Sealed(Sealed { header: parts.header()?, blob: parts.blob() }))
    }
}

impl Sealed {
    /// Opens it with one of the keys; of several all are tried, so that time does not tell which one it was.
    ///
    /// # Errors
    /// [`BlobError`]: whatever is wrong with what is sealed, also when it has another header than the clear one.
    pub fn open<'k>(&self, keys: &'k [Key]) -> Result<Opened<'k>, BlobError> {
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
        Ok(Opened { key, message: parts.message() })
    }
}

impl Message {
    /// Its header.
    #[must_use]
    pub fn header(&self) -> &Header {
        match self {
            Self::Request(request) => &request.header,
            Self::Response(response) => &response.header,
        }
    }

    /// As JSON.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        match self {
            Self::Request(request) => framed(REQUEST, request),
            Self::Response(response) => framed(RESPONSE, response),
        }
    }

    /// As JSON, sealed. The nonce is random, and never used again with this key.
    #[must_use]
    pub fn seal(&self, key: &Key, nonce: Nonce) -> Vec<u8> {
        let frame = if matches!(self, Self::Request(_)) { REQUEST } else { RESPONSE };
        self.sealed(frame, key, nonce)
    }

    /// The same where it answers a request: in `SaleToPOIResponse` also when it is a notification, which is a request.
    /// Adyen's clients look for a sealed answer nowhere else, and read within what it is.
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

/// The clear header of whatever this is, when there is one: for the answer to what else cannot be read.
#[must_use]
pub fn header_of(bytes: &[u8]) -> Option<Header> {
    Parts::read(bytes).ok()?.header().ok()
}

fn framed(frame: &str, message: &impl Serialize) -> Vec<u8> {
    let object = std::collections::BTreeMap::from([(frame, message)]);
    serde_json::to_vec(&object).expect("texts, numbers and lists of them can be written")
}

/// Reads a part of a message into its type; the field that is wrong is named, and what stood in it is not repeated.
pub(super) fn typed<T: DeserializeOwned>(name: &str, raw: &RawValue) -> Result<T, ReadError> {
    // serde would take a list for the fields in their order.
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

/// What serde_json says, without the place in a part that nobody sees alone, and without the value: it may be a card
/// number in a wrong field.
fn problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(before, _)| before);
    let text = match text.rsplit_once(", expected ").filter(|_| text.starts_with("invalid ")) {
        Some((_, expected)) => format!("must be {expected}"),
        None => text.to_owned(),
    };
    text.chars().take(LONGEST_PROBLEM).collect()
}

/// The fields of an object, unread.
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

    /// Names and values, as they stand.
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
                        return Err(de::Error::custom("a name stands twice"));
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

/// The message within its frame, unread.
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

    /// Every field that is the body of a category.
    fn bodies(&self) -> impl Iterator<Item = (String, &'a RawValue)> {
        let name = |category: &Category| {
            if self.is_request { Some(category.request_name()) } else { category.response_name() }
        };
        let names = Category::ALL.iter().filter_map(name);
        names.filter_map(|name| self.field(&name).map(|raw| (name, raw)))
    }

    fn message(&self) -> Result<Message, ReadError> {
        let header = self.header()?;
        let category = header.message_category;
        // Not of a sealed message's frame: a notification that answers a request stands in that of a response.
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
            Message::Response(Response { body: ResponseBody::read(category, &expected, raw)?, header })
        })
    }

    /// What is no text, or no trailer, is as wrong as a wrong one, and no sooner.
    fn blob(&self) -> Blob {
        let sealed = self.field(BLOB).and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        let trailer = self.field(TRAILER).and_then(|raw| typed(TRAILER, raw).ok());
        Blob { sealed, trailer: trailer.unwrap_or_else(SecurityTrailer::wrong) }
    }
}
