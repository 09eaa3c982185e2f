//! The terminal's answer. It fits in one segment, because the till reads once.
//!
//! | tag | content |
//! |---|---|
//! | `AE` | `10` done, `01` not done |
//! | `AF` | why it was not done |
//! | `CZ`, `CA`, `CB`, `CD`, `CE` | as in the request |
//! | `CC`, `CI` | application, and how the card was read |
//! | `AA`, `AC`, `AI` | masked card number, approval code, application identifier, each if it is known |

use super::failure::Failure;
use super::request::Echo;
use super::tlv::{Tag, push, scan};
use pos_till_api::Card;

/// The values of a payment that was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paid {
    /// `CC`: the application in the protocol's table.
    pub application: Option<String>,
    /// `CI`: how the card was read.
    pub entry: Option<String>,
    /// `AA`: the masked card number.
    pub card: Option<String>,
    /// `AC`: the approval code.
    pub approval: Option<String>,
    /// `AI`: the application identifier.
    pub application_id: Option<String>,
}

/// An answer of the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The values of the request.
    pub echo: Echo,
    /// The payment, or the reason why nothing is charged.
    pub result: Result<Paid, Failure>,
}

impl Answer {
    /// Writes the answer.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut message = Vec::new();
        let mut field = |tag, value: Option<&str>| push(&mut message, tag, value.unwrap_or_default());
        field(Tag::VERSION, self.echo.version.as_deref());
        match &self.result {
            Ok(_) => field(Tag::RESULT, Some("10")),
            Err(failure) => {
                field(Tag::RESULT, Some("01"));
                field(Tag::FAILURE, Some(failure.code()));
            }
        }
        for (tag, value) in self.echo.fields() {
            field(tag, value);
        }
        if let Ok(paid) = &self.result {
            field(Tag::MEANS, paid.application.as_deref());
            field(Tag::ENTRY, paid.entry.as_deref());
            field(Tag::CARD, paid.card.as_deref());
            field(Tag::APPROVAL, paid.approval.as_deref());
            field(Tag::APPLICATION_ID, paid.application_id.as_deref());
        }
        message
    }

    /// Reads an answer, as a till does. Returns `None` if it does not say what became of the payment.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let scan = scan(bytes).ok().filter(|scan| scan.rest.is_empty())?;
        let value = |tag| scan.get(tag).map(str::to_owned);
        let result = match scan.get(Tag::RESULT)? {
            "10" => Ok(Paid {
                application: value(Tag::MEANS),
                entry: value(Tag::ENTRY),
                card: value(Tag::CARD),
                approval: value(Tag::APPROVAL),
                application_id: value(Tag::APPLICATION_ID),
            }),
            "01" => Err(Failure::of_code(scan.get(Tag::FAILURE)?)?),
            _ => return None,
        };
        Some(Self { echo: Echo::of(&scan), result })
    }
}

impl Paid {
    /// Returns the values for a card.
    #[must_use]
    pub fn of(card: Option<&Card>, approval: Option<&str>) -> Self {
        let approval: Option<String> =
            approval.map(|code| code.chars().filter(char::is_ascii_alphanumeric).take(16).collect());
        let Some(card) = card else { return Self { approval, ..Self::default() } };
        let entry = Entry::of(&card.entry_mode);
        let is_last4 = |last4: &&str| last4.len() == 4 && last4.bytes().all(|byte| byte.is_ascii_digit());
        let is_aid = |aid: &&str| aid.len() <= 32 && aid.bytes().all(|byte| byte.is_ascii_hexdigit());
        Self {
            application: Some(application(card.brand.as_deref(), entry).to_owned()),
            entry: entry.map(|entry| entry.code().to_owned()),
            card: card.last4.as_deref().filter(is_last4).map(|last4| format!("************{last4}")),
            approval,
            application_id: card.aid.as_deref().filter(is_aid).map(str::to_ascii_uppercase),
        }
    }
}

/// How a card was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Contact,
    Contactless,
    Stripe,
    Keyed,
}

impl Entry {
    fn of(entry_mode: &str) -> Option<Self> {
        Some(match entry_mode {
            "ICC" => Self::Contact,
            "NFC_ICC" | "NFC_MAGSTRIPE" => Self::Contactless,
            "MAGSTRIPE" | "MAGSTRIPE_AS_FALLBACK" => Self::Stripe,
            "MANUAL" => Self::Keyed,
            _ => return None,
        })
    }

    fn code(self) -> &'static str {
        match self {
            Self::Contact => "1",
            Self::Contactless => "2",
            Self::Stripe => "3",
            Self::Keyed => "4",
        }
    }
}

