//! What the fields of one form demand of each other: each rule has a name, its sentence and its clause.
//!
//! What a field demands of its own value is its `format`. Which call takes it is in its row.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Call, Direction, Names, look};

/// One rule over several fields.
pub struct Rule {
    /// Short name.
    pub name: &'static str,
    /// What it demands.
    pub says: &'static str,
    /// Where the interface says so.
    pub clause: &'static str,
    direction: Direction,
    /// The calls it holds in; empty means all.
    calls: &'static [Call],
    demand: Demand,
}

/// The shapes of rules. A name that ends in a dot stands for every name that begins so.
enum Demand {
    /// One of the two needs the other, under each of these beginnings.
    Together { at: &'static [&'static str], of: [&'static str; 2] },
    /// With any of `when`, all of `need` must be there, under each of these beginnings.
    Needs { at: &'static [&'static str], when: &'static [&'static str], need: &'static [&'static str] },
    /// With `when`, one of the two must be there.
    Either { when: &'static str, of: [&'static str; 2] },
    /// With `one`, none of the others may be there.
    Apart { one: &'static str, others: &'static [&'static str] },
    /// None of these may be there.
    Absent(&'static [&'static str]),
    /// What takes a look at values.
    Look(fn(&Sent<'_>, &mut Found<'_>)),
}

/// Takes the name of a field and what is wrong with it.
pub(super) type Found<'a> = dyn FnMut(&str, &'static str) + 'a;

/// What a form holds, for the rules to look at.
pub struct Sent<'a> {
    fields: BTreeMap<&'a str, &'a str>,
    pub(super) names: &'a Names,
    pub(super) from_client_side: bool,
    call: Call,
    direction: Direction,
}

/// A rule that a form breaks.
#[derive(Debug)]
pub struct Broken {
    /// The field.
    pub name: String,
    /// What is wrong with it.
    pub problem: &'static str,
    /// The rule.
    pub rule: &'static Rule,
}

/// With `true`, one of [`HOLDERS`] may replace the empty one of stored payment data (interface: Tokenization and registration).
pub(super) const OVERRIDE: &str = "overrideHolder";
pub(super) const HOLDERS: [&str; 2] = ["card.holder", "bankAccount.holder"];

pub(super) const MISSING: &str = "required and not sent";

/// The calls that do not refer to a payment by its path.
const NOT_FOLLOWING: &[Call] =
    &[Call::Payment, Call::ByRegistration, Call::Increment, Call::Checkout, Call::Registration, Call::Schedule];

