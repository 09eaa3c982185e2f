//! Carrying out what came out of the journal: each action of a sale to the device it concerns.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;

use crate::config::{self, Config};
use crate::gateway::{self, Expected, On, PreparedPayment, WithoutCard};
use crate::printer;
use crate::reader::{self, Arm, Completion, ReaderOrder};
use crate::sale::{self, Action, CardAnswer, Event};
use crate::till::Refused;
use crate::transaction::{Kind, SaleNumber};

use super::clock::{self, Clock};
use super::{Afterwards, Agent, Done};

/// EMV transaction type (9C) of a purchase (ISO 8583: processing code).
const PURCHASE: u8 = 0x00;
/// EMV transaction type (9C) of a refund.
const REFUND: u8 = 0x20;

impl Agent {
    /// Carries out one action. Nothing here waits: answers come back through the loop.
    pub(super) fn act(&mut self, number: SaleNumber, action: Action) {
        match action {
            Action::AskTip => self.ask_tip(number),
            Action::Arm => self.arm(number),
            Action::StopReader => {
                if self.at_reader == Some(number) {
                    self.order_reader(number, ReaderOrder::Cancel { sale: number });
                }
            }
            Action::Ask => self.ask(number),
            Action::Poll { payment } => {
                let Some(active) = self.sales.get(&number) else {
                    return;
                };
                let order = active.sale.order();
                let asked = Expected {
                    merchant_transaction_id: order.merchant_transaction_id.clone(),
                    amount: active.sale.amount(),
                    payment_type: order.kind().payment_type().to_owned(),
                };
                let (gateway, done) = (self.gateway.clone(), self.done.clone());
                tokio::spawn(async move {
                    let answer = gateway.payment(&payment, &asked).await;
                    let _ = done.send(Done::Polled { sale: number, answer }).await;
                });
            }
            Action::AnswerCard(answer) => self.answer_card(number, *answer),
            Action::Query { references } => self.query(number, references),
            Action::Reverse { .. } => {
                let Some(Action::Reverse { payment, amount, reference }) = self.may_leave(number, action) else {
                    return;
                };
                let (gateway, done) = (self.gateway.clone(), self.done.clone());
                let turn = self.turn(number);
                tokio::spawn(async move {
                    let _turn = turn.await;
                    let reversal = gateway.reverse(&payment, amount, &reference).await;
                    let _ = done.send(Done::Reversed { sale: number, reference, reversal }).await;
                });
            }
            Action::Alarm { why } => self.alarm(number, &why),
            Action::Print(paper) => self.afterwards.push_back((number, Afterwards::Print(paper))),
            Action::Tell => self.afterwards.push_back((number, Afterwards::Tell)),
        }
    }

    /// Arms the reader, and opens the way to the gateway while the customer looks for the card.
    fn arm(&mut self, number: SaleNumber) {
        let (Some(active), Some(local)) = (self.sales.get(&number), self.clock.local()) else {
            self.at_reader = None;
            self.inbox.push_back((number, Event::NoCard { why: sale::Reason::ClockUntrusted.into() }));
            return;
        };
        let arm = Arm {
            sale: number,
            amount: active.sale.amount(),
            transaction_type: if active.sale.order().kind() == Kind::Credit { REFUND } else { PURCHASE },
            at: clock::for_reader(&local),
            card_timeout: Duration::from_secs(self.config.terminal.card_timeout_s),
            entry: if active.sale.order().manual { reader::EntryRequest::Manual } else { reader::EntryRequest::Card },
        };
        self.order_reader(number, ReaderOrder::Arm(arm));
        let (gateway, done) = (self.gateway.clone(), self.done.clone());
        tokio::spawn(async move {
            // What came of it the client keeps.
            let _ = gateway.warm().await;
            let _ = done.send(Done::Warmed).await;
        });
    }

    fn ask(&mut self, number: SaleNumber) {
        let Some(active) = self.sales.get_mut(&number) else {
            return;
        };
        if !active.sale.order().kind().needs_card() {
            active.prepared = Some(without_card(&self.gateway, active.sale.order()));
        }
        // Kept until the answer: a gateway that did not process it may be asked again.
        let why = match active.prepared.clone() {
            Some(Ok(prepared)) => {
                let (gateway, done) = (self.gateway.clone(), self.done.clone());
                let clock = self.clock.clone();
                active.trace.handed_on(clock.monotonic());
                tokio::spawn(async move {
                    let start = clock.monotonic();
                    let answer = gateway.pay(prepared).await;
                    let took = clock.monotonic() - start;
                    let _ = done.send(Done::Paid { sale: number, answer, took }).await;
                });
                return;
            }
            Some(Err(why)) => sale::Reason::RequestNotPossible.with(why),
            None => sale::Reason::RequestNotPossible.into(),
        };
        self.inbox.push_back((number, Event::CannotAsk { why }));
    }

    fn query(&mut self, number: SaleNumber, references: Vec<String>) {
        let (gateway, done) = (self.gateway.clone(), self.done.clone());
        let turn = self.turn(number);
        tokio::spawn(async move {
            let _turn = turn.await;
            let inquiry = gateway.look_up(&references).await;
            let _ = done.send(Done::Inquired { sale: number, inquiry }).await;
        });
    }

