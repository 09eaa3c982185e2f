//! The driver against the simulated reader over a real pty: each card of the deck, each way to present it, with every liberty
//! the protocol leaves the reader.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use std::time::Duration;

use pos_agent::card::{EntryMode, FirstAnswer, Presented};
use pos_agent::money::{Amount, Currency};
use pos_agent::reader::{
    Arm, CardVerdict, Completion, Event, Handle, LocalTime, NoCard, Order, Settings, Step, Unready, spawn,
};
use pos_agent::sim::reader::{AbortRace, Entry, Key, Options, Reader, WaitsFor, card, start};
use tokio::sync::mpsc::Receiver;

const AT: LocalTime = LocalTime { year: 25, month: 1, day: 31, hour: 12, minute: 34, second: 56 };

struct Pair {
    reader: Reader,
    handle: Handle,
    events: Receiver<Event>,
    sale: u64,
    /// The last [`Event::KeysLeft`], which follows every card.
    keys: (Option<u64>, Option<u64>),
}

impl Pair {
    /// Driver and reader, not ready yet.
    async fn of(options: Options) -> Self {
        let reader = start(options).await.unwrap();
        let place = reader.place();
        let port = if place.starts_with('/') || place.contains("://") { place } else { format!("tcp://{place}") };
        let (handle, events) = spawn(Settings { clock: Arc::new(|| Some(AT)), ..Settings::new(port) });
        Self { reader, handle, events, sale: 0, keys: (None, None) }
    }

    async fn ready(options: Options) -> Self {
        let mut pair = Self::of(options).await;
        let event = pair.next().await;
        assert!(matches!(event, Event::Ready(_)), "{event:?}");
        pair
    }

    async fn next(&mut self) -> Event {
        loop {
            let event = tokio::time::timeout(Duration::from_secs(30), self.events.recv()).await;
            match event.expect("an event").expect("a task") {
                Event::KeysLeft { card, pin } => self.keys = (card, pin),
                event => return event,
            }
        }
    }

    /// The next event that is no step; the steps before it.
    async fn after_steps(&mut self) -> (Vec<Step>, Event) {
        let mut steps = Vec::new();
        loop {
            match self.next().await {
                Event::Step { sale, step } => {
                    assert_eq!(sale, self.sale);
                    steps.push(step);
                }
                other => return (steps, other),
            }
        }
    }

    async fn arm(&mut self) {
        self.sale += 1;
        let amount = Amount::parse("12.34", Currency::from_code("EUR").unwrap()).unwrap();
        let card_timeout = Duration::from_secs(60);
        let arm = Arm {
            sale: self.sale,
            amount,
            transaction_type: 0,
            at: AT,
            card_timeout,
            entry: pos_agent::reader::Entry::Card,
        };
        self.handle.order(Order::Arm(arm)).await.unwrap();
    }

    /// Arms, presents the card when the reader waits for one, and does what the cashier is told until it is read.
    async fn present(&mut self, name: &str, entry: Entry) -> (Vec<Step>, Box<Presented>) {
        let card = card(name).unwrap();
        self.arm().await;
        self.reader.waits_for(WaitsFor::Card).await;
        self.reader.present(card, entry);
        let mut steps = Vec::new();
        loop {
            match self.next().await {
                Event::Step { step, .. } => {
                    match step {
                        Step::InsertCard => self.reader.insert(card),
                        Step::SwipeCard => {
                            self.reader.remove();
                            self.reader.swipe(card);
                        }
                        _ => {}
                    }
                    steps.push(step);
                }
                Event::Card { sale, presented } => {
                    assert_eq!(sale, self.sale);
                    return (steps, presented);
                }
                other => panic!("{name} {entry:?}: {other:?} after {steps:?}"),
            }
        }
    }

