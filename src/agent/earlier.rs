//! Transactions that refer to an earlier one: which it is, whether it allows them, and what is left of it.
//!
//! What is left is reckoned from the journal: everything that refers to the earlier transaction and has not failed counts, also
//! what is still unconfirmed, so that two refunds in one moment cannot be more than the payment. The gateway holds its own
//! account and has the last word.

use crate::money::Amount;
use crate::sale::{Earlier, Kind, Outcome, Sale, Standing};
use crate::till::{self, Of, Refused, SaleView, Wanted};

use super::Agent;
use super::recovery::refused_by_journal;

impl Agent {
    /// What a wish comes to: its kind with the earlier transaction found, and its amount.
    pub(super) fn kind_and_amount(&self, wanted: &Wanted) -> Result<(Kind, Amount), Refused> {
        let amount = |amount: Option<Amount>| {
            amount.ok_or_else(|| not_possible(format!("a {} needs an amount", wanted.kind.as_str())))
        };
        let kind = match (wanted.kind, &wanted.of, &wanted.registration) {
            (till::Kind::Sale, ..) => Kind::Sale,
            (till::Kind::PreAuthorisation, ..) => Kind::PreAuthorisation,
            (till::Kind::Credit, ..) => Kind::Credit,
            (till::Kind::ByRegistration, _, Some(registration)) => {
                Kind::ByRegistration { registration: checked_id("registration", registration)? }
            }
            (kind, Some(of), _) => return self.later_than(kind, of, wanted.amount),
            (kind, ..) => return Err(not_possible(format!("a {} needs what it refers to", kind.as_str()))),
        };
        Ok((kind, amount(wanted.amount)?))
    }

    fn later_than(&self, kind: till::Kind, of: &Of, amount: Option<Amount>) -> Result<(Kind, Amount), Refused> {
        let (earlier, left) = match of {
            Of::Number(number) => return Err(not_possible(format!("sale {number} is not known here"))),
            Of::Payment(payment) => (Earlier { payment: checked_id("payment", payment)?, number: None }, None),
            Of::Reference { till, reference } => {
                let (sale, _) = self.find(till, reference)?;
                let (payment, charged) = charged(&sale)?;
                fits(kind, &sale)?;
                let left = self.left(kind, &sale, charged)?;
                // What is added to a reservation has no bound but the terminal's own.
                let left = (kind != till::Kind::Increment).then_some(left);
                (Earlier { payment, number: Some(sale.order().number) }, left)
            }
        };
        let asked = match (amount, left) {
            (Some(amount), Some(Some(left))) if amount.currency() != left.currency() => {
                return Err(not_possible(format!("the earlier transaction is in {}", left.currency())));
            }
            (Some(amount), Some(Some(left))) if amount.minor() > left.minor() => {
                return Err(Refused::Amount { why: format!("{amount} is more than is left: {left}") });
            }
            (_, Some(None)) => return Err(not_possible("nothing is left of the earlier transaction".to_owned())),
            (Some(amount), _) => amount,
            (None, Some(Some(left))) => left,
            (None, None) => {
                return Err(not_possible("an amount is needed: this terminal does not know the payment".to_owned()));
            }
        };
        let of = earlier;
        let kind = match kind {
            till::Kind::Capture => Kind::Capture { of },
            till::Kind::Refund => Kind::Refund { of },
            till::Kind::Reversal => Kind::Reversal { of },
            till::Kind::Increment => Kind::Increment { of },
            till::Kind::Reauthorisation => Kind::Reauthorisation { of },
            other => return Err(not_possible(format!("a {} refers to nothing", other.as_str()))),
        };
        Ok((kind, asked))
    }

    /// The amount that this kind may still have of the earlier transaction; `None` when that is nothing.
    fn left(&self, kind: till::Kind, sale: &Sale, charged: Amount) -> Result<Option<Amount>, Refused> {
        let later = self.journal.later(sale.order().number).map_err(refused_by_journal)?;
        let counted = |wanted: fn(&Kind) -> bool| {
            later.iter().filter(move |later| wanted(&later.order().kind)).filter_map(counts)
        };
        if counted(|kind| matches!(kind, Kind::Reversal { .. })).next().is_some() {
            return Err(not_possible("the earlier transaction was reversed, or is being reversed".to_owned()));
        }
        let reserved_anew = counted(|kind| matches!(kind, Kind::Reauthorisation { .. })).next().is_some();
        if reserved_anew && kind != till::Kind::Reversal {
            return Err(not_possible("it was reserved anew: refer to the reauthorisation".to_owned()));
        }
        let captures = || later.iter().filter(|later| matches!(later.order().kind, Kind::Capture { .. }));
        let taken = |wanted| {
            counted(wanted).try_fold(Some(charged), |left, amount| match left {
                Some(left) if left == amount => Some(None),
                Some(left) => left.less(amount).map(Some),
                None => None,
            })
        };
        // More than there was is as good as nothing.
        let left = match kind {
            till::Kind::Capture => {
                if let Some(why) = no_more_captures(sale, captures()) {
                    return Err(not_possible(why));
                }
                let reserved = counted(|kind| matches!(kind, Kind::Increment { .. }))
                    .try_fold(charged, |sum, more| sum.plus(more).ok());
                let reserved = reserved.unwrap_or(charged);
                counted(|kind| matches!(kind, Kind::Capture { .. })).try_fold(Some(reserved), |left, amount| match left
                {
                    Some(left) if left == amount => Some(None),
                    Some(left) => left.less(amount).map(Some),
                    None => None,
                })
            }
            till::Kind::Refund => taken(|kind| matches!(kind, Kind::Refund { .. })),
            _ => Some(Some(charged)),
        };
        Ok(left.flatten())
    }

