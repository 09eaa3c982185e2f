//! The codes of the means of payment. `means` says which form data select which means.

/// A means of payment, as in `paymentMethods` of the query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// A card.
    #[default]
    Card,
    /// A bank account that is debited.
    DirectDebit,
    /// A bank account that receives money.
    CreditTransfer,
    /// A transfer that the customer makes on the bank's page.
    OnlineTransfer,
    /// An external token of a card.
    ExternalToken,
    /// A network token of a card.
    NetworkToken,
    /// An account at a provider.
    VirtualAccount,
    /// A mobile wallet.
    Wallet,
    /// A gift card.
    GiftCard,
}

impl Method {
    /// All means of payment.
    pub const ALL: [Self; 9] = [
        Self::Card,
        Self::DirectDebit,
        Self::CreditTransfer,
        Self::OnlineTransfer,
        Self::ExternalToken,
        Self::NetworkToken,
        Self::VirtualAccount,
        Self::Wallet,
        Self::GiftCard,
    ];

    /// Returns the code in `paymentMethods`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Card => "CC",
            Self::DirectDebit => "DD",
            Self::CreditTransfer => "CT",
            Self::OnlineTransfer => "OT",
            Self::ExternalToken => "ET",
            Self::NetworkToken => "NT",
            Self::VirtualAccount => "VA",
            Self::Wallet => "WA",
            Self::GiftCard => "PP",
        }
    }
}
