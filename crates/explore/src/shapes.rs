//! The shapes to explore. Each shape is a request that takes a different path through the core.

use std::rc::Rc;

use pos_core::follow_up::{History, Left};
use pos_core::transaction::{HostFacts, Order, Outcome, Record, Transaction};
use pos_terms::card::EntryMode;
use pos_terms::transaction::{Earlier, Kind, OnSilence, Operation, PaymentId, Reference, SaleNumber};

use crate::bank::{Habits, eur, id};
use crate::world::World;

/// A request.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    entry: EntryMode,
    transaction: fn() -> Operation,
    accept_partial: bool,
    till_confirms: Option<OnSilence>,
    signs: bool,
    asks_tip: bool,
    habits: Habits,
    /// True if an earlier copy of the journal may be restored.
    pub(crate) is_copied: bool,
    /// The kind that a second till requests for the same payment in the meantime.
    rival: Option<Kind>,
    /// True if the till may accept a part of the approved amount.
    takes_part: bool,
}

fn of() -> Earlier {
    Earlier { payment: id(1), number: Some(SaleNumber::new(1)) }
}

const USUAL: Habits = Habits { refuses_repeats: false, hides_registrations: false, says_what_it_refers_to: false };
const STRICT: Habits = Habits { refuses_repeats: true, says_what_it_refers_to: true, ..USUAL };

/// All shapes.
pub(crate) const ALL: &[Shape] = &[
    shape("chip", EntryMode::Icc, || Operation::Sale),
    shape("tap", EntryMode::NfcIcc, || Operation::Sale),
    Shape { accept_partial: true, ..shape("chip, parts taken", EntryMode::Icc, || Operation::Sale) },
    Shape {
        asks_tip: true,
        accept_partial: true,
        ..shape("tap, a tip, parts taken", EntryMode::NfcIcc, || Operation::Sale)
    },
    Shape {
        till_confirms: Some(OnSilence::Reverse),
        ..shape("tap, till confirms", EntryMode::NfcIcc, || Operation::Sale)
    },
    Shape {
        till_confirms: Some(OnSilence::Keep),
        takes_part: true,
        ..shape("tap, till takes a part", EntryMode::NfcIcc, || Operation::Sale)
    },
    Shape { signs: true, ..shape("chip, signed", EntryMode::Icc, || Operation::Sale) },
    Shape {
        till_confirms: Some(OnSilence::Keep),
        signs: true,
        ..shape("chip, signed, silence keeps", EntryMode::Icc, || Operation::Sale)
    },
    Shape { is_copied: true, ..shape("old copy, chip", EntryMode::Icc, || Operation::Sale) },
    Shape {
        is_copied: true,
        till_confirms: Some(OnSilence::Keep),
        ..shape("old copy, tap, till confirms", EntryMode::NfcIcc, || Operation::Sale)
    },
    Shape { is_copied: true, ..shape("old copy, refund", EntryMode::NfcIcc, || Operation::Refund { of: of() }) },
    Shape {
        is_copied: true,
        ..shape("old copy, card to forget", EntryMode::NfcIcc, || Operation::ForgetCard {
            registration: "r".repeat(32),
        })
    },
    shape("pre-authorisation", EntryMode::NfcIcc, || Operation::PreAuthorisation),
    shape("by registration", EntryMode::NfcIcc, || Operation::ByRegistration { registration: "r".repeat(32) }),
    Shape { habits: STRICT, ..shape("strict gateway, refund", EntryMode::NfcIcc, || Operation::Refund { of: of() }) },
    shape("card to store", EntryMode::NfcIcc, || Operation::StoreCard),
    Shape {
        habits: Habits { hides_registrations: true, ..USUAL },
        ..shape("card to store, unlisted", EntryMode::NfcIcc, || Operation::StoreCard)
    },
    shape("card to forget", EntryMode::NfcIcc, || Operation::ForgetCard { registration: "r".repeat(32) }),
    shape("credit", EntryMode::NfcIcc, || Operation::Credit),
    shape("capture", EntryMode::NfcIcc, || Operation::Capture { of: of() }),
    shape("refund", EntryMode::NfcIcc, || Operation::Refund { of: of() }),
    race("race, refund and refund", Kind::Refund, Kind::Refund),
    race("race, refund and reversal", Kind::Refund, Kind::Reversal),
    race("race, reversal and reversal", Kind::Reversal, Kind::Reversal),
    race("race, reversal and refund", Kind::Reversal, Kind::Refund),
];

const fn shape(name: &'static str, entry: EntryMode, transaction: fn() -> Operation) -> Shape {
    Shape {
        name,
        entry,
        transaction,
        accept_partial: false,
        till_confirms: None,
        signs: false,
        asks_tip: false,
        habits: USUAL,
        is_copied: false,
        rival: None,
        takes_part: false,
    }
}

