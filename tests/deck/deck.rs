//! All test cards over real connections (pty, TLS, TCP, SQLite), against the real agent. The tables contain every card
//! in every way of presenting it, and the behaviour of cardholders, printers and the gateway; `faults` has the faults.
//! After every row, the test checks the outcome, the ledger, the journal and both receipts. Then another customer pays
//! at the same terminal.
//!
//! Every table runs with three gateways: one that follows the project's reading of the interface, one without rules,
//! and one that does exactly what the interface says. The expected results are the same with all three.
//!
//! `POS_AGENT_GATEWAY=literal` runs everything with that gateway only.
//!
//! The tables contain the expected results. The tests mostly wait for deadlines, so several shops run at the same time
//! and share the rows of a table.

use std::collections::BTreeSet;

use crate::row::End::{self, Approved, Declined, NotSent, Nothing, Partial, Reversed};
use crate::row::{self, Row, run};
use pos_sim::reader::Card;
use pos_sim::reader::CardEntry::{self, Insert, Swipe, Tap};
use pos_sim::reader::deck::{Chip, DECK};

use crate::counter::Counter;
use pos_agent::till::SaleState;
use pos_sim::gateway::HostRules;
use pos_sim::printer::Sensors;
use pos_sim::reader::Family;
use pos_sim::shop::Options;
use pos_test_kit::families;

/// Card | way of presenting it | entry mode sent to the gateway | outcome | words on the merchant's copy.
type Transaction = (&'static str, CardEntry, &'static str, End, &'static [&'static str]);

/// The card ends the transaction offline, so the gateway gets no request.
const UNHEARD: &str = "";

#[rustfmt::skip]
const SALES: &[Transaction] = &[
    ("chip-pin",         Insert, "ICC",                   Approved, &["CHIP", "PIN VERIFIED ONLINE", "TC"]),
    ("chip-no-cvm",      Insert, "ICC",                   Approved, &["CHIP", "NO CARDHOLDER VERIFICATION", "TC"]),
    ("chip-refuses",     Insert, "ICC",                   Reversed, &["CHIP", "AAC"]),
    ("chip-offline",     Insert, "ICC",                   Approved, &["CHIP", "TC"]),
    ("chip-declines",    Insert, UNHEARD,                 Declined, &["CHIP", "AAC"]),
    ("chip-choice",      Insert, "ICC",                   Approved, &["CHIP", "VISA CREDIT", "TC"]),
    ("chip-broken",      Insert, "MAGSTRIPE_AS_FALLBACK", Approved, &["SWIPED (CHIP FAILED)", "SIGNATURE"]),
    ("chip-unsupported", Insert, "MAGSTRIPE_AS_FALLBACK", Approved, &["SWIPED (CHIP FAILED)", "SIGNATURE"]),
    ("tap",              Tap,    "NFC_ICC",               Approved, &["CONTACTLESS", "NO CARDHOLDER VERIFICATION"]),
    ("tap",              Insert, "ICC",                   Approved, &["CHIP", "PIN VERIFIED ONLINE", "TC"]),
    ("tap-pin",          Tap,    "NFC_ICC",               Approved, &["CONTACTLESS", "PIN VERIFIED ONLINE"]),
    ("tap-pin",          Insert, "ICC",                   Approved, &["CHIP", "PIN VERIFIED ONLINE", "TC"]),
    ("tap-magstripe",    Tap,    "NFC_MAGSTRIPE",         Approved, &["CONTACTLESS"]),
    ("tap-magstripe",    Insert, "MAGSTRIPE_AS_FALLBACK", Approved, &["SWIPED (CHIP FAILED)", "SIGNATURE"]),
    ("tap-magstripe",    Swipe,  "MAGSTRIPE",             Approved, &["SWIPED", "SIGNATURE"]),
    ("tap-insert",       Tap,    "ICC",                   Approved, &["CHIP", "PIN VERIFIED ONLINE", "TC"]),
    ("tap-insert",       Insert, "ICC",                   Approved, &["CHIP", "PIN VERIFIED ONLINE", "TC"]),
    ("swipe",            Swipe,  "MAGSTRIPE",             Approved, &["SWIPED", "SIGNATURE"]),
    ("swipe",            Insert, "MAGSTRIPE_AS_FALLBACK", Approved, &["SWIPED (CHIP FAILED)", "SIGNATURE"]),
    ("swipe-pin",        Swipe,  "MAGSTRIPE",             Approved, &["SWIPED", "PIN VERIFIED ONLINE"]),
    ("swipe-pin",        Insert, "MAGSTRIPE_AS_FALLBACK", Approved, &["SWIPED (CHIP FAILED)", "PIN VERIFIED ONLINE"]),
    ("chip-signature",   Insert, "ICC",                   Approved, &["CHIP", "SIGNATURE", "TC"]),
    // The TSI shows an authenticated issuer and processed scripts (EMV Book 3, C6).
    ("chip-scripts",     Insert, "ICC",                   Approved, &["CHIP", "TC", "7C00"]),
    ("chip-offline-pin", Insert, "ICC",                   Approved, &["CHIP", "PIN VERIFIED", "TC"]),
    ("expired",          Insert, "ICC",                   Declined, &["CHIP", "card expired", "AAC"]),
    ("pin-wrong",        Insert, "ICC",                   Declined, &["CHIP", "incorrect personal", "AAC"]),
    ("pin-exceeded",     Insert, "ICC",                   Declined, &["CHIP", "too many invalid", "AAC"]),
    ("blocked",          Insert, UNHEARD,                 Nothing,  &[]),
    ("app-blocked",      Insert, "ICC",                   Approved, &["CHIP", "VISA ELECTRON", "TC"]),
    ("pan-19",           Insert, "ICC",                   Approved, &["CHIP", "MAESTRO", "PIN VERIFIED ONLINE", "TC"]),
    ("foreign",          Insert, "ICC",                   Approved, &["CHIP", "PIN VERIFIED ONLINE", "TC"]),
    ("tap-phone",        Tap,    "NFC_ICC",               Approved, &["CONTACTLESS", "MASTERCARD", "VERIFIED ON CUSTOMER'S DEVICE"]),
    ("debit",            Insert, "ICC",                   Approved, &["CHIP", "DEBIT MASTERCARD", "PIN VERIFIED ONLINE", "TC"]),
    ("debit",            Tap,    "NFC_ICC",               Approved, &["CONTACTLESS", "DEBIT MASTERCARD"]),
];

