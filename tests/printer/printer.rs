//! The printer's task on real connections (TCP, a pty and a device that is not a tty), against the simulated printer.
//! The tests check its output, its waiting jobs, and its reports about a printer that cannot print.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use pos_agent::config::{self, CodePage, Copies, Cut, FlowControl};
use pos_core::transaction::{HostFacts, Receipt, ReceiptOutcome};
use pos_printer::layout::{Align, Style};
use pos_printer::port::{PrinterNeed, PrinterTiming, QUEUE, TILL_SLIPS, TORN_TRIES, spawn_with};
use pos_printer::status::Trouble;
use pos_printer::{Handle, Letterhead, NotPrinted, Page, PrinterEvent, QueueFull, Slip, TillLine, compose, plain};
use pos_sim::printer::{Options, Printer, PrinterAddress, Sensors, StatusAnswers};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Kind, ReceiptCopy, Reference, SaleNumber};
use rustix::termios::{ControlModes, InputModes};
use tokio::sync::mpsc;

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

// ---- Output

#[tokio::test]
async fn both_copies_come_out_of_the_printer_as_their_text() {
    let mut printer = Printer::open(Options { columns: 32, ..Options::default() }).await.unwrap();
    let (handle, mut events) = spawn(&printer.place(), patient());
    assert_eq!(handle.state().to_string(), "not used yet");
    for copy in [ReceiptCopy::Merchant, ReceiptCopy::Customer] {
        print(&handle, receipt(7), copy, false).unwrap();
        assert_eq!(events.recv().await, Some(printed(7, copy)));
        assert_eq!(printer.next_receipt().await, text(7, copy));
    }
    assert_eq!(printer.errors(), 0);
    assert_eq!((handle.state().to_string().as_str(), handle.needs_attention()), ("ok", false));
}

#[tokio::test]
async fn a_printer_on_a_tty_prints_and_answers_too() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("printer");
    let mut printer = Printer::open(Options { place: PrinterAddress::Pty(Some(link)), ..narrow() }).await.unwrap();
    printer.set_sensors(Sensors { paper_near_end: true, ..Sensors::default() });
    let (handle, mut events) = spawn(&printer.place(), impatient());
    print(&handle, receipt(1), ReceiptCopy::Customer, false).unwrap();
    assert_eq!(events.recv().await, Some(printed(1, ReceiptCopy::Customer)));
    assert_eq!(printer.next_receipt().await, text(1, ReceiptCopy::Customer));
    assert_eq!(handle.state().to_string(), "almost out of paper: have a roll ready");

    // The plug is pulled between two receipts and put back. The printer returns as another tty with the same name.
    printer.set_dead(true).await;
    let waits = handle_waits(&handle, receipt(2), &mut events).await;
    assert!(waits.starts_with("unreachable: "), "{waits}");
    printer.set_dead(false).await;
    assert_eq!(events.recv().await, Some(printed(2, ReceiptCopy::Customer)));
    assert_eq!(printer.next_receipt().await, text(2, ReceiptCopy::Customer));
    assert_eq!(printer.errors(), 0);
}

#[tokio::test]
async fn a_tty_is_set_as_the_configuration_says() {
    for (flow_control, software, hardware) in
        [(FlowControl::None, false, false), (FlowControl::XonXoff, true, false), (FlowControl::RtsCts, false, true)]
    {
        let (master, path) = pty();
        let config = config::Printer { flow_control, baud: 19_200, status: Some(false), ..config(&path) };
        let (events, mut heard) = mpsc::channel(4);
        let handle = spawn_with(config, events, patient());
        print(&handle, receipt(1), ReceiptCopy::Customer, false).unwrap();
        assert_eq!(heard.recv().await, Some(printed(1, ReceiptCopy::Customer)));
        let mut bytes = [0; 4096];
        let size = rustix::io::read(&master, &mut bytes).unwrap();
        // The port is in raw mode: no characters are added to the line feeds, and there is neither echo nor query.
        assert!(
            bytes.starts_with(b"\x1B@\x1Bt\x13\x1Ba\x01\x1BE\x01\x1D!\x11CORNER SHOP\n\x1Ba\x00\x1BE\x00\x1D!\x00---"),
            "{flow_control:?}"
        );
        assert!(!bytes[..size].contains(&b'\r'));
        let settings = rustix::termios::tcgetattr(&master).unwrap();
        assert_eq!(settings.input_modes.contains(InputModes::IXON | InputModes::IXOFF), software, "{flow_control:?}");
        assert_eq!(settings.control_modes.contains(ControlModes::CRTSCTS), hardware, "{flow_control:?}");
        assert_eq!(settings.output_speed(), 19_200);
    }
}

