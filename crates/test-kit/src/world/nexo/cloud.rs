//! A nexo till in the cloud form in the world: it leaves a payment with the front and gets the answer at its server.
//! The front's file is a second version of the one in `pos-front`. The session is the real one. Each message in each
//! direction is a point: the payment, `ok`, the answer, and the acceptance of the answer.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use pos_protocols::nexo::envelope::{Envelope, Message};
use pos_protocols::nexo::session::{Action, Arrival, leaves_open};
use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until};

use super::super::asked::Belief;
use super::super::tills::Till;
use super::NexoTill;

/// The age from which on a message begins nothing.
pub const LATE_S: u64 = 120;

/// The front's file, which survives a power cut.
#[derive(Debug, Default)]
pub struct CloudFile {
    /// The accepted payment with its time.
    pub kept: Option<(String, u64)>,
    /// Its answer, until the till's server has accepted it.
    pub answer: Option<Value>,
}

/// What the till has heard.
#[derive(Debug, Default)]
pub struct CloudHeard {
    /// True after `ok`.
    pub ok: Cell<bool>,
    /// The number of answers at the till's server.
    pub posted: Cell<usize>,
}

/// A till with its terminal's session and the front's file.
pub struct CloudTill<'a> {
    nexo: NexoTill<'a>,
    file: &'a RefCell<CloudFile>,
    heard: &'a CloudHeard,
}

impl<'a> CloudTill<'a> {
    pub fn new(till: &'a Till, belief: &'a Cell<Belief>, file: &'a RefCell<CloudFile>, heard: &'a CloudHeard) -> Self {
        Self { nexo: NexoTill::new(till, belief), file, heard }
    }

    /// Leaves a payment with ServiceID 1, the same message each time.
    pub async fn leaves(&mut self, minor: u64) {
        if !self.nexo.terminal.arrives().await {
            return;
        }
        let amount = format!("{}.{:02}", minor / 100, minor % 100);
        let text = format!(
            r#"{{"SaleToPOIRequest":{{"MessageHeader":{{"MessageClass":"Service","MessageCategory":"Payment",
            "MessageType":"Request","ServiceID":"1","SaleID":"till","POIID":"A-1"}},"PaymentRequest":{{"SaleData":
            {{"SaleTransactionID":{{"TransactionID":"order 1","TimeStamp":"t"}},"SaleToAcquirerData":
            "metadata.order=4711"}},"PaymentTransaction":{{"AmountsReq":{{"Currency":"EUR","RequestedAmount":{amount}
            }}}}}}}}}}"#
        );
        let is_new = self.file.borrow().kept.is_none();
        if is_new {
            *self.file.borrow_mut() = CloudFile { kept: Some((text, self.nexo.now().unix_s)), answer: None };
        }
        if self.nexo.terminal.arrives().await {
            self.heard.ok.set(true);
        }
        self.goes_on(Arrival::New).await;
    }

    /// Continues with the payment in the file after a restart.
    pub async fn resumes(&mut self) {
        let Some(at) = self.file.borrow().kept.as_ref().map(|(_, at)| *at) else { return };
        let age = self.nexo.now().unix_s.checked_sub(at);
        let left = age.and_then(|age| LATE_S.checked_sub(age)).map(Duration::from_secs);
        let arrival = left.map_or(Arrival::Late, |left| Arrival::Again { left });
        self.goes_on(arrival).await;
    }

    async fn goes_on(&mut self, mut arrival: Arrival) {
        let Some((text, _)) = self.file.borrow().kept.clone() else { return };
        while self.file.borrow().answer.is_none() {
            let answer = self.asks_session(&text, arrival).await;
            if !leaves_open(&answer) {
                self.file.borrow_mut().answer = Some(serde_json::from_slice(&answer.write()).unwrap());
                break;
            }
            sleep(Duration::from_secs(5)).await;
            arrival = Arrival::Late;
        }
        let answer = self.file.borrow().answer.clone().unwrap();
        let until = Instant::now() + Duration::from_secs(24 * 3600);
        let mut pause = Duration::from_secs(1);
        while Instant::now() < until {
            // The till's server gets the answer, and then accepts it.
            if self.nexo.terminal.arrives().await {
                self.heard.posted.set(self.heard.posted.get() + 1);
                let response = &answer["SaleToPOIResponse"]["PaymentResponse"];
                let texts = response["Response"]["AdditionalResponse"].as_str().unwrap();
                assert!(texts.ends_with("metadata.order=4711"), "{answer}");
                self.nexo.told(response);
                if self.nexo.terminal.arrives().await {
                    *self.file.borrow_mut() = CloudFile::default();
                    return;
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(300));
        }
    }

    /// Returns the session's answer. Before each question to the agent, the till asks for the status.
    async fn asks_session(&mut self, text: &str, arrival: Arrival) -> Message {
        let read = |text: &str| match Envelope::read(text.as_bytes()) {
            Ok(Envelope::Plain(Message::Request(request))) => request,
            other => panic!("{other:?}: {text}"),
        };
        self.nexo.exchanges += 1;
        let own = self.nexo.exchanges;
        let now = self.nexo.now();
        let mut actions = self.nexo.session.arrived(own, (read(text), arrival), text.as_bytes().to_vec(), now);
        loop {
            let mut said = None;
            for action in actions {
                match action {
                    Action::Ask { ticket, ask } => {
                        let status = r#"{"MessageReference":{"MessageCategory":"Payment","ServiceID":"1"}}"#;
                        let status = self.nexo.asks("TransactionStatus", "9", status);
                        let [Action::Answer { message: Some(message), .. }] = status.as_slice() else {
                            panic!("{status:?}");
                        };
                        let status: Value = serde_json::from_slice(&message.write()).unwrap();
                        let status = &status["SaleToPOIResponse"]["TransactionStatusResponse"]["Response"];
                        assert_eq!(status["ErrorCondition"], "InProgress", "after ok, the message is known");
                        said = Some((ticket, self.nexo.terminal.ask(&ask).await));
                    }
                    Action::GiveUp { .. } => {}
                    Action::Answer { exchange, message } if exchange == own => {
                        return *message.expect("a payment has an answer");
                    }
                    Action::Answer { .. } => {}
                }
            }
            actions = if let Some((ticket, said)) = said {
                self.nexo.session.said(ticket, said, self.nexo.now())
            } else {
                let at = self.nexo.session.next_deadline().filter(|at| *at < Duration::MAX).expect("it goes on");
                sleep_until(self.nexo.start + at).await;
                self.nexo.session.tick(self.nexo.now())
            };
        }
    }
}
