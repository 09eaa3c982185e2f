//! One transaction at the reader, up to the read card: its stage ([`SaleStage`]), and the stage that takes each answer.
//! `waiting`, `contact`, `swipe` and `manual` contain the rules of the stages, and `stopping` the ways out. They form
//! one state machine whose parts call each other. For example, after the chip fails, the transaction waits for a swipe.
//! The steps after the gateway's answer are in `completing`.

use std::time::Duration;

use super::completing::{AwaitingHost, CompletedSale, ContinueTransaction};
use super::line::{PendingAnswer, ReaderLine};
use super::next::{Next, SaleOver};
use crate::capability::Capability;
use crate::card_answer::{AnswerTemplate, TransactionAnswer};
use crate::card_read::{self, ChipInterface, ChipSettings, PinIs, SwipedCard, UnusableCard};
use crate::family::{CommandAnswer, CommandFailure, CommandPurpose, DeviceStep, DeviceStepKind, TransactionData};
use crate::{
    Arm, Completion, EntryRequest, NoCard, NotEncrypting, ReaderEvent, ReaderLanguage, ReaderProgress, Unready,
};
use pos_terms::card::{EntryMode, FirstAnswer, Presented, mask_pans};
use pos_terms::transaction::SaleNumber;

/// The result of a stage of a transaction.
pub(super) type SaleNext = Next<Box<SaleAtReader>>;

/// A transaction from [`ReaderOrder::Arm`](crate::ReaderOrder::Arm) to its end.
pub(super) struct SaleAtReader {
    pub(super) arm: Arm,
    /// The end of the wait for a card.
    pub(super) until: Duration,
    /// The chip failed in this transaction, so a swipe is accepted as its fallback.
    pub(super) chip_failed: bool,
    pub(super) chip_starts: u8,
    /// `true` if the latest card was tapped. It decides which command tells the card that it is declined.
    pub(super) tapped: bool,
    /// The number of second taps that were asked for.
    pub(super) second_taps: u8,
    /// The number of waits that the reader has refused in a row.
    pub(super) refusals: u8,
    /// A card waits for an answer to its E4, and the agent will not ask the gateway for one.
    pub(super) card_waits: bool,
    /// The cardholder's language: the shop's, until the card names one that the reader has.
    pub(super) language: ReaderLanguage,
    /// The language that the card has named, until it is reported.
    unreported_language: Option<ReaderLanguage>,
    /// The latest reported text of the reader, which may repeat it without end.
    told: String,
    /// The number of PIN tries left at the chip, according to the reader's latest message.
    pub(super) tries_left: Option<u8>,
    pub(super) stage: SaleStage,
}

#[derive(Default)]
pub(super) enum SaleStage {
    /// The reader waits for a card on every interface that may be used.
    Contactless {
        since: Duration,
        /// A swipe that came before the end of the wait.
        swipe: Option<Box<SwipedCard>>,
    },
    /// Only insert and swipe are watched.
    #[default]
    Watching,
    /// The wait ended with a swipe, but the swipe itself has not come.
    SwipeDue { until: Duration },
    /// The dialogue with the chip is running.
    Chip { decisions: u8 },
    /// The online PIN of a swiped card is being entered.
    Pin { swipe: Box<SwipedCard>, entry: EntryMode },
    /// The online PIN of a chip card is being entered.
    ChipPin { presented: Box<Presented>, awaiting: AwaitingHost },
    /// The part of a card number with this number is being typed.
    Manual(usize),
    /// The stage waits until no answer is outstanding.
    Stopping { then: AfterAbort },
    /// The card is receiving the answer "declined".
    Closing { then: AfterAbort },
    /// The agent asks the gateway.
    Presented(AwaitingHost),
    /// The card is receiving the gateway's answer.
    Completing(ContinueTransaction),
}

/// The step after an ABORT.
pub(super) enum AfterAbort {
    End(NoCard),
    Wait,
    StartChip,
    Swiped(Box<SwipedCard>),
}

