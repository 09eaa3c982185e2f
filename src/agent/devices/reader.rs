//! The reports of the card reader and the orders to it. Only one transaction uses the reader at a time.

mod between_sales;
mod changes;
mod reasons;

use std::sync::Arc;
use std::time::Duration;

use crate::agent::clock::{self, Clock};
use crate::agent::engine::open_transactions::OpenTransaction;
use crate::agent::views::states::{of_reader, sentence_of};
use crate::config::{Config, Tips};
use crate::till::{KeysView, ReaderState};
use pos_core::transaction::{self, CardAnswer, Event};
use pos_reader::config::ReaderProtocol;
use pos_reader::{
    AmountToType, Arm, Completion, EntryRequest, NoAmount, ReaderHandle, ReaderIdentity, ReaderOrder, TypeAmount,
    Unready,
};
use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, SaleNumber};
use pos_words::{Message, Sentence};

use between_sales::{AmountAwaited, Slot};

pub(in crate::agent) use between_sales::NO_SALE;
pub(in crate::agent) use changes::RecordedReader;
pub(in crate::agent) use reasons::{no_card, no_tip, unready};

/// EMV transaction type (9C) of a purchase (ISO 8583: processing code).
const PURCHASE: u8 = 0x00;
/// EMV transaction type (9C) of a refund.
const REFUND: u8 = 0x20;

/// Returns the reader's settings from the configuration. [`pos_reader::ReaderFamily::of`] returns those that only one
/// family of readers has.
pub(in crate::agent) fn reader_settings(config: &Config, clock: &Clock) -> pos_reader::ReaderSettings {
    let clock = clock.clone();
    pos_reader::ReaderSettings {
        icc_masked_tags: config.gateway.send_masked_tags,
        icc_private_tags: config.gateway.private_tags(),
        clock: Arc::new(move || clock.for_the_reader()),
        ..pos_reader::ReaderSettings::of(&config.reader)
    }
}

/// The state of the reader, and the transaction that uses it.
pub(in crate::agent) struct ReaderControl {
    handle: ReaderHandle,
    pub(in crate::agent) protocol: ReaderProtocol,
    pub(in crate::agent) state: HeardReader,
    /// The reader as recorded in the journal.
    recorded: RecordedReader,
    /// The slot between two transactions.
    pub(in crate::agent) slot: Slot,
    /// The number of unused keys in the reader, as reported with the latest cards.
    pub(in crate::agent) keys_left: Option<KeysView>,
    /// The transaction that uses the reader.
    pub(in crate::agent) in_use_by: Option<SaleNumber>,
    /// A till that waits for an amount to be typed at the reader.
    amount_awaited: Option<AmountAwaited>,
    clock: Clock,
    tips: Option<Tips>,
    /// The tips that the reader offers if no tips are configured, in percent.
    tip_percentages: Vec<u8>,
    card_timeout: Duration,
    warn_keys_left: u64,
}

impl ReaderControl {
    pub(in crate::agent) fn new(config: &Config, clock: Clock, handle: ReaderHandle, recorded: RecordedReader) -> Self {
        let (slot, keys_left, in_use_by, amount_awaited) = Default::default();
        Self {
            handle,
            protocol: config.reader.protocol,
            state: HeardReader::Opening,
            recorded,
            slot,
            keys_left,
            in_use_by,
            amount_awaited,
            clock,
            tips: config.tips.clone(),
            tip_percentages: config.reader.tip_percentages(),
            card_timeout: Duration::from_secs(config.terminal.card_timeout_s),
            warn_keys_left: config.reader.warn_keys_left,
        }
    }

    /// Sends all further orders to this handle.
    #[cfg(test)]
    pub(in crate::agent) fn is_given(&mut self, handle: ReaderHandle) {
        self.handle = handle;
    }

    /// Returns the time that a customer has to present a card.
    pub(in crate::agent) fn card_timeout(&self) -> Duration {
        self.card_timeout
    }

    /// Makes the reader ask for a card. Returns an event if that fails.
    pub(super) fn arm(&mut self, active: &mut OpenTransaction) -> Option<Event> {
        let Some(local) = self.clock.local() else {
            self.in_use_by = None;
            return Some(Event::NoCard { why: transaction::Reason::ClockUntrusted.into() });
        };
        let number = active.number();
        let arm = Arm {
            sale: number,
            amount: active.sale().amount(),
            transaction_type: if active.order().kind() == Kind::Credit { REFUND } else { PURCHASE },
            at: clock::for_reader(&local),
            card_timeout: self.card_timeout,
            entry: match active.order() {
                order if order.manual => EntryRequest::Manual,
                order if order.chip_alone => EntryRequest::Chip,
                _ => EntryRequest::Card,
            },
        };
        let until = self.clock.monotonic() + arm.card_timeout;
        active.card_until = (arm.entry != EntryRequest::Manual).then_some(until);
        self.order(number, ReaderOrder::Arm(arm))
    }

