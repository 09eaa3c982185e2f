//! The terminal as a screen: taken at the start, and given back as it was on every way out. What stands on it is
//! `view`.

use std::io::{self, IsTerminal};
use std::mem::ManuallyDrop;
use std::panic;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::mpsc;

use super::model::Model;
use super::view;

/// Whether there is a terminal that can show a screen.
pub(in crate::shop::demo) fn is_possible() -> bool {
    let term = std::env::var_os("TERM").unwrap_or_default();
    io::stdin().is_terminal() && io::stdout().is_terminal() && !term.is_empty() && term != "dumb"
}

/// The terminal, given back as it was on every way out: here, and by a panic.
pub(super) struct Terminal(ManuallyDrop<ratatui::Terminal<CrosstermBackend<io::Stdout>>>);

impl Terminal {
    pub(super) fn take() -> io::Result<Self> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
        let terminal = ratatui::Terminal::new(CrosstermBackend::new(io::stdout()))?;
        // From here on it is given back, also when the rest fails.
        let terminal = Self(ManuallyDrop::new(terminal));
        enable_raw_mode()?;
        // What was typed while the agent was built is not meant for a screen that nobody had seen.
        tcflush(io::stdin(), QueueSelector::IFlush)?;
        execute!(io::stdout(), EnterAlternateScreen)?;
        Ok(terminal)
    }

    pub(super) fn draw(&mut self, model: &Model) -> io::Result<()> {
        self.0.draw(|frame| view::draw(frame, model)).map(drop)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Its own end would complain on standard error, and a terminal that has hung up takes that for a panic.
        give_back();
    }
}

/// A terminal that is gone needs no restoring.
fn give_back() {
    let _ = disable_raw_mode();
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
}

/// Keys and changes of the size. A thread of its own reads them: a blocked read must not hold the program's end.
pub(super) fn events() -> mpsc::Receiver<Event> {
    let (sender, events) = mpsc::channel(16);
    std::thread::spawn(move || {
        while let Ok(event) = event::read() {
            if sender.blocking_send(event).is_err() {
                return;
            }
        }
    });
    events
}
