//! A card's answer to 02-40, 03-40 and 60-10 to 60-12: the elements that the rules use, found in one walk (readers: 4.2
//! to 4.4).
//!
//! UNCERTAIN: that the answers of 60-xx have the layout of 02-40. It is one list of elements here, with or without an
//! attribution byte before it.

use super::attribution::{self, Attribution, AttributionFault, Interface};
use super::block::StripeBlock;
use super::error::Neo2MessageError;
use super::inline::{self, ElementForm, InlineElement};
use super::masked::masked_pan;
use super::sealed::{EncryptedElement, EncryptedElements, SealError, sred_block};
use super::single::SingleValue;
use super::status::ResultCode;
use super::tags;
use crate::card_answer::{PinBlock, SealedBlock, SignedElement};
use pos_terms::card::{ChipElements, EntryMode, MaskedPan};
use pos_terms::emv::{Tag, tag};

/// The elements of a card's answer. If an element occurs more than once, its first value counts, unless its type is
/// [`SingleValue`].
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Neo2CardAnswer<'a> {
    /// The card's data for the receipt and the till.
    pub chip: ChipElements<'a>,
    /// 9F02: the amount.
    pub amount: SignedElement<'a>,
    /// 5F2A: the currency.
    pub currency: SignedElement<'a>,
    /// 5F2D: the language preference.
    pub language_preference: Option<&'a [u8]>,
    /// 9F39: the POS entry mode.
    pub pos_entry_mode: Option<&'a [u8]>,
    /// DFEE25: the result.
    pub result: SingleValue<ResultCode>,
    /// FFEE1F: the reason of a failure.
    pub error: Option<ErrorData>,
    /// The first masked copy that is a PAN.
    pub masked_pan: Option<MaskedPan>,
    /// 99 with DFEE51, if both are present and not empty.
    pub pin: Option<PinBlock<'a>>,
    /// The encrypted elements, and the encrypted tracks of a swipe.
    pub encrypted: EncryptedElements<'a>,
    /// The card was swiped, and its service code says that it has a chip.
    pub swiped_card_has_chip: bool,
    /// The masked track 2 of a swipe, in ASCII.
    pub masked_track2: Option<&'a [u8]>,
    attribution: SingleValue<Attribution>,
    track_source: Option<&'a [u8]>,
    swiped: bool,
    /// DFEE12 or the KSN of a swipe's block.
    ksn: SingleValue<&'a [u8]>,
}

// This is card data, although masked or sealed, so `Debug` shows only what is there.
impl std::fmt::Debug for Neo2CardAnswer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { result, error, masked_pan, pin, encrypted, .. } = self;
        let (masked, pin, interface) = (masked_pan.is_some(), pin.is_some(), self.interface());
        let (result, encrypted) = (result.get(), encrypted.len());
        write!(
            f,
            "Neo2CardAnswer({interface:?}, {result:?}, error {error:?}, masked {masked}, pin {pin}, encrypted {encrypted})"
        )
    }
}

/// FFEE1F: the reason of a failure (readers: 4.3).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ErrorData {
    /// The error code. UNCERTAIN: its meanings are not published here.
    pub code: u8,
    /// SW1 and SW2 of the card, or 0000.
    pub card_status: u16,
    /// The state of the radio.
    pub radio: u8,
}

impl std::fmt::Debug for ErrorData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { code, card_status, radio } = self;
        write!(f, "{code:02X} {card_status:04X} {radio:02X}")
    }
}

impl<'a> Neo2CardAnswer<'a> {
    /// Reads the data of a response. [`has_clear_card_data`](super::has_clear_card_data) comes before.
    ///
    /// # Errors
    /// Fails if the data are no list of elements, or if an element is damaged. Half an answer is not trusted.
    pub fn parse(data: &'a [u8]) -> Result<Self, Neo2MessageError> {
        let (attribution, elements) = attribution::split(data);
        let mut found = Self::default();
        if let Some(attribution) = attribution {
            found.attribution.see(attribution);
        }
        let (mut pin_block, mut pin_ksn, mut fault) = (None, None, None);
        inline::each(elements, &mut |element| {
            if let Some(object) = element.plain() {
                found.chip.see(object);
            }
            match (element.tag, element.form) {
                (tag::TRANSACTION_PIN_DATA, _) => pin_block = pin_block.or(Some(element.value)),
                (tags::PIN_KSN, ElementForm::Plain) => pin_ksn = pin_ksn.or(Some(element.value)),
                _ => {
                    if let Err(error) = found.see(&element) {
                        fault.get_or_insert(error);
                    }
                }
            }
        })?;
        if let Some(fault) = fault {
            return Err(fault);
        }
        found.pin = PinBlock::of(pin_block, pin_ksn);
        Ok(found)
    }

