//! The gateway, as the agent knows it: the requests that it is sent, each a task whose result comes back through the
//! loop. How they travel is `gateway`'s business.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::till::Refused;
use pos_core::sale::{self, Answer, Event};
use pos_gateway::{Expected, PreparedPayment, RequestTarget, WithoutCard};
use pos_terms::money::Amount;
use pos_terms::transaction::{PaymentId, SaleNumber};

use super::clock::Clock;
use super::expiry::ExpiryWarnings;
use super::probing::Probing;
use super::{Agent, TaskResult};

/// Questions and reversals of earlier sales that are on their way at one time: a handshake each is work that the sale
/// at the reader would wait for on a small board. The sale at the reader asks whenever it wants.
pub(super) const AT_ONCE: usize = 3;

/// The fields of a payment as the gateway tells them, by their flat names.
type GatewayFields = BTreeMap<String, String>;

/// The way to the gateway, and what is watched of it.
pub(super) struct GatewayDesk {
    pub(super) client: pos_gateway::Client,
    /// What was logged of certificates that end.
    pub(super) expiry_warnings: ExpiryWarnings,
    pub(super) probing: Probing,
    pub(super) refused: RefusedRequest,
    /// One place for each of [`AT_ONCE`].
    pub(super) turns: Arc<Semaphore>,
    pub(super) clock: Clock,
    /// What came of a request comes back there.
    pub(super) tasks: mpsc::Sender<TaskResult>,
}

impl GatewayDesk {
    pub(super) fn new(client: pos_gateway::Client, clock: Clock, tasks: mpsc::Sender<TaskResult>) -> Self {
        let (expiry_warnings, probing, refused) = Default::default();
        Self { client, expiry_warnings, probing, refused, turns: Arc::new(Semaphore::new(AT_ONCE)), clock, tasks }
    }

    /// Shows a till what the gateway says of one payment.
    pub(super) fn show_payment(&self, id: PaymentId, reply: oneshot::Sender<Result<GatewayFields, Refused>>) {
        if let Err(problem) = pos_gateway::Client::judge_id(&id) {
            let _ = reply.send(Err(Refused::Parameter { name: problem.name, why: problem.why }));
            return;
        }
        let gateway = self.client.clone();
        tokio::spawn(async move {
            let shown = gateway.show(&id).await;
            let _ = reply.send(shown.map_err(|why| Refused::Gateway { why }));
        });
    }

    /// Shows a till the payments that the gateway finds.
    pub(super) fn find_payments(
        &self,
        filters: Vec<(String, String)>,
        reply: oneshot::Sender<Result<Vec<GatewayFields>, Refused>>,
    ) {
        if let Err(problem) = self.client.judge_filters(&filters) {
            let _ = reply.send(Err(Refused::Parameter { name: problem.name, why: problem.why }));
            return;
        }
        let gateway = self.client.clone();
        tokio::spawn(async move {
            let found = gateway.find(&filters).await;
            let _ = reply.send(found.map_err(|why| Refused::Gateway { why }));
        });
    }
}

/// What the gateway said when it refused the last request of a transaction as invalid; until it processes one.
#[derive(Debug, Default)]
pub(super) struct RefusedRequest(Option<String>);

impl RefusedRequest {
    /// Keeps it, by the answer to a request.
    pub(super) fn heard(&mut self, number: SaleNumber, answer: &Answer) {
        match answer {
            Answer::NotSent { why } if why.reason == sale::Reason::RequestNotPossible => {
                let said = why.detail.clone().unwrap_or_default();
                tracing::error!(sale = number.get(), said, "the gateway refuses the request as invalid");
                self.0 = Some(said);
            }
            Answer::Approved(_) | Answer::Declined(_) | Answer::DeclinedInDoubt(_) | Answer::Pending { .. } => {
                self.0 = None;
            }
            Answer::NotSent { .. } | Answer::Throttled(_) | Answer::Unknown { .. } | Answer::NotOurs { .. } => {}
        }
    }

    /// What a technician must do as long as it stands.
    pub(super) fn attention(&self) -> Option<String> {
        let said = self.0.as_ref()?;
        let said = if said.is_empty() { String::new() } else { format!(" ({said})") };
        Some(format!(
            "the gateway refused the last transaction as an invalid request{said}; check entity-id of [gateway] and what the till \
             sends: another card does not help"
        ))
    }
}

