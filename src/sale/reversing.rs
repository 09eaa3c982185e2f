//! What follows an unknown outcome: look up, reverse, look again, for as long as it takes (design: path of a sale, 9).
//!
//! Nothing here ever sends a payment. A reversal is written down before it is sent; one whose fate is unknown is looked up
//! before it is sent again. "Not there" is believed only from an answered query, and only after a settable time.

use std::time::Duration;

use super::back_off;
use super::record::Payment;
use super::{
    Action, ApprovedAmount, CardAnswer, Deadlines, Event, Found, FoundState, HostFacts, Inquiry, Now, Outcome, Paper,
    Record, Reversal, Sale, State, Step,
};

/// A quarantined reversal is retried daily: what a person mended at the gateway is then noticed.
const QUARANTINE_WAIT: Duration = Duration::from_secs(24 * 3600);

/// How long an absence must have been watched by one process before it can be final.
const WATCHED_ABSENCE: Duration = Duration::from_secs(3600);

/// What the records say about a reversal.
#[derive(Clone, Debug)]
pub(super) struct Reversing {
    /// What happened.
    pub(super) why: String,
    /// The payment when the gateway named it; else it must be looked up.
    known: Option<Payment>,
    /// A reversal that was sent (or was about to be) and is not confirmed.
    asked: Option<Payment>,
    /// Payments whose reversal was confirmed.
    reversed: Vec<String>,
    /// Retrying cannot mend it.
    pub(super) quarantined: Option<String>,
}

/// What a power cut may forget about a reversal.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    due: Option<Duration>,
    in_flight: bool,
    tries: u32,
    /// The last reversal certainly did not reach the gateway: it may be sent again without looking.
    certainly_unsent: bool,
    /// The gateway refused the last reversal; if a look shows it still charged, retrying cannot mend it.
    refused: Option<String>,
    /// When the gateway first said that it knows no such payment.
    first_absent: Option<Duration>,
    /// The receipt "not confirmed" was printed.
    printed: bool,
    /// Why the last try did not settle it.
    pub(super) trouble: Option<String>,
}

impl Timers {
    pub(super) fn due(&self) -> Option<Duration> {
        if self.in_flight { None } else { self.due }
    }
}

impl Reversing {
    pub(super) fn new(why: String, known: Option<Payment>) -> Self {
        Self { why, known, asked: None, reversed: Vec::new(), quarantined: None }
    }

    /// Confirmed to us, or listed with an approved reversal.
    fn is_reversed(&self, id: &str, found: &[Found]) -> bool {
        let listed = |one: &Found| {
            one.payment_type == "RV" && one.state == FoundState::Approved && one.refers_to.as_deref() == Some(id)
        };
        self.reversed.iter().any(|reversed| reversed == id) || found.iter().any(listed)
    }

    pub(super) fn apply(&mut self, record: &Record) {
        match record {
            Record::ReversalAsked { payment } => {
                self.asked = Some(payment.clone());
                self.quarantined = None;
            }
            Record::ReversalDone { payment, .. } => {
                self.asked = None;
                self.reversed.push(payment.clone());
            }
            Record::Quarantined { why } => self.quarantined = Some(why.clone()),
            _ => {}
        }
    }
}

impl Sale {
    /// Begins to reverse: written first, then the card is declined, the till told, and the gateway asked.
    pub(super) fn reverse(&mut self, why: &str, payment: Option<Payment>, host: Option<HostFacts>) -> Step {
        self.volatile.poll = None;
        self.volatile.reversal = Timers { in_flight: true, ..Timers::default() };
        let reversing = Record::Reversing { why: why.to_owned(), payment: payment.clone(), host };
        let mut step = Step::write([reversing]);
        // Only a card that has not had its answer yet: at the chip it had one.
        if self.volatile.card_open && matches!(self.state, State::Asked) {
            step = step.then([Action::AnswerCard(Box::new(CardAnswer::decline()))]);
        }
        step = step.then([Action::Tell]);
        match payment {
            Some(payment) => {
                step.records.push(Record::ReversalAsked { payment: payment.clone() });
                step.then([Action::Reverse { payment: payment.id, amount: payment.amount }])
            }
            None => step.then([Action::Query]),
        }
    }

    pub(super) fn handle_reversing(&mut self, event: Event, now: Now, deadlines: Deadlines) -> Step {
        match event {
            Event::Restarted => {
                self.volatile.reversal.due = Some(now.monotonic);
                self.try_again()
            }
            Event::DeadlinePassed if self.volatile.reversal.due().is_some_and(|due| due <= now.monotonic) => {
                self.try_again()
            }
            Event::Nudged if self.volatile.reversal.due().is_some() && !self.is_quarantined() => self.try_again(),
            Event::Inquired(inquiry) => self.inquired(inquiry, now, deadlines),
            Event::ReversalAnswered { payment, reversal } => self.reversal_answered(&payment, reversal, now),
            Event::CardSaid { facts, .. } => {
                self.volatile.card_open = false;
                match facts {
                    Some(card) => Step::write([Record::CardFinal { card: *card }]),
                    None => Step::none(),
                }
            }
            Event::ReaderLost => {
                self.volatile.card_open = false;
                Step::none()
            }
            _ => Step::none(),
        }
    }

