//! Tests for every language: the same messages, lengths that fit paper and display, and the table of reasons as a
//! person reads it (`tests/words/`).

use std::fmt::Write;

use super::*;
use pos_core::counter::{Approved, OpenKind};
use pos_core::transaction::Outcome;
use pos_terms::card::{Cvm, EntryMode};
use pos_terms::transaction::{Earlier, Kind, Operation, OperatorName, PaymentId, Reference};

/// The number of characters in a row of the reader's display (readers: 2.2, D201).
const DISPLAY_ROW: usize = 21;
/// The number of rows of the display.
const DISPLAY_ROWS: usize = 4;

fn languages() -> impl Iterator<Item = (Language, Words)> {
    Language::ALL.iter().map(|language| (*language, Words::new(*language)))
}

/// All kinds, in the order of the tables that were read through, which list similar kinds together.
const KINDS: [Kind; 12] = [
    Kind::Sale,
    Kind::ByRegistration,
    Kind::PreAuthorisation,
    Kind::PreAuthorisationByRegistration,
    Kind::Increment,
    Kind::Reauthorisation,
    Kind::StoreCard,
    Kind::ForgetCard,
    Kind::Credit,
    Kind::Capture,
    Kind::Refund,
    Kind::Reversal,
];

fn eur(text: &str) -> Amount {
    Amount::parse(text, Currency::from_code("EUR").unwrap()).unwrap()
}

/// Wraps a text between words into lines of at most `columns` characters. Returns `None` if a word is longer.
fn wrapped(text: &str, columns: usize) -> Option<Vec<String>> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let width = |text: &str| text.chars().count();
        if width(word) > columns {
            return None;
        }
        let last = lines.last_mut().expect("there is one");
        if last.is_empty() {
            last.push_str(word);
        } else if width(last) + 1 + width(word) <= columns {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    Some(lines)
}

fn argument(piece: &Piece) -> Option<String> {
    if let Piece::Argument(name) = piece { Some(name.to_string()) } else { None }
}

/// Returns every name that a message file needs, in its order, with the arguments that its text may use.
fn needed() -> Vec<(String, Vec<&'static str>)> {
    let messages = Message::ALL.iter().map(|(message, arguments)| (message.key().to_owned(), arguments.to_vec()));
    let reasons = Reason::ALL
        .iter()
        .flat_map(|reason| Reader::ALL.map(|reader| (format!("{reason}.{}", reader.attribute()), vec!["detail"])));
    messages.chain(reasons).collect()
}

/// Returns the names in a language's message file, in its order, with the arguments that its texts use.
fn written(language: Language) -> Vec<(String, BTreeSet<String>)> {
    let messages = fluent::messages(language.file()).unwrap();
    let arguments = |pieces: Vec<Piece>| pieces.iter().filter_map(argument).collect();
    messages.into_iter().map(|(name, pieces)| (name, arguments(pieces))).collect()
}

#[test]
fn the_letters_of_a_language_are_those_of_its_texts() {
    assert_eq!(Language::codes(), "en, de, fr, it, es, nl or pl");
    for (language, letters) in
        [(Language::English, ""), (Language::German, "ÄÖÜßäöü"), (Language::Polish, "ÓóĄąĆćĘęŁłńŚśŹźŻż")]
    {
        assert_eq!(Words::new(language).letters().into_iter().collect::<String>(), letters);
    }
}

