//! The plan of one round, drawn from its seed. It contains the payments, the follow-up transactions, the tills and the
//! gateway's behaviour. It also contains the kills and the gateway's state at each restart.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_sim::gateway::Outcome;
use pos_sim::reader::CardEntry;
use pos_terms::transaction::Kind;

/// One round: a transaction, any follow-up transactions, and the kills.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The transactions. The list is never empty, and later transactions follow earlier ones.
    pub deals: Vec<Wish>,
    /// The other till's request for the same earlier transaction, sent at the same time as the last request.
    pub rival: Option<Wish>,
    /// The index of the transaction in which the first kill occurs.
    pub victim: usize,
    /// The kills. The first occurs during the victim, each further one in the recovery after the previous kill.
    pub kills: Vec<Kill>,
    /// True for each kill after which the agent starts without a reachable gateway.
    pub away: Vec<bool>,
    /// True if the till sends its request twice at the same time.
    pub twice: bool,
}

/// A till's request.
#[derive(Clone, Debug)]
pub struct Wish {
    pub kind: Kind,
    pub by: By,
    /// The number of the earlier transaction in its round. The first transaction has none.
    pub of: Option<usize>,
    pub named: Named,
    /// True if the gateway stores the card.
    pub stores: bool,
    /// The amount in minor units. Without it, the request is for the whole rest.
    pub amount: Option<u64>,
    pub card: Option<(&'static str, CardEntry)>,
    /// The gateway's behaviour at the next request, once.
    pub once: Option<Outcome>,
    /// True if the cashier accepts a required signature.
    pub signature: bool,
    /// The till's confirmation: true if it takes the approved amount.
    pub taken: Option<bool>,
}

/// The till that sends the request. Both tills share the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The person at the terminal, on the Unix socket, may refer to the transactions of any till.
    Socket,
    /// A till with a token may refer only to its own transactions.
    Token,
}

impl By {
    /// Returns the till's name.
    pub fn till(self) -> &'static str {
        match self {
            Self::Socket => "local",
            Self::Token => "till-1",
        }
    }

    fn other(self) -> Self {
        if self == Self::Socket { Self::Token } else { Self::Socket }
    }

    fn draw(random: &mut Random) -> Self {
        if random.below(3) == 0 { Self::Token } else { Self::Socket }
    }
}

/// The way in which a request names the earlier transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// By the till and reference of the earlier transaction.
    Reference,
    /// By the payment id at the gateway.
    Payment,
    /// By the card that the gateway stored.
    StoredCard,
}

/// An end of the agent's process.
#[derive(Clone, Copy, Debug)]
pub struct Kill {
    pub at: Moment,
    /// True if the agent is stopped with SIGTERM, as systemd does. It may then end the sale at the reader first.
    pub gently: bool,
}

impl Kill {
    pub fn by_force(at: Moment) -> Self {
        Self { at, gently: false }
    }
}

/// The moment of a kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// At this fraction of the transaction's (or the recovery's) duration, in thousandths.
    Life(u64),
    /// This many milliseconds after the till began to send its request.
    Begin(u64),
    /// The agent serves tills again after a restart.
    Serving,
    /// The gateway gets a connection.
    Connected,
    /// The gateway has read a look-up.
    Looked,
    /// The gateway has read a request for money (a payment, a capture, a reversal) but has not yet processed it.
    Asked,
    /// The gateway has carried out such a request but has not answered.
    Answering,
    /// The reader has read CONTINUE TRANSACTION.
    Continue,
    /// The first byte of a receipt is in transit to the printer.
    Paper,
    /// The agent tells the till that it waits for the card.
    ToldWaiting,
    /// The agent tells the till that it has asked the gateway.
    ToldProgress,
    /// The agent tells the till that it needs the signature.
    ToldSignature,
    /// The agent tells the till to confirm the approval.
    ToldConfirm,
    /// The agent tells the till that the outcome is unconfirmed.
    ToldUnconfirmed,
    /// The agent tells the till the outcome.
    ToldEnd,
}

const CHIPS: &[&str] = &["chip-no-cvm", "chip-no-cvm", "chip-pin", "chip-offline", "chip-scripts", "chip-refuses"];

/// The gateway's behaviour at a sale or a pre-authorisation, by its cents (`pos-sim gateway --help`). Each of them ends
/// without a person. With .64, .70 and .72 (not processed), the absence is final only after a day: see `settled` in
/// `till`.
const PAYMENT_CENTS: &[u64] = &[
    51, 55, 60, 60, 61, 61, 63, 64, 65, 66, 67, 69, 70, 71, 71, 72, 73, 75, 76, 77, 78, 79, 80, 81, 82, 85, 87, 88, 89,
    90, 91, 92, 95, 96,
];

