//! Turns a read card into a [`Presented`], or rejects it because of a different amount, missing sealed data, or a
//! missing PIN. This module is pure and stores nothing. It judges a chip only by the elements of its answer, which one
//! walk has found.

use crate::NotEncrypting;
use crate::card_answer::{AnswerTemplate, CardElements, SealedBlock, TransactionAnswer};
use crate::family::{OwnTag, Speaker, TransactionData, TypedCard};
use crate::masked_pan::MAX_TRACK2;
use pos_terms::card::{
    self, CardFacts, Cvm, EntryMode, FirstAnswer, LeftOut, MAX_SEALED, MaskedPan, Presented, SealedCard, SealedPin,
    Wiped,
};
use pos_terms::emv::track2::{PinRule, ServiceCode};
use pos_terms::emv::{Tag, TlvError};

/// The reason why a read card cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UnusableCard {
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
pub(crate) enum ChipInterface {
    Contact,
    Contactless,
}

/// The settings for judging a chip card.
#[derive(Clone, Copy)]
pub(crate) struct ChipSettings<'a> {
    /// `true` if the reader's masked card data stays inside `pos.iccDataRequest`.
    pub(crate) icc_masked_tags: bool,
    /// The vendor's own tags that go into `pos.iccDataRequest`.
    pub(crate) icc_private_tags: &'a [Tag],
    /// The family, which selects the elements for the gateway.
    pub(crate) speaker: &'a dyn Speaker,
    /// `true` if the reader asks for an online PIN only after it has reported the card.
    pub(crate) asks_pin_later: bool,
}

/// The state of the online PIN after the card was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PinIs {
    /// The PIN is there, or the card needs none.
    Settled,
    /// The reader must ask for it now.
    AskedNow,
}

/// Judges a chip's first answer: approved, go online, or declined.
pub(crate) fn chip(
    answer: &TransactionAnswer<'_>,
    interface: ChipInterface,
    asked: &TransactionData,
    settings: ChipSettings<'_>,
) -> Result<(Presented, PinIs), UnusableCard> {
    let TransactionAnswer { template, elements, tlvs } = answer;
    let online = *template == AnswerTemplate::Online;
    let first_answer = match template {
        AnswerTemplate::Declined => FirstAnswer::Declined,
        AnswerTemplate::Approved | AnswerTemplate::Online => FirstAnswer::GoOnline,
        AnswerTemplate::Decision => return Err(UnusableCard::Unreadable("the reader asks for a decision")),
    };
    let found = elements.as_ref().map_err(|error| *error)?;
    // TCDOL defines the content of an offline approval. It includes the amount but no currency (readers: 2.5).
    if first_answer == FirstAnswer::GoOnline && !signs_what_was_asked(found, asked, online) {
        return Err(UnusableCard::AmountDiffers);
    }
    let entry = match interface {
        ChipInterface::Contact => EntryMode::Icc,
        ChipInterface::Contactless if is_magstripe_mode(found) => EntryMode::NfcMagstripe,
        ChipInterface::Contactless => EntryMode::NfcIcc,
    };
    let pin = match found.pin {
        Some(pin) => Some(pin.to_pin().ok_or(UnusableCard::Unreadable("its PIN block is malformed"))?),
        None => None,
    };
    // 9F34 names the online PIN and does not say that it failed, so a PIN block must be present. A bypassed PIN (result
    // 01) goes to the issuer unchanged, and the issuer decides.
    let pin_is = match pin.is_none() && online && found.chip.cvm() == Some(Cvm::OnlinePin) {
        true if settings.asks_pin_later => PinIs::AskedNow,
        true => return Err(UnusableCard::PinMissing),
        false => PinIs::Settled,
    };
    let mut facts = CardFacts::of_chip(entry, found.masked_pan.clone(), &found.chip);
    if pin.is_some() && facts.cvm.is_none() {
        facts.cvm = Some(Cvm::OnlinePin);
    }
    let card = match (found.sealed.as_ref().filter(|sealed| !sealed.is_empty()), first_answer) {
        (Some(sealed), _) => sealed.to_card().ok_or(UnusableCard::Unreadable("its sealed data are malformed"))?,
        // The card has declined and the agent sends no request, so sealed data is not required.
        (None, FirstAnswer::Declined) => SealedCard { data: Wiped::default(), ksn: Wiped::default() },
        (None, FirstAnswer::GoOnline) => return Err(UnusableCard::NotEncrypting(NotEncrypting::Nothing)),
    };
    let icc = settings.speaker.for_host(tlvs, settings.icc_masked_tags, settings.icc_private_tags)?;
    Ok((Presented { facts, card, pin, icc, first_answer }, pin_is))
}

/// Selects the elements of a card's answer for `pos.iccDataRequest`. The reader's masked copies are sent only with
/// `masked_too`, and its other own tags only if `private` lists them. `kind_of` is the family's [`Speaker::kind_of`].
///
/// # Errors
/// Fails if `tlvs` is not BER-TLV, or if the selected elements are longer than the gateway accepts.
///
/// [`Speaker::kind_of`]: crate::family::Speaker::kind_of
pub fn for_host(
    tlvs: &[u8],
    masked_too: bool,
    private: &[Tag],
    kind_of: &dyn Fn(Tag) -> OwnTag,
) -> Result<Wiped<MAX_SEALED>, TlvError> {
    card::for_host(tlvs, &|tag: Tag| match kind_of(tag) {
        OwnTag::Sealed => LeftOut::Always,
        OwnTag::Masked if masked_too => LeftOut::No,
        OwnTag::Masked => LeftOut::Here,
        OwnTag::Other if tag.is_private() && !private.contains(&tag) => LeftOut::Here,
        OwnTag::Other => LeftOut::No,
    })
}

