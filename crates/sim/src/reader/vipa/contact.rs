//! The contact transaction: START reads the chip and is answered by an E2. The first CONTINUE lets the card make its
//! first cryptogram, and the second CONTINUE brings the issuer's answer (readers: 3.3).

use super::answers::finish_with_card;
use super::contactless::terms;
use super::message::{Command, StatusWord};
use super::{elements, sealed, session};
use crate::reader::application_choice::ApplicationChoice;
use crate::reader::deck::Application;
use crate::reader::device::Device;
use crate::reader::emv_transaction::{EmvTransaction, StartTerms};
use crate::reader::family::Failure;
use crate::reader::objects;

/// The value of DFA204 that lets the host choose the application.
const BY_HOST: [u8; 1] = [0x01];

/// Handles START.
pub(super) fn start(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    let elements = command.elements()?;
    let terms = terms(elements)?;
    let _other: [u8; 6] = objects::need(elements, 0x9F03)?;
    let by_host = objects::get(elements, 0xDFA204)? == Some(BY_HOST);
    device.display.amount = Some(terms.money());
    session(device).decides_at_once = None;
    Ok(device.start_chip(terms, by_host)?)
}

/// Asks the host for its decision, unless it has sent one together with its choice of an application.
pub(super) fn chip_read(device: &mut Device, mut transaction: EmvTransaction) {
    if let Some(approves) = session(device).decides_at_once.take() {
        if !approves {
            transaction.host_declines();
        }
        return device.verify_or_decide(transaction);
    }
    let block = match transaction.is_secured().then(|| sealed::chip(device, transaction.card)).transpose() {
        Ok(block) => block.unwrap_or_default(),
        Err(_) => return device.fail(Failure::NoCardKey),
    };
    let token = elements::Token::of(transaction.card);
    finish_with_card(device, &elements::decision_request(&transaction, &block, &token));
    device.kernel.awaiting_decision = Some(transaction);
}

/// Handles CONTINUE, in one of its three steps.
pub(super) fn continue_transaction(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    let elements = command.elements()?;
    if command.p1 != 0 {
        // Bit 0 would stop after the cardholder verification, which this reader cannot do.
        return Err(StatusWord::WRONG_P1);
    }
    if let Some(choice) = device.kernel.choice_by_agent.take() {
        let chosen = choose(device, &choice, elements);
        // After a wrong choice, the host may choose again.
        if chosen.is_err() {
            device.kernel.choice_by_agent = Some(choice);
        }
        return chosen;
    }
    if let Some(transaction) = device.kernel.awaiting_decision.take() {
        return decide(device, transaction, elements);
    }
    finish(device, elements)
}

/// The first step: the host has chosen an application by 50 and 9F06. If the command also has a decision, no E2
/// follows.
fn choose(device: &mut Device, choice: &ApplicationChoice, elements: &[u8]) -> Result<(), StatusWord> {
    let label = objects::value(elements, 0x50).ok_or(StatusWord::DATA_MISSING)?;
    let aid = objects::value(elements, 0x9F06).ok_or(StatusWord::DATA_MISSING)?;
    let is_chosen = |one: &&Application| one.label.as_bytes() == label && one.aid == aid;
    let chosen = *choice.candidates.iter().find(is_chosen).ok_or(StatusWord::INVALID_DATA)?;
    device.kernel.slot.ok_or(StatusWord::NO_CARD)?;
    let mut terms = choice.terms;
    if objects::value(elements, 0xC0).is_some() {
        let decision = decision(device, elements)?;
        terms = with_amounts(terms, elements)?;
        session(device).decides_at_once = Some(decision);
    }
    device.read_chip(terms, chosen);
    Ok(())
}

/// The second step: the card makes its first cryptogram, over the amounts of this command.
fn decide(device: &mut Device, mut transaction: EmvTransaction, elements: &[u8]) -> Result<(), StatusWord> {
    let read = decision(device, elements).and_then(|approves| {
        let terms = with_amounts(transaction.terms(), elements)?;
        Ok((approves, terms))
    });
    let (approves, terms) = match read {
        Ok(read) => read,
        Err(sw) => {
            device.kernel.awaiting_decision = Some(transaction);
            return Err(sw);
        }
    };
    if device.kernel.slot != Some(transaction.card) {
        device.kernel.sale_is_open = false;
        return Err(StatusWord::NO_CARD);
    }
    if !approves {
        transaction.host_declines();
    }
    transaction.take_terms(device.signed_terms(terms));
    device.verify_or_decide(transaction);
    Ok(())
}

/// The third step: the issuer's answer.
fn finish(device: &mut Device, elements: &[u8]) -> Result<(), StatusWord> {
    let mut transaction = device.kernel.take_awaiting_host(false).ok_or(StatusWord::WRONG_ORDER)?;
    let read = decision(device, elements).and_then(|approves| Ok((approves, objects::need::<2>(elements, 0x8A)?)));
    let (approves, arc) = match read {
        Ok(read) => read,
        Err(sw) => {
            device.kernel.awaiting_host = Some(transaction);
            return Err(sw);
        }
    };
    if !approves {
        transaction.host_declines();
    }
    device.issuer_answers(transaction, arc, elements.to_vec());
    Ok(())
}

/// Reads C0, and checks that the acquirer is named. A documented CONTINUE with the issuer's answer has no amounts.
fn decision(device: &Device, elements: &[u8]) -> Result<bool, StatusWord> {
    objects::value(elements, 0xC2).ok_or(StatusWord::DATA_MISSING)?;
    match objects::need::<1>(elements, 0xC0)? {
        [value @ (0x00 | 0x01)] => Ok(value == device.options.vipa.approves),
        _ => Err(StatusWord::INVALID_DATA),
    }
}

/// Returns the terms with the amounts, the currency and the country of a CONTINUE command.
fn with_amounts(terms: StartTerms, elements: &[u8]) -> Result<StartTerms, StatusWord> {
    Ok(StartTerms {
        amount: objects::need(elements, 0x9F02)?,
        other: objects::need(elements, 0x9F03)?,
        currency: objects::need(elements, 0x5F2A)?,
        country: Some(objects::need(elements, 0x9F1A)?),
        ..terms
    })
}
