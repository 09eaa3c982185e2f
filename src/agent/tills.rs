//! Requests of tills: a transaction, its state, its cancel, the lists, and the terminal's state.

use std::time::Duration;

use tokio::sync::oneshot;

use crate::till::{Command, Refused, SaleView, StatusView, Wanted};
use pos_core::transaction::{Event, Standing, Transaction};
use pos_gateway::Contact;
use pos_terms::transaction::{Kind, Reference, SaleNumber, Taken, Who};
use pos_words::Message;

use super::counting::Counting;
use super::devices::Devices;
use super::earlier::EarlierFound;
use super::engine::Engine;
use super::engine::open_transactions::OpenTransaction;
use super::journal_writer::refused_by_journal;
use super::task_results::{TaskResult, WaitingWish};
use super::views::figures;
use super::views::sale::has_a_receipt;
use super::views::status::{
    Awaited, StatusFacts, clock_view, gateway_view, journal_view, printer_views, reader_view, status_view,
};
use super::{Agent, closes};

/// The greatest number of requests that wait for the gateway's list, and the time for which they wait.
const MOST_WAITING: usize = 16;
const PATIENCE_FOR_LIST: Duration = Duration::from_secs(8);

impl Agent {
    pub(super) fn till_asks(&mut self, command: Command) {
        self.look_at_the_journal();
        let engine = &mut self.engine;
        let Some(command) = engine.sales.keep_until_settled(command) else { return };
        let Some(command) = self.keep_until_compared(command) else { return };
        let engine = &mut self.engine;
        // A till that has disconnected gets no answer, but its request is recorded.
        match command {
            Command::Begin { wanted, reply } => {
                // If the till has disconnected, the reader must not charge its amount to the next customer.
                if !reply.is_closed() {
                    self.begin_or_look_up(*wanted, reply);
                }
            }
            Command::InTraining(command) => self.training.train(&self.engine, *command),
            Command::TypeAmount { currency, reply } => match engine.limits.takes(currency) {
                Ok(()) => engine.devices.reader.type_amount(currency, engine.stopping, reply),
                Err(refused) => drop(reply.send(Err(refused))),
            },
            Command::NoAmountWanted => engine.devices.reader.unless_awaited(),
            Command::Latest { till, reply } => {
                let _ = reply.send(engine.known().latest(&till).map(|sale| engine.facts().view(&sale)));
            }
            Command::Show { till, reference, reply } => {
                let facts = engine.facts();
                let found = facts.find(&till, &reference);
                let answer = found.map(|(sale, view)| facts.with_what_is_left(&sale, view));
                let _ = reply.send(answer);
            }
            Command::List { till, since, limit, reply } => {
                self.hand_on(self.engine.journal.book().list(till, since, limit), reply);
            }
            Command::ListNewest { till, above, below, reference, limit, reply } => {
                self.hand_on(self.engine.journal.book().list_newest(till, (above, below), reference, limit), reply);
            }
            Command::Totals { till, since, carried, reply } => {
                self.read_on(Counting::new(till, since, carried, reply));
            }
            Command::Close { wish, reply } => self.closing.make(&engine.journal, wish, reply),
            Command::ShowClose { which, permit, reply } => {
                let books = (&engine.journal, &engine.devices.printers);
                self.closing.show(books, which, permit, reply);
            }
            Command::ListCloses { below, limit, reply } => {
                let list = engine.journal.book().closes(below, limit);
                tokio::spawn(async move { drop(reply.send(list.await.map_err(refused_by_journal))) });
            }
            Command::ListEntries { after, limit, reply } => {
                let list = engine.journal.book().at_one_moment(move |moment| moment.entries_after(after, limit));
                tokio::spawn(async move { drop(reply.send(list.await.map_err(refused_by_journal))) });
            }
            Command::ShowText { text, reply } => {
                let _ = reply.send(engine.devices.reader.show_text(&text, engine.stopping));
            }
            Command::PrintLines { lines, reply } => engine.devices.printers.print_till_lines(lines, reply),
            Command::PrintClose { which, reply } => {
                let printed = closes::print_again(engine.journal.book(), &engine.devices.printers, which);
                let _ = reply.send(printed);
            }
            Command::Cancel { till, reference, by, reply } => match engine.facts().find(&till, &reference) {
                Ok((sale, view)) => engine.cancel(sale.order().number, &by, view, reply),
                Err(refused) => drop(reply.send(Err(refused))),
            },
            Command::Signature { till, reference, accepted, by, reply } => match engine.facts().find(&till, &reference)
            {
                Ok((sale, view)) => drop(reply.send(self.signature(&sale, accepted, &by, view))),
                Err(refused) => drop(reply.send(Err(refused))),
            },
            Command::Confirm { till, reference, taken, by, reply } => match engine.facts().find(&till, &reference) {
                Ok((sale, view)) => drop(reply.send(self.confirm(&sale, taken, &by, view))),
                Err(refused) => drop(reply.send(Err(refused))),
            },
            Command::Settle { number, keep, by, reply } => {
                let settled = self.settle_sale(number, keep, &by);
                let _ = reply.send(settled);
            }
            Command::Receipt { till, reference, copy, width, duplicate, reply } => {
                let found = self.find_with_receipt(&till, &reference);
                let (printers, book) = (&self.engine.devices.printers, self.engine.journal.book());
                let view = found.map(|sale| Box::new(printers.receipt_view(book, &sale, copy, width, duplicate)));
                let _ = reply.send(view);
            }
            Command::Print { till, reference, copy, reply } => {
                let found = self.find_with_receipt(&till, &reference);
                let (printers, book) = (&mut self.engine.devices.printers, self.engine.journal.book());
                let _ = reply.send(found.and_then(|sale| printers.print_on_demand(book, &sale, copy)));
            }
            Command::Payment { id, reply } => engine.devices.gateway.show_payment(id, reply),
            Command::Query { filters, reply } => engine.devices.gateway.find_payments(filters, reply),
            Command::Log { level, lasts, by, reply } => {
                let _ = reply.send(self.log.change(level, lasts, &by));
            }
            Command::Operators(asked) => engine.operators.asked(&mut engine.journal, asked),
            Command::Fleet(request) => self.fleet_asks(request),
            Command::FleetSettings(request) => self.fleet_settings_asked(request),
            Command::Metrics { reply } => drop(reply.send(self.figures())),
            Command::Status { permit, reply } => drop(reply.send(self.status(|till| permit.hears(till)))),
        }
    }

