//! The bank: the simulated gateway with its issuers, and a ledger in memory (`ledger.rs`). It is written from the
//! interface, and shares no code with the agent or with `pos-sim`'s gateway. `host_rules.rs` has its answers and
//! refusals, and `bank_server.rs` has its side of the connection.
//!
//! | rules | booked requests |
//! |---|---|
//! | checked | requests that its rules allow: no more is returned or captured than the payment holds |
//! | permissive | every request, each time it is sent |
//! | literal | as permissive, but each reference once; requests and answers follow the interface literally |

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};

use super::State;
use super::board::ENTITY;
use super::host_rules::{HostRules, ShownFields, id_of, shown};
use super::ledger::{Asked, AskedThing, EARLIER_DAY, Entry, EntryState, Practice, RequestFate};
use super::tills::TillResult;

/// The delay of a request whose connection was cut before the request was carried out. It is longer than any wait for
/// an answer.
pub const LATE: Duration = Duration::from_secs(90);
/// The delay of a late answer; the agent waits for only 10 s.
const LATE_ANSWER: Duration = Duration::from_secs(25);
/// The time for which a payment is pending.
const PENDING: Duration = Duration::from_secs(3);
/// The amount that a bank reverses in part, in minor units.
const PART: u64 = 100;

/// The bank's behaviour for the next payments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Behaviour {
    Approves,
    Declines,
    ApprovesPart,
    PendingThenApproved,
    PendingThenDeclined,
    /// Refuses two requests as too many, and then approves.
    Throttles,
    /// Answers HTTP 500 without booking.
    FailsBefore,
    /// Books, and answers HTTP 500.
    FailsAfter,
    /// Books, and sends a meaningless answer.
    Garbage,
    SilentBefore,
    SilentAfter,
    /// Books immediately, but answers after the agent has stopped waiting.
    AnswersLate,
    /// Books after the agent has stopped waiting for the answer.
    BooksLate,
    /// Approves more than the requested amount.
    ApprovesMore,
    ApprovesInAnotherCurrency,
    /// Approves, but sends "declined" to the chip.
    ContradictsItself,
    /// Books nothing, and answers with the approval of another payment.
    MixesUp,
    /// Approves a part, and does not answer.
    ApprovesPartSilently,
    /// Books nothing, and answers with an approval of another kind.
    ApprovesAnotherKind,
    /// Books nothing, and answers with an approval whose id was already used.
    ApprovesAnOldId,
    /// Books, and sends the approval with HTTP 401, 403 or 404.
    ApprovesAndRefuses,
    /// Declines with HTTP 200.
    DeclinesOddly,
    /// Books, and answers HTTP 200 with the code of a decline.
    BooksAndDeclines,
    /// Books the whole amount, but the answer says partially approved.
    AnswersAPart,
    /// Books nothing, and answers that the request is invalid.
    FindsItInvalid,
}

impl Behaviour {
    pub const ALL: [Self; 25] = [
        Self::Approves,
        Self::Declines,
        Self::ApprovesPart,
        Self::PendingThenApproved,
        Self::PendingThenDeclined,
        Self::Throttles,
        Self::FailsBefore,
        Self::FailsAfter,
        Self::Garbage,
        Self::SilentBefore,
        Self::SilentAfter,
        Self::AnswersLate,
        Self::BooksLate,
        Self::ApprovesMore,
        Self::ApprovesInAnotherCurrency,
        Self::ContradictsItself,
        Self::MixesUp,
        Self::ApprovesPartSilently,
        Self::ApprovesAnotherKind,
        Self::ApprovesAnOldId,
        Self::ApprovesAndRefuses,
        Self::DeclinesOddly,
        Self::BooksAndDeclines,
        Self::AnswersAPart,
        Self::FindsItInvalid,
    ];
}

/// The bank's behaviour for a look-up or for the agent's reversal. After the last entry of the queue, the bank works
/// normally.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trouble {
    /// Answers HTTP 404 to a query.
    CannotFind,
    /// Answers HTTP 500.
    Fails,
    /// Sends a meaningless answer.
    Garbage,
    /// Carries out nothing, and does not answer.
    Silent,
    /// Carries out the request, and does not answer.
    SilentAfter,
    /// Refuses, because the access token was revoked.
    Refuses,
    /// Lists the payments of all terminals.
    ListsAll,
    /// Answers HTTP 404 to every query by reference, permanently, but accepts reversals.
    NeverFinds,
    /// Answers HTTP 500 to a look-up, but accepts reversals.
    CannotTell,
    /// Carries out a part of a reversal, and says so in the answer.
    ReversesPart,
    /// Carries out a part of a reversal, and does not answer.
    ReversesPartSilently,
}

