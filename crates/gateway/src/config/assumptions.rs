//! The agent's assumptions about facts that the interface documents call "not shown" (design: Reading the interface
//! documents). Each assumption is a key of `[gateway.assumptions]` with a default, so another gateway needs only other
//! settings. Paths are relative to `url`.

use chrono::FixedOffset;
use serde::Deserialize;

use pos_daemon::settings::{FaultList, check, ensure, is_made_of, within};
use pos_gateway_model as parameter;

/// The placeholder for the id of a payment or registration in a path.
pub const ID: &str = "{id}";

/// The agent's assumptions about a gateway.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Assumptions {
    /// Path of the query by `merchantTransactionId` or by date.
    pub query_path: String,
    /// The method of the query: a GET with its parameters in the address, or a POST with them in the body.
    pub query_method: QueryMethod,
    /// Names of the field that contains the list in the query's answer. The first name in the answer counts. A bare
    /// list and a single payment are always understood.
    pub query_list: Vec<String>,
    /// Additional answers to a query that mean "there is no such payment", each as HTTP status and result code:
    /// `404 700.400.580`. Without them, only an empty list has this meaning. If the gateway also gives such an answer
    /// at a wrong path, payments stay hidden.
    #[cfg_attr(feature = "docs", schemars(with = "Vec<String>"))]
    pub query_not_found: Vec<NotFound>,
    /// `true`: the query's answer names the `merchantTransactionId` of each payment. The agent then does not accept a
    /// payment without it as ours. Set `false` only for a gateway that never names it.
    pub query_echoes_reference: bool,
    /// `true`: the gateway supports queries by `date.from` and `date.to`. `false`: it does not, and no work waits for
    /// such a query.
    pub query_by_date: bool,
    /// The offset from UTC of `date.from` and `date.to`, for example `+01:00`.
    #[cfg_attr(feature = "docs", schemars(with = "String"))]
    pub query_date_zone: Zone,
    /// Path of a small request on the connection that is opened before the card is read; any answer is enough. Without
    /// this path, the connection is opened, including TLS, but no request is sent.
    pub warm_path: Option<String>,
    /// Path of the request that asks whether the gateway answers, and for its time of day. It is sent at start, daily,
    /// and by the doctor, without the access token; any answer is enough. After it, the agent asks, with the token, for
    /// a reference that no terminal creates. This reveals a refused token before the first transaction.
    pub probe_path: String,
    /// Path of captures, refunds and reversals.
    pub follow_up_path: String,
    /// Path of payments with a stored card.
    pub registration_payment_path: String,
    /// Path for storing a card without a payment. The card is deleted at this path followed by the card's id.
    pub registration_path: String,
    /// `true`: the query also shows stored cards (its type RG). `false`: if storing a card had no answer, the
    /// transaction waits for a person, because an absence from the list proves nothing.
    pub query_lists_registrations: bool,
    /// Result codes that mean "too many requests": the request was not processed. The lists are tried in this order:
    /// throttled, uncertain, approved, pending, declined. An entry of one digit, or an entry that begins like `000.`,
    /// is the prefix of codes of the form `000.000.000`. Any other entry is a complete code of another form. A code on
    /// no list is unknown at any HTTP status.
    pub throttled: Vec<String>,
    /// Result codes that other gateways use for pending, uncertain or a system error. The outcome is unknown at any
    /// HTTP status.
    pub uncertain: Vec<String>,
    /// Result codes that mean approved, with HTTP 200.
    pub approved: Vec<String>,
    /// Result codes that mean pending, with HTTP 200; a `redirect` means the same.
    pub pending: Vec<String>,
    /// Result codes that mean declined, with HTTP 400. At another status, the agent looks up the payment before it
    /// accepts the decline, because the gateway may have booked the payment.
    pub declined: Vec<String>,
    /// Additional codes that mean declined, only with HTTP 400. A code that is also on another list keeps the meaning
    /// of that list.
    pub declined_at_400: Vec<String>,
    /// Result codes that mean, with HTTP 400, that the request itself is invalid. The request was not processed, and
    /// another card does not help. This list comes before `declined` and after the other lists.
    pub invalid_request: Vec<String>,
    /// `true`: a decline with HTTP 200 is accepted immediately, without a look-up. Set `true` only for a gateway that
    /// is known to decline in this way; `pos-agent doctor` says when.
    pub believe_declines_at_200: bool,
    /// Values of `resultDetails.AcquirerResponse` with which the issuer refuses a tap: the customer must insert the
    /// card and enter the PIN.
    pub insert_and_pin: Vec<String>,
    /// Values of `resultDetails.AcquirerResponse` with which the issuer says that it will never approve this card
    /// again.
    pub do_not_try_again: Vec<String>,
    /// Values of `resultDetails.MerchantAdviceCode` with the same meaning.
    pub advice_do_not_try_again: Vec<String>,
    /// `true`: the gateway refuses a `merchantTransactionId` that it has seen before, even if the first request failed.
    /// A capture or refund without an answer can then be sent again after `resend-after-s`. `false`: it can be sent
    /// again only when its absence is final.
    pub refuses_repeated_references: bool,
    /// Time in hours during which a payment that the gateway does not know may still appear. After this time, the
    /// payment counts as absent.
    pub absence_final_after_h: u64,
    /// The prefixes of the wallets' parameters; at most three.
    pub wallets: Vec<String>,
    /// The names of the card schemes in 3-D Secure parameters; at most six.
    pub schemes: Vec<String>,
    /// Parameters that this gateway is known not to accept, by their names in `pos-agent parameters list`. A name that
    /// ends with a dot covers all names that begin with it. The agent refuses a transaction with such a parameter
    /// before it asks for the card.
    pub parameters_not_taken: Vec<String>,
}