#[tokio::test]
async fn a_device_that_is_no_tty_is_written_as_it_is() {
    // A named pipe stands in for /dev/usb/lp0. It is opened for reading and writing, polled, and has no serial-line
    // settings.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lp0");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let paper = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let config = config::Printer { status: Some(false), ..config(path.to_str().unwrap()) };
    let (events, mut heard) = mpsc::channel(4);
    let handle = spawn_with(config, events, patient());
    print(&handle, receipt(1), ReceiptCopy::Customer, false).unwrap();
    assert_eq!(heard.recv().await, Some(printed(1, ReceiptCopy::Customer)));
    let mut bytes = [0; 4096];
    let size = rustix::io::read(&paper, &mut bytes).unwrap();
    assert!(bytes.starts_with(b"\x1B@") && bytes[..size].ends_with(b"\x1DVB\0"), "{:?}", &bytes[..size]);
}

#[tokio::test]
async fn letters_of_many_countries_come_out_with_their_page() {
    for (code_page, thanks) in [
        (CodePage::Cp852, "Dziękuję, zażółć gęślą jaźń"),
        (CodePage::Cp866, "Спасибо, ёж"),
        (CodePage::Cp737, "Ευχαριστώ, Καλημέρα"),
        (CodePage::Cp775, "Ačiū, paldies, tänan"),
        (CodePage::Cp850, "Tack så mycket, Ærø"),
        (CodePage::Cp857, "Teşekkürler, İyi günler"),
        (CodePage::Cp858, "Merci, à bientôt: 5 €"),
        (CodePage::Wpc1250, "Děkuji, köszönöm, łódź €"),
        (CodePage::Wpc1251, "Дякую, їжак"),
        (CodePage::Wpc1252, "Œuvre à 5 €, Grüße"),
        (CodePage::Wpc1253, "Ευχαριστώ 5 €"),
        (CodePage::Wpc1254, "Teşekkürler, ığİ €"),
        (CodePage::Wpc1257, "Ačiū, lūdzu, õ €"),
    ] {
        let mut printer = Printer::open(narrow()).await.unwrap();
        let (events, mut heard) = mpsc::channel(4);
        let handle = spawn_with(config::Printer { code_page, ..config(&printer.place()) }, events, patient());
        let mut receipt = receipt(1);
        receipt.host.status_text = Some(thanks.to_owned());
        print(&handle, receipt, ReceiptCopy::Customer, false).unwrap();
        assert_eq!(heard.recv().await, Some(printed(1, ReceiptCopy::Customer)));
        let paper = printer.next_receipt().await;
        assert!(paper.contains(&format!("\n{thanks}\n")), "{code_page:?}: {paper}");
        assert_eq!(printer.errors(), 0, "{code_page:?}: {paper}");
    }
}

