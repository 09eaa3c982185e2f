//! A payment or a reversal, from the question whether it is known to its answer.
//!
//! ```text
//!  Known ─▶ SameMessage ─▶ SameTransaction ─▶ Original ─▶ Beginning ─▶ Watching ─▶ Receipt
//!    │      (the ServiceID) (of payments)     (what it    (write down) (how it     (both copies)
//!    └── it is: its answer once more ────────  is about) ──────────────▶ stands)
//! ```

use super::wanted::{self, How, Wanted};
use super::{Flow, Job, SERVICE_ID_LASTS_S, Stage, WATCH_S, because, refused, told};
use crate::clock::{rfc3339, unix_s};
use crate::nexo::enums::{Category, ErrorCondition};
use crate::nexo::reference::{replaces, replacing};
use pos_till_api::{Ask, Begin, Copy, Kind, Outcome, ProblemType, Said, Sale, State};

impl Job {
    pub(super) fn look_whether_known(&mut self, flow: &mut Flow<'_>) {
        let reference = self.own_reference();
        self.ask(Ask::Show { reference, wait_s: 0 }, Stage::Known, flow);
    }

    /// The reference of this message; one of its own where another message stands under that one.
    fn own_reference(&self) -> String {
        match &self.meaning {
            Some(meaning) if self.apart => self.identity().reference_of(meaning.as_str()),
            _ => self.identity().reference(),
        }
    }

    fn wanted(&self, flow: &Flow<'_>) -> Result<Wanted, crate::nexo::shared::Outcome> {
        let mut wanted = wanted::of(&self.request, flow)?;
        wanted.begin.reference = self.own_reference();
        Ok(wanted)
    }

    pub(super) fn known(&mut self, said: Said, flow: &mut Flow<'_>) {
        match said {
            Said::Sale(sale) => self.known_as(*sale, flow),
            Said::Refused(problem) if problem.is(ProblemType::NoSuchSale) => {
                // Refused only now: an earlier program, or other settings, may have carried the same message out.
                if let Err(outcome) = self.wanted(flow) {
                    return self.answered(outcome, flow);
                }
                let part = self.identity().of_message();
                let since = rfc3339(flow.now.unix_s.saturating_sub(SERVICE_ID_LASTS_S));
                self.ask(Ask::Referenced { part, from: Some(since), cursor: None }, Stage::SameMessage, flow);
            }
            Said::Refused(problem) => self.answered(refused(&problem), flow),
            _ => self.nobody_answers(flow),
        }
    }

    /// A sale stands under the reference of this message: it is its answer, or another message has begun it.
    fn known_as(&mut self, sale: Sale, flow: &mut Flow<'_>) {
        if self.has_begun(&sale, flow) {
            (self.begun, self.reference) = (true, Some(sale.reference.clone()));
            return self.stands(sale, flow);
        }
        let until = unix_s(&sale.started_at).map(|at| at.saturating_add(SERVICE_ID_LASTS_S));
        let is_taken = sale.state != State::Ended || until.is_none_or(|until| until >= flow.now.unix_s);
        if is_taken || self.apart {
            let id = self.request.header.service_id();
            let why = format!(
                "ServiceID {id} was used for another amount or another kind of payment; ask TransactionStatus what became of it"
            );
            return self.reject(&why, flow);
        }
        self.apart = true;
        self.look_whether_known(flow);
    }

    /// Whether this message has begun that sale. What it meant is kept with it; a record of an earlier program is
    /// compared field by field, as far as it tells them.
    fn has_begun(&self, sale: &Sale, flow: &Flow<'_>) -> bool {
        // No other message has a reference of its own meaning.
        let by_meaning = self.apart && sale.reference == self.own_reference();
        let kept = sale.till_data.get(wanted::data::MEANING).and_then(|kept| self.meaning.as_ref()?.is(kept));
        by_meaning || kept.unwrap_or_else(|| self.wanted(flow).is_ok_and(|wanted| wanted.agrees_with(sale, flow)))
    }

    pub(super) fn same_message(&mut self, said: Said, flow: &mut Flow<'_>) {
        let said = match self.own_of(said) {
            Ok(sale) => return self.known_as(*sale, flow),
            Err(said) => said,
        };
        match said {
            Said::Sales { sales, next } if sales.is_empty() => {
                if let Some(cursor) = next {
                    return self.look_on(cursor, flow);
                }
                match self.identity().of_transaction() {
                    // What moves no money anew is held to be the same one by the earlier transaction.
                    Some(part) if self.identity().category == Category::Payment => {
                        self.ask(Ask::Referenced { part, from: None, cursor: None }, Stage::SameTransaction, flow);
                    }
                    _ => self.not_known(flow),
                }
            }
            Said::Sales { .. } => {
                let id = self.request.header.service_id();
                let why =
                    format!("ServiceID {id} was used within 48 hours for another message; give each message its own");
                self.reject(&why, flow);
            }
            Said::Refused(problem) => self.answered(refused(&problem), flow),
            _ => self.nobody_answers(flow),
        }
    }

