//! One row of a table: a sale with its card, its fault, and what must come of it; and the shops in which rows are
//! played.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use pos_agent::till::{ReaderState, SaleState, SaleView, StatusView};
use pos_sim::gateway::{HostRules, Kind, WireEvent};
use pos_sim::reader::deck::Chip;
use pos_sim::reader::{Card, CardEntry, Script, WaitsFor, card};
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;
use pos_test_kit::PATIENCE;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::counter::Counter;
use crate::counter::till::Ears;

/// RESET DEVICE.
const RESET: u16 = 0xD000;

/// How a sale ends, as the till is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Approved,
    /// Half of it; the till said that it can take a part.
    Partial,
    Declined,
    /// Charged, and the money given back.
    Reversed,
    /// Cancelled: nothing was sent.
    Nothing,
    /// The gateway has not taken it.
    NotSent,
}

/// When the fault comes: an event of the simulated reader, or one of the sale as the till hears of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Waiting,
    Inserted,
    Start,
    Choice,
    Pin,
    Answer,
    Asked,
    /// The gateway has read the request and has not looked at it yet.
    Host,
    Continue,
    Ended,
    /// The till has been told how it ended, or that a signature is wanted.
    After,
}

impl Moment {
    /// The reader's event.
    pub(crate) fn event(self) -> Option<String> {
        (!matches!(self, Self::Host | Self::After)).then(|| format!("{self:?}").to_lowercase())
    }
}

/// A sale and what must come of it.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) card: &'static Card,
    pub(crate) entry: CardEntry,
    pub(crate) amount: String,
    /// What the reader does, and when it is told so.
    pub(crate) script: String,
    pub(crate) at: Moment,
    /// The cashier cancels when the card is at the reader and nothing more is heard.
    pub(crate) cancels: bool,
    /// The ends that are right; the first one is the usual.
    pub(crate) allowed: Vec<End>,
    pub(crate) usual: End,
    /// What the gateway hears as entry mode, when it hears of the sale.
    pub(crate) mode: Option<&'static str>,
    /// What stands on the merchant's copy, and, but for the signature, on the customer's.
    pub(crate) words: &'static [&'static str],
    /// The gateway of its shop; without one it is the row's number that chooses.
    pub(crate) host_rules: Option<HostRules>,
}

impl Row {
    /// A sale without a fault.
    pub(crate) fn plain(card: &'static Card, entry: CardEntry, end: End) -> Self {
        Self {
            what: format!("{} {entry:?}", card.name),
            card,
            entry,
            amount: "12.34".to_owned(),
            script: String::new(),
            at: Moment::Waiting,
            cancels: false,
            allowed: vec![end],
            usual: end,
            mode: None,
            words: &[],
            host_rules: None,
        }
    }

    /// What it is, with its gateway.
    fn named(&self) -> String {
        format!("{} gateway, {}", self.host_rules.unwrap_or_default().as_str(), self.what)
    }

    /// Another customer, with another card.
    fn next(&self) -> Self {
        let name = if self.card.name == "tap-phone" { "tap" } else { "tap-phone" };
        let plain = Self::plain(card(name).unwrap(), CardEntry::Tap, End::Approved);
        Self { what: format!("the next sale, with {name}"), amount: "1.00".to_owned(), ..plain }
    }
}

/// The one gateway that a person wants to look at.
fn only() -> Option<HostRules> {
    let name = std::env::var("POS_AGENT_GATEWAY").ok()?;
    let known = HostRules::ALL.into_iter().find(|one| one.as_str() == name);
    Some(known.unwrap_or_else(|| panic!("POS_AGENT_GATEWAY is checked, permissive or literal")))
}

/// The gateway of the row with this number: each in turn, and another turn for each three, so that no column of a table
/// meets one gateway alone. `POS_AGENT_SEED=N` turns them all.
pub(crate) fn gateway_of(number: usize) -> HostRules {
    let seed = std::env::var("POS_AGENT_SEED").map_or(0, |text| text.parse().expect("POS_AGENT_SEED is a number"));
    only().unwrap_or_else(|| HostRules::in_turn((number + number / 3) as u64 + seed))
}

