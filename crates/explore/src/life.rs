//! One transaction in the world: its state on the terminal, and what its till and its cashier have heard and seen.

use std::rc::Rc;
use std::time::Duration;

use pos_core::transaction::{Action, Now, Order, Outcome, Paper, ReceiptOutcome, Standing, Transaction};
use pos_terms::card::EntryMode;
use pos_terms::transaction::{Kind, OnSilence, OutcomeWord};

/// The reader's activity for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReaderDoes {
    Idle,
    /// It asks the cardholder for a tip.
    AsksTip,
    /// It waits for a card.
    Armed,
    /// It was told to stop while it waited for a card.
    Stopping,
    /// It was told to stop while it asked for a tip.
    StopsTyping,
    /// A card waits for the gateway.
    HoldsCard,
    /// The card was told that the gateway approved.
    Approved,
    /// The card was told that the gateway did not approve.
    Declined,
}

impl ReaderDoes {
    /// Returns the activity after it was told to stop.
    pub(crate) fn stops(self) -> Self {
        if self == Self::AsksTip { Self::StopsTyping } else { Self::Stopping }
    }
}

/// The use of an outdated journal copy, and whether the terminal has noticed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalCopy {
    No,
    Unnoticed,
    Noticed,
}

/// The last outcome that the till was told.
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

    /// Returns whether it says that it is paid.
    pub(crate) fn is_paid(self) -> bool {
        matches!(self.0, Some((OutcomeWord::Approved | OutcomeWord::PartiallyApproved, _)))
    }
}

/// One transaction.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) order: Rc<Order>,
    pub(crate) has_begun: bool,
    /// The transaction on the terminal.
    pub(crate) sale: Option<Transaction>,
    /// True if its last step could not be written.
    pub(crate) stuck: bool,
    /// True if it is recorded and continues automatically.
    pub(crate) proceeds: bool,
    pub(crate) reader: ReaderDoes,
    pub(crate) entry: EntryMode,
    /// True if the cardholder signs.
    pub(crate) signs: bool,
    pub(crate) told: ReportedOutcome,
    /// Two different outcomes that the till was told, one after the other.
    pub(crate) told_otherwise: Option<(OutcomeWord, OutcomeWord)>,
    /// True if the till may still ask to cancel.
    pub(crate) may_cancel: bool,
    pub(crate) asked_at: Now,
    pub(crate) reversed_at: Duration,
    /// True if the same reversal was sent again while the earlier one may still arrive.
    pub(crate) reversed_again: bool,
    /// True if the gateway declined the request and the terminal heard it.
    pub(crate) was_declined: bool,
    /// True if the request was sent again after that.
    pub(crate) asked_after_decline: bool,
    /// True if the chip, the comparison of the signature or the till refused it after the gateway's approval.
    pub(crate) was_refused: bool,
    /// True if the till has taken it, by its answer or by its choice for silence.
    pub(crate) was_taken: bool,
    /// True if a paper said that it is paid before it had ended so.
    pub(crate) printed_too_early: bool,
    /// True if the last receipt says that it is paid.
    pub(crate) receipt: Option<bool>,
    /// True if the last step needed a person and raised no alarm.
    pub(crate) nobody_hears: bool,
    /// True if an alarm reported that the refund owed to the customer was not made, or the terminal has shown it since.
    pub(crate) rest_is_told: bool,
    pub(crate) copy: JournalCopy,
    /// A reversal that the terminal holds back until it knows whether its journal is an outdated copy.
    pub(crate) held_back: Option<String>,
    /// True if a request that a person must decide about was sent automatically.
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
        // Deleting a stored card twice does no harm.
        let matters = self.order.kind() != Kind::ForgetCard;
        self.asked_after_decline |= matters && self.was_declined;
        self.left_by_itself |= matters && self.is_undecided_copy();
    }

    pub(crate) fn reverses(&mut self, may_arrive: bool, now: Now, resend: Duration) {
        // An outdated copy does not know what the other one has sent.
        self.reversed_again |=
            may_arrive && self.copy == JournalCopy::No && now.monotonic.saturating_sub(self.reversed_at) < resend;
        self.reversed_at = now.monotonic;
        self.left_by_itself |= self.is_undecided_copy();
    }

    /// Returns whether an outdated copy holds it as open and no person has decided yet.
    fn is_undecided_copy(&self) -> bool {
        self.copy != JournalCopy::No && !self.sale.as_ref().is_some_and(Transaction::is_decided)
    }

    /// Handles a deadline without an answer: the choice of the till for that case, or a reversal.
    pub(crate) fn is_silent(&mut self) {
        let keeps = self.order.till_confirms == Some(OnSilence::Keep);
        match self.sale.as_ref().map(Transaction::standing) {
            Some(Standing::AwaitingTill { .. }) if keeps => self.was_taken = true,
            Some(Standing::AwaitingTill { .. } | Standing::AtSignature) => self.was_refused = true,
            _ => {}
        }
    }

    /// Returns whether it waits for a person.
    pub(crate) fn is_for_a_person(&self) -> bool {
        self.sale
            .as_ref()
            .is_some_and(|sale| matches!(sale.standing(), Standing::Unconfirmed { quarantined: Some(_), .. }))
    }

    /// Notes a step that was carried out. A person who must act must hear an alarm.
    pub(crate) fn did(&mut self, actions: &[Action], was_for_a_person: bool) {
        let alarm = actions.iter().any(|action| matches!(action, Action::Alarm { .. }));
        self.nobody_hears = !was_for_a_person && self.is_for_a_person() && !alarm;
        self.rest_is_told |= alarm && self.order.gives_rest;
    }

    /// Handles a power cut.
    pub(crate) fn is_dark(&mut self) {
        (self.sale, self.stuck, self.proceeds, self.reader) = (None, false, false, ReaderDoes::Idle);
        self.rest_is_told |= self.order.gives_rest;
    }
}