/// The program finds a message by its position, so the order matters.
#[test]
fn each_language_has_each_message_in_its_place_and_no_other() {
    let needed = needed();
    for (language, words) in languages() {
        let has = written(language);
        let packed = words.0.0.iter().zip(fluent::messages(language.file()).unwrap());
        for (packed, (name, pieces)) in packed {
            assert_eq!(*packed, pieces, "{}: {name}, as the build has packed it", language.code());
        }
        for ((place, (name, arguments)), (wanted, may)) in has.iter().enumerate().zip(&needed) {
            assert_eq!(name, wanted, "{}: the order", language.code());
            let unknown: Vec<_> = arguments.iter().filter(|one| !may.contains(&one.as_str())).collect();
            assert!(unknown.is_empty(), "{}: {name} uses {unknown:?}, which no code gives", language.code());
            let is_empty = words.0.say(place, &[]).trim().is_empty();
            assert!(!is_empty || !arguments.is_empty(), "{}: {name} is empty", language.code());
        }
        assert_eq!(has.len(), needed.len(), "{}: {:?} too many or too few", language.code(), has.last());
        assert_eq!(Language::from_code(language.code()), Some(language));
        for (at, (message, _)) in Message::ALL.iter().enumerate() {
            assert_eq!(message.place(), at, "{message:?}");
        }
        let reasons = Reason::ALL.iter().flat_map(|reason| Reader::ALL.map(|reader| place(*reason, reader)));
        assert!(reasons.eq(Message::COUNT..needed.len()), "each reason has its three places");
    }
    assert_eq!(Language::from_code("xx"), None);
}

#[test]
fn what_a_message_must_say_it_says_in_each_language() {
    for (language, words) in languages() {
        for ((name, has), (_, must)) in written(language).iter().zip(needed()) {
            let must: BTreeSet<String> = must.into_iter().map(str::to_owned).collect();
            // Each language uses its own parts of a date. Only the technician's text always shows the detail from
            // outside.
            let may_leave_out = ["date-and-time", "date-alone", "recorded.technician"].contains(&name.as_str())
                || name.ends_with(".cashier")
                || name.ends_with(".customer");
            assert!(may_leave_out || *has == must, "{}: {name} has {has:?}", language.code());
        }
        assert_eq!(words.label(Message::Months).split(' ').count(), 12);
    }
}

/// Returns the texts for customers, each with the number of columns in which it must fit without a cut word.
fn of_customers(words: &Words) -> Vec<String> {
    let mut texts: Vec<String> = Reason::ALL.iter().map(|reason| words.customer(&Cause::from(*reason))).collect();
    for kind in KINDS {
        texts.push(words.title(kind).to_owned());
        texts.push(words.nothing_happened(kind));
        texts.push(words.taken_back(kind));
        texts.push(words.until_taken_back(kind).to_owned());
    }
    texts.extend(
        [
            Message::Approved,
            Message::PartiallyApproved,
            Message::Declined,
            Message::Cancelled,
            Message::NotCarriedOut,
            Message::Reversed,
            Message::UnconfirmedTakenBack,
            Message::UnconfirmedFinished,
            Message::KeepReceipt,
            Message::CustomerCopy,
            Message::MerchantCopy,
            Message::Original,
            Message::Total,
        ]
        .map(|message| words.label(message).to_owned()),
    );
    texts
}

#[test]
fn what_customers_read_is_in_capitals_and_fits_paper_and_display() {
    for (language, words) in languages() {
        for text in of_customers(&words) {
            assert_eq!(text, text.to_uppercase(), "{}", language.code());
            assert!(!text.ends_with('.') && !text.contains('{') && !text.contains("OS ERROR"), "{text}");
            for columns in [32, 42] {
                assert!(wrapped(&text, columns).is_some(), "{text} does not fit {columns} columns");
            }
            let display = wrapped(&text, DISPLAY_ROW).unwrap_or_else(|| panic!("{text} does not fit the display"));
            assert!(display.len() <= DISPLAY_ROWS, "{display:?}");
        }
        // The mark of a duplicate is printed at double width.
        assert!(words.label(Message::Duplicate).chars().count() * 2 <= 24);
    }
}

