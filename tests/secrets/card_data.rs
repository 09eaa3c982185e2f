//! Data of the cardholder or the shop that must not appear in any output: logs at any level, files, paper, answers to
//! tills, `Debug` output (design: invariant 7; security: 3.1).
//!
//! The forbidden data is what the reader sealed and sent on its connection: each SRED block, PIN block and key serial
//! number of each sale. Other forbidden data is each test card's number, tracks and holder, and the tokens. The tests
//! search for all of it in every way in which bytes can be written in a text. A masked card number (first six digits,
//! last four) is permitted.

use pos_terms::transaction::{OutcomeWord, SaleNumber};
use std::os::unix::fs::MetadataExt;
use std::sync::LazyLock;

use crate::counter::{self, Counter, ended};
use crate::leak::{self, Kept, Secret};
use crate::log::LOG;
use crate::overheard::Overheard;
use pos_agent::till::SaleState;
use pos_reader::card_read::for_host;
use pos_reader::family::Family as _;
use pos_reader::miura::MiuraSettings;
use pos_reader_link::apdu_link::{Decoder, Received};
use pos_sim::reader::CardEntry::{self, Insert, Swipe, Tap};
use pos_sim::reader::deck::DECK;
use pos_sim::shop::{Options, TILL_TOKEN};
use pos_terms::card::{CardFacts, EntryMode, FirstAnswer, Presented, SealedCard, SealedPin, Wiped};
use pos_terms::emv::tlv;
use pos_test_kit::within;

