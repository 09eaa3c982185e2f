//! Receipts as a person reads them. The texts are typed, not produced by the code they test; they are never edited to make a
//! test pass. Text in the middle has the smaller half of the free room on its left.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use pos_agent::card::{CardFacts, Cryptogram, CryptogramKind, Cvm, EntryMode, MaskedPan};
use pos_agent::config::CodePage;
use pos_agent::money::{Amount, Currency};
use pos_agent::printer::{Line, escpos, lay_out, plain, text};
use pos_agent::sale::{Copy, HostFacts, Receipt, ReceiptOutcome};
use pos_agent::sim::printer::paper::Paper;
use proptest::prelude::*;

#[test]
fn approved_chip_and_pin() {
    let text = "
          CORNER SHOP
        1 Market Street
--------------------------------
Terminal                12345678
Date         2026-11-20 12:34:56
Sale number                   17
Reference                 T-1001
--------------------------------
              SALE
           12.34 EUR
            APPROVED
--------------------------------
Brand                       VISA
Application          VISA CREDIT
AID               A0000000031010
Card         **** **** **** 0119
Entry                       CHIP
          PIN VERIFIED
TC:             0011223344556677
TVR                   0000008000
TSI                         E800
--------------------------------
Acquirer code             123456
Issuer code                   00
Clearing id       20261120123456
Merchant id            987654321
Payment id
8ac7a4a1940b8dd301940fbf4a3b5a5e
--------------------------------
Thank you for your visit at the
corner shop.

Open 9-17
--------------------------------
         CUSTOMER COPY
";
    assert_receipt(&approved(), Copy::Customer, 32, text);
}

#[test]
fn approved_chip_and_pin_on_wide_paper() {
    let text = "
               CORNER SHOP
             1 Market Street
------------------------------------------
Terminal                          12345678
Date                   2026-11-20 12:34:56
Sale number                             17
Reference                           T-1001
------------------------------------------
                   SALE
                12.34 EUR
                 APPROVED
------------------------------------------
Brand                                 VISA
Application                    VISA CREDIT
AID                         A0000000031010
Card                   **** **** **** 0119
Entry                                 CHIP
               PIN VERIFIED
TC:                       0011223344556677
TVR                             0000008000
TSI                                   E800
------------------------------------------
Acquirer code                       123456
Issuer code                             00
Clearing id                 20261120123456
Merchant id                      987654321
Payment id
          8ac7a4a1940b8dd301940fbf4a3b5a5e
------------------------------------------
Thank you for your visit at the corner
shop.

Open 9-17
------------------------------------------
              MERCHANT COPY
";
    assert_receipt(&approved(), Copy::Merchant, 42, text);
}

#[test]
fn declined() {
    let text = "
          CORNER SHOP
        1 Market Street
--------------------------------
Terminal                12345678
Date         2026-11-20 12:34:56
Sale number                   17
Reference                 T-1001
--------------------------------
              SALE
           12.34 EUR
            DECLINED
 transaction declined (invalid
           card data)
          NOT CHARGED
--------------------------------
Brand                       VISA
Application          VISA CREDIT
AID               A0000000031010
Card         **** **** **** 0119
Entry                CONTACTLESS
          PIN ENTERED
AAC:            0011223344556677
TVR                   0000008000
TSI                         E800
--------------------------------
         CUSTOMER COPY
";
    let mut receipt = approved();
    receipt.outcome = ReceiptOutcome::Declined("transaction declined (invalid card data)".to_owned());
    receipt.host = HostFacts { brand: Some("VISA".to_owned()), ..HostFacts::default() };
    let card = receipt.card.as_mut().unwrap();
    card.entry = EntryMode::NfcIcc;
    card.cvm = Some(Cvm::OnlinePin);
    card.cryptogram.as_mut().unwrap().kind = CryptogramKind::Aac;
    assert_receipt(&receipt, Copy::Customer, 32, text);
}

#[test]
fn reversed_unconfirmed_and_cancelled() {
    let after_the_rule = |outcome: ReceiptOutcome| {
        let receipt = Receipt { outcome, card: None, host: HostFacts::default(), ..approved() };
        let text = show(&receipt, Copy::Merchant, 32);
        text.split_once("SALE\n").unwrap().1.to_owned()
    };
    let reversed = "           12.34 EUR
            REVERSED
     the card refused (AAC)
          NOT CHARGED
--------------------------------
         MERCHANT COPY
";
    assert_eq!(after_the_rule(ReceiptOutcome::Reversed("the card refused (AAC)".to_owned())), reversed);
    let unconfirmed = "           12.34 EUR
  OUTCOME NOT CONFIRMED, BEING
            REVERSED
     no answer within 40 s
--------------------------------
         MERCHANT COPY
";
    assert_eq!(after_the_rule(ReceiptOutcome::Unconfirmed("no answer within 40 s".to_owned())), unconfirmed);
    let cancelled = "           12.34 EUR
           CANCELLED
         by the cashier
          NOT CHARGED
--------------------------------
         MERCHANT COPY
";
    assert_eq!(after_the_rule(ReceiptOutcome::Cancelled("by the cashier".to_owned())), cancelled);
}