    /// Sends the reversal when it surely has not been sent; otherwise looks first.
    fn try_again(&mut self) -> Step {
        let State::Reversing(reversing) = &self.state else {
            return Step::none();
        };
        let timers = &mut self.volatile.reversal;
        timers.in_flight = true;
        let unsent = std::mem::take(&mut timers.certainly_unsent);
        let ready = match (&reversing.asked, &reversing.known) {
            (Some(asked), _) if unsent => Some(asked.clone()),
            (None, Some(known)) if !reversing.reversed.contains(&known.id) => Some(known.clone()),
            _ => None,
        };
        match ready {
            Some(payment) => ask_reversal(payment),
            None => Step::act([Action::Query]),
        }
    }

    fn inquired(&mut self, inquiry: Inquiry, now: Now, deadlines: Deadlines) -> Step {
        let found = match inquiry {
            Inquiry::Payments(found) => found,
            Inquiry::CannotAsk { why } => return self.cannot_ask(now, &why),
        };
        let State::Reversing(reversing) = &self.state else {
            return Step::none();
        };
        if let Some(charged) =
            payments(&found).find(|one| may_be_charged(one) && !reversing.is_reversed(&one.id, &found))
        {
            return self.charge_found(charged, now);
        }
        let known_is_open = reversing.known.as_ref().filter(|known| !reversing.is_reversed(&known.id, &found));
        if let Some(known) = known_is_open.filter(|known| payments(&found).all(|one| one.id != known.id)) {
            // The gateway approved it: a list without it proves nothing, however old it is.
            let why = format!("the gateway does not list payment {}, which it approved; look at it there", known.id);
            return if self.absence_is_final(now, deadlines) {
                self.quarantine(&why, now)
            } else {
                self.wait(now, &why)
            };
        }
        let known_is_reversed = reversing.known.is_some() && known_is_open.is_none();
        if known_is_reversed || !reversing.reversed.is_empty() || payments(&found).any(may_be_charged) {
            return self.end_reversed();
        }
        if payments(&found).any(|one| one.state == FoundState::Undecided) {
            return self.wait(now, "the gateway has not decided yet");
        }
        let why = if payments(&found).next().is_some() {
            "the gateway declined it"
        } else if self.absence_is_final(now, deadlines) {
            "the gateway never received it"
        } else {
            return self.wait(now, "the gateway does not know it; a late approval would be reversed");
        };
        self.end_settled(Outcome::Declined { why: why.to_owned() })
    }

    /// A payment under our reference may be charged: it goes back, if it is ours by its amount too.
    fn charge_found(&mut self, payment: &Found, now: Now) -> Step {
        let State::Reversing(reversing) = &self.state else {
            return Step::none();
        };
        // Another one than the answer named: it goes back like every match, and somebody must hear of it.
        let another =
            reversing.known.as_ref().filter(|known| known.id != payment.id).map(|known| {
                format!("the gateway holds payment {} under our reference, besides {}", payment.id, known.id)
            });
        let known = reversing.known.clone().filter(|known| known.id == payment.id);
        match (self.amount_of(payment), known) {
            (Some(amount), _) => {
                let step = self.reverse_found(Payment { id: payment.id.clone(), amount }, now);
                if let Some(why) = another { step.alarm(&why) } else { step }
            }
            // The answer itself named it: its own amount is what must go back.
            (None, Some(known)) => self.reverse_found(known, now),
            (None, None) => {
                let id = &payment.id;
                let why = format!("payment {id} carries our reference with another amount; look at it at the gateway");
                self.quarantine(&why, now)
            }
        }
    }

    /// A payment that is not there now will not come any more: it is old enough by the wall clock, and, since that clock may
    /// have jumped, it was not there for a good while of this process either. What this process itself has watched for all of the
    /// time needs no wall clock: a sale may have begun under one that was a year ahead.
    fn absence_is_final(&mut self, now: Now, deadlines: Deadlines) -> bool {
        let first_absent = *self.volatile.reversal.first_absent.get_or_insert(now.monotonic);
        let age_ms = now.unix_ms.saturating_sub(self.order.started_unix_ms);
        let old = u128::try_from(age_ms).unwrap_or(0) >= deadlines.absence_final.as_millis();
        let watched = now.monotonic.saturating_sub(first_absent);
        watched >= deadlines.absence_final || (old && watched >= WATCHED_ABSENCE)
    }

