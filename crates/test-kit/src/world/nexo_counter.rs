//! A nexo till that repeats its messages in all categories, immediately and after days. A repetition is the same
//! message, or a different message with the same numbers. Each Success is compared with the bank's ledger, which must
//! contain the transaction that this message requested.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use pos_agent::till::{Caller, CloseAsked, Command, Refused, SaleView, TillSide, Verb, Wanted, WhichClose};
use pos_core::wish::{EarlierName, WantedTip, WishFields};
use pos_protocols::nexo::envelope::{Envelope, Message};
use pos_protocols::nexo::request::Request;
use pos_protocols::nexo::session::{Action, Exchange, Now, Session};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Kind, Reference, SaleNumber, Who};
use pos_till_api::{Ask, Begin, Said};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, sleep_until};

use super::asked::Terminal;
use super::ledger::EntryState;
use super::tills::Till;

/// The till's name in the agent's configuration.
const TILL: &str = "till-1";

/// A message, and the ledger entry that its Success implies.
#[derive(Clone, Debug)]
pub struct Asked {
    pub category: &'static str,
    pub service_id: String,
    pub body: String,
    /// The `paymentType` at the bank, the amount in minor units, and the payment that the entry refers to.
    pub is: (&'static str, u64, Option<String>),
}

/// The result of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NexoResult {
    /// Success, with the payment at the bank.
    Done(String),
    Failure(String),
    Rejected,
    /// The connection broke, or the power was cut.
    Nothing,
}

/// A till's session, while the board has power.
pub struct Counter<'a> {
    till: &'a Till,
    session: Session,
    start: Instant,
    exchanges: Exchange,
}

impl<'a> Counter<'a> {
    pub fn new(till: &'a Till) -> Self {
        let session = Session::new(super::nexo::settings());
        Self { till, session, start: Instant::now(), exchanges: 0 }
    }

    /// Sends a message, and returns its answer.
    pub async fn asks(&mut self, asked: &Asked) -> NexoResult {
        let answer = self.exchange(asked, None).await.pop().flatten();
        self.told(asked, answer.as_ref())
    }

    /// Repeats a message until the answer is neither "unknown" nor "not ready", for at most eight hours.
    pub async fn insists(&mut self, asked: &Asked) -> NexoResult {
        let mut last = NexoResult::Nothing;
        for _ in 0..100 {
            match self.asks(asked).await {
                NexoResult::Nothing => {}
                // The outcome is still unknown, or the terminal is not ready.
                NexoResult::Failure(condition)
                    if condition == "UnreachableHost" || condition == "UnavailableDevice" =>
                {
                    last = NexoResult::Failure(condition);
                }
                told => return told,
            }
            // Only after hours is it certain whether a refund without an answer exists.
            sleep(Duration::from_secs(300)).await;
        }
        last
    }

    /// Sends the same message twice. The second one is sent after the first one's requests have got this many answers.
    pub async fn asks_twice(&mut self, asked: &Asked, after: usize) -> [NexoResult; 2] {
        let mut answers = self.exchange(asked, Some(after)).await;
        let (other, one) = (answers.pop().flatten(), answers.pop().flatten());
        [self.told(asked, one.as_ref()), self.told(asked, other.as_ref())]
    }

    /// Sends a Reconciliation. Returns the number of the close and its total, or the error condition of its refusal.
    pub async fn closes(&mut self, service_id: &str) -> Result<(String, f64), String> {
        let asked = Asked {
            category: "Reconciliation",
            service_id: service_id.to_owned(),
            body: r#"{"ReconciliationType":"SaleReconciliation"}"#.to_owned(),
            is: ("", 0, None),
        };
        let answer = self.exchange(&asked, None).await.pop().flatten().expect("an answer");
        let response = &answer["SaleToPOIResponse"]["ReconciliationResponse"];
        if let Some(condition) = response["Response"]["ErrorCondition"].as_str() {
            return Err(condition.to_owned());
        }
        let number = response["POIReconciliationID"].as_str().unwrap().to_owned();
        let totals = response["TransactionTotals"].as_array().into_iter().flatten();
        let sums = totals.flat_map(|totals| totals["PaymentTotals"].as_array().into_iter().flatten());
        Ok((number, sums.map(|sum| sum["TransactionAmount"].as_f64().unwrap()).sum()))
    }

