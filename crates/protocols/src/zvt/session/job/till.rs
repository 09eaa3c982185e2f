//! The till during a command, in any stage. Frames go out to it one at a time, and its missing answers are counted.

use std::collections::VecDeque;
use std::time::Duration;

use super::super::Line;
use super::super::flow::Flow;
use super::T3;
use crate::zvt::answer::{self, Wording};
use crate::zvt::apdu::Apdu;
use crate::zvt::bmp::{CONTAINER, Fields};
use crate::zvt::code;
use pos_till_api::{Sale, State};

/// Minimum time before another text of the same step is sent.
const NEWS: Duration = Duration::from_secs(1);

/// A frame that waits to be sent.
#[derive(Clone, Debug)]
pub(super) enum Frame {
    Intermediate(Apdu),
    /// `04 0F`. Its answer decides about the payment.
    Status(Apdu, Tries),
    Print(Apdu),
    Last(Apdu),
}

/// Number of sends without an answer, and number of `84 9C` answers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tries {
    pub(super) silent: u8,
    pub(super) later: u8,
}

#[derive(Debug, Default)]
pub(super) struct Till {
    pub(super) line: Line,
    pub(super) is_up: bool,
    /// The time since which the till has been waiting: the time of its command, or of the last intermediate status,
    /// which restarts its time-out.
    pub(super) waits_since: Duration,
    /// The till wants intermediate statuses.
    pub(super) hears: bool,
    /// The number of intermediate statuses that the till has not answered within T3.
    pub(super) owed: u32,
    /// The till's `06 B0` is not answered yet.
    pub(super) is_aborting: bool,
    pub(super) frames: VecDeque<Frame>,
    /// The frame without an answer, and the deadline for the answer.
    pub(super) unanswered: Option<(Frame, Duration)>,
    pub(super) last_frame: Duration,
    pub(super) last_status: Option<u8>,
    /// The text of the last status.
    pub(super) last_text: String,
}

impl Till {
    pub(super) fn new(line: Line, now: Duration) -> Self {
        Self { line, is_up: true, waits_since: now, last_frame: now, ..Self::default() }
    }

    /// Returns whether the till gets no sign that its command is still in progress.
    pub(super) fn hears_nothing(&self) -> bool {
        !self.hears || self.owed > 0
    }

    /// Sends the terminal's current step if it is new.
    pub(super) fn say_step(&mut self, sale: &Sale, flow: &mut Flow<'_>) {
        use code::intermediate::{CASHIER, HOST, INSERT_CARD, PIN_PAD, REMOVE_CARD, STILL_WAIT, WAIT, WRONG_PIN};
        let status = match (sale.state, sale.step.as_deref().unwrap_or_default()) {
            (_, "pin-entry" | "choosing-tip") => PIN_PAD,
            (_, "pin-wrong") => WRONG_PIN,
            (_, "remove-card") => REMOVE_CARD,
            (_, "reading-card" | "choosing-application" | "pin-done") => WAIT,
            (State::WaitingForCard, _) => INSERT_CARD,
            (State::InProgress, _) => HOST,
            (State::AwaitingSignature, _) => CASHIER,
            _ => STILL_WAIT,
        };
        let under_way = matches!(sale.state, State::WaitingForCard | State::InProgress | State::AwaitingSignature);
        // The network must not reveal when a digit of the PIN is typed.
        let is_later = status != PIN_PAD && flow.now >= self.last_frame + NEWS;
        let is_new = self.last_status != Some(status) || flow.has_tlv() && is_later && self.last_text != sale.text;
        if under_way && is_new {
            self.say_intermediate(status, Some(&sale.text), flow);
        }
    }

    pub(super) fn say_intermediate(&mut self, status: u8, text: Option<&str>, flow: &mut Flow<'_>) {
        self.last_status = Some(status);
        self.last_text = text.unwrap_or_default().to_owned();
        if !flow.hears_intermediate() || !self.is_up {
            return;
        }
        let text = text.filter(|_| flow.has_tlv()).map(|text| (text, flow.charset()));
        let apdu = answer::intermediate(status, Wording { minutes: None, text });
        // A status that is still waiting is outdated.
        self.frames.retain(|frame| !matches!(frame, Frame::Intermediate(_)));
        self.push(Frame::Intermediate(apdu), flow);
    }

    pub(super) fn push_status(&mut self, fields: &Fields, flow: &mut Flow<'_>) {
        let mut fields = fields.clone();
        if !flow.settings.status_containers {
            fields.remove(CONTAINER);
        }
        self.push(Frame::Status(answer::status(&fields, flow.settings.order), Tries::default()), flow);
    }

    pub(super) fn push(&mut self, frame: Frame, flow: &mut Flow<'_>) {
        self.frames.push_back(frame);
        self.send_next(flow);
    }

    pub(super) fn send_next(&mut self, flow: &mut Flow<'_>) {
        if self.unanswered.is_some() {
            return;
        }
        let owes = self.owes_answer(flow);
        let next = |frames: &mut VecDeque<Frame>| {
            // An outdated status is useless, and its answer could not be distinguished from the owed one.
            std::iter::from_fn(|| frames.pop_front()).find(|frame| !(owes && matches!(frame, Frame::Intermediate(_))))
        };
        if let Some(frame) = next(&mut self.frames) {
            if matches!(frame, Frame::Intermediate(_)) {
                self.waits_since = flow.now;
            }
            let (Frame::Intermediate(apdu) | Frame::Status(apdu, _) | Frame::Print(apdu) | Frame::Last(apdu)) = &frame;
            flow.send(self.line, apdu.clone());
            self.last_frame = flow.now;
            self.unanswered = Some((frame, flow.now + T3));
        }
    }

    /// Returns whether the next answer may belong to an earlier `04 FF`.
    pub(super) fn owes_answer(&self, flow: &Flow<'_>) -> bool {
        self.owed > 0 && *flow.answers_intermediate
    }

    /// Handles an answer when no frame is waiting for one. Such an answer is an owed one.
    pub(super) fn answered_late(&mut self, flow: &mut Flow<'_>) {
        if self.owed > 0 {
            *flow.answers_intermediate = true;
            self.owed -= 1;
        }
    }

    /// Sends `04 0F` again before any other frame.
    pub(super) fn repeat(&mut self, apdu: Apdu, tries: Tries, flow: &mut Flow<'_>) {
        self.frames.push_front(Frame::Status(apdu, tries));
        self.send_next(flow);
    }

    /// Drops the remaining print commands. A printing problem at the till does not undo the payment.
    pub(super) fn print_no_more(&mut self, flow: &mut Flow<'_>) {
        self.frames.retain(|frame| !matches!(frame, Frame::Print(_)));
        self.send_next(flow);
    }
}
