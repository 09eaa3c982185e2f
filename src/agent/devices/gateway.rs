//! The agent's requests to the gateway. Each is a task whose result comes back through the loop. The crate
//! `pos-gateway` handles the transport.

mod probing;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::agent::clock::Clock;
use crate::agent::engine::open_transactions::OpenTransaction;
use crate::agent::task_results::{GatewaySaid, TaskResult, WaitingWish};
use crate::till::Refused;
use pos_core::transaction::{Answer, Event, Order, Reason};
use pos_gateway::{Expected, Fault, PreparedPayment, RequestTarget, WithoutCard};
use pos_terms::money::Amount;
use pos_terms::transaction::{PaymentId, SaleNumber};
use pos_words::{Message, Sentence};

use super::link::Link;
use probing::{ExpiryWarnings, Probing};

pub(in crate::agent) use probing::ProbeBrought;

/// The greatest number of look-ups and reversals of earlier transactions that run at the same time. Each needs a
/// handshake, and on a small board more of them would delay the transaction at the reader. The transaction at the
/// reader needs no slot.
pub(in crate::agent) const AT_ONCE: usize = 3;

/// The gateway's fields of a payment, keyed by their flat names.
type GatewayFields = BTreeMap<String, String>;

/// The connection to the gateway, with its checks.
pub(in crate::agent) struct GatewayControl {
    pub(in crate::agent) client: pos_gateway::Client,
    link: Link,
    /// The logged warnings about expiring certificates, keys and tokens.
    expiry_warnings: ExpiryWarnings,
    probing: Probing,
    pub(in crate::agent) refused: RefusedRequest,
    /// The [`AT_ONCE`] slots.
    pub(super) slots: Arc<Semaphore>,
    pub(super) clock: Clock,
    /// The channel that returns the results of requests.
    pub(super) tasks: mpsc::Sender<TaskResult>,
}

impl GatewayControl {
    pub(in crate::agent) fn new(
        client: pos_gateway::Client,
        link: Link,
        clock: Clock,
        tasks: mpsc::Sender<TaskResult>,
    ) -> Self {
        let (expiry_warnings, probing, refused) = Default::default();
        Self { client, link, expiry_warnings, probing, refused, slots: Arc::new(Semaphore::new(AT_ONCE)), clock, tasks }
    }

    /// Returns the fault of the network's link, if it has one.
    pub(in crate::agent) fn link_fault(&self) -> Option<Fault> {
        self.link.fault()
    }

    /// Logs a change of the network's link. Once the link is back, the gateway is probed at the next occasion.
    pub(in crate::agent) fn look_at_the_link(&mut self) {
        if self.link.is_back() {
            self.probing.at = self.clock.monotonic();
        }
    }

    /// Shows a till the gateway's data of one payment.
    pub(in crate::agent) fn show_payment(&self, id: PaymentId, reply: oneshot::Sender<Result<GatewayFields, Refused>>) {
        if let Err(problem) = pos_gateway::Client::judge_id(&id) {
            let _ = reply.send(Err(Refused::Parameter { name: problem.name, why: problem.why.into() }));
            return;
        }
        let gateway = self.client.clone();
        tokio::spawn(async move {
            let shown = gateway.show(&id).await;
            let _ = reply.send(shown.map_err(|why| Refused::Gateway { why }));
        });
    }

    /// Shows a till the payments that match its filters at the gateway.
    pub(in crate::agent) fn find_payments(
        &self,
        filters: Vec<(String, String)>,
        reply: oneshot::Sender<Result<Vec<GatewayFields>, Refused>>,
    ) {
        if let Err(problem) = self.client.judge_filters(&filters) {
            let _ = reply.send(Err(Refused::Parameter { name: problem.name, why: problem.why.into() }));
            return;
        }
        let gateway = self.client.clone();
        tokio::spawn(async move {
            let found = gateway.find(&filters).await;
            let _ = reply.send(found.map_err(|why| Refused::Gateway { why }));
        });
    }
}

/// The gateway's message when it last refused a transaction's request as invalid. The message is kept until the gateway
/// processes a request.
#[derive(Debug, Default)]
pub(in crate::agent) struct RefusedRequest(Option<String>);

