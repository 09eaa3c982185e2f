//! What the agent says, into the model. A sentence of the agent's goes on the screen as it is.

use super::super::till::{Asked, Failed, News, Sale, Status, Step};
use super::model::{Model, Told, Tone};

impl Model {
    /// News of the till. Gives the reference to ask for when the agent was away and may have gone on without being heard.
    pub(super) fn hear(&mut self, news: News) -> Option<String> {
        match news {
            News::Connected => {
                self.connected = true;
                self.tell(Tone::Plain, "the agent runs");
                return self.sale.as_ref().map(|sale| sale.reference.clone());
            }
            News::Lost => {
                self.connected = false;
                self.status = None;
                self.tell(Tone::Trouble, "the agent is gone");
            }
            News::Step(step) => self.step(step),
            News::Status(status) => self.standing(status),
            News::Answer(asked, answer) => self.answered(&asked, answer),
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
            (None, "reader-unready" | "printer-failed" | "journal-failed") => Tone::Trouble,
            _ => Tone::Plain,
        };
        let text = match &self.sale {
            // Whose step it is must be said only when it is not the latest sale's.
            Some(sale) if !step.reference.is_empty() && step.reference != sale.reference => {
                format!("{}: {}", step.reference, step.text)
            }
            _ => step.text,
        };
        self.push(Told { tone, text, passing: step.step == "pin-entry" });
        if let Some(sale) = step.sale {
            self.adopt(sale);
        }
    }

    /// The latest sale is the one on the screen; an older one that is still being reversed does not take its place.
    fn adopt(&mut self, sale: Sale) {
        if sale.is_under_way() || self.sale.as_ref().is_none_or(|known| known.reference == sale.reference) {
            self.sale = Some(sale);
        }
    }

    fn answered(&mut self, asked: &Asked, answer: Result<Sale, Failed>) {
        match (asked, answer) {
            (Asked::Sale { .. }, Ok(sale)) => {
                if sale.replayed {
                    let told = format!("replayed: {} is known, no second sale. {}", sale.reference, sale.text);
                    self.tell(Tone::of(&sale), told);
                }
                // A step that was heard meanwhile is newer than the answer.
                if sale.replayed || self.sale.as_ref().is_none_or(|known| known.state.is_empty()) {
                    self.adopt(sale);
                }
            }
            (Asked::Cancel(_), Ok(sale)) if sale.outcome.is_none() => {
                self.tell(Tone::You, "too late: the sale goes on")
            }
            // A step tells what came of it.
            (Asked::Cancel(_) | Asked::Signature(..), Ok(_)) => {}
            // A step has told it already.
            (Asked::Show(_), Ok(sale)) if self.sale.as_ref() == Some(&sale) => {}
            (Asked::Show(reference), Ok(sale)) => {
                self.tell(Tone::of(&sale), format!("{reference} stands like this: {}", sale.text));
                self.adopt(sale);
            }
            (Asked::Sale { .. }, Err(Failed::Refused(why))) => {
                // Nothing was begun: there is no sale to ask for again.
                self.sale.take_if(|sale| sale.state.is_empty());
                self.tell(Tone::Trouble, format!("refused: {why}"));
            }
            (Asked::Sale { reference, .. }, Err(Failed::Lost(why))) => {
                let told = format!("no answer for {reference} ({why}): d asks again with the same reference");
                self.tell(Tone::Doubt, told);
            }
            (Asked::Cancel(_), Err(failed)) => self.tell(Tone::Trouble, format!("not cancelled: {failed}")),
            (Asked::Signature(..), Err(failed)) => self.tell(Tone::Trouble, format!("not told: {failed}")),
            (Asked::Show(reference), Err(failed)) => self.tell(Tone::Trouble, format!("{reference}: {failed}")),
        }
    }
}
