//! One row of a table: a sale with its card, its fault and the expected result. The module also contains the shops that
//! run the rows.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pos_agent::till::{ReaderState, SaleState, SaleView, StatusView};
use pos_sim::gateway::{HostRules, Kind, WireEvent};
use pos_sim::reader::deck::Chip;
use pos_sim::reader::{Card, CardEntry, Family, Script, WaitsFor, card};
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;
use pos_test_kit::{PATIENCE, families};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::counter::Counter;
use crate::counter::till::Ears;

/// The outcome of a sale, as the agent reports it to the till.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Approved,
    /// Half of the amount is approved, because the till's request accepted a partial approval.
    Partial,
    Declined,
    /// The payment was charged, then reversed.
    Reversed,
    /// The sale was cancelled before anything was sent.
    Nothing,
    /// The gateway has not accepted the request.
    NotSent,
}

/// The moment of the fault: an event of the simulated reader, or an event of the sale that the till gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Waiting,
    Inserted,
    Start,
    Choice,
    Pin,
    Answer,
    Asked,
    /// The same for a card whose PIN the agent asks for next, before it asks the gateway.
    AskedForPin,
    /// That PIN is asked for.
    LatePin,
    /// The gateway has read the request but not yet processed it.
    Host,
    Continue,
    Ended,
    /// The till has the outcome, or the agent has asked for a signature.
    After,
}

impl Moment {
    /// Returns the name of the reader's event.
    pub(crate) fn event(self) -> Option<String> {
        match self {
            Self::Host | Self::After => None,
            Self::AskedForPin => Some("asked".to_owned()),
            Self::LatePin => Some("pin".to_owned()),
            event => Some(format!("{event:?}").to_lowercase()),
        }
    }
}

/// The fault after which the cashier cancels, because the reader has nothing more to do and the sale does not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hung {
    /// A message of the reader was lost.
    Lost,
    /// The reader has restarted without a message.
    Restarted,
}

/// A sale and its expected result.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) card: &'static Card,
    pub(crate) entry: CardEntry,
    pub(crate) amount: String,
    /// The reader's script, and the moment when the reader gets it.
    pub(crate) script: String,
    pub(crate) at: Moment,
    /// True if the script's fault must happen in this sale.
    pub(crate) must_act: bool,
    /// The fault after which the cashier cancels.
    pub(crate) cancels: Option<Hung>,
    /// True if the agent starts the reader again after the sale has ended.
    pub(crate) starts_again: bool,
    /// True if only the next sale finds out that the reader has restarted. That sale is then not charged.
    pub(crate) is_found_late: bool,
    /// The time for the row and for the sales after it.
    pub(crate) patience: Duration,
    /// The permitted outcomes. The first one is the usual one.
    pub(crate) allowed: Vec<End>,
    pub(crate) usual: End,
    /// The entry mode in the request to the gateway, if a request is sent.
    pub(crate) mode: Option<&'static str>,
    /// Words that must be on the merchant's copy and, except for the signature, on the customer's copy.
    pub(crate) words: &'static [&'static str],
    /// The gateway of the row's shop. If it is `None`, the row's number chooses the gateway.
    pub(crate) host_rules: Option<HostRules>,
    /// The family of the reader in the row's shop. If it is `None`, the row's number chooses the family.
    pub(crate) family: Option<Family>,
}

/// The kind of shop: its gateway and its reader.
type Place = (HostRules, Family);

impl Row {
    /// Returns a sale without a fault.
    pub(crate) fn plain(card: &'static Card, entry: CardEntry, end: End) -> Self {
        Self {
            what: format!("{} {entry:?}", card.name),
            card,
            entry,
            amount: "12.34".to_owned(),
            script: String::new(),
            at: Moment::Waiting,
            must_act: false,
            cancels: None,
            starts_again: false,
            is_found_late: false,
            patience: 2 * PATIENCE,
            allowed: vec![end],
            usual: end,
            mode: None,
            words: &[],
            host_rules: None,
            family: None,
        }
    }

