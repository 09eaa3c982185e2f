//! What is counted and when, and how the terminal stands for whoever asks for the figures. Nothing is decided by any of
//! it.

use std::time::Duration;

use crate::metrics::{PrinterStanding, SaleTiming, TerminalStanding};
use pos_core::sale;
use pos_terms::transaction::SaleNumber;

use super::Agent;
use super::sale_times::SaleTimes;

impl Agent {
    /// A step of a sale is on the disk, which took so long: nothing at all when there was nothing to write.
    pub(super) fn measure_step(&mut self, number: SaleNumber, took: Duration) {
        if took > Duration::ZERO {
            self.metrics.synced(took);
        }
        let Some(active) = self.sales.open.get_mut(&number) else {
            return;
        };
        if let sale::Standing::Ended(outcome) = active.sale.standing()
            && !active.counted
        {
            self.metrics.ended(active.sale.order().kind(), outcome);
            active.counted = true;
            if !self.trains() {
                self.warn_of_end(number);
            }
        }
    }

    /// A sale with a card is over: the same figures as in its line in the log.
    pub(super) fn measure_sale(&self, times: &SaleTimes) {
        if let Some(reader) = times.until_card() {
            self.metrics.timed(SaleTiming { reader, gateway: times.gateway, journal: times.journal, agent: times.own });
        }
    }

    /// All figures as text.
    pub(super) fn figures(&self) -> String {
        self.metrics.text(&self.stands())
    }

    /// The gateway was reached when it was spoken to last, whatever it said.
    pub(super) fn reaches_the_gateway(&self) -> bool {
        self.gateway.client.contact().is_reached()
    }

    fn stands(&self) -> TerminalStanding {
        let keys = self.reader.keys_left.unwrap_or_default();
        let (journal_bytes, wal_bytes) = self.journal.book().bytes();
        let started_ms = self.clock.unix_ms().saturating_sub(self.clock.age_ms());
        let mut stands = TerminalStanding {
            started_unix_s: started_ms / 1000,
            unconfirmed: 0,
            reversals: 0,
            for_person: 0,
            reader_ready: self.reader.state.is_ready(),
            card_keys: keys.card,
            pin_keys: keys.pin,
            gateway_reached: self.reaches_the_gateway(),
            journal_written: self.journal.fault.is_none(),
            journal_bytes,
            wal_bytes,
            printers: self.printers.each().map(|(_, printer)| stands_printer(printer)).collect(),
        };
        for active in self.sales.open.values() {
            let (undone, quarantined) = match active.sale.standing() {
                sale::Standing::Unconfirmed { quarantined, .. } => {
                    (active.sale.order().kind().is_undone_when_unknown(), quarantined.is_some())
                }
                _ if active.stuck || self.old_copy.holds_up(active.sale.order().number) => (false, false),
                _ => continue,
            };
            stands.unconfirmed += 1;
            stands.reversals += usize::from(undone && !quarantined);
            stands.for_person += usize::from(quarantined);
        }
        stands
    }
}

fn stands_printer(printer: &pos_printer::Handle) -> PrinterStanding {
    PrinterStanding { ready: printer.attention().is_none(), waiting: printer.waiting() }
}
