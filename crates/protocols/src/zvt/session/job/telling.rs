//! Frames for the till (`04 FF`, `04 0F`, receipts and the end), and the meaning of its answers.

use super::super::flow::Flow;
use super::super::outcome::{self, code_of, decimal};
use super::super::{paper, period};
use super::till::Frame;
use super::{
    ASK_AGAIN, AwaitingReceipt, Job, LATER, LONGEST_UNSETTLED, Payment, Slip, Stage, StatusReport, TRIES, Then,
    fields_of,
};
use crate::zvt::answer::{self, Reply};
use crate::zvt::apdu::Apdu;
use crate::zvt::bmp::Fields;
use crate::zvt::code;
use crate::zvt::command::Command;
use pos_till_api::follow::{Follower, Heard, PAUSE};
use pos_till_api::{Ask, Close, Copy, OnSilence, Said, Sale, State, Taken};

impl Job {
    pub(super) fn tell(&mut self, payment: Payment, sale: Box<Sale>, result: u8, flow: &mut Flow<'_>) {
        let echoes = fields_of(&self.command).is_some_and(|fields| fields.get(0x49).is_some());
        let mut fields = outcome::fields(&sale, result, flow, echoes);
        if let Some(earlier) = &payment.earlier {
            fields.set_number(0x37, earlier.number % 1_000_000);
        }
        let Payment { follower, confirm, .. } = payment;
        self.stage = Stage::Telling(StatusReport { follower, confirm, sale, result });
        self.till.push_status(&fields, flow);
    }

    /// Handles the till's answer to a frame.
    pub(in crate::zvt::session) fn replied(&mut self, reply: &Reply, flow: &mut Flow<'_>) {
        let Some((frame, _)) = self.till.unanswered.take() else { return self.till.answered_late(flow) };
        match (frame, reply) {
            (Frame::Intermediate(_), _) => {
                *flow.answers_intermediate = true;
                self.till.send_next(flow);
            }
            (Frame::Status(apdu, mut tries), Reply::Later) => {
                let most = fields_of(&self.command).and_then(|fields| fields.byte(0x02)).unwrap_or(LATER).min(LATER);
                tries.later += 1;
                if tries.later > most {
                    return self.not_acknowledged(flow);
                }
                // The frame is sent again at this deadline.
                self.till.unanswered = Some((Frame::Status(apdu, tries), flow.now + ASK_AGAIN));
            }
            // This answer may be the owed one, so the next answer decides. `84 9C` may also be the owed one, but has
            // the same effect either way. Only `84 9D` has an amount and cannot be the owed answer.
            (Frame::Status(apdu, tries), Reply::Ok | Reply::Refused(_))
                if matches!(self.stage, Stage::Telling(_)) && self.till.owes_answer(flow) =>
            {
                self.till.owed -= 1;
                self.till.repeat(apdu, tries, flow);
            }
            (Frame::Status(..), Reply::Ok) => self.acknowledged(Taken::All, flow),
            (Frame::Status(..), Reply::Part(amount)) => {
                let amount = decimal(*amount, flow.facts.decimals);
                self.acknowledged(Taken::Part { amount }, flow);
            }
            (Frame::Status(..), Reply::Refused(_)) => self.acknowledged(Taken::Nothing, flow),
            (Frame::Last(_), _) => self.stage = Stage::Over,
            (Frame::Print(_), Reply::Refused(_)) => self.till.print_no_more(flow),
            _ => self.till.send_next(flow),
        }
    }

    /// Handles a frame that the till has not answered in time.
    pub(super) fn silence(&mut self, frame: Frame, flow: &mut Flow<'_>) {
        match frame {
            Frame::Status(apdu, mut tries) => {
                // `84 9C` shows that the till is connected. Those repeats have their own counter.
                tries.silent += u8::from(tries.later == 0);
                if tries.silent >= TRIES {
                    return self.not_acknowledged(flow);
                }
                self.till.repeat(apdu, tries, flow);
            }
            Frame::Last(_) => self.stage = Stage::Over,
            Frame::Print(_) => self.till.print_no_more(flow),
            Frame::Intermediate(_) => {
                self.till.owed += 1;
                self.till.send_next(flow);
            }
        }
    }

