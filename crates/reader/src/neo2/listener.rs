//! The messages of a NEO2 reader as the session hears them.

use super::message::{
    AttributionFault, CallBack, DisplayMode, DisplayRequest, EncryptionSwitch, Interface, KeyState, KsnAnswer,
    LineContent, ManualCardAnswer, Neo2CardAnswer, Neo2Command, Neo2PinAnswer, ResponseStatus, ResultCode,
    has_clear_card_data, text,
};
use super::speaker::encoded;
use crate::ConfigFile;
use crate::card_answer::{AnswerTemplate, CardElements, TransactionAnswer};
use crate::card_read::{SwipedCard, UnusableSwipe};
use crate::family::{
    AbortedCommand, CommandAnswer, CommandFailure, CommandPurpose, FailureKind, KeyStatus, Listener, MessageMeaning,
    Outstanding, PinAnswer, RawMessage, ReaderNotice, StartUpStep, TypedCard,
};
use crate::keys;
use pos_reader_link::neo2_link::{HeaderKind, Neo2Frame};
use pos_terms::card::{CryptogramKind, EntryMode};

/// The command bytes of messages that answer no command: a notice after the reader's start, and call-backs.
pub(super) const STARTED: u8 = 0x14;
pub(super) const CALL_BACK: u8 = 0x61;
/// The command bytes of the cancellations.
pub(super) const CANCEL: u8 = 0x05;
pub(super) const KEYPAD: u8 = 0x62;

/// Reads the messages of NEO2.
pub(super) struct Neo2Listener;

impl Listener for Neo2Listener {
    fn read<'a>(&'a mut self, message: &RawMessage<'a>, outstanding: Outstanding) -> MessageMeaning<'a> {
        let RawMessage { codes: [command, status], bytes: data, .. } = *message;
        if has_clear_card_data(data) {
            return MessageMeaning::ClearCardData;
        }
        match command {
            STARTED => return MessageMeaning::Event(ReaderNotice::Restarted),
            CALL_BACK => return call_back(status, data),
            _ => {}
        }
        let status = ResponseStatus(status);
        // The answer to the abort names the abort's command, or it is the first one without data.
        let is_abort = command == CANCEL || (command == KEYPAD && data.is_empty());
        if outstanding.abort && is_abort {
            return MessageMeaning::AbortDone { command: AbortedCommand::MayAnswer };
        }
        match outstanding.command {
            Some(purpose) if command_of(purpose).is_none_or(|expected| expected == command) => {
                let is_first = matches!(
                    purpose,
                    CommandPurpose::Start
                        | CommandPurpose::Decide
                        | CommandPurpose::Host { .. }
                        | CommandPurpose::OnlinePin
                ) && status.is_first_of_two(data);
                match is_first {
                    true => MessageMeaning::Begun,
                    false => MessageMeaning::Answer(answer(purpose, status, data)),
                }
            }
            _ => MessageMeaning::Nothing,
        }
    }

    fn forget(&mut self) {}
}

/// Returns the command byte of the answer to a command, if the command is always the same.
fn command_of(purpose: CommandPurpose) -> Option<u8> {
    Some(match purpose {
        CommandPurpose::StartUp(StartUpStep::Abort) => CANCEL,
        CommandPurpose::StartUp(StartUpStep::Identity) => 0x12,
        CommandPurpose::StartUp(StartUpStep::Firmware | StartUpStep::Configuration) => 0x29,
        CommandPurpose::StartUp(StartUpStep::PinKey) | CommandPurpose::KeyStatus => 0x81,
        CommandPurpose::StartUp(StartUpStep::Encryption) => 0xC7,
        CommandPurpose::StartUp(StartUpStep::Contactless) => 0x01,
        CommandPurpose::ClockSet | CommandPurpose::DateSet | CommandPurpose::ClockGet => 0x25,
        CommandPurpose::CardStatus => 0x18,
        CommandPurpose::AnyCard => 0x02,
        CommandPurpose::Start | CommandPurpose::Decide | CommandPurpose::Host { .. } => 0x60,
        CommandPurpose::OnlinePin => KEYPAD,
        CommandPurpose::TypedCard => 0x83,
        _ => return None,
    })
}

