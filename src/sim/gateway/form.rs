//! Reading a request as strictly as the interface documents write it: percent-encoding, UTF-8, names, formats and
//! rules.
//!
//! The formats are those of the interface's table (`gateway::parameter`), which the agent is held to as well; that the
//! table is the document's is proven by what people typed from the document, in `tests/gateway/parameters.rs`. Nothing
//! of what the agent makes of it is used here: an agent that misreads the interface must fail. What is documented but
//! has no place at the counter (other instruments, shipping, 3-D Secure, …) is refused by name.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use super::host_rules::HostRules;
use crate::gateway::parameter::form::{self, FormContext};
use crate::gateway::parameter::{Call, Direction, Names, Parameter, named_in, shown};

/// A request that is not as documented; answered with HTTP 400.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Invalid {
    /// The parameter, or another part of the request.
    pub name: String,
    /// What is wrong with it. Never its value: it may be card data.
    pub why: String,
}

impl Invalid {
    pub(super) fn new(name: impl Into<String>, why: impl Into<String>) -> Self {
        Self { name: name.into(), why: why.into() }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.why)
    }
}

/// The decoded parameters of a request, each name once, in their order.
#[derive(Default)]
pub(super) struct Form {
    pairs: Vec<(String, String)>,
    host_rules: HostRules,
}

impl Form {
    /// Decodes `application/x-www-form-urlencoded`, checks every name and value against the table, and what fields
    /// demand of each other. What must be there is asked for by [`Form::required`].
    pub(super) fn parse(encoded: &[u8], taken: &AcceptedParameters, host_rules: HostRules) -> Result<Self, Invalid> {
        let pairs = form::decode(encoded).map_err(|wrong| match wrong.name.as_str() {
            "form" => Invalid::new("body", wrong.problem),
            _ => Invalid::new(wrong.name, wrong.problem),
        })?;
        let names = Names::default();
        let asked =
            FormContext { direction: Direction::Request, call: taken.call, from_client_side: false, names: &names };
        let mut form = Self { host_rules, ..Self::default() };
        for (name, value) in pairs {
            if form.get(&name).is_some() {
                return Err(Invalid::new(shown(&name), "sent twice"));
            }
            check(&name, &value, taken, &asked, host_rules)?;
            form.pairs.push((name, value));
        }
        match form::broken(&form.pairs, &asked).into_iter().next() {
            Some(broken) => Err(Invalid::new(broken.name, format!("{}; {}", broken.problem, broken.rule))),
            None => Ok(form),
        }
    }

    /// What was parsed before, without looking at it again.
    pub(super) fn of(pairs: Vec<(String, String)>, host_rules: HostRules) -> Self {
        Self { pairs, host_rules }
    }

    /// The value of a parameter.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of a parameter that must be there.
    pub(super) fn required(&self, name: &str) -> Result<&str, Invalid> {
        self.get(name).ok_or_else(|| Invalid::new(name, "required and not sent"))
    }

    /// The bytes of a parameter in hex, whose letters must be upper case; the interface's letter is silent about that.
    pub(super) fn hex(&self, name: &str) -> Result<Option<Vec<u8>>, Invalid> {
        let Some(value) = self.get(name) else { return Ok(None) };
        if !self.host_rules.is_literal() && value.bytes().any(|c| c.is_ascii_lowercase()) {
            return Err(Invalid::new(name, "hex digits A to F must be upper case"));
        }
        hex::decode(value).map(Some).map_err(|_| Invalid::new(name, "not an even number of hex digits"))
    }

    /// The names, in their order.
    pub(super) fn names(&self) -> Vec<String> {
        self.pairs.iter().map(|(name, _)| name.clone()).collect()
    }

    /// All pairs.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// What a request of the counter may hold.
pub(super) struct AcceptedParameters {
    call: Call,
    /// Names as the table writes them; besides these, custom parameters.
    names: &'static [&'static str],
    /// Groups of the table that are taken whole.
    groups: &'static [&'static str],
}

