//! Is: the payment gateway's interface as one table.
//! Is not: a client or a server of it.
//! Invariant: a row contains only what the document says.
//!
//! The interface's data model is one table, which lists every request parameter and response field with format, need,
//! group, call and meaning. It is used to check the terminal's requests, the requests to the simulated gateway, and the
//! input of `pos-agent parameters`.
//!
//! | file | content |
//! |---|---|
//! | `table/` | the rows: one file for each chapter of the document, in its order, for easy comparison |
//! | `format` | the formats of values; `characters` their character sets, `cron` the fields of a time table |
//! | `name` | the form of names: indexes, keys in brackets, names that are settings |
//! | `call` | the calls, and the rows that each call accepts |
//! | `rules` | the rules between fields; `rule` applies them, `look` has the functions of those that need more than a pattern |
//! | `form` | a whole form, decoded and judged |
//!
//! **To add a parameter, add a row.** The document repeats some rows in several places (`shipping.customer.*`,
//! `merchant.billing.*`, `merchant.shipping.*`). Each of them is in the table once; a [`Copied`] section repeats it
//! under another name.
//!
//! # Assumptions where the document is silent or contradicts itself
//!
//! - AN is free text without control characters unless its note says more. AN without a length, and an address without
//!   one, may have 2048 characters. Only values of custom pairs and `job.year` may be empty.
//! - A format's note takes precedence over its letter code. `card.holder` and `shipping.city` are "letters", but may
//!   contain the spaces and marks of names, and no digits. `shipping.method` accepts PUDO, which is in its list
//!   although it has fewer than five letters.
//! - The lengths of `merchant.billing.mobile` and `recipient.phone` count the characters after the first, so a plus and
//!   25 digits fit although their length is AN25. Other telephone numbers have 25 characters in all.
//! - `paymentType` is two capital letters, like every value in the query's list that can be a payment type.
//! - `sequence` is text, and only its value FINAL has a meaning. Letters in names and towns can be of any alphabet;
//!   letters in codes are A to Z.
//! - A date is a day that exists in the calendar. Hours run from 00 to 23, even where the document writes hh.
//! - Only the index of cart items has a limit, which is 1000. No index has leading zeros.
//! - A pair of coordinates is in degrees: a latitude from -90 to 90, a comma, a longitude from -180 to 180.
//! - A call that refers to a payment has no payment data and no schedule, stores nothing and overrides nothing. Only
//!   such a call has `sequence`. `numberOfCaptures` belongs to reservations: `paymentType` PA.
//! - A call accepts the rows of `payment`, and others (see [`Call::takes`]). It refuses only rows that the document
//!   assigns to another call. `amount` and `currency` are required for payments, checkouts and schedules. They are not
//!   required for calls that refer to a payment or store payment data. An increment or reauthorisation is a payment
//!   with `referenceUuid`.
//! - `pos.entryMode` is required where a card is read: for payments and for calls that store a card. `pos.terminalId`
//!   is required in every call that sends POS fields. A card's number and expiry are required where a card is given.
//!   They are not required where a stored card pays, or when only `card.holder` comes with an `overrideHolder`.
//! - 3-D Secure 2 is requested by any `threeDSecure.v2.*`, and by any browser field that it makes mandatory.
//!   `threeDSecure.deviceInfo` (an app) or `threeDSecure.threeRIInd` (no customer present) replaces the browser fields.
//! - "Both must be flagged" means, for an exemption, that `challengeIndicator` and `exemptionFlag` come together. "Need
//!   version 2.2 or higher" means that `threeDSecure.version` must say so, because a missing version could be lower.
//! - An answer may contain fields that are not in the table (interface: Versioning). They are listed, but are not
//!   violations.
//! - Some facts are not checked, because the document leaves them open: the brands that can be detected, the cases
//!   where a purpose code is mandatory, and one fraud service's lengths of `risk.channelId` and `risk.serviceId`. The
//!   same applies to the check digits of an IBAN, the lists of currencies and countries, and the content of `street1`
//!   with a `houseNumber1`.

mod call;
mod characters;
mod cron;
pub mod form;
mod format;
mod look;
mod name;
mod nearest;
pub mod rule;
mod rules;
mod table;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

pub use call::Call;
pub use characters::CharacterSet;
pub use format::{Format, Problem};
pub use name::{Names, Unfit, shown};
pub use nearest::nearest;
pub use table::SECTIONS;

/// One parameter or field of the document.
#[derive(Debug)]
pub struct Row {
    /// The name; `[n]` is an index, `[name]`, `[key]` and `[brand]` are keys, `<wallet_a>` and `<scheme>` are settings.
    pub name: &'static str,
    /// The format of the value.
    pub format: Format,
    /// The requirement level of the field.
    pub need: Need,
    /// The calls in which the field is required; empty means all calls that accept it.
    pub needed_in: &'static [Call],
    /// `true` if the value must not be shown: card data, account data, tokens.
    pub secret: bool,
    /// The call of the row, if it differs from that of the section.
    pub call: Option<Call>,
    /// The column of the reconciliation file, by its name in the header.
    pub column: Option<&'static str>,
    /// The meaning.
    pub meaning: &'static str,
}

