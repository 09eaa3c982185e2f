//! Events from the reader and the gateway, which are passed to the transaction that they concern. Some of them show
//! that the journal is an outdated copy or that the clock is wrong.

use std::time::Duration;

use crate::agent::clock;
use crate::agent::devices::{self, HeardReader, NO_SALE};
use crate::agent::old_copy::{GoesOn, ListShows};
use crate::agent::task_results::GatewaySaid;
use pos_core::transaction::{Answer, Cause, Event, Reason, Standing};
use pos_gateway::Found;
use pos_reader::{NoAmount, ReaderEvent};
use pos_terms::card::{FirstAnswer, Presented};
use pos_terms::money::Amount;
use pos_terms::transaction::SaleNumber;
use pos_words::Message;

use super::{Afterwards, Engine, OpenTransaction, Owner};

/// The source of a clock correction, as the journal records it.
const WITNESSES: &str = "the reader's clock and the gateway's";

impl Engine {
    /// Handles an event of the reader.
    pub(in crate::agent) fn reader_says(&mut self, event: ReaderEvent) {
        let reader = &mut self.devices.reader;
        reader.slot.hears(&event, reader.in_use_by);
        match event {
            ReaderEvent::Ready(identity) => {
                tracing::info!(serial = %identity.serial, model = %identity.model, firmware = %identity.firmware, "reader ready");
                self.clock.reader_says(identity.clock);
                if let Some(told) = reader.compare(&identity, &mut self.journal) {
                    self.teller.terminal("reader-changed", &told);
                }
                reader.state = HeardReader::Ready(identity);
                self.teller.terminal_says("reader-ready", Message::ReaderReady);
            }
            ReaderEvent::Unready(unready) => {
                let lost = devices::unready(&unready);
                let why = unready.to_string();
                let now = HeardReader::Unready(unready);
                tracing::warn!(state = now.state().as_str(), %why, "reader not ready");
                if reader.state != now {
                    self.teller.terminal("reader-unready", &why);
                }
                reader.state = now;
                reader.typing_ends(why.into());
                self.reader_is_lost(lost);
            }
            ReaderEvent::KeysLeft { card, pin } => reader.note_keys(card, pin),
            ReaderEvent::Typed { sale: NO_SALE, amount } => reader.amount_typed(amount),
            ReaderEvent::Typed { sale, amount } => self.tip_typed(sale, amount),
            ReaderEvent::Progress { sale, progress } => {
                self.announce_step(sale, &progress);
                self.ask_for_the_card_before();
            }
            ReaderEvent::Language { sale, language } => {
                if let Some(active) = self.sales.open.get_mut(&sale) {
                    active.language = Some(language.code());
                }
            }
            ReaderEvent::Card { sale, presented } => self.card_read(sale, *presented),
            ReaderEvent::NoCard { sale, why } => {
                self.sales.hear_later(sale, Event::NoCard { why: devices::no_card(&why) })
            }
            ReaderEvent::Completed { sale, verdict, facts, scripts_dropped } => {
                if scripts_dropped {
                    tracing::warn!(
                        sale = sale.get(),
                        "the issuer's scripts were malformed or too long for the reader, and were omitted"
                    );
                }
                let confirmed = verdict == pos_reader::CardVerdict::Approved;
                self.sales.hear_later(sale, Event::CardSaid { confirmed, facts });
            }
            ReaderEvent::Idle => self.reader_is_idle(),
        }
    }

    /// Handles an idle reader. The transaction that waits for the empty slot continues.
    fn reader_is_idle(&mut self) {
        let reader = &mut self.devices.reader;
        if let Some(number) = reader.in_use_by.take() {
            self.sales.afterwards.push_back((number, Afterwards::LogTimes));
        }
        // A transaction that could not be recorded is resumed from the disk, and accepts no card.
        let is_open = |number: &SaleNumber| self.sales.open.get(number).is_some_and(|active| !active.stuck);
        if let Some((number, action)) = reader.slot.empties().filter(|(number, _)| is_open(number)) {
            reader.in_use_by = Some(number);
            return self.act(number, action);
        }
        self.journal.tidy();
        self.teller.terminal_says("idle", Message::Idle);
    }

