//! The smallest possible world around one transaction, or two that race: a terminal with a disk, a reader, a line, a
//! bank, a till, and two clocks. The clocks advance only to deadlines.

use std::rc::Rc;
use std::time::Duration;

use pos_core::follow_up::{History, Left};
use pos_core::transaction::{Deadlines, Event, Now, Order, Reason, Transaction};
use pos_terms::card::{CardFacts, Cvm, EntryMode, FirstAnswer, MaskedPan};
use pos_terms::transaction::{Earlier, Kind, Operation, SaleNumber, Who};

use crate::bank::{Bank, Request, eur};
use crate::disk::{CutAt, Disk};
use crate::life::{JournalCopy, Life, ReaderDoes, ReportedOutcome};
use crate::moves::{Move, What};
use crate::shapes;

pub(crate) const DEADLINES: Deadlines = Deadlines {
    pending: Duration::from_secs(40),
    absence_final: Duration::from_secs(24 * 3600),
    resend: Duration::from_secs(20),
    refuses_repeats: false,
    lists_registrations: true,
    signature: Some(Duration::from_secs(180)),
    till: Duration::from_secs(60),
};
/// The maximum time until a gateway lists a booking.
const LISTED_AFTER: Duration = Duration::from_secs(15);
/// A time after which no request can still be in transit.
const LONG: Duration = Duration::from_secs(26 * 3600);

/// A sent request.
#[derive(Clone, Debug)]
pub(crate) struct OnWire {
    pub(crate) request: Request,
    pub(crate) whose: SaleNumber,
    /// True if the terminal awaits the answer. Otherwise, the request may still arrive, or may never arrive.
    pub(crate) awaited: bool,
}

/// The whole world.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) life: Life,
    /// A second transaction that runs at the same time.
    pub(crate) other: Option<Box<Life>>,
    /// The kind that a second till requests for the payment that this transaction follows.
    pub(crate) rival: Option<Kind>,
    pub(crate) is_on: bool,
    pub(crate) disk: Disk,
    pub(crate) wire: Vec<OnWire>,
    pub(crate) bank: Bank,
    pub(crate) now: Now,
    pub(crate) deadlines: Deadlines,
    /// The time of the bank's latest booking.
    pub(crate) booked_at: Duration,
    /// True if the gateway or another sender did something unusual, so that a person may have to act.
    pub(crate) is_strange: bool,
    /// The payment that this transaction follows, and the highest amount that the journal has allowed another
    /// transaction.
    pub(crate) follows: Option<(Rc<Transaction>, u64)>,
    /// The amount to refund if the till accepts a part of a payment.
    pub(crate) rest: Option<u64>,
    /// True if the till may accept a part of the approved amount.
    pub(crate) takes_part: bool,
    /// The number of actions of the last step.
    pub(crate) acts: usize,
    /// The number of faults that are still allowed.
    pub(crate) faults: u8,
}

impl World {
    pub(crate) fn new(order: Order, faults: u8) -> Self {
        let now = Now { monotonic: Duration::from_secs(3600), unix_ms: 1_800_000_000_000 };
        Self {
            life: Life::new(Rc::new(order), now),
            other: None,
            rival: None,
            is_on: true,
            disk: Disk::default(),
            wire: Vec::new(),
            bank: Bank::default(),
            now,
            deadlines: DEADLINES,
            booked_at: Duration::ZERO,
            is_strange: false,
            follows: None,
            rest: None,
            takes_part: false,
            acts: 0,
            faults,
        }
    }

    /// Returns the world in which another transaction follows. The bank keeps its bookings, and requests in transit may
    /// still arrive.
    pub(crate) fn for_the_next(&self, order: Order, faults: u8) -> Self {
        let Self { bank, wire, now, deadlines, booked_at, is_strange, .. } = self.clone();
        let follows = self.life.sale.clone().map(|sale| (Rc::new(sale), 0));
        let mut next = Self { bank, wire, now, deadlines, booked_at, is_strange, follows, ..Self::new(order, faults) };
        let Life { asked_at, reversed_at, .. } = self.life;
        (next.life.asked_at, next.life.reversed_at) = (asked_at, reversed_at);
        next
    }

