//! The ways out of a transaction before its card was read: the till cancels, a deadline passes, or an answer is
//! damaged. This module handles the abort, its race with the card, and a card that still waits for the gateway
//! (readers: 2.8).

use std::time::Duration;

use super::line::{PLAIN_ANSWER, PendingAnswer, ReaderLine};
use super::next::Next;
use super::sale::{AfterAbort, SaleAtReader, SaleNext, SaleStage};
use crate::capability::Capability;
use crate::family::{HostAnswer, ReaderQuestion, TransactionData};
use crate::{NoCard, ReaderProgress, Unready};

/// The answer "declined" for the card. With it, the card cannot approve offline (design: path of a sale, 7).
const DECLINE: HostAnswer<'static> = HostAnswer { arc: *b"Z1", authentication: None, scripts: &[] };

impl SaleAtReader {
    /// Cancels the transaction for the till.
    pub(super) fn cancel(mut self: Box<Self>, line: &mut ReaderLine, now: Duration) -> SaleNext {
        let why = NoCard::CancelledByTill;
        match std::mem::take(&mut self.stage) {
            SaleStage::Contactless { .. } | SaleStage::Chip { .. } | SaleStage::Pin { .. } | SaleStage::Manual(_) => {
                self.stop(line, AfterAbort::End(why), now)
            }
            SaleStage::ChipPin { .. } => {
                self.card_waits = true;
                self.stop(line, AfterAbort::End(why), now)
            }
            SaleStage::Watching | SaleStage::SwipeDue { .. } => self.end(line, why, now),
            SaleStage::Stopping { then: AfterAbort::Wait | AfterAbort::StartChip | AfterAbort::Swiped(_) } => {
                self.at(SaleStage::Stopping { then: AfterAbort::End(why) })
            }
            SaleStage::Closing { then: AfterAbort::Wait | AfterAbort::StartChip | AfterAbort::Swiped(_) } => {
                self.at(SaleStage::Closing { then: AfterAbort::End(why) })
            }
            // The cancellation comes too late, because the end has been reported or is about to be.
            stage => self.at(stage),
        }
    }

    /// Sends the abort. The given step follows.
    pub(super) fn stop(self: Box<Self>, line: &mut ReaderLine, then: AfterAbort, now: Duration) -> SaleNext {
        line.abort(now);
        self.at(SaleStage::Stopping { then })
    }

    /// Completes a stop when no answer is outstanding. A card that waits for the gateway first receives the answer
    /// "declined". After a tap, that is so only if the family's readers take an answer.
    pub(super) fn line_is_free(mut self: Box<Self>, line: &mut ReaderLine, now: Duration) -> SaleNext {
        match std::mem::take(&mut self.stage) {
            SaleStage::Stopping { then } if self.card_waits => {
                self.card_waits = false;
                if self.tapped && !line.speaker.can(Capability::TellsTap) {
                    return self.with(SaleStage::Stopping { then }).line_is_free(line, now);
                }
                let (transaction, contactless) = (TransactionData::from(&self.arm), self.tapped);
                line.ask(&ReaderQuestion::Host { transaction, answer: DECLINE, contactless }, PLAIN_ANSWER, now);
                self.at(SaleStage::Closing { then })
            }
            SaleStage::Stopping { then: AfterAbort::End(why) } => self.end(line, why, now),
            SaleStage::Stopping { then: AfterAbort::Wait } => self.wait(line, now),
            SaleStage::Stopping { then: AfterAbort::StartChip } => self.start_chip(line, now),
            SaleStage::Stopping { then: AfterAbort::Swiped(swipe) } => self.swiped(line, swipe, now),
            stage => self.at(stage),
        }
    }

    pub(super) fn timeout(
        mut self: Box<Self>,
        line: &mut ReaderLine,
        overdue: Option<PendingAnswer>,
        now: Duration,
    ) -> SaleNext {
        match (std::mem::take(&mut self.stage), overdue) {
            (SaleStage::Contactless { swipe, .. }, Some(_)) => {
                let then = match swipe {
                    Some(swipe) => AfterAbort::Swiped(swipe),
                    None if line.slot => AfterAbort::StartChip,
                    None if now >= self.until => AfterAbort::End(NoCard::TimedOut),
                    None => AfterAbort::Wait,
                };
                self.stop(line, then, now)
            }
            (stage @ (SaleStage::Chip { .. } | SaleStage::Pin { .. } | SaleStage::Manual(_)), Some(pending)) => {
                let unreadable = |cause: &str| NoCard::Unreadable { cause: cause.to_owned() };
                let why = match (stage, pending.disturbed) {
                    (_, true) => unreadable("the line to the reader is disturbed"),
                    (SaleStage::Chip { .. }, _) if !line.slot && line.speaker.can(Capability::SlotEvents) => {
                        unreadable("it was removed too early")
                    }
                    _ => NoCard::TimedOut,
                };
                self.stop(line, AfterAbort::End(why), now)
            }
            (SaleStage::ChipPin { .. }, Some(pending)) => {
                self.card_waits = true;
                let unreadable = |cause: &str| NoCard::Unreadable { cause: cause.to_owned() };
                let why = match pending.disturbed {
                    true => unreadable("the line to the reader is disturbed"),
                    false if !self.tapped && !line.slot && line.speaker.can(Capability::SlotEvents) => {
                        unreadable("it was removed too early")
                    }
                    false => NoCard::TimedOut,
                };
                self.stop(line, AfterAbort::End(why), now)
            }
            (SaleStage::Closing { then }, Some(_)) => self.stop(line, then, now),
            (SaleStage::Completing(running), Some(_)) => {
                running.unanswered(line, now).map(|running| self.with(SaleStage::Completing(running)))
            }
            (stage @ SaleStage::Stopping { .. }, Some(pending)) if pending.may_stay_out => {
                line.take_answered();
                // A reader answers its commands in order. So a late answer comes before the one to this question, and
                // is never taken for a card of the next transaction (design: invariant 5).
                line.ask(&ReaderQuestion::CardStatus, PLAIN_ANSWER, now);
                self.at(stage)
            }
            (SaleStage::Stopping { .. }, Some(pending)) => Next::unanswered(pending.name),
            (SaleStage::Watching, None) if now >= self.until => self.end(line, NoCard::TimedOut, now),
            (SaleStage::SwipeDue { until }, None) if now >= until => {
                line.progress(self.number(), ReaderProgress::TryAgain);
                self.wait(line, now)
            }
            (SaleStage::Presented(awaiting), None) if now >= awaiting.until => {
                Next::Reopen(Unready::Restarting { cause: "no answer from the gateway for the card".to_owned() })
            }
            (stage, _) => self.at(stage),
        }
    }
}