/// What `POST /v1/payments` takes at the counter (data-model: Basic payment parameters, Authentication parameters,
/// Point of sale).
pub(super) const PAYMENT: &AcceptedParameters = &AcceptedParameters {
    call: Call::Payment,
    names: &[
        "entityId",
        "amount",
        "taxAmount",
        "discountAmount",
        "currency",
        "paymentBrand",
        "paymentType",
        "descriptor",
        "merchantTransactionId",
        "merchantInvoiceId",
        "merchantMemo",
        "transactionCategory",
        "locale",
        "testMode",
        "pos.deviceId",
        "pos.deviceType",
        "pos.encryptedPin.data",
        "pos.encryptedPin.ksn",
        "pos.encryptedSred.data",
        "pos.encryptedSred.ksn",
        "pos.entryMode",
        "pos.iccDataRequest",
        "pos.location.accuracy",
        "pos.location.latitude",
        "pos.location.longitude",
        "pos.panSequenceNumber",
        "pos.pinEntryCapability",
        "pos.terminalId",
        "pos.transactionSequenceNumber",
        "pos.transactionSource",
        "numberOfCaptures",
        "lifecycleId",
        "referenceUuid",
        "createRegistration",
    ],
    groups: &["billing", "cart", "corporate", "customer", "job", "merchant", "risk", "standing-instruction"],
};

/// What `POST /v1/payments/{id}` takes.
pub(super) const FOLLOW_UP: &AcceptedParameters = &AcceptedParameters {
    call: Call::FollowUp,
    names: &[
        "entityId",
        "amount",
        "currency",
        "paymentType",
        "merchantTransactionId",
        "merchantInvoiceId",
        "merchantMemo",
        "descriptor",
        "testMode",
        "sequence",
        "lifecycleId",
        "pos.terminalId",
        "pos.transactionSequenceNumber",
        "pos.transactionSource",
    ],
    groups: &[],
};

/// What `POST /v1/registrations` takes: a card that was read.
pub(super) const REGISTRATION: &AcceptedParameters = &AcceptedParameters {
    call: Call::Registration,
    names: &[
        "entityId",
        "paymentBrand",
        "testMode",
        "merchantTransactionId",
        "pos.deviceId",
        "pos.deviceType",
        "pos.encryptedPin.data",
        "pos.encryptedPin.ksn",
        "pos.encryptedSred.data",
        "pos.encryptedSred.ksn",
        "pos.entryMode",
        "pos.terminalId",
        "pos.transactionSequenceNumber",
        "pos.transactionSource",
    ],
    groups: &["billing", "customer"],
};

/// What `POST /v1/registrations/{id}/payments` takes.
pub(super) const WITH_REGISTRATION: &AcceptedParameters = &AcceptedParameters {
    call: Call::Payment,
    names: &[
        "entityId",
        "amount",
        "taxAmount",
        "discountAmount",
        "currency",
        "paymentBrand",
        "paymentType",
        "descriptor",
        "merchantTransactionId",
        "merchantInvoiceId",
        "merchantMemo",
        "transactionCategory",
        "locale",
        "testMode",
        "numberOfCaptures",
        "lifecycleId",
        "overrideHolder",
        "pos.terminalId",
        "pos.transactionSequenceNumber",
        "pos.transactionSource",
    ],
    groups: &["billing", "cart", "corporate", "customer", "job", "merchant", "risk", "standing-instruction"],
};

/// What `DELETE /v1/registrations/{id}` takes.
pub(super) const DEREGISTRATION: &AcceptedParameters = RETRIEVAL;

/// What the query takes (data-model: Query parameters).
pub(super) const QUERY: &AcceptedParameters = &AcceptedParameters {
    call: Call::Query,
    names: &[
        "entityId",
        "merchantTransactionId",
        "limit",
        "date.from",
        "date.to",
        "paymentTypes",
        "paymentMethods",
        "includeLinkedTransactions",
        "shortId",
    ],
    groups: &[],
};

/// What `POST /v1/schedules/{id}` takes.
pub(super) const RESCHEDULE: &AcceptedParameters =
    &AcceptedParameters { call: Call::Schedule, names: &["entityId"], groups: &["job"] };

/// What the reports take (data-model: Reporting parameters).
pub(super) const REPORT: &AcceptedParameters = &AcceptedParameters {
    call: Call::Report,
    names: &["entityId", "date.from", "date.to", "sortValue", "sortOrder"],
    groups: &[],
};

/// What retrieval and the warm path take.
pub(super) const RETRIEVAL: &AcceptedParameters =
    &AcceptedParameters { call: Call::Query, names: &["entityId"], groups: &[] };

/// The name of custom parameters in the table.
const CUSTOM: &str = "customParameters[name]";

