//! The view, drawn into ratatui's test terminal: that everything is there, whole, at its size and in its colour.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::super::super::till::{Attention, PrinterState, Sale, Status};
use super::super::keys::Intent;
use super::*;
use crate::sim::gateway::{Entry as Booking, Kind, State};
use crate::sim::reader::{Screen, WaitsFor, deck};

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

fn booking(id: &str, kind: Kind, state: State) -> Booking {
    Booking {
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
        practice: None,
        is_last: false,
        captures: None,
    }
}

/// A shop in which a sale stands like this.
fn shop(state: &str, outcome: Option<&str>, words: &str) -> Model {
    let mut model = Model { connected: true, ..Model::default() };
    let sale = Sale {
        reference: "demo-1".to_owned(),
        amount: "12.34".to_owned(),
        state: state.to_owned(),
        outcome: outcome.map(str::to_owned),
        text: words.to_owned(),
        replayed: false,
    };
    model.tell(Tone::You, "ask for 12.34 as demo-1");
    model.tell(Tone::of(&sale), words);
    model.sale = Some(sale);
    model.status = Some(Status { ready: true, ..Status::default() });
    model.inserted = deck::card("chip-pin");
    model.display =
        Screen { lines: vec!["ENTER PIN".to_owned(), "***".to_owned()], waits_for: WaitsFor::Pin, card_in_slot: true };
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
            "      ENTER PIN       ",
            "waits for the PIN",
            "in the slot: chip-pin",
            "1 chip-pin            i · s",
            "the everyday card: chip and",
            "you ask for 12.34 as demo-1",
            "Receipts 2",
            "Ledger 3",
            &whole_paper,
            "CUSTOMER COPY",
            "n new sale",
            "? help  q quit",
        ],
    );
    model.press(Intent::Turn);
    says(
        &model,
        SMALL,
        &[
            "12.34 EUR  charged   sale 1 ICC",
            "12.34 EUR  reversed  sale 2 ICC",
            "12.34 EUR  └ reversal of sale 2",
            "charged in all: 12.34 EUR",
            "Tab receipts  ? help  q quit",
        ],
    );
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
            "E swipe-pin",
        ],
    );
    assert!(!text(&drawn(&model, 120, 40)).contains("Tab"), "there is nothing to turn");
    // Two columns and much height: all three one below the other.
    says(&model, (80, 50), &["Receipts 2", "Ledger of the gateway", "MERCHANT COPY", "E swipe-pin"]);
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
fn what_needs_a_person_is_in_the_banner_and_a_long_one_ends_with_dots() {
    let mut model = shop("ended", Some("approved"), "APPROVED 12.34 EUR");
    let attention = vec![Attention { text: "the reader is gone; ".repeat(9) }];
    model.status = Some(Status { attention, ..Status::default() });
    says(&model, SMALL, &["agent not ready", " the reader is gone; the reader is gone;", "is gon… "]);
}

#[test]
fn what_is_broken_is_seen_at_the_top() {
    let mut model = shop("waiting-for-card", None, "Waiting");
    for intent in [Intent::Cable, Intent::Network, Intent::Printer] {
        model.press(intent);
    }
    says(&model, SMALL, &["agent in a sale  reader unplugged  network off  printer empty", "its cable is out"]);
    for (state, words, seen) in [("absent", "unreachable: tcp://127.0.0.1:9100: refused", true), ("ready", "ok", false)]
    {
        let printers = vec![PrinterState { state: state.to_owned(), text: words.to_owned() }];
        model.status = Some(Status { printers, ..Status::default() });
        assert_eq!(text(&drawn(&model, 80, 24)).contains("╰ unreachable ─"), seen, "{words}");
    }
    model.press(Intent::Power);
    says(&model, SMALL, &["agent no power", "k power back"]);
}

#[test]
fn overlays_fit_the_small_screen() {
    let mut model = shop("ended", Some("approved"), "APPROVED 12.34 EUR");
    model.places = vec![format!(
        "From a second terminal: /home/someone/src/pos-agent/target/debug/pos-agent sale 12.34 --config {}",
        "/tmp/pos-shop-0123456789ab/config.toml"
    )];
    model.press(Intent::Help);
    says(
        &model,
        SMALL,
        &["start a sale: type an amount, or pick one by what comes of it", "q  quit", "config.toml", "any key back"],
    );
    model.press(Intent::Close);
    model.press(Intent::NewSale);
    says(&model, SMALL, &["12.34▏ EUR  approved", "5.51  declined: insufficient funds", "Enter start"]);
    (0..40).for_each(|_| _ = model.press(Intent::Pick(1)));
    says(&model, SMALL, &["5.83▏ EUR  HTTP 307 to another host, not processed"]);
}

#[test]
fn the_keys_that_make_sense_now_fit_80_columns() {
    let fits = |model: &Model| {
        for line in hints::lines(model, true) {
            assert!(line.width() <= 80, "{} columns: {line}", line.width());
        }
    };
    for held in 0..deck::DECK.len() {
        for state in ["waiting-for-card", "in-progress", "ended"] {
            for (waits_for, card_in_slot) in [(WaitsFor::Card, true), (WaitsFor::Pin, true), (WaitsFor::Card, false)] {
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
    for intent in [Intent::Close, Intent::Help, Intent::Close, Intent::NewSale] {
        model.press(intent);
        for (width, height) in [(1, 1), (20, 5), (64, 20), (63, 50), (118, 20), (300, 100)] {
            drawn(&model, width, height);
        }
    }
}
