//! A till's transaction as one short text, which is the till's reference at the agent. A repeated message gets the same
//! reference, and therefore the same transaction. Any other message gets a different one.
//!
//! A ServiceID alone does not identify a transaction, because tills restart their counters after 48 hours or after a
//! new installation. An earlier transaction must not answer today's request. So the reference also contains the till's
//! transaction (its number and its time).

use ring::digest;

use super::enums::{Category, Words};
use super::header::Header;
use super::shared::TransactionIdentification;

/// Number of letters in each of the two searchable parts: 64 bits within one till's transactions.
const PART: usize = 16;
/// Number of letters in the digest of all parts. The reference fits into the 64 characters that the agent accepts.
const ALL: usize = 20;
/// The suffix of a replacement, which no digest contains.
const REPLACES: &str = "-r";
/// The purpose of the digest, which no other digest in the code has.
const ABOUT: &str = "pos-agent nexo reference 1";

/// The identity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity<'a> {
    /// `SaleID`.
    pub sale_id: Option<&'a str>,
    /// `POIID`.
    pub poi_id: &'a str,
    /// `ServiceID`.
    pub service_id: Option<&'a str>,
    /// `MessageCategory`.
    pub category: Category,
    /// `SaleTransactionID`, if the body contains it.
    pub transaction: Option<&'a TransactionIdentification>,
}

impl<'a> Identity<'a> {
    /// Creates the identity of a message from its header and the transaction in its body.
    #[must_use]
    pub fn new(header: &'a Header, transaction: Option<&'a TransactionIdentification>) -> Self {
        Self {
            sale_id: header.sale_id.as_deref(),
            poi_id: &header.poi_id,
            service_id: header.service_id.as_deref(),
            category: header.message_category,
            transaction,
        }
    }

    /// Returns the reference of 59 characters: `nexo-`, then a digest of the message, of the till's transaction, and of
    /// all parts. The first two digests allow a search by message or by transaction alone.
    #[must_use]
    pub fn reference(&self) -> String {
        self.with_all(&[self.service_id, self.transaction_id(), self.time_stamp()])
    }

    /// Returns the reference to use if another message already has the normal one. It also depends on the meaning, and
    /// contains the same two searchable parts.
    #[must_use]
    pub fn reference_of(&self, meant: &str) -> String {
        self.with_all(&[self.service_id, self.transaction_id(), self.time_stamp(), Some(meant)])
    }

    fn with_all(&self, parts: &[Option<&str>]) -> String {
        let all = self.digest("all", parts);
        format!("{}{}-{}", self.of_message(), self.transaction(), &all[..ALL])
    }

    /// Returns the start of all references with this category and ServiceID, for any transaction.
    #[must_use]
    pub fn of_message(&self) -> String {
        format!("nexo-{}-", &self.digest("message", &[self.service_id])[..PART])
    }

    /// Returns the part of a reference that identifies this transaction of the till, for any ServiceID. Returns `None`
    /// for a message without a transaction.
    #[must_use]
    pub fn of_transaction(&self) -> Option<String> {
        self.transaction.is_some().then(|| format!("-{}-", self.transaction()))
    }

    fn transaction(&self) -> String {
        let mut digest = self.digest("transaction", &[self.transaction_id(), self.time_stamp()]);
        digest.truncate(PART);
        digest
    }

    fn transaction_id(&self) -> Option<&'a str> {
        self.transaction.map(|transaction| transaction.transaction_id.as_str())
    }

    fn time_stamp(&self) -> Option<&'a str> {
        self.transaction.map(|transaction| transaction.time_stamp.as_str())
    }

    /// Computes SHA-256 over the till, terminal, category and these parts.
    fn digest(&self, about: &str, parts: &[Option<&str>]) -> String {
        let own = [Some(ABOUT), Some(about), self.sale_id, Some(self.poi_id), Some(self.category.as_str())];
        letters(own.iter().chain(parts).copied())
    }
}