    fn see(&mut self, element: &InlineElement<'a>) -> Result<(), Neo2MessageError> {
        let InlineElement { tag, form, value, raw: _ } = *element;
        match (form, tag) {
            (ElementForm::Encrypted, _) => self.encrypt(tag, value)?,
            (ElementForm::Masked, _) => {}
            (_, tags::STRIPE_BLOCK) => self.see_block(value)?,
            (_, tag::AMOUNT_AUTHORISED) => self.amount.see(value),
            (_, tag::CURRENCY_CODE) => self.currency.see(value),
            (_, tag::LANGUAGE_PREFERENCE) => {
                self.language_preference.get_or_insert(value);
            }
            (_, tag::POS_ENTRY_MODE) => {
                self.pos_entry_mode.get_or_insert(value);
            }
            (_, tags::TRACK_SOURCE | tags::TRACK_SOURCE_OLD) => {
                self.track_source.get_or_insert(value);
            }
            (_, tags::KSN) => self.ksn.see(value),
            (_, tags::ATTRIBUTION) => match value {
                [byte] | [byte, _] => self.attribution.see(Attribution(*byte)),
                _ => return Err(Neo2MessageError::Malformed(tag)),
            },
            (_, tags::RESULT_CODE) => {
                let code = value.try_into().map_err(|_| Neo2MessageError::Malformed(tag))?;
                self.result.see(ResultCode(u16::from_be_bytes(code)));
            }
            (_, tags::ERROR_DATA) => {
                let &[code, sw1, sw2, radio] = value else { return Err(Neo2MessageError::Malformed(tag)) };
                self.error.get_or_insert(ErrorData { code, card_status: u16::from_be_bytes([sw1, sw2]), radio });
            }
            _ => {}
        }
        if self.masked_pan.is_none() {
            self.masked_pan = masked_pan(element);
        }
        Ok(())
    }

    fn see_block(&mut self, value: &'a [u8]) -> Result<(), Neo2MessageError> {
        if value.is_empty() {
            return Ok(());
        }
        let block = StripeBlock::parse(value)?;
        self.swiped = true;
        self.swiped_card_has_chip |= block.has_chip;
        self.masked_track2 = self.masked_track2.or(Some(block.masked[1]));
        if let Some(ksn) = block.ksn {
            self.ksn.see(ksn);
        }
        self.encrypted.extend_from_slice(&encrypted_tracks(&block)).map_err(|_| Neo2MessageError::TooMany)
    }

    fn encrypt(&mut self, tag: Tag, value: &'a [u8]) -> Result<(), Neo2MessageError> {
        self.encrypted.push(EncryptedElement { tag, value }).map_err(|_| Neo2MessageError::TooMany)
    }

    /// Returns the interface that read the card, or `None` if the answer does not say it.
    ///
    /// # Errors
    /// Returns [`AttributionFault`] if attribution, 9F39, track source and block disagree, or if the attribution does
    /// not fit the KSN or the encrypted elements.
    pub fn interface(&self) -> Result<Option<Interface>, AttributionFault> {
        if self.attribution.is_contradicted() {
            return Err(AttributionFault::Two);
        }
        let attribution = self.attribution.get();
        let mut interface = SingleValue::default();
        let named = self.pos_entry_mode.and_then(Interface::of_entry_mode);
        for one in [named, self.swiped.then_some(Interface::Swipe)].into_iter().flatten() {
            interface.see(one);
        }
        match self.track_source {
            Some([0x0C]) => interface.see(Interface::Swipe),
            Some([0x01]) => interface.see(Interface::Contact),
            // 00 is a tap in either mode.
            Some([0x00]) if interface.get() != Some(Interface::ContactlessMagstripe) => {
                let is_stripe = attribution.and_then(Attribution::interface) == Some(Interface::ContactlessMagstripe);
                let tap = if is_stripe { Interface::ContactlessMagstripe } else { Interface::Contactless };
                interface.see(tap);
            }
            _ => {}
        }
        if interface.is_contradicted() {
            return Err(AttributionFault::Interface);
        }
        let Some(attribution) = attribution else { return Ok(interface.get()) };
        attribution.check(self.ksn.get(), interface.get())?;
        if attribution.is_off() && !self.encrypted.is_empty() {
            return Err(AttributionFault::Unencrypted);
        }
        Ok(attribution.interface())
    }

    /// Returns the gateway's word for the way in which the card was read (readers: 1).
    ///
    /// # Errors
    /// Fails like [`Self::interface`].
    pub fn entry(&self) -> Result<Option<EntryMode>, AttributionFault> {
        Ok(self.interface()?.map(|interface| interface.entry(self.pos_entry_mode)))
    }

