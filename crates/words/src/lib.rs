//! Is: every sentence for people, in every language. A [`Reason`] and facts come in, text of one language goes out.
//! Is not: a place that decides. The caller chooses the text and its reader.
//! Invariant: what becomes of money never depends on words.
//!
//! | for | register |
//! |---|---|
//! | the cashier | a whole sentence: what happened, and what to do now |
//! | the customer, on paper and on the reader | short, capitals as on receipts, nothing technical |
//! | the technician | cause and remedy, with what was said from outside |
//!
//! A language is one file (`en.ftl`, `de.ftl`: messages of Project Fluent, text and `{ $arguments }` only) and one line
//! in `languages!`. Each file has the same messages; a test sees to that, and to their lengths.

mod cashier;
pub mod clean;
mod close;
mod file;
mod kind;
mod message;
mod paper;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

pub use cashier::ReaderStep;
pub use message::Message;

use serde::Serialize;

use file::File;
use pos_core::transaction::{Cause, Reason};
use pos_terms::card::mask_pans;
use pos_terms::money::{Amount, Currency};

macro_rules! languages {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $file:literal;)*) => {
        /// The languages that there are.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum Language {
            $($(#[$doc])* $name,)*
        }

        impl Language {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Two letters (ISO 639-1), as the configuration names it.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// The messages as they stand in the file, packed by the build (zlib, RFC 1950).
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
}

impl Language {
    /// The language of a code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|language| language.code() == code)
    }
}

/// A reason and its sentences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// Its word.
    pub reason: &'static str,
    /// For the cashier.
    pub cashier: String,
    /// For the customer: on paper and at the reader.
    pub customer: String,
    /// For the technician.
    pub technician: String,
}

/// Most characters that are shown of a text from outside; a longer one helps nobody at a counter.
const MOST_OF_A_DETAIL: usize = 240;

/// One language. Read once, shared by whoever speaks.
#[derive(Clone, Debug)]
pub struct Words(Arc<File>);

impl Default for Words {
    fn default() -> Self {
        Self::new(Language::default())
    }
}

/// The three readers of a reason; each has its text in every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Cashier,
    Customer,
    Technician,
}

impl Reader {
    #[cfg(test)]
    const ALL: [Self; 3] = [Self::Cashier, Self::Customer, Self::Technician];

    fn attribute(self) -> &'static str {
        match self {
            Self::Cashier => "cashier",
            Self::Customer => "customer",
            Self::Technician => "technician",
        }
    }
}

impl Words {
    /// The words of a language.
    #[must_use]
    pub fn new(language: Language) -> Self {
        static READ: [OnceLock<Words>; Language::ALL.len()] = [const { OnceLock::new() }; Language::ALL.len()];
        READ[language as usize].get_or_init(|| Self::read(language)).clone()
    }

    fn read(language: Language) -> Self {
        let unpacked =
            miniz_oxide::inflate::decompress_to_vec_zlib(language.packed()).expect("the build has packed it");
        let messages = String::from_utf8(unpacked).expect("a message file is text");
        Self(Arc::new(File::read(&messages).expect("each message file is read by the tests")))
    }

    /// For the cashier: one sentence, what happened and what to do now.
    #[must_use]
    pub fn cashier(&self, why: &Cause) -> String {
        match (why.reason, shown(why)) {
            // An earlier program's own sentence.
            (Reason::Recorded, Some(sentence)) => sentence,
            (reason, detail) => self.of_reason(reason, Reader::Cashier, detail),
        }
    }

    /// For the customer: short, in capitals. Of texts from outside only the bank's own words about a decline and
    /// amounts are shown.
    #[must_use]
    pub fn customer(&self, why: &Cause) -> String {
        let detail = match why.reason {
            Reason::BankDeclined | Reason::DoNotTryAgain => shown(why),
            _ => why.detail.as_deref().and_then(|detail| self.as_amount(detail)),
        };
        self.of_reason(why.reason, Reader::Customer, detail)
    }

    /// For the technician: cause and remedy, with what was said from outside.
    #[must_use]
    pub fn technician(&self, why: &Cause) -> String {
        match (why.reason, shown(why)) {
            (Reason::Recorded, Some(sentence)) => sentence,
            (reason, detail) => self.of_reason(reason, Reader::Technician, detail),
        }
    }

    /// Every reason with its three sentences, without a detail.
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

    /// An amount as it is written in this language: `12.34 EUR`, `12,34 EUR`.
    #[must_use]
    pub fn amount(&self, amount: Amount) -> String {
        let number = amount.decimal().replace('.', self.0.text(Message::DecimalSeparator.key()));
        format!("{number} {}", amount.currency())
    }

    /// A text without arguments: the labels of a receipt.
    #[must_use]
    pub fn label(&self, message: Message) -> &str {
        self.0.text(message.key())
    }

    /// A text with its arguments.
    fn say(&self, message: Message, arguments: &[(&str, &str)]) -> String {
        self.0.say(message.key(), arguments)
    }

    fn of_reason(&self, reason: Reason, reader: Reader, detail: Option<String>) -> String {
        let key = format!("{reason}.{}", reader.attribute());
        let detail = detail.map(|detail| format!(": {}", self.as_amount(&detail).unwrap_or(detail)));
        self.0.say(&key, &[("detail", detail.as_deref().unwrap_or_default())])
    }

    /// A detail that is an amount and nothing else, as it is written in this language.
    fn as_amount(&self, detail: &str) -> Option<String> {
        let (number, code) = detail.split_once(' ')?;
        let amount = Amount::parse(number, Currency::from_code(code).ok()?).ok()?;
        Some(self.amount(amount))
    }
}

/// What was said from outside, fit to be shown: without control characters and card numbers, of some length, and
/// without a full stop, for our sentence goes on behind it.
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
