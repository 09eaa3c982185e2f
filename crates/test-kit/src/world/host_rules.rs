//! The rules of the bank: its refusals, its bookings, and the form of its answers. With literal rules, requests and
//! answers must follow the interface literally. The bank then uses every form that the interface allows for an amount,
//! a code or hexadecimal digits.

use std::time::Duration;

use chrono::{DateTime, NaiveDateTime};
use serde_json::{Value, json};

use super::bank::{Bank, Reply, Request, said};
use super::ledger::{AskedThing, Entry, EntryState, Practice, RequestFate};

/// The bank's general behaviour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostRules {
    #[default]
    Checked,
    Permissive,
    Literal,
}

/// All host rules.
pub const ALL_HOST_RULES: [HostRules; 3] = [HostRules::Checked, HostRules::Permissive, HostRules::Literal];

/// The default rules of the tests. `POS_AGENT_GATEWAYS=permissive,literal` selects others.
const PLAYED: &[HostRules] = &ALL_HOST_RULES;

/// Returns the rules that the tests use.
pub fn played() -> &'static [HostRules] {
    static CHOSEN: std::sync::OnceLock<Vec<HostRules>> = std::sync::OnceLock::new();
    CHOSEN.get_or_init(|| {
        let Ok(names) = std::env::var("POS_AGENT_GATEWAYS") else { return PLAYED.to_vec() };
        let known =
            |name: &str| ALL_HOST_RULES.into_iter().find(|one| format!("{one:?}").eq_ignore_ascii_case(name.trim()));
        names.split(',').map(|name| known(name).expect("POS_AGENT_GATEWAYS: checked, permissive, literal")).collect()
    })
}

/// The number of requests of one operation that the literal gateway accepts in [`SPAN`].
const AT_MOST: usize = 4;
const SPAN: Duration = Duration::from_secs(10);
/// The length of a list without `limit`, and the range of `limit` (interface: Query limit).
const LIMIT: usize = 100;
const LIMITS: std::ops::RangeInclusive<usize> = 100..=500;
/// The path that a redirect points to.
const MOVED: &str = "/moved";

impl HostRules {
    /// Returns a result code for a decline. Result codes have two to eleven characters, and their catalogue is not
    /// published.
    pub(super) fn declines_with(self, place: usize) -> &'static str {
        let codes = ["800.100.152", "05", "100.39", "800.100.15", "800.100.152"];
        if self == Self::Literal { codes[place % codes.len()] } else { codes[0] }
    }
}

/// Makes the id of the nth entry: 32 hexadecimal digits, which the literal gateway writes in upper or lower case.
pub(super) fn id_of(host_rules: HostRules, place: usize) -> String {
    let id = format!("8ac7a4a0{:024x}", place + 1);
    if host_rules == HostRules::Literal && place % 2 == 1 { id.to_uppercase() } else { id }
}

/// The fields of an entry that an answer shows, and their form.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownFields {
    /// True if the answer shows the payment that the entry refers to.
    refers_to: bool,
    /// True if the answer shows our reference.
    reference: bool,
    /// True if the amount is a number.
    number: bool,
    /// True if the answer has the fields that every answer must have (interface: Payment response fields).
    required: bool,
}

impl Default for ShownFields {
    fn default() -> Self {
        Self { refers_to: true, reference: true, number: false, required: false }
    }
}

impl ShownFields {
    /// Returns the fields for the answer to the request that booked the entry, or to a look-up by its id.
    pub(super) fn to_a_request(host_rules: HostRules, entry: &Entry) -> Self {
        let odd = entry.id.ends_with(|last: char| last.to_digit(16).is_some_and(|digit| digit % 2 == 1));
        match host_rules {
            // Fields that the interface calls optional in an answer are omitted.
            HostRules::Literal => Self { refers_to: false, reference: odd, number: odd, required: true },
            _ => Self::default(),
        }
    }

    /// Returns the fields of an entry for the answer to a query.
    pub(super) fn in_a_list(host_rules: HostRules) -> Self {
        let literal = host_rules == HostRules::Literal;
        Self { refers_to: !literal, reference: true, number: literal, required: literal }
    }
}

/// Writes an entry in the form of the interface.
pub(super) fn shown(entry: &Entry, shows: ShownFields) -> Value {
    let (code, description) = match entry.state {
        EntryState::Approved if shows.required => ("000.100.110", "Request successfully processed"),
        EntryState::Approved => ("000.000.000", "Transaction succeeded"),
        EntryState::Declined => (entry.declined_with, "transaction declined by authorization system"),
        EntryState::Pending { .. } => ("000.200.000", "transaction pending"),
    };
    let text = format!("{}.{:02}", entry.approved / 100, entry.approved % 100);
    let amount = if shows.number { json!(text.parse::<f64>().unwrap()) } else { json!(text) };
    let mut shown = json!({
        // A deleted card keeps the id under which it was stored.
        "id": if entry.kind == "DR" { &entry.reference } else { &entry.id },
        "paymentType": entry.kind,
        "amount": amount,
        "currency": entry.currency,
        "result": {"code": code, "description": description},
    });
    if shows.reference {
        shown["merchantTransactionId"] = json!(entry.reference);
    }
    if let Some(id) = entry.refers_to.as_ref().filter(|_| shows.refers_to) {
        shown["referencedId"] = json!(id);
    }
    if shows.required {
        with_what_is_required(&mut shown);
    }
    shown
}

