//! The lines of a receipt. Some tills print them unchanged. Others expect the form of Adyen's terminals and parse it:
//! each line has pairs `name=…&value=…&key=…` (as in the test data of `@adyen/api-library`).
//!
//! This module does not decide about the content of a receipt. The agent does.

use serde::{Deserialize, Serialize};

use super::additional;
use super::enums::{Alignment, CharacterStyle, DocumentQualifier};
use super::output::{OutputContent, OutputText};
use super::shared::or_default;

/// The key of an empty line.
const FILLER: &str = "filler";

/// The kind of till that gets the receipt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Tills that print each text unchanged, with a fixed number of characters per line.
    #[default]
    Plain,
    /// Tills written for Adyen's terminals, which parse each text.
    Adyen,
}

/// `PaymentReceipt`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PaymentReceipt {
    /// `DocumentQualifier`: the recipient of the copy.
    pub document_qualifier: DocumentQualifier,
    /// `RequiredSignatureFlag`: the customer must sign this copy.
    #[serde(default, deserialize_with = "or_default")]
    pub required_signature_flag: bool,
    /// `OutputContent`.
    pub output_content: OutputContent,
}

/// A line of a receipt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The meaning of the line, as one of Adyen's words ([`key`]). Without such a word, no till looks for the line.
    pub key: Option<String>,
    /// The text of the line, or the label of a pair.
    pub name: String,
    /// The value of a pair.
    pub value: Option<String>,
    /// The alignment. A line without one is left-aligned.
    pub alignment: Option<Alignment>,
    /// The style.
    pub style: Option<CharacterStyle>,
}

impl Line {
    /// Creates a line of text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self { name: text.to_owned(), ..Self::default() }
    }

    /// Creates a line with a label and its value.
    #[must_use]
    pub fn pair(name: &str, value: &str) -> Self {
        Self { name: name.to_owned(), value: Some(value.to_owned()), ..Self::default() }
    }

    /// Creates an empty line.
    #[must_use]
    pub fn gap() -> Self {
        Self::default().key(FILLER)
    }

    /// Sets the key.
    #[must_use]
    pub fn key(self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self }
    }

    /// Sets bold style.
    #[must_use]
    pub fn bold(self) -> Self {
        Self { style: Some(CharacterStyle::Bold), ..self }
    }

    /// Centres the line.
    #[must_use]
    pub fn centred(self) -> Self {
        Self { alignment: Some(Alignment::Centred), ..self }
    }

    /// Writes the line as pairs, without the empty ones.
    fn pairs(&self) -> String {
        let name = Some(self.name.as_str()).filter(|name| !name.is_empty());
        let parts = [("name", name), ("value", self.value.as_deref()), ("key", self.key.as_deref())];
        additional::write(parts.into_iter().filter_map(|(part, text)| Some((part, text?))))
    }

    /// Writes the line as a till prints it. The value is right-aligned, on a separate line if there is no room.
    fn printed(&self, width: usize) -> Vec<String> {
        let Some(value) = &self.value else { return vec![self.name.clone()] };
        let (name, value_width) = (&self.name, value.chars().count());
        match width.checked_sub(name.chars().count() + value_width).filter(|gap| *gap > 0) {
            Some(gap) => vec![format!("{name}{}{value}", " ".repeat(gap))],
            None => vec![name.clone(), format!("{}{value}", " ".repeat(width.saturating_sub(value_width)))],
        }
    }

    /// Reads a line from pairs.
    pub(super) fn from_pairs(text: &str, style: Option<CharacterStyle>, alignment: Option<Alignment>) -> Self {
        let mut line = Self { style, alignment, ..Self::default() };
        for (part, text) in additional::read(text) {
            match part.as_str() {
                "name" => line.name = text,
                "value" => line.value = Some(text),
                "key" => line.key = Some(text),
                _ => {}
            }
        }
        line
    }
}

impl PaymentReceipt {
    /// Creates a copy with these lines. `width` is the number of characters per line of the till's printer.
    #[must_use]
    pub fn new(whose: DocumentQualifier, to_sign: bool, lines: &[Line], profile: Profile, width: usize) -> Self {
        Self {
            document_qualifier: whose,
            required_signature_flag: to_sign,
            output_content: content(lines, profile, width),
        }
    }
}