    /// Sends the journal's list to the till, with the states at the time when it was read.
    fn hand_on(
        &self,
        list: impl Future<Output = Result<Vec<Transaction>, pos_journal::Error>> + Send + 'static,
        reply: oneshot::Sender<Result<Vec<SaleView>, Refused>>,
    ) {
        let done = self.engine.tasks.clone();
        tokio::spawn(async move {
            let sales = list.await;
            let _ = done.send(TaskResult::Listed { sales, reply }).await;
        });
    }

    /// Begins a transaction, or returns the stored one. If the transaction that it follows must be looked up, it begins
    /// after the look-up.
    fn begin_or_look_up(&mut self, wanted: Wanted, reply: oneshot::Sender<Result<SaleView, Refused>>) {
        let Some(earlier) = self.to_be_looked_up(&wanted) else {
            let asked = (wanted.till.clone(), wanted.reference.clone());
            let answer = self.engine.begin(wanted);
            self.answer_begin(&asked, answer, reply);
            return;
        };
        let order = earlier.order();
        let (of, reference) = (order.number, order.merchant_transaction_id.clone());
        self.engine.devices.gateway.look_up_for(Box::new(WaitingWish { wanted, of, reply }), reference);
    }

    /// Keeps a request while the gateway is about to say whether the journal is complete. Returns every other request.
    fn keep_until_compared(&mut self, command: Command) -> Option<Command> {
        let Engine { old_copy, devices, clock, .. } = &self.engine;
        let is_full = self.waiting_for_list.len() >= MOST_WAITING;
        if is_full || !old_copy.is_soon_answered(&devices.gateway) || !self.depends_on_list(&command) {
            return Some(command);
        }
        if self.waiting_for_list.is_empty() {
            let done = self.engine.tasks.clone();
            tokio::spawn(async move {
                tokio::time::sleep(PATIENCE_FOR_LIST).await;
                let _ = done.send(TaskResult::ListIsLate).await;
            });
        }
        let now = clock.monotonic();
        self.waiting_for_list.push(command);
        self.engine.old_copy.ask_now(now);
        None
    }

    /// Returns whether the gateway's list decides about a request: a transaction that follows an earlier one, the
    /// question what is left of one, and each request about a transaction that waits itself.
    fn depends_on_list(&self, command: &Command) -> bool {
        let known = self.engine.known();
        match command {
            Command::Begin { wanted, .. } => {
                (wanted.wish.of.is_some() || wanted.wish.kind == Kind::Credit)
                    && known.find(&wanted.till, &wanted.reference).is_err()
            }
            Command::Show { till, reference, .. } | Command::Cancel { till, reference, .. } => {
                match known.find(till, reference) {
                    Ok(sale) => {
                        matches!((command, sale.standing()), (Command::Show { .. }, Standing::Ended(_)))
                            && self.engine.old_copy.compares(sale.order().number)
                    }
                    Err(_) => self.waiting_for_list.iter().any(|waiting| {
                        matches!(waiting, Command::Begin { wanted, .. }
                            if (&wanted.till, &wanted.reference) == (till, reference))
                    }),
                }
            }
            _ => false,
        }
    }

