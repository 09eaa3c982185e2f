//! An agent that follows a script. The reference of a transaction selects its steps. The till connections around it are
//! real.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use pos_agent::config::{Right, Rights, Socket, Till, TillToken};
use pos_agent::till::http::{self, Bound};
use pos_agent::till::{
    Attention, AttentionView, ClockState, ClockView, Command, FleetRefused, FleetRequest, GatewayState, GatewayView,
    JournalState, JournalView, LogView, PrintView, PrinterState, PrinterView, Progress, ProgressLog, ReaderState,
    ReaderView, ReceiptRowIs, ReceiptRowView, ReceiptView, Refused, SaleState, SaleView, ServedTerminal, StatusView,
    WaitsView, Wanted,
};
use pos_daemon::systemd::Sockets;
use pos_journal::{Entries, Head};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Kind, OutcomeWord, Reference, SaleNumber};
use tokio::sync::{mpsc, oneshot, watch};

/// The tokens of the tills `till-1`, which has the default rights, and `till-2`, which also has `any-till`.
pub const TOKENS: [&str; 2] = ["0123456789abcdef-1", "0123456789abcdef-2"];

/// The steps after the answer to `POST /v1/sales`, for each reference. With any other reference, the transaction keeps
/// waiting for a card.
#[rustfmt::skip]
const SCRIPT: &[(&str, &[Beat])] = &[
    ("approved", &[Beat::Say("present-card", "Insert, tap or swipe"), Beat::Say("pin-entry", "PIN ***"),
        Beat::Say("authorising", "Authorising"), Beat::End(OutcomeWord::Approved)]),
    ("declined", &[Beat::Say("present-card", "Insert, tap or swipe"), Beat::End(OutcomeWord::Declined)]),
    ("cancelled", &[Beat::End(OutcomeWord::Cancelled)]),
    ("partial", &[Beat::End(OutcomeWord::PartiallyApproved)]),
    ("not-sent", &[Beat::End(OutcomeWord::NotSent)]),
    ("unconfirmed", &[Beat::Unconfirmed]),
    ("resolves", &[Beat::Unconfirmed, Beat::End(OutcomeWord::Reversed)]),
    ("control", &[Beat::Say("present-card", "bell\u{7} escape\u{1b}[2J right-to-left\u{202e}"), Beat::End(OutcomeWord::Approved)]),
    ("silent", &[Beat::EndUnheard(OutcomeWord::Approved)]),
    ("vanishes", &[Beat::Say("present-card", "Insert, tap or swipe"), Beat::Vanish]),
    ("returns", &[Beat::Say("present-card", "Insert, tap or swipe"), Beat::EndUnheard(OutcomeWord::Approved), Beat::Restart]),
    ("forgets", &[Beat::Say("present-card", "Insert, tap or swipe"), Beat::Forget, Beat::Restart]),
];

#[derive(Clone, Copy)]
enum Beat {
    Say(&'static str, &'static str),
    Unconfirmed,
    End(OutcomeWord),
    /// The transaction ends without an event.
    EndUnheard(OutcomeWord),
    /// The server stops for good.
    Vanish,
    /// The server stops and starts again.
    Restart,
    /// The journal is lost.
    Forget,
}

/// A till server in front of the fake agent.
pub struct Shop {
    pub folder: tempfile::TempDir,
    pub socket: PathBuf,
    pub http: std::net::SocketAddr,
    pub progress: ProgressLog,
    pub stop: mpsc::Sender<oneshot::Sender<()>>,
    /// The last request of a till.
    pub wanted: watch::Receiver<Option<Wanted>>,
}

/// Returns the default rights and additional ones.
pub fn usual_and(more: &[Right]) -> Rights {
    Right::ALL.into_iter().filter(|right| Rights::till().has(*right) || more.contains(right)).collect()
}

/// Opens a shop. `ring` is the number of stored steps.
pub async fn open(ring: usize) -> Shop {
    open_with(ring, |_| {}).await
}

