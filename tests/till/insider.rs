//! An insider with many pairs of commands. The insider sends a supervisor's approval for one command with a different
//! command. The commands differ in kind, earlier transaction, amount, reference, tip, operator or interface. The
//! insider also sends an approval again after its use, and after a restart. `POS_AGENT_SEED=N` draws other pairs.
//!
//! The gateway's ledger decides: the supervisor has approved every amount that was paid out, and each approval was used
//! once.

use serde_json::{Value, json};

use crate::operators::{ANNA, Asked, BEN, TestTill, staffed};
use crate::supervisors::{CARL, asked_for, given, sold};

/// The number of approvals. The next constant is the number of attempts to misuse each approval.
const WORDS: u64 = 16;
const USES: u64 = 24;
/// The setting that requires a supervisor's approval for every sale and refund.
const ABOVE: &str = "supervisor-above = { sale = \"any\", refund = \"any\" }\n";

/// A requested transaction. Two equal values are the same command.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Act {
    kind: &'static str,
    /// The index of the earlier payment that a refund refers to.
    of: usize,
    minor: u64,
    reference: String,
    asks_tip: bool,
    who: Sender,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    /// Anna at the till that requested the approval.
    Anna,
    Carl,
    /// Anna at another interface.
    Elsewhere,
}

impl Act {
    fn draw(dice: &mut Dice, reference: String) -> Self {
        let kind = *dice.of(&["refund", "refund", "sale"]);
        Self { kind, reference, ..Self::refund(dice) }.in_order()
    }

    fn refund(dice: &mut Dice) -> Self {
        let (of, minor) = (*dice.of(&[0, 1]), 20 + dice.below(4));
        Self { kind: "refund", of, minor, reference: String::new(), asks_tip: dice.below(3) == 0, who: Sender::Anna }
    }

    /// Removes the properties that the kind does not allow: a refund has no tip, and a sale refers to no payment.
    fn in_order(self) -> Self {
        let is_refund = self.kind == "refund";
        Self { asks_tip: self.asks_tip && !is_refund, of: if is_refund { self.of } else { 0 }, ..self }
    }

    /// Draws another command, which differs in one property or in all.
    fn other(&self, dice: &mut Dice) -> Self {
        loop {
            let (mut other, elsewhere) = (self.clone(), format!("{}-{}", self.reference, dice.below(100)));
            match dice.below(8) {
                0 => other.kind = if self.kind == "sale" { "refund" } else { "sale" },
                1 => other.of = 1 - self.of,
                2 => other.minor = *dice.of(&[self.minor - 1, self.minor + 1, 9_000]),
                3 => other.reference.clone_from(&elsewhere),
                4 => other.asks_tip = !self.asks_tip,
                5 => other.who = Sender::Carl,
                6 => other.who = Sender::Elsewhere,
                _ => other = Self::draw(dice, elsewhere),
            }
            let other = other.in_order();
            if other != *self {
                return other;
            }
        }
    }

    /// Returns the request, which identifies its payment in one of several ways. At another interface, the till's own
    /// reference would name another till's sale.
    fn body(&self, dice: &mut Dice, payments: &[Value]) -> Value {
        let amount = format!("{}.{:02}", self.minor / 100, self.minor % 100);
        let mut body = json!({ "kind": self.kind, "reference": self.reference, "amount": amount });
        if self.kind == "refund" {
            let (name, value) = match dice.below(3) {
                0 if self.who != Sender::Elsewhere => ("of", &payments[self.of]["reference"]),
                1 => ("payment", &payments[self.of]["paymentId"]),
                _ => ("number", &payments[self.of]["number"]),
            };
            body[name] = value.clone();
        }
        if self.asks_tip {
            body["tip"] = "ask".into();
        }
        body
    }
}

/// All callers that could send the command with the approval.
struct Senders {
    anna: TestTill,
    carl: TestTill,
    elsewhere: TestTill,
}

