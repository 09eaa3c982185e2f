//! The path of a transaction on the command line, from the request to the outcome. All verbs that move money share it.
//!
//! The command shows the reference before it sends anything. It reports a lost answer as "unconfirmed", never as
//! "declined". A later request with the same reference shows the outcome (design: path of a sale, 1; invariant 3).

use std::cell::Cell;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use pos_till_api::routes::encoded;
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

use super::cancel::Answered;
use super::daemon::{Daemon, Error, Events, Heard, of_sale};
use super::exit::{Exit, Stop};
use super::{Where, out, reference};
use crate::till::{ProblemType, Progress, SaleState, SaleView, StatusView};
use pos_terms::money::{Currency, MoneyError, Typed};
use pos_terms::transaction::TrainingResult;

/// The arguments of every transaction.
#[derive(Debug, Args)]
pub(super) struct Flow {
    /// The transaction's reference; repeating it starts no second transaction [default: made from the time and a random
    /// number]
    #[arg(long, value_name = "TEXT", value_parser = reference::new)]
    reference: Option<String>,
    /// A parameter for the gateway, for example merchantMemo=Table-7; repeat the option for more parameters
    #[arg(long = "param", value_name = "NAME=VALUE")]
    parameters: Vec<String>,
    /// A JSON file of parameters for the gateway, flat or nested
    #[arg(long = "params", value_name = "FILE")]
    parameters_file: Option<PathBuf>,
    /// Run a training transaction with this outcome: no card is read and no money moves
    #[arg(long, value_enum, value_name = "OUTCOME")]
    training: Option<Outcome>,
    /// The answer to the signature question, for a transaction with a card.
    #[arg(skip)]
    signing: Signing,
    /// Print the outcome as one JSON object on standard output, and the steps on standard error
    #[arg(long)]
    json: bool,
    /// Seconds to wait for the outcome of an unconfirmed transaction; then this command exits with 3 or 6, and the
    /// terminal continues automatically
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(..=3600))]
    settle_s: u64,
    /// Seconds to keep retrying after the connection to the agent is lost
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(..=3600))]
    reconnect_s: u64,
    #[command(flatten)]
    daemon: Where,
}

/// The signature option of a transaction with a card that may need a signature.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct Signing {
    /// How to answer when the card requires the customer's signature
    #[arg(long, value_enum, value_name = "ANSWER", default_value_t = SignatureAnswer::Ask)]
    signature: SignatureAnswer,
}

/// The requested result of a training transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outcome(TrainingResult);

impl clap::ValueEnum for Outcome {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Outcome; TrainingResult::ALL.len()] = {
            let mut all = [Outcome(TrainingResult::Approved); TrainingResult::ALL.len()];
            let mut nth = 0;
            while nth < all.len() {
                all[nth] = Outcome(TrainingResult::ALL[nth]);
                nth += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.as_str()))
    }
}

/// The line that is shown before and after the output of a training transaction.
const TRAINING: &str = "*** TRAINING: no card is read, and no money moves ***";

/// The answer to the signature question, or the way to ask for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum SignatureAnswer {
    /// Ask here, or wait for `pos-agent signature` if there is no terminal window
    #[default]
    Ask,
    /// The signature matches the card
    Accept,
    /// The signature does not match: the payment is reversed
    Refuse,
}

/// The retry interval after the connection to the agent is lost.
const ASK_AGAIN: Duration = Duration::from_millis(500);
/// The time without a step after which the command asks the agent for the sale, in case its end was not announced.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// The number of consecutive "no such sale" answers that prove that the sale was never begun.
const ABSENT_FOR_SURE: u32 = 3;

