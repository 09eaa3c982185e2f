//! The payment itself (interface: Basic payment parameters, Forex, Authentication parameters).

use super::{
    AMOUNT, BOOL, Binds, CURRENCY, Call, CharacterSet, Format, OPEN, Section, an, c, o, of, one_of, r, section, text,
};

const TYPE: Format = Format::Chars(CharacterSet::UpperLetters, 2, 2);

pub(super) const BASIC: Section = section(
    "payment",
    "Basic payment parameters",
    &[
        r("amount", AMOUNT, "the charged amount, including taxes and shipping"),
        c("taxAmount", AMOUNT, "the tax included in the amount"),
        o("discountAmount", AMOUNT, "discount on the whole invoice, for level 3 data"),
        r("currency", CURRENCY, "currency of the amount, ISO 4217"),
        c("paymentBrand", of(CharacterSet::Word, 32), "how the payment is made; absent if the card shows its brand"),
        r("paymentType", TYPE, "what the request does: DB a sale, RV a reversal, …"),
        o("integrity", BOOL, "asks for the hash with which a page checks the widget's script"),
        o("overridePaymentType[brand]", TYPE, "a different paymentType for one brand; only when a checkout is created")
            .of(Call::Checkout),
        o("descriptor", an(127), "text on the customer's statement"),
        c(
            "merchantTransactionId",
            text(8, 255),
            "the gateway reference, never used twice; reconciliation finds the payment by it",
        ),
        o("merchantInvoiceId", text(8, 255), "the invoice's number; not passed on"),
        o("merchantMemo", text(8, 255), "a note that only reports show"),
        o("transactionCategory", of(CharacterSet::LettersDigits, 32), "kind of transaction"),
        o("sequence", an(OPEN), "FINAL: this is the last capture, reversal or refund of the payment"),
        o("numberOfCaptures", Format::Number(1, 98), "in how many parts it may be captured"),
        o("promotionCode", of(CharacterSet::LettersDigits, 15), "discount code of the order"),
        o("locale", an(10), "language and country"),
        o("transactionPurposeCode", an(12), "what the money is for, where a country demands it"),
        o("integrationType", an(10), "how the sender is connected"),
        o("transactionBai", an(2), "business case of a direct transfer"),
        o("transactionTti", an(3), "kind of a transfer to a card"),
        o(
            "transactionProcessingCode",
            one_of(&["PURCHASE", "FUNDING", "PAYMENT"]),
            "purchase (default), funding or payout",
        ),
        o("lifecycleId", an(35), "id that links an authorisation to everything that follows it"),
        o("referenceUuid", an(32), "the earlier payment, instead of its id in the path"),
        o(
            "testMode",
            one_of(&["EXTERNAL", "INTERNAL"]),
            "where test payments go: the processor's test system or simulators (default)",
        ),
    ],
)
.binds(Binds::Always(&[Call::Payment, Call::ByRegistration, Call::Increment, Call::Checkout, Call::Schedule]));

pub(super) const FOREX: Section = section(
    "forex",
    "Forex",
    &[c("forex.amount", AMOUNT, "amount in the other currency"), c("forex.currency", CURRENCY, "the other currency")],
);

pub(super) const AUTHENTICATION: Section = section(
    "authentication",
    "Authentication parameters",
    &[
        c(
            "entityId",
            Format::Chars(CharacterSet::LowerHex, 32, 32),
            "the channel, or the merchant if channels are dispatched",
        ),
        r("Authorization", Format::Bearer, "a header: the access token").secret(),
    ],
)
.of(Call::Any)
.binds(Binds::Never);
