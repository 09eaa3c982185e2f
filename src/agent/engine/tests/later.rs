//! Tests of the list of later transactions, and of a till's latest transaction.

use super::*;
use pos_core::wish::WishFields;
use pos_terms::transaction::{PaymentId, Reference};

#[tokio::test(start_paused = true)]
async fn what_refers_to_a_sale_is_listed_with_it_and_another_tills_by_its_number_alone() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.sold(1, "till-1", 1000);
    terminal.refunded(2, "till-1", in_journal(1), 300);
    // Another till refunds the sale by its payment id.
    terminal.refunded(3, "till-2", Earlier { payment: PaymentId::new(id(1)), number: None }, 200);
    terminal.enter(4, "till-1", Operation::Refund { of: in_journal(1) }, 100, Some(lost()));
    // This sale refers to no other transaction, so it is not listed.
    terminal.sold(5, "till-1", 700);
    let listed = |reference: &str| {
        let (sale, view) = terminal.agent.engine.facts().find("till-1", &Reference::parse(reference).unwrap()).unwrap();
        terminal.agent.engine.facts().with_what_is_left(&sale, view).later
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
    let latest = |terminal: &Terminal, till: &str| {
        terminal.agent.engine.known().latest(till).map(|sale| sale.order().reference.clone())
    };
    assert_eq!(latest(&terminal, "till-1"), Err(Refused::NoneYet { till: "till-1".to_owned() }));
    for (number, till) in [(1, "till-1"), (2, "till-2"), (3, "till-1"), (4, "till-2")] {
        terminal.sold(number, till, 1000);
    }
    assert_eq!(latest(&terminal, "till-1").unwrap(), "R3");
    assert_eq!(latest(&terminal, "till-2").unwrap(), "R4");
    assert!(latest(&terminal, "till-3").is_err());
}

/// A follow-up has the currency of the earlier transaction, even if the terminal now has another one, and even for the
/// smallest amount.
#[tokio::test(start_paused = true)]
async fn what_follows_is_in_the_currency_of_the_earlier_one() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    let usd = |minor| Amount::from_minor(minor, Currency::from_code("USD").unwrap()).unwrap();
    let reserved = || Operation::PreAuthorisationByRegistration { registration: "f".repeat(32) };
    terminal.sold(1, "till-1", 1000);
    terminal.enter(2, "till-1", reserved(), 1000, Some(approved(&id(2))));
    let order = Order { amount: usd(1000), ..terminal.order(3, "till-1", stored_card(), 1) };
    terminal.enter_order(order, Some(approved(&id(3))));
    let of = |number| by_reference("till-1", number);
    for (transaction, is_possible) in [
        (wish(WishFields { of: Some(of(1)), amount: Some(usd(1)), ..WishFields::new(Kind::Refund) }), false),
        (wish(WishFields { of: Some(of(1)), amount: Some(eur(1)), ..WishFields::new(Kind::Refund) }), true),
        (wish(WishFields { of: Some(of(1)), amount: Some(usd(1000)), ..WishFields::new(Kind::Reversal) }), false),
        (wish(WishFields { of: Some(of(2)), amount: Some(usd(1)), ..WishFields::new(Kind::Capture) }), false),
        (wish(WishFields { of: Some(of(2)), amount: Some(eur(1)), ..WishFields::new(Kind::Capture) }), true),
        (wish(WishFields { of: Some(of(2)), amount: Some(usd(1)), ..WishFields::new(Kind::Increment) }), false),
        (wish(WishFields { of: Some(of(2)), amount: Some(eur(1)), ..WishFields::new(Kind::Increment) }), true),
        (wish(WishFields { of: Some(of(3)), amount: Some(eur(1)), ..WishFields::new(Kind::Refund) }), false),
        (wish(WishFields { of: Some(of(3)), amount: Some(usd(1)), ..WishFields::new(Kind::Refund) }), true),
    ] {
        let wanted = Wanted { wish: transaction, ..refund("till-1", of(1), 1, &[]) };
        let may = terminal.may(&wanted);
        assert_eq!(may.is_ok(), is_possible, "{:?}: {may:?}", wanted.wish);
        assert!(may.is_ok() || may.is_err_and(|why| why.contains("the earlier transaction is in")));
    }
}

