//! The facts of a card that may be shown, printed and kept, and how they are read from a chip's answer (EMV Book 3).

use serde::{Deserialize, Serialize};

use super::{EntryMode, MaskedPan};
use crate::emv::{TlvError, tag, tlv};

/// The method that verified the cardholder, for the receipt (EMV Book 4, A4: CVM results 9F34).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cvm {
    /// The chip checked the PIN.
    OfflinePin,
    /// The issuer checked the PIN.
    OnlinePin,
    /// The cardholder signs the merchant's copy.
    Signature,
    /// The chip checked the PIN, and the cardholder signs.
    OfflinePinAndSignature,
    /// The customer's own device verified the cardholder.
    ConsumerDevice,
    /// No method was required.
    None,
}

impl Cvm {
    /// Returns the word for tills.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OfflinePin => "offline-pin",
            Self::OnlinePin => "online-pin",
            Self::Signature => "signature",
            Self::OfflinePinAndSignature => "offline-pin-and-signature",
            Self::ConsumerDevice => "consumer-device",
            Self::None => "none",
        }
    }

    /// Corrects the method for the entry mode. A contactless card does not check a PIN. For such a card, 01 and 04 mean
    /// that the cardholder's own device (a phone) verified the cardholder (EMV Contactless Book C-2, CVM selection:
    /// 9F34 010002).
    fn as_read_by(self, entry: EntryMode) -> Self {
        match (self, entry) {
            (Self::OfflinePin, entry) if entry.is_contactless() => Self::ConsumerDevice,
            (other, _) => other,
        }
    }

    /// Reads tag 9F34. Returns `None` for "not performed" (3F), a failed method, or an unknown value.
    #[must_use]
    pub fn from_results(value: &[u8]) -> Option<Self> {
        // The third byte is the result, and 01 is "failed" (EMV Book 4, A4). The receipt must then not say "verified".
        if value.get(2) == Some(&0x01) {
            return None;
        }
        // Bits 1-6 are the method. Bit 7 only says what happens if the method fails (EMV Book 3, C3).
        match value.first()? & 0x3F {
            0x01 | 0x04 => Some(Self::OfflinePin),
            0x02 => Some(Self::OnlinePin),
            0x03 | 0x05 => Some(Self::OfflinePinAndSignature),
            0x1E => Some(Self::Signature),
            0x1F => Some(Self::None),
            _ => None,
        }
    }
}

/// The decision that a chip sends with its cryptogram (EMV Book 3, 6.5.5.4: CID bits 8-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CryptogramKind {
    /// Declined.
    Aac,
    /// Approved.
    Tc,
    /// The chip asks the issuer.
    Arqc,
}

impl CryptogramKind {
    /// Returns EMV's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Aac => "AAC",
            Self::Tc => "TC",
            Self::Arqc => "ARQC",
        }
    }
}

/// An application cryptogram (9F26) and its kind (9F27).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cryptogram {
    /// The decision.
    pub kind: CryptogramKind,
    /// The eight bytes.
    #[serde(with = "hex::serde")]
    pub value: [u8; 8],
}

/// The facts of a card that may be shown, printed and kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardFacts {
    /// The way in which the card was read.
    pub entry: EntryMode,
    /// The PAN with its first six and last four digits.
    pub pan: Option<MaskedPan>,
    /// PAN sequence number (5F34), two digits.
    pub pan_sequence_number: Option<u8>,
    /// Application identifier, upper-case hex.
    pub aid: Option<String>,
    /// The application preferred name if it is printable, or else the label.
    pub label: Option<String>,
    /// The method that verified the cardholder.
    pub cvm: Option<Cvm>,
    /// The latest application cryptogram.
    pub cryptogram: Option<Cryptogram>,
    /// Terminal verification results, upper-case hex.
    pub tvr: Option<String>,
    /// Transaction status information, upper-case hex.
    pub tsi: Option<String>,
    /// Issuer application data (9F10), upper-case hex. Some acquirers require it on the shop's copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iad: Option<String>,
}