    /// Handles what has waited for the gateway's list, in the order of the requests.
    pub(super) fn handle_what_waited(&mut self) {
        for command in std::mem::take(&mut self.waiting_for_list) {
            self.till_asks(command);
        }
    }

    /// Answers a request for a transaction. The log says why one was refused.
    pub(super) fn answer_begin(
        &mut self,
        (till, reference): &(String, Reference),
        answer: Result<SaleView, Refused>,
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    ) {
        if let Some(refused) = answer.as_ref().err().filter(|_| !self.engine.identity.trains()) {
            self.refusals.note((till, reference.as_str()), refused, self.engine.clock.monotonic());
        }
        let _ = reply.send(answer);
    }

    /// Returns the transaction that must be looked up before this request may begin.
    fn to_be_looked_up(&self, wanted: &Wanted) -> Option<Transaction> {
        let (old_copy, known) = (&self.engine.old_copy, self.engine.known());
        let is_new = || known.find(&wanted.till, &wanted.reference).is_err();
        let of = wanted.wish.of.as_ref().filter(|_| old_copy.looks_up() && is_new())?;
        let EarlierFound::Here(earlier) = known.earlier(of).ok()? else { return None };
        old_copy.asks_to_look_up(earlier.order().number).then_some(*earlier)
    }

    /// Finds a transaction that has a receipt.
    fn find_with_receipt(&self, till: &str, reference: &Reference) -> Result<Transaction, Refused> {
        let (sale, view) = self.engine.facts().find(till, reference)?;
        has_a_receipt(&view).map(|()| sale)
    }

    /// Handles the till's decision about the signature. An accepted signature ends the transaction; a refused one
    /// starts the reversal. If a till repeats the same decision because it missed the answer, it gets the same result.
    /// Any other decision that is not awaited is refused.
    fn signature(&mut self, sale: &Transaction, accepted: bool, by: &Who, view: SaleView) -> Result<SaleView, Refused> {
        let number = sale.order().number;
        match self.engine.sales.get(number) {
            Some(active) if active.is_stuck() => Err(Refused::Journal { why: Message::StateUnknown.into() }),
            Some(active) if active.sale().standing() == Standing::AtSignature => {
                let by = Some(by.clone());
                self.engine.hear(number, Event::SignatureChecked { accepted, by });
                Ok(self.engine.sales.get(number).map_or(view, |active| self.engine.facts().view(active.sale())))
            }
            _ => match sale.signature_was() {
                Some(before) if before == accepted => Ok(view),
                earlier => Err(Refused::NoSignatureAwaited { earlier, state: view.text }),
            },
        }
    }

    /// Handles the till's confirmation of how much of the approved amount it accepts. If a till repeats the same
    /// confirmation because it missed the answer, it gets the same result. A different confirmation, or one that is not
    /// awaited, is refused.
    pub(super) fn confirm(
        &mut self,
        sale: &Transaction,
        taken: Taken,
        by: &Who,
        view: SaleView,
    ) -> Result<SaleView, Refused> {
        let (number, engine) = (sale.order().number, &mut self.engine);
        match engine.sales.get(number) {
            Some(active) if active.is_stuck() => {
                return Err(Refused::Journal { why: Message::StateUnknown.into() });
            }
            Some(active) if matches!(active.sale().standing(), Standing::AwaitingTill { .. }) => {
                let (all, by) = (taken == Taken::All, Some(by.clone()));
                match taken {
                    Taken::Part { amount } => engine.take_part(number, amount, by)?,
                    Taken::All | Taken::Nothing => engine.hear(number, Event::TillAnswered { taken: all, by }),
                }
            }
            _ if sale.till_said() == Some(taken) => return Ok(engine.facts().with_what_is_left(sale, view)),
            _ => return Err(Refused::NoConfirmationAwaited { earlier: sale.till_said(), state: view.text }),
        }
        let (facts, live) = (engine.facts(), engine.sales.get(number).map(OpenTransaction::sale));
        let sale = live.unwrap_or(sale);
        Ok(facts.with_what_is_left(sale, facts.view(sale)))
    }

