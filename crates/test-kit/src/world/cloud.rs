//! A cloud till in the world: a server far away that signs its commands and offers them again, with the same bytes,
//! until a final result arrives. At each message and at each write, the power or the connection can be cut. The
//! server's database survives all of it.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use chrono::{DateTime, SecondsFormat};
use pos_agent::till::{CancelView, Command, CommandEnd, FleetOrder, FleetRequest, FleetTaken, Refused, SaleView};
use pos_fleet_terms::{COMMAND_VERSION, CommandCode, CommandKind, CommandResult, DocumentKind, FleetCommand, write};
use pos_terms::transaction::{OnSilence, Reference, Taken, Who};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use super::asked::{Belief, Terminal};
use super::tills::{Confirms, Says, Till};
use crate::signed;

/// The till's name at the terminal.
pub const TILL: &str = "web";
/// The pause after which a command is offered again.
const AGAIN: Duration = Duration::from_secs(5);

/// A command as it is offered, with its last result.
type Offered = (CommandKind, Vec<u8>, Option<CommandResult>);

/// What the server's database keeps.
#[derive(Default)]
pub struct CloudDatabase {
    counter: Cell<u64>,
    /// The commands of the sale and of what belongs to it.
    commands: RefCell<Vec<Offered>>,
}

/// The behaviour of a cloud till.
#[derive(Clone, Copy, Debug, Default)]
pub struct CloudManner {
    /// The terminal's rule if the till does not confirm. Without one, the till is not asked.
    pub confirms: Option<OnSilence>,
    /// True if the server offers each command twice at once.
    pub twice: bool,
    /// True if the till cancels while the customer looks for the card.
    pub cancels: bool,
}

/// A cloud till, while the board has power.
pub struct CloudTill<'a> {
    terminal: Terminal<'a>,
    database: &'a CloudDatabase,
    belief: &'a Cell<Belief>,
    manner: CloudManner,
    nonce: String,
}

