//! The structure of a rule between the fields of a form, and the check of a form against the rules. The rules are in
//! `rules`.
//!
//! A field's own value is checked by its `format`. The call that accepts a field is in the field's row.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Call, Direction, Names};

pub use super::rules::RULES;

/// A rule between several fields.
pub struct Rule {
    /// Short name.
    pub name: &'static str,
    /// The requirement, as a sentence.
    pub says: &'static str,
    /// The clause of the interface.
    pub clause: &'static str,
    pub(super) direction: Direction,
    /// The calls in which the rule applies; empty means all.
    pub(super) calls: &'static [Call],
    pub(super) demand: Demand,
}

/// The forms of rules. A name that ends with a dot means every name that begins with it.
pub(super) enum Demand {
    /// Each of the two fields needs the other, with each of these prefixes.
    Together { at: &'static [&'static str], of: [&'static str; 2] },
    /// If any field of `when` is present, all of `need` must be present, with each of these prefixes.
    Needs { at: &'static [&'static str], when: &'static [&'static str], need: &'static [&'static str] },
    /// If `when` is present, one of the two must be present.
    Either { when: &'static str, of: [&'static str; 2] },
    /// If `one` is present, none of the others may be present.
    Apart { one: &'static str, others: &'static [&'static str] },
    /// None of these may be present.
    Absent(&'static [&'static str]),
    /// A function that checks values.
    Look(fn(&Sent<'_>, &mut ReportBroken<'_>)),
}

/// A callback that receives the name of a field and its problem.
pub(super) type ReportBroken<'a> = dyn FnMut(&str, &'static str) + 'a;

/// The content of a form, for the rules to check.
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
    /// The problem.
    pub problem: &'static str,
    /// The rule.
    pub rule: &'static Rule,
}

/// If `true`, one of [`HOLDERS`] may replace the empty holder of stored payment data (interface: Tokenization and
/// registration parameters).
pub const OVERRIDE: &str = "overrideHolder";
/// The fields with a holder that may replace the stored one.
pub const HOLDERS: [&str; 2] = ["card.holder", "bankAccount.holder"];

pub(super) const MISSING: &str = "required and not sent";

impl Rule {
    /// Checks whether the rule concerns a field, given by its name in the table.
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
    /// Takes the content of a form of `call`. If a name occurs twice, the last value counts. A holder that replaces an
    /// empty stored one is left out, because it is not a separate account.
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

    /// Checks whether a field is present. If `name` ends with a dot, any field with this prefix counts.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        if name.ends_with('.') { self.under(name).next().is_some() } else { self.fields.contains_key(name) }
    }

    /// Returns the value of a field.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.fields.get(name).copied()
    }

    /// Returns the fields whose names have this prefix.
    pub(super) fn under(&self, beginning: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let from = self.fields.range::<str, _>((std::ops::Bound::Included(beginning), std::ops::Bound::Unbounded));
        from.map(|(name, value)| (*name, *value)).take_while(move |(name, _)| name.starts_with(beginning))
    }

    /// Returns every broken rule.
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

/// Adds a prefix to a name. Most prefixes are empty.
fn joined<'a>(at: &str, name: &'a str) -> Cow<'a, str> {
    if at.is_empty() { Cow::Borrowed(name) } else { Cow::Owned(format!("{at}{name}")) }
}

impl Demand {
    fn judge(&self, sent: &Sent<'_>, found: &mut ReportBroken<'_>) {
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
