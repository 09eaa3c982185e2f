//! A sentence with its facts, before it is put into a language. The code that knows the facts creates it, and the code
//! that knows the reader's language puts it into words.

use std::fmt;

use super::kind::messages;
use super::{Language, Message, Words};
use pos_core::counter::Approved;
use pos_terms::money::Amount;
use pos_terms::transaction::Kind;

/// A sentence, or a part of one. Its `Display` is the English text, for logs and developers.
///
/// A sentence is one pointer, and its functions are not compiled into its many callers, so the programs stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence(Box<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// A message with its arguments.
    Message(Message, Vec<(&'static str, Sentence)>),
    /// An amount of money.
    Amount(Amount),
    /// A text from outside or for programs, which is the same in each language.
    Text(String),
}

impl Message {
    /// Creates a sentence from the message and its first argument.
    #[must_use]
    pub fn with(self, name: &'static str, value: impl Into<Sentence>) -> Sentence {
        Sentence::from(self).and(name, value.into())
    }
}

impl Sentence {
    /// Adds an argument.
    #[must_use]
    pub fn with(self, name: &'static str, value: impl Into<Self>) -> Self {
        self.and(name, value.into())
    }

    #[inline(never)]
    fn and(mut self, name: &'static str, value: Self) -> Self {
        if let Part::Message(_, arguments) = &mut *self.0 {
            arguments.push((name, value));
        }
        self
    }
}

impl Words {
    /// Returns a sentence in this language.
    #[must_use]
    pub fn tell(&self, sentence: &Sentence) -> String {
        match &*sentence.0 {
            Part::Message(message, arguments) => {
                let told: Vec<_> = arguments.iter().map(|(name, value)| (*name, self.tell(value))).collect();
                let told: Vec<_> = told.iter().map(|(name, value)| (*name, value.as_str())).collect();
                self.say(*message, &told)
            }
            Part::Amount(amount) => self.amount(*amount),
            Part::Text(text) => text.clone(),
        }
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Words::new(Language::English).tell(self))
    }
}

impl From<Message> for Sentence {
    #[inline(never)]
    fn from(message: Message) -> Self {
        Self(Box::new(Part::Message(message, Vec::new())))
    }
}

impl From<Amount> for Sentence {
    #[inline(never)]
    fn from(amount: Amount) -> Self {
        Self(Box::new(Part::Amount(amount)))
    }
}

impl From<String> for Sentence {
    #[inline(never)]
    fn from(text: String) -> Self {
        Self(Box::new(Part::Text(text)))
    }
}

impl From<&str> for Sentence {
    #[inline(never)]
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// The title of the kind's receipt.
impl From<Kind> for Sentence {
    fn from(kind: Kind) -> Self {
        messages(kind).title.into()
    }
}

/// The command that a supervisor approves.
impl From<&Approved> for Sentence {
    fn from(command: &Approved) -> Self {
        let Approved { transaction, amount, reference, asks_tip, manual, .. } = command;
        let none = || Self::from("");
        let of = match transaction.of().map(|of| (of.number, &of.payment)) {
            Some((Some(number), _)) => Message::CommandOfTransaction.with("number", number.to_string()),
            Some((None, payment)) => Message::CommandOfPayment.with("payment", payment.to_string()),
            None => none(),
        };
        let card = transaction.registration().map(|id| Message::CommandOfCard.with("registration", id));
        let when = |is: bool, message: Message| if is { message.into() } else { none() };
        Message::Command
            .with("kind", transaction.kind())
            .with("amount", *amount)
            .with("of", of)
            .with("card", card.unwrap_or_else(none))
            .with("tip", when(*asks_tip, Message::CommandWithTip))
            .with("typed", when(*manual, Message::CommandTyped))
            .with("reference", reference.as_str())
    }
}
