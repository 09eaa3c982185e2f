//! The messages that a till receives: from the real command line in a separate process, and from events and look-ups.
//! Each message is compared with the gateway's ledger at that moment.

use std::process::{Output, Stdio};
use std::time::Duration;

use pos_agent::till::{Progress, SaleState, SaleView};
use pos_terms::transaction::OutcomeWord;
use serde_json::Value;
use tokio::process::Command;
use tokio::task::JoinHandle;

use super::{Counter, JsonOf};

/// Returns a command for the real program. The process is killed when its handle is dropped.
pub fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::agent());
    command.args(arguments).stdin(Stdio::null()).env_remove("RUST_LOG").env_remove("CREDENTIALS_DIRECTORY");
    command.kill_on_drop(true);
    command
}

impl Counter {
    /// Runs a command of the real program against the agent of this counter.
    pub fn verb(&self, arguments: &[&str]) -> JoinHandle<Output> {
        let mut command = program(arguments);
        command.arg("--socket").arg(self.shop.socket());
        tokio::spawn(async move { command.output().await.unwrap() })
    }

    /// Posts any body to `POST /v1/sales`, and returns the status code and the answer.
    pub async fn post_sale(&self, body: &str) -> (u16, Value) {
        let request = self.http.post("http://till/v1/sales").header("content-type", "application/json");
        let answer = request.body(body.to_owned()).send().await.unwrap();
        (answer.status().as_u16(), answer.json_of().await)
    }

    /// Sends a till's request, and returns the status code and the answer.
    pub async fn ask(&self, body: Value) -> (u16, Value) {
        self.post_sale(&body.to_string()).await
    }

    /// Runs a transaction without a card to its end.
    pub async fn done(&self, body: Value) -> SaleView {
        let reference = body["reference"].as_str().unwrap().to_owned();
        let (status, answer) = self.ask(body).await;
        assert_eq!(status, 201, "{answer}");
        self.until_ended(&reference).await
    }

    /// Sends the cashier's decision about the signature, and returns the status code and the answer.
    pub async fn answer_signature(&self, reference: &str, accepted: bool) -> (u16, Value) {
        let url = format!("http://till/v1/sales/{reference}/signature");
        let request = self.http.post(url).header("content-type", "application/json");
        let answer = request.body(serde_json::json!({ "accepted": accepted }).to_string()).send().await.unwrap();
        (answer.status().as_u16(), answer.json_of().await)
    }

    /// Sends any command, and returns the status code and the answer.
    pub async fn post_json(&self, path: &str, body: Value) -> (u16, Value) {
        let request = self.http.post(format!("http://till{path}")).header("content-type", "application/json");
        let answer = request.body(body.to_string()).send().await.unwrap();
        (answer.status().as_u16(), answer.json_of().await)
    }

    /// Sends any GET request, and returns the status code and the answer.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        let answer = self.http.get(format!("http://till{path}")).send().await.unwrap();
        (answer.status().as_u16(), answer.json_of().await)
    }

    /// Returns the transaction if the agent knows it.
    pub async fn find(&self, reference: &str) -> Option<SaleView> {
        let answer = self.http.get(format!("http://till/v1/sales/{reference}")).send().await.unwrap();
        match answer.status().as_u16() {
            404 => None,
            _ => Some(answer.json_of().await),
        }
    }

    /// Begins to receive every event.
    pub async fn listen(&self) -> Ears {
        let stream = self.http.get("http://till/v1/events").send().await.unwrap();
        Ears { stream, text: String::new(), heard: Vec::new() }
    }

    /// Looks up the transaction and receives events until its state is as wanted, and compares each state with the
    /// gateway. The till must never get an outcome without a charge while the gateway holds a charge (design: invariant
    /// 3). The journal must have announced every payment that the gateway has processed.
    pub async fn follow(
        &self,
        ears: &mut Ears,
        reference: &str,
        what: &str,
        enough: impl Fn(&SaleView) -> bool,
    ) -> SaleView {
        let mut audited = 0;
        let looking = async {
            loop {
                let processed = self.shop.gateway.ledger().entries().len();
                if processed != audited {
                    audited = processed;
                    self.audit_announced(what);
                }
                let view = self.find(reference).await;
                let heard = ears.hear().await.into_iter().filter_map(|step| step.sale).map(|sale| *sale);
                for view in heard.filter(|sale| sale.reference == reference).chain(view.clone()) {
                    self.told_the_truth(&view, what);
                }
                if let Some(view) = view.filter(&enough) {
                    return view;
                }
                tokio::task::yield_now().await;
            }
        };
        crate::within(what, looking).await
    }

    /// Checks that a till gets "no charge" only if the gateway holds none.
    pub fn told_the_truth(&self, view: &SaleView, what: &str) {
        let uncharged =
            matches!(view.outcome, Some(OutcomeWord::Declined | OutcomeWord::Cancelled | OutcomeWord::NotSent));
        if uncharged {
            let held = self.charged_for(view.reference.as_str());
            assert!(held.is_empty(), "{what}: the till was told {:?} and the gateway holds {held:?}", view.text);
        }
    }

    fn audit_announced(&self, what: &str) {
        let kept = self.kept();
        for entry in self.shop.gateway.ledger().entries() {
            let id = entry.merchant_transaction_id.as_deref().unwrap();
            let announced = kept.iter().any(|kept| kept.announced(id));
            assert!(announced, "{what}: {id} is at the gateway before it is in the journal");
        }
    }
}

/// A client of `GET /v1/events`.
pub struct Ears {
    stream: reqwest::Response,
    text: String,
    /// All steps so far.
    pub heard: Vec<Progress>,
}

impl Ears {
    /// Returns the steps since the last call.
    pub async fn hear(&mut self) -> Vec<Progress> {
        while let Ok(Ok(Some(chunk))) = tokio::time::timeout(Duration::ZERO, self.stream.chunk()).await {
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
        let mut new = Vec::new();
        while let Some((event, rest)) = self.text.split_once("\n\n") {
            let data = event.lines().find_map(|line| line.strip_prefix("data: "));
            new.extend(data.map(|data| serde_json::from_str::<Progress>(data).unwrap()));
            self.text = rest.to_owned();
        }
        self.heard.extend(new.iter().cloned());
        new
    }

    /// Waits for the next step.
    pub async fn next(&mut self) -> Progress {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                let step = data.map(|data| serde_json::from_str::<Progress>(data).unwrap());
                self.text = rest.to_owned();
                if let Some(step) = step {
                    return step;
                }
            }
            let chunk = self.stream.chunk().await.unwrap().expect("the agent tells as long as it runs");
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// Returns the states of one transaction in their order, each one once.
    pub fn states(&self, reference: &str) -> Vec<SaleState> {
        let views = self.heard.iter().filter_map(|step| step.sale.as_deref());
        let mut states: Vec<_> = views.filter(|sale| sale.reference == reference).map(|sale| sale.state).collect();
        states.dedup();
        states
    }
}