    /// Resolves a transaction that waits for a person, according to that person's decision.
    pub(super) fn settle_sale(&mut self, number: SaleNumber, keep: bool, by: &Who) -> Result<SaleView, Refused> {
        let engine = &mut self.engine;
        let waits = engine.sales.get(number).is_some_and(|active| active.sale().is_held() && !active.is_stuck());
        if !waits {
            let why = Message::NoDecisionAwaited.with("number", number.to_string());
            return Err(Refused::NotPossible { why });
        }
        tracing::warn!(sale = number.get(), keep, %by, "a person has resolved a sale that was open in an outdated journal copy");
        engine.hear(number, Event::Resolve { keep, by: Some(by.clone()) });
        let settled = engine.sales.get(number).map(|active| engine.facts().view(active.sale()));
        let why = || Message::TransactionEnded.with("number", number.to_string());
        settled.ok_or_else(|| Refused::NotPossible { why: why() })
    }

    /// Returns the terminal's state for a caller. It contains only the transactions of the tills for which `hears`
    /// returns true.
    pub(super) fn status(&self, hears: impl Fn(&str) -> bool) -> StatusView {
        status_view(self.status_facts(hears))
    }

    /// Returns the state in a line for `systemctl status`, in the words of the status.
    pub(super) fn status_line(&self) -> String {
        // The status reads the disk, which must not delay a transaction.
        if self.engine.devices.reader.in_use_by.is_some() {
            return "a transaction is at the reader".to_owned();
        }
        let status = self.status(|_| true);
        let ready = if status.ready { "ready" } else { "not ready" };
        let codes: Vec<_> = status.attention.iter().map(|entry| entry.code.as_str()).collect();
        if codes.is_empty() { ready.to_owned() } else { format!("{ready}: {}", codes.join(", ")) }
    }

    fn status_facts(&self, hears: impl Fn(&str) -> bool) -> StatusFacts<'_> {
        let Engine { config, limits, clock, journal, sales, devices, .. } = &self.engine;
        let Devices { reader, gateway, printers, .. } = devices;
        let (facts, words) = (self.engine.facts(), self.engine.teller.words());
        let is_theirs = |active: &&OpenTransaction| hears(&active.order().till);
        let theirs = || sales.iter().filter(is_theirs);
        let at_reader = reader.slot.next().or(reader.in_use_by);
        let current = at_reader.and_then(|number| sales.get(number)).filter(is_theirs);
        let awaiting = theirs().filter_map(|active| match active.sale().standing() {
            Standing::AtSignature => Some((active.order(), Awaited::Signature)),
            Standing::AwaitingTill { .. } => Some((active.order(), Awaited::Till)),
            _ => None,
        });
        // Without a link, an earlier answer of the gateway says nothing.
        let link = gateway.link_fault();
        let fault = journal.fault.as_ref();
        let trouble = fault.map(|fault| (fault.state, fault.why.clone())).or_else(|| self.answered.trouble());
        StatusFacts {
            words,
            config,
            currency: limits.currency(),
            reader: reader_view(words, reader),
            printers: printer_views(words, printers),
            has_link: link.is_none(),
            gateway: gateway_view(
                words,
                &link.map_or_else(|| gateway.client.contact(), Contact::Fault),
                &config.gateway.url,
            ),
            clock: clock_view(words, clock, gateway.clocks_differ()),
            journal: journal_view(words, trouble, journal.book().free_bytes()),
            refused_request: gateway.refused.attention(),
            ends_soon: gateway.client.attention(),
            clocks_differ: gateway.clocks_differ(),
            keys_run_out: reader.keys_run_out(),
            old_copy: self.engine.old_copy.attention(),
            fleet_message: self.fleet.message(clock.monotonic()),
            given: self.given_attention(),
            busy: reader.in_use_by.is_some() || reader.awaits_amount(),
            logging: self.log.view(),
            health: self.answered.health(fault.map(|fault| words.tell(&fault.why)), self.answers()),
            current: current.map(|active| facts.view(active.sale())),
            unconfirmed: theirs()
                .map(|active| facts.view(active.sale()))
                .filter(|view| view.state.is_unconfirmed())
                .collect(),
            awaiting: awaiting.collect(),
            left_alone: sales.left_alone().values().filter(|(till, ..)| hears(till)).collect(),
        }
    }

    /// Returns all metrics as text.
    pub(super) fn figures(&self) -> String {
        let Engine { clock, journal, sales, devices, metrics, old_copy, .. } = &self.engine;
        let started_ms = clock.unix_ms().saturating_sub(clock.age_ms());
        let mut stands = figures::standing(devices, started_ms, journal.fault.is_none(), journal.book().bytes());
        for active in sales.iter() {
            figures::count_open(&mut stands, active, old_copy.holds_up(active.number()));
        }
        metrics.text(&stands)
    }
}
