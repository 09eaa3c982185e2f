//! Tests of training in a whole terminal whose connections are silent. They cover each kind and each outcome, and check
//! that the shop's agent is not affected.

use tokio::sync::oneshot;
use tokio::time::sleep;

use super::*;
use crate::till::{SaleState, SaleView};
use pos_core::wish::{WantedEntry, WantedTip, WishFields};
use pos_terms::transaction::TrainingResult;

const ALLOWED: &str = "\n[training]\nallowed = true\n";
const TILL: &str = "till-1";

impl Terminal {
    async fn trains(&mut self, wanted: Wanted) -> Result<SaleView, Refused> {
        self.asks(|reply| Command::Begin { wanted: Box::new(wanted), reply }).await
    }

    async fn asks<T>(&mut self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> T {
        let (reply, answer) = oneshot::channel();
        self.agent.till_asks(Command::InTraining(Box::new(command(reply))));
        answer.await.expect("it is answered")
    }

    async fn shows(&mut self, reference: &str) -> Result<SaleView, Refused> {
        let (till, reference) = (TILL.to_owned(), Reference::parse(reference).unwrap());
        self.asks(|reply| Command::Show { till, reference, reply }).await
    }

    /// Waits until the transaction has ended or needs a person at the counter. Returns its view and its states until
    /// then.
    async fn trained(&mut self, reference: &str) -> (SaleView, Vec<SaleState>) {
        let mut states = Vec::new();
        loop {
            let view = self.shows(reference).await.unwrap();
            assert!(view.training, "{view:?}");
            if states.last() != Some(&view.state) {
                states.push(view.state);
            }
            if matches!(view.state, SaleState::Ended | SaleState::AwaitingSignature | SaleState::AwaitingTill) {
                return (view, states);
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Checks that the shop's agent contains no trace of the training.
    async fn knows_nothing(&mut self) {
        assert_eq!(self.agent.engine.journal.last_number, SaleNumber::BEFORE_ALL);
        assert!(self.agent.engine.sales.open.is_empty() && self.agent.engine.sales.inbox.is_empty());
        let Engine { journal, sales, .. } = &mut self.agent.engine;
        assert!(journal.try_again(sales).unwrap().is_empty());
        let sales = self.agent.engine.journal.book().list(None, SaleNumber::BEFORE_ALL, 1000).await.unwrap();
        assert!(sales.is_empty(), "{sales:?}");
        let status = self.agent.status(|_| true);
        assert!(status.current.is_none() && status.unconfirmed.is_empty() && !status.busy);
        assert!(status.may_train);
        let figures = self.agent.figures();
        let ended = figures.lines().filter(|line| line.starts_with("pos_agent_transactions_total"));
        assert!(ended.clone().all(|line| line.ends_with(" 0")), "{:?}", ended.collect::<Vec<_>>());
    }
}

fn wanted(reference: &str, result: Option<TrainingResult>, fields: WishFields) -> Wanted {
    Wanted {
        till: TILL.to_owned(),
        reference: Reference::parse(reference).unwrap(),
        wish: fields.judged().unwrap(),
        caller: Caller::root(0),
        training: result,
        parameters: serde_json::Map::new(),
        till_side: Default::default(),
    }
}

fn sale(minor: u64) -> WishFields {
    WishFields { amount: Some(eur(minor)), accept_partial: Some(true), ..WishFields::new(Kind::Sale) }
}

fn of(kind: Kind, reference: &str) -> WishFields {
    let of = EarlierName::Reference { till: TILL.to_owned(), reference: Reference::parse(reference).unwrap() };
    WishFields { of: Some(of), ..WishFields::new(kind) }
}

#[tokio::test(start_paused = true)]
async fn each_outcome_is_seen_with_the_real_states() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), ALLOWED);
    let table = [
        (TrainingResult::Approved, OutcomeWord::Approved, SaleState::InProgress),
        (TrainingResult::Declined, OutcomeWord::Declined, SaleState::InProgress),
        (TrainingResult::Partial, OutcomeWord::PartiallyApproved, SaleState::InProgress),
        (TrainingResult::Signature, OutcomeWord::Approved, SaleState::AwaitingSignature),
        (TrainingResult::Unconfirmed, OutcomeWord::Reversed, SaleState::Unconfirmed),
        (TrainingResult::Cancelled, OutcomeWord::Cancelled, SaleState::WaitingForCard),
        (TrainingResult::NoCard, OutcomeWord::Cancelled, SaleState::WaitingForCard),
        (TrainingResult::NotSent, OutcomeWord::NotSent, SaleState::InProgress),
        (TrainingResult::Reversed, OutcomeWord::Reversed, SaleState::Unconfirmed),
        (TrainingResult::ByAmount, OutcomeWord::Declined, SaleState::InProgress),
    ];
    assert_eq!(table.map(|(result, ..)| result), TrainingResult::ALL);
    for (result, outcome, on_the_way) in table {
        let reference = result.as_str();
        let begun = terminal.trains(wanted(reference, Some(result), sale(1001))).await.unwrap();
        assert!(begun.training && begun.state == SaleState::WaitingForCard);
        let busy = terminal.trains(wanted("second", Some(result), sale(1001))).await;
        assert!(matches!(busy, Err(Refused::Busy { .. })), "one at a time: {busy:?}");
        let (mut view, states) = terminal.trained(reference).await;
        if view.state == SaleState::AwaitingSignature {
            let (till, reference) = (TILL.to_owned(), Reference::parse(reference).unwrap());
            let by = Who::default();
            let signed = |reply| Command::Signature { till, reference, accepted: true, by, reply };
            view = terminal.asks(signed).await.unwrap();
        }
        assert_eq!(view.outcome, Some(outcome), "{result:?} {view:?}");
        assert!(states.contains(&on_the_way), "{result:?} {states:?}");
        let approved = (result == TrainingResult::Partial).then(|| "5.00".to_owned());
        assert!(approved.is_none_or(|approved| view.approved_amount == Some(approved)), "{view:?}");
        sleep(Duration::from_secs(1)).await;
    }
    terminal.knows_nothing().await;
    let trained = terminal.asks(|reply| Command::List { till: None, since: SaleNumber::BEFORE_ALL, limit: 99, reply });
    let trained = trained.await.unwrap();
    assert_eq!(trained.len(), TrainingResult::ALL.len());
    assert!(trained.iter().all(|view| view.training));
}

#[tokio::test(start_paused = true)]
async fn each_kind_and_what_follows_it() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), &format!("max-credit-amount = \"50.00\"{ALLOWED}"));
    let amount = |fields: WishFields, minor| WishFields { amount: Some(eur(minor)), ..fields };
    let stored = WishFields { registration: Some("f".repeat(32)), ..WishFields::new(Kind::ByRegistration) };
    let tip = |tip| WishFields { tip: Some(tip), ..sale(1000) };
    let steps = [
        ("sale", sale(1000)),
        ("asked", tip(WantedTip::Ask)),
        ("given", tip(WantedTip::Given(eur(50)))),
        ("typed", WishFields { entry: Some(WantedEntry::Typed), ..sale(1000) }),
        ("reserved", amount(WishFields::new(Kind::PreAuthorisation), 5000)),
        ("paid out", amount(WishFields::new(Kind::Credit), 700)),
        ("stored", amount(stored.clone(), 900)),
        ("stored, reserved", amount(WishFields { kind: Kind::PreAuthorisationByRegistration, ..stored }, 900)),
        ("more", amount(of(Kind::Increment, "reserved"), 1000)),
        ("captured", amount(of(Kind::Capture, "reserved"), 4000)),
        ("refund", amount(of(Kind::Refund, "sale"), 300)),
        ("void", of(Kind::Reversal, "asked")),
    ];
    for (reference, fields) in steps {
        for result in [TrainingResult::Approved, TrainingResult::Unconfirmed] {
            // Nothing can follow a reversed transaction.
            let name =
                if result == TrainingResult::Approved { reference.to_owned() } else { format!("{reference} lost") };
            if result == TrainingResult::Unconfirmed && fields.of.is_some() {
                continue;
            }
            let begun = terminal.trains(wanted(&name, Some(result), fields.clone())).await;
            assert!(begun.is_ok(), "{name}: {begun:?}");
            let (view, _) = terminal.trained(&name).await;
            let undone = result == TrainingResult::Unconfirmed && fields.kind.is_undone_when_unknown();
            let outcome = if undone { OutcomeWord::Reversed } else { OutcomeWord::Approved };
            assert_eq!(view.outcome, Some(outcome), "{name}: {view:?}");
            sleep(Duration::from_secs(1)).await;
        }
    }
    for (reference, tip) in [("asked", "1.00"), ("given", "0.50")] {
        assert_eq!(terminal.shows(reference).await.unwrap().tip.as_deref(), Some(tip));
    }
    assert_eq!(terminal.shows("sale").await.unwrap().left.as_deref(), Some("7.00"));
    // A refund whose answer is lost is carried out in the end.
    let lost = wanted("lost", Some(TrainingResult::Unconfirmed), amount(of(Kind::Refund, "sale"), 100));
    terminal.trains(lost).await.unwrap();
    let (view, states) = terminal.trained("lost").await;
    assert_eq!(view.outcome, Some(OutcomeWord::Approved), "{view:?}");
    assert!(states.contains(&SaleState::UnconfirmedFinishing), "{states:?}");
    terminal.knows_nothing().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_real_and_what_is_training_never_refer_to_each_other() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), ALLOWED);
    terminal.sold(1, TILL, 1000);
    let trained = wanted("R2", Some(TrainingResult::Approved), sale(1000));
    terminal.trains(trained).await.unwrap();
    let (view, _) = terminal.trained("R2").await;
    let payment = view.payment_id.clone().unwrap();
    // Training names a real transaction.
    for of in [by_reference(TILL, 1), EarlierName::Payment(PaymentId::new(id(1)))] {
        let fields = WishFields { of: Some(of), amount: Some(eur(100)), ..WishFields::new(Kind::Refund) };
        let refused = terminal.trains(wanted("R3", Some(TrainingResult::Approved), fields)).await.unwrap_err();
        assert!(refused.to_string().contains("training") || matches!(refused, Refused::NoSuchSale { .. }), "{refused}");
    }
    // A real request names a training transaction.
    for of in [by_reference(TILL, 2), EarlierName::Payment(payment)] {
        let fields = WishFields { of: Some(of), amount: Some(eur(100)), ..WishFields::new(Kind::Refund) };
        let refused = terminal.may(&wanted("R3", None, fields)).unwrap_err();
        assert!(
            refused.contains("was made in training mode") || refused.contains("has no transaction with"),
            "{refused}"
        );
    }
    // The request goes to the wrong agent.
    let mut real = |wanted: Wanted| {
        let (reply, mut answer) = oneshot::channel();
        terminal.agent.till_asks(Command::Begin { wanted: Box::new(wanted), reply });
        answer.try_recv().unwrap()
    };
    let stray = real(wanted("R4", Some(TrainingResult::Approved), of(Kind::Refund, "R1")));
    assert!(matches!(stray, Err(Refused::NotPossible { .. })), "{stray:?}");
    let stray = terminal.trains(wanted("R4", None, of(Kind::Refund, "R2"))).await;
    assert!(matches!(stray, Err(Refused::NotPossible { .. })), "{stray:?}");
    // In training, the same reference means another transaction, and the same request returns the same one.
    let again = terminal.trains(wanted("R2", Some(TrainingResult::Approved), sale(1000))).await.unwrap();
    assert!(again.replayed && again.training);
    let other = terminal.trains(wanted("R2", Some(TrainingResult::Declined), sale(1000))).await;
    assert!(matches!(other, Err(Refused::AmountDiffers { .. })), "{other:?}");
    assert!(terminal.shows("R1").await.is_err(), "a real one is not shown as one of training");
    assert!(
        terminal.agent.engine.facts().find(TILL, &Reference::parse("R2").unwrap()).is_err(),
        "nor the other way round"
    );
}

