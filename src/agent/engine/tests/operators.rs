//! Tests of operators in a terminal with virtual time: sessions that lock, PINs that wait, counters that are written
//! first, and commands that a supervisor must confirm.

use std::fs;

use tokio::sync::oneshot;
use zeroize::Zeroizing;

use super::*;
use crate::operator_secrets::digest_of_token;
use crate::till::{OperatorCommand, OperatorRefused, Presence, SessionView, SignedIn};
use pos_core::counter::{Pin, PinDigest, Role, TokenDigest, TryKey};
use pos_core::wish::WishFields;
use pos_journal::{KeptOperator, OperatorChange};
use pos_terms::transaction::OperatorName;

const PIN: &str = "862435";

fn name(text: &str) -> OperatorName {
    OperatorName::parse(text).unwrap()
}

fn pin(digits: &str) -> Pin {
    Pin::parse(Zeroizing::new(digits.to_owned())).unwrap()
}

fn till(n: u32) -> Who {
    Who { token: Some(format!("till-{n}")), ..Who::default() }
}

/// The answer to a command, if there is one yet.
type Heard<T> = oneshot::Receiver<Result<T, Refused>>;

impl Terminal {
    /// Waits for the result of a thread and handles it.
    async fn reckoned(&mut self) {
        let brought = self.ends.tasks.recv().await.unwrap();
        self.agent.task_brought(brought);
    }

    async fn add(&mut self, text: &str, role: Role) {
        let (reply, added) = oneshot::channel();
        let by = Caller::root(0);
        self.agent.engine.operators.asked(
            &mut self.agent.engine.journal,
            OperatorCommand::Add { name: name(text), role, pin: pin(PIN), by, reply },
        );
        self.reckoned().await;
        added.await.unwrap().unwrap();
    }

    fn try_pin(&mut self, text: &str, digits: &str, from: Who) -> Heard<SessionView> {
        let (reply, heard) = oneshot::channel();
        self.agent.engine.operators.asked(
            &mut self.agent.engine.journal,
            OperatorCommand::SignIn { name: name(text), pin: pin(digits), from, place: None, reply },
        );
        heard
    }

    async fn sign_in(&mut self, text: &str, from: Who) -> TokenDigest {
        let heard = self.try_pin(text, PIN, from);
        self.reckoned().await;
        digest_of_token(heard.await.unwrap().unwrap().session.as_bytes())
    }

    fn whose(&mut self, token: TokenDigest, commands: bool) -> Result<SignedIn, Refused> {
        let (reply, mut heard) = oneshot::channel();
        self.agent
            .engine
            .operators
            .asked(&mut self.agent.engine.journal, OperatorCommand::Session { token, from: till(1), commands, reply });
        heard.try_recv().unwrap()
    }

    fn tries(&self, key: &TryKey) -> u32 {
        self.agent.engine.journal.book().pin_tries().unwrap().get(key).copied().unwrap_or_default()
    }
}

fn refused<T: std::fmt::Debug>(mut heard: Heard<T>) -> Refused {
    heard.try_recv().unwrap().unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn a_session_locks_when_nothing_is_commanded_and_goes_on_when_something_is() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.add("Anna", Role::Cashier).await;
    let token = terminal.sign_in("Anna", till(1)).await;
    let advance = |seconds| tokio::time::advance(Duration::from_secs(seconds));
    advance(200).await;
    assert_eq!(terminal.whose(token, true), Ok(SignedIn { name: name("Anna"), role: Role::Cashier }));
    advance(200).await;
    assert!(terminal.whose(token, false).is_ok(), "200 s after the last command");
    advance(101).await;
    let ended = Refused::Operator(OperatorRefused::SessionEnded);
    assert_eq!(terminal.whose(token, true), Err(ended), "a look had not kept it open");
}