/// Returns the row of a card. If a chip card is swiped first, it is then inserted, and the sale continues as if it had
/// been inserted from the start.
pub(crate) fn sale(card: &Card, entry: CardEntry) -> &'static Transaction {
    let swiped_first = entry == Swipe && card.after(Swipe).is_some();
    let entry = if swiped_first { Insert } else { entry };
    SALES
        .iter()
        .find(|sale| sale.0 == card.name && sale.1 == entry)
        .unwrap_or_else(|| panic!("{} {entry:?}", card.name))
}

/// Lists every card with every way of presenting it.
pub(crate) fn ways() -> impl Iterator<Item = (&'static Card, CardEntry)> {
    DECK.iter().flat_map(|card| {
        let insert = card.chip != Chip::None || card.stripe;
        let tap = card.tap != pos_sim::reader::deck::Tap::None;
        [(insert, Insert), (tap, Tap), (card.stripe, Swipe)]
            .into_iter()
            .filter(|way| way.0)
            .map(move |way| (card, way.1))
    })
}

pub(crate) fn row_of(card: &'static Card, entry: CardEntry) -> Row {
    let &(_, _, mode, end, words) = sale(card, entry);
    Row { mode: Some(mode), words, ..Row::plain(card, entry, end) }
}

#[tokio::test]
async fn every_card_in_every_way() {
    let rows: Vec<_> = ways().map(|(card, entry)| row_of(card, entry)).collect();
    assert_eq!(BTreeSet::from_iter(rows.iter().map(|row| row.card.name)).len(), DECK.len());
    run("cards and ways", 4, rows).await;
}

