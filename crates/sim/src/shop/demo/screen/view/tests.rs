//! Tests of the view in ratatui's test terminal. Every part is present and whole, in the right size and colour.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use std::collections::BTreeSet;

use super::super::super::card_menu;
use super::super::super::till::{Sale, Status, Sum, Totals};
use super::super::amount::{Purpose, ready_made};
use super::super::keys::Intent;
use super::super::text::wrap;
use super::*;
use crate::gateway::{Kind, LedgerEntry, Method, State};
use crate::reader::{Key, Screen, WaitsFor, deck};

fn drawn(model: &Model, width: u16, height: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, model)).unwrap();
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let row = |y| (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>() + "\n";
    (0..buffer.area.height).map(row).collect()
}

fn says(model: &Model, (width, height): (u16, u16), words: &[&str]) {
    let screen = text(&drawn(model, width, height));
    for word in words {
        assert!(screen.contains(word), "{word} is missing at {width} x {height}:\n{screen}");
    }
}

fn booking(id: &str, kind: Kind, state: State) -> LedgerEntry {
    LedgerEntry {
        id: id.to_owned(),
        kind,
        merchant_transaction_id: (kind == Kind::Debit).then(|| format!("12345678-{id}-00112233")),
        amount: "12.34".to_owned(),
        currency: "EUR".to_owned(),
        state,
        code: "000.000.000".to_owned(),
        refers_to: (kind == Kind::Reversal).then(|| "2".to_owned()),
        entry_mode: (kind == Kind::Debit).then(|| "ICC".to_owned()),
        parameters: Vec::new(),
        method: Method::Card,
        details: Vec::new(),
        practice: None,
        is_last: false,
        captures: None,
    }
}

/// Returns a shop with a sale in this state.
fn shop(state: &str, outcome: Option<&str>, words: &str) -> Model {
    let mut model = Model { connected: true, ..Model::default() };
    let sale = Sale {
        reference: "demo-1".to_owned(),
        kind: "sale".to_owned(),
        amount: "12.34".to_owned(),
        state: state.to_owned(),
        outcome: outcome.map(str::to_owned),
        text: words.to_owned(),
        replayed: false,
    };
    model.tell(Tone::You, "You ask for 12.34 EUR; the sale is demo-1.");
    model.tell(Tone::of(&sale), words);
    model.sale = Some(sale);
    model.status = Some(Status { ready: true, ..Status::default() });
    model.inserted = deck::card("chip-pin");
    model.sold = vec!["demo-1".to_owned()];
    model.display = Screen {
        lines: vec!["ENTER PIN".to_owned(), "***".to_owned()],
        amount: Some("12.34 EUR".to_owned()),
        waits_for: WaitsFor::Pin,
        card_in_slot: true,
    };
    model.ledger = vec![
        booking("1", Kind::Debit, State::Approved),
        booking("2", Kind::Debit, State::Reversed),
        booking("3", Kind::Reversal, State::Approved),
    ];
    let line = format!("{:<21}{:>21}", "left edge", "right edge");
    model.receipts = vec![format!("{line}\nAPPROVED\nMERCHANT COPY\n"), format!("{line}\nCUSTOMER COPY\n")];
    model
}

const SMALL: (u16, u16) = (80, 24);
const LARGE: (u16, u16) = (120, 40);

#[test]
fn at_80_by_24_everything_has_a_place_and_nothing_is_cut() {
    let mut model = shop("ended", Some("approved"), "APPROVED 12.34 EUR");
    let whole_paper = format!("{:<21}{:>21}", "left edge", "right edge");
    says(
        &model,
        SMALL,
        &[
            "pos-agent demo   agent ready  reader on  network on  printer on",
            "demo-1: APPROVED 12.34 EUR",
            "      12.34 EUR       ",
            "      ENTER PIN       ",
            "The customer types the PIN.",
            "It holds chip-pin.",
            "1 chip-pin            i · s",
            "The everyday card: its chip",
            "You ask for 12.34 EUR; the sale is demo-1.",
            "Receipts 2",
            "Ledger 3",
            &whole_paper,
            "CUSTOMER COPY",
            "n sale  m sale with tip  b refund  v void",
            "▼ 20 more",
            "? help  q quit",
        ],
    );
    model.press(Intent::Turn);
    says(
        &model,
        SMALL,
        &[
            "12.34 EUR  sale 1 by chip: charged",
            "12.34 EUR  sale 2 by chip: reversed",
            "12.34 EUR  void of sale 2",
            "charged in all: 12.34 EUR",
            "Tab receipts  ? help  q quit",
        ],
    );
}

