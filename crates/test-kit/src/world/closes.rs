//! The closes of day, and the judge's equation for them. The judge compares them with the bank's ledger, never with the
//! journal.
//!
//! | | |
//! |---|---|
//! | each close | the sum of all closes up to this one equals the ledger's sum of the wishes, except for the wishes that the close lists as open |
//! | at the end | the same holds for the last close, when all work is finished and only transactions that wait for a person are open |
//! | numbers | closes are counted from 1 without a gap; the same reference always returns the same close, unchanged |
//!
//! A close takes its sums at some moment between its request and its answer. A wish may change during that time, in the
//! ledger or in the messages to its till. The close may or may not include that change. The close includes everything
//! else, to the cent.

use std::collections::{BTreeMap, BTreeSet};

use pos_agent::till::{CloseAsked, CloseView, Command, Refused};
use pos_core::counter::{Close, OpenKind};
use pos_terms::transaction::{Reference, Who};
use tokio::sync::oneshot;

use super::cut_points::{Fate, PointKind};
use super::ledger::{Entry, EntryState};
use super::tills::{Till, Wish};
use super::{State, World};

/// Minor units by currency. Money that was paid out is negative.
type Money = BTreeMap<String, i128>;

/// The state of the world: for each wish, its sum in the ledger and the number of messages to its till. The refund of
/// the rest is listed separately, if a till accepted a part.
type Standing = BTreeMap<(usize, Part), (Money, usize)>;

/// A part of a wish. A wish is one transaction or two, because the refund of the amount that its till did not accept is
/// separate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Itself,
    Refund,
}

/// A close that a till has received.
#[derive(Clone, Debug)]
pub struct HeardClose {
    pub close: Close,
    /// The states of the world at the request and at the answer; `None` if the first answer was lost.
    between: Option<[Standing; 2]>,
}

impl Till {
    /// Requests the close with this reference, repeatedly if necessary. Returns whether the till received it.
    pub async fn close(&self, reference: &str) -> bool {
        let asked = self.world.lock().standing();
        let wish = CloseAsked {
            till: "till-1".to_owned(),
            reference: Some(Reference::parse(reference).unwrap()),
            by: Who::default(),
            print: true,
        };
        let (reply, answer) = oneshot::channel();
        let _ = self.commands.send(Command::Close { wish, reply }).await;
        let Ok(answer) = answer.await else { return false };
        let fate = self.world.pass(PointKind::Till);
        let heard = matches!(fate, Fate::Happens | Fate::Last) && self.world.lock().heard(answer, asked);
        if fate == Fate::Last {
            self.world.die();
        }
        heard
    }
}

impl State {
    /// Records a close that a till has received.
    fn heard(&mut self, answer: Result<CloseView, Refused>, asked: Standing) -> bool {
        let CloseView { close, replayed, .. } = match answer {
            Ok(view) => view,
            Err(Refused::Journal { .. }) => return false,
            Err(refused) => {
                self.violation("a close was refused", refused.to_string());
                return false;
            }
        };
        let between = (!replayed).then(|| [asked, self.standing()]);
        let same = |known: &&HeardClose| known.close.number == close.number || known.close.reference == close.reference;
        match self.closes.iter().find(same).map(|known| known.close.clone()) {
            Some(known) if known != close => {
                self.violation("a close was changed, or made twice", format!("{known:?}, then {close:?}"));
            }
            Some(_) => {}
            None => self.closes.push(HeardClose { close, between }),
        }
        true
    }

    fn standing(&mut self) -> Standing {
        self.bank_goes_on();
        let both = |wish: &Wish| {
            let itself = ((wish.number, Part::Itself), (self.moved_by(wish), wish.told.len()));
            [itself, ((wish.number, Part::Refund), (self.given_back_of(wish), 0))]
        };
        self.wishes.iter().flat_map(both).collect()
    }

    /// Returns the money that a wish has moved, according to the ledger.
    fn moved_by(&self, wish: &Wish) -> Money {
        let may_be_sent_again = matches!(wish.payment_type(), "CP" | "RF" | "RV");
        self.sum(self.entries(wish).filter(|entry| !(entry.again && may_be_sent_again)))
    }

    /// Returns the money of a wish that the agent has refunded automatically, according to the ledger.
    fn given_back_of(&self, wish: &Wish) -> Money {
        let paid = |entry: &&Entry| self.entries(wish).any(|paid| Some(&paid.id) == entry.refers_to.as_ref());
        let refunds =
            self.bank.ledger.iter().filter(|entry| entry.wish.is_none() && entry.kind == "RF" && !entry.again);
        self.sum(refunds.filter(paid))
    }

