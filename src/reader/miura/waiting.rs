//! A sale that waits for a card: contactless runs while insert and swipe are watched; whichever card is first ends the
//! rest (readers: 2.3, 2.6).

use std::time::Duration;

use super::line::{Ask, Line};
use super::message::{CardStatus, Command, Outcome, Status, Template, Terms};
use super::reading::{BadSwipe, Interface, Swipe};
use super::sale::{Sale, Stage, display};
use super::session::{State, lost};
use super::words::Words;
use crate::reader::{Language, NoCard, NotEncrypting, Step};

/// The swipe's own message, when 9F44 came before it.
const SWIPE_AFTER_STATUS: Duration = Duration::from_secs(2);
/// 9F43 or 9F44, when the card's own message came before it; the end of START or CONTINUE, when the card was taken out.
const STATUS_AFTER_CARD: Duration = Duration::from_secs(5);
/// A contactless wait that ends sooner than this did not wait: asking again at once would be a loop.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);

impl Sale {
    /// Waits for a card on every interface.
    pub(super) fn wait(mut self: Box<Self>, line: &mut Line, now: Duration) -> State {
        if now >= self.until {
            return self.end(line, NoCard::TimedOut, now);
        }
        if line.slot {
            return self.start_chip(line, now);
        }
        self.stage = Stage::Contactless { since: now, swipe: None };
        // Only a shop that is not English sends it: a reader that does not know the element cannot disturb the others.
        let language = Some(line.settings.language).filter(|language| *language != Language::English);
        let language = language.and_then(|language| language.code().as_bytes().try_into().ok());
        let command = Command::StartContactless { terms: Terms::from(&self.arm), language, timeout: None };
        line.ask(Ask::Contactless, &command, self.until - now, now);
        State::Sale(self)
    }

    /// Goes on without contactless.
    pub(super) fn watch(mut self: Box<Self>, line: &mut Line, step: Step, words: &[Words], now: Duration) -> State {
        if line.slot && !self.chip_failed {
            return self.start_chip(line, now);
        }
        line.step(self.number(), step);
        self.stage = Stage::Watching;
        display(line, words, self.language, now);
        State::Sale(self)
    }

    pub(super) fn contactless_answered(
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
            (Status::NOT_READY | Status::NOT_ALLOWED, _) => lost(line, status, now),
            (Status::NO_PIN_KEY | Status::NOT_ENCRYPTED, _) => self.no_key_left(line, now),
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
            (Status::OTHER_CARD, None) => {
                self.watch(line, Step::TryAgain, &[Words::TryAgain, Words::InsertOrSwipe], now)
            }
            // 9FC1, 9FC3, and every fault of the contactless part.
            (_, None) => self.watch(line, Step::InsertCard, &[Words::InsertOrSwipe], now),
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
                let swipe = match Swipe::new(status) {
                    Ok(new) => Some(Box::new(new)),
                    Err(BadSwipe::Unreadable) => swipe,
                    Err(BadSwipe::NotSealed) => return self.not_encrypting(line, NotEncrypting::Nothing, now),
                };
                line.hurry(STATUS_AFTER_CARD, now);
                self.at(Stage::Contactless { since, swipe })
            }
            (stage @ Stage::Contactless { .. }, false) if inserted => {
                line.hurry(STATUS_AFTER_CARD, now);
                self.at(stage)
            }
            (stage @ (Stage::Watching | Stage::SwipeDue { .. }), true) => match Swipe::new(status) {
                Ok(swipe) => self.swiped(line, Box::new(swipe), now),
                Err(BadSwipe::NotSealed) => self.not_encrypting(line, NotEncrypting::Nothing, now),
                Err(BadSwipe::Unreadable) => {
                    line.step(self.number(), Step::TryAgain);
                    match stage {
                        Stage::SwipeDue { .. } => self.wait(line, now),
                        stage => self.at(stage),
                    }
                }
            },
            (Stage::Watching | Stage::SwipeDue { .. }, false) if inserted => self.start_chip(line, now),
            // Whatever the reader waits for, this card says no more; should its word about that be lost, it is not
            // waited for long.
            (stage @ (Stage::Chip { .. } | Stage::Completing(_)), false) if was_in && !status.card_in() => {
                line.hurry(STATUS_AFTER_CARD, now);
                self.at(stage)
            }
            // The failed card is out, and a reader may have gone back to its own text: say again what is wanted.
            (stage @ Stage::Watching, false) if was_in && !status.card_in() && self.chip_failed => {
                display(line, &[Words::SwipeCard], self.language, now);
                self.at(stage)
            }
            (stage, _) => self.at(stage),
        }
    }
}
