//! Requests about the terminal and its devices: state, lines to print, an amount to type, a text to show.

use std::time::Duration;

use super::super::flow::Flow;
use super::super::{about, printing, wanted};
use super::{Job, Stage, Standing, because, refused};
use crate::nexo::enums::ErrorCondition;
use crate::nexo::output::PrintOutput;
use crate::nexo::request::RequestBody;
use crate::nexo::shared::Outcome;
use pos_till_api::{Ask, ProblemType, Said};

impl Job {
    pub(super) fn facts(&mut self, said: &Said, flow: &mut Flow<'_>) {
        match (&self.request.body, flow.facts) {
            (RequestBody::Print(print), _) => {
                let print = print.print_output.clone();
                self.print(&print, said, flow);
            }
            (_, None) => {
                let why = "the terminal has no currency; see pos-agent status";
                self.answered(because(ErrorCondition::UnavailableDevice, &why), flow);
            }
            (RequestBody::Payment(_) | RequestBody::Reversal(_), Some(_)) => {
                self.look_whether_known(Standing::default(), flow);
            }
            _ => self.start(flow),
        }
    }

    fn print(&mut self, print: &PrintOutput, said: &Said, flow: &mut Flow<'_>) {
        let has_none = matches!(said, Said::Status(status) if status.printers.is_empty());
        match printing::lines(print, flow.settings.profile) {
            _ if has_none => {
                self.answered(because(ErrorCondition::UnavailableDevice, &"the terminal has no printer"), flow);
            }
            Err(why) => {
                let why = format!("{why}; nothing was printed");
                self.answered(because(ErrorCondition::UnavailableDevice, &why), flow);
            }
            Ok(lines) => self.ask(Ask::Print(lines), Stage::Printing, flow),
        }
    }

    /// Handles the printer's answer. Without an answer, the lines are not sent again, because they may be on paper.
    pub(super) fn printed(&mut self, said: &Said, flow: &mut Flow<'_>) {
        let outcome = match said {
            Said::Refused(problem) if problem.is(ProblemType::Printer) => {
                because(ErrorCondition::DeviceOut, &problem.detail)
            }
            Said::Refused(problem) => refused(problem),
            Said::NoAnswer { may_be_done } => {
                let may = if *may_be_done { "it may be on paper" } else { "nothing was printed" };
                let why = format!("the terminal's program does not answer; {may}");
                because(ErrorCondition::UnavailableDevice, &why)
            }
            _ => Outcome::success(),
        };
        self.answered(outcome, flow);
    }

    pub(super) fn type_amount(&mut self, flow: &mut Flow<'_>) {
        let RequestBody::Input(input) = &self.request.body else { return };
        match (wanted::typed(input), flow.facts) {
            (false, _) => {
                let why = "the reader accepts only amounts: InputCommand DecimalString of Device CustomerInput";
                self.answered(because(ErrorCondition::UnavailableDevice, &why), flow);
            }
            (true, None) => self.ask(Ask::Status, Stage::Facts, flow),
            (true, Some(facts)) => {
                let most = input.input_data.max_input_time.filter(|seconds| *seconds > 0);
                // A terminal that does not answer is asked again. The time-out starts with the first question.
                let until = most.map(|seconds| flow.now.steady + Duration::from_secs(seconds.into()));
                self.ask(Ask::TypeAmount { currency: facts.currency.clone() }, Stage::Typing { until }, flow);
            }
        }
    }

    pub(super) fn show_text(&mut self, flow: &mut Flow<'_>) {
        let RequestBody::Display(display) = &self.request.body else { return };
        match printing::text_to_show(display) {
            Some(text) => self.ask(Ask::ShowText(text), Stage::Terminal, flow),
            None => {
                let why = "the reader shows only text: Device CustomerDisplay, OutputFormat Text, no MenuEntry";
                self.answered(because(ErrorCondition::UnavailableDevice, &why), flow);
            }
        }
    }

    /// Handles the answer to a question about the terminal.
    pub(super) fn terminal(&mut self, said: &Said, flow: &mut Flow<'_>) {
        let own = match (said, &flow.settings.own_sums) {
            (Said::Close(close), Some(till)) => match close.of_till(till) {
                Some(own) => Some(Said::Close(Box::new(own))),
                None => {
                    let number = close.number;
                    let why = format!("an earlier version made close {number}, without each till's own sums");
                    return self.answered(because(ErrorCondition::NotAllowed, &why), flow);
                }
            },
            _ => None,
        };
        let said = own.as_ref().unwrap_or(said);
        let outcome = match said {
            Said::Refused(problem) if problem.is(ProblemType::NothingTyped) => Outcome::failure(ErrorCondition::Cancel),
            Said::Refused(problem) => refused(problem),
            _ => Outcome::success(),
        };
        if matches!((&self.request.body, said), (RequestBody::Login(_), Said::Status(_))) {
            *flow.logged_in = true;
        }
        let body = self.request.body.answered(outcome).map(|body| about::with_facts(body, said, flow));
        self.over(body, flow);
    }
}
