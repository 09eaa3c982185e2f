//! Parses a request strictly by the interface documents: percent-encoding, UTF-8, names, formats and rules.
//!
//! The formats come from the interface's table (`pos_gateway_model`), which the agent must follow too.
//! `tests/gateway/parameters.rs` checks the table against values copied by hand from the document. This module shares
//! no other interface code with the agent, so that an agent with a misreading fails. A call accepts every name that the
//! table lists for it. [`AcceptedParameters`] lists the exceptions with their reasons. The table marks card and account
//! data. The other values may be stored and returned ([`Form::open_pairs`]).

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use super::invalid::Invalid;
use pos_gateway_model::form::{self, FormContext, Violation};
use pos_gateway_model::{Call, CharacterSet, Direction, Format, Names, Parameter, all, means, named_in, shown};

/// The meaning of "letter", which the documents leave open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Spelling {
    /// Names and places may contain letters of any script.
    #[default]
    Usual,
    /// Names and places may contain only the letters A to Z.
    Literal,
}

impl Spelling {
    /// Returns whether a value of this format also fits this reading. The shared table accepts more letters than A to
    /// Z.
    fn takes(self, format: Format, value: &str) -> bool {
        let Format::Chars(of, ..) = format else { return true };
        self == Self::Usual
            || match of {
                CharacterSet::NoDigits => value.bytes().all(|c| c.is_ascii_alphabetic()),
                CharacterSet::LettersDigitsDot | CharacterSet::LettersDigitsSpaces | CharacterSet::LettersSpaces => {
                    value.is_ascii()
                }
                _ => true,
            }
    }
}

/// The choices where the documents are open: the letters, and the names that are settings.
#[derive(Clone, Debug, Default)]
pub(super) struct FormReading {
    pub spelling: Spelling,
    pub names: Arc<Names>,
}

impl From<Spelling> for FormReading {
    fn from(spelling: Spelling) -> Self {
        Self { spelling, names: Arc::default() }
    }
}

/// One parameter of a request.
struct Pair {
    name: String,
    value: String,
    /// True if the value must not be stored or shown.
    secret: bool,
}

/// The decoded parameters of a request, in their order. No name occurs twice.
#[derive(Default)]
pub(super) struct Form {
    pairs: Vec<Pair>,
    names: Arc<Names>,
}

impl Form {
    /// Decodes `application/x-www-form-urlencoded`, and checks all names and values against the table and each other.
    /// [`Form::required`] and [`Form::complete`] check for missing parameters.
    pub(super) fn parse(
        encoded: &[u8],
        taken: &AcceptedParameters,
        reading: impl Into<FormReading>,
    ) -> Result<Self, Invalid> {
        Self::from_pairs(decoded(encoded)?, taken, reading)
    }

    /// Checks decoded pairs in the same way. They may come from several forms, such as those of a checkout and its
    /// shopper.
    pub(super) fn from_pairs(
        pairs: Vec<(String, String)>,
        taken: &AcceptedParameters,
        reading: impl Into<FormReading>,
    ) -> Result<Self, Invalid> {
        let reading = reading.into();
        let mut secrets = Vec::with_capacity(pairs.len());
        let mut seen = HashSet::with_capacity(pairs.len());
        for (name, value) in &pairs {
            if !seen.insert(name.as_str()) {
                return Err(Invalid::new(shown(name), "sent twice"));
            }
            secrets.push(check(name, value, taken, &reading)?);
        }
        first(form::broken(&pairs, &taken.context(&reading.names)))?;
        let pairs = pairs.into_iter().zip(secrets).map(|((name, value), secret)| Pair { name, value, secret });
        Ok(Self { names: reading.names, pairs: pairs.collect() })
    }

    /// Checks that all parameters are present that the table requires for the groups in use.
    pub(super) fn complete(&self, taken: &AcceptedParameters) -> Result<(), Invalid> {
        first(form::judge(&self.plain(), &taken.context(&self.names)))
    }