    /// Returns how much of the followed payment the journal would allow another transaction.
    pub(crate) fn left(&self, kind: Kind) -> Option<u64> {
        let (payment, _) = self.follows.as_ref()?;
        let later = |of: &Transaction| {
            let is_later = |sale: &&Transaction| sale.order().number != payment.order().number;
            let is_followed = of.order().number == payment.order().number;
            let later = self.disk.sales().filter(|_| is_followed);
            Ok::<_, ()>(later.filter(is_later).cloned().collect::<Vec<_>>())
        };
        let history = History::read(payment, &later).ok()?;
        match history.left(kind, None) {
            Ok(Left::UpTo(left)) => Some(left.minor()),
            _ => None,
        }
    }

    /// Records the amount that the journal would allow a second till for the same payment.
    pub(crate) fn offers(&mut self) {
        if self.disk.sales().next().is_none() || self.other.is_some() {
            return;
        }
        let left = [Kind::Refund, Kind::Reversal].into_iter().filter_map(|kind| self.left(kind)).max();
        if let Some((_, most)) = &mut self.follows {
            *most = left.unwrap_or(0).max(*most);
        }
    }

    /// Returns whether a list may still omit the latest booking.
    pub(crate) fn was_booked_lately(&self) -> bool {
        !self.bank.booked.is_empty() && self.now.monotonic.saturating_sub(self.booked_at) < LISTED_AFTER
    }

    /// Removes data that can no longer make a difference: requests whose answer is not awaited and that are too old to
    /// arrive.
    pub(crate) fn forgets(&mut self) {
        if self.is_quiet() {
            self.wire.retain(|on_wire| on_wire.awaited);
        }
    }

    /// Returns whether every sent request is too old to arrive.
    pub(crate) fn is_quiet(&self) -> bool {
        let lives = self.other.as_deref().into_iter().chain([&self.life]);
        let sent = lives.map(|life| life.asked_at.monotonic.max(life.reversed_at)).max().unwrap_or_default();
        self.now.monotonic.saturating_sub(sent) >= self.deadlines.absence_final
    }

    /// Makes a move.
    pub(crate) fn make(&self, one: Move) -> Self {
        let mut world = self.clone();
        world.faults -= one.what.faults();
        world.acts = 0;
        if one.of_other {
            world.swaps();
        }
        world.makes(one.what);
        if one.of_other {
            world.swaps();
        }
        world
    }

    fn makes(&mut self, what: What) {
        match what {
            What::Begins(cut) => self.begin(cut),
            What::OtherBegins(kind) => self.other_begins(kind),
            What::PowerFails => self.power_fails(),
            What::Boots(cut) => self.boots(cut),
            What::DiskIsBack(cut) => self.takes_up(cut),
            What::PutsCopyBack { nth } => {
                self.power_fails();
                // A person restores the copy. By then, no request is in transit, and all bookings are listed.
                self.wire.clear();
                self.passes(LISTED_AFTER);
                self.disk.is_put_back(usize::from(nth));
                (self.life.copy, self.is_strange) = (JournalCopy::Unnoticed, true);
            }
            What::TakesPart { part, cut } => {
                let before = self.life.sale.clone();
                let rest = before.as_ref().and_then(|sale| sale.rest_of(eur(u64::from(part))).ok());
                self.take_part(u64::from(part), shapes::order(Operation::Sale, 9), cut);
                if self.other.is_some() {
                    self.rest = rest.map(|rest| rest.minor());
                    self.follows = before.map(|sale| (Rc::new(sale), 0));
                }
            }
            What::Arrives { at, makes } => {
                let on_wire = self.wire.remove(usize::from(at));
                let _ = self.carried_out(&on_wire.request, makes);
            }
            What::Decides { approves } => self.bank.decides(approves),
            one => {
                if let Some(event) = self.event(one) {
                    self.hear(event, one.cut());
                }
            }
        }
    }

    /// Begins the transaction of a second till, with the amount that the journal allows for the same payment.
    fn other_begins(&mut self, kind: Kind) {
        let Some(left) = self.left(kind) else { return };
        let Some((payment, _)) = &self.follows else { return };
        let Some(id) = payment.host().id.clone() else { return };
        let of = Earlier { payment: id, number: Some(payment.order().number) };
        let Some(transaction) = Operation::new(kind, Some(of), None) else { return };
        let order = Order { amount: eur(left), ..shapes::order(transaction, 9) };
        self.other = Some(Box::new(Life::new(Rc::new(order), self.now)));
        self.rival = None;
        // From this point, only the bank's bookings decide whether too much was returned.
        self.follows = self.follows.take().map(|(payment, _)| (payment, 0));
        self.swaps();
        self.begin(CutAt::Not);
        self.swaps();
    }

