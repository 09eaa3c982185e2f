//! What the agent's own tasks bring back: answers of the gateway, pages of the journal, and digests of PINs. An answer
//! that names another transaction's payment is none to this request.

use std::time::Duration;

use tokio::sync::oneshot;

use crate::till::{Refused, SaleView};
use pos_core::sale::{self, Answer, Inquiry, ReversalAnswer, Sale};
use pos_core::training::Scene;
use pos_terms::transaction::{Kind, PaymentId, SaleNumber};
use pos_words::Message;

use super::Agent;
use super::closing::Counted;
use super::counting::Counting;
use super::journal_desk::refused_by_journal;
use super::old_copy::WaitingWish;
use super::operators::PinReckoned;

/// What a spawned task brought.
pub(super) enum TaskResult {
    Warmed,
    Probed {
        probed: Result<pos_gateway::Probed, pos_gateway::Fault>,
    },
    Paid {
        sale: SaleNumber,
        answer: Answer,
        took: Duration,
    },
    Polled {
        sale: SaleNumber,
        answer: Answer,
    },
    Inquired {
        sale: SaleNumber,
        inquiry: Inquiry,
    },
    Reversed {
        sale: SaleNumber,
        reference: String,
        reversal: ReversalAnswer,
    },
    References {
        found: Result<pos_gateway::Found, String>,
    },
    /// A transaction of before that a till's wish follows.
    LookedUp {
        wish: Box<WaitingWish>,
        inquiry: Inquiry,
    },
    /// References that the gateway holds: which of them does the journal not know?
    SomeReferences {
        references: Vec<String>,
        reply: oneshot::Sender<Result<Vec<String>, String>>,
    },
    Counted {
        page: Result<Vec<Sale>, pos_journal::Error>,
        counting: Box<Counting>,
    },
    CloseCounted {
        counted: Box<Result<Counted, pos_journal::Error>>,
    },
    /// The trainer's scene.
    Played {
        sale: SaleNumber,
        scene: Scene,
    },
    Pin(Box<PinReckoned>),
    Listed {
        sales: Result<Vec<Sale>, pos_journal::Error>,
        reply: oneshot::Sender<Result<Vec<SaleView>, Refused>>,
    },
}

impl Agent {
    pub(super) fn task_brought(&mut self, result: TaskResult) {
        let (number, event) = match result {
            TaskResult::Paid { sale, answer, took } => {
                if let Some(active) = self.sales.open.get_mut(&sale) {
                    if !matches!(answer, Answer::Throttled(_)) {
                        active.prepared = None;
                    }
                    active.times.gateway += took;
                    active.times.answered(self.clock.monotonic());
                }
                self.gateway.probe_again_soon();
                self.gateway.refused.heard(sale, &answer);
                if matches!(answer, Answer::Throttled(_)) {
                    self.announce_to(sale, "throttled", self.printers.letterhead.words.label(Message::AskedAgain));
                }
                if matches!(answer, Answer::Approved(_) | Answer::Declined(_)) {
                    self.old_copy.nudge(self.clock.monotonic());
                    if !self.gateway.probing.was_answered {
                        self.gateway.probing.at = self.gateway.probing.at.min(self.clock.monotonic());
                    }
                }
                (sale, sale::Event::Answered(self.with_an_id_of_its_own(sale, answer)))
            }
            TaskResult::Warmed => {
                self.gateway.probe_again_soon();
                self.gateway.expiry_warnings.look_again();
                return;
            }
            TaskResult::Polled { sale, answer } => {
                (sale, sale::Event::Answered(self.with_an_id_of_its_own(sale, answer)))
            }
            TaskResult::Probed { probed } => return self.probed(probed),
            TaskResult::Inquired { sale, inquiry } => {
                (sale, sale::Event::Inquired(self.with_payments_of_its_own(sale, inquiry)))
            }
            TaskResult::Reversed { sale, reference, reversal } => {
                let reversal = self.with_a_reversal_of_its_own(sale, reversal);
                (sale, sale::Event::ReversalAnswered { reference, reversal })
            }
            TaskResult::References { found } => return self.references_listed(found),
            TaskResult::LookedUp { wish, inquiry } => return self.looked_up(*wish, inquiry),
            TaskResult::SomeReferences { references, reply } => {
                let _ = reply.send(self.strange(references).map_err(|error| error.to_string()));
                return;
            }
            TaskResult::Pin(reckoned) => {
                let resolved = reckoned.confirms().map(|wanted| self.transaction_and_amount(wanted));
                return self.operators.pin_reckoned(&mut self.journal, *reckoned, resolved);
            }
            TaskResult::Counted { page, counting } => return self.counted(page, *counting),
            TaskResult::CloseCounted { counted } => return self.close_counted(*counted),
            TaskResult::Played { sale, scene } => return self.played(sale, scene),
            TaskResult::Listed { sales, reply } => {
                let sales = sales.map_err(refused_by_journal);
                let _ = reply.send(sales.map(|sales| sales.iter().map(|sale| self.view_of(sale)).collect()));
                return;
            }
        };
        self.advance(number, event);
    }

