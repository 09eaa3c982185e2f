//! A supervisor's word for one command of a cashier: a token of 128 random bits, good once, for that command alone, at
//! the door where it was given, for a short while.

use std::collections::BTreeMap;
use std::time::Duration;

use super::TokenDigest;
use crate::money::Amount;
use crate::transaction::{Kind, OperatorName, Reference, Who};

/// How long it is good: the supervisor stands beside the cashier.
const GOOD_FOR: Duration = Duration::from_secs(120);
/// At most so many wait to be used; one more ends the oldest.
const MOST: usize = 64;

/// The command that is confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approved {
    /// The till.
    pub till: String,
    /// Its reference.
    pub reference: Reference,
    /// What kind of transaction.
    pub kind: Kind,
    /// How much, as it is asked for; none: all that is left.
    pub amount: Option<Amount>,
}

/// A supervisor's word.
#[derive(Clone, Debug)]
pub struct GivenApproval {
    /// Whose.
    pub supervisor: OperatorName,
    /// For what.
    pub command: Approved,
    /// At which door.
    pub door: Who,
}

/// Those that were not used yet.
#[derive(Debug, Default)]
pub struct Approvals(BTreeMap<TokenDigest, (Duration, GivenApproval)>);

impl Approvals {
    /// How long one is good.
    pub const GOOD_FOR: Duration = GOOD_FOR;

    /// A supervisor has confirmed.
    pub fn give(&mut self, token: TokenDigest, approval: GivenApproval, now: Duration) {
        self.0.retain(|_, (given, _)| now.saturating_sub(*given) < GOOD_FOR);
        if self.0.len() >= MOST
            && let Some(oldest) = self.0.iter().min_by_key(|(_, (given, _))| *given).map(|(token, _)| *token)
        {
            self.0.remove(&oldest);
        }
        self.0.insert(token, (now, approval));
    }

    /// Who confirmed this command, if that is what the token is for. It stays good until [`Self::used`].
    #[must_use]
    pub fn find(&self, token: &TokenDigest, command: &Approved, door: &Who, now: Duration) -> Option<&OperatorName> {
        let (given, approval) = self.0.get(token)?;
        let good = now.saturating_sub(*given) < GOOD_FOR && approval.door == *door && approval.command == *command;
        good.then_some(&approval.supervisor)
    }

    /// The command is recorded.
    pub fn used(&mut self, token: &TokenDigest) {
        self.0.remove(token);
    }

    /// Ends all of one supervisor.
    pub fn end_all_of(&mut self, supervisor: &OperatorName) {
        self.0.retain(|_, (_, approval)| approval.supervisor != *supervisor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Currency;

    #[test]
    fn it_is_good_once_for_one_command_at_one_door_and_for_two_minutes() {
        let eur = |text: &str| Some(Amount::parse(text, Currency::from_code("EUR").unwrap()).unwrap());
        let command = Approved {
            till: "till-1".to_owned(),
            reference: Reference::parse("r-1").unwrap(),
            kind: Kind::Refund,
            amount: eur("12.34"),
        };
        let (door, ben) = (Who { uid: Some(7), ..Who::default() }, OperatorName::parse("Ben").unwrap());
        let (token, at) = (TokenDigest::of(b"t"), Duration::from_secs);
        let mut approvals = Approvals::default();
        let approval = GivenApproval { supervisor: ben.clone(), command: command.clone(), door: door.clone() };
        approvals.give(token, approval.clone(), at(10));
        let found = |it: &Approvals, command: &Approved, door: &Who, now| it.find(&token, command, door, now).cloned();
        assert_eq!(found(&approvals, &command, &door, at(129)), Some(ben.clone()));
        assert_eq!(found(&approvals, &command, &door, at(130)), None, "too late");
        let others = [
            Approved { till: "till-2".to_owned(), ..command.clone() },
            Approved { reference: Reference::parse("r-2").unwrap(), ..command.clone() },
            Approved { kind: Kind::Credit, ..command.clone() },
            Approved { amount: eur("12.35"), ..command.clone() },
            Approved { amount: None, ..command.clone() },
        ];
        for other in others {
            assert_eq!(found(&approvals, &other, &door, at(20)), None, "{other:?}");
        }
        assert_eq!(found(&approvals, &command, &Who::default(), at(20)), None, "another door");
        approvals.used(&token);
        assert_eq!(found(&approvals, &command, &door, at(20)), None, "once");
        approvals.give(token, approval, at(20));
        approvals.end_all_of(&ben);
        assert_eq!(found(&approvals, &command, &door, at(21)), None);
    }
}
