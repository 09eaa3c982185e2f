//! START TRANSACTION, START CONTACTLESS TRANSACTION, CONTINUE TRANSACTION and ONLINE PIN (readers: 2.5 to 2.7, 2.9).

use std::time::Duration;

use super::message::{self, Command, StatusWord};
use crate::reader::application_choice::ApplicationChoice;
use crate::reader::deck::Application;
use crate::reader::device::Device;
use crate::reader::display::CommandMoney;
use crate::reader::emv_transaction::StartTerms;
use crate::reader::objects;
use crate::reader::pin_entry::PinPurpose;

/// The default waiting time of START CONTACTLESS, in seconds (MPI-Dynamic.cfg; readers: 2.6).
const DEFAULT_TAP_SECONDS: u16 = 30;

/// The value of START's DFA204 that lets the agent choose among several applications (readers: 2.5). 80 also requests
/// blocked ones, which no card here offers.
const BY_AGENT: u8 = 0x02;

/// Handles START TRANSACTION.
pub(super) fn start(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    let elements = command.elements()?;
    let terms = StartTerms::read(elements)?;
    device.display.amount = Some(terms.money());
    let [selection] = message::need::<1>(elements, 0xDFA204)?;
    Ok(device.start_chip(terms, selection == BY_AGENT)?)
}

/// Handles START CONTACTLESS TRANSACTION. A card that is already in the slot ends the command, like a card that is
/// inserted later.
pub(super) fn start_contactless(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    let elements = command.elements()?;
    let terms = StartTerms::read(elements)?;
    device.display.amount = Some(terms.money());
    let seconds = message::get::<2>(elements, 0xDFFF01)?.map_or(DEFAULT_TAP_SECONDS, u16::from_be_bytes);
    device.open_sale()?;
    if device.kernel.slot.is_some() {
        return Err(StatusWord::CARD_INSERTED);
    }
    device.display.show("INSERT, TAP OR SWIPE");
    device.wait_for_tap(terms, Some(Duration::from_secs(u64::from(seconds))));
    Ok(())
}

/// Handles ONLINE PIN. The masked track must be that of the last swipe, because the device keeps only its PAN (readers:
/// 2.9).
pub(super) fn online_pin(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    let elements = command.elements()?;
    device.display.amount = Some(CommandMoney::read(elements)?);
    let _label = objects::value(elements, 0x50).ok_or(StatusWord::DATA_MISSING)?;
    let masked = objects::value(elements, 0xDFAE22).ok_or(StatusWord::DATA_MISSING)?;
    // Used-up keys count as missing keys. This is UNCERTAIN, as for card data.
    if !device.keys.holds_pin_key || !device.keys.pin_keys_are_left() {
        return Err(StatusWord::NO_PIN_KEY);
    }
    let card = device.kernel.last_swipe.filter(|card| card.masked_track2().as_bytes() == masked);
    let card = card.filter(|_| command.p1 == 0x01).ok_or(StatusWord::INVALID_PARAMETER)?;
    device.ask_for_pin(PinPurpose::Alone { card, pan: card.pan.to_owned() });
    Ok(())
}

/// Handles CONTINUE TRANSACTION, which carries the choice after an E2 or the issuer's answer after an E4.
pub(super) fn continue_transaction(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    let elements = command.elements()?;
    if let Some(choice) = device.kernel.choice_by_agent.take() {
        return chosen_by_agent(device, &choice, elements);
    }
    let transaction = device.kernel.awaiting_host.take().ok_or(StatusWord::NOT_READY)?;
    let Some(arc) = message::get::<2>(elements, 0x8A)? else {
        device.kernel.awaiting_host = Some(transaction);
        return Err(StatusWord::DATA_MISSING);
    };
    device.issuer_answers(transaction, arc, elements.to_vec());
    Ok(())
}

/// Handles CONTINUE after an E2. 4F or 50 names a candidate, C0 01 selects the first, and C0 00 cancels.
fn chosen_by_agent(device: &mut Device, choice: &ApplicationChoice, elements: &[u8]) -> Result<(), StatusWord> {
    device.kernel.slot.ok_or(StatusWord::NO_CARD)?;
    let (label, aid) = (objects::value(elements, 0x50), objects::value(elements, 0x4F));
    let named = |candidate: &&Application| {
        (label.is_some() || aid.is_some())
            && label.is_none_or(|label| label == candidate.label.as_bytes())
            && aid.is_none_or(|aid| aid == candidate.aid)
    };
    let chosen = match message::get::<1>(elements, 0xC0)? {
        Some([0x00]) => return Err(StatusWord::CANCELLED),
        Some([0x01]) => choice.candidates.first(),
        None => choice.candidates.iter().find(named),
        Some(_) => None,
    };
    device.read_chip(choice.terms, *chosen.ok_or(StatusWord::INVALID_DATA)?);
    Ok(())
}
