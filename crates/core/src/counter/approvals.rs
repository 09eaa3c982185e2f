//! A supervisor's word for one command of a cashier: a token of 128 random bits, good once, for that command alone, at
//! the door where it was given, for a short while.
//!
//! | what happens to the supervisor who gave the word, or to the cashier who got it | the word |
//! |---|---|
//! | the operator is removed, also when another one gets the same name | ends |
//! | the operator gets another PIN | ends |
//! | the supervisor signs out, at any door | ends |
//! | a session of the operator runs out | stays: a word needs a PIN and no session |
//! | the operator is locked after wrong PINs, or unlocked | stays, as sessions do: wrong PINs must not end it |
//!
//! The command is kept as it was resolved when the word was given: the earlier transaction by its number, and the
//! amount in figures. At its use the command is resolved again, and must be equal.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::TokenDigest;
use pos_terms::money::Amount;
use pos_terms::transaction::{Operation, OperatorName, Reference, Who};

/// How long it is good: the supervisor stands beside the cashier.
const GOOD_FOR: Duration = Duration::from_secs(120);
/// At most so many wait to be used; one more ends the oldest.
const MOST: usize = 64;

/// The command that is confirmed, with all that decides about its money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approved {
    /// The cashier who asks for it.
    pub operator: OperatorName,
    /// The till.
    pub till: String,
    /// Its reference.
    pub reference: Reference,
    /// What it is, with the earlier transaction or the stored card.
    pub transaction: Operation,
    /// All that is charged or given, with the tip that the till names.
    pub amount: Amount,
    /// The cardholder is asked for a tip on top of it.
    pub asks_tip: bool,
    /// The card number is typed.
    pub manual: bool,
}

impl fmt::Display for Approved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { transaction, amount, reference, asks_tip, manual, .. } = self;
        write!(f, "a {} of {amount}", transaction.kind().as_str())?;
        match transaction.of().map(|of| (of.number, &of.payment)) {
            Some((Some(number), _)) => write!(f, " of transaction {number}")?,
            Some((None, payment)) => write!(f, " of payment {payment}")?,
            None => {}
        }
        if let Some(registration) = transaction.registration() {
            write!(f, " with the stored card {registration}")?;
        }
        f.write_str(if *asks_tip { " and a tip" } else { "" })?;
        f.write_str(if *manual { " with a typed card number" } else { "" })?;
        write!(f, " under the reference {reference}")
    }
}

/// Why a token confirms nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoApproval<'a> {
    /// There is none, or none any more.
    Unknown,
    /// It was given at another door.
    OtherDoor,
    /// It was given to another operator.
    OtherOperator,
    /// It is for this command.
    Other(&'a Approved),
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

    /// Who confirmed this command. The token stays good until [`Self::used`], whatever else it is tried for.
    ///
    /// # Errors
    /// When it is not what the token is for.
    pub fn find(
        &self,
        token: &TokenDigest,
        command: &Approved,
        door: &Who,
        now: Duration,
    ) -> Result<&OperatorName, NoApproval<'_>> {
        let is_good = |given: &Duration| now.saturating_sub(*given) < GOOD_FOR;
        let (_, approval) = self.0.get(token).filter(|(given, _)| is_good(given)).ok_or(NoApproval::Unknown)?;
        match &approval.command {
            _ if approval.door != *door => Err(NoApproval::OtherDoor),
            given if given.operator != command.operator => Err(NoApproval::OtherOperator),
            given if given != command => Err(NoApproval::Other(given)),
            _ => Ok(&approval.supervisor),
        }
    }

    /// The command is recorded.
    pub fn used(&mut self, token: &TokenDigest) {
        self.0.remove(token);
    }

    /// Ends all that one operator has given.
    pub fn end_all_of(&mut self, supervisor: &OperatorName) {
        self.0.retain(|_, (_, approval)| approval.supervisor != *supervisor);
    }

    /// Ends all that were given to one operator.
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
        let (door, ben) = (Who { uid: Some(7), ..Who::default() }, OperatorName::parse("Ben").unwrap());
        let (token, at) = (TokenDigest::new([1; 32]), Duration::from_secs);
        let mut approvals = Approvals::default();
        let approval = GivenApproval { supervisor: ben.clone(), command: command.clone(), door: door.clone() };
        approvals.give(token, approval.clone(), at(10));
        assert_eq!(approvals.find(&token, &command, &door, at(129)), Ok(&ben));
        assert_eq!(approvals.find(&token, &command, &door, at(130)), Err(NoApproval::Unknown), "too late");
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
            let found = approvals.find(&token, &other, &door, at(20));
            assert_eq!(found, Err(NoApproval::Other(&command)), "{other:?}");
        }
        assert_eq!(approvals.find(&token, &command, &Who::default(), at(20)), Err(NoApproval::OtherDoor));
        let carl = Approved { operator: OperatorName::parse("Carl").unwrap(), ..command.clone() };
        assert_eq!(approvals.find(&token, &carl, &door, at(20)), Err(NoApproval::OtherOperator));
        assert_eq!(approvals.find(&token, &command, &door, at(20)), Ok(&ben), "it stays good for its own");
        approvals.used(&token);
        assert_eq!(approvals.find(&token, &command, &door, at(20)), Err(NoApproval::Unknown), "once");
        approvals.give(token, approval, at(20));
        approvals.end_all_of(&ben);
        assert_eq!(approvals.find(&token, &command, &door, at(21)), Err(NoApproval::Unknown));
    }

    #[test]
    fn people_read_what_it_is_for() {
        let told = |transaction, asks_tip, manual| Approved { transaction, asks_tip, manual, ..command() }.to_string();
        let payment = Earlier { number: None, ..earlier(17) };
        for (transaction, asks_tip, manual, said) in [
            (Operation::Refund { of: earlier(17) }, false, false, "a refund of 12.34 EUR of transaction 17"),
            (Operation::Refund { of: payment }, false, false, "a refund of 12.34 EUR of payment p17"),
            (Operation::Credit, false, true, "a credit of 12.34 EUR with a typed card number"),
            (Operation::Sale, true, false, "a sale of 12.34 EUR and a tip"),
        ] {
            assert_eq!(told(transaction, asks_tip, manual), format!("{said} under the reference r-1"));
        }
    }
}
