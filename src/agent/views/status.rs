//! The terminal's status for tills: what is ready, what needs attention, and the open transactions.

use crate::agent::clock::Clock;
use crate::agent::devices::{PrinterControl, ReaderControl};
use crate::agent::engine::open_transactions::LeftAlone;
use crate::config::{Config, Tips};
use crate::till::{
    Attention, AttentionView, ClockState, ClockView, GatewayView, HealthView, JournalState, JournalView, LogView,
    PrinterView, ReaderState, ReaderView, SaleView, StatusView, TipsView, WaitsView,
};
use pos_core::transaction::Order;
use pos_gateway::{Contact, Soon};
use pos_terms::money::Currency;
use pos_words::{Message, Sentence, Words};

use super::states::{
    message_of, of_gateway, of_journal, of_printer, of_reader, of_soon, sentence_of, state_of, state_of_printer,
};

/// The free space, in bytes, below which a day of transactions does not fit. In that case, other data is filling the
/// disk.
const LITTLE_ROOM: u64 = 16 << 20;

/// The free space, in bytes, above which the disk is no longer nearly full. It is one MiB higher, because a disk near
/// the limit must not fill the log.
const ROOM_AGAIN: u64 = LITTLE_ROOM + (1 << 20);

/// Returns whether the journal's disk is nearly full. `before` is the result of the previous check.
pub(in crate::agent) fn is_nearly_full(before: bool, free_bytes: u64) -> bool {
    free_bytes < if before { ROOM_AGAIN } else { LITTLE_ROOM }
}

/// Returns the warning about the free space on the journal's disk, with the remedy.
pub(in crate::agent) fn little_room(free_bytes: u64) -> Sentence {
    Message::AttentionJournalNearlyFull.with("free", (free_bytes >> 20).to_string())
}

/// Returns the journal's view, based on its last failed write or the free space on its disk.
pub(in crate::agent) fn journal_view(
    words: &Words,
    trouble: Option<(JournalState, Sentence)>,
    free_bytes: Option<u64>,
) -> JournalView {
    let (state, text) = match (trouble, free_bytes) {
        (Some((state, why)), _) => (state, sentence_of(of_journal(state), why)),
        (None, Some(free)) if is_nearly_full(false, free) => (JournalState::NearlyFull, little_room(free)),
        (None, _) => (JournalState::Ready, Message::JournalWritten.into()),
    };
    JournalView { state, text: words.tell(&text), free_bytes }
}

fn tips_view(tips: &Tips) -> TipsView {
    let Tips { presets, custom, default, timeout_s } = tips.clone();
    TipsView { presets, custom, default, timeout_s }
}

/// The facts for the status.
pub(in crate::agent) struct StatusFacts<'a> {
    /// The terminal's language.
    pub(in crate::agent) words: &'a Words,
    pub(in crate::agent) config: &'a Config,
    pub(in crate::agent) currency: Currency,
    pub(in crate::agent) reader: ReaderView,
    pub(in crate::agent) gateway: GatewayView,
    /// False if the network has no link. Each transaction with a card is then refused.
    pub(in crate::agent) has_link: bool,
    pub(in crate::agent) printers: Vec<PrinterView>,
    pub(in crate::agent) clock: ClockView,
    pub(in crate::agent) journal: JournalView,
    /// Warnings from the devices, each with its remedy.
    pub(in crate::agent) refused_request: Option<Sentence>,
    pub(in crate::agent) ends_soon: Vec<(Soon, String)>,
    pub(in crate::agent) clocks_differ: Option<Sentence>,
    pub(in crate::agent) keys_run_out: Option<Sentence>,
    pub(in crate::agent) old_copy: Option<(Attention, Sentence)>,
    /// The message of the fleet.
    pub(in crate::agent) fleet_message: Option<Sentence>,
    /// What a person should know about the fleet's settings and keys.
    pub(in crate::agent) given: Vec<(Attention, Sentence)>,
    pub(in crate::agent) busy: bool,
    pub(in crate::agent) logging: Option<LogView>,
    pub(in crate::agent) health: HealthView,
    /// The open transactions of the tills that the caller may see.
    pub(in crate::agent) current: Option<SaleView>,
    pub(in crate::agent) unconfirmed: Vec<SaleView>,
    pub(in crate::agent) awaiting: Vec<(&'a Order, Awaited)>,
    pub(in crate::agent) left_alone: Vec<&'a LeftAlone>,
}

/// The answer for which an open transaction waits.
pub(in crate::agent) enum Awaited {
    Signature,
    Till,
}