    /// Gives the host's answer and waits until the reader is idle.
    async fn complete(&mut self, arc: &[u8; 2]) -> CardVerdict {
        let completion = Completion { arc: *arc, issuer_authentication: None, scripts: heapless::Vec::new() };
        self.handle.order(Order::Complete { sale: self.sale, completion }).await.unwrap();
        let (_, event) = self.after_steps().await;
        let Event::Completed { verdict, .. } = event else { panic!("{event:?}") };
        self.reader.remove();
        let (_, event) = self.after_steps().await;
        assert!(matches!(event, Event::Idle), "{event:?}");
        verdict
    }
}

/// Name, way, entry mode, sealed PIN, the card's own verdict when the host approves without issuer data.
const SALES: &[(&str, Entry, EntryMode, bool, CardVerdict)] = &[
    ("chip-refuses", Entry::Insert, EntryMode::Icc, false, CardVerdict::Refused),
    ("chip-offline", Entry::Insert, EntryMode::Icc, false, CardVerdict::Approved),
    ("chip-broken", Entry::Insert, EntryMode::MagstripeAsFallback, false, CardVerdict::Approved),
    ("chip-unsupported", Entry::Insert, EntryMode::MagstripeAsFallback, false, CardVerdict::Approved),
    ("tap", Entry::Tap, EntryMode::NfcIcc, false, CardVerdict::Approved),
    ("tap-pin", Entry::Tap, EntryMode::NfcIcc, true, CardVerdict::Approved),
    ("tap-magstripe", Entry::Tap, EntryMode::NfcMagstripe, false, CardVerdict::Approved),
    ("swipe", Entry::Swipe, EntryMode::Magstripe, false, CardVerdict::Approved),
    ("swipe-pin", Entry::Swipe, EntryMode::Magstripe, true, CardVerdict::Approved),
];

async fn every_card(options: Options) {
    let mut pair = Pair::ready(options).await;
    for &(name, entry, mode, pin, verdict) in SALES {
        let (_, presented) = pair.present(name, entry).await;
        assert_eq!(presented.facts.entry, mode, "{name}");
        assert_eq!(presented.pin.is_some(), pin, "{name}");
        assert_eq!(presented.first_answer, FirstAnswer::GoOnline, "{name}");
        assert_eq!(presented.card.ksn.expose().len(), 10, "{name}");
        assert_eq!(presented.facts.pan.as_ref().unwrap().last4(), &card(name).unwrap().pan[12..], "{name}");
        assert_eq!(pair.complete(b"00").await, verdict, "{name}");
    }
    // Chips whose verdict on an approval without issuer data is their own affair: declined by the host it is AAC.
    for (name, entry, pin) in [
        ("chip-pin", Entry::Insert, true),
        ("chip-no-cvm", Entry::Insert, false),
        ("chip-choice", Entry::Insert, false),
        ("chip-pin", Entry::Swipe, true),
        ("tap-insert", Entry::Tap, true),
    ] {
        let (steps, presented) = pair.present(name, entry).await;
        assert_eq!((presented.facts.entry, presented.pin.is_some()), (EntryMode::Icc, pin), "{name} {steps:?}");
        assert_eq!(pair.complete(b"Z1").await, CardVerdict::Refused, "{name}");
    }
    let (_, presented) = pair.present("chip-declines", Entry::Insert).await;
    assert_eq!(presented.first_answer, FirstAnswer::Declined);
    assert_eq!(pair.complete(b"Z1").await, CardVerdict::Refused);
}

#[tokio::test]
async fn every_card_of_the_deck() {
    every_card(Options::default()).await;
}

#[tokio::test]
async fn with_chatter_small_packets_and_small_writes() {
    every_card(Options { chatter: true, chain_size: 21, fragment: Some(50), ..Options::default() }).await;
}

#[tokio::test]
async fn with_events_before_answers_and_over_tcp() {
    let tcp = Some("127.0.0.1:0".parse().unwrap());
    every_card(Options { events_first: true, tcp, says_powered_on: true, ..Options::default() }).await;
}

