//! Is: the payment gateway's interface as one table.
//! Is not: a client or a server of it.
//! Invariant: a row says what the document says, and nobody's wish.
//!
//! The interface's data model as one table: every request parameter and every response field with its format, whether
//! it must be there, its group, its call and what it means. What the terminal sends, what the simulated gateway
//! receives and what `pos-agent parameters` is asked about are all judged by it.
//!
//! | file | what it holds |
//! |---|---|
//! | `table/` | the rows, one file for each chapter of the document, in its order: to be laid beside it |
//! | `format` | what a value must look like; `characters` what it is made of, `cron` the fields of a time table |
//! | `name` | what a name must look like: indexes, keys in brackets, names that are settings |
//! | `call` | the calls, and which rows each of them takes |
//! | `rules` | what fields demand of each other; `rule` how that is judged, `look` those that are more than a pattern |
//! | `form` | a whole form, read from its encoding and judged |
//!
//! **To add a parameter, add a row.** A row that is in several places of the document (`shipping.customer.*`,
//! `merchant.billing.*`, `merchant.shipping.*`) stands once; a [`Copied`] section repeats it under another name.
//!
//! # Assumed, where the document is silent or contradicts itself
//!
//! - AN is free text without control characters unless its note says more; AN without a length, and an address without
//!   one, is held to 2048 characters. Nothing may be empty, except values of custom pairs and `job.year`.
//! - A note beats a letter: `card.holder` and `shipping.city` are "letters" but hold the spaces and marks of names, no
//!   digits; `shipping.method` takes PUDO, which its list has, although it has fewer than five letters.
//! - The lengths of `merchant.billing.mobile` and `recipient.phone` count what follows the first character: a plus and
//!   25 digits fit, although AN25 stands beside them. Other telephone numbers have 25 characters in all.
//! - `paymentType` is two capital letters, as each of its values in the query's list that can be one.
//! - `sequence` is text, of which FINAL alone has a meaning. Letters in names and towns are those of any alphabet, in
//!   codes A to Z.
//! - A date is a day that the calendar has. Hours run from 00 to 23, also where the document writes hh.
//! - Only the index of cart items has an end, 1000. No index has leading zeros.
//! - A pair of coordinates is in degrees: a latitude from -90 to 90, a comma, a longitude from -180 to 180.
//! - What refers to a payment brings no payment data and no time table, stores nothing and overrides nothing;
//!   `sequence` is its alone. `numberOfCaptures` is of reservations: `paymentType` PA.
//! - A call takes the rows of `payment`, and more (see [`Call::takes`]); only what the document binds to another call
//!   is refused. `amount` and `currency` are required of payments, checkouts and schedules, not of what refers to a
//!   payment or stores payment data. An increment or reauthorisation is a payment with `referenceUuid`.
//! - `pos.entryMode` is required where a card is read: of payments and of what stores a card. `pos.terminalId` is
//!   required wherever POS fields are sent. A card's number and expiry are required where a card is given, not where a
//!   stored one pays, and not beside an `overrideHolder` that comes with `card.holder` alone.
//! - 3-D Secure 2 is asked for by any `threeDSecure.v2.*` and by any field of the browser that it makes mandatory.
//!   `threeDSecure.deviceInfo` (an app) or `threeDSecure.threeRIInd` (no customer there) replaces the browser.
//! - "Both must be flagged" of an exemption: `challengeIndicator` and `exemptionFlag` come together. They "need version
//!   2.2 or higher": `threeDSecure.version` says so; a version that nobody says could be lower.
//! - An answer may hold fields that are not in the table (interface: Versioning): they are told, and are no violation.
//! - Not judged, as the document leaves it to others: which brands can be detected, where a purpose code is mandatory,
//!   the lengths that one fraud service sets to `risk.channelId` and `risk.serviceId`, check digits of an IBAN, lists
//!   of currencies and countries, what `street1` holds beside a `houseNumber1`.

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
    /// Its name; `[n]` is an index, `[name]`, `[key]` and `[brand]` are keys, `<wallet_a>` and `<scheme>` are settings.
    pub name: &'static str,
    /// What its value must look like.
    pub format: Format,
    /// Whether it must be there.
    pub need: Need,
    /// The calls in which it must; empty means all that take it.
    pub needed_in: &'static [Call],
    /// Its value must not be shown: card data, account data, tokens.
    pub secret: bool,
    /// The call it belongs to, when that is not the call of its section.
    pub call: Option<Call>,
    /// The column of the reconciliation file that it is, by the name in the header.
    pub column: Option<&'static str>,
    /// What it means.
    pub meaning: &'static str,
}

/// Whether a field must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// R: in its group, wherever the group is used.
    Required,
    /// C: in circumstances; those that can be seen in a form are [`rule`]s.
    Conditional,
    /// O.
    Optional,
}

/// Who sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the gateway.
    Request,
    /// From the gateway.
    Response,
}

/// Rows that stand together in the document and share what follows.
#[derive(Debug)]
pub struct Section {
    /// Its name in `--group`. Several sections may share one.
    pub group: &'static str,
    /// The heading in the document.
    pub title: &'static str,
    /// Who sends them.
    pub direction: Direction,
    /// The call they belong to.
    pub call: Call,
    /// The rows, in the document's order.
    pub rows: &'static [Row],
    /// When its required rows must be there.
    pub binds: Binds,
    /// The rows are another section's, under another name.
    pub copied: Option<Copied>,
}

