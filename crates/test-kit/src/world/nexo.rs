//! A nexo till in the world: the real session of `pos-front` without a connection. The session exists while the board
//! has power, and loses its state when the power goes. The till's final knowledge is compared with the bank's ledger.

pub mod cloud;

use std::collections::VecDeque;
use std::time::Duration;

use pos_protocols::nexo::envelope::{Envelope, Message};
use pos_protocols::nexo::receipt::Profile;
use pos_protocols::nexo::session::{Action, Exchange, Now, Session, Settings};
use pos_till_api::Said;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until};

use super::asked::{Belief, Terminal};
use super::tills::Till;

/// The answer to a message.
enum Answered {
    /// The answer has arrived.
    Says(Value),
    /// The connection broke before the answer.
    Nothing,
}

/// A till with its terminal's session.
pub struct NexoTill<'a> {
    terminal: Terminal<'a>,
    session: Session,
    start: Instant,
    said: VecDeque<(u64, Said)>,
    belief: &'a std::cell::Cell<Belief>,
    exchanges: Exchange,
    /// The point at which the till aborts its payment: the number of requests so far, and the delay before the abort.
    aborts: Option<(usize, Duration)>,
    /// The number of requests of its payment so far.
    pub asked: usize,
}

/// Returns the settings for a till of the world.
pub(super) fn settings() -> Settings {
    Settings {
        sale_id: "till".to_owned(),
        poi_id: "A-1".to_owned(),
        credit: false,
        terminal_prints: false,
        profile: Profile::Plain,
        width: 32,
        reserves: false,
        ignore: Vec::new(),
        own_sums: None,
    }
}

impl<'a> NexoTill<'a> {
    pub fn new(till: &'a Till, belief: &'a std::cell::Cell<Belief>) -> Self {
        let (session, start) = (Session::new(settings()), Instant::now());
        Self {
            terminal: Terminal(till),
            session,
            start,
            said: VecDeque::new(),
            belief,
            exchanges: 0,
            aborts: None,
            asked: 0,
        }
    }

    pub fn that_aborts(self, aborts: Option<(usize, Duration)>) -> Self {
        Self { aborts, ..self }
    }

