//! An entry of the books: a payment or a follow-up.

use super::method::Method;
use pos_terms::money::{Amount, Currency};

/// A payment or a follow-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The id, which has 32 letters and digits.
    pub id: String,
    /// The kind of the request.
    pub kind: Kind,
    /// The merchant's reference, which a follow-up may lack.
    pub merchant_transaction_id: Option<String>,
    /// The approved amount, in the gateway's format. For a declined payment, it is the requested amount.
    pub amount: String,
    /// The currency as ISO 4217 letters.
    pub currency: String,
    /// The state of the entry.
    pub state: State,
    /// The first `result.code`.
    pub code: String,
    /// The id of the payment that a follow-up refers to.
    pub refers_to: Option<String>,
    /// The value of `pos.entryMode`.
    pub entry_mode: Option<String>,
    /// The names of the request's parameters, in their order.
    pub parameters: Vec<String>,
    /// The means of payment. A follow-up has the means of its payment.
    pub method: Method,
    /// The other fields of the request in their order, without card and account data.
    pub details: Vec<(String, String)>,
    /// The value of `standingInstruction.industryPractice`.
    pub practice: Option<String>,
    /// True for `sequence=FINAL`: no further entry of this kind follows.
    pub is_last: bool,
    /// The value of `numberOfCaptures`.
    pub captures: Option<u8>,
}

impl LedgerEntry {
    /// Returns the currency; `None` for a row that another program wrote into the file.
    pub(super) fn currency(&self) -> Option<Currency> {
        Currency::from_code(&self.currency).ok()
    }

    /// Returns the amount in minor units of its currency.
    pub(super) fn minor(&self) -> u64 {
        let amount = self.currency().and_then(|currency| Amount::from_gateway(&self.amount, currency).ok());
        amount.map_or(0, Amount::minor)
    }

    /// Returns whether the entry raises a pre-authorisation.
    pub(super) fn is_increment(&self) -> bool {
        self.practice.as_deref() == Some("INCREMENTAL_AUTH")
    }

    /// Returns whether the entry was approved, even if it was later reversed.
    pub(super) fn has_moved(&self) -> bool {
        matches!(self.state, State::Approved | State::Reversed)
    }
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `DB`: sale.
    Debit,
    /// `PA`: pre-authorisation, increment or reauthorisation.
    PreAuthorisation,
    /// `CP`.
    Capture,
    /// `RV`.
    Reversal,
    /// `RF`: refund of a payment.
    Refund,
    /// `CD`: payout to a card, without an earlier payment.
    Credit,
    /// `RI`: assessment of payment data without a charge or follow-up.
    RiskCheck,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Debit,
        Self::PreAuthorisation,
        Self::Capture,
        Self::Reversal,
        Self::Refund,
        Self::Credit,
        Self::RiskCheck,
    ];

    /// Returns the value of `paymentType`.
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

/// The state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The payment was approved.
    Approved,
    /// The payment was declined.
    Declined,
    /// The gateway has not decided yet.
    Pending,
    /// The payment was approved and then reversed.
    Reversed,
}

impl State {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Approved, Self::Declined, Self::Pending, Self::Reversed];

    /// Returns the word for this state in the database.
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
