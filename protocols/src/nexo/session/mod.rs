//! The terminal's side of a till that speaks nexo: what is asked of the terminal for each request, and what is
//! answered. Without a wire and without a clock: what happens comes in with its time, what is to be done goes out as
//! [`Action`]s.
//!
//! | request | asked of the terminal | answered |
//! |---|---|---|
//! | Payment | whether it is known, begin, show, receipts | how it ended; Failure/UnreachableHost while nobody knows |
//! | Reversal | the same about the earlier transaction: a reversal, or a refund of a part | the same |
//! | Abort | cancel, of the message that it names; of Input, that nobody waits any more | nothing: what it stops answers Failure/Aborted |
//! | TransactionStatus | the sale of the message that it names, or the latest | its answer once more, InProgress, NotFound |
//! | Diagnosis, Login | status | how the terminal stands |
//! | Logout | nothing | Success |
//! | Reconciliation | a close; the last one for PreviousReconciliation | its sums; refused when a newer one was made since |
//! | GetTotals | the open period | its sums |
//! | Input | an amount that is typed at the reader | what was typed; Failure/Cancel when nothing was, after MaxInputTime too |
//! | Print | status, lines to print | Success when they are on paper, DeviceOut when they are not |
//! | Display | a text to show on the reader | Success; UnavailableDevice while a card is asked for |
//! | EnableService | nothing | UnavailableService |
//! | everything else | nothing | UnavailableService |
//!
//! **One message is carried out once.** Till, terminal, category, ServiceID and SaleTransactionID make the reference of
//! the transaction, so the same message finds the same sale, whatever happened to the one who asked first. It is the
//! same message when it means the same for money too ([`super::meaning`]), which is kept with the sale.
//!
//! | ServiceID | SaleTransactionID | meaning | what is done |
//! |---|---|---|---|
//! | the same | the same | the same | the earlier answer; while it is being carried out, one answer for both |
//! | the same | the same | another | rejected for 48 hours, and while that sale is open or the payment approved |
//! | the same | another | | rejected for 48 hours, and new after them |
//! | another | that of a payment that is approved, open or unconfirmed | | rejected: TransactionStatus tells of it |
//! | another | that of a payment that came to nothing, or another | | new |
//!
//! It holds no fact that decides about money: all of that the terminal says each time.

mod about;
mod acquirer;
mod closing;
mod earlier;
mod money;
mod printing;
mod receipt_keys;
mod told;
mod wanted;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::additional;
use super::enums::{Category, ErrorCondition, ReconciliationType};
use super::envelope::Message;
use super::meaning::Meaning;
use super::output::PrintOutput;
use super::receipt::Profile;
use super::reference::Identity;
use super::reject::Rejected;
use super::request::{Request, RequestBody};
use super::response::{Response, ResponseBody};
use super::shared::Outcome;
use crate::clock::rfc3339;
use pos_till_api::{Ask, Begin, Close, Copy, Problem, ProblemType, Receipt, Said, Sale, Status};

pub use acquirer::may_be_ignored;

/// A till asks one thing at a time, and aborts it, and asks how it stands.
const MOST_EXCHANGES: usize = 8;
/// A ServiceID stands for one message for so long (Terminal API: unique within 48 hours).
const SERVICE_ID_LASTS_S: u64 = 48 * 3600;
/// How long one question for the state of a sale waits at the terminal, in seconds.
const WATCH_S: u8 = 60;
/// The terminal is asked again after no answer.
const PAUSE: Duration = Duration::from_secs(1);
/// For so long; the terminal may be restarted meanwhile.
const NO_ANSWER: Duration = Duration::from_secs(30);

/// One request and its answer: of HTTP, one exchange.
pub type Exchange = u32;

