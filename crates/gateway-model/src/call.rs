//! The calls of the interface, and the rows of the table that each of them takes and gives.

/// A call of the interface, or another way in which fields are transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Every call; used only for rows.
    Any,
    /// `POST /v1/payments`, and the calls that refer to it.
    Payment,
    /// `POST /v1/payments/{id}`: capture, reversal, refund and similar.
    FollowUp,
    /// `POST /v1/registrations/{id}/payments`: a payment with stored payment data.
    ByRegistration,
    /// `POST /v1/payments` with `referenceUuid`: an increment of the reserved amount, or a new reservation.
    Increment,
    /// The creation of a checkout for the hosted widget.
    Checkout,
    /// The storing of payment data without a payment.
    Registration,
    /// The set-up of a subscription.
    Schedule,
    /// The query of transactions.
    Query,
    /// A report over a time frame.
    Report,
    /// A notification from the gateway.
    Webhook,
    /// A line of the reconciliation file.
    Reconciliation,
}

impl Call {
    /// The calls for which a form can be judged.
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

    /// Checks whether a request of this call may hold a row of `row`.
    #[must_use]
    pub fn takes(self, row: Self) -> bool {
        match self {
            Self::Payment | Self::ByRegistration | Self::Checkout | Self::Registration | Self::Schedule => {
                matches!(row, Self::Any | Self::Payment | Self::Schedule) || row == self
            }
            // A time table belongs to a call with payment data, not to one that refers to a payment.
            Self::FollowUp | Self::Increment => matches!(row, Self::Any | Self::Payment),
            Self::Any | Self::Query | Self::Report | Self::Webhook | Self::Reconciliation => {
                row == Self::Any || row == self
            }
        }
    }

    /// Checks whether a response of this call may hold a row of `row`.
    #[must_use]
    pub fn gives(self, row: Self) -> bool {
        row == self || row == Self::Any || row == Self::Payment && self != Self::Reconciliation
    }
}