/// Checks that amount and currency are the requested ones. The currency may be missing only if it is not required.
fn signs_what_was_asked(found: &CardElements<'_>, asked: &TransactionData, currency_needed: bool) -> bool {
    let currency = found.currency.is(&asked.currency) || (found.currency.is_missing() && !currency_needed);
    found.amount.is(&asked.amount) && currency
}

/// 9F39 of a contactless card in magstripe mode (readers: 1, entry mode).
const POS_ENTRY_CONTACTLESS_MAGSTRIPE: &[u8] = &[0x91];

fn is_magstripe_mode(found: &CardElements<'_>) -> bool {
    !found.chip.has_cryptogram()
        || found.pos_entry_mode == Some(POS_ENTRY_CONTACTLESS_MAGSTRIPE)
        || found.magstripe_mode
}

/// A swiped card.
pub struct SwipedCard {
    sealed: SealedCard,
    /// The masked track 2, unchanged. A reader may need it again for the PIN.
    masked_track2: Wiped<MAX_TRACK2>,
    pan: Option<MaskedPan>,
    /// `true` if the card has a chip.
    has_chip: bool,
    /// `None` if the reader masks the service code.
    service_code: Option<ServiceCode>,
    /// `true` if the reader itself has asked for the swipe, because the chip failed.
    is_fallback: bool,
}

// This is card data, although masked or sealed, so `Debug` shows none of it.
impl std::fmt::Debug for SwipedCard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SwipedCard")
    }
}

/// The reason why a swipe cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnusableSwipe {
    /// The stripe was not read well enough: it has no track, or the track has no service code.
    Unreadable,
    /// A track was read without sealed data.
    NotSealed,
}

impl SwipedCard {
    /// Reads the event of a swipe: the masked track 2 in ASCII, its masked PAN, and the sealed data.
    pub(crate) fn new(
        masked_track2: Option<&[u8]>,
        pan: Option<MaskedPan>,
        sealed: Option<&SealedBlock<'_>>,
    ) -> Result<Self, UnusableSwipe> {
        let track = masked_track2.filter(|track| !track.is_empty()).ok_or(UnusableSwipe::Unreadable)?;
        let sealed = sealed.filter(|sealed| !sealed.is_empty()).ok_or(UnusableSwipe::NotSealed)?;
        Self::of(track, pan, sealed).ok_or(UnusableSwipe::Unreadable)
    }

    fn of(track: &[u8], pan: Option<MaskedPan>, sealed: &SealedBlock<'_>) -> Option<Self> {
        // After the separator come four digits of expiry date, then the service code (readers: 2.9).
        let separator = track.iter().position(|byte| *byte == b'=')?;
        let service_code = std::str::from_utf8(track.get(separator + 5..separator + 8)?).ok()?;
        let service_code = ServiceCode::new(service_code)?;
        Some(Self {
            sealed: sealed.to_card()?,
            masked_track2: Wiped::copy_of(track)?,
            pan,
            has_chip: service_code.has_chip(),
            service_code: Some(service_code),
            is_fallback: false,
        })
    }

    /// Reads a swipe whose service code the reader masks. The reader says whether the card has a chip.
    pub(crate) fn without_service_code(
        pan: Option<MaskedPan>,
        has_chip: bool,
        sealed: Option<&SealedBlock<'_>>,
    ) -> Result<Self, UnusableSwipe> {
        let sealed = sealed.filter(|sealed| !sealed.is_empty()).ok_or(UnusableSwipe::NotSealed)?;
        let sealed = sealed.to_card().ok_or(UnusableSwipe::Unreadable)?;
        Ok(Self { sealed, masked_track2: Wiped::default(), pan, has_chip, service_code: None, is_fallback: false })
    }

    /// Marks the swipe as one that the reader itself has asked for, because the chip failed.
    pub(crate) fn into_fallback(self) -> Self {
        Self { is_fallback: true, ..self }
    }

    /// Returns whether the reader itself has asked for the swipe, because the chip failed.
    pub(crate) fn is_fallback(&self) -> bool {
        self.is_fallback
    }

    /// Returns the masked track 2 for the reader that sent it.
    pub(crate) fn masked_track2(&self) -> &[u8] {
        self.masked_track2.expose()
    }

    /// Returns whether the card has a chip, which must then be used.
    pub(crate) fn has_chip(&self) -> bool {
        self.has_chip
    }

    /// Returns whether the holder enters a PIN. Without a service code this is unknown, and the holder signs.
    pub(crate) fn pin_rule(&self) -> PinRule {
        self.service_code.map_or(PinRule::NotAsked, ServiceCode::wants_pin)
    }

    pub(crate) fn present(self, entry: EntryMode, pin: Option<SealedPin>) -> Presented {
        let cvm = if pin.is_some() { Cvm::OnlinePin } else { Cvm::Signature };
        without_chip(entry, self.pan, Some(cvm), self.sealed, pin)
    }
}

/// Returns a typed card, or `None` if its number came without sealed data.
pub(crate) fn typed(typed: TypedCard) -> Option<Presented> {
    // The shop decides how to verify the holder of a typed card. The reader does no verification here.
    Some(without_chip(EntryMode::Manual, typed.pan, None, typed.sealed?, None))
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
