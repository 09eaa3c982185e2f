//! One transaction in the world: its state on the board, and what its till and its cashier have heard and seen.

use std::rc::Rc;
use std::time::Duration;

use pos_core::transaction::{Action, Now, Order, Outcome, Paper, ReceiptOutcome, Standing, Transaction};
use pos_terms::card::EntryMode;
use pos_terms::transaction::{Kind, OnSilence, OutcomeWord};

/// What the reader does for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReaderDoes {
    Idle,
    /// It asks the cardholder for a tip.
    AsksTip,
    /// It waits for a card.
    Armed,
    /// It was told to stop, while it waited for a card.
    Stopping,
    /// It was told to stop, while it asked for a tip.
    StopsTyping,
    /// A card waits for the host.
    HoldsCard,
    /// The card was told that the host approved.
    Approved,
    /// The card was told that the host did not.
    Declined,
}

impl ReaderDoes {
    /// What it does when it was told to stop.
    pub(crate) fn stops(self) -> Self {
        if self == Self::AsksTip { Self::StopsTyping } else { Self::Stopping }
    }
}

/// Whether it runs from an old copy of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalCopy {
    No,
    Unnoticed,
    Noticed,
}

/// What the till was told last, where that is an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReportedOutcome(pub(crate) Option<(OutcomeWord, u64)>);

impl ReportedOutcome {
    fn of(sale: Option<&Transaction>) -> Self {
        Self(sale.and_then(|sale| match sale.standing() {
            Standing::Ended(outcome @ Outcome::PartiallyApproved { amount }) => Some((outcome.word(), amount.minor())),
            Standing::Ended(outcome) => Some((outcome.word(), sale.amount().minor())),
            _ => None,
        }))
    }

    /// Whether that is paid.
    pub(crate) fn is_paid(self) -> bool {
        matches!(self.0, Some((OutcomeWord::Approved | OutcomeWord::PartiallyApproved, _)))
    }
}

/// One transaction.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) order: Rc<Order>,
    pub(crate) has_begun: bool,
    /// As it is on the board.
    pub(crate) sale: Option<Transaction>,
    /// Its last step could not be written.
    pub(crate) stuck: bool,
    /// It is recorded, and goes on by itself.
    pub(crate) proceeds: bool,
    pub(crate) reader: ReaderDoes,
    pub(crate) entry: EntryMode,
    /// The cardholder signs.
    pub(crate) signs: bool,
    pub(crate) told: ReportedOutcome,
    /// Two ends that the till was told, one after the other.
    pub(crate) told_otherwise: Option<(OutcomeWord, OutcomeWord)>,
    /// The till may still want to cancel.
    pub(crate) may_cancel: bool,
    pub(crate) asked_at: Now,
    pub(crate) reversed_at: Duration,
    /// The same reversal left again while the one before may still arrive.
    pub(crate) reversed_again: bool,
    /// The gateway said no to the request, and the terminal heard it.
    pub(crate) was_declined: bool,
    /// And the request left again.
    pub(crate) asked_after_decline: bool,
    /// After the host's approval the chip, the comparison of the signature or the till refused it.
    pub(crate) was_refused: bool,
    /// The till has taken it, or kept its silence and wished it so.
    pub(crate) was_taken: bool,
    /// A paper said that it is paid before that was its end.
    pub(crate) printed_too_early: bool,
    /// Whether the last receipt says that it is paid.
    pub(crate) receipt: Option<bool>,
    /// The last step called for a person and raised no alarm.
    pub(crate) nobody_hears: bool,
    /// An alarm told that what is owed to the customer stays, or the board has shown it since.
    pub(crate) rest_is_told: bool,
    pub(crate) copy: JournalCopy,
    /// A reversal that the board holds back until it knows whether its journal is an old copy.
    pub(crate) held_back: Option<String>,
    /// Something left by itself that a person is to decide.
    pub(crate) left_by_itself: bool,
}

