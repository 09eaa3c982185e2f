//! Pages for a customer's browser. They ask the customer to act while a payment waits (`redirect`). They are plain HTML
//! without scripts. A browser without the page's token gets no information.
//!
//! | request | what it does |
//! |---|---|
//! | `GET` or `POST /redirect/{id}` with `token` | shows the question |
//! | `POST` with `token` and `action` | carries out the action: `pay`, `cancel`, `expire`; `confirm` with `password` |
//!
//! The pages require no access token, because a customer has none.

use serde_json::Value;
use subtle::ConstantTimeEq;

use super::customer_acts::{Act, Acted};
use super::delivery::Delivery;
use super::entry::State;
use super::host::Host;
use super::redirect::{PASSWORD, PageEnd, PageKind, Redirect, TOKEN};
use super::refusal::Refusal;
use super::route::RouteRequest;
use pos_gateway_model::form;

/// The path of the pages.
const REDIRECT: &str = "/redirect/";

/// Returns whether a path belongs to a page.
pub(super) fn is_page(path: &str) -> bool {
    path.starts_with(REDIRECT)
}

/// Serves a page.
pub(super) fn serve(host: &mut Host, asked: &RouteRequest<'_>) -> Delivery {
    let id = asked.arrived.path.strip_prefix(REDIRECT).unwrap_or_default();
    let encoded = match asked.method.as_str() {
        "GET" => asked.arrived.query.as_bytes(),
        "POST" => asked.body.unwrap_or_default(),
        _ => return lost(),
    };
    let Ok(sent) = form::decode(encoded) else { return lost() };
    let get = |name: &str| sent.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str());
    let page = host.books.redirect(id).map(|page| {
        page.filter(|page| {
            page.kind != PageKind::Decoupled && bool::from(page.token.as_bytes().ct_eq(get(TOKEN).as_bytes()))
        })
    });
    let mut page = match page {
        Ok(Some(page)) => page,
        Ok(None) => return lost(),
        Err(error) => return Refusal::Books(error).answer(host.host_rules()),
    };
    let act = match (asked.method.as_str(), get("action"), page.kind) {
        ("POST", "pay", PageKind::Account) => Some(Act::Pay),
        ("POST", "confirm", PageKind::Challenge) => Some(Act::Password(get("password"))),
        ("POST", "cancel", _) => Some(Act::Cancel),
        ("POST", "expire", _) => Some(Act::LetExpire),
        _ => None,
    };
    let done = match act {
        Some(act) => host.act(&mut page, act),
        None => host.expire(&mut page).map(|()| match page.end {
            Some(_) => Acted::EndedBefore,
            None => Acted::TryAgain,
        }),
    };
    match done {
        Ok(Acted::Settled) => Delivery::SeeOther(page.back),
        Ok(Acted::TryAgain) => Delivery::Page(200, asks(&page, act.is_some())),
        Ok(Acted::EndedBefore) => Delivery::Page(409, ended(&page)),
        Err(error) => Refusal::Books(error).answer(host.host_rules()),
    }
}

/// Builds the page that asks the customer.
fn asks(page: &Redirect, was_wrong: bool) -> String {
    let answer = &page.settlement.answer;
    let text = |pointer: &str| match answer.pointer(pointer) {
        Some(Value::String(text)) => Some(escaped(text)),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    // The authenticated amount may differ from the paid amount.
    let amount = text("/threeDSecure/amount").or(text("/amount")).unwrap_or_default();
    let currency = text("/threeDSecure/currency").or(text("/currency")).unwrap_or_default();
    let shop = text("/merchant/name").unwrap_or_else(|| "the shop".to_owned());
    let (title, asked) = match page.kind {
        PageKind::Account => {
            ("Pay from your account", "<button name=\"action\" value=\"pay\" id=\"pay\">Pay</button>".to_owned())
        }
        PageKind::Challenge | PageKind::Decoupled => (
            "Confirm your payment",
            format!(
                "{}<p><label>One-time password <input name=\"password\" id=\"password\" inputmode=\"numeric\" \
                 autocomplete=\"one-time-code\" autofocus></label> (of every test card: {PASSWORD})</p>\
                 <button name=\"action\" value=\"confirm\" id=\"confirm\">Confirm</button>",
                if was_wrong { "<p role=\"alert\" id=\"wrong\">This password is wrong.</p>" } else { "" }
            ),
        ),
    };
    let body = format!(
        "<p id=\"asked\">{amount} {currency} to {shop}</p>\
         <form method=\"post\" action=\"{REDIRECT}{}\">\
         <input type=\"hidden\" name=\"{TOKEN}\" value=\"{}\">{asked} \
         <button name=\"action\" value=\"cancel\" id=\"cancel\" formnovalidate>Cancel</button> \
         <button name=\"action\" value=\"expire\" id=\"expire\" formnovalidate>Let it expire</button></form>",
        page.id, page.token
    );
    html(title, &body)
}

/// Builds the page of a payment that is already decided.
fn ended(page: &Redirect) -> String {
    let words = match page.end {
        Some(PageEnd::Done) if page.settlement.state == State::Declined.as_str() => "It was declined.",
        Some(PageEnd::Done) => "You have confirmed it.",
        Some(PageEnd::Cancelled) => "You have cancelled it.",
        Some(PageEnd::Refused) => "You could not be identified.",
        Some(PageEnd::Expired) | None => "It has expired.",
    };
    let back = escaped(&page.back);
    html(
        "This payment has ended",
        &format!("<p id=\"ended\">{words}</p><p><a href=\"{back}\">Back to the shop</a></p>"),
    )
}

/// Builds the answer for a page that does not exist or is not for this browser.
fn lost() -> Delivery {
    Delivery::Page(404, html("No such page", "<p>Go back to the shop and begin again.</p>"))
}

fn html(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{title}</title><style>body{{font:1.1rem sans-serif;margin:3rem auto;\
         max-width:28rem}}button,input{{font:inherit;padding:.5rem 1rem}}</style></head><body>\
         <main><p>Bank of Tests: no money moves here.</p><h1>{title}</h1>{body}</main></body></html>"
    )
}

/// Escapes text for HTML.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}
