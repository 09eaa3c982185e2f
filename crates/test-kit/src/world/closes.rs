//! Closes of day, and the judge's equation for them. It is held against the bank's ledger: never against the journal.
//!
//! | | |
//! |---|---|
//! | each close | all closes up to this one are what the ledger holds of the wishes, but those that it names as open |
//! | in the end | so is the last one, when everything has had its time: then only what waits for a person is open |
//! | numbers | they are counted from 1, without a gap; the same reference is the same close, and it never changes |
//!
//! A close is counted at some moment between the wish for it and its answer. What changed of a wish in between, in the
//! ledger or by what its till was told, may be in it or not; everything else is in it to the cent.

use std::collections::{BTreeMap, BTreeSet};

use pos_agent::till::{CloseAsked, CloseView, Command, Refused};
use pos_core::counter::{Close, OpenKind};
use pos_terms::transaction::{Reference, Who};
use tokio::sync::oneshot;

use super::cut_points::{Fate, Place};
use super::ledger::{Entry, EntryState};
use super::tills::{Till, Wish};
use super::{State, World};

/// Minor units by currency; with a minus what was given.
type Money = BTreeMap<String, i128>;

/// How the world stood: what the ledger holds of each wish, and how much its till was told; and what was given back of
/// it because its till took a part.
type Standing = BTreeMap<(usize, Part), (Money, usize)>;

/// A wish is one transaction, or two: the refund of what its till did not take is one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Itself,
    Rest,
}

/// A close that a till was told of.
#[derive(Clone, Debug)]
pub struct HeardClose {
    pub close: Close,
    /// How the world stood when it was asked for, and when it was heard of; absent where the first answer was lost.
    between: Option<[Standing; 2]>,
}

impl Till {
    /// Asks for the close of this reference, as often as it has to; whether it was heard of.
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
        let fate = self.world.pass(Place::Till);
        let heard = matches!(fate, Fate::Happens | Fate::Last) && self.world.lock().heard(answer, asked);
        if fate == Fate::Last {
            self.world.die();
        }
        heard
    }
}

impl State {
    /// A till was told of a close.
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
                self.violation("a close has changed, or was made twice", format!("{known:?}, then {close:?}"));
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
            [itself, ((wish.number, Part::Rest), (self.given_back_of(wish), 0))]
        };
        self.wishes.iter().flat_map(both).collect()
    }

    /// What the ledger says that a wish has moved.
    fn moved_by(&self, wish: &Wish) -> Money {
        let may_be_sent_again = matches!(wish.payment_type(), "CP" | "RF" | "RV");
        self.sum(self.entries(wish).filter(|entry| !(entry.again && may_be_sent_again)))
    }

    /// What the ledger says that the agent has refunded of it by itself.
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

    /// Which way money goes by an entry of this kind: 1 to the shop, -1 from it.
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

    /// The closes against the ledger, one after the other.
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
                self.violation("the tills' own sums together are not the close's", format!("{own:?} of {close:?}"));
            }
            for net in &close.net {
                *sum.entry(net.currency.clone()).or_default() += minor(&net.net);
            }
            if let Some([asked, heard]) = between
                && let Err(why) = self.explains(close, &sum, asked, heard)
            {
                self.violation("the closes are not the ledger, but for what is open", why);
            }
        }
    }

    /// Whether the sums of all closes up to this one are the ledger's, but for what it names as open.
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
            [((wish.number, Part::Itself), wish.reference.clone()), ((wish.number, Part::Rest), rest)]
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
    /// Everything has had its time: the closes against the ledger.
    pub fn judge_closes(&self) {
        self.lock().judge_closes();
    }
}

fn add(to: &mut Money, more: &Money) {
    for (currency, minor) in more {
        *to.entry(currency.clone()).or_default() += minor;
    }
}

/// Whether a sum is the certain one with some of what there may be, each counted as it was, as it is, or not at all.
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

/// `-12.34` in minor units.
fn minor(decimal: &str) -> i128 {
    let digits: String = decimal.chars().filter(|c| c.is_ascii_digit() || *c == '-').collect();
    digits.parse().unwrap()
}
