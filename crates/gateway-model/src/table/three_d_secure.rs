//! 3-D Secure: the requested authentication, the proof of an external one, and exemptions (interface: 3D Secure).

use super::{BOOL, Format, OPEN, Section, amount, an, c, letters, n, o, one_of, section, text};

pub(super) const AUTHENTICATION: Section = section(
    "three-d-secure",
    "3D Secure: authentication",
    &[
        o("threeDSecure.amount", amount(9), "amount to authenticate"),
        o("threeDSecure.currency", letters(3), "currency of that amount, ISO 4217"),
        c("threeDSecure.deviceInfo", an(OPEN), "the mobile SDK's data about the device; starts version 2 in an app"),
        o("threeDSecure.merchant.name", an(100), "the merchant's name at the directory server"),
        o("threeDSecure.merchant.url", an(2048), "the merchant's web site"),
        o("threeDSecure.merchant.country", letters(3), "the merchant's country"),
        o("threeDSecure.v2.<scheme>.requestorId", an(100), "requestor id at this scheme"),
        o("threeDSecure.v2.<scheme>.requestorName", an(100), "requestor name at this scheme"),
        o(
            "threeDSecure.channel",
            Format::Number(1, 99),
            "channel of a payment that the merchant starts (3RI); only for one scheme",
        ),
        o("threeDSecure.npa", BOOL, "authenticates without a payment"),
        o("threeDSecure.decoupled", BOOL, "the customer authenticates later and elsewhere"),
        o(
            "threeDSecure.threeRIInd",
            one_of(&["RECURRING", "SPLIT_SHIPMENT", "DELAYED_SHIPMENT"]),
            "why the merchant starts the authentication",
        ),
        o(
            "threeDSecure.authenticationInd",
            one_of(&[
                "PAYMENT",
                "RECURRING",
                "INSTALLMENT",
                "ADD_CARD",
                "MAINTAIN_CARD",
                "EMV_ID",
                "BILLING_AGREEMENT",
                "SPLIT_SHIPMENT",
                "_DELAYED_SHIPMENT",
                "SPLIT_PAYMENT",
            ]),
            "what the authentication is for",
        ),
        o("threeDSecure.disable", BOOL, "skips 3-D Secure; false does not switch it on"),
    ],
);

pub(super) const PAYMENT: Section = section(
    "three-d-secure",
    "3D Secure: payment",
    &[
        c("threeDSecure.eci", Format::TwoDigits(1, 8), "strength of the authentication"),
        c("threeDSecure.verificationId", text(28, 28), "proof of the authentication: CAVV or AAV").secret(),
        c("threeDSecure.authenticationStatus", one_of(&["Y", "A", "U", "N"]), "how the authentication ended"),
        o("threeDSecure.dsTransactionId", text(36, 36), "id of the authentication at the directory server"),
        o("threeDSecure.acsTransactionId", text(36, 36), "id of the authentication at the access control server"),
        o("threeDSecure.challengeMandatedIndicator", one_of(&["Y", "N"]), "whether a challenge was required"),
        o("threeDSecure.version", Format::Version, "version of the protocol"),
        o("threeDSecure.authType", Format::TwoDigits(1, 4), "kind of authentication"),
        o("threeDSecure.transactionStatusReason", n(2), "why the authentication ended in this way"),
    ],
);

pub(super) const EXEMPTION: Section = section(
    "three-d-secure",
    "3D Secure: exemption requests",
    &[
        o(
            "threeDSecure.challengeIndicator",
            Format::TwoDigits(1, 9),
            "whether a challenge is requested; sent together with exemptionFlag",
        ),
        o(
            "threeDSecure.exemptionFlag",
            Format::TwoDigits(1, 4),
            "which exemption is requested; sent together with challengeIndicator",
        ),
    ],
);
