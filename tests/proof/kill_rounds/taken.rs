//! Rounds in which the journal is removed or replaced while the program runs, at a moment that is visible from outside.
//! Either all of it is removed, or only its `-wal`, or another journal is moved over it, or a copy is written over it.
//! After that, no new transaction begins. The program is killed, and a person follows the instructions in the status.
//! Every open transaction then ends with the outcome that the agent reports to the till. The judge reads the gateway's
//! ledger.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pos_agent::till::{JournalState, SaleState, SaleView, StatusView};
use pos_journal::Journal;
use pos_sim::gateway::{HostRules, Kind, State};
use pos_sim::shop::Shop;
use pos_terms::transaction::OutcomeWord;
use pos_test_kit::families;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::plan::{Kill, Moment, Random};
use super::scenario::Scenario;
use super::terminal::{Terminal, customer};
use super::till::NOT_THERE;
use pos_sim::reader::CardEntry;

/// The way in which the journal is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    Removed,
    WalRemoved,
    Replaced,
    WrittenOver,
}

const HOWS: [How; 4] = [How::Removed, How::WalRemoved, How::Replaced, How::WrittenOver];
const MOMENTS: [Moment; 7] = [
    Moment::ToldWaiting,
    Moment::Connected,
    Moment::Asked,
    Moment::Answering,
    Moment::Continue,
    Moment::Paper,
    Moment::ToldEnd,
];
/// The number of combinations of a way and a moment.
pub const MOST: u64 = (HOWS.len() * MOMENTS.len()) as u64;
const CARDS: [(&str, CardEntry); 2] = [("chip-no-cvm", CardEntry::Insert), ("tap", CardEntry::Tap)];
const ASK_AGAIN: Duration = Duration::from_millis(10);
/// A time that exceeds any step of a round.
const PATIENCE: Duration = Duration::from_secs(60);
/// Three sales with different amounts, which identify them in the ledger.
const AMOUNTS: [(&str, &str); 3] = [("first", "11.00"), ("second", "22.00"), ("third", "33.00")];

/// The outcome of the running sale, as reported to the till.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    NotBegun,
    /// The sale was recorded but never sent. The agent asks the gateway until the sale's absence is final.
    NotThere,
    Ended(OutcomeWord),
}

/// The result of a round.
pub struct Round {
    pub how: How,
    pub ended: End,
    /// True if a rescue journal was adopted.
    pub adopted: bool,
}

/// Runs one round.
///
/// # Errors
/// The fault, with the story.
pub async fn round(seed: u64, round: u64) -> Result<Round, String> {
    let (how, moment) = (HOWS[at(round, HOWS.len())], MOMENTS[at(round / HOWS.len() as u64, MOMENTS.len())]);
    let mut terminal =
        Terminal::open(HostRules::in_turn(seed + round), families::of_number(seed + round + round / 3)).await;
    terminal.round_begins();
    let card = *Random::of_round(seed, round).of(&CARDS);
    let played = timeout(PATIENCE, play(&mut terminal, how, moment, card)).await;
    let played = played.unwrap_or_else(|_| Err(format!("not over within {} s", PATIENCE.as_secs())));
    played.map_err(|why| {
        let story = terminal.scenario.story().join("\n");
        format!(
            "taken round {round} of seed {seed}: {how:?} at {moment:?}: {why}\n{story}\n{}",
            terminal.log_of_round()
        )
    })
}

fn at(round: u64, length: usize) -> usize {
    usize::try_from(round).unwrap() % length
}

async fn play(
    terminal: &mut Terminal,
    how: How,
    moment: Moment,
    card: (&'static str, CardEntry),
) -> Result<Round, String> {
    let (shop, scenario) = (terminal.shop.clone(), terminal.scenario.clone());
    let till = TillLine::new(&shop);
    let guests = async { customer(&shop, &scenario, card).await };
    let sales = async {
        till.until(|status| status.ready).await;
        let first = till.sells(&scenario, AMOUNTS[0], |view| view.state == SaleState::Ended).await?;
        expect(first.and_then(|view| view.outcome) == Some(OutcomeWord::Approved), "the first sale is not approved")?;
        till.until(|status| status.ready && !status.busy).await;
        let journal = shop.folder().join("journal.db");
        scenario.will_take(move || take(&journal, how));
        scenario.deal_begins();
        scenario.arm(Kill::by_force(moment), Duration::ZERO);
        till.sells(&scenario, AMOUNTS[1], |view| view.state == SaleState::Ended || !scenario.is_armed()).await?;
        if scenario.is_armed() {
            scenario.strike();
        }
        // While the second sale is at the reader, the terminal is busy.
        let (status, body) = loop {
            match till.begin(AMOUNTS[2]).await.ok_or("no answer")? {
                (409, _) => sleep(ASK_AGAIN).await,
                answer => break answer,
            }
        };
        expect((status, body["code"].as_str()) == (503, Some("journal")), &format!("it begins: {status} {body}"))?;
        let told = ["journal adopt", "nothing is lost"];
        till.until(|status| {
            status.journal.state == JournalState::CannotBeWritten
                && told.iter().any(|told| status.journal.text.contains(told))
        })
        .await;
        Ok::<_, String>(())
    };
    tokio::select! {
        over = sales => over?,
        () = guests => {}
    }
    terminal.killed().await;
    let adopted = how != How::WalRemoved;
    if adopted {
        adopt(&shop)?;
    }
    terminal.started_again();
    till.until(|status| status.ready).await;
    let (status, again) = till.begin(AMOUNTS[0]).await.ok_or("no answer")?;
    expect((status, &again["replayed"]) == (200, &json!(true)), &format!("the first sale is new: {status} {again}"))?;
    let ended = loop {
        match till.show(AMOUNTS[1].0).await {
            Some(None) => break End::NotBegun,
            Some(Some(SaleView { state: SaleState::Ended, outcome: Some(outcome), .. })) => break End::Ended(outcome),
            Some(Some(view)) if view.state.is_unconfirmed() && view.unsettled.as_deref() == Some(NOT_THERE) => {
                break End::NotThere;
            }
            _ => sleep(ASK_AGAIN).await,
        }
    };
    for ((reference, amount), due) in AMOUNTS.into_iter().zip([true, ended == End::Ended(OutcomeWord::Approved), false])
    {
        let ledger = shop.gateway.ledger();
        let paid = ledger.entries().iter().filter(|entry| entry.kind == Kind::Debit && entry.amount == amount);
        let states: Vec<State> = paid.map(|entry| entry.state).collect();
        let held = states.iter().filter(|state| **state == State::Approved).count();
        expect(
            states.len() <= 1 && held == usize::from(due),
            &format!("{reference} ended as {ended:?}, and the bank holds {states:?}"),
        )?;
    }
    Ok(Round { how, ended, adopted })
}

fn expect(is_so: bool, why: &str) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(why.to_owned()) }
}

