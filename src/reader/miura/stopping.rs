//! The ways out of a sale before its card was read: the till cancels, a deadline passes, an answer is damaged. ABORT,
//! its race with the card, and a card that is left waiting for the host (readers: 2.8).

use std::time::Duration;

use super::line::{Ask, Line, PLAIN_ANSWER, Pending};
use super::message::{Command, Continue};
use super::sale::{Sale, Stage, Then};
use super::session::State;
use crate::reader::{NoCard, Step, Unready};

/// A declined answer for the card, never one that lets it approve by itself (design: path of a sale, 7).
const DECLINE: Command<'static> = Command::Continue(Continue::Host { arc: *b"Z1", authentication: None, scripts: &[] });

impl Sale {
    /// The till wants no card any more.
    pub(super) fn cancel(mut self: Box<Self>, line: &mut Line, now: Duration) -> State {
        let why = NoCard::CancelledByTill;
        match std::mem::take(&mut self.stage) {
            Stage::Contactless { .. } | Stage::Chip { .. } | Stage::Pin { .. } | Stage::Manual(_) => {
                self.stop(line, Then::End(why), now)
            }
            Stage::Watching | Stage::SwipeDue { .. } => self.end(line, why, now),
            Stage::Stopping { then: Then::Wait | Then::StartChip | Then::Swiped(_) } => {
                self.at(Stage::Stopping { then: Then::End(why) })
            }
            Stage::Closing { then: Then::Wait | Then::StartChip | Then::Swiped(_) } => {
                self.at(Stage::Closing { then: Then::End(why) })
            }
            // Too late: it has been told, or is about to be.
            stage => self.at(stage),
        }
    }

    /// ABORT, and then.
    pub(super) fn stop(self: Box<Self>, line: &mut Line, then: Then, now: Duration) -> State {
        line.abort(now);
        self.at(Stage::Stopping { then })
    }

    /// Nothing is outstanding: a stop is complete, once a card that waits for the host has been told "declined".
    pub(super) fn line_is_free(mut self: Box<Self>, line: &mut Line, now: Duration) -> State {
        match std::mem::take(&mut self.stage) {
            Stage::Stopping { then } if self.card_waits => {
                self.card_waits = false;
                line.ask(Ask::Continue, &DECLINE, PLAIN_ANSWER, now);
                self.at(Stage::Closing { then })
            }
            Stage::Stopping { then: Then::End(why) } => self.end(line, why, now),
            Stage::Stopping { then: Then::Wait } => self.wait(line, now),
            Stage::Stopping { then: Then::StartChip } => self.start_chip(line, now),
            Stage::Stopping { then: Then::Swiped(swipe) } => self.swiped(line, swipe, now),
            stage => self.at(stage),
        }
    }

    pub(super) fn timeout(mut self: Box<Self>, line: &mut Line, overdue: Option<Pending>, now: Duration) -> State {
        match (std::mem::take(&mut self.stage), overdue) {
            (Stage::Contactless { swipe, .. }, Some(_)) => {
                let then = match swipe {
                    Some(swipe) => Then::Swiped(swipe),
                    None if line.slot => Then::StartChip,
                    None if now >= self.until => Then::End(NoCard::TimedOut),
                    None => Then::Wait,
                };
                self.stop(line, then, now)
            }
            (stage @ (Stage::Chip { .. } | Stage::Pin { .. } | Stage::Manual(_)), Some(pending)) => {
                let unreadable = |cause: &str| NoCard::Unreadable { cause: cause.to_owned() };
                let why = match (stage, pending.disturbed) {
                    (_, true) => unreadable("the line to the reader is disturbed"),
                    (Stage::Chip { .. }, _) if !line.slot => unreadable("it was taken out too early"),
                    _ => NoCard::TimedOut,
                };
                self.stop(line, Then::End(why), now)
            }
            (Stage::Closing { then }, Some(_)) => self.stop(line, then, now),
            (Stage::Completing(completing), Some(_)) => completing.unanswered(line, now),
            (Stage::Stopping { .. }, Some(pending)) => {
                line.reopen(Unready::Restarting { cause: format!("no answer to {}", pending.name) });
                State::Closed
            }
            (Stage::Watching, None) if now >= self.until => self.end(line, NoCard::TimedOut, now),
            (Stage::SwipeDue { until }, None) if now >= until => {
                line.step(self.number(), Step::TryAgain);
                self.wait(line, now)
            }
            (Stage::Presented(reading), None) if now >= reading.until => {
                line.reopen(Unready::Restarting { cause: "no answer of the host for the card".to_owned() });
                State::Closed
            }
            (stage, _) => self.at(stage),
        }
    }
}
