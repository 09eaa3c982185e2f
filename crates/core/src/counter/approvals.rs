//! A supervisor's approval of one command from a cashier. It is a token of 128 random bits. It can be used once, within
//! a short time, for that command, and at the sign-in source where it was given.
//!
//! | event for the supervisor or the cashier | effect on the approval |
//! |---|---|
//! | the operator is removed, even if a new operator gets the same name | ends |
//! | the operator gets another PIN | ends |
//! | the supervisor signs out, at any sign-in source | ends |
//! | a session of the operator expires | stays: an approval needs a PIN, but no session |
//! | the operator is locked after wrong PINs, or unlocked | stays, as sessions do: wrong PINs must not end it |
//!
//! The approval holds the resolved command, with the earlier transaction by its number and the amount in figures. When
//! the approval is used, the command is resolved again, and the two must be equal.

use std::collections::BTreeMap;
use std::time::Duration;

use super::TokenDigest;
use pos_terms::money::Amount;
use pos_terms::transaction::{Operation, OperatorName, Reference, Who};

/// The validity period of an approval. It is short because the supervisor is with the cashier.
const GOOD_FOR: Duration = Duration::from_secs(120);
/// The maximum number of unused approvals. A further approval removes the oldest.
const MOST: usize = 64;

/// The approved command, with every value that affects the money that it moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approved {
    /// The cashier who gives the command.
    pub operator: OperatorName,
    /// The till.
    pub till: String,
    /// The till's reference for the transaction.
    pub reference: Reference,
    /// The operation, with the earlier transaction or the stored card.
    pub transaction: Operation,
    /// The full amount to charge or refund, including a tip named by the till.
    pub amount: Amount,
    /// True if the cardholder is asked for an additional tip.
    pub asks_tip: bool,
    /// True if the card number is typed.
    pub manual: bool,
}

/// The reason why a token does not approve a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoApproval<'a> {
    /// The token does not exist, or is no longer valid.
    Unknown,
    /// The token was given at another sign-in source.
    OtherCaller,
    /// The token was given to another operator.
    OtherOperator,
    /// The token approves another command, which is given here.
    Other(&'a Approved),
}

/// A supervisor's approval.
#[derive(Clone, Debug)]
pub struct GivenApproval {
    /// The supervisor.
    pub supervisor: OperatorName,
    /// The approved command.
    pub command: Approved,
    /// The sign-in source where it was given.
    pub caller: Who,
}

/// The unused approvals, by token.
#[derive(Debug, Default)]
pub struct Approvals(BTreeMap<TokenDigest, (Duration, GivenApproval)>);

impl Approvals {
    /// The validity period of an approval.
    pub const GOOD_FOR: Duration = GOOD_FOR;

    /// Records a supervisor's approval.
    pub fn give(&mut self, token: TokenDigest, approval: GivenApproval, now: Duration) {
        self.0.retain(|_, (given, _)| now.saturating_sub(*given) < GOOD_FOR);
        if self.0.len() >= MOST
            && let Some(oldest) = self.0.iter().min_by_key(|(_, (given, _))| *given).map(|(token, _)| *token)
        {
            self.0.remove(&oldest);
        }
        self.0.insert(token, (now, approval));
    }

