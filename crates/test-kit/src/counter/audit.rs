//! Compares the gateway's ledger with the agent's journal. The journal is read with SQLite, as an operator can do with
//! any SQLite tool.

use std::fs;

use pos_core::transaction::{Order, Outcome, Record};
use pos_sim::gateway::Kind;
use pos_sim::reader::deck::DECK;
use pos_terms::money::Amount;
use rusqlite::{Connection, OpenFlags};

use super::Counter;

/// A transaction in the journal.
#[derive(Debug)]
pub struct Kept {
    pub order: Order,
    pub records: Vec<Record>,
}

impl Kept {
    /// Returns whether the journal announces that the payment will be sent.
    pub fn asked(&self) -> bool {
        self.records.iter().any(|record| matches!(record, Record::Asked { .. }))
    }

    /// Returns whether the journal announces a request under this reference, which is that of the payment or of its
    /// reversal.
    pub fn announced(&self, reference: &str) -> bool {
        (self.order.merchant_transaction_id == reference && self.asked())
            || self
                .records
                .iter()
                .any(|record| matches!(record, Record::ReversalAsked { reference: Some(own), .. } if own == reference))
    }

    pub fn ended(&self) -> Option<&Outcome> {
        self.records.iter().find_map(|record| match record {
            Record::Ended { outcome, .. } => Some(outcome),
            _ => None,
        })
    }

    /// Returns the names of the transaction's records, in their order.
    pub fn kinds(&self) -> Vec<&'static str> {
        self.records.iter().map(Record::name).collect()
    }
}

impl Counter {
    /// Returns the journal's transactions, the oldest first. The file is opened separately, read-only.
    pub fn kept(&self) -> Vec<Kept> {
        let path = self.shop.folder().join("journal.db");
        if !path.exists() {
            return Vec::new();
        }
        let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let mut rows = db.prepare("SELECT records FROM step ORDER BY id").unwrap();
        let mut kept: Vec<Kept> = Vec::new();
        for step in rows.query_map([], |row| row.get::<_, String>(0)).unwrap() {
            for record in serde_json::from_str::<Vec<Record>>(&step.unwrap()).unwrap() {
                match record {
                    Record::Started { order } => kept.push(Kept { order, records: Vec::new() }),
                    other => kept.last_mut().unwrap().records.push(other),
                }
            }
        }
        kept
    }

    /// Returns the amounts that the gateway has charged for a till's reference, in the form `12.34 EUR`.
    pub fn charged_for(&self, reference: &str) -> Vec<String> {
        let ledger = self.shop.gateway.ledger();
        let kept = self.kept();
        let ids = kept.iter().filter(|kept| kept.order.reference == reference);
        ids.flat_map(|kept| ledger.charged(&kept.order.merchant_transaction_id))
            .map(|entry| format!("{} {}", entry.amount, entry.currency))
            .collect()
    }

    /// Checks four rules. The journal announced every entry of the ledger. For an ended transaction, the charged amount
    /// matches the outcome. Nothing is charged twice. No card number is on the disk.
    pub fn audit(&self, what: &str) {
        let (ledger, kept) = (self.shop.gateway.ledger(), self.kept());
        for entry in ledger.entries().iter().filter(|entry| entry.kind == Kind::Debit) {
            let id = entry.merchant_transaction_id.as_deref().unwrap();
            let record = kept.iter().find(|kept| kept.order.merchant_transaction_id == id);
            assert!(record.is_some_and(Kept::asked), "{what}: {id} was processed without a record: {kept:#?}");
        }
        for sale in &kept {
            let charged: Vec<_> = ledger.charged(&sale.order.merchant_transaction_id);
            let charged: Vec<_> = charged.iter().map(|entry| format!("{} {}", entry.amount, entry.currency)).collect();
            let in_full = |amount: &Amount| vec![format!("{} {}", amount.to_gateway().unwrap(), amount.currency())];
            let expected = match sale.ended() {
                Some(Outcome::Approved) => in_full(&sale.order.amount),
                Some(Outcome::PartiallyApproved { amount }) => in_full(amount),
                Some(_) => Vec::new(),
                None if charged.len() <= 1 => continue,
                None => panic!("{what}: charged {charged:?}"),
            };
            assert_eq!(charged, expected, "{what}: {sale:#?}");
        }
        self.no_card_number_on_the_disk(what);
    }

    fn no_card_number_on_the_disk(&self, what: &str) {
        // Each number is searched as text and as BCD. One pass over a file finds their first two bytes.
        let bcd = |pan: &str| hex::decode(pan.get(..pan.len() / 2 * 2).unwrap()).unwrap();
        let numbers: Vec<_> =
            DECK.iter().flat_map(|card| [(card, card.pan.as_bytes().to_vec()), (card, bcd(card.pan))]).collect();
        let mut begins = vec![false; 1 << 16];
        for (_, number) in &numbers {
            begins[usize::from(u16::from_be_bytes([number[0], number[1]]))] = true;
        }
        for file in fs::read_dir(self.shop.folder()).unwrap().map(Result::unwrap) {
            // The reader's connection and the till's socket are not regular files.
            if !file.file_type().unwrap().is_file() {
                continue;
            }
            let bytes = fs::read(file.path()).unwrap();
            let mut before = 0;
            for (at, byte) in bytes.iter().enumerate() {
                let two = before << 8 | usize::from(*byte);
                before = usize::from(*byte);
                if begins[two] && at > 0 {
                    let found = numbers.iter().find(|(_, number)| bytes[at - 1..].starts_with(number));
                    let name = found.map(|(card, _)| card.name);
                    assert_eq!(name, None, "{what}: the number of a card is in {:?}", file.file_name());
                }
            }
        }
    }
}