/// Opens a shop with a different configuration of the tills.
pub async fn open_with(ring: usize, change: impl FnOnce(&mut Till)) -> Shop {
    let folder = tempfile::tempdir().unwrap();
    let tokens = [1, 2].map(|n: usize| {
        let file = folder.path().join(format!("till-{n}.token"));
        fs::write(&file, TOKENS[n - 1]).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let rights = if n == 2 { usual_and(&[Right::AnyTill]) } else { Rights::till() };
        TillToken { till: format!("till-{n}"), token_file: file, rights, operator: true }
    });
    let socket = folder.path().join("till.sock");
    let (http, token) = (([127, 0, 0, 1], 0).into(), tokens.to_vec());
    let mut config = Till { socket: Socket::at(&socket), http, token, ..Till::default() };
    change(&mut config);
    let (commands, heard) = mpsc::channel(8);
    let progress = ProgressLog::new(ring);
    let mut wires = Server { config, commands, progress: progress.clone(), running: None };
    let http = wires.start().await;
    let (stop, stopped) = mpsc::channel(1);
    let (wants, wanted) = watch::channel(None);
    tokio::spawn(play(heard, wires, stopped, wants));
    Shop { folder, socket, http, progress, stop, wanted }
}

struct Server {
    config: Till,
    commands: mpsc::Sender<Command>,
    progress: ProgressLog,
    running: Option<(oneshot::Sender<()>, Bound)>,
}

impl Server {
    async fn start(&mut self) -> std::net::SocketAddr {
        let (stop, stopped) = oneshot::channel::<()>();
        let eur = Currency::from_code("EUR").unwrap();
        let shutdown = async { stopped.await.unwrap_or(()) };
        let bound = http::serve(
            &self.config,
            ServedTerminal::new(eur),
            Sockets::default(),
            self.commands.clone(),
            self.progress.clone(),
            shutdown,
        )
        .await
        .unwrap();
        let http = bound.http.unwrap();
        self.running = Some((stop, bound));
        http
    }

    async fn stop(&mut self) {
        if let Some((stop, bound)) = self.running.take() {
            stop.send(()).unwrap();
            bound.done.await.unwrap();
        }
    }
}