/// The method of the query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "UPPERCASE")]
pub enum QueryMethod {
    /// The parameters are in the address.
    #[default]
    Get,
    /// The same parameters are in the body, as a form.
    Post,
}

/// An answer to a query that means "there is no such payment".
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct NotFound {
    /// The HTTP status.
    pub status: u16,
    /// The whole `result.code`.
    pub code: String,
}

impl TryFrom<String> for NotFound {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let read = || {
            let (status, code) = text.split_once(' ')?;
            // 401 and 403 concern our token, 307 another address, and 5xx a gateway that failed.
            let status = status.parse().ok().filter(|status| matches!(status, 200..=299 | 400 | 402 | 404..=499))?;
            let fits = is_made_of(code, 11, |b| b.is_ascii_digit() || b == b'.') && code.len() >= 2;
            fits.then(|| Self { status, code: code.to_owned() })
        };
        read().ok_or_else(|| {
            format!(
                "\"{text}\" is not an HTTP status (2xx or 4xx, but not 401 or 403) with a result code; write it as \
                 \"404 700.400.580\""
            )
        })
    }
}

/// An offset from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Zone(FixedOffset);

impl Zone {
    /// Returns the offset.
    #[must_use]
    pub fn offset(self) -> FixedOffset {
        self.0
    }
}

#[cfg(feature = "docs")]
impl serde::Serialize for Zone {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl TryFrom<String> for Zone {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let read = || {
            let (sign, rest) = match text.split_at_checked(1)? {
                ("+", rest) => (1, rest),
                ("-", rest) => (-1, rest),
                _ => return None,
            };
            let (hours, minutes) = rest.split_once(':')?;
            let number = |digits: &str, most: i32| {
                let fits = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit());
                digits.parse::<i32>().ok().filter(|number| fits && *number <= most)
            };
            // No time zone is more than 14 hours from UTC.
            FixedOffset::east_opt(sign * (number(hours, 14)? * 3600 + number(minutes, 59)? * 60)).map(Self)
        };
        read().ok_or_else(|| format!("\"{text}\" is not an offset from UTC; write it as \"+00:00\" or \"+01:00\""))
    }
}

impl Assumptions {
    /// Checks whether a list contains a code. An entry of one digit, or an entry that begins like `000.`, is the prefix
    /// of codes of the form `000.000.000`. Any other entry is a complete code of another form. The default lists
    /// contain no code of another form.
    #[must_use]
    pub fn is_listed(list: &[String], code: &str) -> bool {
        let usual = code.len() == 11 && begins_as_usual(code);
        list.iter().any(|entry| match is_beginning(entry) {
            true => usual && code.starts_with(entry.as_str()),
            false => !usual && entry == code,
        })
    }
}

/// Checks whether an entry is a prefix of codes, not a complete code of another form.
fn is_beginning(entry: &str) -> bool {
    (entry.len() == 1 || (4..=11).contains(&entry.len())) && begins_as_usual(entry)
}

/// Checks whether a text has the form `000.000.000` or is a prefix of this form.
fn begins_as_usual(text: &str) -> bool {
    text.bytes().enumerate().all(|(n, byte)| if n == 3 || n == 7 { byte == b'.' } else { byte.is_ascii_digit() })
}