fn with_what_is_required(body: &mut Value) {
    body["buildNumber"] = json!("world@1");
    body["ndc"] = json!("8a8294174b7ecb28014b9699220015ca_1");
    body["timestamp"] = json!("2026-01-01 12:00:00+0000");
}

/// Writes a refusal in the form of the interface.
fn refusal(code: &str, description: &str) -> Value {
    let mut body = json!({"id": "0".repeat(32), "result": {"code": code, "description": description}});
    with_what_is_required(&mut body);
    body
}

fn invalid(what: &str) -> Reply {
    said(400, refusal("200.300.404", &format!("invalid or missing parameter: {what}")))
}

impl Bank {
    /// Refuses a request by the literal rules, before the bank examines the request's meaning.
    pub(super) fn refuses(&mut self, request: &Request, now: Duration) -> Option<Reply> {
        if self.host_rules != HostRules::Literal {
            return None;
        }
        let was_moved = request.target.starts_with(MOVED);
        if !was_moved && self.redirects > 0 && self.requests.is_multiple_of(self.redirects) {
            // The redirect points to the same host, as a path or with the host's name.
            let host = if self.requests.is_multiple_of(2) { "" } else { "https://bank.test" };
            return Some(Reply::Moved(format!("{host}{MOVED}{}", request.target)));
        }
        let knows =
            ["/v1/payments", "/v1/query", "/v1/registrations"].iter().any(|path| request.path.starts_with(path));
        if !knows {
            return Some(said(404, refusal("200.300.404", "nothing is here")));
        }
        if request.token.is_none() {
            return Some(said(401, refusal("800.900.300", "invalid authentication")));
        }
        let operation = format!("{} {}", request.method, request.path.get(..12).unwrap_or(&request.path));
        let operation = format!("{operation} {}", request.text("paymentType"));
        let lately = self.operations.entry(operation).or_default();
        lately.retain(|at| now.saturating_sub(*at) < SPAN);
        if lately.len() >= AT_MOST {
            return Some(said(400, refusal("800.120.100", "Too many requests. Please try again later.")));
        }
        lately.push_back(now);
        if request.get("entityId").is_none_or(|entity| entity.len() != 32) && !request.path.starts_with("/v1/payments/")
        {
            return Some(invalid("entityId"));
        }
        if request.moves_money() { wrong_payment(request) } else { None }
    }

    /// Returns the refusal of a request that the bank does not book.
    pub(super) fn refuses_to_book(&self, what: &AskedThing) -> Option<(u16, Value)> {
        if self.host_rules != HostRules::Literal {
            return None;
        }
        let known = |id: &String| self.ledger.iter().any(|entry| entry.id == *id);
        if what.payment.as_ref().is_some_and(|id| !known(id)) {
            return Some((404, refusal("700.400.580", "cannot find transaction")));
        }
        let used = self
            .asked
            .iter()
            .any(|asked| asked.what.reference == what.reference && matches!(asked.fate, RequestFate::Booked(_)));
        used.then(|| (400, refusal("200.300.404", "merchantTransactionId was used before")))
    }

