//! What a cloud till hears: the transaction, or a problem, in the forms of the terminal's own interface.
//!
//! Only three things say how a transaction stands: the terminal's results, its journal's entries, and the proof that a
//! command was never offered. Without any of them, the answer is that it is not known yet (`no-answer`).

use std::time::SystemTime;

use pos_fleet_terms::CommandCode;
use pos_till_api::ProblemType;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The word for what the terminal's own interface has, and this one has not.
pub const NOT_FOR_CLOUD_TILLS: &str = "not-for-cloud-tills";

/// A refusal in the form of the terminal's interface (RFC 9457).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    status: u16,
    body: Map<String, Value>,
}

impl Refusal {
    /// Creates a refusal with a sentence for people.
    #[must_use]
    pub fn of(problem: ProblemType, detail: &str) -> Self {
        Self::with(problem.status(), problem.code(), problem.title(), detail)
    }

    /// Refuses a request that only the terminal itself answers.
    #[must_use]
    pub fn not_for_cloud_tills(detail: &str) -> Self {
        Self::with(404, NOT_FOR_CLOUD_TILLS, "The server of a fleet does not have this request", detail)
    }

    fn with(status: u16, code: &str, title: &str, detail: &str) -> Self {
        let body = json!({
            "type": format!("urn:pos-agent:problem:{code}"), "title": title, "status": status, "detail": detail,
            "code": code,
        });
        let Value::Object(body) = body else { return Self { status, body: Map::new() } };
        Self { status, body }
    }

    /// Takes over the problem that a terminal answered, with its status.
    #[must_use]
    pub fn from_terminal(problem: &Value) -> Option<Self> {
        let body = problem.as_object()?;
        let status = body.get("status")?.as_u64().and_then(|status| u16::try_from(status).ok())?;
        let is_refusal = (400..600).contains(&status) && body.get("code")?.is_string();
        is_refusal.then(|| Self { status, body: body.clone() })
    }

    /// Names the field of the request.
    #[must_use]
    pub fn field(mut self, name: &str) -> Self {
        self.body.insert("field".to_owned(), json!(name));
        self
    }

    /// Names the transaction.
    #[must_use]
    pub fn about(mut self, reference: &str) -> Self {
        self.body.insert("reference".to_owned(), json!(reference));
        self
    }

    /// Names the till of the transaction.
    #[must_use]
    pub fn of_till(mut self, till: &str) -> Self {
        self.body.insert("till".to_owned(), json!(till));
        self
    }

    /// Says when the request may be repeated.
    #[must_use]
    pub fn again_in(mut self, seconds: u32) -> Self {
        self.body.insert("retryAfterS".to_owned(), json!(seconds));
        self
    }

    /// Returns the HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns the word for programs. Words of a later agent are `later`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        let code = self.body.get("code").and_then(Value::as_str).unwrap_or_default();
        match code {
            NOT_FOR_CLOUD_TILLS => NOT_FOR_CLOUD_TILLS,
            code => ProblemType::of_code(code).map_or("later", ProblemType::code),
        }
    }

    /// Returns the seconds after which the request may be repeated.
    #[must_use]
    pub fn retry_after_s(&self) -> Option<u64> {
        self.body.get("retryAfterS").and_then(Value::as_u64)
    }

    /// Returns the sentence for people.
    #[must_use]
    pub fn detail(&self) -> &str {
        self.body.get("detail").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the body of the answer.
    #[must_use]
    pub fn body(&self) -> String {
        Value::Object(self.body.clone()).to_string()
    }
}

/// What the database knows of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownCommand {
    /// The word of the last result.
    pub code: Option<String>,
    /// The result's sentence.
    pub text: Option<String>,
    /// The result's body.
    pub body: Value,
    /// True if no other result follows.
    pub is_final: bool,
}

/// How a transaction stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// The transaction exists.
    Sale(Map<String, Value>),
    /// The terminal refused it: there is no transaction.
    Refused(Refusal),
    /// It was never begun, and never will be.
    NotBegun(String),
    /// It is not known yet. The transaction may exist.
    Unknown,
}

impl Judgement {
    /// Returns whether the reference may begin a transaction again.
    #[must_use]
    pub fn proves_nothing_began(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::NotBegun(_))
    }

    /// Returns whether waiting tells nothing more: an outcome, a refusal, or the turn of a person or of the till.
    #[must_use]
    pub fn ends_a_wait(&self) -> bool {
        match self {
            Self::Sale(sale) => ["ended", "awaiting-signature", "awaiting-till"].contains(&state(sale)),
            Self::Refused(_) | Self::NotBegun(_) => true,
            Self::Unknown => false,
        }
    }

    /// Returns whether the transaction has its outcome.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self, Self::Sale(sale) if state(sale) == "ended")
    }
}