/// Converts lines to a text for printing.
#[must_use]
pub fn content(lines: &[Line], profile: Profile, width: usize) -> OutputContent {
    let line = |text, of: &Line, alignment| OutputText {
        text: Some(text),
        character_style: of.style,
        alignment,
        end_of_line_flag: Some(true),
        ..OutputText::default()
    };
    let texts = lines.iter().flat_map(|of| match profile {
        Profile::Plain => of.printed(width).into_iter().map(|text| line(text, of, of.alignment)).collect(),
        // Adyen's terminals do not align lines.
        Profile::Adyen => vec![line(of.pairs(), of, None)],
    });
    OutputContent::text(texts.collect())
}

/// Reads the lines of a text for printing. A pair is recognised only if it was written as a pair.
#[must_use]
pub fn lines(content: &OutputContent, profile: Profile) -> Vec<Line> {
    let texts = content.output_text.iter();
    let read = texts.map(|text| {
        let (written, style, alignment) =
            (text.text.as_deref().unwrap_or_default(), text.character_style, text.alignment);
        match profile {
            Profile::Plain => Line { style, alignment, ..Line::text(written) },
            Profile::Adyen => Line::from_pairs(written, style, alignment),
        }
    });
    read.collect()
}

/// Adyen's words for the meaning of a line. Adyen documents more words, but these are in every receipt of its test
/// data.
pub mod key {
    /// The first line of the shop's header.
    pub const HEADER_1: &str = "header1";
    /// The second line of the shop's header.
    pub const HEADER_2: &str = "header2";
    /// The mark of the shop's copy.
    pub const MERCHANT_TITLE: &str = "merchantTitle";
    /// The mark of the customer's copy.
    pub const CARDHOLDER_HEADER: &str = "cardholderHeader";
    /// Date.
    pub const DATE: &str = "txdate";
    /// Time.
    pub const TIME: &str = "txtime";
    /// The last digits of the card.
    pub const PAN: &str = "pan";
    /// The name of the application, as the card states it.
    pub const PREFERRED_NAME: &str = "preferredName";
    /// Brand.
    pub const PAYMENT_METHOD: &str = "paymentMethod";
    /// The card's application.
    pub const AID: &str = "aid";
    /// The terminal's ID.
    pub const TERMINAL_ID: &str = "tid";
    /// The issuer's approval code.
    pub const AUTH_CODE: &str = "authCode";
    /// The terminal's reference of the transaction.
    pub const TRANSACTION_REFERENCE: &str = "txRef";
    /// The till's reference of the transaction.
    pub const MERCHANT_REFERENCE: &str = "mref";
    /// The kind of transaction.
    pub const TRANSACTION_TYPE: &str = "txtype";
    /// The sum.
    pub const TOTAL_AMOUNT: &str = "totalAmount";
    /// The text that the payment is approved.
    pub const APPROVED: &str = "approved";
    /// The text that asks the customer to keep this copy.
    pub const RETAIN: &str = "retain";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some_lines() -> Vec<Line> {
        vec![
            Line::text("MERCHANT COPY").key(key::MERCHANT_TITLE).bold().centred(),
            Line::gap(),
            Line::pair("Pref. name", "MCC 351 v1 2").key(key::PREFERRED_NAME),
            Line::pair("TOTAL", "€\u{a0}1.00").key(key::TOTAL_AMOUNT).bold(),
            Line::pair("A label that is long", "and a value"),
        ]
    }

    /// Uses the texts of `syncTerminalPaymentResponse` in the library's tests.
    #[test]
    fn tills_written_for_adyen_find_their_pairs() {
        let content = content(&some_lines(), Profile::Adyen, 24);
        assert_eq!(
            content.lines(),
            [
                "name=MERCHANT%20COPY&key=merchantTitle",
                "key=filler",
                "name=Pref.%20name&value=MCC%20351%20v1%202&key=preferredName",
                "name=TOTAL&value=%e2%82%ac%c2%a01.00&key=totalAmount",
                "name=A%20label%20that%20is%20long&value=and%20a%20value",
            ]
        );
        let again: Vec<Line> = some_lines().into_iter().map(|line| Line { alignment: None, ..line }).collect();
        assert_eq!(lines(&content, Profile::Adyen), again);
    }

    #[test]
    fn other_tills_print_the_lines_as_they_are() {
        let content = content(&some_lines(), Profile::Plain, 24);
        assert_eq!(
            content.lines(),
            [
                "MERCHANT COPY",
                "",
                "Pref. name  MCC 351 v1 2",
                "TOTAL             €\u{a0}1.00",
                "A label that is long",
                "             and a value"
            ]
        );
        let first = &content.output_text[0];
        assert_eq!((first.alignment, first.character_style), (Some(Alignment::Centred), Some(CharacterStyle::Bold)));
        assert_eq!(lines(&content, Profile::Plain)[0], Line { key: None, ..some_lines().remove(0) });
    }
}