    fn reversal_answered(&mut self, payment: &str, reversal: Reversal, now: Now) -> Step {
        let State::Reversing(reversing) = &self.state else {
            return Step::none();
        };
        // The answer to an earlier request (before a restart, of another match) says nothing about this one: look.
        let Some(asked) = reversing.asked.clone().filter(|asked| asked.id == payment) else {
            return self.wait(now, "an answer came that belongs to another request");
        };
        match reversal {
            Reversal::Done { id, .. } => {
                let done = Record::ReversalDone { payment: asked.id.clone(), reversal: id };
                if reversing.known.as_ref().is_some_and(|known| known.id == asked.id) {
                    let mut step = self.end_reversed();
                    step.records.insert(0, done);
                    step
                } else {
                    // Found by a look: look again, every approved match must go.
                    Step::write([done]).then([Action::Query])
                }
            }
            Reversal::NotSent { why } => {
                self.volatile.reversal.certainly_unsent = true;
                self.wait(now, &why)
            }
            Reversal::Unknown { why } => self.wait(now, &why),
            Reversal::Refused { why } => {
                self.volatile.reversal.refused = Some(why);
                Step::act([Action::Query])
            }
        }
    }

    fn reverse_found(&mut self, payment: Payment, now: Now) -> Step {
        match self.volatile.reversal.refused.take() {
            Some(why) => {
                self.quarantine(&format!("the gateway refuses to reverse payment {} ({why})", payment.id), now)
            }
            None => ask_reversal(payment),
        }
    }

    fn quarantine(&mut self, why: &str, now: Now) -> Step {
        let timers = &mut self.volatile.reversal;
        timers.in_flight = false;
        timers.due = Some(now.monotonic + QUARANTINE_WAIT);
        let print = !std::mem::replace(&mut timers.printed, true);
        if self.quarantined_as(why) {
            return Step::none();
        }
        Step::write([Record::Quarantined { why: why.to_owned() }])
            .then([Action::Tell])
            .alarm(why)
            .then(print.then_some(Action::Print(Paper::Copies)))
    }

    /// The question itself is not answered. It may never be, so somebody must hear of it; once for each reason.
    fn cannot_ask(&mut self, now: Now, why: &str) -> Step {
        let new = self.volatile.reversal.trouble.as_deref() != Some(why);
        let step = self.wait(now, why);
        if new { step.alarm(&cannot_be_asked(why)) } else { step }
    }

    /// Tries again later, less and less often. The cashier gets a receipt that says
    /// "not confirmed" the first time.
    fn wait(&mut self, now: Now, trouble: &str) -> Step {
        let timers = &mut self.volatile.reversal;
        timers.in_flight = false;
        timers.trouble = Some(trouble.to_owned());
        timers.tries = timers.tries.saturating_add(1);
        timers.due = Some(now.monotonic + back_off::wait(&self.order.merchant_transaction_id, timers.tries));
        let print = !std::mem::replace(&mut timers.printed, true);
        Step::act(print.then_some(Action::Print(Paper::Copies)))
    }

    fn end_reversed(&mut self) -> Step {
        let State::Reversing(reversing) = &self.state else {
            return Step::none();
        };
        let why = reversing.why.clone();
        self.end_settled(Outcome::Reversed { why })
    }

    fn end_settled(&mut self, outcome: Outcome) -> Step {
        self.volatile.reversal = Timers::default();
        let ended = Step::write([Record::Ended { outcome, host: None, card: None }]).then([Action::Tell]);
        // A card that is still open prints with its last word.
        if self.volatile.card_open { ended } else { ended.then([Action::Print(Paper::Copies)]) }
    }

    fn is_quarantined(&self) -> bool {
        matches!(&self.state, State::Reversing(reversing) if reversing.quarantined.is_some())
    }

    fn quarantined_as(&self, why: &str) -> bool {
        matches!(&self.state, State::Reversing(reversing) if reversing.quarantined.as_deref() == Some(why))
    }

    /// The amount to reverse, when a found payment is ours: amount and currency must match too.
    fn amount_of(&self, payment: &Found) -> Option<crate::money::Amount> {
        let asked = self.amount;
        match payment.amount {
            ApprovedAmount::NotSaid => Some(asked),
            // A partial approval is ours as well.
            ApprovedAmount::Said(said) if said.currency() == asked.currency() && said.minor() <= asked.minor() => {
                Some(said)
            }
            ApprovedAmount::Said(_) | ApprovedAmount::Unreadable => None,
        }
    }
}

/// What an alarm says of a query without an answer.
pub(super) fn cannot_be_asked(why: &str) -> String {
    format!("the gateway cannot be asked what became of it: {why}")
}

/// The payments of a list. Linked captures and refunds are somebody else's doing: to reverse a refund would charge the customer.
fn payments(found: &[Found]) -> impl Iterator<Item = &Found> {
    found.iter().filter(|one| matches!(one.payment_type.as_str(), "DB" | "PA" | "CD"))
}

/// What may be charged is reversed like what is: the gateway knows better, and a refusal is shown to a person.
fn may_be_charged(one: &Found) -> bool {
    matches!(one.state, FoundState::Approved | FoundState::Unclear)
}

fn ask_reversal(payment: Payment) -> Step {
    Step::write([Record::ReversalAsked { payment: payment.clone() }])
        .then([Action::Reverse { payment: payment.id, amount: payment.amount }])
}
