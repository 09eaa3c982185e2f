//! Sums of a period for a till: the fields of `04 0F` after `06 10` and `06 50`, and the lines of the slip.

use super::flow::Flow;
use super::outcome::{card_type, minor, set_time};
use crate::zvt::answer::{CardTotal, totals};
use crate::zvt::bmp::Fields;
use pos_till_api::{Close, Kind, Turnover};

/// Returns the position of a ZVT card type among the seven sums of BMP 60.
fn place(kind: Option<u8>) -> usize {
    match kind {
        Some(0x05) => 0,
        Some(0x0E) => 1,
        Some(0x06) => 2,
        Some(0x08) => 3,
        Some(0x0A) => 4,
        Some(0x0C) => 5,
        _ => 6,
    }
}

/// Returns the receipt number of a transaction: four digits, which restart after 9999.
pub(super) fn receipt(number: u64) -> u16 {
    u16::try_from(number.saturating_sub(1) % 9999 + 1).unwrap_or(0)
}

/// Builds the fields, with a note if a count is too large for its field. Payments count as positive, refunds as
/// negative. No field names a currency, so the sums are in the terminal's currency. The note and the slip contain the
/// amounts in other currencies.
pub(super) fn fields(close: &Close, flow: &Flow<'_>) -> Fields {
    let decimals = flow.facts.decimals;
    let own = flow.facts.currency_code.as_deref();
    let is_own = |turnover: &Turnover| own.is_none_or(|own| own == turnover.currency);
    let mut cards = [CardTotal::default(); 7];
    for brand in close.brands.iter().filter(|brand| is_own(brand)) {
        let card = &mut cards[place(brand.name.as_deref().and_then(card_type))];
        // The field has no sign, so a brand with a negative sum adds 0.
        card.sum = card.sum.saturating_add(minor(&brand.net, decimals).unwrap_or(0));
        card.count += brand.count;
    }
    let receipts = [close.first_number, close.last_number].map(|number| number.map_or(0, receipt));
    let (value, full) = totals(receipts, &cards);
    let mut fields = Fields::default();
    fields.set(0x27, [0]);
    // The field has no sign, so it is 0 for a negative sum. The slip shows the negative sum.
    let net = close.net.iter().find(|net| is_own(net)).and_then(|net| minor(&net.net, decimals));
    fields.set_number(0x04, net.unwrap_or(0));
    fields.set(0x60, value);
    fields.set_number(0x0B, close.number % 1_000_000);
    if let Some(time) = shop_time(&close.period.to) {
        set_time(&mut fields, time);
    }
    let mut notes = Vec::new();
    if full {
        let counts: Vec<String> = cards.iter().map(|card| card.count.to_string()).collect();
        notes.push(format!("counts above 255: {}", counts.join(" ")));
    }
    let others = close.net.iter().filter(|net| !is_own(net));
    notes.extend(others.map(|other| format!("not in these sums: {} {}", other.net, other.currency)));
    if !notes.is_empty() {
        fields.set(0x3C, flow.charset().encode(&notes.join("; ")));
    }
    fields
}

/// Reads month, day, hour, minute and second of an RFC 3339 time, in its own offset.
fn shop_time(text: &str) -> Option<[u8; 5]> {
    let two = |at: usize| text.get(at..at + 2)?.parse().ok();
    Some([two(5)?, two(8)?, two(11)?, two(14)?, two(17)?])
}

/// Returns the slip of a close as lines. `own` is the till whose sums it shows, if they are not the terminal's.
pub(super) fn lines(close: &Close, own: Option<&str>, width: usize) -> Vec<String> {
    let pair = |label: &str, value: &str| {
        let gap = width.saturating_sub(label.chars().count() + value.chars().count()).max(1);
        format!("{label}{}{value}", " ".repeat(gap))
    };
    let mut lines = vec![pair("END OF DAY", &close.number.to_string())];
    lines.extend(close.period.to.get(..16).map(|time| time.replace('T', " ")));
    if let (Some(first), Some(last)) = (close.first_number, close.last_number) {
        lines.push(pair("receipts", &format!("{first} - {last}")));
    }
    lines.extend(own.map(|till| pair("of till", till)));
    lines.push("-".repeat(width));
    for line in &close.schemes {
        let kind = match line.kind {
            Kind::Sale => "sales",
            Kind::Refund => "refunds",
            Kind::Reversal => "reversals",
            Kind::Credit => "credits",
            Kind::Capture => "captures",
            Kind::PreAuthorisation => "reserved",
            _ => "others",
        };
        lines.push(format!("{} {kind}", line.scheme.as_deref().unwrap_or("other")));
        lines.push(pair(&format!("  {}", line.count), &format!("{} {}", line.sum, line.currency)));
    }
    lines.push("-".repeat(width));
    for net in &close.net {
        lines.push(pair("net", &format!("{} {}", net.net, net.currency)));
    }
    lines
}
