//! The card data that may be shown: the first six digits, the last four, and the expiry.

use super::clear_card_data::ClearCard;

/// The card data that may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MaskedCard {
    pub bin: String,
    pub last4: String,
    /// The expiry as YYMM.
    pub expiry: Option<String>,
}

impl MaskedCard {
    /// Masks a card number. The expiry has the form YYMM.
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