impl SaleAtReader {
    pub(super) fn arm(line: &mut ReaderLine, arm: Arm, now: Duration) -> SaleNext {
        let sale = Box::new(Self {
            until: now + arm.card_timeout,
            arm,
            chip_failed: false,
            chip_starts: 0,
            tapped: false,
            second_taps: 0,
            refusals: 0,
            card_waits: false,
            language: line.settings.language,
            unreported_language: None,
            told: String::new(),
            tries_left: None,
            stage: SaleStage::Watching,
        });
        match sale.arm.entry {
            EntryRequest::Card => {
                line.progress(sale.number(), ReaderProgress::PresentCard);
                sale.wait(line, now)
            }
            EntryRequest::Chip => sale.wait(line, now),
            EntryRequest::Manual => sale.type_card(line, now),
        }
    }

    pub(super) fn number(&self) -> SaleNumber {
        self.arm.sale
    }

    /// Takes the answer to the awaited command.
    pub(super) fn answered(
        mut self: Box<Self>,
        line: &mut ReaderLine,
        pending: PendingAnswer,
        answer: CommandAnswer<'_>,
        now: Duration,
    ) -> SaleNext {
        match (std::mem::take(&mut self.stage), pending.purpose) {
            (SaleStage::Contactless { since, swipe }, CommandPurpose::AnyCard) => {
                return match answer {
                    CommandAnswer::Swiped(swiped) => self.swipe_answered(line, swiped, now),
                    answer => self.contactless_answered(line, card_answer(answer), since, swipe, now),
                };
            }
            (SaleStage::Chip { decisions }, CommandPurpose::Start | CommandPurpose::Decide) => {
                return self.chip_answered(line, card_answer(answer), decisions, now);
            }
            (SaleStage::Pin { swipe, entry }, CommandPurpose::OnlinePin) => {
                return self.pin_answered(line, *swipe, entry, answer, now);
            }
            (SaleStage::ChipPin { presented, awaiting }, CommandPurpose::OnlinePin) => {
                return self.chip_pin_answered(line, presented, awaiting, answer, now);
            }
            (SaleStage::Manual(part), CommandPurpose::TypedCard) => {
                return self.manual_answered(line, part, answer, now);
            }
            (SaleStage::Completing(running), CommandPurpose::Host { .. }) => {
                let next = running.answered(line, card_answer(answer), now);
                return next.map(|running| self.with(SaleStage::Completing(running)));
            }
            // This is the other answer of the race with an abort. A card that waits for the gateway must get an answer
            // (readers: 2.8).
            (stage @ SaleStage::Stopping { .. }, purpose) => {
                if let Ok(answer) = card_answer(answer)
                    && answer.template == AnswerTemplate::Online
                {
                    let inserted = answer.elements.is_ok_and(|found| found.inserted);
                    self.card_waits = true;
                    self.tapped = purpose == CommandPurpose::AnyCard && !inserted;
                }
                self.stage = stage;
            }
            (SaleStage::Closing { then }, CommandPurpose::Host { .. }) => self.stage = SaleStage::Stopping { then },
            (stage, _) => self.stage = stage,
        }
        Next::Stay(self)
    }

    /// Takes the first answer of a chip or tap.
    pub(super) fn read(
        mut self: Box<Self>,
        line: &mut ReaderLine,
        answer: &TransactionAnswer<'_>,
        interface: ChipInterface,
        now: Duration,
    ) -> SaleNext {
        self.hear_language(answer);
        let settings = ChipSettings {
            icc_masked_tags: line.settings.icc_masked_tags,
            icc_private_tags: &line.settings.icc_private_tags,
            speaker: &*line.speaker,
            asks_pin_later: line.speaker.can(Capability::PinAfterCard),
        };
        let why = match card_read::chip(answer, interface, &TransactionData::from(&self.arm), settings) {
            Ok((presented, pin)) => {
                let awaiting = AwaitingHost::chip(&presented.facts, answer.template, interface, now);
                return match pin {
                    PinIs::AskedNow => self.ask_chip_pin(line, presented, awaiting, now),
                    PinIs::Settled => self.present(line, presented, awaiting),
                };
            }
            Err(UnusableCard::NotEncrypting(fault)) => return Self::not_encrypting(line, fault),
            Err(UnusableCard::AmountDiffers) => NoCard::AmountDiffers,
            Err(UnusableCard::PinMissing) => NoCard::PinMissing,
            Err(UnusableCard::Unreadable(cause)) => NoCard::Unreadable { cause: cause.to_owned() },
        };
        self.card_waits = answer.template == AnswerTemplate::Online;
        self.at(SaleStage::Stopping { then: AfterAbort::End(why) })
    }

