//! Tests of a close of day with transactions in the journal that this program cannot read. A later version of the
//! program wrote them, or they are damaged. Each close lists them without counting them, and the first close that can
//! read them counts them once.

use std::collections::BTreeMap;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::*;
use crate::till::{CloseAsked, CloseView};
use pos_core::counter::{Close, OpenKind};

fn usd(minor: u64) -> Amount {
    Amount::from_minor(minor, Currency::from_code("USD").unwrap()).unwrap()
}

fn reserved() -> Operation {
    Operation::PreAuthorisationByRegistration { registration: "f".repeat(32) }
}

/// The direction of the money, as seen by the shop.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Taken,
    Given,
    Neither,
}
use Way::{Given, Neither, Taken};

/// Returns the transactions that have ended, with number, till, operation, amount, and direction of the money.
fn ended() -> [(u64, &'static str, Operation, Amount, Way); 8] {
    let of = in_journal;
    [
        (1, "till-1", stored_card(), eur(1000), Taken),
        (2, "till-2", stored_card(), usd(2000), Taken),
        (3, "till-1", Operation::Refund { of: of(1) }, eur(400), Given),
        (4, "till-2", Operation::Reversal { of: of(2) }, usd(500), Given),
        (5, "till-1", reserved(), eur(7000), Neither),
        (6, "till-1", Operation::Capture { of: of(5) }, eur(3000), Taken),
        (7, "till-2", reserved(), usd(9000), Neither),
        (8, "till-2", Operation::Reversal { of: of(7) }, usd(4000), Neither),
    ]
}

/// Returns the open items of a close if everything can be read: a capture and a sale without an answer, and the rest of
/// three reservations. The rest of the last reservation is not known yet.
fn open_at_all_times() -> Vec<Named> {
    vec![
        named(OpenKind::Unconfirmed, 10, Some("50.00 EUR")),
        named(OpenKind::Unconfirmed, 11, Some("3.00 USD")),
        named(OpenKind::PreAuthorisation, 5, Some("40.00 EUR")),
        named(OpenKind::PreAuthorisation, 7, Some("50.00 USD")),
        named(OpenKind::PreAuthorisation, 9, Some("50.00 EUR")),
    ]
}

/// The reason why an item is open, its number, and its amount.
type Named = (OpenKind, u64, Option<String>);

fn named(is: OpenKind, number: u64, amount: Option<&str>) -> Named {
    (is, number, amount.map(str::to_owned))
}

fn names(close: &Close) -> Vec<Named> {
    let amount =
        |item: &pos_core::counter::OpenItem| Some(format!("{} {}", item.amount.as_ref()?, item.currency.as_ref()?));
    close.open.iter().map(|item| (item.is, item.number.get(), amount(item))).collect()
}

/// The count and sum for each kind and currency, and the amounts taken and given for each currency.
#[derive(Debug, Default, PartialEq)]
struct Counted {
    kinds: BTreeMap<(&'static str, String), (u64, String)>,
    net: BTreeMap<String, (u64, String, String)>,
}

fn counted(close: &Close) -> Counted {
    assert!(close.of_unknown.is_empty(), "this journal has the original of every reversal: {:?}", close.of_unknown);
    let kinds = close.kinds.iter().map(|sum| ((sum.kind.as_str(), sum.currency.clone()), (sum.count, sum.sum.clone())));
    let net = close.net.iter().map(|one| (one.currency.clone(), (one.count, one.taken.clone(), one.given.clone())));
    Counted { kinds: kinds.collect(), net: net.collect() }
}

/// Calculates the sums of the selected [`ended`] transactions.
fn sums_of(is_meant: impl Fn(u64) -> bool) -> Counted {
    let (mut kinds, mut net) = (BTreeMap::<_, (u64, u64)>::new(), BTreeMap::<_, (u64, u64, u64)>::new());
    for (_, _, transaction, amount, way) in ended().into_iter().filter(|row| is_meant(row.0)) {
        let currency = amount.currency().code().to_owned();
        let sum = kinds.entry((transaction.kind().as_str(), currency.clone())).or_default();
        *sum = (sum.0 + 1, sum.1 + amount.minor());
        if way == Neither {
            continue;
        }
        let (count, taken, given) = net.entry(currency).or_default();
        *count += 1;
        *(if way == Taken { taken } else { given }) += amount.minor();
    }
    let text = |minor: u64| format!("{}.{:02}", minor / 100, minor % 100);
    Counted {
        kinds: kinds.into_iter().map(|(of, (count, minor))| (of, (count, text(minor)))).collect(),
        net: net.into_iter().map(|(of, (count, taken, given))| (of, (count, text(taken), text(given)))).collect(),
    }
}

/// The ways to make a transaction unreadable. `?1` is the transaction's first step.
const WAYS: [(&str, &str); 7] = [
    (
        "a later program added to it",
        "INSERT INTO step(id, sale, unix_ms, records) VALUES (?1 + 3, ?1 >> 20, 0, '[{\"kind\":\"teleported\"}]')",
    ),
    ("a later program sent it", "UPDATE step SET records = '[{\"kind\":\"teleported\"}]' WHERE id = ?1 + 1"),
    (
        "a later program ended it",
        "UPDATE step SET records = replace(records, '{\"kind\":\"ended\"',
         '{\"kind\":\"teleported\"},{\"kind\":\"ended\"') WHERE id = ?1 + 2",
    ),
    ("its beginning is damaged", "UPDATE step SET records = substr(records, 2) WHERE id = ?1"),
    ("its end is damaged", "UPDATE step SET records = substr(records, 1, length(records) - 1) WHERE id = ?1 + 2"),
    (
        "the word of its end is damaged",
        "UPDATE step SET records = replace(records, '\"ended\"', '\"ended.') WHERE id = ?1 + 2",
    ),
    ("its end is no text", "UPDATE step SET records = x'FFFE00' WHERE id = ?1 + 2"),
];

/// The journal's file, as another program sees it.
struct File(Connection);

impl File {
    fn of(folder: &Path) -> Self {
        Self(Connection::open(folder.join("journal.db")).unwrap())
    }

    /// Makes a transaction unreadable, and returns the rows that restore it.
    fn spoil(&self, number: u64, way: &str) -> Vec<(i64, String)> {
        let first = i64::try_from(number << 20).unwrap();
        let mut select = self.0.prepare("SELECT id, records FROM step WHERE id >= ?1 AND id < ?1 + (1 << 20)").unwrap();
        let rows = select.query_map([first], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let before = rows.collect::<Result<Vec<_>, _>>().unwrap();
        assert_eq!(before.len(), 3, "begun, sent, ended");
        assert_eq!(self.0.execute(way, [first]).unwrap(), 1, "{way}");
        before
    }

    fn mend(&self, before: &[(i64, String)]) {
        self.0.execute("DELETE FROM step WHERE id = ?1", [before[2].0 + 1]).unwrap();
        for (id, records) in before {
            self.0.execute("UPDATE step SET records = ?2 WHERE id = ?1", rusqlite::params![id, records]).unwrap();
        }
    }
}

/// Writes the journal of one day in a shop.
fn a_day() -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut terminal = Terminal::start(folder.path(), "");
    let mut enter = |number, till: &str, transaction, amount: Amount, answer| {
        let order = Order { amount, ..terminal.order(number, till, transaction, 1) };
        terminal.enter_order(order, Some(answer));
    };
    for (number, till, transaction, amount, _) in ended() {
        enter(number, till, transaction, amount, approved(&id(number)));
    }
    enter(9, "till-1", reserved(), eur(5000), approved(&id(9)));
    enter(10, "till-1", Operation::Capture { of: in_journal(9) }, eur(5000), lost());
    enter(11, "till-2", stored_card(), usd(300), lost());
    drop(terminal);
    // The next sale would record this in the same way.
    let ended = "UPDATE sale SET settled = 1 WHERE number NOT IN (10, 11)";
    assert_eq!(File::of(folder.path()).0.execute(ended, []).unwrap(), 9);
    folder
}

/// Starts a separate terminal with a copy of the day.
fn terminal_of(day: &TempDir) -> (Terminal, File, TempDir) {
    let folder = copy_of(day);
    (Terminal::start(folder.path(), ""), File::of(folder.path()), folder)
}

impl Terminal {
    async fn tries_to_close(&mut self) -> Result<CloseView, Refused> {
        let (reply, made) = oneshot::channel();
        let wish = CloseAsked { till: "till-1".to_owned(), reference: None, by: Who::default(), print: false };
        self.agent.closing.make(&self.agent.engine.journal, wish, reply);
        let counted = self.ends.tasks.recv().await.unwrap();
        self.agent.task_brought(counted);
        made.await.unwrap()
    }

    async fn closes(&mut self) -> Close {
        self.tries_to_close().await.unwrap().close
    }
}

/// Returns the transactions that a close cannot count while this one is unreadable: the transaction itself and its
/// reversal.
fn hidden_by(number: u64) -> Vec<u64> {
    let of_it = Some(SaleNumber::new(number));
    let reverses =
        |it: &Operation| it.kind() == Kind::Reversal && it.of().is_some_and(|earlier| earlier.number == of_it);
    ended().iter().filter(|row| row.0 == number || reverses(&row.2)).map(|row| row.0).collect()
}

/// Returns the open items while this transaction is unreadable. If it captured or reversed a reservation, the rest is
/// unknown, so the whole reservation is listed.
fn open_without(number: u64) -> Vec<Named> {
    let mut open = open_at_all_times();
    open.retain(|(_, of, _)| *of != number);
    for (_, of, left) in &mut open {
        match (number, *of) {
            (6, 5) => *left = Some("70.00 EUR".to_owned()),
            (8, 7) => *left = Some("90.00 USD".to_owned()),
            _ => {}
        }
    }
    open.extend(hidden_by(number).into_iter().map(|hidden| named(OpenKind::Unreadable, hidden, None)));
    open.sort_by_key(|(is, number, _)| (*is, *number));
    open
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_named_by_every_close_and_counted_once_by_the_first_that_can() {
    let day = a_day();
    let (mut whole, _file, _folder) = terminal_of(&day);
    let close = whole.closes().await;
    assert_eq!((counted(&close), names(&close)), (with_the_ninth(sums_of(|_| true)), open_at_all_times()));
    for (number, till, ..) in ended() {
        for (how, way) in WAYS {
            let scenario = format!("transaction {number}, {how}");
            let (mut terminal, file, _folder) = terminal_of(&day);
            let before = file.spoil(number, way);
            let hidden = hidden_by(number);
            let first = terminal.closes().await;
            assert_eq!(counted(&first), with_the_ninth(sums_of(|one| !hidden.contains(&one))), "{scenario}: the first");
            assert_eq!(names(&first), open_without(number), "{scenario}: the first");
            // The transaction's till sees it with its reference, and other tills do not.
            let item = |close: &Close| close.open.iter().find(|item| item.number.get() == number).cloned().unwrap();
            let its_name = (Some(till.to_owned()), Some(format!("R{number}")));
            let name = |close: &Close| (item(close).till, item(close).reference.map(|reference| reference.to_string()));
            assert_eq!(name(&first), its_name, "{scenario}");
            assert_eq!(name(&first.clone().told_to(|other| other != till)), (None, None), "{scenario}");
            assert!(first.waits_for_somebody(), "{scenario}");
            let second = terminal.closes().await;
            assert_eq!(counted(&second), Counted::default(), "{scenario}: the second");
            assert_eq!(names(&second), open_without(number), "{scenario}: the second");
            file.mend(&before);
            let third = terminal.closes().await;
            assert_eq!(counted(&third), sums_of(|one| hidden.contains(&one)), "{scenario}: the third");
            assert_eq!(names(&third), open_at_all_times(), "{scenario}: the third");
            let fourth = terminal.closes().await;
            assert_eq!(counted(&fourth), Counted::default(), "{scenario}: the fourth");
            assert_eq!(names(&fourth), open_at_all_times(), "{scenario}: the fourth");
        }
    }
}

/// Adds reservation 9 (50.00 EUR) to the counts of the first close.
fn with_the_ninth(mut counted: Counted) -> Counted {
    let of = (Kind::PreAuthorisationByRegistration.as_str(), "EUR".to_owned());
    let sum = counted.kinds.entry(of).or_insert((0, "0.00".to_owned()));
    *sum = match (sum.0, sum.1.as_str()) {
        (0, "0.00") => (1, "50.00".to_owned()),
        (1, "70.00") => (2, "120.00".to_owned()),
        other => panic!("{other:?}"),
    };
    counted
}

/// An earlier close counted the transaction, and later it became unreadable. It is not counted again, and no
/// reservation is forgotten.
#[tokio::test(start_paused = true)]
async fn what_was_counted_and_cannot_be_read_since_is_counted_no_second_time() {
    let day = a_day();
    for (number, ..) in ended() {
        for (how, way) in WAYS {
            let scenario = format!("transaction {number}, {how}");
            let (mut terminal, file, _folder) = terminal_of(&day);
            assert_eq!(names(&terminal.closes().await), open_at_all_times(), "{scenario}");
            let before = file.spoil(number, way);
            let open = open_at_all_times().into_iter().map(|(is, of, left)| match (number, of) {
                (5 | 7, of) if of == number => (is, of, None),
                (6, 5) => (is, of, Some("70.00 EUR".to_owned())),
                (8, 7) => (is, of, Some("90.00 USD".to_owned())),
                _ => (is, of, left),
            });
            let open: Vec<_> = open.collect();
            for close in [terminal.closes().await, terminal.closes().await] {
                assert_eq!(counted(&close), Counted::default(), "{scenario}");
                assert_eq!(names(&close), open, "{scenario}");
            }
            file.mend(&before);
            let close = terminal.closes().await;
            assert_eq!((counted(&close), names(&close)), (Counted::default(), open_at_all_times()), "{scenario}");
        }
    }
}

/// A damaged transaction that may be open prevents the close, because the close would not know what is missing.
#[tokio::test(start_paused = true)]
async fn no_close_is_made_over_damage_in_what_has_no_end() {
    let day = a_day();
    for number in [1_u64, 7, 8] {
        for (how, way) in WAYS {
            let scenario = format!("transaction {number}, {how}");
            let (mut terminal, file, _folder) = terminal_of(&day);
            let settled = |is: u8| {
                let sql = format!("UPDATE sale SET settled = {is} WHERE number = {number}");
                assert_eq!(file.0.execute(&sql, []).unwrap(), 1);
            };
            settled(0);
            let before = file.spoil(number, way);
            let refused = terminal.tries_to_close().await;
            assert!(matches!(refused, Err(Refused::Journal { .. })), "{scenario}: {refused:?}");
            assert!(terminal.agent.engine.journal.book().last_close().unwrap().is_none(), "{scenario}");
            file.mend(&before);
            let close = terminal.closes().await;
            assert_eq!((close.number, counted(&close)), (1, with_the_ninth(sums_of(|_| true))), "{scenario}");
            assert_eq!(names(&close), open_at_all_times(), "{scenario}");
        }
    }
}

/// A later version of the program wrote an open transaction, which is set aside and listed. That version is installed
/// again and ends the transaction.
#[tokio::test(start_paused = true)]
async fn what_was_set_aside_is_counted_once_by_the_close_after_its_end() {
    let day = copy_of(&a_day());
    {
        let mut terminal = Terminal::start(day.path(), "");
        terminal.enter_order(Order { amount: usd(1200), ..terminal.order(12, "till-2", stored_card(), 1) }, None);
    }
    let (_, added) = WAYS[0];
    assert_eq!(File::of(day.path()).0.execute(&added.replace("+ 3", "+ 2"), [12_i64 << 20]).unwrap(), 1);
    let (mut terminal, file, _folder) = terminal_of(&day);
    let first = terminal.closes().await;
    assert_eq!(counted(&first), with_the_ninth(sums_of(|_| true)));
    let aside = first.open.iter().find(|item| item.is == OpenKind::Unreadable).unwrap();
    let its_name = (12, Some("till-2"), Some("R12".to_owned()));
    let reference = aside.reference.as_ref().map(ToString::to_string);
    assert_eq!((aside.number.get(), aside.till.as_deref(), reference), its_name);
    assert_eq!(first.open.len(), open_at_all_times().len() + 1);
    assert_eq!(names(&terminal.closes().await), names(&first), "it is named as long as it is open");
    assert_eq!(file.0.execute("DELETE FROM step WHERE id = (12 << 20) + 2", []).unwrap(), 1);
    let mut sale = terminal.agent.engine.journal.book().number(SaleNumber::new(12)).unwrap().unwrap();
    let now = terminal.agent.engine.clock.now();
    let step = sale.handle(Event::Answered(approved(&id(12))), now, terminal.agent.engine.sales.deadlines());
    let _ =
        terminal.agent.engine.journal.write(|book| pos_core::book::commit(book, now.unix_ms, &mut sale, step)).unwrap();
    let its_end = terminal.closes().await;
    let usd = |text: &str| ("USD".to_owned(), (1, text.to_owned(), "0.00".to_owned()));
    let kinds = BTreeMap::from([((Kind::ByRegistration.as_str(), "USD".to_owned()), (1, "12.00".to_owned()))]);
    assert_eq!(counted(&its_end), Counted { kinds, net: BTreeMap::from([usd("12.00")]) });
    assert_eq!(names(&its_end), open_at_all_times());
    assert_eq!(counted(&terminal.closes().await), Counted::default());
}