    /// Checks that a form that was accepted for one call also follows the rules of this call.
    pub(super) fn keeps_to(&self, taken: &AcceptedParameters) -> Result<(), Invalid> {
        first(form::broken(&self.plain(), &taken.context(&self.names)))
    }

    /// Returns the pairs, to check them against the table.
    fn plain(&self) -> Vec<(String, String)> {
        self.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// Makes a form from pairs that were checked earlier.
    pub(super) fn of(pairs: Vec<(String, String)>) -> Self {
        let pairs = pairs.into_iter().map(|(name, value)| Pair { name, value, secret: false }).collect();
        Self { pairs, names: Arc::default() }
    }

    /// Returns the value of a parameter.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|pair| pair.name == name).map(|pair| pair.value.as_str())
    }

    /// Returns the value of a parameter, or an error if it is missing.
    pub(super) fn required(&self, name: &str) -> Result<&str, Invalid> {
        self.get(name).ok_or_else(|| Invalid::new(name, "required and not sent"))
    }

    /// Returns the first parameter whose name has this prefix.
    pub(super) fn first_under(&self, beginning: &str) -> Option<&str> {
        self.pairs.iter().find(|pair| pair.name.starts_with(beginning)).map(|pair| pair.name.as_str())
    }

    /// Returns whether the parameter is present and `true`.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }

    /// Returns the bytes of a hex parameter in upper or lower case (data-model: Point of sale, "letters and digits").
    pub(super) fn hex(&self, name: &str) -> Result<Option<Vec<u8>>, Invalid> {
        let Some(value) = self.get(name) else { return Ok(None) };
        hex::decode(value).map(Some).map_err(|_| Invalid::new(name, "not an even number of hex digits"))
    }

    /// Returns the names, in their order.
    pub(super) fn names(&self) -> Vec<String> {
        self.pairs.iter().map(|pair| pair.name.clone()).collect()
    }

    /// Returns all pairs.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|pair| (pair.name.as_str(), pair.value.as_str()))
    }

    /// Returns the pairs that may be stored and returned, without card data, account data and tokens.
    pub(super) fn open_pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().filter(|pair| !pair.secret).map(|pair| (pair.name.as_str(), pair.value.as_str()))
    }
}

/// Decodes the pairs of a body, in their order.
pub(super) fn decoded(encoded: &[u8]) -> Result<Vec<(String, String)>, Invalid> {
    form::decode(encoded).map_err(|wrong| match wrong.name.as_str() {
        "form" => Invalid::new("body", wrong.problem),
        _ => Invalid::new(wrong.name, wrong.problem),
    })
}

/// Returns the first violation as an error.
fn first(violations: Vec<Violation>) -> Result<(), Invalid> {
    violations
        .into_iter()
        .next()
        .map_or(Ok(()), |broken| Err(Invalid::new(broken.name, format!("{}; {}", broken.problem, broken.rule))))
}

/// The parameters that a request may have: all that the table lists for its call, except those in `refused`.
pub(super) struct AcceptedParameters {
    call: Call,
    /// The only allowed names; empty if the table decides.
    only: &'static [&'static str],
    /// Names that are accepted even if `refused` covers them.
    taken: &'static [&'static str],
    /// Names that are refused, with the reason. A name that ends with a dot covers all names with that prefix.
    refused: &'static [(&'static str, &'static str)],
}

impl AcceptedParameters {
    fn context<'a>(&self, names: &'a Names) -> FormContext<'a> {
        FormContext { direction: Direction::Request, call: self.call, from_client_side: false, names }
    }

    /// Returns the reason why a name is refused.
    fn refuses(&self, name: &str) -> Option<&'static str> {
        if !self.only.is_empty() {
            return (!self.only.contains(&name)).then_some("this request accepts only a few parameters");
        }
        if self.taken.contains(&name) {
            return None;
        }
        let refused = |(entry, _): &&(&str, &str)| means(entry, name);
        EVERYWHERE.iter().chain(self.refused).find(refused).map(|(_, why)| *why)
    }
}

/// Names that this gateway accepts in no request.
const EVERYWHERE: &[(&str, &str)] = &[("Authorization", "a header, not a parameter")];

