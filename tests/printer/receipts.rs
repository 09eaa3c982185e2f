//! Receipts as a person reads them. The expected texts are typed, not produced by the tested code. They are never
//! edited to make a test pass. Centred text has the smaller half of the free space on its left.

use pos_agent::config::CodePage;
use pos_core::transaction::{Cause, HostFacts, Original, Reason, Receipt, ReceiptOutcome};
use pos_printer::{Letterhead, PrintedLine, compose, escpos, layout, plain, text};
use pos_sim::printer::Printer;
use pos_sim::printer::paper::Paper;
use pos_terms::card::{CardFacts, Cryptogram, CryptogramKind, Cvm, EntryMode, MaskedPan};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Kind, PaymentId, ReceiptCopy, Reference, SaleNumber};
use pos_test_kit::picture::{Picture, Same, is_in_the_manual};
use pos_words::{Language, Message, Words};
use proptest::prelude::*;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

#[test]
fn approved_chip_and_pin() {
    let text = "
          CORNER SHOP
        1 Market Street
--------------------------------
Terminal                12345678
Merchant id            987654321
Date        20 Nov 2026 12:34:56
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
Auth code                 654321
--------------------------------
Thank you for your visit at the
corner shop.

Open 9-17
--------------------------------
     Returns within 14 days
--------------------------------
    PLEASE KEEP THIS RECEIPT
         CUSTOMER COPY
";
    assert_receipt(&approved(), Language::English, ReceiptCopy::Customer, 32, text);
}

#[test]
fn approved_chip_and_pin_on_wide_paper() {
    let text = "
               CORNER SHOP
             1 Market Street
------------------------------------------
Terminal                          12345678
Merchant id                      987654321
Date                  20 Nov 2026 12:34:56
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
Auth code                           654321
TC                        0011223344556677
TVR                             0000008000
TSI                                   E800
IAD                         06010A03A0B800
------------------------------------------
Result code                    000.000.000
Acquirer code                        A0012
Clearing id                 20261120123456
Payment id
          8ac7a4a1940b8dd301940fbf4a3b5a5e
------------------------------------------
Thank you for your visit at the corner
shop.

Open 9-17
------------------------------------------
          Returns within 14 days
------------------------------------------
              MERCHANT COPY
";
    assert_receipt(&approved(), Language::English, ReceiptCopy::Merchant, 42, text);
}