/// A person's action | card | way of presenting it | the reader's script | outcome | words on the receipts.
type Person = (&'static str, &'static str, CardEntry, &'static str, End, &'static [&'static str]);

#[rustfmt::skip]
const PEOPLE: &[Person] = &[
    ("the PIN is wrong",            "chip-pin",  Insert, "on pin: type wrong",             Declined, &["incorrect personal"]),
    ("the PIN is wrong",            "tap-pin",   Tap,    "on pin: type wrong",             Declined, &["incorrect personal"]),
    ("the PIN is wrong",            "swipe-pin", Swipe,  "on pin: type wrong",             Declined, &["incorrect personal"]),
    ("the chip's PIN is wrong until it takes none", "chip-offline-pin", Insert, "on pin: type wrong", Declined, &["too many invalid"]),
    ("the PIN is cancelled",        "chip-pin",  Insert, "on pin: type cancel",            Nothing,  &[]),
    ("the PIN is cancelled",        "tap-pin",   Tap,    "on pin: type cancel",            Nothing,  &[]),
    ("the PIN is cancelled",        "swipe-pin", Swipe,  "on pin: type cancel",            Nothing,  &[]),
    ("nobody enters the PIN",       "chip-pin",  Insert, "on pin: type nothing, too-long", Nothing,  &[]),
    ("nobody enters the PIN",       "tap-pin",   Tap,    "on pin: type nothing, too-long", Nothing,  &[]),
    ("nobody enters the PIN",       "swipe-pin", Swipe,  "on pin: type nothing, too-long", Nothing,  &[]),
    ("the other application",       "chip-choice", Insert, "on choice: choose 2",          Approved, &["VISA ELECTRON"]),
    ("the choice is cancelled",     "chip-choice", Insert, "on choice: choose nothing, key cancel", Nothing, &[]),
    ("nobody chooses",              "chip-choice", Insert, "on choice: choose nothing, too-long",   Nothing, &[]),
    ("another card in the slot",    "tap",       Tap,    "on asked: insert chip-pin",      Approved, &["CONTACTLESS"]),
    ("another card at the antenna", "chip-pin",  Insert, "on asked: tap tap",              Approved, &["CHIP"]),
    ("another card is swiped",      "chip-pin",  Insert, "on asked: swipe swipe",          Approved, &["CHIP"]),
    ("another card in the slot",    "swipe-pin", Swipe,  "on pin: insert chip-pin",        Approved, &["SWIPED"]),
];

#[tokio::test]
async fn whatever_cardholders_do() {
    let row = |&(what, name, entry, script, end, words): &Person| {
        let card = pos_sim::reader::card(name).unwrap();
        let what = format!("{what}: {name} {entry:?}");
        Row { what, script: script.to_owned(), words, ..Row::plain(card, entry, end) }
    };
    let mut rows: Vec<_> = PEOPLE.iter().map(row).collect();
    // Not every reader tells why a wait has ended (tests/reader/reader_pair.rs). The customer may then try again.
    let red_key = ("the red key instead of a card", "tap", Tap, "on waiting 1: key cancel", Nothing, &[][..]);
    rows.push(Row { allowed: vec![Nothing, Approved], ..row(&red_key) });
    run("cardholders", 6, rows).await;
}

/// One card of each kind.
const KINDS: [(&str, CardEntry); 3] = [("chip-no-cvm", Insert), ("tap", Tap), ("swipe", Swipe)];

/// The cents of the amount, which choose the gateway's behaviour | a chip | a tap | a swipe.
#[rustfmt::skip]
const GATEWAY: &[(&str, [End; 3])] = &[
    ("10.51", [Declined, Declined, Declined]),
    ("10.60", [Partial,  Partial,  Partial]),
    ("10.60", [Reversed, Reversed, Reversed]),
    ("10.61", [Approved, Approved, Approved]),
    ("10.63", [NotSent,  NotSent,  NotSent]),
    ("10.65", [Reversed, Reversed, Reversed]),
    ("10.66", [Reversed, Reversed, Reversed]),
    ("10.67", [Reversed, Reversed, Reversed]),
    ("10.69", [Reversed, Reversed, Reversed]),
    ("10.71", [Reversed, Reversed, Reversed]),
    ("10.73", [Reversed, Reversed, Reversed]),
    ("10.74", [Approved, Approved, Approved]),
    ("10.75", [Approved, Approved, Approved]),
    ("10.76", [Approved, Approved, Approved]),
    // With a swipe, no chip can contradict the answer.
    ("10.77", [Reversed, Reversed, Approved]),
    ("10.78", [Approved, Approved, Approved]),
    ("10.79", [Reversed, Reversed, Reversed]),
    ("10.80", [Reversed, Reversed, Reversed]),
    ("10.81", [Reversed, Reversed, Reversed]),
    ("10.82", [Reversed, Reversed, Reversed]),
];

/// The same table for a gateway whose result codes are on no list (`pos-sim gateway --help`) and which approves with
/// 00.
const SHORT_CODES: &[(&str, [End; 3])] = &[("10.94", [Reversed, Reversed, Reversed])];

#[tokio::test]
async fn whatever_the_gateway_does_to_a_card_of_each_kind() {
    let rows = |host_rules: HostRules| {
        let short = if host_rules == HostRules::Literal { SHORT_CODES } else { &[] };
        GATEWAY.iter().chain(short).flat_map(move |(amount, ends)| {
            KINDS.into_iter().zip(*ends).map(move |((name, entry), end)| {
                let plain = Row::plain(pos_sim::reader::card(name).unwrap(), entry, end);
                let what = format!("{amount}, {}", plain.what);
                Row { what, amount: (*amount).to_owned(), host_rules: Some(host_rules), ..plain }
            })
        })
    };
    run("answers of the gateway", 60, HostRules::ALL.into_iter().flat_map(rows).collect()).await;
}

#[tokio::test]
async fn a_printer_that_cannot_print_changes_no_sale_and_prints_later() {
    for (number, (name, entry)) in KINDS.into_iter().enumerate() {
        for dead in [true, false] {
            let mut options = Options::default();
            let number = 2 * number + usize::from(dead);
            options.gateway.host_rules = row::gateway_of(number);
            options.reader.family = row::family_of(number);
            let place = (options.gateway.host_rules.as_str(), options.reader.family.as_str());
            let what = format!("{} gateway, {} reader, {name} {entry:?}, dead {dead}", place.0, place.1);
            println!("{what}");
            let mut counter = Counter::open_with(options).await;
            let empty = Sensors { paper_out: true, ..counter.shop.printer.sensors() };
            let full = counter.shop.printer.sensors();
            if dead {
                counter.shop.printer.set_dead(true).await;
            } else {
                counter.shop.printer.set_sensors(empty);
            }
            counter.sell("R1", "12.34", name, entry).await;
            let told = counter.until("R1", &what, |view| {
                view.state != SaleState::InProgress && view.state != SaleState::WaitingForCard
            });
            if told.await.state == SaleState::AwaitingSignature {
                counter.sign("R1", true).await;
            }
            let view = counter.until_ended("R1").await;
            assert_eq!((row::end_of(&view), counter.charged()), (Approved, vec!["12.34 EUR".to_owned()]), "{what}");
            counter.shop.printer.set_dead(false).await;
            counter.shop.printer.set_sensors(full);
            for copy in ["MERCHANT COPY", "CUSTOMER COPY"] {
                let receipt = counter.paper().await;
                assert!(receipt.contains(copy) && receipt.contains("APPROVED"), "{what}: {receipt}");
            }
        }
    }
}

/// Checks that the card processes scripts that fit in one command. The agent leaves out longer scripts if a Miura
/// reader has not reported that it accepts longer commands. Bit 3 of the TSI's first byte shows that scripts were
/// processed (EMV Book 3, C6).
#[tokio::test]
async fn issuer_scripts_reach_the_card_when_the_reader_can_take_them() {
    const SHORT: &str = "12.34";
    const LONG: &str = "10.57";
    let cases = families::played().into_iter().flat_map(|family| {
        let left_out = family == Family::Miura;
        [(SHORT, false, false), (LONG, false, left_out), (LONG, true, false)].map(|case| (family, case))
    });
    for (number, (family, (amount, extended_apdu, left_out))) in cases.enumerate() {
        let mut options = Options::default();
        options.gateway.host_rules = row::gateway_of(number);
        options.reader.family = family;
        (options.reader.extended_apdu, options.reader.removes_card) = (extended_apdu, true);
        let mut counter = Counter::open_with(options).await;
        counter.sell("R1", amount, "chip-scripts", Insert).await;
        let receipt = counter.paper().await;
        let tsi = if left_out { "7800" } else { "7C00" };
        assert!(
            receipt.contains("APPROVED") && receipt.contains(tsi),
            "{} reader, {amount}, long commands {extended_apdu}:\n{receipt}",
            family.as_str()
        );
        assert_eq!(counter.charged(), [format!("{amount} EUR")]);
    }
}
