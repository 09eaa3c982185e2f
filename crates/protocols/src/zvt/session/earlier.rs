//! The search for the earlier transaction that a till names by its receipt number. The number has four digits and
//! restarts after 9999, so several transactions may have it. Payments count only within the open period, and the amount
//! must agree if the till gives one. If two transactions match, the search finds none.

use super::flow::Flow;
use super::outcome::minor;
use crate::clock::unix_s;
use crate::zvt::code;
use pos_till_api::{Ask, Kind, Outcome, Said, Sale, State};

/// The highest receipt number, after which the numbers restart.
const ROUND: u64 = 9999;
/// Maximum number of rounds that the search goes back: half a million transactions.
const MOST_ROUNDS: u64 = 50;

/// The kind of transaction to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A payment of the open period.
    Payment,
    /// A reservation of any age with an amount left.
    Reservation,
}

/// A search that asks one question at a time.
#[derive(Debug)]
pub(super) struct Search {
    wanted: Wanted,
    receipt: u16,
    amount: Option<u64>,
    decimals: u8,
    step: Step,
    /// The start of the open period, as the terminal states it: RFC 3339, UTC or local.
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
    /// Asks for the remaining amount of the transaction found.
    Whole,
}

/// The next step of a search.
pub(super) enum Next {
    /// The ticket of the next question.
    Asks(u64),
    /// The transaction that was found.
    Found(Box<Sale>),
    /// The result code when no transaction, or more than one, matches.
    Nothing(u8),
}

impl Search {
    /// Begins a search and returns the ticket of its first question.
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

    /// Handles the terminal's answer to the question.
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
                // Before the first close, the period begins with the journal.
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
            // The terminal could not be asked, so nothing is done.
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

    /// Returns whether a transaction is in the searched range. If it is, an older one may be too.
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

/// Returns the highest transaction number up to `newest` that has this receipt number, or 0 if there is none.
pub(super) fn number_of(receipt: u16, newest: u64) -> u64 {
    let receipt = u64::from(receipt);
    if receipt == 0 || receipt > ROUND {
        return 0;
    }
    newest.saturating_sub((newest + ROUND - receipt % ROUND) % ROUND)
}