impl Trouble {
    /// All troubles of look-ups and reversals.
    pub const ALL: [Self; 8] = [
        Self::CannotFind,
        Self::Fails,
        Self::Garbage,
        Self::Silent,
        Self::SilentAfter,
        Self::Refuses,
        Self::ReversesPart,
        Self::ReversesPartSilently,
    ];

    /// Returns whether the trouble affects only reversals.
    fn is_of_a_reversal(self) -> bool {
        matches!(self, Self::ReversesPart | Self::ReversesPartSilently)
    }
}

/// A request that was read completely.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// The requested path and query.
    pub target: String,
    pub token: Option<String>,
    pub is_form: bool,
    pub form: Vec<(String, String)>,
}

impl Request {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.form.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn text(&self, name: &str) -> String {
        self.get(name).unwrap_or_default().to_owned()
    }

    /// Returns whether the request is a query, by GET or by POST with body parameters.
    pub(super) fn is_query(&self) -> bool {
        self.path.starts_with("/v1/query")
    }

    /// Returns whether the request is for a till's wish. All other requests are look-ups and the agent's automatic
    /// reversals.
    pub fn is_wish(&self) -> bool {
        self.moves_money() && !self.is_reversal()
    }

    /// Returns whether the request can lead to a booking.
    pub fn moves_money(&self) -> bool {
        (self.method == "POST" && !self.is_query()) || self.method == "DELETE"
    }

    fn is_reversal(&self) -> bool {
        self.get("paymentType") == Some("RV") && self.wish().is_none()
    }

    /// Returns the number of the till's wish from the note in the request. The agent's automatic requests have no note.
    fn wish(&self) -> Option<usize> {
        let note = self.get("merchantMemo").or_else(|| self.get("customer.givenName"));
        match (self.card(), note) {
            (Some("DR"), _) => self.path.rsplit('/').next()?.strip_prefix('f')?.parse().ok(),
            (_, note) => note?.strip_prefix("wish number ")?.parse().ok(),
        }
    }

    /// Returns the action on a stored card without a payment, as a type of the query.
    pub(super) fn card(&self) -> Option<&'static str> {
        match (self.method.as_str(), self.path.strip_prefix("/v1/registrations")?) {
            ("POST", "") => Some("RG"),
            ("DELETE", _) => Some("DR"),
            _ => None,
        }
    }

    /// Returns the payment that the request refers to.
    pub(super) fn payment(&self) -> Option<String> {
        let in_path = self.path.strip_prefix("/v1/payments/").map(str::to_owned);
        in_path.or_else(|| self.get("referenceUuid").map(str::to_owned))
    }

    fn practice(&self) -> Option<Practice> {
        match self.get("standingInstruction.industryPractice") {
            Some("INCREMENTAL_AUTH") => Some(Practice::Increment),
            Some("REAUTHORIZATION") => Some(Practice::Anew),
            _ => None,
        }
    }

    fn what(&self) -> AskedThing {
        if let Some(kind) = self.card() {
            // Only the id identifies the card to delete.
            let id = self.path.rsplit('/').next().unwrap_or_default().to_owned();
            let reference = if kind == "DR" { id } else { self.text("merchantTransactionId") };
            return AskedThing {
                reference,
                payment: None,
                kind: kind.to_owned(),
                minor: 0,
                currency: "EUR".to_owned(),
            };
        }
        AskedThing {
            reference: self.text("merchantTransactionId"),
            payment: self.payment(),
            kind: self.text("paymentType"),
            minor: minor(&self.text("amount")),
            currency: self.text("currency"),
        }
    }
}

/// The reaction to a request.
pub(super) enum Reply {
    Answer {
        status: u16,
        body: Value,
        after: Duration,
    },
    /// HTTP 307 to another path.
    Moved(String),
    Bytes(Vec<u8>),
    Silence,
}

