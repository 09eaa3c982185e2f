//! CONTINUE TRANSACTION: the card receives the issuer's answer, carries out the issuer's scripts, and makes its final
//! decision (readers: 2.7; EMV Book 3, 10.9 and 10.10).

use super::device::Device;
use super::emv_transaction::{Decision, EmvTransaction, Interface};
use super::kernel::{CardStep, Running};
use super::message::{self, Command, StatusWord};
use super::script::ScriptEvent;
use crate::keys::TEST_IMK_SMI;
use crate::keys::cryptogram::Issuer;
use crate::keys::issuer_script::ScriptKey;
use pos_terms::emv::tlv;

/// The templates for scripts before and after the final cryptogram.
const BEFORE: u32 = 0x71;
const AFTER: u32 = 0x72;

/// The instructions of issuer script commands (EMV Book 3, 6.5): CARD BLOCK, APPLICATION UNBLOCK, APPLICATION BLOCK,
/// PIN CHANGE/UNBLOCK, PUT DATA, UPDATE RECORD. The card accepts all of them. Only PIN CHANGE/UNBLOCK has an effect
/// here.
const PIN_UNBLOCK: u8 = 0x24;
const INSTRUCTIONS: [u8; 6] = [0x16, 0x18, 0x1E, PIN_UNBLOCK, 0xDA, 0xDC];

impl Device {
    /// Handles CONTINUE TRANSACTION, which carries the choice after an E2 or the issuer's answer after an E4.
    pub(super) fn continue_transaction(&mut self, command: &Command<'_>) -> Result<(), StatusWord> {
        let elements = command.elements()?;
        if let Some(choice) = self.kernel.choice_by_agent.take() {
            return self.chosen_by_agent(&choice, elements);
        }
        let transaction = self.kernel.awaiting_host.take().ok_or(StatusWord::NOT_READY)?;
        let Some(arc) = message::get::<2>(elements, 0x8A)? else {
            self.kernel.awaiting_host = Some(transaction);
            return Err(StatusWord::DATA_MISSING);
        };
        self.kernel.running =
            Running::Card(Box::new(CardStep::Continuing { transaction, arc, elements: elements.to_vec() }));
        self.kernel.due = Some(self.now);
        self.happens(ScriptEvent::Continue);
        Ok(())
    }

    /// Passes the issuer's answer to the card.
    pub(super) fn card_hears_host(&mut self, mut transaction: EmvTransaction, arc: [u8; 2], elements: &[u8]) {
        let contact = transaction.interface == Interface::Contact;
        if contact && self.kernel.slot != Some(transaction.card) {
            self.kernel.sale_is_open = false;
            return self.finish(&[], StatusWord::NO_CARD);
        }
        self.run_issuer_scripts(&mut transaction, elements, BEFORE);
        let decision = transaction.second(arc, message::value(elements, 0x91));
        self.run_issuer_scripts(&mut transaction, elements, AFTER);
        // If the last key was used up after E4, the card's decision is sent without encrypted data. The behaviour of a
        // real device is UNCERTAIN.
        let sealed = self.seal_card_data(&transaction, 1).unwrap_or_default();
        self.finish(&transaction.template(decision, Some(arc), &sealed, None), StatusWord::OK);
        let outcome = if decision == Decision::Approved { "APPROVED" } else { "DECLINED" };
        self.display.show(&if contact { format!("{outcome}\nREMOVE CARD") } else { outcome.to_owned() });
        self.transaction_is_over();
    }

    /// Ends the transaction after the card's final decision.
    pub(super) fn transaction_is_over(&mut self) {
        self.kernel.sale_is_open = false;
        self.expect_removal();
        self.happens(ScriptEvent::Ended);
    }

    /// Carries out the scripts in the templates of this `kind`. A tapped card is already gone (readers: 2.6).
    fn run_issuer_scripts(&mut self, transaction: &mut EmvTransaction, elements: &[u8], kind: u32) {
        if transaction.interface == Interface::Contactless {
            return;
        }
        for script in tlv::walk(elements).flatten().filter(|object| object.tag.0 == kind) {
            let id = message::value(script.value, 0x9F18).and_then(|id| id.try_into().ok()).unwrap_or_default();
            let commands = tlv::walk(script.value).flatten().filter(|object| object.tag.0 == 0x86);
            // The first failed command ends the script.
            let failed =
                commands.zip(1_u8..=u8::MAX).find(|(command, _)| !self.card_runs_command(transaction, command.value));
            transaction.script_ran(id, failed.map(|(_, number)| number), kind == BEFORE);
        }
    }

    /// Carries out one script command on the card.
    fn card_runs_command(&mut self, transaction: &EmvTransaction, command: &[u8]) -> bool {
        let card = transaction.card;
        let key = transaction.arqc().and_then(|arqc| {
            ScriptKey::new(&Issuer::new(TEST_IMK_SMI), card.pan, card.psn, transaction.atc, arqc).ok()
        });
        let [_, instruction, ..] = *command else { return false };
        let obeys = INSTRUCTIONS.contains(&instruction) && key.is_some_and(|key: ScriptKey| key.is_authentic(command));
        if obeys && instruction == PIN_UNBLOCK {
            *self.kernel.pin_tries(card) = UNBLOCKED_TRIES;
        }
        obeys
    }
}

/// The number of PIN tries after the issuer has unblocked the PIN.
const UNBLOCKED_TRIES: u8 = 3;
