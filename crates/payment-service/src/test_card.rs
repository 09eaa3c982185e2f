//! The test cards: their numbers, the decisions of their issuers, and their behaviour in 3-D Secure.
//! `pos-sim gateway --help` prints the table.
//!
//! All numbers are public test numbers. They are in the simulated reader's deck, or payment services publish them for
//! tests. If a typed number is not listed, it is refused, to keep out real cards.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// A test card, as its issuer knows it.
pub(super) struct TestCard {
    pub number: &'static str,
    pub pin: &'static str,
    pub status: CardStatus,
    pub secure: Secure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CardStatus {
    Active,
    /// Valid, and its issuer has scripts for the card.
    Scripts,
    Expired,
    Lost,
}

/// The result of an authentication with 3-D Secure (version 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Secure {
    /// Not enrolled: payments with the card have no authentication.
    NotEnrolled,
    /// Authenticated (Y) without a challenge.
    Frictionless,
    /// Attempted (A), but not authenticated.
    Attempted,
    /// The issuer was not available (U); the payment continues without authentication.
    Unavailable,
    /// Rejected (N) by the issuer, without a challenge.
    Rejected,
    /// The customer must enter a one-time password.
    Challenge,
}

/// The cards.
const CARDS: &[TestCard] = &[
    deck("4761739001010119", CardStatus::Active),
    deck("4761739001010010", CardStatus::Active),
    deck("4761739001010127", CardStatus::Active),
    deck("4761739001010135", CardStatus::Active),
    deck("4761739001010143", CardStatus::Active),
    deck("4012888888881881", CardStatus::Active),
    deck("4012001037141112", CardStatus::Active),
    deck("4111111111111111", CardStatus::Active),
    deck("4012000033330026", CardStatus::Active),
    deck("4005519200000004", CardStatus::Active),
    deck("4009348888881881", CardStatus::Active),
    deck("4012000077777777", CardStatus::Active),
    deck("4217651111111119", CardStatus::Active),
    deck("4500600000000061", CardStatus::Active),
    deck("4000111111111115", CardStatus::Active),
    deck("4761739001010168", CardStatus::Scripts),
    deck("4761739001010176", CardStatus::Active),
    deck("4761739001010184", CardStatus::Expired),
    deck("4761739001010192", CardStatus::Active),
    deck("4761739001010200", CardStatus::Active),
    deck("4761739001010218", CardStatus::Active),
    deck("4761739001010226", CardStatus::Active),
    deck("6799998900000074316", CardStatus::Active),
    deck("4761739001010234", CardStatus::Active),
    deck("2223003122003222", CardStatus::Active),
    deck("5555555555554444", CardStatus::Active),
    TestCard { pin: "4315", ..deck("5413330089099023", CardStatus::Active) },
    deck("374245001751006", CardStatus::Active),
    deck("4761739001010036", CardStatus::Lost),
    // These cards are only for typing on pages.
    deck("4242424242424242", CardStatus::Active),
    deck("5105105105105100", CardStatus::Active),
    deck("378282246310005", CardStatus::Active),
    deck("6011111111111117", CardStatus::Active),
    deck("30569309025904", CardStatus::Active),
    deck("3530111333300000", CardStatus::Active),
    secure("4000000000001000", Secure::Frictionless),
    secure("5200000000001005", Secure::Frictionless),
    secure("4000000000001026", Secure::Attempted),
    secure("4000000000001034", Secure::Unavailable),
    secure("4000000000001018", Secure::Rejected),
    secure("4000000000001091", Secure::Challenge),
    secure("5200000000001096", Secure::Challenge),
];

const fn deck(number: &'static str, status: CardStatus) -> TestCard {
    TestCard { number, pin: "1234", status, secure: Secure::NotEnrolled }
}

const fn secure(number: &'static str, secure: Secure) -> TestCard {
    TestCard { number, pin: "1234", status: CardStatus::Active, secure }
}

/// Returns all cards.
pub(super) fn all() -> &'static [TestCard] {
    CARDS
}

/// Returns the card with this number.
pub(super) fn find(number: &str) -> Option<&'static TestCard> {
    CARDS.iter().find(|card| card.number == number)
}

/// Returns the card with these first six and last four digits.
pub(super) fn find_stored(bin: &str, last4: &str) -> Option<&'static TestCard> {
    CARDS.iter().find(|card| card.number.starts_with(bin) && card.number.ends_with(last4))
}

impl TestCard {
    /// Returns the issuer and kind of the card for an answer (data-model: Payment response fields).
    pub(super) fn facts(&self) -> Value {
        let debit = self.number.starts_with('6') || self.number.starts_with("4012");
        json!({
            "issuer": { "bank": "Bank of Tests", "phone": "+49 30 00000000", "website": "https://bank.test" },
            "type": if debit { "DEBIT" } else { "CREDIT" },
            "level": "CLASSIC",
            "regulatedFlag": debit.to_string(),
        })
    }
}

impl Secure {
    fn words(self) -> &'static str {
        match self {
            Self::NotEnrolled => "not enrolled",
            Self::Frictionless => "authenticated without a question (Y)",
            Self::Attempted => "authentication attempted (A)",
            Self::Unavailable => "authentication not available (U)",
            Self::Rejected => "authentication rejected (N)",
            Self::Challenge => "asks for a one-time password",
        }
    }
}

/// Returns the table as text, for `--help`.
pub(super) fn help() -> String {
    let mut text = String::from(
        "Test cards to type (card.number), with any future expiry date, and their 3-D Secure behaviour:\n",
    );
    for card in CARDS {
        let status = match card.status {
            CardStatus::Expired => ", expired",
            CardStatus::Lost => ", lost",
            CardStatus::Active | CardStatus::Scripts => "",
        };
        let _ = writeln!(text, "  {:<19}  {}{status}", card.number, card.secure.words());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_terms::emv::luhn;

    #[test]
    fn each_card_stands_once_and_can_be_told_when_it_is_stored() {
        for card in CARDS {
            assert!(luhn::is_valid(card.number), "{}", card.number);
            let (bin, last4) = (&card.number[..6], &card.number[card.number.len() - 4..]);
            assert_eq!(find_stored(bin, last4).map(|found| found.number), Some(card.number));
            assert!(help().contains(card.number));
        }
        assert!(find("4000000000000002").is_none());
    }
}
