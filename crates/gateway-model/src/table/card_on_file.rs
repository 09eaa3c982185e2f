//! Payments with stored cards: who starts them, and how they are linked (interface: Card on file).

use super::{Format, OPEN, Section, an, c, n, o, one_of, section};

pub(super) const SECTION: Section = section(
    "standing-instruction",
    "Card on file (standing instructions)",
    &[
        c("standingInstruction.type", one_of(&["UNSCHEDULED", "INSTALLMENT", "RECURRING"]), "kind of agreement"),
        c(
            "standingInstruction.recurringType",
            one_of(&["STANDING_ORDER", "SUBSCRIPTION"]),
            "kind of recurring agreement",
        ),
        c(
            "standingInstruction.mode",
            one_of(&["INITIAL", "REPEATED"]),
            "first payment of the agreement, or a later one",
        ),
        c("standingInstruction.source", one_of(&["CIT", "MIT"]), "started by the customer or by the merchant"),
        c("standingInstruction.initialTransactionId", an(OPEN), "the scheme's reference to the first payment"),
        c(
            "standingInstruction.industryPractice",
            one_of(&["INCREMENTAL_AUTH", "RESUBMISSION", "REAUTHORIZATION", "DELAYED_CHARGES", "NO_SHOW"]),
            "why it follows another payment",
        ),
        c("standingInstruction.expiry", Format::Day, "nothing is authorised after this day"),
        c("standingInstruction.frequency", n(4), "minimum number of days between two payments"),
        c(
            "standingInstruction.numberOfInstallments",
            n(3),
            "maximum number of payments; installments with 3-D Secure need it",
        ),
        o(
            "standingInstruction.agreementId",
            an(35),
            "id that links the payments of one agreement; only for one scheme",
        ),
    ],
);
