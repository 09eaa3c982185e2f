//! The reason why a command is not carried out, with the facts. The till gets a problem from a closed list
//! ([`ProblemType`](super::ProblemType)) and a sentence in the terminal's language.

use std::fmt;

use super::{Denied, OperatorRefused, WhichClose};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Kind, Reference, Taken};
use pos_words::{Message, Sentence};

/// The reason why a command is not carried out. Nothing was recorded and nothing was charged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The reference is already used for a request with another amount or currency, or for a different request.
    AmountDiffers {
        /// The reference.
        reference: Reference,
        /// The kind of the transaction that has the reference.
        kind: Kind,
        /// The amount of that transaction.
        amount: Amount,
    },
    /// Another transaction is in progress.
    Busy {
        /// The till of that transaction.
        till: String,
        /// The reference of that transaction.
        reference: Reference,
    },
    /// Another till's transaction is in progress, and this till may not see which one.
    BusyElsewhere,
    /// No transaction can begin at the moment.
    NotReady {
        /// The reason, with the remedy.
        why: Sentence,
    },
    /// The reader asked for an amount but got none.
    NothingTyped {
        /// The reason.
        why: Sentence,
    },
    /// The caller lacks the right.
    Denied(Denied),
    /// A command about an operator is refused.
    Operator(OperatorRefused),
    /// No signature is awaited.
    NoSignatureAwaited {
        /// The earlier answer: true if the signature was accepted.
        earlier: Option<bool>,
        /// The transaction's state, in words.
        state: String,
    },
    /// No confirmation by the till is awaited, or the till has already given a different one.
    NoConfirmationAwaited {
        /// The earlier answer.
        earlier: Option<Taken>,
        /// The transaction's state, in words.
        state: String,
    },
    /// The transaction has no receipt yet, because it has not ended.
    NoReceiptYet {
        /// The transaction's state, in words.
        state: String,
    },
    /// The earlier transaction does not allow the request.
    NotPossible {
        /// The reason, with the remedy.
        why: Sentence,
    },
    /// A parameter for the gateway cannot be sent.
    Parameter {
        /// The name of the parameter.
        name: String,
        /// The fault, without the value.
        why: Sentence,
    },
    /// The amount cannot be charged here.
    Amount {
        /// The reason, with the remedy.
        why: Sentence,
    },
    /// The tip cannot be charged.
    Tip {
        /// The reason, with the remedy.
        why: Sentence,
    },
    /// Training is not allowed here.
    TrainingOff,
    /// The terminal has a different currency.
    Currency {
        /// The requested currency.
        wanted: Currency,
        /// The terminal's currency.
        terminal: String,
    },
    /// The till has no transaction yet.
    NoneYet {
        /// The till.
        till: String,
    },
    /// No transaction has this reference.
    NoSuchSale {
        /// The till.
        till: String,
        /// The reference.
        reference: Reference,
    },
    /// The close of day does not exist.
    NoSuchClose {
        /// The requested close.
        which: WhichClose,
    },
    /// A till's own line cannot be printed.
    Line {
        /// The index of the line, from 0.
        at: usize,
        /// The reason, with the remedy.
        why: String,
    },
    /// A receipt cannot be printed.
    Printer {
        /// The reason, with the remedy.
        why: Sentence,
    },
    /// The gateway did not answer the request.
    Gateway {
        /// The reason, with the remedy.
        why: String,
    },
    /// The journal cannot be read or written.
    Journal {
        /// The reason, with the remedy.
        why: Sentence,
    },
}

impl Refused {
    /// Refuses a command because the earlier transaction does not allow it.
    #[must_use]
    pub fn not_possible(why: impl Into<Sentence>) -> Self {
        Self::NotPossible { why: why.into() }
    }

    /// Limits the facts to what a caller may see. Removes the references of tills for which `hears` returns false.
    #[must_use]
    pub fn told_to(self, hears: impl Fn(&str) -> bool) -> Self {
        match self {
            Self::Busy { till, .. } if !hears(&till) => Self::BusyElsewhere,
            told => told,
        }
    }