/// A way to pay: the card, the way of presenting it, the amount whose cents choose the gateway's behaviour, and the
/// reader's script.
type Transaction = (&'static str, CardEntry, &'static str, &'static str);

/// Every kind of card with every way of presenting it.
const SALES: &[Transaction] = &[
    ("chip-pin", Insert, "12.34", ""),
    ("chip-no-cvm", Insert, "10.51", ""),
    ("chip-refuses", Insert, "12.34", ""),
    ("chip-declines", Insert, "12.34", ""),
    ("chip-choice", Insert, "12.34", ""),
    ("chip-broken", Insert, "12.34", ""),
    ("chip-offline-pin", Insert, "12.34", ""),
    ("pan-19", Insert, "12.34", ""),
    ("debit", Insert, "10.76", ""),
    ("tap", Tap, "12.34", ""),
    ("tap-pin", Tap, "12.34", ""),
    ("tap-magstripe", Tap, "12.34", ""),
    ("swipe", Swipe, "12.34", ""),
    ("swipe-pin", Swipe, "12.34", ""),
];

/// Faults whose error messages could contain too much.
const TROUBLE: &[Transaction] = &[
    ("chip-pin", Insert, "10.63", ""),
    ("tap-pin", Tap, "10.66", ""),
    ("swipe-pin", Swipe, "10.73", ""),
    ("chip-pin", Insert, "10.77", ""),
    ("tap", Tap, "10.69", ""),
    ("tap-pin", Tap, "10.71", ""),
    // The reader signs another amount, or its connection is faulty.
    ("chip-pin", Insert, "12.34", "on start: amount 1"),
    ("chip-pin", Insert, "12.34", "on answer 1: spoil"),
    ("tap-pin", Tap, "12.34", "on asked 1: garbage 300"),
];

/// Typed card numbers with 13, 15, 16 and 19 digits, each with a valid check digit.
const TYPED: &[&str] = &["4222222222222", "374245001751006", "4111111111111111", "6799998900000074316"];

#[test]
fn every_way_to_write_bytes_is_found() {
    for pan in TYPED {
        let secret = Secret::text("a card number", pan);
        for text in leak::writings(pan.as_bytes()).into_iter().chain(leak::groupings(pan)) {
            let line = format!("INFO reader: 17 bytes: {text}, done in 12 ms");
            assert!(Kept::new("a line", line.as_bytes()).shows(&secret).is_some(), "{line}");
        }
        let masked = format!("{}{}{}", &pan[..6], "*".repeat(pan.len() - 10), &pan[pan.len() - 4..]);
        assert_eq!(Kept::new("a line", masked.as_bytes()).shows(&secret), None, "{masked}");
    }
    let block = [0x1B, 0x9C, 0x18, 0x45, 0xEB, 0x99, 0x3A, 0x7A];
    for text in leak::writings(&block) {
        let line = format!("block {text}.");
        assert!(Kept::new("a line", line.as_bytes()).shows(&Secret::bytes("a PIN block", &block)).is_some(), "{line}");
    }
    let other = Kept::new("a line", b"sale 17, 4761 ms, [27, 156, 24, 70, 235], 1B9C1844EB993A7A");
    assert_eq!(other.shows(&Secret::bytes("a PIN block", &block)), None);
}

#[test]
fn what_holds_card_data_shows_none_of_it() {
    let (sealed, ksn, block) =
        (*b"sealed card data", [0xA7, 0x31, 0x5C, 0x99, 0x10, 0x22, 0x4D, 0xE0, 0x00, 0x01], [0x5B; 8]);
    let pan = "4761739001010119";
    let wiped = |bytes: &[u8]| Wiped::copy_of(bytes).unwrap();
    let presented = Presented {
        facts: CardFacts::from_tlvs(EntryMode::Icc, pos_terms::card::MaskedPan::new(pan), &[]).unwrap(),
        card: SealedCard { data: wiped(&sealed), ksn: Wiped::copy_of(&ksn).unwrap() },
        pin: Some(SealedPin { block: Wiped::copy_of(&block).unwrap(), ksn: Wiped::copy_of(&ksn).unwrap() }),
        icc: wiped(&sealed),
        first_answer: FirstAnswer::GoOnline,
    };
    let tlvs = hex::decode("5A08476173900101011957114761739001010119D25122011234567890").unwrap();
    let mut said = String::new();
    for object in tlv::walk(&tlvs) {
        said.push_str(&format!("{object:?} {object:#?}\n"));
    }
    let message = [vec![0x01, 0x00, u8::try_from(tlvs.len()).unwrap()], tlvs].concat();
    let lrc = message.iter().fold(0, |lrc, byte| lrc ^ byte);
    let mut count = 0;
    Decoder::default().feed(&[message, vec![lrc]].concat(), |received| {
        count += 1;
        assert!(matches!(received, Received::Message(_)), "{received:?}");
        said.push_str(&format!("{received:?} {received:#?}\n"));
    });
    assert_eq!(count, 1);
    said.push_str(&format!("{presented:?} {presented:#?}\n"));
    let event = pos_reader::ReaderEvent::Card { sale: SaleNumber::new(1), presented: Box::new(presented) };
    said.push_str(&format!("{event:?} {event:#?}\n"));
    let kept = Kept::new("Debug", said.as_bytes());
    let secrets = [
        Secret::bytes("sealed data", &sealed),
        Secret::bytes("a key serial number", &ksn),
        Secret::bytes("a PIN block", &block),
        Secret::text("a card number", pan),
        Secret::bytes("a card number in BCD", &hex::decode(pan).unwrap()),
    ];
    for secret in &secrets {
        assert_eq!(kept.shows(secret), None, "{}: {said}", secret.what);
    }
}

/// Checks the chip's data for the host. The reader may add any tag, once or twice, at any depth. The data must contain
/// no tag of card data and no sealed block, even where the reader's masked copies may be.
#[test]
fn no_card_data_leave_in_the_chips_data_for_the_host() {
    let (before, after) = ("9F0206000000001234", "95050000000000");
    let object = |tag: &str, value: &str| format!("{tag}{:02X}{value}", value.len() / 2);
    let speaker = MiuraSettings::default().parts().speaker;
    for tag in [
        "56", "57", "5A", "5F20", "5F21", "5F22", "5F23", "5F24", "99", "9F1F", "9F20", "9F6B", "DFAE02", "DFAE03",
        "DFAE04", "DFAE05",
    ] {
        for depth in 0..6 {
            let one = object(tag, "4761739001010119");
            let held =
                ["70", "77", "E1", "BF0C", "61"].iter().take(depth).fold(one, |held, outer| object(outer, &held));
            let tlvs = hex::decode(format!("{before}{held}{}{held}{after}", object(tag, ""))).unwrap();
            for masked_too in [false, true] {
                let sent = for_host(&tlvs, masked_too, &[], &|tag| speaker.kind_of(tag)).unwrap();
                let sent = hex::encode_upper(sent.expose());
                assert_eq!(sent, format!("{before}{after}"), "{tag} at depth {depth}");
            }
        }
    }
}

/// Opens a shop whose reader's connection is recorded.
async fn shop(overheard: &Overheard) -> Counter {
    let mut options = Options::default();
    options.reader.tcp = Some(([127, 0, 0, 1], 0).into());
    options.reader.removes_card = true;
    let ours = format!("protocol = \"miura-mpi\"\nmanual-entry = true\nport = \"tcp://{}\" # ", overheard.address());
    options.config = [
        ("protocol = \"miura-mpi\"\nport = ", ours.as_str()),
        ("answer-timeout-ms = 10000", "answer-timeout-ms = 700"),
    ]
    .map(|(what, with)| (what.to_owned(), with.to_owned()))
    .to_vec();
    let counter = Counter::closed(options).await;
    overheard.lead_to(&counter.shop.reader.place());
    counter
}

/// Runs one sale until the till's part in it is over.
async fn play(counter: &Counter, reference: &str, (name, entry, amount, script): Transaction) {
    counter.shop.reader.run_script(script.parse().unwrap());
    counter.sell(reference, amount, name, entry).await;
    after(counter, reference).await;
}

/// Types the card number at the reader.
async fn type_card(counter: &Counter, reference: &str, pan: &str) {
    counter.shop.reader.next_number(pan);
    counter.shop.reader.next_number("3112");
    let body = format!(r#"{{"reference":"{reference}","amount":"12.34","entry":"manual"}}"#);
    assert_eq!(counter.post_sale(&body).await.0, 201);
    after(counter, reference).await;
}

async fn after(counter: &Counter, reference: &str) {
    let told = |state| matches!(state, SaleState::Ended | SaleState::Unconfirmed | SaleState::AwaitingSignature);
    let view = counter.until(reference, "the end or a doubt", |view| told(view.state)).await;
    if view.state == SaleState::AwaitingSignature {
        counter.sign(reference, true).await;
    }
    counter.shop.reader.remove();
    counter.until_ready().await;
}

/// Returns the secrets of the test cards and the shop.
fn entrusted(counter: &Counter) -> Vec<Secret> {
    let pans = DECK.iter().map(|card| card.pan).chain(TYPED.iter().copied());
    let bcd = |digits: &str| hex::decode(&digits[..digits.len() / 2 * 2]).unwrap();
    let numbers =
        pans.flat_map(|pan| [Secret::text("a card number", pan), Secret::bytes("a card number in BCD", &bcd(pan))]);
    let cards = DECK.iter().flat_map(|card| {
        let after_number = format!("{}{}{}", card.expiry, card.service_code, card.discretionary);
        [
            Secret::text("track 1", &card.track1()),
            Secret::text("track 2", &card.track2()),
            Secret::text("what follows the number on track 2", &after_number),
            Secret::text("the holder", card.holder.trim()),
        ]
    });
    let tokens = [
        Secret::text("the gateway's token", counter.shop.gateway.token()),
        Secret::text("the till's token", TILL_TOKEN),
    ];
    numbers.chain(cards).chain(tokens).collect()
}

fn assert_silent(kept: &[Kept], secrets: &[Secret]) {
    for (kept, secret) in kept.iter().flat_map(|kept| secrets.iter().map(move |secret| (kept, secret))) {
        if let Some(found) = kept.shows(secret) {
            panic!("{} says {}, {}: {}", kept.name, secret.what, found.how, found.around);
        }
    }
}

#[tokio::test]
async fn a_deck_of_sales_leaves_nothing_of_a_card_in_log_files_papers_and_answers() {
    leaves_nothing_behind(SALES, [("SRED data", 15), ("a PIN block", 4), ("a key serial number", 15)]).await;
}

#[tokio::test]
async fn neither_do_sales_in_every_kind_of_trouble() {
    leaves_nothing_behind(TROUBLE, [("SRED data", 8), ("a PIN block", 3), ("a clear tag", 1)]).await;
}

/// Runs the sales, then typed numbers, then a sale at a reader that has stopped encrypting. `least` is the minimum
/// number of recorded secrets of each kind.
async fn leaves_nothing_behind(sales: &[Transaction], least: [(&str, usize); 3]) {
    LazyLock::force(&LOG);
    let overheard = Overheard::listen().await;
    let mut counter = shop(&overheard).await;
    counter.start_agent();
    counter.until_ready().await;
    let mut ears = counter.listen().await;
    let mut references = Vec::new();
    for (number, sale) in sales.iter().enumerate() {
        references.push(format!("S{number}"));
        play(&counter, &references[number], *sale).await;
        // A listener that is too slow gets a message about this and misses the events.
        ears.hear().await;
    }
    for pan in TYPED {
        references.push(format!("T{}", pan.len()));
        type_card(&counter, references.last().unwrap(), pan).await;
    }
    // From here on, the agent sends this reader no commands.
    counter.shop.reader.run_script("on waiting: clear".parse().unwrap());
    counter.sell("clear", "12.34", "tap", Tap).await;
    let clear = counter.until_ended("clear").await;
    assert_eq!(ended(&clear), Some(OutcomeWord::NotSent), "{}", clear.text);
    references.push("clear".to_owned());

    let mut kept = files(&counter);
    assert!(kept.iter().any(|file| file.name == "journal.db-wal"), "the journal's own log is there while it runs");
    kept.push(told(&counter, &references).await);
    ears.hear().await;
    let steps: Vec<_> = ears.heard.iter().map(|step| serde_json::to_string(step).unwrap()).collect();
    kept.push(Kept::new("events", steps.join("\n").as_bytes()));
    kept.push(Kept::new("paper", counter.shop.printer.receipts().join("\n").as_bytes()));
    counter.stop_agent().await;
    kept.extend(files(&counter));
    let log = String::from_utf8(LOG.so_far()).unwrap();
    kept.push(Kept::new("log", log.as_bytes()));
    for words in ["INFO", "DEBUG", "sale timing", "START CONTACTLESS TRANSACTION", "gateway answered"] {
        assert!(log.contains(words), "{words}: or nothing was looked at");
    }
    let overheard = overheard.secrets();
    for (what, least) in least {
        let count = overheard.iter().filter(|secret| secret.what == what).count();
        assert!(count >= least, "{what} was overheard {count} times");
    }
    assert_silent(&kept, &[entrusted(&counter), overheard].concat());
}

/// Returns all answers that a till can get.
async fn told(counter: &Counter, references: &[String]) -> Kept {
    let mut told = serde_json::to_string(&counter.status().await).unwrap();
    for reference in references {
        told.push_str(&serde_json::to_string(&counter.show(reference).await).unwrap());
        for copy in ["merchant", "customer"] {
            told.push_str(&counter.receipt(reference, copy).await);
        }
    }
    Kept::new("what tills are told", told.as_bytes())
}

/// Returns the files in the shop's folder except the token files.
fn files(counter: &Counter) -> Vec<Kept> {
    let files = std::fs::read_dir(counter.shop.folder()).unwrap().map(Result::unwrap);
    files
        .filter(|file| file.file_type().unwrap().is_file() && !file.path().to_str().unwrap().ends_with("-token"))
        .map(|file| Kept::new(file.file_name().to_str().unwrap(), &std::fs::read(file.path()).unwrap()))
        .collect()
}

/// The program's log settings for one run.
#[derive(Clone, Copy)]
struct Logs {
    /// The level at the program's start.
    level: &'static str,
    /// The level that is set while the program runs.
    then: Option<&'static str>,
    /// True if the environment says that standard error leads to systemd's journal.
    to_journal: bool,
}

/// Checks the shipped program's own log: on standard error and in the journal, at each level, and after a change of the
/// level.
#[tokio::test]
async fn the_programs_own_log_holds_nothing_of_a_card_at_any_level() {
    let runs = [
        Logs { level: "info", then: None, to_journal: false },
        Logs { level: "debug", then: None, to_journal: false },
        Logs { level: "trace", then: None, to_journal: false },
        Logs { level: "info", then: Some("trace"), to_journal: false },
        Logs { level: "info", then: None, to_journal: true },
        Logs { level: "warn", then: Some("trace"), to_journal: true },
    ];
    let [one, two, three, four, five, six] = runs.map(logged_run);
    tokio::join!(one, two, three, four, five, six);
}

/// A receiver that collects systemd's journal datagrams until the program has ended.
struct Journal {
    socket: std::path::PathBuf,
    heard: std::thread::JoinHandle<Vec<u8>>,
}

impl Journal {
    /// Listens in a separate thread, so that no datagram is lost while the main thread is busy.
    fn listen(folder: &std::path::Path) -> Self {
        let socket = folder.join("journal.sock");
        let listener = std::os::unix::net::UnixDatagram::bind(&socket).unwrap();
        let heard = std::thread::spawn(move || {
            let (mut heard, mut datagram) = (Vec::new(), vec![0; 256 * 1024]);
            loop {
                let count = listener.recv(&mut datagram).unwrap();
                if &datagram[..count] == b"the end" {
                    return heard;
                }
                heard.extend_from_slice(&datagram[..count]);
            }
        });
        Self { socket, heard }
    }

    fn heard(self) -> Vec<u8> {
        std::os::unix::net::UnixDatagram::unbound().unwrap().send_to(b"the end", &self.socket).unwrap();
        self.heard.join().unwrap()
    }
}

async fn logged_run(Logs { level, then, to_journal }: Logs) {
    let overheard = Overheard::listen().await;
    let counter = shop(&overheard).await;
    let config = counter.shop.config();
    let mut agent = counter::till::program(&["run", "--config", config.to_str().unwrap(), "--log", level]);
    let errors = counter.shop.folder().join("stderr");
    let file = std::fs::File::create(&errors).unwrap();
    let facts = file.metadata().unwrap();
    let journal = to_journal.then(|| Journal::listen(counter.shop.folder()));
    if let Some(journal) = &journal {
        agent.arg("--journal-socket").arg(&journal.socket);
        agent.env("JOURNAL_STREAM", format!("{}:{}", facts.dev(), facts.ino()));
    }
    let mut agent = agent.stderr(file).spawn().unwrap();
    counter.until_ready().await;
    if let Some(then) = then {
        let output = within("the program", counter.verb(&["log-level", then, "--for", "1h"])).await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    for (number, sale) in [
        ("chip-pin", Insert, "12.34", ""),
        ("pan-19", Insert, "10.66", ""),
        ("tap", Tap, "12.34", ""),
        ("swipe-pin", Swipe, "10.51", ""),
    ]
    .into_iter()
    .enumerate()
    {
        play(&counter, &format!("S{number}"), sale).await;
    }
    for pan in TYPED {
        type_card(&counter, &format!("T{}", pan.len()), pan).await;
    }
    let mut said = Vec::new();
    for verb in
        [&["show", "S0", "--json"][..], &["receipt", "S0"], &["journal"], &["totals", "--json"], &["status", "--json"]]
    {
        let output = within("the program", counter.verb(verb)).await.unwrap();
        assert!(!output.stdout.is_empty(), "{verb:?}: {}", String::from_utf8_lossy(&output.stderr));
        said.extend([output.stdout, output.stderr].concat());
    }
    for verb in [&["journal", "export"][..], &["doctor"]] {
        let arguments = [verb, &["--config", config.to_str().unwrap()]].concat();
        let output = within("the program", counter::till::program(&arguments).output()).await.unwrap();
        assert!(!output.stdout.is_empty(), "{verb:?}: {}", String::from_utf8_lossy(&output.stderr));
        said.extend([output.stdout, output.stderr].concat());
    }
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(agent.id().unwrap().cast_signed()).unwrap(),
        rustix::process::Signal::TERM,
    )
    .unwrap();
    within("the end of the program", agent.wait()).await.unwrap();
    let lines = std::fs::read(&errors).unwrap();
    let (log, debug, sale) = match journal.map(Journal::heard) {
        Some(heard) => {
            assert_eq!(String::from_utf8_lossy(&lines), "", "all of it is in the journal");
            // In the journal's form, the length precedes the value.
            (heard, "PRIORITY\n\u{1}\0\0\0\0\0\0\x007\n", "POS_GATEWAY_US")
        }
        None => (lines, "DEBUG", "gateway_us"),
    };
    let text = String::from_utf8_lossy(&log);
    for words in ["sale timing", sale] {
        assert!(text.contains(words), "{level}, {then:?}: {text}");
    }
    assert_eq!(text.contains(debug), level != "info" || then.is_some(), "{level}, {then:?}: {text}");
    let kept = [files(&counter), vec![Kept::new(&format!("the log at {level}"), &log), Kept::new("the verbs", &said)]]
        .concat();
    assert_silent(&kept, &[entrusted(&counter), overheard.secrets()].concat());
}