/// Plays the rows in so many shops at once, at the least one of each gateway; a row that fails is named with what
/// differed, and the others go on. Gives how often a reader was started anew.
pub(crate) async fn run(what: &str, shops: usize, rows: Vec<Row>) -> usize {
    let count = rows.len();
    let mut queues: [VecDeque<Row>; 3] = Default::default();
    for (number, row) in rows.into_iter().enumerate() {
        let host_rules = row.host_rules.unwrap_or_else(|| gateway_of(number));
        if only().is_some_and(|only| only != host_rules) {
            continue;
        }
        let queue = HostRules::ALL.iter().position(|one| *one == host_rules).unwrap();
        queues[queue].push_back(Row { host_rules: Some(host_rules), ..row });
    }
    let counts = queues.each_ref().map(VecDeque::len);
    assert!(only().is_some() || counts.iter().all(|rows| *rows > 0), "{what}: every gateway has rows: {counts:?}");
    let queues = queues.map(|rows| Arc::new(Mutex::new(rows)));
    let mut lanes = JoinSet::new();
    for number in 0..shops.clamp(3, count) {
        lanes.spawn(lane(Arc::clone(&queues[number % 3])));
    }
    let (failures, restarts): (Vec<_>, Vec<_>) = lanes.join_all().await.into_iter().unzip();
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    let counts: Vec<_> =
        HostRules::ALL.iter().zip(counts).map(|(one, rows)| format!("{rows} {}", one.as_str())).collect();
    println!("{count} {what}: {}", counts.join(", "));
    assert!(failures.is_empty(), "{} of {count} {what}:\n{}", failures.len(), failures.join("\n"));
    restarts.into_iter().sum()
}

/// One shop after the other for the rows that are left: a new one only after a failure.
async fn lane(rows: Arc<Mutex<VecDeque<Row>>>) -> (Vec<String>, usize) {
    let (mut failures, mut restarts) = (Vec::new(), 0);
    let mut terminal: Option<Terminal> = None;
    let next = || rows.lock().unwrap().pop_front();
    while let Some(row) = next() {
        let mut open = match terminal.take() {
            Some(open) => open,
            None => Terminal::open(row.host_rules.unwrap_or_default()).await,
        };
        let played = async {
            open.play(&row).await?;
            let next = row.next();
            open.play(&next).await.map_err(|why| format!("{}: {why}", next.what))
        };
        match tokio::time::timeout(2 * PATIENCE, played).await {
            Ok(Ok(())) => terminal = Some(open),
            Ok(Err(why)) => failures.push(format!("{}: {why}", row.named())),
            Err(_) => failures.push(format!("{}: no end; status {:?}", row.named(), open.counter.status().await)),
        }
    }
    if let Some(open) = terminal {
        open.counter.audit("at the end");
        restarts += reader_starts(&open.counter) - 1;
    }
    (failures, restarts)
}

/// A shop, its agent, and a till that listens.
struct Terminal {
    counter: Counter,
    ears: Ears,
    sales: u32,
    /// What the reader does when the next payment arrives at the gateway. The gateway gives it out itself, before it
    /// answers: a till that hears "in progress" may hear it when a decline is already at the card, and the fault would
    /// meet the next sale.
    at_gateway: Arc<Mutex<Option<Script>>>,
}

/// So many shops are opened at once: on a busy machine a hundred that begin together keep each other from being ready
/// in time.
static OPENING: Semaphore = Semaphore::const_new(8);

impl Terminal {
    async fn open(host_rules: HostRules) -> Self {
        let _turn = OPENING.acquire().await.unwrap();
        let mut options = Options::default();
        options.gateway.host_rules = host_rules;
        options.config.push(("answer-timeout-ms = 10000".to_owned(), "answer-timeout-ms = 5000".to_owned()));
        let counter = Counter::open_with(options).await;
        let ears = counter.listen().await;
        let at_gateway: Arc<Mutex<Option<Script>>> = Arc::default();
        let (due, reader) = (Arc::clone(&at_gateway), counter.shop.reader.clone());
        let is_first = counter.shop.gateway.watch(move |seen| {
            if seen == (WireEvent::Request { method: "POST", path: "/v1/payments" })
                && let Some(script) = due.lock().unwrap().take()
            {
                reader.run_script(script);
            }
        });
        assert!(is_first, "the gateway has one watcher");
        Self { counter, ears, sales: 0, at_gateway }
    }