#[tokio::test]
async fn logo_and_qr_code_are_on_the_paper_and_in_its_picture() {
    let folder = tempfile::tempdir().unwrap();
    let logo = folder.path().join("logo.pbm");
    std::fs::write(&logo, format!("P1 16 8 {}", "1".repeat(128))).unwrap();
    let mut printer = Printer::open(narrow()).await.unwrap();
    let qr = serde_json::from_str("\"https://shop.example/r/{reference}?a={amount}{currency}\"").unwrap();
    let config = config::Printer { logo: Some(logo), qr, cut: Cut::Full, ..config(&printer.place()) };
    let (events, mut heard) = mpsc::channel(4);
    let handle = spawn_with(config, events, patient());
    for copy in [ReceiptCopy::Merchant, ReceiptCopy::Customer] {
        print(&handle, Receipt { reference: Reference::parse("A/1 b").unwrap(), ..receipt(1) }, copy, false).unwrap();
        assert_eq!(heard.recv().await, Some(printed(1, copy)));
    }
    let (merchants, customers) = (printer.next_receipt().await, printer.next_receipt().await);
    for paper in [&merchants, &customers] {
        assert!(paper.starts_with("    [picture of 16 x 8 dots]\n          CORNER SHOP\n"), "{paper}");
    }
    assert!(!merchants.contains("QR"), "{merchants}");
    assert!(
        customers.contains("CUSTOMER COPY\n\n\n[QR https://shop.example/r/A%2F1%20b?a=12.34EUR]\n\n\n"),
        "{customers}"
    );
    assert_eq!(printer.errors(), 0);
    let [without, with] = [0, 1].map(|n| picture(&printer, n));
    assert!(without.starts_with(b"\x89PNG\r\n\x1A\n") && with.len() > without.len() && printer.picture(2).is_none());
}

#[tokio::test]
async fn what_is_printed_again_says_so_at_both_ends() {
    let mut printer = Printer::open(narrow()).await.unwrap();
    let (handle, mut events) = spawn(&printer.place(), patient());
    print(&handle, receipt(1), ReceiptCopy::Merchant, true).unwrap();
    assert_eq!(
        events.recv().await,
        Some(PrinterEvent::Printed {
            slip: Slip::Receipt { sale: SaleNumber::new(1), copy: ReceiptCopy::Merchant },
            duplicate: true
        })
    );
    let paper = printer.next_receipt().await;
    assert_eq!(paper, duplicate(1, ReceiptCopy::Merchant));
    assert_eq!(
        (paper.lines().next(), paper.lines().last()),
        (Some("           DUPLICATE"), Some("           DUPLICATE"))
    );
}

// ---- Waiting jobs

#[tokio::test]
async fn a_printer_that_is_off_prints_what_waited_once_it_is_on() {
    let mut printer = Printer::open(narrow()).await.unwrap();
    printer.set_dead(true).await;
    let (handle, mut events) = spawn(&printer.place(), impatient());
    for sale in [1, 2, 3] {
        print(&handle, receipt(sale), ReceiptCopy::Customer, false).unwrap();
    }
    let Some(PrinterEvent::Waits { slip: Slip::Receipt { sale, copy: ReceiptCopy::Customer }, why }) =
        events.recv().await
    else {
        panic!("not told")
    };
    assert_eq!(sale, 1);
    let place = printer.place();
    assert!(why.starts_with(&format!("unreachable: {}: ", place.trim_start_matches("tcp://"))), "{why}");
    assert!(handle.needs_attention());
    assert_eq!(handle.state().to_string(), format!("{why}; 3 receipts wait"));

    printer.set_dead(false).await;
    for sale in [1, 2, 3] {
        assert_eq!(events.recv().await, Some(printed(sale, ReceiptCopy::Customer)));
        // No part of it was printed before, so it has no mark.
        assert_eq!(printer.next_receipt().await, text(sale, ReceiptCopy::Customer));
    }
    assert_eq!((handle.needs_attention(), handle.waiting()), (false, 0));
}

#[tokio::test]
async fn out_of_paper_the_receipt_waits_untouched_and_comes_out_with_the_new_roll() {
    let trouble = |sensors| Options { sensors, ..narrow() };
    for (options, words) in [
        (trouble(Sensors { paper_out: true, ..Sensors::default() }), "out of paper: put a roll in"),
        (trouble(Sensors { cover_open: true, ..Sensors::default() }), "open: close its cover"),
        (
            trouble(Sensors { cutter_jammed: true, ..Sensors::default() }),
            "jammed at the cutter: switch it off, remove the paper from the cutter, switch it on",
        ),
    ] {
        let mut printer = Printer::open(options).await.unwrap();
        let (handle, mut events) = spawn(&printer.place(), impatient());
        print(&handle, receipt(1), ReceiptCopy::Merchant, false).unwrap();
        print(&handle, receipt(1), ReceiptCopy::Customer, false).unwrap();
        let why = words.to_owned();
        assert_eq!(
            events.recv().await,
            Some(PrinterEvent::Waits {
                slip: Slip::Receipt { sale: SaleNumber::new(1), copy: ReceiptCopy::Merchant },
                why
            })
        );
        assert_eq!(handle.state().to_string(), format!("{words}; 2 receipts wait"));

        printer.set_sensors(Sensors::default());
        for copy in [ReceiptCopy::Merchant, ReceiptCopy::Customer] {
            assert_eq!(events.recv().await, Some(printed(1, copy)));
            assert_eq!(printer.next_receipt().await, text(1, copy));
        }
        assert_eq!(handle.state().to_string(), "ok");
    }
}

