//! The driver with the simulated reader over a real pty: each test card, each way of presenting it, and every behaviour
//! that the protocol permits the reader.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pos_agent::config::ManualEntryCommand;
use pos_reader::miura::{ManualEntry, MiuraSettings};
use pos_reader::neo2::Neo2Settings;
use pos_reader::vipa::{SredForm, VipaSettings};
use pos_reader::{
    AmountToType, Arm, CardVerdict, Completion, LocalTime, NoAmount, NoCard, ReaderEvent, ReaderFamily, ReaderHandle,
    ReaderOrder, ReaderProgress, ReaderSettings, TypeAmount, Unready, spawn,
};
use pos_sim::reader::{AbortRace, CardEntry, Dukpt, Family, Key, Options, Reader, WaitsFor, card, start};
use pos_terms::card::{CardFacts, Cvm, EntryMode, FirstAnswer, Presented};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::SaleNumber;
use pos_test_kit::recording::{self, Recorded};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::Receiver;

/// Makes a test of each function for each family.
macro_rules! for_each_family {
    ($($name:ident,)*) => {
        for_each_family! { @family miura Miura $($name,)* }
        for_each_family! { @family vipa Vipa $($name,)* }
        for_each_family! { @family neo2 Neo2 $($name,)* }
    };
    (@family $module:ident $family:ident $($name:ident,)*) => {
        mod $module {
            use super::Family;

            $(#[tokio::test]
            async fn $name() {
                super::$name(Family::$family).await;
            })*
        }
    };
}

for_each_family! {
    every_card_of_the_deck,
    with_chatter_small_packets_and_small_writes,
    with_events_before_answers_and_over_tcp,
    cancelled_while_waiting_in_both_orders_of_the_race,
    cancelled_at_the_reader,
    another_amount_or_currency_is_refused,
    an_unsecured_reader_takes_no_payment,
    unplugged_while_the_card_is_read_and_plugged_in_again,
    unplugged_in_every_step_and_back_at_another_tty,
    keys_that_are_used_up_end_the_sale_and_the_reader_waits_for_new_ones,
    a_wrong_pin_is_seen_with_the_tries_left,
}

/// Returns a simulated reader of a family.
fn options(family: Family) -> Options {
    Options { family, ..Options::default() }
}

/// Returns the driver's settings for a family.
fn driver_of(family: Family) -> ReaderFamily {
    match family {
        Family::Miura => ReaderFamily::Miura(MiuraSettings::default()),
        Family::Vipa => {
            let (country, acquirer) = ([0x02, 0x76], "65".to_owned());
            ReaderFamily::Vipa(VipaSettings { country, acquirer, ..VipaSettings::default() })
        }
        Family::Neo2 => ReaderFamily::Neo2(Neo2Settings::default()),
    }
}

const AT: LocalTime = LocalTime { year: 25, month: 1, day: 31, hour: 12, minute: 34, second: 56 };

struct Pair {
    family: Family,
    reader: Reader,
    handle: ReaderHandle,
    events: Receiver<ReaderEvent>,
    sale: u64,
    /// The last [`ReaderEvent::KeysLeft`]. One follows every card.
    keys: (Option<u64>, Option<u64>),
    /// What the driver is made of, its recording, and the sealed data that must not be in it.
    setup: (ReaderSettings, ReaderFamily),
    recorded: Recorded,
    sealed: Vec<Vec<u8>>,
}

/// A recording of every test has no card data, and plays to a session without the reader.
impl Drop for Pair {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let text = recorded_until_the_last_input(&self.recorded.text());
        for (name, ..) in SALES {
            let card = card(name).unwrap();
            for secret in [card.pan, card.holder.trim()] {
                let hex = hex::encode_upper(secret);
                assert!(!text.contains(secret) && !text.contains(&hex), "{name}: {secret} is in the recording");
            }
        }
        for sealed in &self.sealed {
            for window in sealed
                .windows(8)
                .flat_map(|bytes| [hex::encode_upper(bytes), hex::encode_upper(hex::encode_upper(bytes))])
            {
                assert!(!text.contains(&window), "sealed data are in the recording");
            }
        }
        let (settings, family) = self.setup.clone();
        recording::play_beginning(&text, settings, family);
    }
}

/// Cuts a recording before its last input, whose effects may be incomplete because the driver still runs.
fn recorded_until_the_last_input(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_input = |line: &&str| -> bool {
        let what = line.split_whitespace().nth(1).unwrap_or_default();
        !line.starts_with('#') && matches!(what, "open" | "close" | "order" | "timer" | "<" | "<?" | "<0" | "<!" | "<r")
    };
    let last = lines.iter().rposition(is_input).unwrap_or_default();
    lines[..last].join("\n")
}