    async fn play(&mut self, row: &Row) -> Result<(), String> {
        self.sales += 1;
        let reference = format!("R{}", self.sales);
        let Self { counter, ears, at_gateway, .. } = self;
        let starts = reader_starts(counter);
        let script: Script = row.script.parse().unwrap();
        counter.shop.reader.remove();
        let (now, at_request, after) = match row.at {
            Moment::Host => (Script::default(), Some(script), None),
            Moment::After => (Script::default(), None, Some(script)),
            _ => (script, None, None),
        };
        counter.shop.reader.run_script(now);
        *at_gateway.lock().unwrap() = at_request;
        // A till that wants a part has to say so with its request.
        let part = row.allowed.contains(&End::Partial);
        let wanted = serde_json::json!({ "reference": reference, "amount": row.amount, "acceptPartial": part });
        let (code, body) = counter.post_sale(&wanted.to_string()).await;
        if code != 201 {
            return Err(format!("the sale is refused: {body}"));
        }
        let mut papers = Vec::new();
        let mut printer = counter.shop.printer.watch();
        let before = printer.borrow().len();
        let sale = async {
            let view = hear(counter, ears, &reference, after).await?;
            let end = end_of(&view);
            let due = if end == End::Nothing { 0 } else { 2 };
            // A reversal that takes longer has receipts of its own before the last ones.
            let last = |text: &str| !text.contains("NOT CONFIRMED");
            let printed =
                printer.wait_for(|printed| printed[before..].iter().filter(|paper| last(&paper.text)).count() >= due);
            match tokio::time::timeout(PATIENCE, printed).await {
                Ok(Ok(printed)) => {
                    papers.extend(printed[before..].iter().map(|paper| paper.text.clone()).filter(|text| last(text)))
                }
                _ => return Err(format!("{}: not every receipt is printed", view.text)),
            }
            // A reader that is started anew after the end is heard of a moment later: it counts as ready until then.
            let anew = row.at == Moment::After && ["reboot", "unplug"].iter().any(|fault| row.script.contains(fault));
            until_ready(counter, ears, starts + usize::from(anew)).await;
            Ok(view)
        };
        let view = tokio::select! {
            view = sale => view?,
            () = customer(counter, row.card, row.entry) => unreachable!("he waits for ever"),
            () = cashier(counter, &reference), if row.cancels => unreachable!("he waits for ever"),
        };
        self.look(&reference, row, &view, &papers)
    }

    /// The end, the ledger, the journal and the receipts say the same, and it is one of those allowed.
    fn look(&self, reference: &str, row: &Row, view: &SaleView, papers: &[String]) -> Result<(), String> {
        let end = end_of(view);
        differs(row.allowed.contains(&end), "the end", &row.allowed, &(end, &view.text))?;

        let minor: u32 = row.amount.replace('.', "").parse().unwrap();
        let charged = match end {
            End::Approved => vec![format!("{} EUR", row.amount)],
            End::Partial => vec![format!("{}.{:02} EUR", minor / 2 / 100, minor / 2 % 100)],
            _ => Vec::new(),
        };
        let held = self.counter.charged_for(reference);
        differs(held == charged, "the ledger", &charged, &held)?;

        let kept = self.counter.kept();
        let kept =
            kept.iter().find(|kept| kept.order.reference == reference).ok_or("the sale is not in the journal")?;
        let ledger = self.counter.shop.gateway.ledger();
        let id = Some(&kept.order.merchant_transaction_id);
        let debits = ledger
            .entries()
            .iter()
            .filter(|entry| entry.kind == Kind::Debit && entry.merchant_transaction_id.as_ref() == id);
        let modes: Vec<&str> = debits.filter_map(|entry| entry.entry_mode.as_deref()).collect();
        match row.mode {
            _ if end == End::Nothing => {
                differs(modes.is_empty() && !kept.asked(), "what was sent", &"nothing", &(modes, kept.kinds()))?;
            }
            Some("") => differs(modes.is_empty(), "what was sent", &"nothing", &modes)?,
            Some(mode) => differs(modes == [mode], "the entry mode", &mode, &modes)?,
            None => differs(modes.len() <= 1, "the payments sent", &"one at most", &modes)?,
        }
        let refusals = ledger.refusals();
        differs(refusals.is_empty(), "what the gateway refused", &"nothing", &refusals)?;

        let due = if end == End::Nothing { 0 } else { 2 };
        differs(papers.len() == due, "the receipts", &due, &papers)?;
        for (paper, copy) in papers.iter().zip(["MERCHANT COPY", "CUSTOMER COPY"]) {
            self.look_at_paper(reference, row, end, paper, copy)?;
        }
        let errors = self.counter.shop.printer.errors();
        differs(errors == 0, "the printer's errors", &0, &errors)
    }

    fn look_at_paper(&self, reference: &str, row: &Row, end: End, paper: &str, copy: &str) -> Result<(), String> {
        let pan = row.card.pan;
        let about_end: &[&str] = match end {
            End::Approved => &["APPROVED"],
            End::Partial => &["PARTIALLY"],
            End::Declined => &["DECLINED", "NOT CHARGED"],
            End::Reversed => &["REVERSED", "NOT CHARGED"],
            End::NotSent | End::Nothing => &["NOT CHARGED"],
        };
        let usual: &[&str] = if end == row.usual { row.words } else { &[] };
        let always = [copy, row.amount.as_str(), reference, "12345678", "Corner Shop", &pan[pan.len() - 4..]];
        // A sale that ends otherwise than approved may end before the card has had its last word, or without it.
        let last_word = end == End::Approved || row.script.is_empty();
        let usual = usual.iter().filter(|word| last_word || !matches!(**word, "TC" | "AAC"));
        for word in usual.chain(about_end).chain(&always) {
            // The cryptogram is for the shop: nothing technical is on the customer's paper.
            let the_shops = matches!(*word, "TC" | "AAC" | "7C00") && copy == "CUSTOMER COPY";
            let his_alone = *word == "SIGNATURE" && copy == "CUSTOMER COPY";
            differs(the_shops != paper.contains(word) || his_alone, "a receipt", word, &paper)?;
        }
        differs(!paper.contains(pan) && !paper.contains(&pan[..12]), "a receipt", &"no card number", &paper)
    }
}

