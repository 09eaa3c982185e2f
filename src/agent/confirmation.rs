//! The till's word on what was approved: taken, not taken, or taken in part. What it means is the sale's to say; here
//! it is judged whether anybody waits for it, and a part brings its refund into the journal in the same commit.

use crate::till::{LaterView, Refused, SaleView, ToConfirm};
use pos_core::book;
use pos_core::sale::{self, Order, PartMisfit, Sale, Standing};
use pos_terms::money::Amount;
use pos_terms::transaction::{Reference, SaleNumber, Taken, Who};

use super::Agent;
use super::earlier::later_view;
use super::journal_desk::refused_by_journal;
use super::sale_desk::OpenSale;
use super::sale_view::utc;
use super::tills::merchant_transaction_id;

impl Agent {
    /// What the till is to confirm, and until when. A sale of which only the journal is read has no time yet.
    pub(super) fn to_confirm(&self, sale: &Sale) -> Option<ToConfirm> {
        let (Standing::AwaitingTill { approved }, Some(on_silence)) = (sale.standing(), sale.order().till_confirms)
        else {
            return None;
        };
        let live = self.sales.open.get(&sale.order().number).map_or(sale, |active| &active.sale);
        let left = live.deadline().unwrap_or(self.sales.deadlines.till + self.clock.monotonic());
        let left = left.saturating_sub(self.clock.monotonic());
        let until = self.clock.unix_ms().saturating_add(i64::try_from(left.as_millis()).unwrap_or(i64::MAX));
        Some(ToConfirm { amount: approved.decimal(), until: utc(until), on_silence })
    }

    /// The till said what it takes. The same answer once more, as a till gives that did not hear ours, is the same;
    /// another one, or one that nobody waits for, is refused.
    pub(super) fn confirm(&mut self, sale: &Sale, taken: Taken, by: &Who, view: SaleView) -> Result<SaleView, Refused> {
        let number = sale.order().number;
        match self.sales.open.get(&number) {
            Some(active) if active.stuck => {
                let why = "how the sale stands is not known until it can be written; answer again then";
                return Err(Refused::Journal { why: why.to_owned() });
            }
            Some(active) if matches!(active.sale.standing(), Standing::AwaitingTill { .. }) => {
                let (all, by) = (taken == Taken::All, Some(by.clone()));
                match taken {
                    Taken::Part { amount } => self.take_part(number, amount, by)?,
                    Taken::All | Taken::Nothing => {
                        self.advance(number, sale::Event::TillAnswered { taken: all, by });
                    }
                }
            }
            _ if sale.till_said() == Some(taken) => return Ok(self.with_what_is_left(sale, view)),
            _ => return Err(not_awaited(sale, &view)),
        }
        let sale = self.sales.open.get(&number).map_or_else(|| sale.clone(), |active| active.sale.clone());
        Ok(self.with_what_is_left(&sale, self.view_of(&sale)))
    }

    /// A part is taken: the end of the sale and the beginning of the refund are one commit.
    fn take_part(&mut self, number: SaleNumber, part: Amount, by: Option<Who>) -> Result<(), Refused> {
        let Some(active) = self.sales.open.get(&number) else { return Ok(()) };
        active.sale.rest_of(part).map_err(no_part)?;
        let order = active.sale.order().clone();
        let reference = self.reference_for_rest(&order)?;
        let Some(local) = self.clock.local() else {
            return Err(Refused::NotReady { why: self.clock.untrusted() });
        };
        let now = self.now();
        let refund = self.journal.last_number.saturating_add(1);
        let names = Order {
            number: refund,
            reference,
            merchant_transaction_id: merchant_transaction_id(&self.random, &order.terminal_id, refund)?,
            started_unix_ms: now.unix_ms,
            local_time: local.format("%Y-%m-%d %H:%M:%S").to_string(),
            ..order
        };
        let Some(active) = self.sales.open.get_mut(&number) else { return Ok(()) };
        let (ends, mut back, begins) = active.sale.take_part(part, names, by, now).map_err(no_part)?;
        // A number is given once, even when its transaction cannot be written.
        self.journal.last_number = refund;
        let steps = [(&mut active.sale, ends), (&mut back, begins)];
        match self.journal.write(|book| book::commit_all(book, now.unix_ms, steps)) {
            Ok(([actions, begun], took)) => {
                self.sales.open.insert(refund, OpenSale::new(back, self.clock.monotonic()));
                self.sales.inbox.push_back((refund, sale::Event::Proceed));
                self.after_writing(number, Ok((actions, took)));
                for action in begun {
                    self.act(refund, action);
                }
            }
            Err(error) => self.after_writing(number, Err(error)),
        }
        Ok(())
    }

    /// The refund of the rest, of a sale of which its till took a part.
    pub(super) fn rest_of(&self, sale: &Sale) -> Option<LaterView> {
        let Taken::Part { .. } = sale.till_said()? else { return None };
        let number = sale.order().number;
        let gives_it = |one: &Sale| {
            one.order().gives_rest && one.order().transaction.of().is_some_and(|of| of.number == Some(number))
        };
        let live = self.sales.open.values().map(|active| &active.sale).find(|one| gives_it(one));
        let view = match live {
            Some(refund) => self.view_of(refund),
            None => self.view_of(self.journal.book().later(number).ok()?.iter().find(|one| gives_it(one))?),
        };
        Some(later_view(view, &sale.order().till))
    }

    /// What the refund of the rest is called: after the sale, unless the till has called something so.
    fn reference_for_rest(&self, order: &Order) -> Result<Reference, Refused> {
        let names = [format!("{}-rest", order.reference), format!("rest-of-{}", order.number)];
        for reference in names.into_iter().filter_map(|name| Reference::parse(name).ok()) {
            if self.journal.book().find(&order.till, &reference).map_err(refused_by_journal)?.is_none() {
                return Ok(reference);
            }
        }
        let why = "both references for the refund of the rest are used already; take all, and refund the rest yourself";
        Err(Refused::NotPossible { why: why.to_owned() })
    }
}

fn no_part(misfit: PartMisfit) -> Refused {
    match misfit {
        PartMisfit::NoPart { .. } => Refused::Amount { why: misfit.to_string() },
        PartMisfit::NotAwaited | PartMisfit::NotOfReservation => Refused::NotPossible { why: misfit.to_string() },
    }
}

/// Nobody waits for it: with what was said before.
fn not_awaited(sale: &Sale, view: &SaleView) -> Refused {
    let before = match sale.till_said() {
        Some(Taken::All) => "all was taken already; ".to_owned(),
        Some(Taken::Part { amount }) => format!("a part of {amount} was taken already; "),
        Some(Taken::Nothing) => "nothing was taken already; ".to_owned(),
        None => String::new(),
    };
    Refused::NoConfirmationAwaited { stands: format!("{before}{}", view.text) }
}
