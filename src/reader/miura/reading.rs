//! What was read becomes a [`Presented`], or is refused: clear card data, another amount, no sealed data. Pure; keeps
//! nothing.

use zeroize::Zeroizing;

use super::answer::{Entered, Sealed, last_sealed, sealed_pin};
use super::message::{CardStatus, Outcome, Template, Terms, TypedCard, each, tags};
use crate::card::{self, CardFacts, Cvm, EntryMode, FirstAnswer, MaskedPan, Presented, SealedCard, SealedPin, Wiped};
use crate::emv::{Tag, TlvError, tag};
use crate::reader::{NotEncrypting, Settings};

/// Why what was read cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// 9F02 or 5F2A is not what was asked for (design: path of a sale, 4).
    AmountDiffers,
    /// The cardholder is said to have entered a PIN for the issuer, and none came.
    PinMissing,
    /// Without sealed data.
    NotEncrypting(NotEncrypting),
    /// Malformed.
    Unreadable(&'static str),
}

impl From<TlvError> for Refusal {
    fn from(_: TlvError) -> Self {
        Self::Unreadable("its data are malformed")
    }
}

/// How a chip was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interface {
    Contact,
    Contactless,
}

/// A chip's first answer (E3, E4, E5).
pub(super) fn chip(
    outcome: &Outcome<'_>,
    interface: Interface,
    terms: &Terms,
    settings: &Settings,
) -> Result<Presented, Refusal> {
    let tlvs = outcome.tlvs();
    let first_answer = match outcome.template {
        Template::Declined => FirstAnswer::Declined,
        Template::Approved | Template::Online => FirstAnswer::GoOnline,
        Template::Decision => return Err(Refusal::Unreadable("the reader asks for a decision")),
    };
    if first_answer == FirstAnswer::GoOnline {
        // TCDOL, which says what an E3 holds, names the amount but no currency (readers: 2.5).
        check_amount(tlvs, terms, outcome.template == Template::Online)?;
    }
    let entry = match interface {
        Interface::Contact => EntryMode::Icc,
        Interface::Contactless if is_magstripe_mode(tlvs, settings)? => EntryMode::NfcMagstripe,
        Interface::Contactless => EntryMode::NfcIcc,
    };
    let pin = match sealed_pin(tlvs)? {
        Some(entered) => Some(own_pin(entered).ok_or(Refusal::Unreadable("its PIN block is malformed"))?),
        None => None,
    };
    if pin.is_none() && outcome.template == Template::Online && says_online_pin(tlvs)? {
        return Err(Refusal::PinMissing);
    }
    let mut facts = CardFacts::from_tlvs(entry, masked_pan(tlvs)?, tlvs)?;
    if pin.is_some() && facts.cvm.is_none() {
        facts.cvm = Some(Cvm::OnlinePin);
    }
    let card = match (last_sealed(tlvs)?.filter(|sealed| !sealed.data.is_empty()), first_answer) {
        (Some(sealed), _) => own_card(sealed).ok_or(Refusal::Unreadable("its sealed data are malformed"))?,
        // Nothing is sent, so nothing need be sealed.
        (None, FirstAnswer::Declined) => SealedCard { data: Wiped::default(), ksn: Wiped::default() },
        (None, FirstAnswer::GoOnline) => return Err(Refusal::NotEncrypting(NotEncrypting::Nothing)),
    };
    let icc = card::for_host(tlvs, settings.icc_masked_tags)?;
    Ok(Presented { facts, card, pin, icc, first_answer })
}

/// 9F34 names the online PIN and does not say that it failed: then a block must be there. A PIN that was passed over
/// (result 01) goes to the issuer as it is, who decides.
fn says_online_pin(tlvs: &[u8]) -> Result<bool, TlvError> {
    let results = super::message::search(tlvs, tag::CVM_RESULTS)?;
    Ok(results.and_then(Cvm::from_results) == Some(Cvm::OnlinePin))
}

fn check_amount(tlvs: &[u8], terms: &Terms, currency_needed: bool) -> Result<(), Refusal> {
    let (mut amount, mut currency, mut differs) = (false, false, false);
    each(tlvs, &mut |object| match object.tag {
        tag::AMOUNT_AUTHORISED => {
            amount = true;
            differs |= object.value != terms.amount;
        }
        tag::CURRENCY_CODE => {
            currency = true;
            differs |= object.value != terms.currency;
        }
        _ => {}
    })?;
    let missing = !amount || (currency_needed && !currency);
    if differs || missing { Err(Refusal::AmountDiffers) } else { Ok(()) }
}

/// 9F39 of a contactless magstripe (readers: 1, entry mode).
const POS_ENTRY_CONTACTLESS_MAGSTRIPE: &[u8] = &[0x91];

