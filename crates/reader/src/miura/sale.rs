//! One transaction at the reader, up to the read card: its stage ([`SaleStage`]), and the stage that takes each answer.
//! `waiting`, `contact`, `swipe` and `manual` contain the rules of the stages, and `stopping` the ways out. They form
//! one state machine whose parts call each other. For example, after the chip fails, the transaction waits for a swipe.
//! The steps after the gateway's answer are in `completing`.

use std::time::Duration;

use tracing::warn;

use super::card_read::{self, ChipInterface, ChipSettings, SwipedCard, UnusableCard};
use super::completing::{AwaitingHost, CompletedSale, ContinueTransaction};
use super::line::{CommandPurpose, PendingAnswer, ReaderLine};
use super::message::{AnswerTemplate, DeviceStatus, KEY_CANCEL, StatusWord, TransactionAnswer, TransactionData};
use super::next::{Next, SaleOver};
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
    /// START CONTACTLESS is running.
    Contactless {
        since: Duration,
        /// A swipe that came before its 9F44.
        swipe: Option<Box<SwipedCard>>,
    },
    /// Only insert and swipe are watched.
    #[default]
    Watching,
    /// 9F44 has come, but the swipe itself has not.
    SwipeDue { until: Duration },
    /// START, or CONTINUE for an E2, is running.
    Chip { decisions: u8 },
    /// ONLINE PIN is running.
    Pin { swipe: Box<SwipedCard>, entry: EntryMode },
    /// A card number is being typed.
    Manual(ManualEntryPart),
    /// The stage waits until no answer is outstanding.
    Stopping { then: AfterAbort },
    /// The card is receiving the answer "declined".
    Closing { then: AfterAbort },
    /// The agent asks the gateway.
    Presented(AwaitingHost),
    /// The card is receiving the gateway's answer.
    Completing(ContinueTransaction),
}

/// The step of a typed card.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ManualEntryPart {
    /// D2E0: the reader deletes earlier typed data.
    ForgetEarlier,
    Pan,
    Expiry,
    VerificationValue,
    /// With D2E0, the reader seals everything. With D25A, this is the only command.
    Seal,
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
        body: &[u8],
        status: StatusWord,
        now: Duration,
    ) -> SaleNext {
        match (std::mem::take(&mut self.stage), pending.purpose) {
            (SaleStage::Contactless { since, swipe }, CommandPurpose::Contactless) => {
                return self.contactless_answered(line, transaction_answer(body, status), since, swipe, now);
            }
            (SaleStage::Chip { decisions }, CommandPurpose::Start | CommandPurpose::Continue) => {
                return self.chip_answered(line, transaction_answer(body, status), decisions, now);
            }
            (SaleStage::Pin { swipe, entry }, CommandPurpose::OnlinePin) => {
                return self.pin_answered(line, *swipe, entry, body, status, now);
            }
            (SaleStage::Manual(part), CommandPurpose::TypedCard) => {
                return self.manual_answered(line, part, body, status, now);
            }
            (SaleStage::Completing(running), CommandPurpose::Continue) => {
                let next = running.answered(line, transaction_answer(body, status), now);
                return next.map(|running| self.with(SaleStage::Completing(running)));
            }
            // This is the other answer of the ABORT race. A card that waits for the gateway must get an answer
            // (readers: 2.8).
            (stage @ SaleStage::Stopping { .. }, _) => {
                let answer = transaction_answer(body, status);
                self.card_waits |= answer.is_ok_and(|answer| answer.template == AnswerTemplate::Online);
                self.stage = stage;
            }
            (SaleStage::Closing { then }, CommandPurpose::Continue) => self.stage = SaleStage::Stopping { then },
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
            magstripe_mode: line.miura.magstripe_mode,
        };
        let why = match card_read::chip(answer, interface, &TransactionData::from(&self.arm), settings) {
            Ok(presented) => {
                let awaiting = AwaitingHost::chip(&presented.facts, answer.template, interface, now);
                return self.present(line, presented, awaiting);
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

    /// Takes a key press on the PIN pad outside a PIN entry.
    pub(super) fn key(self: Box<Self>, line: &mut ReaderLine, key: u8, now: Duration) -> SaleNext {
        match self.stage {
            SaleStage::Contactless { .. } if key == KEY_CANCEL => {
                self.stop(line, AfterAbort::End(NoCard::CancelledAtReader), now)
            }
            SaleStage::Watching | SaleStage::SwipeDue { .. } if key == KEY_CANCEL => {
                self.end(line, NoCard::CancelledAtReader, now)
            }
            // During START, CONTINUE and ONLINE PIN, the reader handles the key itself and answers 9F41.
            _ => Next::Stay(self),
        }
    }

    /// Reports to the cashier what the cardholder sees.
    pub(super) fn device_status(mut self: Box<Self>, line: &mut ReaderLine, status: &DeviceStatus<'_>) -> SaleNext {
        /// The only captured PIN entry status, with the text "PIN OK" (readers: 2.13).
        const PIN_OK: u8 = 0x02;
        let text = || {
            let text: String = status.text.iter().map(|byte| char::from(*byte)).collect();
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
        let fewer = self.tries_left.zip(status.tries_left).is_some_and(|(before, now)| now < before);
        let wrong = fewer || says_wrong(status.text);
        self.tries_left = status.tries_left.or(self.tries_left);
        let progress = match (status.code, status.pin_status, status.digits) {
            (DeviceStatus::PIN_ENTRY, Some(PIN_OK), _) => ReaderProgress::PinDone,
            (DeviceStatus::PIN_ENTRY, None, _) if wrong => ReaderProgress::PinWrong { tries_left: status.tries_left },
            (DeviceStatus::PIN_ENTRY, None, digits) => ReaderProgress::PinEntry { digits },
            (DeviceStatus::APPLICATION_SELECTION, ..) => ReaderProgress::ChoosingApplication,
            _ => {
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
                    transaction_type: self.arm.transaction_type,
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

    fn over(&self, line: &mut ReaderLine, why: NoCard, now: Duration) -> SaleOver {
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

/// Reads an answer of START, START CONTACTLESS or CONTINUE: a template, or a status instead.
fn transaction_answer(body: &[u8], status: StatusWord) -> Result<TransactionAnswer<'_>, StatusWord> {
    match status {
        StatusWord::OK => TransactionAnswer::parse(body).map_err(|error| {
            warn!(bytes = body.len(), %error, "answer not understood");
            StatusWord::OK
        }),
        other => Err(other),
    }
}