    fn sum<'a>(&self, entries: impl Iterator<Item = &'a Entry>) -> Money {
        let mut money = Money::new();
        for entry in entries {
            let moved = i128::from(entry.stands()) * self.way(entry);
            if moved != 0 {
                *money.entry(entry.currency.clone()).or_default() += moved;
            }
        }
        money
    }

    /// Returns the direction in which an entry moves money: 1 to the shop, -1 from the shop.
    fn way(&self, entry: &Entry) -> i128 {
        if entry.state != EntryState::Approved {
            return 0;
        }
        let undone = || self.bank.ledger.iter().find(|one| Some(&one.id) == entry.refers_to.as_ref());
        match entry.kind.as_str() {
            "DB" | "CP" => 1,
            "RF" | "CD" => -1,
            "RV" => undone().map_or(0, |undone| -self.way(undone)),
            _ => 0,
        }
    }

    /// Compares the closes with the ledger, one after the other.
    fn judge_closes(&mut self) {
        let mut closes = self.closes.clone();
        closes.sort_by_key(|heard| heard.close.number);
        let mut sum = Money::new();
        for (place, HeardClose { close, between }) in closes.iter().enumerate() {
            if close.number != place as u64 + 1 {
                self.violation("a close is missing, or its number is not the next one", format!("{close:?}"));
                return;
            }
            let (mut whole, mut own) = (Money::new(), Money::new());
            for net in &close.net {
                *whole.entry(net.currency.clone()).or_default() += minor(&net.net);
            }
            for brand in close.own.iter().flat_map(|own| &own.brands) {
                *own.entry(brand.currency.clone()).or_default() += minor(&brand.net);
            }
            if whole != own {
                self.violation("the tills' own sums differ from the close's sums", format!("{own:?} of {close:?}"));
            }
            for net in &close.net {
                *sum.entry(net.currency.clone()).or_default() += minor(&net.net);
            }
            if let Some([asked, heard]) = between
                && let Err(why) = self.explains(close, &sum, asked, heard)
            {
                self.violation("the closes differ from the ledger in more than the open transactions", why);
            }
        }
    }

    /// Checks that the sum of all closes up to this one equals the ledger's sum, except for the transactions that the
    /// close lists as open.
    fn explains(&self, close: &Close, sum: &Money, asked: &Standing, heard: &Standing) -> Result<(), String> {
        let has_no_end = |is: OpenKind| is != OpenKind::PreAuthorisation;
        let open: BTreeSet<&str> = (close.open.iter())
            .filter(|item| has_no_end(item.is))
            .filter_map(|item| item.reference.as_ref().map(Reference::as_str))
            .collect();
        let mut certain = Money::new();
        let mut perhaps: Vec<[Money; 2]> = Vec::new();
        let parts = self.wishes.iter().flat_map(|wish| {
            let rest = format!("{}-rest", wish.reference);
            [((wish.number, Part::Itself), wish.reference.clone()), ((wish.number, Part::Refund), rest)]
        });
        for (part, _) in parts.filter(|(_, reference)| !open.contains(reference.as_str())) {
            let (before, after) = (&asked[&part], &heard[&part]);
            if before == after {
                add(&mut certain, &after.0);
            } else {
                perhaps.push([before.0.clone(), after.0.clone()]);
            }
        }
        if is_reached(&certain, &perhaps, sum) {
            return Ok(());
        }
        Err(format!("the closes say {sum:?}, the ledger {certain:?} and perhaps {perhaps:?}; open {open:?}; {close:?}"))
    }
}

impl World {
    /// Compares the closes with the ledger, after all work is finished.
    pub fn judge_closes(&self) {
        self.lock().judge_closes();
    }
}

fn add(to: &mut Money, more: &Money) {
    for (currency, minor) in more {
        *to.entry(currency.clone()).or_default() += minor;
    }
}

/// Returns whether the sum is the certain amount plus some of the uncertain ones. Each uncertain amount counts with its
/// earlier value, with its later value, or not at all.
fn is_reached(certain: &Money, perhaps: &[[Money; 2]], sum: &Money) -> bool {
    let Some(([before, after], rest)) = perhaps.split_first() else {
        let moved = |money: &Money| {
            money.iter().filter(|(_, minor)| **minor != 0).map(|(c, m)| (c.clone(), *m)).collect::<Money>()
        };
        return moved(certain) == moved(sum);
    };
    [&Money::new(), before, after].into_iter().any(|one| {
        let mut with = certain.clone();
        add(&mut with, one);
        is_reached(&with, rest, sum)
    })
}

/// Converts `-12.34` to minor units.
fn minor(decimal: &str) -> i128 {
    let digits: String = decimal.chars().filter(|c| c.is_ascii_digit() || *c == '-').collect();
    digits.parse().unwrap()
}
