//! The shop line by line, for a pipe, a simple terminal, or `--plain`. The sentences and the keys are the same as on
//! the screen. A lasting state is printed only when it changes.

use std::fmt::Write as _;
use std::io;

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use tokio::sync::mpsc;

use super::super::{card_menu, say};
use super::keys::Page;
use super::model::{Model, Tone};
use super::{pages, panes, view};
use crate::reader::deck;

/// The lines are so long that the shop's paths are not split.
const NEVER_BROKEN: usize = usize::MAX;

/// The state printed so far.
pub(super) struct LineByLine {
    /// The number of the last printed step.
    told: usize,
    /// The printed state of the reader.
    reader: String,
    /// The selected card.
    held: usize,
    /// The printed messages from the agent that need a person.
    attention: String,
    /// The number of printed receipts.
    receipts: usize,
    /// The printed page.
    page: Vec<String>,
    _single_keys: Option<SingleKeys>,
}

impl LineByLine {
    /// Makes the initial state without output, and prints the keys.
    pub(super) fn take() -> (Self, mpsc::Receiver<Event>) {
        let (attention, page) = (String::new(), Vec::new());
        let lines = Self {
            told: 0,
            reader: String::new(),
            held: usize::MAX,
            attention,
            receipts: 0,
            page,
            _single_keys: SingleKeys::on(),
        };
        (lines, keyboard())
    }

    /// Prints the changes. A page that only shows text is closed after it is printed.
    pub(super) fn tell(&mut self, model: &mut Model) {
        if self.held == usize::MAX {
            welcome(model);
        }
        for told in model.steps.iter().filter(|step| step.number > self.told && !step.passing) {
            let mark = if told.tone == Tone::You { " " } else { "›" };
            say(&format!("{mark} {}", told.text));
        }
        self.told = model.told;
        let reader = format!("  [ {} ]  {}", panes::reader_display(model).join(" / "), panes::waiting(model));
        if reader != self.reader {
            say(&reader);
            self.reader = reader;
        }
        if model.held != self.held {
            let card = model.card();
            say(&format!("  The card {} is in your hand. {}", card.name, card_menu::description(card)));
            self.held = model.held;
        }
        let attention = view::attention(model);
        if attention != self.attention {
            say(&format!("! {attention}"));
            self.attention = attention;
        }
        for receipt in model.receipts.iter().skip(self.receipts) {
            say(&paper(receipt));
        }
        self.receipts = model.receipts.len();
        self.page(model);
    }

    fn page(&mut self, model: &mut Model) {
        let page = match model.page {
            Page::None => Vec::new(),
            Page::Keys | Page::Places => [pages::keys(), vec![String::new()], cards(), places(model)].concat(),
            Page::Totals => pages::totals(model),
            Page::Amount(purpose) => {
                let (asks, meaning) = pages::question(model, purpose);
                let meaning = meaning.map_or_else(|wrong| wrong, str::to_owned);
                let typed =
                    if model.amount.typed.is_empty() { String::new() } else { format!("{} EUR: ", model.amount.typed) };
                vec![asks, format!("{typed}{meaning}"), "Enter begins, Esc goes back.".to_owned()]
            }
        };
        if page != self.page {
            page.iter().for_each(|line| say(format!("  {line}").trim_end()));
        }
        if matches!(model.page, Page::Keys | Page::Places) || (model.page == Page::Totals && model.totals.is_some()) {
            model.page = Page::None;
        }
        self.page = if model.page == Page::None { Vec::new() } else { page };
    }
}

fn welcome(model: &Model) {
    say("\nThe shop is open. The agent is the real one; reader, gateway and printer are simulated.\n");
    let lines = [places(model), pages::keys(), vec![String::new()], cards()].concat();
    lines.iter().for_each(|line| say(format!("  {line}").trim_end()));
    say("");
}

fn places(model: &Model) -> Vec<String> {
    pages::places(model, NEVER_BROKEN)
}

fn cards() -> Vec<String> {
    let card = |(key, card)| {
        let card: &crate::reader::Card = card;
        format!("{key} {:17} {:21} {}", card.name, card_menu::words(card), card_menu::description(card))
    };
    card_menu::CARD_KEYS.chars().zip(deck::DECK).map(card).collect()
}

/// Draws a receipt with the edges of its paper, which separate it from the other lines.
fn paper(receipt: &str) -> String {
    let mut text = String::from("  The printer prints:\n");
    for line in receipt.trim_end().lines() {
        let _ = writeln!(text, "  | {line:42} |");
    }
    text
}

/// Returns the key presses of a terminal, or the letters from a pipe. A separate thread reads them, because a blocked
/// read must not delay the program's end.
fn keyboard() -> mpsc::Receiver<Event> {
    use std::io::Read;
    let (sender, keys) = mpsc::channel(16);
    std::thread::spawn(move || {
        for byte in io::stdin().lock().bytes() {
            let code = match byte {
                Ok(b'\r' | b'\n') => KeyCode::Enter,
                Ok(0x08 | 0x7F) => KeyCode::Backspace,
                Ok(0x1B) => KeyCode::Esc,
                Ok(byte) if byte.is_ascii_graphic() => KeyCode::Char(char::from(byte)),
                Ok(_) => continue,
                Err(_) => return,
            };
            if sender.blocking_send(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))).is_err() {
                return;
            }
        }
    });
    keys
}

/// While this value exists, the terminal sends keys without Enter and without echo. Signals and line feeds do not
/// change.
struct SingleKeys(rustix::termios::Termios);

impl SingleKeys {
    /// Switches the terminal to single keys; returns `None` if standard input is not a terminal.
    fn on() -> Option<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(io::stdin()).ok()?;
        let mut single = before.clone();
        single.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Now, &single).ok()?;
        Some(Self(before))
    }
}

impl Drop for SingleKeys {
    fn drop(&mut self) {
        // A disconnected terminal need not be restored.
        let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, &self.0);
    }
}
