//! Turns a read card into a [`Presented`], or rejects it because of a different amount, missing sealed data, or a
//! missing PIN. This module is pure and stores nothing. It judges a chip only by the elements of its answer, which one
//! walk has found.

use super::message::{
    AnswerTemplate, CardElements, CardStatus, MAX_TRACK2, SredBlock, TransactionAnswer, TransactionData,
    TypedCardAnswer, masked_pan, masked_typed_pan, tags,
};
use crate::NotEncrypting;
use pos_terms::card::{
    self, CardFacts, Cvm, EntryMode, FirstAnswer, MaskedPan, Presented, SealedCard, SealedPin, Wiped,
};
use pos_terms::emv::track2::{PinRule, ServiceCode};
use pos_terms::emv::{Tag, TlvError};

/// The reason why a read card cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UnusableCard {
    /// 9F02 or 5F2A differs from the request (design: path of a sale, 4).
    AmountDiffers,
    /// The card's data say that the cardholder entered an online PIN, but no PIN block came.
    PinMissing,
    /// The card came without sealed data.
    NotEncrypting(NotEncrypting),
    /// The answer is malformed.
    Unreadable(&'static str),
}

impl From<TlvError> for UnusableCard {
    fn from(_: TlvError) -> Self {
        Self::Unreadable("its data are malformed")
    }
}

/// The interface over which a chip was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChipInterface {
    Contact,
    Contactless,
}

/// The settings for judging a chip card.
#[derive(Clone, Copy)]
pub(super) struct ChipSettings<'a> {
    /// `true` if the reader's masked card data stays inside `pos.iccDataRequest`.
    pub(super) icc_masked_tags: bool,
    /// The vendor's own tags that go into `pos.iccDataRequest`.
    pub(super) icc_private_tags: &'a [Tag],
    /// The second byte of DF30 that means "tapped in magstripe mode", if it is known.
    pub(super) magstripe_mode: Option<u8>,
}

/// Judges a chip's first answer (E3, E4, E5).
pub(super) fn chip(
    answer: &TransactionAnswer<'_>,
    interface: ChipInterface,
    asked: &TransactionData,
    settings: ChipSettings<'_>,
) -> Result<Presented, UnusableCard> {
    let TransactionAnswer { template, elements, tlvs } = answer;
    let online = *template == AnswerTemplate::Online;
    let first_answer = match template {
        AnswerTemplate::Declined => FirstAnswer::Declined,
        AnswerTemplate::Approved | AnswerTemplate::Online => FirstAnswer::GoOnline,
        AnswerTemplate::Decision => return Err(UnusableCard::Unreadable("the reader asks for a decision")),
    };
    let found = elements.as_ref().map_err(|error| *error)?;
    // TCDOL defines the content of an E3. It includes the amount but no currency (readers: 2.5).
    if first_answer == FirstAnswer::GoOnline && !signs_what_was_asked(found, asked, online) {
        return Err(UnusableCard::AmountDiffers);
    }
    let entry = match interface {
        ChipInterface::Contact => EntryMode::Icc,
        ChipInterface::Contactless if is_magstripe_mode(found, settings.magstripe_mode) => EntryMode::NfcMagstripe,
        ChipInterface::Contactless => EntryMode::NfcIcc,
    };
    let pin = match found.pin {
        Some(pin) => Some(pin.to_pin().ok_or(UnusableCard::Unreadable("its PIN block is malformed"))?),
        None => None,
    };
    // 9F34 names the online PIN and does not say that it failed, so a PIN block must be present. A bypassed PIN (result
    // 01) goes to the issuer unchanged, and the issuer decides.
    if pin.is_none() && online && found.chip.cvm() == Some(Cvm::OnlinePin) {
        return Err(UnusableCard::PinMissing);
    }
    let mut facts = CardFacts::of_chip(entry, found.masked_pan.clone(), &found.chip);
    if pin.is_some() && facts.cvm.is_none() {
        facts.cvm = Some(Cvm::OnlinePin);
    }
    let card = match (found.sealed.filter(|sealed| !sealed.data.is_empty()), first_answer) {
        (Some(sealed), _) => sealed.to_card().ok_or(UnusableCard::Unreadable("its sealed data are malformed"))?,
        // The card has declined and the agent sends no request, so sealed data is not required.
        (None, FirstAnswer::Declined) => SealedCard { data: Wiped::default(), ksn: Wiped::default() },
        (None, FirstAnswer::GoOnline) => return Err(UnusableCard::NotEncrypting(NotEncrypting::Nothing)),
    };
    let icc = card::for_host(tlvs, settings.icc_masked_tags, settings.icc_private_tags)?;
    Ok(Presented { facts, card, pin, icc, first_answer })
}