    /// Reads the answer. A Success must match the ledger entry for exactly this message.
    fn told(&self, asked: &Asked, answer: Option<&Value>) -> NexoResult {
        let Some(answer) = answer else { return NexoResult::Nothing };
        let response = &answer["SaleToPOIResponse"][format!("{}Response", asked.category)];
        match (response["Response"]["Result"].as_str(), response["Response"]["ErrorCondition"].as_str()) {
            (Some("Success"), _) => {}
            (Some(_), Some(condition)) => return NexoResult::Failure(condition.to_owned()),
            _ => return NexoResult::Rejected,
        }
        let named = response["POIData"]["POITransactionID"]["TransactionID"].as_str().unwrap();
        let payment = named.split_once('.').unwrap().1.to_owned();
        let state = self.till.world.lock();
        let entry = state.bank.ledger.iter().find(|entry| entry.id == payment).expect("it is at the bank");
        let (kind, minor, original) = &asked.is;
        assert_eq!(entry.state, EntryState::Approved, "{asked:?}: {answer}");
        assert_eq!((entry.kind.as_str(), entry.approved), (*kind, *minor), "{asked:?}: {answer}");
        assert_eq!(&entry.refers_to, original, "{asked:?}: {answer}");
        NexoResult::Done(payment)
    }

    async fn exchange(&mut self, asked: &Asked, twin_after: Option<usize>) -> Vec<Option<Value>> {
        let mut exchanges = Vec::new();
        let mut answers: Vec<(Exchange, Option<Value>)> = Vec::new();
        let mut questions: VecDeque<(u64, Ask)> = VecDeque::new();
        let (mut actions, mut answered) = (self.begins(asked, &mut exchanges), 0);
        let mut twin_after = twin_after;
        loop {
            if twin_after.take_if(|after| *after <= answered).is_some() {
                actions.extend(self.begins(asked, &mut exchanges));
            }
            for action in std::mem::take(&mut actions) {
                match action {
                    Action::Ask { ticket, ask } => questions.push_back((ticket, ask)),
                    Action::GiveUp { .. } => {}
                    Action::Answer { exchange, message } => {
                        let arrives = Terminal(self.till).arrives().await;
                        let message =
                            message.filter(|_| arrives).map(|it| serde_json::from_slice(&it.write()).unwrap());
                        answers.push((exchange, message));
                    }
                }
            }
            if answers.len() == exchanges.len() && twin_after.is_none() {
                break;
            }
            actions = if let Some((ticket, ask)) = questions.pop_front() {
                let said = self.terminal(&ask).await;
                answered += 1;
                self.session.said(ticket, said, self.now())
            } else if let Some(at) = self.session.next_deadline().filter(|at| *at < Duration::MAX) {
                sleep_until(self.start + at).await;
                self.session.tick(self.now())
            } else {
                // The first message is finished before the second arrives.
                answered = usize::MAX;
                Vec::new()
            };
        }
        answers.sort_by_key(|(exchange, _)| *exchange);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }

