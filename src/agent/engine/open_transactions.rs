//! The open transactions with their data in memory, their queued events, and the work that can wait until the devices
//! have acted. Only the engine changes a transaction.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::config::Config;
use crate::till::{Command, Refused, SaleState, SaleView};
use pos_core::transaction::{self, Action, Deadlines, Order, Standing, Transaction};
use pos_gateway::PreparedPayment;
use pos_terms::transaction::{Reference, SaleNumber};
use pos_words::Sentence;

/// The number of unconfirmed transactions that are retried when a new one begins. More of them would take up the
/// bandwidth that the new transaction needs.
const NUDGED: usize = 3;

/// The open transactions, and the events queued for them.
pub(in crate::agent) struct OpenTransactions {
    /// The transactions that are not complete, or whose card is still in the reader.
    pub(super) open: BTreeMap<SaleNumber, OpenTransaction>,
    /// The queued events.
    pub(super) inbox: VecDeque<(SaleNumber, transaction::Event)>,
    /// The messages to send and receipts to print once the devices have acted.
    pub(super) afterwards: VecDeque<(SaleNumber, Afterwards)>,
    pub(super) deadlines: Deadlines,
    /// The open transactions in the journal that this agent leaves alone.
    pub(super) left_alone: BTreeMap<SaleNumber, LeftAlone>,
}

/// An open transaction that this agent leaves alone: till, reference and reason.
pub(in crate::agent) type LeftAlone = (String, Reference, Sentence);

/// Work that can wait until the devices have acted.
#[derive(Clone, Copy)]
pub(super) enum Afterwards {
    Tell,
    Print(transaction::Paper),
    LogTimes,
}

/// A transaction, with the data that is only in memory.
pub(in crate::agent) struct OpenTransaction {
    pub(super) sale: Transaction,
    /// The prepared request. With a sealed card, it is made before the card's step is written. It is kept until the
    /// answer, because it is sent again if the gateway was too busy. It is wiped when dropped.
    pub(in crate::agent) prepared: Option<Result<PreparedPayment, String>>,
    /// True if the last step could not be written. Then only the state on the disk is valid.
    pub(super) stuck: bool,
    /// The requests for its receipt, which wait for the card's last answer.
    pub(super) receipts: Vec<Command>,
    /// The callers that asked to cancel and wait for the answer.
    pub(super) cancels: Vec<oneshot::Sender<Result<SaleView, Refused>>>,
    /// True if the outcome is in the metrics, and a fault that caused it is in the log.
    pub(super) counted: bool,
    /// The sum of the refunds by payment id at the last check of the reversal, in minor units.
    pub(super) given_by_id: Option<u64>,
    pub(in crate::agent) times: SaleTimes,
    /// The last step that was announced.
    pub(in crate::agent) step: Option<&'static str>,
    /// The cardholder's language, if the card names one.
    pub(in crate::agent) language: Option<&'static str>,
    /// The end of the reader's wait for a card. `None` if the reader does not wait, or while a card is in use.
    pub(in crate::agent) card_until: Option<Duration>,
}

/// The decision whether an action may be carried out.
pub(in crate::agent) enum Gate {
    Opens(Action),
    /// The action is held back. The event is for its transaction.
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

    /// Returns all open transactions, the oldest first.
    pub(in crate::agent) fn iter(&self) -> impl Iterator<Item = &OpenTransaction> {
        self.open.values()
    }

    /// Returns the open transactions up to this number.
    pub(in crate::agent) fn until(&self, last: SaleNumber) -> impl Iterator<Item = &OpenTransaction> {
        self.open.range(..=last).map(|(_, active)| active)
    }

    /// Finds the open transaction with a till's reference.
    pub(in crate::agent) fn find(&self, till: &str, reference: &Reference) -> Option<&Transaction> {
        let is_it = |order: &Order| order.till == till && order.reference == *reference;
        self.iter().map(OpenTransaction::sale).find(|sale| is_it(sale.order()))
    }

    /// Returns the open transactions that this agent leaves alone, each with the reason.
    pub(in crate::agent) fn left_alone(&self) -> &BTreeMap<SaleNumber, LeftAlone> {
        &self.left_alone
    }

    pub(in crate::agent) fn deadlines(&self) -> Deadlines {
        self.deadlines
    }

    /// Returns the earliest deadline.
    pub(in crate::agent) fn due(&self) -> Option<Duration> {
        self.iter().filter_map(OpenTransaction::deadline).min()
    }

    /// Queues an event until the current one has been handled.
    pub(super) fn hear_later(&mut self, number: SaleNumber, event: transaction::Event) {
        self.inbox.push_back((number, event));
    }

    /// Returns whether messages or receipts wait.
    pub(in crate::agent) fn has_something_to_tell(&self) -> bool {
        !self.afterwards.is_empty()
    }

    /// Queues an event for each transaction whose deadline has passed.
    pub(super) fn deadlines_passed(&mut self, now: Duration) {
        let due = self.open.iter().filter(|(_, active)| active.deadline().is_some_and(|deadline| deadline <= now));
        self.inbox.extend(due.map(|(number, _)| (*number, transaction::Event::DeadlinePassed)));
    }