fn state(sale: &Map<String, Value>) -> &str {
    sale.get("state").and_then(Value::as_str).unwrap_or_default()
}

/// Returns a result's body if it is a transaction.
#[must_use]
pub fn sale_of(body: &Value) -> Option<&Map<String, Value>> {
    body.as_object().filter(|sale| sale.get("state").is_some_and(Value::is_string))
}

/// Judges how a transaction stands: by the command's last result, and by the last entry of the terminal's journal about
/// it. The journal is the truth: where both speak, it can only be later.
#[must_use]
pub fn judge(command: &KnownCommand, entry: Option<&Value>) -> Judgement {
    let word = command.code.clone().map(Value::String);
    let code = word.and_then(|word| serde_json::from_value::<CommandCode>(word).ok());
    let told = sale_of(&command.body);
    if let (Some(CommandCode::Done), Some(sale)) = (code, told)
        && state(sale) == "ended"
    {
        return Judgement::Sale(sale.clone());
    }
    if let (true, Some(CommandCode::Refused)) = (command.is_final, code) {
        match Refusal::from_terminal(&command.body) {
            // The terminal itself does not know what became of the request.
            Some(refusal) if [ProblemType::NoAnswer.code(), ProblemType::Journal.code()].contains(&refusal.code()) => {}
            Some(refusal) => return Judgement::Refused(refusal),
            None => {}
        }
    }
    let booked = entry.and_then(booked);
    match (told, booked) {
        (Some(told), Some(booked)) => {
            let is_later = state(&booked) == "ended"
                || (state(&booked).starts_with("unconfirmed") && !state(told).starts_with("unconfirmed"));
            Judgement::Sale(if is_later { joined(told, booked) } else { told.clone() })
        }
        (Some(told), None) => Judgement::Sale(told.clone()),
        (None, Some(booked)) => Judgement::Sale(booked),
        (None, None) => match code.filter(|code| command.is_final && did_not_act(*code)) {
            Some(code) => {
                let why = command.text.clone().unwrap_or_else(|| sentence(code).to_owned());
                match code {
                    // Another try would end in the same way, so these are refusals of the request itself.
                    CommandCode::Malformed => Judgement::Refused(Refusal::of(ProblemType::Malformed, &why)),
                    CommandCode::KeyNotAllowed => Judgement::Refused(Refusal::of(ProblemType::Forbidden, &why)),
                    _ => Judgement::NotBegun(why),
                }
            }
            None => Judgement::Unknown,
        },
    }
}

/// Returns whether this result proves that the terminal did nothing, and never will.
fn did_not_act(code: CommandCode) -> bool {
    use CommandCode::{
        ClockUnknown, Done, Expired, ExpiresTooLate, Failed, IdTaken, KeyNotAllowed, Malformed, NotBegun, NotIdle,
        Refused, Running, StaleConnection, Unsupported, UsedCounter, WrongTerminal,
    };
    match code {
        WrongTerminal | KeyNotAllowed | Unsupported | Expired | ExpiresTooLate | ClockUnknown | StaleConnection
        | UsedCounter | Malformed | NotBegun => true,
        // Another command has the id, or it is not known how far this one came.
        Running | Done | IdTaken | Refused | NotIdle | Failed => false,
    }
}

fn sentence(code: CommandCode) -> &'static str {
    match code {
        CommandCode::Expired => "the command came too late to the terminal, which then did nothing",
        CommandCode::StaleConnection => "the terminal has connected again meanwhile, and did nothing",
        CommandCode::KeyNotAllowed => "the terminal does not allow this key to begin transactions",
        CommandCode::ClockUnknown => "the terminal does not know the time, and then takes no payment from a server",
        CommandCode::Unsupported => "the terminal's agent is too old for this command",
        _ => "the terminal did nothing",
    }
}

/// The kinds whose unknown outcome is finished, and not reversed.
const FINISHED: [&str; 7] = ["capture", "increment", "reauthorisation", "refund", "reversal", "credit", "forget-card"];

