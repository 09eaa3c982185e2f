//! Orders, events and meanings as words of a recording. None of them has card data except a masked card number.

use crate::card_answer::{AnswerTemplate, TransactionAnswer};
use crate::family::{
    AbortedCommand, CommandAnswer, CommandFailure, KeyStatus, MessageMeaning, PinAnswer, ReaderNotice, TypedCard,
};
use crate::keys;
use crate::{AmountToType, EntryRequest, LocalTime, ReaderEvent, ReaderOrder, Unready};
use pos_terms::card::{Cvm, Presented, SealedCard, SealedPin};

/// Returns a time as YYMMDDhhmmss.
pub(super) fn of_time(at: &LocalTime) -> String {
    let LocalTime { year, month, day, hour, minute, second } = at;
    format!("{year:02}{month:02}{day:02}{hour:02}{minute:02}{second:02}")
}

/// Returns an order with all its values.
pub(super) fn of_order(order: &ReaderOrder) -> String {
    match order {
        ReaderOrder::Arm(arm) => {
            let entry = match arm.entry {
                EntryRequest::Card => "card",
                EntryRequest::Chip => "chip",
                EntryRequest::Manual => "manual",
            };
            let (sale, amount, seconds) = (arm.sale, arm.amount, arm.card_timeout.as_secs());
            format!("arm {sale} {amount} {:02X} {} {seconds} {entry}", arm.transaction_type, of_time(&arm.at))
        }
        ReaderOrder::TypeAmount(order) => {
            let (sale, seconds) = (order.sale, order.timeout.as_secs());
            match &order.what {
                AmountToType::Amount { currency } => format!("type {sale} {seconds} amount {currency}"),
                AmountToType::Tip { base, percentages, other } => {
                    let other = if *other { "other" } else { "fixed" };
                    let percentages: String = percentages.iter().map(|percentage| format!(" {percentage}")).collect();
                    format!("type {sale} {seconds} tip {base} {other}{percentages}")
                }
            }
        }
        ReaderOrder::Show { text } => format!("show {}", hex::encode_upper(text)),
        ReaderOrder::SetClock => "set-clock".to_owned(),
        ReaderOrder::Complete { sale, completion } => {
            let arc = hex::encode_upper(completion.arc);
            let authentication = completion.issuer_authentication.as_deref().map_or("-".to_owned(), hex::encode_upper);
            let scripts = hex::encode_upper(&completion.scripts);
            format!("complete {sale} {arc} {authentication} {scripts}").trim_end().to_owned()
        }
        ReaderOrder::Cancel { sale } => format!("cancel {sale}"),
    }
}

/// Returns an event. A text that may change from one system to another is left out.
pub(super) fn of_event(event: &ReaderEvent) -> String {
    match event {
        ReaderEvent::Ready(identity) => {
            let pin_key = yes(Some(identity.pin_key));
            format!("ready: {} {} {}, PIN key {pin_key}", identity.serial, identity.model, identity.firmware)
        }
        // The names of ports and the system's texts differ from one board to another.
        ReaderEvent::Unready(Unready::Absent { .. }) => "unready: the port is not open".to_owned(),
        ReaderEvent::Unready(Unready::WrongDevice { cause, .. }) => format!("unready: wrong device ({cause})"),
        ReaderEvent::Unready(Unready::Flooding { wait_s, .. }) => format!("unready: flood, {wait_s} s"),
        ReaderEvent::Unready(why) => format!("unready: {why}"),
        ReaderEvent::Progress { sale, progress } => format!("{sale} {progress:?}"),
        ReaderEvent::Language { sale, language } => format!("{sale} language {}", language.code()),
        ReaderEvent::Card { sale, presented } => format!("{sale} card: {}", of_card(presented)),
        ReaderEvent::KeysLeft { card, pin } => format!("keys left: card {}, PIN {}", number(*card), number(*pin)),
        ReaderEvent::Typed { sale, amount } => match amount {
            Ok(Some(amount)) => format!("{sale} typed {amount}"),
            Ok(None) => format!("{sale} typed no tip"),
            Err(why) => format!("{sale} not typed: {why}"),
        },
        ReaderEvent::NoCard { sale, why } => format!("{sale} no card: {why}"),
        ReaderEvent::Completed { sale, verdict, facts, scripts_dropped } => {
            let cryptogram = facts.as_ref().and_then(|facts| facts.cryptogram.as_ref());
            let kind = cryptogram.map_or("no cryptogram".to_owned(), |cryptogram| format!("{:?}", cryptogram.kind));
            format!("{sale} completed: {verdict:?}, {kind}, scripts left out: {}", yes(Some(*scripts_dropped)))
        }
        ReaderEvent::Idle => "idle".to_owned(),
    }
}

fn of_card(presented: &Presented) -> String {
    let Presented { facts, card, pin, icc, first_answer } = presented;
    let pan = facts.pan.as_ref().map_or("no number", |pan| pan.as_str());
    let icc = icc.expose().len();
    let (entry, cvm) = (facts.entry, facts.cvm);
    let cvm = cvm.map_or("unknown", Cvm::as_str);
    format!("{entry:?} {pan}, {first_answer:?}, CVM {cvm}, {}, {}, {icc} bytes of chip", sealed(card), pin_of(pin))
}

fn sealed(card: &SealedCard) -> String {
    format!("{} sealed bytes with {}", card.data.expose().len(), key(card.ksn.expose()))
}

