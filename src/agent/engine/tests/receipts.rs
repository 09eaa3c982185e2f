//! Tests of requests for a receipt between the outcome and the card's last answer.

use tokio::sync::oneshot::{Receiver, channel};

use super::edges::tapped;
use super::journal_fails::{AtReader, presented};
use super::*;
use crate::till::{PrintView, ReceiptView};
use pos_reader::{CardVerdict, ReaderEvent, Unready};
use pos_terms::card::Presented;
use pos_terms::transaction::ReceiptCopy;

impl AtReader {
    /// Returns a terminal with an approved tap whose card still has to answer.
    async fn approved() -> Self {
        let mut at = Self::new();
        at.terminal.sells("till-1", "R1").await.unwrap();
        let presented = Box::new(Presented { facts: tapped(), ..presented() });
        at.says(ReaderEvent::Card { sale: SaleNumber::new(1), presented });
        at.answers(approved(&id(1)));
        assert_eq!(at.terminal.says_of("till-1", "R1").outcome, Some(OutcomeWord::Approved));
        at
    }

    fn shows(&mut self) -> Receiver<Result<Box<ReceiptView>, Refused>> {
        let (reply, answer) = channel();
        let (till, reference, copy) = ("till-1".to_owned(), Reference::parse("R1").unwrap(), ReceiptCopy::Customer);
        let asked = Command::Receipt { till, reference, copy, width: None, duplicate: false, reply };
        self.terminal.agent.till_asks(asked);
        answer
    }

    fn prints(&mut self) -> Receiver<Result<PrintView, Refused>> {
        let (reply, answer) = channel();
        let (till, reference, copy) = ("till-1".to_owned(), Reference::parse("R1").unwrap(), ReceiptCopy::Customer);
        self.terminal.agent.till_asks(Command::Print { till, reference, copy, reply });
        answer
    }

    /// Returns the number of requests that wait.
    fn waiting(&self) -> usize {
        self.terminal.agent.engine.sales.open.values().map(|active| active.receipts.len()).sum()
    }
}

#[tokio::test(start_paused = true)]
async fn a_receipt_waits_for_the_cards_last_answer_or_for_the_loss_of_the_reader() {
    for is_lost in [false, true] {
        let mut at = AtReader::approved().await;
        let (mut shown, mut printed) = (at.shows(), at.prints());
        at.terminal.goes_on();
        assert!(shown.try_recv().is_err() && printed.try_recv().is_err(), "{is_lost}");
        if is_lost {
            at.says(ReaderEvent::Unready(Unready::Restarting { cause: "cut".to_owned() }));
        } else {
            at.completed(CardVerdict::Approved);
        }
        assert_eq!(shown.try_recv().unwrap().unwrap().reference.as_str(), "R1", "{is_lost}");
        assert!(matches!(printed.try_recv().unwrap(), Err(Refused::Printer { .. })), "{is_lost}: no printer");
        assert!(at.shows().try_recv().unwrap().is_ok(), "{is_lost}: nothing is awaited any more");
    }
}

/// A caller that has left knows of no paper, and asks again. Its requests take no memory meanwhile.
#[tokio::test(start_paused = true)]
async fn a_caller_that_leaves_has_asked_for_nothing() {
    let mut at = AtReader::approved().await;
    for _ in 0..100 {
        drop(at.prints());
        drop(at.shows());
    }
    assert_eq!(at.waiting(), 1, "the next one removes the latest");
    let mut shown = at.shows();
    assert_eq!(at.waiting(), 1);
    at.completed(CardVerdict::Approved);
    assert!(shown.try_recv().unwrap().is_ok());
}
