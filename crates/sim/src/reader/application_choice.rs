//! Application selection for a chip with several applications. With DFA204 01, the cardholder chooses with a key from
//! the list on the display. With 02, the agent chooses: it gets the candidates in an E2 and names one in CONTINUE
//! (readers: 2.3, 2.5, 2.7).
//!
//! The simulated cardholder takes the first application, unless a [`ChoicePlan`] says otherwise.

use super::cardholder::{ChoicePlan, Key};
use super::deck::{Application, Card};
use super::device::Device;
use super::emv_transaction::StartTerms;
use super::kernel::{CardStep, Running};
use super::message::{self, StatusWord};
use super::script::ScriptEvent;

/// A list of applications for the cardholder or the agent.
pub(super) struct ApplicationChoice {
    pub(super) terms: StartTerms,
    candidates: Vec<Application>,
}

/// The value of START's DFA204 that lets the agent choose among several applications (readers: 2.5). 80 also requests
/// blocked ones, which no card here offers.
const BY_AGENT: u8 = 0x02;

impl Device {
    /// Takes the only application, or starts a choice. The chip is read after that.
    pub(super) fn select_application(&mut self, card: &Card, terms: StartTerms, selection: u8) {
        let candidates = card.candidates();
        match candidates[..] {
            [only] => self.read_chip(terms, only),
            _ if selection == BY_AGENT => {
                self.finish(&e2(&candidates), StatusWord::OK);
                self.kernel.choice_by_agent = Some(ApplicationChoice { terms, candidates });
                self.happens(ScriptEvent::Choice);
            }
            _ => {
                self.event(&message::template(0xE6, &[(0xC3, &[0x03]), (0xC4, b"Application selection")]));
                let lines = candidates.iter().zip(1..).map(|(candidate, n)| format!("{n} {}", candidate.label));
                self.display.show(&lines.collect::<Vec<_>>().join("\n"));
                let choice = ApplicationChoice { terms, candidates };
                self.kernel.running = Running::Card(Box::new(CardStep::Choosing(choice)));
                self.plan_next_choice();
                self.happens(ScriptEvent::Choice);
            }
        }
    }

    fn plan_next_choice(&mut self) {
        self.kernel.due =
            (self.cardholder.choice_plan != ChoicePlan::Hesitate).then(|| self.now + self.options.pace.key);
    }

    /// Lets the cardholder choose according to the plan.
    pub(super) fn cardholder_chooses(&mut self, choice: ApplicationChoice) {
        let number = match std::mem::take(&mut self.cardholder.choice_plan) {
            ChoicePlan::First => 1,
            ChoicePlan::Number(number) => number,
            ChoicePlan::Hesitate => return self.kernel.running = Running::Card(Box::new(CardStep::Choosing(choice))),
        };
        self.choose(choice, number);
    }

    /// Sets the plan of a script, for the list on the display or, without one, for the next list.
    pub(super) fn plan_choice_by_script(&mut self, number: Option<usize>) {
        self.cardholder.choice_plan = number.map_or(ChoicePlan::Hesitate, ChoicePlan::Number);
        if self.kernel.is_choosing() {
            self.plan_next_choice();
        }
    }

    /// Presses a key, for the list or for another running step.
    pub(super) fn press(&mut self, key: Key) {
        match std::mem::replace(&mut self.kernel.running, Running::Nothing) {
            Running::Card(step) if matches!(*step, CardStep::Choosing(_)) => {
                let CardStep::Choosing(choice) = *step else { return };
                match key {
                    Key::Digit(digit) => self.choose(choice, usize::from(digit)),
                    Key::Enter => self.choose(choice, 1),
                    Key::Clear => self.kernel.running = Running::Card(Box::new(CardStep::Choosing(choice))),
                    Key::Cancel => {
                        self.finish(&[], StatusWord::CANCELLED);
                        self.display.show("CANCELLED");
                    }
                }
            }
            other => {
                self.kernel.running = other;
                self.key_falls(key);
            }
        }
    }

    /// Takes the candidate with this number, counted from 1. Any other number has no effect, and the list stays.
    fn choose(&mut self, choice: ApplicationChoice, number: usize) {
        match number.checked_sub(1).and_then(|n| choice.candidates.get(n)).copied() {
            Some(application) => self.read_chip(choice.terms, application),
            None => {
                self.kernel.due = None;
                self.kernel.running = Running::Card(Box::new(CardStep::Choosing(choice)));
            }
        }
    }

    /// Handles CONTINUE after an E2. 4F or 50 names a candidate, C0 01 selects the first, and C0 00 cancels.
    pub(super) fn chosen_by_agent(&mut self, choice: &ApplicationChoice, elements: &[u8]) -> Result<(), StatusWord> {
        self.kernel.slot.ok_or(StatusWord::NO_CARD)?;
        let (label, aid) = (message::value(elements, 0x50), message::value(elements, 0x4F));
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
        self.read_chip(choice.terms, *chosen.ok_or(StatusWord::INVALID_DATA)?);
        Ok(())
    }
}

/// Makes the list of candidates for the agent. The grouping on a real device is not published. Here each candidate has
/// an application template (61).
fn e2(candidates: &[Application]) -> Vec<u8> {
    let each = candidates.iter();
    let inner: Vec<u8> =
        each.flat_map(|one| message::template(0x61, &[(0x4F, one.aid), (0x50, one.label.as_bytes())])).collect();
    message::object(0xE2, &inner)
}
