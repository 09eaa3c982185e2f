//! Tests in which the journal cannot be written while a sale uses the reader. The waiting card gets no approval, and
//! the till learns that the state is uncertain. The failed sale has no effect on the next sale at the reader.

use rusqlite::Connection;
use tokio::sync::mpsc::Receiver;

use super::card_left::terminal_with_reader;
use super::edges::tapped;
use super::*;
use crate::till::SaleState;
use pos_core::transaction::{Reason, Refusal};
use pos_core::wish::WantedTip;
use pos_reader::{CardVerdict, Completion, NoAmount, NoCard, ReaderEvent, ReaderOrder};
use pos_terms::card::{CardFacts, EntryMode, FirstAnswer, Presented, SealedCard, Wiped};

/// A terminal whose reader orders are recorded, and the journal's file.
pub(super) struct AtReader {
    pub(super) terminal: Terminal,
    orders: Receiver<ReaderOrder>,
    file: Connection,
    _folder: TempDir,
}

/// An order to the reader, as far as it matters here.
#[derive(Debug, PartialEq)]
enum Ordered {
    TypeAmount(u64),
    Arm(u64),
    /// Completes a card, with the answer code and whether the issuer's data is present.
    Complete(u64, [u8; 2], bool),
    Cancel(u64),
}

/// The answer to the card of a sale that could not be recorded.
const DECLINED: ([u8; 2], bool) = (*b"Z1", false);

impl AtReader {
    pub(super) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let mut terminal = terminal_with_reader(folder.path());
        let (handle, orders) = pos_reader::tested();
        terminal.agent.engine.devices.reader.is_given(handle);
        let file = Connection::open(folder.path().join("journal.db")).unwrap();
        Self { terminal, orders, file, _folder: folder }
    }

    /// Fills the disk, or frees it again.
    fn full(&self, is: bool) {
        let sql = if is {
            "CREATE TRIGGER full BEFORE INSERT ON step BEGIN SELECT raise(ABORT, 'disk full'); END;
             CREATE TRIGGER fuller BEFORE UPDATE ON about BEGIN SELECT raise(ABORT, 'disk full'); END"
        } else {
            "DROP TRIGGER full; DROP TRIGGER fuller"
        };
        self.file.execute_batch(sql).unwrap();
    }

    fn ordered(&mut self) -> Vec<Ordered> {
        let mut ordered = Vec::new();
        while let Ok(order) = self.orders.try_recv() {
            ordered.push(match order {
                ReaderOrder::TypeAmount(order) => Ordered::TypeAmount(order.sale.get()),
                ReaderOrder::Arm(arm) => Ordered::Arm(arm.sale.get()),
                ReaderOrder::Complete { sale, completion } => {
                    let Completion { arc, issuer_authentication, scripts } = completion;
                    Ordered::Complete(sale.get(), arc, issuer_authentication.is_some() || !scripts.is_empty())
                }
                ReaderOrder::Cancel { sale } => Ordered::Cancel(sale.get()),
                other => panic!("{other:?}"),
            });
        }
        ordered
    }

    pub(super) fn says(&mut self, event: ReaderEvent) {
        self.terminal.agent.engine.reader_says(event);
        self.terminal.goes_on();
    }

    pub(super) fn answers(&mut self, answer: Answer) {
        let (sale, took) = (SaleNumber::new(1), Duration::from_millis(700));
        self.terminal.agent.task_brought(TaskResult::Said { sale, said: GatewaySaid::Paid { answer, took } });
        self.terminal.goes_on();
    }

    fn card(&mut self, sale: u64) {
        self.says(ReaderEvent::Card { sale: SaleNumber::new(sale), presented: Box::new(presented()) });
    }

    pub(super) fn completed(&mut self, verdict: CardVerdict) {
        let sale = SaleNumber::new(1);
        self.says(ReaderEvent::Completed { sale, verdict, facts: Some(Box::new(icc())), scripts_dropped: false });
    }

    /// Returns the till's view of a sale, and whether the agent keeps card data for the sale.
    fn told(&self, reference: &str) -> (SaleState, Option<OutcomeWord>, bool) {
        let view = self.terminal.says_of("till-1", reference);
        let open = self.terminal.agent.engine.sales.open.get(&view.number);
        (view.state, view.outcome, open.is_some_and(|open| open.prepared.is_some()))
    }
}

fn icc() -> CardFacts {
    CardFacts { entry: EntryMode::Icc, ..tapped() }
}

