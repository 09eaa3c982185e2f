//! A sale's chip in the slot: START TRANSACTION, and what a reader may want decided on the way (readers: 2.5, 2.7).

use std::time::Duration;

use super::line::{Ask, CARDHOLDER, Line};
use super::message::{Choice, Command, Continue, Outcome, Status, Template, Terms};
use super::reading::Interface;
use super::sale::{Sale, Stage, Then};
use super::session::{State, lost};
use super::words::Words;
use crate::reader::{NoCard, Step};

/// How often one sale starts the chip; a card that was pulled or failed may be tried again.
const MAX_CHIP_STARTS: u8 = 5;
/// How many E2 one START may bring; with the selection on the reader there should be none (readers: 2.5).
const MAX_DECISIONS: u8 = 8;
/// C0 for an E2 that offers no application (a referral: somebody should telephone): no. Nobody here can decide it.
/// UNCERTAIN: 01 as yes and 00 as no are seen in the vendor's source without their words (readers: 2.7).
const DECIDED_NO: u8 = 0x00;

impl Sale {
    pub(super) fn start_chip(mut self: Box<Self>, line: &mut Line, now: Duration) -> State {
        if self.chip_starts == MAX_CHIP_STARTS {
            return self.unreadable(line, "it failed too often", now);
        }
        self.chip_starts += 1;
        self.tries_left = None;
        self.stage = Stage::Chip { decisions: 0 };
        line.step(self.number(), Step::ReadingCard);
        line.ask(Ask::Start, &Command::StartTransaction(Terms::from(&self.arm)), CARDHOLDER, now);
        State::Sale(self)
    }

    pub(super) fn chip_answered(
        mut self: Box<Self>,
        line: &mut Line,
        outcome: Result<Outcome<'_>, Status>,
        decisions: u8,
        now: Duration,
    ) -> State {
        match outcome {
            Ok(outcome) if outcome.template == Template::Decision => self.decide(line, &outcome, decisions, now),
            Ok(outcome) => self.read(line, &outcome, Interface::Contact, now),
            Err(Status::CANCELLED) => self.end(line, NoCard::CancelledAtReader, now),
            Err(Status::UNSUPPORTED_CARD | Status::CARD_READ_ERROR) => {
                self.chip_failed = true;
                self.watch(line, Step::SwipeCard, &[Words::RemoveCard, Words::SwipeCard], now)
            }
            Err(Status::NO_CARD) => {
                line.slot = false;
                line.step(self.number(), Step::TryAgain);
                self.wait(line, now)
            }
            Err(Status::OK) => self.damaged(line, now),
            Err(status @ (Status::NOT_READY | Status::NOT_ALLOWED)) => lost(line, status, now),
            Err(Status::NO_PIN_KEY | Status::NOT_ENCRYPTED) => self.no_key_left(line, now),
            Err(status) => self.unreadable(line, status.words(), now),
        }
    }

    /// E2, although the selection is the reader's: the first application, which has the highest priority, else "no".
    ///
    /// UNCERTAIN: the form of the list, and that its first application is the one of highest priority. A cardholder who
    /// wanted another one sees on the receipt which it was; the amount is what it is.
    fn decide(mut self: Box<Self>, line: &mut Line, outcome: &Outcome<'_>, decisions: u8, now: Duration) -> State {
        self.hear_language(outcome.tlvs());
        if decisions == MAX_DECISIONS {
            let why = NoCard::Unreadable { cause: "the reader asks for too many decisions".to_owned() };
            return self.stop(line, Then::End(why), now);
        }
        let decision = match Choice::first(outcome.tlvs()) {
            Ok(Some(choice)) => Continue::Choose(choice),
            Ok(None) => Continue::Decision(DECIDED_NO),
            Err(_) => return self.damaged(line, now),
        };
        line.ask(Ask::Continue, &Command::Continue(decision), CARDHOLDER, now);
        self.at(Stage::Chip { decisions: decisions + 1 })
    }

    /// An answer with a hole in it: the card may be waiting for the host.
    pub(super) fn damaged(mut self: Box<Self>, line: &mut Line, now: Duration) -> State {
        let why = NoCard::Unreadable { cause: "the reader's answer was damaged".to_owned() };
        self.card_waits = true;
        self.stop(line, Then::End(why), now)
    }
}