impl Pair {
    /// Opens the driver and the reader, which is not ready yet.
    async fn of(options: Options) -> Self {
        let family = driver_of(options.family);
        Self::with(options, family).await
    }

    /// Opens the same as [`Self::of`], with settings for the driver.
    async fn with(options: Options, family: ReaderFamily) -> Self {
        let driven = options.family;
        let reader = start(options).await.unwrap();
        let place = reader.place();
        let port = if place.starts_with('/') || place.contains("://") { place } else { format!("tcp://{place}") };
        Self::at(reader, port, driven, family)
    }

    /// Opens the driver at a port.
    fn at(reader: Reader, port: String, driven: Family, family: ReaderFamily) -> Self {
        let settings = ReaderSettings { clock: Arc::new(|| Some(AT)), ..ReaderSettings::new(port) };
        let recorded = Recorded::default();
        let (handle, events) = spawn(recorded.settings(settings.clone()), family.clone());
        let (sale, keys, sealed) = Default::default();
        let setup = (settings, family);
        Self { family: driven, reader, handle, events, sale, keys, setup, recorded, sealed }
    }

    async fn ready(options: Options) -> Self {
        let mut pair = Self::of(options).await;
        let event = pair.next().await;
        assert!(matches!(event, ReaderEvent::Ready(_)), "{event:?}");
        pair
    }

    async fn next(&mut self) -> ReaderEvent {
        loop {
            let event = tokio::time::timeout(Duration::from_secs(30), self.events.recv()).await;
            let Ok(event) = event else {
                let commands = self.reader.counters().commands;
                let latest: Vec<_> = commands.iter().rev().take(8).map(|code| format!("{code:04X}")).collect();
                panic!(
                    "sale {}: no event; {:?}; the latest commands first: {latest:?}",
                    self.sale,
                    self.reader.display()
                );
            };
            match event.expect("a task") {
                ReaderEvent::KeysLeft { card, pin } => self.keys = (card, pin),
                event => {
                    if let ReaderEvent::Card { presented, .. } = &event {
                        // A VIPA reader's initial value comes first and is no secret.
                        let iv = if self.family == Family::Vipa { 8 } else { 0 };
                        self.sealed.extend(presented.card.data.expose().get(iv..).map(<[u8]>::to_vec));
                        self.sealed.extend(presented.pin.as_ref().map(|pin| pin.block.expose().to_vec()));
                    }
                    return event;
                }
            }
        }
    }

    /// Returns the steps before the next other event, and that event.
    async fn after_steps(&mut self) -> (Vec<ReaderProgress>, ReaderEvent) {
        let mut steps = Vec::new();
        loop {
            match self.next().await {
                ReaderEvent::Progress { sale, progress } => {
                    assert_eq!(sale, self.sale);
                    steps.push(progress);
                }
                other => return (steps, other),
            }
        }
    }

    /// Waits for a step, and then lets the till cancel. Returns the steps.
    async fn cancelled_by_till_after(&mut self, awaited: &ReaderProgress) -> Vec<ReaderProgress> {
        let mut steps = Vec::new();
        while steps.last() != Some(awaited) {
            match self.next().await {
                ReaderEvent::Progress { progress, .. } => steps.push(progress),
                other => panic!("{other:?} after {steps:?}"),
            }
        }
        self.handle.order(ReaderOrder::Cancel { sale: SaleNumber::new(self.sale) }).await.unwrap();
        let (_, event) = self.after_steps().await;
        assert!(matches!(event, ReaderEvent::NoCard { why: NoCard::CancelledByTill, .. }), "{event:?}");
        let (_, idle) = self.after_steps().await;
        assert!(matches!(idle, ReaderEvent::Idle), "{idle:?}");
        steps
    }

    async fn arm(&mut self) {
        self.arm_for(pos_reader::EntryRequest::Card).await;
    }

    async fn arm_for(&mut self, entry: pos_reader::EntryRequest) {
        self.sale += 1;
        let amount = Amount::parse("12.34", Currency::from_code("EUR").unwrap()).unwrap();
        let card_timeout = Duration::from_secs(60);
        let arm = Arm { sale: SaleNumber::new(self.sale), amount, transaction_type: 0, at: AT, card_timeout, entry };
        self.handle.order(ReaderOrder::Arm(arm)).await.unwrap();
    }