fn is_magstripe_mode(tlvs: &[u8], settings: &Settings) -> Result<bool, TlvError> {
    let find = |tag: Tag| super::message::search(tlvs, tag);
    let no_cryptogram = find(tag::APPLICATION_CRYPTOGRAM)?.is_none() || find(tag::CRYPTOGRAM_INFORMATION)?.is_none();
    let mode = find(tags::KERNEL_MODE)?.and_then(|value| value.get(1).copied());
    Ok(no_cryptogram
        || find(tag::POS_ENTRY_MODE)? == Some(POS_ENTRY_CONTACTLESS_MAGSTRIPE)
        || (mode.is_some() && mode == settings.magstripe_mode))
}

fn own_card(sealed: Sealed<'_>) -> Option<SealedCard> {
    if sealed.data.is_empty() || !matches!(sealed.ksn.len(), 10 | 12) {
        return None;
    }
    Some(SealedCard { data: Wiped::copy_of(sealed.data)?, ksn: Wiped::copy_of(sealed.ksn)? })
}

pub(super) fn own_pin(entered: Entered<'_>) -> Option<SealedPin> {
    if !matches!(entered.block.len(), 8 | 16) || !matches!(entered.ksn.len(), 10 | 12) {
        return None;
    }
    Some(SealedPin { block: Wiped::copy_of(entered.block)?, ksn: Wiped::copy_of(entered.ksn)? })
}

/// The PAN from the first masked copy there is: DFAE57, DFAE5A or DFAE22.
fn masked_pan(tlvs: &[u8]) -> Result<Option<MaskedPan>, TlvError> {
    let mut pan = None;
    each(tlvs, &mut |object| {
        if pan.is_none() {
            pan = pan_text(object.tag, object.value).and_then(|text| MaskedPan::new(&text));
        }
    })?;
    Ok(pan)
}

/// The PAN part of a masked element: nibbles up to D or the padding F, characters between `;` and `=`. Wiped, for a
/// reader may have masked nothing.
fn pan_text(tag: Tag, value: &[u8]) -> Option<Zeroizing<String>> {
    /// Longer than any PAN, so that the text never moves and leaves a copy behind.
    const PLACES: usize = 40;
    let mut pan = Zeroizing::new(String::with_capacity(PLACES));
    let nibbles = value.iter().flat_map(|byte| [byte >> 4, byte & 0x0F]);
    let digits = nibbles.filter_map(|nibble| char::from_digit(u32::from(nibble), 16)).map(|c| c.to_ascii_uppercase());
    match tag {
        tags::MASKED_TRACK2_ICC => pan.extend(digits.take_while(|c| *c != 'D').take(PLACES)),
        tags::MASKED_PAN => {
            pan.extend(digits.take(PLACES));
            // The last four digits are always clear, so an F at the end is padding and not a mask.
            let places = pan.trim_end_matches('F').len();
            pan.truncate(places);
        }
        tags::MASKED_TRACK2 => {
            let characters = value.iter().map(|byte| char::from(byte & 0x7F)).skip_while(|c| *c == ';');
            pan.extend(characters.take_while(|c| *c != '=').take(PLACES));
        }
        _ => return None,
    }
    Some(pan)
}

/// Whether a message holds card data that were not encrypted: the tracks, 56, 57, 5A, 9F6B, the PIN data 99, or a
/// "masked" element that masks nothing. What is not BER-TLV to its end is the rest of a damaged message: its bytes mean
/// nothing, and nothing of it is used.
pub(super) fn has_clear_card_data(body: &[u8]) -> bool {
    let mut clear = false;
    let walked = each(body, &mut |object| {
        let card_data = matches!(
            object.tag,
            tag::TRACK1_CLEAR
                | tag::TRACK2_CLEAR
                | tag::TRACK3_CLEAR
                | tag::TRACK1_EQUIVALENT
                | tag::TRACK2_EQUIVALENT
                | tag::PAN
                | tag::TRACK2_CONTACTLESS_MSD
                | tag::TRANSACTION_PIN_DATA
        );
        clear |= card_data && !object.value.is_empty();
        clear |= pan_text(object.tag, object.value).is_some_and(|pan| is_clear_pan(&pan));
        clear |= other_copy(object.tag, object.value).is_some_and(|pan| is_clear_pan(&pan));
    });
    clear && walked.is_ok()
}

/// The PAN part of a masked element that no receipt takes its PAN from: both track 1, and track 2 of a contactless
/// magstripe.
fn other_copy(tag: Tag, value: &[u8]) -> Option<Zeroizing<String>> {
    match tag {
        tags::MASKED_TRACK2_MSD => pan_text(tags::MASKED_TRACK2_ICC, value),
        tags::MASKED_TRACK1 | tags::MASKED_TRACK1_ICC => {
            let characters = value.iter().map(|byte| char::from(byte & 0x7F)).skip_while(|c| matches!(c, '%' | 'B'));
            let mut pan = Zeroizing::new(String::with_capacity(MAX_TRACK2));
            pan.extend(characters.take_while(|c| *c != '^').take(MAX_TRACK2));
            Some(pan)
        }
        _ => None,
    }
}

