//! The open sales: each with what the agent keeps for it in memory, what is to be told to them, and what can wait until
//! the devices have had their turn.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::config::Config;
use crate::till::{Refused, SaleView};
use pos_core::book;
use pos_core::sale::{self, Deadlines, Now, Sale};
use pos_gateway::PreparedPayment;
use pos_terms::transaction::{Reference, SaleNumber};

use super::Agent;
use super::sale_times::SaleTimes;

/// Open reversals that a new sale sets going again; many at once would crowd the line that the sale needs.
const NUDGED: usize = 3;

/// The desk.
pub(super) struct SaleDesk {
    /// Sales that are not settled, or whose card is still in the reader.
    pub(super) open: BTreeMap<SaleNumber, OpenSale>,
    /// What is to be told to sales next; filled by actions, emptied by [`Agent::settle`].
    pub(super) inbox: VecDeque<(SaleNumber, sale::Event)>,
    /// Sales to tell and receipts to print, once the devices have had their turn.
    pub(super) afterwards: VecDeque<(SaleNumber, Afterwards)>,
    pub(super) deadlines: Deadlines,
    /// Open sales of the journal that are not settled here.
    pub(super) left_alone: BTreeMap<SaleNumber, LeftAlone>,
}

/// An open sale that is not settled here: till, reference, and why.
pub(super) type LeftAlone = (String, Reference, String);

/// What can wait until the devices have had their turn.
#[derive(Clone, Copy)]
pub(super) enum Afterwards {
    Tell,
    Print(sale::Paper),
    LogTimes,
}

/// A sale with what the agent keeps for it in memory only.
pub(super) struct OpenSale {
    pub(super) sale: Sale,
    /// The request, made from the sealed card while the journal is written; wiped when it was sent or is dropped.
    pub(super) prepared: Option<Result<PreparedPayment, String>>,
    /// Its last step could not be written: how it stands is only on the disk.
    pub(super) stuck: bool,
    /// Tills that asked to cancel and wait for the answer.
    pub(super) cancels: Vec<oneshot::Sender<Result<SaleView, Refused>>>,
    /// Its end is in the figures, and a fault behind it in the log.
    pub(super) counted: bool,
    /// What was given back of it by its payment's id when its reversal was last held against that, in minor units.
    pub(super) given_by_id: Option<u64>,
    pub(super) times: SaleTimes,
    /// The last step that was announced of it.
    pub(super) step: Option<&'static str>,
    /// Until when the reader waits for a card; `None` when it does not, or when a card is at work.
    pub(super) card_until: Option<Duration>,
}

impl SaleDesk {
    pub(super) fn new(config: &Config) -> Self {
        let (open, inbox, afterwards, left_alone) = Default::default();
        Self { open, inbox, afterwards, deadlines: deadlines(config), left_alone }
    }

    /// When the first of them wants to be woken.
    pub(super) fn due(&self) -> Option<Duration> {
        self.open.values().filter_map(OpenSale::deadline).min()
    }
}

impl OpenSale {
    pub(super) fn new(sale: Sale, now: Duration) -> Self {
        let (cancels, times, step, card_until) = (Vec::new(), SaleTimes::begin(now), None, None);
        Self { sale, prepared: None, stuck: false, cancels, counted: false, given_by_id: None, times, step, card_until }
    }

    /// When it wants to be woken; what waits for the disk does not.
    fn deadline(&self) -> Option<Duration> {
        self.sale.deadline().filter(|_| !self.stuck)
    }
}

impl Agent {
    /// Tells tills and prints, in the order it was asked for; then forgets the sales that are settled.
    pub(super) fn tell_and_print(&mut self) {
        while let Some((number, what)) = self.sales.afterwards.pop_front() {
            match what {
                Afterwards::Tell => self.tell(number),
                Afterwards::Print(paper) => self.print(number, paper),
                Afterwards::LogTimes => self.log_times(number),
            }
        }
        let at_reader = self.reader.in_use_by;
        self.sales.open.retain(|number, active| !active.sale.is_settled() || at_reader == Some(*number));
    }

    /// One event of one sale: decide, write, and only then act.
    pub(super) fn advance(&mut self, number: SaleNumber, event: sale::Event) {
        let now = self.now();
        let Some(active) = self.sales.open.get_mut(&number) else {
            return;
        };
        if active.stuck {
            // Nothing can be recorded of it, and it will be taken up again from the disk.
            return;
        }
        let step = active.sale.handle(event, now, self.sales.deadlines);
        let written = self.journal.write(|book| book::commit(book, now.unix_ms, &mut active.sale, step));
        self.after_writing(number, written);
    }

    /// Carries out what the journal gave out, or, when it could not write, nothing but the safe end.
    pub(super) fn after_writing(
        &mut self,
        number: SaleNumber,
        written: Result<(Vec<sale::Action>, Duration), pos_journal::Error>,
    ) {
        match written {
            Ok((actions, took)) => {
                if let Some(active) = self.sales.open.get_mut(&number) {
                    active.times.journal += took;
                }
                for action in actions {
                    self.act(number, action);
                }
                // Once the devices are at work: figures can wait.
                self.measure_step(number, took);
                // The card's data must not outlive the one request they were read for: not a cancel, not any end.
                if let Some(active) = self.sales.open.get_mut(&number).filter(|active| !active.sale.may_ask_again()) {
                    active.prepared = None;
                }
            }
            Err(error) => self.journal_failed(number, &error),
        }
    }

    pub(super) fn deadline_passed(&mut self) {
        let now = self.clock.monotonic();
        let due =
            self.sales.open.iter().filter(|(_, active)| active.deadline().is_some_and(|deadline| deadline <= now));
        self.sales.inbox.extend(due.map(|(number, _)| (*number, sale::Event::DeadlinePassed)).collect::<Vec<_>>());
        self.waited_for_the_slot();
    }

    pub(super) fn now(&self) -> Now {
        Now { monotonic: self.clock.monotonic(), unix_ms: self.clock.unix_ms() }
    }

    /// The oldest open reversals are tried again before the next sale, without holding it up: what goes out for them
    /// waits for no answer here, and is bounded ([`super::gateway_desk::AT_ONCE`]).
    pub(super) fn nudge_open_reversals(&mut self) {
        let waits = |active: &OpenSale| {
            !active.stuck && matches!(active.sale.standing(), sale::Standing::Unconfirmed { quarantined: None, .. })
        };
        let open = self.sales.open.iter().filter(|(_, active)| waits(active)).map(|(number, _)| *number).take(NUDGED);
        self.sales.inbox.extend(open.map(|number| (number, sale::Event::Nudged)).collect::<Vec<_>>());
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