impl Agent {
    pub(super) fn ask(&mut self, number: SaleNumber) {
        if self.sales.open.get(&number).is_some_and(|active| self.was_trained(active.sale.order())) {
            let why = sale::Reason::RequestNotPossible.with("it follows a transaction of training, which never was");
            return self.sales.inbox.push_back((number, Event::CannotAsk { why }));
        }
        let Some(active) = self.sales.open.get_mut(&number) else {
            return;
        };
        if !active.sale.order().kind().needs_card() {
            active.prepared = Some(without_card(&self.gateway.client, active.sale.order()));
        }
        // Kept until the answer: a gateway that did not process it may be asked again.
        let why = match active.prepared.clone() {
            Some(Ok(prepared)) => {
                let (gateway, done) = (self.gateway.client.clone(), self.tasks.clone());
                let clock = self.clock.clone();
                active.times.handed_on(clock.monotonic());
                tokio::spawn(async move {
                    let start = clock.monotonic();
                    let answer = gateway.pay(prepared).await;
                    let took = clock.monotonic() - start;
                    let _ = done.send(TaskResult::Paid { sale: number, answer, took }).await;
                });
                return;
            }
            Some(Err(why)) => sale::Reason::RequestNotPossible.with(why),
            None => sale::Reason::RequestNotPossible.into(),
        };
        self.sales.inbox.push_back((number, Event::CannotAsk { why }));
    }

    /// Asks what became of a pending payment.
    pub(super) fn poll(&self, number: SaleNumber, payment: PaymentId) {
        let Some(active) = self.sales.open.get(&number) else {
            return;
        };
        let order = active.sale.order();
        let asked = Expected {
            merchant_transaction_id: order.merchant_transaction_id.clone(),
            amount: active.sale.amount(),
            payment_type: order.kind().payment_type().to_owned(),
        };
        let (gateway, done) = (self.gateway.client.clone(), self.tasks.clone());
        tokio::spawn(async move {
            let answer = gateway.payment(&payment, &asked).await;
            let _ = done.send(TaskResult::Polled { sale: number, answer }).await;
        });
    }

    pub(super) fn query(&mut self, number: SaleNumber, references: Vec<String>) {
        if self.forgets(number) {
            // It has no reference that a query could find it by, and needs none: it is sent again.
            let inquiry = sale::Inquiry::Payments(Vec::new());
            return self.sales.inbox.push_back((number, Event::Inquired(inquiry)));
        }
        let (gateway, done) = (self.gateway.client.clone(), self.tasks.clone());
        let turn = self.turn(number);
        tokio::spawn(async move {
            let _turn = turn.await;
            let inquiry = gateway.look_up(&references).await;
            let _ = done.send(TaskResult::Inquired { sale: number, inquiry }).await;
        });
    }

    /// Sends a reversal.
    pub(super) fn reverse(&self, number: SaleNumber, payment: PaymentId, amount: Amount, reference: String) {
        let (gateway, done) = (self.gateway.client.clone(), self.tasks.clone());
        let turn = self.turn(number);
        tokio::spawn(async move {
            let _turn = turn.await;
            let reversal = gateway.reverse(&payment, amount, &reference).await;
            let _ = done.send(TaskResult::Reversed { sale: number, reference, reversal }).await;
        });
    }

    /// Waits for one of the few places that all earlier sales share; the sale at the reader goes at once.
    fn turn(&self, number: SaleNumber) -> impl Future<Output = Option<OwnedSemaphorePermit>> + use<> {
        let places = (self.reader.in_use_by != Some(number)).then(|| Arc::clone(&self.gateway.turns));
        async move { places?.acquire_owned().await.ok() }
    }
}

/// The request of a transaction that needs no card.
fn without_card(gateway: &pos_gateway::Client, order: &sale::Order) -> Result<PreparedPayment, String> {
    let on = RequestTarget::of(&order.transaction).ok_or("it needs a card")?;
    let asked = WithoutCard {
        payment_type: order.kind().payment_type(),
        on,
        amount: order.amount,
        merchant_transaction_id: &order.merchant_transaction_id,
        parameters: &order.parameters,
    };
    gateway.prepare_without_card(&asked).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_core::sale::Reason;

    #[test]
    fn a_refused_request_is_told_until_one_is_processed() {
        let mut refused = RefusedRequest::default();
        let mut after = |answer: Answer| {
            refused.heard(SaleNumber::new(1), &answer);
            refused.attention()
        };
        assert_eq!(after(Answer::NotSent { why: Reason::GatewayUnreachable.into() }), None);
        let told = after(Answer::NotSent { why: Reason::RequestNotPossible.with("entityId") });
        assert!(told.as_ref().is_some_and(|told| told.contains("(entityId)")), "{told:?}");
        // What does not say whether it was looked at changes nothing.
        assert_eq!(after(Answer::Unknown { why: Reason::GatewayNoAnswer.into() }), told);
        assert_eq!(after(Answer::NotSent { why: Reason::GatewayUnreachable.into() }), told);
        assert_eq!(after(Answer::Pending { id: PaymentId::new("p1"), redirect: None }), None);
    }
}