/// How this till is served.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The till's own name, `SaleID`.
    pub sale_id: String,
    /// The terminal's, `POIID`.
    pub poi_id: String,
    /// It may pay out without an earlier payment.
    pub credit: bool,
    /// The terminal prints receipts, and the till has them too.
    pub terminal_prints: bool,
    /// How receipts are written.
    pub profile: Profile,
    /// Characters of a line of a receipt.
    pub width: u8,
    /// It captures at this terminal what it has reserved: `authorisationType=PreAuth` and `manualCapture` reserve.
    pub reserves: bool,
    /// Keys of SaleToAcquirerData that mean nothing, with what is below them.
    pub ignore: Vec<String>,
}

/// The time.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Since some moment: it never goes back.
    pub steady: Duration,
    /// The clock's, in seconds since 1970.
    pub unix_s: u64,
}

/// What is to be done now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The terminal is asked; its answer comes back by [`Session::said`] with the same number.
    Ask {
        /// Which question.
        ticket: u64,
        /// What.
        ask: Ask,
    },
    /// Nobody waits for the answer to this question any more: the terminal stops what it does about it.
    GiveUp {
        /// Which question.
        ticket: u64,
    },
    /// The till has its answer, and the exchange is over.
    Answer {
        /// Which.
        exchange: Exchange,
        /// Nothing, where the protocol has no answer.
        message: Option<Box<Message>>,
    },
}

/// What is known of the terminal, as it said last.
#[derive(Clone, Debug)]
struct Facts {
    terminal_id: String,
    merchant: String,
    currency: String,
    decimals: u8,
}

/// The session of one till.
#[derive(Debug)]
pub struct Session {
    settings: Settings,
    facts: Option<Facts>,
    logged_in: bool,
    jobs: BTreeMap<Exchange, Job>,
    tickets: u64,
    rejected: u32,
    last: Option<(Category, String)>,
}

/// What a job waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Currency and names of the terminal.
    Facts,
    /// Whether the message is known.
    Known,
    /// Other messages with its ServiceID.
    SameMessage,
    /// Other messages about its transaction.
    SameTransaction,
    /// The earlier transaction that it is about, and what is left of it.
    Original,
    OriginalWhole,
    Beginning,
    Watching,
    Signing,
    Receipt(Copy),
    /// The sale of the message that is asked about, or that is to be stopped.
    Earlier,
    Cancelling,
    /// One question about the terminal.
    Terminal,
    /// Lines of the till's own.
    Printing,
    /// A close; and the last one, where the reference was known.
    Closing,
    LastClose,
    Over,
}

/// A request that is being carried out.
#[derive(Debug)]
struct Job {
    /// The first exchange of it.
    exchange: Exchange,
    request: Request,
    meaning: Option<Meaning>,
    /// Another message stands under its reference: it has one of its own, by what it means.
    apart: bool,
    received: Vec<u8>,
    stage: Stage,
    /// The question that is open.
    ticket: Option<u64>,
    /// The same question again, then.
    again: Option<(Duration, Ask)>,
    /// Since when there is no answer.
    silent_since: Option<Duration>,
    /// The sale that it is about, as soon as it may be there.
    reference: Option<String>,
    /// It has been begun, perhaps.
    begun: bool,
    /// The begin that is asked for got no answer, and may have been carried out.
    lost: bool,
    begin: Option<Begin>,
    original: Option<Sale>,
    sale: Option<Sale>,
    receipts: Vec<Receipt>,
    /// The close that its reference has made before.
    closed: Option<Close>,
    /// Another message stops it.
    aborted: bool,
    /// Until when the till waits for what is typed (MaxInputTime).
    until: Option<Duration>,
    /// The exchanges in which the till waits for the answer: more than one where the same message came again.
    heard_by: Vec<Exchange>,
}

/// What a job has at hand while something happens.
struct Flow<'a> {
    now: Now,
    actions: Vec<Action>,
    settings: &'a Settings,
    facts: Option<&'a Facts>,
    logged_in: &'a mut bool,
    tickets: &'a mut u64,
    rejected: &'a mut u32,
}