#[derive(Default)]
pub struct Bank {
    pub host_rules: HostRules,
    pub ledger: Vec<Entry>,
    /// Every request that was read and could move money.
    pub asked: Vec<Asked>,
    /// The behaviour for each payment in turn; the last one repeats.
    pub behaviours: VecDeque<Behaviour>,
    /// The trouble for each look-up and reversal in turn.
    pub troubles: VecDeque<Trouble>,
    throttled: u32,
    /// Requests to carry out later, with their positions in `asked`.
    late: Vec<(Duration, Request, usize)>,
    /// True if the bank does not answer.
    pub away: bool,
    pub token_revoked: bool,
    /// Every nth request is answered with a redirect; 0 means no redirects (literal).
    pub redirects: u64,
    /// True if the agent's configuration requires queries by POST.
    pub asked_by_post: bool,
    /// The times of the latest requests of each operation (literal).
    pub(super) operations: BTreeMap<String, VecDeque<Duration>>,
    /// The board that received the last answer to a query by date.
    pub dates_told_to: Option<usize>,
    /// The number of bytes after which answers are cut.
    pub answers_end_after: Option<usize>,
    /// The length of the last answer to a payment, in bytes.
    pub last_answer: usize,
    /// The number of the certificate in use.
    pub certificate: usize,
    pub requests: u64,
}

impl Bank {
    pub fn is_away(&self) -> bool {
        self.away
    }

    /// Adds a payment of an earlier day.
    pub fn earlier(&mut self, kind: &str, minor: u64) -> String {
        let id = self.next_id();
        self.ledger.push(Entry {
            id: id.clone(),
            kind: kind.to_owned(),
            asked: minor,
            approved: minor,
            currency: "EUR".to_owned(),
            reference: EARLIER_DAY.to_owned(),
            wish: None,
            refers_to: None,
            practice: None,
            state: EntryState::Approved,
            declined_with: "",
            reversed: 0,
            taken_back: 0,
            at: Duration::ZERO,
            again: false,
        });
        id
    }

    /// Adds payments of another terminal of the shop at this interval.
    pub fn elsewhere(&mut self, count: u32, every: Duration) {
        for number in 0..count {
            let id = self.earlier("DB", 100);
            let entry = self.entry_mut(Some(&id)).unwrap();
            entry.reference = format!("87654321-{}-{id}", number + 1);
            entry.at = every * number;
        }
    }

    fn next_id(&self) -> String {
        id_of(self.host_rules, self.ledger.len())
    }

    pub fn next_late(&self) -> Option<Duration> {
        let pending = self.ledger.iter().filter_map(|entry| match entry.state {
            EntryState::Pending { until, .. } => Some(until),
            _ => None,
        });
        self.late.iter().map(|(at, ..)| *at).chain(pending).min()
    }

    /// Counts the bookings that repeat a request, which is a remaining risk with permissive rules.
    pub fn booked_twice(&self) -> usize {
        self.ledger.iter().filter(|entry| entry.again && entry.state == EntryState::Approved).count()
    }

    fn entry_mut(&mut self, id: Option<&String>) -> Option<&mut Entry> {
        self.ledger.iter_mut().find(|entry| Some(&entry.id) == id)
    }
}

impl State {
    /// Carries out the due requests.
    pub fn bank_goes_on(&mut self) {
        let now = self.now();
        for place in 0..self.bank.ledger.len() {
            if let EntryState::Pending { until, approve } = self.bank.ledger[place].state
                && until <= now
            {
                self.bank.ledger[place].state = if approve { EntryState::Approved } else { EntryState::Declined };
                self.moved(place);
                self.booked();
            }
        }
        let due: Vec<_> = self.bank.late.extract_if(.., |(at, ..)| *at <= now).collect();
        for (_, request, asked) in due {
            let _ = self.carry_out(&request, asked, Behaviour::Approves);
        }
    }

    /// Keeps a request for later. It was read, but the connection was cut before it was carried out.
    pub(super) fn carried_out_later(&mut self, request: Request) {
        let asked = self.read(&request, RequestFate::Late);
        self.bank.late.push((self.now() + LATE, request, asked));
        self.judge_asked(asked);
    }

    /// Records a request that may move money, and returns its position.
    fn read(&mut self, request: &Request, fate: RequestFate) -> usize {
        let (at, board) = (self.now(), self.board());
        self.bank.asked.push(Asked { what: request.what(), wish: request.wish(), at, board, fate });
        self.bank.asked.len() - 1
    }

    /// Returns the answer to a request, after all changes to the ledger.
    pub(super) fn bank_answers(&mut self, request: &Request) -> Reply {
        self.bank_goes_on();
        if request.get("entityId").is_some_and(|entity| entity != ENTITY) {
            // Another account has a separate ledger, and its bookings are not kept.
            let ours = std::mem::take(&mut self.bank.ledger);
            let reply = self.account_answers(request);
            self.bank.ledger = ours;
            return reply;
        }
        self.account_answers(request)
    }