impl RefusedRequest {
    /// Updates the message from the answer to a request.
    pub(super) fn heard(&mut self, number: SaleNumber, answer: &Answer) {
        match answer {
            Answer::NotSent { why } if why.reason == Reason::RequestNotPossible => {
                let said = why.detail.clone().unwrap_or_default();
                tracing::error!(sale = number.get(), said, "the gateway refused the request as invalid");
                self.0 = Some(said);
            }
            Answer::Approved(_) | Answer::Declined(_) | Answer::DeclinedInDoubt(_) | Answer::Pending { .. } => {
                self.0 = None;
            }
            Answer::NotSent { .. } | Answer::Throttled(_) | Answer::Unknown { .. } | Answer::NotOurs { .. } => {}
        }
    }

    /// Returns the message for the technician, as long as it is kept.
    pub(in crate::agent) fn attention(&self) -> Option<Sentence> {
        let said = self.0.as_ref()?;
        let detail = if said.is_empty() { String::new() } else { format!(" ({said})") };
        Some(Message::AttentionGatewayRefusesRequest.with("detail", detail))
    }
}

impl GatewayControl {
    /// Sends the request of a transaction. If it cannot be sent, returns the event that reports this.
    pub(super) fn ask(&self, active: &mut OpenTransaction) -> Option<Event> {
        let number = active.number();
        if !active.order().kind().needs_card() {
            active.prepared = Some(without_card(&self.client, active.order()));
        }
        // The request is kept until the answer. If the gateway did not process it, it may be sent again.
        let why = match active.prepared.clone() {
            Some(Ok(prepared)) => {
                let (gateway, done, clock) = (self.client.clone(), self.tasks.clone(), self.clock.clone());
                active.times.handed_on(clock.monotonic());
                tokio::spawn(async move {
                    let start = clock.monotonic();
                    let answer = gateway.pay(prepared).await;
                    let took = clock.monotonic() - start;
                    let _ =
                        done.send(TaskResult::Said { sale: number, said: GatewaySaid::Paid { answer, took } }).await;
                });
                return None;
            }
            Some(Err(why)) => Reason::RequestNotPossible.with(why),
            None => Reason::RequestNotPossible.into(),
        };
        Some(Event::CannotAsk { why })
    }

    /// Opens the connection to the gateway while the customer gets the card ready.
    pub(super) fn warm(&self) {
        let (gateway, done) = (self.client.clone(), self.tasks.clone());
        tokio::spawn(async move {
            // The client keeps the result.
            let _ = gateway.warm().await;
            let _ = done.send(TaskResult::Warmed).await;
        });
    }

    /// Polls a pending payment.
    pub(super) fn poll(&self, active: &OpenTransaction, payment: PaymentId) {
        let (number, order) = (active.number(), active.order());
        let asked = Expected {
            merchant_transaction_id: order.merchant_transaction_id.clone(),
            amount: active.sale().amount(),
            payment_type: order.kind().payment_type().to_owned(),
        };
        let (gateway, done) = (self.client.clone(), self.tasks.clone());
        tokio::spawn(async move {
            let answer = gateway.payment(&payment, &asked).await;
            let _ = done.send(TaskResult::Said { sale: number, said: GatewaySaid::Polled(answer) }).await;
        });
    }

    /// Looks up the payments with these gateway references.
    pub(super) fn query(&self, number: SaleNumber, references: Vec<String>, is_at_reader: bool) {
        let (gateway, done, slot) = (self.client.clone(), self.tasks.clone(), self.slot(is_at_reader));
        tokio::spawn(async move {
            let _slot = slot.await;
            let inquiry = gateway.look_up(&references).await;
            let _ = done.send(TaskResult::Said { sale: number, said: GatewaySaid::Inquired(inquiry) }).await;
        });
    }

    /// Sends a reversal.
    pub(super) fn reverse(
        &self,
        number: SaleNumber,
        (payment, amount, reference): (PaymentId, Amount, String),
        is_at_reader: bool,
    ) {
        let (gateway, done, slot) = (self.client.clone(), self.tasks.clone(), self.slot(is_at_reader));
        tokio::spawn(async move {
            let _slot = slot.await;
            let reversal = gateway.reverse(&payment, amount, &reference).await;
            let _ =
                done.send(TaskResult::Said { sale: number, said: GatewaySaid::Reversed { reference, reversal } }).await;
        });
    }