/// The same for a capture or a refund. Behaviour that would never end (no answer each time) applies to one request
/// instead.
const LATER_CENTS: &[u64] = &[51, 61, 65, 66, 67, 71, 73, 78];

/// Cents of payments whose first reversal meets a fault that ends without a person.
const REVERSED_CENTS: &[u64] = &[10, 10, 85, 87, 88, 89, 90, 91, 92, 95, 96, 96];

const ONCE: &[Outcome] = &[
    Outcome::Silence { processed: false },
    Outcome::Cut { processed: false },
    Outcome::ServerError { processed: false },
    Outcome::Throttle,
];

/// The same faults, with a request that is carried out.
const ONCE_CARRIED_OUT: &[Outcome] = &[
    Outcome::Silence { processed: true },
    Outcome::Cut { processed: true },
    Outcome::ServerError { processed: true },
    Outcome::Garbage,
    Outcome::PendingThenApproved,
];

/// Kills at moments that other rounds reach only by chance. Every fourth round is for one of them, in turn, so a run of
/// three hundred rounds has each of them at each gateway. Each row has the chip card, the cents of the sale and the
/// kills. The cents are 0 or .71. With .71, the approval comes late, and after a kill before the answer the agent must
/// reverse it.
const RARE: [(&str, u64, &[Moment]); 12] = [
    ("chip-no-cvm", 0, &[Moment::ToldConfirm]),
    ("chip-no-cvm", 0, &[Moment::ToldConfirm, Moment::ToldConfirm]),
    ("chip-no-cvm", 0, &[Moment::Begin(0)]),
    ("chip-no-cvm", 0, &[Moment::Connected]),
    ("chip-no-cvm", 0, &[Moment::Continue]),
    ("chip-signature", 0, &[Moment::ToldSignature]),
    ("chip-no-cvm", 71, &[Moment::ToldUnconfirmed]),
    ("chip-no-cvm", 0, &[Moment::Connected]),
    ("chip-no-cvm", 0, &[Moment::Answering, Moment::Begin(1)]),
    ("chip-no-cvm", 0, &[Moment::Answering, Moment::Asked]),
    ("chip-no-cvm", 0, &[Moment::Answering, Moment::Answering]),
    ("chip-no-cvm", 0, &[Moment::Answering, Moment::ToldEnd]),
];

impl Plan {
    /// Draws the plan of a round. Its `euros` are even and belong only to this round, so its amounts identify it in the
    /// ledger.
    pub fn of_round(seed: u64, round: u64, euros: u64) -> Self {
        let random = &mut Random::of_round(seed, round);
        let turn = usize::try_from(round / 4).unwrap() % RARE.len();
        if round % 4 == 3 { Self::rare(random, RARE[turn], euros * 100) } else { Self::draw(random, euros) }
    }

    fn rare(random: &mut Random, (card, cents, kills): (&'static str, u64, &[Moment]), minor: u64) -> Self {
        let sale = payment(Kind::Sale, minor + cents, (card, CardEntry::Insert), random.below(3) > 0);
        let taken = kills.contains(&Moment::ToldConfirm).then(|| random.below(3) > 0);
        let sale = Wish { by: By::draw(random), taken, ..sale };
        let away = kills.iter().map(|_| random.below(4) == 0).collect();
        let twice = random.below(4) == 0;
        let kills = kills.iter().copied().map(Kill::by_force).collect();
        Self { deals: vec![sale], rival: None, victim: 0, kills, away, twice }
    }

    fn draw(random: &mut Random, euros: u64) -> Self {
        let mut deals = deals(random, euros * 100);
        let first = By::draw(random);
        for n in 0..deals.len() {
            // The socket may follow a transaction that a till with a token began.
            let by = deals[n].of.map_or(first, |of| deals[of].by);
            let is_later = deals[n].of.is_some();
            let deal = &mut deals[n];
            deal.by = if is_later && by == By::Token { By::draw(random) } else { by };
            if deal.of.is_some() && deal.named == Named::Reference && random.below(3) == 0 {
                deal.named = Named::Payment;
            }
        }
        let rival = rival(random, &deals);
        let victim = if random.below(6) == 0 { 0 } else { deals.len() - 1 };
        let signs = deals[victim].is_signed();
        let mut kills = vec![if signs && random.below(3) == 0 { Moment::ToldSignature } else { moment(random) }];
        while kills.len() < 3 && random.below(2) == 0 {
            kills.push(again(random));
        }
        let kills: Vec<_> = kills.into_iter().map(|at| Kill { at, gently: random.below(4) == 0 }).collect();
        let away = kills.iter().map(|_| random.below(4) == 0).collect();
        Self { deals, rival, victim, kills, away, twice: random.below(4) == 0 }
    }

    /// Returns a description for a person who repeats the round.
    pub fn told(&self) -> String {
        let deals: Vec<_> = self.deals.iter().map(Wish::told).collect();
        let rival = self.rival.as_ref().map_or_else(String::new, |rival| format!(", and at once {}", rival.told()));
        let twice = if self.twice { ", each asked twice at once" } else { "" };
        let (number, kills, away) = (self.victim + 1, &self.kills, &self.away);
        format!(
            "{}{rival}{twice}; killed in number {number} at {kills:?}, gateway away after it {away:?}",
            deals.join(", then ")
        )
    }
}

impl Wish {
    /// Returns whether the cardholder signs for this card.
    pub fn is_signed(&self) -> bool {
        self.card.is_some_and(|(name, _)| name == "swipe" || name == "chip-signature")
    }

