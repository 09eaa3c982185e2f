//! Payment data that is stored for later (interface: Tokenization and registration parameters, Recurring migration).

use super::{BOOL, Call, Format, ID, Section, an, c, o, one_of, r, section};

pub(super) const SECTION: Section = section(
    "registration",
    "Tokenization and registration parameters",
    &[
        o("createRegistration", BOOL, "stores the payment data for later payments"),
        o("overrideHolder", BOOL, "for this payment, the holder in the request replaces the empty stored one"),
    ],
);

pub(super) const RESPONSE: Section = section(
    "registration",
    "Tokenization and registration parameters: response",
    &[c("registration.id", ID, "id of the payment data that createRegistration stored")],
)
.response();

pub(super) const MIGRATION: Section = section(
    "recurring-migration",
    "Recurring migration",
    &[
        r(
            "recurringMigration.paymentType",
            one_of(&["DB", "CD", "PA"]),
            "type of the first payment, which was made elsewhere",
        ),
        o(
            "recurringMigration.amount",
            Format::Decimal { signed: false, whole: 8, decimals: (2, 2), bare: true },
            "amount of that payment",
        ),
        c("recurringMigration.requestTimestamp", Format::Moment, "when that payment was requested"),
        c("recurringMigration.connectorTxId1", an(128), "the acquirer's first reference to that payment"),
        c("recurringMigration.connectorTxId2", an(128), "the acquirer's second reference to that payment"),
        c("recurringMigration.connectorTxId3", an(128), "the acquirer's third reference to that payment"),
    ],
)
.of(Call::Registration);