    /// Waits for one of the few places that all earlier sales share; the sale at the reader goes at once.
    fn turn(&self, number: SaleNumber) -> impl Future<Output = Option<OwnedSemaphorePermit>> + use<> {
        let places = (self.at_reader != Some(number)).then(|| Arc::clone(&self.earlier_sales));
        async move { places?.acquire_owned().await.ok() }
    }

    fn answer_card(&mut self, number: SaleNumber, answer: CardAnswer) {
        let CardAnswer { arc, issuer_authentication, scripts } = answer;
        if let Some(active) = self.sales.get_mut(&number) {
            active.trace.handed_on(self.clock.monotonic());
        }
        let completion = Completion { arc, issuer_authentication, scripts };
        self.order_reader(number, ReaderOrder::Complete { sale: number, completion });
    }

    /// Declines a card whose sale could not be recorded.
    pub(super) fn decline_card(&mut self, number: SaleNumber) {
        let answer = CardAnswer { arc: *b"Z1", issuer_authentication: None, scripts: heapless::Vec::new() };
        self.answer_card(number, answer);
    }

    /// Gives the reader an order; when it is gone or another sale has it, the sale hears that the reader was lost.
    pub(super) fn order_reader(&mut self, number: SaleNumber, order: ReaderOrder) {
        if self.at_reader != Some(number) || self.reader.order_now(order).is_err() {
            self.inbox.push_back((number, Event::ReaderLost));
        }
    }

    /// The printers with their configurations.
    pub(super) fn printers(&self) -> impl Iterator<Item = (&config::Printer, &printer::Handle)> {
        self.config.printer.iter().zip(&self.printers)
    }
}

/// The request of a transaction that needs no card.
fn without_card(gateway: &gateway::Client, order: &sale::Order) -> Result<PreparedPayment, String> {
    let on = On::of(&order.transaction).ok_or("it needs a card")?;
    let asked = WithoutCard {
        payment_type: order.kind().payment_type(),
        on,
        amount: order.amount,
        merchant_transaction_id: &order.merchant_transaction_id,
        parameters: &order.parameters,
    };
    gateway.prepare_without_card(&asked).map_err(|error| error.to_string())
}

/// The reader's settings from the configuration; what only its family needs is [`reader::ReaderFamily::of`].
pub(super) fn reader_settings(config: &Config, clock: &Clock) -> reader::ReaderSettings {
    let clock = clock.clone();
    let section = &config.reader;
    reader::ReaderSettings {
        baud: section.baud,
        icc_masked_tags: config.gateway.send_masked_tags,
        clock: Arc::new(move || clock.for_the_reader()),
        // The check has refused every other code.
        language: reader::Language::from_code(&section.language).unwrap_or_default(),
        serials: section.serials.clone(),
        ..reader::ReaderSettings::new(section.port.as_str())
    }
}

/// Our reference at the gateway: terminal id, number and 128 random bits. A counter starts again after a reinstall;
/// recovery must never meet an older payment (design: Decisions).
pub(super) fn merchant_transaction_id(
    random: &super::Random,
    terminal_id: &str,
    number: SaleNumber,
) -> Result<String, Refused> {
    let random =
        random().map_err(|error| Refused::NotReady { why: format!("the system gives no random numbers ({error})") })?;
    Ok(format!("{terminal_id}-{number}-{}", hex::encode(random)))
}

/// Where the time of a sale went, for the log. Monotonic times; nothing is decided by it.
#[derive(Debug)]
pub(super) struct Trace {
    begun: Duration,
    card: Option<Duration>,
    /// The agent's own time began here, with the disk's time so far.
    own_since: Option<(Duration, Duration)>,
    /// The agent's own time: between the card and the request, and between the answer and CONTINUE, without the disk.
    pub(super) own: Duration,
    /// Time the disk took, all steps together.
    pub(super) journal: Duration,
    /// From handing the request to the client to its answer.
    pub(super) gateway: Duration,
}

impl Trace {
    pub(super) fn begin(now: Duration) -> Self {
        let (gateway, journal, own) = Default::default();
        Self { begun: now, card: None, own_since: None, own, journal, gateway }
    }

    pub(super) fn card_read(&mut self, now: Duration) {
        self.card = Some(now);
        self.answered(now);
    }

    pub(super) fn answered(&mut self, now: Duration) {
        self.own_since = Some((now, self.journal));
    }

    /// From the beginning until the card was read; `None` as long as it was not.
    pub(super) fn until_card(&self) -> Option<Duration> {
        self.card.map(|card| card.saturating_sub(self.begun))
    }

    /// The request or the card's answer is on its way.
    pub(super) fn handed_on(&mut self, now: Duration) {
        if let Some((since, journal)) = self.own_since.take() {
            self.own += now.saturating_sub(since).saturating_sub(self.journal - journal);
        }
    }
}

impl Agent {
    /// One line per sale: reader (until the card was read), gateway, journal, and the agent's own share.
    pub(super) fn log_trace(&self, number: SaleNumber) {
        let Some(trace) = self.sales.get(&number).map(|active| &active.trace) else {
            return;
        };
        let Some(reader) = trace.until_card() else {
            return;
        };
        self.measure_sale(trace);
        tracing::info!(
            sale = number.get(),
            reader_ms = reader.as_millis(),
            gateway_us = trace.gateway.as_micros(),
            journal_us = trace.journal.as_micros(),
            agent_us = trace.own.as_micros(),
            "sale timing"
        );
    }
}