const OF_SHOPPER: &str = "the shopper enters it in the widget";
const OF_PAYMENTS: &str = "it belongs to a payment or a checkout";
const OF_SCHEDULES: &str = "a timetable belongs to a schedule";
const NO_READER: &str = "there is no reader here";
const NO_SHOPPER: &str = "no customer is asked here";

/// The parameters of `POST /v1/payments`.
pub(super) const PAYMENT: &AcceptedParameters = &AcceptedParameters {
    call: Call::Payment,
    only: &[],
    taken: &[],
    refused: &[("overrideHolder", "it is only for the holder of a stored account")],
};

/// The parameters of `POST /v1/payments` with `referenceUuid`.
pub(super) const INCREMENT: &AcceptedParameters =
    &AcceptedParameters { call: Call::Increment, only: &[], taken: &[], refused: &[] };

/// The terminal fields that a follow-up may have.
const TERMINAL: &[&str] = &["pos.terminalId", "pos.transactionSequenceNumber", "pos.transactionSource"];

/// The parameters of `POST /v1/payments/{id}`.
pub(super) const FOLLOW_UP: &AcceptedParameters = &AcceptedParameters {
    call: Call::FollowUp,
    only: &[],
    taken: TERMINAL,
    refused: &[("pos.", NO_READER), ("threeDSecure.", NO_SHOPPER), ("shopperResultUrl", NO_SHOPPER)],
};

/// The parameters of `POST /v1/registrations`: payment data that were read or typed.
pub(super) const REGISTRATION: &AcceptedParameters = &AcceptedParameters {
    call: Call::Registration,
    only: &[],
    taken: &[],
    refused: &[
        ("integrity", OF_PAYMENTS),
        ("amount", "nothing is paid"),
        ("currency", "nothing is paid"),
        ("createRegistration", "this request always stores the payment data"),
        ("pos.iccDataRequest", "nothing is paid"),
        ("job.", OF_SCHEDULES),
    ],
};

/// The parameters of `POST /v1/registrations/{id}/payments`.
pub(super) const WITH_REGISTRATION: &AcceptedParameters =
    &AcceptedParameters { call: Call::ByRegistration, only: &[], taken: TERMINAL, refused: &[("pos.", NO_READER)] };

/// The parameters of `POST /v1/checkouts`, which the merchant's server knows before the shopper types anything.
pub(super) const CHECKOUT: &AcceptedParameters = &AcceptedParameters {
    call: Call::Checkout,
    only: &[],
    taken: &[],
    refused: &[
        ("card.", OF_SHOPPER),
        ("bankAccount.", OF_SHOPPER),
        ("tokenAccount.", OF_SHOPPER),
        ("virtualAccount.", OF_SHOPPER),
        ("giftCard.number", OF_SHOPPER),
        ("giftCard.pin", OF_SHOPPER),
        ("<wallet_a>.", OF_SHOPPER),
        ("<wallet_b>.", OF_SHOPPER),
        ("<wallet_c>.", OF_SHOPPER),
        ("pos.", NO_READER),
        ("referenceUuid", "a checkout always makes a new payment"),
        ("job.", OF_SCHEDULES),
    ],
};

/// The parameters of `DELETE /v1/registrations/{id}`.
pub(super) const DEREGISTRATION: &AcceptedParameters = RETRIEVAL;

/// The parameters of the query (data-model: Query parameters).
pub(super) const QUERY: &AcceptedParameters =
    &AcceptedParameters { call: Call::Query, only: &[], taken: &[], refused: &[] };

/// The parameters of `POST /v1/schedules/{id}`: `job.*` and the entity.
pub(super) const RESCHEDULE: &AcceptedParameters =
    &AcceptedParameters { call: Call::Schedule, only: RESCHEDULED, taken: &[], refused: &[] };

/// The names of the table's `job` group.
const RESCHEDULED: &[&str] = &[
    "entityId",
    "job.name",
    "job.year",
    "job.month",
    "job.dayOfMonth",
    "job.dayOfWeek",
    "job.hour",
    "job.minute",
    "job.second",
    "job.startDate",
    "job.endDate",
    "job.noticeUnit",
    "job.noticeNumber",
    "job.noticeCallable",
    "job.durationUnit",
    "job.durationNumber",
    "job.expression",
];