    /// Makes one sealed block of the encrypted elements ([`sred_block`]).
    ///
    /// # Errors
    /// Returns [`SealError`] if nothing is encrypted, or if the answer contradicts itself.
    pub fn seal(&self) -> Result<SealedBlock<'a>, SealError> {
        self.interface()?;
        if self.encrypted.is_empty() {
            return Err(SealError::NothingEncrypted);
        }
        if self.ksn.is_contradicted() {
            return Err(SealError::TwoKsns);
        }
        sred_block(&self.encrypted, self.ksn.get().ok_or(SealError::NoKsn)?)
    }
}

/// Returns the encrypted tracks of a block, under the tags of tracks.
pub(super) fn encrypted_tracks<'a>(block: &StripeBlock<'a>) -> heapless::Vec<EncryptedElement<'a>, 3> {
    let tags = [tag::TRACK1_CLEAR, tag::TRACK2_CLEAR, tag::TRACK3_CLEAR];
    let tracks = tags.into_iter().zip(block.encrypted);
    tracks.filter(|(_, value)| !value.is_empty()).map(|(tag, value)| EncryptedElement { tag, value }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::block::tests::{block_of, fields};
    use super::*;
    use pos_terms::card::Cvm;
    use pos_terms::emv::TlvError;

    fn hex(text: &str) -> Vec<u8> {
        hex::decode(text.replace(' ', "")).unwrap()
    }

    const KSN: &str = "DFEE120A FFFF9876543210E00001";
    const SEALED: &str = "57A112 4761CCCCCCCC0119D2512CCCCCCCCCCCCCCC 57C118 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA \
                          5AA108 4761CCCCCCCC0119 5AC110 BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";

    fn swipe(is_aes: bool) -> String {
        let block = block_of(&fields(is_aes, b";4761********0119=2512***********?*"));
        format!("DFEE2382{:04X}{}", block.len(), hex::encode(block))
    }

    #[test]
    fn a_chip_is_read_in_one_walk() {
        let data = hex(&format!(
            "C0 DFEE25020004 {KSN} {SEALED} 9F02060000000001005F2A0208269F3901055F2D026465 9F34031E0300 9F2608112233445566\
             7788 9F270180 99088B68AF72199529B8 DFEE510AFFFF0102628D12000001 DFEE2601C0 9F02060000000001 00"
        ));
        let answer = Neo2CardAnswer::parse(&data).unwrap();
        assert!(answer.result.is(ResultCode::GO_ONLINE));
        assert!(answer.amount.is(&[0, 0, 0, 0, 1, 0]) && answer.currency.is(&[0x08, 0x26]));
        assert_eq!(answer.language_preference, Some(&b"de"[..]));
        assert_eq!(answer.chip.cvm(), Some(Cvm::Signature));
        assert!(answer.chip.has_cryptogram());
        assert_eq!(answer.masked_pan.as_ref().unwrap().as_str(), "4761********0119");
        assert_eq!(answer.entry(), Ok(Some(EntryMode::Icc)));
        assert!(answer.pin.unwrap().to_pin().is_some());
        let sealed = answer.seal().unwrap().to_card().unwrap();
        let expected = format!("5718{}5A10{}", "AA".repeat(24), "BB".repeat(16));
        assert_eq!(hex::encode_upper(sealed.data.expose()), expected);
        assert_eq!(hex::encode_upper(sealed.ksn.expose()), "FFFF9876543210E00001");
        let shown = "Neo2CardAnswer(Ok(Some(Contact)), Some(0004 the card asks for the issuer), error None, masked true, pin \
                     true, encrypted 2)";
        assert_eq!(format!("{answer:?}"), shown);
    }

    #[test]
    fn a_tap_has_its_elements_in_templates() {
        let data = hex(&format!("C1 {KSN} FF81050F 9F26081122334455667788 9F270180 FF81061A57C118{}", "AA".repeat(24)));
        // 57 and its marker make the second template one byte longer than its length says, so the list is damaged.
        assert!(Neo2CardAnswer::parse(&data).is_err());
        let data =
            hex(&format!("C1 {KSN} FF81050F 9F26081122334455667788 9F270180 FF81061B 57C118{}", "AA".repeat(24)));
        let answer = Neo2CardAnswer::parse(&data).unwrap();
        assert!(answer.chip.has_cryptogram());
        assert_eq!(answer.entry(), Ok(Some(EntryMode::NfcIcc)));
        assert!(answer.seal().is_ok());
        for (data, entry) in [
            ("9F390107", Some(EntryMode::NfcIcc)),
            ("9F390191", Some(EntryMode::NfcMagstripe)),
            ("9F390191DFEE300100", Some(EntryMode::NfcMagstripe)),
            ("D1DFEE300100", Some(EntryMode::NfcMagstripe)),
            ("DFEE300100", Some(EntryMode::NfcIcc)),
            ("DF300101", Some(EntryMode::Icc)),
            ("FFEE0105DFEE30010C", Some(EntryMode::Magstripe)),
            ("9F390180", Some(EntryMode::MagstripeAsFallback)),
            ("9F390101", None),
        ] {
            assert_eq!(Neo2CardAnswer::parse(&hex(data)).unwrap().entry(), Ok(entry), "{data}");
        }
    }

    #[test]
    fn a_swipe_has_its_ksn_and_its_tracks_in_the_block() {
        for (is_aes, attribution, length) in [(false, "C8", 10), (true, "CA", 12)] {
            let data = hex(&format!("{attribution}DFEE25020011{}9F390190", swipe(is_aes)));
            let answer = Neo2CardAnswer::parse(&data).unwrap();
            assert_eq!(answer.entry(), Ok(Some(EntryMode::Magstripe)));
            assert_eq!(answer.masked_pan.as_ref().unwrap().as_str(), "4761********0119");
            assert!(answer.swiped_card_has_chip);
            let tags: Vec<_> = answer.encrypted.iter().map(|element| element.tag).collect();
            assert_eq!(tags, [tag::TRACK1_CLEAR, tag::TRACK2_CLEAR]);
            assert_eq!(answer.seal().unwrap().ksn.len(), length);
        }
        let mut damaged = hex(&format!("C8{}", swipe(false)));
        damaged[60] ^= 1;
        assert!(Neo2CardAnswer::parse(&damaged).is_err(), "half an answer is not trusted");
    }

    #[test]
    fn contradictions_have_names() {
        let swipe = swipe(false);
        for (data, fault) in [
            (format!("C0{KSN}{SEALED}9F390107"), AttributionFault::Interface),
            (format!("C2{KSN}{SEALED}"), AttributionFault::KsnLength { bytes: 10 }),
            (format!("C4{KSN}{SEALED}"), AttributionFault::Reserved),
            (format!("C0{KSN}{SEALED}DFEE2601C1"), AttributionFault::Two),
            (format!("{KSN}{SEALED}DFEE2601C0DFEE2601C1"), AttributionFault::Two),
            (format!("00{KSN}{SEALED}"), AttributionFault::Unencrypted),
            (format!("C0{swipe}"), AttributionFault::Interface),
            (format!("{swipe}9F390105"), AttributionFault::Interface),
            ("9F390105DFEE30010C".to_owned(), AttributionFault::Interface),
        ] {
            let data = hex(&data);
            let answer = Neo2CardAnswer::parse(&data).unwrap();
            assert_eq!(answer.interface(), Err(fault));
            assert_eq!(answer.seal().unwrap_err(), SealError::Attribution(fault));
        }
        for (data, error) in [
            (format!("C0{KSN}"), SealError::NothingEncrypted),
            (format!("C0DFEE25020004{SEALED}"), SealError::NoKsn),
            (format!("{KSN}{SEALED}DFEE120AFFFF9876543210E00002"), SealError::TwoKsns),
            (format!("{KSN}{SEALED}56C107{}", "AA".repeat(7)), SealError::Ciphertext(tag::TRACK1_EQUIVALENT)),
            (format!("DFEE120CFFFF9876543210E0000100005AC108{}", "AA".repeat(8)), SealError::Ciphertext(tag::PAN)),
        ] {
            let data = hex(&data);
            assert_eq!(Neo2CardAnswer::parse(&data).unwrap().seal().unwrap_err(), error);
        }
    }

    #[test]
    fn damaged_elements_are_refused() {
        for (data, error) in [
            ("DFEE250104", Neo2MessageError::Malformed(tags::RESULT_CODE)),
            ("DFEE2600", Neo2MessageError::Malformed(tags::ATTRIBUTION)),
            ("FFEE1F0330FFFF", Neo2MessageError::Malformed(tags::ERROR_DATA)),
            ("9F02", Neo2MessageError::Tlv(TlvError::Truncated { at: 0 })),
        ] {
            assert_eq!(Neo2CardAnswer::parse(&hex(data)).unwrap_err(), error, "{data}");
        }
        let many = hex(&"57C108AAAAAAAAAAAAAAAA".repeat(17));
        assert_eq!(Neo2CardAnswer::parse(&many).unwrap_err(), Neo2MessageError::TooMany);
        let data = hex("C1FFEE1F04306A8210");
        let error = Neo2CardAnswer::parse(&data).unwrap().error.unwrap();
        assert_eq!(error, ErrorData { code: 0x30, card_status: 0x6A82, radio: 0x10 });
    }
}
