//! A close of day that a till requests. It is made once, and an old close never replaces a new one.
//!
//! The message contains no transaction of the till. Its reference comes from its ServiceID, which may occur again after
//! 48 hours.
//!
//! | the close under this reference | the last close | response |
//! |---|---|---|
//! | none | | a close is made |
//! | made within 48 hours | the same one | its answer is repeated |
//! | made within 48 hours | a newer one | refused: the old sums are out of date, and no close is made |
//! | older | made by this message, within 48 hours | its answer is repeated |
//! | older | another one | a new close is made after the last one |

use super::super::flow::Flow;
use super::{Job, SERVICE_ID_LASTS_S, Stage, because, refused};
use crate::clock::unix_s;
use crate::nexo::enums::ErrorCondition;
use pos_till_api::{Ask, Close, Said};

impl Job {
    pub(super) fn close(&mut self, reference: String, stage: Stage, flow: &mut Flow<'_>) {
        let print = flow.settings.terminal_prints;
        self.ask(Ask::Close { reference, print }, stage, flow);
    }

    pub(super) fn closing(&mut self, said: Said, flow: &mut Flow<'_>) {
        match said {
            Said::Close(close) if close.replayed => {
                self.ask(Ask::LastClose, Stage::LastClose(close), flow);
            }
            said => self.terminal(&said, flow),
        }
    }

    /// Handles the last close. `known` is the earlier close under this reference.
    pub(super) fn last_close(&mut self, known: Box<Close>, said: &Said, flow: &mut Flow<'_>) {
        let last = match said {
            Said::Close(last) => last,
            Said::Refused(problem) => return self.answered(refused(problem), flow),
            _ => return self.nobody_answers(false, flow),
        };
        let is_new = |close: &Close| {
            let until = unix_s(&close.period.to).map(|at| at.saturating_add(SERVICE_ID_LASTS_S));
            until.is_none_or(|until| until >= flow.now.unix_s)
        };
        if is_new(&known) && last.number > known.number {
            let id = self.request.header.service_id();
            let (made, newer) = (known.number, last.number);
            let why = format!(
                "ServiceID {id} made close {made} within 48 hours, and close {newer} followed; give a new close its \
                 own ServiceID"
            );
            return self.answered(because(ErrorCondition::NotAllowed, &why), flow);
        }
        if is_new(&known) {
            return self.terminal(&Said::Close(known), flow);
        }
        let own = last.number.checked_sub(1).map(|before| self.after(before));
        if own.is_some() && last.reference == own && is_new(last) {
            return self.terminal(said, flow);
        }
        self.close(self.after(last.number), Stage::Terminal, flow);
    }

    /// Returns this message's reference for the close that follows the close with this number.
    fn after(&self, number: u64) -> String {
        self.identity().reference_of(&format!("after close {number}"))
    }
}
