//! The tag dictionary: the EMV, contactless and reader tags of this project, by their standard names.
//!
//! It does not list all existing tags. [`super::tlv`] passes on an unknown tag unchanged.

use std::fmt;

/// A BER-TLV tag of one to four bytes, stored as the number that its bytes form (`0x9F02`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub u32);

impl Tag {
    /// Returns whether the tag's value is itself a list of objects (EMV Book 3, B1: bit 6 of the first byte).
    #[must_use]
    pub fn is_constructed(self) -> bool {
        self.bytes()[4 - self.size()] & 0x20 != 0
    }

    /// Returns the number of bytes of the tag, 1 to 4.
    #[must_use]
    pub fn size(self) -> usize {
        match self.0 {
            0..=0xFF => 1,
            0x100..=0xFFFF => 2,
            0x1_0000..=0xFF_FFFF => 3,
            _ => 4,
        }
    }

    /// Returns whether the tag is of the private class, so that the reader's manufacturer defines its meaning (EMV Book
    /// 3, B1: bits 8 and 7 of the first byte).
    #[must_use]
    pub fn is_private(self) -> bool {
        self.bytes()[4 - self.size()] & 0xC0 == 0xC0
    }

    /// Returns the tag, right-aligned in four bytes. Its last [`Self::size`] bytes are the tag.
    pub(crate) fn bytes(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }

    /// Returns whether the value is card data that must never be stored, logged or sent in clear text (design:
    /// invariant 7; security: 3.1).
    #[must_use]
    pub fn is_sensitive(self) -> bool {
        matches!(
            self,
            TRACK1_EQUIVALENT
                | TRACK2_EQUIVALENT
                | PAN
                | CARDHOLDER_NAME
                | EXPIRY_DATE
                | TRANSACTION_PIN_DATA
                | TRACK1_DISCRETIONARY
                | TRACK2_DISCRETIONARY
                | TRACK2_CONTACTLESS_MSD
                | TRACK1_CLEAR
                | TRACK2_CLEAR
                | TRACK3_CLEAR
        )
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:X}", self.0)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:X}", self.0)
    }
}

macro_rules! tags {
    ($($(#[$doc:meta])* $name:ident = $value:literal;)*) => { $($(#[$doc])* pub const $name: Tag = Tag($value);)* };
}

tags! {
    /// Application identifier (AID) as on the card.
    AID_CARD = 0x4F;
    /// Application label.
    APPLICATION_LABEL = 0x50;
    /// Track 1 equivalent data (contactless magstripe mode).
    TRACK1_EQUIVALENT = 0x56;
    /// Track 2 equivalent data.
    TRACK2_EQUIVALENT = 0x57;
    /// Application primary account number (PAN).
    PAN = 0x5A;
    /// Cardholder name.
    CARDHOLDER_NAME = 0x5F20;
    /// Application expiration date, YYMMDD.
    EXPIRY_DATE = 0x5F24;
    /// Transaction currency code, ISO 4217 numeric, BCD.
    CURRENCY_CODE = 0x5F2A;
    /// Language preference of the cardholder.
    LANGUAGE_PREFERENCE = 0x5F2D;
    /// PAN sequence number, BCD.
    PAN_SEQUENCE_NUMBER = 0x5F34;
    /// Transaction currency exponent.
    CURRENCY_EXPONENT = 0x5F36;
    /// Issuer script template 1.
    ISSUER_SCRIPT_1 = 0x71;
    /// Issuer script template 2.
    ISSUER_SCRIPT_2 = 0x72;
    /// Response message template format 2.
    RESPONSE_TEMPLATE_2 = 0x77;
    /// Application interchange profile (AIP).
    AIP = 0x82;
    /// Dedicated file name.
    DF_NAME = 0x84;
    /// Authorisation response code (ARC), two ASCII characters.
    AUTHORISATION_RESPONSE_CODE = 0x8A;
    /// Issuer authentication data.
    ISSUER_AUTHENTICATION_DATA = 0x91;
    /// Terminal verification results (TVR).
    TVR = 0x95;
    /// Transaction PIN data.
    TRANSACTION_PIN_DATA = 0x99;
    /// Transaction date, YYMMDD.
    TRANSACTION_DATE = 0x9A;
    /// Transaction status information (TSI).
    TSI = 0x9B;
    /// Transaction type.
    TRANSACTION_TYPE = 0x9C;
    /// Amount, authorised, n12 in minor units.
    AMOUNT_AUTHORISED = 0x9F02;
    /// Amount, other (cashback).
    AMOUNT_OTHER = 0x9F03;
    /// Application identifier (AID) as the terminal selected it.
    AID_TERMINAL = 0x9F06;
    /// Application version number.
    APPLICATION_VERSION = 0x9F09;
    /// Issuer application data (IAD).
    ISSUER_APPLICATION_DATA = 0x9F10;
    /// Issuer code table index: the ISO 8859 part of the preferred name.
    ISSUER_CODE_TABLE_INDEX = 0x9F11;
    /// Application preferred name.
    APPLICATION_PREFERRED_NAME = 0x9F12;
    /// Terminal country code.
    TERMINAL_COUNTRY_CODE = 0x9F1A;
    /// Interface device serial number, 8 ASCII characters.
    IFD_SERIAL_NUMBER = 0x9F1E;
    /// Track 1 discretionary data.
    TRACK1_DISCRETIONARY = 0x9F1F;
    /// Track 2 discretionary data.
    TRACK2_DISCRETIONARY = 0x9F20;
    /// Transaction time, HHMMSS.
    TRANSACTION_TIME = 0x9F21;
    /// Application cryptogram (ARQC, TC or AAC).
    APPLICATION_CRYPTOGRAM = 0x9F26;
    /// Cryptogram information data (CID).
    CRYPTOGRAM_INFORMATION = 0x9F27;
    /// Terminal capabilities.
    TERMINAL_CAPABILITIES = 0x9F33;
    /// Cardholder verification method (CVM) results.
    CVM_RESULTS = 0x9F34;
    /// Terminal type.
    TERMINAL_TYPE = 0x9F35;
    /// Application transaction counter (ATC).
    ATC = 0x9F36;
    /// Unpredictable number.
    UNPREDICTABLE_NUMBER = 0x9F37;
    /// POS entry mode.
    POS_ENTRY_MODE = 0x9F39;
    /// Transaction sequence counter.
    TRANSACTION_SEQUENCE_COUNTER = 0x9F41;
    /// Track 2 data of contactless magstripe mode.
    TRACK2_CONTACTLESS_MSD = 0x9F6B;
    /// Track 1 in clear text, which only an unsecured reader sends.
    TRACK1_CLEAR = 0x5F21;
    /// Track 2 in clear text, which only an unsecured reader sends.
    TRACK2_CLEAR = 0x5F22;
    /// Track 3 in clear text, which only an unsecured reader sends.
    TRACK3_CLEAR = 0x5F23;
}