    /// Returns the sentence for people.
    #[must_use]
    pub fn sentence(&self) -> Sentence {
        let because = |message: Message, why: &Sentence| message.with("why", why.clone());
        match self {
            Self::AmountDiffers { reference, kind, amount } => {
                let said = Message::RefusedAmountDiffers.with("reference", reference.as_str());
                said.with("kind", *kind).with("amount", *amount)
            }
            Self::Busy { till, reference } => of_till(Message::RefusedBusy, till).with("reference", reference.as_str()),
            Self::BusyElsewhere => Message::RefusedBusyElsewhere.into(),
            Self::NotReady { why } => because(Message::RefusedNotReady, why),
            Self::NothingTyped { why } => because(Message::RefusedNothingTyped, why),
            Self::Denied(denied) => denied.sentence(),
            Self::Operator(refused) => refused.sentence(),
            Self::NoSignatureAwaited { earlier, state } => {
                let message = match earlier {
                    Some(true) => Message::RefusedSignatureAccepted,
                    Some(false) => Message::RefusedSignatureRefused,
                    None => Message::RefusedNoSignature,
                };
                message.with("state", state.as_str())
            }
            Self::NoConfirmationAwaited { earlier, state } => {
                let said = match earlier {
                    Some(Taken::All) => Message::RefusedAllTaken.into(),
                    Some(Taken::Part { amount }) => Message::RefusedPartTaken.with("amount", *amount),
                    Some(Taken::Nothing) => Message::RefusedNothingTaken.into(),
                    None => Sentence::from(Message::RefusedNoConfirmation),
                };
                said.with("state", state.as_str())
            }
            Self::NoReceiptYet { state } => Message::RefusedNoReceipt.with("state", state.as_str()),
            Self::NotPossible { why } => because(Message::RefusedNotPossible, why),
            Self::Parameter { name, why } => because(Message::RefusedParameter, why).with("name", name.as_str()),
            Self::Amount { why } => because(Message::RefusedAmount, why),
            Self::Tip { why } => because(Message::RefusedTip, why),
            Self::TrainingOff => Message::RefusedTrainingOff.into(),
            Self::Currency { wanted, terminal } => {
                Message::RefusedCurrency.with("wanted", wanted.code()).with("terminal", terminal.as_str())
            }
            Self::NoneYet { till } => of_till(Message::RefusedNoneYet, till),
            Self::NoSuchSale { till, reference } => {
                of_till(Message::RefusedNoSuchSale, till).with("reference", reference.as_str())
            }
            Self::NoSuchClose { which } => match which {
                WhichClose::Last => Message::RefusedNoCloseYet.into(),
                WhichClose::Open => Message::RefusedCloseNotMade.into(),
                WhichClose::Number(number) => Message::RefusedNoSuchClose.with("number", number.to_string()),
            },
            Self::Line { at, why } => Message::RefusedLine.with("at", at.to_string()).with("why", why.as_str()),
            Self::Printer { why } => because(Message::RefusedPrinter, why),
            Self::Gateway { why } => Message::RefusedGateway.with("why", why.as_str()),
            Self::Journal { why } => because(Message::RefusedJournal, why),
        }
    }
}

fn of_till(message: Message, till: &str) -> Sentence {
    message.with("till", till)
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sentence().fmt(f)
    }
}

impl From<Denied> for Refused {
    fn from(denied: Denied) -> Self {
        Self::Denied(denied)
    }
}

