//! Checks any bytes as a settlement file. There is no panic, every line is counted, and any split of the same bytes
//! gives the same findings. Input without a header gets one, because otherwise no line would be read.

use std::io::BufReader;

use pos_reconcile::{Ledger, Matching, Period, SettlementFile, Summary};

const HEADER: &[u8] = b"ReconciliationType;PaymentType;Cashflow;Amount;Currency;SettlementAmount;SettlementCurrency;\
    SettlementDate;SettlementStatus;TransactionId;UniqueID\n";

/// Checks that the conditions above hold for these bytes. The first byte determines the split of the others.
pub fn holds(input: &[u8]) {
    let Some((&piece, bytes)) = input.split_first() else { return };
    let _ = reconcile(usize::MAX, bytes);
    let file = [HEADER, bytes].concat();
    let (findings, summary) = reconcile(1 << 16, &file).expect("the header is good");
    let counted: u64 = summary.findings.values().map(|tally| tally.count).sum();
    assert_eq!(counted, findings.len() as u64);
    assert_eq!(reconcile(usize::from(piece).max(1), &file), Some((findings, summary)));
}

fn reconcile(piece: usize, file: &[u8]) -> Option<(Vec<String>, Summary)> {
    let mut file = SettlementFile::open(BufReader::with_capacity(piece.min(1 << 16), file)).ok()?;
    let ledger = Ledger::new(Some("12345678".to_owned())).sorted();
    let mut matching = Matching::new(ledger, Period::default());
    matching.next_file(file.has_transaction_ids());
    let mut findings = Vec::new();
    while let Some(line) = file.next().expect("memory can be read") {
        matching.take(line, &mut |finding| findings.push(finding.to_string()));
    }
    matching.take_columns(file.wrong_columns(), &mut |finding| findings.push(finding.to_string()));
    let summary = matching.finish(&mut |finding| findings.push(finding.to_string()));
    Some((findings, summary))
}