/// Returns the transaction as an entry of the journal has it, in the form of the interface.
fn booked(entry: &Value) -> Option<Map<String, Value>> {
    let facts = entry.get("facts")?;
    let text = |name: &str| facts.get(name).and_then(Value::as_str);
    let kind = text("kind")?;
    let standing = text("standing")?;
    let state = match standing {
        "unconfirmed" | "needs-a-person" if FINISHED.contains(&kind) => "unconfirmed-finishing",
        "unconfirmed" | "needs-a-person" => "unconfirmed",
        standing => standing,
    };
    let number = entry.get("number")?.as_u64()?;
    let said = match (state, text("outcome")) {
        ("ended", Some(outcome)) => format!("the terminal's journal says: {outcome}"),
        _ => format!("the terminal's journal says: {standing}"),
    };
    let mut sale = json!({
        "till": entry.get("till")?, "reference": entry.get("reference")?, "number": number,
        "receiptNumber": number.saturating_sub(1) % 9999 + 1, "kind": kind,
        "amount": text("amount").or_else(|| text("total"))?, "currency": text("currency")?, "state": state,
        "text": said, "startedAt": text("startedAt").or_else(|| entry.get("at")?.as_str())?, "replayed": false,
    });
    for (name, value) in [
        ("outcome", facts.get("outcome")),
        ("tip", facts.get("tip")),
        ("approvedAmount", facts.get("approved")),
        ("reason", facts.get("reason")),
        ("endedAt", facts.get("endedAt")),
        ("paymentId", facts.pointer("/host/paymentId")),
        ("code", facts.pointer("/host/code")),
        ("by", facts.get("by")),
    ] {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            sale[name] = value.clone();
        }
    }
    if standing == "needs-a-person" {
        sale["needsPerson"] = json!("a person must decide about this payment at the terminal");
    }
    if let Some(card) = facts.get("card").and_then(card) {
        sale["card"] = card;
    }
    sale.as_object().cloned()
}

/// Returns what a till may see of a card.
fn card(card: &Value) -> Option<Value> {
    let text = |name: &str| card.get(name).and_then(Value::as_str);
    let mut shown = json!({ "entryMode": text("entryMode")? });
    let last4 = text("maskedPan").and_then(|pan| pan.get(pan.len().checked_sub(4)?..));
    for (name, value) in [("last4", last4), ("aid", text("aid")), ("brand", text("label"))] {
        if let Some(value) = value {
            shown[name] = json!(value);
        }
    }
    Some(shown)
}

/// Brings what the terminal told up to the journal's later state.
fn joined(told: &Map<String, Value>, booked: Map<String, Value>) -> Map<String, Value> {
    let mut sale = told.clone();
    for passing in ["step", "until", "leftS", "waitS", "toConfirm", "redirectUrl", "language", "unsettled"] {
        sale.remove(passing);
    }
    sale.extend(booked.into_iter().filter(|(name, _)| name != "card" || !told.contains_key("card")));
    sale
}

/// Writes a time in UTC.
#[must_use]
pub fn rfc3339(at: SystemTime) -> String {
    OffsetDateTime::from(at).format(&Rfc3339).unwrap_or_default()
}

/// Returns the transaction that was cancelled before the terminal heard of it: no terminal has it, and no number.
#[must_use]
pub fn cancelled_unsent(till: &str, asked: &Value, began: SystemTime, ended: SystemTime) -> Map<String, Value> {
    let text = |name: &str| asked.get(name).and_then(Value::as_str);
    let sale = json!({
        "till": till, "reference": text("reference").unwrap_or_default(), "number": 0, "receiptNumber": 0,
        "kind": text("kind").unwrap_or("sale"), "amount": text("amount").unwrap_or_default(),
        "currency": text("currency").unwrap_or_default(), "state": "ended", "outcome": "cancelled",
        "text": "cancelled before the terminal heard of it: nothing is charged",
        "startedAt": rfc3339(began), "endedAt": rfc3339(ended), "replayed": false,
    });
    sale.as_object().cloned().unwrap_or_default()
}

