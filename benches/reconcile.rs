//! `pos-agent reconcile` with a million rows and a journal of a million sales. The benchmark measures rows per second
//! and peak memory of the shipped program in a separate process. For another number of rows, run
//! `cargo bench --bench reconcile -- 1000`.
//!
//! The benchmark creates the files from the document's example and a chip sale. Of every thousand sales, one was
//! settled for another amount and one is missing. Of every thousand rows, one belongs to another terminal.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark measures and prints")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pos_core::transaction::{HostFacts, Order, Outcome, Record};
use pos_journal::Db;
use pos_terms::card::{CardFacts, EntryMode};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Operation, PaymentId, Reference, SaleNumber};

const ROWS: u64 = 1_000_000;
/// The highest permitted memory, in KiB.
const MOST_MEMORY: u64 = 64 * 1024;
/// The interval at which the child's memory is read. The system keeps the peak between two readings.
const LOOK: Duration = Duration::from_millis(5);

/// The 136-byte field 55 of the vector e2e-field55-cvn18.
const FIELD_55: &str = "5F2A0201245F340100820218008407A0000000031010950580000480009A031911059C01019F02060000000040009F0306\
    0000000000009F0902008C9F100706011203A0B8009F1A0201249F1E0831323334353637389F26087A788EA6B8A3E7339F2701809F3303E0F8C89F3403\
    4103029F3501229F3602001C9F370452BF45859F410400000001";

const HEADER: &str = "ReconciliationType;PaymentType;Cashflow;ClearingInstituteMerchantId;MerchantAccountId;\
    MerchantAccountName;PspId;DivisionId;MerchantId;SettlementTxId;UniqueID;ShortId;ConnectorTxId1;ConnectorTxId2;\
    ConnectorTxId3;Amount;Currency;Brand;TxRequestTime;SettlementAmount;SettlementCurrency;SettlementFee;SettlementFxRate;\
    SettlementDate;SettlementStatus;Descriptor;AccountNumberLast4;BankCode;AccountHolder;ReasonCode;ReasonDesc;\
    SettlementFileFormat;ClearingInsitituteName;MatchingStatus;MatchedTransactions;ChargebackId;TransactionId;InvoiceId";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(ROWS);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (journal, file) = (folder.path().join("journal.db"), folder.path().join("settled.csv"));
    write_journal(&journal, rows)?;
    write_file(&file, rows)?;
    let size = |path: &Path| path.metadata().map_or(0, |file| file.len() / 1_000_000);
    println!("{rows} rows ({} MB) against {rows} sales ({} MB)\n", size(&file), size(&journal));

    let alone = measure(&file, &folder.path().join("empty.db"), true)?;
    println!("  {:<28}{}", "the file alone", alone.words(rows));
    let both = measure(&file, &journal, false)?;
    println!("  {:<28}{}", "with the journal", both.words(rows));
    let word = if both.peak_kib <= MOST_MEMORY { "within" } else { "ABOVE" };
    println!("  {word} {} MiB", MOST_MEMORY / 1024);
    Ok(())
}

struct Measured {
    took: Duration,
    peak_kib: u64,
}

impl Measured {
    fn words(&self, rows: u64) -> String {
        let per_second = u128::from(rows) * 1_000_000 / self.took.as_micros().max(1);
        format!(
            "{} ms, {per_second} rows/s, at most {}.{} MiB",
            self.took.as_millis(),
            self.peak_kib / 1024,
            self.peak_kib % 1024 * 10 / 1024
        )
    }
}

/// Runs the program. If `made` is true, the journal is new and empty.
fn measure(file: &Path, journal: &Path, made: bool) -> Result<Measured, Box<dyn std::error::Error>> {
    if made {
        drop(Db::open(journal)?);
    }
    let start = Instant::now();
    let mut program = Command::new(env!("CARGO_BIN_EXE_pos-agent"));
    let program = program.arg("reconcile").arg(file).arg("--journal").arg(journal).arg("--json");
    let mut child = program.stdout(Stdio::null()).spawn()?;
    let mut peak_kib = 0;
    let ended = loop {
        peak_kib = peak(&child).unwrap_or(peak_kib);
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        std::thread::sleep(LOOK);
    };
    let took = start.elapsed();
    match ended.code() {
        Some(0 | 65) => Ok(Measured { took, peak_kib }),
        _ => Err(format!("pos-agent reconcile: {ended}").into()),
    }
}

/// Returns `VmHWM`, the greatest resident memory at any time.
fn peak(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

fn reference(number: u64) -> String {
    format!("12345678-{number}-{:032x}", u128::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835))
}