    /// Returns the approval for this command. The token stays valid until [`Self::used`] removes it, even after
    /// attempts with other commands.
    ///
    /// # Errors
    /// Returns the reason why the token does not approve this command.
    pub fn find(
        &self,
        token: &TokenDigest,
        command: &Approved,
        caller: &Who,
        now: Duration,
    ) -> Result<&OperatorName, NoApproval<'_>> {
        let is_good = |given: &Duration| now.saturating_sub(*given) < GOOD_FOR;
        let (_, approval) = self.0.get(token).filter(|(given, _)| is_good(given)).ok_or(NoApproval::Unknown)?;
        match &approval.command {
            _ if approval.caller != *caller => Err(NoApproval::OtherCaller),
            given if given.operator != command.operator => Err(NoApproval::OtherOperator),
            given if given != command => Err(NoApproval::Other(given)),
            _ => Ok(&approval.supervisor),
        }
    }

    /// Removes a token after its command is recorded.
    pub fn used(&mut self, token: &TokenDigest) {
        self.0.remove(token);
    }

    /// Ends all approvals given by one supervisor.
    pub fn end_all_of(&mut self, supervisor: &OperatorName) {
        self.0.retain(|_, (_, approval)| approval.supervisor != *supervisor);
    }

    /// Ends all approvals given to one operator.
    pub fn end_all_for(&mut self, operator: &OperatorName) {
        self.0.retain(|_, (_, approval)| approval.command.operator != *operator);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_terms::money::Currency;
    use pos_terms::transaction::{Earlier, PaymentId, SaleNumber};

    fn eur(text: &str) -> Amount {
        Amount::parse(text, Currency::from_code("EUR").unwrap()).unwrap()
    }

    fn earlier(number: u64) -> Earlier {
        Earlier { payment: PaymentId::new(format!("p{number}")), number: Some(SaleNumber::new(number)) }
    }

    fn command() -> Approved {
        Approved {
            operator: OperatorName::parse("Anna").unwrap(),
            till: "till-1".to_owned(),
            reference: Reference::parse("r-1").unwrap(),
            transaction: Operation::Refund { of: earlier(17) },
            amount: eur("12.34"),
            asks_tip: false,
            manual: false,
        }
    }

    #[test]
    fn it_is_good_once_for_one_command_at_one_door_and_for_two_minutes() {
        let command = command();
        let (caller, ben) = (Who { uid: Some(7), ..Who::default() }, OperatorName::parse("Ben").unwrap());
        let (token, at) = (TokenDigest::new([1; 32]), Duration::from_secs);
        let mut approvals = Approvals::default();
        let approval = GivenApproval { supervisor: ben.clone(), command: command.clone(), caller: caller.clone() };
        approvals.give(token, approval.clone(), at(10));
        assert_eq!(approvals.find(&token, &command, &caller, at(129)), Ok(&ben));
        assert_eq!(approvals.find(&token, &command, &caller, at(130)), Err(NoApproval::Unknown), "too late");
        let others = [
            Approved { till: "till-2".to_owned(), ..command.clone() },
            Approved { reference: Reference::parse("r-2").unwrap(), ..command.clone() },
            Approved { transaction: Operation::Credit, ..command.clone() },
            Approved { transaction: Operation::Reversal { of: earlier(17) }, ..command.clone() },
            Approved { transaction: Operation::Refund { of: earlier(18) }, ..command.clone() },
            Approved { amount: eur("12.35"), ..command.clone() },
            Approved { asks_tip: true, ..command.clone() },
            Approved { manual: true, ..command.clone() },
        ];
        for other in others {
            let found = approvals.find(&token, &other, &caller, at(20));
            assert_eq!(found, Err(NoApproval::Other(&command)), "{other:?}");
        }
        assert_eq!(approvals.find(&token, &command, &Who::default(), at(20)), Err(NoApproval::OtherCaller));
        let carl = Approved { operator: OperatorName::parse("Carl").unwrap(), ..command.clone() };
        assert_eq!(approvals.find(&token, &carl, &caller, at(20)), Err(NoApproval::OtherOperator));
        assert_eq!(approvals.find(&token, &command, &caller, at(20)), Ok(&ben), "it stays good for its own");
        approvals.used(&token);
        assert_eq!(approvals.find(&token, &command, &caller, at(20)), Err(NoApproval::Unknown), "once");
        approvals.give(token, approval, at(20));
        approvals.end_all_of(&ben);
        assert_eq!(approvals.find(&token, &command, &caller, at(21)), Err(NoApproval::Unknown));
    }
}
