//! The metrics: when each is counted, and the terminal's state. No decision depends on them.

use std::time::Duration;

use crate::agent::devices::Devices;
use crate::agent::engine::open_transactions::{OpenTransaction, SaleTimes};
use crate::agent::identity::Identity;
use crate::agent::teller;
use crate::metrics::{Metrics, PrinterStanding, SaleTiming, TerminalStanding};
use pos_core::transaction::Standing;

/// Counts a write that took this long. Zero means that there was nothing to write.
pub(in crate::agent) fn count_write(metrics: &Metrics, took: Duration) {
    if took > Duration::ZERO {
        metrics.synced(took);
    }
}

/// Counts a step that is on the disk. Returns whether it counted the outcome, which happens only once. If a fault in
/// the terminal, the network or the gateway caused the outcome, also logs it.
pub(in crate::agent) fn count_step(
    metrics: &Metrics,
    identity: &Identity,
    active: &OpenTransaction,
    took: Duration,
) -> bool {
    count_write(metrics, took);
    let Standing::Ended(outcome) = active.sale().standing() else { return false };
    if active.is_counted() {
        return false;
    }
    metrics.ended(active.order().kind(), outcome);
    if !identity.trains() {
        teller::warn_of_end(active);
    }
    true
}

/// Logs and counts the times of a completed card transaction: reader (until the card was read), gateway, journal and
/// agent.
pub(in crate::agent) fn log_times(metrics: &Metrics, active: Option<&OpenTransaction>) {
    let Some(active) = active else { return };
    let SaleTimes { gateway, journal, own, .. } = active.times;
    let Some(reader) = active.times.until_card() else { return };
    metrics.timed(SaleTiming { reader, gateway, journal, agent: own });
    tracing::info!(
        sale = active.number().get(),
        reader_ms = reader.as_millis(),
        gateway_us = gateway.as_micros(),
        journal_us = journal.as_micros(),
        agent_us = own.as_micros(),
        "sale timing"
    );
}

/// Returns the state of the devices. [`count_open`] counts the open transactions.
pub(in crate::agent) fn standing(
    devices: &Devices,
    started_unix_ms: i64,
    journal_written: bool,
    (journal_bytes, wal_bytes): (u64, u64),
) -> TerminalStanding {
    let keys = devices.reader.keys_left.unwrap_or_default();
    TerminalStanding {
        started_unix_s: started_unix_ms / 1000,
        unconfirmed: 0,
        reversals: 0,
        for_person: 0,
        reader_ready: devices.reader.state.is_ready(),
        card_keys: keys.card,
        pin_keys: keys.pin,
        gateway_reached: devices.gateway.is_reached(),
        journal_written,
        journal_bytes,
        wal_bytes,
        printers: devices.printers.each().map(|(_, printer)| stands_printer(printer)).collect(),
    }
}

/// Counts an unconfirmed transaction. `held_up` means that it waits for the gateway's answer about the journal.
pub(in crate::agent) fn count_open(stands: &mut TerminalStanding, active: &OpenTransaction, held_up: bool) {
    let (undone, quarantined) = match active.sale().standing() {
        Standing::Unconfirmed { quarantined, .. } => {
            (active.order().kind().is_undone_when_unknown(), quarantined.is_some())
        }
        _ if active.is_stuck() || held_up => (false, false),
        _ => return,
    };
    stands.unconfirmed += 1;
    stands.reversals += usize::from(undone && !quarantined);
    stands.for_person += usize::from(quarantined);
}

fn stands_printer(printer: &pos_printer::Handle) -> PrinterStanding {
    PrinterStanding { ready: !printer.needs_attention(), waiting: printer.waiting() }
}