    /// Applies a move to the world, and returns the event for the terminal.
    fn event(&mut self, one: What) -> Option<Event> {
        let Life { entry, signs, reader, .. } = self.life;
        let by = Some(Who::default());
        Some(match one {
            What::Proceeds(_) => {
                self.life.proceeds = false;
                Event::Proceed
            }
            What::TypesTip { tips, .. } => {
                self.life.reader = ReaderDoes::Idle;
                Event::TipTyped { tip: tips.then(|| eur(100)) }
            }
            What::ReadsCard(_) => {
                self.life.reader = ReaderDoes::HoldsCard;
                Event::CardRead { facts: facts(entry, signs), first_answer: FirstAnswer::GoOnline }
            }
            What::ReadsRefusal(_) => {
                self.life.reader = ReaderDoes::HoldsCard;
                Event::CardRead { facts: facts(entry, signs), first_answer: FirstAnswer::Declined }
            }
            What::NoCard(_) => {
                let stops = matches!(reader, ReaderDoes::Stopping | ReaderDoes::StopsTyping);
                self.life.reader = ReaderDoes::Idle;
                Event::NoCard { why: if stops { Reason::TillCancelled } else { Reason::CardTimeout }.into() }
            }
            What::CardSays { confirms, .. } => {
                self.life.was_refused |= !confirms && entry.card_confirms() && self.life.order.kind().card_has_a_say();
                self.life.reader = ReaderDoes::Idle;
                Event::CardSaid { confirmed: confirms, facts: Some(Box::new(facts(entry, signs))) }
            }
            What::CardGoes(_) => {
                self.life.reader = ReaderDoes::Idle;
                Event::CardSaid { confirmed: false, facts: Some(Box::new(facts(entry, signs))) }
            }
            What::ReaderLost(_) => {
                self.life.reader = ReaderDoes::Idle;
                Event::ReaderLost
            }
            What::Answered { at, makes, .. } => {
                let on_wire = self.wire.remove(usize::from(at));
                let event = self.carried_out(&on_wire.request, makes);
                self.life.was_declined |= is_a_no(&event) && one.cut() == CutAt::Not;
                event
            }
            What::Spoilt { at, makes, how, .. } => {
                let event = self.spoilt(usize::from(at), makes, how);
                self.life.was_declined |= is_a_no(&event) && one.cut() == CutAt::Not;
                event
            }
            What::Cancels(_) => {
                self.life.may_cancel = false;
                Event::CancelAsked { by }
            }
            What::Signed { accepted, cut } => {
                self.life.was_refused |= !accepted && cut == CutAt::Not;
                Event::SignatureChecked { accepted, by }
            }
            What::TillTakes { taken, cut } => {
                self.life.was_refused |= !taken && cut == CutAt::Not;
                self.life.was_taken |= taken && cut == CutAt::Not;
                Event::TillAnswered { taken, by }
            }
            What::Settles { keep, .. } => {
                // A person's decision is reported and printed again, regardless of the outdated copy and the chip.
                (self.life.told, self.life.receipt) = (ReportedOutcome(None), None);
                (self.life.was_refused, self.life.was_taken) = (false, false);
                Event::Resolve { keep, by }
            }
            What::Nudges(_) => Event::RetryNow,
            What::Deadline(cut) => {
                if cut == CutAt::Not {
                    self.life.is_silent();
                }
                let deadline = self.life.sale.as_ref().and_then(Transaction::deadline)?;
                self.passes(deadline.saturating_sub(self.now.monotonic));
                Event::DeadlinePassed
            }
            What::Long(_) => {
                self.passes(LONG);
                // No request can be in transit for so long.
                self.wire.clear();
                Event::DeadlinePassed
            }
            _ => return None,
        })
    }
}

/// Returns whether the event is a decline by the gateway.
fn is_a_no(event: &Event) -> bool {
    use pos_core::transaction::Answer;
    matches!(event, Event::Answered(Answer::Declined(_) | Answer::DeclinedInDoubt(_)))
}

fn facts(entry: EntryMode, signs: bool) -> CardFacts {
    CardFacts {
        entry,
        pan: MaskedPan::new("476173******0119"),
        pan_sequence_number: None,
        aid: None,
        label: None,
        cvm: signs.then_some(Cvm::Signature),
        cryptogram: None,
        tvr: None,
        tsi: None,
        iad: None,
    }
}

/// Returns whether a request of this kind may be carried out only once. Such a request is looked up and completed
/// instead of reversed.
pub(crate) fn is_finished(kind: Kind) -> bool {
    !kind.is_undone_when_unknown()
}