    /// Handles the acknowledgement of `04 0F`. `taken` is the part that the till takes.
    fn acknowledged(&mut self, taken: Taken, flow: &mut Flow<'_>) {
        match self.leave() {
            Stage::Telling(told) if told.sale.state == State::AwaitingTill => self.confirm(told.follower, taken, flow),
            Stage::Telling(told) => {
                let failed = Some(told.result).filter(|code| *code != code::OK);
                self.receipts(&told.sale, failed, flow);
            }
            // The frame has sums, or repeats an outcome, so the till's answer decides nothing.
            stage => {
                self.stage = stage;
                self.till.send_next(flow);
            }
        }
    }

    fn not_acknowledged(&mut self, flow: &mut Flow<'_>) {
        if let Stage::Telling(told) = self.leave() {
            self.not_heard(told, flow);
        }
    }

    /// Handles a `04 0F` that no till has acknowledged. A capture, a reversal or a refund remains valid, and `06 20`
    /// returns it.
    pub(super) fn not_heard(&mut self, told: StatusReport, flow: &mut Flow<'_>) {
        if told.sale.state == State::AwaitingTill {
            self.confirm_by_silence(told.follower, told.confirm, flow);
        }
    }

    /// Keeps or rejects an approval that the till has not acknowledged (ZVT PA00P015, 2.2.8 and 4).
    pub(super) fn confirm_by_silence(&mut self, follower: Follower, confirm: Option<OnSilence>, flow: &mut Flow<'_>) {
        match confirm {
            Some(OnSilence::Keep) => self.confirm(follower, Taken::All, flow),
            _ => self.confirm(follower, Taken::Nothing, flow),
        }
    }

    fn confirm(&mut self, mut follower: Follower, taken: Taken, flow: &mut Flow<'_>) {
        let ask = follower.confirm(taken.clone());
        self.ask(ask, Stage::AwaitingReceipt(AwaitingReceipt { follower, taken, unsettled_since: None }), flow);
    }

    pub(super) fn confirmed(&mut self, mut confirming: AwaitingReceipt, said: Said, flow: &mut Flow<'_>) {
        let takes = confirming.taken != Taken::Nothing;
        let code = match confirming.follower.said(said, flow.now) {
            Heard::Next { at, ask } => return self.ask_at(at, ask, Stage::AwaitingReceipt(confirming), flow),
            // The terminal has the confirmation but has not carried it out, for example because the journal cannot be
            // written. The session sends it again. The till gets no final frame until the confirmation is recorded.
            Heard::Stands(sale) if sale.state == State::AwaitingTill || takes && code_of(&sale) != Some(code::OK) => {
                let since = *confirming.unsettled_since.get_or_insert(flow.now);
                if flow.now < since + LONGEST_UNSETTLED {
                    let ask = confirming.follower.ask();
                    return self.ask_at(flow.now + PAUSE, ask, Stage::AwaitingReceipt(confirming), flow);
                }
                code::COMMUNICATION
            }
            Heard::Stands(sale) if takes && self.till.is_up => return self.receipts(&sale, None, flow),
            // The terminal's deadline has passed, so the terminal has decided. It may have kept the payment.
            Heard::Silent { .. } | Heard::Refused(_) => code::COMMUNICATION,
            _ if takes => code::COMMUNICATION,
            _ => code::CANCELLED,
        };
        self.end_with(code, flow);
    }

    /// Answers the till's `06 B0` if an answer is due.
    pub(super) fn answer_abort(&mut self, in_time: bool, flow: &mut Flow<'_>) {
        let aborts = std::mem::take(&mut self.till.is_aborting);
        if aborts && self.till.is_up && self.till.unanswered.is_none() {
            flow.send(self.till.line, if in_time { Apdu::ok() } else { Apdu::refused(code::NOT_POSSIBLE) });
        }
    }

    // ---- Receipts and the end

    fn receipts(&mut self, sale: &Sale, failed: Option<u8>, flow: &mut Flow<'_>) {
        if flow.sends_receipts() && sale.state == State::Ended {
            self.ask_receipts(sale, Then::End(failed), false, flow);
        } else {
            self.finish(failed, flow);
        }
    }

    /// Asks for both copies of an approved payment. For any other transaction, one slip is enough.
    pub(super) fn ask_receipts(&mut self, sale: &Sale, then: Then, again: bool, flow: &mut Flow<'_>) {
        let approved = code_of(sale) == Some(code::OK);
        let copy = if approved { Copy::Merchant } else { Copy::Customer };
        self.ask_receipt(Slip { reference: sale.reference.clone(), copy, again, then }, approved, flow);
    }

