//! Decodes a form and checks it: names, formats, required fields, and the rules between fields.
//!
//! This module never shows a value, and it sends nothing. The gateway client's `request` writes the agent's forms.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use super::rule::{HOLDERS, OVERRIDE, Sent};
use super::{Binds, Call, Direction, Names, Need, Row, SECTIONS, Unfit, named, named_in, nearest, of_column, shown};

/// The maximum size of a form, in bytes: 1001 cart items of 4 KiB each.
pub const LONGEST: usize = 1001 * 4096;
/// The maximum number of violations that are reported. Input with more violations is not a form.
pub const MOST_VIOLATIONS: usize = 100;

/// The context in which a form is checked.
#[derive(Clone, Copy, Debug)]
pub struct FormContext<'a> {
    /// The sender of the form.
    pub direction: Direction,
    /// The call.
    pub call: Call,
    /// `true` if the form comes from the customer's browser, not from the merchant's server.
    pub from_client_side: bool,
    /// The names that settings define.
    pub names: &'a Names,
}

/// One violation: the parameter, the problem and the rule. It never contains a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The parameter, or a part of the form.
    pub name: String,
    /// The problem.
    pub problem: String,
    /// The rule that the form must follow.
    pub rule: String,
}

impl Violation {
    fn new(name: &str, problem: impl Into<String>, rule: impl Into<String>) -> Self {
        Self { name: shown(name), problem: problem.into(), rule: rule.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, problem, rule } = self;
        write!(f, "{name}: {problem}; {rule}")
    }
}

/// Decodes `application/x-www-form-urlencoded` to pairs in their original order. A name may occur twice.
///
/// # Errors
/// Returns the first invalid part: a form that is too long, a pair without `=`, or a wrong encoding.
pub fn decode(encoded: &[u8]) -> Result<Vec<(String, String)>, Violation> {
    if encoded.len() > LONGEST {
        let problem = format!("has more than {LONGEST} bytes");
        return Err(Violation::new("form", problem, format!("a form has at most {LONGEST} bytes")));
    }
    let mut pairs = Vec::new();
    for pair in encoded.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
        let Some(cut) = pair.iter().position(|byte| *byte == b'=') else {
            let problem = format!("pair {} has no '='", pairs.len() + 1);
            return Err(Violation::new("form", problem, "pairs of name=value, joined by '&'"));
        };
        let name = text(&pair[..cut]).map_err(|why| {
            let problem = format!("the name of pair {}: {why}", pairs.len() + 1);
            Violation::new("form", problem, "names are percent-encoded UTF-8")
        })?;
        let value =
            text(&pair[cut + 1..]).map_err(|why| Violation::new(&name, why, "values are percent-encoded UTF-8"))?;
        pairs.push((name, value));
    }
    Ok(pairs)
}

/// Decodes a name or value. `+` is a space, and `%` with two hex digits is a byte. The result must be UTF-8.
fn text(encoded: &[u8]) -> Result<String, &'static str> {
    // Most names and values need no decoding.
    if encoded.iter().all(|byte| matches!(byte, 0x21..=0x7E) && !matches!(byte, b'%' | b'+')) {
        return String::from_utf8(encoded.to_vec()).map_err(|_| "not UTF-8");
    }
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded;
    while let [first, tail @ ..] = rest {
        rest = match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let nibble = |c: &u8| char::from(*c).to_digit(16).and_then(|n| u8::try_from(n).ok());
                let (high, low) = nibble(high).zip(nibble(low)).ok_or("'%' without two hex digits")?;
                bytes.push(high << 4 | low);
                tail
            }
            (b'%', _) => return Err("'%' without two hex digits"),
            (b'+', tail) => {
                bytes.push(b' ');
                tail
            }
            // All bytes other than visible ASCII would have to be encoded.
            (0x21..=0x7E, tail) => {
                bytes.push(*first);
                tail
            }
            _ => return Err("a byte that must be percent-encoded"),
        };
    }
    String::from_utf8(bytes).map_err(|_| "not UTF-8")
}

/// Checks one value without the rest of the form. It is valid if it fits one of the formats of its name. In an answer,
/// an unknown field is valid.
#[must_use]
pub fn alone(name: &str, value: &str, names: &Names, direction: Direction) -> Option<Violation> {
    let known = match named(name, names, direction) {
        Ok(known) => known,
        Err(Unfit::Unknown) if direction == Direction::Response => return None,
        Err(unfit) => return Some(unfitting(name, &unfit, names)),
    };
    let mut problem = None;
    for parameter in &known {
        match parameter.format_of(name).check(value) {
            Ok(()) => return None,
            Err(why) => problem = problem.or(Some(why)),
        }
    }
    let mut rules: Vec<String> = Vec::new();
    for parameter in &known {
        let rule = format!("must be {}", parameter.format_of(name));
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    problem.map(|problem| Violation::new(name, problem.to_string(), rules.join(", or ")))
}

/// Checks each pair of a form separately, and reports names that occur twice.
#[must_use]
pub fn each(pairs: &[(String, String)], names: &Names, direction: Direction) -> Vec<Violation> {
    let mut seen = BTreeSet::new();
    let judged = pairs.iter().filter_map(|(name, value)| {
        if seen.insert(name.as_str()) { alone(name, value, names, direction) } else { Some(twice(name)) }
    });
    judged.take(MOST_VIOLATIONS).collect()
}

fn twice(name: &str) -> Violation {
    Violation::new(name, "sent twice", "each parameter is sent once")
}

/// Returns the names of an answer's fields that are not in the table, in a form that may be shown. They are not
/// violations, because answers may contain new fields at any time (interface: Versioning).
#[must_use]
pub fn unknown(pairs: &[(String, String)], names: &Names) -> Vec<String> {
    let is_unknown = |name: &str| matches!(named(name, names, Direction::Response), Err(Unfit::Unknown));
    pairs.iter().filter(|(name, _)| is_unknown(name)).map(|(name, _)| shown(name)).take(MOST_VIOLATIONS).collect()
}

/// Returns the fields of a form by their names in the interface. A reconciliation line may use the names in its header.
fn by_name<'a>(pairs: &'a [(String, String)], call: Call) -> impl Iterator<Item = (Cow<'a, str>, &'a str)> {
    pairs.iter().map(move |(name, value)| {
        let column = if call == Call::Reconciliation { of_column(name) } else { None };
        (column.map_or(Cow::Borrowed(name.as_str()), Cow::Owned), value.as_str())
    })
}