fn pin_of(pin: &Option<SealedPin>) -> String {
    pin.as_ref().map_or("no PIN".to_owned(), |pin| format!("PIN with {}", key(pin.ksn.expose())))
}

/// Names a key by what follows from its KSN.
fn key(ksn: &[u8]) -> String {
    keys::left(ksn).map_or("no key".to_owned(), |left| format!("{left} keys left"))
}

/// Returns the meaning of a message from the reader.
pub(super) fn of_meaning(meaning: &MessageMeaning<'_>) -> String {
    match meaning {
        MessageMeaning::ClearCardData => "clear card data, so the reader is not used".to_owned(),
        MessageMeaning::AbortDone { command: AbortedCommand::Answers } => "the abort is answered".to_owned(),
        MessageMeaning::AbortDone { command: AbortedCommand::MayAnswer } => {
            "the abort is answered, and the answer of the aborted command may follow".to_owned()
        }
        MessageMeaning::Answer(answer) => format!("answer, {}", of_answer(answer)),
        MessageMeaning::Begun => "the command has begun".to_owned(),
        MessageMeaning::Reply(_) => "a question that the driver answers".to_owned(),
        MessageMeaning::Event(notice) => of_notice(notice),
        MessageMeaning::NotUnderstood(why) => format!("not understood: {why}"),
        MessageMeaning::Nothing => "nothing that is expected now".to_owned(),
    }
}

fn yes(is: Option<bool>) -> &'static str {
    match is {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    }
}

fn number(number: Option<u64>) -> String {
    number.map_or("unknown".to_owned(), |number| number.to_string())
}

fn of_answer(answer: &CommandAnswer<'_>) -> String {
    match answer {
        CommandAnswer::Done => "done".to_owned(),
        CommandAnswer::NotYet => "of an earlier command".to_owned(),
        CommandAnswer::Identity { serial, model, firmware, files, tampered } => {
            let opened = if *tampered { ", it was opened" } else { "" };
            format!("identity: {serial} {model} {firmware}, {} files{opened}", files.len())
        }
        CommandAnswer::Firmware { model, firmware } => format!("firmware: {model} {firmware}"),
        CommandAnswer::Keys(KeyStatus { card, pin, .. }) => {
            format!("keys: card {}, PIN {}", yes(Some(*card)), yes(*pin))
        }
        CommandAnswer::PinKey { present, .. } => format!("key: PIN {}", yes(Some(*present))),
        CommandAnswer::Capabilities { extended } => format!("capabilities: long commands {}", yes(Some(*extended))),
        CommandAnswer::Files(files) => format!("{} files", files.len()),
        CommandAnswer::Time(at) => format!("clock: {}", of_time(at)),
        CommandAnswer::Card(TransactionAnswer { template, elements, .. }) => {
            let kind = match template {
                AnswerTemplate::Decision => "asks for a decision",
                AnswerTemplate::Approved => "approves",
                AnswerTemplate::Online => "goes online",
                AnswerTemplate::Declined => "declines",
            };
            match elements {
                Ok(found) => {
                    let (sealed, pin) = (yes(Some(found.sealed.is_some())), yes(Some(found.pin.is_some())));
                    format!("the card {kind}; sealed data: {sealed}, PIN: {pin}")
                }
                Err(error) => format!("the card {kind}, but {error}"),
            }
        }
        CommandAnswer::Swiped(swipe) => of_swipe(swipe.is_ok()).to_owned(),
        CommandAnswer::Pin(PinAnswer::Entered(pin)) => {
            format!("PIN entered, well-formed: {}", yes(Some(pin.is_some())))
        }
        CommandAnswer::Pin(PinAnswer::Cancelled) => "PIN entry cancelled".to_owned(),
        CommandAnswer::Pin(PinAnswer::Bypassed) => "no PIN entered".to_owned(),
        CommandAnswer::Pin(PinAnswer::Failed) => "PIN entry failed".to_owned(),
        CommandAnswer::Typed(TypedCard { pan, is_clear, sealed }) => {
            let pan = pan.as_ref().map_or("no number", |pan| pan.as_str());
            format!("typed card {pan}, clear: {}, sealed data: {}", yes(Some(*is_clear)), yes(Some(sealed.is_some())))
        }
        CommandAnswer::Digits(digits) => format!("{} digits", digits.len()),
        CommandAnswer::Failed(CommandFailure { kind, code, words }) => format!("{code:04X} {words} ({kind:?})"),
    }
}

fn of_notice(notice: &ReaderNotice<'_>) -> String {
    match notice {
        ReaderNotice::Card { card_in, swipe } => {
            let slot = if *card_in { "a card is in the slot" } else { "the slot is empty" };
            match swipe {
                Some(swipe) => format!("{slot}, {}", of_swipe(swipe.is_ok())),
                None => slot.to_owned(),
            }
        }
        ReaderNotice::CancelKey => "the cancel key was pressed".to_owned(),
        ReaderNotice::Step(step) => {
            let tries = number(step.tries_left.map(u64::from));
            format!("step {:?}, PIN tries left: {tries}", step.kind)
        }
        ReaderNotice::Restarted => "the reader restarts".to_owned(),
        ReaderNotice::Other => "a notice without a meaning here".to_owned(),
    }
}

fn of_swipe(is_usable: bool) -> &'static str {
    if is_usable { "a card was swiped" } else { "a card was swiped, but the swipe is not usable" }
}
