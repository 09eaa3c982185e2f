//! A payment or a reversal before it begins: whether it is known, and to which transaction it refers.

use super::super::flow::Flow;
use super::super::told;
use super::super::wanted::{self, How, Wanted};
use super::{Job, SERVICE_ID_LASTS_S, Stage, Standing, because, refused};
use crate::clock::{rfc3339, unix_s};
use crate::nexo::enums::{Category, ErrorCondition};
use crate::nexo::shared::Outcome as Answer;
use pos_till_api::{Ask, Outcome, ProblemType, Said, Sale, State};

impl Job {
    pub(super) fn look_whether_known(&mut self, standing: Standing, flow: &mut Flow<'_>) {
        let reference = self.own_reference(standing);
        self.ask(Ask::Show { reference, wait_s: 0 }, Stage::Known(standing), flow);
    }

    /// Returns the reference of this message, or a separate one if another message already has the normal reference.
    fn own_reference(&self, standing: Standing) -> String {
        match &self.meaning {
            Some(meaning) if standing.apart => self.identity().reference_of(meaning.as_str()),
            _ => self.identity().reference(),
        }
    }

    fn wanted(&self, standing: Standing, flow: &Flow<'_>) -> Result<Wanted, Answer> {
        let mut wanted = wanted::of(&self.request, flow)?;
        wanted.begin.reference = self.own_reference(standing);
        Ok(wanted)
    }

    pub(super) fn known(&mut self, standing: Standing, said: Said, flow: &mut Flow<'_>) {
        match said {
            Said::Sale(sale) => self.known_as(standing, *sale, flow),
            Said::Refused(problem) if problem.is(ProblemType::NoSuchSale) => {
                // The refusal comes only at this point. The same message may have been carried out by an earlier
                // version, or under other settings.
                if let Err(outcome) = self.wanted(standing, flow) {
                    return self.answered(outcome, flow);
                }
                self.look_for_same_message(standing, None, flow);
            }
            Said::Refused(problem) => self.answered(refused(&problem), flow),
            _ => self.nobody_answers(standing.may_stand, flow),
        }
    }

    /// Handles a transaction under this message's reference. Either it is the answer, or another message began it.
    pub(super) fn known_as(&mut self, standing: Standing, sale: Sale, flow: &mut Flow<'_>) {
        if self.has_begun(standing, &sale, flow) {
            return self.follow(standing, sale, flow);
        }
        let until = unix_s(&sale.started_at).map(|at| at.saturating_add(SERVICE_ID_LASTS_S));
        let is_taken = sale.state != State::Ended || until.is_none_or(|until| until >= flow.now.unix_s);
        if is_taken || standing.apart {
            let id = self.request.header.service_id();
            let why = format!(
                "ServiceID {id} was used for another amount or another kind of payment; ask for its outcome by \
                 TransactionStatus"
            );
            return self.reject(&why, flow);
        }
        self.look_whether_known(Standing { apart: true, ..standing }, flow);
    }

    /// Returns whether this message began that transaction. The transaction contains the meaning of its message. A
    /// record of an earlier version is compared by the fields that it has.
    fn has_begun(&self, standing: Standing, sale: &Sale, flow: &Flow<'_>) -> bool {
        // Only this message has a reference that depends on this meaning.
        let by_meaning = standing.apart && sale.reference == self.own_reference(standing);
        let kept = sale.till_data.get(wanted::data::MEANING).and_then(|kept| self.meaning.as_ref()?.is(kept));
        by_meaning
            || kept.unwrap_or_else(|| self.wanted(standing, flow).is_ok_and(|wanted| wanted.agrees_with(sale, flow)))
    }

    /// Asks for other messages, starting at the newest or where the last list ended.
    fn look_for_same_message(&mut self, standing: Standing, cursor: Option<String>, flow: &mut Flow<'_>) {
        let since = rfc3339(flow.now.unix_s.saturating_sub(SERVICE_ID_LASTS_S));
        let part = self.identity().of_message();
        self.ask(Ask::Referenced { part, from: Some(since), cursor }, Stage::SameMessage(standing), flow);
    }

    pub(super) fn same_message(&mut self, standing: Standing, said: Said, flow: &mut Flow<'_>) {
        let said = match self.own_of(standing, said) {
            Ok(sale) => return self.known_as(standing, *sale, flow),
            Err(said) => said,
        };
        match said {
            Said::Sales { sales, next } if sales.is_empty() => {
                if next.is_some() {
                    return self.look_for_same_message(standing, next, flow);
                }
                match self.identity().of_transaction() {
                    // A reversal has no new payment, so it is recognised by its earlier transaction.
                    Some(part) if self.identity().category == Category::Payment => {
                        let ask = Ask::Referenced { part, from: None, cursor: None };
                        self.ask(ask, Stage::SameTransaction(standing), flow);
                    }
                    _ => self.not_known(standing, flow),
                }
            }
            Said::Sales { .. } => {
                let id = self.request.header.service_id();
                let why =
                    format!("ServiceID {id} was used within 48 hours for another message; give each message its own");
                self.reject(&why, flow);
            }
            Said::Refused(problem) => self.answered(refused(&problem), flow),
            _ => self.nobody_answers(standing.may_stand, flow),
        }
    }