#[tokio::test(start_paused = true)]
async fn a_try_is_on_the_disk_before_the_pin_is_looked_at_and_forgiven_after_a_right_one() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.add("Anna", Role::Cashier).await;
    let (anna, from) = (TryKey::operator(&name("Anna")), TryKey::caller(&till(1)));
    for tries in 1..=5 {
        let heard = terminal.try_pin("Anna", "110395", till(1));
        assert_eq!((terminal.tries(&anna), terminal.tries(&from)), (tries, tries), "before the answer");
        terminal.reckoned().await;
        assert_eq!(refused(heard), Refused::Operator(OperatorRefused::WrongPin));
    }
    let locked = refused(terminal.try_pin("Anna", PIN, till(1)));
    let wait = Duration::from_secs(30);
    assert_eq!(locked, Refused::Operator(OperatorRefused::Locked { wait }));
    assert_eq!(terminal.tries(&anna), 5, "what is not looked at is not counted");
    // After a restart, the whole wait applies again, whatever the board's clock shows.
    drop(terminal);
    let mut terminal = Terminal::start(folder.path(), "");
    tokio::time::advance(Duration::from_secs(29)).await;
    let locked = refused(terminal.try_pin("ANNA", PIN, till(2)));
    assert_eq!(locked, Refused::Operator(OperatorRefused::Locked { wait: Duration::from_secs(1) }));
    tokio::time::advance(Duration::from_secs(1)).await;
    let heard = terminal.try_pin("Anna", PIN, till(1));
    assert_eq!(terminal.tries(&anna), 6, "counted all the same");
    terminal.reckoned().await;
    assert_eq!(heard.await.unwrap().unwrap().wrong_before, 5);
    assert_eq!((terminal.tries(&anna), terminal.tries(&from)), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_pin_that_cannot_be_counted_is_not_looked_at() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.add("Anna", Role::Cashier).await;
    let file = rusqlite::Connection::open(folder.path().join("journal.db")).unwrap();
    file.execute_batch("CREATE TRIGGER full BEFORE INSERT ON pin_try BEGIN SELECT raise(ABORT, 'disk full'); END")
        .unwrap();
    let told = refused(terminal.try_pin("Anna", PIN, till(1)));
    assert!(matches!(told, Refused::Journal { .. }), "{told:?}");
    assert!(terminal.ends.tasks.try_recv().is_err(), "nothing was reckoned");
    file.execute_batch("DROP TRIGGER full").unwrap();
    terminal.sign_in("Anna", till(1)).await;
}

#[tokio::test(start_paused = true)]
async fn one_pin_is_looked_at_at_a_time_one_waits_for_each_door_and_only_some_in_all() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.add("Anna", Role::Cashier).await;
    let mut heard = vec![terminal.try_pin("Anna", PIN, till(1)), terminal.try_pin("Anna", PIN, till(1))];
    assert_eq!(refused(terminal.try_pin("Anna", PIN, till(1))), Refused::Operator(OperatorRefused::PinUnderWay));
    heard.extend((2..=8).map(|n| terminal.try_pin("Anna", PIN, till(n))));
    assert_eq!(refused(terminal.try_pin("Anna", PIN, till(9))), Refused::Operator(OperatorRefused::PinUnderWay));
    let anna = TryKey::operator(&name("Anna"));
    for heard in heard {
        assert_eq!(terminal.tries(&anna), 1, "those that wait are not begun");
        terminal.reckoned().await;
        assert!(heard.await.unwrap().is_ok());
    }
    assert!(terminal.ends.tasks.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_supervisor_confirms_what_an_earlier_day_took() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.add("Ben", Role::Supervisor).await;
    // `enter` gives the transaction a different day from the board's.
    terminal.sold(1, "till-1", 1000);
    let mut wanted = refund("till-1", by_reference("till-1", 1), 1000, &[]);
    wanted.wish =
        wish(WishFields { of: Some(by_reference("till-1", 1)), amount: None, ..WishFields::new(Kind::Reversal) });
    let present = |approval| {
        let operator = Some(SignedIn { name: name("Anna"), role: Role::Cashier });
        Presence { required: true, operator, approval }
    };
    let caller = wanted.caller.clone();
    wanted.caller = caller.with(present(None));
    let (transaction, amount) = terminal.agent.engine.known().transaction_and_amount(&wanted).unwrap();
    let author = |terminal: &Terminal, wanted: &Wanted| {
        terminal.agent.engine.operators.confirmed_author(
            terminal.agent.engine.journal.book(),
            wanted,
            &transaction,
            amount,
        )
    };
    let refused = author(&terminal, &wanted).unwrap_err();
    assert!(matches!(refused, Refused::Operator(OperatorRefused::SupervisorNeeded { .. })), "{refused:?}");
    let (reply, given) = oneshot::channel();
    let (asked, from) = (Box::new(wanted.clone()), caller.who().without_person());
    let (ben, digits) = (name("Ben"), pin(PIN));
    terminal.agent.engine.operators.asked(
        &mut terminal.agent.engine.journal,
        OperatorCommand::Approve { name: ben, pin: digits, wanted: asked, from, place: None, reply },
    );
    terminal.reckoned().await;
    let given = given.await.unwrap().unwrap();
    let number = Some(SaleNumber::new(1));
    assert_eq!((given.command.number, given.command.amount.as_str()), (number, "10.00"), "as it was resolved");
    let approval = digest_of_token(given.approval.as_bytes());
    wanted.caller = caller.with(present(Some(approval)));
    let who = author(&terminal, &wanted).unwrap();
    assert_eq!(who.to_string(), "the token of till till-1, operator Anna, supervisor Ben");
    // The approval does not cover another transaction with the same amount.
    terminal.sold(2, "till-1", 1000);
    let other = Wanted {
        wish: wish(WishFields { of: Some(by_reference("till-1", 2)), amount: None, ..WishFields::new(Kind::Reversal) }),
        ..wanted.clone()
    };
    let (another, amount) = terminal.agent.engine.known().transaction_and_amount(&other).unwrap();
    let refused = terminal
        .agent
        .engine
        .operators
        .confirmed_author(terminal.agent.engine.journal.book(), &other, &another, amount)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("for VOID 10.00 EUR, transaction 1, reference"), "{refused}");
    tokio::time::advance(Duration::from_secs(119)).await;
    assert!(author(&terminal, &wanted).is_ok(), "it stays good for its own");
    tokio::time::advance(Duration::from_secs(1)).await;
    let late = author(&terminal, &wanted).unwrap_err();
    assert!(matches!(late, Refused::Operator(OperatorRefused::NotApproved { .. })), "{late:?}");
}

