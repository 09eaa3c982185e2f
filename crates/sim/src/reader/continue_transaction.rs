//! The end of a transaction: the card receives the issuer's answer, carries out the issuer's scripts, and makes its
//! final decision (readers: 2.7; EMV Book 3, 10.9 and 10.10).

use super::device::Device;
use super::emv_transaction::{Decision, EmvTransaction, Interface};
use super::family::Failure;
use super::kernel::{CardStep, Running};
use super::objects;
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
    /// Takes the issuer's answer from the host: the ARC and all elements.
    pub(super) fn issuer_answers(&mut self, transaction: EmvTransaction, arc: [u8; 2], elements: Vec<u8>) {
        self.kernel.running = Running::Card(Box::new(CardStep::Continuing { transaction, arc, elements }));
        self.kernel.due = Some(self.now);
        self.happens(ScriptEvent::Continue);
    }

    /// Passes the issuer's answer to the card.
    pub(super) fn card_hears_host(&mut self, mut transaction: EmvTransaction, arc: [u8; 2], elements: &[u8]) {
        let contact = transaction.interface == Interface::Contact;
        if contact && self.kernel.slot != Some(transaction.card) {
            self.kernel.sale_is_open = false;
            return self.fail(Failure::NoCard);
        }
        self.run_issuer_scripts(&mut transaction, elements, BEFORE);
        let decision = transaction.second(arc, objects::value(elements, 0x91));
        self.run_issuer_scripts(&mut transaction, elements, AFTER);
        self.kernel.end_command();
        self.protocol().concluded(self, &transaction, decision, arc);
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
            let id = objects::value(script.value, 0x9F18).and_then(|id| id.try_into().ok()).unwrap_or_default();
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