#[tokio::test]
async fn paper_that_ends_while_printing_gives_the_whole_receipt_again_as_a_duplicate() {
    for place in [PrinterAddress::Tcp(ANY), PrinterAddress::Pty(None)] {
        let mut printer = Printer::open(Options { place, ..narrow() }).await.unwrap();
        printer.run_out_after(5);
        let (handle, mut events) = spawn(&printer.place(), impatient());
        print(&handle, receipt(1), ReceiptCopy::Customer, false).unwrap();
        let why = "out of paper: put a roll in".to_owned();
        assert_eq!(
            events.recv().await,
            Some(PrinterEvent::Waits {
                slip: Slip::Receipt { sale: SaleNumber::new(1), copy: ReceiptCopy::Customer },
                why
            })
        );
        assert_eq!(handle.state().to_string(), "out of paper: put a roll in; 1 receipt waits");
        assert_eq!(printer.uncut().lines().count(), 5);

        printer.set_sensors(Sensors::default());
        assert_eq!(
            events.recv().await,
            Some(PrinterEvent::Printed {
                slip: Slip::Receipt { sale: SaleNumber::new(1), copy: ReceiptCopy::Customer },
                duplicate: true
            })
        );
        // The printer completes the receipt from its buffer. The next copy is marked as a duplicate, so that no one
        // mistakes it for a second sale.
        assert_eq!(printer.next_receipt().await, text(1, ReceiptCopy::Customer));
        // Remains that may be on the paper are cut off.
        assert_eq!(printer.next_receipt().await, "");
        assert_eq!(printer.next_receipt().await, duplicate(1, ReceiptCopy::Customer));
        assert_eq!(handle.state().to_string(), "ok");
    }
}

#[tokio::test]
async fn a_printer_that_dies_in_the_middle_prints_it_whole_as_a_duplicate_when_it_is_back() {
    let mut printer = Printer::open(narrow()).await.unwrap();
    // The queries take twelve bytes.
    printer.die_after(212);
    let (handle, mut events) = spawn(&printer.place(), impatient());
    print(&handle, receipt(1), ReceiptCopy::Customer, false).unwrap();
    let Some(PrinterEvent::Waits { slip: Slip::Receipt { sale, .. }, why }) = events.recv().await else {
        panic!("not told")
    };
    assert_eq!(sale, 1);
    assert!(why.starts_with("interrupted in the middle of a receipt: "), "{why}");
    let torn = printer.uncut();
    assert!(text(1, ReceiptCopy::Customer).starts_with(&torn) && torn.contains("CORNER SHOP"), "{torn}");

    printer.set_dead(false).await;
    loop {
        match events.recv().await.unwrap() {
            PrinterEvent::Waits { why, .. } => assert!(why.starts_with("unreachable: "), "{why}"),
            event => {
                break assert_eq!(
                    event,
                    PrinterEvent::Printed {
                        slip: Slip::Receipt { sale: SaleNumber::new(1), copy: ReceiptCopy::Customer },
                        duplicate: true
                    }
                );
            }
        }
    }
    assert_eq!(printer.next_receipt().await, torn);
    assert_eq!(printer.next_receipt().await, duplicate(1, ReceiptCopy::Customer));
    assert_eq!(printer.receipts().len(), 2);
}

