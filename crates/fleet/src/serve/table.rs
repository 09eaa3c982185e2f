//! The closes as CSV (RFC 4180), for a spreadsheet or another program.

use std::fmt::Write as _;

use super::pages::utc;
use super::queries::{Close, Line};

/// Writes the table: a row for each sum of a close. A close without sums has a row with this kind, and no amount.
pub(super) fn closes(closes: &[Close]) -> String {
    let mut table =
        String::from("terminal,shop,closed_at,close,sha256,journal,entry,business_day,kind,currency,count,amount\r\n");
    for close in closes {
        let at = close.at.map(|moment| utc(moment.at)).unwrap_or_default();
        let [terminal, shop, at, number, sha256, journal, day] =
            [&close.terminal, &close.shop, &at, &close.number, &close.sha256, &close.journal, &close.day]
                .map(|text| cell(text));
        let mut row = |sum: &str| {
            let _ = write!(table, "{terminal},{shop},{at},{number},{sha256},{journal},{},{day},{sum}\r\n", close.entry);
        };
        match close.lines.as_deref() {
            None => row("not-sent,,,"),
            Some([]) => row("no-payments,,0,"),
            Some(lines) => lines.iter().for_each(|Line { kind, currency, count, amount }| {
                // The database has checked them. An amount begins with a minus sign and is a number, so it stays.
                row(&format!("{},{},{count},{amount}", cell(kind), cell(currency)));
            }),
        }
    }
    table
}

/// Writes a text, so that it stays one cell and a spreadsheet does not run it as a formula.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\r', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_one_cell_and_is_no_formula() {
        for (text, written) in [
            ("Corner Shop", "Corner Shop"),
            ("Shop, \"1\"", "\"Shop, \"\"1\"\"\""),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            ("@a", "'@a"),
            ("a\r\nb", "\"a\r\nb\""),
        ] {
            assert_eq!(cell(text), written);
        }
    }
}