/// The parameters of the reports (data-model: Reporting parameters).
pub(super) const REPORT: &AcceptedParameters = &AcceptedParameters {
    call: Call::Report,
    only: &["entityId", "date.from", "date.to", "sortValue", "sortOrder"],
    taken: &[],
    refused: &[],
};

/// The parameters of retrieval and of the warm path.
pub(super) const RETRIEVAL: &AcceptedParameters =
    &AcceptedParameters { call: Call::Query, only: &["entityId"], taken: &[], refused: &[] };

/// The table rows without brackets for each call, collected once. A search of the whole table for each parameter would
/// take most of a payment's time.
static ROWS: LazyLock<HashMap<&str, HashMap<String, Parameter>>> = LazyLock::new(|| {
    let names = Names::default();
    let rows = |call: Call| {
        // The name of a scheme is a setting, so it is looked up each time.
        let is_plain = |name: &String| !name.contains('[') && !name.contains("<scheme>");
        let plain = all().map(|row| row.name().into_owned()).filter(is_plain);
        let known = plain.filter_map(|name| {
            let row = named_in(&name, &names, Direction::Request, call).ok()?;
            Some((name, row))
        });
        (call.as_str(), known.collect())
    };
    [PAYMENT, FOLLOW_UP, REGISTRATION, WITH_REGISTRATION, QUERY, REPORT]
        .into_iter()
        .map(|taken| rows(taken.call))
        .collect()
});