/// Returns the gateway's view.
pub(in crate::agent) fn gateway_view(words: &Words, contact: &Contact, url: &str) -> GatewayView {
    let text = match contact {
        Contact::NotAskedYet => Message::GatewayNotAskedYet.into(),
        Contact::Connected => Message::GatewayConnected.into(),
        Contact::Answers => Message::GatewayAnswers.into(),
        Contact::Throttles => Message::AttentionGatewayThrottles.into(),
        Contact::Fault(fault) => sentence_of(of_gateway(state_of(contact)), fault.to_string().into()),
    };
    GatewayView {
        state: state_of(contact),
        text: words.tell(&text),
        url: url.to_owned(),
        cause: contact.fault().map(|fault| fault.as_str().to_owned()),
    }
}

pub(in crate::agent) fn printer_views(words: &Words, printers: &PrinterControl) -> Vec<PrinterView> {
    let view = |(config, printer): (&crate::config::Printer, &pos_printer::Handle)| PrinterView {
        name: config.name.clone(),
        port: config.port.clone(),
        state: state_of_printer(&printer.standing()),
        text: words.tell(&printer.state()),
        waiting: printer.waiting(),
    };
    printers.each().map(view).collect()
}

/// Returns the clock's view. `differs` is the warning about a difference from the gateway's clock.
pub(in crate::agent) fn clock_view(words: &Words, clock: &Clock, differs: Option<Sentence>) -> ClockView {
    let time = clock.local();
    let (state, text) = match (&time, clock.trusted_board(), differs) {
        (None, ..) => (ClockState::Untrusted, clock.untrusted()),
        (Some(_), _, Some(differ)) => (ClockState::Differs, differ),
        (Some(_), Some(_), None) => (ClockState::Ready, Message::ClockOfBoard.into()),
        (Some(_), None, None) => (ClockState::ReaderServes, Message::ClockOfReader.into()),
    };
    let text = words.tell(&text);
    ClockView { state, text, time: time.map(|time| time.to_rfc3339_opts(chrono::SecondsFormat::Secs, false)) }
}

/// Returns the reader's view, with its latest change.
pub(in crate::agent) fn reader_view(words: &Words, reader: &ReaderControl) -> ReaderView {
    let state = reader.state.state();
    let Some(identity) = reader.state.identity() else {
        let trouble = reader.state.trouble().map(|trouble| words.tell(&trouble));
        return ReaderView::new(state, trouble.unwrap_or_default());
    };
    let text = Message::ReaderIs.with("model", identity.model.as_str()).with("firmware", identity.firmware.as_str());
    let text = words.tell(&text.with("serial", identity.serial.as_str()));
    let view = ReaderView {
        serial: Some(identity.serial.clone()),
        model: Some(identity.model.clone()),
        firmware: Some(identity.firmware.clone()),
        protocol: Some(reader.protocol.name().to_owned()),
        experimental: reader.protocol.is_experimental(),
        cannot: reader.protocol.limits().into_iter().map(ToOwned::to_owned).collect(),
        tampered: identity.tampered,
        keys_left: reader.keys_left,
        card_left: reader.slot.card_is_in(),
        ..ReaderView::new(state, text)
    };
    reader.with_its_change(identity, view)
}

/// Returns the terminal's status. It depends only on the facts.
pub(in crate::agent) fn status_view(facts: StatusFacts<'_>) -> StatusView {
    let attention = attention(&facts);
    let StatusFacts { config, currency, reader, gateway, printers, clock, journal, .. } = facts;
    StatusView {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        terminal_id: config.terminal.id.clone(),
        merchant: config.terminal.merchant.clone(),
        currency: Some(config.terminal.currency.clone()),
        currency_number: Some(currency.numeric()),
        currency_decimals: Some(currency.exponent()),
        language: Some(config.terminal.language.clone()),
        tips: config.tips.as_ref().map(tips_view),
        may_train: config.training.allowed,
        // The servers for tills fill this in, because they know the caller.
        may_begin: Vec::new(),
        tills: Vec::new(),
        waits: Some(WaitsView {
            card_s: config.terminal.card_timeout_s,
            answer_s: config.gateway.answer_timeout_ms.div_ceil(1000),
            signature_s: config.terminal.signature_timeout_s,
        }),
        ready: reader.state == ReaderState::Ready
            && !matches!(journal.state, JournalState::Full | JournalState::CannotBeWritten)
            && clock.state != ClockState::Untrusted
            && facts.has_link
            && !gateway.state.stops_sales(),
        busy: facts.busy,
        attention,
        reader,
        gateway,
        printers,
        clock,
        journal,
        // The HTTP server fills this in.
        http: None,
        logging: facts.logging,
        health: Some(facts.health),
        current: facts.current,
        unconfirmed: facts.unconfirmed,
    }
}