pub(super) fn presented() -> Presented {
    let card = SealedCard { data: Wiped::copy_of(&[7; 32]).unwrap(), ksn: Wiped::copy_of(&[9; 10]).unwrap() };
    Presented { facts: icc(), card, pin: None, icc: Wiped::default(), first_answer: FirstAnswer::GoOnline }
}

/// Returns an approval whose data for the chip also approves.
fn issuer_approves(amount: ApprovedAmount) -> Answer {
    let Answer::Approved(mut approval) = approved(&id(1)) else { unreachable!() };
    approval.for_chip.arc = Some(*b"00");
    approval.for_chip.issuer_authentication = Some(heapless::Vec::from_slice(&[1; 10]).unwrap());
    approval.amount = amount;
    Answer::Approved(approval)
}

fn refused() -> Box<Refusal> {
    let why = Reason::BankDeclined.into();
    // Even with a decline, an issuer may send the code 00 to the chip.
    let for_chip = ForChip { arc: Some(*b"00"), ..ForChip::default() };
    Box::new(Refusal { why, for_chip, facts: HostFacts::default() })
}

/// Returns each answer for which the chip waits and which is written to the journal.
fn answers() -> Vec<(&'static str, Answer)> {
    let pending = Answer::Pending { id: PaymentId::new(id(1)), redirect: None };
    vec![
        ("approved", issuer_approves(ApprovedAmount::NotSaid)),
        ("approved in part", issuer_approves(ApprovedAmount::Said(eur(400)))),
        ("approved for more", issuer_approves(ApprovedAmount::Said(eur(1001)))),
        ("declined", Answer::Declined(refused())),
        ("declined in doubt", Answer::DeclinedInDoubt(refused())),
        ("pending", pending),
        ("not sent", Answer::NotSent { why: "no route".into() }),
        ("unknown", lost()),
        ("another's answer", Answer::NotOurs { why: "another id".into() }),
    ]
}

/// The moment at which the disk is full during a chip sale.
enum Moment {
    /// The card is being read.
    CardRead,
    /// The card waits for this answer.
    Answered(Answer),
}

#[tokio::test(start_paused = true)]
async fn a_card_that_waits_while_the_journal_fails_hears_a_decline_and_is_used_by_no_other_sale() {
    let moments = std::iter::once(("the card is read", Moment::CardRead))
        .chain(answers().into_iter().map(|(name, answer)| (name, Moment::Answered(answer))));
    for (name, moment) in moments {
        let mut at = AtReader::new();
        at.terminal.sells("till-1", "R1").await.unwrap();
        assert_eq!(at.ordered(), [Ordered::Arm(1)], "{name}");
        let was_sent = match moment {
            Moment::CardRead => {
                at.full(true);
                at.card(1);
                false
            }
            Moment::Answered(answer) => {
                at.card(1);
                assert_eq!((at.ordered(), at.told("R1")), (vec![], (SaleState::InProgress, None, true)), "{name}");
                at.full(true);
                at.answers(answer);
                true
            }
        };
        // This checks the card's answer, the till's view and the stored card data.
        assert_eq!(at.ordered(), [Ordered::Complete(1, DECLINED.0, DECLINED.1)], "{name}");
        assert_eq!(at.told("R1"), (SaleState::Unconfirmed, None, false), "{name}");
        let refused = at.terminal.sells("till-1", "R2").await;
        assert!(matches!(refused, Err(Refused::Busy { .. })), "{name}: the card is in the reader: {refused:?}");
        // A till that repeats its request or asks to cancel gets the same state.
        assert_eq!(at.terminal.sells("till-1", "R1").await.unwrap().state, SaleState::Unconfirmed, "{name}");
        let (reply, mut cancelled) = tokio::sync::oneshot::channel();
        let (till, reference) = ("till-1".to_owned(), Reference::parse("R1").unwrap());
        at.terminal.agent.till_asks(Command::Cancel { till, reference, by: Who::default(), reply });
        assert_eq!(cancelled.try_recv().unwrap().unwrap().state, SaleState::Unconfirmed, "{name}");
        at.completed(CardVerdict::Refused);
        at.says(ReaderEvent::Idle);
        assert_eq!((at.ordered(), at.terminal.at_reader()), (vec![], None), "{name}");
        let refused = at.terminal.sells("till-1", "R2").await;
        assert!(matches!(refused, Err(Refused::Journal { .. })), "{name}: {refused:?}");
        // The disk has space again. The sale is resumed from the disk, and never as approved.
        at.full(false);
        tokio::time::advance(Duration::from_secs(5)).await;
        at.terminal.goes_on();
        let expected = match was_sent {
            true => (SaleState::Unconfirmed, None, false),
            false => (SaleState::Ended, Some(OutcomeWord::NotSent), false),
        };
        assert_eq!(at.told("R1"), expected, "{name}");
        let next = at.terminal.sells("till-1", "R3").await.unwrap().number;
        assert_eq!(
            (at.ordered(), at.terminal.at_reader()),
            (vec![Ordered::Arm(next.get())], Some(next.get())),
            "{name}"
        );
        // Late reports about the first sale's card do not affect the next one.
        at.completed(CardVerdict::Approved);
        at.card(1);
        assert_eq!((at.ordered(), at.told("R3")), (vec![], (SaleState::WaitingForCard, None, false)), "{name}");
        assert_eq!(at.told("R1"), expected, "{name}");
        at.card(next.get());
        assert_eq!(
            (at.ordered(), at.told("R3")),
            (vec![], (SaleState::InProgress, None, true)),
            "{name}: its own card"
        );
    }
}