#[tokio::test]
async fn cancelled_while_waiting_in_both_orders_of_the_race() {
    for race in [AbortRace::AbortWins, AbortRace::CardWins(card("tap").unwrap())] {
        let mut pair = Pair::ready(Options { race, ..Options::default() }).await;
        for _ in 0..2 {
            pair.arm().await;
            pair.reader.waits_for(WaitsFor::Card).await;
            pair.handle.order(Order::Cancel { sale: pair.sale }).await.unwrap();
            let (_, event) = pair.after_steps().await;
            assert!(matches!(event, Event::NoCard { why: NoCard::CancelledByTill, .. }), "{event:?}");
            assert!(matches!(pair.next().await, Event::Idle));
        }
    }
}

#[tokio::test]
async fn cancelled_at_the_reader() {
    let mut pair = Pair::ready(Options::default()).await;
    pair.arm().await;
    pair.reader.waits_for(WaitsFor::Card).await;
    pair.reader.key(Key::Cancel);
    let (_, event) = pair.after_steps().await;
    assert!(matches!(event, Event::NoCard { why: NoCard::CancelledAtReader, .. }), "{event:?}");
    assert!(matches!(pair.next().await, Event::Idle));
    // At the PIN.
    pair.reader.next_pin_cancel();
    pair.arm().await;
    pair.reader.waits_for(WaitsFor::Card).await;
    pair.reader.insert(card("chip-pin").unwrap());
    let (_, event) = pair.after_steps().await;
    assert!(matches!(event, Event::NoCard { why: NoCard::CancelledAtReader, .. }), "{event:?}");
    pair.reader.remove();
    let (_, event) = pair.after_steps().await;
    assert!(matches!(event, Event::Idle), "{event:?}");
}

#[tokio::test]
async fn another_amount_or_currency_is_refused() {
    for options in [
        Options { amount_override: Some(1), ..Options::default() },
        Options { currency_override: Some(840), ..Options::default() },
    ] {
        for (name, entry) in [("chip-no-cvm", Entry::Insert), ("tap", Entry::Tap)] {
            let mut pair = Pair::ready(options.clone()).await;
            pair.arm().await;
            pair.reader.waits_for(WaitsFor::Card).await;
            pair.reader.present(card(name).unwrap(), entry);
            let (_, event) = pair.after_steps().await;
            assert!(matches!(event, Event::NoCard { why: NoCard::AmountDiffers, .. }), "{event:?}");
        }
    }
}

#[tokio::test]
async fn an_unsecured_reader_takes_no_payment() {
    let mut pair = Pair::of(Options { secured: false, ..Options::default() }).await;
    let event = pair.next().await;
    assert!(matches!(event, Event::Unready(Unready::NoCardKey { .. })), "{event:?}");
    pair.arm().await;
    assert!(matches!(pair.next().await, Event::NoCard { why: NoCard::NotReady, .. }));
}

#[tokio::test]
async fn unplugged_while_the_card_is_read_and_plugged_in_again() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("reader");
    let reader = start(Options { link: Some(link.clone()), ..Options::default() }).await.unwrap();
    let (handle, events) = spawn(Settings { clock: Arc::new(|| Some(AT)), ..Settings::new(link.to_str().unwrap()) });
    let mut pair = Pair { reader, handle, events, sale: 0, keys: (None, None) };
    assert!(matches!(pair.next().await, Event::Ready(_)));
    for _ in 0..2 {
        let (_, _presented) = pair.present("tap", Entry::Tap).await;
        pair.reader.unplug();
        let event = pair.next().await;
        assert!(matches!(event, Event::Unready(Unready::Absent { .. })), "{event:?}");
        pair.reader.replug().unwrap();
        loop {
            match pair.next().await {
                Event::Ready(_) => break,
                Event::Unready(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
    let (_, presented) = pair.present("tap", Entry::Tap).await;
    assert_eq!(presented.facts.entry, EntryMode::NfcIcc);
    assert_eq!(pair.complete(b"00").await, CardVerdict::Approved);
}
