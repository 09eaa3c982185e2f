//! The metrics of the fleet, in the OpenMetrics format. A terminal has at most twelve series, four of which it counts
//! itself. Its name is the only label: no amount and no reference is ever in one.
//!
//! An old value must not look like a present one. So a terminal that is silent keeps two series only: that it is not
//! online, and when it was seen.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text::encode};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use super::queries::{Fleet, Terminal};

/// The type of the answer.
pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// A terminal sends its numbers each 60 s. After this time they are dropped.
const OLD_NUMBERS: Duration = Duration::seconds(300);

/// A series of every terminal: its name, its help, and its value if it has one.
type Series = (&'static str, &'static str, fn(&Terminal, OffsetDateTime) -> Option<f64>);

/// The series that a silent terminal keeps.
const KEPT: [Series; 2] = [
    ("online", "1 if the terminal is connected and was heard of within 15 minutes", |terminal, now| {
        Some(bit(terminal.is_online(now)))
    }),
    ("last_seen_seconds", "The time at which the terminal was heard of, in seconds since 1970", |terminal, _| {
        terminal.seen.map(unix)
    }),
];

/// The series that come from a state. A silent terminal loses them.
const OF_STATE: [Series; 6] = [
    ("ready", "1 if the terminal can take a payment by card", |terminal, _| {
        Some(bit(terminal.state.as_ref()?.ready?))
    }),
    ("faults", "Faults and tasks for a person", |terminal, _| count(terminal.state.as_ref()?.faults.len())),
    ("unconfirmed_sales", "Payments with an unknown outcome", |terminal, _| {
        Some(f64::from(terminal.state.as_ref()?.unconfirmed))
    }),
    ("sales_for_person", "Payments that wait for a decision of a person", |terminal, _| {
        Some(f64::from(terminal.state.as_ref()?.held))
    }),
    ("certificate_end_seconds", "The end of the uplink's certificate, in seconds since 1970", |terminal, _| {
        certificate_end(terminal).map(unix)
    }),
    ("behind_entries", "Entries of the journal that the database does not have", |terminal, _| {
        count(terminal.behind()?)
    }),
];

/// A number that the terminal counts itself: its name there, its help, and whether it only grows.
const OWN: [(&str, &str, bool); 4] = [
    ("approved_total", "Approved payments since the agent's start", true),
    ("not_approved_total", "Payments since the agent's start that were not approved", true),
    ("gateway_reachable", "1 if the last request of the terminal reached the gateway", false),
    ("reader_keys_left", "Keys left in the card reader", false),
];

/// The end of the certificate of a terminal's connection.
pub(super) fn certificate_end(terminal: &Terminal) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(terminal.state.as_ref()?.certificate_ends.as_ref()?, &Rfc3339).ok()
}

fn bit(is: bool) -> f64 {
    f64::from(u8::from(is))
}

fn count(count: impl TryInto<u32>) -> Option<f64> {
    Some(f64::from(count.try_into().unwrap_or(u32::MAX)))
}

fn unix(at: OffsetDateTime) -> f64 {
    // Seconds fit into 32 bits until the year 2106.
    f64::from(u32::try_from(at.unix_timestamp()).unwrap_or_default())
}

/// Writes the metrics of the fleet at a moment.
pub(super) fn text(fleet: Fleet, now: OffsetDateTime) -> Result<String, fmt::Error> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Moment { fleet, now }));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

/// The fleet at a moment.
#[derive(Debug)]
struct Moment {
    fleet: Fleet,
    now: OffsetDateTime,
}

impl Collector for Moment {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Self { fleet, now } = self;
        let terminals = i64::try_from(fleet.terminals.len()).unwrap_or(i64::MAX);
        for (name, help, value) in [
            ("terminals", "Terminals that have sent something", terminals),
            ("conflicts", "Entries with two histories, since a person has looked", fleet.conflicts),
            ("two_identities", "Identities that two terminals have used within 24 hours", fleet.two_identities),
            ("cloned_journals", "Journals that several terminals have", fleet.cloned),
            ("entries", "Entries in the database, as the database estimates it", fleet.entries),
            ("gaps", "Journals with a missing entry", fleet.gaps),
        ] {
            let gauge = ConstGauge::new(value);
            let name = format!("pos_fleet_{name}");
            let metric = encoder.encode_descriptor(&name, help, None, gauge.metric_type())?;
            gauge.encode(metric)?;
        }
        let now = *now;
        let all: Vec<_> = fleet.terminals.iter().collect();
        let heard: Vec<_> = all.iter().copied().filter(|terminal| !terminal.is_silent(now)).collect();
        for (series, terminals) in [(&KEPT[..], &all), (&OF_STATE[..], &heard)] {
            for (name, help, value) in series {
                let values =
                    terminals.iter().filter_map(|terminal| Some((terminal.id.as_str(), value(terminal, now)?)));
                write(&mut encoder, name, help, false, values)?;
            }
        }
        for (name, help, grows) in OWN {
            let values = heard.iter().filter_map(|terminal| Some((terminal.id.as_str(), own(terminal, name, now)?)));
            write(&mut encoder, name, help, grows, values)?;
        }
        Ok(())
    }
}

