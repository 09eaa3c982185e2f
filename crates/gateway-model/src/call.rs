//! The calls of the interface, and the table rows that each call accepts and returns.

/// A call of the interface, or another way in which fields are transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Any call. Only rows use this value.
    Any,
    /// `POST /v1/payments`, and the calls that refer to it.
    Payment,
    /// `POST /v1/payments/{id}`: capture, reversal, refund and similar.
    FollowUp,
    /// `POST /v1/registrations/{id}/payments`: a payment with stored payment data.
    ByRegistration,
    /// `POST /v1/payments` with `referenceUuid`: an increment of the reserved amount, or a new reservation.
    Increment,
    /// A checkout for the hosted widget.
    Checkout,
    /// Payment data that is stored without a payment.
    Registration,
    /// The creation of a subscription.
    Schedule,
    /// The query of transactions.
    Query,
    /// A report on a period.
    Report,
    /// A notification from the gateway.
    Webhook,
    /// A line of the reconciliation file.
    Reconciliation,
}

impl Call {
    /// The calls whose forms can be checked.
    pub const ALL: &'static [Self] = &[
        Self::Payment,
        Self::FollowUp,
        Self::ByRegistration,
        Self::Increment,
        Self::Checkout,
        Self::Registration,
        Self::Schedule,
        Self::Query,
        Self::Report,
        Self::Webhook,
        Self::Reconciliation,
    ];

    /// Returns the call in one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Payment => "payment",
            Self::FollowUp => "follow-up",
            Self::ByRegistration => "by-registration",
            Self::Increment => "increment",
            Self::Checkout => "checkout",
            Self::Registration => "registration",
            Self::Schedule => "schedule",
            Self::Query => "query",
            Self::Report => "report",
            Self::Webhook => "webhook",
            Self::Reconciliation => "reconciliation",
        }
    }

    /// Checks whether a request of this call may contain rows of the call `row`.
    #[must_use]
    pub fn takes(self, row: Self) -> bool {
        match self {
            Self::Payment | Self::ByRegistration | Self::Checkout | Self::Registration | Self::Schedule => {
                matches!(row, Self::Any | Self::Payment | Self::Schedule) || row == self
            }
            // A schedule belongs to a call with payment data, not to one that refers to a payment.
            Self::FollowUp | Self::Increment => matches!(row, Self::Any | Self::Payment),
            Self::Any | Self::Query | Self::Report | Self::Webhook | Self::Reconciliation => {
                row == Self::Any || row == self
            }
        }
    }

    /// Checks whether a response to this call may contain rows of the call `row`.
    #[must_use]
    pub fn gives(self, row: Self) -> bool {
        row == self || row == Self::Any || row == Self::Payment && self != Self::Reconciliation
    }
}
