//! What a till wants: a transaction of one kind with what that kind needs ([`Wish`]), and what comes with it.

use super::{Caller, TillSide};
use pos_core::wish::Wish;
use pos_terms::transaction::{Lesson, Reference};

/// A transaction that a till wants. The word sale stands for every kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The till's name; `local` for the terminal itself.
    pub till: String,
    /// The till's own reference.
    pub reference: Reference,
    /// What is wanted.
    pub wish: Wish,
    /// Who wants it, with its rights: what the transaction that it refers to asks for is known when that is found.
    pub caller: Caller,
    /// It is training, and so is to come out.
    pub training: Option<Lesson>,
    /// Parameters for the gateway, by their flat names or nested.
    pub parameters: serde_json::Map<String, serde_json::Value>,
    /// What the till does and keeps by itself.
    pub till_side: TillSide,
}
