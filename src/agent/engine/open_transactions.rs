//! The open sales: each with what is kept for it in memory, what is to be told to them, and what can wait until the
//! devices have had their turn. A sale itself changes in the engine alone.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::config::Config;
use crate::till::{Refused, SaleState, SaleView};
use pos_core::transaction::{self, Action, Deadlines, Order, Standing, Transaction};
use pos_gateway::PreparedPayment;
use pos_terms::transaction::{Reference, SaleNumber};

/// Sales of unknown end that a new sale sets going again; many at once would crowd the line that the sale needs.
const NUDGED: usize = 3;

/// The open sales, and what is on its way to them.
pub(in crate::agent) struct OpenTransactions {
    /// Sales that are not settled, or whose card is still in the reader.
    pub(super) open: BTreeMap<SaleNumber, OpenTransaction>,
    /// What is to be told to sales next.
    pub(super) inbox: VecDeque<(SaleNumber, transaction::Event)>,
    /// Sales to tell and receipts to print, once the devices have had their turn.
    pub(super) afterwards: VecDeque<(SaleNumber, Afterwards)>,
    pub(super) deadlines: Deadlines,
    /// Open sales of the journal that are not settled here.
    pub(super) left_alone: BTreeMap<SaleNumber, LeftAlone>,
}

/// An open sale that is not settled here: till, reference, and why.
pub(in crate::agent) type LeftAlone = (String, Reference, String);

/// What can wait until the devices have had their turn.
#[derive(Clone, Copy)]
pub(super) enum Afterwards {
    Tell,
    Print(transaction::Paper),
    LogTimes,
}

/// A sale with what is kept for it in memory only.
pub(in crate::agent) struct OpenTransaction {
    pub(super) sale: Transaction,
    /// The request: of a sealed card it is made before the card's step is written. Kept until the answer, for a gateway
    /// that was too busy is asked again; wiped when it is dropped.
    pub(in crate::agent) prepared: Option<Result<PreparedPayment, String>>,
    /// Its last step could not be written: how it stands is only on the disk.
    pub(super) stuck: bool,
    /// Tills that asked to cancel and wait for the answer.
    pub(super) cancels: Vec<oneshot::Sender<Result<SaleView, Refused>>>,
    /// Its end is in the figures, and a fault behind it in the log.
    pub(super) counted: bool,
    /// What was given back of it by its payment's id when its reversal was last held against that, in minor units.
    pub(super) given_by_id: Option<u64>,
    pub(in crate::agent) times: SaleTimes,
    /// The last step that was announced of it.
    pub(in crate::agent) step: Option<&'static str>,
    /// Until when the reader waits for a card; `None` when it does not, or when a card is at work.
    pub(in crate::agent) card_until: Option<Duration>,
}

/// Whether an action may be carried out now.
pub(in crate::agent) enum Gate {
    Opens(Action),
    /// Not now; what its sale hears of that at once.
    Holds(Option<transaction::Event>),
}

impl OpenTransactions {
    pub(in crate::agent) fn new(config: &Config) -> Self {
        let (open, inbox, afterwards, left_alone) = Default::default();
        Self { open, inbox, afterwards, deadlines: deadlines(config), left_alone }
    }

    pub(in crate::agent) fn get(&self, number: SaleNumber) -> Option<&OpenTransaction> {
        self.open.get(&number)
    }

    /// All of them, the oldest first.
    pub(in crate::agent) fn iter(&self) -> impl Iterator<Item = &OpenTransaction> {
        self.open.values()
    }

    /// Those up to this number.
    pub(in crate::agent) fn until(&self, last: SaleNumber) -> impl Iterator<Item = &OpenTransaction> {
        self.open.range(..=last).map(|(_, active)| active)
    }

    /// The live sale of a till's reference.
    pub(in crate::agent) fn find(&self, till: &str, reference: &Reference) -> Option<&Transaction> {
        let is_it = |order: &Order| order.till == till && order.reference == *reference;
        self.iter().map(OpenTransaction::sale).find(|sale| is_it(sale.order()))
    }

    /// Why an open sale of the journal is not settled here.
    pub(in crate::agent) fn left_alone(&self) -> &BTreeMap<SaleNumber, LeftAlone> {
        &self.left_alone
    }

    pub(in crate::agent) fn deadlines(&self) -> Deadlines {
        self.deadlines
    }

    /// When the first of them wants to be woken.
    pub(in crate::agent) fn due(&self) -> Option<Duration> {
        self.iter().filter_map(OpenTransaction::deadline).min()
    }

    /// A sale hears this once what is under way is done.
    pub(super) fn hear_later(&mut self, number: SaleNumber, event: transaction::Event) {
        self.inbox.push_back((number, event));
    }

    /// Whether something waits to be told or printed.
    pub(in crate::agent) fn has_something_to_tell(&self) -> bool {
        !self.afterwards.is_empty()
    }

    /// Those whose deadline has passed hear it.
    pub(super) fn deadlines_passed(&mut self, now: Duration) {
        let due = self.open.iter().filter(|(_, active)| active.deadline().is_some_and(|deadline| deadline <= now));
        self.inbox.extend(due.map(|(number, _)| (*number, transaction::Event::DeadlinePassed)));
    }

