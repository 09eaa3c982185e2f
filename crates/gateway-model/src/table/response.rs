//! The gateway's answer to a payment (interface: Payment response fields). The identifiers are in `resource`, and the
//! redirect is in `asynchronous`.

use super::{
    AMOUNT, BOOL, Binds, Call, CharacterSet, Format, OPEN, Section, an, c, letters, n, o, of, one_of, r, section, text,
};

const CODE: Format = Format::Chars(CharacterSet::DigitsDots, 2, 11);
const LONG: Format = an(2048);
const DETAIL: Format = Format::Chars(CharacterSet::Anything, 0, 2048);

pub(super) const SECTION: Section = section(
    "response",
    "Payment response fields",
    &[
        c("paymentType", of(CharacterSet::Letters, 2), "as in the request"),
        c("paymentBrand", of(CharacterSet::Word, 32), "brand of the payment method"),
        c("amount", AMOUNT, "amount that was approved"),
        c("currency", letters(3), "currency of the approved amount"),
        c("descriptor", an(127), "text on the customer's statement"),
        r("result.code", CODE, "result of the request"),
        o("result.description", an(255), "meaning of result.code"),
        c(
            "result.avsResponse",
            one_of(&["A", "Z", "N", "U", "F"]),
            "address check: A street, Z postcode, F both, N none, U not done",
        ),
        c("result.cvvResponse", letters(1), "result of the security code check"),
        o("resultDetails", Format::Pairs, "further details from the acquirer, as pairs"),
        c("resultDetails.AcquirerResponse", DETAIL, "the acquirer's own code"),
        o("resultDetails.MerchantAdviceCode", n(2), "why it was declined and what may be done"),
        o("card.bin", Format::Chars(CharacterSet::Digits, 6, 6), "first six digits of the card number"),
        o("card.last4Digits", text(4, 4), "last four digits of the card number"),
        o("card.holder", an(OPEN), "name on the card").secret(),
        o("card.expiryMonth", Format::Chars(CharacterSet::Digits, 2, 2), "month in which the card expires").secret(),
        o("card.expiryYear", Format::Chars(CharacterSet::Digits, 4, 4), "year in which the card expires").secret(),
        o("card.issuer.bank", LONG, "bank that issued the card"),
        o("card.issuer.phone", LONG, "telephone of that bank"),
        o("card.issuer.website", LONG, "web site of that bank"),
        o("card.type", LONG, "kind of card, for example credit"),
        o("card.level", an(OPEN), "level of the card"),
        o("card.regulatedFlag", BOOL, "whether the card's fees are regulated"),
        c("risk.score", Format::Signed(5), "risk score of the payment"),
        r("buildNumber", an(255), "the gateway's version, for support"),
        r("timestamp", Format::Stamp, "time of the answer"),
        r("ndc", Format::Chars(CharacterSet::LettersDigitsHyphen, 1, 69), "the gateway's id of the request"),
        o("brandResult", of(CharacterSet::Letters, 16), "brand that was detected"),
    ],
)
.response()
.binds(Binds::Always(&[Call::Payment, Call::FollowUp, Call::ByRegistration, Call::Increment]));

pub(super) const BANK_ACCOUNT: Section = section(
    "merchant-bank-account",
    "Payment response fields: merchant bank account",
    &[
        r("merchant.bankAccount.holder", text(4, 128), "holder of the account that receives the payment"),
        c("merchant.bankAccount.number", an(64), "number of the account; the IBAN in SEPA").secret(),
        c("merchant.bankAccount.bic", Format::Bic, "BIC of the account's bank"),
        c("merchant.bankAccount.country", letters(2), "country of the account"),
    ],
)
.response();
