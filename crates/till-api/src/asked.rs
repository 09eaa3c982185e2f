//! The requests of a till's protocol to the terminal ([`Ask`]) and the terminal's answers ([`Said`]).
//!
//! The types describe the agent's interface for tills (`docs/src/till-http.md`) without its transport: [`Ask::request`]
//! returns the request to make, and [`Said::read`] interprets its answer. The caller passes the request on and returns
//! the answer: `pos-front` over the agent's socket, and the deterministic simulation of the tests without a connection.
//!
//! This module contains no rules. The agent alone decides what a till is permitted to do and what happens to money. A
//! missing answer is [`Said::NoAnswer`], which means that the request may have been carried out.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::begin::{Begin, Taken};
use crate::deadlines::LONGEST_WAIT_S;
use crate::print_line::PrintLine;
use crate::problem::ProblemType;
use crate::routes::encoded;
use crate::view::{self, Close, Copy, Problem, Receipt, Sale, Status, Typed};

/// Maximum number of transactions in one list.
const LIST_LIMIT: u16 = 100;

/// A request to the terminal on behalf of one till.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Begins a transaction, or returns its state if the reference is already known.
    Begin(Box<Begin>),
    /// Shows one transaction: its present state or, with a wait, its outcome. The wait also ends when a person must
    /// act.
    Show {
        /// The till's reference.
        reference: String,
        /// The wait in seconds, at most [`LONGEST_WAIT_S`].
        wait_s: u8,
    },
    /// The latest transaction of the till.
    Latest,
    /// The till's transaction with this number, as a list. The list is empty or contains another transaction if the
    /// number is not the till's.
    Number(u64),
    /// The till's newest transactions, up to this number.
    Newest(u8),
    /// The till's transactions whose reference contains this text, newest first.
    Referenced {
        /// A part of the reference.
        part: String,
        /// The earliest start time, in RFC 3339.
        from: Option<String>,
        /// The cursor at which an earlier list ended.
        cursor: Option<String>,
    },
    /// Cancels a transaction.
    Cancel(String),
    /// Accepts or rejects the customer's signature.
    Sign {
        /// The till's reference.
        reference: String,
        /// `true` if the signature matches the card.
        accepted: bool,
    },
    /// Confirms the part of the approved amount that the till takes.
    Confirm {
        /// The till's reference.
        reference: String,
        /// The amount that the till takes.
        taken: Taken,
    },
    /// Reads a receipt.
    Receipt {
        /// The till's reference.
        reference: String,
        /// The copy: the customer's or the merchant's.
        copy: Copy,
        /// The number of characters per line.
        width: Option<u8>,
        /// `true` to mark the receipt as a duplicate.
        duplicate: bool,
    },
    /// Prints a receipt again, as a duplicate.
    PrintAgain {
        /// The till's reference.
        reference: String,
        /// The copy: the customer's or the merchant's.
        copy: Copy,
    },
    /// Prints the till's own lines. The answer comes when they are on paper.
    Print(Vec<PrintLine>),
    /// Shows the till's own text on the reader.
    ShowText(String),
    /// Asks for an amount to be typed at the reader.
    TypeAmount {
        /// The currency, ISO 4217.
        currency: String,
    },
    /// The status of the terminal.
    Status,
    /// The latest close of day. It is refused with `no-such-close` before the first close.
    LastClose,
    /// The next close of day, with its present sums.
    OpenPeriod,
    /// Closes the day.
    Close {
        /// The till's reference for the close.
        reference: String,
        /// `true` if the terminal prints the close.
        print: bool,
    },
}

/// A request of the agent's interface, without `till` in its query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method: `GET` or `POST`.
    pub method: &'static str,
    /// The path.
    pub path: String,
    /// The parameters of the query. If [`Self::names_till`] is set, the sender adds the till.
    pub query: Vec<(&'static str, String)>,
    /// The body of a `POST`, which is a JSON object.
    pub body: Option<Value>,
    /// `true` if the path has the parameter `till`.
    pub names_till: bool,
}

