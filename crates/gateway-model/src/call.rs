//! The calls of the interface, and which rows of the table each of them takes and gives.

/// A call of the interface, or another way in which fields travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Of a row: every call.
    Any,
    /// `POST /v1/payments`, and what refers to it.
    Payment,
    /// `POST /v1/payments/{id}`: capture, reversal, refund and similar.
    FollowUp,
    /// `POST /v1/registrations/{id}/payments`: stored payment data pay.
    ByRegistration,
    /// `POST /v1/payments` with `referenceUuid`: more is reserved, or what was reserved is reserved anew.
    Increment,
    /// A checkout of the hosted widget is created.
    Checkout,
    /// Payment data are stored without a payment.
    Registration,
    /// A subscription is set up.
    Schedule,
    /// The query of transactions.
    Query,
    /// A report over a time frame.
    Report,
    /// A notification, from the gateway.
    Webhook,
    /// A line of the reconciliation file.
    Reconciliation,
}

impl Call {
    /// Those that a form can be judged for.
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

    /// In one word.
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

    /// Whether a request of this call may hold a row of `row`.
    #[must_use]
    pub fn takes(self, row: Self) -> bool {
        match self {
            Self::Payment | Self::ByRegistration | Self::Checkout | Self::Registration | Self::Schedule => {
                matches!(row, Self::Any | Self::Payment | Self::Schedule) || row == self
            }
            // A time table is for what is paid with payment data, not for what refers to a payment.
            Self::FollowUp | Self::Increment => matches!(row, Self::Any | Self::Payment),
            Self::Any | Self::Query | Self::Report | Self::Webhook | Self::Reconciliation => {
                row == Self::Any || row == self
            }
        }
    }

    /// Whether a response of this call may hold a row of `row`.
    #[must_use]
    pub fn gives(self, row: Self) -> bool {
        row == self || row == Self::Any || row == Self::Payment && self != Self::Reconciliation
    }
}