impl Default for Assumptions {
    fn default() -> Self {
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            query_path: "/v1/query".to_owned(),
            query_method: QueryMethod::Get,
            query_list: list(&["payments", "records"]),
            query_not_found: Vec::new(),
            query_echoes_reference: true,
            query_by_date: true,
            query_date_zone: Zone(FixedOffset::east_opt(0).expect("UTC is an offset")),
            warm_path: None,
            probe_path: "/".to_owned(),
            follow_up_path: "/v1/payments/{id}".to_owned(),
            registration_payment_path: "/v1/registrations/{id}/payments".to_owned(),
            registration_path: "/v1/registrations".to_owned(),
            query_lists_registrations: true,
            throttled: list(&["800.120.100"]),
            uncertain: list(&[
                "100.400.500",
                "800.400.5",
                "600.1",
                "800.5",
                "800.6",
                "800.700",
                "800.800.4",
                "800.800.8",
                "900.",
            ]),
            approved: list(&["000.000.", "000.100.1", "000.300.", "000.600."]),
            pending: list(&["000.200."]),
            declined: list(&["1", "2", "3", "4", "5", "6", "7", "800."]),
            declined_at_400: Vec::new(),
            invalid_request: list(&["200."]),
            believe_declines_at_200: false,
            // Mastercard 65, Visa 1A and 70: the issuer wants strong customer authentication or a PIN.
            insert_and_pin: list(&["1A", "65", "70"]),
            // ISO 8583, field 39: pick up, lost, stolen, closed; Visa's R0, R1 and R3.
            do_not_try_again: list(&["04", "07", "41", "43", "46", "R0", "R1", "R3"]),
            // Mastercard's merchant advice: do not try again; payment cancelled.
            advice_do_not_try_again: list(&["03", "21"]),
            refuses_repeated_references: false,
            absence_final_after_h: 24,
            wallets: Vec::new(),
            schemes: Vec::new(),
            parameters_not_taken: Vec::new(),
        }
    }
}

/// At least an hour (a late approval), at most a month (journals are kept longer).
const ABSENCE_H: std::ops::RangeInclusive<u64> = 1..=720;
/// More fields than any gateway uses for one list.
const MAX_LISTS: usize = 8;

