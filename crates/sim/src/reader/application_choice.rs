//! Application selection for a chip with several applications. Either the cardholder chooses with a key from the list
//! on the display, or the agent gets the candidates and names one (readers: 2.5, 3.3).
//!
//! The simulated cardholder takes the first application, unless a [`ChoicePlan`] says otherwise.

use super::cardholder::{ChoicePlan, Key};
use super::deck::{Application, Card};
use super::device::Device;
use super::emv_transaction::StartTerms;
use super::family::Failure;
use super::kernel::{CardStep, Running};
use super::script::ScriptEvent;

/// A list of applications for the cardholder or the agent.
pub(super) struct ApplicationChoice {
    pub(super) terms: StartTerms,
    pub(super) candidates: Vec<Application>,
}

impl Device {
    /// Takes the only application, or starts a choice by the agent or by the cardholder. The chip is read after that.
    pub(super) fn select_application(&mut self, card: &Card, terms: StartTerms, by_agent: bool) {
        let candidates = card.candidates();
        match candidates[..] {
            [only] => self.read_chip(terms, only),
            _ if by_agent => {
                self.protocol().offers(self, &candidates);
                self.kernel.choice_by_agent = Some(ApplicationChoice { terms, candidates });
                self.happens(ScriptEvent::Choice);
            }
            _ => {
                self.protocol().choosing(self);
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
                        self.fail(Failure::Cancelled);
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
}
