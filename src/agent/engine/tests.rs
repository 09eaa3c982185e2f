//! Tests of follow-ups, of the owner of an answer, and of the check for an outdated journal copy. They use a whole
//! terminal whose connections are silent, so nothing is sent. The simulator in `crates/test-kit` covers the exchanges
//! with the gateway.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use chrono::DateTime;
use tempfile::TempDir;

use super::*;
use crate::agent::task_results::{GatewaySaid, TaskResult};
use crate::agent::*;
use crate::config::{self, Right, TillToken};
use crate::till::{self, Caller, Command, ProgressLog, Refused, Wanted};
use pos_core::transaction::{
    self, Action, Answer, Approval, ApprovedAmount, Event, ForChip, HostFacts, Inquiry, Order, ReversalAnswer,
    Standing, Transaction,
};
use pos_core::wish::{EarlierName, Wish, WishFields};
use pos_daemon::wire;
use pos_terms::money::Amount;
use pos_terms::transaction::{
    Earlier, Kind, Operation, OutcomeWord, PaymentId, ReceiptCopy, Reference, SaleNumber, Who,
};

mod card_left;
mod edges;
mod from_elsewhere;
mod journal_fails;
mod later;
mod looked_up;
mod operators;
mod receipts;
mod same_reference;
mod training;
mod unreadable;

const TERMINAL: &str = "12345678";
const ENTITY: &str = "8a8294174b7ecb28014b9699220015ca";
/// A payment at the gateway that no journal in these tests knows.
const UNKNOWN: &str = "8ac7a4a18f00000000000000000000aa";

/// A terminal with its journal and silent connections.
struct Terminal {
    agent: Agent,
    ends: Ends,
    _commands: mpsc::Sender<Command>,
}

impl Terminal {
    /// Starts a terminal with the journal in this folder.
    fn start(folder: &Path, settings: &str) -> Self {
        Self::start_as(TERMINAL, ENTITY, folder, settings)
    }

    /// Starts a terminal with this terminal id and this account.
    fn start_as(id: &str, entity: &str, folder: &Path, settings: &str) -> Self {
        let mut config = config::load(&write_files(folder, settings)).unwrap();
        (config.terminal.id, config.gateway.entity_id) = (id.to_owned(), entity.to_owned());
        let silent: wire::Connector = Arc::new(|| Box::pin(std::future::pending()));
        let board = || DateTime::from_timestamp_millis(clock::built_unix_ms() + 24 * 3600 * 1000).unwrap();
        let surroundings = Surroundings {
            reader: Some(Arc::clone(&silent)),
            gateway: Some(Arc::clone(&silent)),
            printer: Some(silent),
            board: Arc::new(board),
            ..Surroundings::default()
        };
        let (commands, receiver) = mpsc::channel(1);
        let progress = ProgressLog::new(64);
        let (agent, ends) = start::start(config.into(), surroundings, Wires { commands: receiver, progress }).unwrap();
        Self { agent, ends, _commands: commands }
    }

    /// Enters an earlier transaction, with its request and its answer, if any.
    fn enter(&mut self, number: u64, till: &str, transaction: Operation, minor: u64, answer: Option<Answer>) {
        self.enter_order(self.order(number, till, transaction, minor), answer);
    }

    fn order(&self, number: u64, till: &str, transaction: Operation, minor: u64) -> Order {
        Order {
            operation: transaction,
            parameters: Vec::new(),
            number: SaleNumber::new(number),
            till: till.to_owned(),
            reference: Reference::parse(format!("R{number}")).unwrap(),
            by: None,
            amount: eur(minor),
            ask_tip: false,
            manual: false,
            chip_alone: false,
            accept_partial: false,
            till_confirms: None,
            gives_rest: false,
            till_prints: false,
            till_data: Default::default(),
            tip: None,
            training: None,
            terminal_id: TERMINAL.to_owned(),
            account: None,
            merchant_transaction_id: reference(number),
            started_unix_ms: self.agent.engine.clock.now().unix_ms,
            local_time: "2026-11-20 13:00:00".to_owned(),
        }
    }

    fn enter_order(&mut self, order: Order, answer: Option<Answer>) {
        let (mut sale, first) = Transaction::begin(order);
        let now = self.agent.engine.clock.now();
        let _ = self
            .agent
            .engine
            .journal
            .write(|book| pos_core::book::commit(book, now.unix_ms, &mut sale, first))
            .unwrap();
        for event in [Some(Event::Proceed), answer.map(Event::Answered)].into_iter().flatten() {
            let step = sale.handle(event, now, self.agent.engine.sales.deadlines());
            let _ = self
                .agent
                .engine
                .journal
                .write(|book| pos_core::book::commit(book, now.unix_ms, &mut sale, step))
                .unwrap();
        }
    }

    /// Makes the reader ready.
    fn with_reader(&mut self) {
        self.agent.engine.reader_says(pos_reader::ReaderEvent::Ready(pos_reader::ReaderIdentity {
            serial: "30003638".to_owned(),
            model: "M010-MPI".to_owned(),
            firmware: "1".to_owned(),
            configuration: Vec::new(),
            pin_key: true,
            tampered: false,
            clock: None,
        }));
    }

    /// Enters an earlier, approved sale.
    fn sold(&mut self, number: u64, till: &str, minor: u64) {
        self.enter(number, till, stored_card(), minor, Some(approved(&id(number))));
    }

    fn refunded(&mut self, number: u64, till: &str, of: Earlier, minor: u64) {
        self.enter(number, till, Operation::Refund { of }, minor, Some(approved(&id(number))));
    }

    /// Returns the reversal if it may be sent. Otherwise queues the event for its transaction.
    fn may_leave(&mut self, number: SaleNumber, reversal: Action) -> Option<Action> {
        let Engine { sales, journal, old_copy, clock, .. } = &mut self.agent.engine;
        let kept = journal.book().number(number).unwrap();
        let mut closed = kept.map(|sale| OpenTransaction::new(sale, Duration::ZERO));
        let active = sales.open.get_mut(&number).or(closed.as_mut()).expect("a transaction of this journal");
        match leaving::may_leave(active, reversal, journal.book(), old_copy, clock) {
            Gate::Opens(reversal) => Some(reversal),
            Gate::Holds(heard) => {
                sales.inbox.extend(heard.map(|event| (number, event)));
                None
            }
        }
    }

