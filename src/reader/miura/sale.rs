//! One sale at the reader up to the card that was read: what it is doing ([`Stage`]), and which answer belongs to what.
//! The rules of each stage are in `waiting`, `contact`, `swipe`, `manual`; the ways out in `stopping`; what follows the
//! host's answer in `completing`.

use std::time::Duration;

use super::completing::{Completing, Reading, Removing};
use super::event::KEY_CANCEL;
use super::line::{Ask, Line, PLAIN_ANSWER, Pending};
use super::manual::Part;
use super::message::{Command, DeviceStatus, Outcome, Status, Template, Terms, search};
use super::reading::{self, Interface, Refusal, Swipe};
use super::session::{State, outcome, restart};
use super::words::{Words, rows};
use crate::card::{EntryMode, Presented, mask_pans};
use crate::emv::tag;
use crate::reader::{Arm, Completion, Entry, Event, Language, NoCard, NotEncrypting, Step, Unready};
use crate::transaction::SaleNumber;

/// A sale from [`Order::Arm`](crate::reader::Order::Arm) to its end.
pub(super) struct Sale {
    pub(super) arm: Arm,
    /// When waiting for a card ends.
    pub(super) until: Duration,
    /// The chip failed in this very sale: a swipe is its fallback.
    pub(super) chip_failed: bool,
    pub(super) chip_starts: u8,
    /// A card waits for an answer to its E4 that nobody will ask the host for.
    pub(super) card_waits: bool,
    /// The cardholder's, once the card has named one that we have; the shop's until then.
    pub(super) language: Language,
    /// The last text of the reader's own that was told: it may repeat itself without end.
    told: String,
    /// PINs that the chip still takes, as the reader said last.
    pub(super) tries_left: Option<u8>,
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
    /// A card number is typed.
    Manual(Part),
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
        let sale = Box::new(Self {
            until: now + arm.card_timeout,
            arm,
            chip_failed: false,
            chip_starts: 0,
            card_waits: false,
            language: line.settings.language,
            told: String::new(),
            tries_left: None,
            stage: Stage::Watching,
        });
        match sale.arm.entry {
            Entry::Card => {
                line.step(sale.number(), Step::PresentCard);
                sale.wait(line, now)
            }
            Entry::Manual => sale.type_card(line, now),
        }
    }

    pub(super) fn number(&self) -> SaleNumber {
        self.arm.sale
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
            (Stage::Manual(part), Ask::TypedCard) => return self.manual_answered(line, part, body, status, now),
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

    /// A chip or tap gave its first answer.
    pub(super) fn read(
        mut self: Box<Self>,
        line: &mut Line,
        outcome: &Outcome<'_>,
        interface: Interface,
        now: Duration,
    ) -> State {
        self.hear_language(outcome.tlvs());
        let why = match reading::chip(outcome, interface, &Terms::from(&self.arm), &line.settings) {
            Ok(presented) => {
                let reading = Reading::chip(&presented.facts, outcome.template, interface, now);
                return self.present(line, presented, reading, now);
            }
            Err(Refusal::NotEncrypting(fault)) => return self.not_encrypting(line, fault, now),
            Err(Refusal::AmountDiffers) => NoCard::AmountDiffers,
            Err(Refusal::PinMissing) => NoCard::PinMissing,
            Err(Refusal::Unreadable(cause)) => NoCard::Unreadable { cause: cause.to_owned() },
        };
        self.card_waits = outcome.template == Template::Online;
        self.at(Stage::Stopping { then: Then::End(why) })
    }

    /// Hands the card over, unless the reader has not sealed it as it must.
    pub(super) fn present(
        self: Box<Self>,
        line: &mut Line,
        presented: Presented,
        reading: Reading,
        now: Duration,
    ) -> State {
        // A card that declined by itself may come without sealed data: nothing is sent.
        let sealed = !presented.card.data.expose().is_empty() || !presented.card.ksn.expose().is_empty();
        let must_be = presented.first_answer == crate::card::FirstAnswer::GoOnline;
        if (sealed || must_be)
            && let Err(fault) = line.keys.take(&presented.card, presented.pin.as_ref())
        {
            return self.not_encrypting(line, fault, now);
        }
        line.emit(Event::Card { sale: self.number(), presented: Box::new(presented) });
        line.keys_left();
        self.at(Stage::Presented(reading))
    }

    /// The reader does not encrypt as it must: nothing is sent, and its keys are asked for before it is ready again.
    /// The start-up ends whatever the card is waiting for.
    pub(super) fn not_encrypting(&self, line: &mut Line, fault: NotEncrypting, now: Duration) -> State {
        let serial = line.serial();
        restart(line, Unready::NotEncrypting { serial, fault }, now)
    }

    /// The reader's keys are used up: it is asked which, while the card is taken out.
    pub(super) fn no_key_left(&self, line: &mut Line, now: Duration) -> State {
        let state = self.end(line, NoCard::NoKeyLeft, now);
        line.ask(Ask::P2peStatus, &Command::P2peStatus, PLAIN_ANSWER, now);
        state
    }

    /// The card says which languages its holder wants (5F2D).
    pub(super) fn hear_language(&mut self, tlvs: &[u8]) {
        let preference = search(tlvs, tag::LANGUAGE_PREFERENCE).ok().flatten();
        self.language = preference.and_then(Language::preferred).unwrap_or(self.language);
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
    pub(super) fn device_status(mut self: Box<Self>, line: &mut Line, status: &DeviceStatus<'_>) -> State {
        /// The only PIN entry status that was captured, with the text "PIN OK" (readers: 2.13).
        const PIN_OK: u8 = 0x02;
        let text = || {
            let text: String = status.text.iter().map(|byte| char::from(*byte)).collect();
            let printable = text.chars().map(|c| if matches!(c, ' '..='~') { c } else { ' ' });
            // Masked before it is cut: what is left of a card number would not be seen as one.
            mask_pans(&printable.collect::<String>()).chars().take(84).collect::<String>().trim().to_owned()
        };
        // Once the card is told, what the reader shows is about the host's answer.
        if matches!(self.stage, Stage::Presented(_) | Stage::Completing(_)) {
            return State::Sale(self);
        }
        // UNCERTAIN: how a reader tells a wrong PIN is not published: by its text, or by a counter that has gone down.
        let fewer = self.tries_left.zip(status.tries_left).is_some_and(|(before, now)| now < before);
        let wrong = fewer || says_wrong(status.text);
        self.tries_left = status.tries_left.or(self.tries_left);
        let step = match (status.code, status.pin_status, status.digits) {
            (DeviceStatus::PIN_ENTRY, Some(PIN_OK), _) => Step::PinDone,
            (DeviceStatus::PIN_ENTRY, None, _) if wrong => Step::PinWrong { tries_left: status.tries_left },
            (DeviceStatus::PIN_ENTRY, None, digits) => Step::PinEntry { digits },
            (DeviceStatus::APPLICATION_SELECTION, ..) => Step::ChoosingApplication,
            _ => {
                let text = text();
                if text.is_empty() || text == self.told {
                    return State::Sale(self);
                }
                self.told.clone_from(&text);
                Step::ReaderText(text)
            }
        };
        line.step(self.number(), step);
        State::Sale(self)
    }

    /// The host's answer for the card.
    pub(super) fn complete(mut self: Box<Self>, line: &mut Line, completion: &Completion, now: Duration) -> State {
        match std::mem::take(&mut self.stage) {
            Stage::Presented(reading) => reading.complete(self, line, completion, now),
            stage => self.at(stage),
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
        let typed = self.arm.entry == Entry::Manual;
        if typed && !matches!(why, NoCard::ManualEntryOff | NoCard::ManualEntryUnknown) {
            self.forget_typed(line, now);
        }
        line.emit(Event::NoCard { sale: self.number(), why });
        Removing::start(line, self.number(), None, self.language, now)
    }

    pub(super) fn at(mut self: Box<Self>, stage: Stage) -> State {
        self.stage = stage;
        State::Sale(self)
    }
}

/// Whether a text about the PIN says that it was wrong.
fn says_wrong(text: &[u8]) -> bool {
    let text = text.to_ascii_uppercase();
    [&b"INCORRECT"[..], b"WRONG"].iter().any(|word| text.windows(word.len()).any(|part| part == *word))
}

/// Shows a text on the reader. What is not ASCII is sent as UTF-8 and says so (readers: 2.2, D201).
pub(super) fn display(line: &mut Line, words: &[Words], language: Language, now: Duration) {
    let text = rows(words, language);
    let command = Command::DisplayText { light: true, utf8: !text.is_ascii(), text: text.as_bytes() };
    line.ask(Ask::Display, &command, PLAIN_ANSWER, now);
}
