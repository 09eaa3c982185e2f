//! The messages of a VIPA reader as the session hears them.

use zeroize::Zeroizing;

use super::message::{
    CardTemplate, VipaCardStatus, VipaDeviceStatus, VipaIdentity, VipaKeys, VipaPinAnswer, VipaStatus, VipaTypedCard,
    VipaUnsolicited, has_clear_card_data, masked_pan, parse_card, parse_time, tags,
};
use super::settings::SredForm;
use crate::apdu::{need, split};
use crate::card_answer::AnswerTemplate;
use crate::card_read::{SwipedCard, UnusableSwipe};
use crate::family::{
    AbortedCommand, CommandAnswer, CommandFailure, CommandPurpose, DeviceStep, DeviceStepKind, FailureKind, KeyStatus,
    Listener, MessageMeaning, Outstanding, PinAnswer, RawMessage, ReaderNotice, StartUpStep, TypedCard,
};
use crate::masked_pan::{is_clear_typed_pan, masked_typed_pan};
use pos_terms::emv::tlv;

/// E8: the template of a tapped card that is no payment card (readers: 3.4).
const NO_PAYMENT_CARD: u8 = 0xE8;
/// The cancel key.
const KEY_CANCEL: u8 = 0x1B;

/// Reads the messages of VIPA.
pub(super) struct VipaListener {
    form: SredForm,
    /// The elements of the running dialogue's E2. They include sealed data that a later E4 does not repeat.
    earlier: Zeroizing<Vec<u8>>,
    /// `true` if the reader has begun the awaited command whose result is unsolicited.
    begun: bool,
    /// `true` if the reader has asked for a second tap. UNCERTAIN: it may continue to wait for it by itself. The second
    /// tap then comes before the wait begins again (readers: 3.4).
    taps_again: bool,
}

impl VipaListener {
    pub(super) fn new(form: SredForm) -> Self {
        Self { form, earlier: Zeroizing::default(), begun: false, taps_again: false }
    }
}

impl Listener for VipaListener {
    fn read<'a>(&'a mut self, message: &RawMessage<'a>, outstanding: Outstanding) -> MessageMeaning<'a> {
        if outstanding.command != Some(CommandPurpose::Decide) {
            // The decision is answered, so the card's data in the E2 are wiped.
            self.earlier = Zeroizing::default();
        }
        let Ok((body, status)) = split(message.bytes) else { return MessageMeaning::Nothing };
        let status = VipaStatus(status);
        if has_clear_card_data(body) {
            return MessageMeaning::ClearCardData;
        }
        if message.unsolicited {
            return self.unsolicited(body, status, outstanding);
        }
        let is_empty = body.is_empty() && status == VipaStatus::OK;
        match outstanding.command {
            // The result is unsolicited. The command's own answer only says that it has begun. A reader answers its
            // commands in order, so this answer comes before that of an abort.
            Some(purpose) if is_empty && has_late_result(purpose) && !self.begun => {
                self.begun = true;
                MessageMeaning::Begun
            }
            // While an abort is outstanding, two answers are expected, in any order. An empty body with 9000 belongs to
            // the abort.
            _ if outstanding.abort && is_empty => MessageMeaning::AbortDone { command: AbortedCommand::Answers },
            Some(CommandPurpose::CardStatus) => self.card_status(body),
            // After a fault of the line, the session asks for the state of the slot and does not wait. So this answer
            // may come at any time.
            _ if is_card_status(body) => self.card_status(body),
            None => MessageMeaning::Nothing,
            Some(purpose) if status == VipaStatus::OK && has_late_result(purpose) => MessageMeaning::Nothing,
            Some(purpose) if is_of_another(purpose, body, status) => MessageMeaning::Nothing,
            Some(purpose) => MessageMeaning::Answer(self.answer(purpose, body, status)),
        }
    }

    fn forget(&mut self) {
        self.earlier = Zeroizing::default();
        (self.begun, self.taps_again) = (false, false);
    }
}

