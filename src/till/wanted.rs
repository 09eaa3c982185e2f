//! A till's request: a transaction of one kind with the fields of that kind ([`Wish`]), and its context.

use super::{Caller, TillSide};
use pos_core::wish::Wish;
use pos_terms::transaction::{Lesson, Reference};

/// A transaction that a till requests, of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The till's name; `local` for the terminal itself.
    pub till: String,
    /// The till's own reference.
    pub reference: Reference,
    /// The kind and its fields.
    pub wish: Wish,
    /// The caller with its rights. The rights that the earlier transaction demands are known once it is found.
    pub caller: Caller,
    /// The outcome to play, if it is training.
    pub training: Option<Lesson>,
    /// Parameters for the gateway, by flat names or nested.
    pub parameters: serde_json::Map<String, serde_json::Value>,
    /// The till's own part.
    pub till_side: TillSide,
}
