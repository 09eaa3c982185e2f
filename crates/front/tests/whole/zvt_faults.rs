//! Tests of interruptions at a ZVT till, with the real programs. After each one, the till, the gateway's ledger and the
//! receipt agree, or the till knows that the outcome is unknown.

use std::time::Duration;

use pos_protocols::zvt::answer::TerminalMessage;
use pos_protocols::zvt::apdu::Apdu;
use pos_protocols::zvt::bmp::Fields;
use pos_protocols::zvt::command::Command;
use pos_sim::gateway::{Kind, State};
use pos_sim::printer::Sensors;
use pos_sim::reader::WaitsFor;
use pos_sim::shop::Shop;
use pos_test_kit::free_port;
use tokio::time::timeout;

use crate::zvt::{
    Till, code, entries, front, front_user, guarded, money, prepared, receipt, repeat, shop_of_two, until, zvt_config,
};
use crate::{PATIENCE, shop_changed, tap};

/// Makes a payment in which the till closes the connection after `cut` APDUs, counted in both directions. Returns false
/// if the payment ended before that.
async fn pays_until_cut(till: &mut Till, shop: &Shop, amount: u64, cut: usize) -> bool {
    let mut passed = 0;
    let mut goes_on = || {
        passed += 1;
        passed <= cut
    };
    if !goes_on() {
        return true;
    }
    till.send(&Command::Authorisation(money(amount)).apdu()).await;
    loop {
        if !goes_on() {
            return true;
        }
        let told = TerminalMessage::read(&till.hears().await.expect("the line is open")).unwrap();
        if told == TerminalMessage::Ok {
            continue;
        }
        if told == TerminalMessage::Intermediate(0x0A) {
            tap(shop).await;
        }
        if !goes_on() {
            return true;
        }
        till.send(&Apdu::ok()).await;
        if matches!(told, TerminalMessage::Completion(_) | TerminalMessage::Aborted { .. }) {
            return false;
        }
    }
}

/// The config bytes for a till that prints and for a terminal that prints. In both cases the till gets intermediate
/// states.
const TILL_PRINTS: u8 = 0x8A;
const TERMINAL_PRINTS: u8 = 0x08;

fn told_of(told: &[TerminalMessage], amount: u64) -> Option<u8> {
    let fields =
        told.iter().find_map(|it| if let TerminalMessage::Status(fields) = it { Some(fields) } else { None })?;
    fields.byte(0x27).filter(|_| fields.number(0x04) == Ok(Some(amount)))
}

/// Returns the number of customer receipts that show an approved payment.
fn receipts_of_paid(shop: &Shop) -> usize {
    shop.printer.receipts().iter().filter(|it| it.contains("CUSTOMER COPY") && it.contains("APPROVED")).count()
}

#[tokio::test]
async fn a_line_that_is_cut_at_any_apdu_leaves_till_ledger_and_receipt_agreed() {
    for (config, unacknowledged) in [(TILL_PRINTS, "keep"), (TERMINAL_PRINTS, "reverse")] {
        let (shop, _stop) = shop_of_two().await;
        let port = free_port();
        let _front = front(&shop, port, &format!("unacknowledged = \"{unacknowledged}\"")).await;
        Till::at(port).await.registers(config).await;
        let (mut charged, mut cut, mut was_cut) = (0, 1, true);
        while was_cut {
            // Each payment has a different amount, so the answer about an earlier payment cannot be mistaken for this
            // one.
            let amount = 1000 + u64::try_from(cut).unwrap();
            let mut till = Till::at(port).await;
            was_cut = pays_until_cut(&mut till, &shop, amount, cut).await;
            drop(till);
            let told = Till::at(port).await.learns().await;
            let approved = told_of(&told, amount) == Some(0);
            let now = shop.gateway.ledger().all_charged().count();
            assert_eq!(now - charged, usize::from(approved), "{cut}: {told:?}");
            charged = now;
            cut += 1;
        }
        let taken_back = entries(&shop, Kind::Reversal, State::Approved);
        assert!(cut > 8 && charged > 1, "{cut} cuts, {charged} charged");
        assert_eq!(taken_back > 0, unacknowledged == "reverse", "{taken_back}");
        let printed = if config == TERMINAL_PRINTS { charged } else { 0 };
        until("a receipt of each payment, and of no other one", || receipts_of_paid(&shop) == printed).await;
    }
}

/// Acts as a till whose timer T4 has expired. It aborts, does not wait for the answer, and closes the connection.
async fn gives_up(mut till: Till) {
    till.send(&Command::Abort(Fields::default()).apdu()).await;
}