    /// Returns the row's name with its gateway and its reader.
    fn named(&self) -> String {
        let (host_rules, family) = self.place();
        format!("{} gateway, {} reader, {}", host_rules.as_str(), family.as_str(), self.what)
    }

    fn place(&self) -> Place {
        (self.host_rules.unwrap_or_default(), self.family.unwrap_or_default())
    }

    /// Returns a row for another customer with another card.
    fn next(&self) -> Self {
        let name = if self.card.name == "tap-phone" { "tap" } else { "tap-phone" };
        let plain = Self::plain(card(name).unwrap(), CardEntry::Tap, End::Approved);
        let what = format!("the next sale, with {name}");
        // The reader may also have been started again after the fault.
        let allowed = if self.is_found_late { vec![End::Approved, End::Nothing] } else { plain.allowed };
        Self { what, amount: "1.00".to_owned(), allowed, ..plain }
    }
}

/// Returns the only gateway to test, if `POS_AGENT_GATEWAY` names one.
fn only() -> Option<HostRules> {
    let name = std::env::var("POS_AGENT_GATEWAY").ok()?;
    let known = HostRules::ALL.into_iter().find(|one| one.as_str() == name);
    Some(known.unwrap_or_else(|| panic!("POS_AGENT_GATEWAY is checked, permissive or literal")))
}

/// Returns the gateway of the row with this number. The gateways alternate, and every three rows the order shifts, so
/// that no column of a table has only one gateway. `POS_AGENT_SEED=N` shifts all of them.
pub(crate) fn gateway_of(number: usize) -> HostRules {
    only().unwrap_or_else(|| HostRules::in_turn((number + number / 3) as u64 + seed()))
}

pub(crate) fn seed() -> u64 {
    std::env::var("POS_AGENT_SEED").map_or(0, |text| text.parse().expect("POS_AGENT_SEED is a number"))
}

/// Returns the family of the row with this number. Nine consecutive rows have each family with each gateway, and no
/// column of a table has only one family.
pub(crate) fn family_of(number: usize) -> Family {
    families::of_number((number + 2 * (number / 3)) as u64 + seed())
}

/// Runs the rows in this number of simultaneous shops, with at least one shop for each gateway and family. Names each
/// failed row with its difference and continues with the others. Returns how often a reader was started again.
pub(crate) async fn run(what: &str, shops: usize, rows: Vec<Row>) -> usize {
    let mut queues: BTreeMap<(&str, &str), VecDeque<Row>> = BTreeMap::new();
    for (number, row) in rows.into_iter().enumerate() {
        let host_rules = row.host_rules.unwrap_or_else(|| gateway_of(number));
        let family = row.family.unwrap_or_else(|| family_of(number));
        if only().is_some_and(|only| only != host_rules) {
            continue;
        }
        let queue = queues.entry((host_rules.as_str(), family.as_str())).or_default();
        queue.push_back(Row { host_rules: Some(host_rules), family: Some(family), ..row });
    }
    let count: usize = queues.values().map(VecDeque::len).sum();
    let counts: Vec<_> =
        queues.iter().map(|((gateway, family), rows)| format!("{} {gateway} {family}", rows.len())).collect();
    let of_family = |family: &Family| -> usize {
        let own = queues.iter().filter(|((_, name), _)| *name == family.as_str());
        own.map(|(_, rows)| rows.len()).sum()
    };
    let of_families: Vec<_> =
        Family::ALL.iter().map(|family| format!("{} {}", of_family(family), family.as_str())).collect();
    // A sample may have fewer rows than there are gateways.
    for one in HostRules::ALL.into_iter().filter(|_| count >= HostRules::ALL.len()) {
        assert!(only().is_some() || queues.keys().any(|(name, _)| *name == one.as_str()), "{what}: no {one:?} gateway");
    }
    let queues: Vec<_> = queues.into_values().map(|rows| Arc::new(Mutex::new(rows))).collect();
    let mut lanes = JoinSet::new();
    for number in 0..shops.min(count).max(queues.len()) {
        lanes.spawn(lane(Arc::clone(&queues[number % queues.len()])));
    }
    let (failures, restarts): (Vec<_>, Vec<_>) = lanes.join_all().await.into_iter().unzip();
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    println!("{count} {what}: {}; of all gateways: {}", counts.join(", "), of_families.join(", "));
    assert!(failures.is_empty(), "{} of {count} {what}:\n{}", failures.len(), failures.join("\n"));
    restarts.into_iter().sum()
}