#[test]
fn labels_leave_room_for_their_values_on_the_narrowest_paper() {
    let number = "1234567890".to_owned();
    for (language, words) in languages() {
        let date = words.date_and_time("2026-11-20 12:34:56");
        let entries = [
            EntryMode::Manual,
            EntryMode::Magstripe,
            EntryMode::MagstripeAsFallback,
            EntryMode::Icc,
            EntryMode::NfcIcc,
            EntryMode::NfcMagstripe,
        ];
        let mut pairs: Vec<(Message, String)> = vec![
            (Message::Terminal, number.clone()),
            (Message::MerchantId, number.clone()),
            (Message::Date, date),
            (Message::SaleNumber, number.clone()),
            (Message::Reference, number.clone()),
            (Message::Amount, words.amount(eur("99999.99"))),
            (Message::Tip, words.amount(eur("99999.99"))),
            (Message::Requested, words.amount(eur("99999.99"))),
            (Message::ApprovedPart, words.amount(eur("99999.99"))),
            (Message::Brand, "MASTERCARD".to_owned()),
            (Message::Application, "DEBIT MASTERCARD".to_owned()),
            (Message::Aid, "A0000000041010".to_owned()),
            (Message::Card, "**** **** **** 0119".to_owned()),
            (Message::AuthCode, "123456".to_owned()),
            (Message::AcquirerCode, "123456".to_owned()),
            (Message::ResultCode, "000.100.110".to_owned()),
            (Message::CloseNumber, number.clone()),
            (Message::BusinessDay, words.date("2026-11-20")),
            (Message::PeriodFrom, words.moment("2026-11-20T12:34:56+01:00")),
            (Message::PeriodFrom, words.label(Message::Beginning).to_owned()),
            (Message::PeriodTo, words.moment("2026-11-20T12:34:56+01:00")),
            (Message::ReceiptNumbers, format!("{number} - {number}")),
            (Message::Taken, words.sum("9999999.99", "EUR")),
            (Message::Given, words.sum("9999999.99", "EUR")),
            (Message::CountDeclined, "1000".to_owned()),
            (Message::CountTakenBack, "1000".to_owned()),
            (Message::CountCancelled, "1000".to_owned()),
            (Message::CountNotSent, "1000".to_owned()),
        ];
        pairs.extend(entries.map(|entry| (Message::Entry, words.entry(entry).to_owned())));
        for (label, value) in pairs {
            let width = words.label(label).chars().count() + 1 + value.chars().count();
            assert!(width <= 32, "{}: {} {value} is {width} wide", language.code(), words.label(label));
        }
        for cvm in [
            Cvm::OfflinePin,
            Cvm::OnlinePin,
            Cvm::Signature,
            Cvm::OfflinePinAndSignature,
            Cvm::ConsumerDevice,
            Cvm::None,
        ] {
            for charged in [true, false] {
                assert!(words.verification(cvm, charged).chars().count() <= 32, "{cvm:?}");
            }
        }
    }
}

#[test]
fn a_detail_is_shown_to_whom_it_is_meant_for() {
    let words = Words::new(Language::English);
    let technical = Reason::GatewayUnreachable.with("connection reset by peer (os error 104).");
    assert_eq!(words.customer(&technical), "NO CONNECTION");
    assert!(!words.cashier(&technical).contains("104"));
    assert!(
        words
            .technician(&technical)
            .starts_with("There is no connection to the gateway: connection reset by peer (os error 104); check")
    );

    // The customer sees the bank's own words, and amounts in the form of the language, but no other details.
    let bank = Reason::BankDeclined.with("insufficient funds");
    assert_eq!(words.customer(&bank), "DECLINED BY THE BANK: insufficient funds");
    let part = Reason::PartialNotTaken.with("10.00 EUR");
    assert_eq!(words.customer(&part), "ONLY A PART APPROVED: 10.00 EUR");
    let german = Words::new(Language::German);
    assert_eq!(german.customer(&part), "NUR EIN TEIL GENEHMIGT: 10,00 EUR");
    assert!(german.cashier(&part).starts_with("Die Bank hat nur einen Teil genehmigt: 10,00 EUR, den"));
    assert_eq!(words.customer(&Reason::PartialNotTaken.with("payment 8ac7a4a1")), "ONLY A PART APPROVED");

    // Text from outside is cleaned and shows no card number.
    let nasty = Reason::BankDeclined.with("no\u{1B}[2J \u{202E}4761739001010119\nx");
    assert_eq!(words.customer(&nasty), "DECLINED BY THE BANK: no[2J 476173******0119 x");
    let long = Reason::BankDeclined.with("x".repeat(9000));
    assert!(words.cashier(&long).chars().count() < 400);

    // The sentence of an earlier agent version.
    let recorded = Cause::from("connection reset by peer (os error 104)");
    assert_eq!(words.cashier(&recorded), "connection reset by peer (os error 104)");
    assert_eq!(words.technician(&recorded), "connection reset by peer (os error 104)");
    assert_eq!(words.customer(&recorded), "PLEASE ASK AT THE COUNTER");
    assert_eq!(words.cashier(&Cause::from(Reason::Recorded)), "No reason is recorded; ask the technician.");
}