/// The elements of a chip's answer from which the facts are made. The first occurrence of each element counts. This is
/// filled during a walk over the answer, so code that needs other elements walks it only once.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct ChipElements<'a> {
    pan_sequence_number: Option<&'a [u8]>,
    aid: Option<&'a [u8]>,
    df_name: Option<&'a [u8]>,
    preferred_name: Option<&'a [u8]>,
    code_table: Option<&'a [u8]>,
    label: Option<&'a [u8]>,
    cvm_results: Option<&'a [u8]>,
    cryptogram: Option<&'a [u8]>,
    cryptogram_information: Option<&'a [u8]>,
    tvr: Option<&'a [u8]>,
    tsi: Option<&'a [u8]>,
    iad: Option<&'a [u8]>,
}

impl<'a> ChipElements<'a> {
    /// Records one object of the answer, from any depth.
    pub fn see(&mut self, object: tlv::Tlv<'a>) {
        let place = match object.tag {
            tag::PAN_SEQUENCE_NUMBER => &mut self.pan_sequence_number,
            tag::AID_TERMINAL => &mut self.aid,
            tag::DF_NAME => &mut self.df_name,
            tag::APPLICATION_PREFERRED_NAME => &mut self.preferred_name,
            tag::ISSUER_CODE_TABLE_INDEX => &mut self.code_table,
            tag::APPLICATION_LABEL => &mut self.label,
            tag::CVM_RESULTS => &mut self.cvm_results,
            tag::APPLICATION_CRYPTOGRAM => &mut self.cryptogram,
            tag::CRYPTOGRAM_INFORMATION => &mut self.cryptogram_information,
            tag::TVR => &mut self.tvr,
            tag::TSI => &mut self.tsi,
            tag::ISSUER_APPLICATION_DATA => &mut self.iad,
            _ => return,
        };
        place.get_or_insert(object.value);
    }

    /// Returns the method that verified the cardholder, from 9F34.
    #[must_use]
    pub fn cvm(&self) -> Option<Cvm> {
        self.cvm_results.and_then(Cvm::from_results)
    }

    /// Returns whether the chip has signed, which means that 9F26 and 9F27 are present.
    #[must_use]
    pub fn has_cryptogram(&self) -> bool {
        self.cryptogram.is_some() && self.cryptogram_information.is_some()
    }

    /// Returns the kind of the cryptogram, if the answer has a well-formed one.
    #[must_use]
    pub fn cryptogram_kind(&self) -> Option<CryptogramKind> {
        cryptogram(self.cryptogram, self.cryptogram_information).map(|cryptogram| cryptogram.kind)
    }
}

impl CardFacts {
    /// Returns the facts of a chip or tap. `pan` comes from the reader's masked copy, which each protocol names
    /// differently.
    #[must_use]
    pub fn of_chip(entry: EntryMode, pan: Option<MaskedPan>, elements: &ChipElements<'_>) -> Self {
        let hex_of = |value: Option<&[u8]>| value.map(hex::encode_upper);
        Self {
            entry,
            pan,
            pan_sequence_number: elements.pan_sequence_number.and_then(|value| match value {
                [bcd] if bcd >> 4 < 10 && bcd & 0x0F < 10 => Some((bcd >> 4) * 10 + (bcd & 0x0F)),
                _ => None,
            }),
            aid: hex_of(elements.aid.or(elements.df_name)),
            label: application_name(elements.preferred_name, elements.code_table, elements.label),
            cvm: elements.cvm().map(|cvm| cvm.as_read_by(entry)),
            cryptogram: cryptogram(elements.cryptogram, elements.cryptogram_information),
            tvr: hex_of(elements.tvr),
            tsi: hex_of(elements.tsi),
            iad: hex_of(elements.iad),
        }
    }

    /// Returns the facts from a complete TLV list, like [`Self::of_chip`].
    ///
    /// # Errors
    /// Returns an error if `tlvs` is not BER-TLV.
    pub fn from_tlvs(entry: EntryMode, pan: Option<MaskedPan>, tlvs: &[u8]) -> Result<Self, TlvError> {
        let mut elements = ChipElements::default();
        tlv::visit(tlvs, &mut |object| elements.see(object))?;
        Ok(Self::of_chip(entry, pan, &elements))
    }