#[tokio::test(start_paused = true)]
async fn nobody_trains_where_it_is_not_allowed() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    let refused = terminal.trains(wanted("R1", Some(TrainingResult::Approved), sale(1000))).await;
    assert_eq!(refused, Err(Refused::TrainingOff));
    assert!(!terminal.agent.status(|_| true).may_train);
    assert!(!folder.path().join("training.db").exists());
}

/// Both copies of the receipt say at the top and at the bottom that they are training, and neither is printed.
#[tokio::test(start_paused = true)]
async fn the_receipt_says_that_it_is_training_and_is_not_printed() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), ALLOWED);
    terminal.trains(wanted("R1", Some(TrainingResult::Approved), sale(1000))).await.unwrap();
    terminal.trained("R1").await;
    for copy in [ReceiptCopy::Merchant, ReceiptCopy::Customer] {
        let (till, reference) = (TILL.to_owned(), Reference::parse("R1").unwrap());
        let text = terminal
            .asks(|reply| Command::Receipt { till, reference, copy, width: None, duplicate: false, reply })
            .await
            .unwrap()
            .text;
        let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let mark = ["TRAINING", "NOT A PAYMENT, NO MONEY MOVES"];
        assert!(lines.starts_with(&mark) && lines.ends_with(&mark), "{text}");
        let (till, reference) = (TILL.to_owned(), Reference::parse("R1").unwrap());
        let printed = terminal.asks(|reply| Command::Print { till, reference, copy, reply }).await;
        assert!(matches!(printed, Err(Refused::Printer { .. })), "{printed:?}");
    }
}

