//! The reason for a negative answer (`AF`). A till takes each of them for "nothing is charged".

/// A reason for `AE` 01. The codes 01 to 03 mean an authorisation, 00 and 07 say nothing certain, so this terminal
/// sends none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// 04: the issuer or the card declined.
    Declined,
    /// 05: this till or this amount is not permitted.
    Forbidden,
    /// 06: the transaction was given up, or did not begin.
    GivenUp,
    /// 08: no card was presented in time.
    TimeOut,
    /// 09: the request has a wrong form.
    Format,
    /// 10: the terminal does not offer the requested means of payment.
    Selection,
    /// 11: the operator cancelled.
    Operator,
    /// 12: the action is unknown.
    Action,
    /// 13: the terminal has another currency.
    Currency,
}

impl Failure {
    /// All reasons.
    pub const ALL: [Self; 9] = [
        Self::Declined,
        Self::Forbidden,
        Self::GivenUp,
        Self::TimeOut,
        Self::Format,
        Self::Selection,
        Self::Operator,
        Self::Action,
        Self::Currency,
    ];

    /// Returns the value of `AF`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Declined => "04",
            Self::Forbidden => "05",
            Self::GivenUp => "06",
            Self::TimeOut => "08",
            Self::Format => "09",
            Self::Selection => "10",
            Self::Operator => "11",
            Self::Action => "12",
            Self::Currency => "13",
        }
    }

    /// Returns the reason with this code.
    #[must_use]
    pub fn of_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|failure| failure.code() == code)
    }
}