/// Answers a question of the reader. The agent shows a text to the cashier, and takes the first line of a menu, which
/// has the highest priority. It has no keypad and no stripe of its own.
fn call_back(code: u8, data: &[u8]) -> MessageMeaning<'_> {
    let frame = Neo2Frame { header: HeaderKind::default(), command: CALL_BACK, sub_or_status: code, data };
    let reply = match CallBack::parse(&frame) {
        Ok(Some(CallBack::Display(request))) if request.mode.wants_answer() => request.answer(first_line(&request)),
        Ok(Some(CallBack::Display(request))) => return shown(&request),
        Ok(Some(CallBack::Pin)) => Neo2Command::RefusePin,
        Ok(Some(CallBack::Stripe) | None) => return MessageMeaning::Nothing,
        Err(_) => return MessageMeaning::NotUnderstood("a text has wrong lengths"),
    };
    encoded(&reply).map_or(MessageMeaning::Nothing, |reply| MessageMeaning::Reply(reply.frames))
}

fn first_line(request: &DisplayRequest<'_>) -> Option<u8> {
    request.lines.first().map(|line| line.number).or((request.mode == DisplayMode::WithKey).then_some(0))
}

fn shown<'a>(request: &DisplayRequest<'a>) -> MessageMeaning<'a> {
    use crate::family::{DeviceStep, DeviceStepKind};
    let text = request.lines.iter().find_map(|line| match line.content {
        LineContent::Text(text) => Some(text),
        LineContent::Message(_) => None,
    });
    match text {
        Some(text) => {
            MessageMeaning::Event(ReaderNotice::Step(DeviceStep { kind: DeviceStepKind::Text, text, tries_left: None }))
        }
        None => MessageMeaning::Event(ReaderNotice::Other),
    }
}

fn answer(purpose: CommandPurpose, status: ResponseStatus, data: &[u8]) -> CommandAnswer<'_> {
    let ok = status == ResponseStatus::OK;
    let failed = || CommandAnswer::Failed(failure(purpose, status));
    match purpose {
        CommandPurpose::StartUp(step) => step_answer(step, status, data),
        CommandPurpose::KeyStatus => {
            let key = KsnAnswer::parse(data).ok().filter(|_| status == ResponseStatus::OK);
            // A reader without this command is judged by each card's own encryption.
            let card = key.is_some_and(|key| key.state == KeyState::Valid) || is_unknown(status);
            CommandAnswer::Keys(KeyStatus { card_left: left_of(key), ..KeyStatus::of(card, None) })
        }
        CommandPurpose::AnyCard | CommandPurpose::Start | CommandPurpose::Decide | CommandPurpose::Host { .. } => {
            match status {
                // A failure may explain itself by a result code, but an answer without data has none.
                ResponseStatus::OK | ResponseStatus::ONLINE_REQUESTED if !data.is_empty() => {
                    card(purpose, status, data)
                }
                ResponseStatus::OK | ResponseStatus::ONLINE_REQUESTED => CommandAnswer::Failed(CommandFailure::DAMAGED),
                _ => failed(),
            }
        }
        // The state of a PIN entry also comes with status 0A.
        CommandPurpose::OnlinePin if ok || (status == ResponseStatus::FAILED && !data.is_empty()) => pin(data),
        CommandPurpose::TypedCard if ok => match ManualCardAnswer::parse(data) {
            Ok(typed) => {
                let sealed = typed.sealed.ok().and_then(|block| block.to_card());
                // A clear number would have been found before.
                CommandAnswer::Typed(TypedCard { pan: typed.masked_pan, is_clear: false, sealed })
            }
            Err(_) => CommandAnswer::Failed(CommandFailure::DAMAGED),
        },
        _ if ok => CommandAnswer::Done,
        _ => failed(),
    }
}

/// Returns the number of keys left, by their KSN.
fn left_of(key: Option<KsnAnswer<'_>>) -> Option<u64> {
    key.filter(|key| key.state == KeyState::Valid).and_then(|key| keys::left(key.ksn?))
}