    /// The oldest of those that nobody knows the end of are tried again before the next sale, without holding it up:
    /// what goes out for them waits for no answer here, and is bounded (`AT_ONCE` of the gateway's desk).
    pub(super) fn nudge_the_oldest(&mut self) {
        let waits = |active: &OpenTransaction| {
            !active.stuck && matches!(active.sale.standing(), Standing::Unconfirmed { quarantined: None, .. })
        };
        let open = self.open.iter().filter(|(_, active)| waits(active)).map(|(number, _)| *number).take(NUDGED);
        self.inbox.extend(open.map(|number| (number, transaction::Event::RetryNow)));
    }

    /// Forgets the sales that are settled, but for the one at the reader.
    pub(super) fn forget_settled(&mut self, at_reader: Option<SaleNumber>) {
        self.open.retain(|number, active| !active.sale.is_settled() || at_reader == Some(*number));
    }
}

impl OpenTransaction {
    pub(super) fn new(sale: Transaction, now: Duration) -> Self {
        let (cancels, times, step, card_until) = (Vec::new(), SaleTimes::begin(now), None, None);
        Self { sale, prepared: None, stuck: false, cancels, counted: false, given_by_id: None, times, step, card_until }
    }

    pub(in crate::agent) fn sale(&self) -> &Transaction {
        &self.sale
    }

    pub(in crate::agent) fn order(&self) -> &Order {
        self.sale.order()
    }

    pub(in crate::agent) fn number(&self) -> SaleNumber {
        self.sale.order().number
    }

    /// Whether its last step could not be written.
    pub(in crate::agent) fn is_stuck(&self) -> bool {
        self.stuck
    }

    /// Whether its end is in the figures.
    pub(in crate::agent) fn is_counted(&self) -> bool {
        self.counted
    }

    /// Whether it waits for its card, as far as that could be written.
    pub(in crate::agent) fn waits_for_card(&self) -> bool {
        !self.stuck && self.sale.standing() == Standing::Waiting
    }

    /// Answers who asked to cancel, once it is known whether that was in time: not as long as the reader is being
    /// stopped.
    pub(super) fn answer_cancels(&mut self, view: &SaleView) {
        if view.state == SaleState::WaitingForCard {
            return;
        }
        for waiting in self.cancels.drain(..) {
            let _ = waiting.send(Ok(view.clone()));
        }
    }

    /// When it wants to be woken; what waits for the disk does not.
    fn deadline(&self) -> Option<Duration> {
        self.sale.deadline().filter(|_| !self.stuck)
    }
}

/// The times of one sale, monotonic: where its time went, until the card was read, at the gateway, on the disk, and the
/// agent's own. For the log and the figures; nothing is decided by it.
#[derive(Debug)]
pub(in crate::agent) struct SaleTimes {
    begun: Duration,
    card: Option<Duration>,
    /// The agent's own time began here, with the disk's time so far.
    own_since: Option<(Duration, Duration)>,
    /// When the request, or the card's answer, was handed on last.
    handed_on: Option<Duration>,
    /// The agent's own time: between the card and the request, and between the answer and CONTINUE, without the disk.
    pub(in crate::agent) own: Duration,
    /// Time the disk took, all steps together.
    pub(in crate::agent) journal: Duration,
    /// From handing the request to the client to its answer.
    pub(in crate::agent) gateway: Duration,
}

impl SaleTimes {
    fn begin(now: Duration) -> Self {
        let (gateway, journal, own) = Default::default();
        Self { begun: now, card: None, own_since: None, handed_on: None, own, journal, gateway }
    }

    pub(super) fn card_read(&mut self, now: Duration) {
        self.card = Some(now);
        self.answered(now);
    }

    pub(super) fn answered(&mut self, now: Duration) {
        self.own_since = Some((now, self.journal));
    }

    /// When the request, or the card's answer, was handed on last.
    pub(in crate::agent) fn handed_on_at(&self) -> Option<Duration> {
        self.handed_on
    }

    /// From the beginning until the card was read; `None` as long as it was not.
    pub(in crate::agent) fn until_card(&self) -> Option<Duration> {
        self.card.map(|card| card.saturating_sub(self.begun))
    }

    /// The request or the card's answer is on its way.
    pub(in crate::agent) fn handed_on(&mut self, now: Duration) {
        self.handed_on = Some(now);
        if let Some((since, journal)) = self.own_since.take() {
            self.own += now.saturating_sub(since).saturating_sub(self.journal - journal);
        }
    }
}

/// The core's deadlines from the configuration.
fn deadlines(config: &Config) -> Deadlines {
    let terminal = &config.terminal;
    Deadlines {
        pending: Duration::from_millis(config.gateway.answer_timeout_ms),
        resend: Duration::from_secs(config.gateway.resend_after_s),
        refuses_repeats: config.gateway.assumptions.refuses_repeated_references,
        lists_registrations: config.gateway.assumptions.query_lists_registrations,
        absence_final: Duration::from_secs(config.gateway.assumptions.absence_final_after_h * 3600),
        till: Duration::from_secs(terminal.till_confirm_s),
        signature: terminal.confirm_signature.then(|| Duration::from_secs(terminal.signature_timeout_s)),
    }
}
