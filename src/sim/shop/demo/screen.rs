//! The demo's screen: the whole shop side by side in a terminal. One loop: whatever happens changes the model, then the view is
//! drawn anew.
//!
//! ```text
//!  key ─▶ keys (what is meant) ─▶ model (what is on the screen) ─▶ hands (what happens in the shop)
//!                                   ▲          │
//!  reader, printer, gateway, till ──┘          └─▶ view
//! ```

mod amount;
mod hands;
mod hear;
mod hints;
mod keys;
mod model;
mod overlay;
mod panes;
mod view;

use std::io::{self, IsTerminal};
use std::mem::ManuallyDrop;
use std::panic;
use std::pin::Pin;
use std::time::Duration;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use self::hands::Hands;
use self::keys::Intent;
use self::model::{Act, Model};
use super::agent::Agent;
use super::till::{Asked, News, Till};
use crate::sim::fault::Faults;
use crate::sim::shop::Shop;

/// How long the agent is without power unless a key gives it back.
const POWERLESS: Duration = Duration::from_secs(4);
/// How often the gateway's ledger is looked at; it has no bell.
const LOOK: Duration = Duration::from_millis(200);

/// Whether there is a terminal that can show it.
pub(super) fn is_possible() -> bool {
    let term = std::env::var_os("TERM").unwrap_or_default();
    io::stdin().is_terminal() && io::stdout().is_terminal() && !term.is_empty() && term != "dumb"
}

/// Shows the shop until `q` or `stop`. `line` is the one between agent and gateway.
///
/// # Errors
/// When the terminal cannot be used, or the agent ended by itself: its log is in the error.
pub(super) async fn show(
    shop: &mut Shop,
    agent: &mut Agent,
    line: Faults,
    network_off: bool,
    mut stop: Pin<&mut impl Future<Output = ()>>,
) -> io::Result<u8> {
    let mut model = Model { places: places(shop, agent), ..Model::default() };
    model.faults.network = network_off;
    let (mut display, mut receipts) = (shop.reader.watch(), shop.printer.watch());
    model.shows(display.borrow_and_update().clone());
    let (till, mut news) = Till::open(shop.socket());
    let mut hands = Hands { shop, agent, till, line };
    let mut terminal = Terminal::take()?;
    let mut events = terminal_events();
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut power_at: Option<Instant> = None;
    loop {
        model.ledger = hands.shop.gateway.ledger().entries().to_vec();
        terminal.0.draw(|frame| view::draw(frame, &model))?;
        let intent = tokio::select! {
            event = events.recv() => match event {
                None => Some(Intent::Quit),
                Some(Event::Key(key)) => keys::intent(model.over, &key),
                Some(_) => None,
            },
            Ok(()) = display.changed() => {
                model.shows(display.borrow_and_update().clone());
                None
            }
            Ok(()) = receipts.changed() => {
                let papers = receipts.borrow_and_update().iter().map(|receipt| receipt.text.clone()).collect();
                model.printed(papers);
                None
            }
            Some(told) = news.recv() => {
                hear(&mut model, told, &hands.till);
                None
            }
            () = until(power_at) => Some(Intent::Power),
            ended = hands.agent.ended(), if !model.faults.power => return Err(ended),
            _ = look.tick() => None,
            () = &mut stop => return Ok(0),
        };
        let Some(act) = intent.and_then(|intent| model.press(intent)) else { continue };
        if act == Act::Quit {
            return Ok(0);
        }
        hands.act(act).await?;
        // Power that is off comes back by itself.
        power_at = model.faults.power.then(|| power_at.unwrap_or_else(|| Instant::now() + POWERLESS));
    }
}

fn hear(model: &mut Model, news: News, till: &Till) {
    // What the agent did before it was heard again is asked for.
    if let Some(reference) = model.hear(news) {
        till.ask(Asked::Show(reference));
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

fn places(shop: &Shop, agent: &Agent) -> Vec<String> {
    let (program, config) = (agent.program().display(), shop.config().display().to_string());
    vec![
        format!("From a second terminal: {program} sale 12.34 --config {config}"),
        format!("The agent's log: {}/agent.log", shop.folder().display()),
    ]
}

/// The terminal, given back as it was on every way out: here, and by a panic.
struct Terminal(ManuallyDrop<ratatui::Terminal<CrosstermBackend<io::Stdout>>>);

impl Terminal {
    fn take() -> io::Result<Self> {
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
fn terminal_events() -> mpsc::Receiver<Event> {
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