impl Ask {
    /// Returns the request for this question.
    #[must_use]
    pub fn request(&self) -> Request {
        let one = |reference: &str, what: &str| format!("/v1/sales/{}{what}", encoded(reference));
        let get = |path: String, query| Request { method: "GET", path, query, body: None, names_till: true };
        let post = |path: String, body| Request {
            method: "POST",
            path,
            query: Vec::new(),
            body: Some(body),
            names_till: true,
        };
        match self {
            Self::Begin(begin) => post("/v1/sales".to_owned(), written(begin.as_ref())),
            Self::Show { reference, wait_s } => {
                get(one(reference, ""), vec![("wait-s", wait_s.min(&LONGEST_WAIT_S).to_string())])
            }
            Self::Latest => get("/v1/latest".to_owned(), Vec::new()),
            Self::Number(number) => {
                let since = number.saturating_sub(1).to_string();
                get("/v1/sales".to_owned(), vec![("since", since), ("limit", "1".to_owned())])
            }
            Self::Newest(count) => {
                get("/v1/sales".to_owned(), vec![("order", "newest".to_owned()), ("limit", count.to_string())])
            }
            Self::Referenced { part, from, cursor } => {
                let mut query = vec![("reference", part.clone()), ("order", "newest".to_owned())];
                query.push(("limit", LIST_LIMIT.to_string()));
                query.extend(from.clone().map(|from| ("from", from)));
                query.extend(cursor.clone().map(|cursor| ("cursor", cursor)));
                get("/v1/sales".to_owned(), query)
            }
            Self::Cancel(reference) => post(one(reference, "/cancel"), json!({})),
            Self::Sign { reference, accepted } => post(one(reference, "/signature"), json!({ "accepted": accepted })),
            Self::Confirm { reference, taken } => post(one(reference, "/confirm"), written(taken)),
            Self::Receipt { reference, copy, width, duplicate } => {
                let mut query = vec![("copy", copy.as_str().to_owned())];
                query.extend(width.map(|width| ("width", width.clamp(24, 64).to_string())));
                query.extend(duplicate.then(|| ("duplicate", "true".to_owned())));
                get(one(reference, "/receipt"), query)
            }
            Self::PrintAgain { reference, copy } => {
                let query = vec![("copy", copy.as_str().to_owned())];
                Request { query, ..post(one(reference, "/receipt"), json!({})) }
            }
            Self::Print(lines) => {
                let body = json!({ "lines": lines });
                Request { names_till: false, ..post("/v1/printer/lines".to_owned(), body) }
            }
            Self::ShowText(text) => {
                let body = json!({ "text": text });
                Request { names_till: false, ..post("/v1/reader/text".to_owned(), body) }
            }
            Self::TypeAmount { currency } => {
                let body = json!({ "currency": currency });
                post("/v1/reader/amount".to_owned(), body)
            }
            Self::Status => Request { names_till: false, ..get("/v1/status".to_owned(), Vec::new()) },
            Self::LastClose => get("/v1/closes/last".to_owned(), Vec::new()),
            Self::OpenPeriod => get("/v1/closes/open".to_owned(), Vec::new()),
            Self::Close { reference, print } => {
                post("/v1/closes".to_owned(), json!({ "reference": reference, "print": print }))
            }
        }
    }
}

/// The terminal's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// A transaction.
    Sale(Box<Sale>),
    /// A transaction that the till asked to cancel.
    Cancelled {
        /// `true` if nothing is charged.
        in_time: bool,
        /// The state of the transaction.
        sale: Box<Sale>,
    },
    /// A list of transactions, and the cursor for the rest.
    Sales {
        /// The requested transactions.
        sales: Vec<Sale>,
        /// The cursor of the next list.
        next: Option<String>,
    },
    /// A receipt.
    Receipt(Box<Receipt>),
    /// The status of the terminal.
    Status(Box<Status>),
    /// A close of day that was made, or the next one with its present sums.
    Close(Box<Close>),
    /// The amount typed at the reader.
    Typed(Typed),
    /// The request was carried out, and there is no further information.
    Done,
    /// The request was refused and nothing was done.
    Refused(Problem),
    /// No answer came, or the answer is unreadable.
    NoAnswer {
        /// `true` if the request may have been carried out anyway.
        may_be_done: bool,
    },
}

impl Said {
    /// Interprets the answer to `asked`.
    #[must_use]
    pub fn read(asked: &Ask, status: u16, body: &[u8]) -> Self {
        let may_be_done = asked.request().method == "POST";
        if !(200..300).contains(&status) {
            return match serde_json::from_slice::<Problem>(body) {
                // The agent itself reports that it has no answer, so the till asks for the reference again.
                Ok(problem) if problem.is(ProblemType::NoAnswer) => Self::NoAnswer { may_be_done },
                Ok(problem) => Self::Refused(problem),
                Err(_) => Self::NoAnswer { may_be_done },
            };
        }
        let read = match asked {
            Ask::Begin(_) | Ask::Show { .. } | Ask::Latest | Ask::Sign { .. } | Ask::Confirm { .. } => {
                serde_json::from_slice(body).map(Self::Sale)
            }
            Ask::Cancel(_) => serde_json::from_slice::<view::Cancelled>(body)
                .map(|cancelled| Self::Cancelled { in_time: cancelled.cancel == "in-time", sale: cancelled.sale }),
            Ask::Number(_) | Ask::Newest(_) | Ask::Referenced { .. } => serde_json::from_slice::<view::Sales>(body)
                .map(|list| Self::Sales { sales: list.sales, next: list.next }),
            Ask::Receipt { .. } => serde_json::from_slice(body).map(Self::Receipt),
            Ask::PrintAgain { .. } | Ask::Print(_) | Ask::ShowText(_) => Ok(Self::Done),
            Ask::TypeAmount { .. } => serde_json::from_slice(body).map(Self::Typed),
            Ask::Status => serde_json::from_slice(body).map(Self::Status),
            Ask::LastClose | Ask::OpenPeriod | Ask::Close { .. } => serde_json::from_slice(body).map(Self::Close),
        };
        read.unwrap_or(Self::NoAnswer { may_be_done })
    }
}

