//! One sale at the reader up to the card that was read: contactless runs while insert and swipe are watched, then chip, tap or
//! swipe; time-outs, cancelling, and the ABORT race (readers: 2.5 to 2.9). What follows the host's answer is in `completing`.

use std::time::Duration;

use super::completing::{Completing, Reading, Removing};
use super::event::KEY_CANCEL;
use super::line::{Ask, CARDHOLDER, Line, PLAIN_ANSWER, Pending};
use super::message::{CardStatus, Command, Continue, DeviceStatus, Outcome, Status, Template, Terms};
use super::reading::{self, Interface, Refusal, Swipe};
use super::session::{State, outcome};
use crate::card::{EntryMode, mask_pans};
use crate::reader::{Arm, Completion, Event, NoCard, Step, Unready};

/// The swipe's own message, when 9F44 came before it.
const SWIPE_AFTER_STATUS: Duration = Duration::from_secs(2);
/// 9F43 or 9F44, when the card's own message came before it.
const STATUS_AFTER_CARD: Duration = Duration::from_secs(5);
/// A contactless wait that ends sooner than this did not wait: asking again at once would be a loop.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
/// How often one sale starts the chip; a card that was pulled or failed may be tried again.
const MAX_CHIP_STARTS: u8 = 5;
/// How many E2 one START may bring; with the selection on the reader there should be none (readers: 2.5).
const MAX_DECISIONS: u8 = 8;
/// A declined answer for the card, never one that lets it approve by itself (design: path of a sale, 7).
const DECLINE: Command<'static> = Command::Continue(Continue::Host { arc: *b"Z1", authentication: None, scripts: &[] });

/// A sale from [`Order::Arm`](crate::reader::Order::Arm) to its end.
pub(super) struct Sale {
    pub(super) arm: Arm,
    /// When waiting for a card ends.
    until: Duration,
    /// The chip failed in this very sale: a swipe is its fallback.
    pub(super) chip_failed: bool,
    chip_starts: u8,
    /// A card waits for an answer to its E4 that nobody will ask the host for.
    card_waits: bool,
    pub(super) stage: Stage,
}

#[derive(Default)]
pub(super) enum Stage {
    /// START CONTACTLESS runs.
    Contactless {
        since: Duration,
        /// A swipe whose 9F44 has not come yet.
        swipe: Option<Box<Swipe>>,
    },
    /// Insert and swipe alone are watched.
    #[default]
    Watching,
    /// 9F44 came, the swipe has not.
    SwipeDue { until: Duration },
    /// START, or CONTINUE for an E2, runs.
    Chip { decisions: u8 },
    /// ONLINE PIN runs.
    Pin { swipe: Box<Swipe>, entry: EntryMode },
    /// Until nothing is outstanding any more.
    Stopping { then: Then },
    /// The card is being told "declined".
    Closing { then: Then },
    /// The host is asked.
    Presented(Reading),
    /// The card is told the host's answer.
    Completing(Completing),
}

/// What follows an ABORT.
pub(super) enum Then {
    End(NoCard),
    Wait,
    StartChip,
    Swiped(Box<Swipe>),
}

impl Sale {
    pub(super) fn arm(line: &mut Line, arm: Arm, now: Duration) -> State {
        line.step(arm.sale, Step::PresentCard);
        let until = now + arm.card_timeout;
        let sale = Self { arm, until, chip_failed: false, chip_starts: 0, card_waits: false, stage: Stage::Watching };
        Box::new(sale).wait(line, now)
    }

    pub(super) fn number(&self) -> u64 {
        self.arm.sale
    }

    /// Waits for a card on every interface.
    pub(super) fn wait(mut self: Box<Self>, line: &mut Line, now: Duration) -> State {
        if now >= self.until {
            return self.end(line, NoCard::TimedOut, now);
        }
        if line.slot {
            return self.start_chip(line, now);
        }
        self.stage = Stage::Contactless { since: now, swipe: None };
        let command = Command::StartContactless { terms: Terms::from(&self.arm), timeout: None };
        line.ask(Ask::Contactless, &command, self.until - now, now);
        State::Sale(self)
    }