/// Checks that amount and currency are the requested ones. The currency may be missing only if it is not required.
fn signs_what_was_asked(found: &CardElements<'_>, asked: &TransactionData, currency_needed: bool) -> bool {
    let currency = found.currency.is(&asked.currency) || (found.currency.is_missing() && !currency_needed);
    found.amount.is(&asked.amount) && currency
}

/// 9F39 of a contactless card in magstripe mode (readers: 1, entry mode).
const POS_ENTRY_CONTACTLESS_MAGSTRIPE: &[u8] = &[0x91];

fn is_magstripe_mode(found: &CardElements<'_>, magstripe_mode: Option<u8>) -> bool {
    let mode = found.kernel_mode.and_then(|value| value.get(1).copied());
    !found.chip.has_cryptogram()
        || found.pos_entry_mode == Some(POS_ENTRY_CONTACTLESS_MAGSTRIPE)
        || (mode.is_some() && mode == magstripe_mode)
}

/// A swiped card.
pub(super) struct SwipedCard {
    sealed: SealedCard,
    /// DFAE22, unchanged. The reader needs it again for the PIN.
    pub(super) masked_track2: Wiped<MAX_TRACK2>,
    pan: Option<MaskedPan>,
    service_code: ServiceCode,
}

/// The reason why a swipe cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnusableSwipe {
    /// The stripe was not read well enough: it has no track, or the track has no service code.
    Unreadable,
    /// A track was read without sealed data.
    NotSealed,
}

impl SwipedCard {
    /// Reads the event of a swipe.
    pub(super) fn new(status: &CardStatus<'_>) -> Result<Self, UnusableSwipe> {
        let track = status.masked_track2.filter(|track| !track.is_empty()).ok_or(UnusableSwipe::Unreadable)?;
        let sealed = status.sealed.filter(|sealed| !sealed.data.is_empty()).ok_or(UnusableSwipe::NotSealed)?;
        Self::of(track, sealed).ok_or(UnusableSwipe::Unreadable)
    }

    fn of(track: &[u8], sealed: SredBlock<'_>) -> Option<Self> {
        // After the separator come four digits of expiry date, then the service code (readers: 2.9).
        let separator = track.iter().position(|byte| *byte == b'=')?;
        let service_code = std::str::from_utf8(track.get(separator + 5..separator + 8)?).ok()?;
        Some(Self {
            sealed: sealed.to_card()?,
            masked_track2: Wiped::copy_of(track)?,
            pan: masked_pan(tags::MASKED_TRACK2, track),
            service_code: ServiceCode::new(service_code)?,
        })
    }

    /// Returns whether the card has a chip, which must then be used.
    pub(super) fn has_chip(&self) -> bool {
        self.service_code.has_chip()
    }

    pub(super) fn pin_rule(&self) -> PinRule {
        self.service_code.wants_pin()
    }

    pub(super) fn present(self, entry: EntryMode, pin: Option<SealedPin>) -> Presented {
        let cvm = if pin.is_some() { Cvm::OnlinePin } else { Cvm::Signature };
        without_chip(entry, self.pan, Some(cvm), self.sealed, pin)
    }
}

/// Returns a typed card, or `None` if its number came without sealed data.
pub(super) fn typed(typed: &TypedCardAnswer<'_>) -> Option<Presented> {
    let sealed = typed.sealed?.to_card()?;
    // The shop decides how to verify the holder of a typed card. The reader does no verification here.
    Some(without_chip(EntryMode::Manual, masked_typed_pan(typed.masked_pan), None, sealed, None))
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