async fn play(
    mut heard: mpsc::Receiver<Command>,
    mut server: Server,
    mut stopped: mpsc::Receiver<oneshot::Sender<()>>,
    wants: watch::Sender<Option<Wanted>>,
) {
    let mut sales = BTreeMap::new();
    loop {
        let command = tokio::select! {
            Some(command) = heard.recv() => command,
            Some(done) = stopped.recv() => {
                server.stop().await;
                let _ = done.send(());
                continue;
            }
            else => return,
        };
        match command {
            Command::InTraining(command) => command.refuse(Refused::TrainingOff),
            Command::Begin { wanted, reply } => {
                wants.send_replace(Some(*wanted.clone()));
                let Wanted { till, reference, wish, .. } = *wanted;
                let (kind, amount) = (wish.kind, wish.amount);
                if reference == "drop" {
                    continue;
                }
                // A request that stores or deletes a card has no amount.
                let amount = amount.map_or_else(
                    || ("0.00".to_owned(), "EUR".to_owned()),
                    |amount| (amount.decimal(), amount.currency().code().to_owned()),
                );
                let answer = sale(&sales, &till, reference.as_str(), amount).map(|sale| SaleView { kind, ..sale });
                let begun = answer.clone().ok().filter(|sale| !sale.replayed);
                let _ = reply.send(answer);
                if let Some(sale) = begun {
                    act(&mut sales, &mut server, sale).await;
                }
            }
            Command::Totals { reply, .. } => {
                let why = "nothing to count".to_owned();
                drop(reply.send(Err(Refused::Journal { why: why.into() })));
            }
            Command::Close { reply, .. } => drop(reply.send(Err(Refused::Journal { why: "nothing to close".into() }))),
            Command::ShowClose { which, reply, .. } => drop(reply.send(Err(Refused::NoSuchClose { which }))),
            Command::ListCloses { reply, .. } => drop(reply.send(Ok(Vec::new()))),
            Command::ListEntries { reply, .. } => {
                let last = Head { entry: 0, hash: [0; 32] };
                drop(reply.send(Ok(Entries { journal: String::new(), last, entries: Vec::new() })));
            }
            Command::PrintClose { which, reply } => drop(reply.send(Err(Refused::NoSuchClose { which }))),
            Command::ShowText { reply, .. } => drop(reply.send(Ok(()))),
            Command::PrintLines { reply, .. } => {
                let why = "the terminal has no printer".to_owned();
                drop(reply.send(Err(Refused::Printer { why: why.into() })));
            }
            // The dropped sender reports that there is no answer.
            Command::Operators(asked) => drop(asked),
            Command::Fleet(FleetRequest::Connect { reply }) => drop(reply.send(Err(FleetRefused::NoFleet))),
            Command::Fleet(asked) => drop(asked),
            Command::FleetSettings(asked) => drop(asked),
            Command::Payment { reply, .. } => drop(reply.send(Ok(Default::default()))),
            Command::Query { reply, .. } => drop(reply.send(Ok(Vec::new()))),
            Command::NoAmountWanted => {}
            Command::TypeAmount { currency, reply } => {
                let _ = reply.send(Ok(Amount::parse("5.00", currency).unwrap()));
            }
            Command::Show { till, reference, reply } => {
                let known = sales.get(&(till.clone(), reference.to_string())).cloned();
                let _ = reply.send(known.ok_or(Refused::NoSuchSale { till, reference }));
            }
            Command::Latest { till, reply } => {
                let latest = sales.values().filter(|sale| sale.till == till).max_by_key(|sale| sale.number);
                let _ = reply.send(latest.cloned().ok_or(Refused::NoneYet { till }));
            }
            Command::List { till, since, limit, reply } => {
                let wanted =
                    |sale: &&SaleView| sale.number > since && till.as_ref().is_none_or(|till| *till == sale.till);
                let mut list: Vec<SaleView> = sales.values().filter(wanted).cloned().collect();
                list.sort_by_key(|sale: &SaleView| sale.number);
                list.truncate(limit as usize);
                let _ = reply.send(Ok(list));
            }
            Command::ListNewest { till, above, below, limit, reply, .. } => {
                let is_between = |sale: &&SaleView| sale.number > above && sale.number < below;
                let is_theirs = |sale: &&SaleView| till.as_ref().is_none_or(|till| *till == sale.till);
                let mut list: Vec<SaleView> = sales.values().filter(is_between).filter(is_theirs).cloned().collect();
                list.sort_by_key(|sale: &SaleView| std::cmp::Reverse(sale.number));
                list.truncate(limit as usize);
                let _ = reply.send(Ok(list));
            }
            Command::Cancel { till, reference, reply, .. } => {
                let mut known = sales.get(&(till.clone(), reference.to_string())).cloned();
                if let Some(sale) = known.as_mut().filter(|sale| sale.state == SaleState::WaitingForCard) {
                    end(&mut sales, sale, OutcomeWord::Cancelled);
                    announce(&server, sale, "ended", "cancelled at the till");
                    // The other till has more events than any ring holds, so the ending event is pushed out before a
                    // listener can run.
                    let crowd = if reference == "crowded" { 100 } else { 0 };
                    let other = SaleView { till: "till-2".into(), ..sale.clone() };
                    (0..crowd).for_each(|_| announce(&server, &other, "present-card", "Insert, tap or swipe"));
                }
                let _ = reply.send(known.ok_or(Refused::NoSuchSale { till, reference }));
            }
            Command::Signature { till, reference, reply, .. } | Command::Confirm { till, reference, reply, .. } => {
                let known = sales.get(&(till.clone(), reference.to_string())).cloned();
                let _ = reply.send(known.ok_or(Refused::NoSuchSale { till, reference }));
            }
            Command::Settle { number, keep, reply, .. } => {
                let waits = |sale: &&SaleView| sale.number == number && sale.state == SaleState::Unconfirmed;
                let known = sales.values().find(waits).cloned().map(|mut sale| {
                    sale.text = "being reversed".into();
                    if keep {
                        end(&mut sales, &mut sale, OutcomeWord::Approved);
                    }
                    sale
                });
                let why = format!("sale {number} is not waiting for a person's decision");
                let _ = reply.send(known.ok_or(Refused::NotPossible { why: why.into() }));
            }
            Command::Receipt { till, reference, copy, width, duplicate: _, reply } => {
                let text = format!("{copy:?} copy of {reference}\nGrüße\n");
                let row = ReceiptRowView { is: ReceiptRowIs::Bold, text: "<script>".into(), value: String::new() };
                let (number, language, width) = (SaleNumber::new(1), "de".into(), width.unwrap_or(42));
                let rows = vec![row];
                let view = ReceiptView { till, reference, number, copy, language, width, text, rows };
                let _ = reply.send(Ok(Box::new(view)));
            }
            Command::Print { reference, copy, reply, .. } => {
                let printer = format!("{copy:?} of {reference}");
                let _ =
                    reply.send(Ok(PrintView { printer, state: PrinterState::Ready, text: "ok".into(), waiting: 1 }));
            }
            Command::Metrics { reply } => drop(reply.send("# EOF\n".to_owned())),
            Command::Log { level, lasts, reply, .. } => {
                let left_s = lasts.as_secs();
                drop(reply.send(Ok(level.map(|level| LogView { level, left_s }))));
            }
            Command::Status { permit, reply } => {
                let theirs = || sales.values().filter(|sale| permit.hears(&sale.till));
                let current = theirs().find(|sale: &&SaleView| sale.state == SaleState::WaitingForCard).cloned();
                let unconfirmed = theirs().filter(|sale| sale.state == SaleState::Unconfirmed).cloned().collect();
                let _ = reply.send(StatusView {
                    tills: Vec::new(),
                    http: None,
                    logging: None,
                    health: None,
                    version: "1.2.3".into(),
                    terminal_id: "4711".into(),
                    merchant: vec!["Corner Shop".into()],
                    currency: Some("EUR".into()),
                    currency_number: Some(978),
                    currency_decimals: Some(2),
                    language: None,
                    tips: None,
                    may_train: false,
                    may_begin: Vec::new(),
                    waits: Some(WaitsView { card_s: 60, answer_s: 10, signature_s: 120 }),
                    ready: true,
                    busy: false,
                    attention: vec![AttentionView::new(Attention::PrinterPaperLow, "paper is\u{7} low")],
                    reader: ReaderView::new(ReaderState::Ready, "M010-MPI 12345"),
                    gateway: GatewayView {
                        state: GatewayState::Answers,
                        text: "answers".into(),
                        url: "https://gateway.example".into(),
                        cause: None,
                    },
                    clock: ClockView { state: ClockState::Ready, text: "the board's".into(), time: None },
                    journal: JournalView { state: JournalState::Ready, text: "written".into(), free_bytes: None },
                    printers: vec![PrinterView {
                        name: "printer-1".into(),
                        port: "/dev/usb/lp0".into(),
                        state: PrinterState::Ready,
                        text: "ok".into(),
                        waiting: 0,
                    }],
                    current,
                    unconfirmed,
                });
            }
        }
    }
}