    fn account_answers(&mut self, request: &Request) -> Reply {
        self.bank.requests += 1;
        if let Some(reply) = self.turned_away(request) {
            return reply;
        }
        if !request.moves_money() {
            return self.question(request);
        }
        let asked = self.read(request, RequestFate::Lost);
        let reply = self.payment(request, asked);
        self.judge_asked(asked);
        reply
    }

    /// Refuses a request without examining it.
    fn turned_away(&mut self, request: &Request) -> Option<Reply> {
        let now = self.now();
        let reply = match self.bank.refuses(request, now) {
            None if self.bank.token_revoked => {
                said(401, json!({"result": {"code": "800.900.300", "description": "invalid authentication"}}))
            }
            None => return None,
            // A redirected request is not read to its end.
            Some(reply @ Reply::Moved(_)) => return Some(reply),
            Some(reply) => reply,
        };
        if request.moves_money() {
            let asked = self.read(request, RequestFate::NotProcessed);
            self.judge_asked(asked);
        }
        Some(reply)
    }

    fn payment(&mut self, request: &Request, asked: usize) -> Reply {
        if !request.is_wish() {
            return self.reversal(request, asked);
        }
        let behaviours = &mut self.bank.behaviours;
        let behaviour = match behaviours.front().copied() {
            Some(Behaviour::Throttles) if self.bank.throttled < 2 => {
                self.bank.throttled += 1;
                self.bank.asked[asked].fate = RequestFate::NotProcessed;
                return said(400, json!({"result": {"code": "800.120.100", "description": "too many requests"}}));
            }
            Some(Behaviour::Throttles) => {
                self.bank.throttled = 0;
                behaviours.pop_front();
                Behaviour::Approves
            }
            Some(behaviour) => {
                behaviours.pop_front();
                behaviour
            }
            None => Behaviour::Approves,
        };
        match behaviour {
            Behaviour::FailsBefore => return said(500, json!({"result": {"code": "900.100.100"}})),
            Behaviour::SilentBefore => return Reply::Silence,
            Behaviour::MixesUp => {
                let stranger = Entry {
                    id: "f".repeat(32),
                    reference: "of-another-shop".to_owned(),
                    ..self.approval_of_nothing(request)
                };
                return said(200, shown(&stranger, ShownFields::default()));
            }
            Behaviour::ApprovesAnotherKind => {
                let kind = if request.get("paymentType") == Some("RF") { "DB" } else { "RF" };
                let other = Entry { kind: kind.to_owned(), ..self.approval_of_nothing(request) };
                return said(200, shown(&other, ShownFields::default()));
            }
            // For the deletion of a card, its old id is the right one.
            Behaviour::ApprovesAnOldId if request.card() != Some("DR") => {
                if let Some(id) = self.id_seen_before(request) {
                    let old = Entry { id, ..self.approval_of_nothing(request) };
                    return said(200, shown(&old, ShownFields::default()));
                }
            }
            Behaviour::FindsItInvalid => {
                self.bank.asked[asked].fate = RequestFate::Refused;
                let result = json!({"code": "200.300.404", "description": "invalid or missing parameter"});
                return said(400, json!({"result": result}));
            }
            Behaviour::BooksLate => {
                self.bank.asked[asked].fate = RequestFate::Late;
                self.bank.late.push((self.now() + LATE, request.clone(), asked));
                return Reply::Silence;
            }
            _ => {}
        }
        let (status, mut answer) = self.carry_out(request, asked, behaviour);
        match behaviour {
            Behaviour::DeclinesOddly => return said(200, answer),
            Behaviour::BooksAndDeclines if status == 200 => {
                answer["result"] = json!({"code": "300.100.100", "description": "transaction declined"});
                return said(200, answer);
            }
            Behaviour::AnswersAPart if status == 200 && request.card().is_none() => {
                let part = minor(&request.text("amount")) / 2 + 1;
                answer["amount"] = json!(format!("{}.{:02}", part / 100, part % 100));
                return said(200, answer);
            }
            _ => {}
        }
        match behaviour {
            Behaviour::FailsAfter => said(500, json!({"result": {"code": "900.100.100"}})),
            Behaviour::Garbage => Reply::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n<html>\x00\xFF}".to_vec()),
            Behaviour::SilentAfter | Behaviour::ApprovesPartSilently => Reply::Silence,
            Behaviour::AnswersLate => Reply::Answer { status: 200, body: answer, after: LATE_ANSWER },
            Behaviour::ApprovesAndRefuses => {
                let status = [401, 403, 404][self.bank.ledger.len() % 3];
                said(status, answer)
            }
            _ => said(status, answer),
        }
    }

    /// Returns the approval of a payment that is not booked.
    fn approval_of_nothing(&self, request: &Request) -> Entry {
        let what = request.what();
        Entry {
            id: self.bank.next_id(),
            kind: what.kind,
            asked: what.minor,
            approved: what.minor,
            currency: what.currency,
            reference: what.reference,
            wish: None,
            refers_to: what.payment,
            practice: request.practice(),
            state: EntryState::Approved,
            declined_with: "",
            reversed: 0,
            taken_back: 0,
            at: self.now(),
            again: false,
        }
    }

    /// Returns the id of an earlier payment that a till knows, or of the payment that the request refers to.
    fn id_seen_before(&self, request: &Request) -> Option<String> {
        let other = self.wishes.iter().rev().filter(|wish| Some(wish.number) != request.wish());
        let told =
            other.filter(|wish| wish.told.iter().any(TillResult::is_final)).find_map(|wish| wish.payment.clone());
        told.or_else(|| request.payment())
    }

    /// Returns the trouble for the next look-up or reversal.
    fn next_trouble(&mut self, of_a_reversal: bool) -> Option<Trouble> {
        match self.bank.troubles.front().copied()? {
            Trouble::NeverFinds => (!of_a_reversal).then_some(Trouble::NeverFinds),
            Trouble::CannotTell if of_a_reversal => None,
            trouble if trouble.is_of_a_reversal() && !of_a_reversal => None,
            _ => self.bank.troubles.pop_front(),
        }
    }

    /// Handles the agent's automatic reversal.
    fn reversal(&mut self, request: &Request, asked: usize) -> Reply {
        let trouble = self.next_trouble(true);
        match trouble {
            Some(Trouble::CannotFind) => {
                self.bank.asked[asked].fate = RequestFate::Refused;
                return said(404, json!({"result": {"code": "700.400.580"}}));
            }
            Some(Trouble::Refuses) => {
                self.bank.asked[asked].fate = RequestFate::NotProcessed;
                return said(403, json!({}));
            }
            Some(Trouble::Fails) => return said(500, json!({})),
            Some(Trouble::Garbage) => return Reply::Bytes(GARBAGE.to_vec()),
            Some(Trouble::Silent) => return Reply::Silence,
            _ => {}
        }
        let in_part = matches!(trouble, Some(Trouble::ReversesPart | Trouble::ReversesPartSilently));
        let behaviour = if in_part { Behaviour::ApprovesPart } else { Behaviour::Approves };
        let (status, answer) = self.carry_out(request, asked, behaviour);
        match trouble {
            Some(Trouble::SilentAfter | Trouble::ReversesPartSilently) => Reply::Silence,
            _ => said(status, answer),
        }
    }

    fn question(&mut self, request: &Request) -> Reply {
        let by_date = request.get("date.from").is_some();
        // Look-ups at a start, before any payment request, have no trouble.
        let counts = request.is_query() && !(by_date && self.bank.asked.is_empty());
        let trouble = if counts { self.next_trouble(false) } else { None };
        match trouble {
            Some(Trouble::CannotFind) => return said(404, json!({"result": {"code": "700.400.580"}})),
            Some(Trouble::NeverFinds) if !by_date => return said(404, json!({"result": {"code": "700.400.580"}})),
            Some(Trouble::Fails | Trouble::CannotTell) => return said(500, json!({})),
            Some(Trouble::Garbage) => return Reply::Bytes(GARBAGE.to_vec()),
            Some(Trouble::Silent | Trouble::SilentAfter) => return Reply::Silence,
            Some(Trouble::Refuses) => return said(403, json!({})),
            Some(Trouble::ListsAll) => {
                // A list of all payments includes the payments of this terminal.
                if by_date {
                    self.bank.dates_told_to = Some(self.board());
                }
                let shows = ShownFields::in_a_list(self.bank.host_rules);
                let all: Vec<_> = self.bank.ledger.iter().map(|entry| shown(entry, shows)).collect();
                return said(200, json!({"result": {"code": "000.000.100"}, "payments": all}));
            }
            _ => {}
        }
        if request.is_query() {
            let (status, body) = self.bank.found(request);
            if by_date && status == 200 {
                self.bank.dates_told_to = Some(self.board());
            }
            return said(status, body);
        }
        if let Some(id) = request.path.strip_prefix("/v1/payments/") {
            let found = self.bank.ledger.iter().find(|entry| entry.id == id);
            return match found {
                Some(entry) => said(200, shown(entry, ShownFields::to_a_request(self.bank.host_rules, entry))),
                None => said(404, json!({"result": {"code": "700.400.580"}})),
            };
        }
        let status = if self.bank.host_rules == HostRules::Literal { 404 } else { 200 };
        said(status, json!({}))
    }

    /// Books a request, and returns the HTTP status and the answer.
    fn carry_out(&mut self, request: &Request, asked: usize, behaviour: Behaviour) -> (u16, Value) {
        let what = request.what();
        let is_gone = |entry: &Entry| {
            entry.kind == "DR" && entry.reference == what.reference && entry.state == EntryState::Approved
        };
        if what.kind == "DR" && self.bank.ledger.iter().any(is_gone) {
            self.bank.asked[asked].fate = RequestFate::Refused;
            return (400, json!({"result": {"code": "100.150.202", "description": "already deregistered"}}));
        }
        if let Some((status, body)) = self.bank.refuses_to_book(&what).filter(|_| what.kind != "DR") {
            self.bank.asked[asked].fate = RequestFate::Refused;
            return (status, body);
        }
        let allowed = self.bank.allows(&what);
        let minor = what.minor;
        let (approved, currency) = match behaviour {
            Behaviour::ApprovesPart if !request.is_wish() => (PART.min(minor), what.currency.clone()),
            Behaviour::ApprovesPart | Behaviour::ApprovesPartSilently => (minor / 2 + 1, what.currency.clone()),
            Behaviour::ApprovesMore => (minor + 100, what.currency.clone()),
            Behaviour::ApprovesInAnotherCurrency => (minor, "USD".to_owned()),
            _ => (minor, what.currency.clone()),
        };
        // A request that stores or deletes a card pays nothing.
        let approved = if request.card().is_some() { 0 } else { approved };
        let until = self.now() + PENDING;
        let state = match behaviour {
            _ if !allowed => EntryState::Declined,
            Behaviour::Declines | Behaviour::DeclinesOddly => EntryState::Declined,
            Behaviour::PendingThenApproved => EntryState::Pending { until, approve: true },
            Behaviour::PendingThenDeclined => EntryState::Pending { until, approve: false },
            _ => EntryState::Approved,
        };
        let place = self.bank.ledger.len();
        let again = self.bank.asked.iter().any(|asked| {
            let booked = |place: usize| self.bank.ledger[place].state != EntryState::Declined;
            asked.what == what && matches!(asked.fate, RequestFate::Booked(place) if booked(place))
        });
        self.bank.asked[asked].fate = RequestFate::Booked(place);
        self.bank.ledger.push(Entry {
            id: self.bank.next_id(),
            kind: what.kind,
            asked: minor,
            approved,
            currency,
            reference: what.reference,
            wish: request.wish(),
            refers_to: what.payment,
            practice: request.practice(),
            state,
            declined_with: self.bank.host_rules.declines_with(place),
            reversed: 0,
            taken_back: 0,
            at: self.now(),
            again,
        });
        self.moved(place);
        let entry = &self.bank.ledger[place];
        let mut answer = shown(entry, ShownFields::to_a_request(self.bank.host_rules, entry));
        if behaviour == Behaviour::ContradictsItself {
            // 8A "05" means: do not honour.
            answer["pos"]["iccDataResponse"] = json!(if place.is_multiple_of(2) { "8A023035" } else { "8a023035" });
        }
        self.booked();
        (if state == EntryState::Declined { 400 } else { 200 }, answer)
    }

    /// Applies an entry to the payment that it refers to.
    fn moved(&mut self, place: usize) {
        let entry = self.bank.ledger[place].clone();
        if entry.kind != "RV" || entry.state != EntryState::Approved {
            return;
        }
        if let Some(undone) = self.bank.entry_mut(entry.refers_to.as_ref()) {
            undone.reversed += entry.approved;
            if entry.wish.is_none() {
                undone.taken_back += entry.approved;
            }
        }
    }
}

/// An unreadable answer.
const GARBAGE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n[{]";

pub(super) fn said(status: u16, body: Value) -> Reply {
    Reply::Answer { status, body, after: Duration::ZERO }
}

/// Converts `12.34` to minor units.
fn minor(amount: &str) -> u64 {
    let digits: String = amount.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}