    /// An answer with the id of another transaction is not one to this request, whatever else it says.
    pub(super) fn with_an_id_of_its_own(&self, number: SaleNumber, answer: Answer) -> Answer {
        let id = match &answer {
            // Held against the id that was to be forgotten already: it is that of whoever stored the card.
            Answer::Approved(_) if self.forgets(number) => return answer,
            Answer::Approved(approval) => &approval.id,
            Answer::Pending { id, .. } => id,
            _ => return answer,
        };
        let earlier = self.sales.open.get(&number).and_then(|active| active.sale.order().transaction.of());
        let of_another = earlier.is_some_and(|of| of.payment == *id) || self.is_of_another(number, id);
        if of_another {
            return Answer::NotOurs { why: another_transactions(number, id) };
        }
        answer
    }

    /// A list that shows another transaction's payment under this one's reference says nothing: what would be done by
    /// it would be done to the other one.
    pub(super) fn with_payments_of_its_own(&self, number: SaleNumber, inquiry: Inquiry) -> Inquiry {
        let Inquiry::Payments(found) = &inquiry else { return inquiry };
        let Some(reference) = self.sales.open.get(&number).map(|active| &active.sale.order().merchant_transaction_id)
        else {
            return inquiry;
        };
        let named = found.iter().filter(|one| one.reference.as_ref().is_none_or(|named| named == reference));
        let mut foreign = named.filter(|one| self.is_of_another(number, &one.id));
        match foreign.next() {
            Some(one) => Inquiry::CannotAsk { why: another_transactions(number, &one.id) },
            None => inquiry,
        }
    }

    /// A reversal has an id of its own.
    pub(super) fn with_a_reversal_of_its_own(&self, number: SaleNumber, reversal: ReversalAnswer) -> ReversalAnswer {
        match reversal {
            ReversalAnswer::Done { id, .. } if self.is_of_another(number, &id) => {
                ReversalAnswer::Unknown { why: another_transactions(number, &id) }
            }
            reversal => reversal,
        }
    }

    pub(super) fn forgets(&self, number: SaleNumber) -> bool {
        self.sales.open.get(&number).is_some_and(|active| active.sale.order().kind() == Kind::ForgetCard)
    }

    fn is_of_another(&self, number: SaleNumber, id: &PaymentId) -> bool {
        self.journal.book().of_payment(id).is_ok_and(|owner| owner.is_some_and(|owner| owner != number))
    }
}

/// The gateway named another transaction's payment, which may be another till's: its id is in the log alone.
fn another_transactions(number: SaleNumber, id: &PaymentId) -> sale::Why {
    tracing::error!(
        sale = number.get(),
        payment = id.as_str(),
        "the gateway named a payment that is another transaction's"
    );
    sale::Reason::AnotherPaymentAnswered.into()
}
