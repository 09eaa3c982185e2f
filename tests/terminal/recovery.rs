//! A power cut, an unplugged reader and an unreachable gateway at each moment of a sale. The tests check the ledger,
//! the journal, and the answer when the till repeats its reference.
//!
//! The power cut ends the agent between two of its steps, without any clean-up. SQLite guarantees that synced data is
//! on the disk, so this is not tested here.

use std::time::Duration;

use crate::counter::{self, Counter, ended};
use easy_ext::ext;
use pos_agent::till::{Attention, ReaderState, SaleState, SaleView};
use pos_core::book::commit;
use pos_core::transaction::{self, Deadlines, Now, Order, Transaction};
use pos_journal::Journal;
use pos_sim::gateway::Kind;
use pos_sim::reader::CardEntry::{Insert, Swipe, Tap};
use pos_sim::reader::{CardEntry, WaitsFor, card};
use pos_sim::shop::Options;
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Operation, OutcomeWord, Reference, SaleNumber};
use pos_test_kit::within;

const CHIP: (&str, CardEntry) = ("chip-no-cvm", Insert);
const TAP: (&str, CardEntry) = ("tap", Tap);
const SWIPE: (&str, CardEntry) = ("swipe", Swipe);

/// CONTINUE TRANSACTION: the host's answer has reached the reader (readers: 2.7).
const CONTINUE: u16 = 0xDED2;

/// The moment of the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// The reader waits for a card.
    Waiting,
    /// The gateway has received the request and does not answer. It may or may not have processed the payment.
    Asked,
    /// The host has approved, and the chip has not confirmed.
    AtChip,
    /// The gateway answers "pending".
    Pending,
    /// The payment is approved. The signature is checked and accepted afterwards.
    AtSignature,
    /// The sale has ended.
    Ended,
}
use When::{Asked, AtChip, AtSignature, Ended, Pending, Waiting};

/// Moment | amount, whose cents choose the gateway's behaviour | card | the journal at that moment | the outcome,
/// `None` if unconfirmed | the gateway's final payments.
type Line = (
    When,
    &'static str,
    (&'static str, CardEntry),
    &'static [&'static str],
    Option<OutcomeWord>,
    &'static [&'static str],
);

const NOTHING: &[&str] = &[];

#[rustfmt::skip]
const POWER_CUTS: &[Line] = &[
    (Waiting, "12.34", CHIP,  &[],                         Some(OutcomeWord::NotSent),   NOTHING),
    (Asked,   "10.71", CHIP,  &["asked"],                  Some(OutcomeWord::Reversed),  NOTHING),
    (Asked,   "10.71", TAP,   &["asked"],                  Some(OutcomeWord::Reversed),  NOTHING),
    (Asked,   "10.70", CHIP,  &["asked"],                  None,                     NOTHING),
    (Pending, "10.61", TAP,   &["asked"],                  Some(OutcomeWord::Reversed),  NOTHING),
    (AtChip,  "12.34", CHIP,  &["asked", "host-approved"], Some(OutcomeWord::Reversed),  NOTHING),
    (Ended,   "12.34", CHIP,  &["asked", "host-approved", "ended"], Some(OutcomeWord::Approved), &["12.34 EUR"]),
    (Ended,   "12.34", TAP,   &["asked", "host-approved", "ended"], Some(OutcomeWord::Approved), &["12.34 EUR"]),
    (AtSignature, "12.34", SWIPE, &["asked", "host-approved", "signature-asked"], Some(OutcomeWord::Approved), &["12.34 EUR"]),
    (Ended,   "10.51", CHIP,  &["asked", "ended"],         Some(OutcomeWord::Declined),  NOTHING),
];

#[tokio::test]
async fn a_power_cut_at_any_moment_is_settled_after_the_restart() {
    for (when, amount, presented, journal, outcome, holds) in POWER_CUTS {
        let what = format!("power cut {when:?}, {amount}, {}", presented.0);
        let mut counter = Counter::open_with(shop(*when)).await;
        counter.bring(*when, amount, *presented).await;
        counter.cut_power().await;
        let kinds = counter.kept()[0].kinds();
        assert!(kinds.starts_with(journal) && !kinds[journal.len()..].contains(&"ended"), "{what}: {kinds:?}");
        counter.shop.reader.remove();
        counter.start_agent();
        within(&what, counter.until_ready()).await;
        counter.resolves(&what, *outcome, amount, holds).await;
    }
}

