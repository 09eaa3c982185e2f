//! What stands at the edges of a sale: the refund of the rest, a close of day with what is open, an original of another
//! till on paper, and what an old copy of the journal does.

use std::collections::BTreeMap;

use serde_json::json;
use tokio::sync::oneshot;

use super::super::sale_desk::OpenSale;
use super::*;
use crate::card::{CardFacts, EntryMode, FirstAnswer, MaskedPan};
use crate::counter::OpenKind;
use crate::till::{CloseAsked, CloseView};
use crate::transaction::{OnSilence, Taken};

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
    /// A payment with a card that is approved and waits for its till's word.
    fn waits_for_its_till(&mut self, number: u64, till: &str, minor: u64) {
        let order: Order = serde_json::from_value(json!({
            "number": number, "till": till, "reference": format!("R{number}"), "amount": eur(minor),
            "tillConfirms": "reverse", "terminalId": TERMINAL, "merchantTransactionId": reference(number),
            "startedUnixMs": self.agent.now().unix_ms, "localTime": "2026-11-20 13:00:00",
        }))
        .unwrap();
        assert_eq!(order.till_confirms, Some(OnSilence::Reverse));
        let (mut sale, first) = Sale::begin(order);
        let now = self.agent.now();
        let _ = self.agent.journal.book.commit(&mut sale, first, now.unix_ms).unwrap();
        let read = Event::CardRead { facts: tapped(), first_answer: FirstAnswer::GoOnline };
        let said = Event::CardSaid { confirmed: true, facts: None };
        for event in [read, Event::Answered(approved(&id(number))), said] {
            let step = sale.handle(event, now, self.agent.sales.deadlines);
            let _ = self.agent.journal.book.commit(&mut sale, step, now.unix_ms).unwrap();
        }
        assert!(matches!(sale.standing(), Standing::AwaitingTill { .. }), "{:?}", sale.standing());
        self.agent.journal.last_number = self.agent.journal.last_number.max(SaleNumber::new(number));
        let open = OpenSale::new(sale, self.agent.clock.monotonic());
        self.agent.sales.open.insert(SaleNumber::new(number), open);
    }

    fn takes(&mut self, number: u64, till: &str, taken: Taken) -> Result<till::SaleView, Refused> {
        let (sale, view) = self.agent.find(till, &Reference::parse(format!("R{number}")).unwrap()).unwrap();
        self.agent.confirm(&sale, taken, &Who::default(), view)
    }

    /// Something of this till under this reference.
    fn named(&mut self, number: u64, till: &str, reference: &str) {
        let order: Order = serde_json::from_value(json!({
            "kind": { "is": "by-registration", "registration": "f".repeat(32) },
            "number": number, "till": till, "reference": reference, "amount": eur(100), "terminalId": TERMINAL,
            "merchantTransactionId": super::reference(number), "startedUnixMs": self.agent.now().unix_ms,
            "localTime": "2026-11-20 13:00:00",
        }))
        .unwrap();
        let (mut sale, first) = Sale::begin(order);
        let now = self.agent.now();
        let _ = self.agent.journal.book.commit(&mut sale, first, now.unix_ms).unwrap();
        self.agent.journal.last_number = self.agent.journal.last_number.max(SaleNumber::new(number));
    }

    /// What is told of the refund of a rest, by its reference: its amount.
    fn rests(&self) -> BTreeMap<String, Amount> {
        let open = self.agent.sales.open.values().map(|open| open.sale.order());
        open.filter(|order| order.gives_rest).map(|order| (order.reference.to_string(), order.amount)).collect()
    }

    async fn close(&mut self, till: &str) -> CloseView {
        let (reply, made) = oneshot::channel();
        let wish = CloseAsked { till: till.to_owned(), reference: None, by: Who::default(), print: false };
        self.agent.begin_close(wish, reply);
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
        // Another till's is that till's.
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
                // The next number is the refund's.
                assert_eq!(terminal.agent.journal.last_number, SaleNumber::new(2 + used.len() as u64));
                // Said once more it is the same, and another word comes too late.
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
        let sale = &terminal.agent.sales.open[&SaleNumber::new(1)].sale;
        let asked = terminal.agent.to_confirm(sale).unwrap();
        assert_eq!((asked.amount.as_str(), asked.on_silence), ("10.00", OnSilence::Reverse));
        DateTime::parse_from_rfc3339(&asked.until).unwrap().timestamp() - terminal.agent.clock.unix_ms() / 1000
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
    let captured = |of: u64| Transaction::Capture { of: in_journal(of) };
    let undone = |of: u64| Transaction::Reversal { of: in_journal(of) };
    // 1: nothing was taken of it. 2: a part was. 3: all of it. 4: given up. 5: whether all was taken is not known.
    for number in 1..=5 {
        let reserved = Transaction::PreAuthorisationByRegistration { registration: "f".repeat(32) };
        terminal.enter(number, "till-1", reserved, 1000, Some(approved(&id(number))));
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
    assert_eq!(reserved(5).map(|item| item.2.clone()), Some(text("10.00")), "{open:?}");
    assert!(open.iter().any(|item| item.1 == 9 && item.0 != OpenKind::PreAuthorisation), "{open:?}");
    assert!(open.iter().all(|item| item.1 != 10), "{open:?}");
    // The next one counts nothing twice, and still names what is open of before.
    let second = terminal.close("till-1").await;
    assert_eq!(shown(&second), open);
    assert_eq!((first.close.number, second.close.number), (1, 2));
    assert!(first.close.kinds.iter().any(|sum| sum.sum == "7.00"), "{:?}", first.close.kinds);
    assert!(second.close.kinds.is_empty(), "{:?}", second.close.kinds);
    // One of them is taken meanwhile.
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
        let (sale, _) = terminal.agent.find(till, &Reference::parse(format!("R{number}")).unwrap()).unwrap();
        let original = terminal.agent.receipt_of(&sale).original.expect("it follows an earlier one");
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
        // Of the same numbers as ours, and none of ours.
        let named = strange.iter().map(|number| format!("{TERMINAL}-{number}-{:032x}", number + 0xFFFF)).collect();
        terminal.agent.references_listed(super::listed(named));
        assert_eq!(terminal.agent.journal.last_number, SaleNumber::new(goes_on_after), "{strange:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reversal_that_waited_for_long_is_looked_up_again_before_it_goes_on() {
    for (waited_s, goes_at_once) in [(0, true), (10, true), (11, false)] {
        let folder = TempDir::new().unwrap();
        Terminal::start(folder.path(), "").enter(1, "till-1", stored_card(), 1000, None);
        let mut terminal = Terminal::start(folder.path(), "");
        terminal.agent.settle();
        assert_eq!(terminal.agent.may_leave(SaleNumber::new(1), reversal()), None);
        let before = terminal.agent.sales.inbox.len();
        tokio::time::advance(Duration::from_secs(waited_s)).await;
        terminal.agent.references_listed(super::listed(vec![reference(1)]));
        let heard = terminal.agent.sales.inbox.iter().skip(before);
        let held_back = heard.filter(|(_, event)| matches!(event, Event::ReversalAnswered { .. })).count();
        assert_eq!(held_back == 0, goes_at_once, "after {waited_s} s");
    }
}
