//! What is not as the interface documents it: which part of a request, and what is wrong with it.

use std::fmt;

/// A request that is not as documented; answered with HTTP 400.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Invalid {
    /// The parameter, or another part of the request.
    pub name: String,
    /// What is wrong with it. Never its value: it may be card data.
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