#[test]
fn where_the_cashiers_page_is_stands_on_every_size() {
    let mut model = shop("ended", Some("approved"), "APPROVED 12.34 EUR");
    model.page_at = Some("http://127.0.0.1:65535".to_owned());
    for size in [SMALL, LARGE, (200, 60)] {
        says(&model, size, &["╰ open http://127.0.0.1:65535 ─"]);
    }
}

#[test]
fn at_120_by_40_receipts_and_ledger_stand_side_by_side() {
    let model = shop("ended", Some("approved"), "APPROVED 12.34 EUR");
    says(
        &model,
        LARGE,
        &[
            "Receipts 2",
            "Ledger of the gateway",
            "charged in all: 12.34 EUR",
            "MERCHANT COPY",
            "CUSTOMER COPY",
            "H chip-offline-pin",
        ],
    );
    assert!(!text(&drawn(&model, 120, 40)).contains("Tab"), "there is nothing to turn");
    // In two columns with enough height, all three are below each other.
    says(&model, (80, 50), &["Receipts 2", "Ledger of the gateway", "MERCHANT COPY", "Q debit"]);
}

#[test]
fn the_colour_says_how_it_stands() {
    let banner = |state, outcome| {
        let buffer = drawn(&shop(state, outcome, "as it stands"), 80, 24);
        buffer[(1, 1)].fg
    };
    assert_eq!(banner("ended", Some("approved")), Color::Green);
    assert_eq!(banner("ended", Some("declined")), Color::Red);
    assert_eq!(banner("unconfirmed", None), Color::Yellow);
    assert_eq!(banner("ended", Some("cancelled")), Color::Magenta);
    assert_eq!(banner("in-progress", None), Color::Reset);
}

#[test]
fn what_needs_a_person_is_in_the_banner_in_whole_words_on_four_lines_at_most() {
    let mut model = shop("ended", Some("approved"), "APPROVED 12.34 EUR");
    let attention = vec!["the reader is gone; plug it in".to_owned(), "the printer has no paper".to_owned()];
    model.status = Some(Status { attention, ..Status::default() });
    says(
        &model,
        SMALL,
        &[
            "agent not ready",
            " demo-1: APPROVED 12.34 EUR ",
            " The reader is gone; plug it in. The printer has no paper. ",
        ],
    );
    model.status = Some(Status { attention: vec!["the reader is gone; ".repeat(19)], ..Status::default() });
    says(&model, SMALL, &["gone; the … "]);
    assert_eq!(banner_lines(&model, 80).len(), BANNER);
}

#[test]
fn what_is_broken_is_seen_at_the_top() {
    let mut model = shop("waiting-for-card", None, "Waiting");
    for intent in [Intent::Cable, Intent::Network, Intent::Printer] {
        model.press(intent);
    }
    says(&model, SMALL, &["agent in a sale  reader unplugged  network off  printer empty", "Its cable is out."]);
    model.press(Intent::Power);
    says(&model, SMALL, &["agent no power", "The agent has no power. Press k to restore it", "k give the agent"]);
}

