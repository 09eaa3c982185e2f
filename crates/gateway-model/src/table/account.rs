//! The means of payment (interface: Card account, Mobile-wallet payments, Virtual account, Bank account, Token
//! account).

use super::{Binds, Call, CharacterSet, Format, MONTH, OPEN, Section, an, c, letters, o, of, one_of, r, section, text};

const DIGITS_3_4: Format = Format::Chars(CharacterSet::Digits, 3, 4);
const SOURCE: Format = one_of(&["web", "app"]);

/// The calls in which a card is given, as opposed to those that use a stored or earlier one.
const GIVEN: &[Call] = &[Call::Payment, Call::Checkout, Call::Registration, Call::Schedule];

pub(super) const CARD: Section = section(
    "card",
    "Card account",
    &[
        o("card.holder", Format::Chars(CharacterSet::NoDigits, 3, 128), "name on the card").secret(),
        r("card.number", Format::Chars(CharacterSet::Digits, 8, 32), "the card's number").secret().needed_in(GIVEN),
        r("card.expiryMonth", MONTH, "month in which the card expires").secret().needed_in(GIVEN),
        r("card.expiryYear", Format::Year, "year in which the card expires").secret().needed_in(GIVEN),
        c("card.cvv", DIGITS_3_4, "security code").secret(),
        o(
            "card.numberType",
            one_of(&["PAN", "DPAN"]),
            "whether card.number is the card's own number (PAN) or a device's (DPAN)",
        ),
    ],
);

pub(super) const WALLETS: Section = section(
    "wallet",
    "Mobile-wallet payments",
    &[
        r("<wallet_a>.paymentToken", an(OPEN), "the wallet's token, encrypted").secret(),
        o("<wallet_a>.cardNetwork", an(OPEN), "network, as the wallet names it"),
        o("<wallet_a>.cardType", an(OPEN), "kind of card, as the wallet names it"),
        r("<wallet_a>.source", SOURCE, "where the decrypted wallet data comes from"),
        r("<wallet_b>.paymentToken", an(OPEN), "the wallet's token, encrypted").secret(),
        r("<wallet_b>.source", SOURCE, "where the decrypted wallet data comes from"),
        r("<wallet_c>.paymentToken", an(OPEN), "the wallet's token, encrypted").secret(),
        r("<wallet_c>.source", SOURCE, "where the decrypted wallet data comes from"),
    ],
)
.binds(Binds::Never);

pub(super) const VIRTUAL: Section = section(
    "virtual-account",
    "Virtual account",
    &[r("virtualAccount.accountId", an(100), "id of the account at its provider")],
);

pub(super) const BANK: Section = section(
    "bank-account",
    "Bank account",
    &[
        r("bankAccount.holder", text(4, 128), "holder of the account").secret(),
        c("bankAccount.bankName", an(255), "name of the bank"),
        c("bankAccount.number", Format::Chars(CharacterSet::LettersDigits, 3, 64), "account number").secret(),
        c("bankAccount.iban", Format::Iban, "international account number").secret(),
        c("bankAccount.bankCode", of(CharacterSet::LettersDigits, 12), "the bank's number in its country"),
        c("bankAccount.bic", Format::Bic, "the bank's international code"),
        c("bankAccount.country", letters(2), "country of the account, ISO 3166-1"),
        c("bankAccount.mandate.id", of(CharacterSet::LettersHyphen, 256), "id of the direct debit's mandate"),
        c("bankAccount.mandate.dateOfSignature", Format::Date, "when the mandate was signed"),
        c("transactionDueDate", Format::Date, "when the direct debit is due"),
    ],
);

pub(super) const TOKEN: Section = section(
    "token-account",
    "Token account",
    &[
        r("tokenAccount.number", Format::Chars(CharacterSet::Digits, 12, 19), "token that replaces a card number")
            .secret(),
        r("tokenAccount.type", one_of(&["EXTERNAL", "NETWORK"]), "who issued the token"),
        o("tokenAccount.expiryMonth", MONTH, "month in which the token expires").secret(),
        o("tokenAccount.expiryYear", Format::Year, "year in which the token expires").secret(),
        c("tokenAccount.cryptogram", Format::Chars(CharacterSet::Base64, 28, 32), "cryptogram, valid for one payment")
            .secret(),
        c("tokenAccount.dtvc", DIGITS_3_4, "verification code, valid for one payment").secret(),
    ],
);
