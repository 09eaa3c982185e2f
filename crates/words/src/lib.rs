//! Is: every sentence for people, in every language. The input is a [`Reason`] or a [`Sentence`] with its facts, and
//! the output is a text in one language.
//! Is not: a place for decisions. The caller chooses the text and its reader.
//! Invariant: decisions about money never depend on words.
//!
//! | for | register |
//! |---|---|
//! | the cashier | a whole sentence: what happened, and what to do |
//! | the customer, on paper and on the reader | short, in capitals as on receipts, not technical |
//! | the technician | cause and remedy, with the words from outside |
//! | cashier and technician, in refusals and in the status | what is wrong, and the remedy, in lower case without a full stop |
//!
//! A language consists of one file (`en.ftl`, `de.ftl`, …: messages of Project Fluent, text and `{ $arguments }` only)
//! and one line in `languages!`. Each file has the same messages in the same order. A test checks this, and the lengths
//! of the texts.

mod cashier;
pub mod clean;
mod close;
mod file;
#[cfg(test)]
mod fluent;
mod kind;
mod message;
mod paper;
mod piece;
mod sentence;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

pub use cashier::ReaderStep;
pub use message::Message;
pub use sentence::Sentence;

use serde::Serialize;

use file::File;
use piece::Piece;
use pos_core::transaction::{Cause, Reason};
use pos_terms::card::mask_pans;
use pos_terms::money::{Amount, Currency};

macro_rules! languages {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $file:literal;)*) => {
        /// The languages.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum Language {
            $($(#[$doc])* $name,)*
        }

        impl Language {
            /// All languages.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns all codes as a choice in a sentence.
            #[must_use]
            pub fn codes() -> String {
                let codes: Vec<_> = Self::ALL.iter().map(|language| language.code()).collect();
                let (last, others) = codes.split_last().expect("there is a language");
                format!("{} or {last}", others.join(", "))
            }

            /// Returns the two-letter language code (ISO 639-1), as in the configuration.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// Returns the message file.
            #[cfg(test)]
            fn file(self) -> &'static str {
                match self { $(Self::$name => include_str!($file),)* }
            }

            /// Returns the messages of the file without their names, compressed by the build (zlib, RFC 1950).
            fn packed(self) -> &'static [u8] {
                match self { $(Self::$name => include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".z")),)* }
            }
        }
    };
}

languages! {
    /// English.
    #[default]
    English = "en", "en.ftl";
    /// German.
    German = "de", "de.ftl";
    /// French.
    French = "fr", "fr.ftl";
    /// Italian.
    Italian = "it", "it.ftl";
    /// Spanish.
    Spanish = "es", "es.ftl";
    /// Dutch.
    Dutch = "nl", "nl.ftl";
    /// Polish.
    Polish = "pl", "pl.ftl";
}

impl Language {
    /// Returns the language with this code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|language| language.code() == code)
    }
}

/// A reason with its sentences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// The word of the reason.
    pub reason: &'static str,
    /// The text for the cashier.
    pub cashier: String,
    /// The text for the customer, on paper and at the reader.
    pub customer: String,
    /// The text for the technician.
    pub technician: String,
}

/// The maximum number of characters of an external text that are shown. A longer text does not help at a counter.
const MOST_OF_A_DETAIL: usize = 240;

/// The texts of one language, read once and shared by all users.
#[derive(Clone, Debug)]
pub struct Words(Arc<File>);

impl Default for Words {
    fn default() -> Self {
        Self::new(Language::default())
    }
}

/// The three readers of a reason. Each reason has a text for each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Cashier,
    Customer,
    Technician,
}

impl Reader {
    const ALL: [Self; 3] = [Self::Cashier, Self::Customer, Self::Technician];

    #[cfg(test)]
    fn attribute(self) -> &'static str {
        match self {
            Self::Cashier => "cashier",
            Self::Customer => "customer",
            Self::Technician => "technician",
        }
    }
}

impl Words {
    /// Returns the texts of a language.
    #[must_use]
    pub fn new(language: Language) -> Self {
        static READ: [OnceLock<Words>; Language::ALL.len()] = [const { OnceLock::new() }; Language::ALL.len()];
        READ[language as usize].get_or_init(|| Self::read(language)).clone()
    }

    fn read(language: Language) -> Self {
        let unpacked =
            miniz_oxide::inflate::decompress_to_vec_zlib(language.packed()).expect("the build has packed it");
        let messages = String::from_utf8(unpacked).expect("a message file is text");
        Self(Arc::new(File::read(&messages)))
    }

