//! What the gateway remembers: each payment and reversal it has taken up, for tests that ask where the money is.

use std::time::Instant;

/// Everything that was charged, declined, left pending or reversed, in its order.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    entries: Vec<Entry>,
    refusals: Vec<String>,
}

impl Ledger {
    /// All entries. A request that was refused as invalid is not among them.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The payments of one `merchantTransactionId` for which the customer has paid and not got the money back. Two of them are
    /// a double charge.
    #[must_use]
    pub fn charged(&self, merchant_transaction_id: &str) -> Vec<&Entry> {
        self.all_charged()
            .filter(|entry| entry.merchant_transaction_id.as_deref() == Some(merchant_transaction_id))
            .collect()
    }

    /// All payments for which a customer has paid and not got the money back.
    pub fn all_charged(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.kind == Kind::Debit && entry.state == State::Approved)
    }

    /// Why requests were answered with HTTP 400 before they became a payment, in their order: `parameter: what is wrong`.
    #[must_use]
    pub fn refusals(&self) -> &[String] {
        &self.refusals
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    pub(super) fn refuse(&mut self, why: String) {
        self.refusals.push(why);
    }

    pub(super) fn set_state(&mut self, id: &str, state: State) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.id == id) {
            entry.state = state;
        }
    }
}

/// One payment or reversal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// 32 letters and digits.
    pub id: String,
    /// What was asked.
    pub kind: Kind,
    /// The merchant's reference; a reversal may have none.
    pub merchant_transaction_id: Option<String>,
    /// The amount approved (of a declined payment: asked for), in the gateway's form.
    pub amount: String,
    /// ISO 4217 letters.
    pub currency: String,
    /// What became of it.
    pub state: State,
    /// `result.code` at first.
    pub code: String,
    /// Of a reversal: the payment.
    pub refers_to: Option<String>,
    /// `pos.entryMode`.
    pub entry_mode: Option<String>,
    /// Names of the parameters of the request, in their order.
    pub parameters: Vec<String>,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `DB`.
    Debit,
    /// `RV`.
    Reversal,
}

impl Kind {
    /// The value of `paymentType`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debit => "DB",
            Self::Reversal => "RV",
        }
    }
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The money has moved.
    Approved,
    /// It has not.
    Declined,
    /// Not decided.
    Pending,
    /// It has moved and gone back.
    Reversed,
}

/// What the wire has seen since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// TCP connections accepted.
    pub connections: u64,
    /// TLS handshakes completed.
    pub handshakes: u64,
    /// HTTP requests, of which the head was read.
    pub requests: u64,
    /// Bytes received, TLS records and all.
    pub bytes_in: u64,
    /// Bytes sent, TLS records and all.
    pub bytes_out: u64,
}

/// When the latest `POST /v1/payments` came and went, at the TCP socket.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The last bytes of the request were read.
    pub request_in: Instant,
    /// The first bytes of the answer were written; `None` while there are none.
    pub answer_out: Option<Instant>,
}