/// Returns a number that a terminal counts itself, unless it is old or no number.
fn own(terminal: &Terminal, name: &str, now: OffsetDateTime) -> Option<f64> {
    terminal.metrics_at.filter(|at| *at >= now - OLD_NUMBERS)?;
    let value = *terminal.metrics.as_ref()?.values.get(name)?;
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// Writes one family of series.
fn write<'a>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    grows: bool,
    values: impl Iterator<Item = (&'a str, f64)>,
) -> fmt::Result {
    // The encoder adds the suffix of a counter.
    let name = format!("pos_terminal_{}", if grows { name.trim_end_matches("_total") } else { name });
    let kind = if grows { ConstCounter::new(0.0).metric_type() } else { ConstGauge::new(0.0).metric_type() };
    let mut family = encoder.encode_descriptor(&name, help, None, kind)?;
    for (terminal, value) in values {
        let labels = [("terminal", terminal)];
        let metric = family.encode_family(&labels)?;
        if grows { ConstCounter::new(value).encode(metric)? } else { ConstGauge::new(value).encode(metric)? }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pos_fleet_terms::{Fault, Metrics, State};

    use super::super::queries::Cursor;
    use super::*;

    const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH.saturating_add(Duration::days(20_000));

    fn terminal(seen_s: i64, metrics_s: i64) -> Terminal {
        let state = State {
            online: true,
            journal: Some("a1".to_owned()),
            last: 50,
            ready: Some(true),
            faults: vec![Fault { code: "reader-absent".to_owned(), text: "secret".to_owned() }],
            unconfirmed: 2,
            held: 1,
            certificate_ends: Some("2026-12-01T00:00:00Z".to_owned()),
            ..State::default()
        };
        let cursor = Cursor { journal: "a1".to_owned(), number: 42, gap: false, moved: None };
        let values =
            [("approved_total", 7.0), ("gateway_reachable", 1.0), ("amount", 12.34), ("not_approved_total", f64::NAN)];
        let values = values.map(|(name, value)| (name.to_owned(), value)).into();
        Terminal {
            id: "t-1".to_owned(),
            online: true,
            seen: Some(NOW - Duration::seconds(seen_s)),
            state: Some(state),
            metrics: Some(Metrics { at: String::new(), values }),
            metrics_at: Some(NOW - Duration::seconds(metrics_s)),
            cursor: Some(cursor),
            ..Terminal::default()
        }
    }

    fn lines(terminal: Terminal) -> Vec<String> {
        let text = text(Fleet { terminals: vec![terminal], ..Fleet::default() }, NOW).unwrap();
        assert!(text.ends_with("# EOF\n"), "{text}");
        text.lines().filter(|line| line.starts_with("pos_terminal_")).map(str::to_owned).collect()
    }

    #[test]
    fn a_terminal_has_its_series_and_no_others() {
        assert_eq!(
            lines(terminal(899, 299)),
            [
                "pos_terminal_online{terminal=\"t-1\"} 1.0",
                "pos_terminal_last_seen_seconds{terminal=\"t-1\"} 1727999101.0",
                "pos_terminal_ready{terminal=\"t-1\"} 1.0",
                "pos_terminal_faults{terminal=\"t-1\"} 1.0",
                "pos_terminal_unconfirmed_sales{terminal=\"t-1\"} 2.0",
                "pos_terminal_sales_for_person{terminal=\"t-1\"} 1.0",
                "pos_terminal_certificate_end_seconds{terminal=\"t-1\"} 1796083200.0",
                "pos_terminal_behind_entries{terminal=\"t-1\"} 8.0",
                "pos_terminal_approved_total{terminal=\"t-1\"} 7.0",
                "pos_terminal_gateway_reachable{terminal=\"t-1\"} 1.0",
            ]
        );
        assert!(KEPT.len() + OF_STATE.len() + OWN.len() <= 12);
    }

    #[test]
    fn old_values_are_dropped() {
        assert_eq!(lines(terminal(899, 301)).len(), 8);
        assert_eq!(
            lines(terminal(901, 0)),
            [
                "pos_terminal_online{terminal=\"t-1\"} 0.0",
                "pos_terminal_last_seen_seconds{terminal=\"t-1\"} 1727999099.0",
            ]
        );
        assert_eq!(lines(Terminal { seen: None, ..terminal(0, 0) }), ["pos_terminal_online{terminal=\"t-1\"} 0.0"]);
    }
}