/// Runs the remaining rows in a shop. Opens a new shop only after a failure.
async fn lane(rows: Arc<Mutex<VecDeque<Row>>>) -> (Vec<String>, usize) {
    let (mut failures, mut restarts) = (Vec::new(), 0);
    let mut terminal: Option<Terminal> = None;
    let next = || rows.lock().unwrap().pop_front();
    while let Some(row) = next() {
        let mut open = match terminal.take() {
            Some(open) => open,
            None => Terminal::open(row.place()).await,
        };
        let played = async {
            open.play(&row).await?;
            let next = row.next();
            let again = |why| format!("{}: {why}", next.what);
            if open.play(&next).await.map_err(again)? == End::Nothing {
                // The reader was found out and started again. So this customer tries once more.
                let last = Row { allowed: vec![End::Approved], ..next.clone() };
                open.play(&last).await.map_err(again)?;
            }
            Ok::<(), String>(())
        };
        match tokio::time::timeout(row.patience, played).await {
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

/// A shop, its agent, and a till that listens to the events.
struct Terminal {
    counter: Counter,
    ears: Ears,
    sales: u32,
    /// The reader's script for the moment when the next payment arrives at the gateway. The gateway passes it to the
    /// reader before it answers. If the till did so at "in progress", a decline could already have reached the card,
    /// and the fault would affect the next sale.
    at_gateway: Arc<Mutex<Option<Script>>>,
}

/// Limits the number of shops that open at the same time. On a busy machine, a hundred shops that open together delay
/// each other beyond the deadline.
static OPENING: Semaphore = Semaphore::const_new(8);

impl Terminal {
    async fn open((host_rules, family): Place) -> Self {
        let _turn = OPENING.acquire().await.unwrap();
        let mut options = Options::default();
        options.gateway.host_rules = host_rules;
        options.reader.family = family;
        // A reader that hides the service code does not tell which swiped cards need a PIN.
        options.reader.neo2.shows_service_code = true;
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

    /// Plays a sale and checks it. Returns its end.
    async fn play(&mut self, row: &Row) -> Result<End, String> {
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
        // A till that accepts a partial approval must say so in its request.
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
            // A reversal that takes longer prints its own receipts before the final ones.
            let last = |text: &str| !text.contains("NOT CONFIRMED");
            let printed =
                printer.wait_for(|printed| printed[before..].iter().filter(|paper| last(&paper.text)).count() >= due);
            match tokio::time::timeout(PATIENCE, printed).await {
                Ok(Ok(printed)) => {
                    papers.extend(printed[before..].iter().map(|paper| paper.text.clone()).filter(|text| last(text)))
                }
                _ => return Err(format!("{}: not every receipt is printed", view.text)),
            }
            // If the reader is started again after the sale has ended, the report arrives a moment later. Until then,
            // the reader counts as ready.
            until_ready(counter, ears, starts + usize::from(row.starts_again)).await;
            Ok(view)
        };
        let view = tokio::select! {
            view = sale => view?,
            () = customer(counter, row.card, row.entry) => unreachable!("he waits for ever"),
            () = cashier(counter, &reference, row.cancels) => unreachable!("he waits for ever"),
        };
        let effects = *self.counter.shop.reader.effects().borrow();
        let has_acted = effects.acts > 0
            && (effects.lost > 0 || !row.script.contains("silent"))
            && (effects.damaged > 0 || !row.script.contains("spoil"));
        differs(has_acted || !row.must_act, "the fault", &row.script, &effects)?;
        self.look(&reference, row, &view, &papers)?;
        Ok(end_of(&view))
    }

    /// Checks that the outcome, the ledger, the journal and the receipts agree, and that the outcome is permitted.
    fn look(&self, reference: &str, row: &Row, view: &SaleView, papers: &[String]) -> Result<(), String> {
        let end = end_of(view);
        let refusals = self.counter.shop.gateway.ledger().refusals().to_vec();
        differs(row.allowed.contains(&end), "the end", &row.allowed, &(end, &view.text, &refusals))?;

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
        // A sale that is not approved may end before the card's last answer or without it.
        let last_word = end == End::Approved || row.script.is_empty();
        let usual = usual.iter().filter(|word| last_word || !matches!(**word, "TC" | "AAC"));
        for word in usual.chain(about_end).chain(&always) {
            // The cryptogram is for the shop. The customer's receipt contains no technical data.
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
        // If no card was read, there is no receipt.
        Some(OutcomeWord::NotSent) if view.card.is_none() => End::Nothing,
        Some(OutcomeWord::NotSent) => End::NotSent,
        Some(OutcomeWord::Reversed) => End::Reversed,
        None => panic!("no end: {view:?}"),
    }
}

/// Follows a sale until it ends. Meanwhile, does what the row needs: causes the fault of `after`, or answers the
/// request for a signature.
async fn hear(
    counter: &Counter,
    ears: &mut Ears,
    reference: &str,
    mut after: Option<Script>,
) -> Result<SaleView, String> {
    loop {
        let step = ears.next().await;
        let Some(view) = step.sale.filter(|sale| sale.reference == reference) else { continue };
        // The agent never reports to the till that nothing is charged while the gateway holds a charge
        // (design: invariant 3).
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

/// Returns how often the agent has started the reader, including the first time.
fn reader_starts(counter: &Counter) -> usize {
    let start = counter.shop.family().start_command();
    counter.shop.reader.counters().commands.iter().filter(|command| **command == start).count()
}

/// Waits until the reader was started at least this many times and the terminal can begin a sale.
async fn until_ready(counter: &Counter, ears: &mut Ears, starts: usize) {
    while reader_starts(counter) < starts || !is_free(&counter.status().await) {
        ears.next().await;
    }
}

/// Presents the card whenever the reader waits for one. Presents it in another way after a refusal, and removes it when
/// asked.
async fn customer(counter: &Counter, card: &'static Card, entry: CardEntry) {
    let reader = &counter.shop.reader;
    let (mut screens, mut entry) = (reader.watch(), entry);
    loop {
        let screen = screens.borrow_and_update().clone();
        let text = screen.lines.join(" ").to_uppercase();
        let waits = screen.waits_for == WaitsFor::Card;
        if screen.card_in_slot {
            // One card's language is Spanish.
            if text.contains("REMOVE") || text.contains("RETIRE") {
                reader.remove();
                if text.contains("INSERT") {
                    reader.insert(card);
                }
            }
        } else if text.contains("SWIPE CARD") {
            // A reader may ask for the swipe itself, and wait for it.
            reader.swipe(card);
        } else if waits {
            reader.present(card, entry);
            // If the chip has failed and the customer is asked to insert the card again, the customer does so.
            entry = card.after(entry).filter(|next| *next == CardEntry::Insert).unwrap_or(entry);
        } else if text.contains("INSERT OR SWIPE") && card.chip != Chip::None {
            reader.insert(card);
        }
        if screens.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
}

/// Cancels a sale that does not end: the fault has happened, and the reader has nothing more to do.
async fn cashier(counter: &Counter, reference: &str, hung: Option<Hung>) {
    let Some(hung) = hung else { return std::future::pending().await };
    let (mut screens, mut effects) = (counter.shop.reader.watch(), counter.shop.reader.effects());
    loop {
        let seen = *effects.borrow_and_update();
        let has_happened = match hung {
            Hung::Lost => seen.lost > 0,
            Hung::Restarted => seen.reboots > 0,
        };
        let waits_for = screens.borrow_and_update().waits_for;
        if has_happened && waits_for == WaitsFor::Agent {
            break;
        }
        tokio::select! {
            Ok(()) = screens.changed() => {}
            Ok(()) = effects.changed() => {}
            else => return std::future::pending().await,
        }
    }
    counter.post(&format!("/v1/sales/{reference}/cancel")).await;
    std::future::pending().await
}