/// Computes SHA-256 over these parts, each preceded by its length, as 64 letters.
pub(super) fn letters<'a>(parts: impl Iterator<Item = Option<&'a str>>) -> String {
    let mut context = digest::Context::new(&digest::SHA256);
    for part in parts {
        // This distinguishes an absent part from an empty one.
        context.update(&[u8::from(part.is_some())]);
        let text = part.unwrap_or_default().as_bytes();
        context.update(&(text.len() as u64).to_be_bytes());
        context.update(text);
    }
    let nibbles = context.finish().as_ref().iter().flat_map(|byte| [byte >> 4, byte & 15]).collect::<Vec<_>>();
    // The result has only letters, because digits could look like a card number.
    nibbles.into_iter().map(|nibble| char::from(b'a' + nibble)).collect()
}

/// Returns the reference of a replacement: the refund after a declined reversal.
#[must_use]
pub fn replacing(reference: &str) -> String {
    format!("{reference}{REPLACES}")
}

/// Returns whether this is the reference of a replacement.
#[must_use]
pub fn replaces(reference: &str) -> bool {
    reference.ends_with(REPLACES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn transaction(id: &str, time: &str) -> TransactionIdentification {
        TransactionIdentification { transaction_id: id.to_owned(), time_stamp: time.to_owned() }
    }

    #[test]
    fn each_part_makes_another_reference() {
        let one = transaction("27908", "2026-11-23T17:19:15+00:00");
        let base = Identity {
            sale_id: Some("till"),
            poi_id: "poi",
            service_id: Some("1"),
            category: Category::Payment,
            transaction: Some(&one),
        };
        // This value is fixed, because a later version must recognise the transactions of an earlier one.
        assert_eq!(base.reference(), "nexo-ghijgindclhbkiba-ahenjddngngponpj-ojgjegbpdcfojoebegka");
        let (id, time, shifted) = (
            transaction("27909", &one.time_stamp),
            transaction("27908", "2026-11-23T17:19:15Z"),
            transaction("2790", "82026-11-23T17:19:15+00:00"),
        );
        let others = [
            base,
            Identity { sale_id: Some("til"), poi_id: "lpoi", ..base },
            Identity { sale_id: None, ..base },
            Identity { sale_id: Some(""), ..base },
            Identity { poi_id: "poi1", service_id: Some(""), ..base },
            Identity { service_id: None, ..base },
            Identity { service_id: Some("2"), ..base },
            Identity { category: Category::Reversal, ..base },
            Identity { transaction: None, ..base },
            Identity { transaction: Some(&id), ..base },
            Identity { transaction: Some(&time), ..base },
            Identity { transaction: Some(&shifted), ..base },
        ];
        let references: BTreeSet<String> = others.iter().map(Identity::reference).collect();
        assert_eq!(references.len(), others.len());
        assert!(references.iter().all(|it| it.len() == 59 && it.starts_with("nexo-")));
    }

    #[test]
    fn a_message_and_a_transaction_are_found_again_by_their_own_part() {
        let (one, other) = (transaction("27908", "2026-11-23T17:19:15+00:00"), transaction("27909", "2026"));
        let of = |service_id, transaction| Identity {
            sale_id: Some("till"),
            poi_id: "poi",
            service_id: Some(service_id),
            category: Category::Payment,
            transaction,
        };
        let reference = of("1", Some(&one)).reference();
        assert!(reference.starts_with(&of("1", Some(&other)).of_message()));
        assert!(!reference.starts_with(&of("2", Some(&one)).of_message()));
        assert!(reference.contains(&of("2", Some(&one)).of_transaction().unwrap()));
        assert!(!reference.contains(&of("1", Some(&other)).of_transaction().unwrap()));
        assert_eq!(of("1", None).of_transaction(), None);
        let again = replacing(&reference);
        assert!(replaces(&again) && !replaces(&reference) && again.len() <= 64 && again.starts_with(&reference));
    }
}