/// Checks a parameter, and returns whether its value must be kept secret.
fn check(name: &str, value: &str, taken: &AcceptedParameters, reading: &FormReading) -> Result<bool, Invalid> {
    let known = match ROWS.get(taken.call.as_str()).and_then(|rows| rows.get(name)) {
        Some(row) => Ok(*row),
        None => named_in(name, &reading.names, Direction::Request, taken.call),
    };
    let known =
        known.map_err(|unfit| Invalid::new(shown(name), format!("not a parameter of this request: {unfit}")))?;
    if let Some(why) = taken.refuses(name) {
        return Err(Invalid::new(shown(name), format!("not a parameter of this request: {why}")));
    }
    let format = known.format_of(name);
    if format.fits(value) && reading.spelling.takes(format, value) {
        Ok(known.row.secret)
    } else {
        Err(Invalid::new(shown(name), format!("must be {format}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(body: &str) -> String {
        match Form::parse(body.as_bytes(), PAYMENT, Spelling::Usual) {
            Ok(_) => panic!("{body} was taken"),
            Err(invalid) => invalid.to_string(),
        }
    }

    #[test]
    fn decodes_percent_plus_and_utf8() {
        let form =
            Form::parse("descriptor=Caf%C3%A9+%26+co&amount=12.34".as_bytes(), PAYMENT, Spelling::Usual).unwrap();
        assert_eq!(form.get("descriptor"), Some("Café & co"));
        assert_eq!(form.names(), ["descriptor", "amount"]);
    }

    #[test]
    fn names_what_is_wrong_and_never_repeats_the_value() {
        for (body, says) in [
            ("amount=12.3", "amount: must be 1 to 10 digits, a dot and two decimals"),
            ("amount=12,34", "amount: must be"),
            ("amount=12345678901.00", "amount: must be"),
            ("amount=-1.00", "amount: must be"),
            ("currency=eur", "currency: must be 3 upper-case letters"),
            ("entityId=8AC7A4C9000000000000000000000000", "entityId: must be 32 lower-case hex digits"),
            ("merchantTransactionId=short", "merchantTransactionId: must be 8 to 255"),
            ("pos.terminalId=T1", "pos.terminalId: must be 1 to 32 digits"),
            ("pos.entryMode=CHIP", "pos.entryMode: must be one of MANUAL"),
            ("pos.location.latitude=100.1", "pos.location.latitude: must be a sign or none, 1 to 2 digits"),
            ("pos.iccDataRequest=9F26-", "pos.iccDataRequest: must be 1 to 2048 letters and digits"),
            ("pos.pin=1234", "pos.pin: not a parameter of this request"),
            ("amount=1.00&amount=2.00", "amount: sent twice"),
            ("amount", "body: pair 1 has no '='"),
            ("descriptor=%C3%28", "descriptor: not UTF-8"),
            ("descriptor=%4", "descriptor: '%' without two hex digits"),
            ("descriptor=a b", "descriptor: a byte that must be percent-encoded"),
            ("descriptor=a%0Ab", "descriptor: must be 1 to 127 characters without control"),
        ] {
            let said = wrong(body);
            assert!(said.starts_with(says), "{body}: {said}");
        }
    }

    #[test]
    fn hex_is_in_either_case_and_whole_bytes() {
        let form = Form::parse(
            b"pos.iccDataRequest=9F02&pos.encryptedSred.data=9f02&pos.encryptedSred.ksn=9F0",
            PAYMENT,
            Spelling::Usual,
        )
        .unwrap();
        assert_eq!(form.hex("pos.iccDataRequest").unwrap().unwrap(), [0x9F, 0x02]);
        assert_eq!(form.hex("pos.encryptedSred.data").unwrap().unwrap(), [0x9F, 0x02]);
        assert!(form.hex("pos.encryptedSred.ksn").is_err());
        assert_eq!(form.hex("pos.encryptedPin.data").unwrap(), None);
    }

    #[test]
    fn what_belongs_elsewhere_is_refused_by_name() {
        for (body, says) in [
            ("card.number=4111-1111", "card.number: must be 8 to 32 digits"),
            ("overridePaymentType[VISA]=PA", "overridePaymentType[VISA]: not a parameter of this request: not a"),
            ("customParameters[ab]=1", "customParameters[ab]: not a parameter of this request: the key"),
            ("limit=100", "limit: not a parameter of this request: not a parameter of this call, but of query"),
        ] {
            let said = wrong(body);
            assert!(said.starts_with(says) && !said.contains("4111"), "{body}: {said}");
        }
        assert!(Form::parse(b"customParameters[a.b_c]=anything", PAYMENT, Spelling::Usual).is_ok());
        let form = b"shipping.city=Bonn&card.number=4111111111111111&card.cvv=123";
        let form = Form::parse(form, PAYMENT, Spelling::Usual).unwrap();
        assert_eq!(form.open_pairs().collect::<Vec<_>>(), [("shipping.city", "Bonn")]);
        assert!(form.complete(PAYMENT).unwrap_err().to_string().starts_with("amount: required and not sent"));
    }

    #[test]
    fn the_query_has_formats_and_rules_of_its_own() {
        assert!(Form::parse(b"limit=99", QUERY, Spelling::Usual).is_err());
        assert!(
            Form::parse(b"limit=100&date.from=2026-01-01+00:00:00&date.to=2026-01-02+00:00:00", QUERY, Spelling::Usual)
                .is_ok()
        );
        let both = b"merchantTransactionId=a&date.from=2026-01-01+00:00:00&date.to=2026-01-02+00:00:00";
        assert!(Form::parse(both, QUERY, Spelling::Usual).is_err());
    }

    #[test]
    fn letters_are_a_to_z_where_the_interface_says_letters() {
        let place = Format::Chars(CharacterSet::LettersDigitsDot, 1, 50);
        for (spelling, value, takes) in [
            (Spelling::Literal, "Bayern", true),
            (Spelling::Literal, "Thüringen", false),
            (Spelling::Usual, "Thüringen", true),
        ] {
            assert_eq!(spelling.takes(place, value), takes, "{spelling:?} {value}");
        }
        let town = Format::Chars(CharacterSet::NoDigits, 1, 80);
        assert!(!Spelling::Literal.takes(town, "St. Gallen") && Spelling::Usual.takes(town, "St. Gallen"));
        assert!(Spelling::Literal.takes(Format::Chars(CharacterSet::Text, 1, 80), "Zürich"));
    }
}