    /// Goes on without contactless.
    fn watch(mut self: Box<Self>, line: &mut Line, step: Step, text: &[u8], now: Duration) -> State {
        if line.slot && !self.chip_failed {
            return self.start_chip(line, now);
        }
        line.step(self.number(), step);
        self.stage = Stage::Watching;
        display(line, text, now);
        State::Sale(self)
    }

    fn start_chip(mut self: Box<Self>, line: &mut Line, now: Duration) -> State {
        if self.chip_starts == MAX_CHIP_STARTS {
            return self.unreadable(line, "it failed too often", now);
        }
        self.chip_starts += 1;
        self.stage = Stage::Chip { decisions: 0 };
        line.step(self.number(), Step::ReadingCard);
        line.ask(Ask::Start, &Command::StartTransaction(Terms::from(&self.arm)), CARDHOLDER, now);
        State::Sale(self)
    }

    /// The awaited command is answered.
    pub(super) fn answered(
        mut self: Box<Self>,
        line: &mut Line,
        pending: Pending,
        body: &[u8],
        status: Status,
        now: Duration,
    ) -> State {
        match (std::mem::take(&mut self.stage), pending.ask) {
            (Stage::Contactless { since, swipe }, Ask::Contactless) => {
                return self.contactless_answered(line, outcome(body, status), since, swipe, now);
            }
            (Stage::Chip { decisions }, Ask::Start | Ask::Continue) => {
                return self.chip_answered(line, outcome(body, status), decisions, now);
            }
            (Stage::Pin { swipe, entry }, Ask::OnlinePin) => {
                return self.pin_answered(line, *swipe, entry, body, status, now);
            }
            (Stage::Completing(completing), Ask::Continue) => {
                return completing.answered(line, outcome(body, status), now);
            }
            // The other answer of the ABORT race: a card that is waiting for the host must be told (readers: 2.8).
            (stage @ Stage::Stopping { .. }, _) => {
                self.card_waits |= outcome(body, status).is_ok_and(|outcome| outcome.template == Template::Online);
                self.stage = stage;
            }
            (Stage::Closing { then }, Ask::Continue) => self.stage = Stage::Stopping { then },
            (stage, _) => self.stage = stage,
        }
        State::Sale(self)
    }

    fn contactless_answered(
        self: Box<Self>,
        line: &mut Line,
        outcome: Result<Outcome<'_>, Status>,
        since: Duration,
        swipe: Option<Box<Swipe>>,
        now: Duration,
    ) -> State {
        let status = match outcome {
            Ok(outcome) if outcome.template != Template::Decision => {
                return self.read(line, &outcome, Interface::Contactless, now);
            }
            Ok(_) => Status::OK,
            Err(status) => status,
        };
        match (status, swipe) {
            (Status::OK, _) => self.damaged(line, now),
            (Status::CANCELLED, _) => self.end(line, NoCard::CancelledAtReader, now),
            (Status::CARD_INSERTED, _) => {
                line.slot = true;
                self.start_chip(line, now)
            }
            (_, Some(swipe)) => self.swiped(line, swipe, now),
            (Status::CARD_SWIPED, None) => self.at(Stage::SwipeDue { until: now + SWIPE_AFTER_STATUS }),
            // The reader's own time-out may be shorter than ours.
            (Status::CONTACTLESS_TIMEOUT, None) if now >= self.until || now - since >= SHORTEST_WAIT => {
                self.wait(line, now)
            }
            (Status::OTHER_CARD, None) => self.watch(line, Step::TryAgain, b"TRY AGAIN\nINSERT OR SWIPE", now),
            // 9FC1, 9FC3, and every fault of the contactless part.
            (_, None) => self.watch(line, Step::InsertCard, b"INSERT OR SWIPE", now),
        }
    }

