//! What the till is told, frame by frame, and what its answers mean: `04 FF`, `04 0F`, receipts, and the end.

use std::collections::VecDeque;

use super::super::flow::Flow;
use super::super::outcome::{self, code_of, decimal};
use super::super::{paper, period};
use super::{ASK_AGAIN, Frame, Job, LATER, NO_ANSWER, PAUSE, Stage, T3, TRIES, fields_of};
use crate::zvt::answer::{self, Reply, Wording};
use crate::zvt::apdu::Apdu;
use crate::zvt::bmp::Fields;
use crate::zvt::code;
use crate::zvt::command::Command;
use pos_till_api::{Ask, Close, Copy, OnSilence, Said, Sale, State, Taken};

impl Job {
    pub(super) fn say_step(&mut self, sale: &Sale, flow: &mut Flow<'_>) {
        use code::intermediate::{CASHIER, HOST, INSERT_CARD, PIN_PAD, REMOVE_CARD, STILL_WAIT, WAIT, WRONG_PIN};
        let status = match (sale.state, sale.step.as_deref().unwrap_or_default()) {
            (_, "pin-entry") => PIN_PAD,
            (_, "pin-wrong") => WRONG_PIN,
            (_, "remove-card") => REMOVE_CARD,
            (_, "reading-card" | "choosing-application" | "pin-done") => WAIT,
            (State::WaitingForCard, _) => INSERT_CARD,
            (State::InProgress, _) => HOST,
            (State::AwaitingSignature, _) => CASHIER,
            _ => STILL_WAIT,
        };
        let under_way = matches!(sale.state, State::WaitingForCard | State::InProgress | State::AwaitingSignature);
        if under_way && self.last_status != Some(status) {
            self.say_intermediate(status, flow);
        }
    }

    pub(super) fn say_intermediate(&mut self, status: u8, flow: &mut Flow<'_>) {
        self.last_status = Some(status);
        if !flow.hears_intermediate() || !self.line_up {
            return;
        }
        let text = self.sale.as_ref().filter(|_| flow.has_tlv()).map(|sale| sale.text.clone());
        let text = text.as_deref().map(|text| (text, flow.charset()));
        let apdu = answer::intermediate(status, Wording { minutes: None, text });
        // One that still waits for its turn is out of date.
        self.frames.retain(|frame| !matches!(frame, Frame::Intermediate(_)));
        self.push(Frame::Intermediate(apdu), flow);
    }