#[rustfmt::skip]
const CABLES: &[Line] = &[
    (Waiting, "12.34", CHIP,  &[],        Some(OutcomeWord::NotSent),   NOTHING),
    (Asked,   "10.71", CHIP,  &["asked"], Some(OutcomeWord::Reversed),  NOTHING),
    (Asked,   "10.71", SWIPE, &["asked"], Some(OutcomeWord::Reversed),  NOTHING),
    (Asked,   "10.70", TAP,   &["asked"], None,                     NOTHING),
    // The host approves after the card was removed. A chip must confirm the approval, but a tap need not.
    (Pending, "10.61", CHIP,  &["asked"], Some(OutcomeWord::Reversed),  NOTHING),
    (Pending, "10.61", TAP,   &["asked"], Some(OutcomeWord::Approved),  &["10.61 EUR"]),
    (AtChip,  "12.34", CHIP,  &["asked", "host-approved"], Some(OutcomeWord::Reversed), NOTHING),
    (AtChip,  "12.34", TAP,   &["asked", "host-approved"], Some(OutcomeWord::Approved), &["12.34 EUR"]),
    (Ended,   "12.34", CHIP,  &["asked", "host-approved", "ended"], Some(OutcomeWord::Approved), &["12.34 EUR"]),
];

#[tokio::test]
async fn a_reader_that_is_unplugged_at_any_moment_leaves_nothing_in_doubt() {
    for (when, amount, presented, journal, outcome, holds) in CABLES {
        let what = format!("unplugged {when:?}, {amount}, {}", presented.0);
        let counter = Counter::open_with(shop(*when)).await;
        counter.bring(*when, amount, *presented).await;
        counter.shop.reader.unplug();
        let kinds = counter.kept()[0].kinds();
        assert!(kinds.starts_with(journal), "{what}: {kinds:?}");
        let status = counter.until_status(&what, |status| status.reader.state == ReaderState::Absent).await;
        assert!(!status.ready && status.needs(Attention::ReaderAbsent), "{what}: {status:?}");
        let (code, body) = counter.begin("R9", "1.00").await;
        assert!(matches!(code, 503 | 409), "{what}: {body}");
        counter.shop.reader.remove();
        counter.shop.reader.replug().unwrap();
        within(&what, counter.until_ready()).await;
        counter.resolves(&what, *outcome, amount, holds).await;
    }
}

fn shop(when: When) -> Options {
    let mut options = Options::default();
    // Byte by byte, the chip's final answer takes longer than all other steps.
    options.reader.fragment = (when == AtChip).then_some(1);
    options.config.push(("answer-timeout-ms = 10000".to_owned(), "answer-timeout-ms = 3000".to_owned()));
    options
}