impl Session {
    /// Of this till.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { settings, facts: None, logged_in: false, jobs: BTreeMap::new(), tickets: 0, rejected: 0, last: None }
    }

    /// The last request: its category and its ServiceID.
    #[must_use]
    pub fn last_request(&self) -> Option<(Category, &str)> {
        self.last.as_ref().map(|(category, service_id)| (*category, service_id.as_str()))
    }

    /// The till asks for something. `received` is the message as it came, for the answer to what is not taken.
    pub fn asked(&mut self, exchange: Exchange, request: Request, received: Vec<u8>, now: Now) -> Vec<Action> {
        let category = request.header.message_category;
        let service_id = request.header.service_id.clone().unwrap_or_default();
        self.last = Some((category, service_id));
        let job = Job::new(exchange, request, received);
        if category == Category::Event {
            return vec![Action::Answer { exchange, message: None }];
        }
        let poi_id = self.settings.poi_id.clone();
        if job.request.header.poi_id != poi_id {
            return self.with(job, now, |job, flow| {
                job.reject(&format!("MessageHeader.POIID: this terminal is {poi_id}"), flow);
            });
        }
        if self.waits_for_its_twin(&job) {
            return Vec::new();
        }
        if let RequestBody::Abort(abort) = &job.request.body
            && let Some(input) = self.input(|input| abort.message_reference.service_id.as_deref() == input.service_id())
        {
            let mut actions = self.with(input, now, |input, flow| input.gives_up(ErrorCondition::Aborted, flow));
            actions.push(Action::Answer { exchange, message: None });
            return actions;
        }
        let refused = match &job.request.body {
            RequestBody::Abort(abort) => {
                self.abort(&abort.message_reference.service_id.clone().unwrap_or_default());
                None
            }
            RequestBody::TransactionStatus(status) if self.is_under_way(status.message_reference.as_ref()) => {
                Some(Outcome::failure(ErrorCondition::InProgress))
            }
            // Not with the same message: that has become one with the other.
            RequestBody::Payment(_) | RequestBody::Reversal(_) if self.jobs.values().any(Job::moves_money) => {
                Some(because(ErrorCondition::Busy, &"another message of this till is being carried out"))
            }
            _ if self.jobs.len() >= MOST_EXCHANGES => {
                Some(because(ErrorCondition::Busy, &"too many messages of this till are being carried out"))
            }
            _ => None,
        };
        self.with(job, now, |job, flow| match refused {
            Some(outcome) => job.answered(outcome, flow),
            None => job.start(flow),
        })
    }

    /// The till does not wait for its answer any longer. What has begun goes on; nobody types for it any more.
    pub fn gone(&mut self, exchange: Exchange) -> Vec<Action> {
        for job in self.jobs.values_mut() {
            job.heard_by.retain(|heard_by| *heard_by != exchange);
        }
        let unheard = self.input(|input| !input.is_heard());
        unheard.and_then(|input| input.ticket).map(|ticket| Action::GiveUp { ticket }).into_iter().collect()
    }

    /// The first Input that is carried out and is meant, taken out of the others.
    fn input(&mut self, meant: impl Fn(&Job) -> bool) -> Option<Job> {
        let is_input = |job: &Job| matches!(job.request.body, RequestBody::Input(_));
        let exchange = self.jobs.values().find(|job| is_input(job) && meant(job))?.exchange;
        self.jobs.remove(&exchange)
    }

    /// The terminal has answered.
    pub fn said(&mut self, ticket: u64, said: Said, now: Now) -> Vec<Action> {
        if let Said::Status(status) = &said {
            self.facts = Facts::of(status);
        }
        let Some(exchange) = self.jobs.values().find(|job| job.ticket == Some(ticket)).map(|job| job.exchange) else {
            return Vec::new();
        };
        let Some(job) = self.jobs.remove(&exchange) else { return Vec::new() };
        self.with(job, now, |job, flow| job.said(said, flow))
    }

    /// Time has gone by: to be called at [`Self::next_deadline`], and allowed at any time.
    pub fn tick(&mut self, now: Now) -> Vec<Action> {
        let due = |job: &Job| job.again.as_ref().is_some_and(|(at, _)| *at <= now.steady);
        let due: Vec<Exchange> = self.jobs.values().filter(|job| due(job)).map(|job| job.exchange).collect();
        let mut actions = Vec::new();
        while let Some(input) = self.input(|input| input.until.is_some_and(|until| until <= now.steady)) {
            actions.extend(self.with(input, now, |input, flow| input.gives_up(ErrorCondition::Cancel, flow)));
        }
        for exchange in due {
            if let Some(job) = self.jobs.remove(&exchange) {
                actions.extend(self.with(job, now, Job::ask_again));
            }
        }
        actions
    }

    /// When [`Self::tick`] is to be called.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Duration> {
        let again = self.jobs.values().filter_map(|job| job.again.as_ref()).map(|(at, _)| *at);
        again.chain(self.jobs.values().filter_map(|job| job.until)).min()
    }

    fn with(&mut self, mut job: Job, now: Now, act: impl FnOnce(&mut Job, &mut Flow<'_>)) -> Vec<Action> {
        let mut flow = Flow {
            now,
            actions: Vec::new(),
            settings: &self.settings,
            facts: self.facts.as_ref(),
            logged_in: &mut self.logged_in,
            tickets: &mut self.tickets,
            rejected: &mut self.rejected,
        };
        act(&mut job, &mut flow);
        let actions = flow.actions;
        if job.stage != Stage::Over {
            self.jobs.insert(job.exchange, job);
        }
        actions
    }

    /// What is not begun yet is not begun any more; what is, the terminal is asked to stop.
    fn abort(&mut self, service_id: &str) {
        let job = self.jobs.values_mut().find(|job| job.moves_money() && job.request.header.service_id() == service_id);
        if let Some(job) = job {
            job.aborted = true;
        }
    }

    fn is_under_way(&self, reference: Option<&super::shared::MessageReference>) -> bool {
        let asked = reference.and_then(|reference| reference.service_id.as_deref());
        let mut jobs = self.jobs.values().filter(|job| job.moves_money());
        jobs.any(|job| asked.is_none_or(|asked| job.request.header.service_id() == asked))
    }

    /// The same message while it is being carried out: both have one answer.
    fn waits_for_its_twin(&mut self, job: &Job) -> bool {
        let waiting: usize = self.jobs.values().map(|job| job.heard_by.len()).sum();
        let twin = self.jobs.values_mut().find(|first| first.is_twin_of(job));
        let Some(twin) = twin.filter(|_| waiting < MOST_EXCHANGES) else { return false };
        twin.heard_by.push(job.exchange);
        true
    }
}

