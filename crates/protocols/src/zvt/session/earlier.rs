//! Which earlier transaction a till means by a receipt number. The number has four digits and begins anew after 9999,
//! so that it may stand for several: of sales only those of the open period count, the amount must agree where one is
//! given, and of two that fit none is taken.

use super::flow::Flow;
use super::outcome::minor;
use crate::clock::unix_s;
use crate::zvt::code;
use pos_till_api::{Ask, Kind, Outcome, Said, Sale, State};

/// Numbers begin anew after so many.
const ROUND: u64 = 9999;
/// So many rounds back it is looked: half a million transactions.
const MOST_ROUNDS: u64 = 50;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A payment of the open period.
    Payment,
    /// A reservation of which something is left, however old.
    Reservation,
}

/// The search, one question at a time.
#[derive(Debug)]
pub(super) struct Search {
    wanted: Wanted,
    receipt: u16,
    amount: Option<u64>,
    decimals: u8,
    step: Step,
    /// When the open period began, as the terminal says it: RFC 3339, UTC or local.
    since: Option<String>,
    found: Vec<Sale>,
    rounds: u64,
}

#[derive(Debug)]
enum Step {
    Newest,
    LastClose {
        newest: u64,
    },
    Number(u64),
    /// With what is left of it.
    Whole,
}

/// How a search goes on.
pub(super) enum Next {
    /// Its next question, by its ticket.
    Asks(u64),
    /// The transaction.
    Found(Box<Sale>),
    /// None, or none alone: the code that says so.
    Nothing(u8),
}

impl Search {
    /// Begins it; the ticket of its first question.
    pub(super) fn begin(wanted: Wanted, receipt: u16, amount: Option<u64>, flow: &mut Flow<'_>) -> (Self, u64) {
        let decimals = flow.facts.decimals;
        let search =
            Self { wanted, receipt, amount, decimals, step: Step::Newest, since: None, found: Vec::new(), rounds: 0 };
        (search, flow.ask(Ask::Newest(1)))
    }

    fn nothing(&self) -> Next {
        Next::Nothing(match self.wanted {
            Wanted::Payment => code::NO_REVERSAL,
            Wanted::Reservation => code::NO_RESERVATION,
        })
    }

    /// The terminal has answered its question.
    pub(super) fn said(&mut self, said: Said, flow: &mut Flow<'_>) -> Next {
        match (&self.step, said) {
            (Step::Newest, Said::Sales { sales, .. }) => match sales.first() {
                Some(newest) => {
                    self.step = Step::LastClose { newest: newest.number };
                    Next::Asks(flow.ask(Ask::LastClose))
                }
                None => self.nothing(),
            },
            (Step::LastClose { newest }, said @ (Said::Close(_) | Said::Refused(_))) => {
                // Before the first close the period is as old as the journal.
                self.since = match said {
                    Said::Close(close) => Some(close.period.to),
                    _ => None,
                };
                let first = number_of(self.receipt, *newest);
                if first == 0 { self.nothing() } else { self.look_at(first, flow) }
            }
            (Step::Number(number), Said::Sales { sales, .. }) => {
                let number = *number;
                let sale = sales.into_iter().find(|sale| sale.number == number);
                let goes_on = sale.as_ref().is_none_or(|sale| self.is_open(sale));
                self.found.extend(sale.filter(|sale| self.fits(sale)));
                let rounds_left = number > ROUND && self.found.len() < 2;
                self.rounds += 1;
                if rounds_left && goes_on && self.rounds < MOST_ROUNDS {
                    self.look_at(number - ROUND, flow)
                } else {
                    self.judged(flow)
                }
            }
            (Step::Whole, Said::Sale(sale)) => Next::Found(sale),
            // Nobody could be asked: nothing is done.
            _ => Next::Nothing(code::COMMUNICATION),
        }
    }

    fn look_at(&mut self, number: u64, flow: &mut Flow<'_>) -> Next {
        self.step = Step::Number(number);
        Next::Asks(flow.ask(Ask::Number(number)))
    }

    fn judged(&mut self, flow: &mut Flow<'_>) -> Next {
        match self.found.as_slice() {
            [one] => {
                let ask = Ask::Show { reference: one.reference.clone(), wait_s: 0 };
                self.step = Step::Whole;
                Next::Asks(flow.ask(ask))
            }
            _ => self.nothing(),
        }
    }

    /// Whether it belongs to what is searched through: then an older one may too.
    fn is_open(&self, sale: &Sale) -> bool {
        match (self.wanted, &self.since, &sale.ended_at) {
            (Wanted::Reservation, ..) | (_, None, _) | (_, _, None) => true,
            (Wanted::Payment, Some(since), Some(ended)) => unix_s(ended) > unix_s(since),
        }
    }

    fn fits(&self, sale: &Sale) -> bool {
        let kind = match self.wanted {
            Wanted::Payment => matches!(sale.kind, Kind::Sale | Kind::ByRegistration | Kind::Credit),
            Wanted::Reservation => {
                matches!(sale.kind, Kind::PreAuthorisation | Kind::PreAuthorisationByRegistration)
            }
        };
        let amount = sale.approved_amount.as_ref().unwrap_or(&sale.amount);
        let stands = match self.wanted {
            Wanted::Payment => self.is_open(sale),
            Wanted::Reservation => matches!(
                (sale.state, sale.outcome),
                (State::Ended, Some(Outcome::Approved | Outcome::PartiallyApproved))
            ),
        };
        let agrees = |asked| minor(amount, self.decimals) == Some(asked);
        kind && stands && self.amount.is_none_or(agrees)
    }
}

/// The latest transaction with this receipt number, where `newest` is the latest of all; 0 when there is none.
pub(super) fn number_of(receipt: u16, newest: u64) -> u64 {
    let receipt = u64::from(receipt);
    if receipt == 0 || receipt > ROUND {
        return 0;
    }
    newest.saturating_sub((newest + ROUND - receipt % ROUND) % ROUND)
}