type Sales = BTreeMap<(String, String), SaleView>;

fn sale(sales: &Sales, till: &str, reference: &str, amount: (String, String)) -> Result<SaleView, Refused> {
    const WHY: &str = "have it mended";
    match reference {
        "busy" => return Err(Refused::Busy { till: "till-2".into(), reference: Reference::as_kept("other".into()) }),
        "unready" => return Err(Refused::NotReady { why: WHY.into() }),
        "refused-amount" => return Err(Refused::Amount { why: WHY.into() }),
        "journal" => return Err(Refused::Journal { why: WHY.into() }),
        "not-possible" => return Err(Refused::NotPossible { why: WHY.into() }),
        "parameter" => return Err(Refused::Parameter { name: "merchantMemo".into(), why: WHY.into() }),
        "gateway" => return Err(Refused::Gateway { why: WHY.into() }),
        "printer" => return Err(Refused::Printer { why: WHY.into() }),
        "nothing-typed" => return Err(Refused::NothingTyped { why: WHY.into() }),
        "no-confirmation" => {
            return Err(Refused::NoConfirmationAwaited { earlier: None, state: "it has ended".into() });
        }
        "no-signature" => return Err(Refused::NoSignatureAwaited { earlier: None, state: "it has ended".into() }),
        "no-receipt" => return Err(Refused::NoReceiptYet { state: "it is at the reader".into() }),
        _ => {}
    }
    match sales.get(&(till.to_owned(), reference.to_owned())) {
        Some(known) if (&known.amount, &known.currency) == (&amount.0, &amount.1) => {
            Ok(SaleView { replayed: true, ..known.clone() })
        }
        Some(known) => {
            let amount = Amount::parse(&known.amount, Currency::from_code(&known.currency).unwrap()).unwrap();
            Err(Refused::AmountDiffers { reference: Reference::parse(reference).unwrap(), kind: known.kind, amount })
        }
        None => Ok(SaleView {
            till: till.to_owned(),
            reference: Reference::parse(reference).unwrap(),
            by: None,
            number: SaleNumber::new(sales.len() as u64 + 1),
            receipt_number: SaleNumber::new(sales.len() as u64 + 1).on_four_digits(),
            till_data: Default::default(),
            training: false,
            amount: amount.0,
            kind: Kind::Sale,
            of: None,
            left: None,
            later: Vec::new(),
            rest: None,
            tip: None,
            currency: amount.1,
            state: SaleState::WaitingForCard,
            outcome: None,
            approved_amount: None,
            to_confirm: None,
            reason: None,
            unsettled: None,
            text: "waiting for a card".into(),
            needs_person: None,
            started_at: "2026-11-20T12:34:56Z".into(),
            ended_at: None,
            replayed: false,
            payment_id: None,
            code: None,
            approval_code: None,
            card: None,
            status_text: None,
            registration: None,
            step: None,
            until: None,
            left_s: None,
            wait_s: None,
            language: None,
            redirect_url: None,
            receipt_on_demand: false,
            receipt_url: None,
            answer: Default::default(),
        }),
    }
}