/// The manual shows both copies of one sale, as the simulated printer draws them.
#[tokio::test]
async fn both_copies_look_as_in_the_manual() {
    let printer = Printer::start("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let mut line = TcpStream::connect(printer.place().trim_start_matches("tcp://")).await.unwrap();
    for (number, (copy, name)) in
        [(ReceiptCopy::Merchant, "receipt-merchant"), (ReceiptCopy::Customer, "receipt-customer")]
            .into_iter()
            .enumerate()
    {
        let lines = compose(&approved(), &shop(Language::English), copy).lines(42);
        line.write_all(&encode(&lines, CodePage::Cp858)).await.unwrap();
        printer.watch().wait_for(|cut| cut.len() > number).await.unwrap();
        let picture = Picture::read(&printer.picture(number).unwrap()).halved();
        is_in_the_manual(name, &picture, Same::Pixels, "cargo test --test printer look_as_in_the_manual");
    }
}

#[test]
fn approved_in_german_with_a_tip() {
    let text = "
          CORNER SHOP
        1 Market Street
--------------------------------
Terminal                12345678
VU-Nr.                 987654321
Datum        20.11.2026 12:34:56
Beleg-Nr.                     17
Referenz                  T-1001
--------------------------------
         KARTENZAHLUNG
Betrag                 11,00 EUR
Trinkgeld               1,34 EUR
             GESAMT
           12,34 EUR
           GENEHMIGT
--------------------------------
Kartenart                   VISA
Anwendung            VISA CREDIT
AID               A0000000031010
Karte        **** **** **** 0119
Erfassung             KONTAKTLOS
  AUF DEM KUNDENGERÄT GEPRÜFT
Genehm.-Nr.               654321
--------------------------------
     Returns within 14 days
--------------------------------
    BELEG BITTE AUFBEWAHREN
          KUNDENBELEG
";
    let mut receipt = Receipt { tip: Some(eur("1.34")), ..approved() };
    receipt.host.status_text = None;
    let card = receipt.card.as_mut().unwrap();
    (card.entry, card.cvm) = (EntryMode::NfcIcc, Some(Cvm::ConsumerDevice));
    assert_receipt(&receipt, Language::German, ReceiptCopy::Customer, 32, text);
}

#[test]
fn declined() {
    let text = "
          CORNER SHOP
        1 Market Street
--------------------------------
Terminal                12345678
Date        20 Nov 2026 12:34:56
Sale number                   17
Reference                 T-1001
--------------------------------
              SALE
           12.34 EUR
            DECLINED
 DECLINED BY THE BANK: invalid
           card data
          NOT CHARGED
--------------------------------
Brand                       VISA
Application          VISA CREDIT
AID               A0000000031010
Card         **** **** **** 0119
Entry                CONTACTLESS
          PIN ENTERED
AAC             0011223344556677
TVR                   0000008000
TSI                         E800
IAD               06010A03A0B800
--------------------------------
Reason
bank-declined: invalid card data
Result code          100.100.101
--------------------------------
     Returns within 14 days
--------------------------------
         MERCHANT COPY
";
    let mut receipt = approved();
    receipt.outcome = ReceiptOutcome::Declined(Reason::BankDeclined.with("invalid card data"));
    let some = |text: &str| Some(text.to_owned());
    receipt.host = HostFacts { brand: some("VISA"), code: some("100.100.101"), ..HostFacts::default() };
    let card = receipt.card.as_mut().unwrap();
    card.entry = EntryMode::NfcIcc;
    card.cvm = Some(Cvm::OnlinePin);
    card.cryptogram.as_mut().unwrap().kind = CryptogramKind::Aac;
    assert_receipt(&receipt, Language::English, ReceiptCopy::Merchant, 32, text);
}

/// Returns the lines of a customer's copy between the amount and the next rule.
fn what_happened(language: Language, kind: Kind, outcome: ReceiptOutcome) -> Vec<String> {
    let receipt = Receipt { kind, outcome, card: None, host: HostFacts::default(), ..approved() };
    let text = show(&receipt, language, ReceiptCopy::Customer, 32);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let amount = lines.iter().position(|line| line.ends_with(" EUR")).unwrap();
    lines[amount + 1..].iter().take_while(|line| !line.starts_with("---")).map(|line| (*line).to_owned()).collect()
}

#[test]
fn what_became_of_it_as_the_customer_must_know_it() {
    let (en, de) = (Language::English, Language::German);
    let reset = Reason::GatewayUnreachable.with("connection reset by peer (os error 104)");
    let of = |reason: Reason| Cause::from(reason);
    let table: Vec<(Language, Kind, ReceiptOutcome, &[&str])> = vec![
        (en, Kind::Sale, ReceiptOutcome::NotSent(reset.clone()), &["NOT CARRIED OUT", "NO CONNECTION", "NOT CHARGED"]),
        (
            de,
            Kind::Sale,
            ReceiptOutcome::NotSent(reset.clone()),
            &["NICHT AUSGEFÜHRT", "KEINE VERBINDUNG", "NICHT BELASTET"],
        ),
        (
            en,
            Kind::Sale,
            ReceiptOutcome::Reversed(of(Reason::CardRefused)),
            &["REVERSED", "REFUSED BY THE CARD", "NOT CHARGED: REVERSED"],
        ),
        (
            de,
            Kind::Sale,
            ReceiptOutcome::Reversed(of(Reason::CardLost)),
            &["ZURÜCKGENOMMEN", "KARTE ZU FRÜH ENTNOMMEN", "NICHT BELASTET: ZURÜCKGENOMMEN"],
        ),
        (
            en,
            Kind::Sale,
            ReceiptOutcome::Unconfirmed(Reason::GatewayNoAnswer.with("no answer within 40 s")),
            &["NOT CONFIRMED, BEING REVERSED", "NO ANSWER FROM THE BANK", "TWO BOOKINGS MAY SHOW UNTIL THEN"],
        ),
        (
            de,
            Kind::PreAuthorisation,
            ReceiptOutcome::Unconfirmed(of(Reason::GatewayNoAnswer)),
            &[
                "UNBESTÄTIGT, WIRD ZURÜCKGENOMMEN",
                "KEINE ANTWORT DER BANK",
                "ZWEI RESERVIERUNGEN SIND",
                "MÖGLICH, BIS EINE ZURÜCKGENOMMEN",
                "IST",
            ],
        ),
        (
            en,
            Kind::Refund,
            ReceiptOutcome::Unconfirmed(of(Reason::GatewayNoAnswer)),
            &["NOT CONFIRMED, BEING COMPLETED", "NO ANSWER FROM THE BANK"],
        ),
        (en, Kind::Refund, ReceiptOutcome::NotSent(reset), &["NOT CARRIED OUT", "NO CONNECTION", "NOTHING REFUNDED"]),
        (
            en,
            Kind::Sale,
            ReceiptOutcome::Cancelled(of(Reason::TillCancelled)),
            &["CANCELLED", "CANCELLED BY THE SHOP", "NOT CHARGED"],
        ),
        // A sentence from an old journal may contain anything, so only the shop sees it.
        (
            en,
            Kind::Sale,
            ReceiptOutcome::Declined(Cause::from("HTTP 500 (os error 104)")),
            &["DECLINED", "PLEASE ASK AT THE COUNTER", "NOT CHARGED"],
        ),
    ];
    // The exception is the bank's text, which the journal stores separately.
    let mut recorded = approved();
    recorded.outcome = ReceiptOutcome::Declined(Cause::from("transaction declined (insufficient funds)"));
    recorded.host.description = Some("transaction declined (insufficient funds)".to_owned());
    let text = show(&recorded, Language::English, ReceiptCopy::Customer, 42);
    assert!(text.contains("DECLINED BY THE BANK: transaction declined\n"), "{text}");
    for (language, kind, outcome, lines) in table {
        assert_eq!(what_happened(language, kind, outcome.clone()), lines, "{outcome:?}");
    }
}

/// A person, and a program that reads the receipt, look for the line with the outcome. On narrow paper the words of an
/// unconfirmed outcome take several lines.
#[test]
fn no_line_of_an_unconfirmed_receipt_reads_as_a_different_outcome() {
    for &language in Language::ALL {
        let words = Words::new(language);
        let label = |message| words.label(message).to_owned();
        let mut outcomes: Vec<String> = Kind::ALL.iter().map(|kind| words.approved(*kind).to_owned()).collect();
        let others = [Message::Declined, Message::Cancelled, Message::NotCarriedOut, Message::Reversed];
        outcomes.extend(others.map(label));
        for kind in Kind::ALL {
            for reason in [Reason::GatewayNoAnswer, Reason::GatewayUnreachable, Reason::RestartedBeforeAnswer] {
                let receipt = Receipt { kind, outcome: ReceiptOutcome::Unconfirmed(reason.into()), ..approved() };
                let widths = 24..=64;
                let slips = widths
                    .flat_map(|columns| [ReceiptCopy::Customer, ReceiptCopy::Merchant].map(|copy| (copy, columns)));
                for (copy, columns) in slips {
                    let text = show(&receipt, language, copy, columns);
                    let line = text.lines().find(|line| outcomes.iter().any(|outcome| line.trim() == outcome));
                    assert_eq!(line, None, "{} {kind:?}, {columns} columns\n{text}", language.code());
                }
            }
        }
    }
}

#[test]
fn partially_approved_says_both_amounts() {
    let receipt = Receipt { outcome: ReceiptOutcome::PartiallyApproved(eur("10.00")), ..approved() };
    let text = show(&receipt, Language::English, ReceiptCopy::Customer, 42);
    let expected = "                   SALE
                10.00 EUR
            PARTIALLY APPROVED
Requested                        12.34 EUR
Approved                         10.00 EUR
------------------------------------------
";
    assert!(text.contains(expected), "{text}");
}

/// Checks that the tip of a partial approval is the part above the sale's own amount, and that the receipt prints both.
#[test]
fn of_a_part_the_tip_is_as_much_as_was_approved_of_it() {
    let outcome = ReceiptOutcome::PartiallyApproved(eur("11.50"));
    let receipt = Receipt { outcome, tip: Some(eur("0.50")), ..approved() };
    let text = show(&receipt, Language::English, ReceiptCopy::Customer, 42);
    let expected = "                   SALE
Amount                           11.00 EUR
Tip                               0.50 EUR
                  TOTAL
                11.50 EUR
";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn swiped_with_what_is_signed_on_the_merchants_copy() {
    let receipt = Receipt { card: Some(signed_card()), host: HostFacts::default(), ..approved() };
    let end = "------------------------------------------
Card                   **** **** **** 0119
Entry                 SWIPED (CHIP FAILED)
                SIGNATURE
------------------------------------------
          Returns within 14 days
------------------------------------------
I agree to pay the above amount according
to the terms of my card.
Signature:


X_________________________________________
              MERCHANT COPY
";
    let merchant = show(&receipt, Language::English, ReceiptCopy::Merchant, 42);
    assert!(merchant.ends_with(end), "{merchant}");
    let german = "--------------------------------
Ich bin mit der Zahlung des oben
genannten Betrags gemäß den
Bedingungen meiner Karte
einverstanden.
Unterschrift:


X_______________________________
          HÄNDLERBELEG
";
    let merchant = show(&receipt, Language::German, ReceiptCopy::Merchant, 32);
    assert!(merchant.ends_with(german), "{merchant}");
    let reserved = Receipt { kind: Kind::PreAuthorisation, ..receipt.clone() };
    let merchant = show(&reserved, Language::English, ReceiptCopy::Merchant, 42);
    assert!(merchant.contains("I agree that the above amount is reserved"), "{merchant}");
    assert!(!show(&receipt, Language::English, ReceiptCopy::Customer, 42).contains("Signature:"));
    let declined = Receipt { outcome: ReceiptOutcome::Declined(Cause::from(Reason::BankDeclined)), ..receipt };
    assert!(!show(&declined, Language::English, ReceiptCopy::Merchant, 42).contains("Signature:"));
}

#[test]
fn a_refund_and_a_void_name_the_card_and_the_original() {
    for (kind, title) in [(Kind::Refund, "REFUND"), (Kind::Reversal, "VOID")] {
        let original = Some(Original::of(approved()));
        let host = HostFacts { issuer_code: Some("777777".to_owned()), ..HostFacts::default() };
        let receipt = Receipt {
            kind,
            number: SaleNumber::new(18),
            reference: Reference::parse("R-1").unwrap(),
            card: None,
            host,
            original,
            ..approved()
        };
        let text = show(&receipt, Language::English, ReceiptCopy::Customer, 32);
        let expected = "           12.34 EUR
            APPROVED
--------------------------------
Brand                       VISA
Card         **** **** **** 0119
Auth code                 777777
--------------------------------
      ORIGINAL TRANSACTION
Sale number                   17
Reference                 T-1001
Date        20 Nov 2026 12:34:56
--------------------------------
";
        assert!(text.contains(expected) && text.contains(&format!(" {title}\n")), "{text}");
    }
    // A refund of a capture names the pre-authorisation's card.
    let capture =
        Receipt { card: None, host: HostFacts::default(), original: Some(Original::of(approved())), ..approved() };
    let original = Original::of(capture);
    assert_eq!((original.brand.as_deref(), original.last4.as_deref()), (Some("VISA"), Some("0119")));
}

/// Checks each line of the table of receipt contents (tills: 5.1): the required text, the copies that contain it, and
/// the forbidden text.
#[test]
fn what_receipts_must_hold_and_must_not() {
    const BOTH: &[ReceiptCopy] = &[ReceiptCopy::Merchant, ReceiptCopy::Customer];
    const MERCHANTS: &[ReceiptCopy] = &[ReceiptCopy::Merchant];
    const CUSTOMERS: &[ReceiptCopy] = &[ReceiptCopy::Customer];
    let with = |change: &dyn Fn(&mut Receipt)| {
        let mut receipt = approved();
        change(&mut receipt);
        receipt
    };
    let plain = with(&|_| {});
    let tip = with(&|receipt| receipt.tip = Some(eur("1.34")));
    let part = with(&|receipt| receipt.outcome = ReceiptOutcome::PartiallyApproved(eur("10.00")));
    let unnamed = with(&|receipt| receipt.host.brand = None);
    let signed = with(&|receipt| receipt.card = Some(signed_card()));
    let device = with(&|receipt| receipt.card.as_mut().unwrap().cvm = Some(Cvm::ConsumerDevice));
    let no_cvm = with(&|receipt| receipt.card.as_mut().unwrap().cvm = Some(Cvm::None));
    let refund = with(&|receipt| receipt.kind = Kind::Credit);
    let pre_auth = with(&|receipt| receipt.kind = Kind::PreAuthorisation);
    let ended = |outcome: fn(Cause) -> ReceiptOutcome, reason: Reason| {
        with(&|receipt| receipt.outcome = outcome(reason.with("(os error 104)")))
    };
    let declined = ended(ReceiptOutcome::Declined, Reason::CardDeclined);
    let cancelled = ended(ReceiptOutcome::Cancelled, Reason::TillCancelled);
    let reversed = ended(ReceiptOutcome::Reversed, Reason::GatewayNoAnswer);
    let not_sent = ended(ReceiptOutcome::NotSent, Reason::GatewayUnreachable);
    // Line of the table, receipt, copies, texts.
    let there: &[(&str, &Receipt, &[ReceiptCopy], &[&str])] = &[
        (
            "merchant name, location, merchant id, terminal id",
            &plain,
            BOTH,
            &["CORNER SHOP", "1 Market Street", "987654321", "12345678"],
        ),
        (
            "date, time, type, receipt number",
            &plain,
            BOTH,
            &["20 Nov 2026 12:34:56", "SALE", "Sale number", "17", "T-1001"],
        ),
        ("type", &refund, BOTH, &["CREDIT"]),
        ("type", &pre_auth, BOTH, &["PRE-AUTHORISATION"]),
        ("amount with currency", &plain, BOTH, &["12.34 EUR"]),
        ("tip, total", &tip, BOTH, &["11.00 EUR", "1.34 EUR", "TOTAL", "12.34 EUR"]),
        ("original amount for partial approval", &part, BOTH, &["10.00 EUR", "Requested", "12.34 EUR"]),
        ("card brand", &plain, BOTH, &["Brand", "VISA"]),
        ("application preferred name, else label", &unnamed, BOTH, &["Application", "VISA CREDIT"]),
        ("AID", &plain, BOTH, &["AID", "A0000000031010"]),
        ("PAN: last four only", &plain, BOTH, &["**** **** **** 0119"]),
        ("entry mode", &plain, BOTH, &["Entry", "CHIP"]),
        ("entry mode: fallback", &signed, BOTH, &["SWIPED (CHIP FAILED)"]),
        ("CVM: PIN", &plain, BOTH, &["PIN VERIFIED"]),
        ("CVM: device", &device, BOTH, &["VERIFIED ON CUSTOMER'S DEVICE"]),
        ("CVM: signature line", &signed, MERCHANTS, &["SIGNATURE", "I agree to pay the above amount", "X_____"]),
        ("CVM: none", &no_cvm, BOTH, &["NO CARDHOLDER VERIFICATION"]),
        ("approval code", &plain, BOTH, &["Auth code", "654321"]),
        // The chip's response code (8A) is not kept. The gateway's result code gives the same information.
        ("response code", &plain, MERCHANTS, &["Result code", "000.000.000"]),
        ("cryptogram with its kind", &plain, MERCHANTS, &["TC", "0011223344556677"]),
        (
            "TVR, TSI, IAD, also when declined",
            &declined,
            MERCHANTS,
            &["TVR", "0000008000", "TSI", "E800", "IAD", "06010A03A0B800"],
        ),
        ("outcome word with reason", &plain, BOTH, &["APPROVED"]),
        ("outcome word with reason", &declined, BOTH, &["DECLINED", "DECLINED BY THE CARD", "NOT CHARGED"]),
        ("outcome word with reason", &cancelled, BOTH, &["CANCELLED", "BY THE SHOP", "NOT CHARGED"]),
        (
            "outcome word with reason",
            &reversed,
            BOTH,
            &["REVERSED", "NO ANSWER FROM THE BANK", "NOT CHARGED: REVERSED"],
        ),
        ("outcome word with reason", &not_sent, BOTH, &["NOT CARRIED OUT", "NO CONNECTION", "NOT CHARGED"]),
        ("copy name", &plain, MERCHANTS, &["MERCHANT COPY"]),
        ("copy name", &plain, CUSTOMERS, &["CUSTOMER COPY"]),
        (
            "legal: retain this copy, the shop's own lines",
            &plain,
            CUSTOMERS,
            &["PLEASE KEEP THIS RECEIPT", "Returns within 14 days"],
        ),
        (
            "what the technician looks for",
            &not_sent,
            MERCHANTS,
            &["gateway-unreachable:", "(os error 104)", "Payment id"],
        ),
    ];
    for (line, receipt, copies, texts) in there {
        for copy in *copies {
            let text = show(receipt, Language::English, *copy, 42);
            for wanted in *texts {
                assert!(text.contains(wanted), "{line}: no {wanted} on the {copy:?}'s copy\n{text}");
            }
        }
    }
    for receipt in [&plain, &tip, &part, &signed, &device, &declined, &cancelled, &reversed, &not_sent, &refund] {
        for copy in BOTH {
            let text = show(receipt, Language::English, *copy, 42);
            // No receipt shows more of the card number than its last four digits, and none shows the expiry date.
            assert!(!text.contains("476173") && !text.contains("2712") && !text.contains("12/27"), "{text}");
        }
        // The customer's receipt contains no technical data.
        let customers = show(receipt, Language::English, ReceiptCopy::Customer, 42);
        for technical in [
            "os error",
            "gateway",
            "TVR",
            "TSI",
            "IAD",
            "TC ",
            "AAC",
            "ARQC",
            "Payment id",
            "8ac7a4a1",
            "Clearing",
            "Acquirer",
            "code 0",
        ] {
            assert!(!customers.contains(technical), "{technical}\n{customers}");
        }
        assert!(!customers.contains("000.000.000") && !customers.contains("X____"), "{customers}");
    }
    let both = compose(&plain, &shop(Language::English), ReceiptCopy::Customer).as_duplicate().lines(42);
    assert_eq!((both[0].text(), both.last().unwrap().text()), ("DUPLICATE", "DUPLICATE"));
}

#[test]
fn the_shops_name_is_as_large_as_the_paper_allows() {
    let name = |name: &str, columns| {
        let letterhead = Letterhead { merchant: vec![name.to_owned(), "street".to_owned()], ..Letterhead::default() };
        compose(&approved(), &letterhead, ReceiptCopy::Customer).lines(columns)[..2].to_vec()
    };
    let short = name("CORNER SHOP", 32);
    assert_eq!((short[0].style(), short[0].width(), short[1].style()), (layout::Style::Big, 22, layout::Style::Plain));
    let long = name("THE CORNER SHOP AT THE MARKET", 32);
    assert_eq!((long[0].style(), long[0].text()), (layout::Style::Tall, "THE CORNER SHOP AT THE MARKET"));
    assert_eq!(name("THE CORNER SHOP AT THE MARKET", 255)[0].style(), layout::Style::Big);
}

#[test]
fn control_bytes_of_the_gateway_reach_neither_paper_nor_screen() {
    let mut receipt = approved();
    receipt.host.status_text = Some("\u{1B}@\u{1D}V\0PAID \u{202E}00.21\u{9B}2J\r\n\u{7}x".to_owned());
    receipt.reference = Reference::as_kept("T\u{1B}p\0".to_owned());
    assert!(show(&receipt, Language::English, ReceiptCopy::Customer, 42).contains("\n@VPAID 00.212J\nx\n"));
    let lines = compose(&receipt, &Letterhead::default(), ReceiptCopy::Customer).lines(42);
    let (text, errors) = print(&encode(&lines, CodePage::Cp437), 42);
    assert_eq!(text, [plain(&lines, 42)]);
    assert_eq!(errors, 0);
}

#[test]
fn what_the_code_page_cannot_print_is_replaced_visibly() {
    let mut receipt = approved();
    receipt.host.status_text = Some("Łódź €5 Ñandú Ωmega".to_owned());
    let lines = compose(&receipt, &Letterhead::default(), ReceiptCopy::Customer).lines(32);
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

/// Generates any text, with many characters that could break a receipt.
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
        outcome in 0..7,
        columns in prop::sample::select(vec![0_u8, 32, 42, 48, 255]),
        merchant in any::<bool>(),
        german in any::<bool>(),
        minor in 1..=999_999_999_999_u64,
    ) {
        let receipt = receipt_of(&texts, outcome, minor);
        let copy = if merchant { ReceiptCopy::Merchant } else { ReceiptCopy::Customer };
        let merchant = texts[14..].to_vec();
        let words = Words::new(if german { Language::German } else { Language::English });
        let letterhead = Letterhead { footer: merchant.clone(), merchant, words };
        let lines = compose(&receipt, &letterhead, copy).lines(columns);
        let width = usize::from(columns.max(pos_printer::layout::MIN_COLUMNS));
        for line in &lines {
            prop_assert!(line.width() <= width, "{line:?}");
        }
        let text = plain(&lines, columns);
        prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        prop_assert!(text.lines().all(|line| line.chars().count() <= width));
        // The simulated printer reads the same text, except for characters that the code page replaced.
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

fn assert_receipt(receipt: &Receipt, language: Language, copy: ReceiptCopy, columns: u8, expected: &str) {
    let text = show(receipt, language, copy, columns);
    assert_eq!(text, expected[1..], "\n{text}");
    // The text on paper is the same.
    let lines = compose(receipt, &shop(language), copy).lines(columns);
    let (printed, errors) = print(&encode(&lines, CodePage::Cp858), usize::from(columns));
    assert_eq!(printed, [text]);
    assert_eq!(errors, 0);
}

fn show(receipt: &Receipt, language: Language, copy: ReceiptCopy, columns: u8) -> String {
    text(receipt, &shop(language), copy, columns)
}

/// Reads the bytes as a printer that shares no code with the agent. Returns the receipts and the number of bytes that
/// it did not understand.
fn print(bytes: &[u8], columns: usize) -> (Vec<String>, usize) {
    let mut paper = Paper::new(columns);
    paper.feed(bytes);
    (paper.take_cut().into_iter().map(|receipt| receipt.text).collect(), paper.errors())
}

fn encode(lines: &[PrintedLine], code_page: CodePage) -> Vec<u8> {
    let sheet = escpos::Sheet { lines, ..escpos::Sheet::default() };
    escpos::encode(&sheet, &escpos::Dialect { code_page, ..escpos::Dialect::default() })
}

fn shop(language: Language) -> Letterhead {
    Letterhead {
        merchant: vec!["CORNER SHOP".to_owned(), "1 Market Street".to_owned()],
        footer: vec!["Returns within 14 days".to_owned()],
        words: Words::new(language),
    }
}

/// Returns a card whose chip failed and whose holder signs.
fn signed_card() -> CardFacts {
    CardFacts {
        entry: EntryMode::MagstripeAsFallback,
        pan: MaskedPan::new("476173******0119"),
        pan_sequence_number: None,
        aid: None,
        label: None,
        cvm: Some(Cvm::Signature),
        cryptogram: None,
        tvr: None,
        tsi: None,
        iad: None,
    }
}

fn eur(text: &str) -> Amount {
    Amount::parse(text, Currency::from_code("EUR").unwrap()).unwrap()
}

#[test]
fn who_stood_at_the_counter_is_on_the_merchants_copy_alone() {
    let some = |text: &str| Some(text.to_owned());
    let receipt = Receipt { operator: some("Anna"), supervisor: some("Ben"), ..approved() };
    let lines = |copy| plain(&compose(&receipt, &Letterhead::default(), copy).lines(32), 32);
    let merchant = lines(ReceiptCopy::Merchant);
    assert!(merchant.contains("Operator                    Anna\nSupervisor                   Ben\n"), "{merchant}");
    let customer = lines(ReceiptCopy::Customer);
    assert!(!customer.contains("Anna") && !customer.contains("Ben"), "{customer}");
}

fn approved() -> Receipt {
    let some = |text: &str| Some(text.to_owned());
    Receipt {
        training: false,
        kind: Kind::Sale,
        terminal_id: "12345678".to_owned(),
        local_time: "2026-11-20 12:34:56".to_owned(),
        number: SaleNumber::new(17),
        reference: Reference::parse("T-1001").unwrap(),
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
            iad: some("06010A03A0B800"),
        }),
        host: HostFacts {
            id: Some(PaymentId::new("8ac7a4a1940b8dd301940fbf4a3b5a5e")),
            brand: some("VISA"),
            code: some("000.000.000"),
            acquirer_code: some("A0012"),
            issuer_code: some("654321"),
            clearing_identifier: some("20261120123456"),
            merchant_id: some("987654321"),
            status_text: some("Thank you for your visit at the corner shop.\r\n\r\nOpen 9-17\n"),
            ..HostFacts::default()
        },
        operator: None,
        supervisor: None,
        original: None,
    }
}