#[test]
fn every_line_of_a_sheet_stands_whole_on_the_small_screen() {
    let mut model = shop("ended", Some("approved"), "APPROVED 12.34 EUR");
    let command = "/home/someone/src/pos-agent/target/debug/pos-agent sale 12.34 --config /tmp/pos-shop-01/config.toml";
    model.places = vec![("From a second terminal:".to_owned(), command.to_owned())];
    model.press(Intent::Help);
    for line in pages::keys() {
        says(&model, SMALL, &[&line]);
    }
    says(&model, SMALL, &["q  Quit.", "any key next page"]);
    model.press(Intent::Next);
    says(&model, SMALL, &["From a second terminal:", "config.toml"]);
    model.press(Intent::Next);
    model.press(Intent::Ask(Purpose::Sale));
    says(&model, SMALL, &["How much is the sale?", "12.34▏ EUR", "It is approved.", "Enter start", "▼ 18 more"]);
    for (amount, what) in ready_made() {
        says(&model, SMALL, &[&format!("{amount}▏ EUR"), &format!("{amount}  {what} ")]);
        model.press(Intent::Pick(1));
    }
    model.press(Intent::Close);
    model.press(Intent::Ask(Purpose::Refund));
    says(&model, SMALL, &["How much of demo-1 is refunded?", "All that is left of it is refunded."]);
    model.press(Intent::Type('.'));
    says(&model, SMALL, &["The amount is not a number; write it as 12.34."]);
    model.press(Intent::Close);
    model.press(Intent::Totals);
    says(&model, SMALL, &["The agent is counting."]);
    model.totals = Some(closed());
    says(&model, SMALL, &["Sales                            2           24.68 EUR", "  with VISA", "Refunds", "Tips"]);
    says(&model, SMALL, &["These have no outcome yet and are in no sum above:", "Sale of 12.34 demo-3"]);
}

/// Returns a day's totals.
fn closed() -> Totals {
    let sum = |kind: &str, scheme: Option<&str>, count, sum: &str| Sum {
        kind: kind.to_owned(),
        scheme: scheme.map(str::to_owned),
        currency: "EUR".to_owned(),
        count,
        sum: sum.to_owned(),
    };
    let open =
        Sale { reference: "demo-3".to_owned(), kind: "sale".to_owned(), amount: "12.34".to_owned(), ..Sale::default() };
    Totals {
        open: vec![open],
        kinds: vec![sum("refund", None, 1, "5.00"), sum("sale", None, 2, "24.68")],
        schemes: vec![sum("refund", Some("VISA"), 1, "5.00"), sum("sale", Some("VISA"), 2, "24.68")],
        tips: vec![sum("sale", None, 1, "2.50")],
        declined: 1,
        ..Totals::default()
    }
}

#[test]
fn a_list_that_is_too_long_says_how_much_more_there_is() {
    let mut model = shop("ended", Some("approved"), "APPROVED 12.34 EUR");
    for n in 0..30 {
        model.tell(
            Tone::Plain,
            format!("This is step number {n}, which takes more than the one line that it could have."),
        );
    }
    says(&model, SMALL, &["28 earlier", "number 29"]);
    model.ledger = (0..12).map(|n| booking(&n.to_string(), Kind::Debit, State::Approved)).collect();
    model.press(Intent::Turn);
    says(&model, SMALL, &["5 earlier", "sale 11 by chip"]);
    let open = vec![Sale { reference: "demo-9".to_owned(), kind: "sale".to_owned(), ..Sale::default() }; 30];
    model.press(Intent::Totals);
    model.totals = Some(Totals { open, ..closed() });
    says(&model, SMALL, &["more lines need a taller terminal."]);
}

#[test]
fn every_card_s_sentence_has_room_below_the_cards() {
    for card in deck::DECK {
        assert!(wrap(card_menu::description(card), 27).len() <= 3, "{}", card.name);
    }
}

/// Returns the words on a screen: the text between blanks and borders.
fn words(model: &Model, (width, height): (u16, u16)) -> BTreeSet<String> {
    let border = |c: char| c.is_whitespace() || ('─'..='╿').contains(&c) || "▲▼▏›…".contains(c);
    let text = text(&drawn(model, width, height));
    text.split(border).filter(|word| word.contains(char::is_alphabetic)).map(str::to_owned).collect()
}

/// Words that a screen shows only if not everything fits.
const OF_NARROW_SCREENS: [&str; 6] = ["more", "earlier", "Tab", "receipts", "ledger", "Ledger"];

