//! A reference that is known already: the same request is answered again, and one that differs in anything is refused,
//! whatever it differs in.

use crate::transaction::{Kind, Reference, SaleNumber};
use serde_json::json;
use tokio::sync::oneshot;

use super::*;

impl Terminal {
    fn begin(&mut self, wanted: Wanted) -> Result<till::SaleView, Refused> {
        let (reply, mut answer) = oneshot::channel();
        self.agent.till_asks(Command::Begin { wanted: Box::new(wanted), reply });
        answer.try_recv().expect("it is answered at once")
    }
}

/// What a by-registration payment under the reference `R1` was asked for with, and then each thing that may differ.
#[tokio::test(start_paused = true)]
async fn a_request_that_differs_in_anything_is_not_the_same() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    let parameters = |value: serde_json::Value| value.as_object().unwrap().clone();
    let asked = || Wanted {
        kind: Kind::ByRegistration,
        reference: Reference::parse("R1").unwrap(),
        of: None,
        registration: Some("f".repeat(32)),
        parameters: parameters(json!({"customParameters": {"shop": "7", "table": "12"}})),
        ..refund("till-1", Of::Number(SaleNumber::new(1)), 1000, &[])
    };
    let begun = terminal.begin(asked()).unwrap();
    assert!(!begun.replayed);
    let again = terminal.begin(asked()).unwrap();
    assert_eq!((again.replayed, again.number), (true, begun.number));
    // Written flat they are the same, in whatever order.
    let flat = parameters(json!({"customParameters[table]": 12, "customParameters[shop]": "7"}));
    assert!(terminal.begin(Wanted { parameters: flat, ..asked() }).unwrap().replayed);

    let usd = Amount::from_minor(1000, Currency::from_code("USD").unwrap()).unwrap();
    let others = [
        ("amount", Wanted { amount: Some(eur(1001)), ..asked() }),
        ("currency", Wanted { amount: Some(usd), ..asked() }),
        ("registration", Wanted { registration: Some("e".repeat(32)), ..asked() }),
        ("no registration", Wanted { registration: None, ..asked() }),
        ("kind", Wanted { kind: Kind::Sale, registration: None, ..asked() }),
        ("kind alone", Wanted { kind: Kind::PreAuthorisation, ..asked() }),
        ("an earlier one", Wanted { of: Some(Of::Number(SaleNumber::new(1))), ..asked() }),
        ("a tip", Wanted { ask_tip: true, ..asked() }),
        ("typed", Wanted { manual: true, ..asked() }),
        ("a part", Wanted { accept_partial: true, ..asked() }),
        ("no parameters", Wanted { parameters: serde_json::Map::new(), ..asked() }),
        (
            "a parameter's value",
            Wanted { parameters: parameters(json!({"customParameters": {"shop": "8", "table": "12"}})), ..asked() },
        ),
        (
            "one parameter less",
            Wanted { parameters: parameters(json!({"customParameters": {"shop": "7"}})), ..asked() },
        ),
        (
            "one parameter more",
            Wanted {
                parameters: parameters(json!({"customParameters": {"shop": "7", "table": "12", "x-1": "1"}})),
                ..asked()
            },
        ),
    ];
    for (what, other) in others {
        let answer = terminal.begin(other);
        assert!(matches!(answer, Err(Refused::AmountDiffers { .. })), "{what}: {answer:?}");
    }
    // Another till's same reference is another sale.
    let others = terminal.begin(Wanted { till: "till-2".to_owned(), ..asked() }).unwrap();
    assert_eq!(
        (others.replayed, others.till.as_str(), others.number),
        (false, "till-2", begun.number.saturating_add(1))
    );
    assert!(terminal.begin(asked()).unwrap().number == begun.number, "and changes nothing of the first");
}

#[tokio::test(start_paused = true)]
async fn a_reference_that_is_a_card_number_is_refused_before_it_is_written_down() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    for pan in ["4222222222222", "374245001751006", "4761739001010119", "6799998900000074316", "4761 7390 0101 0119"] {
        let wanted = Wanted {
            kind: Kind::ByRegistration,
            reference: Reference::parse(format!("bill {pan}")).unwrap(),
            of: None,
            registration: Some("f".repeat(32)),
            ..refund("till-1", Of::Number(SaleNumber::new(1)), 1000, &[])
        };
        let refused = terminal.begin(wanted).unwrap_err().to_string();
        assert!(refused.contains("looks like a card number") && !refused.contains(&pan[6..9]), "{refused}");
    }
    assert_eq!(terminal.agent.last_number, SaleNumber::new(0));
}