/// The rows that are taken by name, found once: a search of the whole table for each parameter would be most of a
/// payment's time.
static ROWS: LazyLock<HashMap<(&str, &str), Parameter>> = LazyLock::new(|| {
    let names = Names::default();
    let all = [PAYMENT, FOLLOW_UP, REGISTRATION, WITH_REGISTRATION, QUERY, RETRIEVAL];
    let row = &|call: Call, name: &'static str| {
        named_in(name, &names, Direction::Request, call).ok().map(|row| ((call.as_str(), name), row))
    };
    all.into_iter().flat_map(|taken| taken.names.iter().filter_map(move |name| row(taken.call, name))).collect()
});

fn check(
    name: &str,
    value: &str,
    taken: &AcceptedParameters,
    asked: &FormContext<'_>,
    host_rules: HostRules,
) -> Result<(), Invalid> {
    let known = match ROWS.get(&(asked.call.as_str(), name)) {
        Some(row) => Ok(*row),
        None => named_in(name, asked.names, asked.direction, asked.call),
    };
    let known =
        known.map_err(|unfit| Invalid::new(shown(name), format!("not a parameter of this request: {unfit}")))?;
    let is_taken = taken.names.contains(&name) || {
        let known = known.name();
        taken.names.contains(&known.as_ref()) || known == CUSTOM
    };
    if !is_taken && !taken.groups.contains(&known.section.group) {
        return Err(Invalid::new(shown(name), "not a parameter of this request: it has no place at the counter"));
    }
    let format = known.format_of(name);
    if format.fits(value) && host_rules.takes(format, value) {
        Ok(())
    } else {
        Err(Invalid::new(shown(name), format!("must be {format}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(body: &str) -> String {
        match Form::parse(body.as_bytes(), PAYMENT, HostRules::Checked) {
            Ok(_) => panic!("{body} was taken"),
            Err(invalid) => invalid.to_string(),
        }
    }

    #[test]
    fn decodes_percent_plus_and_utf8() {
        let form =
            Form::parse("descriptor=Caf%C3%A9+%26+co&amount=12.34".as_bytes(), PAYMENT, HostRules::Checked).unwrap();
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
            ("descriptor=a b", "descriptor: a byte that has to be percent-encoded"),
            ("descriptor=a%0Ab", "descriptor: must be 1 to 127 characters without control"),
        ] {
            let said = wrong(body);
            assert!(said.starts_with(says), "{body}: {said}");
        }
    }

    #[test]
    fn hex_is_upper_case_and_whole_bytes() {
        let form = Form::parse(
            b"pos.iccDataRequest=9F02&pos.encryptedSred.data=9f02&pos.encryptedSred.ksn=9F0",
            PAYMENT,
            HostRules::Checked,
        )
        .unwrap();
        assert_eq!(form.hex("pos.iccDataRequest").unwrap().unwrap(), [0x9F, 0x02]);
        assert!(form.hex("pos.encryptedSred.data").is_err());
        assert!(form.hex("pos.encryptedSred.ksn").is_err());
        assert_eq!(form.hex("pos.encryptedPin.data").unwrap(), None);
    }

    #[test]
    fn what_the_table_has_and_the_counter_has_not_is_refused_by_name() {
        for (body, says) in [
            ("shipping.city=Bonn", "shipping.city: not a parameter of this request: it has no place"),
            ("card.number=4111111111111111", "card.number: not a parameter of this request"),
            ("customParameters[ab]=1", "customParameters[ab]: not a parameter of this request: the key"),
            ("limit=100", "limit: not a parameter of this request: not a parameter of this call; of query"),
        ] {
            let said = wrong(body);
            assert!(said.starts_with(says) && !said.contains("4111"), "{body}: {said}");
        }
        assert!(Form::parse(b"customParameters[a.b_c]=anything", PAYMENT, HostRules::Checked).is_ok());
    }

    #[test]
    fn the_query_has_formats_and_rules_of_its_own() {
        assert!(Form::parse(b"limit=99", QUERY, HostRules::Checked).is_err());
        assert!(
            Form::parse(
                b"limit=100&date.from=2026-01-01+00:00:00&date.to=2026-01-02+00:00:00",
                QUERY,
                HostRules::Checked
            )
            .is_ok()
        );
        let both = b"merchantTransactionId=a&date.from=2026-01-01+00:00:00&date.to=2026-01-02+00:00:00";
        assert!(Form::parse(both, QUERY, HostRules::Checked).is_err());
    }
}