/// An event between a supervisor's approval and the command.
#[derive(Clone, Copy, Debug)]
enum Between {
    Nothing,
    Removed(&'static str),
    /// The operator was removed, and added again in this role.
    AddedAgain(&'static str, Role),
    /// The operator's PIN was set, to the same one or another.
    PinSet(&'static str),
    SignsOut(&'static str),
    RunsOut(&'static str),
    Locked(&'static str),
    Unlocked(&'static str),
}

impl Terminal {
    /// Lets Ben approve Anna's command, and returns the approval.
    async fn word_of_ben(&mut self, wanted: &Wanted) -> TokenDigest {
        let (reply, given) = oneshot::channel();
        let (wanted, from) = (Box::new(wanted.clone()), wanted.caller.who().without_person());
        let (name, pin) = (name("Ben"), pin(PIN));
        self.agent.engine.operators.asked(
            &mut self.agent.engine.journal,
            OperatorCommand::Approve { name, pin, wanted, from, place: None, reply },
        );
        self.reckoned().await;
        digest_of_token(given.await.unwrap().unwrap().approval.as_bytes())
    }

    fn remove(&mut self, text: &str) {
        let (reply, mut removed) = oneshot::channel();
        self.agent.engine.operators.asked(
            &mut self.agent.engine.journal,
            OperatorCommand::Remove { name: name(text), by: Caller::root(0), reply },
        );
        removed.try_recv().unwrap().unwrap();
    }

    async fn happens(&mut self, between: Between, session: Option<TokenDigest>) {
        match between {
            Between::Nothing => {}
            Between::Removed(who) => self.remove(who),
            Between::AddedAgain(who, role) => {
                self.remove(who);
                self.add(who, role).await;
            }
            Between::PinSet(who) => {
                let (reply, set) = oneshot::channel();
                let (name, by) = (name(who), Caller::root(0));
                self.agent
                    .engine
                    .operators
                    .asked(&mut self.agent.engine.journal, OperatorCommand::SetPin { name, pin: pin(PIN), by, reply });
                self.reckoned().await;
                set.await.unwrap().unwrap();
            }
            Between::SignsOut(_) => {
                let (reply, mut signed_out) = oneshot::channel();
                let (token, from) = (session.unwrap(), till(1));
                self.agent
                    .engine
                    .operators
                    .asked(&mut self.agent.engine.journal, OperatorCommand::SignOut { token, from, reply });
                signed_out.try_recv().unwrap().unwrap();
            }
            Between::RunsOut(_) => {
                tokio::time::advance(Duration::from_secs(60)).await;
                assert!(self.whose(session.unwrap(), false).is_err(), "it has run out");
            }
            Between::Locked(who) => {
                for _ in 0..5 {
                    let heard = self.try_pin(who, "110395", till(3));
                    self.reckoned().await;
                    assert_eq!(refused(heard), Refused::Operator(OperatorRefused::WrongPin));
                }
                let locked = refused(self.try_pin(who, PIN, till(4)));
                assert!(matches!(locked, Refused::Operator(OperatorRefused::Locked { .. })), "{locked:?}");
            }
            Between::Unlocked(who) => {
                let (reply, mut unlocked) = oneshot::channel();
                self.agent.engine.operators.asked(
                    &mut self.agent.engine.journal,
                    OperatorCommand::Unlock { name: name(who), by: Caller::root(0), reply },
                );
                unlocked.try_recv().unwrap().unwrap();
            }
        }
    }
}

/// Checks the rows of the table in `counter/approvals.rs`.
#[tokio::test(start_paused = true)]
async fn a_word_ends_with_the_one_who_gave_it_and_with_the_one_who_got_it() {
    let settings = "[operators]\nidle-lock-s = 60\n[gateway.assumptions]\nquery-by-date = false\n";
    let staffed = TempDir::new().unwrap();
    {
        let mut terminal = Terminal::start(staffed.path(), "");
        terminal.sold(1, "till-1", 1000);
        for (who, role) in [("Anna", Role::Cashier), ("Ben", Role::Supervisor), ("Dora", Role::Supervisor)] {
            terminal.add(who, role).await;
        }
    }
    for (between, is_good) in [
        (Between::Nothing, true),
        (Between::Removed("Ben"), false),
        (Between::Removed("Anna"), false),
        (Between::Removed("Dora"), true),
        (Between::AddedAgain("Ben", Role::Supervisor), false),
        (Between::AddedAgain("Ben", Role::Cashier), false),
        (Between::AddedAgain("Anna", Role::Cashier), false),
        (Between::PinSet("Ben"), false),
        (Between::PinSet("Anna"), false),
        (Between::PinSet("Dora"), true),
        (Between::SignsOut("Ben"), false),
        (Between::SignsOut("Anna"), true),
        (Between::SignsOut("Dora"), true),
        (Between::RunsOut("Ben"), true),
        (Between::Locked("Ben"), true),
        (Between::Unlocked("Ben"), true),
    ] {
        let folder = copy_of(&staffed);
        let mut terminal = Terminal::start(folder.path(), settings);
        let session = match between {
            Between::SignsOut(who) | Between::RunsOut(who) => Some(terminal.sign_in(who, till(1)).await),
            _ => None,
        };
        let present = |approval| {
            let operator = Some(SignedIn { name: name("Anna"), role: Role::Cashier });
            Presence { required: true, operator, approval }
        };
        let mut wanted = refund("till-1", by_reference("till-1", 1), 1000, &[]);
        let caller = wanted.caller.clone();
        wanted.caller = caller.with(present(None));
        let word = terminal.word_of_ben(&wanted).await;
        terminal.happens(between, session).await;
        wanted.caller = caller.with(present(Some(word)));
        let (transaction, amount) = terminal.agent.engine.known().transaction_and_amount(&wanted).unwrap();
        let supervisor = terminal
            .agent
            .engine
            .operators
            .confirmed_author(terminal.agent.engine.journal.book(), &wanted, &transaction, amount)
            .map(|who| who.supervisor);
        match is_good {
            true => {
                assert_eq!(supervisor, Ok(Some(name("Ben"))), "{between:?}");
                let begun = terminal.wants(wanted.clone()).try_recv().unwrap();
                assert!(begun.is_ok(), "{between:?}: {begun:?}");
                let again = terminal.agent.engine.operators.confirmed_author(
                    terminal.agent.engine.journal.book(),
                    &wanted,
                    &transaction,
                    amount,
                );
                let used = matches!(again, Err(Refused::Operator(OperatorRefused::NotApproved { .. })));
                assert!(used, "{between:?}: a word is used once: {again:?}");
            }
            false => assert!(
                matches!(supervisor, Err(Refused::Operator(OperatorRefused::NotApproved { .. }))),
                "{between:?}: {supervisor:?}"
            ),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_the_key_of_the_pins_nobody_signs_in_and_the_list_says_whose_pin_is_to_be_set() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    terminal.add("Anna", Role::Cashier).await;
    drop(terminal);
    fs::remove_file(folder.path().join("journal.db.pin-key")).unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    let heard = terminal.try_pin("Anna", PIN, till(1));
    terminal.reckoned().await;
    assert_eq!(refused(heard), Refused::Operator(OperatorRefused::WrongPin));
    let listed = |terminal: &mut Terminal| {
        let (reply, mut heard) = oneshot::channel();
        terminal.agent.engine.operators.asked(&mut terminal.agent.engine.journal, OperatorCommand::List { reply });
        heard.try_recv().unwrap().operators
    };
    terminal.add("Ben", Role::Cashier).await;
    let operators = listed(&mut terminal);
    assert_eq!((operators[0].needs_pin, operators[1].needs_pin), (true, false), "{operators:?}");
    let (reply, set) = oneshot::channel();
    let (anna, by) = (name("Anna"), Caller::root(0));
    terminal.agent.engine.operators.asked(
        &mut terminal.agent.engine.journal,
        OperatorCommand::SetPin { name: anna, pin: pin("551902"), by, reply },
    );
    terminal.reckoned().await;
    assert!(!set.await.unwrap().unwrap().needs_pin);
    let heard = terminal.try_pin("Anna", "551902", till(1));
    terminal.reckoned().await;
    assert!(heard.await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn there_are_no_more_operators_than_a_shop_has() {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    for n in 0..200 {
        let kept = KeptOperator { name: name(&format!("No {n}")), role: Role::Cashier, pin: PinDigest::of_nobody() };
        terminal.agent.engine.journal.change_operator(&OperatorChange::Added(kept), &till(1), 0).unwrap();
    }
    drop(terminal);
    let mut terminal = Terminal::start(folder.path(), "");
    let (reply, added) = oneshot::channel();
    let by = Caller::root(0);
    let add = OperatorCommand::Add { name: name("Anna"), role: Role::Cashier, pin: pin(PIN), by, reply };
    terminal.agent.engine.operators.asked(&mut terminal.agent.engine.journal, add);
    assert_eq!(refused(added), Refused::Operator(OperatorRefused::TooMany { most: 200 }));
    let (reply, mut removed) = oneshot::channel();
    terminal.agent.engine.operators.asked(
        &mut terminal.agent.engine.journal,
        OperatorCommand::Remove { name: name("no 7"), by: Caller::root(0), reply },
    );
    removed.try_recv().unwrap().unwrap();
    terminal.add("Anna", Role::Cashier).await;
}

/// A tip that the customer types counts towards the supervisor's limit, like a tip that the till gives.
#[tokio::test(start_paused = true)]
async fn a_typed_tip_does_not_pass_the_limit_above_which_a_supervisor_confirms() {
    for (role, tip, is_charged) in
        [(Role::Cashier, 500, true), (Role::Cashier, 501, false), (Role::Supervisor, 501, true)]
    {
        let folder = TempDir::new().unwrap();
        let mut terminal = Terminal::start(folder.path(), "[operators.supervisor-above]\nsale = \"20.00\"\n");
        terminal.add("Anna", role).await;
        let operator = Some(SignedIn { name: name("Anna"), role });
        let caller = Caller::root(0).with(Presence { required: true, operator, approval: None });
        let tip_to_ask = Some(pos_core::wish::WantedTip::Ask);
        let wish = wish(WishFields {
            amount: Some(eur(1500)),
            tip: tip_to_ask,
            entry: None,
            accept_partial: Some(false),
            till_confirms: None,
            ..WishFields::new(Kind::Sale)
        });
        let mut wanted = refund("till-1", EarlierName::Number(SaleNumber::new(1)), 1500, &[]);
        (wanted.wish, wanted.caller) = (wish, caller);
        terminal.with_reader();
        let begun = terminal.agent.engine.begin(wanted).unwrap();
        let typed = pos_reader::ReaderEvent::Typed { sale: begun.number, amount: Ok(Some(eur(tip))) };
        terminal.agent.engine.reader_says(typed);
        terminal.agent.catch_up();
        let view = terminal.agent.engine.facts().find("till-1", &begun.reference).unwrap().1;
        let refused = (Some(OutcomeWord::Cancelled), Some("tip-not-possible"));
        let expected = if is_charged { (None, None) } else { refused };
        assert_eq!((view.outcome, view.reason.as_deref()), expected, "{role:?} {tip}: {view:?}");
    }
}
