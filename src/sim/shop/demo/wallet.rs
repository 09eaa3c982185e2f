//! The customer's wallet: every card of the deck with the key that takes it in hand and what is special about it.

use super::ways;
use crate::sim::reader::{Card, Entry, deck};

/// Keys that choose a card, in the deck's order. Lower-case letters do something.
pub(super) const CARD_KEYS: &str = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The place in the deck that this key chooses.
pub(super) fn place(key: char) -> Option<usize> {
    CARD_KEYS.find(key).filter(|place| *place < deck::DECK.len())
}

/// The card that this key chooses.
pub(super) fn by_key(key: char) -> Option<&'static Card> {
    place(key).and_then(|place| deck::DECK.get(place))
}

/// The key of the last card.
pub(super) fn last_key() -> char {
    CARD_KEYS.chars().nth(deck::DECK.len() - 1).unwrap_or('Z')
}

/// What is special about a card, in a few words.
pub(super) fn nature(card: &Card) -> &'static str {
    match card.name {
        "chip-pin" => "the everyday card: chip and PIN",
        "chip-no-cvm" => "chip without PIN",
        "chip-refuses" => "its chip refuses after the bank has approved",
        "chip-offline" => "its chip approves before anyone is asked",
        "chip-declines" => "its chip declines before anyone is asked",
        "chip-choice" => "two applications on one chip",
        "chip-broken" => "its chip is dead: insert, then swipe",
        "chip-unsupported" => "a chip that the reader does not know: insert, then swipe",
        "tap" => "contactless without PIN",
        "tap-pin" => "contactless with PIN",
        "tap-magstripe" => "contactless of the old kind",
        "tap-insert" => "when tapped it wants to be inserted",
        "swipe" => "stripe only: signature",
        "swipe-pin" => "stripe only: PIN",
        _ => card.about,
    }
}

/// What a hand does with a card.
pub(super) fn word(entry: Entry) -> &'static str {
    match entry {
        Entry::Insert => "insert",
        Entry::Tap => "tap",
        Entry::Swipe => "swipe",
    }
}

/// `insert, swipe`: everything that a hand can do with this card.
pub(super) fn words(card: &Card) -> String {
    let words: Vec<_> = ways(card).into_iter().map(word).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_card_has_a_key_and_a_word() {
        assert!(deck::DECK.len() <= CARD_KEYS.len());
        for (key, card) in CARD_KEYS.chars().zip(deck::DECK) {
            assert_eq!(by_key(key), Some(card));
            assert!(!nature(card).is_empty(), "{}", card.name);
        }
        assert_eq!(by_key('z'), None);
        assert_eq!(by_key('Z'), None, "more keys than cards");
        assert_eq!(by_key(last_key()), deck::DECK.last());
    }
}