/// The card has the gateway's answer, but the card's last report cannot be written.
#[tokio::test(start_paused = true)]
async fn a_card_that_had_its_answer_hears_no_second_one_and_the_sale_is_taken_back() {
    for verdict in [CardVerdict::Approved, CardVerdict::Refused, CardVerdict::Lost] {
        let mut at = AtReader::new();
        at.terminal.sells("till-1", "R1").await.unwrap();
        at.card(1);
        at.answers(issuer_approves(ApprovedAmount::NotSaid));
        assert_eq!(at.ordered(), [Ordered::Arm(1), Ordered::Complete(1, *b"00", true)], "{verdict:?}");
        at.full(true);
        at.completed(verdict);
        assert_eq!((at.ordered(), at.told("R1")), (vec![], (SaleState::Unconfirmed, None, false)), "{verdict:?}");
        at.says(ReaderEvent::Idle);
        at.full(false);
        tokio::time::advance(Duration::from_secs(5)).await;
        at.terminal.goes_on();
        let sale = &at.terminal.agent.engine.sales.get(SaleNumber::new(1)).unwrap().sale();
        assert!(matches!(sale.standing(), Standing::Unconfirmed { quarantined: None, .. }), "{verdict:?}: {sale:?}");
        at.terminal.sells("till-1", "R2").await.unwrap();
        assert_eq!((at.ordered(), at.terminal.at_reader()), (vec![Ordered::Arm(2)], Some(2)), "{verdict:?}");
    }
}

/// Between the typed tip and the card, the reader has no order and sends no reports. However the sale ends in that
/// time, the reader must become free.
#[tokio::test(start_paused = true)]
async fn a_sale_that_ends_at_its_tip_leaves_the_reader_to_the_next_one() {
    let tip = |minor| ReaderEvent::Typed { sale: SaleNumber::new(1), amount: Ok(Some(eur(minor))) };
    let not_typed = || ReaderEvent::Typed { sale: SaleNumber::new(1), amount: Err(NoAmount::CancelledByTill) };
    let (not_sent, cancelled) = (Some(OutcomeWord::NotSent), Some(OutcomeWord::Cancelled));
    for (name, is_full, is_cancelled, typed, outcome) in [
        ("the tip cannot be recorded", true, false, tip(100), not_sent),
        ("that none was typed cannot be recorded", true, false, not_typed(), not_sent),
        ("cancelled, and none was typed", false, true, not_typed(), cancelled),
        ("cancelled in the moment in which one was typed", false, true, tip(100), cancelled),
        ("cancelled then, and that cannot be recorded", true, true, tip(100), not_sent),
        ("more than can be charged", false, false, tip(999_999_999_000), cancelled),
    ] {
        let mut at = AtReader::new();
        at.terminal.sells_with_tip("till-1", "R1", Some(WantedTip::Ask)).await.unwrap();
        assert_eq!((at.ordered(), at.terminal.at_reader()), (vec![Ordered::TypeAmount(1)], Some(1)), "{name}");
        if is_cancelled {
            let (reply, _) = tokio::sync::oneshot::channel();
            let (till, reference) = ("till-1".to_owned(), Reference::parse("R1").unwrap());
            at.terminal.agent.till_asks(Command::Cancel { till, reference, by: Who::default(), reply });
            assert_eq!(at.ordered(), [Ordered::Cancel(1)], "{name}");
        }
        if is_full {
            at.full(true);
        }
        at.says(typed);
        assert_eq!((at.ordered(), at.terminal.at_reader()), (vec![], None), "{name}: it is asked for no card");
        if is_full {
            assert_eq!(at.told("R1"), (SaleState::Unconfirmed, None, false), "{name}");
            at.full(false);
            // A card that is read before the sale is resumed is not used.
            at.card(1);
            assert_eq!((at.ordered(), at.told("R1")), (vec![], (SaleState::Unconfirmed, None, false)), "{name}");
            tokio::time::advance(Duration::from_secs(5)).await;
            at.terminal.goes_on();
        }
        assert_eq!(at.told("R1"), (SaleState::Ended, outcome, false), "{name}");
        at.terminal.sells("till-1", "R2").await.unwrap();
        assert_eq!((at.ordered(), at.terminal.at_reader()), (vec![Ordered::Arm(2)], Some(2)), "{name}");
        // A card for the first sale is not used for the next one.
        at.card(1);
        assert_eq!((at.ordered(), at.told("R2")), (vec![], (SaleState::WaitingForCard, None, false)), "{name}");
    }
    // A sale whose tip is recorded keeps the reader and asks for its card.
    let mut at = AtReader::new();
    at.terminal.sells_with_tip("till-1", "R1", Some(WantedTip::Ask)).await.unwrap();
    at.says(tip(100));
    assert_eq!(at.ordered(), [Ordered::TypeAmount(1), Ordered::Arm(1)]);
    assert_eq!((at.terminal.at_reader(), at.told("R1").0), (Some(1), SaleState::WaitingForCard));
}