fn payment(number: u64) -> String {
    format!("8ac7a4a0{number:024x}")
}

/// Writes the rows directly into the journal's tables. With a sync after each of four million rows, this would take a
/// day.
fn write_journal(path: &Path, sales: u64) -> Result<(), Box<dyn std::error::Error>> {
    drop(Db::open(path)?);
    let card = CardFacts::from_tlvs(EntryMode::Icc, None, &hex::decode(FIELD_55.replace(' ', ""))?)
        .map_err(|error| format!("{error:?}"))?;
    let amount = Amount::from_minor(1234, Currency::from_code("EUR")?)?;
    let mut connection = rusqlite::Connection::open(path)?;
    connection.execute_batch("PRAGMA synchronous=OFF; PRAGMA cache_size=-8192; PRAGMA wal_autocheckpoint=10000;")?;
    for first in (1..=sales).step_by(100_000) {
        let transaction = connection.transaction()?;
        {
            let mut sale = transaction
                .prepare("INSERT INTO sale(number, till, reference, settled) VALUES (?1, 'till-1', ?2, 1)")?;
            let mut step =
                transaction.prepare("INSERT INTO step(id, sale, unix_ms, records) VALUES (?1, ?2, ?3, ?4)")?;
            for number in first..=sales.min(first + 99_999) {
                sale.execute((number as i64, format!("order-{number}")))?;
                for (records, place) in steps(number, amount, &card).iter().zip(0_i64..) {
                    let id = number as i64 * (1 << 20) + place;
                    step.execute((id, number as i64, 1_795_000_000_000_i64, serde_json::to_string(records)?))?;
                }
            }
        }
        transaction.commit()?;
    }
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

/// Returns the steps of a chip sale as they are in the journal.
fn steps(number: u64, amount: Amount, card: &CardFacts) -> [[Record; 1]; 4] {
    let order = Order {
        account: None,
        operation: Operation::Sale,
        parameters: Vec::new(),
        number: SaleNumber::new(number),
        till: "till-1".to_owned(),
        reference: Reference::parse(format!("order-{number}")).expect("one"),
        by: None,
        amount,
        ask_tip: false,
        manual: false,
        chip_alone: false,
        accept_partial: false,
        till_confirms: None,
        gives_rest: false,
        till_prints: false,
        till_data: Default::default(),
        tip: None,
        training: None,
        terminal_id: "12345678".to_owned(),
        merchant_transaction_id: reference(number),
        started_unix_ms: 1_795_000_000_000,
        local_time: format!("2026-11-{:02} 09:00:00", 1 + number % 28),
    };
    let text = |text: &str| Some(text.to_owned());
    let host = HostFacts {
        id: Some(PaymentId::new(payment(number))),
        code: text("000.100.110"),
        description: text("Request successfully processed in 'Merchant in Integrator Test Mode'"),
        brand: text("VISA"),
        bin: text("411111"),
        last4: text("1111"),
        timestamp: text("2026-11-20 09:00:01.123+0000"),
        ..HostFacts::default()
    };
    [
        [Record::Started { order }],
        [Record::Asked { card: Some(card.clone()), again_unix_ms: None }],
        [Record::HostApproved { payment: PaymentId::new(payment(number)), approved: amount, host }],
        [Record::Ended {
            outcome: Outcome::Approved,
            host: None,
            card: Some(card.clone()),
            by: None,
            at_unix_ms: None,
        }],
    ]
}

fn write_file(path: &Path, rows: u64) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "{HEADER}")?;
    for number in 1..=rows {
        let amount = if number % 1000 == 1 { "12.30" } else { "12.34" };
        let reference = match number % 1000 {
            2 => reference(number).replacen("12345678", "87654321", 1),
            _ => reference(number),
        };
        writeln!(
            file,
            "SETTLED;DEBIT;POS;CLRMID01;8ac7a4c97044c00601704a9b2a2b0c01;Corner Shop;8ac7a4c97044c00601704a9b2a2b0c02;;\
             8ac7a4c97044c00601704a9b2a2b0c03;S-{number};{};1234.5678.9012;C1;C2;C3;{amount};EUR;VISA;\
             2026-11-{:02} 09:00:01;{amount};EUR;0.12;1.00;2026-11-29;SUCCESS;CORNER SHOP;4242;12345678;Erika Mustermann;;;\
             ACQ1;Test Clearing;MATCHED;;;{reference};",
            payment(number),
            1 + number % 28,
        )?;
    }
    file.flush()
}
