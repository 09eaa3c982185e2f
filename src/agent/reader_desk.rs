//! The card reader, as the agent knows it: what it says, and the orders that it is given. One sale has it at a time.

use std::time::Duration;

use crate::till::{KeysView, ReaderState};
use pos_core::book;
use pos_core::sale::{self, CardAnswer, Event};
use pos_reader::{Arm, Completion, ReaderIdentity, ReaderOrder, Unready};
use pos_terms::card::FirstAnswer;
use pos_terms::transaction::{Kind, SaleNumber};
use pos_words::Message;

use super::card_left::Slot;
use super::reader_change::RecordedReader;
use super::sale_desk::{Afterwards, OpenSale};
use super::typing::AmountAwaited;
use super::{Agent, TaskResult, clock, reasons};

/// EMV transaction type (9C) of a purchase (ISO 8583: processing code).
const PURCHASE: u8 = 0x00;
/// EMV transaction type (9C) of a refund.
const REFUND: u8 = 0x20;

/// What is known of the reader, and who has it.
pub(super) struct ReaderDesk {
    pub(super) handle: pos_reader::ReaderHandle,
    pub(super) state: HeardReader,
    /// The reader as the book has it.
    pub(super) recorded: RecordedReader,
    /// What it waits for between two sales.
    pub(super) slot: Slot,
    /// Keys that it has left, as far as its cards have shown.
    pub(super) keys_left: Option<KeysView>,
    /// The sale that has it.
    pub(super) in_use_by: Option<SaleNumber>,
    /// A till that waits for an amount to be typed at it.
    pub(super) amount_awaited: Option<AmountAwaited>,
}

impl ReaderDesk {
    pub(super) fn new(handle: pos_reader::ReaderHandle, recorded: RecordedReader) -> Self {
        let (slot, keys_left, in_use_by, amount_awaited) = Default::default();
        Self { handle, state: HeardReader::Opening, recorded, slot, keys_left, in_use_by, amount_awaited }
    }
}

/// The reader, as it was heard last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HeardReader {
    /// Nothing was heard yet.
    Opening,
    Ready(ReaderIdentity),
    Unready(Unready),
}

impl HeardReader {
    pub(super) fn is_ready(&self) -> bool {
        matches!(self, Self::Ready(_))
    }

    pub(super) fn identity(&self) -> Option<&ReaderIdentity> {
        if let Self::Ready(identity) = self { Some(identity) } else { None }
    }

    /// Why it cannot be used, with what to do.
    pub(super) fn trouble(&self) -> Option<String> {
        match self {
            Self::Ready(_) => None,
            Self::Opening => Some("the reader is being opened".to_owned()),
            Self::Unready(why) => Some(why.to_string()),
        }
    }

    pub(super) fn state(&self) -> ReaderState {
        match self {
            Self::Ready(_) => ReaderState::Ready,
            Self::Opening => ReaderState::Opening,
            Self::Unready(why) => match why {
                Unready::Absent { .. } => ReaderState::Absent,
                Unready::WrongDevice { .. } => ReaderState::OtherDevice,
                Unready::NotListed { .. } => ReaderState::NotListed,
                Unready::NoCardKey { .. } => ReaderState::NoKeys,
                Unready::ClearCardData { .. } => ReaderState::ClearData,
                Unready::NotEncrypting { .. } => ReaderState::NotEncrypting,
                Unready::Flooding { .. } => ReaderState::Flooding,
                Unready::Restarting { .. } => ReaderState::Restarting,
            },
        }
    }
}

impl Agent {
    pub(super) fn reader_says(&mut self, event: pos_reader::ReaderEvent) {
        self.reader.slot.hears(&event, self.reader.in_use_by);
        match event {
            pos_reader::ReaderEvent::Ready(identity) => {
                tracing::info!(serial = %identity.serial, model = %identity.model, firmware = %identity.firmware, "reader ready");
                self.clock.reader_says(identity.clock);
                self.compare_reader(&identity);
                self.reader.state = HeardReader::Ready(identity);
                self.announce("reader-ready", self.printers.letterhead.words.label(Message::ReaderReady));
            }
            pos_reader::ReaderEvent::Unready(unready) => {
                let lost = reasons::unready(&unready);
                let why = unready.to_string();
                let now = HeardReader::Unready(unready);
                tracing::warn!(state = now.state().as_str(), %why, "reader not ready");
                if self.reader.state != now {
                    self.announce("reader-unready", &why);
                }
                self.reader.state = now;
                self.typing_ends(&why);
                self.next_hears(lost.clone());
                if let Some(number) = self.reader.in_use_by.take() {
                    // Nothing was sent yet: the cashier is told what is wrong with the reader, not only that it is
                    // lost.
                    let waiting = self.sales.open.get(&number).map(|active| active.sale.standing());
                    let event = match waiting {
                        Some(sale::Standing::Waiting) => Event::NoCard { why: lost },
                        _ => Event::ReaderLost,
                    };
                    self.sales.inbox.push_back((number, event));
                }
            }
            pos_reader::ReaderEvent::KeysLeft { card, pin } => {
                let known = self.reader.keys_left.unwrap_or_default();
                self.reader.keys_left = Some(KeysView { card: card.or(known.card), pin: pin.or(known.pin) });
                if let Some(text) = self.keys_run_out() {
                    tracing::warn!(card, pin, "{text}");
                }
            }
            pos_reader::ReaderEvent::Typed { sale, amount } => self.typed(sale, amount),
            pos_reader::ReaderEvent::Progress { sale, progress } => {
                self.announce_step(sale, &progress);
                self.ask_for_the_card_before();
            }
            pos_reader::ReaderEvent::Card { sale, presented } => self.card_read(sale, *presented),
            pos_reader::ReaderEvent::NoCard { sale, why } => {
                self.sales.inbox.push_back((sale, Event::NoCard { why: reasons::no_card(&why) }));
            }
            pos_reader::ReaderEvent::Completed { sale, verdict, facts, scripts_dropped } => {
                if scripts_dropped {
                    tracing::warn!(sale = sale.get(), "issuer scripts did not fit the reader and were left out");
                }
                let confirmed = verdict == pos_reader::CardVerdict::Approved;
                self.sales.inbox.push_back((sale, Event::CardSaid { confirmed, facts }));
            }
            pos_reader::ReaderEvent::Idle => {
                if let Some(number) = self.reader.in_use_by.take() {
                    self.sales.afterwards.push_back((number, Afterwards::LogTimes));
                }
                if self.next_sale_goes_on() {
                    return;
                }
                self.journal.tidy();
                self.announce("idle", self.printers.letterhead.words.label(Message::Idle));
            }
        }
    }

