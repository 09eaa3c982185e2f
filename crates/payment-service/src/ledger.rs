//! What the gateway remembers, for tests and people that ask where the money is: a copy of its books at one moment.

use pos_terms::money::{Amount, Currency};

use super::balance::Balance;
use super::means::Method;

/// Everything that was charged, declined, left pending or reversed, in its order.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub(super) entries: Vec<LedgerEntry>,
    pub(super) refusals: Vec<String>,
}

impl Ledger {
    /// All entries. A request that was refused as invalid is not among them.
    #[must_use]
    pub fn entries(&self) -> &[LedgerEntry] {
        &self.entries
    }

    /// The payments of one `merchantTransactionId` for which the customer has paid and not got the money back. Two of
    /// them are a double charge.
    #[must_use]
    pub fn charged(&self, merchant_transaction_id: &str) -> Vec<&LedgerEntry> {
        self.all_charged()
            .filter(|entry| entry.merchant_transaction_id.as_deref() == Some(merchant_transaction_id))
            .collect()
    }

    /// All payments for which a customer has paid and not got all of the money back: sales and captures.
    pub fn all_charged(&self) -> impl Iterator<Item = &LedgerEntry> {
        let paid = |entry: &&LedgerEntry| {
            matches!(entry.kind, Kind::Debit | Kind::Capture) && entry.state == State::Approved && {
                let standing = self.standing(entry);
                standing.given_back == 0 || standing.left > 0
            }
        };
        self.entries.iter().filter(paid)
    }

    /// What is left of a payment, in the gateway's form: of a pre-authorisation to be captured, of a sale or capture to
    /// be given back. `None` when nothing is, or there is no such payment.
    #[must_use]
    pub fn left(&self, id: &str) -> Option<String> {
        let entry = self.entries.iter().find(|entry| entry.id == id)?;
        let left = Amount::from_minor(self.standing(entry).left, entry.currency()?).ok()?;
        left.to_gateway().ok()
    }

    /// Why requests were answered with HTTP 400 before they became a payment, in their order: `parameter: what is
    /// wrong`.
    #[must_use]
    pub fn refusals(&self) -> &[String] {
        &self.refusals
    }

    fn standing(&self, entry: &LedgerEntry) -> Balance {
        Balance::of(entry, self.entries.iter().filter(|other| other.refers_to.as_deref() == Some(&entry.id)))
    }
}

/// One payment, or what follows one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// 32 letters and digits.
    pub id: String,
    /// What was asked.
    pub kind: Kind,
    /// The merchant's reference; what follows a payment may have none.
    pub merchant_transaction_id: Option<String>,
    /// The amount approved (of a declined payment: asked for), in the gateway's form.
    pub amount: String,
    /// ISO 4217 letters.
    pub currency: String,
    /// What became of it.
    pub state: State,
    /// `result.code` at first.
    pub code: String,
    /// Of what follows a payment: the payment.
    pub refers_to: Option<String>,
    /// `pos.entryMode`.
    pub entry_mode: Option<String>,
    /// Names of the parameters of the request, in their order.
    pub parameters: Vec<String>,
    /// What was paid with; of what follows a payment, what that was paid with.
    pub method: Method,
    /// What else was sent, in its order: neither card nor account data.
    pub details: Vec<(String, String)>,
    /// `standingInstruction.industryPractice`.
    pub practice: Option<String>,
    /// `sequence=FINAL`: nothing of its kind follows.
    pub is_last: bool,
    /// `numberOfCaptures`.
    pub captures: Option<u8>,
}

impl LedgerEntry {
    /// The currency; `None` for a row that somebody else wrote into the file.
    pub(super) fn currency(&self) -> Option<Currency> {
        Currency::from_code(&self.currency).ok()
    }

    /// The amount in minor units of its currency.
    pub(super) fn minor(&self) -> u64 {
        let amount = self.currency().and_then(|currency| Amount::from_gateway(&self.amount, currency).ok());
        amount.map_or(0, Amount::minor)
    }

    /// Whether it adds to a pre-authorisation instead of being one.
    pub(super) fn is_increment(&self) -> bool {
        self.practice.as_deref() == Some("INCREMENTAL_AUTH")
    }
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `DB`: sale.
    Debit,
    /// `PA`: pre-authorisation, and what adds to one or renews it.
    PreAuthorisation,
    /// `CP`.
    Capture,
    /// `RV`.
    Reversal,
    /// `RF`: refund of a payment.
    Refund,
    /// `CD`: money to a card without a payment before.
    Credit,
    /// `RI`: payment data are judged and nothing is booked; nothing follows it.
    RiskCheck,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Debit,
        Self::PreAuthorisation,
        Self::Capture,
        Self::Reversal,
        Self::Refund,
        Self::Credit,
        Self::RiskCheck,
    ];

    /// The value of `paymentType`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debit => "DB",
            Self::PreAuthorisation => "PA",
            Self::Capture => "CP",
            Self::Reversal => "RV",
            Self::Refund => "RF",
            Self::Credit => "CD",
            Self::RiskCheck => "RI",
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

impl State {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Approved, Self::Declined, Self::Pending, Self::Reversed];

    /// In one word, as it stands in the file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::Pending => "pending",
            Self::Reversed => "reversed",
        }
    }
}