/// Returns the application of a brand in the protocol's table: 001 and 00B are the cards of French banks with their
/// international brands, and 000 any other card.
fn application(brand: Option<&str>, entry: Option<Entry>) -> &'static str {
    let brand = brand.unwrap_or_default().to_ascii_uppercase();
    let is_contactless = entry == Some(Entry::Contactless);
    match brand.replace([' ', '-', '_'], "").as_str() {
        "CB" | "CARTEBANCAIRE" | "CARTESBANCAIRES" | "VISA" | "VPAY" | "ELECTRON" | "VISAELECTRON" | "MASTER"
        | "MASTERCARD" | "MAESTRO" => match is_contactless {
            true => "00B",
            false => "001",
        },
        "AMEX" | "AMERICANEXPRESS" if is_contactless => "00D",
        "AMEX" | "AMERICANEXPRESS" => "002",
        "COFINOGA" => "005",
        "DINERS" | "DINERSCLUB" => "006",
        "JCB" => "009",
        "CUP" | "UNIONPAY" | "CHINAUNIONPAY" => "00U",
        _ => "000",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::caisse_ap::tlv::MOST_BYTES;

    fn echo() -> Echo {
        let value = |text: &str| Some(text.to_owned());
        Echo {
            version: value("0300"),
            counter: value("01"),
            amount: value("1250"),
            action: value("0"),
            currency: value("978"),
        }
    }

    fn card(entry_mode: &str, brand: &str) -> Card {
        Card {
            entry_mode: entry_mode.to_owned(),
            brand: Some(brand.to_owned()),
            last4: Some("1111".to_owned()),
            aid: Some("a0000000031010".to_owned()),
            verification: None,
        }
    }

    #[test]
    fn the_bytes_are_the_ones_that_the_module_reads() {
        let paid = Answer { echo: echo(), result: Ok(Paid::of(Some(&card("NFC_ICC", "Visa")), Some("A-12345"))) };
        let text = String::from_utf8(paid.encode()).unwrap();
        assert_eq!(
            text,
            "CZ0040300AE00210CA00201CB0041250CD0010CE003978CC00300BCI0012AA016************1111AC006A12345\
             AI014A0000000031010"
        );
        assert_eq!(Answer::read(text.as_bytes()), Some(paid));
        let refused = Answer { echo: echo(), result: Err(Failure::Declined) };
        assert_eq!(refused.encode(), b"CZ0040300AE00201AF00204CA00201CB0041250CD0010CE003978");
        let unreadable = Answer { echo: Echo::default(), result: Err(Failure::Format) };
        assert_eq!(unreadable.encode(), b"AE00201AF00209");
    }

    #[test]
    fn each_card_has_the_application_of_the_table() {
        for (entry_mode, brand, application, entry) in [
            ("ICC", "VISA", "001", "1"),
            ("NFC_ICC", "Mastercard", "00B", "2"),
            ("MAGSTRIPE", "CB", "001", "3"),
            ("ICC", "American Express", "002", "1"),
            ("NFC_MAGSTRIPE", "AMEX", "00D", "2"),
            ("NFC_ICC", "DINERS", "006", "2"),
            ("ICC", "JCB", "009", "1"),
            ("ICC", "UnionPay", "00U", "1"),
            ("MANUAL", "girocard", "000", "4"),
        ] {
            let paid = Paid::of(Some(&card(entry_mode, brand)), None);
            assert_eq!(
                (paid.application.as_deref(), paid.entry.as_deref()),
                (Some(application), Some(entry)),
                "{brand}"
            );
        }
        assert_eq!(Paid::of(None, None), Paid::default());
    }

    #[test]
    fn a_card_number_never_becomes_a_part_of_the_answer() {
        let leaks = Card {
            entry_mode: "ICC".to_owned(),
            last4: Some("4111111111111111".to_owned()),
            aid: Some("4111111111111111=2512".to_owned()),
            ..Card::default()
        };
        let paid = Paid::of(Some(&leaks), None);
        assert_eq!((paid.card, paid.application_id), (None, None));
    }

    proptest! {
        #[test]
        fn an_answer_is_short_ascii_and_reads_as_it_was_written(
            texts in proptest::collection::vec("[ -~]{1,12}", 5), code in ".{0,200}", last4 in "[0-9]{4}", done: bool,
        ) {
            let value = |at: usize| Some(texts[at].clone());
            let echo = Echo {
                version: value(0), counter: value(1), amount: value(2), action: value(3), currency: value(4),
            };
            let card = Card { last4: Some(last4), entry_mode: code.clone(), brand: Some(code.clone()), ..Card::default() };
            let paid = Paid::of(Some(&card), Some(&code));
            let paid = Paid { approval: paid.approval.filter(|code| !code.is_empty()), ..paid };
            let answer = Answer { echo, result: if done { Ok(paid) } else { Err(Failure::TimeOut) } };
            let bytes = answer.encode();
            prop_assert!(bytes.len() < MOST_BYTES && bytes.is_ascii());
            prop_assert_eq!(Answer::read(&bytes), Some(answer));
        }
    }
}
