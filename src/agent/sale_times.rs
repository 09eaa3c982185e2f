//! Where the time of a sale went: until the card was read, at the gateway, on the disk, and the agent's own. For the
//! log and the figures; nothing is decided by it.

use std::time::Duration;

use pos_terms::transaction::SaleNumber;

use super::Agent;

/// The times of one sale, monotonic.
#[derive(Debug)]
pub(super) struct SaleTimes {
    begun: Duration,
    card: Option<Duration>,
    /// The agent's own time began here, with the disk's time so far.
    own_since: Option<(Duration, Duration)>,
    /// When the request, or the card's answer, was handed on last.
    handed_on: Option<Duration>,
    /// The agent's own time: between the card and the request, and between the answer and CONTINUE, without the disk.
    pub(super) own: Duration,
    /// Time the disk took, all steps together.
    pub(super) journal: Duration,
    /// From handing the request to the client to its answer.
    pub(super) gateway: Duration,
}

impl SaleTimes {
    pub(super) fn begin(now: Duration) -> Self {
        let (gateway, journal, own) = Default::default();
        Self { begun: now, card: None, own_since: None, handed_on: None, own, journal, gateway }
    }

    pub(super) fn card_read(&mut self, now: Duration) {
        self.card = Some(now);
        self.answered(now);
    }

    pub(super) fn answered(&mut self, now: Duration) {
        self.own_since = Some((now, self.journal));
    }

    /// When the request, or the card's answer, was handed on last.
    pub(super) fn handed_on_at(&self) -> Option<Duration> {
        self.handed_on
    }

    /// From the beginning until the card was read; `None` as long as it was not.
    pub(super) fn until_card(&self) -> Option<Duration> {
        self.card.map(|card| card.saturating_sub(self.begun))
    }

    /// The request or the card's answer is on its way.
    pub(super) fn handed_on(&mut self, now: Duration) {
        self.handed_on = Some(now);
        if let Some((since, journal)) = self.own_since.take() {
            self.own += now.saturating_sub(since).saturating_sub(self.journal - journal);
        }
    }
}

impl Agent {
    /// One line per sale: reader (until the card was read), gateway, journal, and the agent's own share.
    pub(super) fn log_times(&self, number: SaleNumber) {
        let Some(times) = self.sales.open.get(&number).map(|active| &active.times) else {
            return;
        };
        let Some(reader) = times.until_card() else {
            return;
        };
        self.measure_sale(times);
        tracing::info!(
            sale = number.get(),
            reader_ms = reader.as_millis(),
            gateway_us = times.gateway.as_micros(),
            journal_us = times.journal.as_micros(),
            agent_us = times.own.as_micros(),
            "sale timing"
        );
    }
}