impl Life {
    pub(crate) fn new(order: Rc<Order>, now: Now) -> Self {
        Self {
            order,
            has_begun: false,
            sale: None,
            stuck: false,
            proceeds: false,
            reader: ReaderDoes::Idle,
            entry: EntryMode::NfcIcc,
            signs: false,
            told: ReportedOutcome(None),
            told_otherwise: None,
            may_cancel: true,
            asked_at: now,
            reversed_at: Duration::ZERO,
            reversed_again: false,
            was_declined: false,
            asked_after_decline: false,
            was_refused: false,
            was_taken: false,
            printed_too_early: false,
            receipt: None,
            nobody_hears: false,
            rest_is_told: false,
            copy: JournalCopy::No,
            held_back: None,
            left_by_itself: false,
        }
    }

    pub(crate) fn tells(&mut self) {
        let told = ReportedOutcome::of(self.sale.as_ref());
        let ends = self.told.0.zip(told.0).map(|((first, _), (then, _))| (first, then));
        self.told_otherwise = ends.filter(|(first, then)| first != then);
        if told.0.is_some() {
            self.told = told;
        }
    }

    pub(crate) fn prints(&mut self, paper: Paper) {
        let Some(sale) = self.sale.as_ref().filter(|_| paper != Paper::SignatureSlip) else { return };
        let says = match sale.receipt().outcome {
            ReceiptOutcome::Approved | ReceiptOutcome::PartiallyApproved(_) => Some(true),
            ReceiptOutcome::Unconfirmed(_) => None,
            _ => Some(false),
        };
        self.printed_too_early |= says == Some(true) && !matches!(sale.standing(), Standing::Ended(_));
        self.receipt = says;
    }

    pub(crate) fn asks(&mut self, now: Now) {
        self.asked_at = now;
        // What is forgotten already is not forgotten again.
        let matters = self.order.kind() != Kind::ForgetCard;
        self.asked_after_decline |= matters && self.was_declined;
        self.left_by_itself |= matters && self.is_undecided_copy();
    }

    pub(crate) fn reverses(&mut self, may_arrive: bool, now: Now, resend: Duration) {
        // An old copy does not know what the other one has sent.
        self.reversed_again |=
            may_arrive && self.copy == JournalCopy::No && now.monotonic.saturating_sub(self.reversed_at) < resend;
        self.reversed_at = now.monotonic;
        self.left_by_itself |= self.is_undecided_copy();
    }

    /// Nobody has decided yet what becomes of what an old copy holds as open.
    fn is_undecided_copy(&self) -> bool {
        self.copy != JournalCopy::No && !self.sale.as_ref().is_some_and(Transaction::is_decided)
    }

    /// Nobody has said anything until the deadline: what the till wished for that case, or that it goes back.
    pub(crate) fn is_silent(&mut self) {
        let keeps = self.order.till_confirms == Some(OnSilence::Keep);
        match self.sale.as_ref().map(Transaction::standing) {
            Some(Standing::AwaitingTill { .. }) if keeps => self.was_taken = true,
            Some(Standing::AwaitingTill { .. } | Standing::AtSignature) => self.was_refused = true,
            _ => {}
        }
    }

    /// Whether it waits for a person.
    pub(crate) fn is_for_a_person(&self) -> bool {
        self.sale
            .as_ref()
            .is_some_and(|sale| matches!(sale.standing(), Standing::Unconfirmed { quarantined: Some(_), .. }))
    }

    /// A step is done: who is called must hear of it.
    pub(crate) fn did(&mut self, actions: &[Action], was_for_a_person: bool) {
        let alarm = actions.iter().any(|action| matches!(action, Action::Alarm { .. }));
        self.nobody_hears = !was_for_a_person && self.is_for_a_person() && !alarm;
        self.rest_is_told |= alarm && self.order.gives_rest;
    }

    /// The power is gone.
    pub(crate) fn is_dark(&mut self) {
        (self.sale, self.stuck, self.proceeds, self.reader) = (None, false, false, ReaderDoes::Idle);
        self.rest_is_told |= self.order.gives_rest;
    }
}