    fn ask_receipt(&mut self, slip: Slip, approved: bool, flow: &mut Flow<'_>) {
        let ask =
            Ask::Receipt { reference: slip.reference.clone(), copy: slip.copy, width: None, duplicate: slip.again };
        self.ask(ask, Stage::Receipt { slip, approved }, flow);
    }

    pub(super) fn receipt(&mut self, slip: Slip, approved: bool, said: Said, flow: &mut Flow<'_>) {
        if let Said::Receipt(receipt) = said {
            self.till.frames.extend(paper::commands(&receipt, approved, flow).into_iter().map(Frame::Print));
        }
        match slip.copy {
            Copy::Merchant => self.ask_receipt(Slip { copy: Copy::Customer, ..slip }, approved, flow),
            Copy::Customer => self.go_on(slip.then, flow),
        }
    }

    pub(super) fn go_on(&mut self, then: Then, flow: &mut Flow<'_>) {
        match then {
            Then::End(failed) => self.finish(failed, flow),
            Then::Next(range) => self.next_receipt(range, flow),
        }
    }

    pub(super) fn period(&mut self, close: &Close, flow: &mut Flow<'_>) {
        if let Command::PartialReversal(_) = self.command {
            // The command asks for open reservations. The close lists them with their numbers.
            let mut fields = Fields::default();
            match close.open.iter().rfind(|item| item.is == "pre-authorisation") {
                Some(item) => fields.set_number(0x87, period::receipt(item.number).into()),
                None => fields.set(0x87, [0xFF, 0xFF]),
            }
            return self.last(answer::abort(code::NO_RESERVATION, &fields), flow);
        }
        let own = flow.settings.own_sums.as_deref().map(|till| close.of_till(till));
        let Some(close) = own.as_ref().map_or(Some(close), Option::as_ref) else {
            // The close was made, but this till's own sums are unknown.
            return self.end_with(code::PROCESSING, flow);
        };
        let fields = period::fields(close, flow);
        self.till.push_status(&fields, flow);
        if flow.sends_administration() && matches!(self.command, Command::EndOfDay(_)) {
            let lines = period::lines(close, flow.settings.own_sums.as_deref(), paper::width(flow));
            self.till.frames.extend(paper::of_administration(&lines, flow).into_iter().map(Frame::Print));
        }
        self.end(flow);
    }

    /// Handles `06 20`: sends the current state of the latest transaction.
    pub(super) fn repeated(&mut self, sale: &Sale, flow: &mut Flow<'_>) {
        let fields = match &self.command {
            Command::RepeatReceipt(guarded) => guarded.fields.clone(),
            _ => Fields::default(),
        };
        let Some(result) = code_of(sale).filter(|code| *code != code::COMMUNICATION) else {
            // The outcome is unknown, or the till has not confirmed the approval.
            return self.end_with(code::LINE, flow);
        };
        let service = fields.byte(0x03).unwrap_or(0);
        let prints = service & 0x02 == 0;
        if service & 0x01 != 0 || fields.is_empty() {
            self.till.push_status(&outcome::fields(sale, result, flow, true), flow);
        }
        let then = Then::End(None);
        if prints && flow.prints_payments() {
            self.print_again(Slip { reference: sale.reference.clone(), copy: Copy::Customer, again: true, then }, flow);
        } else if prints && flow.sends_receipts() {
            self.ask_receipts(sale, then, true, flow);
        } else {
            self.end(flow);
        }
    }

    pub(super) fn finish(&mut self, failed: Option<u8>, flow: &mut Flow<'_>) {
        match failed {
            Some(code) => self.end_with(code, flow),
            None => self.end(flow),
        }
    }

    pub(super) fn end_with(&mut self, code: u8, flow: &mut Flow<'_>) {
        self.last(answer::abort(code, &Fields::default()), flow);
    }

    pub(super) fn end(&mut self, flow: &mut Flow<'_>) {
        self.last(answer::completion(&Fields::default()), flow);
    }

    pub(super) fn last(&mut self, apdu: Apdu, flow: &mut Flow<'_>) {
        if std::mem::take(&mut self.till.is_aborting) && self.till.is_up {
            flow.send(self.till.line, Apdu::refused(code::NOT_POSSIBLE));
        }
        self.question = None;
        self.stage = if self.till.is_up { Stage::Ending } else { Stage::Over };
        if self.till.is_up {
            self.till.push(Frame::Last(apdu), flow);
        }
    }
}