    /// Handles a lost reader. Informs the transaction that waits for the reader, and the one that uses it.
    fn reader_is_lost(&mut self, lost: Cause) {
        self.sales.inbox.extend(self.devices.reader.slot.gives_up(lost.clone()));
        let Some(number) = self.devices.reader.in_use_by.take() else { return };
        // Nothing has been sent yet, so the transaction can end with the reader's own fault, which the cashier sees.
        let waiting = self.sales.open.get(&number).map(|active| active.sale.standing());
        let event = match waiting {
            Some(Standing::Waiting) => Event::NoCard { why: lost },
            _ => Event::ReaderLost,
        };
        self.sales.hear_later(number, event);
    }

    /// Handles a card. This path is time-critical: between the card's last byte and the request's first byte, the agent
    /// syncs the disk once and does nothing that can wait. The sealed card data is always wiped here.
    fn card_read(&mut self, number: SaleNumber, presented: Presented) {
        let now = self.clock.monotonic();
        let Some(active) = self.sales.open.get_mut(&number).filter(|active| active.waits_for_card()) else {
            // No transaction waits for the card any more. The agent declines the card, because a card that waits for an
            // answer would block the reader.
            let heard = self.devices.reader.decline_card(number);
            return self.sales.inbox.extend(heard.map(|event| (number, event)));
        };
        active.times.card_read(now);
        let goes_online =
            presented.first_answer == FirstAnswer::GoOnline || !active.sale.order().kind().card_may_decline();
        if goes_online {
            let identity = self.devices.reader.state.identity();
            let order = active.sale.order();
            let payment = pos_gateway::CardPayment {
                amount: active.sale.amount(),
                merchant_transaction_id: &order.merchant_transaction_id,
                sequence_number: order.number,
                device_serial: identity.map_or("", |identity| &identity.serial),
                pin_entry: identity.is_some_and(|identity| identity.pin_key),
                kind: order.kind(),
                parameters: &order.parameters,
                presented: &presented,
            };
            let prepared = self.devices.gateway.client.prepare(&payment);
            active.prepared = Some(prepared.map_err(|error| error.to_string()));
        }
        let Presented { facts, first_answer, .. } = presented;
        self.hear(number, Event::CardRead { facts, first_answer });
    }

    /// Handles the answer to the tip question at the reader.
    fn tip_typed(&mut self, number: SaleNumber, typed: Result<Option<Amount>, NoAmount>) {
        let Some(active) = self.sales.open.get(&number) else { return };
        let event = tip_of(self, active, typed).unwrap_or_else(|why| Event::NoCard { why });
        self.hear(number, event);
        // The reader waits for its next order. If the transaction does not ask for its card, the reader reports nothing
        // more about it. The transaction has then ended, for example by a cancel at the same moment, or could not be
        // recorded.
        if !self.sales.open.get(&number).is_some_and(OpenTransaction::waits_for_card) {
            self.devices.reader.is_freed_by(number);
        }
    }

    /// Handles the gateway's report about a transaction.
    pub(in crate::agent) fn gateway_says(&mut self, number: SaleNumber, said: GatewaySaid) {
        if let GatewaySaid::Paid { answer, took } = &said {
            self.request_is_answered(number, answer, *took);
        }
        let owner = Owner::of(number, &self.sales, self.journal.book());
        let event = match said {
            GatewaySaid::Paid { answer, .. } | GatewaySaid::Polled(answer) => Event::Answered(owner.answer(answer)),
            GatewaySaid::Inquired(inquiry) => Event::Inquired(owner.inquiry(inquiry)),
            GatewaySaid::Reversed { reference, reversal } => {
                Event::ReversalAnswered { reference, reversal: owner.reversal(reversal) }
            }
        };
        self.hear(number, event);
    }