    /// The sale of this very message in a list: it was begun while others were looked for.
    fn own_of(&self, said: Said) -> Result<Box<Sale>, Said> {
        let Said::Sales { mut sales, next } = said else { return Err(said) };
        let own = self.own_reference();
        match sales.iter().position(|sale| sale.reference == own) {
            Some(at) => Ok(Box::new(sales.swap_remove(at))),
            None => Err(Said::Sales { sales, next }),
        }
    }

    /// The list goes on: so many were looked at, and none was it.
    fn look_on(&mut self, cursor: String, flow: &mut Flow<'_>) {
        let ask = match self.stage {
            Stage::SameMessage => {
                let since = rfc3339(flow.now.unix_s.saturating_sub(SERVICE_ID_LASTS_S));
                Ask::Referenced { part: self.identity().of_message(), from: Some(since), cursor: Some(cursor) }
            }
            _ => {
                let part = self.identity().of_transaction().unwrap_or_default();
                Ask::Referenced { part, from: None, cursor: Some(cursor) }
            }
        };
        self.ask(ask, self.stage, flow);
    }

    pub(super) fn same_transaction(&mut self, said: Said, flow: &mut Flow<'_>) {
        let said = match self.own_of(said) {
            Ok(sale) => return self.known_as(*sale, flow),
            Err(said) => said,
        };
        match said {
            Said::Sales { sales, next } => {
                // An outcome that this program does not know may be one that is charged.
                let charged = |sale: &&Sale| {
                    use Outcome::{Cancelled, Declined, NotSent, Reversed};
                    let over = matches!(sale.outcome, Some(Declined | Cancelled | NotSent | Reversed));
                    sale.state != State::Ended || !over
                };
                if let Some(sale) = sales.iter().find(charged) {
                    let why = match told::service_id_of(sale) {
                        Some(id) => format!(
                            "this SaleTransactionID was paid, or may be, with ServiceID {id}: ask TransactionStatus for that one"
                        ),
                        None => "this SaleTransactionID was paid, or may be: ask TransactionStatus".to_owned(),
                    };
                    return self.reject(&why, flow);
                }
                match next {
                    Some(cursor) => self.look_on(cursor, flow),
                    None => self.not_known(flow),
                }
            }
            Said::Refused(problem) => self.answered(refused(&problem), flow),
            _ => self.nobody_answers(flow),
        }
    }

    /// It is a new one.
    fn not_known(&mut self, flow: &mut Flow<'_>) {
        let wanted = match self.wanted(flow) {
            Ok(wanted) => wanted,
            Err(outcome) => return self.answered(outcome, flow),
        };
        match wanted.original_number() {
            None if wanted.how == How::Alone => self.begin(wanted.begin, flow),
            None => {
                let why = "OriginalPOITransaction.POITransactionID.TransactionID is none of this terminal's";
                self.answered(because(ErrorCondition::NotFound, &why), flow);
            }
            Some(number) => self.ask(Ask::Number(number), Stage::Original, flow),
        }
    }

    pub(super) fn original(&mut self, said: Said, flow: &mut Flow<'_>) {
        let Ok(wanted) = self.wanted(flow) else { return self.nobody_answers(flow) };
        match said {
            Said::Sales { sales, .. } => match sales.iter().find(|sale| wanted.is_original(sale)) {
                Some(sale) => {
                    let ask = Ask::Show { reference: sale.reference.clone(), wait_s: 0 };
                    self.ask(ask, Stage::OriginalWhole, flow);
                }
                None => {
                    let why = "OriginalPOITransaction: this till has no such transaction at this terminal";
                    self.answered(because(ErrorCondition::NotFound, &why), flow);
                }
            },
            Said::Refused(problem) => self.answered(refused(&problem), flow),
            _ => self.nobody_answers(flow),
        }
    }