#[test]
fn the_rule_for_unconfirmed_is_in_the_words() {
    let words = Words::new(Language::English);
    let why = Cause::from(Reason::GatewayNoAnswer);
    for kind in KINDS {
        let text = words.unconfirmed(kind, &why, None, None);
        let undone = kind.is_undone_when_unknown();
        assert_eq!(text.contains("being reversed: the shop may"), undone, "{text}");
        assert_eq!(text.contains("immediately under a new reference; the customer may see two"), undone, "{text}");
        assert_eq!(text.contains("being completed: do not repeat it; check again later"), !undone, "{text}");
        assert!(!text.contains("call the technician"), "{text}");
        let tried = words.unconfirmed(kind, &why, Some(&Cause::from(Reason::GatewayCannotBeAsked)), None);
        assert_eq!(
            tried,
            format!(
                "{text} Latest attempt: The bank cannot be asked for the outcome; check the network. The terminal asks again automatically."
            )
        );
        let person = words.unconfirmed(kind, &why, None, Some(&Cause::from(Reason::DoneTwice)));
        assert!(person.contains(
            "UNCONFIRMED, must be resolved: wait and call the technician. The bank carried out the transaction twice"
        ));
        assert!(!person.contains("new reference"), "{person}");
    }
}

#[test]
fn dates_are_written_as_people_write_them() {
    for (language, date) in [(Language::English, "20 Nov 2026 12:34:56"), (Language::German, "20.11.2026 12:34:56")] {
        let words = Words::new(language);
        assert_eq!(words.date_and_time("2026-11-20 12:34:56"), date);
        for none in ["", "yesterday", "2026-13-20 12:34:56", "2026-00-20 12:34:56", "2026-11 12:34", "20\u{1B}-11-20 1"]
        {
            assert_eq!(words.date_and_time(none), none);
        }
    }
}

/// Compares the texts of each reason, and of each state and outcome by kind, with the tables that a person has read. If
/// a table differs, the test writes it to the folder for temporary files, so that a person can compare and copy it.
#[test]
fn the_tables_are_as_they_were_read_through() {
    for (language, words) in languages() {
        let mut table = String::new();
        for reason in Reason::ALL {
            // A sample detail from outside that fits the reason.
            let fact = match reason {
                Reason::BankDeclined => "insufficient funds",
                Reason::PartialNotTaken | Reason::AnotherAmountApproved | Reason::ReversedInPart => "10.00 EUR",
                _ => "DETAIL",
            };
            let why = if *reason == Reason::Recorded { Cause::from(*reason) } else { reason.with(fact) };
            writeln!(table, "{reason}").unwrap();
            writeln!(table, "  cashier     {}", words.cashier(&why)).unwrap();
            writeln!(table, "  customer    {}", words.customer(&why)).unwrap();
            writeln!(table, "  technician  {}", words.technician(&why)).unwrap();
        }
        table.push_str(&states(&words));
        let name = format!("{}.txt", language.code());
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/words").join(&name);
        let known = std::fs::read_to_string(&path).unwrap_or_default();
        if known != table {
            let new = std::env::temp_dir().join(&name);
            std::fs::write(&new, &table).unwrap();
            let differ = known.lines().zip(table.lines()).find(|(known, table)| known != table);
            panic!("{} is not as it was read through ({differ:?}); compare it with {}", path.display(), new.display());
        }
    }
}

