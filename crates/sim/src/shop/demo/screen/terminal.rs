//! The terminal as a screen. It is set up at the start and restored at every end. `view` draws its content.

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

/// Returns whether the terminal can show a screen.
pub(in crate::shop::demo) fn is_possible() -> bool {
    let term = std::env::var_os("TERM").unwrap_or_default();
    io::stdin().is_terminal() && io::stdout().is_terminal() && !term.is_empty() && term != "dumb"
}

/// The terminal, which is restored when this value is dropped and after a panic.
pub(super) struct Terminal(ManuallyDrop<ratatui::Terminal<CrosstermBackend<io::Stdout>>>);

impl Terminal {
    pub(super) fn take() -> io::Result<Self> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
        let terminal = ratatui::Terminal::new(CrosstermBackend::new(io::stdout()))?;
        // From this point the terminal is restored, even if the rest fails.
        let terminal = Self(ManuallyDrop::new(terminal));
        enable_raw_mode()?;
        // Keys typed during the build of the agent are dropped, because no screen was visible.
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
        // Ratatui's restore function would write an error to standard error. On a terminal that has hung up, that write
        // panics.
        give_back();
    }
}

/// Restores the terminal. A disconnected terminal need not be restored.
fn give_back() {
    let _ = disable_raw_mode();
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
}

/// Returns key presses and size changes. A separate thread reads them, because a blocked read must not delay the
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
