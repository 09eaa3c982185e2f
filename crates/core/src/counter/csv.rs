//! A close of day as a CSV table for a spreadsheet (RFC 4180). It has one line for each sum and each open item, always
//! with the same columns.

use std::fmt::Write as _;

use super::{Close, OpenItem, Shift, Sum, Turnover};

/// The header line with the column names.
const HEAD: &str = "close,day,section,name,kind,currency,count,amount\r\n";

/// Returns the table with its header line.
#[must_use]
pub fn csv(close: &Close) -> String {
    let mut table = CloseTable { close, text: HEAD.to_owned() };
    for (section, moved) in
        [("net", &close.net), ("brand", &close.brands), ("till", &close.tills), ("operator", &close.operators)]
    {
        for Turnover { name, currency, count, taken_count, given_count, taken, given, net } in moved {
            let name = name.as_deref().unwrap_or_default();
            // A close made by an earlier version has one count for taken and given together.
            for (kind, count, amount) in
                [("taken", *taken_count, taken), ("given", *given_count, given), ("net", Some(*count), net)]
            {
                let count = count.map_or_else(String::new, |count| count.to_string());
                table.row([section, name, kind, currency], &count, amount);
            }
        }
    }
    for Shift { operator, kinds, tips } in &close.shifts {
        table.sums("shift", Some(operator), kinds);
        table.sums("shift-tips", Some(operator), tips);
    }
    let sums = [("kind", &close.kinds), ("scheme", &close.schemes), ("tips", &close.tips)];
    for (section, sums) in sums.into_iter().chain([("of-unknown", &close.of_unknown)]) {
        table.sums(section, None, sums);
    }
    let counts = [("declined", close.declined), ("taken-back", close.taken_back), ("cancelled", close.cancelled)];
    for (kind, count) in counts.into_iter().chain([("not-sent", close.not_sent)]) {
        table.row(["count", "", kind, ""], &count.to_string(), "");
    }
    for OpenItem { is, number, reference, kind, amount, currency, .. } in &close.open {
        let reference = reference.as_ref().map_or_else(String::new, |reference| format!(" {reference}"));
        let name = format!("{number}{reference}");
        let section = format!("open {}", is.as_str());
        let kind = kind.map_or("", |kind| kind.as_str());
        let currency = currency.as_deref().unwrap_or_default();
        table.row([&section, &name, kind, currency], "1", amount.as_deref().unwrap_or_default());
    }
    table.text
}

struct CloseTable<'a> {
    close: &'a Close,
    text: String,
}

impl CloseTable<'_> {
    /// Adds one line for each sum, under this name or under the card's brand.
    fn sums(&mut self, section: &str, name: Option<&str>, sums: &[Sum]) {
        for Sum { kind, scheme, currency, count, sum } in sums {
            let name = name.or(scheme.as_deref()).unwrap_or_default();
            self.row([section, name, kind.as_str(), currency], &count.to_string(), sum);
        }
    }

    fn row(&mut self, [section, name, kind, currency]: [&str; 4], count: &str, amount: &str) {
        let Close { number, day, .. } = self.close;
        let name = field(name);
        let _ = write!(self.text, "{number},{day},{section},{name},{kind},{currency},{count},{amount}\r\n");
    }
}

/// Formats external text as one field. A spreadsheet would evaluate text that begins like a formula, so the function
/// marks it as text.
fn field(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mark = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    if mark.is_empty() && !text.contains(['"', ',', ';']) {
        return text;
    }
    format!("\"{mark}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter::{ClosePeriod, OpenKind};
    use pos_terms::transaction::{Kind, Reference, SaleNumber};

    #[test]
    fn a_close_is_one_table_and_no_text_of_it_is_a_formula() {
        let turnover = |name: Option<&str>, net: &str| Turnover {
            name: name.map(str::to_owned),
            currency: "EUR".to_owned(),
            count: 3,
            taken_count: name.map(|_| 1),
            given_count: name.map(|_| 2),
            taken: "12.34".to_owned(),
            given: "20.00".to_owned(),
            net: net.to_owned(),
        };
        let sum = |kind, scheme: Option<&str>| Sum {
            kind,
            scheme: scheme.map(str::to_owned),
            currency: "EUR".to_owned(),
            count: 1,
            sum: "12.34".to_owned(),
        };
        let period =
            ClosePeriod { after_entry: 0, to_entry: 9, from: None, to: "2026-11-22T23:00:00+01:00".to_owned() };
        let (terminal, day, till) = ("12345678".to_owned(), "2026-11-22".to_owned(), "till-1".to_owned());
        let close = Close {
            net: vec![turnover(None, "-7.66")],
            kinds: vec![sum(Kind::Sale, None)],
            schemes: vec![sum(Kind::Sale, Some("=HYPERLINK(\"x\")")), sum(Kind::Sale, Some("A, \"B\"\r\nC"))],
            tills: vec![turnover(Some("till-1"), "-7.66")],
            operators: vec![turnover(Some("Anna"), "-7.66")],
            shifts: vec![Shift {
                operator: "Anna".to_owned(),
                kinds: vec![sum(Kind::Reversal, None), sum(Kind::Sale, None)],
                tips: vec![sum(Kind::Sale, None)],
            }],
            declined: 3,
            open: vec![OpenItem {
                is: OpenKind::Unconfirmed,
                number: SaleNumber::new(5),
                till: Some("till-1".to_owned()),
                reference: Some(Reference::parse("R5".to_owned()).unwrap()),
                kind: Some(Kind::Refund),
                amount: Some("5.00".to_owned()),
                currency: Some("EUR".to_owned()),
            }],
            ..Close::empty(7, terminal, day, period, till)
        };
        let expected = "close,day,section,name,kind,currency,count,amount
7,2026-11-22,net,,taken,EUR,,12.34
7,2026-11-22,net,,given,EUR,,20.00
7,2026-11-22,net,,net,EUR,3,-7.66
7,2026-11-22,till,till-1,taken,EUR,1,12.34
7,2026-11-22,till,till-1,given,EUR,2,20.00
7,2026-11-22,till,till-1,net,EUR,3,-7.66
7,2026-11-22,operator,Anna,taken,EUR,1,12.34
7,2026-11-22,operator,Anna,given,EUR,2,20.00
7,2026-11-22,operator,Anna,net,EUR,3,-7.66
7,2026-11-22,shift,Anna,reversal,EUR,1,12.34
7,2026-11-22,shift,Anna,sale,EUR,1,12.34
7,2026-11-22,shift-tips,Anna,sale,EUR,1,12.34
7,2026-11-22,kind,,sale,EUR,1,12.34
7,2026-11-22,scheme,\"'=HYPERLINK(\"\"x\"\")\",sale,EUR,1,12.34
7,2026-11-22,scheme,\"A, \"\"B\"\"  C\",sale,EUR,1,12.34
7,2026-11-22,count,,declined,,3,
7,2026-11-22,count,,taken-back,,0,
7,2026-11-22,count,,cancelled,,0,
7,2026-11-22,count,,not-sent,,0,
7,2026-11-22,open unconfirmed,5 R5,refund,EUR,1,5.00
";
        assert_eq!(csv(&close).replace("\r\n", "\n"), expected);
    }
}