impl Job {
    fn new(exchange: Exchange, request: Request, received: Vec<u8>) -> Self {
        Self {
            exchange,
            meaning: Meaning::of(&request),
            apart: false,
            request,
            received,
            stage: Stage::Terminal,
            ticket: None,
            again: None,
            silent_since: None,
            reference: None,
            begun: false,
            lost: false,
            begin: None,
            original: None,
            sale: None,
            receipts: Vec::new(),
            closed: None,
            aborted: false,
            until: None,
            heard_by: vec![exchange],
        }
    }

    fn is_twin_of(&self, other: &Self) -> bool {
        let is_once = match (&self.request.body, &other.request.body) {
            (RequestBody::Reconciliation(own), RequestBody::Reconciliation(other)) => own == other,
            _ => self.moves_money(),
        };
        is_once && self.meaning == other.meaning && self.request.identity() == other.request.identity()
    }

    fn is_heard(&self) -> bool {
        !self.heard_by.is_empty()
    }

    fn moves_money(&self) -> bool {
        matches!(self.request.body, RequestBody::Payment(_) | RequestBody::Reversal(_))
    }

    fn start(&mut self, flow: &mut Flow<'_>) {
        match &self.request.body {
            RequestBody::Payment(_) | RequestBody::Reversal(_) => match flow.facts {
                Some(_) => self.look_whether_known(flow),
                None => self.ask(Ask::Status, Stage::Facts, flow),
            },
            RequestBody::TransactionStatus(status) => {
                let named = status.message_reference.clone().unwrap_or_default();
                self.look_for(&named, flow);
            }
            RequestBody::Abort(abort) => {
                let named = abort.message_reference.clone();
                self.look_for(&named, flow);
            }
            RequestBody::Login(login) if login.training_mode_flag => {
                let why = "TrainingModeFlag: this terminal does not train by a till; nothing was changed";
                self.answered(because(ErrorCondition::UnavailableService, &why), flow);
            }
            RequestBody::Diagnosis(_) | RequestBody::Login(_) => self.ask(Ask::Status, Stage::Terminal, flow),
            RequestBody::Logout(_) => {
                *flow.logged_in = false;
                self.answered(Outcome::success(), flow);
            }
            RequestBody::Reconciliation(wanted) => match wanted.reconciliation_type {
                ReconciliationType::PreviousReconciliation => self.ask(Ask::LastClose, Stage::Terminal, flow),
                _ => self.close(self.identity().reference(), Stage::Closing, flow),
            },
            RequestBody::GetTotals(_) => self.ask(Ask::OpenPeriod, Stage::Terminal, flow),
            RequestBody::Input(input) => match (wanted::typed(input), flow.facts) {
                (false, _) => {
                    let why = "the reader takes amounts: InputCommand DecimalString of the device CustomerInput";
                    self.answered(because(ErrorCondition::UnavailableDevice, &why), flow);
                }
                (true, None) => self.ask(Ask::Status, Stage::Facts, flow),
                (true, Some(facts)) => {
                    let most = input.input_data.max_input_time.filter(|seconds| *seconds > 0);
                    let until = most.map(|seconds| flow.now.steady + Duration::from_secs(seconds.into()));
                    // The terminal that does not answer is asked again; the time runs from the first question.
                    self.until = self.until.or(until);
                    self.ask(Ask::TypeAmount { currency: facts.currency.clone() }, Stage::Terminal, flow);
                }
            },
            RequestBody::Print(_) => self.ask(Ask::Status, Stage::Facts, flow),
            RequestBody::Display(display) => match printing::text_to_show(display) {
                Some(text) => self.ask(Ask::ShowText(text), Stage::Terminal, flow),
                None => {
                    let why = "the reader shows a text: Device CustomerDisplay, OutputFormat Text, no MenuEntry";
                    self.answered(because(ErrorCondition::UnavailableDevice, &why), flow);
                }
            },
            _ => self.answered(Outcome::failure(ErrorCondition::UnavailableService), flow),
        }
    }

