//! What tills ask: a sale, how it stands, to cancel it, the lists. Whether a sale may begin is decided here, and
//! nowhere else.

use tokio::sync::oneshot;

use crate::till::{self, Command, Refused, SaleView, Wanted};
use pos_core::book;
use pos_core::sale::{self, Now, Order, Sale};
use pos_core::wish::WantedTip;
use pos_gateway::till_parameters;
use pos_terms::emv::pan;
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Kind, Reference, SaleNumber, Who};

use super::journal_desk::refused_by_journal;
use super::sale_desk::OpenSale;
use super::{Agent, Random, TaskResult, sale_view};

impl Agent {
    pub(super) fn till_asks(&mut self, command: Command) {
        self.look_at_the_journal();
        // A till that hung up has nothing to be told; what it asked for is recorded all the same.
        match command {
            Command::Begin { wanted, reply } => {
                // A till that gave up must not find the reader armed with its amount for the next customer.
                if !reply.is_closed() {
                    self.begin_or_look_up(*wanted, reply);
                }
            }
            Command::InTraining(command) => self.train(*command),
            Command::TypeAmount { currency, reply } => match self.takes(currency) {
                Ok(()) => self.type_amount(currency, reply),
                Err(refused) => drop(reply.send(Err(refused))),
            },
            Command::NoAmountWanted => self.unless_awaited(),
            Command::Latest { till, reply } => drop(reply.send(self.latest(&till))),
            Command::Show { till, reference, reply } => {
                let answer = self.find(&till, &reference).map(|(sale, view)| self.with_what_is_left(&sale, view));
                let _ = reply.send(answer);
            }
            Command::List { till, since, limit, reply } => {
                self.hand_on(self.journal.book().list(till, since, limit), reply);
            }
            Command::ListNewest { till, above, below, reference, limit, reply } => {
                self.hand_on(self.journal.book().list_newest(till, (above, below), reference, limit), reply);
            }
            Command::Totals { till, since, carried, reply } => self.begin_count(till, since, carried, reply),
            Command::Close { wish, reply } => self.begin_close(wish, reply),
            Command::ShowClose { which, permit, reply } => self.show_close(which, permit, reply),
            Command::ListCloses { below, limit, reply } => {
                let list = self.journal.book().closes(below, limit);
                tokio::spawn(async move { drop(reply.send(list.await.map_err(refused_by_journal))) });
            }
            Command::ShowText { text, reply } => drop(reply.send(self.show_text(&text))),
            Command::PrintLines { lines, reply } => self.printers.print_till_lines(lines, reply),
            Command::PrintClose { which, reply } => drop(reply.send(self.print_close_again(which))),
            Command::Cancel { till, reference, by, reply } => match self.find(&till, &reference) {
                Ok((sale, view)) => self.cancel(sale.order().number, &by, view, reply),
                Err(refused) => drop(reply.send(Err(refused))),
            },
            Command::Signature { till, reference, accepted, by, reply } => match self.find(&till, &reference) {
                Ok((sale, view)) => drop(reply.send(self.signature(&sale, accepted, &by, view))),
                Err(refused) => drop(reply.send(Err(refused))),
            },
            Command::Confirm { till, reference, taken, by, reply } => match self.find(&till, &reference) {
                Ok((sale, view)) => drop(reply.send(self.confirm(&sale, taken, &by, view))),
                Err(refused) => drop(reply.send(Err(refused))),
            },
            Command::Settle { number, keep, by, reply } => {
                let settled = self.settle_sale(number, keep, &by);
                let _ = reply.send(settled);
            }
            Command::Receipt { till, reference, copy, width, reply } => {
                let found = self.find_with_receipt(&till, &reference);
                drop(reply.send(
                    found.map(|sale| Box::new(self.printers.receipt_view(self.journal.book(), &sale, copy, width))),
                ));
            }
            Command::Print { till, reference, copy, reply } => {
                let found = self.find_with_receipt(&till, &reference);
                drop(reply.send(found.and_then(|sale| self.printers.print_again(self.journal.book(), &sale, copy))));
            }
            Command::Payment { id, reply } => self.gateway.show_payment(id, reply),
            Command::Query { filters, reply } => self.gateway.find_payments(filters, reply),
            Command::Log { level, lasts, by, reply } => {
                let _ = reply.send(self.log.change(level, lasts, &by));
            }
            Command::Operators(asked) => self.operators.asked(&mut self.journal, asked),
            Command::Metrics { reply } => drop(reply.send(self.figures())),
            Command::Status { permit, reply } => drop(reply.send(self.status(|till| permit.hears(till)))),
        }
    }

    /// What the journal lists, shown as things stand when it has been read.
    fn hand_on(
        &self,
        list: impl Future<Output = Result<Vec<Sale>, pos_journal::Error>> + Send + 'static,
        reply: oneshot::Sender<Result<Vec<SaleView>, Refused>>,
    ) {
        let done = self.tasks.clone();
        tokio::spawn(async move {
            let sales = list.await;
            let _ = done.send(TaskResult::Listed { sales, reply }).await;
        });
    }

