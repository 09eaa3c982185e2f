//! The codes of the means of payment. Which data of a form are which means is in `means`.

/// A means of payment, as it stands in the query's `paymentMethods`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// A card.
    #[default]
    Card,
    /// A bank account that is debited.
    DirectDebit,
    /// A bank account that gets money.
    CreditTransfer,
    /// The customer transfers money at the bank's page.
    OnlineTransfer,
    /// A card's token from outside.
    ExternalToken,
    /// A card's token of its network.
    NetworkToken,
    /// An account at a provider.
    VirtualAccount,
    /// A mobile wallet.
    Wallet,
    /// A gift card.
    GiftCard,
}

impl Method {
    /// All of them.
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

    /// Its code in `paymentMethods`.
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