/// Returns the words of a close, in the order of its slip.
fn slip_of_a_close(words: &Words) -> String {
    let labels = [
        Message::CloseOfDay,
        Message::CloseNumber,
        Message::BusinessDay,
        Message::PeriodFrom,
        Message::Beginning,
        Message::PeriodTo,
        Message::ReceiptNumbers,
        Message::NothingMoved,
        Message::Taken,
        Message::Given,
        Message::Net,
        Message::TipsInSales,
        Message::OfUnknown,
        Message::CountDeclined,
        Message::CountTakenBack,
        Message::CountCancelled,
        Message::CountNotSent,
        Message::ByTill,
        Message::ByOperator,
        Message::OpenItems,
        Message::NothingOpen,
    ];
    let mut texts: Vec<String> = labels.iter().map(|label| words.label(*label).to_owned()).collect();
    texts.extend(OpenKind::ALL.map(|is| words.open(is).to_owned()));
    texts.extend([words.and_more(12), words.sum("-1234.56", "EUR"), words.date("2026-11-20")]);
    texts.iter().map(|text| format!("  close       {text}\n")).collect()
}

fn states(words: &Words) -> String {
    let mut table = String::new();
    let (amount, no_answer) = (eur("12.34"), Cause::from(Reason::GatewayNoAnswer));
    let declined = Reason::BankDeclined.with("insufficient funds");
    for kind in KINDS {
        let mut row = |name: &str, text: String| writeln!(table, "  {name:<12}{text}").unwrap();
        row("receipt", words.title(kind).to_owned());
        row("approved", words.ended(kind, &Outcome::Approved, amount));
        row("partially", words.ended(kind, &Outcome::PartiallyApproved { amount: eur("10.00") }, amount));
        row("declined", words.ended(kind, &Outcome::Declined { why: declined.clone() }, amount));
        row("cancelled", words.ended(kind, &Outcome::Cancelled { why: Reason::TillCancelled.into() }, amount));
        row("not sent", words.ended(kind, &Outcome::NotSent { why: Reason::GatewayUnreachable.into() }, amount));
        row("reversed", words.ended(kind, &Outcome::Reversed { why: no_answer.clone() }, amount));
        row("unconfirmed", words.unconfirmed(kind, &no_answer, None, None));
        row("person", words.unconfirmed(kind, &no_answer, None, Some(&Cause::from(Reason::DoneTwice))));
    }
    let steps = [
        ReaderStep::ChoosingTip,
        ReaderStep::PresentCard,
        ReaderStep::InsertCard,
        ReaderStep::SwipeCard,
        ReaderStep::TryAgain,
        ReaderStep::TypeCard,
        ReaderStep::ChoosingApplication,
        ReaderStep::ReadingCard,
        ReaderStep::PinEntry(None),
        ReaderStep::PinEntry(Some(4)),
        ReaderStep::PinEntry(Some(200)),
        ReaderStep::PinWrong(None),
        ReaderStep::PinWrong(Some(0)),
        ReaderStep::PinWrong(Some(1)),
        ReaderStep::PinWrong(Some(2)),
        ReaderStep::PinDone,
        ReaderStep::RemoveCard,
    ];
    for step in steps {
        writeln!(table, "  {}", words.step(step)).unwrap();
    }
    table.push_str(&slip_of_a_close(words));
    let alarm = words.alarm(&Cause::from(Reason::SecondPayment));
    for text in [words.waiting_for_card(amount), words.compare_signature(amount, false), alarm] {
        writeln!(table, "  {text}").unwrap();
    }
    for (message, arguments) in sentences() {
        writeln!(table, "  {:<34}{}", message.key(), words.tell(&named(*message, arguments))).unwrap();
    }
    table
}