    /// Sends a payment with ServiceID 1, the same message each time.
    pub async fn pays(&mut self, minor: u64) {
        let amount = format!("{}.{:02}", minor / 100, minor % 100);
        let body = format!(
            r#"{{"SaleData":{{"SaleTransactionID":{{"TransactionID":"order 1","TimeStamp":"t"}}}},"PaymentTransaction":
            {{"AmountsReq":{{"Currency":"EUR","RequestedAmount":{amount}}}}}}}"#
        );
        if let Answered::Says(answer) = self.does("Payment", "1", &body).await {
            self.told(&answer["PaymentResponse"]);
        }
    }

    /// Sends `TransactionStatus` for that message until the outcome is known, for at most `patience`.
    pub async fn learns(&mut self, patience: Duration) {
        let until = Instant::now() + patience;
        while self.belief.get() == Belief::Unknown && Instant::now() < until {
            let body = r#"{"MessageReference":{"MessageCategory":"Payment","ServiceID":"1"}}"#;
            if let Answered::Says(answer) = self.does("TransactionStatus", "2", body).await {
                let response = &answer["TransactionStatusResponse"];
                match response["Response"]["ErrorCondition"].as_str() {
                    None => self
                        .told(&response["RepeatedMessageResponse"]["RepeatedResponseMessageBody"]["PaymentResponse"]),
                    // The payment never began.
                    Some("NotFound") => self.belief.set(Belief::NotPaid),
                    Some(_) => {}
                }
            }
            sleep(Duration::from_secs(20)).await;
        }
    }

    /// Updates the till's knowledge from an answer.
    fn told(&self, response: &Value) {
        let word = |name: &str| response["Response"][name].as_str().unwrap_or_default();
        match (word("Result"), word("ErrorCondition")) {
            ("Success" | "Partial", _) => {
                let amount = response["PaymentResult"]["AmountsResp"]["AuthorizedAmount"].to_string();
                let (whole, cents) = amount.split_once('.').unwrap_or((&amount, "0"));
                let minor = whole.parse::<u64>().unwrap() * 100 + format!("{cents:0<2}").parse::<u64>().unwrap();
                self.belief.set(Belief::Paid(minor));
            }
            ("Failure", "UnreachableHost") => {}
            ("Failure", _) => self.belief.set(Belief::NotPaid),
            other => panic!("{other:?}: {response}"),
        }
    }

    /// Aborts the payment in any state.
    async fn stops(&mut self) {
        let body =
            r#"{"AbortReason":"MerchantAbort","MessageReference":{"MessageCategory":"Payment","ServiceID":"1"}}"#;
        let mut actions = self.asks("Abort", "3", body);
        let own = self.exchanges;
        loop {
            let mut said = None;
            for action in actions {
                match action {
                    Action::Ask { ticket, ask } => said = Some((ticket, self.terminal.ask(&ask).await)),
                    Action::GiveUp { .. } => {}
                    Action::Answer { exchange, message } => {
                        assert!(exchange == own && message.is_none(), "an abort has no answer");
                        return;
                    }
                }
            }
            actions = if let Some((ticket, said)) = said {
                self.session.said(ticket, said, self.now())
            } else {
                let at = self.session.next_deadline().filter(|at| *at < Duration::MAX).expect("an abort goes on");
                sleep_until(self.start + at).await;
                self.session.tick(self.now())
            };
        }
    }

    fn asks(&mut self, category: &str, service_id: &str, body: &str) -> Vec<Action> {
        let text = format!(
            r#"{{"SaleToPOIRequest":{{"MessageHeader":{{"MessageClass":"Service","MessageCategory":"{category}",
            "MessageType":"Request","ServiceID":"{service_id}","SaleID":"till","POIID":"A-1"}},
            "{category}Request":{body}}}}}"#
        );
        let Ok(Envelope::Plain(Message::Request(request))) = Envelope::read(text.as_bytes()) else {
            panic!("{text}");
        };
        self.exchanges += 1;
        self.session.asked(self.exchanges, request, text.into_bytes(), self.now())
    }

    async fn does(&mut self, category: &str, service_id: &str, body: &str) -> Answered {
        let mut actions = self.asks(category, service_id, body);
        loop {
            for action in std::mem::take(&mut actions) {
                match action {
                    Action::Ask { ticket, ask } => {
                        if category == "Payment" {
                            let asked = self.asked;
                            self.asked += 1;
                            if let Some((_, later)) = self.aborts.take_if(|(before, _)| *before == asked) {
                                sleep(later).await;
                                self.stops().await;
                            }
                        }
                        let said = self.terminal.ask(&ask).await;
                        self.said.push_back((ticket, said));
                    }
                    Action::Answer { message, .. } if self.terminal.arrives().await => {
                        let message = message.expect("what is asked here has an answer");
                        let value: Value = serde_json::from_slice(&message.write()).unwrap();
                        let inner = value.get("SaleToPOIResponse").cloned();
                        return inner.map_or(Answered::Nothing, Answered::Says);
                    }
                    Action::GiveUp { .. } | Action::Answer { .. } => return Answered::Nothing,
                }
            }
            actions = if let Some((ticket, said)) = self.said.pop_front() {
                self.session.said(ticket, said, self.now())
            } else if let Some(at) = self.session.next_deadline().filter(|at| *at < Duration::MAX) {
                sleep_until(self.start + at).await;
                self.session.tick(self.now())
            } else {
                panic!("{}: nothing is asked, and nothing answered", json!(category));
            };
        }
    }

    fn now(&self) -> Now {
        let unix_s = u64::try_from(self.terminal.0.world.lock().clock_ms() / 1000).unwrap_or(0);
        Now { steady: self.start.elapsed(), unix_s }
    }
}