/// Checks every value.
pub(super) fn check_all(found: &mut FaultList, assumed: &Assumptions) {
    paths(found, assumed);
    codes(found, assumed);
    let name = |name: &String| is_made_of(name, 64, |b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    found.add(check(
        (1..=MAX_LISTS).contains(&assumed.query_list.len()) && assumed.query_list.iter().all(name),
        "gateway.assumptions.query-list",
        "must be a list of one to eight names of fields",
        "write the field of the query's answer that holds the list, such as [\"payments\"]",
    ));
    for not_found in &assumed.query_not_found {
        // "Too many requests" and "done" are also answers, but they do not prove that there is no payment.
        let other = [&assumed.throttled, &assumed.uncertain, &assumed.pending];
        found.add(check(
            !other.iter().any(|list| Assumptions::is_listed(list, &not_found.code)),
            "gateway.assumptions.query-not-found",
            &format!("{} is also in throttled, uncertain or pending", not_found.code),
            "write the code that the gateway returns when it finds nothing",
        ));
    }
    for (key, names, most) in [("wallets", &assumed.wallets, 3), ("schemes", &assumed.schemes, 6)] {
        let name = |name: &String| is_made_of(name, 32, |b| b.is_ascii_alphanumeric() || b == b'_');
        found.add(check(
            names.len() <= most && names.iter().all(name),
            &format!("gateway.assumptions.{key}"),
            &format!("must be a list of at most {most} words of letters, digits and _"),
            "write the part before the dot in the names of its parameters",
        ));
    }
    for (key, values) in [
        ("insert-and-pin", &assumed.insert_and_pin),
        ("do-not-try-again", &assumed.do_not_try_again),
        ("advice-do-not-try-again", &assumed.advice_do_not_try_again),
    ] {
        let value = |value: &String| is_made_of(value, 16, |b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
        found.add(check(
            values.iter().all(value),
            &format!("gateway.assumptions.{key}"),
            "must be a list of codes, each of 1 to 16 letters, digits, dots and hyphens",
            "write the acquirer's codes, such as [\"65\", \"1A\"], or [] for none",
        ));
    }
    let unknown = assumed.parameters_not_taken.iter().find(|entry| !parameter::means_any(entry));
    found.add(ensure(unknown.is_none(), "gateway.assumptions.parameters-not-taken", || {
        let unknown = unknown.map(String::as_str).unwrap_or_default();
        (
            format!("\"{}\" is neither a parameter of a request nor the beginning of one", parameter::shown(unknown)),
            "write names as pos-agent parameters list shows them, or a beginning that ends with a dot: \"corporate.\""
                .to_owned(),
        )
    }));
    found.add(within("gateway.assumptions.absence-final-after-h", assumed.absence_final_after_h, &ABSENCE_H));
}

fn paths(found: &mut FaultList, assumed: &Assumptions) {
    let is_path =
        |path: &str| path.starts_with('/') && path.bytes().all(|b| b.is_ascii_graphic() && !b"?#{}".contains(&b));
    for (key, path, example) in [
        ("query-path", Some(&assumed.query_path), "/v1/query"),
        ("warm-path", assumed.warm_path.as_ref(), "/v1/ping"),
        ("probe-path", Some(&assumed.probe_path), "/"),
        ("registration-path", Some(&assumed.registration_path), "/v1/registrations"),
    ] {
        found.add(check(
            path.is_none_or(|path| is_path(path)),
            &format!("gateway.assumptions.{key}"),
            "must be a path without ? or #",
            &format!("write it as \"{example}\""),
        ));
    }
    for (key, path, example) in [
        ("follow-up-path", &assumed.follow_up_path, "/v1/payments/{id}"),
        ("registration-payment-path", &assumed.registration_payment_path, "/v1/registrations/{id}/payments"),
    ] {
        // A path without the id would name no payment, or all payments.
        let fits = path.split_once(ID).is_some_and(|(before, after)| is_path(before) && is_path(&format!("/{after}")));
        found.add(check(
            fits,
            &format!("gateway.assumptions.{key}"),
            "must be a path that contains {id} once, without ? or #",
            &format!("write it as \"{example}\""),
        ));
    }
}

fn codes(found: &mut FaultList, assumed: &Assumptions) {
    for (key, codes, least) in [
        ("throttled", &assumed.throttled, 1),
        ("uncertain", &assumed.uncertain, 0),
        ("approved", &assumed.approved, 1),
        ("pending", &assumed.pending, 1),
        ("declined", &assumed.declined, 1),
        ("declined-at-400", &assumed.declined_at_400, 0),
        ("invalid-request", &assumed.invalid_request, 0),
    ] {
        // An empty entry would be a prefix of every code.
        let entry = |code: &String| is_made_of(code, 11, |b| b.is_ascii_digit() || b == b'.');
        let many = if least == 0 { "a list" } else { "a list with at least one entry" };
        found.add(check(
            codes.len() >= least && codes.iter().all(entry),
            &format!("gateway.assumptions.{key}"),
            &format!("must be {many} (result codes or prefixes: digits and dots, up to 11)"),
            "write it as [\"000.000.\"], or omit the key to use the default",
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_a_beginning_or_a_whole_code_and_never_both() {
        let listed = |entry: &str, code: &str| Assumptions::is_listed(&[entry.to_owned()], code);
        for (entry, code, expected) in [
            ("8", "800.100.152", true),
            ("800.", "800.100.152", true),
            ("800.1", "800.100.152", true),
            ("800.100.152", "800.100.152", true),
            ("800.2", "800.100.152", false),
            // Codes of another form.
            ("00", "00", true),
            ("12.34", "12.34", true),
            ("1234.5678.9", "1234.5678.9", true),
            ("8", "80", false),
            ("800.", "800.", false),
            ("800.1", "800.1", false),
            ("00", "000", false),
            // "00" for approved must not approve longer codes that begin with it.
            ("00", "000.200.000", false),
            ("000", "000.200.000", false),
            ("", "00", false),
        ] {
            assert_eq!(listed(entry, code), expected, "{entry} {code}");
        }
    }

    #[test]
    fn no_unusual_code_is_on_a_list_by_default() {
        let Assumptions { throttled, uncertain, approved, pending, declined, .. } = Assumptions::default();
        let lists = [throttled, uncertain, approved, pending, declined];
        for code in lists.iter().flatten() {
            // The default lists contain no such code.
            let all = lists.iter().any(|list| Assumptions::is_listed(list, code));
            assert_eq!(all, code.len() == 11, "{code}");
        }
    }

    #[test]
    fn zones_and_answers_are_read() {
        let zone = |text: &str| Zone::try_from(text.to_owned()).map(|zone| zone.offset().local_minus_utc());
        assert_eq!(zone("+00:00"), Ok(0));
        assert_eq!(zone("+05:30"), Ok(19_800));
        assert_eq!(zone("-14:00"), Ok(-50_400));
        for wrong in ["", "Z", "00:00", "+1:00", "+15:00", "+01:60", "+01", "+-1:00", "é01:00"] {
            assert!(zone(wrong).unwrap_err().contains("write it as"), "{wrong}");
        }
        let answer = |text: &str| NotFound::try_from(text.to_owned());
        assert_eq!(answer("404 700.400.580"), Ok(NotFound { status: 404, code: "700.400.580".to_owned() }));
        for wrong in ["404", "404 ", "404 x", "401 700.400.580", "403 10", "500 10", "307 10", "404  10", "404 1"] {
            assert!(answer(wrong).unwrap_err().contains("write it as"), "{wrong}");
        }
    }
}