fn beside(journal: &Path, end: &str) -> PathBuf {
    PathBuf::from(format!("{}{end}", journal.display()))
}

fn take(journal: &Path, how: How) {
    match how {
        How::Removed => remove(journal),
        How::WalRemoved => fs::remove_file(beside(journal, "-wal")).unwrap(),
        How::Replaced => {
            let other = journal.with_file_name("other.db");
            drop(Journal::open(&other).unwrap());
            fs::rename(other, journal).unwrap();
        }
        // The file is not truncated first, so that the program never finds a page missing. The content stays readable.
        How::WrittenOver => {
            let copy = fs::read(journal).unwrap();
            fs::OpenOptions::new().write(true).open(journal).unwrap().write_all(&copy).unwrap();
        }
    }
}

fn remove(journal: &Path) {
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(beside(journal, end));
    }
}

/// Does what a person does: moves the files away and adopts the rescue journal.
fn adopt(shop: &Shop) -> Result<(), String> {
    let files = fs::read_dir(shop.folder()).unwrap().map(|entry| entry.unwrap().path());
    let rescued: Vec<_> = files.filter(|file| file.to_string_lossy().ends_with("-rescue.db")).collect();
    let [rescued] = &rescued[..] else { return Err(format!("rescue journals: {rescued:?}")) };
    remove(&shop.folder().join("journal.db"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_pos-agent"));
    command.args(["journal", "adopt"]).arg(rescued).arg("--config").arg(shop.config());
    let output = command.output().unwrap();
    expect(output.status.success(), &format!("adopt: {output:?}"))
}

async fn read<T: DeserializeOwned>(answer: reqwest::Response) -> Option<T> {
    serde_json::from_str(&answer.text().await.ok()?).ok()
}

/// A till's connection, which repeats a request after a cut.
struct TillLine {
    http: reqwest::Client,
}

impl TillLine {
    fn new(shop: &Shop) -> Self {
        let http = reqwest::Client::builder().unix_socket(shop.socket()).no_proxy().pool_max_idle_per_host(0);
        Self { http: http.build().unwrap() }
    }

    async fn until(&self, wanted: impl Fn(&StatusView) -> bool) {
        loop {
            let status = self.http.get("http://localhost/v1/status").send().await;
            if let Ok(answer) = status
                && let Some(status) = read::<StatusView>(answer).await
                && wanted(&status)
            {
                return;
            }
            sleep(ASK_AGAIN).await;
        }
    }

    async fn begin(&self, (reference, amount): (&str, &str)) -> Option<(u16, Value)> {
        let sale = json!({ "reference": reference, "amount": amount }).to_string();
        let request = self.http.post("http://localhost/v1/sales").header("content-type", "application/json").body(sale);
        let answer = request.send().await.ok()?;
        Some((answer.status().as_u16(), read(answer).await?))
    }

    /// Returns the state of a sale. The inner `None` means that the terminal does not know the sale.
    async fn show(&self, reference: &str) -> Option<Option<SaleView>> {
        let answer = self.http.get(format!("http://localhost/v1/sales/{reference}")).send().await.ok()?;
        match answer.status().as_u16() {
            200 => read(answer).await.map(Some),
            404 => Some(None),
            _ => None,
        }
    }

    /// Begins a sale and follows it to this state. Returns `None` if the sale was refused.
    async fn sells(
        &self,
        scenario: &Scenario,
        sale: (&str, &str),
        over: impl Fn(&SaleView) -> bool,
    ) -> Result<Option<SaleView>, String> {
        let Some((201, _)) = self.begin(sale).await else { return Ok(None) };
        scenario.accepted();
        let mut told = None;
        loop {
            if let Some(Some(view)) = self.show(sale.0).await {
                if told != Some(view.state) {
                    scenario.told(view.state);
                    told = Some(view.state);
                }
                if over(&view) {
                    return Ok(Some(view));
                }
            }
            sleep(ASK_AGAIN).await;
        }
    }
}
