//! Payment data that is stored for later (interface: Tokenization and registration parameters, Recurring migration).

use super::{BOOL, Call, Format, ID, Section, an, c, o, one_of, r, section};

pub(super) const SECTION: Section = section(
    "registration",
    "Tokenization and registration parameters",
    &[
        o("createRegistration", BOOL, "stores the payment data for later payments"),
        o("overrideHolder", BOOL, "the holder sent now replaces an empty one that is stored, for this payment"),
    ],
);

pub(super) const RESPONSE: Section = section(
    "registration",
    "Tokenization and registration parameters: response",
    &[c("registration.id", ID, "payment data that createRegistration stored")],
)
.response();

pub(super) const MIGRATION: Section = section(
    "recurring-migration",
    "Recurring migration",
    &[
        r("recurringMigration.paymentType", one_of(&["DB", "CD", "PA"]), "what the first payment was, elsewhere"),
        o(
            "recurringMigration.amount",
            Format::Decimal { signed: false, whole: 8, decimals: (2, 2), bare: true },
            "its amount",
        ),
        c("recurringMigration.requestTimestamp", Format::Moment, "when it was asked for"),
        c("recurringMigration.connectorTxId1", an(128), "the acquirer's first reference to it"),
        c("recurringMigration.connectorTxId2", an(128), "the acquirer's second reference to it"),
        c("recurringMigration.connectorTxId3", an(128), "the acquirer's third reference to it"),
    ],
)
.of(Call::Registration);