    /// Handles the end of a request, which was answered or has failed.
    fn request_is_answered(&mut self, number: SaleNumber, answer: &Answer, took: Duration) {
        let now = self.clock.monotonic();
        if let Some(active) = self.sales.open.get_mut(&number) {
            if !matches!(answer, Answer::Throttled(_)) {
                active.prepared = None;
            }
            active.times.gateway += took;
            active.times.answered(now);
        }
        self.devices.gateway.answered(number, answer);
        match answer {
            Answer::Throttled(_) => {
                let text = self.teller.words().label(Message::AskedAgain);
                self.teller.about_number(self.known(), number, "throttled", text);
            }
            Answer::Approved(_) | Answer::Declined(_) => self.old_copy.nudge(now),
            _ => {}
        }
    }

    /// Handles the gateway's list of this terminal's references, or the failure to get it.
    pub(in crate::agent) fn references_listed(&mut self, found: Result<Found, String>) {
        let shows = self.old_copy.references_listed(found, &self.journal, self.clock.monotonic());
        match shows {
            ListShows::Nothing | ListShows::BeganAnew => {}
            ListShows::IsWhole(waited) => {
                for (number, goes_on) in waited {
                    match goes_on {
                        GoesOn::Hears(event) => self.sales.hear_later(number, event),
                        GoesOn::Does(action) => self.act(number, action),
                    }
                }
            }
            ListShows::Missing(references) => self.journal_is_old_copy(&references),
        }
    }

    /// Handles references at the gateway that the journal does not know. Transactions that were open at the start then
    /// wait for a person.
    pub(in crate::agent) fn journal_is_old_copy(&mut self, references: &[String]) {
        let shown = self.old_copy.turns_out_old(references, &mut self.journal, &self.sales);
        self.teller.terminal_alarm(shown.told);
        for (number, event) in shown.heard {
            self.hear(number, event);
        }
        self.mark_old_copy();
    }

    /// Records that the journal is an outdated copy, as soon as possible.
    pub(in crate::agent) fn mark_old_copy(&mut self) {
        let marked = self.old_copy.mark(&mut self.journal, &self.sales, self.clock.unix_ms());
        marked.unwrap_or_else(|error| self.journal_is_faulty(&error));
    }

    /// Sets the clock back if the reader and the gateway agree on an earlier time. This is cheap if they do not.
    pub(in crate::agent) fn look_at_the_clocks(&mut self) {
        let Some(now_unix_ms) = self.clock.agreed_earlier().filter(|_| self.journal.fault.is_none()) else { return };
        let set_back = match self.journal.set_clock_back(now_unix_ms, WITNESSES) {
            Ok(set_back) => set_back,
            // The record that blocked the earlier time is no longer the journal's latest.
            Err(pos_journal::Error::ClockStays { .. }) => return self.clock.set_back(now_unix_ms),
            Err(error) => return self.journal_is_faulty(&error),
        };
        self.clock.set_back(now_unix_ms);
        for active in self.sales.open.values_mut() {
            active.sale.clock_was_set_back(now_unix_ms);
        }
        let text = format!(
            "the journal has a record of {}, but the reader's clock and the gateway's clock agree that the time is {}: \
             that record was written while the clock was ahead and no longer blocks sales",
            clock::said(set_back.latest_unix_ms),
            clock::said(now_unix_ms)
        );
        tracing::warn!("{text}");
        self.teller.terminal("clock-set-back", &text);
    }
}

/// Returns the event with the tip, if amount and tip together may be charged without a supervisor.
fn tip_of(engine: &Engine, active: &OpenTransaction, typed: Result<Option<Amount>, NoAmount>) -> Result<Event, Cause> {
    let base = active.sale.amount();
    let tip = engine.devices.reader.tip(base, typed).map_err(|why| devices::no_tip(&why))?;
    let total = tip.map_or(Ok(base), |tip| base.plus(tip)).map_err(|error| Reason::TipNotPossible.with(error))?;
    let needs_supervisor = || engine.operators.tip_needs_supervisor(active.order(), total);
    if engine.limits.may_charge(total).is_err() || needs_supervisor() {
        return Err(Reason::TipNotPossible.with(total));
    }
    Ok(Event::TipTyped { tip })
}