/// Returns a shape in which two transactions race for one payment. The first uses a part of the payment, and the second
/// uses the amount that the journal allows.
const fn race(name: &'static str, first: Kind, second: Kind) -> Shape {
    let transaction: fn() -> Operation = match first {
        Kind::Refund => || Operation::Refund { of: of() },
        _ => || Operation::Reversal { of: of() },
    };
    Shape { rival: Some(second), ..shape(name, EntryMode::NfcIcc, transaction) }
}

impl Shape {
    /// Returns the till's order.
    fn order(&self) -> Order {
        let Self { accept_partial, till_confirms, asks_tip, .. } = *self;
        Order { accept_partial, till_confirms, ask_tip: asks_tip, ..order((self.transaction)(), 7) }
    }

    /// Returns the world before the transaction.
    pub(crate) fn world(&self, faults: u8) -> World {
        let mut world = World::new(self.order(), faults);
        (world.life.entry, world.life.signs) = (self.entry, self.signs);
        world.bank.habits = self.habits;
        world.deadlines.refuses_repeats = self.habits.refuses_repeats;
        world.deadlines.lists_registrations = !self.habits.hides_registrations;
        world.takes_part = self.takes_part;
        // If the lists omit the transaction, only a person can find it.
        world.is_strange = self.habits.hides_registrations;
        world.disk.before = self.is_copied.then(Vec::new);
        let kind = (self.transaction)().kind();
        if self.rival.is_some() {
            let payment = world.bank.holds("DB", eur(PAID));
            world.follows = paid_before(payment).map(|paid| (Rc::new(paid), 0));
            world.rival = self.rival;
        } else if kind.has_earlier() {
            world.bank.holds(if kind == Kind::Capture { "PA" } else { "DB" }, eur(5000));
        }
        world
    }

    /// Returns whether the shape has two transactions that race.
    pub(crate) fn is_race(&self) -> bool {
        self.rival.is_some()
    }

    /// Returns the kinds that may follow the transaction.
    pub(crate) fn follow_ups(&self) -> &'static [Kind] {
        match (self.transaction)().kind() {
            _ if self.is_copied || self.takes_part => &[],
            Kind::PreAuthorisation => &[Kind::Capture, Kind::Reversal],
            kind if kind.has_earlier() || !kind.takes_money() => &[],
            _ => &[Kind::Refund, Kind::Reversal],
        }
    }
}

/// The amount of the payment for which two follow-ups race. Each of them requests more than half of it.
const PAID: u64 = 2000;

/// Returns a payment that is in the journal.
fn paid_before(payment: PaymentId) -> Option<Transaction> {
    let order = Order { amount: eur(PAID), ..order(Operation::Sale, 1) };
    let host = HostFacts { id: Some(payment.clone()), ..HostFacts::default() };
    Transaction::replay(&[
        vec![Record::Started { order }],
        vec![Record::Asked { card: None, again_unix_ms: None }],
        vec![
            Record::HostApproved { payment, approved: eur(PAID), host },
            Record::Ended { outcome: Outcome::Approved, host: None, card: None, by: None, at_unix_ms: None },
        ],
    ])
}

/// Returns the world in which a follow-up of this kind begins, if the journal allows it. The follow-up has a separate
/// number of faults. All ends that leave the same amount produce the same order.
pub(crate) fn follow_up(kind: Kind, world: &World, faults: u8) -> Option<World> {
    let sale = world.life.sale.as_ref().filter(|_| world.other.is_none())?;
    let history = History::read(sale, &|_| Ok::<_, ()>(Vec::new())).ok()?;
    let Ok(Left::UpTo(left)) = history.left(kind, None) else { return None };
    let of = Earlier { payment: sale.host().id.clone()?, number: Some(sale.order().number) };
    let transaction = Operation::new(kind, Some(of), None)?;
    Some(world.for_the_next(Order { amount: left, ..order(transaction, 8) }, faults))
}

pub(crate) fn order(transaction: Operation, number: u64) -> Order {
    Order {
        operation: transaction,
        parameters: Vec::new(),
        number: SaleNumber::new(number),
        till: "till-1".to_owned(),
        reference: Reference::parse(format!("R{number}")).expect("a reference"),
        by: None,
        amount: eur(1200),
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
        account: None,
        merchant_transaction_id: format!("12345678-{number}-00112233445566778899aabbccddeeff"),
        started_unix_ms: 1_800_000_000_000,
        local_time: "2027-01-15 09:00:00".to_owned(),
    }
}