/// A PAN of 13 or more places is masked between the sixth and the last four.
fn is_clear_pan(pan: &str) -> bool {
    pan.len() >= 13 && pan.bytes().all(|byte| byte.is_ascii_digit())
}

/// Longest DFAE22 that is kept: track 2 has at most 40 characters (ISO/IEC 7813), its sentinels and LRC included.
const MAX_TRACK2: usize = 48;

/// A swiped card.
pub(super) struct Swipe {
    sealed: SealedCard,
    /// DFAE22 as it came: the reader wants it back for the PIN.
    pub(super) masked_track2: Wiped<MAX_TRACK2>,
    pan: Option<MaskedPan>,
    service_code: [u8; 3],
}

/// What the service code says about a PIN (ISO/IEC 7813: third digit).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PinRule {
    Required,
    /// When there is a PIN pad.
    IfPossible,
    No,
}

/// Why a swipe is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadSwipe {
    /// The stripe was not read well enough: no track, or one without a service code.
    Unreadable,
    /// A track was read, and nothing sealed came with it.
    NotSealed,
}

impl Swipe {
    /// Reads the event of a swipe.
    pub(super) fn new(status: &CardStatus<'_>) -> Result<Self, BadSwipe> {
        let track = status.masked_track2.filter(|track| !track.is_empty()).ok_or(BadSwipe::Unreadable)?;
        let sealed = status.sealed.filter(|sealed| !sealed.data.is_empty()).ok_or(BadSwipe::NotSealed)?;
        Self::of(track, sealed).ok_or(BadSwipe::Unreadable)
    }

    fn of(track: &[u8], sealed: Sealed<'_>) -> Option<Self> {
        // After the separator four digits of expiry, then the service code (readers: 2.9).
        let separator = track.iter().position(|byte| *byte == b'=')?;
        let service_code: [u8; 3] = track.get(separator + 5..separator + 8)?.try_into().ok()?;
        if !service_code.iter().all(u8::is_ascii_digit) {
            return None;
        }
        Some(Self {
            sealed: own_card(sealed)?,
            masked_track2: Wiped::copy_of(track)?,
            pan: pan_text(tags::MASKED_TRACK2, track).and_then(|pan| MaskedPan::new(&pan)),
            service_code,
        })
    }

    /// The card has a chip, which must be used.
    pub(super) fn has_chip(&self) -> bool {
        matches!(self.service_code[0], b'2' | b'6')
    }

    pub(super) fn pin_rule(&self) -> PinRule {
        match self.service_code[2] {
            b'0' | b'3' | b'5' => PinRule::Required,
            b'6' | b'7' => PinRule::IfPossible,
            _ => PinRule::No,
        }
    }

    pub(super) fn present(self, entry: EntryMode, pin: Option<SealedPin>) -> Presented {
        let cvm = if pin.is_some() { Cvm::OnlinePin } else { Cvm::Signature };
        without_chip(entry, self.pan, Some(cvm), self.sealed, pin)
    }
}

/// A typed card number; `None` when nothing sealed came with it.
pub(super) fn typed(typed: &TypedCard<'_>) -> Option<Presented> {
    let sealed = own_card(typed.sealed?)?;
    let pan = MaskedPan::new(&typed_pan(typed));
    // How the holder of a typed card is verified is the shop's affair: nothing was done here.
    Some(without_chip(EntryMode::Manual, pan, None, sealed, None))
}

/// DFA208 of a typed card, wiped, for a reader may have masked nothing.
fn typed_pan(typed: &TypedCard<'_>) -> Zeroizing<String> {
    let mut pan = Zeroizing::new(String::with_capacity(MAX_TRACK2));
    pan.extend(typed.masked_pan.iter().take(MAX_TRACK2).map(|byte| char::from(byte & 0x7F)));
    pan
}

/// Whether a typed card number came back unmasked.
pub(super) fn is_clear_typed_pan(typed: &TypedCard<'_>) -> bool {
    is_clear_pan(&typed_pan(typed))
}

fn without_chip(
    entry: EntryMode,
    pan: Option<MaskedPan>,
    cvm: Option<Cvm>,
    card: SealedCard,
    pin: Option<SealedPin>,
) -> Presented {
    let (aid, label, tvr, tsi, iad) = Default::default();
    let facts = CardFacts { entry, pan, pan_sequence_number: None, aid, label, cvm, cryptogram: None, tvr, tsi, iad };
    Presented { facts, card, pin, icc: Wiped::default(), first_answer: FirstAnswer::GoOnline }
}
