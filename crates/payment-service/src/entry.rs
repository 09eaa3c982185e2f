//! One line of the books: a payment, or what follows one.

use super::method::Method;
use pos_terms::money::{Amount, Currency};

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

    /// Approved, whatever became of it later.
    pub(super) fn has_moved(&self) -> bool {
        matches!(self.state, State::Approved | State::Reversed)
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
