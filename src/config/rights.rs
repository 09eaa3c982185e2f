//! The fifteen rights of callers, and the named sets of rights. `[[till.token]]`, `[[till.peer]]` and `[till.socket]`
//! give rights to callers. `till/rights.rs` lists the rights that each verb needs.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// A right of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// Charge a card, or a stored card.
    Sale,
    /// Reserve an amount, increase a reservation, or renew it.
    PreAuthorise,
    /// Capture a reserved amount.
    Capture,
    /// Refund a payment.
    Refund,
    /// Reverse an earlier transaction.
    Reverse,
    /// Pay out to a card without an earlier payment.
    Credit,
    /// See and refer to the transactions of other tills, for example to return a purchase at another till.
    AnyTill,
    /// Refer to payments that this terminal's journal does not know, by their ids at the gateway.
    UnknownPayment,
    /// State how a payment with a stored card is authenticated: without 3-D Secure, by an exemption, or by the shop.
    ThreeDSecure,
    /// Count transactions, and add up amounts.
    Totals,
    /// Close the day, and see and print closes, which contain the sums of all tills.
    Close,
    /// See transactions, their receipts, and the terminal's status.
    Read,
    /// Read the entries of the journal, which include the transactions of all tills.
    Journal,
    /// Service the terminal as a technician, for example to change the log level or to manage operators.
    Service,
    /// Pass on the fleet's signed commands, settings and keys, and read what became of them.
    Fleet,
}

impl Right {
    /// All rights, in the order of the manual.
    pub const ALL: [Self; 15] = [
        Self::Sale,
        Self::PreAuthorise,
        Self::Capture,
        Self::Refund,
        Self::Reverse,
        Self::Credit,
        Self::AnyTill,
        Self::UnknownPayment,
        Self::ThreeDSecure,
        Self::Totals,
        Self::Close,
        Self::Read,
        Self::Journal,
        Self::Service,
        Self::Fleet,
    ];

    /// Returns the word for the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sale => "sale",
            Self::PreAuthorise => "pre-authorise",
            Self::Capture => "capture",
            Self::Refund => "refund",
            Self::Reverse => "reverse",
            Self::Credit => "credit",
            Self::AnyTill => "any-till",
            Self::UnknownPayment => "unknown-payment",
            Self::ThreeDSecure => "three-d-secure",
            Self::Totals => "totals",
            Self::Close => "close",
            Self::Read => "read",
            Self::Journal => "journal",
            Self::Service => "service",
            Self::Fleet => "fleet",
        }
    }

    /// Returns whether the right only extends other rights and alone allows nothing.
    fn only_widens(self) -> bool {
        matches!(self, Self::AnyTill | Self::UnknownPayment)
    }
}

/// The rights for daily work. They do not include paying out, access to other tills or to payments unknown to this
/// journal, and the authentication of stored cards. They include neither the journal's entries, service, nor what
/// the fleet sends.
const USUAL: [Right; 8] = [
    Right::Sale,
    Right::PreAuthorise,
    Right::Capture,
    Right::Refund,
    Right::Reverse,
    Right::Totals,
    Right::Close,
    Right::Read,
];

/// The rights of one caller.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Rights(BTreeSet<Right>);

impl Rights {
    /// Returns the set `till`, for a token whose entry lists no rights.
    #[must_use]
    pub fn till() -> Self {
        USUAL.into_iter().collect()
    }

    /// Returns the set `group`, for any other user who may open the socket, if `[till.socket]` lists no rights.
    #[must_use]
    pub fn group() -> Self {
        USUAL.into_iter().collect()
    }

    /// Returns the set `several-tills`, for a program that acts for several tills, if its `[[till.peer]]` lists no
    /// rights.
    #[must_use]
    pub fn several_tills() -> Self {
        USUAL.into_iter().collect()
    }

    /// Returns the set `root`, which contains every right, for root and the agent's own user.
    #[must_use]
    pub fn root() -> Self {
        Right::ALL.into_iter().collect()
    }

    /// Returns whether this right is in the set.
    #[must_use]
    pub fn has(&self, right: Right) -> bool {
        self.0.contains(&right)
    }
}

impl FromIterator<Right> for Rights {
    fn from_iter<T: IntoIterator<Item = Right>>(rights: T) -> Self {
        Self(rights.into_iter().collect())
    }
}

impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("nothing");
        }
        let names: Vec<&str> = self.0.iter().map(|right| right.as_str()).collect();
        f.write_str(&names.join(", "))
    }
}

impl fmt::Debug for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{self}]")
    }
}