    fn chip_answered(
        mut self: Box<Self>,
        line: &mut Line,
        outcome: Result<Outcome<'_>, Status>,
        decisions: u8,
        now: Duration,
    ) -> State {
        match outcome {
            Ok(outcome) if outcome.template == Template::Decision => {
                if decisions == MAX_DECISIONS {
                    let why = NoCard::Unreadable { cause: "the reader asks for too many decisions".to_owned() };
                    return self.stop(line, Then::End(why), now);
                }
                let command = Command::Continue(Continue::Decision(1));
                line.ask(Ask::Continue, &command, CARDHOLDER, now);
                self.at(Stage::Chip { decisions: decisions + 1 })
            }
            Ok(outcome) => self.read(line, &outcome, Interface::Contact, now),
            Err(Status::CANCELLED) => self.end(line, NoCard::CancelledAtReader, now),
            Err(Status::UNSUPPORTED_CARD | Status::CARD_READ_ERROR) => {
                self.chip_failed = true;
                self.watch(line, Step::SwipeCard, b"REMOVE CARD\nSWIPE CARD", now)
            }
            Err(Status::NO_CARD) => {
                line.slot = false;
                line.step(self.number(), Step::TryAgain);
                self.wait(line, now)
            }
            Err(Status::OK) => self.damaged(line, now),
            Err(status) => self.unreadable(line, status.words(), now),
        }
    }

    /// An answer with a hole in it: the card may be waiting for the host.
    fn damaged(mut self: Box<Self>, line: &mut Line, now: Duration) -> State {
        let why = NoCard::Unreadable { cause: "the reader's answer was damaged".to_owned() };
        self.card_waits = true;
        self.stop(line, Then::End(why), now)
    }

    /// A chip or tap gave its first answer.
    fn read(mut self: Box<Self>, line: &mut Line, outcome: &Outcome<'_>, interface: Interface, now: Duration) -> State {
        let sale = self.number();
        match reading::chip(outcome, interface, &Terms::from(&self.arm), &line.settings) {
            Ok(presented) => {
                let reading = Reading::chip(&presented.facts, outcome.template, interface, now);
                line.emit(Event::Card { sale, presented: Box::new(presented) });
                self.at(Stage::Presented(reading))
            }
            Err(refusal) => {
                let why = match refusal {
                    Refusal::AmountDiffers => NoCard::AmountDiffers,
                    Refusal::Unreadable(cause) => NoCard::Unreadable { cause: cause.to_owned() },
                };
                self.card_waits = outcome.template == Template::Online;
                self.at(Stage::Stopping { then: Then::End(why) })
            }
        }
    }

    /// A card went in or out, or was swiped.
    pub(super) fn card_status(
        mut self: Box<Self>,
        line: &mut Line,
        status: &CardStatus<'_>,
        was_in: bool,
        now: Duration,
    ) -> State {
        let inserted = status.card_in() && !was_in;
        match (std::mem::take(&mut self.stage), status.swiped()) {
            // 9F44 or 9F43 ends the contactless wait; if not, we do.
            (Stage::Contactless { since, swipe }, true) => {
                let swipe = Swipe::new(status).map(Box::new).or(swipe);
                line.hurry(STATUS_AFTER_CARD, now);
                self.at(Stage::Contactless { since, swipe })
            }
            (stage @ Stage::Contactless { .. }, false) if inserted => {
                line.hurry(STATUS_AFTER_CARD, now);
                self.at(stage)
            }
            (stage @ (Stage::Watching | Stage::SwipeDue { .. }), true) => match Swipe::new(status) {
                Some(swipe) => self.swiped(line, Box::new(swipe), now),
                None => {
                    line.step(self.number(), Step::TryAgain);
                    match stage {
                        Stage::SwipeDue { .. } => self.wait(line, now),
                        stage => self.at(stage),
                    }
                }
            },
            (Stage::Watching | Stage::SwipeDue { .. }, false) if inserted => self.start_chip(line, now),
            // The failed card is out, and a reader may have gone back to its own text: say again what is wanted.
            (stage @ Stage::Watching, false) if was_in && !status.card_in() && self.chip_failed => {
                display(line, b"SWIPE CARD", now);
                self.at(stage)
            }
            (stage, _) => self.at(stage),
        }
    }

