//! The meaning of each key on the current page. This file carries out no actions in the shop.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::super::card_menu;
use super::amount::Purpose;
use crate::reader::{CardEntry, Key};

/// The intention of the person at the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// Present the selected card.
    Present(CardEntry),
    /// Take the card out of the slot.
    Remove,
    /// Press a key of the reader: the red key, or a key for a number that the reader asks for.
    Reader(Key),
    /// Switch between a wrong and a right PIN for the next entry.
    WrongPin,
    /// Select this card of the deck.
    Hold(usize),
    /// Select the previous or next card.
    HoldNext(isize),
    /// Ask for an amount, and then begin.
    Ask(Purpose),
    /// Reverse the whole last sale.
    Void,
    /// Show the totals.
    Totals,
    /// Cancel the transaction at the till.
    Cancel,
    /// Accept the signature, or refuse it.
    Signature(bool),
    /// Send the same reference again.
    Again,
    /// Pull the reader's cable, or put it back.
    Cable,
    /// Change the printer to its next state.
    Printer,
    /// Switch the network off or on.
    Network,
    /// Make the gateway's connection slow or normal.
    Slow,
    /// Switch the agent's power off or on.
    Power,
    /// Switch between receipts and ledger, if there is room for only one of them.
    Turn,
    /// Scroll the paper by this many lines; positive is up.
    Scroll(isize),
    /// Show the keys.
    Help,
    /// Type a character of the amount.
    Type(char),
    /// Remove the last character.
    Erase,
    /// Select the listed amount this many positions further.
    Pick(isize),
    /// Begin with this amount.
    Enter,
    /// Show the second page of the help, or close the page.
    Next,
    /// Close the page.
    Close,
    /// End the demo.
    Quit,
}

/// A page that temporarily replaces the shop, with its own keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Page {
    /// No page; the shop is visible.
    #[default]
    None,
    /// The list of keys.
    Keys,
    /// The second page of the help, with the paths and addresses.
    Places,
    /// The field for an amount.
    Amount(Purpose),
    /// The totals.
    Totals,
}

/// Returns the meaning of this key; `None` if it has none. `number_wanted` is true if the reader waits for digits.
pub(super) fn intent(page: Page, number_wanted: bool, key: &KeyEvent) -> Option<Intent> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        // This is the terminal's interrupt key. No other key uses control.
        return (key.code == KeyCode::Char('c')).then_some(Intent::Quit);
    }
    match page {
        Page::None => number_wanted.then(|| number(key.code)).flatten().or_else(|| shop(key.code)),
        Page::Keys if key.code == KeyCode::Esc => Some(Intent::Close),
        Page::Keys | Page::Places | Page::Totals => Some(Intent::Next),
        Page::Amount(_) => amount(key.code),
    }
}

/// Returns the reader's keys for a number.
fn number(code: KeyCode) -> Option<Intent> {
    let key = match code {
        KeyCode::Char(digit) => Key::Digit(u8::try_from(digit.to_digit(10)?).ok()?),
        KeyCode::Enter => Key::Enter,
        KeyCode::Backspace => Key::Clear,
        _ => return None,
    };
    Some(Intent::Reader(key))
}

fn shop(code: KeyCode) -> Option<Intent> {
    Some(match code {
        KeyCode::Char(key) => match key {
            'i' => Intent::Present(CardEntry::Insert),
            't' => Intent::Present(CardEntry::Tap),
            's' => Intent::Present(CardEntry::Swipe),
            'r' => Intent::Remove,
            'c' => Intent::Reader(Key::Cancel),
            'w' => Intent::WrongPin,
            'n' => Intent::Ask(Purpose::Sale),
            'm' => Intent::Ask(Purpose::SaleWithTip),
            'b' => Intent::Ask(Purpose::Refund),
            'v' => Intent::Void,
            'z' => Intent::Totals,
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
            key => Intent::Hold(card_menu::place(key)?),
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
        // The decimal key of many keyboards sends this character.
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

    fn press(page: Page, code: KeyCode) -> Option<Intent> {
        intent(page, false, &KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn lower_case_letters_do_something_and_digits_and_capitals_are_cards() {
        for (key, wanted) in [
            ('i', Some(Intent::Present(CardEntry::Insert))),
            ('t', Some(Intent::Present(CardEntry::Tap))),
            ('n', Some(Intent::Ask(Purpose::Sale))),
            ('m', Some(Intent::Ask(Purpose::SaleWithTip))),
            ('b', Some(Intent::Ask(Purpose::Refund))),
            ('v', Some(Intent::Void)),
            ('z', Some(Intent::Totals)),
            ('k', Some(Intent::Power)),
            ('q', Some(Intent::Quit)),
            ('1', Some(Intent::Hold(0))),
            ('A', Some(Intent::Hold(9))),
            ('Q', Some(Intent::Hold(25))),
            ('R', None),
            ('0', None),
            ('y', Some(Intent::Signature(true))),
            ('e', None),
        ] {
            assert_eq!(press(Page::None, KeyCode::Char(key)), wanted, "{key}");
        }
        assert_eq!(press(Page::None, KeyCode::Down), Some(Intent::HoldNext(1)));
        assert_eq!(press(Page::None, KeyCode::Esc), None, "no key ends the demo by mistake");
    }

    #[test]
    fn while_the_reader_asks_for_a_number_digits_are_its_keys() {
        let press = |code| intent(Page::None, true, &KeyEvent::new(code, KeyModifiers::NONE));
        assert_eq!(press(KeyCode::Char('2')), Some(Intent::Reader(Key::Digit(2))));
        assert_eq!(press(KeyCode::Enter), Some(Intent::Reader(Key::Enter)));
        assert_eq!(press(KeyCode::Backspace), Some(Intent::Reader(Key::Clear)));
        assert_eq!(press(KeyCode::Char('A')), Some(Intent::Hold(9)));
        assert_eq!(press(KeyCode::Char('x')), Some(Intent::Cancel));
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
            assert_eq!(press(Page::Amount(Purpose::Sale), code), wanted, "{code:?}");
        }
    }

    #[test]
    fn sheets_go_with_any_key_and_control_c_always_ends() {
        assert_eq!(press(Page::Keys, KeyCode::Char('k')), Some(Intent::Next));
        assert_eq!(press(Page::Keys, KeyCode::Esc), Some(Intent::Close));
        assert_eq!(press(Page::Totals, KeyCode::Char('k')), Some(Intent::Next));
        for page in [Page::None, Page::Keys, Page::Places, Page::Totals, Page::Amount(Purpose::Refund)] {
            let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
            assert_eq!(intent(page, true, &interrupt), Some(Intent::Quit), "{page:?}");
        }
        let released =
            KeyEvent { kind: KeyEventKind::Release, ..KeyEvent::new(KeyCode::Char('k'), KeyModifiers::NONE) };
        assert_eq!(intent(Page::None, false, &released), None);
    }
}