    /// Returns whether the state of an earlier transaction allows the request. Only the checked bank has rules, but no
    /// bank reverses a declined payment.
    pub(super) fn allows(&self, what: &AskedThing) -> bool {
        let Some(id) = what.payment.as_deref() else { return true };
        let earlier = self.ledger.iter().find(|entry| entry.id == id);
        if self.host_rules != HostRules::Checked {
            return what.kind != "RV" || earlier.is_none_or(|earlier| earlier.state != EntryState::Declined);
        }
        let Some(earlier) = earlier else { return false };
        let of_it = |kind: &'static str| {
            let later = move |entry: &&Entry| {
                entry.refers_to.as_deref() == Some(id) && entry.kind == kind && entry.state != EntryState::Declined
            };
            let left = |entry: &Entry| entry.approved.saturating_sub(entry.reversed);
            self.ledger.iter().filter(later).map(left).sum::<u64>()
        };
        let more: u64 = (self.ledger.iter())
            .filter(|entry| entry.practice == Some(Practice::Increment) && entry.refers_to.as_deref() == Some(id))
            .filter(|entry| entry.holds())
            .map(|entry| entry.approved - entry.reversed)
            .sum();
        match what.kind.as_str() {
            "RV" | "RF" => {
                let fits = of_it("RV") + of_it("RF") + what.minor <= earlier.approved + more && of_it("CP") == 0;
                earlier.holds() && fits && (what.kind == "RV" || earlier.kind != "PA")
            }
            "CP" => {
                let fits = of_it("CP") + of_it("RV") + what.minor <= earlier.approved + more;
                earlier.holds() && fits && earlier.kind == "PA"
            }
            _ => earlier.holds(),
        }
    }

    /// Answers a query, with the HTTP status and the body.
    pub(super) fn found(&self, request: &Request) -> (u16, Value) {
        let literal = self.host_rules == HostRules::Literal;
        let limit = request.get("limit").map_or(Some(LIMIT), |text| text.parse().ok());
        let Some(limit) = limit.filter(|limit| !literal || LIMITS.contains(limit)) else {
            return (400, refusal("200.300.404", "invalid or missing parameter: limit"));
        };
        let (from, to) = (request.get("date.from"), request.get("date.to"));
        let reference = request.get("merchantTransactionId");
        if literal && (reference.is_some() == from.is_some() || from.is_some() != to.is_some()) {
            return (400, refusal("200.300.404", "merchantTransactionId or date.from and date.to"));
        }
        let shows = ShownFields::in_a_list(self.host_rules);
        let kinds: Option<Vec<&str>> = request.get("paymentTypes").map(|kinds| kinds.split(',').collect());
        let wanted = |entry: &&Entry| kinds.as_ref().is_none_or(|kinds| kinds.contains(&entry.kind.as_str()));
        let found: Vec<Value> = match (from.and_then(unix_s), to.and_then(unix_s)) {
            (Some(from), Some(to)) => {
                let mut within: Vec<&Entry> =
                    self.ledger.iter().filter(|entry| (from..=to).contains(&booked_unix_s(entry))).collect();
                within.sort_by_key(|entry| entry.at);
                within.into_iter().filter(wanted).take(limit).map(|entry| shown(entry, shows)).collect()
            }
            _ if from.is_some() => return (400, refusal("200.300.404", "invalid or missing parameter: date.from")),
            _ => {
                let reference = reference.unwrap_or_default();
                let links = !literal || request.get("includeLinkedTransactions") == Some("true");
                let ids: Vec<_> = self.ledger.iter().filter(|entry| entry.reference == reference).collect();
                let linked = |entry: &&Entry| {
                    let refers_to = |id: &String| ids.iter().any(|one| one.id == *id);
                    entry.reference == reference || (links && entry.refers_to.as_ref().is_some_and(refers_to))
                };
                self.ledger.iter().filter(linked).filter(wanted).take(limit).map(|entry| shown(entry, shows)).collect()
            }
        };
        let code = if literal && found.is_empty() { "700.400.580" } else { "000.000.100" };
        (200, json!({"result": {"code": code, "description": "see the list"}, "payments": found}))
    }
}

/// Refuses a payment's form that the interface does not accept.
fn wrong_payment(request: &Request) -> Option<Reply> {
    let is_amount = |text: &str| {
        let (whole, cents) = text.split_once('.').unwrap_or_default();
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        (1..=10).contains(&whole.len()) && cents.len() == 2 && digits(whole) && digits(cents)
    };
    let fits = |name: &str, fits: &dyn Fn(&str) -> bool| request.get(name).is_some_and(fits);
    let is_card = request.card().is_some();
    let wrong = [
        ("content-type", request.is_form || request.card() == Some("DR")),
        ("amount", is_card || fits("amount", &is_amount)),
        ("currency", is_card || fits("currency", &|text| text.len() == 3)),
        ("paymentType", is_card || fits("paymentType", &|text| text.len() == 2)),
        (
            "merchantTransactionId",
            request.card() == Some("DR") || fits("merchantTransactionId", &|text| (8..=255).contains(&text.len())),
        ),
        ("merchantMemo", request.get("merchantMemo").is_none_or(|text| (8..=255).contains(&text.len()))),
    ];
    let point_of_sale = request.form.iter().any(|(name, _)| name.starts_with("pos."));
    let complete =
        !point_of_sale || (request.get("pos.entryMode").is_some() && request.get("pos.terminalId").is_some());
    let first = wrong.into_iter().find(|(_, fits)| !fits).map(|(name, _)| name);
    first.or((!complete).then_some("pos.entryMode")).map(invalid)
}

/// Converts `yyyy-MM-dd HH:mm:ss`, UTC, to seconds since 1970.
fn unix_s(text: &str) -> Option<i64> {
    NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").ok().map(|time| time.and_utc().timestamp())
}

fn booked_unix_s(entry: &Entry) -> i64 {
    (super::beginning_ms() + i64::try_from(entry.at.as_millis()).unwrap_or(i64::MAX)) / 1000
}

/// Returns the bank's time in the format of the `Date` header.
pub(super) fn http_date(now: Duration) -> String {
    let ms = super::beginning_ms() + i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
    DateTime::from_timestamp_millis(ms).unwrap_or_default().format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// Returns the original path of a redirected request.
pub(super) fn not_moved(path: &str) -> &str {
    path.strip_prefix(MOVED).unwrap_or(path)
}