    /// Reports the card if the reader has sealed it correctly.
    pub(super) fn present(
        mut self: Box<Self>,
        line: &mut ReaderLine,
        presented: Presented,
        awaiting: AwaitingHost,
    ) -> SaleNext {
        // A card that declined may come without sealed data, because the agent sends no request for it.
        let sealed = !presented.card.data.expose().is_empty() || !presented.card.ksn.expose().is_empty();
        let must_be = presented.first_answer == FirstAnswer::GoOnline;
        if (sealed || must_be)
            && let Err(fault) = line.keys.take(&presented.card, presented.pin.as_ref())
        {
            return Self::not_encrypting(line, fault);
        }
        line.report(ReaderEvent::Card { sale: self.number(), presented: Box::new(presented) });
        // The request to the gateway waits for the card's report only.
        self.report_language(line);
        line.keys_left();
        self.at(SaleStage::Presented(awaiting))
    }

    /// Ends the transaction because the reader does not encrypt correctly. Nothing is sent, and the reader's keys are
    /// checked before it is ready again. The start-up ends the dialogue with a waiting card.
    pub(super) fn not_encrypting(line: &ReaderLine, fault: NotEncrypting) -> SaleNext {
        Next::StartAnew(Unready::NotEncrypting { serial: line.serial(), fault })
    }

    /// Ends the transaction because the reader's keys are used up. The agent asks which ones, while the card is
    /// removed.
    pub(super) fn no_key_left(&self, line: &mut ReaderLine, now: Duration) -> SaleNext {
        let over = self.over(line, NoCard::NoKeyLeft, now);
        Next::SaleOver(SaleOver { ask_for_keys: true, ..over })
    }

    /// Takes the cardholder's languages from the card (5F2D).
    pub(super) fn hear_language(&mut self, answer: &TransactionAnswer<'_>) {
        let preference = answer.elements.as_ref().ok().and_then(|found| found.language_preference);
        if let Some(language) = preference.and_then(ReaderLanguage::preferred) {
            self.language = language;
            self.unreported_language = Some(language);
        }
    }

    /// Reports the language that the card has named.
    pub(super) fn report_language(&mut self, line: &mut ReaderLine) {
        if let Some(language) = self.unreported_language.take() {
            line.report(ReaderEvent::Language { sale: self.number(), language });
        }
    }

    /// Takes the cancel key outside a command that handles it.
    pub(super) fn cancel_key(self: Box<Self>, line: &mut ReaderLine, now: Duration) -> SaleNext {
        match self.stage {
            SaleStage::Contactless { .. } => self.stop(line, AfterAbort::End(NoCard::CancelledAtReader), now),
            SaleStage::Watching | SaleStage::SwipeDue { .. } => self.end(line, NoCard::CancelledAtReader, now),
            // While a chip is read and a PIN entered, the reader handles the key itself.
            _ => Next::Stay(self),
        }
    }

