//! The handling of a request. The bank carries it out and answers, or the answer has a fault.

use pos_core::transaction::{Answer, ApprovedAmount, Event, Inquiry, Reason, ReversalAnswer};

use crate::bank::{ListAs, Makes, Request, approval, eur, id, refusal};
use crate::moves::Spoilt;
use crate::world::World;

/// The number for an id that no transaction of this world has.
const NOBODYS: usize = 99;

impl World {
    /// Lets the bank carry out a request, and returns its answer as an event.
    pub(crate) fn carried_out(&mut self, request: &Request, makes: Makes) -> Event {
        match request {
            Request::Pay { reference, kind, amount, of } => {
                self.booked_at = self.now.monotonic;
                Event::Answered(self.bank.pays(reference, *kind, *amount, of.clone(), makes))
            }
            Request::Poll { payment } => Event::Answered(self.bank.answer(payment)),
            Request::Query { references } => Event::Inquired(self.bank.lists(references, ListAs::Whole)),
            Request::Reverse { payment, amount, reference } => {
                self.booked_at = self.now.monotonic;
                let reversal = self.bank.reverses(payment, *amount, reference);
                Event::ReversalAnswered { reference: reference.clone(), reversal }
            }
        }
    }

    pub(crate) fn spoilt(&mut self, at: usize, makes: Makes, how: Spoilt) -> Event {
        let mut on_wire = self.wire.remove(at);
        self.is_strange |= how.is_strange(&on_wire.request);
        match how {
            Spoilt::Late => {
                on_wire.awaited = false;
                self.wire.push(on_wire.clone());
            }
            Spoilt::AnswerLost => drop(self.carried_out(&on_wire.request, makes)),
            _ => {}
        }
        let request = &on_wire.request;
        let event = match request {
            Request::Pay { .. } => self.spoilt_payment(request, makes, how),
            Request::Poll { .. } => spoilt_poll(how),
            Request::Query { references } => self.spoilt_list(references, how),
            Request::Reverse { reference, .. } => self
                .spoilt_reversal(request, how)
                .map(|reversal| Event::ReversalAnswered { reference: reference.clone(), reversal }),
        };
        event.unwrap_or_else(|| unknown(request))
    }

    fn spoilt_payment(&mut self, request: &Request, makes: Makes, how: Spoilt) -> Option<Event> {
        let answer = match how {
            Spoilt::Unasked => return Some(self.carried_out(request, makes)),
            Spoilt::CannotBeMade => return Some(Event::CannotAsk { why: Reason::RequestNotPossible.into() }),
            Spoilt::NotSent => Answer::NotSent { why: Reason::GatewayUnreachable.into() },
            Spoilt::Throttled => Answer::Throttled(Box::new(refusal(None))),
            Spoilt::AnotherId => {
                let _ = self.carried_out(request, makes);
                Answer::NotOurs { why: Reason::AnotherPaymentAnswered.into() }
            }
            Spoilt::InDoubtUnlisted => Answer::DeclinedInDoubt(Box::new(refusal(None))),
            Spoilt::InDoubt => {
                let _ = self.carried_out(request, makes);
                Answer::DeclinedInDoubt(Box::new(refusal(None)))
            }
            Spoilt::SaysLess | Spoilt::SaysNoAmount | Spoilt::SaysStrangeAmount | Spoilt::ContradictsChip => {
                let Event::Answered(answer) = self.carried_out(request, makes) else { return None };
                altered(answer, how)?
            }
            _ => return None,
        };
        Some(Event::Answered(answer))
    }

    fn spoilt_list(&mut self, references: &[String], how: Spoilt) -> Option<Event> {
        let how = match how {
            Spoilt::NotSent => {
                return Some(Event::Inquired(Inquiry::NotReached { why: Reason::GatewayCannotBeAsked.into() }));
            }
            Spoilt::ListLacks => ListAs::WithoutTheLast,
            Spoilt::ListUnclear => ListAs::LastUnclear,
            Spoilt::ListUnnamed => ListAs::WithoutReferences,
            Spoilt::ListWithoutAmounts => ListAs::WithoutAmounts,
            Spoilt::StrangerRefunded => {
                let paid = self.bank.has_paid()?;
                self.bank.is_refunded_by_a_stranger(paid);
                ListAs::Whole
            }
            _ => return None,
        };
        Some(Event::Inquired(self.bank.lists(references, how)))
    }

    fn spoilt_reversal(&mut self, request: &Request, how: Spoilt) -> Option<ReversalAnswer> {
        let Request::Reverse { payment, amount, reference } = request else { return None };
        Some(match how {
            Spoilt::NotSent => ReversalAnswer::NotSent { why: Reason::GatewayUnreachable.into() },
            Spoilt::InDoubt => self.bank.refuses_reversal(payment, *amount, reference),
            Spoilt::HeldBack | Spoilt::HeldBackForPerson => ReversalAnswer::HeldBack {
                why: Reason::ReversalHeldBack.into(),
                for_person: how == Spoilt::HeldBackForPerson,
            },
            Spoilt::SaysLess => {
                // Only a part is reversed.
                self.booked_at = self.now.monotonic;
                self.bank.reverses(payment, eur(amount.minor() / 3), reference)
            }
            Spoilt::SaysNoAmount | Spoilt::SaysStrangeAmount => {
                self.booked_at = self.now.monotonic;
                let ReversalAnswer::Done { id, .. } = self.bank.reverses(payment, *amount, reference) else {
                    return None;
                };
                let strange = how == Spoilt::SaysStrangeAmount;
                ReversalAnswer::Done {
                    id,
                    amount: if strange { ApprovedAmount::Unreadable } else { ApprovedAmount::NotSaid },
                }
            }
            _ => return None,
        })
    }
}

/// Returns an answer that differs from the booking.
fn altered(answer: Answer, how: Spoilt) -> Option<Answer> {
    Some(match (answer, how) {
        (Answer::Approved(approved), Spoilt::SaysLess) => approval(&approved.id, ApprovedAmount::Said(eur(100))),
        (Answer::Approved(approved), Spoilt::SaysNoAmount) => approval(&approved.id, ApprovedAmount::NotSaid),
        (Answer::Approved(approved), Spoilt::SaysStrangeAmount) => approval(&approved.id, ApprovedAmount::Unreadable),
        (Answer::Approved(mut approved), Spoilt::ContradictsChip) => {
            approved.for_chip.arc = Some(*b"05");
            Answer::Approved(approved)
        }
        (Answer::Declined(mut refusal), Spoilt::ContradictsChip) => {
            refusal.for_chip.arc = Some(*b"00");
            Answer::Declined(refusal)
        }
        _ => return None,
    })
}

fn spoilt_poll(how: Spoilt) -> Option<Event> {
    Some(Event::Answered(match how {
        Spoilt::Throttled => Answer::Throttled(Box::new(refusal(None))),
        Spoilt::NotSent => Answer::NotSent { why: Reason::GatewayUnreachable.into() },
        Spoilt::AnotherId => approval(&id(NOBODYS), ApprovedAmount::Said(eur(1200))),
        _ => return None,
    }))
}

/// Returns the event for a missing answer.
fn unknown(request: &Request) -> Event {
    let why = Reason::GatewayNoAnswer.into();
    match request {
        Request::Pay { .. } | Request::Poll { .. } => Event::Answered(Answer::Unknown { why }),
        Request::Query { .. } => Event::Inquired(Inquiry::CannotAsk { why }),
        Request::Reverse { reference, .. } => {
            Event::ReversalAnswered { reference: reference.clone(), reversal: ReversalAnswer::Unknown { why } }
        }
    }
}