    fn begins(&mut self, asked: &Asked, exchanges: &mut Vec<Exchange>) -> Vec<Action> {
        self.exchanges += 1;
        exchanges.push(self.exchanges);
        let (category, service_id, body) = (asked.category, &asked.service_id, &asked.body);
        let text = format!(
            r#"{{"SaleToPOIRequest":{{"MessageHeader":{{"MessageClass":"Service","MessageCategory":"{category}",
            "MessageType":"Request","ServiceID":"{service_id}","SaleID":"till","POIID":"A-1"}},
            "{category}Request":{body}}}}}"#
        );
        let request: Request = match Envelope::read(text.as_bytes()) {
            Ok(Envelope::Plain(Message::Request(request))) => request,
            other => panic!("{other:?}: {text}"),
        };
        self.session.asked(self.exchanges, request, text.into_bytes(), self.now())
    }

    fn now(&self) -> Now {
        let unix_s = u64::try_from(self.till.world.lock().clock_ms() / 1000).unwrap_or(0);
        Now { steady: self.start.elapsed(), unix_s }
    }

    /// Returns the agent's answer to a request, unless the connection breaks.
    async fn terminal(&self, ask: &Ask) -> Said {
        let answer = match ask {
            Ask::Status => return Terminal(self.till).ask(ask).await,
            Ask::Receipt { .. } => return Said::Refused(pos_till_api::Problem::default()),
            Ask::Begin(begin) => {
                let wanted = Box::new(wanted(begin));
                self.hears(|reply| Command::Begin { wanted, reply }).await.map(|sale| json(&sale))
            }
            Ask::Show { reference, wait_s } => {
                self.shown(reference, Duration::from_secs(u64::from(*wait_s))).await.map(|sale| json(&sale))
            }
            Ask::Number(number) => {
                let since = SaleNumber::new(number.saturating_sub(1));
                let till = Some(TILL.to_owned());
                let listed = self.hears(|reply| Command::List { till, since, limit: 1, reply }).await;
                listed.map(|sales: Vec<SaleView>| json(&serde_json::json!({ "sales": sales })))
            }
            Ask::Referenced { part, from, .. } => {
                let (above, below) = (SaleNumber::BEFORE_ALL, SaleNumber::AFTER_ALL);
                let (till, reference) = (Some(TILL.to_owned()), Some(part.clone()));
                let list = |reply| Command::ListNewest { till, above, below, reference, limit: 100, reply };
                self.hears(list).await.map(|mut sales: Vec<SaleView>| {
                    sales.retain(|sale| from.as_ref().is_none_or(|from| sale.started_at >= *from));
                    json(&serde_json::json!({ "sales": sales }))
                })
            }
            Ask::Close { reference, print } => {
                let wish = CloseAsked {
                    till: TILL.to_owned(),
                    reference: Some(Reference::parse(reference.clone()).unwrap()),
                    by: Who::default(),
                    print: *print,
                };
                self.hears(|reply| Command::Close { wish, reply }).await.map(|close| json(&close))
            }
            Ask::LastClose => {
                let permit = Caller::root(0).may(Verb::Close).unwrap();
                let shown = self.hears(|reply| Command::ShowClose { which: WhichClose::Last, permit, reply }).await;
                shown.map(|shown| json(&shown.close))
            }
            other => panic!("this till asks for no {other:?}"),
        };
        match answer {
            Ok(answer) if Terminal(self.till).arrives().await => Said::read(ask, 200, &answer),
            Ok(_) => Said::NoAnswer { may_be_done: true },
            Err(said) => said,
        }
    }

    async fn shown(&self, reference: &str, wait: Duration) -> Result<SaleView, Said> {
        let until = Instant::now() + wait;
        loop {
            let (till, reference) = (TILL.to_owned(), Reference::parse(reference.to_owned()).unwrap());
            let sale: SaleView = self.hears(|reply| Command::Show { till, reference, reply }).await?;
            if sale.outcome.is_some() || Instant::now() >= until {
                return Ok(sale);
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    async fn hears<T>(&self, ask: impl FnOnce(oneshot::Sender<Result<T, Refused>>) -> Command) -> Result<T, Said> {
        let (reply, answer) = oneshot::channel();
        let _ = self.till.commands.send(ask(reply)).await;
        match answer.await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(refused)) => {
                let code = if matches!(refused, Refused::NoSuchSale { .. }) { "no-such-sale" } else { "not-possible" };
                let (code, detail) = (code.to_owned(), refused.to_string());
                Err(Said::Refused(pos_till_api::Problem { code, detail, ..pos_till_api::Problem::default() }))
            }
            Err(_) => Err(Said::NoAnswer { may_be_done: true }),
        }
    }

    /// Returns the transactions whose outcome is unknown.
    pub async fn unsettled(&self) -> Vec<String> {
        let (above, below) = (SaleNumber::BEFORE_ALL, SaleNumber::AFTER_ALL);
        let till = Some(TILL.to_owned());
        let list = |reply| Command::ListNewest { till, above, below, reference: None, limit: 100, reply };
        let sales: Vec<SaleView> = self.hears(list).await.expect("the list is answered");
        let open = sales.iter().filter(|sale| sale.outcome.is_none());
        open.map(|sale| format!("{sale:?}")).collect()
    }

    /// Returns the payments that hold money at the bank and are unknown to the till.
    pub fn not_told(&self, told: &BTreeSet<String>) -> Vec<String> {
        let state = self.till.world.lock();
        let stands = state.bank.ledger.iter().filter(|entry| entry.stands() > 0);
        stands.filter(|entry| !told.contains(&entry.id)).map(|entry| format!("{entry:?}")).collect()
    }
}

fn json(answer: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(answer).unwrap()
}

/// Returns the request in the form that the agent reads over HTTP.
fn wanted(begin: &Begin) -> Wanted {
    let amount = |text: &String| Amount::parse(text, Currency::from_code("EUR").unwrap()).unwrap();
    let kind: Kind = serde_json::from_value(serde_json::json!(begin.kind)).unwrap();
    let earlier = |reference: &String| EarlierName::Reference {
        till: TILL.to_owned(),
        reference: Reference::parse(reference.clone()).unwrap(),
    };
    let fields = WishFields {
        of: begin.of.as_ref().map(earlier),
        amount: begin.amount.as_ref().map(amount),
        tip: begin.tip.as_ref().map(|tip| WantedTip::Given(amount(tip))),
        accept_partial: begin.accept_partial.then_some(true),
        ..WishFields::new(kind)
    };
    let parameters = begin.parameters.iter().map(|(name, value)| (name.clone(), value.as_str().into()));
    Wanted {
        till: TILL.to_owned(),
        reference: Reference::parse(begin.reference.clone()).unwrap(),
        wish: fields.judged().unwrap(),
        caller: Caller::root(0),
        training: None,
        parameters: parameters.collect(),
        till_side: TillSide { prints: begin.till_prints, data: begin.till_data.clone() },
    }
}
