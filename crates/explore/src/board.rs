//! The driver. It passes the core's actions to the devices of the world, and the devices' events to the core. It makes
//! no decisions.
//!
//! Each step is written to a disk that may fail. The power may fail before and after the write, and between two
//! actions.

use std::rc::Rc;
use std::time::Duration;

use pos_core::book;
use pos_core::transaction::{Action, Event, Now, Order, Reason, ReversalAnswer, Standing, Step, Transaction};
use pos_terms::transaction::Who;

use crate::bank::{Request, eur};
use crate::disk::{CutAt, DiskFull};
use crate::life::{JournalCopy, Life, ReaderDoes};
use crate::world::{OnWire, World};

impl World {
    /// Begins the transaction that the till requests.
    pub(crate) fn begin(&mut self, cut: CutAt) {
        let (sale, step) = Transaction::begin(self.life.order.as_ref().clone());
        self.life.has_begun = true;
        self.life.sale = Some(sale);
        self.carry_out(step, cut);
        self.life.proceeds = self.is_on && !self.life.order.kind().needs_card();
    }

    /// Passes an event to the transaction.
    pub(crate) fn hear(&mut self, event: Event, cut: CutAt) {
        let (now, deadlines) = (self.now, self.deadlines);
        let Some(sale) = self.life.sale.as_mut().filter(|_| !self.life.stuck) else { return };
        let step = sale.handle(event, now, deadlines);
        self.carry_out(step, cut);
    }

    fn carry_out(&mut self, step: Step, cut: CutAt) {
        let writes = !step.records().is_empty();
        if cut == CutAt::BeforeWriting {
            return self.power_fails();
        }
        self.disk.fails = cut == CutAt::DiskFails && writes;
        let was_for_a_person = self.life.is_for_a_person();
        let Some(sale) = self.life.sale.as_mut() else { return };
        match book::commit(&mut self.disk, self.now.unix_ms, sale, step) {
            Ok((actions, _)) => {
                self.life.did(&actions, was_for_a_person);
                self.acts = actions.len();
                actions.into_iter().take(cut.done()).for_each(|action| self.act(action));
                if cut.done() != usize::MAX {
                    self.power_fails();
                }
            }
            Err(DiskFull) => self.is_stuck(),
        }
    }

    /// Makes the till accept a part. A second transaction, which begins in the same step, refunds the rest.
    pub(crate) fn take_part(&mut self, part: u64, names: Order, cut: CutAt) {
        if cut == CutAt::BeforeWriting {
            return self.power_fails();
        }
        self.disk.fails = cut == CutAt::DiskFails;
        let Some(sale) = self.life.sale.as_mut() else { return };
        let Ok((ends, mut back, begins)) = sale.take_part(eur(part), names, Some(Who::default()), self.now) else {
            return;
        };
        let steps = [(sale, ends), (&mut back, begins)];
        match book::commit_all(&mut self.disk, self.now.unix_ms, steps) {
            Ok(([actions, begun], _)) => {
                let rest = Life::new(Rc::new(back.order().clone()), self.now);
                self.other = Some(Box::new(Life { has_begun: true, proceeds: true, sale: Some(back), ..rest }));
                let first = actions.len();
                self.acts = first + begun.len();
                actions.into_iter().take(cut.done()).for_each(|action| self.act(action));
                self.swaps();
                begun.into_iter().take(cut.done().saturating_sub(first)).for_each(|action| self.act(action));
                self.swaps();
                if cut.done() != usize::MAX {
                    self.power_fails();
                }
            }
            Err(DiskFull) => self.is_stuck(),
        }
    }