    /// Reports to the cashier what the cardholder sees.
    pub(super) fn device_step(mut self: Box<Self>, line: &mut ReaderLine, step: &DeviceStep<'_>) -> SaleNext {
        let text = || {
            let text: String = step.text.iter().map(|byte| char::from(*byte)).collect();
            let printable = text.chars().map(|c| if matches!(c, ' '..='~') { c } else { ' ' });
            // The text is masked before it is cut, because the rest of a cut card number would not be recognised.
            mask_pans(&printable.collect::<String>()).chars().take(84).collect::<String>().trim().to_owned()
        };
        // After the card is read, the reader's texts are about the gateway's answer.
        if matches!(self.stage, SaleStage::Presented(_) | SaleStage::Completing(_)) {
            return Next::Stay(self);
        }
        // UNCERTAIN: it is not published how a reader reports a wrong PIN. It may do so by a text, or by a lower
        // counter.
        let fewer = self.tries_left.zip(step.tries_left).is_some_and(|(before, now)| now < before);
        let wrong = fewer || says_wrong(step.text);
        self.tries_left = step.tries_left.or(self.tries_left);
        let progress = match step.kind {
            DeviceStepKind::PinDone => ReaderProgress::PinDone,
            DeviceStepKind::Pin { .. } if wrong => ReaderProgress::PinWrong { tries_left: step.tries_left },
            DeviceStepKind::Pin { digits } => ReaderProgress::PinEntry { digits },
            DeviceStepKind::ChoosingApplication => ReaderProgress::ChoosingApplication,
            DeviceStepKind::Text => {
                let text = text();
                if text.is_empty() || text == self.told {
                    return Next::Stay(self);
                }
                self.told.clone_from(&text);
                ReaderProgress::ReaderText(text)
            }
        };
        line.progress(self.number(), progress);
        Next::Stay(self)
    }

    /// Takes the gateway's answer for the card.
    pub(super) fn complete(
        mut self: Box<Self>,
        line: &mut ReaderLine,
        completion: &Completion,
        now: Duration,
    ) -> SaleNext {
        match std::mem::take(&mut self.stage) {
            SaleStage::Presented(awaiting) => {
                let sale = CompletedSale {
                    number: self.number(),
                    transaction: TransactionData::from(&self.arm),
                    language: self.language,
                };
                let next = awaiting.complete(sale, line, completion, now);
                next.map(|running| self.with(SaleStage::Completing(running)))
            }
            stage => self.at(stage),
        }
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        match &self.stage {
            SaleStage::Watching => Some(self.until),
            SaleStage::SwipeDue { until } => Some(*until),
            SaleStage::Presented(awaiting) => Some(awaiting.until),
            _ => None,
        }
    }

    pub(super) fn unreadable(&self, line: &mut ReaderLine, cause: &str, now: Duration) -> SaleNext {
        self.end(line, NoCard::Unreadable { cause: cause.to_owned() }, now)
    }

    /// Ends the transaction without a card.
    pub(super) fn end(&self, line: &mut ReaderLine, why: NoCard, now: Duration) -> SaleNext {
        Next::SaleOver(self.over(line, why, now))
    }

    pub(super) fn over(&self, line: &mut ReaderLine, why: NoCard, now: Duration) -> SaleOver {
        let typed = self.arm.entry == EntryRequest::Manual;
        if typed && !matches!(why, NoCard::ManualEntryOff | NoCard::ManualEntryUnknown) {
            self.forget_typed(line, now);
        }
        line.report(ReaderEvent::NoCard { sale: self.number(), why });
        SaleOver { sale: self.number(), result: None, language: self.language, ask_for_keys: false }
    }

    pub(super) fn at(self: Box<Self>, stage: SaleStage) -> SaleNext {
        Next::Stay(self.with(stage))
    }

    pub(super) fn with(mut self: Box<Self>, stage: SaleStage) -> Box<Self> {
        self.stage = stage;
        self
    }
}

/// Returns whether a text about the PIN says that the PIN was wrong.
fn says_wrong(text: &[u8]) -> bool {
    let text = text.to_ascii_uppercase();
    [&b"INCORRECT"[..], b"WRONG"].iter().any(|word| text.windows(word.len()).any(|part| part == *word))
}

/// Returns a card's answer, or the reason why there is none.
pub(super) fn card_answer(answer: CommandAnswer<'_>) -> Result<TransactionAnswer<'_>, CommandFailure> {
    match answer {
        CommandAnswer::Card(answer) => Ok(answer),
        CommandAnswer::Failed(failure) => Err(failure),
        _ => Err(CommandFailure::DAMAGED),
    }
}