/// When the required rows of a section must be there.
#[derive(Clone, Copy, Debug)]
pub enum Binds {
    /// As soon as one field of the group is sent.
    Used,
    /// In these calls always, in others never.
    Always(&'static [Call]),
    /// A header, or a choice that a [`rule`] judges.
    Never,
}

/// Names of a section that repeats another one: all of its rows, optional.
#[derive(Clone, Copy, Debug)]
pub struct Copied {
    /// What the names begin with there.
    pub from: &'static str,
    /// What they begin with here.
    pub to: &'static str,
    /// Beginnings of names that are not repeated.
    pub except: &'static [&'static str],
}

/// A row at its place: with its section's group, direction and call.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The row.
    pub row: &'static Row,
    /// Where it stands.
    pub section: &'static Section,
}

/// A value does not fit its parameter. The value itself is not shown: it may be card data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} must be {format}")]
pub struct Misfit {
    /// The parameter.
    pub name: &'static str,
    /// The rule it breaks.
    pub format: Format,
}

/// Every parameter and field, in the document's order.
pub fn all() -> impl Iterator<Item = Parameter> {
    SECTIONS.iter().flat_map(|section| {
        let repeated = |row: &&'static Row| {
            section.copied.is_none_or(|copied| !copied.except.iter().any(|except| row.name.starts_with(except)))
        };
        section.rows.iter().filter(repeated).map(move |row| Parameter { row, section })
    })
}

/// The rows by the first words of their names, in the document's order: what is on the way from a card to its request
/// does not read the whole table for each name. Rows whose first word is a setting stand under every word.
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

/// Under which [`BY_WORD`] has the rows whose first word is a setting, alone.
const SETTING: &str = "<";

/// The rows that a name with this first word can be of.
fn beginning_with(word: &str) -> &'static [Parameter] {
    BY_WORD.get(word).or_else(|| BY_WORD.get(SETTING)).map_or(&[], Vec::as_slice)
}

/// The row of a request parameter without index or key, by its name; the first in the document's order.
#[must_use]
pub fn find(name: &str) -> Option<&'static Row> {
    let of_requests = |section: &Section| section.direction == Direction::Request && section.copied.is_none();
    let mut near = beginning_with(name::first_word(name)).iter();
    near.find(|known| known.row.name == name && of_requests(known.section)).map(|known| known.row)
}

/// Every parameter that goes by this name: those that `direction` has, or, when there is none, those of the other one,
/// or the column of the reconciliation file. A name can have a format for each of several calls.
///
/// # Errors
/// Why it is no name of the table.
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

/// Whether an entry of a list of parameters means this one, by its name in the table: the name itself, or, when the
/// entry ends with a dot, everything that begins so.
#[must_use]
pub fn means(entry: &str, name: &str) -> bool {
    entry == name || entry.ends_with('.') && name.starts_with(entry)
}

/// Whether an entry of such a list means any parameter of a request.
#[must_use]
pub fn means_any(entry: &str) -> bool {
    all().any(|parameter| parameter.section.direction == Direction::Request && means(entry, &parameter.name()))
}

/// The name in the interface of a column of the reconciliation file; of `MatchedTransactions`, the first.
#[must_use]
pub fn of_column(column: &str) -> Option<String> {
    let row = all().find(|parameter| parameter.row.column == Some(column))?.row;
    Some(row.name.replace("[n]", "[0]"))
}

/// The parameter that goes by this name in a call.
///
/// # Errors
/// [`Unfit`]; [`Unfit::OtherCall`] when only another call has it.
pub fn named_in(name: &str, names: &Names, direction: Direction, call: Call) -> Result<Parameter, Unfit> {
    // A response may hold any structure of the request (interface: Payment response fields).
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
    // A field of its own beats the pair of the same name.
    if found.iter().any(|parameter| parameter.row.format != Format::Pairs) {
        found.retain(|parameter| parameter.row.format != Format::Pairs);
    }
    if found.is_empty() { Err(why) } else { Ok(found) }
}

impl Row {
    /// Whether `value` may be sent.
    ///
    /// # Errors
    /// [`Misfit`] with the rule.
    pub fn check(&self, value: &str) -> Result<(), Misfit> {
        if self.format.fits(value) { Ok(()) } else { Err(Misfit { name: self.name, format: self.format }) }
    }
}

impl Parameter {
    /// Its name, as the table writes it.
    #[must_use]
    pub fn name(&self) -> Cow<'static, str> {
        match self.section.copied {
            Some(Copied { from, to, .. }) => {
                Cow::Owned(format!("{to}{}", self.row.name.strip_prefix(from).unwrap_or(self.row.name)))
            }
            None => Cow::Borrowed(self.row.name),
        }
    }

    /// The first word of its name; [`SETTING`] when that is a setting.
    fn first_word(&self) -> &'static str {
        let word = name::first_word(self.section.copied.map_or(self.row.name, |copied| copied.to));
        if word.starts_with(SETTING) { SETTING } else { word }
    }

    /// What the value of `name` must look like. Of a field of pairs, `name` may be one of the pairs.
    #[must_use]
    pub fn format_of(&self, name: &str) -> Format {
        if self.row.format == Format::Pairs && name != self.row.name { format::PAIR_VALUE } else { self.row.format }
    }

    /// Whether it must be there.
    #[must_use]
    pub fn need(&self) -> Need {
        if self.section.copied.is_some() { Need::Optional } else { self.row.need }
    }

    /// The call it belongs to.
    #[must_use]
    pub fn call(&self) -> Call {
        self.row.call.unwrap_or(self.section.call)
    }
}

impl Need {
    /// In one word.
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
    /// In one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
        }
    }
}
