//! The index of payments. It finds the transaction to which a payment at the gateway belongs. It also finds the
//! transactions that refer to a payment that is not in this journal.
//!
//! The index is not part of the chain. Every result is checked against the steps of the transaction that it names. An
//! altered index can therefore hide a transaction, but never invent one. An id is added in the same SQLite transaction
//! as the step that contains it. `about.payments` is the last entry up to which the index is complete. Later steps, and
//! steps written by a version without an index, are indexed at the next start.

use rusqlite::{Connection, params};

use pos_core::transaction::{Record, Transaction};
use pos_terms::transaction::{PaymentId, SaleNumber};

use super::Error;
use super::db::{Db, failed, put};

/// The number of steps that are indexed in one SQLite transaction.
const INDEXED_AT_ONCE: u32 = 10_000;

/// The role of an id in the transaction whose record names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The transaction's own payment at the gateway.
    Own,
    /// An earlier payment that the journal did not know.
    Earlier,
    /// An automatic reversal of the transaction's payment. No follow-up can refer to it.
    Back,
}

impl Role {
    /// Returns the value in the index.
    fn code(self) -> i64 {
        match self {
            Self::Earlier => 0,
            Self::Own => 1,
            Self::Back => 2,
        }
    }
}

/// Returns the ids that a record names.
fn ids(record: &Record) -> Vec<(&PaymentId, Role)> {
    let own = |id| (id, Role::Own);
    match record {
        Record::Started { order } => {
            let unknown = order.operation.of().filter(|of| of.number.is_none());
            unknown.map(|of| (&of.payment, Role::Earlier)).into_iter().collect()
        }
        Record::HostApproved { payment, host, .. } => {
            std::iter::once(payment).chain(host.id.as_ref()).map(own).collect()
        }
        Record::Pending { payment } => vec![own(payment)],
        Record::SignatureAsked { payment, .. }
        | Record::TillAsked { payment, .. }
        | Record::ReversalAsked { payment, .. } => vec![own(&payment.id)],
        Record::Reversing { payment, host, .. } => {
            let payment = payment.as_ref().map(|payment| &payment.id);
            let host = host.as_ref().and_then(|host| host.id.as_ref());
            payment.into_iter().chain(host).map(own).collect()
        }
        Record::ReversalDone { reversal, .. } => vec![(reversal, Role::Back)],
        Record::Ended { host, .. } => host.as_ref().and_then(|host| host.id.as_ref()).map(own).into_iter().collect(),
        Record::TipTyped { .. }
        | Record::TillSaid { .. }
        | Record::Asked { .. }
        | Record::Confirming { .. }
        | Record::Quarantined { .. }
        | Record::Held { .. }
        | Record::Settled { .. }
        | Record::CardFinal { .. } => Vec::new(),
    }
}

/// Returns whether any of these records names an id.
pub(super) fn name_one(records: &[Record]) -> bool {
    records.iter().any(|record| !ids(record).is_empty())
}

/// Adds the ids of a step to the index, in the caller's SQLite transaction.
pub(super) fn add(connection: &Connection, sale: i64, records: &[Record]) -> Result<(), Error> {
    for (id, role) in records.iter().flat_map(ids) {
        let sql = "INSERT OR IGNORE INTO payment(id, own, sale) VALUES (?1, ?2, ?3)";
        put(connection, sql, params![id.in_lower_case(), role.code(), sale])?;
    }
    Ok(())
}

/// Adds the ids from the text of a step, like [`add`]. Text that this version cannot read was written by a later
/// version, which also added its ids.
pub(super) fn add_text(connection: &Connection, sale: i64, text: &str) -> Result<(), Error> {
    serde_json::from_str::<Vec<Record>>(text).map_or(Ok(()), |records| add(connection, sale, &records))
}

/// Removes the ids of a transaction.
pub(super) fn forget(connection: &Connection, sale: i64, steps: &[Vec<Record>]) -> Result<(), Error> {
    for (id, role) in steps.iter().flatten().flat_map(ids) {
        let sql = "DELETE FROM payment WHERE id = ?1 AND own = ?2 AND sale = ?3";
        put(connection, sql, params![id.in_lower_case(), role.code(), sale])?;
    }
    Ok(())
}

/// Records that every step up to this entry is in the index.
pub(super) fn all_until(connection: &Connection, entry: i64) -> Result<(), Error> {
    put(connection, "UPDATE about SET payments = ?1", params![entry])
}

/// Indexes the steps after the last entry up to which the index is complete.
pub(super) fn catch_up(connection: &mut Connection) -> Result<(), Error> {
    loop {
        let transaction = connection.transaction().map_err(failed)?;
        let until = "SELECT payments FROM about";
        let until: i64 = transaction.query_row(until, [], |row| row.get(0)).map_err(failed)?;
        let (mut last, mut read) = (until, 0);
        {
            let sql = "SELECT entry, sale, records FROM step WHERE entry > ?1 ORDER BY entry LIMIT ?2";
            let mut select = transaction.prepare_cached(sql).map_err(failed)?;
            let mut rows = select.query(params![until, INDEXED_AT_ONCE]).map_err(failed)?;
            while let Some(row) = rows.next().map_err(failed)? {
                last = row.get(0).map_err(failed)?;
                read += 1;
                // The agent never writes a value of a wrong type. `verify` reports such a value.
                if let (Ok(sale), Ok(Ok(text))) = (row.get(1), row.get_ref(2).map(|text| text.as_str())) {
                    add_text(&transaction, sale, text)?;
                }
            }
        }
        if read == 0 {
            return Ok(());
        }
        all_until(&transaction, last)?;
        transaction.commit().map_err(failed)?;
        if read < INDEXED_AT_ONCE {
            return Ok(());
        }
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).map_err(failed)?;
    }
}

/// Compares ids case-insensitively. The index contains them in lower case.
fn is_named((named, is): (&PaymentId, Role), id: &PaymentId, role: Role) -> bool {
    is == role && named == id
}

impl Db {
    /// Returns the number of the transaction whose own payment at the gateway has this id. If the gateway gave the id
    /// twice, this is the first transaction.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn of_payment(&self, id: &PaymentId) -> Result<Option<SaleNumber>, Error> {
        self.first_that_names(id, Role::Own)
    }

    /// Returns the number of the transaction that was automatically reversed under this id.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn of_reversal(&self, id: &PaymentId) -> Result<Option<SaleNumber>, Error> {
        self.first_that_names(id, Role::Back)
    }

    fn first_that_names(&self, id: &PaymentId, role: Role) -> Result<Option<SaleNumber>, Error> {
        for number in self.named(id, role)? {
            if self.steps(number)?.iter().flatten().flat_map(ids).any(|named| is_named(named, id, role)) {
                return Ok(Some(SaleNumber::new(number.unsigned_abs())));
            }
        }
        Ok(None)
    }

    /// Returns the transactions that refer to this payment by its id, and not to a transaction in this journal, oldest
    /// first.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn referring_to(&self, id: &PaymentId) -> Result<Vec<Transaction>, Error> {
        let mut referring = Vec::new();
        for number in self.named(id, Role::Earlier)? {
            let steps = self.steps(number)?;
            if steps.iter().flatten().flat_map(ids).any(|named| is_named(named, id, Role::Earlier)) {
                referring.extend(Transaction::replay(&steps));
            }
        }
        Ok(referring)
    }

    fn named(&self, id: &PaymentId, role: Role) -> Result<Vec<i64>, Error> {
        self.numbers(
            "SELECT sale FROM payment WHERE id = ?1 AND own = ?2 ORDER BY sale",
            params![id.in_lower_case(), role.code()],
        )
    }
}