/// The requirement level of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// R: required wherever its group is used.
    Required,
    /// C: required in some circumstances. Those that a form can show are [`rule`]s.
    Conditional,
    /// O: optional.
    Optional,
}

/// The direction of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the gateway.
    Request,
    /// From the gateway.
    Response,
}

/// Rows that the document lists together, with their common properties.
#[derive(Debug)]
pub struct Section {
    /// The name in `--group`. Several sections may share one.
    pub group: &'static str,
    /// The heading in the document.
    pub title: &'static str,
    /// The direction.
    pub direction: Direction,
    /// The call.
    pub call: Call,
    /// The rows, in the document's order.
    pub rows: &'static [Row],
    /// The condition under which the required rows must be present.
    pub binds: Binds,
    /// The names in this section, if it repeats the rows of another one.
    pub copied: Option<Copied>,
}

/// The condition under which the required rows of a section must be present.
#[derive(Clone, Copy, Debug)]
pub enum Binds {
    /// Required as soon as one field of the group is sent.
    Used,
    /// Always required in these calls, never in others.
    Always(&'static [Call]),
    /// Never required: a header, or a choice that a [`rule`] judges.
    Never,
}

/// The names in a section that repeats all rows of another one. The repeated rows are optional.
#[derive(Clone, Copy, Debug)]
pub struct Copied {
    /// The prefix of the names in the other section.
    pub from: &'static str,
    /// The prefix of the names in this section.
    pub to: &'static str,
    /// The prefixes of names that are not repeated.
    pub except: &'static [&'static str],
}

/// A row with its section's group, direction and call.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The row.
    pub row: &'static Row,
    /// The section.
    pub section: &'static Section,
}

/// A value that does not fit its parameter. The value is not shown, because it may be card data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} must be {format}")]
pub struct Misfit {
    /// The parameter.
    pub name: &'static str,
    /// The rule that the value breaks.
    pub format: Format,
}

/// Returns every parameter and field, in the document's order.
pub fn all() -> impl Iterator<Item = Parameter> {
    SECTIONS.iter().flat_map(|section| {
        let repeated = |row: &&'static Row| {
            section.copied.is_none_or(|copied| !copied.except.iter().any(|except| row.name.starts_with(except)))
        };
        section.rows.iter().filter(repeated).map(move |row| Parameter { row, section })
    })
}

/// The rows by the first word of their names, in the document's order. With this index, the code between a card and its
/// request need not search the whole table for each name. Rows whose first word is a setting are listed under every
/// word.
static BY_WORD: LazyLock<HashMap<&'static str, Vec<Parameter>>> = LazyLock::new(|| {
    let mut words: HashMap<_, Vec<_>> = all().map(|parameter| (parameter.first_word(), Vec::new())).collect();
    for parameter in all() {
        match parameter.first_word() {
            SETTING => words.values_mut().for_each(|rows| rows.push(parameter)),
            word => words.entry(word).or_default().push(parameter),
        }
    }
    words
});

/// The key in [`BY_WORD`] for the rows whose first word is a setting.
const SETTING: &str = "<";

/// Returns the rows that can match a name with this first word.
fn beginning_with(word: &str) -> &'static [Parameter] {
    BY_WORD.get(word).or_else(|| BY_WORD.get(SETTING)).map_or(&[], Vec::as_slice)
}

/// Finds the row of a request parameter without index or key by its name. Returns the first one in the document's
/// order.
#[must_use]
pub fn find(name: &str) -> Option<&'static Row> {
    let of_requests = |section: &Section| section.direction == Direction::Request && section.copied.is_none();
    let mut near = beginning_with(name::first_word(name)).iter();
    near.find(|known| known.row.name == name && of_requests(known.section)).map(|known| known.row)
}

/// Returns every parameter with this name: those of `direction`, or else those of the other direction, or else the
/// columns of the reconciliation file. A name can have different formats in different calls.
///
/// # Errors
/// Returns the reason why the table has no such name.
pub fn named(name: &str, names: &Names, direction: Direction) -> Result<Vec<Parameter>, Unfit> {
    let other = match direction {
        Direction::Request => Direction::Response,
        Direction::Response => Direction::Request,
    };
    let known = matching(name, names, direction).or_else(|unfit| match unfit {
        Unfit::Unknown => matching(name, names, other),
        unfit => Err(unfit),
    });
    match known {
        Err(Unfit::Unknown) => {
            let columns: Vec<Parameter> = all().filter(|parameter| parameter.row.column == Some(name)).collect();
            if columns.is_empty() { Err(Unfit::Unknown) } else { Ok(columns) }
        }
        known => known,
    }
}

