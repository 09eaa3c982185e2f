//! CONTINUE TRANSACTION: the host's answer is told to the card, which carries out the issuer's scripts and says its
//! last word (readers: 2.7; EMV Book 3, 10.9 and 10.10).

use super::chip::{Decision, Interface, Payment};
use super::device::{CardStep, Device, Running};
use super::script::When;
use super::wire::{self, Command, Sw};
use crate::emv::tlv;
use crate::sim::keys::TEST_IMK_SMI;
use crate::sim::keys::cryptogram::Issuer;
use crate::sim::keys::issuer_script::ScriptKey;

/// Scripts before the final cryptogram, and after it.
const BEFORE: u32 = 0x71;
const AFTER: u32 = 0x72;

/// Instructions of issuer script commands (EMV Book 3, 6.5): CARD BLOCK, APPLICATION UNBLOCK, APPLICATION BLOCK, PIN
/// CHANGE/UNBLOCK, PUT DATA, UPDATE RECORD. All are taken; only PIN CHANGE/UNBLOCK has an effect here.
const PIN_UNBLOCK: u8 = 0x24;
const INSTRUCTIONS: [u8; 6] = [0x16, 0x18, 0x1E, PIN_UNBLOCK, 0xDA, 0xDC];

impl Device {
    /// CONTINUE TRANSACTION: the choice after an E2, or the host's answer after an E4.
    pub(super) fn go_on_with(&mut self, command: &Command<'_>) -> Result<(), Sw> {
        let elements = command.elements()?;
        if let Some(choosing) = self.choosing.take() {
            return self.chosen_by_agent(&choosing, elements);
        }
        let payment = self.asked.take().ok_or(Sw::NOT_READY)?;
        let Some(arc) = wire::get::<2>(elements, 0x8A)? else {
            self.asked = Some(payment);
            return Err(Sw::DATA_MISSING);
        };
        self.running = Running::Card(Box::new(CardStep::Continuing { payment, arc, elements: elements.to_vec() }));
        self.due = Some(self.now);
        self.happens(When::Continue);
        Ok(())
    }

    /// The card hears the host's answer.
    pub(super) fn card_is_told(&mut self, mut payment: Payment, arc: [u8; 2], elements: &[u8]) {
        let contact = payment.interface == Interface::Contact;
        if contact && self.slot != Some(payment.card) {
            self.sale_is_open = false;
            return self.finish(&[], Sw::NO_CARD);
        }
        self.run_scripts(&mut payment, elements, BEFORE);
        let decision = payment.second(arc, wire::value(elements, 0x91));
        self.run_scripts(&mut payment, elements, AFTER);
        // With the last key gone since E4 the card's word comes without sealed data: UNCERTAIN what a device does.
        let sealed = self.seal(&payment, 1).unwrap_or_default();
        self.finish(&payment.template(decision, Some(arc), &sealed, None), Sw::OK);
        let outcome = if decision == Decision::Approved { "APPROVED" } else { "DECLINED" };
        self.show(&if contact { format!("{outcome}\nREMOVE CARD") } else { outcome.to_owned() });
        self.card_has_spoken();
    }

    /// The card's last word is out.
    pub(super) fn card_has_spoken(&mut self) {
        self.sale_is_open = false;
        self.expect_removal();
        self.happens(When::Ended);
    }

    /// Carries out the scripts in the templates `kind`; a tap's card is gone (readers: 2.6).
    fn run_scripts(&mut self, payment: &mut Payment, elements: &[u8], kind: u32) {
        if payment.interface == Interface::Contactless {
            return;
        }
        for script in tlv::walk(elements).flatten().filter(|object| object.tag.0 == kind) {
            let id = wire::value(script.value, 0x9F18).and_then(|id| id.try_into().ok()).unwrap_or_default();
            let commands = tlv::walk(script.value).flatten().filter(|object| object.tag.0 == 0x86);
            // The first command that fails ends the script.
            let failed = commands.zip(1_u8..=u8::MAX).find(|(command, _)| !self.card_obeys(payment, command.value));
            payment.script_ran(id, failed.map(|(_, number)| number), kind == BEFORE);
        }
    }

    /// One script command at the card.
    fn card_obeys(&mut self, payment: &Payment, command: &[u8]) -> bool {
        let card = payment.card;
        let key = payment
            .arqc()
            .and_then(|arqc| ScriptKey::new(&Issuer::new(TEST_IMK_SMI), card.pan, card.psn, payment.atc, arqc).ok());
        let [_, instruction, ..] = *command else { return false };
        let obeys = INSTRUCTIONS.contains(&instruction) && key.is_some_and(|key: ScriptKey| key.is_authentic(command));
        if obeys && instruction == PIN_UNBLOCK {
            *self.pin_tries(card) = UNBLOCKED_TRIES;
        }
        obeys
    }
}

/// PIN tries after the issuer has unblocked the PIN.
const UNBLOCKED_TRIES: u8 = 3;
