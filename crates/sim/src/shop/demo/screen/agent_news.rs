//! Puts the agent's news from the till into the model. The agent's sentences appear unchanged on the screen.

use super::super::till::{Asked, Failed, News, Sale, Status, Step};
use super::keys::Page;
use super::model::{Model, Tone};
use super::text::sentence;

impl Model {
    /// Handles news from the till. If the agent was disconnected, its transaction may have continued, so the function
    /// returns the reference to look up.
    pub(super) fn hear(&mut self, news: News) -> Option<String> {
        match news {
            News::Connected => {
                self.connected = true;
                self.tell(Tone::Plain, "The agent is running.");
                return self.sale.as_ref().map(|sale| sale.reference.clone());
            }
            News::Lost => {
                self.connected = false;
                self.status = None;
                self.tell(Tone::Trouble, "The agent is no longer running.");
            }
            News::Step(step) => self.step(step),
            News::Status(status) => self.standing(status),
            News::Answer(asked, answer) => self.answered(&asked, answer),
            News::Totals(Ok(totals)) => self.totals = Some(totals),
            News::Totals(Err(failed)) => {
                if self.page == Page::Totals {
                    self.page = Page::None;
                }
                let told = format!("The totals are not available. {} Press z to ask again.", why(&failed));
                self.tell(Tone::Trouble, told);
            }
        }
        None
    }

    fn standing(&mut self, status: Status) {
        if let Some(current) = &status.current {
            self.adopt(current.clone());
        }
        self.status = Some(status);
    }

    fn step(&mut self, step: Step) {
        let tone = match (&step.sale, step.step.as_str()) {
            (Some(sale), _) => Tone::of(sale),
            (None, "reader-unready" | "printer-waits" | "printer-failed" | "journal-failed" | "alarm") => Tone::Trouble,
            _ => Tone::Plain,
        };
        let text = match &self.sale {
            // The line shows a reference only if the step does not belong to the latest transaction.
            Some(sale) if !step.reference.is_empty() && step.reference != sale.reference => {
                format!("{}: {}", step.reference, step.text)
            }
            _ => step.text,
        };
        self.push(tone, text, step.step == "pin-entry");
        if let Some(sale) = step.sale {
            self.adopt(sale);
        }
    }

    /// Shows a transaction. An older transaction that is still being reversed does not replace the latest one on the
    /// screen.
    fn adopt(&mut self, sale: Sale) {
        if sale.kind == "sale" && !self.sold.contains(&sale.reference) {
            self.sold.push(sale.reference.clone());
        }
        if sale.is_under_way() || self.sale.as_ref().is_none_or(|known| known.reference == sale.reference) {
            self.sale = Some(sale);
        }
    }

    fn answered(&mut self, asked: &Asked, answer: Result<Sale, Failed>) {
        match (asked, answer) {
            (Asked::Begin(_), Ok(sale)) => {
                if sale.replayed {
                    let told =
                        format!("The agent already knows {} and does nothing twice. {}", sale.reference, sale.text);
                    self.tell(Tone::of(&sale), told);
                }
                // A step that has arrived in the meantime is newer than the answer.
                if sale.replayed || self.sale.as_ref().is_none_or(|known| known.state.is_empty()) {
                    self.adopt(sale);
                }
            }
            (Asked::Cancel(_), Ok(sale)) if sale.outcome.is_none() => {
                self.tell(Tone::You, "It is too late to cancel. The sale continues.")
            }
            // A step will report the result.
            (Asked::Cancel(_) | Asked::Signature(..), Ok(_)) => {}
            // A step has already reported this state.
            (Asked::Show(_), Ok(sale)) if self.sale.as_ref() == Some(&sale) => {}
            (Asked::Show(reference), Ok(sale)) => {
                self.tell(Tone::of(&sale), format!("State of {reference}: {}", sale.text));
                self.adopt(sale);
            }
            (Asked::Begin(wanted), Err(failed @ Failed::Refused(_))) => {
                // Nothing was begun, so there is nothing to repeat.
                if self.sale.as_ref().is_some_and(|sale| sale.state.is_empty()) {
                    self.sale = self.before.take();
                }
                self.asked = None;
                let why = why(&failed);
                let told = format!("The agent does not start {}; no money moves. {why}", wanted.reference);
                self.tell(Tone::Trouble, told);
            }
            (Asked::Begin(wanted), Err(Failed::Lost(_))) => {
                let told = format!(
                    "No answer has come for {}. Press d to ask again: the same reference is never charged twice.",
                    wanted.reference
                );
                self.tell(Tone::Doubt, told);
            }
            (Asked::Cancel(reference), Err(failed)) => {
                self.tell(Tone::Trouble, format!("{reference} is not cancelled. {}", why(&failed)));
            }
            (Asked::Signature(..), Err(failed)) => {
                let told = format!("Your decision on the signature did not arrive. {} Repeat it.", why(&failed));
                self.tell(Tone::Trouble, told);
            }
            (Asked::Show(reference), Err(failed)) => {
                let told = format!("The state of {reference} is not known. {} Press d to ask again.", why(&failed));
                self.tell(Tone::Trouble, told);
            }
        }
    }
}

/// Returns the reason for a missing answer, without the system's error text about a lost connection, which does not
/// help a cashier.
fn why(failed: &Failed) -> String {
    match failed {
        Failed::Refused(why) => sentence(why),
        Failed::Lost(_) => "The agent has not answered.".to_owned(),
    }
}
