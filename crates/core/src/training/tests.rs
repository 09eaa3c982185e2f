//! Tests of the trainer without an agent.

use super::*;
use pos_terms::money::Currency;

fn eur(minor: u64) -> Amount {
    Amount::from_minor(minor, Currency::from_code("EUR").unwrap()).unwrap()
}

/// The digits agree with the tables in the module documentation and in the manual.
#[test]
fn the_last_two_digits_choose_the_outcome() {
    let table = [
        (1, TrainingResult::Declined),
        (2, TrainingResult::Partial),
        (3, TrainingResult::Signature),
        (4, TrainingResult::Unconfirmed),
        (5, TrainingResult::Cancelled),
        (6, TrainingResult::NoCard),
        (7, TrainingResult::NotSent),
        (8, TrainingResult::Reversed),
    ];
    for digits in 0..100 {
        let listed = table.iter().find(|(listed, _)| *listed == digits).map(|(_, result)| *result);
        for whole in [100, 12_300] {
            assert_eq!(by_amount(eur(whole + digits)), listed.unwrap_or(TrainingResult::Approved), "{digits}");
        }
    }
    // For a currency without decimals, the last two digits of the amount itself apply.
    let yen = Amount::parse("1204", Currency::from_code("JPY").unwrap()).unwrap();
    assert_eq!(by_amount(yen), TrainingResult::Unconfirmed);
}

/// A training payment is recognised by its id, and no gateway issues such an id.
#[test]
fn the_ids_are_known_for_what_they_are() {
    let mut trainer = Trainer::default();
    let own = PaymentId::new(format!("{ID}{:0>24}", 17));
    let Event::ReversalAnswered { reversal: ReversalAnswer::Done { id, .. }, .. } =
        trainer.reverse(&own, eur(100), "r")
    else {
        panic!("it is reversed");
    };
    for id in [own, id] {
        assert_eq!(id.as_str().len(), 32);
        assert!(id.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
        assert!(is_of_training(&id));
    }
    assert!(!is_of_training(&PaymentId::new("8ac7a4a18f00000000000000000000aa".to_owned())));
}