/// No card was presented in time, and this cannot be written.
#[tokio::test(start_paused = true)]
async fn a_sale_without_a_card_is_stuck_for_as_long_as_the_disk_is_full_and_keeps_no_reader() {
    let mut at = AtReader::new();
    at.terminal.sells("till-1", "R1").await.unwrap();
    at.full(true);
    at.says(ReaderEvent::NoCard { sale: SaleNumber::new(1), why: NoCard::TimedOut });
    assert_eq!(at.told("R1"), (SaleState::Unconfirmed, None, false));
    at.says(ReaderEvent::Idle);
    // A card that is read after this belongs to no sale.
    at.card(1);
    assert_eq!((at.ordered(), at.terminal.at_reader()), (vec![Ordered::Arm(1)], None));
    at.full(false);
    tokio::time::advance(Duration::from_secs(5)).await;
    at.terminal.goes_on();
    assert_eq!(at.told("R1"), (SaleState::Ended, Some(OutcomeWord::NotSent), false));
    at.terminal.sells("till-1", "R2").await.unwrap();
    assert_eq!((at.ordered(), at.terminal.at_reader()), (vec![Ordered::Arm(2)], Some(2)));
}

/// The issuer's decline is on the disk, so the outcome is final. Only the card's last report cannot be written.
#[tokio::test(start_paused = true)]
async fn an_outcome_that_is_recorded_stands_although_the_cards_last_word_cannot_be_written() {
    let mut at = AtReader::new();
    at.terminal.sells("till-1", "R1").await.unwrap();
    at.card(1);
    at.answers(Answer::Declined(Box::new(Refusal { for_chip: ForChip::default(), ..*refused() })));
    let declined = (SaleState::Ended, Some(OutcomeWord::Declined), false);
    assert_eq!(at.told("R1"), declined);
    at.full(true);
    at.completed(CardVerdict::Refused);
    assert_eq!(at.told("R1"), declined, "it is not told as unconfirmed");
    at.says(ReaderEvent::Idle);
    at.full(false);
    tokio::time::advance(Duration::from_secs(5)).await;
    at.terminal.goes_on();
    assert_eq!(at.told("R1"), declined);
}

/// A listening till learns immediately that the state is uncertain.
#[tokio::test(start_paused = true)]
async fn a_till_that_listens_hears_at_once_that_the_journal_failed() {
    let mut at = AtReader::new();
    at.terminal.sells("till-1", "R1").await.unwrap();
    at.card(1);
    let mut listener = at.terminal.agent.engine.teller.progress().listen();
    at.full(true);
    at.answers(issuer_approves(ApprovedAmount::NotSaid));
    let mut heard = Vec::new();
    while let Some(Ok(step)) = listener.try_next() {
        heard.push((step.till.clone(), step.step.clone(), step.sale.as_ref().map(|sale| sale.state)));
    }
    let unconfirmed = ("till-1".to_owned(), "unconfirmed".to_owned(), Some(SaleState::Unconfirmed));
    assert!(heard.contains(&unconfirmed), "{heard:?}");
    assert!(heard.iter().any(|(_, step, _)| step == "journal-failed"), "{heard:?}");
}