#[cfg(feature = "docs")]
impl serde::Serialize for Rights {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|right| right.as_str()))
    }
}

/// A set of rights, whose name a list may contain.
#[derive(Debug)]
pub struct RightSet {
    /// The name.
    pub name: &'static str,
    /// The callers that have the set by default.
    pub whose: &'static str,
    /// The rights in the set.
    pub rights: Rights,
}

/// Returns the sets.
#[must_use]
pub fn sets() -> [RightSet; 4] {
    let set = |name, whose, rights| RightSet { name, whose, rights };
    [
        set("till", "a [[till.token]] whose rights are omitted", Rights::till()),
        set("group", "users who may open the socket", Rights::group()),
        set("several-tills", "a [[till.peer]], a program at the socket", Rights::several_tills()),
        set("root", "root, and the agent's own user", Rights::root()),
    ]
}

/// The rights for one name in a list, which is that of a right or of a set.
struct Named(Rights);

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let right = Right::ALL.into_iter().find(|right| right.as_str() == name);
        let set = || sets().into_iter().find(|set| set.name == name).map(|set| set.rights);
        right.map(|right| Rights::from_iter([right])).or_else(set).map(Self).ok_or_else(|| {
            let names = Right::ALL.map(Right::as_str).into_iter().chain(sets().map(|set| set.name));
            let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
            D::Error::custom(format_args!("unknown variant `{name}`, expected one of {}", names.join(", ")))
        })
    }
}

impl<'de> Deserialize<'de> for Rights {
    /// Reads exactly the listed rights. A list with only extending rights comes from an earlier version, which had no
    /// other rights. It still extends the usual rights.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let named = Vec::<Named>::deserialize(deserializer)?;
        let mut rights: BTreeSet<Right> = named.into_iter().flat_map(|named| named.0.0).collect();
        if !rights.is_empty() && rights.iter().all(|right| right.only_widens()) {
            rights.extend(USUAL);
        }
        Ok(Self(rights))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Table {
        rights: Rights,
    }

    fn of(list: &str) -> Rights {
        toml::from_str::<Table>(&format!("rights = {list}")).unwrap().rights
    }

    #[test]
    fn every_right_is_written_as_it_is_named() {
        for right in Right::ALL {
            let usual: Rights = if right.only_widens() { Rights::till() } else { Rights::default() };
            let expected: Rights = usual.0.into_iter().chain([right]).collect();
            assert_eq!(of(&format!("[\"{}\"]", right.as_str())), expected, "{right:?}");
        }
    }

    #[test]
    fn a_list_is_exactly_what_it_names_and_sets_are_short_for_their_rights() {
        assert_eq!(of("[]"), Rights::default());
        assert_eq!(of("[\"read\", \"any-till\"]"), [Right::Read, Right::AnyTill].into_iter().collect());
        assert_eq!(of("[\"till\"]"), Rights::till());
        assert_eq!(of("[\"group\"]"), Rights::group());
        assert_eq!(of("[\"several-tills\"]"), Rights::several_tills());
        assert_eq!(of("[\"root\"]"), Rights::root());
        let with_credit: Rights = USUAL.into_iter().chain([Right::Credit]).collect();
        assert_eq!(of("[\"till\", \"credit\"]"), with_credit);
    }

    #[test]
    fn no_set_but_roots_pays_out_or_reaches_beyond_its_tills_and_this_journal() {
        for (name, set) in
            [("till", Rights::till()), ("group", Rights::group()), ("several-tills", Rights::several_tills())]
        {
            for right in Right::ALL {
                let off = matches!(
                    right,
                    Right::Credit
                        | Right::AnyTill
                        | Right::UnknownPayment
                        | Right::ThreeDSecure
                        | Right::Journal
                        | Right::Service
                        | Right::Fleet
                );
                assert_eq!(set.has(right), !off, "{name}: {right:?}");
            }
        }
        assert!(Right::ALL.iter().all(|right| Rights::root().has(*right)));
    }

    /// Checks lists from earlier versions, in which every till had all rights except these two.
    #[test]
    fn a_list_of_before_widens_the_usual_rights() {
        let widened = |widens: &[Right]| USUAL.iter().chain(widens).copied().collect::<Rights>();
        assert_eq!(of("[\"any-till\"]"), widened(&[Right::AnyTill]));
        assert_eq!(of("[\"unknown-payment\"]"), widened(&[Right::UnknownPayment]));
        let both = [Right::AnyTill, Right::UnknownPayment];
        assert_eq!(of("[\"any-till\", \"unknown-payment\"]"), widened(&both));
    }
}
