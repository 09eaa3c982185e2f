//! One transaction in the world: its state on the terminal, and the messages and receipts for its till and its cashier.

use std::rc::Rc;
use std::time::Duration;

use pos_core::transaction::{Action, Now, Order, Outcome, Paper, ReceiptOutcome, Standing, Transaction};
use pos_terms::card::EntryMode;
use pos_terms::transaction::{Kind, OnSilence, OutcomeWord};

/// The reader's activity for the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReaderDoes {
    Idle,
    /// The reader asks the cardholder for a tip.
    AsksTip,
    /// The reader waits for a card.
    Armed,
    /// The agent told the reader to stop while it waited for a card.
    Stopping,
    /// The agent told the reader to stop while it asked for a tip.
    StopsTyping,
    /// A card waits for the gateway's answer.
    HoldsCard,
    /// The agent told the card that the gateway approved.
    Approved,
    /// The agent told the card that the gateway did not approve.
    Declined,
}

impl ReaderDoes {
    /// Returns the reader's activity after the agent tells it to stop.
    pub(crate) fn stops(self) -> Self {
        if self == Self::AsksTip { Self::StopsTyping } else { Self::Stopping }
    }
}

/// The state of the journal: original, or an outdated copy that the terminal has or has not noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalCopy {
    No,
    Unnoticed,
    Noticed,
}

/// The last outcome that the agent reported to the till.
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

    /// Returns whether the outcome means paid.
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
    /// True if the last step of the transaction could not be written.
    pub(crate) stuck: bool,
    /// True if the transaction is recorded and continues automatically.
    pub(crate) proceeds: bool,
    pub(crate) reader: ReaderDoes,
    pub(crate) entry: EntryMode,
    /// True if the cardholder signs.
    pub(crate) signs: bool,
    pub(crate) told: ReportedOutcome,
    /// Two different outcomes that the agent reported to the till, one after the other.
    pub(crate) told_otherwise: Option<(OutcomeWord, OutcomeWord)>,
    /// True if the till may still ask for a cancellation.
    pub(crate) may_cancel: bool,
    pub(crate) asked_at: Now,
    pub(crate) reversed_at: Duration,
    /// True if the same reversal was sent again while the earlier request could still arrive.
    pub(crate) reversed_again: bool,
    /// True if the gateway declined the request and the terminal received the decline.
    pub(crate) was_declined: bool,
    /// True if the request was sent again after the terminal had received a decline.
    pub(crate) asked_after_decline: bool,
    /// True if the chip, the signature check or the till refused the payment after the gateway's approval.
    pub(crate) was_refused: bool,
    /// True if the till has accepted the payment, by its answer or by its rule for silence.
    pub(crate) was_taken: bool,
    /// True if a receipt said paid before the transaction had ended.
    pub(crate) printed_too_early: bool,
    /// The statement of the last receipt: paid (true), not paid (false), or no final statement.
    pub(crate) receipt: Option<bool>,
    /// True if a person must act since the last step, but that step raised no alarm.
    pub(crate) nobody_hears: bool,
    /// True if an alarm reported that the refund owed to the customer was not made, or if the terminal has shown this
    /// after a restart.
    pub(crate) rest_is_told: bool,
    pub(crate) copy: JournalCopy,
    /// A reversal that the terminal holds back until it knows whether its journal is an outdated copy.
    pub(crate) held_back: Option<String>,
    /// True if the terminal automatically sent a request that a person had to decide about.
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
        // It does no harm to delete a stored card twice.
        let matters = self.order.kind() != Kind::ForgetCard;
        self.asked_after_decline |= matters && self.was_declined;
        self.left_by_itself |= matters && self.is_undecided_copy();
    }

    pub(crate) fn reverses(&mut self, may_arrive: bool, now: Now, resend: Duration) {
        // A terminal with an outdated copy does not know what the other journal's terminal has sent.
        self.reversed_again |=
            may_arrive && self.copy == JournalCopy::No && now.monotonic.saturating_sub(self.reversed_at) < resend;
        self.reversed_at = now.monotonic;
        self.left_by_itself |= self.is_undecided_copy();
    }

    /// Returns whether the transaction is open in an outdated copy and no person has decided about it.
    fn is_undecided_copy(&self) -> bool {
        self.copy != JournalCopy::No && !self.sale.as_ref().is_some_and(Transaction::is_decided)
    }

    /// Handles a deadline that passes without an answer. The till's rule for silence applies, or the payment is
    /// reversed.
    pub(crate) fn is_silent(&mut self) {
        let keeps = self.order.till_confirms == Some(OnSilence::Keep);
        match self.sale.as_ref().map(Transaction::standing) {
            Some(Standing::AwaitingTill { .. }) if keeps => self.was_taken = true,
            Some(Standing::AwaitingTill { .. } | Standing::AtSignature) => self.was_refused = true,
            _ => {}
        }
    }

    /// Returns whether the transaction waits for a person.
    pub(crate) fn is_for_a_person(&self) -> bool {
        self.sale
            .as_ref()
            .is_some_and(|sale| matches!(sale.standing(), Standing::Unconfirmed { quarantined: Some(_), .. }))
    }

    /// Records a step that was carried out. If a person must act, the step must raise an alarm.
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