    /// Updates the facts from the chip's final answer (E3 or E5): cryptogram, TVR, TSI, IAD, and the verification
    /// method.
    pub fn complete(&mut self, elements: &ChipElements<'_>) {
        let last = Self::of_chip(self.entry, None, elements);
        self.cryptogram = last.cryptogram.or(self.cryptogram);
        self.tvr = last.tvr.or_else(|| self.tvr.take());
        self.tsi = last.tsi.or_else(|| self.tsi.take());
        self.iad = last.iad.or_else(|| self.iad.take());
        // The final answer counts even if it withdraws a verification.
        if elements.cvm_results.is_some() {
            self.cvm = last.cvm;
        }
    }
}

/// Returns the preferred name if it is printable ASCII or declared as ISO 8859-1 (EMV Book 4, 11.3: otherwise the label
/// is shown).
fn application_name(preferred: Option<&[u8]>, code_table: Option<&[u8]>, label: Option<&[u8]>) -> Option<String> {
    let text = |bytes: &[u8], latin: bool| -> Option<String> {
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        let printable = text.chars().all(|c| matches!(c, ' '..='~') || (latin && c >= '\u{A0}'));
        let text = text.trim();
        (printable && !text.is_empty()).then(|| text.to_owned())
    };
    preferred
        .and_then(|name| text(name, code_table == Some(&[1])))
        .or_else(|| label.and_then(|label| text(label, false)))
}