#[tokio::test]
async fn a_till_that_gives_up_after_t4_learns_what_the_ledger_holds() {
    let (shop, _stop) = shop_of_two().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    Till::at(port).await.registers(0x06).await;
    // The till has no result yet. The bank has booked the payment, and its answer is on its way.
    let mut till = Till::at(port).await;
    shop.gateway.set_delay(Duration::from_secs(4));
    assert_eq!(till.asks(&Command::Authorisation(money(810))).await, TerminalMessage::Ok);
    tap(&shop).await;
    until("the bank was asked", || entries(&shop, Kind::Debit, State::Approved) == 1).await;
    // A till that is still connected learns that it is too late to abort.
    assert_eq!(till.asks(&Command::Abort(Fields::default())).await, TerminalMessage::Refused(0x83));
    drop(till);
    let told = Till::at(port).await.learns().await;
    assert_eq!((told_of(&told, 810), shop.gateway.ledger().all_charged().count()), (Some(0xB4), 0), "{told:?}");
    shop.gateway.set_delay(Duration::ZERO);
    // The till has the result, once without and once with its acknowledgement.
    for (amount, acknowledges) in [(820, false), (830, true)] {
        let mut till = Till::at(port).await;
        assert_eq!(till.asks(&Command::Authorisation(money(amount))).await, TerminalMessage::Ok);
        tap(&shop).await;
        assert!(matches!(TerminalMessage::read(&till.hears().await.unwrap()), Ok(TerminalMessage::Status(_))));
        if acknowledges {
            till.send(&Apdu::ok()).await;
            assert_eq!(
                TerminalMessage::read(&till.hears().await.unwrap()),
                Ok(TerminalMessage::Completion(Vec::new()))
            );
        }
        gives_up(till).await;
        let told = Till::at(port).await.learns().await;
        assert_eq!(told_of(&told, amount) == Some(0), acknowledges, "{told:?}");
        assert_eq!(shop.gateway.ledger().all_charged().count(), usize::from(acknowledges));
    }
}

#[tokio::test]
async fn a_printer_that_fails_undoes_no_payment() {
    let (shop, _stop) = shop_of_two().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    // The terminal's printer fails. The payment is approved, the status reports the fault, and the receipt is printed
    // when there is paper.
    shop.printer.set_sensors(Sensors { paper_out: true, ..Sensors::default() });
    let mut till = Till::at(port).await;
    till.registers(TERMINAL_PRINTS).await;
    assert_eq!(till.asks(&Command::Authorisation(money(910))).await, TerminalMessage::Ok);
    tap(&shop).await;
    let told = till.until_over().await;
    assert_eq!((told_of(&told, 910), code(&told)), (Some(0), 0), "{told:?}");
    let says_so = async {
        loop {
            let told = till.does(&Command::StatusEnquiry(Fields::default())).await;
            let Some(TerminalMessage::Completion(data)) = told.last() else { panic!("{told:?}") };
            if data.contains(&0xCC) {
                return;
            }
        }
    };
    timeout(PATIENCE, says_so).await.expect("its state is CC");
    assert_eq!((receipts_of_paid(&shop), shop.gateway.ledger().all_charged().count()), (0, 1));
    shop.printer.set_sensors(Sensors::default());
    until("its receipt", || receipts_of_paid(&shop) == 1).await;
    // The till's printer fails, so the till refuses the first block. The payment is kept, and on 06 20 the terminal
    // sends all blocks again.
    let mut till = Till::at(port).await;
    till.registers(TILL_PRINTS).await;
    till.refuses_blocks = true;
    assert_eq!(till.asks(&Command::Authorisation(money(920))).await, TerminalMessage::Ok);
    tap(&shop).await;
    let told = till.until_over().await;
    let blocks = |told: &[TerminalMessage]| told.iter().filter(|it| matches!(it, TerminalMessage::Block(..))).count();
    let whole =
        |told: &[TerminalMessage]| told.iter().filter(|it| matches!(it, TerminalMessage::Block(_, true))).count();
    assert_eq!((told_of(&told, 920), code(&told), blocks(&told)), (Some(0), 0, 1));
    till.refuses_blocks = false;
    let mut fields = Fields::default();
    fields.set(0x03, [0x01]);
    let told = till.does(&Command::RepeatReceipt(guarded(fields))).await;
    assert_eq!((told_of(&told, 920), code(&told), whole(&told)), (Some(0), 0, 2));
    assert_eq!((receipts_of_paid(&shop), shop.gateway.ledger().all_charged().count()), (1, 2));
}

