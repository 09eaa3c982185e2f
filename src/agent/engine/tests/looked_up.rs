//! Tests of transactions that follow an earlier one while the gateway's list by date is incomplete.

use super::*;
use crate::agent::task_results::WaitingWish;
use crate::till::SaleView;
use pos_core::transaction::{ListedState, ListedTransaction, Reason};
use pos_core::wish::WishFields;
use tokio::sync::oneshot;

type Answered = oneshot::Receiver<Result<SaleView, Refused>>;

/// Starts a terminal with an earlier sale. At its gateway, one second has more transactions than the gateway lists.
fn terminal(folder: &Path) -> Terminal {
    Terminal::start(folder, "").sold(1, "till-1", 1000);
    let mut terminal = Terminal::start(folder, "max-credit-amount = \"50.00\"");
    let incomplete = Some("a second is full".to_owned());
    terminal.agent.engine.references_listed(Ok(pos_gateway::Found { references: vec![reference(1)], incomplete }));
    terminal
}

impl Terminal {
    pub(super) fn wants(&mut self, wanted: Wanted) -> Answered {
        let (reply, answer) = oneshot::channel();
        self.agent.till_asks(Command::Begin { wanted: Box::new(wanted), reply });
        answer
    }

    /// Requests a refund whose look-up returns `inquiry`.
    fn refunds(&mut self, reference: &str, inquiry: Inquiry) -> Result<SaleView, Refused> {
        let (reply, mut answer) = oneshot::channel();
        let wish = WaitingWish { wanted: refund_of_1(reference), of: SaleNumber::new(1), reply };
        self.agent.looked_up(wish, inquiry);
        answer.try_recv().expect("an answer")
    }
}

fn refund_of_1(under: &str) -> Wanted {
    Wanted {
        reference: Reference::parse(under).unwrap(),
        ..refund("till-1", by_reference("till-1", 1), 400, &[Right::Refund])
    }
}

fn one(number: u64, payment_type: &str, state: ListedState, named: Option<String>) -> ListedTransaction {
    let amount = ApprovedAmount::Said(eur(400));
    let (id, payment_type) = (PaymentId::new(id(number)), payment_type.to_owned());
    ListedTransaction { id, payment_type, amount, state, reference: named, refers_to: None }
}

fn payment() -> ListedTransaction {
    one(1, "DB", ListedState::Approved, Some(reference(1)))
}

#[tokio::test(start_paused = true)]
async fn a_refund_of_before_waits_for_the_look_up_of_its_payment() {
    let folder = TempDir::new().unwrap();
    let mut terminal = terminal(folder.path());
    let mut answer = terminal.wants(refund_of_1("look"));
    tokio::task::yield_now().await;
    assert!(answer.try_recv().is_err(), "nothing is begun before the gateway was asked");
    assert!(terminal.agent.engine.sales.open.is_empty());

    let declined = one(8, "RF", ListedState::Declined, None);
    let begun = terminal.refunds("known", Inquiry::Payments(vec![payment(), declined])).unwrap();
    assert_eq!(begun.amount, "4.00");
    // The look-up was valid only for that request.
    let mut next = terminal.wants(refund_of_1("next"));
    assert!(next.try_recv().is_err());
    // This journal knows the transactions that the terminal itself began.
    let own = terminal.agent.engine.journal.book().number(SaleNumber::new(2)).unwrap().unwrap();
    let own = own.order().merchant_transaction_id.clone();
    let now = terminal.agent.engine.clock.now();
    let mut sale = terminal.agent.engine.sales.open.remove(&SaleNumber::new(2)).unwrap().sale;
    for event in [Event::Proceed, Event::Answered(approved(&id(2)))] {
        let step = sale.handle(event, now, terminal.agent.engine.sales.deadlines());
        let _ = terminal
            .agent
            .engine
            .journal
            .write(|book| pos_core::book::commit(book, now.unix_ms, &mut sale, step))
            .unwrap();
    }
    let listed = vec![payment(), one(2, "RF", ListedState::Approved, Some(own))];
    assert!(terminal.refunds("again", Inquiry::Payments(listed)).is_ok());
}

#[tokio::test(start_paused = true)]
async fn what_is_not_known_of_a_payment_and_what_has_none_is_refused_by_name() {
    let folder = TempDir::new().unwrap();
    let mut terminal = terminal(folder.path());
    let back_office = one(8, "RF", ListedState::Approved, None);
    let pending = one(8, "RF", ListedState::Undecided, Some("another".to_owned()));
    for linked in [back_office, pending] {
        let refused = terminal.refunds("R8", Inquiry::Payments(vec![payment(), linked]));
        assert!(matches!(refused, Err(Refused::NotPossible { .. })), "{refused:?}");
    }
    let unanswered = Inquiry::CannotAsk { why: Reason::GatewayNoAnswer.into() };
    for cannot in [unanswered, Inquiry::Payments(Vec::new())] {
        let refused = terminal.refunds("R8", cannot);
        assert!(
            matches!(&refused, Err(Refused::NotReady { why }) if why.to_string().contains("transaction 1")),
            "{refused:?}"
        );
    }
    let of = EarlierName::Payment(PaymentId::new(UNKNOWN));
    let credit = wish(WishFields { amount: Some(eur(400)), entry: None, ..WishFields::new(Kind::Credit) });
    let rights = [Right::Refund, Right::Credit, Right::UnknownPayment];
    let by_id = || refund("till-1", of.clone(), 400, &rights);
    for wanted in [by_id(), Wanted { wish: credit, ..by_id() }] {
        let refused = terminal.wants(wanted).try_recv().unwrap();
        assert!(
            matches!(&refused, Err(Refused::NotReady { why }) if why.to_string().contains("not complete")),
            "{refused:?}"
        );
    }
    assert!(terminal.agent.engine.sales.open.is_empty());
    // A refund by this terminal that the journal does not know shows an outdated copy.
    let strange = one(7, "RF", ListedState::Approved, Some(reference(7)));
    let refused = terminal.refunds("R8", Inquiry::Payments(vec![payment(), strange]));
    assert!(matches!(refused, Err(Refused::NotPossible { .. })), "{refused:?}");
    assert!(terminal.agent.status(|_| true).needs(till::Attention::JournalOldCopy));
}
