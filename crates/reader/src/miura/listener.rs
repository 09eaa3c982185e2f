//! The messages of a Miura reader as the session hears them.

use super::message::{
    CardStatus, ClockAnswer, ConfigurationAnswer, DeviceInfoAnswer, DeviceStatus, KEY_CANCEL, OnlinePinAnswer,
    P2peStatus, ResetAnswer, StatusWord, TransactionAnswer, TypedCardAnswer, UnsolicitedMessage, has_clear_card_data,
    masked_pan, parse_numeric, split, tags,
};
use super::settings::MiuraSettings;
use crate::card_read::SwipedCard;
use crate::family::{
    AbortedCommand, CommandAnswer, CommandFailure, CommandPurpose, DeviceStep, DeviceStepKind, FailureKind, KeyStatus,
    Listener, MessageMeaning, Outstanding, PinAnswer, RawMessage, ReaderNotice, StartUpStep, TypedCard,
};
use crate::masked_pan::{is_clear_typed_pan, masked_typed_pan};

/// Reads the messages of Miura MPI.
pub(super) struct MiuraListener {
    pub(super) magstripe_mode: Option<u8>,
    pub(super) extended_apdu_capability: Option<String>,
}

impl MiuraListener {
    pub(super) fn new(settings: &MiuraSettings) -> Self {
        Self {
            magstripe_mode: settings.magstripe_mode,
            extended_apdu_capability: settings.extended_apdu_capability.clone(),
        }
    }
}

impl Listener for MiuraListener {
    fn read<'a>(&'a mut self, message: &RawMessage<'a>, awaited: Outstanding) -> MessageMeaning<'a> {
        let Ok((body, status)) = split(message.bytes) else { return MessageMeaning::Nothing };
        if has_clear_card_data(body) {
            return MessageMeaning::ClearCardData;
        }
        if message.unsolicited {
            return match UnsolicitedMessage::parse(body) {
                Ok(event) => MessageMeaning::Event(read_event(&event)),
                Err(_) => MessageMeaning::NotUnderstood("an element is malformed"),
            };
        }
        // While an ABORT is outstanding, two answers are expected, in any order. An empty body with 9000 belongs to
        // the ABORT (readers: 2.8).
        if awaited.abort && body.is_empty() && status == StatusWord::OK {
            return MessageMeaning::AbortDone { command: AbortedCommand::Answers };
        }
        match awaited.command {
            // CARD STATUS is answered by an unsolicited message.
            None | Some(CommandPurpose::CardStatus) => MessageMeaning::Nothing,
            Some(purpose) => MessageMeaning::Answer(self.answer(purpose, body, status)),
        }
    }

    fn forget(&mut self) {}
}

impl MiuraListener {
    fn answer<'a>(&self, purpose: CommandPurpose, body: &'a [u8], status: StatusWord) -> CommandAnswer<'a> {
        if let CommandPurpose::StartUp(step) = purpose {
            return self.step_answer(step, body, status);
        }
        if status != StatusWord::OK {
            return CommandAnswer::Failed(failure(purpose, status));
        }
        let answer = match purpose {
            CommandPurpose::KeyStatus => P2peStatus::parse(body)
                .ok()
                .map(|keys| CommandAnswer::Keys(KeyStatus::of(keys.card_key(), Some(keys.pin_key())))),
            CommandPurpose::ClockGet => ClockAnswer::parse(body).ok().map(|clock| CommandAnswer::Time(clock.0)),
            CommandPurpose::AnyCard | CommandPurpose::Start | CommandPurpose::Decide | CommandPurpose::Host { .. } => {
                TransactionAnswer::parse_with(body, self.magstripe_mode).ok().map(CommandAnswer::Card)
            }
            CommandPurpose::OnlinePin => OnlinePinAnswer::parse(body).ok().map(|answer| {
                CommandAnswer::Pin(match answer {
                    OnlinePinAnswer::Entered(block) => PinAnswer::Entered(block.to_pin()),
                    OnlinePinAnswer::Cancelled => PinAnswer::Cancelled,
                    OnlinePinAnswer::Bypassed => PinAnswer::Bypassed,
                    OnlinePinAnswer::Failed(_) => PinAnswer::Failed,
                })
            }),
            CommandPurpose::Amount => parse_numeric(body).ok().map(CommandAnswer::Digits),
            CommandPurpose::TypedCard => Some(typed_answer(body)),
            CommandPurpose::StartUp(_)
            | CommandPurpose::CardStatus
            | CommandPurpose::ClockSet
            | CommandPurpose::DateSet
            | CommandPurpose::Show
            | CommandPurpose::ForgetTyped => Some(CommandAnswer::Done),
        };
        answer.unwrap_or(CommandAnswer::Failed(CommandFailure { code: status.0, ..CommandFailure::DAMAGED }))
    }

    fn step_answer<'a>(&self, step: StartUpStep, body: &'a [u8], status: StatusWord) -> CommandAnswer<'a> {
        let ok = status == StatusWord::OK;
        match step {
            StartUpStep::Abort if body.is_empty() && ok => CommandAnswer::Done,
            // This is the end of a transaction from before the start-up, or the second answer to an ABORT.
            StartUpStep::Abort => CommandAnswer::NotYet,
            StartUpStep::Identity => match ResetAnswer::parse(body) {
                Ok(reset) if ok => identity(reset),
                _ => CommandAnswer::NotYet,
            },
            StartUpStep::Capabilities => {
                let info = DeviceInfoAnswer::parse(body).ok().filter(|_| ok);
                let name = self.extended_apdu_capability.as_deref();
                CommandAnswer::Capabilities { extended: info.is_some_and(|info| info.extended_apdu(name)) }
            }
            StartUpStep::Configuration => {
                CommandAnswer::Files(ConfigurationAnswer::parse(body).ok().filter(|_| ok).unwrap_or_default().files)
            }
            _ => CommandAnswer::Done,
        }
    }
}