#[tokio::test]
async fn a_command_that_comes_twice_is_one_payment_and_two_tills_have_each_its_own() {
    let uid = front_user().0;
    let peer = format!("[[till.peer]]\nuid = {uid}\ntills = [\"local\", \"zvt-1\", \"zvt-2\"]\n\n[journal]");
    let (shop, _stop) = shop_changed(vec![("[journal]".to_owned(), peer)]).await;
    let (first_port, second_port) = (free_port(), free_port());
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(shop.socket(), folder.path().join("till.sock")).unwrap();
    let config = [
        zvt_config(folder.path(), first_port, ""),
        zvt_config(folder.path(), second_port, "").replace("zvt-1", "zvt-2"),
    ];
    let _front = prepared(&shop, folder, &config.concat()).await;
    let (mut first, mut second) = (Till::at(first_port).await, Till::at(second_port).await);
    first.registers(0x06).await;
    second.registers(0x06).await;
    // The same bytes arrive again, on the same connection and on another one.
    let payment = Command::Authorisation(money(1100));
    assert_eq!(first.asks(&payment).await, TerminalMessage::Ok);
    timeout(PATIENCE, shop.reader.waits_for(WaitsFor::Card)).await.expect("the reader asks for a card");
    assert_eq!(first.asks(&payment).await, TerminalMessage::Refused(0x9C));
    assert_eq!(Till::at(first_port).await.asks(&payment).await, TerminalMessage::Refused(0x9C));
    // The payment of the other till is aborted, because the terminal has only one reader.
    assert_eq!(second.does(&payment).await, [TerminalMessage::Aborted { code: 0x9C, fields: Fields::default() }]);
    tap(&shop).await;
    assert_eq!(told_of(&first.until_over().await, 1100), Some(0));
    assert_eq!(shop.gateway.ledger().all_charged().count(), 1);
    // One till cannot repeat or reverse the payment of the other.
    assert_ne!(told_of(&second.does(&repeat()).await, 1100), Some(0));
    assert_eq!(code(&second.does(&Command::Reversal(guarded(receipt(1)))).await), 0xB5);
    assert_eq!(second.asks(&payment).await, TerminalMessage::Ok);
    tap(&shop).await;
    assert_eq!(told_of(&second.until_over().await, 1100), Some(0));
    assert_eq!(code(&first.does(&Command::Reversal(guarded(receipt(2)))).await), 0xB5);
    assert_eq!(code(&first.does(&Command::Reversal(guarded(receipt(1)))).await), 0);
    assert_eq!((shop.gateway.ledger().all_charged().count(), entries(&shop, Kind::Reversal, State::Approved)), (1, 1));
    assert_eq!(told_of(&second.learns().await, 1100), Some(0), "its own stands");
}

#[tokio::test]
async fn a_void_that_comes_again_or_names_another_day_takes_nothing_back() {
    let (shop, _stop) = shop_of_two().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    let mut till = Till::at(port).await;
    till.registers(0x06).await;
    let pays = async |till: &mut Till| {
        assert_eq!(till.asks(&Command::Authorisation(money(1300))).await, TerminalMessage::Ok);
        tap(&shop).await;
        let told = till.until_over().await;
        assert_eq!(told_of(&told, 1300), Some(0), "{told:?}");
    };
    pays(&mut till).await;
    pays(&mut till).await;
    let charged = || shop.gateway.ledger().all_charged().count();
    let traced = |number: u16, trace: u64| {
        let mut fields = receipt(number);
        fields.set_number(0x37, trace);
        Command::Reversal(guarded(fields))
    };
    // The till sends a reversal with another payment's trace number, and then with the right one. It then repeats the
    // reversal on this connection and on another one.
    assert_eq!(code(&till.does(&traced(2, 1)).await), 0xB5);
    assert_eq!(charged(), 2);
    assert_eq!(code(&till.does(&traced(2, 2)).await), 0);
    assert_eq!(code(&till.does(&traced(2, 2)).await), 0xB5);
    assert_eq!(code(&Till::at(port).await.does(&traced(2, 2)).await), 0xB5);
    assert_eq!((charged(), entries(&shop, Kind::Reversal, State::Approved)), (1, 1));
    // After the close of day, the earlier payment is not found, and the same command begins a new payment.
    assert_eq!(code(&till.does(&Command::EndOfDay(guarded(Fields::default()))).await), 0);
    assert_eq!(code(&till.does(&Command::Reversal(guarded(receipt(1)))).await), 0xB5);
    pays(&mut till).await;
    assert_eq!(charged(), 2);
    // A payment that is restricted to a card type does not begin.
    let mut fields = money(1300);
    fields.set(0x8A, [0x05]);
    assert_eq!(code(&till.does(&Command::Authorisation(fields)).await), 0x83);
    assert_eq!(charged(), 2);
}