    /// The view of one sale: with what can still be captured or refunded, and all that the gateway said.
    pub(super) fn with_what_is_left(&self, sale: &Sale, mut view: SaleView) -> SaleView {
        view.answer.clone_from(&sale.host().more);
        let kind = match sale.order().kind {
            Kind::PreAuthorisation | Kind::Reauthorisation { .. } => till::Kind::Capture,
            Kind::Sale | Kind::ByRegistration { .. } | Kind::Capture { .. } => till::Kind::Refund,
            _ => return view,
        };
        if let Ok((_, charged)) = charged(sale) {
            let left = self.left(kind, sale, charged).ok().flatten();
            view.left = Some(left.map_or_else(|| "0".to_owned(), Amount::decimal));
        }
        view
    }
}

/// Whether a wish is the stored transaction: then it is answered again.
pub(super) fn is_the_same(wanted: &Wanted, sale: &Sale, view: &SaleView) -> bool {
    let order = sale.order();
    let of = match &wanted.of {
        None => true,
        Some(Of::Number(number)) => order.kind.of().is_some_and(|of| of.number == Some(*number)),
        Some(Of::Payment(payment)) => order.kind.of().is_some_and(|of| of.payment == *payment),
        Some(Of::Reference { reference, .. }) => view.of.as_ref() == Some(reference),
    };
    let registration = match &order.kind {
        Kind::ByRegistration { registration } => wanted.registration.as_ref() == Some(registration),
        _ => true,
    };
    wanted.kind == view.kind && of && registration && wanted.amount.is_none_or(|amount| amount == order.amount)
}

/// The payment and the amount that it holds.
fn charged(sale: &Sale) -> Result<(String, Amount), Refused> {
    let reference = &sale.order().reference;
    let amount = match sale.standing() {
        Standing::Ended(Outcome::Approved) => sale.amount(),
        Standing::Ended(Outcome::PartiallyApproved { amount }) => *amount,
        Standing::Ended(_) => {
            return Err(not_possible(format!("{reference} holds no money: it was not approved, or was reversed")));
        }
        _ => return Err(not_possible(format!("{reference} has not ended yet; wait for its end"))),
    };
    let payment = sale.host().id.clone();
    let payment = payment.ok_or_else(|| not_possible(format!("the payment id of {reference} is not known")))?;
    Ok((payment, amount))
}

/// Whether this kind can follow that transaction.
fn fits(kind: till::Kind, sale: &Sale) -> Result<(), Refused> {
    let earlier = &sale.order().kind;
    let fits = match kind {
        till::Kind::Capture | till::Kind::Increment | till::Kind::Reauthorisation => {
            matches!(earlier, Kind::PreAuthorisation | Kind::Reauthorisation { .. })
        }
        till::Kind::Refund => matches!(earlier, Kind::Sale | Kind::ByRegistration { .. } | Kind::Capture { .. }),
        till::Kind::Reversal => !matches!(earlier, Kind::Reversal { .. }),
        _ => false,
    };
    let earlier = super::words::kind_of(earlier).as_str();
    if fits { Ok(()) } else { Err(not_possible(format!("there is no {} of a {earlier}", kind.as_str()))) }
}

/// The amount of a later transaction that counts: all that may be at the gateway.
fn counts(later: &Sale) -> Option<Amount> {
    match later.standing() {
        Standing::Ended(Outcome::Approved) => Some(later.amount()),
        Standing::Ended(Outcome::PartiallyApproved { amount }) => Some(*amount),
        Standing::Ended(_) => None,
        _ => Some(later.amount()),
    }
}

/// Why a pre-authorisation takes no further capture: one said it was the last, or there were as many as allowed (interface: Basic
/// payment parameters, `sequence`, `numberOfCaptures`).
fn no_more_captures<'a>(sale: &Sale, captures: impl Iterator<Item = &'a Sale>) -> Option<String> {
    let parameter = |sale: &'a Sale, name: &str| {
        sale.order().parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    };
    let most = sale.order().parameters.iter().find(|(name, _)| name == "numberOfCaptures");
    let most = most.and_then(|(_, value)| value.parse::<usize>().ok()).unwrap_or(usize::MAX);
    let captures: Vec<&Sale> = captures.filter(|capture| counts(capture).is_some()).collect();
    if captures.iter().any(|capture| parameter(capture, "sequence") == Some("FINAL")) {
        return Some("the last capture was the final one".to_owned());
    }
    (captures.len() >= most).then(|| format!("{most} captures were allowed, and made"))
}

fn checked_id(name: &str, id: &str) -> Result<String, Refused> {
    let right = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if right { Ok(id.to_owned()) } else { Err(not_possible(format!("{name} must be 32 letters and digits"))) }
}

fn not_possible(why: String) -> Refused {
    Refused::NotPossible { why }
}