/// Adds to a transaction whether a cancel came in time, as the terminal's interface does.
#[must_use]
pub fn with_cancel(mut sale: Map<String, Value>) -> Map<String, Value> {
    if sale.get("cancel").is_some_and(Value::is_string) {
        return sale;
    }
    let is_in_time = state(&sale) == "ended" && sale.get("outcome").and_then(Value::as_str) == Some("cancelled");
    let (word, text) = match is_in_time {
        true => ("in-time", "cancelled in time: nothing is charged"),
        false => ("too-late", "too late: ask for the outcome under the reference"),
    };
    sale.insert("cancel".to_owned(), json!(word));
    sale.insert("cancelText".to_owned(), json!(text));
    sale
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(code: &str, is_final: bool, body: Value) -> KnownCommand {
        KnownCommand { code: Some(code.to_owned()), text: None, body, is_final }
    }

    fn view(state: &str) -> Value {
        json!({ "till": "web", "reference": "r", "number": 7, "state": state, "step": "present-card", "replayed": false,
                "tillData": { "a": "b" } })
    }

    fn entry(standing: &str, outcome: Option<&str>) -> Value {
        let mut entry = json!({
            "is": "step", "at": "2026-11-30T10:00:00Z", "number": 10_000, "till": "web", "reference": "r",
            "facts": { "kind": "sale", "standing": standing, "amount": "12.34", "total": "12.34", "currency": "EUR",
                       "startedAt": "2026-11-30T10:00:00Z",
                       "card": { "entryMode": "NFC_ICC", "maskedPan": "411111******1111" } },
        });
        if let Some(outcome) = outcome {
            entry["facts"]["outcome"] = json!(outcome);
        }
        entry
    }

    fn state_of(judgement: &Judgement) -> String {
        match judgement {
            Judgement::Sale(sale) => state(sale).to_owned(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn without_a_word_of_the_terminal_nobody_knows() {
        assert_eq!(judge(&KnownCommand::default(), None), Judgement::Unknown);
        for (code, is_final) in [("running", false), ("failed", true), ("id-taken", true), ("a-later-word", true)] {
            let judgement = judge(&told(code, is_final, Value::Null), None);
            assert_eq!(judgement, Judgement::Unknown, "{code}");
            assert!(!judgement.proves_nothing_began() && !judgement.ends_a_wait());
        }
        // The terminal does not know it either.
        let body = json!({ "status": 503, "code": "no-answer", "detail": "" });
        assert_eq!(judge(&told("refused", true, body), None), Judgement::Unknown);
        // What is not final proves nothing.
        assert_eq!(judge(&told("expired", false, Value::Null), None), Judgement::Unknown);
    }

    #[test]
    fn only_a_final_word_that_nothing_was_done_allows_another_try() {
        for code in ["expired", "stale-connection", "not-begun", "clock-unknown", "used-counter"] {
            let judgement = judge(&told(code, true, Value::Null), None);
            assert!(matches!(&judgement, Judgement::NotBegun(why) if !why.is_empty()), "{code}");
            assert!(judgement.proves_nothing_began());
            // The journal knows better.
            let judgement = judge(&told(code, true, Value::Null), Some(&entry("ended", Some("approved"))));
            assert!(!judgement.proves_nothing_began() && judgement.has_ended(), "{code}");
        }
        for (code, word) in [("malformed", "malformed"), ("key-not-allowed", "forbidden")] {
            let Judgement::Refused(refusal) = judge(&told(code, true, Value::Null), None) else { panic!("{code}") };
            assert_eq!(refusal.code(), word);
            assert!(
                !judge(&told(code, true, Value::Null), Some(&entry("ended", Some("approved")))).proves_nothing_began()
            );
        }
        let body = json!({ "status": 409, "code": "busy", "detail": "busy", "reference": "x" });
        let Judgement::Refused(refusal) = judge(&told("refused", true, body), None) else { panic!() };
        assert_eq!((refusal.status(), refusal.code()), (409, "busy"));
    }

    #[test]
    fn the_journal_is_later_than_what_was_told() {
        let running = told("running", false, view("in-progress"));
        assert_eq!(state_of(&judge(&running, None)), "in-progress");
        let Judgement::Sale(sale) = judge(&running, Some(&entry("ended", Some("approved")))) else { panic!() };
        assert_eq!((state(&sale), &sale["outcome"], sale.get("step")), ("ended", &json!("approved"), None));
        assert_eq!((&sale["tillData"]["a"], &sale["card"]["last4"]), (&json!("b"), &json!("1111")));
        assert_eq!(state_of(&judge(&running, Some(&entry("unconfirmed", None)))), "unconfirmed");
        // An entry on the way is not later than what is told.
        assert_eq!(
            state_of(&judge(&told("running", false, view("awaiting-till")), Some(&entry("in-progress", None)))),
            "awaiting-till"
        );
        // The result got lost.
        let lost = judge(&KnownCommand::default(), Some(&entry("needs-a-person", None)));
        assert_eq!(state_of(&lost), "unconfirmed");
        assert!(!lost.ends_a_wait());
        let Judgement::Sale(sale) = judge(&KnownCommand::default(), Some(&entry("ended", Some("declined")))) else {
            panic!()
        };
        assert_eq!((&sale["receiptNumber"], &sale["number"]), (&json!(1), &json!(10_000)));
        let mut refund = entry("unconfirmed", None);
        refund["facts"]["kind"] = json!("refund");
        assert_eq!(state_of(&judge(&KnownCommand::default(), Some(&refund))), "unconfirmed-finishing");
    }

    #[test]
    fn a_cancel_is_in_time_only_if_the_sale_was_cancelled() {
        for (outcome, word) in [("cancelled", "in-time"), ("approved", "too-late"), ("reversed", "too-late")] {
            let Judgement::Sale(sale) = judge(&KnownCommand::default(), Some(&entry("ended", Some(outcome)))) else {
                panic!()
            };
            assert_eq!(with_cancel(sale)["cancel"], word, "{outcome}");
        }
        let Value::Object(open) = view("waiting-for-card") else { panic!() };
        assert_eq!(with_cancel(open)["cancel"], "too-late");
    }
}