/// Returns a receipt in which every text comes from outside.
fn receipt_of(texts: &[String], outcome: i32, minor: u64) -> Receipt {
    let some = |n: usize| Some(texts[n].clone());
    let why = Reason::BankDeclined.with(&texts[0]);
    let amount = Amount::from_minor(minor, Currency::from_code("EUR").unwrap()).unwrap();
    Receipt {
        training: false,
        kind: Kind::Sale,
        terminal_id: texts[1].clone(),
        local_time: texts[2].clone(),
        number: SaleNumber::new(u64::MAX),
        reference: Reference::as_kept(texts[3].clone()),
        amount,
        tip: None,
        outcome: match outcome {
            0 => ReceiptOutcome::Approved,
            1 => ReceiptOutcome::PartiallyApproved(amount),
            2 => ReceiptOutcome::Declined(why),
            3 => ReceiptOutcome::Reversed(why),
            4 => ReceiptOutcome::Unconfirmed(why),
            5 => ReceiptOutcome::NotSent(why),
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
            iad: some(9),
        }),
        host: HostFacts {
            id: some(8).map(PaymentId::new),
            brand: some(9),
            last4: some(10),
            acquirer_code: some(11),
            merchant_id: some(12),
            status_text: some(13),
            ..HostFacts::default()
        },
        operator: some(3),
        supervisor: some(4),
        original: Some(Original {
            number: SaleNumber::new(1),
            reference: some(5).map(Reference::as_kept),
            local_time: texts[6].clone(),
            brand: some(7),
            last4: some(8),
        }),
    }
}