    /// Retries the oldest unconfirmed transactions before a new transaction, without delaying it. Nothing waits here
    /// for the retries, and `AT_ONCE` limits how many run at the same time.
    pub(super) fn nudge_the_oldest(&mut self) {
        let waits = |active: &OpenTransaction| {
            !active.stuck && matches!(active.sale.standing(), Standing::Unconfirmed { quarantined: None, .. })
        };
        let open = self.open.iter().filter(|(_, active)| waits(active)).map(|(number, _)| *number).take(NUDGED);
        self.inbox.extend(open.map(|number| (number, transaction::Event::RetryNow)));
    }

    /// Keeps a request for a receipt between the outcome and the card's last answer, which is on the receipt too.
    /// Returns every other request.
    pub(in crate::agent) fn keep_until_settled(&mut self, command: Command) -> Option<Command> {
        let (Command::Receipt { till, reference, .. } | Command::Print { till, reference, .. }) = &command else {
            return Some(command);
        };
        let is_meant = |active: &&mut OpenTransaction| {
            let Order { till: ours, reference: name, .. } = active.sale.order();
            (ours, name) == (till, reference)
        };
        match self.open.values_mut().find(is_meant).filter(|active| active.awaits_last_answer()) {
            Some(active) => {
                // Callers give up while the card hangs, and ask again.
                active.receipts.retain(|earlier| !earlier.is_abandoned_receipt());
                active.receipts.push(command);
                None
            }
            None => Some(command),
        }
    }

    /// Takes the requests for receipts that are complete. A caller that has left knows of no paper, so it gets none.
    pub(super) fn receipts_due(&mut self) -> Vec<Command> {
        let complete = self.open.values_mut().filter(|active| !active.awaits_last_answer());
        let due = complete.flat_map(|active| std::mem::take(&mut active.receipts));
        due.filter(|command| !command.is_abandoned_receipt()).collect()
    }

    /// Forgets the completed transactions, except the one at the reader.
    pub(super) fn forget_settled(&mut self, at_reader: Option<SaleNumber>) {
        self.open.retain(|number, active| !active.sale.is_settled() || at_reader == Some(*number));
    }
}

impl OpenTransaction {
    pub(super) fn new(sale: Transaction, now: Duration) -> Self {
        Self {
            sale,
            prepared: None,
            stuck: false,
            receipts: Vec::new(),
            cancels: Vec::new(),
            counted: false,
            given_by_id: None,
            times: SaleTimes::begin(now),
            step: None,
            language: None,
            card_until: None,
        }
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

    /// Returns whether the last step could not be written.
    pub(in crate::agent) fn is_stuck(&self) -> bool {
        self.stuck
    }

    /// Returns whether the outcome is in the metrics.
    pub(in crate::agent) fn is_counted(&self) -> bool {
        self.counted
    }

    /// Returns whether the transaction has its outcome, and the card has not given its last answer.
    fn awaits_last_answer(&self) -> bool {
        !self.stuck && matches!(self.sale.standing(), Standing::Ended(_)) && !self.sale.is_settled()
    }

    /// Returns whether the transaction waits for its card and this is recorded.
    pub(in crate::agent) fn waits_for_card(&self) -> bool {
        !self.stuck && self.sale.standing() == Standing::Waiting
    }

    /// Answers the callers that asked to cancel, once the agent knows whether they were in time. It does not know this
    /// while the reader is being stopped.
    pub(super) fn answer_cancels(&mut self, view: &SaleView) {
        if view.state == SaleState::WaitingForCard {
            return;
        }
        for waiting in self.cancels.drain(..) {
            let _ = waiting.send(Ok(view.clone()));
        }
    }

    /// Returns the transaction's deadline. A transaction that waits for the disk has none.
    fn deadline(&self) -> Option<Duration> {
        self.sale.deadline().filter(|_| !self.stuck)
    }
}

/// The times of one transaction on the monotonic clock: until the card was read, at the gateway, on the disk, and in
/// the agent. They are only for the log and the metrics.
#[derive(Debug)]
pub(in crate::agent) struct SaleTimes {
    begun: Duration,
    card: Option<Duration>,
    /// The start of the agent's own time, and the total disk time at that moment.
    own_since: Option<(Duration, Duration)>,
    /// The time when the request or the card's answer was last passed on.
    handed_on: Option<Duration>,
    /// The agent's own time: from the card to the request, and from the answer to CONTINUE, without the disk time.
    pub(in crate::agent) own: Duration,
    /// The disk time of all steps.
    pub(in crate::agent) journal: Duration,
    /// The time from passing the request to the client until the answer.
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

    /// Returns when the request or the card's answer was last passed on.
    pub(in crate::agent) fn handed_on_at(&self) -> Option<Duration> {
        self.handed_on
    }

    /// Returns the time from the start until the card was read, or `None` if it has not been read.
    pub(in crate::agent) fn until_card(&self) -> Option<Duration> {
        self.card.map(|card| card.saturating_sub(self.begun))
    }

    /// Records that the request or the card's answer was passed on.
    pub(in crate::agent) fn handed_on(&mut self, now: Duration) {
        self.handed_on = Some(now);
        if let Some((since, journal)) = self.own_since.take() {
            self.own += now.saturating_sub(since).saturating_sub(self.journal - journal);
        }
    }
}

/// Returns the core's deadlines from the configuration.
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