    /// Waits until the reader waits for a card.
    async fn until_it_waits(&mut self) {
        let waits = self.reader.waits_for(WaitsFor::Card);
        if tokio::time::timeout(Duration::from_secs(20), waits).await.is_err() {
            let told: Vec<_> = std::iter::from_fn(|| self.events.try_recv().ok()).collect();
            panic!("the reader does not wait for a card; {:?}; {told:?}", self.reader.display());
        }
    }

    /// Arms the reader, presents the card when the reader waits for one, and follows the cashier's instructions until
    /// the card is read.
    async fn present(&mut self, name: &str, entry: CardEntry) -> (Vec<ReaderProgress>, Box<Presented>) {
        let card = card(name).unwrap();
        self.arm().await;
        self.until_it_waits().await;
        self.reader.present(card, entry);
        if self.family == Family::Neo2 && card.after(entry) == Some(CardEntry::Swipe) {
            // This reader asks for the swipe itself, and reports only the swipe.
            let asks = self.reader.until(|screen| screen.lines.iter().any(|line| line.contains("SWIPE CARD")));
            if tokio::time::timeout(Duration::from_secs(20), asks).await.is_err() {
                panic!("{name}: no request for a swipe; {:?}", self.reader.display());
            }
            self.reader.remove();
            self.reader.swipe(card);
        }
        let mut steps = Vec::new();
        loop {
            match self.next().await {
                ReaderEvent::Progress { progress: step, .. } => {
                    match step {
                        ReaderProgress::InsertCard => {
                            // A chip that was not read is taken out first.
                            if self.reader.watch().borrow().card_in_slot {
                                self.reader.remove();
                            }
                            self.reader.insert(card);
                        }
                        ReaderProgress::SwipeCard => {
                            self.reader.remove();
                            self.reader.swipe(card);
                        }
                        // A phone has asked its holder, and wants to be tapped again.
                        ReaderProgress::TryAgain if entry == CardEntry::Tap => {
                            self.until_it_waits().await;
                            self.reader.tap(card);
                        }
                        _ => {}
                    }
                    steps.push(step);
                }
                ReaderEvent::Card { sale, presented } => {
                    assert_eq!(sale, self.sale);
                    return (steps, presented);
                }
                other => panic!("{name} {entry:?}: {other:?} after {steps:?}"),
            }
        }
    }

    /// Gives the host's answer and waits until the reader is idle.
    async fn complete(&mut self, arc: &[u8; 2]) -> CardVerdict {
        self.complete_with(arc, &[]).await.0
    }

    /// Does the same as [`Self::complete`], with scripts. Also returns whether they were left out.
    async fn complete_with(&mut self, arc: &[u8; 2], scripts: &[u8]) -> (CardVerdict, bool) {
        let scripts = heapless::Vec::from_slice(scripts).unwrap();
        let completion = Completion { arc: *arc, issuer_authentication: None, scripts };
        self.handle.order(ReaderOrder::Complete { sale: SaleNumber::new(self.sale), completion }).await.unwrap();
        let (_, event) = self.after_steps().await;
        let ReaderEvent::Completed { verdict, scripts_dropped, .. } = event else { panic!("{event:?}") };
        self.reader.remove();
        let (_, event) = self.after_steps().await;
        assert!(matches!(event, ReaderEvent::Idle), "{event:?}");
        (verdict, scripts_dropped)
    }

    /// Asks for typed input. The number is typed when the reader asks for it.
    async fn type_in(&mut self, what: AmountToType, number: &str) -> Result<Option<Amount>, NoAmount> {
        self.sale += 1;
        self.reader.next_number(number);
        let is_tip = matches!(what, AmountToType::Tip { .. });
        let order = TypeAmount { sale: SaleNumber::new(self.sale), what, timeout: Duration::from_secs(60) };
        self.handle.order(ReaderOrder::TypeAmount(order)).await.unwrap();
        if is_tip {
            let told = self.next().await;
            let choosing = ReaderProgress::ChoosingTip;
            assert!(
                matches!(&told, ReaderEvent::Progress { sale, progress } if *sale == self.sale && *progress == choosing),
                "{told:?}"
            );
        }
        match self.next().await {
            ReaderEvent::Typed { sale, amount } if sale == self.sale => amount,
            other => panic!("{other:?}"),
        }
    }
}