/// The power fails during training. The shop's agent resumes nothing, and nothing that the trainer resumes reaches a
/// device or the gateway.
#[tokio::test(start_paused = true)]
async fn a_power_cut_in_training_is_no_business_of_the_gateways() {
    let folder = TempDir::new().unwrap();
    for (nth, until) in [SaleState::WaitingForCard, SaleState::InProgress, SaleState::Unconfirmed].iter().enumerate() {
        let reference = format!("cut {nth}");
        {
            let mut before = Terminal::start(folder.path(), ALLOWED);
            before.trains(wanted(&reference, Some(TrainingResult::Unconfirmed), sale(1000))).await.unwrap();
            while before.shows(&reference).await.unwrap().state != *until {
                sleep(Duration::from_millis(50)).await;
            }
        }
        ended_with_its_agent().await;
        let mut after = Terminal::start(folder.path(), ALLOWED);
        after.knows_nothing().await;
        let (view, _) = after.trained(&reference).await;
        let outcome = if nth == 0 { OutcomeWord::Cancelled } else { OutcomeWord::Reversed };
        assert!([Some(outcome), Some(OutcomeWord::NotSent)].contains(&view.outcome), "{until:?} {view:?}");
        after.knows_nothing().await;
        drop(after);
        ended_with_its_agent().await;
    }
}

/// Waits until the training agent has ended, which happens in its next turn.
async fn ended_with_its_agent() {
    sleep(Duration::from_secs(1)).await;
}
