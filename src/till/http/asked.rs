//! The parts of a request: its parameters, the reference in its path, and its body. If a part is invalid, the answer
//! names the wrong field.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use tokio::time::timeout;

use super::failure::Failure;
use crate::till::ProblemType;
use pos_terms::transaction::Reference;

/// The greatest size of a body, in bytes. The request for a sale has less than 200 bytes, and a till may add spaces.
pub(super) const MAX_BODY: usize = 64 * 1024;
/// The time from a request's head to the end of its body.
const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// The parameters after the path, as `?name=value`. Each verb's type refuses unknown parameters.
pub(super) struct Parameters<T>(pub(super) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let Query(read) = Query::try_from_uri(&parts.uri).map_err(|error| Failure::malformed(error.body_text()))?;
        Ok(Self(read))
    }
}

/// The till of a request that has no other parameter.
#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct TillQuery {
    /// The till of the request, for a caller that acts for several tills or has the right `any-till`.
    pub(super) till: Option<String>,
}

/// The till of a transaction, and whether it is a training transaction.
#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct SaleQuery {
    /// The till of the request, for a caller that acts for several tills or has the right `any-till`.
    pub(super) till: Option<String>,
    /// True for a training transaction. Training has its own references.
    #[serde(default)]
    pub(super) training: bool,
}

/// The variable part of the path.
pub(super) struct InPath<T>(pub(super) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for InPath<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let read = Path::from_request_parts(parts, state).await;
        read.map(|Path(read)| Self(read)).map_err(|error| Failure::malformed(error.body_text()))
    }
}

/// The reference in the path.
pub(super) struct ReferenceInPath(pub(super) Reference);

impl<S: Send + Sync> FromRequestParts<S> for ReferenceInPath {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let InPath(reference) = InPath::<String>::from_request_parts(parts, state).await?;
        checked_reference("reference", reference).map(Self)
    }
}

/// Checks a reference. `field` is its field in the request.
pub(super) fn checked_reference(field: &str, reference: String) -> Result<Reference, Failure> {
    Reference::parse(reference).map_err(|error| Failure::new(ProblemType::Reference, error.to_string()).field(field))
}

/// A JSON body within the limits of size and time. An empty body counts as `{}`. A refusal names the wrong field.
pub(super) struct JsonBody<T>(pub(super) T);

/// An empty body, for requests that need only their path, such as a cancel.
#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let bytes = match timeout(BODY_DEADLINE, Bytes::from_request(request, state)).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(error)) if error.status() == StatusCode::PAYLOAD_TOO_LARGE => {
                return Err(Failure::new(ProblemType::TooLarge, format!("the body exceeds {MAX_BODY} bytes")));
            }
            Ok(Err(error)) => return Err(Failure::malformed(error.body_text())),
            Err(_) => return Err(Failure::new(ProblemType::Timeout, "the body did not arrive in time")),
        };
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        // serde would also accept a list with the fields in their order.
        if !text.trim_ascii_start().starts_with(b"{") {
            return Err(Failure::malformed("the body must be one JSON object"));
        }
        let read = read_json(text)?;
        let NamesOnce = read_json(text)?;
        Ok(Self(read))
    }
}

/// Reads JSON. A refusal names the wrong field.
pub(super) fn read_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, Failure> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let read =
        serde_path_to_error::deserialize(&mut json).map_err(|error| match error.path().to_string().as_str() {
            "." => Failure::malformed(format!("the body: {}", error.inner())),
            field => Failure::malformed(format!("{field}: {}", error.inner())).field(field),
        })?;
    json.end().map_err(|error| Failure::malformed(format!("the body: {error}")))?;
    Ok(read)
}

/// JSON in which no object contains a name twice. A type refuses that for its own fields, but a map silently uses the
/// last value.
struct NamesOnce;

impl<'de> Deserialize<'de> for NamesOnce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for NamesOnce {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Self, A::Error> {
        while values.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if names.contains(&name) {
                return Err(A::Error::custom(format_args!("{name} is given twice")));
            }
            members.next_value::<Self>()?;
            names.insert(name);
        }
        Ok(self)
    }
}