impl VipaListener {
    fn unsolicited<'a>(
        &'a mut self,
        body: &'a [u8],
        status: VipaStatus,
        outstanding: Outstanding,
    ) -> MessageMeaning<'a> {
        if let Some(purpose) = outstanding.command.filter(|purpose| has_late_result(*purpose))
            && (body.is_empty() || is_result_of_tap(body))
        {
            if self.begun || (self.taps_again && status == VipaStatus::OK && !body.is_empty()) {
                return MessageMeaning::Answer(self.answer(purpose, body, status));
            }
            // What comes before the beginning is the result of an earlier command. Some readers may mark the beginning
            // itself as unsolicited.
            self.begun = body.is_empty() && status == VipaStatus::OK;
            return if self.begun { MessageMeaning::Begun } else { MessageMeaning::Nothing };
        }
        match VipaUnsolicited::parse(body, self.form) {
            Ok(event) => MessageMeaning::Event(notice(&event)),
            Err(_) => MessageMeaning::NotUnderstood("an element is malformed"),
        }
    }

    /// Reads the answer to CARD STATUS. The state may come with it, or in an unsolicited message.
    fn card_status<'a>(&self, body: &'a [u8]) -> MessageMeaning<'a> {
        match VipaUnsolicited::parse(body, self.form) {
            Ok(VipaUnsolicited::Card(card)) => MessageMeaning::Event(card_notice(&card)),
            _ => MessageMeaning::Begun,
        }
    }

    fn answer<'a>(&'a mut self, purpose: CommandPurpose, body: &'a [u8], status: VipaStatus) -> CommandAnswer<'a> {
        let ok = status == VipaStatus::OK;
        self.begun = false;
        self.taps_again = purpose == CommandPurpose::AnyCard && status.failure().kind == FailureKind::TapAgain;
        match purpose {
            CommandPurpose::StartUp(step) => return step_answer(step, body, ok),
            CommandPurpose::KeyStatus if status == VipaStatus::NO_KEYS => {
                return CommandAnswer::Keys(KeyStatus::of(false, Some(false)));
            }
            CommandPurpose::OnlinePin if status == VipaStatus::PIN_BYPASSED => {
                return CommandAnswer::Pin(PinAnswer::Bypassed);
            }
            _ => {}
        }
        if !ok {
            return CommandAnswer::Failed(status.failure());
        }
        if body.first() == Some(&NO_PAYMENT_CARD) && purpose == CommandPurpose::AnyCard {
            let words = "no payment card was tapped";
            return CommandAnswer::Failed(CommandFailure { kind: FailureKind::OtherInterface, code: status.0, words });
        }
        let form = self.form;
        let answer = match purpose {
            // Without any part of such an answer, it is a late or second answer to an earlier command. It says nothing
            // about the keys.
            CommandPurpose::KeyStatus => Some(match VipaKeys::parse(body) {
                Ok(VipaKeys { card, pin, card_left, pin_left }) => {
                    CommandAnswer::Keys(KeyStatus { card, pin: Some(pin), card_left, pin_left })
                }
                Err(_) => CommandAnswer::NotYet,
            }),
            CommandPurpose::ClockGet => parse_time(body).ok().map(CommandAnswer::Time),
            CommandPurpose::AnyCard | CommandPurpose::Start | CommandPurpose::Decide | CommandPurpose::Host { .. } => {
                return self.card(body);
            }
            CommandPurpose::OnlinePin => VipaPinAnswer::parse(body).ok().map(|answer| {
                CommandAnswer::Pin(match answer {
                    VipaPinAnswer::Entered(block) => PinAnswer::Entered(block.to_pin()),
                    VipaPinAnswer::Bypassed => PinAnswer::Bypassed,
                })
            }),
            CommandPurpose::Amount => need(body, tags::NUMERIC_DATA).ok().map(CommandAnswer::Digits),
            CommandPurpose::TypedCard => VipaTypedCard::parse(body, form).ok().map(|typed| {
                let (pan, is_clear) = (masked_typed_pan(typed.masked_pan), is_clear_typed_pan(typed.masked_pan));
                let sealed = typed.sealed.and_then(|block| block.to_card());
                CommandAnswer::Typed(TypedCard { pan, is_clear, sealed })
            }),
            CommandPurpose::StartUp(_)
            | CommandPurpose::CardStatus
            | CommandPurpose::ClockSet
            | CommandPurpose::DateSet
            | CommandPurpose::Show
            | CommandPurpose::ForgetTyped => Some(CommandAnswer::Done),
        };
        answer.unwrap_or(CommandAnswer::Failed(CommandFailure::DAMAGED))
    }

    /// Reads a card's answer, with the elements of the same dialogue's E2.
    fn card<'a>(&'a mut self, body: &'a [u8]) -> CommandAnswer<'a> {
        let Ok(card) = CardTemplate::parse(body) else { return CommandAnswer::Failed(CommandFailure::DAMAGED) };
        if card.template == AnswerTemplate::Decision {
            self.earlier = Zeroizing::new(card.tlvs.to_vec());
            return CommandAnswer::Card(parse_card(card, &[], self.form));
        }
        CommandAnswer::Card(parse_card(card, &self.earlier, self.form))
    }
}

/// Returns whether the command's result is an unsolicited message (readers: 3.4).
fn has_late_result(purpose: CommandPurpose) -> bool {
    matches!(purpose, CommandPurpose::AnyCard | CommandPurpose::Host { contactless: true })
}

/// Returns whether a message is the result of a tap, even if it is damaged. A damaged result ends the wait too, because
/// the card may be waiting for the gateway's answer.
fn is_result_of_tap(body: &[u8]) -> bool {
    matches!(body.first(), Some(0xE2..=0xE5 | 0xE7 | &NO_PAYMENT_CARD))
}

