//! The whole chain, with real programs only: a till's library, `pos-fleet tills`, the database, `pos-fleet desk`, the
//! broker, `pos-uplink` and `pos-agent`. The ledger of the simulated bank decides who is right.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, UNIX_EPOCH};

use pos_broker::tls::Own;
use pos_fleet::ca::Ca;
use pos_fleet_terms::KeyKind;
use pos_test_kit::free_port;
use serde_json::{Value, json};

use crate::agents::{Agent, TAP_AGAIN};
use crate::desk::{Place, wall};
use crate::library::{Library, Said};
use crate::process::{now, until};
use crate::server::{ORG, TillsProgram};
use crate::steered::{nonce, steered};

const LIMIT: Duration = Duration::from_secs(90);
const TERMINAL: &str = "shop-1";
const LOOK: Duration = Duration::from_millis(10);
/// The uplink looks at its agent each 10 s.
const LOOKS: Duration = Duration::from_secs(12);

/// A shop with its fleet, and a till that is somewhere else.
struct Chain {
    till: Library,
    tills: TillsProgram,
    agent: Agent,
    place: Place,
}

/// What a till gets of the server.
struct Access {
    url: String,
    token: String,
    ca: PathBuf,
}

/// The customer at a terminal. A card is presented as soon as the reader asks for one.
#[derive(Default)]
struct Customer {
    tapped: Option<Instant>,
    /// The system's clock when the reader asked for the first time, and when the card was tapped, in seconds.
    asked_at: Option<f64>,
    tapped_at: Option<f64>,
}

/// Who dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Tills,
    Desk,
    Uplink,
    Broker,
    Agent,
    Database,
}

/// When it dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// The command is in the database.
    Given,
    /// The reader asks for a card.
    Asks,
    /// The card was tapped, and the bank has not answered.
    Pays,
}

const VICTIMS: [Victim; 6] =
    [Victim::Tills, Victim::Desk, Victim::Database, Victim::Uplink, Victim::Broker, Victim::Agent];