/// An increment can be reversed until its reservation is captured.
#[tokio::test(start_paused = true)]
async fn an_increment_is_not_reversed_once_its_reservation_was_captured() {
    for (was_captured, is_possible) in [(false, true), (true, false)] {
        let folder = TempDir::new().unwrap();
        let mut terminal = Terminal::start(folder.path(), "");
        let reserved = Operation::PreAuthorisationByRegistration { registration: "f".repeat(32) };
        terminal.enter(1, "till-1", reserved, 1000, Some(approved(&id(1))));
        terminal.enter(2, "till-1", Operation::Increment { of: in_journal(1) }, 500, Some(approved(&id(2))));
        if was_captured {
            terminal.enter(3, "till-1", Operation::Capture { of: in_journal(1) }, 100, Some(approved(&id(3))));
        }
        let wish =
            wish(WishFields { of: Some(by_reference("till-1", 2)), amount: None, ..WishFields::new(Kind::Reversal) });
        let wanted = Wanted { wish, ..refund("till-1", by_reference("till-1", 2), 1, &[]) };
        assert_eq!(terminal.may(&wanted).is_ok(), is_possible, "captured: {was_captured}");
    }
}

/// A till learns how much is left only if another transaction may follow.
#[tokio::test(start_paused = true)]
async fn what_is_left_is_told_once_something_may_follow() {
    let folder = TempDir::new().unwrap();
    Terminal::start(folder.path(), "").sold(1, "till-1", 1000);
    let mut terminal = Terminal::start(folder.path(), "");
    let left = |terminal: &Terminal, reference: &str| {
        let (sale, view) = terminal.agent.engine.facts().find("till-1", &Reference::parse(reference).unwrap()).unwrap();
        terminal.agent.engine.facts().with_what_is_left(&sale, view).left
    };
    assert_eq!(left(&terminal, "R1"), None, "nobody knows yet whether this journal is an old copy");
    for of in [by_reference("till-1", 1), EarlierName::Number(SaleNumber::new(1))] {
        let refused = terminal.may(&refund("till-1", of, 1000, &[])).unwrap_err();
        assert!(refused.contains("has not yet said"), "nor does anything follow: {refused}");
    }
    terminal.agent.engine.references_listed(super::listed(vec![reference(1)]));
    assert!(terminal.may(&refund("till-1", by_reference("till-1", 1), 1000, &[])).is_ok());
    assert_eq!(left(&terminal, "R1").as_deref(), Some("10.00"));
    terminal.refunded(2, "till-1", in_journal(1), 1000);
    terminal.enter(3, "till-1", stored_card(), 500, Some(lost()));
    assert_eq!((left(&terminal, "R1").as_deref(), left(&terminal, "R3")), (Some("0"), None));
    assert_eq!(left(&terminal, "R2"), None, "nothing is refunded of a refund");
}

/// A payment id is 32 letters and digits. Anything else is refused and not stored.
#[tokio::test(start_paused = true)]
async fn a_payment_is_named_by_32_letters_and_digits() {
    let folder = TempDir::new().unwrap();
    let terminal = Terminal::start(folder.path(), "max-credit-amount = \"50.00\"");
    for (payment, is_one) in [
        ("a".repeat(32), true),
        ("a".repeat(31), false),
        ("a".repeat(33), false),
        (format!("{}/", "a".repeat(31)), false),
        (String::new(), false),
    ] {
        let of = EarlierName::Payment(PaymentId::new(payment.clone()));
        let may = terminal.may(&refund("till-1", of, 100, &[Right::UnknownPayment]));
        assert_eq!(may.is_ok(), is_one, "{payment}: {may:?}");
    }
}
