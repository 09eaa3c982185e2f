//! The terminal as a screen: switched at the start, and restored on every way out. `view` draws its content.

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

/// Returns whether there is a terminal that can show a screen.
pub(in crate::shop::demo) fn is_possible() -> bool {
    let term = std::env::var_os("TERM").unwrap_or_default();
    io::stdin().is_terminal() && io::stdout().is_terminal() && !term.is_empty() && term != "dumb"
}

/// The terminal, which is restored on every way out: here, and by a panic.
pub(super) struct Terminal(ManuallyDrop<ratatui::Terminal<CrosstermBackend<io::Stdout>>>);

impl Terminal {
    pub(super) fn take() -> io::Result<Self> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
        let terminal = ratatui::Terminal::new(CrosstermBackend::new(io::stdout()))?;
        // From here on it is restored, even when the rest fails.
        let terminal = Self(ManuallyDrop::new(terminal));
        enable_raw_mode()?;
        // Keys typed while the agent was built are dropped, because no screen was visible yet.
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
        // Ratatui's own restore would write an error to standard error, and on a terminal that has hung up this panics.
        give_back();
    }
}

/// Restores the terminal; one that is gone needs no restoring.
fn give_back() {
    let _ = disable_raw_mode();
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
}

/// Returns keys and changes of the size. A separate thread reads them, because a blocked read must not delay the
/// program's end.
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