async fn act(sales: &mut Sales, server: &mut Server, mut sale: SaleView) {
    let key = (sale.till.clone(), sale.reference.to_string());
    sales.insert(key.clone(), sale.clone());
    let beats = SCRIPT.iter().find(|(reference, _)| sale.reference == *reference).map_or(&[][..], |(_, beats)| beats);
    for beat in beats {
        match beat {
            Beat::Say(step, text) => {
                server.progress.send(Progress {
                    till: sale.till.clone(),
                    reference: sale.reference.to_string(),
                    step: (*step).into(),
                    text: (*text).into(),
                    training: false,
                    sale: None,
                });
            }
            Beat::Unconfirmed => {
                sale.state = SaleState::Unconfirmed;
                sale.text = "unconfirmed, reversing".into();
                sales.insert(key.clone(), sale.clone());
                announce(server, &sale, "unconfirmed", "unconfirmed, reversing");
            }
            Beat::End(outcome) => {
                end(sales, &mut sale, *outcome);
                announce(server, &sale, "ended", "ended");
            }
            Beat::EndUnheard(outcome) => end(sales, &mut sale, *outcome),
            Beat::Vanish => server.stop().await,
            Beat::Restart => {
                server.stop().await;
                server.start().await;
            }
            Beat::Forget => sales.clear(),
        }
    }
}

fn end(sales: &mut Sales, sale: &mut SaleView, outcome: OutcomeWord) {
    sale.state = SaleState::Ended;
    sale.outcome = Some(outcome);
    sale.text = format!("{outcome:?}");
    sale.approved_amount = match outcome {
        OutcomeWord::Approved => Some(sale.amount.clone()),
        OutcomeWord::PartiallyApproved => Some("10.00".into()),
        _ => None,
    };
    sales.insert((sale.till.clone(), sale.reference.to_string()), sale.clone());
}

fn announce(server: &Server, sale: &SaleView, step: &str, text: &str) {
    server.progress.send(Progress {
        till: sale.till.clone(),
        reference: sale.reference.to_string(),
        step: step.into(),
        text: text.into(),
        training: false,
        sale: Some(Box::new(sale.clone())),
    });
}