/// Every rule, in the document's order.
pub static RULES: &[Rule] = &[
    Rule {
        name: "brand",
        says: "paymentBrand may be missing only where a card shows its brand",
        clause: "Basic payment parameters",
        direction: Direction::Request,
        calls: &[Call::Payment],
        demand: Demand::Needs { at: &[""], when: &["bankAccount.", "virtualAccount."], need: &["paymentBrand"] },
    },
    Rule {
        name: "payment-type",
        says: "what refers to a payment says what it is",
        clause: "Basic payment parameters",
        direction: Direction::Request,
        calls: &[Call::FollowUp],
        demand: Demand::Look(look::payment_type),
    },
    Rule {
        name: "reference",
        says: "referenceUuid replaces the payment's id in the path",
        clause: "Basic payment parameters",
        direction: Direction::Request,
        calls: &[Call::FollowUp],
        demand: Demand::Look(look::reference),
    },
    Rule {
        name: "reference-given",
        says: "an increment or reauthorisation says which payment, and which of the two it is",
        clause: "Basic payment parameters; Card on file",
        direction: Direction::Request,
        calls: &[Call::Increment],
        demand: Demand::Needs {
            at: &[""],
            when: &["paymentType"],
            need: &["referenceUuid", "standingInstruction.industryPractice"],
        },
    },
    Rule {
        name: "sequence",
        says: "sequence marks the last one of what refers to a payment: of its captures, reversals, refunds",
        clause: "Basic payment parameters",
        direction: Direction::Request,
        calls: NOT_FOLLOWING,
        demand: Demand::Absent(&["sequence"]),
    },
    Rule {
        name: "captures",
        says: "numberOfCaptures is of reservations (paymentType PA)",
        clause: "Basic payment parameters",
        direction: Direction::Request,
        calls: &[Call::Payment, Call::ByRegistration, Call::FollowUp],
        demand: Demand::Look(look::captures),
    },
    Rule {
        name: "payment-data",
        says: "what refers to a payment brings no payment data: those of the payment count",
        clause: "Card account to Token account; Gift card",
        direction: Direction::Request,
        calls: &[Call::FollowUp, Call::Increment],
        demand: Demand::Look(look::payment_data),
    },
    Rule {
        name: "create-registration",
        says: "createRegistration is of what brings payment data of its own",
        clause: "Tokenization and registration parameters",
        direction: Direction::Request,
        calls: &[Call::FollowUp, Call::Increment, Call::ByRegistration],
        demand: Demand::Absent(&["createRegistration"]),
    },
    Rule {
        name: "override-holder",
        says: "overrideHolder is of payments with stored payment data",
        clause: "Tokenization and registration parameters",
        direction: Direction::Request,
        calls: &[Call::FollowUp, Call::Increment, Call::Registration],
        demand: Demand::Absent(&["overrideHolder"]),
    },
    Rule {
        name: "wallet",
        says: "a wallet gives either its token, which the service decrypts, or the source of data that are decrypted already",
        clause: "Mobile-wallet payments",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Look(look::wallet),
    },
    Rule {
        name: "wallet-decrypted",
        says: "decrypted wallet data are a card's number and expiry with threeDSecure.verificationId and threeDSecure.eci",
        clause: "Mobile-wallet payments",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Look(look::wallet_decrypted),
    },
    Rule {
        name: "bank-account-number",
        says: "a bank account has a number or an IBAN",
        clause: "Bank account",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Either { when: "bankAccount.", of: ["bankAccount.number", "bankAccount.iban"] },
    },
    Rule {
        name: "bank-code",
        says: "a bank account has a bank code or a BIC",
        clause: "Bank account",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Either { when: "bankAccount.", of: ["bankAccount.bankCode", "bankAccount.bic"] },
    },
    Rule {
        name: "customer-name",
        says: "givenName and surname come with any other field of the customer",
        clause: "Customer",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Needs { at: &[""], when: &["customer."], need: &["customer.givenName", "customer.surname"] },
    },
    Rule {
        name: "identification",
        says: "kind and number of an identification document come together",
        clause: "Customer",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Together {
            at: &["customer.", "shipping.customer."],
            of: ["identificationDocType", "identificationDocId"],
        },
    },
    Rule {
        name: "three-d-secure-2",
        says: "3-D Secure 2 needs the browser (or threeDSecure.deviceInfo, or threeDSecure.threeRIInd) and the billing address",
        clause: "Customer; Billing address; 3D Secure",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Look(look::three_d_secure_2),
    },
    Rule {
        name: "street",
        says: "street1 and street2 together are not digits only",
        clause: "Billing address",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Look(look::street),
    },
    Rule {
        name: "house-number",
        says: "houseNumber2 comes only with houseNumber1",
        clause: "Billing address; Shipping address",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Needs {
            at: &["billing.", "merchant.billing.", "shipping.", "merchant.shipping."],
            when: &["houseNumber2"],
            need: &["houseNumber1"],
        },
    },
    Rule {
        name: "seller",
        says: "items of a marketplace name one of its sellers",
        clause: "Marketplace",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Look(look::seller),
    },
    Rule {
        name: "three-ri",
        says: "threeDSecure.channel is only for what the merchant starts",
        clause: "3D Secure",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Look(look::three_ri),
    },
    Rule {
        name: "exemption",
        says: "challengeIndicator and exemptionFlag come together",
        clause: "3D Secure, exemption requests",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Together { at: &["threeDSecure."], of: ["challengeIndicator", "exemptionFlag"] },
    },
    Rule {
        name: "exemption-version",
        says: "an exemption needs threeDSecure.version 2.2 or higher",
        clause: "3D Secure, exemption requests",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Look(look::exemption_version),
    },
    Rule {
        name: "scheme-use-case",
        says: "scheme data need CB-USECASE, except where no payment is authenticated and it is neither recurring nor in installments",
        clause: "Custom parameters and scheme data",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Look(look::scheme_use_case),
    },
    Rule {
        name: "client-side",
        says: "from the client side, names of custom parameters begin with SHOPPER_",
        clause: "Custom parameters and scheme data",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Look(look::client_side),
    },
    Rule {
        name: "redirect-parameters",
        says: "a name and a value of the same index belong together",
        clause: "Asynchronous payments",
        direction: Direction::Response,
        calls: &[],
        demand: Demand::Look(look::redirect_parameters),
    },
    Rule {
        name: "location",
        says: "a place has a latitude and a longitude",
        clause: "Point of sale",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Together { at: &["pos.location."], of: ["latitude", "longitude"] },
    },
    Rule {
        name: "chargeback-reason",
        says: "result.code and result.description (ReasonCode, ReasonDesc) are of chargebacks only",
        clause: "Reconciliation file",
        direction: Direction::Response,
        calls: &[Call::Reconciliation],
        demand: Demand::Look(look::chargeback_reason),
    },
    Rule {
        name: "installments",
        says: "installments with 3-D Secure say how many they are",
        clause: "Card on file",
        direction: Direction::Request,
        calls: &[],
        demand: Demand::Look(look::installments),
    },
    Rule {
        name: "time-frame",
        says: "merchantTransactionId cannot be asked for together with a time frame",
        clause: "Query parameters",
        direction: Direction::Request,
        calls: &[Call::Query],
        demand: Demand::Apart { one: "merchantTransactionId", others: &["date.from", "date.to"] },
    },
    Rule {
        name: "time-frame-ends",
        says: "date.from and date.to come together",
        clause: "Query parameters",
        direction: Direction::Request,
        calls: &[Call::Query],
        demand: Demand::Together { at: &["date."], of: ["from", "to"] },
    },
];