    /// The keys of the PIN pad while no PIN is entered.
    pub(super) fn key(self: Box<Self>, line: &mut Line, key: u8, now: Duration) -> State {
        match self.stage {
            Stage::Contactless { .. } if key == KEY_CANCEL => {
                self.stop(line, Then::End(NoCard::CancelledAtReader), now)
            }
            Stage::Watching | Stage::SwipeDue { .. } if key == KEY_CANCEL => {
                self.end(line, NoCard::CancelledAtReader, now)
            }
            // During START, CONTINUE and ONLINE PIN the reader handles it and answers 9F41.
            _ => State::Sale(self),
        }
    }

    /// What the cashier should see of what the cardholder sees.
    pub(super) fn device_status(self: Box<Self>, line: &mut Line, status: &DeviceStatus<'_>) -> State {
        /// The only PIN entry status that was captured, with the text "PIN OK" (readers: 2.13).
        const PIN_OK: u8 = 0x02;
        let text = || {
            let text: String = status.text.iter().map(|byte| char::from(*byte)).collect();
            let printable = text.chars().map(|c| if matches!(c, ' '..='~') { c } else { ' ' });
            mask_pans(printable.take(84).collect::<String>().trim())
        };
        // Once the card is told, what the reader shows is about the host's answer.
        if matches!(self.stage, Stage::Presented(_) | Stage::Completing(_)) {
            return State::Sale(self);
        }
        let step = match (status.code, status.pin_status, status.digits) {
            (DeviceStatus::PIN_ENTRY, Some(PIN_OK), _) => Step::PinDone,
            (DeviceStatus::PIN_ENTRY, None, digits) => Step::PinEntry { digits },
            _ => Step::ReaderText(text()),
        };
        if step != Step::ReaderText(String::new()) {
            line.step(self.number(), step);
        }
        State::Sale(self)
    }

    /// The till wants no card any more.
    pub(super) fn cancel(mut self: Box<Self>, line: &mut Line, now: Duration) -> State {
        let why = NoCard::CancelledByTill;
        match std::mem::take(&mut self.stage) {
            Stage::Contactless { .. } | Stage::Chip { .. } | Stage::Pin { .. } => self.stop(line, Then::End(why), now),
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

    /// The host's answer for the card.
    pub(super) fn complete(mut self: Box<Self>, line: &mut Line, completion: &Completion, now: Duration) -> State {
        match std::mem::take(&mut self.stage) {
            Stage::Presented(reading) => reading.complete(self, line, completion, now),
            stage => self.at(stage),
        }
    }

    /// ABORT, and then.
    fn stop(self: Box<Self>, line: &mut Line, then: Then, now: Duration) -> State {
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
            (Stage::Chip { .. } | Stage::Pin { .. }, Some(pending)) => {
                let why = match pending.disturbed {
                    true => NoCard::Unreadable { cause: "the line to the reader is disturbed".to_owned() },
                    false => NoCard::TimedOut,
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

    pub(super) fn deadline(&self) -> Option<Duration> {
        match &self.stage {
            Stage::Watching => Some(self.until),
            Stage::SwipeDue { until } => Some(*until),
            Stage::Presented(reading) => Some(reading.until),
            _ => None,
        }
    }

    pub(super) fn unreadable(&self, line: &mut Line, cause: &str, now: Duration) -> State {
        self.end(line, NoCard::Unreadable { cause: cause.to_owned() }, now)
    }

    pub(super) fn end(&self, line: &mut Line, why: NoCard, now: Duration) -> State {
        line.emit(Event::NoCard { sale: self.number(), why });
        Removing::start(line, self.number(), None, now)
    }

    pub(super) fn at(mut self: Box<Self>, stage: Stage) -> State {
        self.stage = stage;
        State::Sale(self)
    }
}

/// Shows a text on the reader.
pub(super) fn display(line: &mut Line, text: &[u8], now: Duration) {
    line.ask(Ask::Display, &Command::DisplayText { light: true, utf8: false, text }, PLAIN_ANSWER, now);
}
