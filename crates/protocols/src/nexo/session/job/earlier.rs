//! Requests that name an earlier message: `TransactionStatus` asks for its answer again, and `Abort` stops it.

use super::super::flow::Flow;
use super::{Job, Receipts, Stage, because, refused};
use crate::nexo::enums::{Category, DocumentQualifier, ErrorCondition};
use crate::nexo::reference::Identity;
use crate::nexo::request::RequestBody;
use crate::nexo::shared::{MessageReference, Outcome};
use pos_till_api::{Ask, Copy, ProblemType, Said, State};

impl Job {
    pub(super) fn look_for(&mut self, named: &MessageReference, flow: &mut Flow<'_>) {
        let header = &self.request.header;
        let of_another = named.sale_id.as_deref().is_some_and(|sale_id| Some(sale_id) != header.sale_id.as_deref())
            || named.poi_id.as_deref().is_some_and(|poi_id| poi_id != header.poi_id);
        if of_another {
            // The answer reveals nothing about other tills, not even that the terminal has their messages.
            return self.not_found(flow);
        }
        match self.part_of_named() {
            Some(part) => self.ask(Ask::Referenced { part, from: None, cursor: None }, Stage::Earlier, flow),
            // An abort must name the message to stop.
            None if matches!(self.request.body, RequestBody::Abort(_)) => self.not_found(flow),
            None => self.ask(Ask::Latest, Stage::Earlier, flow),
        }
    }

    /// Returns the start of the references of the message with the named ServiceID.
    fn part_of_named(&self) -> Option<String> {
        let named = match &self.request.body {
            RequestBody::TransactionStatus(status) => status.message_reference.as_ref()?,
            RequestBody::Abort(abort) => &abort.message_reference,
            _ => return None,
        };
        let identity = Identity {
            sale_id: self.request.header.sale_id.as_deref(),
            poi_id: &self.request.header.poi_id,
            service_id: Some(named.service_id.as_deref()?),
            category: named.message_category.unwrap_or(Category::Payment),
            transaction: None,
        };
        Some(identity.of_message())
    }

    fn not_found(&mut self, flow: &mut Flow<'_>) {
        let why = "this terminal has no such message from this till";
        self.answered(because(ErrorCondition::NotFound, &why), flow);
    }

    pub(super) fn earlier(&mut self, said: Said, flow: &mut Flow<'_>) {
        let sale = match said {
            Said::Sale(sale) => *sale,
            // The newest message counts, because a ServiceID may occur again after 48 hours.
            Said::Sales { sales, next } => match (sales.into_iter().next(), next) {
                (Some(sale), _) => sale,
                (None, Some(cursor)) => {
                    let part = self.part_of_named().unwrap_or_default();
                    return self.ask(Ask::Referenced { part, from: None, cursor: Some(cursor) }, Stage::Earlier, flow);
                }
                (None, None) => return self.not_found(flow),
            },
            Said::Refused(problem) if problem.is(ProblemType::NoSuchSale) => return self.not_found(flow),
            Said::Refused(problem) => return self.answered(refused(&problem), flow),
            _ => return self.nobody_answers(false, flow),
        };
        let RequestBody::TransactionStatus(status) = &self.request.body else {
            if sale.state == State::Ended {
                return self.over(None, flow);
            }
            return self.ask(Ask::Cancel(sale.reference), Stage::Stopping, flow);
        };
        if sale.state != State::Ended {
            return self.answered(Outcome::failure(ErrorCondition::InProgress), flow);
        }
        let wanted =
            |copy: DocumentQualifier| status.document_qualifier.is_empty() || status.document_qualifier.contains(&copy);
        let reprint = status.receipt_reprint_flag;
        let first = match reprint {
            true if wanted(DocumentQualifier::CashierReceipt) => Some(Copy::Merchant),
            true if wanted(DocumentQualifier::CustomerReceipt) => Some(Copy::Customer),
            _ => None,
        };
        match first {
            Some(copy) => self.read_receipt(Receipts::from(copy, sale), flow),
            None => self.told(&sale, &[], flow),
        }
    }
}