    /// The hot path: between the card's last byte and the request's first there is one sync and nothing that can wait.
    /// The sealed card is wiped here whatever happens.
    fn card_read(&mut self, number: SaleNumber, presented: pos_terms::card::Presented) {
        let now = self.now();
        let waiting = |active: &&mut OpenSale| !active.stuck && active.sale.standing() == sale::Standing::Waiting;
        let Some(active) = self.sales.open.get_mut(&number).filter(waiting) else {
            // Nobody waits for it any more: it is declined, for a card left waiting would block the reader.
            self.decline_card(number);
            return;
        };
        active.times.card_read(now.monotonic);
        let goes_online =
            presented.first_answer == FirstAnswer::GoOnline || !active.sale.order().kind().card_may_decline();
        if goes_online {
            let identity = self.reader.state.identity();
            let order = active.sale.order();
            let payment = pos_gateway::CardPayment {
                amount: active.sale.amount(),
                merchant_transaction_id: &order.merchant_transaction_id,
                sequence_number: order.number,
                device_serial: identity.map_or("", |identity| &identity.serial),
                pin_entry: identity.is_some_and(|identity| identity.pin_key),
                payment_type: order.kind().payment_type(),
                parameters: &order.parameters,
                presented: &presented,
            };
            active.prepared = Some(self.gateway.client.prepare(&payment).map_err(|error| error.to_string()));
        }
        let pos_terms::card::Presented { facts, first_answer, .. } = presented;
        let step = active.sale.handle(Event::CardRead { facts, first_answer }, now, self.sales.deadlines);
        let written = self.journal.write(|book| book::commit(book, now.unix_ms, &mut active.sale, step));
        self.after_writing(number, written);
    }

    /// Arms the reader, and opens the way to the gateway while the customer looks for the card.
    pub(super) fn arm(&mut self, number: SaleNumber) {
        let (Some(active), Some(local)) = (self.sales.open.get(&number), self.clock.local()) else {
            self.reader.in_use_by = None;
            self.sales.inbox.push_back((number, Event::NoCard { why: sale::Reason::ClockUntrusted.into() }));
            return;
        };
        let arm = Arm {
            sale: number,
            amount: active.sale.amount(),
            transaction_type: if active.sale.order().kind() == Kind::Credit { REFUND } else { PURCHASE },
            at: clock::for_reader(&local),
            card_timeout: Duration::from_secs(self.config.terminal.card_timeout_s),
            entry: if active.sale.order().manual {
                pos_reader::EntryRequest::Manual
            } else {
                pos_reader::EntryRequest::Card
            },
        };
        let until = self.clock.monotonic() + arm.card_timeout;
        let is_typed = arm.entry == pos_reader::EntryRequest::Manual;
        self.order_reader(number, ReaderOrder::Arm(arm));
        if let Some(active) = self.sales.open.get_mut(&number) {
            active.card_until = (!is_typed).then_some(until);
        }
        let (gateway, done) = (self.gateway.client.clone(), self.tasks.clone());
        tokio::spawn(async move {
            // What came of it the client keeps.
            let _ = gateway.warm().await;
            let _ = done.send(TaskResult::Warmed).await;
        });
    }

    pub(super) fn answer_card(&mut self, number: SaleNumber, answer: CardAnswer) {
        let CardAnswer { arc, issuer_authentication, scripts } = answer;
        if let Some(active) = self.sales.open.get_mut(&number) {
            active.times.handed_on(self.clock.monotonic());
        }
        let completion = Completion { arc, issuer_authentication, scripts };
        self.order_reader(number, ReaderOrder::Complete { sale: number, completion });
    }

    /// Declines a card whose sale could not be recorded.
    pub(super) fn decline_card(&mut self, number: SaleNumber) {
        let answer = CardAnswer { arc: *b"Z1", issuer_authentication: None, scripts: heapless::Vec::new() };
        self.answer_card(number, answer);
    }

    /// Gives the reader an order; when it is gone or another sale has it, the sale hears that the reader was lost.
    pub(super) fn order_reader(&mut self, number: SaleNumber, order: ReaderOrder) {
        if self.reader.in_use_by != Some(number) || self.reader.handle.order_now(order).is_err() {
            self.sales.inbox.push_back((number, Event::ReaderLost));
        }
    }

    /// Keys are used up one by one, and a reader without them takes no card: warned of while there is time to inject
    /// new ones.
    pub(super) fn keys_run_out(&self) -> Option<String> {
        let KeysView { card, pin } = self.reader.keys_left?;
        let fewest = card.into_iter().chain(pin).min()?;
        (fewest < self.config.reader.warn_keys_left)
            .then(|| format!("the reader has keys for {fewest} more payments: have new ones injected"))
    }
}