    /// Returns the letters outside ASCII in the texts. A printer must have them.
    #[must_use]
    pub fn letters(&self) -> BTreeSet<char> {
        let pieces = self.0.0.iter().flatten();
        let texts = pieces.filter_map(|piece| if let Piece::Text(text) = piece { Some(text) } else { None });
        texts.flat_map(|text| text.chars()).filter(|letter| !letter.is_ascii() && letter.is_alphabetic()).collect()
    }

    /// Returns the sentence for the cashier: what happened, and what to do.
    #[must_use]
    pub fn cashier(&self, why: &Cause) -> String {
        match (why.reason, shown(why)) {
            // The sentence of an earlier agent version.
            (Reason::Recorded, Some(sentence)) => sentence,
            (reason, detail) => self.of_reason(reason, Reader::Cashier, detail),
        }
    }

    /// Returns the text for the customer, which is short and in capitals. Of the text from outside, it shows only
    /// amounts and the bank's own words about a decline.
    #[must_use]
    pub fn customer(&self, why: &Cause) -> String {
        let detail = match why.reason {
            Reason::BankDeclined | Reason::DoNotTryAgain => shown(why),
            _ => why.detail.as_deref().and_then(|detail| self.as_amount(detail)),
        };
        self.of_reason(why.reason, Reader::Customer, detail)
    }

    /// Returns the text for the technician: cause and remedy, with the words from outside.
    #[must_use]
    pub fn technician(&self, why: &Cause) -> String {
        match (why.reason, shown(why)) {
            (Reason::Recorded, Some(sentence)) => sentence,
            (reason, detail) => self.of_reason(reason, Reader::Technician, detail),
        }
    }

    /// Returns every reason with its three sentences, without a detail.
    pub fn reasons(&self) -> impl Iterator<Item = Explained> {
        Reason::ALL.iter().map(|reason| {
            let why = Cause::from(*reason);
            Explained {
                reason: reason.as_str(),
                cashier: self.cashier(&why),
                customer: self.customer(&why),
                technician: self.technician(&why),
            }
        })
    }

    /// Converts an amount to its written form in this language: `12.34 EUR`, `12,34 EUR`.
    #[must_use]
    pub fn amount(&self, amount: Amount) -> String {
        let number = amount.decimal().replace('.', self.label(Message::DecimalSeparator));
        format!("{number} {}", amount.currency())
    }

    /// Returns a text without arguments, such as the labels of a receipt.
    #[must_use]
    pub fn label(&self, message: Message) -> &str {
        self.0.text(message.place())
    }

    /// Returns a text with its arguments.
    fn say(&self, message: Message, arguments: &[(&str, &str)]) -> String {
        debug_assert!(self.0.is_whole(message.place(), arguments), "{message:?} lacks an argument: {arguments:?}");
        self.0.say(message.place(), arguments)
    }

    fn of_reason(&self, reason: Reason, reader: Reader, detail: Option<String>) -> String {
        let detail = detail.map(|detail| format!(": {}", self.as_amount(&detail).unwrap_or(detail)));
        self.0.say(place(reason, reader), &[("detail", detail.as_deref().unwrap_or_default())])
    }

    /// Converts a detail that is only an amount to its written form in this language.
    fn as_amount(&self, detail: &str) -> Option<String> {
        let (number, code) = detail.split_once(' ')?;
        let amount = Amount::parse(number, Currency::from_code(code).ok()?).ok()?;
        Some(self.amount(amount))
    }
}

/// Returns the position of a reason's text in a message file.
fn place(reason: Reason, reader: Reader) -> usize {
    Message::COUNT + reason as usize * Reader::ALL.len() + reader as usize
}

/// Converts a text from outside into a form that may be shown. It removes control characters, masks card numbers and
/// limits the length. It cuts a final full stop, because our sentence continues after it.
fn shown(why: &Cause) -> Option<String> {
    let detail = mask_pans(&clean::line(why.detail.as_deref()?));
    let mut shown: String = detail.chars().take(MOST_OF_A_DETAIL).collect();
    if shown.len() < detail.len() {
        shown.push_str("...");
    } else if why.reason != Reason::Recorded {
        shown.truncate(shown.trim_end_matches(['.', ' ']).len());
    }
    (!shown.is_empty()).then_some(shown)
}