    fn owner(&self, number: SaleNumber) -> Owner<'_> {
        Owner::of(number, &self.agent.engine.sales, self.agent.engine.journal.book())
    }

    fn may(&self, wanted: &Wanted) -> Result<(Operation, Amount), String> {
        self.agent.engine.known().transaction_and_amount(wanted).map_err(|refused| refused.to_string())
    }

    fn standing(&self, number: u64) -> Standing<'_> {
        self.agent.engine.sales.get(SaleNumber::new(number)).unwrap().sale().standing()
    }

    fn is_held(&self, number: u64) -> bool {
        self.agent.engine.sales.get(SaleNumber::new(number)).unwrap().sale().is_held()
    }
}

fn write_files(folder: &Path, settings: &str) -> std::path::PathBuf {
    let token = folder.join("token");
    fs::write(&token, "OGE4Mjk0MTc0YjdlY2IyODAxNGI5Njk5MjIwMDE1Y2N8c3k2S0pzVDg=").unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = authority.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap();
    fs::write(folder.join("ca.pem"), authority.pem()).unwrap();
    let path = folder.join("config.toml");
    let text = format!(
        r#"[terminal]
id = "{TERMINAL}"
merchant = ["Corner Shop"]
currency = "EUR"
{settings}

[reader]
protocol = "miura-mpi"
port = "/dev/null"

[gateway]
url = "https://bank.test"
entity-id = "{ENTITY}"
token-file = "{folder}/token"
ca-file = "{folder}/ca.pem"

[journal]
path = "{folder}/journal.db"
"#,
        folder = folder.display()
    );
    fs::write(&path, text).unwrap();
    path
}

/// Copies the files of a stopped terminal for a second terminal.
fn copy_of(before: &TempDir) -> TempDir {
    let folder = TempDir::new().unwrap();
    for entry in fs::read_dir(before.path()).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
    }
    folder
}

fn wish(fields: WishFields) -> Wish {
    fields.judged().unwrap()
}

fn eur(minor: u64) -> Amount {
    Amount::from_minor(minor, Currency::from_code("EUR").unwrap()).unwrap()
}

/// Returns the gateway reference of a transaction.
fn reference(number: u64) -> String {
    format!("{TERMINAL}-{number}-{number:032x}")
}

/// Returns the payment id of a transaction.
fn id(number: u64) -> String {
    format!("{number:032}")
}

/// Returns an operation that needs no card: a sale with a stored card.
fn stored_card() -> Operation {
    Operation::ByRegistration { registration: "f".repeat(32) }
}

fn approved(id: &str) -> Answer {
    Answer::Approved(Box::new(Approval {
        id: PaymentId::new(id),
        amount: ApprovedAmount::NotSaid,
        for_chip: ForChip::default(),
        facts: HostFacts { id: Some(PaymentId::new(id)), ..HostFacts::default() },
    }))
}

fn lost() -> Answer {
    Answer::Unknown { why: "no answer in time".into() }
}

fn refund(till: &str, of: EarlierName, minor: u64, rights: &[Right]) -> Wanted {
    let rights = rights.iter().copied().collect();
    let token = TillToken { till: till.to_owned(), token_file: "token".into(), rights, operator: true };
    Wanted {
        till: till.to_owned(),
        reference: Reference::parse("new").unwrap(),
        wish: wish(WishFields { of: Some(of), amount: Some(eur(minor)), ..WishFields::new(Kind::Refund) }),
        caller: Caller::token(&token),
        training: None,
        parameters: serde_json::Map::new(),
        till_side: Default::default(),
    }
}

fn by_reference(till: &str, number: u64) -> EarlierName {
    EarlierName::Reference { till: till.to_owned(), reference: Reference::parse(format!("R{number}")).unwrap() }
}

fn in_journal(number: u64) -> Earlier {
    Earlier { payment: PaymentId::new(id(number)), number: Some(SaleNumber::new(number)) }
}