/// Returns whether the reader does not know the command.
fn is_unknown(status: ResponseStatus) -> bool {
    matches!(
        status,
        ResponseStatus::UNKNOWN_COMMAND
            | ResponseStatus::UNKNOWN_SUB_COMMAND
            | ResponseStatus::WRONG_PARAMETER
            | ResponseStatus::UNSUPPORTED_PARAMETER
    )
}

fn step_answer(step: StartUpStep, status: ResponseStatus, data: &[u8]) -> CommandAnswer<'_> {
    let ok = status == ResponseStatus::OK;
    match step {
        StartUpStep::Identity if ok => CommandAnswer::Identity {
            serial: text(data),
            model: String::new(),
            firmware: String::new(),
            files: Vec::new(),
            tampered: false,
        },
        StartUpStep::Identity => CommandAnswer::Failed(failure(CommandPurpose::StartUp(step), status)),
        StartUpStep::Firmware if ok => {
            let text = text(data);
            let (model, firmware) = text.split_once(' ').unwrap_or((&text, ""));
            CommandAnswer::Firmware { model: model.to_owned(), firmware: firmware.to_owned() }
        }
        StartUpStep::Configuration if ok => {
            CommandAnswer::Files(vec![ConfigFile { name: "kernel".to_owned(), version: text(data) }])
        }
        StartUpStep::PinKey => {
            let key = KsnAnswer::parse(data).ok().filter(|_| ok);
            CommandAnswer::PinKey { present: key.is_some_and(|key| key.state == KeyState::Valid), left: left_of(key) }
        }
        // A reader that says that its encryption is off must not be used. One that does not know the command always
        // encrypts, or its first card shows that it does not.
        StartUpStep::Encryption if ok && EncryptionSwitch::parse(data).is_ok_and(EncryptionSwitch::is_off) => {
            CommandAnswer::Keys(KeyStatus::of(false, None))
        }
        _ => CommandAnswer::Done,
    }
}

fn pin(data: &[u8]) -> CommandAnswer<'_> {
    let failed = |kind, words| CommandAnswer::Failed(CommandFailure { kind, code: 0, words });
    match Neo2PinAnswer::parse(data) {
        Ok(Neo2PinAnswer::Entered(pin)) => CommandAnswer::Pin(PinAnswer::Entered(Some(pin))),
        Ok(Neo2PinAnswer::Cancelled) => CommandAnswer::Pin(PinAnswer::Cancelled),
        Ok(Neo2PinAnswer::CancelledByHost) => failed(FailureKind::Cancelled, "cancelled"),
        Ok(Neo2PinAnswer::NoKey) => failed(FailureKind::NoKey, "no PIN key left"),
        Ok(Neo2PinAnswer::Failed(_)) => CommandAnswer::Pin(PinAnswer::Failed),
        Err(_) => CommandAnswer::Failed(CommandFailure::DAMAGED),
    }
}

/// Reads a card's answer.
fn card(purpose: CommandPurpose, status: ResponseStatus, data: &[u8]) -> CommandAnswer<'_> {
    let Ok(found) = Neo2CardAnswer::parse(data) else { return CommandAnswer::Failed(CommandFailure::DAMAGED) };
    let interface = match found.interface() {
        Ok(interface) => interface,
        // The answer denies the encryption of its own elements, so they count as missing.
        Err(AttributionFault::Unencrypted) => None,
        Err(_) => return CommandAnswer::Failed(CommandFailure::DAMAGED),
    };
    if purpose == CommandPurpose::AnyCard && interface == Some(Interface::Swipe) {
        return CommandAnswer::Swiped(swiped(&found));
    }
    if let Some(code) = found.result.get().filter(|code| code.is_error()) {
        return CommandAnswer::Failed(CommandFailure {
            kind: if purpose == CommandPurpose::AnyCard { FailureKind::TapAgain } else { FailureKind::InsertAgain },
            code: code.0,
            words: "the card was not read",
        });
    }
    let Some(template) = template(status, &found, interface) else {
        // The reader has found a card in the slot, and nothing else.
        let inserted = purpose == CommandPurpose::AnyCard && interface == Some(Interface::Contact);
        let kind = if inserted { FailureKind::Inserted } else { FailureKind::Damaged };
        return CommandAnswer::Failed(CommandFailure { kind, ..CommandFailure::DAMAGED });
    };
    let is_contact = interface == Some(Interface::Contact);
    let elements = CardElements {
        chip: found.chip,
        amount: found.amount,
        currency: found.currency,
        language_preference: found.language_preference,
        pos_entry_mode: found.pos_entry_mode,
        magstripe_mode: interface == Some(Interface::ContactlessMagstripe),
        // Only a chip in the slot starts without a decision.
        inserted: purpose == CommandPurpose::AnyCard && (is_contact || template == AnswerTemplate::Decision),
        masked_pan: found.masked_pan.clone(),
        sealed: found.seal().ok(),
        pin: found.pin,
        application: None,
        several_applications: false,
    };
    CommandAnswer::Card(TransactionAnswer { template, elements: Ok(elements), tlvs: data })
}

