//! Edge cases: the refund of the rest, a close of day with open items, another till's original on a receipt, and an
//! outdated journal copy.

use std::collections::BTreeMap;

use serde_json::json;
use tokio::sync::oneshot;

use super::*;
use crate::till::{CloseAsked, CloseView};
use pos_core::counter::OpenKind;
use pos_terms::card::{CardFacts, EntryMode, FirstAnswer, MaskedPan};
use pos_terms::transaction::{OnSilence, Taken};

pub(super) fn tapped() -> CardFacts {
    CardFacts {
        entry: EntryMode::NfcIcc,
        pan: MaskedPan::new("476173******0119"),
        pan_sequence_number: None,
        aid: None,
        label: None,
        cvm: None,
        cryptogram: None,
        tvr: None,
        tsi: None,
        iad: None,
    }
}

impl Terminal {
    /// Enters an approved card payment that waits for its till's answer.
    fn waits_for_its_till(&mut self, number: u64, till: &str, minor: u64) {
        let order: Order = serde_json::from_value(json!({
            "number": number, "till": till, "reference": format!("R{number}"), "amount": eur(minor),
            "tillConfirms": "reverse", "terminalId": TERMINAL, "merchantTransactionId": reference(number),
            "startedUnixMs": self.agent.engine.clock.now().unix_ms - 60_000, "localTime": "2026-11-20 13:00:00",
        }))
        .unwrap();
        assert_eq!(order.till_confirms, Some(OnSilence::Reverse));
        let (mut sale, first) = Transaction::begin(order);
        let now = self.agent.engine.clock.now();
        let _ = self
            .agent
            .engine
            .journal
            .write(|book| pos_core::book::commit(book, now.unix_ms, &mut sale, first))
            .unwrap();
        let read = Event::CardRead { facts: tapped(), first_answer: FirstAnswer::GoOnline };
        let said = Event::CardSaid { confirmed: true, facts: None };
        for event in [read, Event::Answered(approved(&id(number))), said] {
            let step = sale.handle(event, now, self.agent.engine.sales.deadlines());
            let _ = self
                .agent
                .engine
                .journal
                .write(|book| pos_core::book::commit(book, now.unix_ms, &mut sale, step))
                .unwrap();
        }
        assert!(matches!(sale.standing(), Standing::AwaitingTill { .. }), "{:?}", sale.standing());
        self.agent.engine.journal.last_number = self.agent.engine.journal.last_number.max(SaleNumber::new(number));
        let open = OpenTransaction::new(sale, self.agent.engine.clock.monotonic());
        self.agent.engine.sales.open.insert(SaleNumber::new(number), open);
    }

    fn takes(&mut self, number: u64, till: &str, taken: Taken) -> Result<till::SaleView, Refused> {
        let (sale, view) =
            self.agent.engine.facts().find(till, &Reference::parse(format!("R{number}")).unwrap()).unwrap();
        self.agent.confirm(&sale, taken, &Who::default(), view)
    }

    /// Enters a transaction of this till with this reference.
    fn named(&mut self, number: u64, till: &str, reference: &str) {
        let order: Order = serde_json::from_value(json!({
            "kind": { "is": "by-registration", "registration": "f".repeat(32) },
            "number": number, "till": till, "reference": reference, "amount": eur(100), "terminalId": TERMINAL,
            "merchantTransactionId": super::reference(number), "startedUnixMs": self.agent.engine.clock.now().unix_ms,
            "localTime": "2026-11-20 13:00:00",
        }))
        .unwrap();
        let (mut sale, first) = Transaction::begin(order);
        let now = self.agent.engine.clock.now();
        let _ = self
            .agent
            .engine
            .journal
            .write(|book| pos_core::book::commit(book, now.unix_ms, &mut sale, first))
            .unwrap();
        self.agent.engine.journal.last_number = self.agent.engine.journal.last_number.max(SaleNumber::new(number));
    }