    fn ask(&mut self, ask: Ask, stage: Stage, flow: &mut Flow<'_>) {
        *flow.tickets += 1;
        self.stage = stage;
        self.again = Some((Duration::MAX, ask.clone()));
        self.ticket = Some(*flow.tickets);
        flow.actions.push(Action::Ask { ticket: *flow.tickets, ask });
    }

    /// Nobody waits for what is typed any more.
    fn gives_up(&mut self, condition: ErrorCondition, flow: &mut Flow<'_>) {
        flow.actions.extend(self.ticket.take().map(|ticket| Action::GiveUp { ticket }));
        self.answered(Outcome::failure(condition), flow);
    }

    fn service_id(&self) -> Option<&str> {
        self.request.header.service_id.as_deref()
    }

    fn ask_again(&mut self, flow: &mut Flow<'_>) {
        if let Some((_, ask)) = self.again.take() {
            self.ask(ask, self.stage, flow);
        }
    }

    fn said(&mut self, said: Said, flow: &mut Flow<'_>) {
        self.ticket = None;
        let asked = self.again.take().map(|(_, ask)| ask);
        if self.stage == Stage::Printing {
            return self.printed(&said, flow);
        }
        // The sale that is looked at cannot be read: as no answer.
        let lost_sight = matches!((self.stage, &said), (Stage::Watching, Said::Refused(_)));
        if let Said::NoAnswer { may_be_done } = said {
            self.lost |= may_be_done && self.stage == Stage::Beginning;
            self.begun |= self.lost;
        }
        if lost_sight || matches!(said, Said::NoAnswer { .. }) || self.says_nothing(&said) {
            let since = *self.silent_since.get_or_insert(flow.now.steady);
            match (asked, said) {
                (Some(ask), _) if flow.now.steady < since + NO_ANSWER => {
                    self.again = Some((flow.now.steady + PAUSE, ask));
                }
                (_, Said::Refused(problem)) if self.stage == Stage::Beginning && !self.lost => {
                    self.answered(refused(&problem), flow);
                }
                _ => self.nobody_answers(flow),
            }
            return;
        }
        self.silent_since = None;
        match self.stage {
            Stage::Facts => self.facts(&said, flow),
            Stage::Known => self.known(said, flow),
            Stage::SameMessage => self.same_message(said, flow),
            Stage::SameTransaction => self.same_transaction(said, flow),
            Stage::Original => self.original(said, flow),
            Stage::OriginalWhole => self.original_whole(said, flow),
            Stage::Beginning => self.beginning(said, flow),
            Stage::Watching | Stage::Signing | Stage::Cancelling if self.moves_money() => self.watched(said, flow),
            Stage::Receipt(_) => self.receipt(said, flow),
            Stage::Earlier => self.earlier(said, flow),
            Stage::Terminal => self.terminal(&said, flow),
            Stage::Closing => self.closing(said, flow),
            Stage::LastClose => self.last_close(&said, flow),
            Stage::Watching | Stage::Signing | Stage::Cancelling | Stage::Printing | Stage::Over => {
                self.over(None, flow);
            }
        }
    }