fn cryptogram(value: Option<&[u8]>, information: Option<&[u8]>) -> Option<Cryptogram> {
    let kind = match information?.first()? >> 6 {
        0 => CryptogramKind::Aac,
        1 => CryptogramKind::Tc,
        2 => CryptogramKind::Arqc,
        _ => return None,
    };
    Some(Cryptogram { kind, value: value?.try_into().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verification_that_failed_is_none() {
        for (results, cvm) in [
            ([0x41, 0x03, 0x02], Some(Cvm::OfflinePin)),
            ([0x44, 0x03, 0x02], Some(Cvm::OfflinePin)),
            ([0x43, 0x03, 0x02], Some(Cvm::OfflinePinAndSignature)),
            ([0x05, 0x03, 0x02], Some(Cvm::OfflinePinAndSignature)),
            ([0x41, 0x03, 0x01], None),
            ([0x42, 0x03, 0x00], Some(Cvm::OnlinePin)),
            ([0x1E, 0x03, 0x00], Some(Cvm::Signature)),
            ([0x1F, 0x03, 0x02], Some(Cvm::None)),
            ([0x3F, 0x00, 0x00], None),
        ] {
            assert_eq!(Cvm::from_results(&results), cvm, "{results:02X?}");
        }
    }

    /// Returns the facts of a chip with 5F34, 50, 9F12, 9F11, 9F34, 9F26, 9F27, 95, 9B and 9F10. `aid` has the TLVs of
    /// 84, 9F06 or both.
    fn of_chip(entry: EntryMode, aid: &str) -> CardFacts {
        let said = format!(
            "5F340101 {aid} 5004{} 9F1204{} 9F110101 9F3403020300 9F26081122334455667788 9F270180 95058000008000 9B02E800 \
             9F100706010A03A00000",
            hex::encode("VISA"),
            hex::encode("PLUS"),
        );
        let tlvs = hex::decode(said.replace(' ', "")).unwrap();
        CardFacts::from_tlvs(entry, MaskedPan::new("476173******0119"), &tlvs).unwrap()
    }

    #[test]
    fn a_receipt_has_each_fact_that_the_chip_has_said() {
        let expected = CardFacts {
            entry: EntryMode::Icc,
            pan: MaskedPan::new("476173******0119"),
            pan_sequence_number: Some(1),
            aid: Some("A0000000031010".to_owned()),
            label: Some("PLUS".to_owned()),
            cvm: Some(Cvm::OnlinePin),
            cryptogram: Some(Cryptogram {
                kind: CryptogramKind::Arqc,
                value: [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88],
            }),
            tvr: Some("8000008000".to_owned()),
            tsi: Some("E800".to_owned()),
            iad: Some("06010A03A00000".to_owned()),
        };
        // The terminal's name for the application (9F06) takes precedence over the card's name (84).
        for aid in ["8407A0000000031010", "9F0607A0000000031010", "8407A0000000041010 9F0607A0000000031010"] {
            assert_eq!(of_chip(EntryMode::Icc, aid), expected, "{aid}");
        }
        for (said, number) in [("5F340199", Some(99)), ("5F34010A", None), ("5F3401A0", None), ("5F34020001", None)] {
            let facts = CardFacts::from_tlvs(EntryMode::Icc, None, &hex::decode(said).unwrap()).unwrap();
            assert_eq!(facts.pan_sequence_number, number, "{said}");
        }
        for (information, kind) in [("00", Some("AAC")), ("40", Some("TC")), ("80", Some("ARQC")), ("C0", None)] {
            let said = format!("9F260811223344556677889F2701{information}");
            let facts = CardFacts::from_tlvs(EntryMode::Icc, None, &hex::decode(said).unwrap()).unwrap();
            assert_eq!(facts.cryptogram.map(|cryptogram| cryptogram.kind.as_str()), kind, "{information}");
        }
    }

    #[test]
    fn a_pin_that_a_tapped_card_has_seen_is_the_customers_own_device() {
        let device = hex::decode("9F3403010002").unwrap();
        for (entry, cvm) in [
            (EntryMode::NfcIcc, Cvm::ConsumerDevice),
            (EntryMode::NfcMagstripe, Cvm::ConsumerDevice),
            (EntryMode::Icc, Cvm::OfflinePin),
        ] {
            assert_eq!(CardFacts::from_tlvs(entry, None, &device).unwrap().cvm, Some(cvm), "{entry:?}");
        }
    }

    #[test]
    fn the_last_answer_of_a_chip_replaces_what_it_says_anew_and_nothing_else() {
        let after = |last: &str| {
            let mut facts = of_chip(EntryMode::Icc, "8407A0000000031010");
            let last = hex::decode(last.replace(' ', "")).unwrap();
            let mut elements = ChipElements::default();
            tlv::visit(&last, &mut |object| elements.see(object)).unwrap();
            assert_eq!(elements.has_cryptogram(), last.len() > 20);
            facts.complete(&elements);
            facts
        };
        let first = of_chip(EntryMode::Icc, "8407A0000000031010");
        assert_eq!(after(""), first);
        let last = after("9F26088877665544332211 9F270140 95050000000000 9B02F800 9F1003060112 9F34031F0000 5F340102");
        let value = [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11];
        let expected = CardFacts {
            cryptogram: Some(Cryptogram { kind: CryptogramKind::Tc, value }),
            tvr: Some("0000000000".to_owned()),
            tsi: Some("F800".to_owned()),
            iad: Some("060112".to_owned()),
            cvm: Some(Cvm::None),
            ..first.clone()
        };
        assert_eq!(last, expected);
        assert_eq!(after("9F3403020301"), CardFacts { cvm: None, ..first }, "the verification has failed after all");
    }

    #[test]
    fn the_preferred_name_is_used_only_when_it_can_be_printed() {
        assert_eq!(application_name(Some(b"CREDITO"), None, Some(b"VISA")).as_deref(), Some("CREDITO"));
        assert_eq!(application_name(Some(&[0xE9, 0x41]), Some(&[1]), Some(b"VISA")).as_deref(), Some("éA"));
        assert_eq!(application_name(Some(&[0xE9, 0x41]), Some(&[5]), Some(b"VISA")).as_deref(), Some("VISA"));
        assert_eq!(application_name(Some(&[0x1B, 0x40]), Some(&[1]), None), None);
    }
}