    /// Passes an event to a transaction that only the journal knows.
    fn hears(&mut self, number: u64, event: Event) {
        let mut sale = self.agent.engine.journal.book().number(SaleNumber::new(number)).unwrap().unwrap();
        let now = self.agent.engine.clock.now();
        let step = sale.handle(event, now, self.agent.engine.sales.deadlines());
        let _ =
            self.agent.engine.journal.write(|book| pos_core::book::commit(book, now.unix_ms, &mut sale, step)).unwrap();
    }

    /// Returns the reference and amount of each open refund of a rest.
    fn rests(&self) -> BTreeMap<String, Amount> {
        let open = self.agent.engine.sales.open.values().map(|open| open.sale.order());
        open.filter(|order| order.gives_rest).map(|order| (order.reference.to_string(), order.amount)).collect()
    }

    async fn close(&mut self, till: &str) -> CloseView {
        let (reply, made) = oneshot::channel();
        let wish = CloseAsked { till: till.to_owned(), reference: None, by: Who::default(), print: false };
        self.agent.closing.make(&self.agent.engine.journal, wish, reply);
        let counted = self.ends.tasks.recv().await.unwrap();
        self.agent.task_brought(counted);
        made.await.unwrap().unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn the_refund_of_a_rest_has_a_reference_that_nobody_has_used_or_no_part_is_taken() {
    for (used, named) in [
        (vec![], Some("R1-rest")),
        (vec![("till-1", "R1-rest")], Some("rest-of-1")),
        (vec![("till-1", "rest-of-1")], Some("R1-rest")),
        // Another till's reference does not collide.
        (vec![("till-2", "R1-rest")], Some("R1-rest")),
        (vec![("till-1", "R1-rest"), ("till-1", "rest-of-1")], None),
    ] {
        let folder = TempDir::new().unwrap();
        let mut terminal = Terminal::start(folder.path(), "");
        terminal.waits_for_its_till(1, "till-1", 1000);
        for (number, (till, reference)) in (2..).zip(&used) {
            terminal.named(number, till, reference);
        }
        let told = terminal.takes(1, "till-1", Taken::Part { amount: eur(640) });
        match named {
            Some(reference) => {
                assert!(told.is_ok(), "{used:?}: {told:?}");
                let given = BTreeMap::from([(reference.to_owned(), eur(360))]);
                assert_eq!(terminal.rests(), given, "{used:?}");
                let rest = told.unwrap().rest.expect("it is told with the sale");
                assert_eq!(
                    (rest.reference.as_ref().map(Reference::as_str), rest.amount.as_str()),
                    (Some(reference), "3.60")
                );
                // The refund has the next number.
                assert_eq!(terminal.agent.engine.journal.last_number, SaleNumber::new(2 + used.len() as u64));
                // The same answer is accepted again, but a different one comes too late.
                assert!(terminal.takes(1, "till-1", Taken::Part { amount: eur(640) }).is_ok());
                assert_eq!(terminal.rests(), given, "{used:?}");
                for other in [Taken::All, Taken::Nothing, Taken::Part { amount: eur(641) }] {
                    let refused = terminal.takes(1, "till-1", other).unwrap_err();
                    assert!(matches!(&refused, Refused::NoConfirmationAwaited { .. }), "{refused:?}");
                }
            }
            None => {
                assert!(matches!(told, Err(Refused::NotPossible { .. })), "{told:?}");
                assert!(terminal.rests().is_empty());
                assert!(matches!(terminal.standing(1), Standing::AwaitingTill { .. }), "it waits as before");
                assert!(terminal.takes(1, "till-1", Taken::All).is_ok());
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_part_is_less_than_all_and_more_than_nothing() {
    let usd = Amount::from_minor(100, Currency::from_code("USD").unwrap()).unwrap();
    for (part, is_one) in [(eur(1), true), (eur(999), true), (eur(1000), false), (eur(1001), false), (usd, false)] {
        let folder = TempDir::new().unwrap();
        let mut terminal = Terminal::start(folder.path(), "");
        terminal.waits_for_its_till(1, "till-1", 1000);
        let told = terminal.takes(1, "till-1", Taken::Part { amount: part });
        assert_eq!(told.is_ok(), is_one, "{part}: {told:?}");
        assert_eq!(terminal.rests().len(), usize::from(is_one), "{part}");
        if !is_one {
            assert!(matches!(told, Err(Refused::Amount { .. })), "{part}: {told:?}");
            assert!(matches!(terminal.standing(1), Standing::AwaitingTill { .. }), "{part}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn until_when_a_till_may_answer_is_counted_down() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "till-confirm-s = 120");
    terminal.waits_for_its_till(1, "till-1", 1000);
    let until = |terminal: &Terminal| {
        let sale = &terminal.agent.engine.sales.get(SaleNumber::new(1)).unwrap().sale();
        let asked = terminal.agent.engine.facts().awaited_confirmation(sale).unwrap();
        assert_eq!((asked.amount.as_str(), asked.on_silence), ("10.00", OnSilence::Reverse));
        DateTime::parse_from_rfc3339(&asked.until).unwrap().timestamp() - terminal.agent.engine.clock.unix_ms() / 1000
    };
    let at_first = until(&terminal);
    assert!((119..=120).contains(&at_first), "{at_first}");
    tokio::time::advance(Duration::from_secs(50)).await;
    let later = until(&terminal);
    assert!((69..=70).contains(&later) || at_first - later == 50, "{at_first} {later}");
}

#[tokio::test(start_paused = true)]
async fn a_close_names_what_is_open_with_what_is_left_of_it() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    let captured = |of: u64| Operation::Capture { of: in_journal(of) };
    let undone = |of: u64| Operation::Reversal { of: in_journal(of) };
    // The pre-authorisations: 1 is not captured, 2 is captured in part, 3 is captured in full, and 4 is reversed. The
    // full capture of 5 is unconfirmed. The capture of 12 is reversed. Only a part of 14 was approved.
    let reserved = || Operation::PreAuthorisationByRegistration { registration: "f".repeat(32) };
    let order = terminal.order(14, "till-1", reserved(), 1000);
    let Answer::Approved(mut part) = approved(&id(14)) else { unreachable!() };
    part.amount = ApprovedAmount::Said(eur(600));
    terminal.enter_order(Order { accept_partial: true, ..order }, Some(Answer::Approved(part)));
    let found = transaction::ListedTransaction {
        id: PaymentId::new(id(14)),
        payment_type: "PA".to_owned(),
        amount: ApprovedAmount::Said(eur(600)),
        state: transaction::ListedState::Approved,
        reference: Some(reference(14)),
        refers_to: None,
    };
    terminal.hears(14, Event::Inquired(Inquiry::Payments(vec![found])));
    terminal.enter(12, "till-1", reserved(), 1000, Some(approved(&id(12))));
    terminal.enter(13, "till-1", captured(12), 400, Some(approved(&id(13))));
    terminal.enter(15, "till-1", undone(13), 400, Some(approved(&id(15))));
    for number in 1..=5 {
        terminal.enter(number, "till-1", reserved(), 1000, Some(approved(&id(number))));
    }
    for (number, transaction, minor, answer) in [
        (6, captured(2), 400, approved(&id(6))),
        (7, captured(3), 1000, approved(&id(7))),
        (8, undone(4), 1000, approved(&id(8))),
        (9, captured(5), 1000, lost()),
    ] {
        terminal.enter(number, "till-1", transaction, minor, Some(answer));
    }
    terminal.sold(10, "till-2", 700);
    let shown = |close: &CloseView| -> Vec<(OpenKind, u64, Option<String>)> {
        close.close.open.iter().map(|item| (item.is, item.number.get(), item.amount.clone())).collect()
    };
    let text = |text: &str| Some(text.to_owned());
    let first = terminal.close("till-1").await;
    let open = shown(&first);
    let reserved = |number| open.iter().find(|item| item.1 == number && item.0 == OpenKind::PreAuthorisation);
    assert_eq!(reserved(1).map(|item| item.2.clone()), Some(text("10.00")), "{open:?}");
    assert_eq!(reserved(2).map(|item| item.2.clone()), Some(text("6.00")), "{open:?}");
    assert_eq!((reserved(3), reserved(4)), (None, None), "{open:?}");
    assert_eq!(reserved(12).map(|item| item.2.clone()), Some(text("10.00")), "{open:?}");
    assert_eq!(reserved(14).map(|item| item.2.clone()), Some(text("6.00")), "{open:?}");
    assert_eq!(reserved(5).map(|item| item.2.clone()), Some(text("10.00")), "{open:?}");
    assert!(open.iter().any(|item| item.1 == 9 && item.0 != OpenKind::PreAuthorisation), "{open:?}");
    assert!(open.iter().all(|item| item.1 != 10), "{open:?}");
    // The next close counts no transaction twice, and still lists the earlier open items.
    let second = terminal.close("till-1").await;
    assert_eq!(shown(&second), open);
    assert_eq!((first.close.number, second.close.number), (1, 2));
    assert_eq!(first.not_printed, None, "it was not to be printed, and here is no printer");
    // A close continues where the previous one ended, so the next close covers its record.
    let (before, after) = (&first.close.period, &second.close.period);
    assert_eq!((before.after_entry, after.after_entry), (0, before.to_entry));
    assert_eq!((before.from.clone(), after.from.clone()), (None, Some(before.to.clone())));
    assert!(after.to_entry > before.to_entry, "{after:?}");
    assert!(first.close.kinds.iter().any(|sum| sum.sum == "7.00"), "{:?}", first.close.kinds);
    assert!(second.close.kinds.is_empty(), "{:?}", second.close.kinds);
    // One pre-authorisation is captured between two closes.
    terminal.enter(11, "till-1", captured(1), 1000, Some(approved(&id(11))));
    let third = terminal.close("till-1").await;
    assert!(third.close.open.iter().all(|item| item.number.get() != 1), "{:?}", third.close.open);
    assert_eq!(third.close.kinds.len(), 1, "{:?}", third.close.kinds);
}

#[tokio::test(start_paused = true)]
async fn on_paper_another_tills_original_has_its_number_and_not_its_reference() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.sold(1, "till-1", 1000);
    terminal.refunded(2, "till-1", in_journal(1), 100);
    terminal.refunded(3, "till-2", in_journal(1), 100);
    for (till, number, named) in [("till-1", 2, Some("R1")), ("till-2", 3, None)] {
        let (sale, _) =
            terminal.agent.engine.facts().find(till, &Reference::parse(format!("R{number}")).unwrap()).unwrap();
        let original = crate::agent::devices::receipt_of(terminal.agent.engine.journal.book(), &sale)
            .original
            .expect("it follows an earlier one");
        assert_eq!(original.number, SaleNumber::new(1));
        assert_eq!(original.reference.as_ref().map(Reference::as_str), named, "{till}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_old_copys_numbers_go_on_above_all_that_are_known_and_never_below() {
    for (strange, goes_on_after) in [(vec![7], 7), (vec![2], 3), (vec![9, 5], 9), (vec![5, 9], 9)] {
        let folder = TempDir::new().unwrap();
        {
            let mut before = Terminal::start(folder.path(), "");
            for number in 1..=3 {
                before.sold(number, "till-1", 1000);
            }
        }
        let mut terminal = Terminal::start(folder.path(), "");
        // The references have the agent's form, but this journal does not know them.
        let named = strange.iter().map(|number| format!("{TERMINAL}-{number}-{:032x}", number + 0xFFFF)).collect();
        terminal.agent.engine.references_listed(super::listed(named));
        assert_eq!(terminal.agent.engine.journal.last_number, SaleNumber::new(goes_on_after), "{strange:?}");
    }
}

/// After the restart, the gateway has not been asked yet, but the status still shows the earlier finding.
#[tokio::test(start_paused = true)]
async fn an_old_copy_that_was_found_is_still_told_after_a_restart() {
    let tells = |terminal: &Terminal| terminal.agent.status(|_| true).needs(till::Attention::JournalOldCopy);
    for (strange, found) in [(Some(7), true), (None, false)] {
        let folder = TempDir::new().unwrap();
        Terminal::start(folder.path(), "").sold(1, "till-1", 1000);
        {
            let mut copy = Terminal::start(folder.path(), "");
            let strange = strange.map(|number| format!("{TERMINAL}-{number}-{:032x}", number + 0xFFFF));
            copy.agent.engine.references_listed(super::listed(Vec::from_iter(strange)));
            assert_eq!(tells(&copy), found);
        }
        assert_eq!(tells(&Terminal::start(folder.path(), "")), found);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reversal_that_waited_for_long_is_looked_up_again_before_it_goes_on() {
    for (waited_s, goes_at_once) in [(0, true), (10, true), (11, false)] {
        let folder = TempDir::new().unwrap();
        Terminal::start(folder.path(), "").enter(1, "till-1", stored_card(), 1000, None);
        let mut terminal = Terminal::start(folder.path(), "");
        terminal.agent.catch_up();
        assert_eq!(terminal.may_leave(SaleNumber::new(1), reversal()), None);
        let before = terminal.agent.engine.sales.inbox.len();
        tokio::time::advance(Duration::from_secs(waited_s)).await;
        terminal.agent.engine.references_listed(super::listed(vec![reference(1)]));
        let heard = terminal.agent.engine.sales.inbox.iter().skip(before);
        let held_back = heard.filter(|(_, event)| matches!(event, Event::ReversalAnswered { .. })).count();
        assert_eq!(held_back == 0, goes_at_once, "after {waited_s} s");
    }
}

/// Transactions from another board's journal are not counted again if that board's own close has counted them.
#[tokio::test(start_paused = true)]
async fn what_another_boards_close_has_counted_is_in_no_sum_here() {
    let (ours, theirs) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    Terminal::start(ours.path(), "").sold(7, "till-1", 100);
    {
        let mut before = Terminal::start(theirs.path(), "");
        before.sold(1, "till-1", 2000);
        before.close("till-1").await;
        before.sold(2, "till-1", 300);
    }
    let (path, file) = (ours.path().join("journal.db"), theirs.path().join("journal.db"));
    pos_journal::adopt(&path, &file, Some(TERMINAL), clock::built_unix_ms()).unwrap();
    let mut terminal = Terminal::start(ours.path(), "");
    let close = terminal.close("till-1").await.close;
    let sums: Vec<_> = close.kinds.iter().map(|sum| (sum.count, sum.sum.as_str())).collect();
    assert_eq!(sums, [(2, "4.00")], "1.00 of ours, and 3.00 that no close of theirs has counted");
}

/// The disk is full, so the close is refused, and no sale begins until the journal can be written again.
#[tokio::test(start_paused = true)]
async fn a_close_that_cannot_be_written_is_none_and_the_journal_is_faulty() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.sold(1, "till-1", 700);
    let file = rusqlite::Connection::open(folder.path().join("journal.db")).unwrap();
    file.execute_batch("CREATE TRIGGER full BEFORE INSERT ON mark BEGIN SELECT raise(ABORT, 'disk full'); END")
        .unwrap();
    let wish = || CloseAsked {
        till: "till-1".to_owned(),
        reference: Some(Reference::parse("Z1").unwrap()),
        by: Who::default(),
        print: false,
    };
    let (reply, mut made) = oneshot::channel();
    terminal.agent.closing.make(&terminal.agent.engine.journal, wish(), reply);
    let counted = terminal.ends.tasks.recv().await.unwrap();
    terminal.agent.task_brought(counted);
    let refused = made.try_recv().unwrap();
    assert!(matches!(refused, Err(Refused::Journal { .. })), "{refused:?}");
    assert!(
        terminal.agent.engine.journal.fault.is_some()
            && terminal.agent.engine.journal.book().last_close().unwrap().is_none()
    );
    // As long as the fault lasts, no close is counted.
    let (reply, mut made) = oneshot::channel();
    terminal.agent.closing.make(&terminal.agent.engine.journal, wish(), reply);
    let refused = made.try_recv().expect("it is refused at once");
    assert!(matches!(refused, Err(Refused::Journal { .. })), "{refused:?}");
    file.execute_batch("DROP TRIGGER full").unwrap();
    terminal.agent.retry_journal();
    let close = terminal.close("till-1").await.close;
    assert_eq!((close.number, close.kinds[0].sum.as_str()), (1, "7.00"));
}

/// The till accepts a part of the amount. The refund of the rest is a separate transaction, which is sent.
#[tokio::test(start_paused = true)]
async fn the_refund_of_a_rest_begins_now_under_a_reference_of_its_own_and_is_sent() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.waits_for_its_till(1, "till-1", 1000);
    let now = terminal.agent.engine.clock.now().unix_ms;
    terminal.takes(1, "till-1", Taken::Part { amount: eur(640) }).unwrap();
    terminal.agent.catch_up();
    let rest = terminal.agent.engine.sales.get(SaleNumber::new(2)).unwrap().sale().clone();
    let (order, prefix) = (rest.order(), format!("{TERMINAL}-2-"));
    assert!(order.merchant_transaction_id.starts_with(&prefix), "{}", order.merchant_transaction_id);
    assert!(order.started_unix_ms >= now, "{} {now}: not when the sale began", order.started_unix_ms);
    assert_eq!(rest.standing(), Standing::InProgress, "it is sent");
    // After the refund of the rest has ended, another refund of the sale in progress is not taken for it.
    terminal.agent.engine.hear(SaleNumber::new(2), Event::Answered(approved(&id(2))));
    terminal.agent.tell_and_print();
    assert!(!terminal.agent.engine.sales.open.contains_key(&SaleNumber::new(2)));
    let (other, _) = Transaction::begin(terminal.order(3, "till-1", Operation::Refund { of: in_journal(1) }, 100));
    let now = terminal.agent.engine.clock.monotonic();
    terminal.agent.engine.sales.open.insert(SaleNumber::new(3), OpenTransaction::new(other, now));
    let (sale, _) = terminal.agent.engine.facts().find("till-1", &Reference::parse("R1").unwrap()).unwrap();
    let told = terminal.agent.engine.facts().view(&sale).rest.expect("its rest");
    assert_eq!((told.number, told.amount.as_str()), (SaleNumber::new(2), "3.60"));
}

/// For a transaction that is read from the journal, the open one shows how long its till may still answer. A
/// transaction whose valid state is only on the disk accepts no answer.
#[tokio::test(start_paused = true)]
async fn a_till_that_is_waited_for_is_answered_by_how_the_sale_stands_now() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "till-confirm-s = 120");
    terminal.waits_for_its_till(1, "till-1", 1000);
    tokio::time::advance(Duration::from_secs(50)).await;
    let kept = terminal.agent.engine.journal.book().number(SaleNumber::new(1)).unwrap().unwrap();
    let asked = terminal.agent.engine.facts().awaited_confirmation(&kept).unwrap();
    let left =
        DateTime::parse_from_rfc3339(&asked.until).unwrap().timestamp() - terminal.agent.engine.clock.unix_ms() / 1000;
    assert!((69..=70).contains(&left), "{left}");
    terminal.agent.engine.sales.open.get_mut(&SaleNumber::new(1)).unwrap().stuck = true;
    for taken in [Taken::All, Taken::Nothing, Taken::Part { amount: eur(640) }] {
        let refused = terminal.takes(1, "till-1", taken).unwrap_err();
        assert!(matches!(refused, Refused::Journal { .. }), "{taken:?}: {refused:?}");
    }
    assert!(terminal.rests().is_empty());
}

/// A transaction that is resumed from the disk is counted in the metrics only once.
#[tokio::test(start_paused = true)]
async fn a_sale_that_is_taken_up_again_is_counted_no_second_time() {
    for was_counted in [false, true] {
        let folder = TempDir::new().unwrap();
        Terminal::start(folder.path(), "").enter(1, "till-1", stored_card(), 1000, Some(lost()));
        let mut terminal = Terminal::start(folder.path(), "");
        let open = terminal.agent.engine.sales.open.get_mut(&SaleNumber::new(1)).unwrap();
        (open.counted, open.stuck) = (was_counted, true);
        terminal.agent.retry_journal();
        let open = &terminal.agent.engine.sales.open[&SaleNumber::new(1)];
        assert_eq!((open.counted, open.stuck), (was_counted, false));
    }
}