impl From<OperatorRefused> for Refused {
    fn from(refused: OperatorRefused) -> Self {
        Self::Operator(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::till::OperatorRefused as O;
    use pos_core::counter::{Approved, NoApproval, Role};
    use pos_terms::transaction::{Operation, OperatorName};
    use pos_words::{Language, Words};
    use std::collections::BTreeSet;
    use std::time::Duration;

    /// Returns the position of a refusal in the enumeration. If a refusal is missing here, the test does not compile.
    fn place(refused: &Refused) -> usize {
        match refused {
            Refused::AmountDiffers { .. } => 0,
            Refused::Busy { .. } => 1,
            Refused::BusyElsewhere => 2,
            Refused::NotReady { .. } => 3,
            Refused::NothingTyped { .. } => 4,
            Refused::Denied(denied) => match denied {
                Denied::Lacks { .. } => 5,
                Denied::NotItsTill { .. } => 6,
                Denied::WhichTill { .. } => 7,
                Denied::OperatorRequired => 8,
                Denied::Role { .. } => 9,
                Denied::NoStatedOperator { .. } => 10,
                Denied::OnlyAtTheSocket => 11,
            },
            Refused::Operator(refused) => match refused {
                O::WrongPin => 12,
                O::Locked { .. } => 13,
                O::PinUnderWay => 14,
                O::SessionEnded => 15,
                O::SupervisorNeeded { .. } => 16,
                O::NotApproved { .. } => 17,
                O::NoSupervisor { .. } => 18,
                O::Unknown { .. } => 19,
                O::Exists { .. } => 20,
                O::TooMany { .. } => 21,
                O::PinLength { .. } => 22,
            },
            Refused::NoSignatureAwaited { .. } => 23,
            Refused::NoConfirmationAwaited { .. } => 24,
            Refused::NoReceiptYet { .. } => 25,
            Refused::NotPossible { .. } => 26,
            Refused::Parameter { .. } => 27,
            Refused::Amount { .. } => 28,
            Refused::Tip { .. } => 29,
            Refused::TrainingOff => 30,
            Refused::Currency { .. } => 31,
            Refused::NoneYet { .. } => 32,
            Refused::NoSuchSale { .. } => 33,
            Refused::NoSuchClose { .. } => 34,
            Refused::Line { .. } => 35,
            Refused::Printer { .. } => 36,
            Refused::Gateway { .. } => 37,
            Refused::Journal { .. } => 38,
        }
    }

    const PLACES: usize = 39;

    fn each() -> Vec<Refused> {
        let eur = Currency::from_code("EUR").unwrap();
        let (till, state) = (|| "till-1".to_owned(), || "APPROVED".to_owned());
        let (reference, name) = (Reference::parse("R1").unwrap(), OperatorName::parse("Anna").unwrap());
        let amount = Amount::parse("12.34", eur).unwrap();
        let why = || Sentence::from(Message::ReaderInUse);
        let command = Approved {
            operator: name.clone(),
            till: till(),
            reference: reference.clone(),
            transaction: Operation::Sale,
            amount,
            asks_tip: true,
            manual: true,
        };
        let caller = || Message::CallerUser.with("user", "7");
        let rights = || Message::OneRight.with("rights", "credit");
        let key = || Message::KeyOfPeer.with("key", "rights").with("user", "7");
        let mut all = vec![
            Refused::AmountDiffers { reference: reference.clone(), kind: Kind::Sale, amount },
            Refused::Busy { till: till(), reference: reference.clone() },
            Refused::BusyElsewhere,
            Refused::NotReady { why: why() },
            Refused::NothingTyped { why: why() },
            Refused::NoReceiptYet { state: state() },
            Refused::NotPossible { why: why() },
            Refused::Parameter { name: "merchantMemo".to_owned(), why: why() },
            Refused::Amount { why: why() },
            Refused::Tip { why: why() },
            Refused::TrainingOff,
            Refused::Currency { wanted: eur, terminal: "CHF".to_owned() },
            Refused::NoneYet { till: till() },
            Refused::NoSuchSale { till: till(), reference },
            Refused::Line { at: 3, why: "too long".to_owned() },
            Refused::Printer { why: why() },
            Refused::Gateway { why: "no route".to_owned() },
            Refused::Journal { why: why() },
        ];
        all.extend(
            [WhichClose::Last, WhichClose::Open, WhichClose::Number(7)].map(|which| Refused::NoSuchClose { which }),
        );
        let signatures = [None, Some(true), Some(false)];
        all.extend(signatures.map(|earlier| Refused::NoSignatureAwaited { earlier, state: state() }));
        let confirmations = [None, Some(Taken::All), Some(Taken::Part { amount }), Some(Taken::Nothing)];
        all.extend(confirmations.map(|earlier| Refused::NoConfirmationAwaited { earlier, state: state() }));
        for key in [None, Some(key())] {
            let (caller, rights, purpose) = (caller(), rights(), Message::ForThis);
            all.push(Denied::Lacks { caller: caller.clone(), rights, purpose, key: key.clone() }.into());
            all.push(Denied::NotItsTill { caller, till: till(), tills: till(), key }.into());
        }
        all.push(Denied::WhichTill { tills: till() }.into());
        all.push(Denied::OperatorRequired.into());
        let needs = &[Role::Supervisor, Role::Technician];
        all.push(Denied::Role { operator: name.clone(), role: Role::Cashier, needs }.into());
        all.extend([true, false].map(|is_peer| Denied::NoStatedOperator { is_peer, key: key() }.into()));
        all.push(Denied::OnlyAtTheSocket.into());
        let found =
            [NoApproval::Unknown, NoApproval::OtherCaller, NoApproval::OtherOperator, NoApproval::Other(&command)];
        all.extend(found.map(|found| O::not_approved(found, &command).into()));
        all.extend(
            [
                O::WrongPin,
                O::Locked { wait: Duration::from_millis(1500) },
                O::PinUnderWay,
                O::SessionEnded,
                O::SupervisorNeeded { command: Box::new(command) },
                O::NoSupervisor { name: name.clone() },
                O::Unknown { name: name.clone() },
                O::Exists { name },
                O::TooMany { most: 200 },
                O::PinLength { digits: 6 },
            ]
            .map(Refused::from),
        );
        all
    }

    /// Checks each refusal in each language. The test fails if a message lacks one of its arguments.
    #[test]
    fn each_refusal_has_a_sentence_in_each_language() {
        let all = each();
        assert_eq!(all.iter().map(place).collect::<BTreeSet<_>>(), (0..PLACES).collect());
        for language in Language::ALL {
            let words = Words::new(*language);
            for refused in &all {
                let said = words.tell(&refused.sentence());
                assert!(said.len() > 5 && !said.contains("  ") && !said.ends_with('.'), "{refused:?}: {said}");
                let is_english = *language == Language::English;
                assert_eq!(said == refused.to_string(), is_english, "{refused:?}: {said}");
            }
        }
    }
}