    pub(super) fn original_whole(&mut self, said: Said, flow: &mut Flow<'_>) {
        let Ok(wanted) = self.wanted(flow) else { return self.nobody_answers(flow) };
        match said {
            Said::Sale(sale) => match wanted.following(&sale, flow) {
                Ok(begin) => {
                    self.original = Some(*sale);
                    self.begin(begin, flow);
                }
                Err(outcome) => self.answered(outcome, flow),
            },
            Said::Refused(problem) => self.answered(refused(&problem), flow),
            _ => self.nobody_answers(flow),
        }
    }

    fn begin(&mut self, begin: Begin, flow: &mut Flow<'_>) {
        if self.aborted {
            return self.answered(because(ErrorCondition::Aborted, &"aborted before it was begun"), flow);
        }
        if !self.is_heard() && !self.begun {
            // The till has given up before anything was begun: it is to stay so.
            return self.over(None, flow);
        }
        self.reference = Some(begin.reference.clone());
        self.begin = Some(begin.clone());
        self.lost = false;
        self.ask(Ask::Begin(Box::new(begin)), Stage::Beginning, flow);
    }

    pub(super) fn beginning(&mut self, said: Said, flow: &mut Flow<'_>) {
        match said {
            // It may have been begun before, and by another message.
            Said::Sale(sale) if sale.replayed => self.known_as(*sale, flow),
            Said::Sale(sale) => {
                self.begun = true;
                self.stands(*sale, flow);
            }
            Said::Refused(problem) if problem.is(ProblemType::AmountDiffers) => {
                self.reject(&"this message was used for another amount or another kind of payment", flow);
            }
            Said::Refused(problem) => self.answered(refused(&problem), flow),
            _ => self.nobody_answers(flow),
        }
    }

    pub(super) fn watched(&mut self, said: Said, flow: &mut Flow<'_>) {
        match said {
            Said::Sale(sale) | Said::Cancelled { sale, .. } => self.stands(*sale, flow),
            // What cannot be stopped is looked at as before.
            _ => self.watch(flow),
        }
    }

    fn watch(&mut self, flow: &mut Flow<'_>) {
        let reference = self.reference.clone().unwrap_or_default();
        self.ask(Ask::Show { reference, wait_s: WATCH_S }, Stage::Watching, flow);
    }

    /// How the sale stands.
    fn stands(&mut self, sale: Sale, flow: &mut Flow<'_>) {
        let (state, reference) = (sale.state, sale.reference.clone());
        let declined_reversal =
            sale.kind == Kind::Reversal && sale.outcome == Some(Outcome::Declined) && !replaces(&sale.reference);
        let of = sale.of.clone();
        self.sale = Some(sale);
        match state {
            State::WaitingForCard if self.aborted && self.stage != Stage::Cancelling => {
                self.ask(Ask::Cancel(reference), Stage::Cancelling, flow);
            }
            // The till compares: the receipt says that it is to be signed, and a reversal takes it back.
            State::AwaitingSignature => self.ask(Ask::Sign { reference, accepted: true }, Stage::Signing, flow),
            State::Ended if declined_reversal && of.is_some() && self.identity().category == Category::Reversal => {
                // A reversal that the bank declines is given back as a refund; one that nobody knows of stays unknown.
                let data = wanted::till_data(&self.request);
                let begin = Begin {
                    of,
                    till_prints: !flow.settings.terminal_prints,
                    till_data: data,
                    ..Begin::new(&replacing(&reference), Kind::Refund, None)
                };
                self.aborted = false;
                self.begin(begin, flow);
            }
            State::Ended => self.read_receipt(Copy::Merchant, flow),
            State::Unconfirmed | State::UnconfirmedFinishing => self.told(flow),
            _ => self.watch(flow),
        }
    }

    /// Both copies, as far as there are any; the till that is gone has no use for them.
    pub(super) fn read_receipt(&mut self, copy: Copy, flow: &mut Flow<'_>) {
        let Some(reference) = self.sale.as_ref().map(|sale| sale.reference.clone()).filter(|_| self.is_heard()) else {
            return self.told(flow);
        };
        let width = Some(flow.settings.width);
        self.ask(Ask::Receipt { reference, copy, width }, Stage::Receipt(copy), flow);
    }

    pub(super) fn receipt(&mut self, said: Said, flow: &mut Flow<'_>) {
        if let Said::Receipt(receipt) = said {
            self.receipts.push(*receipt);
        }
        match self.stage {
            Stage::Receipt(Copy::Merchant) => self.read_receipt(Copy::Customer, flow),
            _ => self.told(flow),
        }
    }

    fn told(&mut self, flow: &mut Flow<'_>) {
        let body = told::body(self, flow);
        self.over(body, flow);
    }
}
