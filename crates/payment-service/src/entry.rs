//! One line of the books: a payment or a follow-up.

use super::method::Method;
use pos_terms::money::{Amount, Currency};

/// A payment or a follow-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The id: 32 letters and digits.
    pub id: String,
    /// The kind of the request.
    pub kind: Kind,
    /// The merchant's reference; a follow-up may have none.
    pub merchant_transaction_id: Option<String>,
    /// The approved amount (of a declined payment: the requested one), in the gateway's form.
    pub amount: String,
    /// The currency as ISO 4217 letters.
    pub currency: String,
    /// The state of the entry.
    pub state: State,
    /// The first `result.code`.
    pub code: String,
    /// Of a follow-up: the id of its payment.
    pub refers_to: Option<String>,
    /// `pos.entryMode`.
    pub entry_mode: Option<String>,
    /// Names of the parameters of the request, in their order.
    pub parameters: Vec<String>,
    /// The means of payment; of a follow-up, the means of its payment.
    pub method: Method,
    /// The other fields of the request, in their order: neither card nor account data.
    pub details: Vec<(String, String)>,
    /// `standingInstruction.industryPractice`.
    pub practice: Option<String>,
    /// True for `sequence=FINAL`: no further entry of its kind follows.
    pub is_last: bool,
    /// `numberOfCaptures`.
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

    /// Returns whether the entry adds to a pre-authorisation.
    pub(super) fn is_increment(&self) -> bool {
        self.practice.as_deref() == Some("INCREMENTAL_AUTH")
    }

    /// Returns whether the entry was approved, even if it was reversed later.
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
    /// `CD`: money to a card without an earlier payment.
    Credit,
    /// `RI`: payment data are assessed and nothing is charged; it has no follow-up.
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
    /// The money has moved.
    Approved,
    /// The money has not moved.
    Declined,
    /// The gateway has not decided yet.
    Pending,
    /// The money has moved and was returned.
    Reversed,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Approved, Self::Declined, Self::Pending, Self::Reversed];

    /// Returns the word that is written into the file.
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