fn identity(reset: ResetAnswer) -> CommandAnswer<'static> {
    let (model, firmware) =
        reset.software.into_iter().next().map(|software| (software.name, software.version)).unwrap_or_default();
    CommandAnswer::Identity { serial: reset.serial, model, firmware, files: Vec::new(), tampered: false }
}

/// Reads the answer to a part of a typed card. Only the last part has a body.
fn typed_answer(body: &[u8]) -> CommandAnswer<'_> {
    if body.is_empty() {
        return CommandAnswer::Done;
    }
    match TypedCardAnswer::parse(body) {
        Ok(typed) => {
            let sealed = typed.sealed.and_then(|block| block.sealed()?.to_card());
            let (pan, is_clear) = (masked_typed_pan(typed.masked_pan), is_clear_typed_pan(typed.masked_pan));
            CommandAnswer::Typed(TypedCard { pan, is_clear, sealed })
        }
        Err(_) => CommandAnswer::Failed(CommandFailure::DAMAGED),
    }
}

fn read_event<'a>(event: &UnsolicitedMessage<'a>) -> ReaderNotice<'a> {
    match event {
        UnsolicitedMessage::Card(status) => {
            ReaderNotice::Card { card_in: status.card_in(), swipe: status.swiped().then(|| swiped(status)) }
        }
        UnsolicitedMessage::Device(status) if status.says_restart() => ReaderNotice::Restarted,
        UnsolicitedMessage::Device(status) => ReaderNotice::Step(step(status)),
        UnsolicitedMessage::Key(KEY_CANCEL) => ReaderNotice::CancelKey,
        UnsolicitedMessage::Key(_) | UnsolicitedMessage::Printer(_) | UnsolicitedMessage::Other => ReaderNotice::Other,
    }
}

fn swiped(status: &CardStatus<'_>) -> Result<SwipedCard, crate::card_read::UnusableSwipe> {
    let pan = status.masked_track2.and_then(|track| masked_pan(tags::MASKED_TRACK2, track));
    let sealed = status.sealed.and_then(|block| block.sealed());
    SwipedCard::new(status.masked_track2, pan, sealed.as_ref())
}

fn step<'a>(status: &DeviceStatus<'a>) -> DeviceStep<'a> {
    /// The only captured PIN entry status, with the text "PIN OK" (readers: 2.13).
    const PIN_OK: u8 = 0x02;
    let kind = match (status.code, status.pin_status, status.digits) {
        (DeviceStatus::PIN_ENTRY, Some(PIN_OK), _) => DeviceStepKind::PinDone,
        (DeviceStatus::PIN_ENTRY, None, digits) => DeviceStepKind::Pin { digits },
        (DeviceStatus::APPLICATION_SELECTION, ..) => DeviceStepKind::ChoosingApplication,
        _ => DeviceStepKind::Text,
    };
    DeviceStep { kind, text: status.text, tries_left: status.tries_left }
}

/// Returns the meaning of a status word for the session. It may depend on the command.
fn failure(purpose: CommandPurpose, status: StatusWord) -> CommandFailure {
    let card = matches!(
        purpose,
        CommandPurpose::AnyCard | CommandPurpose::Start | CommandPurpose::Decide | CommandPurpose::Host { .. }
    );
    let kind = match status {
        StatusWord::CANCELLED => FailureKind::Cancelled,
        StatusWord::CONTACTLESS_TIMEOUT => FailureKind::TimedOut,
        StatusWord::CARD_INSERTED => FailureKind::Inserted,
        StatusWord::CARD_SWIPED => FailureKind::Swiped,
        StatusWord::OTHER_CARD => FailureKind::OtherCard,
        StatusWord::INSERT_OR_SWIPE | StatusWord::INSERT => FailureKind::OtherInterface,
        StatusWord::UNSUPPORTED_CARD | StatusWord::CARD_READ_ERROR => FailureKind::SwipeInstead,
        StatusWord::NO_CARD => FailureKind::NoCard,
        StatusWord::NO_PIN_KEY => FailureKind::NoKey,
        StatusWord::NOT_ENCRYPTED if card || purpose == CommandPurpose::TypedCard => FailureKind::NoKey,
        StatusWord::NOT_READY | StatusWord::NOT_ALLOWED => FailureKind::StateLost,
        StatusWord::UNKNOWN_INSTRUCTION | StatusWord::UNKNOWN_CLASS => FailureKind::UnknownCommand,
        StatusWord::INVALID_INPUT if purpose == CommandPurpose::Amount => FailureKind::InvalidInput,
        _ => FailureKind::Other,
    };
    let words = if purpose == CommandPurpose::TypedCard { words_for_typing(status) } else { status.words() };
    CommandFailure { kind, code: status.0, words }
}

/// Describes a status word of the commands for typing, where E0 to ED have other meanings (readers: 2.9).
fn words_for_typing(status: StatusWord) -> &'static str {
    match status.0 {
        0x9FE0 => "it has no keys to encrypt with",
        0x9FE1 => "wrong parameters for its keys",
        0x9FE2 => "nothing was typed",
        0x9FE3 | 0x9FE4 => "its keys cannot be loaded",
        0x9FE5 => "it could not be encrypted",
        0x9FE6 => "its data are malformed",
        0x9FED => "the reader does not allow it",
        0x9F14 => "the typed value is not a card number or date",
        _ => status.words(),
    }
}

impl DeviceStatus<'_> {
    fn says_restart(&self) -> bool {
        matches!(self.code, Self::POWERED_ON | Self::POWERING_OFF | Self::REBOOTING | Self::RESTARTING)
    }
}