    /// Lists the gateway references that these terminals used between two times (milliseconds since 1970).
    pub(in crate::agent) fn list_references(&self, terminals: BTreeSet<String>, times: (i64, i64)) {
        let (gateway, done, slot) = (self.client.clone(), self.tasks.clone(), self.slot(false));
        tokio::spawn(async move {
            let _slot = slot.await;
            let strange = |references| {
                let done = done.clone();
                async move {
                    let (reply, said) = oneshot::channel();
                    let _ = done.send(TaskResult::SomeReferences { references, reply }).await;
                    said.await.unwrap_or_else(|_| Err("the terminal is stopping".to_owned()))
                }
            };
            let found = gateway.references_between(&terminals, times, strange).await;
            let _ = done.send(TaskResult::References { found }).await;
        });
    }

    /// Looks up the transaction that a till's request follows, with all linked payments.
    pub(in crate::agent) fn look_up_for(&self, wish: Box<WaitingWish>, reference: String) {
        let (gateway, done, slot) = (self.client.clone(), self.tasks.clone(), self.slot(false));
        tokio::spawn(async move {
            let _slot = slot.await;
            let inquiry = gateway.query_for_till(&reference).await;
            let _ = done.send(TaskResult::LookedUp { wish, inquiry }).await;
        });
    }

    /// Waits for one of the slots that earlier transactions share. The transaction at the reader does not wait.
    fn slot(&self, is_at_reader: bool) -> impl Future<Output = Option<OwnedSemaphorePermit>> + use<> {
        let slots = (!is_at_reader).then(|| Arc::clone(&self.slots));
        async move { slots?.acquire_owned().await.ok() }
    }

    /// Updates the gateway's state from the answer to a request.
    pub(in crate::agent) fn answered(&mut self, number: SaleNumber, answer: &Answer) {
        self.probe_again_soon();
        self.refused.heard(number, answer);
        if matches!(answer, Answer::Approved(_) | Answer::Declined(_)) && !self.probing.was_answered {
            self.probing.at = self.probing.at.min(self.clock.monotonic());
        }
    }

    /// Handles a new handshake, which may have shown another certificate.
    pub(in crate::agent) fn warmed(&mut self) {
        self.probe_again_soon();
        self.expiry_warnings.look_again();
    }

    /// Returns whether the last contact reached the gateway, even if its answer was a refusal.
    pub(in crate::agent) fn is_reached(&self) -> bool {
        self.client.contact().is_reached()
    }

    /// Returns whether the gateway has answered a probe, which measures the difference between its clock and the
    /// board's.
    pub(in crate::agent) fn has_told_its_time(&self) -> bool {
        self.probing.was_answered
    }
}

/// Prepares the request of a transaction that needs no card.
fn without_card(gateway: &pos_gateway::Client, order: &Order) -> Result<PreparedPayment, String> {
    let on = RequestTarget::of(&order.operation).ok_or("it needs a card")?;
    let asked = WithoutCard {
        kind: order.kind(),
        on,
        amount: order.amount,
        merchant_transaction_id: &order.merchant_transaction_id,
        number: Some(order.number),
        parameters: &order.parameters,
    };
    gateway.prepare_without_card(&asked).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_request_is_told_until_one_is_processed() {
        let mut refused = RefusedRequest::default();
        let mut after = |answer: Answer| {
            refused.heard(SaleNumber::new(1), &answer);
            refused.attention()
        };
        assert_eq!(after(Answer::NotSent { why: Reason::GatewayUnreachable.into() }), None);
        let told = after(Answer::NotSent { why: Reason::RequestNotPossible.with("entityId") });
        assert!(told.as_ref().is_some_and(|told| told.to_string().contains("(entityId)")), "{told:?}");
        // If the answer does not say whether the gateway processed the request, the message stays.
        assert_eq!(after(Answer::Unknown { why: Reason::GatewayNoAnswer.into() }), told);
        assert_eq!(after(Answer::NotSent { why: Reason::GatewayUnreachable.into() }), told);
        assert_eq!(after(Answer::Pending { id: PaymentId::new("p1"), redirect: None }), None);
    }
}