impl Flow {
    /// Starts a transaction at the agent and follows it to its end. `wanted` is the body of `POST /v1/sales` without
    /// the reference; its amount is as typed.
    pub(super) async fn run(self, mut wanted: Value) -> Result<Exit, Stop> {
        let reference = self.reference.clone().map_or_else(made_reference, Ok)?;
        wanted["reference"] = reference.as_str().into();
        if let Some(Outcome(result)) = self.training {
            wanted["training"] = result.as_str().into();
        }
        let parameters = self.parameters()?;
        if !parameters.is_empty() {
            wanted["parameters"] = parameters.into();
        }
        let daemon = self.daemon()?;
        for name in ["amount", "tip"] {
            if let Some(typed) = wanted[name].as_str().filter(|typed| *typed != "ask") {
                wanted[name] = amount(&daemon, typed, wanted["currency"].as_str()).await?.into();
            }
        }
        let mut interrupt = signal(SignalKind::interrupt())
            .map_err(|error| Stop::new(Exit::Software, format!("signals cannot be handled: {error}")))?;
        let (recorded, cancel) = (Cell::new(false), Cell::new(false));
        let till = Till { flow: &self, wanted, daemon, reference, recorded, cancel };
        till.tell_training();
        till.tell(&format!("reference {}", till.reference));
        let mut sale = std::pin::pin!(till.sale());
        loop {
            tokio::select! {
                ended = &mut sale => return Ok(till.finish(&ended?)),
                _ = interrupt.recv() => match till.cancel.replace(true) {
                    // A sale can be cancelled only after it is recorded. Until then, the request to cancel is kept.
                    false if till.recorded.get() => till.cancel().await,
                    false => {}
                    true => return Err(till.in_doubt("stopped waiting")),
                },
            }
        }
    }

    /// Returns the amount that the customer types at the reader. This starts no transaction.
    pub(super) async fn typed_amount(&self, currency: Option<&str>) -> Result<String, Stop> {
        #[derive(serde::Deserialize)]
        struct Typed {
            amount: String,
            currency: String,
        }
        let body = currency.map_or_else(|| serde_json::json!({}), |code| serde_json::json!({ "currency": code }));
        let tell = |line: &str| if self.json { out::aside(line) } else { out::say(line) };
        tell("type the amount at the reader");
        let Typed { amount, currency } = self.daemon.daemon()?.post("/v1/reader/amount", &body).await?;
        tell(&format!("{amount} {currency}"));
        Ok(amount)
    }

    /// Sets how the signature question is answered.
    pub(super) fn signed(self, signing: Signing) -> Self {
        Self { signing, ..self }
    }

    /// Returns whether this is a training transaction.
    pub(super) fn trains(&self) -> bool {
        self.training.is_some()
    }

    /// Returns the client of the agent.
    pub(super) fn daemon(&self) -> Result<Daemon, Stop> {
        self.daemon.daemon()
    }

    /// Adds a gateway parameter.
    pub(super) fn add(&mut self, name: &str, value: &str) {
        self.parameters.push(format!("{name}={value}"));
    }

    /// Returns the parameters from the file and the command line; the command line takes precedence.
    fn parameters(&self) -> Result<serde_json::Map<String, Value>, Stop> {
        let usage = |message: String| Stop::new(Exit::Usage, message);
        let mut parameters = match &self.parameters_file {
            None => serde_json::Map::new(),
            Some(file) => {
                let name = file.display();
                let text = std::fs::read_to_string(file).map_err(|error| usage(format!("--params {name}: {error}")))?;
                serde_json::from_str(&text)
                    .map_err(|error| usage(format!("--params {name}: must be one JSON object: {error}")))?
            }
        };
        for parameter in &self.parameters {
            let Some((name, value)) = parameter.split_once('=') else {
                return Err(usage(format!("--param {parameter}: write it as NAME=VALUE")));
            };
            parameters.insert(name.to_owned(), value.into());
        }
        Ok(parameters)
    }
}

/// One sale, and the agent that carries it out.
struct Till<'a> {
    flow: &'a Flow,
    wanted: Value,
    daemon: Daemon,
    reference: String,
    /// True when the agent has confirmed that it recorded the sale.
    recorded: Cell<bool>,
    /// True when Ctrl-C was pressed.
    cancel: Cell<bool>,
}