    /// Finds this message's own transaction in a list. It may have begun while others were looked up.
    fn own_of(&self, standing: Standing, said: Said) -> Result<Box<Sale>, Said> {
        let Said::Sales { mut sales, next } = said else { return Err(said) };
        let own = self.own_reference(standing);
        match sales.iter().position(|sale| sale.reference == own) {
            Some(at) => Ok(Box::new(sales.swap_remove(at))),
            None => Err(Said::Sales { sales, next }),
        }
    }

    pub(super) fn same_transaction(&mut self, standing: Standing, said: Said, flow: &mut Flow<'_>) {
        let said = match self.own_of(standing, said) {
            Ok(sale) => return self.known_as(standing, *sale, flow),
            Err(said) => said,
        };
        match said {
            Said::Sales { sales, next } => {
                // An unknown outcome may mean that the customer was charged.
                let charged = |sale: &&Sale| {
                    use Outcome::{Cancelled, Declined, NotSent, Reversed};
                    let over = matches!(sale.outcome, Some(Declined | Cancelled | NotSent | Reversed));
                    sale.state != State::Ended || !over
                };
                if let Some(sale) = sales.iter().find(charged) {
                    let why = match told::service_id_of(sale) {
                        Some(id) => format!(
                            "a payment for this SaleTransactionID was made, or may have been made, with ServiceID \
                             {id}; query that ServiceID with TransactionStatus"
                        ),
                        None => "a payment for this SaleTransactionID was made, or may have been made; query it with \
                                 TransactionStatus"
                            .to_owned(),
                    };
                    return self.reject(&why, flow);
                }
                match next {
                    Some(_) => {
                        let part = self.identity().of_transaction().unwrap_or_default();
                        let ask = Ask::Referenced { part, from: None, cursor: next };
                        self.ask(ask, Stage::SameTransaction(standing), flow);
                    }
                    None => self.not_known(standing, flow),
                }
            }
            Said::Refused(problem) => self.answered(refused(&problem), flow),
            _ => self.nobody_answers(standing.may_stand, flow),
        }
    }

    /// Handles a new message.
    fn not_known(&mut self, standing: Standing, flow: &mut Flow<'_>) {
        let wanted = match self.wanted(standing, flow) {
            Ok(wanted) => wanted,
            Err(outcome) => return self.answered(outcome, flow),
        };
        match wanted.original_number() {
            None if wanted.how == How::Alone => self.begin(standing, wanted.begin, flow),
            None => {
                let why = "OriginalPOITransaction.POITransactionID.TransactionID is unknown at this terminal";
                self.answered(because(ErrorCondition::NotFound, &why), flow);
            }
            Some(number) => self.ask(Ask::Number(number), Stage::Original(standing), flow),
        }
    }

    pub(super) fn original(&mut self, standing: Standing, said: Said, flow: &mut Flow<'_>) {
        let Ok(wanted) = self.wanted(standing, flow) else { return self.nobody_answers(standing.may_stand, flow) };
        match said {
            Said::Sales { sales, .. } => match sales.iter().find(|sale| wanted.is_original(sale)) {
                Some(sale) => {
                    let ask = Ask::Show { reference: sale.reference.clone(), wait_s: 0 };
                    self.ask(ask, Stage::OriginalWhole(standing), flow);
                }
                None => {
                    let why = "OriginalPOITransaction: this terminal has no such transaction of this till";
                    self.answered(because(ErrorCondition::NotFound, &why), flow);
                }
            },
            Said::Refused(problem) => self.answered(refused(&problem), flow),
            _ => self.nobody_answers(standing.may_stand, flow),
        }
    }

    pub(super) fn original_whole(&mut self, standing: Standing, said: Said, flow: &mut Flow<'_>) {
        let Ok(wanted) = self.wanted(standing, flow) else { return self.nobody_answers(standing.may_stand, flow) };
        match said {
            Said::Sale(sale) => match wanted.following(&sale, flow) {
                Ok(begin) => self.begin(standing, begin, flow),
                Err(outcome) => self.answered(outcome, flow),
            },
            Said::Refused(problem) => self.answered(refused(&problem), flow),
            _ => self.nobody_answers(standing.may_stand, flow),
        }
    }
}