fn written(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_else(|_| Value::Object(Map::new()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, OnSilence, State};

    fn said(asked: &Ask, status: u16, body: &Value) -> Said {
        Said::read(asked, status, body.to_string().as_bytes())
    }

    #[test]
    fn requests_are_those_of_the_interface() {
        let begin = Begin { confirm: Some(OnSilence::Keep), ..Begin::new("z 1", Kind::Sale, Some("12.34".to_owned())) };
        let request = Ask::Begin(Box::new(begin)).request();
        assert_eq!((request.method, request.path.as_str(), request.names_till), ("POST", "/v1/sales", true));
        let body = json!({
            "reference": "z 1", "kind": "sale", "amount": "12.34", "confirm": "till", "onSilence": "keep",
        });
        assert_eq!(request.body, Some(body));
        let taken = Ask::Confirm { reference: "z 1".to_owned(), taken: Taken::Part { amount: "8.00".to_owned() } };
        let request = taken.request();
        assert_eq!(request.path, "/v1/sales/z%201/confirm");
        assert_eq!(request.body, Some(json!({ "taken": "part", "amount": "8.00" })));
        assert_eq!(Ask::Number(17).request().query, [("since", "16".to_owned()), ("limit", "1".to_owned())]);
    }

    #[test]
    fn each_question_has_its_path_and_its_parameters() {
        let reference = || "z".to_owned();
        for (ask, method, path, query) in [
            (Ask::Show { reference: reference(), wait_s: 200 }, "GET", "/v1/sales/z", "wait-s=120"),
            (Ask::Latest, "GET", "/v1/latest", ""),
            (Ask::Newest(3), "GET", "/v1/sales", "order=newest&limit=3"),
            (Ask::Cancel(reference()), "POST", "/v1/sales/z/cancel", ""),
            (Ask::Sign { reference: reference(), accepted: true }, "POST", "/v1/sales/z/signature", ""),
            (
                Ask::Receipt { reference: reference(), copy: Copy::Customer, width: Some(20), duplicate: false },
                "GET",
                "/v1/sales/z/receipt",
                "copy=customer&width=24",
            ),
            (
                Ask::Receipt { reference: reference(), copy: Copy::Merchant, width: None, duplicate: true },
                "GET",
                "/v1/sales/z/receipt",
                "copy=merchant&duplicate=true",
            ),
            (
                Ask::PrintAgain { reference: reference(), copy: Copy::Customer },
                "POST",
                "/v1/sales/z/receipt",
                "copy=customer",
            ),
            (Ask::Status, "GET", "/v1/status", ""),
            (Ask::LastClose, "GET", "/v1/closes/last", ""),
            (Ask::OpenPeriod, "GET", "/v1/closes/open", ""),
            (Ask::Close { reference: reference(), print: true }, "POST", "/v1/closes", ""),
        ] {
            let request = ask.request();
            let said: Vec<String> = request.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!((request.method, request.path.as_str(), said.join("&").as_str()), (method, path, query));
        }
    }

    #[test]
    fn answers_are_read_and_what_cannot_be_read_is_no_answer() {
        let sale = json!({
            "till": "t", "reference": "r", "number": 17, "receiptNumber": 17, "kind": "sale", "amount": "12.34",
            "currency": "EUR", "state": "awaiting-till", "text": "…", "startedAt": "2026-11-20T12:34:56Z",
            "replayed": false, "toConfirm": { "amount": "12.34", "until": "2026-11-20T12:36:56Z", "onSilence": "reverse" },
            "a-field-of-later": [1, 2],
        });
        let Said::Sale(view) = said(&Ask::Latest, 200, &sale) else { panic!("no sale") };
        assert_eq!((view.state, view.outcome, view.receipt_number), (State::AwaitingTill, None, 17));
        let mut other = sale;
        other["state"] = json!("a state of later");
        let Said::Sale(view) = said(&Ask::Latest, 200, &other) else { panic!("no sale") };
        assert_eq!(view.state, State::Other);
        let busy = json!({ "type": "x", "title": "t", "status": 409, "detail": "d", "code": "busy", "till": "t" });
        let Said::Refused(problem) = said(&Ask::Latest, 409, &busy) else { panic!("no refusal") };
        assert_eq!((problem.code.as_str(), problem.till.as_deref()), ("busy", Some("t")));
        let unanswered = json!({ "type": "x", "title": "t", "status": 503, "detail": "d", "code": "no-answer" });
        let cancel = Ask::Cancel("r".to_owned());
        assert_eq!(said(&cancel, 503, &unanswered), Said::NoAnswer { may_be_done: true });
        assert_eq!(Said::read(&Ask::Latest, 200, b"<html>"), Said::NoAnswer { may_be_done: false });
        assert_eq!(said(&cancel, 200, &json!({ "cancel": "in-time" })), Said::NoAnswer { may_be_done: true });
    }
}