#[test]
fn partially_approved_says_both_amounts() {
    let receipt = Receipt { outcome: ReceiptOutcome::PartiallyApproved(eur("10.00")), ..approved() };
    let text = show(&receipt, Copy::Customer, 42);
    let expected = "                   SALE
                10.00 EUR
            PARTIALLY APPROVED
Requested                        12.34 EUR
Approved                         10.00 EUR
------------------------------------------
";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn swiped_with_a_signature_line_on_the_merchants_copy() {
    let card = CardFacts {
        entry: EntryMode::MagstripeAsFallback,
        pan: MaskedPan::new("476173******0119"),
        pan_sequence_number: None,
        aid: None,
        label: None,
        cvm: Some(Cvm::Signature),
        cryptogram: None,
        tvr: None,
        tsi: None,
    };
    let receipt = Receipt { card: Some(card), host: HostFacts::default(), ..approved() };
    let end = "------------------------------------------
Card                   **** **** **** 0119
Entry                 SWIPED (CHIP FAILED)
                SIGNATURE
------------------------------------------
Signature:


X_________________________________________
              MERCHANT COPY
";
    let merchant = show(&receipt, Copy::Merchant, 42);
    assert!(merchant.ends_with(end), "{merchant}");
    assert!(!show(&receipt, Copy::Customer, 42).contains("Signature:"));
    let declined = Receipt { outcome: ReceiptOutcome::Declined("no".to_owned()), ..receipt };
    assert!(!show(&declined, Copy::Merchant, 42).contains("Signature:"));
}

#[test]
fn control_bytes_of_the_gateway_reach_neither_paper_nor_screen() {
    let mut receipt = approved();
    receipt.host.status_text = Some("\u{1B}@\u{1D}V\0PAID \u{202E}00.21\u{9B}2J\r\n\u{7}x".to_owned());
    receipt.reference = "T\u{1B}p\0".to_owned();
    assert!(show(&receipt, Copy::Customer, 42).contains("\n@VPAID 00.212J\nx\n"));
    let lines = lay_out(&receipt, &[], Copy::Customer, 42);
    let (text, errors) = print(&encode(&lines, CodePage::Cp437), 42);
    assert_eq!(text, [plain(&lines, 42)]);
    assert_eq!(errors, 0);
}

#[test]
fn what_the_code_page_cannot_print_is_replaced_visibly() {
    let mut receipt = approved();
    receipt.host.status_text = Some("Łódź €5 Ñandú Ωmega".to_owned());
    let lines = lay_out(&receipt, &[], Copy::Customer, 32);
    for (code_page, line) in [
        (CodePage::Ascii, "\n??d? ?5 ?and? ?mega\n"),
        (CodePage::Cp437, "\n?ód? ?5 Ñandú Ωmega\n"),
        (CodePage::Cp858, "\n?ód? €5 Ñandú ?mega\n"),
        (CodePage::Wpc1250, "\nŁódź €5 ?andú ?mega\n"),
    ] {
        let (text, errors) = print(&encode(&lines, code_page), 32);
        assert!(text[0].contains(line), "{}", text[0]);
        assert_eq!(errors, 0);
    }
}

/// Any text, rich in what could break a receipt.
fn outside() -> impl Strategy<Value = String> {
    let nasty = prop::sample::select(vec![
        '\u{1B}', '\u{1D}', '@', '\n', '\r', '\t', '\0', '\u{7F}', '\u{85}', '\u{9B}', '\u{202E}', '\u{200B}',
        '\u{FEFF}', '\u{2028}', '\u{A0}', '\u{AD}', '…', 'é', '€', '日', ' ', 'a',
    ]);
    prop::collection::vec(prop_oneof![nasty, any::<char>(), proptest::char::range(' ', '~')], 0..120)
        .prop_map(|chars| chars.into_iter().collect())
}

proptest! {
    #[test]
    fn whatever_comes_from_outside_fits_and_is_text(
        texts in prop::collection::vec(outside(), 16),
        outcome in 0..6,
        columns in prop::sample::select(vec![0_u8, 32, 42, 48, 255]),
        merchant in any::<bool>(),
        minor in 1..=999_999_999_999_u64,
    ) {
        let receipt = receipt_of(&texts, outcome, minor);
        let copy = if merchant { Copy::Merchant } else { Copy::Customer };
        let lines = lay_out(&receipt, &texts[14..], copy, columns);
        let width = usize::from(columns.max(pos_agent::printer::layout::MIN_COLUMNS));
        for line in &lines {
            prop_assert!(line.width() <= width, "{line:?}");
        }
        let text = plain(&lines, columns);
        prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        prop_assert!(text.lines().all(|line| line.chars().count() <= width));
        // What the simulated printer reads is the text, but for what the code page replaced.
        for code_page in [CodePage::Ascii, CodePage::Cp437, CodePage::Cp858, CodePage::Cp866, CodePage::Wpc1257] {
            let (printed, errors) = print(&encode(&lines, code_page), width);
            prop_assert_eq!(errors, 0);
            prop_assert_eq!(printed.len(), 1);
            let same = |(a, b): (char, char)| a == b || a == '?';
            let text = plain(&lines, u8::try_from(width).unwrap());
            prop_assert_eq!(printed[0].chars().count(), text.chars().count());
            prop_assert!(printed[0].chars().zip(text.chars()).all(same), "{}\n{}", printed[0], text);
        }
    }
}