/// Returns the card's decision: by the result code, by the status, or by the cryptogram. UNCERTAIN: that an answer
/// without a result code is decided by its cryptogram (readers: 4.3).
fn template(
    status: ResponseStatus,
    found: &Neo2CardAnswer<'_>,
    interface: Option<Interface>,
) -> Option<AnswerTemplate> {
    match found.result.get() {
        Some(ResultCode::APPROVED) => return Some(AnswerTemplate::Approved),
        Some(ResultCode::DECLINED) => return Some(AnswerTemplate::Declined),
        Some(ResultCode::GO_ONLINE) => return Some(AnswerTemplate::Online),
        Some(ResultCode::STARTED) => return Some(AnswerTemplate::Decision),
        _ => {}
    }
    if status == ResponseStatus::ONLINE_REQUESTED || interface == Some(Interface::ContactlessMagstripe) {
        return Some(AnswerTemplate::Online);
    }
    Some(match found.chip.cryptogram_kind()? {
        CryptogramKind::Arqc => AnswerTemplate::Online,
        CryptogramKind::Tc => AnswerTemplate::Approved,
        CryptogramKind::Aac => AnswerTemplate::Declined,
    })
}

fn swiped(found: &Neo2CardAnswer<'_>) -> Result<SwipedCard, UnusableSwipe> {
    if found.encrypted.is_empty() && found.masked_pan.is_none() {
        return Err(UnusableSwipe::Unreadable);
    }
    let sealed = found.seal().ok();
    let pan = || found.masked_pan.clone();
    // A reader may mask the service code too, but it says whether the card has a chip.
    let swipe = match SwipedCard::new(found.masked_track2, pan(), sealed.as_ref()) {
        Err(UnusableSwipe::Unreadable) => {
            SwipedCard::without_service_code(pan(), found.swiped_card_has_chip, sealed.as_ref())
        }
        swipe => swipe,
    };
    let is_fallback = found.entry() == Ok(Some(EntryMode::MagstripeAsFallback));
    swipe.map(|swipe| if is_fallback { swipe.into_fallback() } else { swipe })
}

/// Returns the meaning of a status for the session.
fn failure(purpose: CommandPurpose, status: ResponseStatus) -> CommandFailure {
    let is_tap = purpose == CommandPurpose::AnyCard;
    let is_chip = matches!(purpose, CommandPurpose::Start | CommandPurpose::Decide);
    let kind = match status {
        ResponseStatus::TIMEOUT => FailureKind::TimedOut,
        ResponseStatus::FAILED if is_tap => FailureKind::TapAgain,
        ResponseStatus::FAILED if is_chip => FailureKind::InsertAgain,
        ResponseStatus::COMMAND_NOT_ALLOWED | ResponseStatus::SUB_COMMAND_NOT_ALLOWED => FailureKind::StateLost,
        ResponseStatus::UNKNOWN_COMMAND | ResponseStatus::UNKNOWN_SUB_COMMAND => FailureKind::UnknownCommand,
        ResponseStatus::WRONG_CRC | ResponseStatus::WRONG_HEADER => FailureKind::Damaged,
        _ => FailureKind::Other,
    };
    CommandFailure { kind, code: status.0.into(), words: status.words() }
}