impl Till<'_> {
    /// Returns the sale when it has ended, or when it is still unconfirmed after the time of `--settle-s`.
    async fn sale(&self) -> Result<SaleView, Stop> {
        let (events, sale) = self.begin().await?;
        self.recorded.set(true);
        if self.cancel.get() && sale.state != SaleState::Ended {
            self.cancel().await;
        }
        self.follow(events, sale).await
    }

    async fn begin(&self) -> Result<(Events, SaleView), Stop> {
        // The command listens before it sends the request, so it misses no step. Up to this point, the agent has
        // received no request for the sale.
        let events = self.daemon.events().await?;
        if self.cancel.get() {
            return Err(Stop::new(Exit::Cancelled, "cancelled before the sale began; nothing was charged"));
        }
        match self.daemon.post("/v1/sales", &self.wanted).await {
            Ok(sale) => {
                self.notice_replay(&sale)?;
                Ok((events, sale))
            }
            Err(error) if error.may_have_been_heard() => self.ask_again(&error).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Checks whether the reference was already known. Only the answer to the first request can show this; a later
    /// look-up finds this sale itself.
    fn notice_replay(&self, sale: &SaleView) -> Result<(), Stop> {
        if sale.replayed && self.flow.reference.is_none() {
            let message = "the random reference belongs to an earlier sale; nothing was charged: try again";
            return Err(Stop::new(Exit::Software, message));
        }
        if sale.replayed {
            self.tell(&format!("this reference has been in use since {}; no second sale was started", sale.started_at));
        }
        Ok(())
    }

    async fn follow(&self, mut events: Events, mut sale: SaleView) -> Result<SaleView, Stop> {
        let mut settle = None;
        let (mut signature, mut awaits_till) = (None, false);
        loop {
            match sale.state {
                SaleState::Ended => return Ok(sale),
                SaleState::AwaitingSignature if signature.is_none() => signature = Some(self.signature().await),
                SaleState::AwaitingTill if !awaits_till => {
                    awaits_till = true;
                    let reference = &self.reference;
                    self.tell(&format!(
                        "answer with: pos-agent confirm '{reference}' --taken all (or part, or nothing)"
                    ));
                }
                state if state.is_unconfirmed() && settle.is_none() => {
                    self.tell(&sale.text);
                    settle = Some(Instant::now() + Duration::from_secs(self.flow.settle_s));
                }
                _ => {}
            }
            let settled = async {
                match settle {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            let answered = async {
                match &mut signature {
                    Some(answers) => answers.recv().await,
                    None => None,
                }
            };
            let looked = tokio::select! {
                Some(accepted) = answered => {
                    self.check_signature(accepted).await;
                    continue;
                }
                heard = events.next() => match heard {
                    Ok(Heard::Step(step)) => {
                        self.hear(*step, &mut sale);
                        continue;
                    }
                    Ok(Heard::Missed) => self.look_up().await,
                    Err(error) => Err(error),
                },
                () = settled => return Ok(sale),
                () = sleep(LOOK_AGAIN) => self.look_up().await,
            };
            (events, sale) = match looked {
                Ok(found) => found,
                Err(error) => self.ask_again(&error).await?,
            };
        }
    }

    fn hear(&self, step: Progress, sale: &mut SaleView) {
        let ours =
            step.till == sale.till && step.reference == sale.reference.as_str() && step.training == sale.training;
        // A step of the terminal itself concerns every sale. For example, the loss of the reader ends them all.
        if !ours && !step.till.is_empty() {
            return;
        }
        match step.sale.filter(|_| ours) {
            // The text of an ended or unconfirmed sale is not shown here, because `finish` and `follow` show it once.
            Some(now) if now.state == SaleState::Ended || now.state.is_unconfirmed() => *sale = *now,
            Some(now) => {
                self.tell(&step.text);
                *sale = *now;
            }
            None => self.tell(&step.text),
        }
    }

    fn tell_training(&self) {
        if self.flow.training.is_some() {
            self.tell(TRAINING);
        }
    }

    /// Returns the path of the sale, or of a resource below it.
    fn path(&self, what: &str) -> String {
        let reference = encoded(&self.reference);
        format!("/v1/sales/{reference}{what}{}", of_sale('?', None, self.flow.training.is_some()))
    }

    /// Opens a new event stream, then reads the sale's current state.
    async fn look_up(&self) -> Result<(Events, SaleView), Error> {
        let events = self.daemon.events().await?;
        let sale = self.daemon.get(&self.path("")).await?;
        Ok((events, sale))
    }

    /// Looks up the reference after a lost answer. It never sends the transaction again.
    async fn ask_again(&self, lost: &Error) -> Result<(Events, SaleView), Stop> {
        self.tell(&format!("{lost}; retrying for {} s", self.flow.reconnect_s));
        let until = Instant::now() + Duration::from_secs(self.flow.reconnect_s);
        let mut absent = 0;
        loop {
            match self.look_up().await {
                Ok(found) => {
                    self.tell("connected again");
                    return Ok(found);
                }
                Err(error) if error.is_no_such_sale() => {
                    absent += 1;
                    if self.recorded.get() {
                        return Err(self.in_doubt("the agent has lost its record of the sale"));
                    }
                    if absent == ABSENT_FOR_SURE {
                        return Err(Stop::new(
                            Exit::NotSent,
                            "the sale was never begun; nothing was charged: try again",
                        ));
                    }
                }
                Err(_) => absent = 0,
            }
            if Instant::now() >= until {
                return Err(self.in_doubt("the agent is still not answering"));
            }
            sleep(ASK_AGAIN).await;
        }
    }

    /// Returns a channel that receives the answer to whether the signature matches the card. The answer comes from the
    /// option, or else from a person at the keyboard. Otherwise, the channel receives no answer.
    async fn signature(&self) -> mpsc::Receiver<bool> {
        let (sender, answers) = mpsc::channel(1);
        match self.flow.signing.signature {
            SignatureAnswer::Accept => drop(sender.send(true).await),
            SignatureAnswer::Refuse => drop(sender.send(false).await),
            SignatureAnswer::Ask if !std::io::stdin().is_terminal() => {
                self.tell(&format!("answer with: pos-agent signature '{}' --accept (or --refuse)", self.reference))
            }
            SignatureAnswer::Ask => {
                self.tell("Does the signature match the card? Type y or n, then press Enter");
                // Reading the keyboard cannot be interrupted, so the thread ends with the process.
                std::thread::spawn(move || {
                    for line in std::io::stdin().lines().map_while(Result::ok) {
                        let answer = match line.trim().to_ascii_lowercase().as_str() {
                            "y" | "yes" => true,
                            "n" | "no" => false,
                            _ => continue,
                        };
                        if sender.blocking_send(answer).is_err() {
                            return;
                        }
                    }
                });
            }
        }
        answers
    }

    async fn check_signature(&self, accepted: bool) {
        let told: Result<SaleView, _> =
            self.daemon.post(&self.path("/signature"), &serde_json::json!({ "accepted": accepted })).await;
        if let Err(error) = told {
            self.tell(&format!(
                "the terminal has not received the answer yet ({error}); run: pos-agent signature '{}' --{}",
                self.reference,
                if accepted { "accept" } else { "refuse" }
            ));
        }
    }

    async fn cancel(&self) {
        self.tell("cancelling; waiting for the outcome");
        let asked: Result<(SaleView, Answered), _> =
            self.daemon.post_for_two(&self.path("/cancel"), &serde_json::json!({})).await;
        match asked {
            // `finish` shows how the sale ended.
            Ok((sale, _)) if sale.state == SaleState::Ended => {}
            Ok((_, Answered { cancel_text, .. })) => self.tell(&cancel_text),
            Err(error) => self.tell(&format!("not cancelled yet: {error}")),
        }
    }

    /// Shows the outcome.
    fn finish(&self, sale: &SaleView) -> Exit {
        if self.flow.json {
            out::say_json(sale);
        } else {
            out::say(&format!("{}: {}", out::standing(sale), out::sale_line(sale)));
            out::say(&sale.text);
            out::say_lines(sale.status_text.as_deref().unwrap_or_default());
        }
        self.tell_training();
        if sale.state != SaleState::Ended {
            out::complain(&self.what_to_do(sale));
        }
        Exit::of(sale)
    }

    /// Returns the instruction for the cashier while the gateway's decision is not known.
    fn what_to_do(&self, sale: &SaleView) -> String {
        let reference = &self.reference;
        let later = format!("to see the outcome, run: pos-agent show '{reference}'");
        if sale.needs_person.is_some() {
            return format!("a person must resolve this transaction; wait and call the technician; {later}");
        }
        match sale.state {
            SaleState::UnconfirmedFinishing => {
                format!("unconfirmed, completing: do not repeat the transaction under a different reference; {later}")
            }
            _ => format!(
                "unconfirmed, reversing: the payment will not be kept. You may take a new payment immediately, under a \
                 new reference; the customer may see two bookings until one is reversed; {later}"
            ),
        }
    }

    fn in_doubt(&self, why: &str) -> Stop {
        let reference = &self.reference;
        let message =
            format!("unconfirmed: {why}; do not charge again before `pos-agent show '{reference}'` shows the outcome");
        Stop::new(Exit::Unconfirmed, message)
    }

    fn tell(&self, line: &str) {
        if self.flow.json { out::aside(line) } else { out::say(line) }
    }
}

/// Returns a typed amount in the agent's format. An amount that is wrong in every currency is refused without asking
/// the agent. The agent is asked for its currency only if none was given and the amount has decimals.
async fn amount(daemon: &Daemon, text: &str, currency: Option<&str>) -> Result<String, Stop> {
    let typed = Typed::read(text).map_err(|error| wrong(&error))?;
    let known = match currency {
        Some(code) => Some(Currency::from_code(code).map_err(|error| wrong(&error))?),
        None if typed.has_decimals() => terminals_currency(daemon).await?,
        None => None,
    };
    match known {
        Some(currency) => Ok(typed.amount(currency).map_err(|error| wrong(&error))?.decimal()),
        // The amount has no decimals, or the agent did not give its currency; then the agent checks the decimals.
        None => Ok(typed.as_written()),
    }
}

async fn terminals_currency(daemon: &Daemon) -> Result<Option<Currency>, Stop> {
    match daemon.get::<StatusView>("/v1/status").await {
        Ok(status) => Ok(status.currency.and_then(|code| Currency::from_code(&code).ok())),
        // A caller with the right to begin a sale may lack the right to read the status.
        Err(Error::Refused { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn wrong(error: &MoneyError) -> Stop {
    let code =
        if matches!(error, MoneyError::UnknownCurrency { .. }) { ProblemType::Currency } else { ProblemType::Amount };
    Stop::coded(code, error.to_string())
}

/// Creates a readable reference such as `c-20261120-123456-4f2a9c1e`. The random part keeps references different on a
/// board whose clock restarts at each boot.
fn made_reference() -> Result<String, Stop> {
    let mut chance = [0; 4];
    getrandom::fill(&mut chance).map_err(|error| {
        Stop::new(
            Exit::Software,
            format!("the system provides no random numbers: {error}; give a reference with --reference"),
        )
    })?;
    let now = chrono::Local::now().format("%Y%m%d-%H%M%S");
    Ok(format!("c-{now}-{}", hex::encode(chance)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_references_are_references() {
        let reference = made_reference().unwrap();
        assert_eq!(reference.len(), "c-20261120-123456-4f2a9c1e".len());
        assert!(reference.is_ascii() && reference != made_reference().unwrap());
    }
}