/// Returns whether the answer has a form that no answer to this command has. It is then a late or second answer to an
/// earlier command.
fn is_of_another(purpose: CommandPurpose, body: &[u8], status: VipaStatus) -> bool {
    match purpose {
        CommandPurpose::Start | CommandPurpose::Decide | CommandPurpose::Host { .. } => {
            body.is_empty() && status == VipaStatus::OK
        }
        // A card's sealed data have the tags of a sealed PIN.
        CommandPurpose::OnlinePin => CardTemplate::parse(body).is_ok(),
        _ => false,
    }
}

/// Returns whether a message is the answer to CARD STATUS, whose first element is 48.
fn is_card_status(body: &[u8]) -> bool {
    let first = |bytes| tlv::walk(bytes).next().and_then(Result::ok);
    first(body)
        .filter(|template| template.tag == tags::COMMAND_DATA)
        .and_then(|template| first(template.value))
        .is_some_and(|object| object.tag == tags::CARD_STATUS)
}

fn step_answer(step: StartUpStep, body: &[u8], ok: bool) -> CommandAnswer<'_> {
    match step {
        StartUpStep::Abort if body.is_empty() && ok => CommandAnswer::Done,
        // This is the end of a transaction from before the start-up, or the second answer to an abort.
        StartUpStep::Abort => CommandAnswer::NotYet,
        StartUpStep::Identity => match VipaIdentity::parse(body) {
            Ok(reset) if ok => CommandAnswer::Identity {
                serial: reset.serial,
                model: reset.model,
                firmware: reset.firmware,
                files: reset.programs,
                tampered: reset.tamper.is_some_and(|state| state != 0),
            },
            _ => CommandAnswer::NotYet,
        },
        // A reader without a contactless part refuses to open it, and a part that is open stays open.
        _ => CommandAnswer::Done,
    }
}

fn notice<'a>(event: &VipaUnsolicited<'a>) -> ReaderNotice<'a> {
    match event {
        VipaUnsolicited::Card(card) => card_notice(card),
        VipaUnsolicited::Device(status) => ReaderNotice::Step(step(status)),
        VipaUnsolicited::Key(KEY_CANCEL) => ReaderNotice::CancelKey,
        VipaUnsolicited::Key(_) | VipaUnsolicited::Other => ReaderNotice::Other,
    }
}

fn card_notice<'a>(card: &VipaCardStatus<'a>) -> ReaderNotice<'a> {
    ReaderNotice::Card { card_in: card.slot & 1 != 0, swipe: (card.stripe != 0).then(|| swiped(card)) }
}

fn swiped(card: &VipaCardStatus<'_>) -> Result<SwipedCard, UnusableSwipe> {
    let pan = card.masked_track2.and_then(|track| masked_pan(tags::MASKED_TRACK2, track));
    SwipedCard::new(card.masked_track2, pan, card.sealed.as_ref())
}

fn step<'a>(status: &VipaDeviceStatus<'a>) -> DeviceStep<'a> {
    /// DFA20A: the PIN entry is completed, or the PIN is correct.
    const COMPLETED: u8 = 0;
    const CORRECT: u8 = 3;
    let kind = match (status.code, status.pin_result) {
        (_, Some(COMPLETED | CORRECT)) => DeviceStepKind::PinDone,
        (VipaDeviceStatus::PIN_ENTRY | VipaDeviceStatus::PIN_WANTED | VipaDeviceStatus::PIN_BYPASS, _) => {
            DeviceStepKind::Pin { digits: None }
        }
        (VipaDeviceStatus::APPLICATION_SELECTION, _) => DeviceStepKind::ChoosingApplication,
        _ => DeviceStepKind::Text,
    };
    DeviceStep { kind, text: status.text, tries_left: status.tries_left }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_of_an_e2_are_wiped_when_the_decision_is_answered() {
        let mut listener = VipaListener::new(SredForm::IvFirst);
        let mut hears = |bytes: &[u8], command| {
            let message = RawMessage { unsolicited: false, codes: [0; 2], bytes };
            let _ = listener.read(&message, Outstanding { command, abort: false });
            listener.earlier.len()
        };
        let e2 = [0xE2, 0x03, 0xC1, 0x01, 0x00, 0x90, 0x00];
        assert_eq!(hears(&e2, Some(CommandPurpose::Start)), 3);
        // The session uses them with this answer.
        assert_eq!(hears(&[0xE4, 0x00, 0x90, 0x00], Some(CommandPurpose::Decide)), 3);
        assert_eq!(hears(&[0x90, 0x00], None), 0);
        assert_eq!(hears(&e2, Some(CommandPurpose::Start)), 3);
        assert_eq!(hears(&[0x9F, 0x23], Some(CommandPurpose::Start)), 0, "another dialogue");
    }
}
