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
mod flow;
mod job;
mod printing;
mod receipt_keys;
mod refusal;
mod told;
mod wanted;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use super::enums::{Category, ErrorCondition};
use super::envelope::Message;
use super::receipt::Profile;
use super::request::{Request, RequestBody};
use super::shared::{MessageReference, Outcome};
use flow::{Facts, Flow};
use job::Job;
use pos_till_api::{Ask, Said};
use refusal::because;

pub use acquirer::may_be_ignored;

/// A till asks one thing at a time, and aborts it, and asks how it stands.
const MOST_EXCHANGES: usize = 8;

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
    /// The till's name at the terminal, where it hears its own sums in the place of the terminal's.
    pub own_sums: Option<String>,
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
        unheard.and_then(|input| input.ticket()).map(|ticket| Action::GiveUp { ticket }).into_iter().collect()
    }

    /// The first Input that is carried out and is meant, taken out of the others.
    fn input(&mut self, meant: impl Fn(&Job) -> bool) -> Option<Job> {
        let exchange = self.jobs.values().find(|job| job.is_input() && meant(job))?.exchange;
        self.jobs.remove(&exchange)
    }

    /// The terminal has answered.
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

    /// Time has gone by: to be called at [`Self::next_deadline`], and allowed at any time.
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

    /// When [`Self::tick`] is to be called.
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
        let actions = flow.actions;
        if !job.is_over() {
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

    fn is_under_way(&self, reference: Option<&MessageReference>) -> bool {
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