fn assert_receipt(receipt: &Receipt, copy: Copy, columns: u8, expected: &str) {
    let text = show(receipt, copy, columns);
    assert_eq!(text, expected[1..], "\n{text}");
    // And the same from paper.
    let lines = lay_out(receipt, &shop(), copy, columns);
    let (printed, errors) = print(&encode(&lines, CodePage::Cp858), usize::from(columns));
    assert_eq!(printed, [text]);
    assert_eq!(errors, 0);
}

fn show(receipt: &Receipt, copy: Copy, columns: u8) -> String {
    text(receipt, &shop(), copy, columns)
}

/// What a printer that shares no code with the agent reads: the receipts, and what it did not understand.
fn print(bytes: &[u8], columns: usize) -> (Vec<String>, usize) {
    let mut paper = Paper::new(columns);
    paper.feed(bytes);
    (paper.take_cut().into_iter().map(|receipt| receipt.text).collect(), paper.errors())
}

fn encode(lines: &[Line], code_page: CodePage) -> Vec<u8> {
    let sheet = escpos::Sheet { lines, ..escpos::Sheet::default() };
    escpos::encode(&sheet, &escpos::Dialect { code_page, ..escpos::Dialect::default() })
}

fn shop() -> Vec<String> {
    vec!["CORNER SHOP".to_owned(), "1 Market Street".to_owned()]
}

fn eur(text: &str) -> Amount {
    Amount::parse(text, Currency::from_code("EUR").unwrap()).unwrap()
}

fn approved() -> Receipt {
    let some = |text: &str| Some(text.to_owned());
    Receipt {
        kind: pos_agent::sale::Kind::Sale,
        terminal_id: "12345678".to_owned(),
        local_time: "2026-11-20 12:34:56".to_owned(),
        number: 17,
        reference: "T-1001".to_owned(),
        amount: eur("12.34"),
        tip: None,
        outcome: ReceiptOutcome::Approved,
        card: Some(CardFacts {
            entry: EntryMode::Icc,
            pan: MaskedPan::new("476173******0119"),
            pan_sequence_number: Some(1),
            aid: some("A0000000031010"),
            label: some("VISA CREDIT"),
            cvm: Some(Cvm::OfflinePin),
            cryptogram: Some(Cryptogram {
                kind: CryptogramKind::Tc,
                value: [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77],
            }),
            tvr: some("0000008000"),
            tsi: some("E800"),
        }),
        host: HostFacts {
            id: some("8ac7a4a1940b8dd301940fbf4a3b5a5e"),
            brand: some("VISA"),
            acquirer_code: some("123456"),
            issuer_code: some("00"),
            clearing_identifier: some("20261120123456"),
            merchant_id: some("987654321"),
            status_text: some("Thank you for your visit at the corner shop.\r\n\r\nOpen 9-17\n"),
            ..HostFacts::default()
        },
    }
}

/// A receipt of which every text is from outside.
fn receipt_of(texts: &[String], outcome: i32, minor: u64) -> Receipt {
    let some = |n: usize| Some(texts[n].clone());
    let why = texts[0].clone();
    let amount = Amount::from_minor(minor, Currency::from_code("EUR").unwrap()).unwrap();
    Receipt {
        kind: pos_agent::sale::Kind::Sale,
        terminal_id: texts[1].clone(),
        local_time: texts[2].clone(),
        number: u64::MAX,
        reference: texts[3].clone(),
        amount,
        tip: None,
        outcome: match outcome {
            0 => ReceiptOutcome::Approved,
            1 => ReceiptOutcome::PartiallyApproved(amount),
            2 => ReceiptOutcome::Declined(why),
            3 => ReceiptOutcome::Reversed(why),
            4 => ReceiptOutcome::Unconfirmed(why),
            _ => ReceiptOutcome::Cancelled(why),
        },
        card: Some(CardFacts {
            entry: EntryMode::NfcMagstripe,
            pan: None,
            pan_sequence_number: None,
            aid: some(4),
            label: some(5),
            cvm: Some(Cvm::Signature),
            cryptogram: None,
            tvr: some(6),
            tsi: some(7),
        }),
        host: HostFacts {
            id: some(8),
            brand: some(9),
            last4: some(10),
            acquirer_code: some(11),
            merchant_id: some(12),
            status_text: some(13),
            ..HostFacts::default()
        },
    }
}