    /// Whether a refusal of the begin leaves open what became of an earlier one.
    fn says_nothing(&self, said: &Said) -> bool {
        let (Stage::Beginning, Said::Refused(problem)) = (self.stage, said) else { return false };
        match problem.known() {
            Some(known) => known.is_passing() || self.lost && !known.follows_the_look_for_the_reference(),
            None => self.lost || problem.status >= 500,
        }
    }

    /// The terminal has been silent for too long.
    fn nobody_answers(&mut self, flow: &mut Flow<'_>) {
        if self.begun {
            let why = "nobody knows yet what became of it; ask for it by TransactionStatus";
            return self.answered(because(ErrorCondition::UnreachableHost, &why), flow);
        }
        let why = "the terminal's program does not answer; nothing was begun";
        self.answered(because(ErrorCondition::UnavailableDevice, &why), flow);
    }

    fn facts(&mut self, said: &Said, flow: &mut Flow<'_>) {
        match (&self.request.body, flow.facts) {
            (RequestBody::Print(print), _) => {
                let print = print.print_output.clone();
                self.print(&print, said, flow);
            }
            (_, None) => {
                let why = "the terminal has no currency; see pos-agent status";
                self.answered(because(ErrorCondition::UnavailableDevice, &why), flow);
            }
            (RequestBody::Payment(_) | RequestBody::Reversal(_), Some(_)) => self.look_whether_known(flow),
            _ => self.start(flow),
        }
    }

    fn print(&mut self, print: &PrintOutput, said: &Said, flow: &mut Flow<'_>) {
        let has_none = matches!(said, Said::Status(status) if status.printers.is_empty());
        match printing::lines(print, flow.settings.profile) {
            _ if has_none => {
                self.answered(because(ErrorCondition::UnavailableDevice, &"the terminal has no printer"), flow);
            }
            None => {
                let why = "this terminal prints OutputFormat Text alone; nothing was printed";
                self.answered(because(ErrorCondition::UnavailableDevice, &why), flow);
            }
            Some(lines) => self.ask(Ask::Print(lines), Stage::Printing, flow),
        }
    }