/// Name, way of presenting the card, entry mode, whether the PIN is sealed, and the card's verdict when the host
/// approves without issuer data.
const SALES: &[(&str, CardEntry, EntryMode, bool, CardVerdict)] = &[
    ("chip-refuses", CardEntry::Insert, EntryMode::Icc, false, CardVerdict::Refused),
    ("chip-offline", CardEntry::Insert, EntryMode::Icc, false, CardVerdict::Approved),
    ("chip-broken", CardEntry::Insert, EntryMode::MagstripeAsFallback, false, CardVerdict::Approved),
    ("chip-unsupported", CardEntry::Insert, EntryMode::MagstripeAsFallback, false, CardVerdict::Approved),
    ("tap", CardEntry::Tap, EntryMode::NfcIcc, false, CardVerdict::Approved),
    ("tap-pin", CardEntry::Tap, EntryMode::NfcIcc, true, CardVerdict::Approved),
    ("tap-magstripe", CardEntry::Tap, EntryMode::NfcMagstripe, false, CardVerdict::Approved),
    ("swipe", CardEntry::Swipe, EntryMode::Magstripe, false, CardVerdict::Approved),
    ("swipe-pin", CardEntry::Swipe, EntryMode::Magstripe, true, CardVerdict::Approved),
];

async fn every_card(options: Options) {
    let mut pair = Pair::ready(options).await;
    for &(name, entry, mode, pin, verdict) in SALES {
        let (_, presented) = pair.present(name, entry).await;
        assert_eq!(presented.facts.entry, mode, "{name}");
        // A NEO2 reader masks the service code of a stripe, so the driver does not know that it wants a PIN.
        let pin = pin && !(pair.family == Family::Neo2 && entry == CardEntry::Swipe);
        assert_eq!(presented.pin.is_some(), pin, "{name}");
        assert_eq!(presented.first_answer, FirstAnswer::GoOnline, "{name}");
        assert_eq!(presented.card.ksn.expose().len(), 10, "{name}");
        assert_eq!(presented.facts.pan.as_ref().unwrap().last4(), &card(name).unwrap().pan[12..], "{name}");
        assert_eq!(pair.complete(b"00").await, verdict, "{name}");
    }
    // These chips decide alone about an approval without issuer data. After a decline by the host they answer AAC.
    for (name, entry, pin) in [
        ("chip-pin", CardEntry::Insert, true),
        ("chip-no-cvm", CardEntry::Insert, false),
        ("chip-choice", CardEntry::Insert, false),
        ("chip-pin", CardEntry::Swipe, true),
        ("tap-insert", CardEntry::Tap, true),
    ] {
        let (steps, presented) = pair.present(name, entry).await;
        assert_eq!((presented.facts.entry, presented.pin.is_some()), (EntryMode::Icc, pin), "{name} {steps:?}");
        assert_eq!(pair.complete(b"Z1").await, CardVerdict::Refused, "{name}");
    }
    let (_, presented) = pair.present("chip-declines", CardEntry::Insert).await;
    assert_eq!(presented.first_answer, FirstAnswer::Declined);
    assert_eq!(pair.complete(b"Z1").await, CardVerdict::Refused);
}

async fn every_card_of_the_deck(family: Family) {
    every_card(options(family)).await;
}

async fn with_chatter_small_packets_and_small_writes(family: Family) {
    every_card(Options { chatter: true, chain_size: 21, fragment: Some(50), ..options(family) }).await;
}

async fn with_events_before_answers_and_over_tcp(family: Family) {
    let tcp = Some("127.0.0.1:0".parse().unwrap());
    every_card(Options { events_first: true, tcp, says_powered_on: true, ..options(family) }).await;
}

async fn cancelled_while_waiting_in_both_orders_of_the_race(family: Family) {
    for race in [AbortRace::AbortWins, AbortRace::CardWins(card("tap").unwrap())] {
        let mut pair = Pair::ready(Options { race, ..options(family) }).await;
        for _ in 0..2 {
            pair.arm().await;
            pair.until_it_waits().await;
            pair.handle.order(ReaderOrder::Cancel { sale: SaleNumber::new(pair.sale) }).await.unwrap();
            let (_, event) = pair.after_steps().await;
            assert!(matches!(event, ReaderEvent::NoCard { why: NoCard::CancelledByTill, .. }), "{event:?}");
            assert!(matches!(pair.next().await, ReaderEvent::Idle));
        }
    }
}