    pub fn told(&self) -> String {
        let amount = self.amount.map_or_else(|| "of all".to_owned(), decimal);
        let card = self.card.map_or_else(String::new, |(name, entry)| format!(" with {name} ({entry:?})"));
        let of = self.of.map_or_else(String::new, |of| format!(" of number {} by {:?}", of + 1, self.named));
        let once = self.once.map_or_else(String::new, |once| format!(" (once: {once:?})"));
        let stores = if self.stores { " (the card is kept)" } else { "" };
        let refused = if self.signature { "" } else { " (signature refused)" };
        let taken = match self.taken {
            None => "",
            Some(true) => " (the till takes it)",
            Some(false) => " (the till does not take it)",
        };
        format!("{} {amount}{of}{card}{once}{stores}{refused}{taken} at {}", self.kind.as_str(), self.by.till())
    }

    /// Returns the key under which the duration of such a transaction is stored.
    pub fn like(&self) -> (&'static str, Option<&'static str>, u64) {
        (self.kind.as_str(), self.card.map(|(name, _)| name), self.amount.unwrap_or_default() % 100)
    }
}

fn deals(random: &mut Random, minor: u64) -> Vec<Wish> {
    let approved = |random: &mut Random, kind| payment(kind, minor + random.below(50), a_card(random), true);
    match random.below(34) {
        kind @ 0..=5 => {
            let card =
                if kind == 5 { ("chip-signature", CardEntry::Insert) } else { (*random.of(CHIPS), CardEntry::Insert) };
            vec![payment(Kind::Sale, minor + cents(random), card, random.below(3) > 0)]
        }
        6..=8 => {
            let card = (*random.of(&["tap", "tap", "tap-pin"]), CardEntry::Tap);
            vec![payment(Kind::Sale, minor + cents(random), card, true)]
        }
        9 | 10 => {
            let card = (*random.of(&["swipe", "swipe-pin"]), CardEntry::Swipe);
            vec![payment(Kind::Sale, minor + cents(random), card, random.below(3) > 0)]
        }
        11 => vec![payment(Kind::PreAuthorisation, minor + cents(random), a_card(random), true)],
        12..=14 => {
            let first = approved(random, Kind::PreAuthorisation);
            vec![first, later(random, Kind::Capture, minor / 2)]
        }
        15..=17 => {
            let first = approved(random, Kind::Sale);
            vec![first, later(random, Kind::Refund, minor / 2)]
        }
        18..=20 => {
            let amount = minor + *random.of(REVERSED_CENTS);
            let kind = *random.of(&[Kind::Sale, Kind::PreAuthorisation]);
            let first = payment(kind, amount, a_card(random), true);
            vec![first, Wish { amount: None, ..follow(Kind::Reversal, 0) }]
        }
        21..=23 => {
            let first = approved(random, Kind::PreAuthorisation);
            let more = later(random, Kind::Increment, minor / 5 * 2);
            // The capture is for the whole reserved amount, in any state of the increment, or for the amount that was
            // reserved first.
            let amount = if random.below(2) == 0 { None } else { Some(minor / 2) };
            vec![first, more, Wish { amount, ..follow(Kind::Capture, 0) }]
        }
        24 | 25 => {
            let first = approved(random, Kind::PreAuthorisation);
            let capture = Wish { amount: Some(minor / 2), ..follow(Kind::Capture, 0) };
            let back = if random.below(3) == 0 { Kind::Reversal } else { Kind::Refund };
            let amount = (back == Kind::Refund).then(|| minor / 400 * 100 + random.below(50));
            vec![first, capture, Wish { amount, ..follow(back, 1) }]
        }
        26..=28 => {
            let credit = approved(random, Kind::Credit);
            let Wish { amount, once, .. } = later(random, Kind::Credit, minor);
            vec![Wish { amount, once, ..credit }]
        }
        // The card refuses the host's approval. The agent reverses it automatically, and the reversal meets a fault.
        29 | 30 => {
            let amount = minor + *random.of(REVERSED_CENTS);
            vec![payment(Kind::Sale, amount, ("chip-refuses", CardEntry::Insert), true)]
        }
        _ => {
            let first = Wish { stores: true, ..approved(random, Kind::Sale) };
            // No other round uses these amounts. They exceed all first amounts, and their halves are below all halves
            // of first amounts.
            let again = Wish { named: Named::StoredCard, ..later(random, Kind::ByRegistration, minor / 2 * 3) };
            vec![first, again]
        }
    }
}

/// Draws the other till's request for the same earlier transaction, with a different kind or amount.
fn rival(random: &mut Random, deals: &[Wish]) -> Option<Wish> {
    let [first, .., last] = deals else { return None };
    if last.of != Some(0) || random.below(4) == 0 {
        return None;
    }
    let all = if first.kind == Kind::Sale { Kind::Refund } else { Kind::Capture };
    let kind = match last.kind {
        Kind::Reversal => all,
        Kind::Refund | Kind::Capture if last.amount.is_some() => *random.of(&[all, Kind::Reversal]),
        Kind::Capture => Kind::Reversal,
        _ => return None,
    };
    let amount = first.amount.filter(|_| kind == all);
    let named = *random.of(&[Named::Reference, Named::Payment]);
    Some(Wish { by: last.by.other(), named, amount, ..follow(kind, 0) })
}

fn payment(kind: Kind, amount: u64, card: (&'static str, CardEntry), signature: bool) -> Wish {
    Wish {
        kind,
        by: By::Socket,
        of: None,
        named: Named::Reference,
        stores: false,
        amount: Some(amount),
        card: Some(card),
        once: None,
        signature,
        taken: None,
    }
}

fn follow(kind: Kind, of: usize) -> Wish {
    Wish { of: Some(of), card: None, ..payment(kind, 0, ("", CardEntry::Insert), true) }
}

/// Draws a follow-up transaction for a part of the round's first payment.
fn later(random: &mut Random, kind: Kind, minor: u64) -> Wish {
    let (cents, once) = match random.below(8) {
        0..=2 => (random.below(50), None),
        3 | 4 => (random.below(50), Some(*random.of(ONCE))),
        _ => (*random.of(LATER_CENTS), None),
    };
    // An increment's amount is captured with the rest, so its cents would choose the outcome of the capture.
    let (cents, once) = match (kind, once) {
        (Kind::Increment, None) if cents >= 50 => (0, Some(*random.of(ONCE_CARRIED_OUT))),
        (Kind::Increment, once) => (0, once),
        _ => (cents, once),
    };
    Wish { amount: Some(minor / 100 * 100 + cents), once, ..follow(kind, 0) }
}

/// Draws a card whose sale is approved without a person at the counter.
fn a_card(random: &mut Random) -> (&'static str, CardEntry) {
    *random.of(&[("chip-no-cvm", CardEntry::Insert), ("tap", CardEntry::Tap)])
}

fn cents(random: &mut Random) -> u64 {
    if random.below(5) < 2 { random.below(50) } else { *random.of(PAYMENT_CENTS) }
}

fn moment(random: &mut Random) -> Moment {
    match random.below(24) {
        0..=6 => Moment::Life(random.below(1100)),
        7 => Moment::Begin(random.below(5)),
        8 | 9 => Moment::Connected,
        10 | 11 => Moment::ToldWaiting,
        12 | 13 => Moment::Asked,
        14 | 15 => Moment::Answering,
        16 | 17 => Moment::Continue,
        18 => Moment::Paper,
        19 => Moment::ToldProgress,
        20 | 21 => Moment::ToldUnconfirmed,
        _ => Moment::ToldEnd,
    }
}

/// Draws a moment during the recovery.
fn again(random: &mut Random) -> Moment {
    match random.below(14) {
        0..=3 => Moment::Life(random.below(1100)),
        4 => Moment::Connected,
        5 | 6 => Moment::Serving,
        7 | 8 => Moment::Looked,
        9 | 10 => Moment::Asked,
        11 | 12 => Moment::Answering,
        _ => Moment::ToldEnd,
    }
}

/// Formats an amount as a till writes it.
pub fn decimal(minor: u64) -> String {
    format!("{}.{:02}", minor / 100, minor % 100)
}

/// Returns the minor units of an amount from the gateway, a till or a receipt.
pub fn minor(text: &str) -> u64 {
    text.replace('.', "").parse().unwrap()
}

/// SplitMix64, a pseudo-random number generator.
pub struct Random(pub u64);

impl Random {
    /// Returns the random numbers of one round, which are independent of other rounds.
    pub fn of_round(seed: u64, round: u64) -> Self {
        let mut mixed = Self(seed ^ round.wrapping_mul(0xD1B5_4A32_D192_ED03));
        mixed.below(2);
        mixed
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    pub fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[usize::try_from(self.below(list.len() as u64)).unwrap()]
    }
}