#[tokio::test]
async fn a_printer_that_always_dies_in_the_middle_does_not_use_up_the_roll() {
    let printer = Printer::open(narrow()).await.unwrap();
    let (handle, mut events) = spawn(&printer.place(), impatient());
    print(&handle, receipt(1), ReceiptCopy::Customer, false).unwrap();
    printer.die_after(100);
    // Each time the printer goes off, a person switches it on again.
    loop {
        match events.recv().await.unwrap() {
            PrinterEvent::Waits { .. } => {
                printer.die_after(100);
                printer.set_dead(false).await;
            }
            event => {
                let PrinterEvent::Failed { slip: Slip::Receipt { sale, copy: ReceiptCopy::Customer }, why } = event
                else {
                    panic!("{event:?}")
                };
                assert_eq!(sale, 1);
                assert!(why.starts_with("interrupted"), "{why}");
                break;
            }
        }
    }
    // The paper is cut before each further try. There is therefore one piece fewer than tries, and the last piece is
    // still on the roll.
    assert_eq!(printer.receipts().len(), TORN_TRIES as usize - 1);
    assert_eq!(handle.waiting(), 0);
}

// ---- A till's own lines

#[tokio::test]
async fn a_tills_own_lines_are_printed_once_and_it_hears_whether_they_are() {
    let mut printer = Printer::open(narrow()).await.unwrap();
    let (handle, mut events) = spawn(&printer.place(), impatient());
    let printed = handle.print_till_lines(voucher()).unwrap();
    assert_eq!(printed.await, Ok(Ok(())));
    assert_eq!(printer.next_receipt().await, "            VOUCHER\n\nPoints                       120\n");
    assert_eq!((handle.state().to_string().as_str(), handle.waiting()), ("ok", 0));

    printer.set_sensors(Sensors { paper_out: true, ..Sensors::default() });
    let out = NotPrinted::NotBegun(PrinterNeed::Trouble(Trouble::PaperOut));
    assert_eq!(handle.print_till_lines(voucher()).unwrap().await, Ok(Err(out)));
    assert_eq!(handle.state().to_string(), "out of paper: put a roll in", "nothing waits");

    printer.set_sensors(Sensors::default());
    printer.run_out_after(1);
    let why = match handle.print_till_lines(voucher()).unwrap().await.unwrap() {
        Err(why @ NotPrinted::BrokeOff(_)) => why.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(why, "the printer is out of paper: put a roll in; a part may be on paper");
    printer.set_sensors(Sensors::default());
    // The next receipt is printed after the remains.
    print(&handle, receipt(1), ReceiptCopy::Customer, false).unwrap();
    assert_eq!(events.recv().await, Some(self::printed(1, ReceiptCopy::Customer)));
    while printer.next_receipt().await != text(1, ReceiptCopy::Customer) {}
    assert!(printer.receipts().iter().filter(|paper| paper.contains("VOUCHER")).count() <= 2);
}

#[tokio::test]
async fn lines_that_would_stand_behind_waiting_receipts_are_not_taken() {
    let mut printer = Printer::open(Options { sensors: Sensors { paper_out: true, ..Sensors::default() }, ..narrow() })
        .await
        .unwrap();
    let (handle, mut events) = spawn(&printer.place(), impatient());
    print(&handle, receipt(1), ReceiptCopy::Customer, false).unwrap();
    assert!(matches!(events.recv().await, Some(PrinterEvent::Waits { .. })));
    // While receipts wait, a till's lines are refused.
    let out = PrinterNeed::Trouble(Trouble::PaperOut);
    assert_eq!(handle.print_till_lines(voucher()).unwrap_err(), NotPrinted::NotBegun(out));
    print(&handle, receipt(2), ReceiptCopy::Customer, false).unwrap();
    printer.set_sensors(Sensors::default());
    for sale in [1, 2] {
        assert_eq!(events.recv().await, Some(printed(sale, ReceiptCopy::Customer)));
        assert_eq!(printer.next_receipt().await, text(sale, ReceiptCopy::Customer));
    }
}

#[tokio::test]
async fn lines_whose_till_has_gone_are_not_printed_when_their_turn_comes_and_few_wait() {
    let mut printer = Printer::open(narrow()).await.unwrap();
    let (handle, mut events) = spawn(&printer.place(), patient());
    // The printer's task has not started yet: it runs only at the first await.
    print(&handle, receipt(1), ReceiptCopy::Customer, false).unwrap();
    for _ in 0..TILL_SLIPS {
        drop(handle.print_till_lines(voucher()).unwrap());
    }
    assert_eq!(handle.print_till_lines(voucher()).unwrap_err(), NotPrinted::OthersWait);
    print(&handle, receipt(2), ReceiptCopy::Customer, false).unwrap();
    for sale in [1, 2] {
        assert_eq!(events.recv().await, Some(printed(sale, ReceiptCopy::Customer)));
        assert_eq!(printer.next_receipt().await, text(sale, ReceiptCopy::Customer));
    }
    assert_eq!(handle.print_till_lines(voucher()).unwrap().await, Ok(Ok(())));
}

fn voucher() -> Vec<TillLine> {
    let line = |text: &str, value: &str, align, style| TillLine {
        text: text.to_owned(),
        value: value.to_owned(),
        align,
        style,
        code: None,
    };
    vec![
        line("VOUCHER", "", Align::Centre, Style::Big),
        line("", "", Align::Left, Style::Plain),
        line("Points", "120", Align::Left, Style::Plain),
    ]
}

#[tokio::test]
async fn a_full_queue_refuses_the_newest_and_keeps_the_others() {
    let mut printer = Printer::open(narrow()).await.unwrap();
    let (handle, mut events) = spawn(&printer.place(), patient());
    // On one thread nothing runs in between, so the task has not taken a job yet.
    for sale in 0..QUEUE as u64 {
        print(&handle, receipt(sale), ReceiptCopy::Customer, false).unwrap();
    }
    let full = print(&handle, receipt(99), ReceiptCopy::Customer, false).unwrap_err();
    assert_eq!(full.slip, Slip::Receipt { sale: SaleNumber::new(99), copy: ReceiptCopy::Customer });
    assert_eq!(handle.waiting(), QUEUE);
    drop(handle);
    for sale in 0..QUEUE as u64 {
        assert_eq!(events.recv().await, Some(printed(sale, ReceiptCopy::Customer)));
        assert_eq!(printer.next_receipt().await, text(sale, ReceiptCopy::Customer));
    }
    // The task ends when its last handle is dropped.
    assert_eq!(events.recv().await, None);
}

#[tokio::test]
async fn nobody_waits_for_a_dead_printer_at_the_end() {
    let printer = Printer::open(narrow()).await.unwrap();
    printer.set_dead(true).await;
    let (handle, mut events) = spawn(&printer.place(), patient());
    let why = handle_waits(&handle, receipt(1), &mut events).await;
    assert!(why.starts_with("unreachable"), "{why}");
    drop(handle);
    // The pause between two tries is an hour.
    assert_eq!(events.recv().await, None);
}

// ---- Reports

#[tokio::test]
async fn a_printer_that_never_answers_prints_all_the_same() {
    for (status_answers, status, state) in [
        (StatusAnswers::Silent, None, "ok"),
        (StatusAnswers::Garbage, None, "ok"),
        (StatusAnswers::Silent, Some(false), "ok"),
        (
            StatusAnswers::Silent,
            Some(true),
            "not reporting its state: switch on the printer's status answers, or set status = false",
        ),
    ] {
        let mut printer = Printer::open(Options { status_answers, ..narrow() }).await.unwrap();
        let timing = PrinterTiming { status: Duration::from_millis(20), close: Duration::ZERO, ..patient() };
        let (events, mut heard) = mpsc::channel(4);
        let handle = spawn_with(config::Printer { status, ..config(&printer.place()) }, events, timing);
        for sale in [1, 2] {
            print(&handle, receipt(sale), ReceiptCopy::Customer, false).unwrap();
            assert_eq!(heard.recv().await, Some(printed(sale, ReceiptCopy::Customer)));
            assert_eq!(printer.next_receipt().await, text(sale, ReceiptCopy::Customer));
        }
        assert_eq!(handle.state().to_string(), state, "{status_answers:?}, status = {status:?}");
        assert_eq!(printer.errors(), 0);
    }
}

#[tokio::test]
async fn a_printer_that_does_not_say_when_it_has_finished_is_believed_without_it() {
    let mut printer =
        Printer::open(Options { status_answers: StatusAnswers::AnswersStateOnly, ..narrow() }).await.unwrap();
    let timing = PrinterTiming { done: Duration::from_millis(20), ask_again: Duration::from_millis(5), ..patient() };
    let (handle, mut events) = spawn(&printer.place(), timing);
    for sale in [1, 2] {
        print(&handle, receipt(sale), ReceiptCopy::Customer, false).unwrap();
        assert_eq!(events.recv().await, Some(printed(sale, ReceiptCopy::Customer)));
        assert_eq!(printer.next_receipt().await, text(sale, ReceiptCopy::Customer));
    }
}

#[tokio::test]
async fn a_slow_printer_is_waited_for() {
    // This receipt takes some tenths of a second. It counts as printed when the printer says so, not when the printer
    // has received the bytes.
    let printer = Printer::open(Options { bytes_per_second: Some(2000), ..narrow() }).await.unwrap();
    let (handle, mut events) = spawn(&printer.place(), patient());
    print(&handle, receipt(1), ReceiptCopy::Customer, false).unwrap();
    assert_eq!(events.recv().await, Some(printed(1, ReceiptCopy::Customer)));
    assert_eq!(printer.receipts(), [text(1, ReceiptCopy::Customer)]);
}

#[tokio::test]
async fn a_printer_with_nothing_to_do_is_looked_at() {
    let printer = Printer::open(narrow()).await.unwrap();
    let timing = PrinterTiming { look: Duration::from_millis(1), ..patient() };
    let (handle, _events) = spawn(&printer.place(), timing);
    for (sensors, state) in [
        (Sensors { paper_near_end: true, ..Sensors::default() }, "almost out of paper: have a roll ready"),
        (Sensors { paper_out: true, ..Sensors::default() }, "out of paper: put a roll in"),
        (Sensors { cover_open: true, ..Sensors::default() }, "open: close its cover"),
        (Sensors::default(), "ok"),
    ] {
        printer.set_sensors(sensors);
        until(&handle, |said| said == state).await;
        assert_eq!(handle.needs_attention(), state != "ok");
    }
    printer.set_dead(true).await;
    until(&handle, |said| said.starts_with("unreachable: ")).await;
    // The printer has printed nothing.
    assert_eq!((printer.uncut().as_str(), printer.receipts().len(), printer.errors()), ("", 0, 0));
}

#[tokio::test]
async fn a_printer_that_takes_nothing_is_given_up_at_the_deadline() {
    // This printer stops the flow when its buffer is full and cannot say why. On TCP, the kernel keeps the bytes that
    // do not fit. On a tty it does not.
    let sensors = Sensors { paper_out: true, ..Sensors::default() };
    let options =
        Options { place: PrinterAddress::Pty(None), status_answers: StatusAnswers::Silent, sensors, ..narrow() };
    let printer = Printer::open(options).await.unwrap();
    let timing = PrinterTiming { write: Duration::from_millis(50), ..impatient() };
    let (events, mut heard) = mpsc::channel(4);
    // No text from outside is this long, but the shop's own lines have no limit.
    let long = Letterhead { footer: vec!["many words".to_owned(); 20_000], ..shop() };
    let handle = spawn_with(config::Printer { status: Some(false), ..config(&printer.place()) }, events, timing);
    handle.print(receipt(1), compose(&receipt(1), &long, ReceiptCopy::Customer), ReceiptCopy::Customer, false).unwrap();
    let Some(PrinterEvent::Waits { why, .. }) = heard.recv().await else { panic!("not told") };
    assert!(why.starts_with("interrupted in the middle of a receipt: ") && why.contains("no progress within"), "{why}");
}

#[tokio::test]
async fn what_is_no_printer_is_unreachable() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for (port, words) in [
        ("/dev/serial/by-id/no-such-printer", "No such file"),
        (file.path().to_str().unwrap(), "it is a file, not a printer"),
        ("/tmp", "directory"),
    ] {
        let (handle, mut events) = spawn(port, patient());
        let why = handle_waits(&handle, receipt(1), &mut events).await;
        assert!(why.starts_with(&format!("unreachable: {port}: ")) && why.contains(words), "{why}");
    }
}