fn differs(right: bool, what: &str, expected: &dyn Debug, found: &dyn Debug) -> Result<(), String> {
    if right { Ok(()) } else { Err(format!("{what}: expected {expected:?}, found {found:#?}")) }
}

pub(crate) fn end_of(view: &SaleView) -> End {
    match view.outcome {
        Some(OutcomeWord::Approved) => End::Approved,
        Some(OutcomeWord::PartiallyApproved) => End::Partial,
        Some(OutcomeWord::Declined) => End::Declined,
        Some(OutcomeWord::Cancelled) => End::Nothing,
        // Where no card was read, there is no receipt either.
        Some(OutcomeWord::NotSent) if view.card.is_none() => End::Nothing,
        Some(OutcomeWord::NotSent) => End::NotSent,
        Some(OutcomeWord::Reversed) => End::Reversed,
        None => panic!("no end: {view:?}"),
    }
}

/// Listens to a sale up to its end, and does what has to be done in it: the fault that comes `after`, the signature.
async fn hear(
    counter: &Counter,
    ears: &mut Ears,
    reference: &str,
    mut after: Option<Script>,
) -> Result<SaleView, String> {
    loop {
        let step = ears.next().await;
        let Some(view) = step.sale.filter(|sale| sale.reference == reference) else { continue };
        // The till never hears that nothing is charged while the gateway holds a charge (design: invariant 3).
        let uncharged =
            matches!(view.outcome, Some(OutcomeWord::Declined | OutcomeWord::Cancelled | OutcomeWord::NotSent));
        if uncharged {
            let held = counter.charged_for(reference);
            differs(held.is_empty(), "the till was told", &"no charge", &(&view.text, held))?;
        }
        let due = matches!(view.state, SaleState::AwaitingSignature | SaleState::Ended);
        if due && let Some(script) = after.take() {
            counter.shop.reader.run_script(script);
        }
        match view.state {
            SaleState::AwaitingSignature => drop(counter.sign(reference, true).await),
            SaleState::Ended => return Ok(*view),
            _ => {}
        }
    }
}

fn is_free(status: &StatusView) -> bool {
    status.reader.state == ReaderState::Ready && !status.busy
}

/// How often the agent has started the reader, the first time included.
fn reader_starts(counter: &Counter) -> usize {
    counter.shop.reader.counters().commands.iter().filter(|command| **command == RESET).count()
}

/// Waits until a sale can be taken by a reader that was started so often at least.
async fn until_ready(counter: &Counter, ears: &mut Ears, starts: usize) {
    while reader_starts(counter) < starts || !is_free(&counter.status().await) {
        ears.next().await;
    }
}

/// Holds out the card whenever the reader waits for one, the other way when it was refused, and takes it out when told
/// so.
async fn customer(counter: &Counter, card: &'static Card, entry: CardEntry) {
    let reader = &counter.shop.reader;
    let (mut screens, mut entry) = (reader.watch(), entry);
    loop {
        let screen = screens.borrow_and_update().clone();
        let text = screen.lines.join(" ").to_uppercase();
        let waits = screen.waits_for == WaitsFor::Card;
        if screen.card_in_slot {
            if text.contains("REMOVE") {
                reader.remove();
            }
        } else if waits {
            reader.present(card, entry);
            // The chip that failed is tried again by whoever is asked to insert it again.
            entry = card.after(entry).filter(|next| *next == CardEntry::Insert).unwrap_or(entry);
        } else if text.contains("INSERT OR SWIPE") && card.chip != Chip::None {
            reader.insert(card);
        } else if text.contains("SWIPE CARD") {
            reader.swipe(card);
        }
        if screens.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
}

/// Cancels when the card is at the reader.
async fn cashier(counter: &Counter, reference: &str) {
    counter.shop.reader.until(|screen| screen.lines.join(" ").contains("PLEASE WAIT")).await;
    counter.post(&format!("/v1/sales/{reference}/cancel")).await;
    std::future::pending().await
}