/// Checks a whole form: every name and value, the required fields, and the rules between fields. It reports at most
/// [`MOST_VIOLATIONS`]. It skips unknown fields of an answer, which [`unknown`] lists.
#[must_use]
pub fn judge(pairs: &[(String, String)], asked: &FormContext<'_>) -> Vec<Violation> {
    let mut violations = Vec::new();
    let (mut seen, mut groups) = (BTreeSet::new(), BTreeSet::new());
    let overrides = pairs.iter().any(|(name, value)| name == OVERRIDE && value == "true");
    for (name, value) in by_name(pairs, asked.call) {
        if violations.len() >= MOST_VIOLATIONS {
            return violations;
        }
        match named_in(&name, asked.names, asked.direction, asked.call) {
            _ if seen.contains(&name) => violations.push(twice(&name)),
            Ok(parameter) => {
                // A holder for stored payment data needs no card or account number.
                if !(overrides && HOLDERS.contains(&&*name)) {
                    groups.insert(parameter.section.group);
                }
                let format = parameter.format_of(&name);
                if let Err(problem) = format.check(value) {
                    violations.push(Violation::new(&name, problem.to_string(), format!("must be {format}")));
                }
            }
            Err(Unfit::Unknown) if asked.direction == Direction::Response => {}
            Err(unfit) => violations.push(unfitting(&name, &unfit, asked.names)),
        }
        seen.insert(name);
    }
    violations.extend(missing(&seen, &groups, asked));
    violations.extend(broken(pairs, asked));
    violations.truncate(MOST_VIOLATIONS);
    violations
}

/// Returns only the violations of rules between fields.
pub fn broken(pairs: &[(String, String)], asked: &FormContext<'_>) -> Vec<Violation> {
    let fields: Vec<(Cow<'_, str>, &str)> = by_name(pairs, asked.call).collect();
    let fields = fields.iter().map(|(name, value)| (&**name, *value));
    let sent = Sent::new(fields, asked.names, asked.direction, asked.call, asked.from_client_side);
    let told = |broken: &super::rule::Broken| {
        Violation::new(&broken.name, broken.problem, format!("{} ({})", broken.rule.says, broken.rule.name))
    };
    sent.broken().iter().map(told).collect()
}

/// Returns the missing required rows of the groups that require them.
fn missing(seen: &BTreeSet<Cow<'_, str>>, groups: &BTreeSet<&str>, asked: &FormContext<'_>) -> Vec<Violation> {
    let binding = |binds: Binds, group: &str| match binds {
        Binds::Used => groups.contains(group),
        Binds::Always(calls) => calls.contains(&asked.call),
        Binds::Never => false,
    };
    let of_call = |call: Call| match asked.direction {
        Direction::Request => asked.call.takes(call),
        Direction::Response => asked.call.gives(call),
    };
    let mut missing: Vec<Violation> = Vec::new();
    for section in SECTIONS.iter().filter(|section| section.direction == asked.direction && section.copied.is_none()) {
        if !binding(section.binds, section.group) {
            continue;
        }
        let needed = |row: &Row| row.needed_in.is_empty() || row.needed_in.contains(&asked.call);
        let absent = |row: &&Row| row.need == Need::Required && needed(row) && !seen.contains(row.name);
        for row in section.rows.iter().filter(absent) {
            if !of_call(row.call.unwrap_or(section.call)) || missing.iter().any(|told| told.name == row.name) {
                continue;
            }
            let rule = format!("must be {} ({})", row.format, section.title);
            missing.push(Violation::new(row.name, "required and not sent", rule));
        }
    }
    missing
}

fn unfitting(name: &str, unfit: &Unfit, names: &Names) -> Violation {
    match unfit {
        Unfit::Unknown => {
            let meant = nearest(name, names);
            let rule = meant.map_or("`pos-agent parameters list` shows all parameters".to_owned(), |meant| {
                format!("did you mean {meant}?")
            });
            Violation::new(name, "unknown parameter", rule)
        }
        Unfit::OtherCall { .. } => Violation::new(name, unfit.to_string(), "a call takes only its own parameters"),
        _ => Violation::new(name, "wrong name", unfit.to_string()),
    }
}