    /// Not again after no answer: it may be on paper.
    fn printed(&mut self, said: &Said, flow: &mut Flow<'_>) {
        let outcome = match said {
            Said::Refused(problem) if problem.is(ProblemType::Printer) => {
                because(ErrorCondition::DeviceOut, &problem.detail)
            }
            Said::Refused(problem) => refused(problem),
            Said::NoAnswer { may_be_done } => {
                let may = if *may_be_done { "it may be on paper" } else { "nothing was printed" };
                let why = format!("the terminal's program does not answer; {may}");
                because(ErrorCondition::UnavailableDevice, &why)
            }
            _ => Outcome::success(),
        };
        self.answered(outcome, flow);
    }

    /// One question about the terminal is answered.
    fn terminal(&mut self, said: &Said, flow: &mut Flow<'_>) {
        let outcome = match said {
            Said::Refused(problem) if problem.is(ProblemType::NothingTyped) => Outcome::failure(ErrorCondition::Cancel),
            Said::Refused(problem) => refused(problem),
            _ => Outcome::success(),
        };
        if matches!((&self.request.body, said), (RequestBody::Login(_), Said::Status(_))) {
            *flow.logged_in = true;
        }
        let body = self.request.body.answered(outcome).map(|body| about::with_facts(body, said, flow));
        self.over(body, flow);
    }

    /// The answer that has nothing but how it ended.
    fn answered(&mut self, outcome: Outcome, flow: &mut Flow<'_>) {
        let body = self.request.body.answered(outcome);
        self.over(body, flow);
    }

    fn over(&mut self, body: Option<ResponseBody>, flow: &mut Flow<'_>) {
        let header = self.request.header.response();
        let message = body.map(|body| Box::new(Message::Response(Response { header, body })));
        self.end(message, flow);
    }

    /// It is not taken at all, and this is why.
    fn reject(&mut self, why: &dyn fmt::Display, flow: &mut Flow<'_>) {
        *flow.rejected = flow.rejected.wrapping_add(1);
        let rejected = Rejected {
            header: Some(&self.request.header),
            received: &self.received,
            poi_id: &flow.settings.poi_id,
            device_id: &flow.rejected.to_string(),
            time_stamp: &rfc3339(flow.now.unix_s),
        };
        let message = Box::new(rejected.notification(why));
        self.end(Some(message), flow);
    }

    fn end(&mut self, message: Option<Box<Message>>, flow: &mut Flow<'_>) {
        self.stage = Stage::Over;
        let answer = |exchange| Action::Answer { exchange, message: message.clone() };
        flow.actions.extend(self.heard_by.drain(..).map(answer));
    }

    fn identity(&self) -> Identity<'_> {
        self.request.identity()
    }
}

impl Facts {
    fn of(status: &Status) -> Option<Self> {
        Some(Self {
            terminal_id: status.terminal_id.clone(),
            merchant: status.merchant.first().unwrap_or(&status.terminal_id).clone(),
            currency: status.currency.clone()?,
            decimals: status.currency_decimals.unwrap_or(2),
        })
    }
}

/// It is not done, and this is why.
fn because(condition: ErrorCondition, why: &dyn fmt::Display) -> Outcome {
    Outcome::failure(condition).with(additional::write([("message", why.to_string().as_str())]))
}

/// The terminal has refused it: nothing was done.
fn refused(problem: &Problem) -> Outcome {
    use ProblemType as P;
    let condition = match problem.known() {
        Some(P::Busy | P::ListUnderWay | P::TooManyRequests | P::NoPlace) => ErrorCondition::Busy,
        Some(P::NoSuchSale | P::NoSuchClose) => ErrorCondition::NotFound,
        Some(
            P::Amount
            | P::Currency
            | P::NotPossible
            | P::Forbidden
            | P::OperatorRequired
            | P::OperatorRole
            | P::SessionEnded
            | P::SupervisorNeeded
            | P::NotApproved,
        ) => ErrorCondition::NotAllowed,
        Some(P::Parameter | P::Reference | P::Operator | P::Malformed | P::TooLarge) => ErrorCondition::MessageFormat,
        Some(P::NotReady | P::Journal | P::Printer) => ErrorCondition::UnavailableDevice,
        _ => ErrorCondition::UnavailableService,
    };
    because(condition, &problem.detail)
}
