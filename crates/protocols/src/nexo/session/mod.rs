//! The terminal's side of a nexo session: requests to the terminal, and answers to the till. The session has no socket
//! and no clock. Events come in with their time, and [`Action`]s go out.
//!
//! | request | request to the terminal | answer |
//! |---|---|---|
//! | Payment | whether it is known, begin, show, receipts | the outcome; Failure/UnreachableHost while it is unknown |
//! | Reversal | as for Payment, about the earlier transaction: a reversal, or a refund of a part | as for Payment |
//! | Abort | cancel of the named message; for Input, its end | nothing: the stopped request answers Failure/Aborted |
//! | TransactionStatus | the transaction of the message that it names, or the latest | its answer again, InProgress, NotFound |
//! | Diagnosis, Login | status | the state of the terminal |
//! | Logout | nothing | Success |
//! | Reconciliation | a close; the last one for PreviousReconciliation | its sums; refused if a newer close was made |
//! | GetTotals | the open period | its sums |
//! | Input | an amount that is typed at the reader | the typed amount; Failure/Cancel without one, also after MaxInputTime |
//! | Print | status, lines to print | Success if they are on paper, DeviceOut if they are not |
//! | Display | a text to show on the reader | Success; UnavailableDevice while the reader asks for a card |
//! | EnableService | nothing | UnavailableService |
//! | any other request | nothing | UnavailableService |
//!
//! **One message is carried out once.** Till, terminal, category, ServiceID and SaleTransactionID form the reference of
//! the transaction. A repeated message therefore finds the same transaction, even if its first sender is gone. A
//! repeated message must also have the same effect on money ([`super::meaning`]), which is stored with the transaction.
//!
//! | ServiceID | SaleTransactionID | meaning | response |
//! |---|---|---|---|
//! | the same | the same | the same | the earlier answer; while the first is in progress, one answer for both |
//! | the same | the same | different | rejected for 48 hours, and while the payment is open or approved |
//! | the same | different | | rejected for 48 hours, then new |
//! | different | of an approved, open or unconfirmed payment | | rejected: TransactionStatus returns its outcome |
//! | different | of a declined, cancelled, not-sent or reversed payment, or of no payment | | new |
//!
//! The session stores no fact that decides about money. It asks the terminal each time.

mod about;
mod acquirer;
mod flow;
mod job;
mod metadata;
mod printing;
mod receipt_keys;
mod refusal;
mod told;
mod wanted;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::enums::{Category, ErrorCondition};
use super::envelope::Message;
use super::receipt::Profile;
use super::request::{Request, RequestBody};
use super::response::ResponseBody;
use super::shared::{MessageReference, Outcome};
use flow::{Facts, Flow};
use job::Job;
use pos_till_api::{Ask, Said};
use refusal::because;

pub use acquirer::may_be_ignored;

/// Maximum number of exchanges at the same time. A till sends one request, aborts it, and asks for its state.
const MOST_EXCHANGES: usize = 8;

/// The number of one request and its answer. With HTTP, it is one exchange.
pub type Exchange = u32;

/// How a request comes to the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrival {
    /// From the till.
    #[default]
    New,
    /// The caller has accepted it earlier, and asks again after an interruption. Texts and inputs are not repeated.
    Again {
        /// The time that is left for a new transaction to begin. After it, the message is `Late`.
        left: Duration,
    },
    /// As `Again`, but so late that no new transaction may begin. The answer says what became of an earlier one.
    Late,
}

/// The settings for this till.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The till's name, `SaleID`.
    pub sale_id: String,
    /// The terminal's name, `POIID`.
    pub poi_id: String,
    /// The till may pay out money without an earlier payment.
    pub credit: bool,
    /// The terminal prints receipts, and the till gets them too.
    pub terminal_prints: bool,
    /// The form of the receipts.
    pub profile: Profile,
    /// Characters per line of a receipt.
    pub width: u8,
    /// The till captures its reservations at this terminal: `authorisationType=PreAuth` and `manualCapture` reserve.
    pub reserves: bool,
    /// Keys of SaleToAcquirerData that are ignored, together with the keys below them.
    pub ignore: Vec<String>,
    /// The till's name at the terminal, if the till wants its own sums instead of the terminal's.
    pub own_sums: Option<String>,
}

/// The current time.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// The time since a fixed moment. It never decreases.
    pub steady: Duration,
    /// The wall clock, in seconds since 1970.
    pub unix_s: u64,
}

