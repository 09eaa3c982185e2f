//! The issuer's decline.

/// The reason why an issuer declines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Declined {
    pub code: &'static str,
    pub description: &'static str,
    pub arc: [u8; 2],
}

/// The decline for an expired card.
pub(super) const EXPIRED_CARD: Declined = Declined { code: "100.100.303", description: "card expired", arc: *b"54" };