// ---- Helpers

fn spawn(port: &str, timing: PrinterTiming) -> (Handle, mpsc::Receiver<PrinterEvent>) {
    let (events, heard) = mpsc::channel(4);
    (spawn_with(config(port), events, timing), heard)
}

fn config(port: &str) -> config::Printer {
    config::Printer {
        name: "printer-1".to_owned(),
        port: port.to_owned(),
        baud: 9600,
        flow_control: FlowControl::None,
        columns: 32,
        code_page: CodePage::Cp858,
        code_page_number: None,
        cut: Cut::Partial,
        logo: None,
        qr: None,
        status: None,
        copies: Copies::Both,
    }
}

/// Gives the printer a receipt. Returns the reason why it is not printed.
async fn handle_waits(handle: &Handle, receipt: Receipt, events: &mut mpsc::Receiver<PrinterEvent>) -> String {
    print(handle, receipt, ReceiptCopy::Customer, false).unwrap();
    match events.recv().await {
        Some(PrinterEvent::Waits { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

async fn until(handle: &Handle, wanted: impl Fn(&str) -> bool) {
    while !wanted(&handle.state().to_string()) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

fn narrow() -> Options {
    Options { columns: 32, ..Options::default() }
}

fn printed(sale: u64, copy: ReceiptCopy) -> PrinterEvent {
    PrinterEvent::Printed { slip: Slip::Receipt { sale: SaleNumber::new(sale), copy }, duplicate: false }
}

fn text(number: u64, copy: ReceiptCopy) -> String {
    plain(&page(&receipt(number), copy).lines(32), 32)
}

fn duplicate(number: u64, copy: ReceiptCopy) -> String {
    plain(&page(&receipt(number), copy).as_duplicate().lines(32), 32)
}

fn picture(printer: &Printer, number: usize) -> Vec<u8> {
    let picture = printer.picture(number).unwrap();
    if let Some(folder) = std::env::var_os("PICTURES") {
        std::fs::write(std::path::Path::new(&folder).join(format!("receipt-{number}.png")), &picture).unwrap();
    }
    picture
}

/// Returns deadlines that even a slow machine meets. There is no second try, and an idle printer is not polled.
fn patient() -> PrinterTiming {
    let long = Duration::from_secs(3600);
    let (connect, write, close, status, done, ask_again, look) = (long, long, long, long, long, long, long);
    let (early, look_early, back_off) = (Duration::ZERO, long, vec![long]);
    PrinterTiming { connect, write, close, status, done, ask_again, look, early, look_early, back_off }
}

/// Returns a timing with very short intervals between tries and between queries.
fn impatient() -> PrinterTiming {
    let soon = Duration::from_millis(2);
    PrinterTiming { ask_again: soon, back_off: vec![soon], ..patient() }
}

fn shop() -> Letterhead {
    Letterhead { merchant: vec!["CORNER SHOP".to_owned()], ..Letterhead::default() }
}

fn page(receipt: &Receipt, copy: ReceiptCopy) -> Page {
    compose(receipt, &shop(), copy)
}

fn print(handle: &Handle, receipt: Receipt, copy: ReceiptCopy, duplicate: bool) -> Result<(), QueueFull> {
    let page = page(&receipt, copy);
    handle.print(receipt, page, copy, duplicate)
}

fn receipt(number: u64) -> Receipt {
    Receipt {
        training: false,
        kind: Kind::Sale,
        terminal_id: "12345678".to_owned(),
        local_time: "2026-11-20 12:34:56".to_owned(),
        number: SaleNumber::new(number),
        reference: Reference::parse(format!("T-{number}")).unwrap(),
        amount: Amount::parse("12.34", Currency::from_code("EUR").unwrap()).unwrap(),
        tip: None,
        outcome: ReceiptOutcome::Approved,
        card: None,
        host: HostFacts { status_text: Some("Merci, à bientôt!".to_owned()), ..HostFacts::default() },
        operator: None,
        supervisor: None,
        original: None,
    }
}

/// Opens a pty. Returns the master's end and the path of the other end.
fn pty() -> (OwnedFd, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap();
    (master, path.into_string().unwrap())
}