impl Senders {
    async fn signed_in(root: &TestTill, till: &TestTill) -> Self {
        let (anna, carl) = (till.signed_in(ANNA).await, till.signed_in(CARL).await);
        Self { anna, carl, elsewhere: root.signed_in(ANNA).await }
    }

    async fn send(&self, word: &TestTill, act: &Act, body: Value) -> Asked {
        let till = match act.who {
            Sender::Anna => &self.anna,
            Sender::Carl => &self.carl,
            Sender::Elsewhere => &self.elsewhere,
        };
        till.with_word_of(word).post("/v1/sales", body).await
    }
}

#[tokio::test]
async fn of_all_that_an_insider_tries_with_a_word_nothing_leaves_the_bank_but_what_was_confirmed() {
    let seed = std::env::var("POS_AGENT_SEED").map_or(1, |seed| seed.parse().unwrap());
    let dice = &mut Dice(seed);
    let (mut counter, root, till) = staffed(ABOVE).await;
    root.add(CARL, "cashier").await;
    let mut senders = Senders::signed_in(&root, &till).await;
    let ben = till.signed_in(BEN).await;
    let mut payments = Vec::new();
    for reference in ["one", "two"] {
        payments.push(sold(&counter, &ben, reference, "90.00").await);
    }
    let (mut tried, mut refused, mut confirmed) = (0, 0, Vec::new());
    let mut violations = Vec::new();
    let mut must_be_refused = |act: &Act, why: &str, sent: &Asked| {
        tried += 1;
        match (sent.status, sent.code()) {
            // The second pattern: the amount exceeds the rest of the payment.
            (403, "not-approved") | (422, "not-possible" | "amount") => refused += 1,
            _ => violations.push(format!("{why}: {act:?}: {} {}", sent.status, sent.body)),
        }
    };
    for round in 0..WORDS {
        let act = Act::draw(dice, format!("r-{round}"));
        let answer = asked_for(&senders.anna, act.body(dice, &payments)).await;
        assert_eq!(answer.status, 201, "{act:?}: {}", answer.body);
        let word = senders.anna.with_word(&answer);
        for _ in 0..USES {
            let other = act.other(dice);
            let sent = senders.send(&word, &other, other.body(dice, &payments)).await;
            must_be_refused(&other, &format!("given for {act:?}"), &sent);
        }
        if round % 8 == 7 {
            counter.stop_agent().await;
            counter.start_agent();
            counter.until_ready().await;
            let (root, till) = (TestTill::socket(&counter), TestTill::till(&counter).await);
            senders = Senders::signed_in(&root, &till).await;
            let sent = senders.send(&word, &act, act.body(dice, &payments)).await;
            must_be_refused(&act, "after a restart", &sent);
            continue;
        }
        let done = senders.send(&word, &act, act.body(dice, &payments)).await;
        assert_eq!((done.status, &done.body["by"]["supervisor"]), (201, &json!("Ben")), "{act:?}: {}", done.body);
        if act.kind == "refund" {
            senders.anna.ended(&act.reference).await;
            let payment = payments[act.of]["paymentId"].as_str().map(str::to_owned);
            confirmed.push((format!("0.{}", act.minor), payment));
        } else {
            senders.anna.cancelled(&act.reference).await;
            counter.until_ready().await;
        }
        let again = Act { reference: format!("{}-again", act.reference), ..act };
        let sent = senders.send(&word, &again, again.body(dice, &payments)).await;
        must_be_refused(&again, "once more", &sent);
    }
    println!(
        "seed {seed}: words {WORDS}, used for something else {tried}, refused {refused}, refunds confirmed {}, violations {}",
        confirmed.len(),
        violations.len()
    );
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    assert_eq!(given(&counter), confirmed);
    assert_eq!((tried, counter.charged().len()), (WORDS * (USES + 1), payments.len()), "no sale was charged");
}

/// SplitMix64, a pseudo-random number generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[usize::try_from(self.below(list.len() as u64)).unwrap()]
    }
}
