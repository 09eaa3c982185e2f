//! The card menu: every card of the deck, with its key and its special behaviour.

use crate::reader::{Card, CardEntry, deck};

/// The keys that select a card, in the order of the deck. Lower-case letters have other meanings.
pub(super) const CARD_KEYS: &str = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Returns the deck position of the card that this key selects.
pub(super) fn place(key: char) -> Option<usize> {
    CARD_KEYS.find(key).filter(|place| *place < deck::DECK.len())
}

/// Describes a card's special behaviour in a sentence.
#[must_use]
pub fn description(card: &Card) -> &'static str {
    match card.name {
        "chip-pin" => "The everyday card: its chip asks for the PIN.",
        "chip-no-cvm" => "Its chip pays without a PIN.",
        "chip-refuses" => "Its chip refuses after the bank has approved.",
        "chip-offline" => "Its chip approves before the bank is asked.",
        "chip-declines" => "Its chip declines before the bank is asked.",
        "chip-choice" => "Its chip has two ways to pay. The customer chooses the first.",
        "chip-broken" => "Its chip is dead. Insert it, take it out, then swipe it.",
        "chip-unsupported" => "Its chip is unknown here. Insert it, take it out, then swipe it.",
        "tap" => "It is tapped and needs no PIN.",
        "tap-pin" => "It is tapped and needs the PIN.",
        "tap-magstripe" => "It is tapped and sends magnetic stripe data.",
        "tap-insert" => "After a tap, it must be inserted.",
        "swipe" => "It has only a stripe. The customer signs.",
        "swipe-pin" => "It has only a stripe and needs the PIN.",
        "chip-signature" => "Its chip asks for a signature.",
        "chip-scripts" => "Its bank sends scripts to its chip with the answer.",
        "chip-offline-pin" => "Its chip checks the PIN. The first try is wrong.",
        "expired" => "It is too old. Its bank declines it.",
        "pin-wrong" => "Its owner does not know the PIN. Its bank declines it.",
        "pin-exceeded" => "Its chip no longer takes a PIN. Its bank declines it.",
        "blocked" => "Its bank has blocked it. The reader refuses it.",
        "app-blocked" => "One of its two ways to pay is blocked. The other is used.",
        "pan-19" => "Its number has 19 digits.",
        "foreign" => "Its bank is in another country.",
        "tap-phone" => "It is a telephone, and its owner has unlocked it.",
        "debit" => "It is a debit card of another brand.",
        _ => card.about,
    }
}

/// Returns the verb for this way of presenting a card.
#[must_use]
pub fn word(entry: CardEntry) -> &'static str {
    match entry {
        CardEntry::Insert => "insert",
        CardEntry::Tap => "tap",
        CardEntry::Swipe => "swipe",
    }
}

/// Returns all ways to present this card: `insert, tap or swipe`.
pub(super) fn words(card: &Card) -> String {
    let words: Vec<_> = card.ways().into_iter().map(word).collect();
    match words.split_last() {
        Some((last, first @ [_, ..])) => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}

/// Returns all ways to present this card, as they are done to it: `inserted, tapped or swiped`.
#[must_use]
pub fn words_of_ways(card: &Card) -> String {
    let done = |entry| match entry {
        CardEntry::Insert => "inserted",
        CardEntry::Tap => "tapped",
        CardEntry::Swipe => "swiped",
    };
    card.ways().into_iter().map(done).collect::<Vec<_>>().join(", ")
}

/// Describes in a sentence how the card was presented.
pub(super) fn presented(card: &Card, entry: CardEntry) -> String {
    format!("You {} the card {}.", word(entry), card.name)
}

/// The sentence for a card that was taken out of the slot.
pub(super) const TAKEN_OUT: &str = "You take the card out of the slot.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hands_can_do_is_a_list_that_can_be_read_aloud() {
        let words = |name| words(deck::card(name).unwrap());
        assert_eq!(
            (words("tap"), words("chip-pin")),
            ("insert, tap or swipe".to_owned(), "insert or swipe".to_owned())
        );
        assert_eq!(words("swipe"), "swipe");
    }

    #[test]
    fn every_card_has_a_key_and_a_sentence() {
        assert!(deck::DECK.len() <= CARD_KEYS.len());
        for (key, card) in CARD_KEYS.chars().zip(deck::DECK) {
            assert_eq!(place(key).and_then(|place| deck::DECK.get(place)), Some(card));
            let description = description(card);
            assert!(
                description.ends_with('.') && description.starts_with(char::is_uppercase),
                "{}: {description}",
                card.name
            );
        }
        assert_eq!((place('1'), place('A')), (Some(0), Some(9)));
        // The hints and the help contain `1-9 A-Q`.
        assert_eq!((place('Q'), place('R')), (Some(deck::DECK.len() - 1), None));
    }
}