#[ext(Recovers)]
impl Counter {
    /// Runs a sale up to a moment.
    async fn bring(&self, when: When, amount: &str, (name, entry): (&str, CardEntry)) {
        assert_eq!(self.begin("R1", amount).await.0, 201);
        within("armed", self.shop.reader.waits_for(WaitsFor::Card)).await;
        if when == Waiting {
            return;
        }
        self.present(card(name).unwrap(), entry).await;
        let reached = async {
            loop {
                let requests = self.shop.gateway.last_payment().is_some();
                let reached = match when {
                    Waiting => true,
                    Asked => requests && self.kept()[0].asked(),
                    Pending => !self.shop.gateway.ledger().entries().is_empty(),
                    AtChip => self.shop.reader.counters().commands.contains(&CONTINUE),
                    AtSignature => self.show("R1").await.state == SaleState::AwaitingSignature,
                    Ended => self.show("R1").await.state == SaleState::Ended,
                };
                if reached {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        within(&format!("{when:?}"), reached).await;
    }

    /// Checks the sale's outcome, which must be the same in every answer, and that the next sale works.
    async fn resolves(&self, what: &str, outcome: Option<OutcomeWord>, amount: &str, holds: &[&str]) {
        let mut ears = self.listen().await;
        if self.show("R1").await.state == SaleState::AwaitingSignature {
            self.sign("R1", true).await;
        }
        let settled = |view: &SaleView| match outcome {
            Some(_) => view.state == SaleState::Ended,
            None => view.state == SaleState::Unconfirmed && view.unsettled.is_some(),
        };
        let view = self.follow(&mut ears, "R1", what, settled).await;
        assert_eq!(view.outcome, outcome, "{what}: {}", view.text);
        assert_eq!(self.charged(), holds, "{what}");

        let (code, again) = self.begin("R1", amount).await;
        assert_eq!((code, &again["replayed"]), (200, &true.into()), "{what}: {again}");
        assert_eq!(again["outcome"].as_str().is_some(), outcome.is_some(), "{what}: {again}");
        assert_eq!(again["startedAt"], view.started_at, "{what}");
        assert_eq!(self.begin("R1", "99.99").await.0, 409, "{what}");
        let payments = self.shop.gateway.ledger();
        let payments = payments.entries().iter().filter(|entry| entry.kind == Kind::Debit).count();
        assert!(payments <= 1, "{what}: sent twice");

        self.until_ready().await;
        self.sell("R2", "2.00", "tap", Tap).await;
        assert_eq!(ended(&self.until_ended("R2").await), Some(OutcomeWord::Approved), "{what}");
        assert_eq!(self.charged_for("R2"), ["2.00 EUR"], "{what}");
        assert_eq!(self.charged_for("R1"), holds, "{what}");
        self.audit(what);
    }
}

#[tokio::test]
async fn a_gateway_that_is_away_during_a_reversal_holds_up_nobody_and_the_reversal_comes_by_itself() {
    let mut options = Options::default();
    options.reader.removes_card = true;
    options.config.push(("answer-timeout-ms = 10000".to_owned(), "answer-timeout-ms = 500".to_owned()));
    let mut counter = Counter::open_with(options).await;
    let mut ears = counter.listen().await;
    // The gateway processes the payment but does not answer. The look-up does not reach it.
    counter.sell("R1", "10.71", "chip-no-cvm", Insert).await;
    within("charged", async {
        while counter.charged().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    counter.shop.gateway.set_offline(true).await.unwrap();
    let what = "offline";
    let tried = |view: &SaleView| view.state == SaleState::Unconfirmed && view.unsettled.is_some();
    counter.follow(&mut ears, "R1", what, tried).await;

    // The next customer's payment cannot be sent, and the agent says so. The first sale stays unconfirmed, even after a
    // restart.
    counter.until_ready().await;
    counter.sell("R2", "2.00", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("R2").await), Some(OutcomeWord::NotSent));
    assert_eq!(counter.show("R1").await.state, SaleState::Unconfirmed);
    counter.cut_power().await;
    counter.start_agent();
    counter.until_ready().await;
    let mut ears = counter.listen().await;
    counter.follow(&mut ears, "R1", what, tried).await;
    assert_eq!(counter.charged_for("R1"), ["10.71 EUR"]);

    // The gateway is reachable again. The next customer pays immediately, and the first sale is reversed automatically.
    counter.shop.gateway.set_offline(false).await.unwrap();
    counter.sell("R3", "3.00", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("R3").await), Some(OutcomeWord::Approved));
    let view = counter.follow(&mut ears, "R1", what, |view| view.state == SaleState::Ended).await;
    assert_eq!(ended(&view), Some(OutcomeWord::Reversed), "{}", view.text);
    assert_eq!(counter.charged(), ["3.00 EUR"]);
    counter.audit(what);
}

/// A number of open payments above that of any real shop.
const OPEN: u64 = 100;

/// Creates a journal with this many unconfirmed payments.
fn much_in_doubt(path: &std::path::Path) {
    let (mut journal, _) = Journal::open(path).unwrap();
    let now = Now { monotonic: Duration::from_secs(1), unix_ms: 1_700_000_000_000 };
    let patience = Duration::from_secs(86_400);
    let deadlines = Deadlines {
        pending: patience,
        resend: patience,
        absence_final: patience,
        signature: None,
        till: Duration::ZERO,
        refuses_repeats: false,
        lists_registrations: true,
    };
    for number in 1..=OPEN {
        let (mut sale, step) = Transaction::begin(Order {
            operation: Operation::ByRegistration { registration: "8ac7a4a1000000000000000000000007".to_owned() },
            parameters: Vec::new(),
            number: SaleNumber::new(number),
            till: "local".to_owned(),
            reference: Reference::parse(format!("doubt-{number}")).unwrap(),
            by: None,
            amount: Amount::from_minor(1234, Currency::from_code("EUR").unwrap()).unwrap(),
            ask_tip: false,
            manual: false,
            chip_alone: false,
            accept_partial: false,
            till_confirms: None,
            gives_rest: false,
            till_prints: false,
            till_data: Default::default(),
            tip: None,
            training: None,
            terminal_id: "12345678".to_owned(),
            account: None,
            merchant_transaction_id: format!("12345678-{number}-00112233445566778899aabbccddeeff"),
            started_unix_ms: now.unix_ms,
            local_time: "2027-01-15 09:00:00".to_owned(),
        });
        commit(&mut journal, now.unix_ms, &mut sale, step).unwrap();
        let lost = transaction::Answer::Unknown { why: "no answer in time".into() };
        for event in [transaction::Event::Proceed, transaction::Event::Answered(lost)] {
            let step = sale.handle(event, now, deadlines);
            commit(&mut journal, now.unix_ms, &mut sale, step).unwrap();
        }
    }
}

#[tokio::test]
async fn a_hundred_open_reversals_and_a_silent_gateway_do_not_delay_the_next_sale() {
    let mut options = Options::default();
    options.reader.removes_card = true;
    let mut counter = Counter::closed(options).await;
    much_in_doubt(&counter.shop.folder().join("journal.db"));
    counter.shop.gateway.set_delay(Duration::from_secs(3600));
    counter.start_agent();
    let status = counter.until_status("ready", |status| status.ready).await;
    assert_eq!(status.unconfirmed.len(), usize::try_from(OPEN).unwrap());
    let asked = |few| counter.shop.gateway.counters().requests >= few;
    within("the first questions", async {
        while !asked(4) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    // The till is answered and the reader asks for the card immediately, although none of the hundred look-ups has an
    // answer.
    assert_eq!(counter.begin("R1", "2.00").await.0, 201);
    within("armed", counter.shop.reader.waits_for(WaitsFor::Card)).await;
    // There are at most three look-ups at a time, the probe at the start, and the connection for the card. No look-up
    // delays the sale.
    let connections = counter.shop.gateway.counters().connections;
    assert!(connections <= 5, "{connections} connections");
    // Earlier look-ups stay unanswered. The payment gets its answer.
    counter.shop.gateway.set_delay(Duration::ZERO);
    counter.present(card("tap").unwrap(), Tap).await;
    let view = counter.until("R1", "the end", |view| view.state == SaleState::Ended).await;
    assert_eq!(ended(&view), Some(OutcomeWord::Approved), "{}", view.text);
    let tried = |view: &SaleView| view.unsettled.is_some();
    assert!(!counter.status().await.unconfirmed.iter().any(tried), "the sale did not wait for the end of any question");
    counter.cut_power().await;
}

#[tokio::test]
async fn a_gateway_that_comes_back_is_noticed_without_a_next_sale() {
    let mut counter = Counter::open().await;
    counter.sell("R1", "10.71", "tap", Tap).await;
    within("charged", async {
        while counter.charged().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    counter.shop.gateway.set_offline(true).await.unwrap();
    counter.cut_power().await;
    counter.start_agent();
    let mut ears = counter.listen_once_up().await;
    let tried = |view: &SaleView| view.unsettled.is_some();
    counter.follow(&mut ears, "R1", "offline at the start", tried).await;
    counter.shop.gateway.set_offline(false).await.unwrap();
    let view = counter.follow(&mut ears, "R1", "online again", |view| view.state == SaleState::Ended).await;
    assert_eq!(ended(&view), Some(OutcomeWord::Reversed), "{}", view.text);
    assert!(counter.charged().is_empty());
    counter.audit("back again");
}

#[ext(Listens)]
impl Counter {
    async fn listen_once_up(&self) -> counter::till::Ears {
        self.until_ready().await;
        self.listen().await
    }
}

/// Checks that a waiting till gets the outcome as soon as it is known, not with the next event.
#[tokio::test]
async fn what_had_not_been_sent_when_the_power_failed_is_told_as_soon_as_the_gateway_was_asked() {
    let mut counter = Counter::open().await;
    let (status, body) = counter.begin("W1", "12.34").await;
    assert_eq!(status, 201, "{body}");
    counter.shop.reader.waits_for(WaitsFor::Card).await;
    counter.cut_power().await;
    // With this delay, the till asks before the gateway has answered.
    counter.shop.gateway.set_delay(Duration::from_millis(500));
    counter.start_agent();
    counter.until_ready().await;
    // Without the outcome's event, the answer would still come at the end of the till's wait. That is longer than this
    // test allows.
    let view = within("the end", counter.find("W1?wait-s=120")).await.unwrap();
    assert_eq!(ended(&view), Some(OutcomeWord::NotSent));
}

/// Checks that a sale that waits for the gateway continues after the next start. If the agent waited for it before
/// stopping, the stop would take a minute.
#[tokio::test]
async fn a_stop_does_not_wait_for_a_sale_that_the_gateway_is_still_to_be_asked_about() {
    let mut counter = Counter::open().await;
    let (status, body) = counter.begin("W2", "12.34").await;
    assert_eq!(status, 201, "{body}");
    counter.shop.reader.waits_for(WaitsFor::Card).await;
    counter.cut_power().await;
    counter.shop.gateway.set_offline(true).await.unwrap();
    counter.start_agent();
    counter.until_status("the reader", |status| status.ready).await;
    assert_eq!(counter.show("W2").await.state, SaleState::Unconfirmed);
    let stopped = tokio::time::timeout(Duration::from_secs(30), counter.stop_agent()).await;
    assert!(stopped.is_ok(), "it waits as long as for an answer that is under way");
}
