//! What is listed below a transaction, and which one is the latest of a till.

use super::*;
use crate::transaction::{PaymentId, Reference};

#[tokio::test(start_paused = true)]
async fn what_refers_to_a_sale_is_listed_with_it_and_another_tills_by_its_number_alone() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.sold(1, "till-1", 1000);
    terminal.refunded(2, "till-1", in_journal(1), 300);
    // By its payment's id, and by another till.
    terminal.refunded(3, "till-2", Earlier { payment: PaymentId::new(id(1)), number: None }, 200);
    terminal.enter(4, "till-1", Transaction::Refund { of: in_journal(1) }, 100, Some(lost()));
    // What refers to a refund, or to nothing, is no matter of the sale.
    terminal.sold(5, "till-1", 700);
    let listed = |reference: &str| {
        let (sale, view) = terminal.agent.find("till-1", &Reference::parse(reference).unwrap()).unwrap();
        terminal.agent.with_what_is_left(&sale, view).later
    };
    let later = listed("R1");
    let facts: Vec<_> = later
        .iter()
        .map(|one| {
            (
                one.number.get(),
                one.reference.as_ref().map(Reference::as_str),
                one.kind,
                one.amount.as_str(),
                one.state,
                one.outcome,
            )
        })
        .collect();
    let (refund, approved) = (Kind::Refund, Some(OutcomeWord::Approved));
    assert_eq!(
        facts,
        [
            (2, Some("R2"), refund, "3.00", till::SaleState::Ended, approved),
            (3, None, refund, "2.00", till::SaleState::Ended, approved),
            (4, Some("R4"), refund, "1.00", till::SaleState::UnconfirmedFinishing, None),
        ]
    );
    assert!(listed("R2").is_empty() && listed("R5").is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_latest_transaction_is_the_tills_own() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    let latest = |terminal: &Terminal, till: &str| terminal.agent.latest(till).map(|view| view.reference);
    assert_eq!(latest(&terminal, "till-1"), Err(Refused::NoneYet { till: "till-1".to_owned() }));
    for (number, till) in [(1, "till-1"), (2, "till-2"), (3, "till-1"), (4, "till-2")] {
        terminal.sold(number, till, 1000);
    }
    assert_eq!(latest(&terminal, "till-1").unwrap(), "R3");
    assert_eq!(latest(&terminal, "till-2").unwrap(), "R4");
    assert!(latest(&terminal, "till-3").is_err());
}