/// Checks that no word is cut. On a screen where everything fits, all words are whole. A word that appears only on a
/// smaller screen is therefore a part of a word.
fn cuts_no_word(model: &Model) {
    let whole = words(model, (200, 60));
    for size in [SMALL, LARGE] {
        let pieces: Vec<_> = words(model, size).into_iter().filter(|word| !whole.contains(word)).collect();
        let pieces: Vec<_> = pieces.iter().filter(|word| !OF_NARROW_SCREENS.contains(&word.as_str())).collect();
        let screen = text(&drawn(model, size.0, size.1));
        assert!(pieces.is_empty(), "{pieces:?} at {size:?}:\n{screen}");
    }
}

#[test]
fn no_word_is_cut_whatever_the_shop_is_like() {
    let words = [
        "APPROVED 12.34 EUR, SIGNATURE NEEDED: compare it with the card, then accept or refuse it",
        "UNCONFIRMED, reversing: the gateway's answer is incomplete; last try: no connection to the gateway",
        "PARTIALLY APPROVED: only 2.80 EUR of 5.60 EUR",
    ];
    for state in ["", "waiting-for-card", "in-progress", "awaiting-signature", "unconfirmed", "ended"] {
        for text in words {
            let mut model = shop(state, None, text);
            for waits_for in [WaitsFor::Agent, WaitsFor::Card, WaitsFor::Pin, WaitsFor::Number, WaitsFor::Choice] {
                model.display.waits_for = waits_for;
                model.display.card_in_slot = !model.display.card_in_slot;
                model.inserted = Some(model.card());
                model.press(Intent::HoldNext(3));
                cuts_no_word(&model);
            }
            model.press(Intent::Turn);
            cuts_no_word(&model);
        }
    }
}

#[test]
fn no_word_is_cut_whatever_is_pressed() {
    let mut model = shop("ended", Some("approved"), "APPROVED 12.34 EUR");
    model.status =
        Some(Status { attention: vec!["the gateway cannot be reached; look at it ".repeat(9)], ..Status::default() });
    model.totals = Some(closed());
    for card in 0..deck::DECK.len() {
        model.press(Intent::Hold(card));
        model.inserted = Some(model.card());
        cuts_no_word(&model);
    }
    for page in [Page::Keys, Page::Totals, Page::Amount(Purpose::Sale), Page::Amount(Purpose::Refund)] {
        model.page = page;
        cuts_no_word(&model);
    }
    model.page = Page::None;
    for intent in [
        Intent::Cancel,
        Intent::Void,
        Intent::Again,
        Intent::Signature(true),
        Intent::Cable,
        Intent::Printer,
        Intent::Printer,
        Intent::Network,
        Intent::Slow,
        Intent::WrongPin,
        Intent::Reader(Key::Cancel),
        Intent::Power,
    ] {
        model.press(intent);
        cuts_no_word(&model);
    }
}

#[test]
fn the_keys_that_make_sense_now_fit_80_columns() {
    let fits = |model: &Model| {
        for line in key_hints::lines(model, true) {
            assert!(line.width() <= 80, "{} columns: {line}", line.width());
        }
    };
    for held in 0..deck::DECK.len() {
        for state in ["waiting-for-card", "in-progress", "awaiting-signature", "ended"] {
            for (waits_for, card_in_slot) in [(WaitsFor::Card, true), (WaitsFor::Pin, true), (WaitsFor::Number, false)]
            {
                let mut model = shop(state, None, "");
                model.held = held;
                model.display = Screen { waits_for, card_in_slot, ..Screen::default() };
                fits(&model);
                model.press(Intent::Turn);
                fits(&model);
            }
        }
    }
}

#[test]
fn no_size_is_too_small_to_be_drawn() {
    let mut model = shop("ended", Some("approved"), "APPROVED 12.34 EUR");
    for intent in [Intent::Close, Intent::Help, Intent::Close, Intent::Ask(Purpose::Sale)] {
        model.press(intent);
        for (width, height) in [(1, 1), (20, 5), (64, 20), (79, 50), (118, 24), (300, 100)] {
            drawn(&model, width, height);
        }
    }
    says(&model, (40, 10), &["The demo needs a terminal of 80 x 24", "press q to quit."]);
}