/// Returns the messages of the refusals and of the status: all messages from the first refusal on.
fn sentences() -> impl Iterator<Item = &'static (Message, &'static [&'static str])> {
    Message::ALL.iter().skip_while(|(message, _)| *message != Message::RefusedAmountDiffers)
}

/// Creates a sentence in which each argument is its own name.
fn named(message: Message, arguments: &[&'static str]) -> Sentence {
    arguments.iter().fold(message.into(), |said: Sentence, name| said.with(name, format!("[{name}]")))
}

/// The maximum number of words in a sentence, up to a semicolon or colon.
const LONGEST_PART: usize = 25;

#[test]
fn sentences_begin_small_end_without_a_full_stop_and_are_short() {
    for (language, words) in languages() {
        for (message, arguments) in sentences() {
            let (text, key) = (words.tell(&named(*message, arguments)), message.key());
            // German nouns begin with a capital letter.
            let begins = language == Language::German || !text.starts_with(char::is_uppercase);
            assert!(begins && !text.ends_with('.'), "{}: {key}: {text}", language.code());
            for part in text.split(['.', ';', ':']) {
                assert!(part.split_whitespace().count() <= LONGEST_PART, "{}: {key}: {part}", language.code());
            }
        }
    }
}

/// The reader, the gateway and the printer report in English. In every other language, a message first says what such a
/// text is about.
#[test]
fn no_other_language_leaves_a_message_to_a_devices_english() {
    let german = Words::new(Language::German);
    for (message, arguments) in sentences().filter(|(message, _)| *message != Message::JournalGone) {
        let nothing: Sentence = arguments.iter().fold((*message).into(), |said: Sentence, name| said.with(name, ""));
        let own = german.tell(&nothing);
        assert!(own.chars().any(char::is_alphanumeric), "{}: {own:?}", message.key());
    }
}

#[test]
fn a_sentence_has_its_amounts_and_parts_in_its_language() {
    let limit = Message::AboveLimit.with("amount", eur("12.34")).with("limit", eur("10.00"));
    let said = Message::RefusedTip.with("why", Message::TotalNotPossible.with("why", limit));
    let english =
        "amount and tip together: 12.34 EUR is above the terminal's limit of 10.00 EUR; see max-amount in [terminal]";
    assert_eq!(said.to_string(), english);
    let german = Words::new(Language::German).tell(&said);
    let wanted = "dieses Trinkgeld ist nicht möglich: Betrag und Trinkgeld zusammen: 12,34 EUR ist über der Grenze";
    assert!(german.starts_with(wanted), "{german}");
}

#[test]
fn people_read_what_an_approval_is_for() {
    let payment = |number: Option<u64>| Earlier {
        payment: PaymentId::new("p17"),
        number: number.map(pos_terms::transaction::SaleNumber::new),
    };
    for (transaction, asks_tip, manual, said) in [
        (Operation::Refund { of: payment(Some(17)) }, false, false, "REFUND 12.34 EUR, transaction 17"),
        (Operation::Refund { of: payment(None) }, false, false, "REFUND 12.34 EUR, payment p17"),
        (Operation::Credit, false, true, "CREDIT 12.34 EUR, card number typed"),
        (Operation::Sale, true, false, "SALE 12.34 EUR, with a tip"),
    ] {
        let command = Approved {
            operator: OperatorName::parse("Anna").unwrap(),
            till: "till-1".to_owned(),
            reference: Reference::parse("r-1").unwrap(),
            transaction,
            amount: eur("12.34"),
            asks_tip,
            manual,
        };
        assert_eq!(Sentence::from(&command).to_string(), format!("{said}, reference r-1"));
    }
}