    /// A new sale, or the stored one under the same till and reference (design: path of a sale, 1).
    pub(super) fn begin_sale(&mut self, wanted: Wanted) -> Result<SaleView, Refused> {
        self.is_on_its_ground(&wanted)?;
        match self.find(&wanted.till, &wanted.reference) {
            Ok((sale, mut view)) => {
                view.replayed = true;
                return if self.is_the_same(&wanted, &sale)? {
                    Ok(view)
                } else {
                    Err(Refused::AmountDiffers { reference: wanted.reference, known: sale_view::what_it_is(&sale) })
                };
            }
            Err(Refused::NoSuchSale { .. }) => {}
            Err(refused) => return Err(refused),
        }
        let parameters =
            till_parameters::parameters(&wanted.parameters, wanted.wish.kind, &self.config.gateway.assumptions)
                .map_err(|problem| Refused::Parameter { name: problem.name, why: problem.why })?;
        if pan::is_in(wanted.reference.as_str()) {
            let why = "it looks like a card number, which belongs into the reader alone; use another reference";
            return Err(Refused::Parameter { name: "reference".to_owned(), why: why.to_owned() });
        }
        if let Some(why) = wanted.till_side.fault() {
            return Err(Refused::Parameter { name: "tillData".to_owned(), why });
        }
        if let Some(name) = wanted.till_side.data.iter().find(|(_, value)| pan::is_in(value)).map(|(name, _)| name) {
            let why = format!("{name}: it looks like a card number, which belongs into the reader alone");
            return Err(Refused::Parameter { name: "tillData".to_owned(), why });
        }
        let (transaction, amount) = self.transaction_and_amount(&wanted)?;
        let given = match wanted.wish.tip {
            Some(WantedTip::Given(tip)) => Some(self.limits.may_tip(amount, tip)?),
            Some(WantedTip::Ask) | None => None,
        };
        let total = given.and_then(|tip| amount.plus(tip).ok()).unwrap_or(amount);
        let by = self.operators.author(self.journal.book(), &wanted, &transaction, total)?;
        let approval = wanted.caller.present().approval;
        self.may_begin(transaction.kind(), amount)?;
        let Some(local) = self.clock.local() else {
            return Err(Refused::NotReady { why: self.clock.untrusted() });
        };
        let now = self.now();
        self.mark_sold()?;
        self.old_copy.sells(now.monotonic);
        // A number is given once, even when its sale cannot be written: a write that failed may yet be on the disk.
        self.journal.last_number = self.journal.last_number.saturating_add(1);
        let number = self.journal.last_number;
        let order = Order {
            transaction,
            parameters,
            number,
            till: wanted.till,
            reference: wanted.reference,
            by: Some(by),
            amount,
            ask_tip: wanted.wish.tip == Some(WantedTip::Ask),
            tip: given,
            manual: wanted.wish.manual,
            accept_partial: wanted.wish.accepts_part(),
            till_confirms: wanted.wish.till_confirms,
            gives_rest: false,
            till_prints: wanted.till_side.prints,
            till_data: wanted.till_side.data,
            training: wanted.training,
            terminal_id: self.config.terminal.id.clone(),
            account: (!self.trains()).then(|| self.gateway.client.account()),
            merchant_transaction_id: merchant_transaction_id(&self.random, &self.config.terminal.id, number)?,
            started_unix_ms: now.unix_ms,
            local_time: local.format("%Y-%m-%d %H:%M:%S").to_string(),
        };
        let is_confirmed = order.by.as_ref().is_some_and(|by| by.supervisor.is_some());
        let begun = self.begin_recorded(order, now)?;
        // A word that was not needed stays good for its own command.
        self.operators.approval_used(approval.filter(|_| is_confirmed));
        Ok(begun)
    }

    /// Written first; only then it is told and anything is done for it.
    fn begin_recorded(&mut self, order: Order, now: Now) -> Result<SaleView, Refused> {
        let number = order.number;
        let (mut sale, step) = Sale::begin(order);
        let written = self.journal.write(|book| book::commit(book, now.unix_ms, &mut sale, step));
        let (actions, took) = written.map_err(|error| {
            self.journal_is_faulty(&error);
            refused_by_journal(error)
        })?;
        self.measure_step(number, took);
        self.nudge_open_reversals();
        let view = self.view_of(&sale);
        if sale.order().kind().needs_card() {
            self.take_the_reader(number);
        } else {
            self.sales.inbox.push_back((number, sale::Event::Proceed));
        }
        self.sales.open.insert(number, OpenSale::new(sale, self.clock.monotonic()));
        for action in actions {
            self.act(number, action);
        }
        Ok(view)
    }

