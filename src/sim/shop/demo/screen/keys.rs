//! Keys: which one means what, by what lies over the screen. Decides nothing about the shop.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::super::wallet;
use crate::sim::reader::Entry;

/// What the person at the keyboard wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// Present the card in hand.
    Present(Entry),
    /// Take the card out of the slot.
    Remove,
    /// Press the reader's red key.
    RedKey,
    /// Type a wrong PIN next time, or the right one after all.
    WrongPin,
    /// Take this card of the deck in hand.
    Hold(usize),
    /// Take the card before or after in hand.
    HoldNext(isize),
    /// Start a sale: ask for the amount.
    NewSale,
    /// Cancel the sale at the till.
    Cancel,
    /// The signature is the card's, or it is not.
    Signature(bool),
    /// Ask for the same reference again.
    Again,
    /// Reader's cable out or in.
    Cable,
    /// The printer's next state.
    Printer,
    /// The network off or on.
    Network,
    /// The gateway's line slow or as it was.
    Slow,
    /// The agent's power off or on.
    Power,
    /// Receipts or ledger, where there is room for one of them.
    Turn,
    /// Move the paper by so many lines; up is positive.
    Scroll(isize),
    /// What the keys do.
    Help,
    /// A character for the amount.
    Type(char),
    /// Take the last one away.
    Erase,
    /// The ready-made amount so many places further.
    Pick(isize),
    /// Start the sale with this amount.
    Enter,
    /// Take away what lies over the screen.
    Close,
    /// End the demo.
    Quit,
}

/// What lies over the screen and takes the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Over {
    /// Nothing.
    #[default]
    Nothing,
    /// The help.
    Help,
    /// The amount of a sale.
    Amount,
}

/// What this key means; `None` when it means nothing.
pub(super) fn intent(over: Over, key: &KeyEvent) -> Option<Intent> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        // The terminal's own interrupt key; nothing else is a key with control.
        return (key.code == KeyCode::Char('c')).then_some(Intent::Quit);
    }
    match over {
        Over::Nothing => shop(key.code),
        Over::Help => Some(Intent::Close),
        Over::Amount => amount(key.code),
    }
}

fn shop(code: KeyCode) -> Option<Intent> {
    Some(match code {
        KeyCode::Char(key) => match key {
            'i' => Intent::Present(Entry::Insert),
            't' => Intent::Present(Entry::Tap),
            's' => Intent::Present(Entry::Swipe),
            'r' => Intent::Remove,
            'c' => Intent::RedKey,
            'w' => Intent::WrongPin,
            'n' => Intent::NewSale,
            'x' => Intent::Cancel,
            'y' => Intent::Signature(true),
            'f' => Intent::Signature(false),
            'd' => Intent::Again,
            'u' => Intent::Cable,
            'p' => Intent::Printer,
            'g' => Intent::Network,
            'l' => Intent::Slow,
            'k' => Intent::Power,
            '?' | 'h' => Intent::Help,
            'q' => Intent::Quit,
            key => Intent::Hold(wallet::place(key)?),
        },
        KeyCode::Up => Intent::HoldNext(-1),
        KeyCode::Down => Intent::HoldNext(1),
        KeyCode::Tab => Intent::Turn,
        KeyCode::PageUp => Intent::Scroll(5),
        KeyCode::PageDown => Intent::Scroll(-5),
        KeyCode::End => Intent::Scroll(isize::MIN),
        _ => return None,
    })
}

fn amount(code: KeyCode) -> Option<Intent> {
    Some(match code {
        KeyCode::Char(key) if key.is_ascii_digit() || key == '.' => Intent::Type(key),
        // The decimal key of many keyboards.
        KeyCode::Char(',') => Intent::Type('.'),
        KeyCode::Char('q') | KeyCode::Esc => Intent::Close,
        KeyCode::Backspace => Intent::Erase,
        KeyCode::Up => Intent::Pick(-1),
        KeyCode::Down => Intent::Pick(1),
        KeyCode::PageUp => Intent::Pick(-8),
        KeyCode::PageDown => Intent::Pick(8),
        KeyCode::Enter => Intent::Enter,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(over: Over, code: KeyCode) -> Option<Intent> {
        intent(over, &KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn letters_are_hands_and_digits_are_cards() {
        for (key, wanted) in [
            ('i', Some(Intent::Present(Entry::Insert))),
            ('t', Some(Intent::Present(Entry::Tap))),
            ('n', Some(Intent::NewSale)),
            ('k', Some(Intent::Power)),
            ('q', Some(Intent::Quit)),
            ('1', Some(Intent::Hold(0))),
            ('A', Some(Intent::Hold(9))),
            ('Z', None),
            ('0', None),
            ('y', Some(Intent::Signature(true))),
            ('z', None),
        ] {
            assert_eq!(press(Over::Nothing, KeyCode::Char(key)), wanted, "{key}");
        }
        assert_eq!(press(Over::Nothing, KeyCode::Down), Some(Intent::HoldNext(1)));
        assert_eq!(press(Over::Nothing, KeyCode::Esc), None, "no key ends the demo by mistake");
    }

    #[test]
    fn while_an_amount_is_typed_no_key_reaches_the_shop() {
        for (code, wanted) in [
            (KeyCode::Char('5'), Some(Intent::Type('5'))),
            (KeyCode::Char(','), Some(Intent::Type('.'))),
            (KeyCode::Char('k'), None),
            (KeyCode::Char('i'), None),
            (KeyCode::Down, Some(Intent::Pick(1))),
            (KeyCode::Enter, Some(Intent::Enter)),
            (KeyCode::Esc, Some(Intent::Close)),
        ] {
            assert_eq!(press(Over::Amount, code), wanted, "{code:?}");
        }
    }

    #[test]
    fn help_goes_with_any_key_and_control_c_always_ends() {
        assert_eq!(press(Over::Help, KeyCode::Char('k')), Some(Intent::Close));
        for over in [Over::Nothing, Over::Help, Over::Amount] {
            let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
            assert_eq!(intent(over, &interrupt), Some(Intent::Quit), "{over:?}");
        }
        let released =
            KeyEvent { kind: KeyEventKind::Release, ..KeyEvent::new(KeyCode::Char('k'), KeyModifiers::NONE) };
        assert_eq!(intent(Over::Nothing, &released), None);
    }
}