/// An action for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Ask the terminal. Its answer comes back through [`Session::said`] with the same ticket.
    Ask {
        /// The number of the question.
        ticket: u64,
        /// The question.
        ask: Ask,
    },
    /// Cancel this question. No till waits for its answer, and the terminal stops working on it.
    GiveUp {
        /// The number of the question.
        ticket: u64,
    },
    /// Answer the till. This ends the exchange.
    Answer {
        /// The exchange.
        exchange: Exchange,
        /// The answer, or `None` if the protocol has none.
        message: Option<Box<Message>>,
    },
}

/// The session of one till.
#[derive(Debug)]
pub struct Session {
    settings: Settings,
    facts: Option<Facts>,
    logged_in: bool,
    jobs: BTreeMap<Exchange, Job>,
    /// Requests about money that were accepted before an interruption, and wait for another one of this till.
    held: VecDeque<Job>,
    tickets: u64,
    rejected: u32,
    last: Option<(Category, String)>,
}

impl Session {
    /// Creates the session of a till.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let (jobs, held) = (BTreeMap::new(), VecDeque::new());
        Self { settings, facts: None, logged_in: false, jobs, held, tickets: 0, rejected: 0, last: None }
    }

    /// Returns category and ServiceID of the last request.
    #[must_use]
    pub fn last_request(&self) -> Option<(Category, &str)> {
        self.last.as_ref().map(|(category, service_id)| (*category, service_id.as_str()))
    }

    /// Handles a request from the till. `received` is the message as it arrived, for a rejection.
    pub fn asked(&mut self, exchange: Exchange, request: Request, received: Vec<u8>, now: Now) -> Vec<Action> {
        self.arrived(exchange, (request, Arrival::New), received, now)
    }

    /// Handles a request that may have been accepted earlier.
    pub fn arrived(
        &mut self,
        exchange: Exchange,
        (request, arrival): (Request, Arrival),
        received: Vec<u8>,
        now: Now,
    ) -> Vec<Action> {
        let category = request.header.message_category;
        let service_id = request.header.service_id.clone().unwrap_or_default();
        self.last = Some((category, service_id));
        let job = Job::new(exchange, request, received, (arrival, now.steady));
        if category == Category::Event {
            return vec![Action::Answer { exchange, message: None }];
        }
        let poi_id = self.settings.poi_id.clone();
        if job.request.header.poi_id != poi_id {
            return self.with(job, now, |job, flow| {
                job.reject(&format!("MessageHeader.POIID: this terminal is {poi_id}"), flow);
            });
        }
        match self.waits_for_its_twin(&job) {
            Some(true) => return Vec::new(),
            // It was begun, so `Busy` would be wrong.
            Some(false) => {
                let outcome = Outcome::failure(ErrorCondition::InProgress);
                return self.with(job, now, |job, flow| job.answered(outcome, flow));
            }
            None => {}
        }
        if let RequestBody::Abort(abort) = &job.request.body
            && let Some(input) = self.input(|input| abort.message_reference.service_id.as_deref() == input.service_id())
        {
            let mut actions = self.with(input, now, |input, flow| input.gives_up(ErrorCondition::Aborted, flow));
            actions.push(Action::Answer { exchange, message: None });
            return actions;
        }
        if arrival != Arrival::New && job.moves_money() && self.jobs.values().any(Job::moves_money) {
            // It may have been carried out before the interruption, so `Busy` could be wrong.
            self.held.push_back(job);
            return Vec::new();
        }
        let refused = match &job.request.body {
            RequestBody::Abort(abort) => {
                self.abort(&abort.message_reference.service_id.clone().unwrap_or_default());
                None
            }
            RequestBody::TransactionStatus(status) if self.is_under_way(status.message_reference.as_ref()) => {
                Some(Outcome::failure(ErrorCondition::InProgress))
            }
            // This does not affect a repeated message, which was joined to the first one above.
            RequestBody::Payment(_) | RequestBody::Reversal(_) if self.jobs.values().any(Job::moves_money) => {
                Some(because(ErrorCondition::Busy, &"another message of this till is being processed"))
            }
            _ if self.jobs.len() >= MOST_EXCHANGES && arrival == Arrival::New => {
                Some(because(ErrorCondition::Busy, &"too many messages of this till are being processed"))
            }
            _ => None,
        };
        self.with(job, now, |job, flow| match refused {
            Some(outcome) => job.answered(outcome, flow),
            None => job.start(flow),
        })
    }

    /// Handles a till that no longer waits for its answer. A transaction in progress continues, but an input is
    /// cancelled.
    pub fn gone(&mut self, exchange: Exchange) -> Vec<Action> {
        for job in self.jobs.values_mut().chain(&mut self.held) {
            job.heard_by.retain(|heard_by| *heard_by != exchange);
        }
        let unheard = self.input(|input| !input.is_heard());
        unheard.and_then(|input| input.ticket()).map(|ticket| Action::GiveUp { ticket }).into_iter().collect()
    }

    /// Removes and returns the first input in progress for which `meant` returns `true`.
    fn input(&mut self, meant: impl Fn(&Job) -> bool) -> Option<Job> {
        let exchange = self.jobs.values().find(|job| job.is_input() && meant(job))?.exchange;
        self.jobs.remove(&exchange)
    }

    /// Handles an answer of the terminal.
    pub fn said(&mut self, ticket: u64, said: Said, now: Now) -> Vec<Action> {
        if let Said::Status(status) = &said {
            self.facts = Facts::of(status);
        }
        let Some(exchange) = self.jobs.values().find(|job| job.ticket() == Some(ticket)).map(|job| job.exchange) else {
            return Vec::new();
        };
        let Some(job) = self.jobs.remove(&exchange) else { return Vec::new() };
        self.with(job, now, |job, flow| job.said(said, flow))
    }

    /// Handles the passing of time. Call it at [`Self::next_deadline`]. Additional calls are harmless.
    pub fn tick(&mut self, now: Now) -> Vec<Action> {
        let due = |job: &Job| job.asks_at().is_some_and(|at| at <= now.steady);
        let due: Vec<Exchange> = self.jobs.values().filter(|job| due(job)).map(|job| job.exchange).collect();
        let mut actions = Vec::new();
        while let Some(input) = self.input(|input| input.until().is_some_and(|until| until <= now.steady)) {
            actions.extend(self.with(input, now, |input, flow| input.gives_up(ErrorCondition::Cancel, flow)));
        }
        for exchange in due {
            if let Some(job) = self.jobs.remove(&exchange) {
                actions.extend(self.with(job, now, Job::ask_again));
            }
        }
        actions
    }

    /// Returns when to call [`Self::tick`] next.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Duration> {
        self.jobs.values().flat_map(|job| [job.asks_at(), job.until()]).flatten().min()
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
        let mut actions = flow.actions;
        if !job.is_over() {
            self.jobs.insert(job.exchange, job);
        }
        if !self.jobs.values().any(Job::moves_money)
            && let Some(next) = self.held.pop_front()
        {
            actions.extend(self.with(next, now, Job::start));
        }
        actions
    }

    /// Marks a payment as aborted. A payment that has not begun does not begin. Otherwise the session asks the terminal
    /// to stop it.
    fn abort(&mut self, service_id: &str) {
        let mut jobs = self.jobs.values_mut().chain(&mut self.held);
        let job = jobs.find(|job| job.moves_money() && job.request.header.service_id() == service_id);
        if let Some(job) = job {
            job.aborted = true;
        }
    }

    fn is_under_way(&self, reference: Option<&MessageReference>) -> bool {
        let asked = reference.and_then(|reference| reference.service_id.as_deref());
        let mut jobs = self.jobs.values().chain(&self.held).filter(|job| job.moves_money());
        jobs.any(|job| asked.is_none_or(|asked| job.request.header.service_id() == asked))
    }

    /// Joins a repeated message to the first one that is in progress, so that both get one answer. Returns `None` if
    /// there is no first one, and `false` if too many messages wait.
    fn waits_for_its_twin(&mut self, job: &Job) -> Option<bool> {
        let waiting: usize = self.jobs.values().map(|job| job.heard_by.len()).sum();
        let twin = self.jobs.values_mut().chain(&mut self.held).find(|first| first.is_twin_of(job))?;
        let has_room = waiting < MOST_EXCHANGES;
        if has_room {
            twin.heard_by.push(job.exchange);
        }
        Some(has_room)
    }
}

/// Returns whether an answer leaves open what became of a transaction. Either the terminal's program did not answer, or
/// too many copies of the message wait. The caller may ask again. An answer that names a transaction is the program's
/// own.
#[must_use]
pub fn leaves_open(answer: &Message) -> bool {
    let Message::Response(response) = answer else { return false };
    let (outcome, poi_data) = match &response.body {
        ResponseBody::Payment(payment) => (&payment.outcome, &payment.poi_data),
        ResponseBody::Reversal(reversal) => (&reversal.outcome, &reversal.poi_data),
        _ => return false,
    };
    let is_open = [ErrorCondition::UnreachableHost, ErrorCondition::InProgress].map(Some);
    is_open.contains(&outcome.error_condition) && poi_data.is_none()
}