impl Rule {
    /// Whether the rule is about a field, by its name in the table.
    #[must_use]
    pub fn names(&self, field: &str) -> bool {
        self.says.contains(field)
            || match self.demand {
                Demand::Together { at, of } => at.iter().any(|at| of.iter().any(|of| format!("{at}{of}") == field)),
                Demand::Needs { at, when, need } => {
                    at.iter().any(|at| when.iter().chain(need).any(|of| format!("{at}{of}") == field))
                }
                Demand::Either { of, .. } => of.contains(&field),
                Demand::Apart { one, others } => one == field || others.contains(&field),
                Demand::Absent(names) => names.contains(&field),
                Demand::Look(_) => false,
            }
    }
}

impl<'a> Sent<'a> {
    /// What a form of `call` holds. Of a name that is there twice the last value counts; a holder that replaces an empty stored one
    /// is passed over, as it is no account of its own.
    pub fn new(
        fields: impl IntoIterator<Item = (&'a str, &'a str)>,
        names: &'a Names,
        direction: Direction,
        call: Call,
        from_client_side: bool,
    ) -> Self {
        let mut fields: BTreeMap<&str, &str> = fields.into_iter().collect();
        if fields.get(OVERRIDE) == Some(&"true") {
            fields.retain(|name, _| !HOLDERS.contains(name));
        }
        Self { fields, names, call, direction, from_client_side }
    }

    /// Whether a field is there; with a dot at its end, any field that begins so.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        if name.ends_with('.') { self.under(name).next().is_some() } else { self.fields.contains_key(name) }
    }

    /// The value of a field.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.fields.get(name).copied()
    }

    /// The fields whose names begin so.
    pub(super) fn under(&self, beginning: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let from = self.fields.range::<str, _>((std::ops::Bound::Included(beginning), std::ops::Bound::Unbounded));
        from.map(|(name, value)| (*name, *value)).take_while(move |(name, _)| name.starts_with(beginning))
    }

    /// Every rule that is broken.
    #[must_use]
    pub fn broken(&self) -> Vec<Broken> {
        let mut broken = Vec::new();
        let holds = |rule: &&Rule| {
            rule.direction == self.direction && (rule.calls.is_empty() || rule.calls.contains(&self.call))
        };
        for rule in RULES.iter().filter(holds) {
            rule.demand.judge(self, &mut |name, problem| broken.push(Broken { name: name.to_owned(), problem, rule }));
        }
        broken
    }
}

/// A name at its place; most places are the beginning.
fn joined<'a>(at: &str, name: &'a str) -> Cow<'a, str> {
    if at.is_empty() { Cow::Borrowed(name) } else { Cow::Owned(format!("{at}{name}")) }
}

impl Demand {
    fn judge(&self, sent: &Sent<'_>, found: &mut Found<'_>) {
        match self {
            Self::Together { at, of: [one, other] } => {
                for at in at.iter().filter(|at| at.is_empty() || sent.has(at)) {
                    let (one, other) = (joined(at, one), joined(at, other));
                    match (sent.has(&one), sent.has(&other)) {
                        (true, false) => found(&other, MISSING),
                        (false, true) => found(&one, MISSING),
                        _ => {}
                    }
                }
            }
            Self::Needs { at, when, need } => {
                for at in at.iter().filter(|at| at.is_empty() || sent.has(at)) {
                    if when.iter().any(|when| sent.has(&joined(at, when))) {
                        need.iter().map(|need| joined(at, need)).filter(|need| !sent.has(need)).for_each(|need| {
                            found(&need, MISSING);
                        });
                    }
                }
            }
            Self::Either { when, of } => {
                if sent.has(when) && !of.iter().any(|name| sent.has(name)) {
                    found(of[0], MISSING);
                }
            }
            Self::Apart { one, others } => {
                if sent.has(one) && others.iter().any(|other| sent.has(other)) {
                    found(one, "must not be sent here");
                }
            }
            Self::Absent(names) => {
                names.iter().filter(|name| sent.has(name)).for_each(|name| found(name, "must not be sent here"));
            }
            Self::Look(look) => look(sent, found),
        }
    }
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl std::fmt::Debug for Sent<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sent").field("call", &self.call).field("fields", &self.fields.len()).finish_non_exhaustive()
    }
}
