//! The open shop: one loop in which every event changes the model, and two ways to show the model. On a terminal, a
//! screen shows the whole shop in panes. Without a terminal, or with `--plain`, the same sentences are printed line by
//! line.
//!
//! ```text
//!  key ─▶ keys (its meaning) ─▶ model, key_pressed (its effect on the screen) ─▶ shop_actions (its effect in the shop)
//!                                   ▲  │
//!  reader, printer, gateway, ───────┘  └─▶ view (a screen: panes, or one of the pages) or line_by_line
//!  till (agent_news)
//! ```

mod agent_news;
mod amount;
mod key_hints;
mod key_pressed;
mod keys;
mod line_by_line;
mod model;
mod pages;
mod panes;
mod shop_actions;
mod terminal;
mod text;
mod view;

use std::io;
use std::pin::Pin;
use std::time::Duration;

use ratatui::crossterm::event::Event;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use self::keys::Intent;
use self::line_by_line::LineByLine;
use self::model::{Model, ShopAction};
use self::shop_actions::ShopControls;
use self::terminal::Terminal;
use super::front::Front;
use super::till::{Asked, News, Till};
use crate::fault::LineFaults;
use crate::shop::Shop;
use crate::shop::program::Program;

pub(super) use self::key_pressed::NETWORK_CUT;
pub(super) use self::terminal::is_possible;

/// The time until the agent's power is restored, unless a key restores it earlier.
const POWERLESS: Duration = Duration::from_secs(4);
/// The pause between two reads of the gateway's ledger, which gives no signal when it changes.
const LOOK: Duration = Duration::from_millis(200);

/// The way to show the shop.
enum Face {
    /// On a screen.
    Screen(Terminal),
    /// Line by line.
    LineByLine(LineByLine),
}

impl Face {
    fn take(on_screen: bool) -> io::Result<(Self, mpsc::Receiver<Event>)> {
        Ok(if on_screen {
            let terminal = Terminal::take()?;
            (Self::Screen(terminal), terminal::events())
        } else {
            let (lines, keys) = LineByLine::take();
            (Self::LineByLine(lines), keys)
        })
    }

    fn show(&mut self, model: &mut Model) -> io::Result<()> {
        match self {
            Self::Screen(terminal) => terminal.draw(model)?,
            Self::LineByLine(lines) => lines.tell(model),
        }
        Ok(())
    }
}

/// Shows the shop until `q`, the end of the input, or `stop`. `line` is the connection between agent and gateway.
///
/// # Errors
///
/// Fails if the terminal cannot be used, or if a program ended unexpectedly. The error then includes that program's
/// log.
pub(super) async fn show(
    shop: &mut Shop,
    (agent, mut front): (&mut Program, Option<&mut Front>),
    line: LineFaults,
    (on_screen, network_off): (bool, bool),
    mut stop: Pin<&mut impl Future<Output = ()>>,
) -> io::Result<u8> {
    let page_at = front.as_ref().map(|front| front.url.clone());
    let mut model = Model { places: places(shop, agent, page_at.as_deref()), page_at, ..Model::default() };
    model.faults.network = network_off;
    let (mut display, mut receipts) = (shop.reader.watch(), shop.printer.watch());
    model.shows(display.borrow_and_update().clone());
    let (till, mut news) = Till::open(shop.socket());
    let mut hands = ShopControls { shop, agent, till, line };
    let (mut face, mut events) = Face::take(on_screen)?;
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut power_at: Option<Instant> = None;
    loop {
        model.ledger = hands.shop.gateway.ledger().entries().to_vec();
        face.show(&mut model)?;
        let intent = tokio::select! {
            event = events.recv() => match event {
                None => Some(Intent::Quit),
                Some(Event::Key(key)) => keys::intent(model.page, model.number_wanted(), &key),
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
            ended = has_ended(&mut front) => return Err(ended),
            _ = look.tick() => None,
            () = &mut stop => return Ok(0),
        };
        let Some(act) = intent.and_then(|intent| model.press(intent)) else { continue };
        if act == ShopAction::Quit {
            return Ok(0);
        }
        hands.act(act).await?;
        // Power that is off is restored automatically.
        power_at = model.faults.power.then(|| power_at.unwrap_or_else(|| Instant::now() + POWERLESS));
    }
}

fn hear(model: &mut Model, news: News, till: &Till) {
    // While the agent was not connected, its transaction may have continued, so the till asks for its state.
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

async fn has_ended(front: &mut Option<&mut Front>) -> io::Error {
    match front {
        Some(front) => front.program.ended().await,
        None => std::future::pending().await,
    }
}

/// Returns the names and paths of all parts of the shop.
fn places(shop: &Shop, agent: &Program, page_at: Option<&str>) -> Vec<(String, String)> {
    let (program, config) = (agent.file().display(), shop.config().display().to_string());
    let folder = shop.folder().display();
    let place = |what: &str, place: String| (what.to_owned(), place);
    let page =
        page_at.map(|url| place("The cashier's page is the real one too. Open it in a browser:", url.to_owned()));
    let mut places = vec![
        place(
            "The agent is the real one. Take a payment from a second terminal like this:",
            format!("{program} sale 12.34 --config {config}"),
        ),
        place("The agent writes its log here:", format!("{folder}/agent.log")),
        place("The simulated reader is here:", shop.reader.place()),
        place("The simulated gateway is here:", shop.gateway.base_url()),
        place("The simulated printer is here:", shop.printer.place()),
    ];
    places.splice(1..1, page);
    places
}