    /// Handles a step that could not be written. Its actions are not carried out: the card is declined, and no outcome
    /// is reported.
    fn is_stuck(&mut self) {
        self.life.stuck = true;
        if self.life.sale.as_ref().is_some_and(Transaction::card_waits) {
            self.life.reader = ReaderDoes::Declined;
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::AskTip => self.life.reader = ReaderDoes::AsksTip,
            Action::Arm => self.life.reader = ReaderDoes::Armed,
            Action::StopReader => self.life.reader = self.life.reader.stops(),
            Action::AnswerCard(answer) => {
                self.life.reader = if answer.arc == *b"00" { ReaderDoes::Approved } else { ReaderDoes::Declined };
            }
            Action::Ask => {
                let Some(sale) = &self.life.sale else { return };
                let order = sale.order();
                self.sends(Request::Pay {
                    reference: order.merchant_transaction_id.clone(),
                    kind: order.kind(),
                    amount: sale.amount(),
                    of: order.operation.of().map(|of| of.payment.clone()),
                });
            }
            Action::Poll { payment } => self.sends(Request::Poll { payment }),
            Action::Query { references } => self.sends(Request::Query { references }),
            Action::Reverse { reference, .. } if self.life.copy == JournalCopy::Unnoticed => {
                self.life.held_back = Some(reference);
            }
            Action::Reverse { payment, amount, reference } => {
                self.sends(Request::Reverse { payment, amount, reference });
            }
            Action::Tell => self.life.tells(),
            Action::Alarm { .. } => {}
            Action::Print(paper) => self.life.prints(paper),
        }
    }

    fn sends(&mut self, request: Request) {
        let whose = self.life.order.number;
        match &request {
            Request::Pay { .. } => self.life.asks(self.now),
            Request::Reverse { .. } => {
                let may_arrive = self.wire.iter().any(|one| !one.awaited && one.request == request);
                self.life.reverses(may_arrive, self.now, self.deadlines.resend);
            }
            Request::Poll { .. } | Request::Query { .. } => {}
        }
        self.wire.push(OnWire { request, whose, awaited: true });
    }

    /// Cuts the power. From then on, no answer is awaited, and the card is out of the reader.
    pub(crate) fn power_fails(&mut self) {
        self.is_on = false;
        self.life.is_dark();
        self.other.iter_mut().for_each(|other| other.is_dark());
        self.wire.iter_mut().for_each(|on_wire| on_wire.awaited = false);
        // A query whose answer no one awaits changes nothing at the bank.
        self.wire.retain(|on_wire| on_wire.request.moves_money());
    }

    /// Starts the terminal, and continues the transactions on its disk.
    pub(crate) fn boots(&mut self, cut: CutAt) {
        self.is_on = true;
        self.takes_up(cut);
        if self.other.is_some() {
            self.swaps();
            self.takes_up(CutAt::Not);
            self.swaps();
        }
    }

    /// Continues one transaction from its records. In an outdated journal copy, a transaction that was never sent waits
    /// until the terminal knows about the copy.
    pub(crate) fn takes_up(&mut self, cut: CutAt) {
        self.life.stuck = false;
        self.life.sale = self.disk.replayed(&self.life.order).filter(|_| self.is_on);
        let Some(sale) = self.life.sale.as_ref().filter(|sale| !sale.is_settled()) else { return };
        let is_unnoticed = self.life.copy == JournalCopy::Unnoticed;
        if !is_unnoticed || sale.standing() != Standing::Waiting {
            self.hear(Event::Restarted, if is_unnoticed { CutAt::Not } else { cut });
        }
        if let Some(reference) = self.life.held_back.take().filter(|_| self.is_on) {
            let reversal = ReversalAnswer::HeldBack { why: Reason::ReversalHeldBack.into(), for_person: false };
            self.hear(Event::ReversalAnswered { reference, reversal }, CutAt::Not);
        }
        if is_unnoticed && self.is_on {
            self.hear(Event::OldCopy { why: Reason::OldCopy.into() }, cut);
            self.life.copy = if cut == CutAt::Not { JournalCopy::Noticed } else { JournalCopy::Unnoticed };
        }
    }

    /// Exchanges the first and the second transaction temporarily.
    pub(crate) fn swaps(&mut self) {
        if let Some(other) = &mut self.other {
            std::mem::swap(&mut self.life, other);
        }
    }

    /// Advances both clocks.
    pub(crate) fn passes(&mut self, time: Duration) {
        let Now { monotonic, unix_ms } = self.now;
        let ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        self.now = Now { monotonic: monotonic + time, unix_ms: unix_ms.saturating_add(ms) };
    }
}