fn seconds() -> f64 {
    wall().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

/// Starts the port of cloud tills, and makes a token for it.
fn tills(place: &Place) -> (TillsProgram, Access) {
    let path = |name: &str| place.pki.folder().join(name);
    let own = |name: &str| (path(&format!("{name}.pem")), path(&format!("{name}-key.pem")));
    let (ca, ca_key) = own("tills-ca");
    let authority = Ca::create(Own { certificate: &ca, key: &ca_key }, &path("tills-crl.pem"), wall(), false).unwrap();
    let (certificate, key) = own("tills");
    let names = ["localhost".to_owned()];
    authority.server(Own { certificate: &certificate, key: &key }, &names, 800, wall(), false).unwrap();
    place.key("web", KeyKind::Till);
    let config = path("tills.toml");
    let port = free_port();
    let text = format!(
        "org = \"{ORG}\"\n[database]\nurl = \"{}\"\n[tills]\nlisten = \"127.0.0.1:{port}\"\ncertificate = \"{}\"\n\
         key-file = \"{}\"\n[[tills.key]]\ntill = \"web\"\nfile = \"{}\"\n",
        place.cluster.url(),
        certificate.display(),
        key.display(),
        place.key_file("web").display(),
    );
    fs::write(&config, text).unwrap();
    let made = Command::new(env!("CARGO_BIN_EXE_pos-fleet"))
        .args(["till-token", "new", "web", "--terminals", TERMINAL, "--by", "anna", "--config"])
        .arg(&config)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let token = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    let url = format!("https://localhost:{port}/terminals/{TERMINAL}/");
    (TillsProgram::start(config, port), Access { url, token, ca })
}

impl Chain {
    /// Starts all, with the library that this function starts.
    async fn start(library: fn(&str, &str, &Path) -> Library) -> Self {
        let place = Place::start().await;
        let agent = steered(&place, TERMINAL);
        let (tills, Access { url, token, ca }) = tills(&place);
        let till = library(&url, &token, &ca);
        nonce(&place, TERMINAL, "-").await;
        Self { till, tills, agent, place }
    }

    /// Begins a sale.
    fn sell(&mut self, amount: &str, reference: &str, mut more: Value) -> u64 {
        more["reference"] = json!(reference);
        self.till.call("sell", &[amount], more)
    }

    /// Waits until the reader asks for a card.
    fn asks_for_a_card(&self) {
        until("request for a card", LIMIT, || self.agent.asks_for_a_card().then_some(()));
    }

    /// Does the same for a sale. A till that hears that nothing was begun asks again.
    fn asks_for_the_card_of(&mut self, call: &mut u64, reference: &str, heard: &mut Vec<String>) {
        let end = now() + LIMIT;
        while !self.agent.asks_for_a_card() {
            if let Some(said) = self.till.said_within(*call, LOOK) {
                *call = self.again(reference, &said, heard);
            }
            assert!(now() < end, "{reference}: no card is asked for: {heard:?} {}", self.logs());
        }
    }

    /// Asks again after an error.
    fn again(&mut self, reference: &str, said: &Said, heard: &mut Vec<String>) -> u64 {
        let error = said.what.as_ref().expect_err("the till asks again after an error only");
        heard.push(format!("{} {}", error["error"], error["text"]));
        self.sell("12.34", reference, json!({ "repeat": true }))
    }

    /// Waits for the end of a call, while the customer presents a card as soon as the reader asks for one.
    fn with_card(&mut self, call: u64, customer: &mut Customer) -> Said {
        let end = now() + LIMIT + LIMIT;
        loop {
            if let Some(said) = self.till.said_within(call, LOOK) {
                return said;
            }
            assert!(now() < end, "the call {call} does not end: {}", self.logs());
            let may_tap = customer.tapped.is_none_or(|at| at.elapsed() > TAP_AGAIN);
            if may_tap && self.agent.asks_for_a_card() {
                customer.asked_at.get_or_insert_with(seconds);
                self.agent.tap();
                customer.tapped = Some(now());
                customer.tapped_at = Some(seconds());
            }
        }
    }

    /// Sells something to a customer with a card.
    fn sold(&mut self, amount: &str, reference: &str, more: Value) -> Said {
        let call = self.sell(amount, reference, more);
        self.with_card(call, &mut Customer::default())
    }

    fn show(&mut self, reference: &str) -> Said {
        let call = self.till.call("show", &[reference], json!({}));
        self.till.said(call)
    }

    /// Asks until a transaction has an outcome. The TypeScript library leaves this to the till.
    fn settled(&mut self, reference: &str) -> String {
        until("outcome", LIMIT, || {
            Some(self.show(reference).outcome().to_owned()).filter(|outcome| !outcome.is_empty())
        })
    }

    /// Kills a program as a power cut does, and starts it again.
    fn kill(&mut self, victim: Victim) {
        match victim {
            Victim::Tills => {
                self.tills.kill();
                self.tills.again();
            }
            Victim::Desk => {
                self.place.desk.kill();
                self.place.desk.again();
            }
            Victim::Database => self.place.cluster.restart(),
            Victim::Uplink => self.agent.uplink_dies(),
            Victim::Broker => self.place.broker.lose_everything(),
            Victim::Agent => {
                self.agent.agent_dies();
                self.agent.agent_again();
            }
        }
    }

    fn logs(&self) -> String {
        self.agent.said() + &self.place.desk.said() + &self.place.consumer.said() + &self.tills.said()
    }
}

#[tokio::test]
#[ignore = "needs mosquitto and postgresql, and httpx in POS_FLEET_PYTHON: bash .ci/run fleet"]
async fn the_python_library_sells_at_a_terminal_in_a_shop() {
    sells(Chain::start(Library::python).await, "AlreadyKnown");
}

#[tokio::test]
#[ignore = "needs mosquitto and postgresql, and the built library in POS_FLEET_TYPESCRIPT: bash .ci/run fleet"]
async fn the_typescript_library_sells_at_a_terminal_in_a_shop() {
    sells(Chain::start(Library::typescript).await, "ReferenceUsed");
}

/// Plays a till's day. `already_known` is the library's word for a reference that is another sale's.
fn sells(mut chain: Chain, already_known: &str) {
    // An approved sale, and the same reference again: one payment.
    let sold = chain.sold("12.34", "order-1", json!({}));
    let sale = sold.what.clone().unwrap();
    assert_eq!((sold.outcome(), &sale["till"], &sale["replayed"]), ("approved", &json!("web"), &json!(false)));
    assert_eq!(chain.agent.charged(), 1);
    let again = chain.sold("12.34", "order-1", json!({ "repeat": true })).what.unwrap();
    assert_eq!((&again["outcome"], &again["number"]), (&json!("approved"), &sale["number"]));
    let known = chain.sold("12.34", "order-1", json!({})).what.unwrap_err();
    assert_eq!(known["error"], already_known, "{known}");
    let other = chain.sold("12.35", "order-1", json!({ "repeat": true })).what.unwrap_err();
    assert_eq!(other["code"], "amount-differs", "{other}");
    assert_eq!(chain.agent.charged(), 1);
    // The cashier and the journal learn who asked.
    assert!(chain.agent.journal_text().contains("cloud till web"));

    // A decline.
    assert_eq!(chain.sold("5.51", "order-2", json!({})).outcome(), "declined");
    assert_eq!(chain.agent.charged(), 1);

    // A sale that the till confirms, and one that it does not take.
    let kept = chain.sold("20.00", "order-3", json!({ "taken": true, "on_silence": "keep" }));
    assert_eq!(kept.outcome(), "approved", "{kept:?}");
    assert_eq!(chain.agent.charged(), 2);
    let left = chain.sold("20.00", "order-4", json!({ "taken": false, "on_silence": "reverse" }));
    assert!(["", "reversed"].contains(&left.outcome()), "{left:?}");
    assert_eq!(chain.settled("order-4"), "reversed");
    assert_eq!(chain.agent.charged(), 2);

    // A cancel while the reader waits for a card. The sale's own call hears it too.
    let selling = chain.sell("7.00", "order-5", json!({}));
    chain.asks_for_a_card();
    let cancel = chain.till.call("cancel", &["order-5"], json!({}));
    let cancelled = chain.till.said(cancel).what.unwrap();
    assert_eq!((&cancelled["cancel"], &cancelled["outcome"]), (&json!("in-time"), &json!("cancelled")));
    assert_eq!(chain.till.said(selling).outcome(), "cancelled");
    let late = chain.till.call("cancel", &["order-1"], json!({}));
    let late = chain.till.said(late).what.unwrap();
    assert_eq!((&late["cancel"], &late["outcome"]), (&json!("too-late"), &json!("approved")));
    assert_eq!(chain.agent.charged(), 2);

    // A wait hears of the end at once.
    let selling = chain.sell("8.00", "order-6", json!({}));
    chain.asks_for_a_card();
    let waiting = chain.till.call("show", &["order-6"], json!({ "wait_s": 60 }));
    assert!(chain.till.said_within(waiting, Duration::from_secs(1)).is_none(), "nothing has ended yet");
    let sold = chain.with_card(selling, &mut Customer::default());
    let waited = chain.till.said(waiting);
    assert_eq!((sold.outcome(), waited.outcome()), ("approved", "approved"));
    let longest = Duration::from_secs(2);
    let apart = Duration::from_secs_f64(waited.ended).abs_diff(Duration::from_secs_f64(sold.ended));
    assert!(apart < longest, "{waited:?} {sold:?}");
    assert_eq!(chain.agent.charged(), 3);

    // What a cloud till may not do is refused by the terminal itself.
    let refund = chain.till.call("refund", &["order-6"], json!({ "reference": "order-7" }));
    let refused = chain.till.said(refund).what.unwrap_err();
    assert_eq!(refused["code"], "forbidden", "{refused}");
    assert_eq!(chain.agent.charged(), 3);
    let said = chain.logs();
    assert!(!said.contains("panicked"), "{said}");
}

#[tokio::test]
#[ignore = "needs mosquitto and postgresql, and httpx in POS_FLEET_PYTHON: bash .ci/run fleet"]
async fn whoever_dies_between_till_and_terminal_the_till_hears_what_the_bank_has_charged_once() {
    let mut chain = Chain::start(Library::python).await;
    let mut before = String::new();
    for victim in VICTIMS {
        for moment in [Moment::Given, Moment::Asks, Moment::Pays] {
            let case = format!("{victim:?} at {moment:?}");
            let reference = format!("{victim:?}-{moment:?}");
            before = nonce(&chain.place, TERMINAL, &before).await;
            let charged = chain.agent.charged();
            let begun = now();
            let mut heard = Vec::new();
            let mut call = chain.sell("12.34", &reference, json!({}));
            match moment {
                Moment::Given => {
                    let given = format!("select count(*) from command where reference = '{reference}'");
                    until("command", LIMIT, || (chain.place.cluster.number(&given) > 0).then_some(()));
                }
                Moment::Asks => chain.asks_for_the_card_of(&mut call, &reference, &mut heard),
                Moment::Pays => {
                    chain.asks_for_the_card_of(&mut call, &reference, &mut heard);
                    chain.agent.slow_bank(Duration::from_secs(2));
                    assert!(chain.agent.tap_when_asked(LIMIT), "{case}");
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
            }
            chain.kill(victim);
            chain.agent.slow_bank(Duration::ZERO);
            // A till that hears no outcome asks again with the same reference.
            let mut customer = Customer::default();
            let said = loop {
                let said = chain.with_card(call, &mut customer);
                if said.what.is_ok() {
                    break said;
                }
                call = chain.again(&reference, &said, &mut heard);
                assert!(begun.elapsed() < LIMIT, "{case}: {heard:?} {}", chain.logs());
            };
            let took = begun.elapsed();
            let outcome = said.outcome().to_owned();
            let now_charged = chain.agent.charged() - charged;
            println!("{case}: {outcome} after {took:.1?} and {heard:?}; the bank has charged {now_charged}");
            assert_eq!(now_charged, usize::from(outcome == "approved"), "{case}: {said:?}");
            if victim != Victim::Agent {
                assert_eq!(outcome, "approved", "{case}: {said:?}");
            }
            // A later question hears the same, and nothing is charged again.
            assert_eq!(chain.show(&reference).outcome(), outcome, "{case}");
            assert_eq!(chain.sold("12.34", &reference, json!({ "repeat": true })).outcome(), outcome, "{case}");
            assert_eq!(chain.agent.charged() - charged, now_charged, "{case}");
            if matches!(victim, Victim::Tills | Victim::Desk | Victim::Database) {
                // The terminal's connection is the same, and so is its nonce.
                before.clear();
            }
        }
    }
    // The agent has begun one connection since its last death, which holds: a second one would refuse sales.
    let begun = nonce(&chain.place, TERMINAL, &before).await;
    let end = now() + LOOKS;
    for at in 0.. {
        let sold = chain.sold("12.34", &format!("at-the-end-{at}"), json!({}));
        assert_eq!(sold.outcome(), "approved", "{sold:?}");
        if now() > end {
            break;
        }
    }
    assert_eq!(nonce(&chain.place, TERMINAL, "-").await, begun);
    let said = chain.logs();
    assert!(!said.contains("panicked"), "{said}");
}

/// The sales whose time is measured.
const MEASURED: usize = 7;

#[tokio::test]
#[ignore = "needs mosquitto and postgresql, and httpx in POS_FLEET_PYTHON: bash .ci/run fleet"]
async fn a_sale_through_the_fleet_takes_little_longer_than_one_in_the_shop() {
    let mut chain = Chain::start(Library::python).await;
    let mut far = Vec::new();
    for at in 0..MEASURED {
        let mut customer = Customer::default();
        let call = chain.sell("12.34", &format!("far-{at}"), json!({}));
        let said = chain.with_card(call, &mut customer);
        assert_eq!(said.outcome(), "approved", "{said:?}");
        far.push([customer.asked_at.unwrap() - said.begun, said.ended - customer.tapped_at.unwrap()]);
    }
    let mut near = Vec::new();
    for _ in 0..MEASURED {
        near.push(chain.agent.sell_timed());
    }
    let median = |times: &[[f64; 2]], part: usize| {
        let mut times: Vec<f64> = times.iter().map(|time| time[part]).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let [far_asks, far_ends, near_asks, near_ends] =
        [median(&far, 0), median(&far, 1), median(&near, 0), median(&near, 1)];
    let longest = far.iter().map(|[asks, ends]| asks + ends).fold(0.0, f64::max);
    println!(
        "median of {MEASURED} sales: from the call to the reader's question {far_asks:.3} s, from the card to the \
         answer {far_ends:.3} s; longest together {longest:.3} s; in the shop {near_asks:.3} s and {near_ends:.3} s"
    );
    // A customer at the terminal does not wait longer than for a slow bank.
    assert!(far_asks + far_ends < 3.0, "{far:?}");
}
