//! The driver: routes what the core wants to the devices of the world, and what they say to the core. It decides
//! nothing.
//!
//! A step is written onto a disk that may fail, and the power may fail before and after it, and between two actions.

use std::time::Duration;

use pos_core::book::{self, Book, BookEntry};
use pos_core::sale::{Action, Event, Now, Order, Sale};

use crate::bank::Request;
use crate::world::{DEADLINES, ReaderDoes, Told, World};

/// What the disk and the power do while an event is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutAt {
    /// All goes well.
    Not,
    /// The power fails before the step is written.
    BeforeWriting,
    /// The power fails when it is written, and nothing of it was done.
    AfterWriting,
    /// The power fails after so many of its actions.
    AfterActions(u8),
    /// The disk takes no write.
    DiskFails,
}

impl CutAt {
    /// Every one that makes a difference to a step with so many actions.
    pub(crate) fn all(actions: usize) -> impl Iterator<Item = Self> {
        let between = (1..actions).filter_map(|after| u8::try_from(after).ok()).map(Self::AfterActions);
        [Self::BeforeWriting, Self::AfterWriting, Self::DiskFails].into_iter().chain(between)
    }
}

/// What survives the power: the sale as its records tell it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    pub(crate) sale: Option<Sale>,
    fails: bool,
}

/// The disk took no write.
#[derive(Debug)]
pub(crate) struct DiskFull;

impl Book for Disk {
    type Error = DiskFull;

    fn write(&mut self, _: i64, entries: &[BookEntry<'_>]) -> Result<Duration, DiskFull> {
        if self.fails {
            return Err(DiskFull);
        }
        for entry in entries {
            let BookEntry::Step { records, .. } = entry else { continue };
            let records = [records.to_vec()];
            self.sale = match self.sale.take() {
                Some(sale) => Some(sale.replay_on(&records)),
                None => Sale::replay(&records),
            };
        }
        Ok(Duration::ZERO)
    }
}

impl World {
    /// The till wishes, and the sale begins.
    pub(crate) fn begin(&mut self, order: Order, cut: CutAt) {
        let (sale, step) = Sale::begin(order);
        self.board.sale = Some(sale);
        self.carry_out(step, cut);
        self.board.proceeds = self.is_on() && !self.needs_card();
    }

    /// The sale hears an event.
    pub(crate) fn hear(&mut self, event: Event, cut: CutAt) {
        let now = self.now;
        let Some(sale) = self.board.sale.as_mut().filter(|_| !self.board.stuck) else { return };
        let step = sale.handle(event, now, DEADLINES);
        self.carry_out(step, cut);
    }

    /// How many actions the event would have done.
    pub(crate) fn actions_of(&self, event: Event) -> usize {
        let mut board = self.board.clone();
        let mut disk = Disk::default();
        let Some(mut sale) = board.sale.take() else { return 0 };
        let step = sale.handle(event, self.now, DEADLINES);
        book::commit(&mut disk, 0, &mut sale, step).map_or(0, |(actions, _)| actions.len())
    }

    fn carry_out(&mut self, step: pos_core::sale::Step, cut: CutAt) {
        let writes = !step.records().is_empty();
        if cut == CutAt::BeforeWriting {
            return self.power_fails();
        }
        self.disk.fails = cut == CutAt::DiskFails && writes;
        let Some(sale) = self.board.sale.as_mut() else { return };
        let written = book::commit(&mut self.disk, self.now.unix_ms, sale, step);
        match written {
            Ok((actions, _)) => {
                let most = match cut {
                    CutAt::AfterWriting => 0,
                    CutAt::AfterActions(most) => usize::from(most),
                    _ => usize::MAX,
                };
                for action in actions.into_iter().take(most) {
                    self.act(action);
                }
                if most != usize::MAX {
                    self.power_fails();
                }
            }
            Err(DiskFull) => self.is_stuck(),
        }
    }

    /// What could not be written is not done: the card is declined, and nothing is told as sure.
    fn is_stuck(&mut self) {
        self.board.stuck = true;
        if self.board.sale.as_ref().is_some_and(Sale::card_waits) {
            self.reader = ReaderDoes::Declined;
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Arm => self.reader = ReaderDoes::Armed,
            Action::StopReader => self.reader = ReaderDoes::Stopping,
            Action::AnswerCard(answer) => {
                self.reader = if answer.arc == *b"00" { ReaderDoes::Approved } else { ReaderDoes::Declined };
            }
            Action::Ask => self.sends(Request::Pay),
            Action::Poll { payment } => self.sends(Request::Poll { payment }),
            Action::Query { references } => self.sends(Request::Query { references }),
            Action::Reverse { payment, amount, reference } => {
                self.sends(Request::Reverse { payment, amount, reference });
            }
            Action::Tell => self.tells(Told::of(self.board.sale.as_ref())),
            Action::AskTip | Action::Alarm { .. } | Action::Print(_) => {}
        }
    }

    fn tells(&mut self, told: Told) {
        let ends = self.told.0.zip(told.0).map(|((first, _), (then, _))| (first, then));
        self.told_otherwise = ends.filter(|(first, then)| first != then);
        if told.0.is_some() {
            self.told = told;
        }
    }

    fn sends(&mut self, request: Request) {
        if request == Request::Pay {
            self.asked_at = self.now;
        }
        if matches!(request, Request::Reverse { .. }) {
            let may_arrive = self.wire.iter().any(|one| !one.awaited && one.request == request);
            self.reversed_again |= may_arrive && self.now.monotonic.saturating_sub(self.reversed_at) < DEADLINES.resend;
            self.reversed_at = self.now.monotonic;
        }
        self.wire.push(crate::world::OnWire { request, awaited: true });
    }

    /// The board is dark: nobody waits for an answer any more, and the card is out.
    pub(crate) fn power_fails(&mut self) {
        self.board = crate::world::Running::default();
        self.reader = ReaderDoes::Idle;
        self.wire.iter_mut().for_each(|on_wire| on_wire.awaited = false);
        // A question that nobody waits for changes nothing at the bank.
        self.wire.retain(|on_wire| on_wire.request.moves_money());
    }

    /// The board starts, and takes up what its disk knows.
    pub(crate) fn boots(&mut self, cut: CutAt) {
        self.board.is_on = true;
        self.board.stuck = false;
        self.board.sale.clone_from(&self.disk.sale);
        if let Some(sale) = &self.board.sale
            && !sale.is_settled()
        {
            self.hear(Event::Restarted, cut);
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.board.is_on
    }

    fn needs_card(&self) -> bool {
        self.board.sale.as_ref().is_some_and(|sale| sale.order().kind().needs_card())
    }

    /// Both clocks go on.
    pub(crate) fn passes(&mut self, time: Duration) {
        let Now { monotonic, unix_ms } = self.now;
        let ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        self.now = Now { monotonic: monotonic + time, unix_ms: unix_ms.saturating_add(ms) };
    }
}