    /// Whether a transaction of `amount` can begin now.
    fn may_begin(&self, kind: Kind, amount: Amount) -> Result<(), Refused> {
        if let Some(number) = self.keeps_the_reader().filter(|_| kind.needs_card())
            && let Some(active) = self.sales.open.get(&number)
        {
            let order = active.sale.order();
            return Err(Refused::Busy { till: order.till.clone(), reference: order.reference.clone() });
        }
        if self.reader.amount_awaited.is_some() && kind.needs_card() {
            return Err(Refused::NotReady { why: "an amount is being typed at the reader".to_owned() });
        }
        if let Some(fault) = &self.journal.fault {
            return Err(Refused::Journal { why: fault.why.clone() });
        }
        if self.stopping {
            return Err(Refused::NotReady { why: "the terminal is being stopped".to_owned() });
        }
        if let Some(why) = self.reader.state.trouble().filter(|_| kind.needs_card() && !self.trains()) {
            return Err(Refused::NotReady { why });
        }
        // What refers to an earlier transaction is in the currency of that.
        if !kind.has_earlier() {
            self.takes(amount.currency())?;
        }
        self.limits.may_begin(kind, amount).map_err(|why| Refused::Amount { why })
    }

    /// Whether the terminal has this currency.
    fn takes(&self, currency: Currency) -> Result<(), Refused> {
        let terminal = &self.config.terminal.currency;
        if currency.code() == terminal {
            return Ok(());
        }
        Err(Refused::Currency { wanted: currency, terminal: terminal.clone() })
    }

    /// The sale, when there is a receipt to be had of it.
    fn find_with_receipt(&self, till: &str, reference: &Reference) -> Result<Sale, Refused> {
        let (sale, view) = self.find(till, reference)?;
        sale_view::has_a_receipt(&view).map(|()| sale)
    }

    /// The sale as it stands: the live one, else the journal's.
    pub(super) fn find(&self, till: &str, reference: &Reference) -> Result<(Sale, SaleView), Refused> {
        let live = self.sales.open.values().find(|active| {
            let order = active.sale.order();
            order.till == till && order.reference == *reference
        });
        if let Some(active) = live {
            return Ok((active.sale.clone(), self.view_of(&active.sale)));
        }
        match self.journal.book().find(till, reference) {
            Ok(Some(sale)) => {
                let view = self.view_of(&sale);
                Ok((sale, view))
            }
            Ok(None) => Err(Refused::NoSuchSale { till: till.to_owned(), reference: reference.clone() }),
            Err(error) => Err(refused_by_journal(error)),
        }
    }

    /// Cancel wins before the request left and loses after; the answer comes when it is known which.
    pub(super) fn cancel(
        &mut self,
        number: SaleNumber,
        by: &Who,
        view: SaleView,
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    ) {
        match self.sales.open.get_mut(&number) {
            Some(active) if !active.stuck && !self.old_copy.holds_up(number) && active.sale.can_be_cancelled() => {
                active.cancels.push(reply);
                self.advance(number, sale::Event::CancelAsked { by: Some(by.clone()) });
                self.answer_cancels(number);
            }
            _ => drop(reply.send(Ok(view))),
        }
    }

    /// Answers who asked to cancel, once it is known whether that was in time: not as long as the reader is being
    /// stopped.
    pub(super) fn answer_cancels(&mut self, number: SaleNumber) {
        let Some(active) = self.sales.open.get(&number) else {
            return;
        };
        let view = self.view_of(&active.sale);
        if view.state == till::SaleState::WaitingForCard {
            return;
        }
        for waiting in self.sales.open.get_mut(&number).into_iter().flat_map(|active| active.cancels.drain(..)) {
            let _ = waiting.send(Ok(view.clone()));
        }
    }

    /// The signature was compared: accepted it ends the sale, refused it begins the reversal. The same answer once
    /// more, as a till gives that did not hear ours, is the same; where nobody waits for one it is refused.
    fn signature(&mut self, sale: &Sale, accepted: bool, by: &Who, view: SaleView) -> Result<SaleView, Refused> {
        let number = sale.order().number;
        match self.sales.open.get(&number) {
            Some(active) if active.stuck => {
                let why = "how the sale stands is not known until it can be written; answer again then";
                Err(Refused::Journal { why: why.to_owned() })
            }
            Some(active) if active.sale.standing() == sale::Standing::AtSignature => {
                let by = Some(by.clone());
                self.advance(number, sale::Event::SignatureChecked { accepted, by });
                Ok(self.sales.open.get(&number).map_or(view, |active| self.view_of(&active.sale)))
            }
            _ => match sale.signature_was() {
                Some(before) if before == accepted => Ok(view),
                before => {
                    let before = match before {
                        Some(true) => "it was accepted already; ",
                        Some(false) => "it was refused already; ",
                        None => "",
                    };
                    Err(Refused::NoSignatureAwaited { stands: format!("{before}{}", view.text) })
                }
            },
        }
    }
}

/// Our reference at the gateway: terminal id, number and 128 random bits. A counter starts again after a reinstall;
/// recovery must never meet an older payment (design: Decisions).
pub(super) fn merchant_transaction_id(
    random: &Random,
    terminal_id: &str,
    number: SaleNumber,
) -> Result<String, Refused> {
    let random =
        random().map_err(|error| Refused::NotReady { why: format!("the system gives no random numbers ({error})") })?;
    Ok(format!("{terminal_id}-{number}-{}", hex::encode(random)))
}