    /// Makes the reader ask for a tip. Returns an event if that fails.
    pub(super) fn ask_tip(&mut self, active: &OpenTransaction) -> Option<Event> {
        let (percentages, other, timeout) = match &self.tips {
            Some(tips) => (&tips.presets, tips.custom, Duration::from_secs(tips.timeout_s)),
            None => (&self.tip_percentages, true, self.card_timeout),
        };
        let percentages = heapless::Vec::from_slice(percentages).unwrap_or_default();
        let what = AmountToType::Tip { base: active.sale().amount(), percentages, other };
        let number = active.number();
        self.order(number, ReaderOrder::TypeAmount(TypeAmount { sale: number, what, timeout }))
    }

    /// Returns the tip of a transaction. A customer who does not answer the question has not refused to pay, so the
    /// default tip applies, if tips are configured.
    pub(in crate::agent) fn tip(
        &self,
        base: Amount,
        typed: Result<Option<Amount>, NoAmount>,
    ) -> Result<Option<Amount>, NoAmount> {
        match (typed, &self.tips) {
            (Err(NoAmount::TimedOut), Some(tips)) => Ok(base.percent(tips.default)),
            (typed, _) => typed,
        }
    }

    /// Cancels the transaction's order at the reader, if the transaction uses the reader. Returns an event if the
    /// reader was lost.
    pub(super) fn stop(&mut self, number: SaleNumber) -> Option<Event> {
        if self.in_use_by == Some(number) { self.order(number, ReaderOrder::Cancel { sale: number }) } else { None }
    }

    pub(super) fn answer_card(&mut self, active: &mut OpenTransaction, answer: CardAnswer) -> Option<Event> {
        active.times.handed_on(self.clock.monotonic());
        self.complete(active.number(), answer)
    }

    /// Declines a card whose transaction could not be recorded or no longer exists. Returns an event if the reader was
    /// lost.
    pub(in crate::agent) fn decline_card(&mut self, number: SaleNumber) -> Option<Event> {
        self.complete(number, CardAnswer { arc: *b"Z1", issuer_authentication: None, scripts: heapless::Vec::new() })
    }

    fn complete(&mut self, number: SaleNumber, answer: CardAnswer) -> Option<Event> {
        let CardAnswer { arc, issuer_authentication, scripts } = answer;
        let completion = Completion { arc, issuer_authentication, scripts };
        self.order(number, ReaderOrder::Complete { sale: number, completion })
    }

    /// Gives the reader an order. If the reader is disconnected or another transaction uses it, returns
    /// [`Event::ReaderLost`].
    fn order(&mut self, number: SaleNumber, order: ReaderOrder) -> Option<Event> {
        let is_lost = self.in_use_by != Some(number) || self.handle.order_now(order).is_err();
        is_lost.then_some(Event::ReaderLost)
    }

    /// Orders the reader to set its clock from the board's clock.
    pub(in crate::agent) fn set_clock(&mut self) {
        let _ = self.handle.order_now(ReaderOrder::SetClock);
    }

    /// Records the key counts that came with a card. A count that is missing stays unchanged.
    pub(in crate::agent) fn note_keys(&mut self, card: Option<u64>, pin: Option<u64>) {
        let known = self.keys_left.unwrap_or_default();
        self.keys_left = Some(KeysView { card: card.or(known.card), pin: pin.or(known.pin) });
        if let Some(text) = self.keys_run_out() {
            tracing::warn!(card, pin, "{text}");
        }
    }

    /// Returns a warning if few keys are left. Each card uses up keys, and a reader without keys accepts no card. So a
    /// technician needs time to inject new keys.
    pub(in crate::agent) fn keys_run_out(&self) -> Option<Sentence> {
        let KeysView { card, pin } = self.keys_left?;
        let fewest = card.into_iter().chain(pin).min()?;
        (fewest < self.warn_keys_left).then(|| Message::AttentionReaderKeysLow.with("count", fewest.to_string()))
    }
}

/// The reader's last report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agent) enum HeardReader {
    /// No report yet.
    Opening,
    Ready(ReaderIdentity),
    Unready(Unready),
}

impl HeardReader {
    pub(in crate::agent) fn is_ready(&self) -> bool {
        matches!(self, Self::Ready(_))
    }

    pub(in crate::agent) fn identity(&self) -> Option<&ReaderIdentity> {
        if let Self::Ready(identity) = self { Some(identity) } else { None }
    }

    /// Returns the reason why the reader cannot be used, and the remedy.
    pub(in crate::agent) fn trouble(&self) -> Option<Sentence> {
        match self {
            Self::Ready(_) => None,
            Self::Opening => Some(Message::AttentionReaderOpening.into()),
            Self::Unready(why) => Some(sentence_of(of_reader(self.state()), why.to_string().into())),
        }
    }

    pub(in crate::agent) fn state(&self) -> ReaderState {
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
