//! `pos-front first-boot`: the start, the addresses of the board, and the end of the first boot.
//!
//! | it ends | when |
//! |---|---|
//! | after an hour | root's hour is over and root does not write |
//! | after the writing | root has said that it is done, and the browser has got this reply |
//! | beside a configuration | somebody has set up the terminal in another way |
//! | at SIGTERM | systemd stops the service |
//!
//! The network of a board may come later than the first boot, or change when the board joins a wireless network. The
//! front then renews the certificate. It tells root the addresses once, because root makes a new code each time, and
//! again when root has started again and has no code.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use pos_daemon::systemd::{Notify, watchdog_interval};
use pos_first_boot::{LASTS_S, Reply, Stage, State};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify as Signal, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until, timeout};

use super::let_in::LetIn;
use super::root::{RootError, RootHalf};
use super::{Course, FirstBoot, Place};
use crate::Stop;
use crate::arguments::FirstBootVerb;
use crate::browsers::Browsers;
use crate::certificate::{CertificateError, HostCertificate, Purpose, host_names, outward, page_origins};
use crate::front::POLICY;
use crate::guard::Guard;
use crate::listen::{Listening, Served};
use crate::page::Page;
use crate::run::ticked;
use crate::slots::Slots;
use crate::state::StateFolder;
use crate::task;

/// The interval at which the front looks for a new address, and for a configuration.
const LOOK: Duration = Duration::from_secs(3);
/// The time for which the code waits for an address of the board. A network gives one within some seconds.
const FOR_AN_ADDRESS: Duration = Duration::from_secs(30);
/// The time in which root looks for a printer and shows the code.
const SHOWING: Duration = Duration::from_secs(180);
/// The pause after root did not answer.
const AGAIN: Duration = Duration::from_secs(2);

/// Serves the first boot until its end.
pub(crate) async fn run(verb: FirstBootVerb, now: fn() -> SystemTime) -> Result<(), Stop> {
    let failed = |error: &dyn std::error::Error| Stop::Failed(error.to_string());
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| failed(&error))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| failed(&error))?;
    set_up(&verb.configuration, &verb.agent).map_or(Ok(()), |found| Err(Stop::Refused(found)))?;
    let state = StateFolder::open(&verb.state).map_err(|error| failed(&error))?;
    let browsers = Browsers::restored(state.clone()).map_err(|error| failed(&error))?;
    let names = host_names(&[], &[verb.listen]);
    let certificate = HostCertificate::open(&state, &Purpose::page(), &names, now()).map_err(|error| failed(&error))?;
    let (tls_sender, tls) = watch::channel(certificate.tls().map_err(|error| failed(&error))?);
    let listening = Listening::bind(verb.listen, Some(tls), "--listen").await.map_err(Stop::Failed)?;
    let reached = listening.listener.local_addr().map_err(|error| failed(&error))?;
    let place_of = move |certificate: HostCertificate| Place {
        certificate: Arc::new(certificate),
        addresses: if reached.ip().is_unspecified() { outward() } else { vec![reached.ip()] },
        urls: page_origins(&[], &[reached]),
    };
    let (place_sender, place) = watch::channel(place_of(certificate));
    let (course_sender, mut course) = watch::channel(Course::Serving);
    let front = Arc::new(FirstBoot {
        // The guard permits `localhost` only for connections from this board.
        guard: Guard::new(names.iter().filter(|name| *name != "localhost").cloned().collect(), Vec::new()),
        page: Page::embedded(POLICY),
        root: RootHalf { socket: verb.root_socket },
        browsers,
        place: place.clone(),
        let_in: LetIn::default(),
        known: Mutex::default(),
        turn: Arc::default(),
        course: course_sender,
        needs_code: Signal::new(),
        ends: watch::Sender::new(Instant::now() + Duration::from_secs(LASTS_S)),
        now,
    });
    tracing::info!(url = listening.url(), "the first boot's page is served");
    let (stop, stopped) = watch::channel(false);
    let served = Served::FirstBoot(Arc::clone(&front));
    let served = tokio::spawn(listening.serve(served, Arc::new(Slots::default()), stopped));
    task::spawn(async move {
        let mut known = names;
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            look.tick().await;
            let names = host_names(&[], &[reached]);
            if known == names {
                continue;
            }
            let opened = HostCertificate::open(&state, &Purpose::page(), &names, now());
            let opened = opened.and_then(|certificate| Ok::<_, CertificateError>((certificate.tls()?, certificate)));
            match opened {
                Ok((tls, certificate)) => {
                    known = names;
                    // This fails only if all receivers are gone because the front is stopping.
                    drop((tls_sender.send(tls), place_sender.send(place_of(certificate))));
                }
                Err(error) => tracing::error!(%error, "the certificate has not the board's new address"),
            }
        }
    });
    task::spawn(show(Arc::clone(&front), place));
    let notify = Notify::from_env();
    notify.ready();
    let mut watchdog = watchdog_interval().map(interval);
    let is_set_up = || is_configured(&verb.configuration).is_some();
    let end = over(&mut course, front.ends.subscribe(), is_set_up);
    tokio::pin!(end);
    let why = loop {
        tokio::select! {
            why = &mut end => break why,
            _ = terminate.recv() => break "it was stopped",
            _ = interrupt.recv() => break "it was stopped",
            () = ticked(&mut watchdog) => notify.watchdog(),
        }
    };
    tracing::info!(why, "the first boot ends");
    notify.stopping();
    let _ = stop.send(true);
    let _ = served.await;
    Ok(())
}

