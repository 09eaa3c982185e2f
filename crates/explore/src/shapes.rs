//! What is wished: one shape for each way through the core.

use pos_core::follow_up::{History, Left};
use pos_core::sale::Order;
use pos_terms::card::EntryMode;
use pos_terms::transaction::{Earlier, Kind, OnSilence, Reference, SaleNumber, Transaction};

use crate::bank::{eur, id};
use crate::world::World;

/// A wish.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    entry: EntryMode,
    transaction: fn() -> Transaction,
    accept_partial: bool,
    till_confirms: Option<OnSilence>,
    signs: bool,
}

fn of() -> Earlier {
    Earlier { payment: id(1), number: Some(SaleNumber::new(1)) }
}

/// Every one of them.
pub(crate) const ALL: &[Shape] = &[
    shape("chip", EntryMode::Icc, || Transaction::Sale),
    shape("tap", EntryMode::NfcIcc, || Transaction::Sale),
    Shape { accept_partial: true, ..shape("chip, parts taken", EntryMode::Icc, || Transaction::Sale) },
    Shape {
        till_confirms: Some(OnSilence::Reverse),
        ..shape("tap, till confirms", EntryMode::NfcIcc, || Transaction::Sale)
    },
    Shape { signs: true, ..shape("chip, signed", EntryMode::Icc, || Transaction::Sale) },
    Shape {
        till_confirms: Some(OnSilence::Keep),
        signs: true,
        ..shape("chip, signed, silence keeps", EntryMode::Icc, || Transaction::Sale)
    },
    shape("pre-authorisation", EntryMode::NfcIcc, || Transaction::PreAuthorisation),
    shape("stored card", EntryMode::NfcIcc, || Transaction::ByRegistration { registration: "r".repeat(32) }),
    shape("credit", EntryMode::NfcIcc, || Transaction::Credit),
    shape("capture", EntryMode::NfcIcc, || Transaction::Capture { of: of() }),
    shape("refund", EntryMode::NfcIcc, || Transaction::Refund { of: of() }),
];

const fn shape(name: &'static str, entry: EntryMode, transaction: fn() -> Transaction) -> Shape {
    Shape { name, entry, transaction, accept_partial: false, till_confirms: None, signs: false }
}

impl Shape {
    /// As a till orders it.
    pub(crate) fn order(&self) -> Order {
        let Self { accept_partial, till_confirms, .. } = *self;
        Order { accept_partial, till_confirms, ..order((self.transaction)(), 7) }
    }

    /// The world before it.
    pub(crate) fn world(&self, faults: u8) -> World {
        let mut world = World { signs: self.signs, ..World::new(self.entry, faults) };
        let kind = (self.transaction)().kind();
        if kind.has_earlier() {
            world.bank.holds(if kind == Kind::Capture { "PA" } else { "DB" }, eur(5000));
        }
        world
    }

    /// The kinds that may follow it.
    pub(crate) fn follow_ups(&self) -> &'static [Kind] {
        match (self.transaction)().kind() {
            Kind::PreAuthorisation => &[Kind::Capture, Kind::Reversal],
            kind if kind.has_earlier() || !kind.takes_money() => &[],
            _ => &[Kind::Refund, Kind::Reversal],
        }
    }
}

/// What may follow a sale in this way, by what the journal knows, and the world in which it begins with so many faults
/// of its own.
pub(crate) fn follow_up(kind: Kind, world: &World, faults: u8) -> Option<(Order, World)> {
    let sale = world.board.sale.as_ref()?;
    let history = History::read(sale, &|_| Ok::<_, ()>(Vec::new())).ok()?;
    let Ok(Left::UpTo(left)) = history.left(kind, None) else { return None };
    let of = Earlier { payment: sale.host().id.clone()?, number: Some(sale.order().number) };
    let transaction = Transaction::new(kind, Some(of), None)?;
    Some((Order { amount: left, ..order(transaction, 8) }, world.for_the_next(faults)))
}

fn order(transaction: Transaction, number: u64) -> Order {
    Order {
        transaction,
        parameters: Vec::new(),
        number: SaleNumber::new(number),
        till: "till-1".to_owned(),
        reference: Reference::parse(format!("R{number}")).expect("a reference"),
        by: None,
        amount: eur(1200),
        ask_tip: false,
        manual: false,
        accept_partial: false,
        till_confirms: None,
        gives_rest: false,
        till_prints: false,
        till_data: Default::default(),
        tip: None,
        training: None,
        terminal_id: "12345678".to_owned(),
        account: None,
        merchant_transaction_id: format!("12345678-{number}-00112233445566778899aabbccddeeff"),
        started_unix_ms: 1_800_000_000_000,
        local_time: "2027-01-15 09:00:00".to_owned(),
    }
}
