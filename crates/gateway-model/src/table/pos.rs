//! The terminal (interface: Point of sale).

use super::{Call, CharacterSet, Format, Section, an, n, o, of, one_of, r, section};

const SEALED: Format = of(CharacterSet::LettersDigits, 2048);

const fn coordinate(whole: u8) -> Format {
    Format::Decimal { signed: true, whole, decimals: (1, 8), bare: false }
}

pub(super) const REQUEST: Section = section(
    "pos",
    "Point of sale",
    &[
        o("pos.deviceId", n(32), "serial number of the reader"),
        o("pos.deviceType", an(32), "model of the reader, as the gateway names it"),
        o("pos.encryptedPin.data", SEALED, "the PIN, sealed by the reader").secret(),
        o("pos.encryptedPin.ksn", SEALED, "which key sealed the PIN (KSN)").secret(),
        o("pos.encryptedSred.data", SEALED, "the card's data, sealed by the reader (SRED)").secret(),
        o("pos.encryptedSred.ksn", SEALED, "which key sealed the card's data (KSN)").secret(),
        r(
            "pos.entryMode",
            one_of(&["MANUAL", "MAGSTRIPE", "MAGSTRIPE_AS_FALLBACK", "ICC", "NFC_ICC", "NFC_MAGSTRIPE"]),
            "how the card was read",
        )
        .needed_in(&[Call::Payment, Call::Registration]),
        o("pos.iccDataRequest", SEALED, "the chip's data for its issuer (TLVs)").secret(),
        o("pos.location.accuracy", n(32), "accuracy of the location"),
        o("pos.location.latitude", coordinate(2), "location of the terminal: latitude, north"),
        o("pos.location.longitude", coordinate(3), "location of the terminal: longitude, east"),
        o("pos.panSequenceNumber", n(32), "number that distinguishes cards with the same PAN (5F34)"),
        o(
            "pos.pinEntryCapability",
            one_of(&["PIN_ENTRY_AVAILABLE", "PIN_ENTRY_UNAVAILABLE"]),
            "whether a PIN can be typed",
        ),
        r("pos.terminalId", n(32), "the acquirer's number of the terminal"),
        o("pos.transactionSequenceNumber", n(32), "the terminal's own count of transactions"),
        o("pos.transactionSource", one_of(&["POS"]), "always POS"),
    ],
);

pub(super) const RESPONSE: Section = section(
    "pos",
    "Point of sale: response",
    &[
        o("pos.clearing.authorizationAcquirerCode", SEALED, "the acquirer's code of the authorisation"),
        o("pos.clearing.authorizationIssuerCode", SEALED, "the issuer's code of the authorisation"),
        o("pos.clearing.identifier", SEALED, "id for clearing"),
        o("pos.merchantId", SEALED, "the acquirer's number of the merchant"),
        o("pos.iccDataResponse", SEALED, "the issuer's data for the chip").secret(),
        o("pos.statusText", SEALED, "text for the receipt"),
        o("pos.timestamp", Format::Moment, "when the payment was authorised"),
    ],
)
.response();