async fn cancelled_at_the_reader(family: Family) {
    let mut pair = Pair::ready(options(family)).await;
    pair.arm().await;
    pair.until_it_waits().await;
    pair.reader.key(Key::Cancel);
    if family == Family::Neo2 {
        // The codes of this reader's failures are not published, so the customer may try again until the till cancels.
        let steps = pair.cancelled_by_till_after(&ReaderProgress::TryAgain).await;
        assert_eq!(steps, [ReaderProgress::PresentCard, ReaderProgress::TryAgain]);
        pair.reader.next_pin_cancel();
        pair.arm().await;
        pair.until_it_waits().await;
        pair.reader.insert(card("chip-pin").unwrap());
        pair.cancelled_by_till_after(&ReaderProgress::InsertCard).await;
        return;
    }
    let (_, event) = pair.after_steps().await;
    assert!(matches!(event, ReaderEvent::NoCard { why: NoCard::CancelledAtReader, .. }), "{event:?}");
    assert!(matches!(pair.next().await, ReaderEvent::Idle));
    // The customer cancels at PIN entry.
    pair.reader.next_pin_cancel();
    pair.arm().await;
    pair.until_it_waits().await;
    pair.reader.insert(card("chip-pin").unwrap());
    let (_, event) = pair.after_steps().await;
    assert!(matches!(event, ReaderEvent::NoCard { why: NoCard::CancelledAtReader, .. }), "{event:?}");
    pair.reader.remove();
    let (_, event) = pair.after_steps().await;
    assert!(matches!(event, ReaderEvent::Idle), "{event:?}");
}

async fn another_amount_or_currency_is_refused(family: Family) {
    for options in [
        Options { amount_override: Some(1), ..options(family) },
        Options { currency_override: Some(840), ..options(family) },
    ] {
        for (name, entry) in [("chip-no-cvm", CardEntry::Insert), ("tap", CardEntry::Tap)] {
            let mut pair = Pair::ready(options.clone()).await;
            pair.arm().await;
            pair.until_it_waits().await;
            pair.reader.present(card(name).unwrap(), entry);
            let (_, event) = pair.after_steps().await;
            assert!(matches!(event, ReaderEvent::NoCard { why: NoCard::AmountDiffers, .. }), "{event:?}");
        }
    }
}

async fn an_unsecured_reader_takes_no_payment(family: Family) {
    let mut pair = Pair::of(Options { secured: false, ..options(family) }).await;
    let event = pair.next().await;
    assert!(matches!(event, ReaderEvent::Unready(Unready::NoCardKey { .. })), "{event:?}");
    pair.arm().await;
    assert!(matches!(pair.next().await, ReaderEvent::NoCard { why: NoCard::NotReady, .. }));
}