    pub(super) fn tell(&mut self, result: u8, flow: &mut Flow<'_>) {
        let Some(sale) = &self.sale else { return self.end_with(code::SYSTEM, flow) };
        let echoes = fields_of(&self.command).is_some_and(|fields| fields.get(0x49).is_some());
        let mut fields = outcome::fields(sale, result, flow, echoes);
        if let Some(earlier) = &self.earlier {
            fields.set_number(0x37, earlier.number % 1_000_000);
        }
        self.stage = Stage::Telling;
        self.push(Frame::Status(answer::status(&fields, flow.settings.order)), flow);
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
            // A status that is out of date helps nobody, and its answer could not be told from the owed one.
            std::iter::from_fn(|| frames.pop_front()).find(|frame| !(owes && matches!(frame, Frame::Intermediate(_))))
        };
        if let Some(frame) = next(&mut self.frames) {
            if matches!(frame, Frame::Intermediate(_)) {
                self.waits_since = flow.now;
            }
            let (Frame::Intermediate(apdu) | Frame::Status(apdu) | Frame::Print(apdu) | Frame::Last(apdu)) = &frame;
            flow.send(self.line, apdu.clone());
            self.last_frame = flow.now;
            self.unanswered = Some((frame, flow.now + T3));
        }
    }

    /// Whether the next answer may belong to an earlier `04 FF`.
    fn owes_answer(&self, flow: &Flow<'_>) -> bool {
        self.owed > 0 && *flow.answers_intermediate
    }

    /// An answer that nothing waits for is an owed one.
    fn answered_late(&mut self, flow: &mut Flow<'_>) {
        if self.owed > 0 {
            *flow.answers_intermediate = true;
            self.owed -= 1;
        }
    }

    /// The till has answered a frame.
    pub(in crate::zvt::session) fn replied(&mut self, reply: &Reply, flow: &mut Flow<'_>) {
        let Some((frame, _)) = self.unanswered.take() else { return self.answered_late(flow) };
        match (frame, reply) {
            (Frame::Intermediate(_), _) => {
                *flow.answers_intermediate = true;
                self.send_next(flow);
            }
            // Sums, or an outcome that is told once more: nothing hangs on the till's word.
            (Frame::Status(_), Reply::Ok | Reply::Part(_) | Reply::Refused(_)) if self.stage != Stage::Telling => {
                self.send_next(flow);
            }
            // It may be the owed one: the next one decides. `84 9C` may be too, and asks for the same; only `84 9D` has
            // an amount.
            (Frame::Status(apdu), Reply::Ok | Reply::Refused(_)) if self.owes_answer(flow) => {
                self.owed -= 1;
                self.frames.push_front(Frame::Status(apdu));
                self.send_next(flow);
            }
            (Frame::Status(_), Reply::Ok) => self.acknowledged(Taken::All, flow),
            (Frame::Status(apdu), Reply::Later) => {
                let most = fields_of(&self.command).and_then(|fields| fields.byte(0x02)).unwrap_or(LATER).min(LATER);
                self.laters += 1;
                if self.laters > most {
                    return self.not_acknowledged(flow);
                }
                // Sent again when this runs out.
                self.unanswered = Some((Frame::Status(apdu), flow.now + ASK_AGAIN));
            }
            (Frame::Status(_), Reply::Part(amount)) => {
                let amount = decimal(*amount, flow.facts.decimals);
                self.acknowledged(Taken::Part { amount }, flow);
            }
            (Frame::Status(_), Reply::Refused(_)) => self.acknowledged(Taken::Nothing, flow),
            (Frame::Last(_), _) => self.stage = Stage::Over,
            // What cannot be printed is no reason to undo what the till has taken.
            (Frame::Print(_), Reply::Refused(_)) => {
                self.frames.retain(|frame| !matches!(frame, Frame::Print(_)));
                self.send_next(flow);
            }
            _ => self.send_next(flow),
        }
    }

    /// The till has not answered a frame in time.
    pub(super) fn silence(&mut self, frame: Frame, flow: &mut Flow<'_>) {
        match frame {
            Frame::Status(apdu) => {
                // After `84 9C` the till is there: those repeats are counted by it.
                self.tries += u8::from(self.laters == 0);
                if self.tries >= TRIES {
                    return self.not_acknowledged(flow);
                }
                self.frames.push_front(Frame::Status(apdu));
                self.send_next(flow);
            }
            Frame::Last(_) => self.stage = Stage::Over,
            Frame::Print(_) => {
                self.frames.retain(|frame| !matches!(frame, Frame::Print(_)));
                self.send_next(flow);
            }
            Frame::Intermediate(_) => {
                self.owed += 1;
                self.send_next(flow);
            }
        }
    }

    /// `04 0F` has arrived, and this much is taken.
    pub(super) fn acknowledged(&mut self, taken: Taken, flow: &mut Flow<'_>) {
        if self.sale.as_ref().is_some_and(|sale| sale.state == State::AwaitingTill) {
            return self.confirm(taken, flow);
        }
        self.receipts(flow);
    }

    /// Nobody has acknowledged the approval (ZVT PA00P015, 2.2.8 and 4).
    pub(super) fn not_acknowledged(&mut self, flow: &mut Flow<'_>) {
        if self.sale.as_ref().is_none_or(|sale| sale.state != State::AwaitingTill) {
            // A capture, a void or a refund stands, and `06 20` tells it.
            self.stage = Stage::Over;
            return;
        }
        match self.begin.as_ref().and_then(|begin| begin.confirm) {
            Some(OnSilence::Keep) => self.confirm(Taken::All, flow),
            _ => self.confirm(Taken::Nothing, flow),
        }
    }

    pub(super) fn confirm(&mut self, taken: Taken, flow: &mut Flow<'_>) {
        let reference = self.begin.as_ref().map(|begin| begin.reference.clone()).unwrap_or_default();
        self.taken = Some(taken.clone());
        self.ask(Ask::Confirm { reference, taken }, Stage::Confirming, flow);
    }

    pub(super) fn confirmed(&mut self, said: Said, flow: &mut Flow<'_>) {
        match said {
            // Heard, and not carried out yet: the journal cannot be written, say. It is said again, and until it is
            // recorded the till hears no end.
            Said::Sale(sale) if self.taken != Some(Taken::Nothing) && code_of(&sale) != Some(code::OK) => {
                let since = *self.unsettled_since.get_or_insert(flow.now);
                if flow.now < since + NO_ANSWER
                    && let Some(taken) = self.taken.clone()
                {
                    let ask = Ask::Confirm { reference: sale.reference, taken };
                    self.again = Some((flow.now + PAUSE, ask));
                    return;
                }
                self.failed = Some(code::COMMUNICATION);
            }
            Said::Sale(sale) => self.sale = Some(*sale),
            // Its time was over before: the terminal's own decision stands.
            _ => self.failed = Some(code::COMMUNICATION),
        }
        if self.taken == Some(Taken::Nothing) {
            self.failed = Some(code::CANCELLED);
        }
        if !self.line_up {
            self.stage = Stage::Over;
        } else if self.failed.is_some() {
            self.end(flow);
        } else {
            self.receipts(flow);
        }
    }

    pub(super) fn cancelled(&mut self, said: Said, flow: &mut Flow<'_>) {
        let (in_time, sale) = match said {
            Said::Cancelled { in_time, sale } => (in_time, Some(*sale)),
            _ => (false, None),
        };
        if self.aborting && self.line_up && self.unanswered.is_none() {
            flow.send(self.line, if in_time { Apdu::ok() } else { Apdu::refused(code::NOT_POSSIBLE) });
        }
        self.aborting = false;
        match sale {
            Some(sale) => self.watched(sale, flow),
            None => self.watch(flow),
        }
    }

    // ---- Receipts, and the end

    pub(super) fn receipts(&mut self, flow: &mut Flow<'_>) {
        let has_one = self.sale.as_ref().is_some_and(|sale| sale.state == State::Ended);
        if !flow.sends_receipts() || !has_one {
            return self.end(flow);
        }
        self.ask_receipt(Copy::Merchant, flow);
    }

    pub(super) fn ask_receipt(&mut self, copy: Copy, flow: &mut Flow<'_>) {
        let reference = self.sale.as_ref().map(|sale| sale.reference.clone()).unwrap_or_default();
        self.ask(Ask::Receipt { reference, copy, width: None }, Stage::Receipt(copy), flow);
    }

    pub(super) fn receipt(&mut self, copy: Copy, said: Said, flow: &mut Flow<'_>) {
        if let Said::Receipt(receipt) = said {
            let approved = self.sale.as_ref().is_some_and(|sale| code_of(sale) == Some(code::OK));
            self.frames.extend(paper::commands(&receipt, approved, flow).into_iter().map(Frame::Print));
        }
        match copy {
            Copy::Merchant => self.ask_receipt(Copy::Customer, flow),
            Copy::Customer => self.next_receipt(flow),
        }
    }

    pub(super) fn period(&mut self, close: &Close, flow: &mut Flow<'_>) {
        if let Command::PartialReversal(_) = self.command {
            // The question for open reservations; which one is open, the close says by its number.
            let mut fields = Fields::default();
            match close.open.iter().rfind(|item| item.is == "pre-authorisation") {
                Some(item) => fields.set_number(0x87, (item.number.saturating_sub(1)) % 9999 + 1),
                None => fields.set(0x87, [0xFF, 0xFF]),
            }
            return self.last(answer::abort(code::NO_RESERVATION, &fields), flow);
        }
        let fields = period::fields(close, flow);
        self.push(Frame::Status(answer::status(&fields, flow.settings.order)), flow);
        if flow.sends_administration() && matches!(self.command, Command::EndOfDay(_)) {
            let lines = period::lines(close, paper::width(flow));
            self.frames.extend(paper::of_administration(&lines, flow).into_iter().map(Frame::Print));
        }
        self.end(flow);
    }

    /// `06 20`: the present truth about the latest transaction.
    pub(super) fn repeated(&mut self, sale: Sale, flow: &mut Flow<'_>) {
        let fields = match &self.command {
            Command::RepeatReceipt(guarded) => guarded.fields.clone(),
            _ => Fields::default(),
        };
        let Some(result) = code_of(&sale).filter(|code| *code != code::COMMUNICATION) else {
            // Nobody knows yet, or the till has not said what it takes.
            return self.end_with(code::LINE, flow);
        };
        let service = fields.byte(0x03).unwrap_or(0);
        let prints = service & 0x02 == 0;
        self.sale = Some(sale);
        if service & 0x01 != 0 || fields.is_empty() {
            let Some(sale) = &self.sale else { return };
            let status = outcome::fields(sale, result, flow, true);
            self.push(Frame::Status(answer::status(&status, flow.settings.order)), flow);
        }
        if prints && flow.prints_payments() {
            return self.print_again(Copy::Customer, flow);
        }
        if prints && flow.sends_receipts() { self.ask_receipt(Copy::Merchant, flow) } else { self.end(flow) }
    }

    pub(super) fn end_with(&mut self, code: u8, flow: &mut Flow<'_>) {
        self.failed = Some(code);
        self.end(flow);
    }

    pub(super) fn end(&mut self, flow: &mut Flow<'_>) {
        let apdu = match self.failed {
            Some(code) => answer::abort(code, &Fields::default()),
            None => answer::completion(&Fields::default()),
        };
        self.last(apdu, flow);
    }

    pub(super) fn last(&mut self, apdu: Apdu, flow: &mut Flow<'_>) {
        if std::mem::take(&mut self.aborting) && self.line_up {
            flow.send(self.line, Apdu::refused(code::NOT_POSSIBLE));
        }
        (self.ticket, self.again) = (None, None);
        self.stage = if self.line_up { Stage::Ending } else { Stage::Over };
        if self.line_up {
            self.push(Frame::Last(apdu), flow);
        }
    }
}