/// Checks whether an entry in a list of parameters means the parameter with this name in the table. An entry is the
/// name itself or, if it ends with a dot, the prefix of all names that it means.
#[must_use]
pub fn means(entry: &str, name: &str) -> bool {
    entry == name || entry.ends_with('.') && name.starts_with(entry)
}

/// Checks whether such an entry means any request parameter.
#[must_use]
pub fn means_any(entry: &str) -> bool {
    all().any(|parameter| parameter.section.direction == Direction::Request && means(entry, &parameter.name()))
}

/// Returns the interface's name for a column of the reconciliation file. For `MatchedTransactions`, it is the first
/// name.
#[must_use]
pub fn of_column(column: &str) -> Option<String> {
    let row = all().find(|parameter| parameter.row.column == Some(column))?.row;
    Some(row.name.replace("[n]", "[0]"))
}

/// Returns the parameter with this name in a call.
///
/// # Errors
/// Returns [`Unfit`], which is [`Unfit::OtherCall`] if only another call has the parameter.
pub fn named_in(name: &str, names: &Names, direction: Direction, call: Call) -> Result<Parameter, Unfit> {
    // A response may contain any structure of the request (interface: Payment response fields).
    let as_asked = || matching(name, names, Direction::Request).map(|known| known[0]);
    let known = match (matching(name, names, direction), direction) {
        (Err(Unfit::Unknown), Direction::Response) => return as_asked(),
        (known, _) => known?,
    };
    let taken = |direction: Direction| {
        move |known: &&Parameter| match direction {
            Direction::Request => call.takes(known.call()),
            Direction::Response => call.gives(known.call()),
        }
    };
    let mut found = known.iter().find(taken(direction)).copied();
    if direction == Direction::Response && found.is_none() {
        found = as_asked().ok();
    }
    found.ok_or_else(|| Unfit::OtherCall { of: known.iter().map(Parameter::call).collect() })
}

fn matching(name: &str, names: &Names, direction: Direction) -> Result<Vec<Parameter>, Unfit> {
    let segments = name::parse(name)?;
    let (mut found, mut why) = (Vec::new(), Unfit::Unknown);
    let near = |parameter: &&Parameter| {
        let section = parameter.section;
        section.direction == direction && section.copied.is_none_or(|copied| name.starts_with(copied.to))
    };
    for parameter in beginning_with(name::first_word(name)).iter().filter(near).copied() {
        match name::against(&parameter.name(), &segments, parameter.row.format, names) {
            Ok(true) => found.push(parameter),
            Ok(false) => {}
            Err(unfit) => why = unfit,
        }
    }
    // A field with its own row takes precedence over a pair with the same name.
    if found.iter().any(|parameter| parameter.row.format != Format::Pairs) {
        found.retain(|parameter| parameter.row.format != Format::Pairs);
    }
    if found.is_empty() { Err(why) } else { Ok(found) }
}

impl Row {
    /// Checks whether `value` may be sent.
    ///
    /// # Errors
    /// Returns [`Misfit`] with the rule.
    pub fn check(&self, value: &str) -> Result<(), Misfit> {
        if self.format.fits(value) { Ok(()) } else { Err(Misfit { name: self.name, format: self.format }) }
    }
}

impl Parameter {
    /// Returns the name as it is written in the table.
    #[must_use]
    pub fn name(&self) -> Cow<'static, str> {
        match self.section.copied {
            Some(Copied { from, to, .. }) => {
                Cow::Owned(format!("{to}{}", self.row.name.strip_prefix(from).unwrap_or(self.row.name)))
            }
            None => Cow::Borrowed(self.row.name),
        }
    }

    /// Returns the first word of the name, or [`SETTING`] if it is a setting.
    fn first_word(&self) -> &'static str {
        let word = name::first_word(self.section.copied.map_or(self.row.name, |copied| copied.to));
        if word.starts_with(SETTING) { SETTING } else { word }
    }

    /// Returns the format of the value of `name`. For a field of pairs, `name` may be one of the pairs.
    #[must_use]
    pub fn format_of(&self, name: &str) -> Format {
        if self.row.format == Format::Pairs && name != self.row.name { format::PAIR_VALUE } else { self.row.format }
    }

    /// Returns the requirement level of the parameter.
    #[must_use]
    pub fn need(&self) -> Need {
        if self.section.copied.is_some() { Need::Optional } else { self.row.need }
    }

    /// Returns the call of the parameter.
    #[must_use]
    pub fn call(&self) -> Call {
        self.row.call.unwrap_or(self.section.call)
    }
}

impl Need {
    /// Returns the requirement level in one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Conditional => "conditional",
            Self::Optional => "optional",
        }
    }
}

impl Direction {
    /// Returns the direction in one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
        }
    }
}