impl<'a> CloudTill<'a> {
    /// Connects to the terminal. A new connection has a new nonce.
    pub async fn connect(
        till: &'a Till,
        database: &'a CloudDatabase,
        belief: &'a Cell<Belief>,
        manner: CloudManner,
    ) -> CloudTill<'a> {
        let (reply, answer) = oneshot::channel();
        let _ = till.commands.send(Command::Fleet(FleetRequest::Connect { reply })).await;
        let nonce = answer.await.ok().and_then(Result::ok).map_or_else(String::new, |connection| connection.nonce);
        Self { terminal: Terminal(till), database, belief, manner, nonce }
    }

    /// Gives the command for a sale, and offers it until its result is final.
    pub async fn pays(&self, minor: u64) {
        let reference = self.terminal.0.world.lock().wishes[0].reference.clone();
        let mut body = json!({ "reference": reference, "kind": "sale" });
        body["amount"] = format!("{}.{:02}", minor / 100, minor % 100).into();
        if let Some(on_silence) = self.manner.confirms {
            body["confirm"] = "till".into();
            body["onSilence"] = on_silence.as_str().into();
            let confirms = Confirms { says: Says::All, on_silence };
            self.terminal.0.world.lock().wishes[0].confirms = Some(confirms);
        }
        self.gives(CommandKind::Sale, body);
        if self.manner.cancels {
            let _ = self.offers(0).await;
            sleep(Duration::from_secs(2)).await;
            self.gives(CommandKind::Cancel, json!({ "reference": reference }));
        }
        self.learns(Duration::from_secs(8 * 3600)).await;
    }

    /// Offers the commands until the sale's result is final, for this long at most.
    pub async fn learns(&self, patience: Duration) {
        let until = Instant::now() + patience;
        while self.belief.get() == Belief::Unknown && Instant::now() < until {
            let commands = self.database.commands.borrow().len();
            for at in 0..commands {
                let last = self.database.commands.borrow()[at].2.as_ref().map(|result| result.code);
                if last.is_some_and(CommandCode::is_final) {
                    continue;
                }
                if self.manner.twice {
                    let _ = self.offers(at).await;
                }
                if let Some(result) = self.offers(at).await {
                    self.hears(at, result);
                }
            }
            sleep(AGAIN).await;
        }
    }

    /// Signs a command, and stores it.
    fn gives(&self, kind: CommandKind, body: Value) {
        let counter = self.database.counter.get() + 1;
        self.database.counter.set(counter);
        let now_ms = self.terminal.0.world.lock().clock_ms();
        let expires = DateTime::from_timestamp_millis(now_ms + 30_000).unwrap();
        let document = write(&FleetCommand {
            v: COMMAND_VERSION,
            id: format!("c-{counter}").parse().unwrap(),
            org: "corner-shops".parse().unwrap(),
            terminal: "shop-17-1".parse().unwrap(),
            counter,
            kind: kind.word().to_owned(),
            body,
            expires: expires.to_rfc3339_opts(SecondsFormat::Millis, true),
            nonce: Some(self.nonce.clone()),
            author: "the web shop".to_owned(),
        });
        let envelope = signed::signed(DocumentKind::Command, document.unwrap(), &[signed::WEB]);
        self.database.commands.borrow_mut().push((kind, envelope, None));
    }

    /// Offers a command. Returns its result, unless a message is lost.
    async fn offers(&self, at: usize) -> Option<CommandResult> {
        let envelope = self.database.commands.borrow()[at].1.clone();
        if !self.terminal.arrives().await {
            return None;
        }
        let (reply, answer) = oneshot::channel();
        self.send(FleetRequest::Take { envelope, reply }).await;
        let result = match answer.await.ok()?.ok()? {
            FleetTaken::Answered(result) => *result,
            FleetTaken::Act(order) => self.acts(*order).await?,
        };
        self.terminal.arrives().await.then_some(result)
    }

    /// Carries out a command that the agent has written, like the agent's interface.
    async fn acts(&self, FleetOrder { id, kind, caller, body }: FleetOrder) -> Option<CommandResult> {
        let reference = Reference::parse(body["reference"].as_str().unwrap().to_owned()).unwrap();
        let (till, by) = (TILL.to_owned(), Who::default());
        let end = match kind {
            CommandKind::Sale => {
                let mut wanted = self.terminal.0.world.lock().wanted(0);
                wanted.caller = caller;
                self.sale(|reply| Command::Begin { wanted: Box::new(wanted), reply }).await.map(|_| CommandEnd::Began)
            }
            CommandKind::Cancel => {
                let cancelled = self.sale(|reply| Command::Cancel { till, reference, by, reply }).await;
                cancelled.map(|sale| CommandEnd::Done(serde_json::to_value(CancelView::from(sale)).unwrap()))
            }
            CommandKind::Confirm => {
                let taken = Taken::All;
                let confirmed = self.sale(|reply| Command::Confirm { till, reference, taken, by, reply }).await;
                confirmed.map(|sale| CommandEnd::Done(serde_json::to_value(sale).unwrap()))
            }
            other => panic!("a cloud till gives no {other}"),
        };
        let end = end.unwrap_or_else(|text| CommandEnd::Refused { text, problem: Value::Null });
        let (reply, answer) = oneshot::channel();
        self.send(FleetRequest::Finish { id, end, reply }).await;
        answer.await.ok()?.ok()
    }

    async fn sale(
        &self,
        command: impl FnOnce(oneshot::Sender<Result<SaleView, Refused>>) -> Command,
    ) -> Result<SaleView, String> {
        let (reply, answer) = oneshot::channel();
        let _ = self.terminal.0.commands.send(command(reply)).await;
        match answer.await {
            Ok(answer) => answer.map_err(|refused| refused.to_string()),
            // The power is off, and the answer is lost.
            Err(_) => std::future::pending().await,
        }
    }

    async fn send(&self, request: FleetRequest) {
        let _ = self.terminal.0.commands.send(Command::Fleet(request)).await;
    }

    /// Stores a result, and acts on it.
    fn hears(&self, at: usize, result: CommandResult) {
        let kind = self.database.commands.borrow()[at].0;
        let code = result.code;
        let before = self.database.commands.borrow()[at].2.as_ref().map(|result| result.code);
        assert!(before.is_none_or(|before| !before.is_final()), "a final result came before: {before:?}");
        if kind == CommandKind::Sale {
            let asks = result.body["state"] == "awaiting-till";
            let said = |one: &Offered| {
                // A confirmation with an old nonce is refused, and given again.
                let stale = [CommandCode::StaleConnection, CommandCode::Expired, CommandCode::NotBegun];
                one.0 == CommandKind::Confirm && one.2.as_ref().is_none_or(|result| !stale.contains(&result.code))
            };
            if asks && !self.database.commands.borrow().iter().any(said) {
                let reference = result.body["reference"].clone();
                self.gives(CommandKind::Confirm, json!({ "reference": reference, "taken": "all" }));
            }
            match code {
                CommandCode::Running => {}
                CommandCode::Done => self.belief.set(paid(&result.body)),
                // Every other final result of a command says that no payment began.
                _ => self.belief.set(Belief::NotPaid),
            }
        }
        self.database.commands.borrow_mut()[at].2 = Some(result);
    }
}

/// Returns what a till believes about a transaction that has ended.
fn paid(sale: &Value) -> Belief {
    let outcome = sale["outcome"].as_str().unwrap_or_default();
    if !matches!(outcome, "approved" | "partially-approved") {
        return Belief::NotPaid;
    }
    let digits = sale["approvedAmount"].as_str().unwrap_or_default().chars().filter(char::is_ascii_digit);
    Belief::Paid(digits.collect::<String>().parse().unwrap_or_default())
}