#[tokio::test(start_paused = true)]
async fn an_id_that_the_journal_knows_is_that_sale_with_its_rest() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.sold(1, "till-1", 1000);
    let by_id = || EarlierName::Payment(PaymentId::new(id(1)));
    let refund_of_it = (Operation::Refund { of: in_journal(1) }, eur(1000));
    assert_eq!(terminal.may(&refund("till-1", by_id(), 1000, &[])), Ok(refund_of_it));
    let more = terminal.may(&refund("till-1", by_id(), 1001, &[])).unwrap_err();
    assert!(more.contains("more than the remaining 10.00 EUR"), "{more}");
    // Refunds count, whether they refer to the transaction by its number or by its payment id.
    terminal.refunded(2, "till-1", in_journal(1), 300);
    terminal.refunded(3, "till-1", Earlier { payment: PaymentId::new(id(1)), number: None }, 200);
    for of in [by_id(), EarlierName::Number(SaleNumber::new(1)), by_reference("till-1", 1)] {
        let more = terminal.may(&refund("till-1", of.clone(), 501, &[])).unwrap_err();
        assert!(more.contains("more than the remaining 5.00 EUR"), "{of:?}: {more}");
        assert!(terminal.may(&refund("till-1", of, 500, &[])).is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn another_tills_sale_needs_the_right_however_it_is_named() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.sold(1, "till-1", 1000);
    for of in [
        EarlierName::Payment(PaymentId::new(id(1))),
        EarlierName::Number(SaleNumber::new(1)),
        by_reference("till-1", 1),
    ] {
        assert!(terminal.may(&refund("till-1", of.clone(), 100, &[])).is_ok(), "{of:?}");
        let refused = terminal.may(&refund("till-2", of.clone(), 100, &[Right::UnknownPayment])).unwrap_err();
        assert!(refused.contains("the right any-till"), "{of:?}: {refused}");
        let returned = terminal.may(&refund("till-2", of.clone(), 100, &[Right::AnyTill]));
        assert_eq!(returned, Ok((Operation::Refund { of: in_journal(1) }, eur(100))), "{of:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn for_an_unknown_payment_and_by_credit_nothing_is_given_beyond_the_limit() {
    let unknown =
        |minor, rights: &[Right]| refund("till-1", EarlierName::Payment(PaymentId::new(UNKNOWN)), minor, rights);
    let credit = |minor| {
        let wish = wish(WishFields { amount: Some(eur(minor)), entry: None, ..WishFields::new(Kind::Credit) });
        Wanted { wish, ..unknown(minor, &[]) }
    };
    let folder = TempDir::new().unwrap();
    {
        let closed = Terminal::start(folder.path(), "");
        let refused = closed.may(&unknown(1, &[Right::UnknownPayment])).unwrap_err();
        assert!(refused.contains("max-credit-amount"), "nothing may be given: {refused}");
        assert!(closed.may(&credit(1)).is_err());
    }
    let mut terminal = Terminal::start(folder.path(), "max-credit-amount = \"50.00\"");
    let refused = terminal.may(&unknown(1, &[Right::AnyTill])).unwrap_err();
    assert!(refused.contains("the right unknown-payment"), "{refused}");
    assert!(terminal.may(&unknown(5001, &[Right::UnknownPayment])).is_err());
    let of = || Earlier { payment: PaymentId::new(UNKNOWN), number: None };
    assert_eq!(terminal.may(&unknown(5000, &[Right::UnknownPayment])), Ok((Operation::Refund { of: of() }, eur(5000))));
    // Earlier refunds of this payment count, even if they are unconfirmed.
    terminal.refunded(1, "till-2", of(), 1000);
    terminal.enter(2, "till-1", Operation::Reversal { of: of() }, 1500, Some(lost()));
    let refused = terminal.may(&unknown(2501, &[Right::UnknownPayment])).unwrap_err();
    assert!(refused.contains("above the limit of 50.00 EUR"), "{refused}");
    assert!(terminal.may(&unknown(2500, &[Right::UnknownPayment])).is_ok());
    assert!(terminal.may(&credit(5000)).is_ok() && terminal.may(&credit(5001)).is_err());
}

#[tokio::test(start_paused = true)]
async fn the_earlier_till_is_part_of_what_was_asked_for() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.sold(1, "till-1", 1000);
    terminal.refunded(2, "till-3", in_journal(1), 100);
    let (sale, _) = terminal.agent.engine.facts().find("till-3", &Reference::parse("R2").unwrap()).unwrap();
    for (of, is_it) in [
        (by_reference("till-1", 1), true),
        (EarlierName::Number(SaleNumber::new(1)), true),
        (EarlierName::Payment(PaymentId::new(id(1))), true),
        // The same reference from another till means another sale.
        (by_reference("till-2", 1), false),
        (by_reference("till-1", 3), false),
        (EarlierName::Number(SaleNumber::new(3)), false),
        (EarlierName::Payment(PaymentId::new(id(3))), false),
    ] {
        let wanted = Wanted {
            reference: Reference::parse("R2").unwrap(),
            ..refund("till-3", of.clone(), 100, &[Right::AnyTill])
        };
        assert_eq!(terminal.agent.engine.known().is_the_same(&wanted, &sale).ok(), Some(is_it), "{of:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_with_the_id_of_another_transaction_is_not_taken() {
    let folder = TempDir::new().unwrap();
    {
        let mut before = Terminal::start(folder.path(), "");
        before.sold(1, "till-1", 1000);
        before.enter(2, "till-1", stored_card(), 1000, None);
        before.enter(
            3,
            "till-1",
            Operation::Refund { of: Earlier { payment: PaymentId::new(UNKNOWN), number: None } },
            1,
            None,
        );
    }
    let terminal = Terminal::start(folder.path(), "");
    for (number, payment, is_ours) in
        [(2, id(2), true), (2, id(1), false), (3, id(3), true), (3, UNKNOWN.to_owned(), false)]
    {
        let pending = Answer::Pending { id: PaymentId::new(payment.clone()), redirect: None };
        for answer in [approved(&payment), pending] {
            let taken = terminal.owner(SaleNumber::new(number)).answer(answer.clone());
            assert_eq!(!matches!(taken, Answer::NotOurs { .. }), is_ours, "{number}: {answer:?}");
        }
    }
}

/// Returns the gateway's complete list by date.
fn listed(references: Vec<String>) -> Result<pos_gateway::Found, String> {
    Ok(pos_gateway::Found { references, incomplete: None })
}

fn reversal() -> Action {
    Action::Reverse { payment: PaymentId::new(id(1)), amount: eur(1000), reference: format!("{}-r1", reference(1)) }
}

#[tokio::test(start_paused = true)]
async fn no_reversal_of_before_leaves_until_the_gateway_has_named_its_references() {
    let folder = TempDir::new().unwrap();
    Terminal::start(folder.path(), "").enter(1, "till-1", stored_card(), 1000, None);
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.agent.catch_up();
    assert_eq!(
        terminal.may_leave(SaleNumber::new(1), reversal()),
        None,
        "it is not known yet whether this journal is an old copy"
    );
    terminal.agent.engine.references_listed(Err("HTTP 500".to_owned()));
    assert_eq!(terminal.may_leave(SaleNumber::new(1), reversal()), None, "nor after a question without an answer");
    terminal.enter(2, "till-1", stored_card(), 1000, None);
    assert_eq!(
        terminal.may_leave(SaleNumber::new(2), reversal()),
        Some(reversal()),
        "what began since is this board's own"
    );
    terminal.agent.engine.references_listed(listed(vec![reference(1), "somebody-elses".to_owned()]));
    assert_eq!(terminal.may_leave(SaleNumber::new(1), reversal()), Some(reversal()));
    // With this setting, the gateway has no look-up by date.
    drop(terminal);
    let settings = "[gateway.assumptions]\nquery-by-date = false";
    let mut terminal = Terminal::start(folder.path(), settings);
    assert_eq!(terminal.may_leave(SaleNumber::new(1), reversal()), Some(reversal()));
}

#[tokio::test(start_paused = true)]
async fn the_sales_of_an_old_copy_wait_for_a_person_also_after_a_restart() {
    let folder = TempDir::new().unwrap();
    Terminal::start(folder.path(), "").enter(1, "till-1", stored_card(), 1000, None);
    let references = || vec![reference(1), reference(5)];
    {
        let mut terminal = Terminal::start(folder.path(), "");
        terminal.agent.catch_up();
        assert_eq!(terminal.may_leave(SaleNumber::new(1), reversal()), None);
        terminal.agent.engine.references_listed(listed(references()));
        assert!(terminal.is_held(1), "{:?}", terminal.standing(1));
        assert_eq!(
            terminal.agent.engine.journal.last_number,
            SaleNumber::new(5),
            "numbers go on above what the gateway holds"
        );
        assert_eq!(terminal.may_leave(SaleNumber::new(1), reversal()), None);
    }
    // A finding is not reported again, and held transactions stay held.
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.agent.catch_up();
    assert!(terminal.is_held(1), "{:?}", terminal.standing(1));
    terminal.agent.engine.references_listed(listed(references()));
    assert!(matches!(terminal.standing(1), Standing::Unconfirmed { quarantined: Some(_), .. }));
    assert!(terminal.agent.settle_sale(SaleNumber::new(1), false, &Who::default()).is_ok());
    assert!(!terminal.is_held(1));
    assert_eq!(terminal.may_leave(SaleNumber::new(1), reversal()), Some(reversal()), "a person has decided");
    let again = terminal.agent.settle_sale(SaleNumber::new(1), true, &Who::default());
    assert!(matches!(again, Err(Refused::NotPossible { .. })), "a person decides once: {again:?}");
}

/// When the outdated copy was found, the terminal had another id, so the sale in the copy was left alone. Then the
/// terminal gets its own id back, and the gateway lists nothing new. Only the recorded finding prevents the sale's
/// reversal.
#[tokio::test(start_paused = true)]
async fn what_was_left_alone_when_the_old_copy_was_found_waits_for_a_person_when_its_name_is_back() {
    let another_account = "8a8294174b7ecb28014b9699220015cb";
    for ((id, entity), was_asked) in
        [("87654321", ENTITY), (TERMINAL, another_account)].into_iter().flat_map(|name| [(name, false), (name, true)])
    {
        let case = format!("terminal {id}, account {entity}, the gateway was asked again: {was_asked}");
        let folder = TempDir::new().unwrap();
        {
            let mut before = Terminal::start(folder.path(), "");
            let order = Order {
                account: Some(before.agent.engine.devices.gateway.client.account()),
                ..before.order(1, "till-1", stored_card(), 1000)
            };
            before.enter_order(order, None);
        }
        let references = || vec![reference(1), reference(5)];
        {
            let mut elsewhere = Terminal::start_as(id, entity, folder.path(), "");
            elsewhere.agent.catch_up();
            assert!(elsewhere.agent.engine.sales.left_alone.contains_key(&SaleNumber::new(1)), "{case}");
            elsewhere.agent.engine.references_listed(listed(references()));
            elsewhere.agent.catch_up();
            assert!(!elsewhere.agent.engine.old_copy.unmarked, "{case}: it is in the book");
        }
        let mut terminal = Terminal::start(folder.path(), "");
        terminal.agent.catch_up();
        if was_asked {
            terminal.agent.engine.references_listed(listed(references()));
        }
        assert_eq!(terminal.may_leave(SaleNumber::new(1), reversal()), None, "{case}");
        terminal.agent.catch_up();
        assert!(terminal.is_held(1), "{case}: {:?}", terminal.standing(1));
        assert!(terminal.agent.settle_sale(SaleNumber::new(1), false, &Who::default()).is_ok());
        assert_eq!(terminal.may_leave(SaleNumber::new(1), reversal()), Some(reversal()), "a person has decided");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_or_a_reversal_with_the_id_of_another_transaction_is_not_taken() {
    let folder = TempDir::new().unwrap();
    {
        let mut before = Terminal::start(folder.path(), "");
        before.sold(1, "till-1", 1000);
        before.enter(2, "till-1", stored_card(), 1000, None);
    }
    let terminal = Terminal::start(folder.path(), "");
    for (payment, is_ours) in [(id(2), true), (id(1), false), (id(1).to_uppercase(), false)] {
        let found = transaction::ListedTransaction {
            id: PaymentId::new(payment.clone()),
            payment_type: "DB".to_owned(),
            amount: ApprovedAmount::Said(eur(1000)),
            state: transaction::ListedState::Approved,
            reference: Some(reference(2)),
            refers_to: None,
        };
        let listed = terminal.owner(SaleNumber::new(2)).inquiry(Inquiry::Payments(vec![found.clone()]));
        assert_eq!(matches!(listed, Inquiry::Payments(_)), is_ours, "{payment}");
        let reversal = ReversalAnswer::Done { id: PaymentId::new(payment.clone()), amount: ApprovedAmount::NotSaid };
        let reversal = terminal.owner(SaleNumber::new(2)).reversal(reversal);
        assert_eq!(matches!(reversal, ReversalAnswer::Done { .. }), is_ours, "{payment}");
        // A linked transaction has a different reference.
        let linked = transaction::ListedTransaction { reference: Some(reference(1)), ..found };
        let listed = terminal.owner(SaleNumber::new(2)).inquiry(Inquiry::Payments(vec![linked]));
        assert!(matches!(listed, Inquiry::Payments(_)), "{payment}");
    }
}

/// The answer to a sale was lost. A till refunded the payment by its id before this journal knew the transaction.
#[tokio::test(start_paused = true)]
async fn what_is_being_given_back_by_its_id_is_not_reversed_on_top() {
    let folder = TempDir::new().unwrap();
    let of_unknown = || Operation::Refund { of: Earlier { payment: PaymentId::new(UNKNOWN), number: None } };
    {
        let mut before = Terminal::start(folder.path(), "");
        before.enter(1, "till-1", stored_card(), 1000, None);
        before.enter(2, "till-2", of_unknown(), 1000, None);
    }
    let settings = "[gateway.assumptions]\nquery-by-date = false";
    let mut terminal = Terminal::start(folder.path(), settings);
    let reversal = |minor| Action::Reverse {
        payment: PaymentId::new(UNKNOWN.to_uppercase()),
        amount: eur(minor),
        reference: format!("{}-r1", reference(1)),
    };
    assert_eq!(terminal.may_leave(SaleNumber::new(1), reversal(1000)), None, "the refund has no end yet");
    drop(terminal);
    // These payments were refunded in part, so the rest may be reversed.
    let refunded_in_part = || {
        let folder = TempDir::new().unwrap();
        let mut before = Terminal::start(folder.path(), settings);
        before.enter(1, "till-1", stored_card(), 1000, None);
        before.enter(2, "till-2", of_unknown(), 400, Some(approved(&id(2))));
        folder
    };
    // Handles the gateway's list, from which the reversal is calculated. Returns `None` if the reversal was sent, and
    // otherwise whether it is held back for a person.
    let held_back = |terminal: &mut Terminal, approved: u64, given: &[u64]| {
        terminal.agent.engine.sales.inbox.clear();
        let found = |id: &str, kind: &str, minor, ours| transaction::ListedTransaction {
            id: PaymentId::new(id),
            payment_type: kind.to_owned(),
            amount: ApprovedAmount::Said(eur(minor)),
            state: transaction::ListedState::Approved,
            reference: Some(reference(ours)),
            refers_to: None,
        };
        let refunds = given.iter().map(|minor| found(&id(2), "RF", *minor, 2));
        let list = std::iter::once(found(UNKNOWN, "DB", approved, 1)).chain(refunds).collect();
        terminal.agent.engine.hear(SaleNumber::new(1), Event::Inquired(Inquiry::Payments(list)));
        match terminal.agent.engine.sales.inbox.pop_back() {
            Some((_, Event::ReversalAnswered { reversal: ReversalAnswer::HeldBack { for_person, .. }, .. })) => {
                Some(for_person)
            }
            None => None,
            other => panic!("{other:?}"),
        }
    };
    let whole = refunded_in_part();
    let mut terminal = Terminal::start(whole.path(), settings);
    terminal.agent.catch_up();
    assert_eq!(held_back(&mut terminal, 1000, &[]), Some(false), "a look may show it");
    assert_eq!(
        held_back(&mut terminal, 1000, &[]),
        Some(true),
        "the gateway does not list what is linked to the payment"
    );
    assert_eq!(held_back(&mut terminal, 1000, &[400]), None, "exactly the rest leaves");
    drop(terminal);
    // The payment was approved in part, so the approved amount counts and not the requested one.
    let part = refunded_in_part();
    let mut terminal = Terminal::start(part.path(), settings);
    terminal.agent.catch_up();
    assert_eq!(held_back(&mut terminal, 600, &[]), Some(false));
    assert_eq!(held_back(&mut terminal, 600, &[]), Some(true), "6.00 and 4.00 are more than 6.00");
    drop(terminal);
    // A till captured the payment by its id, so the shop wants the money.
    let captured = TempDir::new().unwrap();
    {
        let mut before = Terminal::start(captured.path(), settings);
        before.enter(1, "till-1", stored_card(), 1000, None);
        let of = Earlier { payment: PaymentId::new(UNKNOWN), number: None };
        before.enter(2, "till-2", Operation::Capture { of }, 1000, Some(approved(&id(2))));
    }
    let mut terminal = Terminal::start(captured.path(), settings);
    terminal.agent.catch_up();
    assert_eq!(held_back(&mut terminal, 1000, &[]), Some(true));
}

/// A till gives the id of this terminal's automatic reversal as the id of a payment.
#[tokio::test(start_paused = true)]
async fn nothing_follows_a_reversal_that_was_made_by_itself() {
    let folder = TempDir::new().unwrap();
    let settings = "max-credit-amount = \"50.00\"";
    let mut terminal = Terminal::start(folder.path(), settings);
    terminal.enter(1, "till-1", stored_card(), 1000, None);
    let mut sale = terminal.agent.engine.journal.book().number(SaleNumber::new(1)).unwrap().unwrap();
    let now = terminal.agent.engine.clock.now();
    let found = transaction::ListedTransaction {
        id: PaymentId::new(id(1)),
        payment_type: "DB".to_owned(),
        amount: ApprovedAmount::Said(eur(1000)),
        state: transaction::ListedState::Approved,
        reference: Some(reference(1)),
        refers_to: None,
    };
    let back = ReversalAnswer::Done { id: PaymentId::new(UNKNOWN), amount: ApprovedAmount::Said(eur(1000)) };
    let answered = Event::ReversalAnswered { reference: format!("{}-r1", reference(1)), reversal: back };
    for event in [Event::Answered(lost()), Event::Inquired(Inquiry::Payments(vec![found])), answered] {
        let step = sale.handle(event, now, terminal.agent.engine.sales.deadlines());
        let _ = terminal
            .agent
            .engine
            .journal
            .write(|book| pos_core::book::commit(book, now.unix_ms, &mut sale, step))
            .unwrap();
    }
    for named in [UNKNOWN.to_owned(), UNKNOWN.to_uppercase()] {
        let refused = terminal
            .may(&refund("till-2", EarlierName::Payment(PaymentId::new(named)), 1000, &[Right::UnknownPayment]))
            .unwrap_err();
        assert!(refused.contains("nothing can follow a reversal"), "{refused}");
    }
}

/// Two sales are waiting for their cards when the power fails or a copy is made.
#[tokio::test(start_paused = true)]
async fn what_was_never_sent_ends_only_when_the_gateway_does_not_hold_it() {
    let folder = TempDir::new().unwrap();
    let waits = |number| Order {
        operation: Operation::Sale,
        parameters: Vec::new(),
        number,
        till: "till-1".to_owned(),
        reference: Reference::parse(format!("R{number}")).unwrap(),
        by: None,
        amount: eur(1000),
        ask_tip: false,
        manual: false,
        chip_alone: false,
        accept_partial: false,
        till_confirms: None,
        gives_rest: false,
        till_prints: false,
        till_data: Default::default(),
        tip: None,
        training: None,
        terminal_id: TERMINAL.to_owned(),
        account: None,
        merchant_transaction_id: reference(number.get()),
        started_unix_ms: clock::built_unix_ms(),
        local_time: "2026-11-20 13:00:00".to_owned(),
    };
    {
        let mut before = Terminal::start(folder.path(), "");
        for number in [1, 2] {
            let (mut sale, first) = Transaction::begin(waits(SaleNumber::new(number)));
            let unix_ms = before.agent.engine.clock.now().unix_ms;
            let _ = before
                .agent
                .engine
                .journal
                .write(|book| pos_core::book::commit(book, unix_ms, &mut sale, first))
                .unwrap();
        }
    }
    let view = |terminal: &Terminal, number: u64| {
        let sale = terminal.agent.engine.journal.book().number(SaleNumber::new(number)).unwrap().unwrap();
        let view = terminal.agent.engine.facts().view(&sale);
        (view.state, view.outcome)
    };
    for held in [None, Some(2)] {
        let mut terminal = Terminal::start(folder.path(), "");
        terminal.agent.catch_up();
        for number in [1, 2] {
            assert_eq!(view(&terminal, number), (till::SaleState::Unconfirmed, None), "the gateway was not asked yet");
            let (reply, mut said) = tokio::sync::oneshot::channel();
            let known = terminal
                .agent
                .engine
                .facts()
                .view(terminal.agent.engine.sales.get(SaleNumber::new(number)).unwrap().sale());
            terminal.agent.engine.cancel(SaleNumber::new(number), &Who::default(), known, reply);
            assert_eq!(said.try_recv().unwrap().unwrap().outcome, None, "nor may it be cancelled");
        }
        let Some(held) = held else { continue };
        // When the copy is found, the held sale cannot be written.
        terminal.agent.engine.sales.open.get_mut(&SaleNumber::new(held)).unwrap().stuck = true;
        terminal.agent.engine.references_listed(listed(vec![reference(held)]));
        terminal.agent.catch_up();
        assert!(terminal.agent.engine.old_copy.unmarked, "the next start must find it again");
        terminal.agent.retry_journal();
        terminal.agent.catch_up();
        assert!(!terminal.agent.engine.old_copy.unmarked);
        assert_eq!(view(&terminal, 1), (till::SaleState::Ended, Some(OutcomeWord::NotSent)));
        assert!(terminal.is_held(2), "{:?}", terminal.standing(2));
    }
}

#[tokio::test(start_paused = true)]
async fn a_number_that_no_board_reaches_is_nobodys_and_stops_nothing() {
    let folder = TempDir::new().unwrap();
    Terminal::start(folder.path(), "").enter(1, "till-1", stored_card(), 1000, None);
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.agent.catch_up();
    assert_eq!(terminal.may_leave(SaleNumber::new(1), reversal()), None);
    let giants = [1_000_002, u64::MAX / 2, u64::MAX].map(reference);
    let overflow = format!("{TERMINAL}-{}0-{}", u64::MAX, "0".repeat(32));
    terminal.agent.engine.references_listed(listed(giants.into_iter().chain([overflow]).collect()));
    assert!(!terminal.is_held(1), "{:?}", terminal.standing(1));
    assert_eq!(terminal.agent.engine.journal.last_number, SaleNumber::new(1));
    assert_eq!(terminal.may_leave(SaleNumber::new(1), reversal()), Some(reversal()));
    drop(terminal);
    // This is the highest number that the agent accepts.
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.agent.catch_up();
    terminal.agent.engine.references_listed(listed(vec![reference(1_000_001)]));
    assert!(terminal.is_held(1));
    assert_eq!(terminal.agent.engine.journal.last_number, SaleNumber::new(1_000_001));
}

#[tokio::test(start_paused = true)]
async fn the_look_for_an_old_copy_waits_for_the_gateways_time() {
    let folder = TempDir::new().unwrap();
    Terminal::start(folder.path(), "").enter(1, "till-1", stored_card(), 1000, None);
    let mut terminal = Terminal::start(folder.path(), "");
    assert_eq!(terminal.agent.engine.old_copy.due(&terminal.agent.engine.devices.gateway), None);
    terminal.agent.probed(Err(pos_gateway::Fault::OutOfOrder { status: 500 }));
    assert_eq!(
        terminal.agent.engine.old_copy.due(&terminal.agent.engine.devices.gateway),
        None,
        "how far the clocks are apart is not known"
    );
    assert!(terminal.agent.engine.old_copy.attention().is_some_and(|(_, why)| why.to_string().contains("probe-path")));
    terminal.agent.probed(Ok(pos_gateway::Probed { unix_s: None, round_trip: Duration::from_millis(1) }));
    assert!(terminal.agent.engine.old_copy.due(&terminal.agent.engine.devices.gateway).is_some());
    // The agent asks again after a while, or as soon as the gateway has answered a payment.
    terminal.agent.engine.references_listed(Err("not now".to_owned()));
    let now = terminal.agent.engine.clock.monotonic();
    assert!(terminal.agent.engine.old_copy.due(&terminal.agent.engine.devices.gateway).is_some_and(|at| at > now));
    let (sale, answer, took) = (SaleNumber::new(1), approved(&id(1)), Duration::from_millis(700));
    terminal.agent.task_brought(TaskResult::Said { sale, said: GatewaySaid::Paid { answer, took } });
    assert_eq!(terminal.agent.engine.old_copy.due(&terminal.agent.engine.devices.gateway), Some(now));
}

#[tokio::test(start_paused = true)]
async fn terminals_that_start_together_ask_by_date_over_half_a_minute_unless_something_waits() {
    let folder = TempDir::new().unwrap();
    Terminal::start(folder.path(), "").sold(1, "till-1", 1000);
    let probed = || pos_gateway::Probed { unix_s: None, round_trip: Duration::from_millis(1) };
    let due = |terminal: &Terminal| terminal.agent.engine.old_copy.due(&terminal.agent.engine.devices.gateway).unwrap();
    let mut times = BTreeSet::new();
    for _ in 0..20 {
        let mut terminal = Terminal::start(folder.path(), "");
        terminal.agent.probed(Ok(probed()));
        let (now, at) = (terminal.agent.engine.clock.monotonic(), due(&terminal));
        assert!(at <= now + Duration::from_secs(30), "{at:?}");
        times.insert(at);
    }
    assert!(times.len() > 5, "{times:?}");
    // A refund waits for the answer, so the gateway is asked at once.
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.agent.probed(Ok(probed()));
    let mut answer = terminal.wants(refund("till-1", by_reference("till-1", 1), 400, &[Right::Refund]));
    assert!(answer.try_recv().is_err(), "it waits");
    // A question about it waits behind it.
    let (till, reference_of_it) = ("till-1".to_owned(), Reference::parse("new").unwrap());
    let (reply, mut shown) = tokio::sync::oneshot::channel();
    terminal.agent.till_asks(Command::Show { till, reference: reference_of_it, reply });
    assert!(shown.try_recv().is_err(), "it waits");
    assert!(due(&terminal) <= terminal.agent.engine.clock.monotonic());
    terminal.agent.task_brought(TaskResult::References { found: listed(vec![reference(1)]) });
    assert_eq!(answer.try_recv().unwrap().unwrap().amount, "4.00");
    assert_eq!(shown.try_recv().unwrap().unwrap().amount, "4.00");
    // If the gateway refuses, or answers too late, the till hears so. The next request does not wait.
    drop(terminal);
    Terminal::start(folder.path(), "").sold(3, "till-1", 1000);
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.agent.probed(Ok(probed()));
    let wanted = || refund("till-1", by_reference("till-1", 3), 400, &[Right::Refund]);
    let wanted = || Wanted { reference: Reference::parse("other").unwrap(), ..wanted() };
    for found in [Some(Err("not now".to_owned())), None] {
        let first = terminal.wants(wanted());
        terminal.agent.task_brought(match found {
            Some(found) => TaskResult::References { found },
            None => TaskResult::ListIsLate,
        });
        for mut answer in [first, terminal.wants(wanted())] {
            assert!(matches!(answer.try_recv().unwrap(), Err(Refused::NotReady { .. })));
        }
        drop(terminal);
        terminal = Terminal::start(folder.path(), "");
        terminal.agent.probed(Ok(probed()));
    }
    drop(terminal);
    let mut terminal = Terminal::start(folder.path(), "");
    // So does a transaction from before the start whose request may never have been sent.
    terminal.enter(4, "till-1", stored_card(), 1000, None);
    drop(terminal);
    let mut terminal = Terminal::start(folder.path(), "");
    let reversal = Action::Reverse {
        payment: PaymentId::new(id(4)),
        amount: eur(1000),
        reference: format!("{}-r1", reference(4)),
    };
    assert_eq!(terminal.may_leave(SaleNumber::new(4), reversal), None);
    terminal.agent.probed(Ok(probed()));
    assert!(due(&terminal) <= terminal.agent.engine.clock.monotonic());
}

/// Returns the references, payment ids and gateway references of other tills' transactions that a till receives.
fn strange_in(told: &impl serde::Serialize, own: &[u64], all: &[u64]) -> Vec<String> {
    let text = serde_json::to_string(told).unwrap();
    let of = |number: &u64| [format!("R{number}\""), format!("R{number} "), id(*number), reference(*number)];
    all.iter().filter(|number| !own.contains(number)).flat_map(of).filter(|strange| text.contains(strange)).collect()
}

#[tokio::test(start_paused = true)]
async fn the_status_names_a_till_its_own_sales_alone() {
    let folder = TempDir::new().unwrap();
    let before = || Operation::Refund { of: in_journal(1) };
    {
        let mut terminal = Terminal::start(folder.path(), "");
        terminal.sold(1, "till-1", 1000);
        terminal.enter(2, "till-1", before(), 100, Some(lost()));
        terminal.enter(3, "till-2", stored_card(), 1000, Some(lost()));
        terminal.enter(4, "till-2", stored_card(), 1000, None);
    }
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.agent.catch_up();
    // The other till also has a sale at the reader, and one that waits for its signature.
    let order = Order {
        operation: Operation::Sale,
        ..terminal.agent.engine.sales.get(SaleNumber::new(4)).unwrap().sale().order().clone()
    };
    for (number, reference) in [(5, "R5"), (6, "R6")] {
        let order =
            Order { number: SaleNumber::new(number), reference: Reference::parse(reference).unwrap(), ..order.clone() };
        let (mut sale, first) = Transaction::begin(order);
        let _ = terminal.agent.engine.journal.write(|book| pos_core::book::commit(book, 0, &mut sale, first)).unwrap();
        terminal.agent.engine.sales.open.insert(SaleNumber::new(number), OpenTransaction::new(sale, Duration::ZERO));
    }
    terminal.agent.engine.devices.reader.in_use_by = Some(SaleNumber::new(5));
    let all = [1, 2, 3, 4, 5, 6];
    let everything = terminal.agent.status(|_| true);
    assert_eq!(everything.unconfirmed.len(), 3, "{everything:?}");
    assert!(
        everything.current.is_some() && everything.attention.iter().any(|one| one.text.contains("R3 of till till-2"))
    );
    for (till, own, unconfirmed) in [("till-1", &[1, 2][..], 1), ("till-2", &[3, 4, 5, 6], 2), ("till-3", &[], 0)] {
        let status = terminal.agent.status(|one| one == till);
        assert_eq!(strange_in(&status, own, &all), [""; 0], "{till}: {status:?}");
        assert_eq!((status.unconfirmed.len(), status.current.is_some()), (unconfirmed, till == "till-2"), "{till}");
        // Faults of the terminal are visible to every till.
        assert!(status.needs(till::Attention::ReaderOpening), "{status:?}");
        assert_eq!(
            status.attention.iter().filter(|one| one.code == till::Attention::SaleUnconfirmed).count(),
            unconfirmed,
            "{status:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_all_tills_hear_names_no_sale() {
    let folder = TempDir::new().unwrap();
    {
        let mut before = Terminal::start(folder.path(), "");
        before.sold(1, "till-1", 1000);
        before.enter(2, "till-1", stored_card(), 1000, None);
    }
    let mut terminal = Terminal::start(folder.path(), "");
    let mut heard = terminal.agent.engine.teller.progress().listen();
    for sale in [1, 2, 99] {
        let why = "out of paper".to_owned();
        let slip = pos_printer::Slip::Receipt { sale: SaleNumber::new(sale), copy: ReceiptCopy::Merchant };
        terminal.agent.printer_says(pos_printer::PrinterEvent::Waits { slip, why: why.clone() });
        terminal.agent.printer_says(pos_printer::PrinterEvent::Failed { slip, why });
    }
    terminal.agent.catch_up();
    terminal.agent.engine.references_listed(listed(vec![reference(1), reference(7)]));
    let mut words = Vec::new();
    while let Some(Ok(step)) = heard.try_next() {
        let strange = if step.till == "till-1" { Vec::new() } else { strange_in(&**step, &[], &[1, 2, 7]) };
        assert_eq!(strange, [""; 0], "{step:?}");
        assert!(!step.till.is_empty() || !step.text.contains("sale "), "{step:?}");
        words.push((step.till.clone(), step.reference.clone(), step.step.clone()));
    }
    let word = |till: &str, reference: &str, step: &str| (till.to_owned(), reference.to_owned(), step.to_owned());
    for reference in ["R1", "R2"] {
        assert!(words.contains(&word("till-1", reference, "printer-waits")), "{words:?}");
        assert!(words.contains(&word("till-1", reference, "printer-failed")), "{words:?}");
    }
    assert!(words.contains(&word("", "", "alarm")), "that the journal is an old copy: {words:?}");
}

#[tokio::test(start_paused = true)]
async fn a_till_hears_of_another_tills_sale_neither_its_reference_nor_its_payment() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.sold(1, "till-1", 1000);
    // Another till, which has the right, refunds the sale.
    terminal.refunded(2, "till-2", in_journal(1), 300);
    let (_, view) = terminal.agent.engine.facts().find("till-2", &Reference::parse("R2").unwrap()).unwrap();
    assert_eq!(view.of.as_deref(), Some("number 1"));
    terminal.refunded(3, "till-1", in_journal(1), 200);
    let (_, view) = terminal.agent.engine.facts().find("till-1", &Reference::parse("R3").unwrap()).unwrap();
    assert_eq!(view.of.as_deref(), Some("R1"));
    let of = EarlierName::Number(SaleNumber::new(1));
    let wish = wish(WishFields { of: Some(of.clone()), amount: Some(eur(1)), ..WishFields::new(Kind::Capture) });
    let again = Wanted { wish, ..refund("till-2", of, 1, &[Right::AnyTill]) };
    let refused = terminal.may(&again).unwrap_err();
    assert!(!refused.contains("R1") && !refused.contains(&id(1)), "{refused}");
    // The answer has the id of another transaction's payment.
    terminal.enter(4, "till-2", stored_card(), 1000, None);
    let Answer::NotOurs { why } = terminal.owner(SaleNumber::new(4)).answer(approved(&id(1))) else {
        panic!("it was taken")
    };
    assert_eq!(why, transaction::Reason::AnotherPaymentAnswered.into());
    let other = transaction::ListedTransaction {
        id: PaymentId::new(id(1)),
        payment_type: "DB".to_owned(),
        amount: ApprovedAmount::Said(eur(1000)),
        state: transaction::ListedState::Approved,
        reference: None,
        refers_to: None,
    };
    let reversal = ReversalAnswer::Done { id: PaymentId::new(id(1)), amount: ApprovedAmount::NotSaid };
    let ReversalAnswer::Unknown { why } = terminal.owner(SaleNumber::new(4)).reversal(reversal) else {
        panic!("it was taken")
    };
    assert_eq!(why, transaction::Reason::AnotherPaymentAnswered.into());
    drop(terminal);
    // An open transaction is looked up.
    let terminal = Terminal::start(folder.path(), "");
    let Inquiry::CannotAsk { why } = terminal.owner(SaleNumber::new(4)).inquiry(Inquiry::Payments(vec![other])) else {
        panic!("it was taken")
    };
    assert_eq!(why, transaction::Reason::AnotherPaymentAnswered.into());
    // The reader is busy with another till's sale.
    let busy = || Refused::Busy { till: "till-1".to_owned(), reference: Reference::parse("R9").unwrap() };
    assert!(!busy().told_to(|till| till == "till-2").to_string().contains("R9"));
    assert!(busy().told_to(|till| till == "till-1").to_string().contains("R9"));
}

#[tokio::test(start_paused = true)]
async fn the_greatest_amount_limits_what_is_charged_and_nothing_that_is_taken_or_given_back() {
    let folder = TempDir::new().unwrap();
    {
        let mut terminal = Terminal::start(folder.path(), "");
        terminal.sold(1, "till-1", 2000);
        terminal.sold(2, "till-1", 2000);
        let registration = "f".repeat(32);
        let reserved = Operation::PreAuthorisationByRegistration { registration };
        terminal.enter(3, "till-1", reserved, 2000, Some(approved(&id(3))));
    }
    let mut terminal = Terminal::start(folder.path(), "max-amount = \"5.00\"");
    terminal.with_reader();
    terminal.agent.engine.references_listed(listed((1..=3).map(reference).collect()));
    let mut begin = |name: &str, transaction| {
        let reference = Reference::parse(name).unwrap();
        let wanted = refund("till-1", by_reference("till-1", 1), 2000, &[]);
        terminal.agent.engine.begin(Wanted { reference, wish: transaction, ..wanted }).map(|view| view.amount)
    };
    let amount = Some(eur(2000));
    let of = |number| by_reference("till-1", number);
    for (name, transaction) in [
        ("refund", wish(WishFields { of: Some(of(1)), amount, ..WishFields::new(Kind::Refund) })),
        ("reversal", wish(WishFields { of: Some(of(2)), amount, ..WishFields::new(Kind::Reversal) })),
        ("capture", wish(WishFields { of: Some(of(3)), amount, ..WishFields::new(Kind::Capture) })),
    ] {
        assert_eq!(begin(name, transaction).unwrap(), "20.00", "{name}");
    }
    let sale = |minor| {
        wish(WishFields {
            amount: Some(eur(minor)),
            tip: None,
            entry: None,
            accept_partial: Some(false),
            till_confirms: None,
            ..WishFields::new(Kind::Sale)
        })
    };
    let refused = begin("above", sale(501));
    assert!(matches!(&refused, Err(Refused::Amount { why }) if why.to_string().contains("max-amount")), "{refused:?}");
    assert_eq!(begin("sale", sale(500)).unwrap(), "5.00");
}

/// The shop is responsible for how a stored card is authenticated, so a till needs a right to state the method.
#[tokio::test(start_paused = true)]
async fn without_the_right_no_till_says_how_a_stored_card_is_authenticated() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    let wanted = |parameters: serde_json::Value, rights: &[Right]| {
        let registration = Some("f".repeat(32));
        let fields = WishFields { registration, amount: Some(eur(1000)), ..WishFields::new(Kind::ByRegistration) };
        let parameters = parameters.as_object().unwrap().clone();
        Wanted { wish: wish(fields), parameters, ..refund("till-1", by_reference("till-1", 1), 1, rights) }
    };
    let disabled = serde_json::json!({"threeDSecure.disable": true});
    let refused = terminal.agent.engine.begin(wanted(disabled.clone(), &[Right::Sale])).unwrap_err().to_string();
    assert!(refused.contains("the right three-d-secure to state how a stored card is authenticated"), "{refused}");
    let with_right = [Right::Sale, Right::ThreeDSecure];
    let begun = terminal.agent.engine.begin(wanted(disabled, &with_right));
    assert!(!matches!(begun, Err(Refused::Denied(_) | Refused::Parameter { .. })), "{begun:?}");
    let holder = serde_json::json!({"overrideHolder": true, "card": {"holder": "Ada Poe"}});
    let begun = terminal
        .agent
        .engine
        .begin(Wanted { reference: Reference::parse("R2").unwrap(), ..wanted(holder, &[Right::Sale]) });
    assert!(!matches!(begun, Err(Refused::Denied(_) | Refused::Parameter { .. })), "{begun:?}");
}
