//! What the requests of the interface for programs do.

use std::time::Duration;

use hyper::Method;
use pos_sim::gateway::{Kind, State};
use pos_sim::printer::Sensors;
use pos_sim::reader::{WaitsFor, deck};
use pos_sim::shop::demo::card_menu::word;
use pos_till_api::client::{Client, Question};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::hands::{Presentation, Refused, usual_way};
use crate::opening::World;
use crate::simulator::{Answer, Problem};

/// The paths of the interface.
pub(crate) const PATHS: [&str; 10] = [
    "/simulator",
    "/simulator/cards",
    "/simulator/card",
    "/simulator/auto",
    "/simulator/line",
    "/simulator/paper",
    "/simulator/power",
    "/simulator/ledger",
    "/simulator/receipts",
    "/simulator/pairing",
];
/// The longest wait for a card to be presented.
const PRESENTED_WITHIN: Duration = Duration::from_secs(60);
/// The time limit for the front's answer.
const FRONT_WITHIN: Duration = Duration::from_secs(5);
/// The longest answer of the front.
const LONGEST_ANSWER: usize = 64 * 1024;

/// The body of `POST /simulator/card`. It has no `Debug`, because it may contain a PIN.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CardRequest {
    card: String,
    entry: Option<String>,
    pin: Option<String>,
    #[serde(default)]
    leave_in: bool,
    #[serde(default)]
    wait: bool,
}

/// The body of `PUT /simulator/auto`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AutoRequest {
    card: Option<String>,
}

/// The body of `POST /simulator/line`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LineRequest {
    gateway: Option<LineIs>,
    reader: Option<LineIs>,
}

/// The state of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LineIs {
    Cut,
    Restored,
}

/// The body of `POST /simulator/paper`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaperRequest {
    out: bool,
}

/// The body of `POST /simulator/power`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PowerRequest {
    program: PoweredProgram,
    down: Option<bool>,
}

/// A program whose power can be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PoweredProgram {
    Agent,
    Front,
}

/// The body of `POST /simulator/pairing`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) struct PairingRequest {
    #[serde(default)]
    open: bool,
    approve: Option<String>,
    till: Option<String>,
    refuse: Option<String>,
}

/// Returns the shop's addresses, the paths of the interface, and the state of the devices.
pub(crate) async fn shop(world: &World) -> Value {
    let screen = world.shop.reader.watch().borrow().clone();
    let waits_for = match screen.waits_for {
        WaitsFor::Agent => "nothing",
        WaitsFor::Card => "card",
        WaitsFor::Pin => "pin",
        WaitsFor::Choice => "choice",
        WaitsFor::Number => "number",
    };
    let (waiting, auto) = world.hands.cards();
    let mut shop = world.addresses().clone();
    shop["paths"] = json!(PATHS);
    shop["reader"] = json!({ "waitsFor": waits_for, "lines": screen.lines, "cardInSlot": screen.card_in_slot,
                             "cardWaiting": waiting, "auto": auto });
    shop["agentIsUp"] = json!(world.agent.lock().await.is_up());
    shop["frontIsUp"] = json!(world.front.lock().await.is_up());
    shop
}

/// Returns the cards.
pub(crate) fn deck() -> Value {
    let cards = deck::DECK.iter().map(|card| {
        json!({ "name": card.name, "about": card.about, "entries": card.ways().into_iter().map(word).collect::<Vec<_>>(),
                "pin": card.pin })
    });
    cards.collect()
}

/// Lets a card wait for the reader.
pub(crate) async fn present(world: &World, asked: CardRequest) -> Answer {
    let card = deck::named(&asked.card).map_err(|why| Problem::new(404, "no-such-card", why))?;
    let ways = card.ways();
    let entry = match &asked.entry {
        None => usual_way(card),
        Some(entry) => ways.iter().copied().find(|way| word(*way) == entry).ok_or_else(|| {
            let words: Vec<_> = ways.iter().map(|way| word(*way)).collect();
            Problem::new(
                422,
                "entry",
                format!("{} can be presented by {}, not by {entry:?}", card.name, words.join(", ")),
            )
        })?,
    };
    if asked.pin.as_ref().is_some_and(|pin| !(4..=12).contains(&pin.len()) || !pin.bytes().all(|b| b.is_ascii_digit()))
    {
        return Err(Problem::new(422, "pin", "a PIN has 4 to 12 digits"));
    }
    let presentation = Presentation { card, entry, pin: asked.pin, leave_in: asked.leave_in };
    let presented = world.hands.take(presentation).map_err(|refused| {
        let why = match refused {
            Refused::Waits(other) => {
                format!("the card {other} waits for the reader; DELETE /simulator/card takes it back")
            }
            Refused::InSlot => "a card is in the slot; DELETE /simulator/card takes it out".to_owned(),
        };
        Problem::new(409, "card-presented", why)
    })?;
    let said = json!({ "card": card.name, "entry": word(entry) });
    if !asked.wait {
        return Ok((202, said));
    }
    match timeout(PRESENTED_WITHIN, presented).await {
        Ok(Ok(())) => Ok((200, said)),
        Ok(Err(_)) => Err(Problem::new(409, "taken-back", "the card was taken back")),
        Err(_) => {
            world.hands.take_back();
            Err(Problem::new(409, "not-asked", "the reader did not ask for a card within 60 s; the card is taken back"))
        }
    }
}

