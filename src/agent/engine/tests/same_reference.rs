//! Tests of a repeated reference. The agent answers the same request again, and refuses one that differs in any field.

use serde_json::json;
use tokio::sync::oneshot;

use super::*;
use pos_core::wish::{WantedEntry, WantedTip, Wish, WishFields};
use pos_terms::transaction::OnSilence;

impl Terminal {
    fn begin(&mut self, wanted: Wanted) -> Result<till::SaleView, Refused> {
        let (reply, mut answer) = oneshot::channel();
        self.agent.till_asks(Command::Begin { wanted: Box::new(wanted), reply });
        answer.try_recv().expect("it is answered at once")
    }
}

/// The reference `R1` belongs to a by-registration payment. Each further request differs in one field.
#[tokio::test(start_paused = true)]
async fn a_request_that_differs_in_anything_is_not_the_same() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    let parameters = |value: serde_json::Value| value.as_object().unwrap().clone();
    let asked = || Wanted {
        wish: by_registration('f', eur(1000), false),
        reference: Reference::parse("R1").unwrap(),
        parameters: parameters(json!({"customParameters": {"shop": "7", "table": "12"}})),
        ..refund("till-1", EarlierName::Number(SaleNumber::new(1)), 1000, &[])
    };
    let begun = terminal.begin(asked()).unwrap();
    assert!(!begun.replayed);
    let again = terminal.begin(asked()).unwrap();
    assert_eq!((again.replayed, again.number), (true, begun.number));
    // Parameters with flat names count as the same, in any order.
    let flat = parameters(json!({"customParameters[table]": 12, "customParameters[shop]": "7"}));
    assert!(terminal.begin(Wanted { parameters: flat, ..asked() }).unwrap().replayed);

    let usd = Amount::from_minor(1000, Currency::from_code("USD").unwrap()).unwrap();
    let others = [
        ("amount", Wanted { wish: by_registration('f', eur(1001), false), ..asked() }),
        ("currency", Wanted { wish: by_registration('f', usd, false), ..asked() }),
        ("registration", Wanted { wish: by_registration('e', eur(1000), false), ..asked() }),
        ("kind", Wanted { wish: by_card(false, false, false, None), ..asked() }),
        (
            "an earlier one",
            Wanted {
                reference: asked().reference,
                ..refund("till-1", EarlierName::Number(SaleNumber::new(1)), 1000, &[])
            },
        ),
        ("a part", Wanted { wish: by_registration('f', eur(1000), true), ..asked() }),
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
    // The same reference from another till means another sale.
    let others = terminal.begin(Wanted { till: "till-2".to_owned(), ..asked() }).unwrap();
    assert_eq!(
        (others.replayed, others.till.as_str(), others.number),
        (false, "till-2", begun.number.saturating_add(1))
    );
    assert!(terminal.begin(asked()).unwrap().number == begun.number, "and changes nothing of the first");
}

/// Checks the same for the fields that only a presented card has.
#[tokio::test(start_paused = true)]
async fn a_tip_a_typed_card_or_a_part_make_it_another_request() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.enter(1, "till-1", Operation::Sale, 1000, None);
    let (sale, _) = terminal.agent.engine.facts().find("till-1", &Reference::parse("R1").unwrap()).unwrap();
    for (tip, typed, part, confirms) in [
        (false, false, false, None),
        (true, false, false, None),
        (false, true, false, None),
        (false, false, true, None),
        (false, false, false, Some(OnSilence::Reverse)),
    ] {
        let wish = by_card(tip, typed, part, confirms);
        let wanted = Wanted { wish, ..refund("till-1", EarlierName::Number(SaleNumber::new(1)), 1000, &[]) };
        let is_it = terminal.agent.engine.known().is_the_same(&wanted, &sale).unwrap();
        assert_eq!(is_it, !(tip || typed || part || confirms.is_some()), "{tip} {typed} {part} {confirms:?}");
    }
}

fn by_registration(registration: char, amount: Amount, accept_partial: bool) -> Wish {
    wish(WishFields {
        registration: Some(registration.to_string().repeat(32)),
        amount: Some(amount),
        accept_partial: Some(accept_partial),
        ..WishFields::new(Kind::ByRegistration)
    })
}

fn by_card(ask_tip: bool, manual: bool, accept_partial: bool, till_confirms: Option<OnSilence>) -> Wish {
    let tip = ask_tip.then_some(WantedTip::Ask);
    wish(WishFields {
        amount: Some(eur(1000)),
        tip,
        entry: manual.then_some(WantedEntry::Typed),
        accept_partial: Some(accept_partial),
        till_confirms,
        ..WishFields::new(Kind::Sale)
    })
}

#[tokio::test(start_paused = true)]
async fn a_reference_that_is_a_card_number_is_refused_before_it_is_written_down() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    for pan in ["4222222222222", "374245001751006", "4761739001010119", "6799998900000074316", "4761 7390 0101 0119"] {
        let wanted = Wanted {
            wish: by_registration('f', eur(1000), false),
            reference: Reference::parse(format!("bill {pan}")).unwrap(),
            ..refund("till-1", EarlierName::Number(SaleNumber::new(1)), 1000, &[])
        };
        let refused = terminal.begin(wanted).unwrap_err().to_string();
        assert!(refused.contains("looks like a card number") && !refused.contains(&pan[6..9]), "{refused}");
    }
    assert_eq!(terminal.agent.engine.journal.last_number, SaleNumber::new(0));
}
