//! A deviation from the documented interface: the invalid part of the request, and its fault.

use std::fmt;

/// The error for a request that violates the documents, answered with HTTP 400.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Invalid {
    /// The invalid parameter, or another part of the request.
    pub name: String,
    /// The fault. It never contains the value, which may be card data.
    pub why: String,
}

impl Invalid {
    pub(super) fn new(name: impl Into<String>, why: impl Into<String>) -> Self {
        Self { name: name.into(), why: why.into() }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.why)
    }
}