/// Takes the card back or out.
pub(crate) fn take_back(world: &World) -> Answer {
    match world.hands.take_back() {
        true => Ok((204, Value::Null)),
        false => Err(Problem::new(404, "no-card", "no card waits, and none is in the slot")),
    }
}

/// Sets the card that presents itself.
pub(crate) fn auto(world: &World, asked: &AutoRequest) -> Answer {
    let card = asked.card.as_deref().map(deck::named).transpose();
    let card = card.map_err(|why| Problem::new(404, "no-such-card", why))?;
    world.hands.set_auto(card);
    Ok((200, json!({ "card": card.map(|card| card.name) })))
}

/// Cuts or restores a line.
pub(crate) async fn line(world: &World, asked: &LineRequest) -> Answer {
    if asked.gateway.is_none() && asked.reader.is_none() {
        return Err(Problem::new(
            422,
            "line",
            "name a line: {\"gateway\":\"cut\"} or {\"reader\":\"cut\"}, or \"restored\"",
        ));
    }
    if let Some(is) = asked.gateway {
        world.shop.gateway.set_offline(is == LineIs::Cut).await?;
    }
    match asked.reader {
        Some(LineIs::Cut) => world.shop.reader.unplug(),
        Some(LineIs::Restored) => world.shop.reader.replug()?,
        None => {}
    }
    Ok((204, Value::Null))
}

/// Takes the printer's paper out, or puts it in.
pub(crate) fn paper(world: &World, asked: &PaperRequest) -> Answer {
    world.shop.printer.set_sensors(Sensors { paper_out: asked.out, ..Sensors::default() });
    Ok((204, Value::Null))
}

/// Cuts a program's power. Without `down`, the program is started again, and the answer comes when it is ready.
pub(crate) async fn power(world: &World, asked: &PowerRequest) -> Answer {
    let mut program = match asked.program {
        PoweredProgram::Agent => world.agent.lock().await,
        PoweredProgram::Front => world.front.lock().await,
    };
    if asked.down != Some(false) {
        program.cut().await?;
    }
    if asked.down != Some(true) {
        program.restore().await?;
    }
    Ok((204, Value::Null))
}

/// Returns the bank's ledger.
pub(crate) fn ledger(world: &World) -> Value {
    let ledger = world.shop.gateway.ledger();
    let entries = ledger.entries().iter().map(|entry| {
        json!({ "id": entry.id, "kind": kind(entry.kind), "merchantTransactionId": entry.merchant_transaction_id,
                "amount": entry.amount, "currency": entry.currency, "state": state(entry.state), "code": entry.code,
                "of": entry.refers_to, "entryMode": entry.entry_mode, "left": ledger.left(&entry.id) })
    });
    entries.collect()
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Debit => "sale",
        Kind::PreAuthorisation => "preauthorisation",
        Kind::Capture => "capture",
        Kind::Reversal => "reversal",
        Kind::Refund => "refund",
        Kind::Credit => "credit",
        Kind::RiskCheck => "risk-check",
    }
}

fn state(state: State) -> &'static str {
    match state {
        State::Approved => "approved",
        State::Declined => "declined",
        State::Pending => "pending",
        State::Reversed => "reversed",
    }
}

/// Returns the tills that ask to be paired, with their codes, as a person reads them at the terminal.
pub(crate) async fn pairing(world: &World) -> Answer {
    front(world, Question::get("/pair", FRONT_WITHIN)).await
}

/// Acts as the person at the terminal who lets a till be paired.
pub(crate) async fn pair(world: &World, asked: &PairingRequest) -> Answer {
    let post = |path: &str, body: Value| Question {
        method: Method::POST,
        body: body.to_string().into(),
        ..Question::get(path, FRONT_WITHIN)
    };
    match (asked.open, &asked.approve, &asked.refuse) {
        (true, None, None) => front(world, post("/pair/open", json!({}))).await,
        (false, Some(code), None) => {
            front(world, post("/pair/approve", json!({ "code": code, "till": asked.till }))).await
        }
        (false, None, Some(code)) => front(world, post("/pair/refuse", json!({ "code": code }))).await,
        _ => Err(Problem::new(422, "pairing", "send one of {\"open\":true}, {\"approve\":CODE} and {\"refuse\":CODE}")),
    }
}

/// Asks the front at its control socket, as `pos-front pair` does.
async fn front(world: &World, question: Question) -> Answer {
    let control = Client::at(world.shop.folder().join("front/front.sock"), FRONT_WITHIN);
    let (status, body) = control
        .ask(question, LONGEST_ANSWER)
        .await
        .map_err(|error| Problem::new(503, "front-down", error.to_string()))?;
    let said: Value = serde_json::from_slice(&body).unwrap_or_default();
    if status.is_success() {
        return Ok((200, said));
    }
    let detail = said["detail"].as_str().unwrap_or("the front refuses").to_owned();
    Err(Problem::new(409, "pairing-refused", detail))
}
