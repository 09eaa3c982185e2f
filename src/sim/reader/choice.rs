//! Application selection of a chip with several applications: on the reader (DFA204 01), where a key chooses from the
//! list on the display, or by the agent (02), which hears the candidates in an E2 and names one in CONTINUE (readers:
//! 2.3, 2.5, 2.7).
//!
//! The cardholder is part of the simulation: he takes the first one by himself, unless a [`ChoicePlan`] says otherwise.

use super::chip::Terms;
use super::deck::{Application, Card};
use super::device::{CardStep, ChoicePlan, Device, Key, Running};
use super::script::When;
use super::wire::{self, Sw};

/// A list that the cardholder or the agent chooses from.
pub(super) struct Choosing {
    pub(super) terms: Terms,
    candidates: Vec<Application>,
}

/// How START wants several applications to be treated (DFA204; readers: 2.5). 80 asks for blocked ones too, which no
/// card here shows.
const BY_AGENT: u8 = 0x02;

impl Device {
    /// Takes the only application, or has one chosen; then the chip is read.
    pub(super) fn select_application(&mut self, card: &Card, terms: Terms, selection: u8) {
        let candidates = card.candidates();
        match candidates[..] {
            [only] => self.read_chip(terms, only),
            _ if selection == BY_AGENT => {
                self.finish(&e2(&candidates), Sw::OK);
                self.choosing = Some(Choosing { terms, candidates });
                self.happens(When::Choice);
            }
            _ => {
                self.event(&wire::template(0xE6, &[(0xC3, &[0x03]), (0xC4, b"Application selection")]));
                let lines = candidates.iter().zip(1..).map(|(candidate, n)| format!("{n} {}", candidate.label));
                self.show(&lines.collect::<Vec<_>>().join("\n"));
                let choosing = Choosing { terms, candidates };
                self.running = Running::Card(Box::new(CardStep::Choosing(choosing)));
                self.plan_next_choice();
                self.happens(When::Choice);
            }
        }
    }

    fn plan_next_choice(&mut self) {
        self.due = (self.choice_plan != ChoicePlan::Hesitate).then(|| self.now + self.options.pace.key);
    }

    /// The cardholder chooses as planned.
    pub(super) fn choice_goes_on(&mut self, choosing: Choosing) {
        let number = match std::mem::take(&mut self.choice_plan) {
            ChoicePlan::First => 1,
            ChoicePlan::Number(number) => number,
            ChoicePlan::Hesitate => return self.running = Running::Card(Box::new(CardStep::Choosing(choosing))),
        };
        self.choose(choosing, number);
    }

    /// A script's word: now when the list is shown, else at the next one.
    pub(super) fn chooses(&mut self, number: Option<usize>) {
        self.choice_plan = number.map_or(ChoicePlan::Hesitate, ChoicePlan::Number);
        if matches!(&self.running, Running::Card(step) if matches!(**step, CardStep::Choosing(_))) {
            self.plan_next_choice();
        }
    }

    /// A key falls: on the list, or on whatever else is under way.
    pub(super) fn press(&mut self, key: Key) {
        match std::mem::replace(&mut self.running, Running::Nothing) {
            Running::Card(step) if matches!(*step, CardStep::Choosing(_)) => {
                let CardStep::Choosing(choosing) = *step else { return };
                match key {
                    Key::Digit(digit) => self.choose(choosing, usize::from(digit)),
                    Key::Enter => self.choose(choosing, 1),
                    Key::Clear => self.running = Running::Card(Box::new(CardStep::Choosing(choosing))),
                    Key::Cancel => {
                        self.finish(&[], Sw::CANCELLED);
                        self.show("CANCELLED");
                    }
                }
            }
            other => {
                self.running = other;
                self.key(key);
            }
        }
    }

    /// Takes the candidate with this number, from 1. Another number does nothing: the list stays.
    fn choose(&mut self, choosing: Choosing, number: usize) {
        match number.checked_sub(1).and_then(|n| choosing.candidates.get(n)).copied() {
            Some(application) => self.read_chip(choosing.terms, application),
            None => {
                self.due = None;
                self.running = Running::Card(Box::new(CardStep::Choosing(choosing)));
            }
        }
    }

    /// CONTINUE after an E2: 4F or 50 of a candidate, or C0 01 for the first; C0 00 gives up.
    pub(super) fn chosen_by_agent(&mut self, choosing: &Choosing, elements: &[u8]) -> Result<(), Sw> {
        self.slot.ok_or(Sw::NO_CARD)?;
        let (label, aid) = (wire::value(elements, 0x50), wire::value(elements, 0x4F));
        let named = |candidate: &&Application| {
            (label.is_some() || aid.is_some())
                && label.is_none_or(|label| label == candidate.label.as_bytes())
                && aid.is_none_or(|aid| aid == candidate.aid)
        };
        let chosen = match wire::get::<1>(elements, 0xC0)? {
            Some([0x00]) => return Err(Sw::CANCELLED),
            Some([0x01]) => choosing.candidates.first(),
            None => choosing.candidates.iter().find(named),
            Some(_) => None,
        };
        self.read_chip(choosing.terms, *chosen.ok_or(Sw::INVALID_DATA)?);
        Ok(())
    }
}

/// The candidates for the agent. How a device groups them is not published: an application template (61) for each here.
fn e2(candidates: &[Application]) -> Vec<u8> {
    let each = candidates.iter();
    let inner: Vec<u8> =
        each.flat_map(|one| wire::template(0x61, &[(0x4F, one.aid), (0x50, one.label.as_bytes())])).collect();
    wire::object(0xE2, &inner)
}
