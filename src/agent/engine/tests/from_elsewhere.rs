//! Tests of transactions that this terminal must leave alone. They were begun with another account, belong to training
//! or follow it, or are in a journal that waits for a person.

use super::*;

/// An account that is not this terminal's.
const ANOTHER: &str = "0123456789abcdef";

#[tokio::test(start_paused = true)]
async fn a_journal_that_waits_for_a_person_stays_untouched_after_a_retry() {
    let folder = TempDir::new().unwrap();
    Terminal::start(folder.path(), "").enter(1, "till-1", stored_card(), 1000, Some(lost()));
    let mark = format!(r#"{{"terminal":"{TERMINAL}","journal":"another"}}"#);
    fs::write(folder.path().join(format!("{TERMINAL}.sold")), mark).unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    for _ in 0..2 {
        assert!(terminal.agent.engine.journal.is_barred() && terminal.agent.engine.journal.fault.is_some());
        terminal.agent.catch_up();
        assert!(terminal.agent.engine.sales.open.is_empty(), "{:?}", terminal.agent.engine.sales.open.keys());
        assert!(terminal.agent.engine.sales.inbox.is_empty());
        terminal.agent.retry_journal();
    }
}

/// The account is part of the order, so it is kept when another journal takes over the order.
#[tokio::test(start_paused = true)]
async fn what_was_begun_with_another_account_is_left_alone_by_the_board_that_takes_it_over() {
    let (ours, theirs) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    Terminal::start(ours.path(), "").sold(1, "till-1", 100);
    {
        let mut before = Terminal::start(theirs.path(), "");
        let own = before.agent.engine.devices.gateway.client.account();
        for (number, account, answer) in [
            (1, ANOTHER, lost()),
            (2, ANOTHER, approved(&id(2))),
            (3, own.as_str(), lost()),
            (4, own.as_str(), approved(&id(4))),
        ] {
            let order = before.order(number, "till-2", stored_card(), 1000);
            before.enter_order(Order { account: Some(account.to_owned()), ..order }, Some(answer));
        }
    }
    let (path, file) = (ours.path().join("journal.db"), theirs.path().join("journal.db"));
    let taken = pos_journal::adopt(&path, &file, Some(TERMINAL), clock::built_unix_ms()).unwrap();
    assert_eq!((taken.transactions, taken.added, taken.open.len()), (4, 1, 2));
    let mut terminal = Terminal::start(ours.path(), "");
    terminal.agent.catch_up();
    let left_alone: Vec<_> =
        terminal.agent.engine.sales.left_alone.iter().map(|(number, (.., why))| (number, why)).collect();
    assert!(
        matches!(left_alone[..], [(number, why)] if *number == 2 && why.to_string().contains("a different account"))
    );
    assert_eq!(terminal.agent.engine.sales.open.keys().map(|number| number.get()).collect::<Vec<_>>(), [4]);
    // Nothing may follow the other account's payments either.
    let of = |number| refund("till-2", EarlierName::Number(SaleNumber::new(number)), 100, &[]);
    terminal.agent.engine.references_listed(super::listed(Vec::new()));
    let refused = terminal.may(&of(3)).unwrap_err();
    assert!(refused.contains("a different account"), "{refused}");
    assert!(terminal.may(&of(5)).is_ok());
}

/// An earlier version of the program allowed this refund to begin.
#[tokio::test(start_paused = true)]
async fn a_refund_of_a_trained_payment_that_is_in_the_journal_is_never_sent() {
    let folder = TempDir::new().unwrap();
    let trained = Earlier { payment: PaymentId::new(format!("training{:0>24}", 1)), number: None };
    Terminal::start(folder.path(), "").enter(1, "till-1", Operation::Refund { of: trained }, 100, Some(lost()));
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.agent.catch_up();
    let number = SaleNumber::new(1);
    terminal.agent.engine.act(number, Action::Ask);
    assert!(terminal.agent.engine.sales.open[&number].prepared.is_none(), "no request of it is made");
    let said = terminal.agent.engine.sales.inbox.pop_back();
    assert!(
        matches!(&said, Some((_, Event::CannotAsk { why })) if why.reason == transaction::Reason::RequestNotPossible),
        "{said:?}"
    );
}

/// An open training transaction in the shop's journal is left alone. It is neither looked up nor reversed.
#[tokio::test(start_paused = true)]
async fn an_open_transaction_of_training_is_left_alone() {
    let folder = TempDir::new().unwrap();
    {
        let mut before = Terminal::start(folder.path(), "");
        let order = before.order(1, "till-1", stored_card(), 1000);
        before.enter_order(
            Order { training: Some(pos_terms::transaction::TrainingResult::ALL[0]), ..order },
            Some(lost()),
        );
        before.enter(2, "till-1", stored_card(), 1000, Some(lost()));
    }
    let terminal = Terminal::start(folder.path(), "");
    let left_alone: Vec<_> =
        terminal.agent.engine.sales.left_alone.iter().map(|(number, (.., why))| (number, why)).collect();
    assert!(
        matches!(left_alone[..], [(number, why)] if *number == 1 && *why == pos_words::Message::LeftAsTraining.into())
    );
    assert_eq!(terminal.agent.engine.sales.open.keys().map(|number| number.get()).collect::<Vec<_>>(), [2]);
}