/// Returns the configuration in the folder, if there is one.
fn is_configured(folder: &Path) -> Option<std::path::PathBuf> {
    // A file that cannot be looked at may exist.
    ["config.toml", "front.toml"]
        .map(|name| folder.join(name))
        .into_iter()
        .find(|file| !matches!(file.try_exists(), Ok(false)))
}

/// Returns why this board needs no first boot.
fn set_up(folder: &Path, agent: &Path) -> Option<String> {
    if let Some(file) = is_configured(folder) {
        let instead = "the page is served by pos-front.service; to change the terminal, run pos-agent setup";
        return Some(format!("{}: exists, so this terminal is set up; {instead}", file.display()));
    }
    let runs = std::os::unix::net::UnixStream::connect(agent).is_ok();
    runs.then(|| {
        format!("{}: an agent runs, so this terminal is set up; to stop it: systemctl stop pos-agent", agent.display())
    })
}

/// Waits for the end of the first boot. Returns the reason.
async fn over(
    course: &mut watch::Receiver<Course>,
    mut ends: watch::Receiver<Instant>,
    is_set_up: impl Fn() -> bool,
) -> &'static str {
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let now = *course.borrow_and_update();
        if now == Course::Done {
            return "the terminal is set up";
        }
        let at = *ends.borrow_and_update();
        tokio::select! {
            // The front keeps the senders.
            _ = course.changed() => {}
            _ = ends.changed() => {}
            () = sleep_until(at), if now == Course::Serving => return "its hour is over",
            _ = look.tick(), if now == Course::Serving => if is_set_up() { return "a configuration exists" },
        }
    }
}

/// Tells root the addresses of the page, so that it shows them with the code. If the board had no address then, it does
/// so again when the board has one; and when root has started again, which then has no code.
async fn show(front: Arc<FirstBoot>, mut place: watch::Receiver<Place>) {
    let has_address = |place: &Place| !place.addresses.is_empty();
    // The state is known before root is busy with the code.
    let _ = front.root_state().await;
    let _ = timeout(FOR_AN_ADDRESS, place.wait_for(has_address)).await;
    loop {
        let shown = place.borrow_and_update().clone();
        while let Err(error) = front.show(&shown.urls).await {
            tracing::warn!(%error, "root's half does not show the code; the front asks again");
            sleep(AGAIN).await;
        }
        let mut lacks_address = !has_address(&shown);
        loop {
            let has_come = tokio::select! {
                found = place.wait_for(has_address), if lacks_address => found.is_ok(),
                () = front.needs_code.notified() => false,
            };
            lacks_address &= !has_come;
            let is_due = |state: &State| state.stage == Stage::Waiting && (has_come || !state.has_code);
            if front.root_state().await.is_ok_and(|state| is_due(&state)) {
                break;
            }
        }
    }
}

