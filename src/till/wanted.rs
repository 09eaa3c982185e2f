//! A till's request: a transaction of one kind with the fields of that kind ([`Wish`]), and the context.

use super::{Caller, TillSide};
use pos_core::wish::Wish;
use pos_terms::transaction::{Reference, TrainingResult};

/// A transaction that a till requests, of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The till's name, or `local` for the terminal itself.
    pub till: String,
    /// The till's own reference.
    pub reference: Reference,
    /// The kind and its fields.
    pub wish: Wish,
    /// The caller with its rights. Which rights an earlier transaction requires is known once it is found.
    pub caller: Caller,
    /// The outcome of the training, for a training transaction.
    pub training: Option<TrainingResult>,
    /// Parameters for the gateway, by flat names or nested.
    pub parameters: serde_json::Map<String, serde_json::Value>,
    /// The till's own part.
    pub till_side: TillSide,
}
