//! A till's transaction as one short text: the till's reference towards the agent. The same message again has the same
//! one, so that it is the same sale; any other message has another one.
//!
//! A ServiceID alone is not enough. Tills begin their counters again, after 48 hours or after a new installation, and
//! the sale of then must not be the answer of today: the till's transaction (its number and its time) is a part of it.

use ring::digest;

use super::enums::{Category, Words};
use super::header::Header;
use super::shared::TransactionIdentification;

/// Letters of a reference: 160 bits, and within the 64 that the agent takes.
const LETTERS: usize = 40;
/// What is digested here is digested nowhere else.
const ABOUT: &str = "pos-agent nexo reference 1";

/// What makes a message the same one.
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
    /// `SaleTransactionID`, where the body has one.
    pub transaction: Option<&'a TransactionIdentification>,
}

impl<'a> Identity<'a> {
    /// Of a message with this header and, in its body, this transaction.
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

    /// Forty digits and letters `a` to `f`: SHA-256 over the parts, each behind its length.
    #[must_use]
    pub fn reference(&self) -> String {
        let mut context = digest::Context::new(&digest::SHA256);
        let mut part = |text: Option<&str>| {
            // An absent part is not an empty one.
            context.update(&[u8::from(text.is_some())]);
            let text = text.unwrap_or_default().as_bytes();
            context.update(&(text.len() as u64).to_be_bytes());
            context.update(text);
        };
        part(Some(ABOUT));
        part(self.sale_id);
        part(Some(self.poi_id));
        part(self.service_id);
        part(Some(self.category.as_str()));
        part(self.transaction.map(|transaction| transaction.transaction_id.as_str()));
        part(self.transaction.map(|transaction| transaction.time_stamp.as_str()));
        let digest = context.finish();
        let mut text: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        text.truncate(LETTERS);
        text
    }
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
        // Frozen: a later program has to know the transactions of an earlier one.
        assert_eq!(base.reference(), "af18ab13a7ec0f849bfcc2b78d10346ee3ec2329");
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
        assert!(
            references
                .iter()
                .all(|it| it.len() == 40 && it.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase()))
        );
    }
}