impl FirstBoot {
    async fn show(&self, urls: &[String]) -> Result<(), RootError> {
        let turn = self.turn.lock().await;
        let line = format!("{}\n", json!({ "show": { "urls": urls } }));
        let reply = self.root.answer(line.as_bytes(), SHOWING).await;
        drop(turn);
        self.forget_state();
        match reply? {
            Reply::Done => tracing::info!(urls = urls.join(" "), "root shows the code"),
            // The code is closed, or the terminal is set up: the page says so.
            Reply::Refused(refusal) => tracing::warn!(?refusal, "root shows no code"),
            _ => return Err(RootError::Garbage),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use pos_first_boot::Request;
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    use tokio::net::UnixListener;
    use tokio::sync::mpsc;

    use super::*;
    use crate::arguments::{Arguments, Verb};

    const HOUR: Duration = Duration::from_secs(LASTS_S);

    #[tokio::test(start_paused = true)]
    async fn the_first_boot_lasts_an_hour() {
        let (_front, mut course) = watch::channel(Course::Serving);
        let begun = Instant::now();
        let ends = watch::Sender::new(begun + HOUR);
        assert_eq!(over(&mut course, ends.subscribe(), || false).await, "its hour is over");
        assert_eq!(begun.elapsed(), HOUR);
        // Root tells that less is left.
        ends.send_replace(begun + 2 * HOUR);
        let tells = async {
            sleep(HOUR / 4).await;
            ends.send_replace(begun + HOUR + HOUR / 2);
        };
        let (why, ()) = tokio::join!(over(&mut course, ends.subscribe(), || false), tells);
        assert_eq!((why, begun.elapsed()), ("its hour is over", HOUR + HOUR / 2));
    }

    #[tokio::test(start_paused = true)]
    async fn the_hour_and_a_new_configuration_do_not_end_a_writing() {
        let (front, mut course) = watch::channel(Course::Writing);
        let begun = Instant::now();
        let writes = async {
            sleep(HOUR + LOOK).await;
            front.send_replace(Course::Done);
        };
        let ends = watch::Sender::new(begun + HOUR);
        let (why, ()) = tokio::join!(over(&mut course, ends.subscribe(), || true), writes);
        assert_eq!((why, begun.elapsed()), ("the terminal is set up", HOUR + LOOK));
        // A writing that was taken back leaves the rest of the hour, which is over here.
        front.send_replace(Course::Serving);
        assert_eq!(over(&mut course, ends.subscribe(), || false).await, "its hour is over");
    }

    #[tokio::test(start_paused = true)]
    async fn a_configuration_of_somebody_else_ends_it() {
        let folder = tempfile::tempdir().unwrap();
        let (_front, mut course) = watch::channel(Course::Serving);
        let begun = Instant::now();
        let writes = async {
            sleep(HOUR / 2).await;
            std::fs::write(folder.path().join("front.toml"), "").unwrap();
        };
        let ends = watch::Sender::new(begun + HOUR);
        let looks = over(&mut course, ends.subscribe(), || is_configured(folder.path()).is_some());
        let (why, ()) = tokio::join!(looks, writes);
        assert_eq!(why, "a configuration exists");
        assert!(begun.elapsed() <= HOUR / 2 + LOOK);
    }

    #[test]
    fn it_does_not_begin_beside_a_configuration_or_an_agent() {
        let folder = tempfile::tempdir().unwrap();
        let agent = folder.path().join("till.sock");
        assert_eq!(set_up(folder.path(), &agent), None);
        let listener = std::os::unix::net::UnixListener::bind(&agent).unwrap();
        assert!(set_up(folder.path(), &agent).unwrap().contains("an agent runs"));
        drop(listener);
        assert_eq!(set_up(folder.path(), &agent), None, "the socket of a killed agent");
        for name in ["config.toml", "front.toml"] {
            let file = folder.path().join(name);
            std::fs::write(&file, "").unwrap();
            assert!(set_up(folder.path(), &agent).unwrap().contains(name));
            std::fs::remove_file(&file).unwrap();
        }
    }

    #[test]
    fn the_addresses_are_told_in_the_words_of_the_contract() {
        let urls = vec!["https://pos.local:8443".to_owned()];
        let line = json!({ "show": { "urls": urls } }).to_string();
        assert_eq!(serde_json::from_str::<Request>(&line).unwrap(), Request::Show { urls });
        assert_eq!(serde_json::from_str::<Request>("\"state\"").unwrap(), Request::State);
        let verb = ["pos-front", "first-boot"];
        let Verb::FirstBoot(verb) = Arguments::try_parse_from(verb).unwrap().verb else { panic!("another verb") };
        assert_eq!(verb.root_socket.to_str(), Some(pos_first_boot::SOCKET));
        assert_eq!(serde_json::from_str::<Request>("\"search\"").unwrap(), Request::Search);
    }

    /// A front of a board, and the sender of its place.
    fn front(folder: &tempfile::TempDir, addresses: &[&str]) -> (Arc<FirstBoot>, watch::Sender<Place>) {
        let state = StateFolder::open(&folder.path().join("state")).unwrap();
        let names = ["pos.local".to_owned()];
        let now = || SystemTime::UNIX_EPOCH;
        let certificate = HostCertificate::open(&state, &Purpose::page(), &names, now()).unwrap();
        let place = Place {
            certificate: Arc::new(certificate),
            addresses: addresses.iter().map(|address| address.parse().unwrap()).collect(),
            urls: addresses.iter().map(|address| format!("https://{address}:8443")).collect(),
        };
        let (sender, place) = watch::channel(place);
        let front = FirstBoot {
            guard: Guard::new(Vec::new(), Vec::new()),
            page: Page::embedded(POLICY),
            root: RootHalf { socket: folder.path().join("root.sock") },
            browsers: Browsers::restored(state).unwrap(),
            place,
            let_in: LetIn::default(),
            known: Mutex::default(),
            turn: Arc::default(),
            course: watch::channel(Course::Serving).0,
            needs_code: Signal::new(),
            ends: watch::Sender::new(Instant::now() + HOUR),
            now,
        };
        (Arc::new(front), sender)
    }

    /// Answers with this stage, and returns the addresses that root is told. If `starts_again`, root has forgotten its
    /// code after the first one.
    fn root(folder: &tempfile::TempDir, stage: Stage, starts_again: bool) -> mpsc::Receiver<Vec<String>> {
        let listener = UnixListener::bind(folder.path().join("root.sock")).unwrap();
        let (sender, told) = mpsc::channel(8);
        task::spawn(async move {
            let mut codes = 0;
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let mut stream = BufReader::new(stream);
                let mut line = String::new();
                stream.read_line(&mut line).await.unwrap();
                let reply = match serde_json::from_str(&line).unwrap() {
                    Request::Show { urls } => {
                        codes += 1;
                        sender.send(urls).await.unwrap();
                        Reply::Done
                    }
                    _ => Reply::State(State {
                        stage,
                        code_at: Vec::new(),
                        has_code: codes > u32::from(starts_again),
                        tries_left: 5,
                        left_s: 1800,
                        board: None,
                        wifi: false,
                        time_zone: None,
                        clock_is_right: false,
                    }),
                };
                let reply = serde_json::to_string(&reply).unwrap() + "\n";
                stream.write_all(reply.as_bytes()).await.unwrap();
            }
        });
        told
    }

    /// Each time, root makes a new code. A person may be typing the earlier one.
    #[tokio::test(start_paused = true)]
    async fn root_is_told_the_addresses_once_and_again_only_without_a_code_or_an_address() {
        let far = "192.0.2.7";
        for (first, stage, starts_again, expected) in [
            (&[far][..], Stage::Waiting, false, &[&[far][..]][..]),
            (&[far], Stage::Waiting, true, &[&[far], &[far]]),
            (&[], Stage::Waiting, false, &[&[], &[far]]),
            (&[], Stage::Entered, false, &[&[]]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let mut told = root(&folder, stage, starts_again);
            let (front, place) = front(&folder, first);
            let shows = task::spawn(show(Arc::clone(&front), front.place.clone()));
            for (nth, addresses) in expected.iter().enumerate() {
                let urls: Vec<String> = addresses.iter().map(|address| format!("https://{address}:8443")).collect();
                assert_eq!(told.recv().await.unwrap(), urls);
                if nth == 0 {
                    place.send_modify(|place| {
                        place.addresses = vec![far.parse().unwrap()];
                        place.urls = vec![format!("https://{far}:8443")];
                    });
                }
                // A browser asks for the state later.
                sleep(Duration::from_secs(5)).await;
                front.root_state().await.unwrap();
            }
            sleep(HOUR).await;
            assert!(told.try_recv().is_err(), "{first:?} {stage:?}");
            shows.abort();
            // The hour is root's.
            assert!(front.ends.borrow().elapsed() < HOUR, "{:?}", front.ends);
            assert!(*front.ends.borrow() < Instant::now() - HOUR / 4, "{:?}", front.ends);
        }
    }
}
