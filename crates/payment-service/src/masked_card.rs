//! What may be shown of a card: its first six digits, its last four, and when it ends.

use super::clear_card_data::ClearCard;

/// What may be shown of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MaskedCard {
    pub bin: String,
    pub last4: String,
    /// YYMM.
    pub expiry: Option<String>,
}

impl MaskedCard {
    /// Of a number in clear, with its expiry as YYMM.
    pub(super) fn of_number(number: &str, expiry: Option<&str>) -> Self {
        let (bin, last4) = (number[..6].to_owned(), number[number.len() - 4..].to_owned());
        Self { bin, last4, expiry: expiry.map(str::to_owned) }
    }

    pub(super) fn of(card: &ClearCard) -> Self {
        Self {
            bin: card.pan[..6].to_owned(),
            last4: card.pan[card.pan.len() - 4..].to_owned(),
            expiry: card.expiry.clone(),
        }
    }
}
