//! The check and the writing of the answers. The files are those of `pos-agent setup --from`.

use std::path::Path;

use pos_first_boot::{Answers, Fault, Reply, Stage, Step};
use tokio::net::UnixStream;

use super::super::exit::Stop;
use super::super::out;
use super::super::setup::from::prepare_board;
use super::super::setup::front_file::FRONT;
use super::super::setup::given::{Ground, judged};
use super::super::setup::install::{self, Install};
use super::super::setup::system::{SOON, STARTED};
use super::super::setup::undisturbed;
use super::boot::{Boot, blocking, fault, is_known_board, told};
use super::serve::send;

/// The units that the first boot starts and stops.
const AGENT: [&str; 2] = ["pos-agent.socket", "pos-agent.service"];
const FRONT_UNIT: &str = "pos-front.service";
const PAGE: &str = "pos-front-first-boot.service";
const SOCKET: &str = "pos-first-boot.socket";

impl Boot {
    /// Returns all files that the answers make, or all faults.
    pub(super) async fn judged(&self, mut given: Answers) -> Result<Install, Vec<Fault>> {
        if !is_known_board(&given) {
            return Err(vec![fault("board", "is no board of the list", "choose a board of the list, or omit it")]);
        }
        given.board.get_or_insert_with(|| self.board_name.clone());
        given.journal.clone_from(&self.journal);
        let ground = Ground {
            config: &self.config,
            earlier: None,
            folder: Path::new("/"),
            front_user: self.front_user.as_deref(),
            may_search: false,
            is_check: false,
        };
        judged(given, &ground).await
    }

    /// Writes all files and starts the agent. A power cut before the configuration has its name leaves the board
    /// without one; a later cut leaves it complete.
    pub(super) async fn write(&mut self, given: Answers, stream: &mut UnixStream) -> Reply {
        send(stream, &Reply::Progress(Step::Checking)).await;
        let servers = given.system.as_ref().map(|system| system.time_servers.clone());
        let install = match self.judged(given).await {
            Ok(install) => install,
            Err(faults) => return Reply::Faulty(faults),
        };
        match self.put(install, servers, stream).await {
            Ok(()) => {
                self.stage = Stage::Written;
                send(stream, &Reply::Progress(Step::Front)).await;
                Reply::Done
            }
            Err(stop) => {
                let text = stop.to_string();
                let (wrong, remedy) = text.split_once("; ").unwrap_or((&text, "check the disk, then try again"));
                told(vec![fault("", wrong, remedy)])
            }
        }
    }

    async fn put(&self, install: Install, servers: Option<Vec<String>>, stream: &mut UnixStream) -> Result<(), Stop> {
        let _undisturbed = undisturbed()?;
        send(stream, &Reply::Progress(Step::Writing)).await;
        let (etc, config) = (self.etc.clone(), self.config.clone());
        let prepare = move || -> Result<_, Stop> {
            install::mend(&config).map_err(|error| super::failed(&config, &error))?;
            prepare_board(&install.draft, &etc)?;
            let zone = install.draft.time_zone.as_deref();
            // The terminal also works with the board's own clock settings; the page has told these faults before.
            for fault in etc.set_clock(zone, servers.as_deref()) {
                out::say(&format!("{}: {}; {}", fault.key, fault.wrong, fault.remedy));
            }
            let ready = install.prepare()?;
            Ok((install, ready))
        };
        let (install, ready) = blocking(prepare).await?;
        send(stream, &Reply::Progress(Step::Operators)).await;
        let add = move || install.add_operators(&ready).and_then(|()| ready.put(false));
        let placed = blocking(add).await?;
        send(stream, &Reply::Progress(Step::Agent)).await;
        let etc = self.etc.clone();
        let start = move || {
            // The package has enabled the units; after a removal or on another system they may not be.
            etc.try_to_run("systemctl", &["enable", "pos-agent.service", FRONT_UNIT], SOON);
            etc.run("systemctl", &[&["start"], &AGENT[..]].concat(), STARTED).inspect_err(|_| {
                placed.take_back();
                etc.try_to_run("systemctl", &[&["stop"], &AGENT[..]].concat(), SOON);
            })
        };
        blocking(start).await.map_err(|why| {
            let wrong = format!("the agent did not start, so the files were removed: {why}");
            Stop::new(super::Exit::Io, format!("{wrong}; see journalctl -u pos-agent, then try again"))
        })
    }

    /// Ends the first boot's page, whose port the front takes.
    pub(super) async fn start_front(&self) {
        let (etc, has_front) = (self.etc.clone(), self.config.with_file_name(FRONT).exists());
        let start = move || {
            etc.try_to_run("systemctl", &["stop", PAGE], STARTED);
            if has_front && let Err(why) = etc.run("systemctl", &["start", FRONT_UNIT], STARTED) {
                out::say(&format!("pos-front did not start: {why}; see journalctl -u pos-front"));
            }
            // This ends this program's unit too, so this program does not wait for it.
            etc.try_to_run("systemctl", &["--no-block", "stop", SOCKET], SOON);
        };
        blocking(start).await;
    }
}