async fn unplugged_while_the_card_is_read_and_plugged_in_again(family: Family) {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("reader");
    let reader = start(Options { link: Some(link.clone()), ..options(family) }).await.unwrap();
    let mut pair = Pair::at(reader, link.to_str().unwrap().to_owned(), family, driver_of(family));
    assert!(matches!(pair.next().await, ReaderEvent::Ready(_)));
    for _ in 0..2 {
        let (_, _presented) = pair.present("tap", CardEntry::Tap).await;
        pair.reader.unplug();
        let event = pair.next().await;
        assert!(matches!(event, ReaderEvent::Unready(Unready::Absent { .. })), "{event:?}");
        pair.reader.replug().unwrap();
        loop {
            match pair.next().await {
                ReaderEvent::Ready(_) => break,
                ReaderEvent::Unready(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
    let (_, presented) = pair.present("tap", CardEntry::Tap).await;
    assert_eq!(presented.facts.entry, EntryMode::NfcIcc);
    assert_eq!(pair.complete(b"00").await, CardVerdict::Approved);
}

fn eur(text: &str) -> Amount {
    Amount::parse(text, Currency::from_code("EUR").unwrap()).unwrap()
}

#[tokio::test]
async fn amounts_and_tips_are_typed() {
    let mut pair = Pair::ready(Options::default()).await;
    let amount = || AmountToType::Amount { currency: eur("1.00").currency() };
    let percentages = heapless::Vec::from_slice(&[10, 15, 20]).unwrap();
    let tip = || AmountToType::Tip { base: eur("20.00"), percentages: percentages.clone(), other: true };
    assert_eq!(pair.type_in(amount(), "1234").await, Ok(Some(eur("12.34"))));
    assert_eq!(pair.type_in(tip(), "300").await, Ok(Some(eur("3.00"))));
    assert_eq!(pair.type_in(tip(), "0").await, Ok(None));
    assert_eq!(pair.type_in(tip(), "2300").await, Err(NoAmount::DoesNotFit));
    assert_eq!(pair.type_in(amount(), "").await, Err(NoAmount::NotAnAmount));
    // The amount is typed key by key, cancelled at the reader, or cancelled at the till.
    for cancelled in [None, Some(NoAmount::CancelledAtReader), Some(NoAmount::CancelledByTill)] {
        pair.sale += 1;
        let order = TypeAmount { sale: SaleNumber::new(pair.sale), what: amount(), timeout: Duration::from_secs(60) };
        pair.handle.order(ReaderOrder::TypeAmount(order)).await.unwrap();
        pair.reader.waits_for(WaitsFor::Number).await;
        for digit in [4, 5, 0] {
            pair.reader.key(Key::Digit(digit));
        }
        match &cancelled {
            None => pair.reader.key(Key::Enter),
            Some(NoAmount::CancelledAtReader) => pair.reader.key(Key::Cancel),
            Some(_) => pair.handle.order(ReaderOrder::Cancel { sale: SaleNumber::new(pair.sale) }).await.unwrap(),
        }
        let event = pair.next().await;
        let expected = cancelled.map_or(Ok(Some(eur("4.50"))), Err);
        assert!(matches!(&event, ReaderEvent::Typed { amount, .. } if *amount == expected), "{event:?}");
    }
    // The reader is free for a card afterwards.
    let (_, _presented) = pair.present("tap", CardEntry::Tap).await;
    assert_eq!(pair.complete(b"00").await, CardVerdict::Approved);
}

#[tokio::test]
async fn a_card_number_is_typed_at_a_vipa_reader() {
    let ReaderFamily::Vipa(vipa) = driver_of(Family::Vipa) else { unreachable!() };
    for form in [SredForm::IvFirst, SredForm::DataOnly] {
        let vipa = {
            let screen = Some("mapp/manual_pan.html".to_owned());
            VipaSettings { manual_entry: screen, sred_form: form, ..vipa.clone() }
        };
        let mut pair = Pair::with(options(Family::Vipa), ReaderFamily::Vipa(vipa)).await;
        assert!(matches!(pair.next().await, ReaderEvent::Ready(_)));
        pair.reader.next_number("4761739001010010");
        pair.reader.next_number("3112");
        pair.arm_for(pos_reader::EntryRequest::Manual).await;
        let (steps, event) = pair.after_steps().await;
        assert_eq!(steps, [ReaderProgress::TypeCard]);
        let ReaderEvent::Card { presented, .. } = event else { panic!("{event:?}") };
        assert_eq!(presented.facts.entry, EntryMode::Manual);
        assert_eq!(presented.facts.pan.as_ref().unwrap().as_str(), "476173******0010");
        // The initial value of eight bytes precedes the blocks of eight bytes, or is left out.
        assert_eq!(presented.card.data.expose().len() % 8, 0);
        assert_eq!(pair.complete(b"00").await, CardVerdict::Approved);
    }
}

#[tokio::test]
async fn a_card_number_is_typed() {
    for command in [ManualEntryCommand::D2E0, ManualEntryCommand::D25A] {
        let manual = ManualEntry { command, verification_value: command == ManualEntryCommand::D2E0 };
        let miura = MiuraSettings { manual_entry: Some(manual), ..MiuraSettings::default() };
        let mut pair = Pair::with(Options::default(), ReaderFamily::Miura(miura)).await;
        assert!(matches!(pair.next().await, ReaderEvent::Ready(_)));
        for number in ["4761739001010010", "3112", "123"].iter().take(if manual.verification_value { 3 } else { 1 }) {
            pair.reader.next_number(number);
        }
        pair.arm_for(pos_reader::EntryRequest::Manual).await;
        let (steps, event) = pair.after_steps().await;
        assert_eq!(steps, [ReaderProgress::TypeCard]);
        let ReaderEvent::Card { presented, .. } = event else { panic!("{event:?}") };
        assert_eq!(presented.facts.entry, EntryMode::Manual);
        assert_eq!(presented.facts.pan.as_ref().unwrap().as_str(), "476173******0010");
        assert_eq!((presented.pin.is_some(), presented.icc.expose().len()), (false, 0));
        assert_eq!(pair.complete(b"00").await, CardVerdict::Approved);
        assert_eq!(pair.keys, (Some(1_048_574), None));
        // After an invalid number, a sale with a card works.
        pair.reader.next_number("123");
        pair.arm_for(pos_reader::EntryRequest::Manual).await;
        let (_, event) = pair.after_steps().await;
        assert!(matches!(event, ReaderEvent::NoCard { why: NoCard::Unreadable { .. }, .. }), "{event:?}");
        assert!(matches!(pair.next().await, ReaderEvent::Idle));
        let (_, _presented) = pair.present("swipe", CardEntry::Swipe).await;
        assert_eq!(pair.complete(b"00").await, CardVerdict::Approved);
    }
}

#[tokio::test]
async fn long_scripts_reach_a_reader_that_takes_them() {
    // A template 72 with a 9F18 and commands for the card has 310 bytes, which is more than one packet.
    let commands = [&[0x9F, 0x18, 4, 0, 0, 0, 1][..], &[0x86, 0x82, 0x01, 0x27], &[0xA5; 0x127]].concat();
    let script = [&[0x72, 0x82][..], &u16::try_from(commands.len()).unwrap().to_be_bytes(), &commands].concat();
    for (extended_apdu, dropped) in [(true, false), (false, true)] {
        let mut pair = Pair::ready(Options { extended_apdu, ..Options::default() }).await;
        let (_, _presented) = pair.present("chip-no-cvm", CardEntry::Insert).await;
        assert_eq!(pair.complete_with(b"Z1", &script).await, (CardVerdict::Refused, dropped));
    }
}

/// Checks a cable that is pulled at each step. The reader comes back at another tty, and the same link leads to it.
async fn unplugged_in_every_step_and_back_at_another_tty(family: Family) {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("reader");
    let reader = start(options(family)).await.unwrap();
    std::os::unix::fs::symlink(reader.place(), &link).unwrap();
    let mut pair = Pair::at(reader, link.to_str().unwrap().to_owned(), family, driver_of(family));
    assert!(matches!(pair.next().await, ReaderEvent::Ready(_)));
    for (n, step) in (1..).zip(["idle", "armed", "PIN", "typing", "card in the slot"]) {
        // A NEO2 reader takes no amounts, and reports no card in the slot.
        if family == Family::Neo2 && matches!(step, "typing" | "card in the slot") {
            continue;
        }
        match step {
            "armed" => {
                pair.arm().await;
                pair.until_it_waits().await;
            }
            "PIN" => {
                pair.arm().await;
                pair.until_it_waits().await;
                pair.reader.plan_pin(pos_sim::reader::PinPlan::Hesitate);
                pair.reader.insert(card("chip-pin").unwrap());
                pair.reader.waits_for(WaitsFor::Pin).await;
            }
            "typing" => {
                pair.sale += 1;
                let what = AmountToType::Amount { currency: eur("1.00").currency() };
                let order = TypeAmount { sale: SaleNumber::new(pair.sale), what, timeout: Duration::from_secs(60) };
                pair.handle.order(ReaderOrder::TypeAmount(order)).await.unwrap();
                pair.reader.waits_for(WaitsFor::Number).await;
            }
            "card in the slot" => {
                let (_, _presented) = pair.present("chip-no-cvm", CardEntry::Insert).await;
                let completion = Completion { arc: *b"Z1", issuer_authentication: None, scripts: heapless::Vec::new() };
                pair.handle
                    .order(ReaderOrder::Complete { sale: SaleNumber::new(pair.sale), completion })
                    .await
                    .unwrap();
                while !matches!(pair.next().await, ReaderEvent::Progress { progress: ReaderProgress::RemoveCard, .. }) {
                }
            }
            _ => {}
        }
        // The same reader comes back with a later key, at a tty with another number.
        let dukpt = Dukpt::TDES.with_counter(n * 256);
        let back = start(Options { dukpt, ..options(family) }).await.unwrap();
        assert_ne!(back.place(), pair.reader.place(), "{step}");
        std::fs::remove_file(&link).unwrap();
        pair.reader.unplug();
        let (_, event) = pair.after_steps().await;
        assert!(matches!(event, ReaderEvent::Unready(Unready::Absent { .. })), "{step}: {event:?}");
        std::os::unix::fs::symlink(back.place(), &link).unwrap();
        pair.reader = back;
        loop {
            match pair.next().await {
                ReaderEvent::Ready(_) => break,
                ReaderEvent::Unready(_) => {}
                other => panic!("{step}: {other:?}"),
            }
        }
        let (_, presented) = pair.present("tap", CardEntry::Tap).await;
        assert_eq!(presented.facts.entry, EntryMode::NfcIcc, "{step}");
        assert_eq!(pair.complete(b"00").await, CardVerdict::Approved, "{step}");
    }
}

async fn keys_that_are_used_up_end_the_sale_and_the_reader_waits_for_new_ones(family: Family) {
    // With the keys of one tap left, the tap uses them, and the next wait for a card is refused. A Miura reader seals a
    // tap twice, so with one key left, the tap itself is refused.
    let (of_a_tap, all) = match family {
        Family::Miura => (2, &[2, 1][..]),
        _ => (1, &[1][..]),
    };
    for &left in all {
        let dukpt = Dukpt::TDES.with_keys_left(left);
        let mut pair = Pair::ready(Options { dukpt, ..options(family) }).await;
        if left == of_a_tap {
            pair.present("tap", CardEntry::Tap).await;
            pair.complete(b"00").await;
        }
        pair.arm().await;
        if left < of_a_tap {
            pair.until_it_waits().await;
            pair.reader.tap(card("tap").unwrap());
        }
        let (steps, event) = pair.after_steps().await;
        // A NEO2 reader refuses without a reason, and then reports its keys.
        let is_told = |why: &NoCard| match family {
            Family::Neo2 => matches!(why, NoCard::Unreadable { .. }),
            _ => *why == NoCard::NoKeyLeft,
        };
        assert!(matches!(&event, ReaderEvent::NoCard { why, .. } if is_told(why)), "{left}: {event:?} after {steps:?}");
        let event = pair.next().await;
        assert!(matches!(event, ReaderEvent::Unready(Unready::NoCardKey { .. })), "{left}: {event:?}");
        pair.arm().await;
        let event = pair.next().await;
        assert!(matches!(event, ReaderEvent::NoCard { why: NoCard::NotReady, .. }), "{left}: {event:?}");
    }
}

async fn a_wrong_pin_is_seen_with_the_tries_left(family: Family) {
    let mut pair = Pair::ready(options(family)).await;
    let (steps, presented) = pair.present("chip-offline-pin", CardEntry::Insert).await;
    // A NEO2 reader reports nothing of a PIN entry.
    if family != Family::Neo2 {
        assert!(steps.contains(&ReaderProgress::PinWrong { tries_left: Some(2) }), "{steps:?}");
        assert_eq!(steps.last(), Some(&ReaderProgress::PinDone), "{steps:?}");
    }
    assert_eq!(presented.facts.cvm, Some(Cvm::OfflinePin));
    pair.complete(b"00").await;
    // A phone has verified its holder. A contactless card never verifies a PIN.
    let (_, presented) = pair.present("tap-phone", CardEntry::Tap).await;
    assert_eq!(presented.facts.cvm, Some(Cvm::ConsumerDevice));
}

#[tokio::test]
async fn of_a_list_that_the_reader_gives_away_the_first_application_is_taken() {
    let reader = start(Options { tcp: Some(([127, 0, 0, 1], 0).into()), ..Options::default() }).await.unwrap();
    let port = format!("tcp://{}", asking_for_the_list(reader.place()).await);
    let mut pair = Pair::at(reader, port, Family::Miura, ReaderFamily::default());
    assert!(matches!(pair.next().await, ReaderEvent::Ready(_)));
    let (steps, presented) = pair.present("chip-choice", CardEntry::Insert).await;
    assert!(!steps.contains(&ReaderProgress::ChoosingApplication), "{steps:?}");
    let CardFacts { label, aid, .. } = &presented.facts;
    assert_eq!((label.as_deref(), aid.as_deref()), (Some("VISA CREDIT"), Some("A0000000031010")));
    // The reader gets START, a CONTINUE with the choice, and a CONTINUE with the host's answer.
    pair.complete(b"00").await;
    let commands = pair.reader.counters().commands;
    assert_eq!(commands.iter().filter(|command| **command == 0xDED2).count(), 2, "{commands:04X?}");
}

/// Opens a connection that changes START: it asks for the list of applications (DFA204 02) instead of a selection on
/// the reader. Returns the connection's address.
async fn asking_for_the_list(place: String) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (agent, _) = listener.accept().await.unwrap();
        let (mut from_reader, mut to_reader) = TcpStream::connect(place).await.unwrap().into_split();
        let (mut from_agent, mut to_agent) = agent.into_split();
        tokio::spawn(async move { tokio::io::copy(&mut from_reader, &mut to_agent).await });
        let mut buffer = [0; 512];
        while let Ok(count @ 1..) = from_agent.read(&mut buffer).await {
            let packet = &mut buffer[..count];
            if let Some(at) = packet.windows(5).position(|bytes| bytes == [0xDF, 0xA2, 0x04, 0x01, 0x01]) {
                packet[at + 4] = 0x02;
                // The exclusive-or of the whole packet must stay zero.
                packet[count - 1] ^= 0x01 ^ 0x02;
            }
            to_reader.write_all(packet).await.unwrap();
        }
    });
    address
}
