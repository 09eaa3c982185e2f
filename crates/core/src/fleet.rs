//! Commands of the fleet, as the journal keeps them. A command acts only after [`BookEntry::Command`] is written.
//!
//! [`BookEntry::Command`]: crate::book::BookEntry::Command

/// A command of the fleet that this terminal has judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedCommand {
    /// The command's id.
    pub id: String,
    /// SHA-256 of the signed document, in hexadecimal.
    pub sha256: String,
    /// The kind, as a word.
    pub kind: String,
    /// SHA-256 of the signing key's bytes, in hexadecimal.
    pub key: String,
    /// The counter of the key.
    pub counter: u64,
    /// The till, if the command concerns a transaction.
    pub till: Option<String>,
    /// The till's reference of the transaction.
    pub reference: Option<String>,
    /// The final answer as JSON. A command without one acts, or is about a transaction that answers for it.
    pub answer: Option<String>,
    /// The time of the judgement, in milliseconds since 1970.
    pub unix_ms: i64,
}

/// The author of an accepted command, and the counters of its key afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedCommand {
    /// The name of the signing key.
    pub key_name: String,
    /// The person or program that gave the command.
    pub author: String,
    /// The counters of the key.
    pub used: UsedCounters,
}

/// The counters that a key has used: the greatest one, and a bit for each of the 64 up to it. The lowest bit is that of
/// the greatest counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedCounters {
    /// The greatest counter.
    pub highest: u64,
    /// The bits.
    pub bits: u64,
}
