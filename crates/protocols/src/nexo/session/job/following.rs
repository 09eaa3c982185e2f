//! A payment or a reversal at the terminal, from its begin to its answer.

use super::super::flow::Flow;
use super::super::told::{self, TransactionReport};
use super::super::wanted;
use super::{Job, Stage, Standing, WATCH_S, because, refused};
use crate::nexo::enums::{Category, ErrorCondition};
use crate::nexo::reference::{replaces, replacing};
use pos_till_api::follow::{Follower, Heard, NextActor};
use pos_till_api::{Ask, Begin, Copy, Kind, Outcome, ProblemType, Receipt, Said, Sale, State};

/// A transaction that the session asked the terminal to begin, or that the terminal already has.
#[derive(Debug)]
pub(super) struct Following {
    standing: Standing,
    follower: Follower,
}

/// A finished transaction, with the receipt copies read so far.
#[derive(Debug)]
pub(super) struct Receipts {
    sale: Box<Sale>,
    copy: Copy,
    read: Vec<Receipt>,
}

impl Job {
    pub(super) fn begin(&mut self, standing: Standing, begin: Begin, flow: &mut Flow<'_>) {
        if self.aborted {
            return self.answered(because(ErrorCondition::Aborted, &"aborted before it was started"), flow);
        }
        if flow.now.steady >= self.begins_until && !standing.may_stand {
            let why = "too late: the terminal was interrupted before it started this; nothing was started";
            return self.answered(because(ErrorCondition::Aborted, &why), flow);
        }
        if !self.is_heard() && !standing.may_stand {
            // The till has stopped waiting before the transaction began, so it does not begin.
            return self.over(None, flow);
        }
        let follower = Follower::begin(begin, WATCH_S);
        self.ask(follower.ask(), Stage::Following(Following { standing, follower }), flow);
    }

    pub(super) fn heard(&mut self, mut following: Following, said: Said, flow: &mut Flow<'_>) {
        let was_beginning = following.follower.is_beginning();
        let heard = following.follower.said(said, flow.now.steady);
        let standing = following.standing();
        match heard {
            // Another message may have begun the transaction.
            Heard::WasThere(sale) => self.known_as(standing, *sale, flow),
            Heard::Stands(sale) if was_beginning && sale.replayed => self.known_as(standing, *sale, flow),
            Heard::Stands(sale) => self.stands(following, *sale, flow),
            Heard::Stopped { sale, .. } => self.goes_on(following, *sale, flow),
            Heard::Next { at, ask } => self.ask_at(at, ask, Stage::Following(following), flow),
            Heard::Refused(problem) if problem.is(ProblemType::AmountDiffers) => {
                self.reject(&"this ServiceID was used for another amount or another kind of payment", flow);
            }
            Heard::Refused(problem) => self.answered(refused(&problem), flow),
            Heard::Silent { .. } => self.nobody_answers(standing.may_stand, flow),
        }
    }

    /// Follows a transaction that the terminal already has.
    pub(super) fn follow(&mut self, standing: Standing, sale: Sale, flow: &mut Flow<'_>) {
        let follower = Follower::of(sale.reference.clone(), WATCH_S);
        self.stands(Following { standing, follower }, sale, flow);
    }

    fn stands(&mut self, mut following: Following, sale: Sale, flow: &mut Flow<'_>) {
        if sale.state == State::WaitingForCard && self.aborted {
            return self.ask(following.follower.cancel(), Stage::Following(following), flow);
        }
        self.goes_on(following, sale, flow);
    }

    /// Continues a transaction that is not to be stopped, or that was stopped.
    fn goes_on(&mut self, mut following: Following, sale: Sale, flow: &mut Flow<'_>) {
        let declined_reversal =
            sale.kind == Kind::Reversal && sale.outcome == Some(Outcome::Declined) && !replaces(&sale.reference);
        match sale.state.next_actor() {
            NextActor::Agent | NextActor::Till => {
                self.ask(following.follower.watch(), Stage::Following(following), flow)
            }
            // The cashier compares the signature. The receipt says that the customer must sign, and the cashier can
            // cancel the payment by a reversal.
            NextActor::Cashier => self.ask(following.follower.sign(true), Stage::Following(following), flow),
            NextActor::None
                if declined_reversal && sale.of.is_some() && self.identity().category == Category::Reversal =>
            {
                self.give_back(following.standing(), sale, flow);
            }
            NextActor::None => self.read_receipt(Receipts::from(Copy::Merchant, sale), flow),
            NextActor::Recovery => self.told(&sale, &[], flow),
        }
    }

    /// Begins a refund after the issuer declined the reversal. A reversal with an unknown outcome stays unknown.
    fn give_back(&mut self, standing: Standing, reversal: Sale, flow: &mut Flow<'_>) {
        let begin = Begin {
            of: reversal.of,
            till_prints: !flow.settings.terminal_prints,
            till_data: wanted::till_data(&self.request, flow.settings),
            ..Begin::new(&replacing(&reversal.reference), Kind::Refund, None)
        };
        self.aborted = false;
        self.begin(standing, begin, flow);
    }

    /// Reads this copy and any copy after it. A till that no longer waits needs none.
    pub(super) fn read_receipt(&mut self, receipts: Receipts, flow: &mut Flow<'_>) {
        if !self.is_heard() {
            return self.told(&receipts.sale, &receipts.read, flow);
        }
        let (reference, copy) = (receipts.sale.reference.clone(), receipts.copy);
        let width = Some(flow.settings.width);
        self.ask(Ask::Receipt { reference, copy, width, duplicate: false }, Stage::Receipts(receipts), flow);
    }

    pub(super) fn receipt(&mut self, mut receipts: Receipts, said: Said, flow: &mut Flow<'_>) {
        if let Said::Receipt(receipt) = said {
            receipts.read.push(*receipt);
        }
        match receipts.copy {
            Copy::Merchant => self.read_receipt(Receipts { copy: Copy::Customer, ..receipts }, flow),
            Copy::Customer => self.told(&receipts.sale, &receipts.read, flow),
        }
    }

    pub(super) fn told(&mut self, sale: &Sale, receipts: &[Receipt], flow: &mut Flow<'_>) {
        let body = told::body(&TransactionReport { request: &self.request, sale, receipts }, flow);
        self.over(body, flow);
    }
}

impl Following {
    fn standing(&self) -> Standing {
        Standing { may_stand: self.standing.may_stand || self.follower.may_stand(), ..self.standing }
    }
}

impl Receipts {
    /// Starts with this copy.
    pub(super) fn from(copy: Copy, sale: Sale) -> Self {
        Self { sale: Box::new(sale), copy, read: Vec::new() }
    }
}