/// Returns the entries that need a person's attention, in the order in which they are shown.
fn attention(facts: &StatusFacts<'_>) -> Vec<AttentionView> {
    let StatusFacts { words, reader, gateway, printers, clock, journal, .. } = facts;
    let entry = |code: Attention, said: Sentence| AttentionView::new(code, words.tell(&said));
    let device = |code: Option<Attention>, text: &str| code.map(|code| AttentionView::new(code, text));
    let of_sale = |code, said: Sentence, reference: &str, till: &str| AttentionView {
        sale: Some(reference.to_owned()),
        till: Some(till.to_owned()),
        ..entry(code, said.with("reference", reference).with("till", till))
    };
    let mut attention: Vec<AttentionView> = Vec::new();
    attention.extend(device(of_reader(reader.state), &reader.text));
    let card_left = reader.card_left.then(|| entry(Attention::ReaderCardLeft, Message::AttentionReaderCardLeft.into()));
    attention.extend(card_left);
    attention.extend(device(of_journal(journal.state), &journal.text));
    attention.extend(device((clock.state == ClockState::Untrusted).then_some(Attention::ClockUntrusted), &clock.text));
    attention.extend(device(of_gateway(gateway.state), &gateway.text));
    attention.extend(facts.refused_request.clone().map(|said| entry(Attention::GatewayRefusesRequest, said)));
    for (code, printer) in printers.iter().filter_map(|printer| Some((of_printer(printer.state)?, printer))) {
        let name = if printers.len() == 1 { String::new() } else { format!(" {}", printer.name) };
        attention.push(entry(code, message_of(code).with("name", name).with("why", printer.text.as_str())));
    }
    for view in &facts.unconfirmed {
        let code = if view.needs_person.is_some() { Attention::SaleNeedsPerson } else { Attention::SaleUnconfirmed };
        let said = message_of(code).with("state", view.text.as_str());
        attention.push(of_sale(code, said, view.reference.as_str(), &view.till));
    }
    for (till, reference, why) in &facts.left_alone {
        let said = Message::AttentionSaleLeftAlone.with("why", why.clone());
        attention.push(of_sale(Attention::SaleNeedsPerson, said, reference.as_str(), till));
    }
    attention.extend(facts.old_copy.clone().map(|(code, said)| entry(code, said)));
    let ends_soon = facts.ends_soon.iter().map(|(soon, why)| (of_soon(*soon), why.as_str()));
    attention.extend(ends_soon.map(|(code, why)| entry(code, message_of(code).with("why", why))));
    attention.extend(facts.clocks_differ.clone().map(|said| entry(Attention::ClocksDiffer, said)));
    for (order, awaited) in &facts.awaiting {
        let code = match awaited {
            Awaited::Signature => Attention::SignatureAwaited,
            Awaited::Till => Attention::ConfirmationAwaited,
        };
        attention.push(of_sale(code, message_of(code).into(), order.reference.as_str(), &order.till));
    }
    attention.extend(facts.fleet_message.clone().map(|said| entry(Attention::FleetMessage, said)));
    attention.extend(facts.given.iter().cloned().map(|(code, said)| entry(code, said)));
    attention.extend(facts.keys_run_out.clone().map(|said| entry(Attention::ReaderKeysLow, said)));
    attention
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::views::states::state_of_journal;

    #[test]
    fn the_journal_is_full_by_sqlites_word_and_nearly_so_by_the_disks() {
        let failed = |cause: &str| pos_journal::Error::Failed { cause: cause.to_owned() };
        assert_eq!(state_of_journal(&failed("database or disk is full")), JournalState::Full);
        assert_eq!(state_of_journal(&failed("disk I/O error")), JournalState::CannotBeWritten);
        let words = Words::default();
        let view = |free| journal_view(&words, None, free).state;
        assert_eq!((view(None), view(Some(LITTLE_ROOM))), (JournalState::Ready, JournalState::Ready));
        assert_eq!(view(Some(LITTLE_ROOM - 1)), JournalState::NearlyFull);
        // Near the limit, the log does not get the same message repeatedly.
        let mut is_full = false;
        let changes =
            [LITTLE_ROOM, LITTLE_ROOM - 1, LITTLE_ROOM, LITTLE_ROOM - 1, ROOM_AGAIN, LITTLE_ROOM].map(|free| {
                let was = is_full;
                is_full = is_nearly_full(was, free);
                was != is_full
            });
        assert_eq!(changes, [false, true, false, false, true, false]);
        let full = journal_view(&words, Some((JournalState::Full, "full".into())), Some(0));
        assert_eq!((full.state, full.text.as_str()), (JournalState::Full, "full"), "what failed counts more");
    }
}
