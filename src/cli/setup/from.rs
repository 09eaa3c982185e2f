//! `pos-agent setup --from FILE`: every answer comes from one file, and the options replace single answers.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use pos_first_boot::read::{self, Source};
use pos_first_boot::{Answers, Fault, PrinterAnswers, Secret};
use serde_json::Value;
use zeroize::Zeroizing;

use super::super::exit::{Exit, Stop};
use super::super::{boards, doctor, out, person};
use super::draft::Draft;
use super::front_file::FRONT;
use super::given::{Ground, folder_of, judged};
use super::system::{self, Etc, SOON};
use super::{Mode, Setup, already_there, failed};
use crate::board;
use crate::config::DEFAULT_PATH;
use crate::doctor::Agent;

/// The greatest length of a file of answers.
const LONGEST: u64 = 64 * 1024;

impl Setup {
    /// Checks a file of answers, and writes all files unless only the check was asked for.
    pub(super) async fn run_from(&self, file: &Path) -> Result<Exit, Stop> {
        let mut given = read_file(file)?;
        self.replace_answers(&mut given)?;
        // A check alone looks at the file, not at this board.
        let earlier = if self.check && !self.replace { None } else { self.earlier()? };
        let earlier_front = if self.check { None } else { self.earlier_front()? };
        let has_front = given.page.is_some() || given.till.as_ref().is_some_and(|till| till.kind.is_some());
        if earlier_front.is_some() && has_front && !self.replace {
            return Err(Stop::new(Exit::Config, already_there(&self.config.with_file_name(FRONT))));
        }
        if !self.check {
            self.may_write()?;
        }
        let agent = doctor::agent(&self.config).await;
        let ground = Ground {
            config: &self.config,
            earlier: earlier.as_ref().map(|(_, config)| config),
            folder: &folder_of(file),
            front_user: self.tills.front_user(),
            may_search: !self.check && matches!(agent, Agent::Absent),
            is_check: self.check,
        };
        let system = given.system.clone();
        let install = judged(given, &ground).await.map_err(|faults| faulty(file, &faults))?;
        if self.check {
            out::say(&format!("{} is good; nothing was written", file.display()));
            return Ok(Exit::Success);
        }
        if let Some(etc) = self.etc() {
            prepare_board(&install.draft, &etc)?;
            let zone = install.draft.time_zone.as_deref();
            let mut faults = etc.set_clock(zone, system.as_ref().map(|system| &system.time_servers[..]));
            if let Some(wifi) = system.as_ref().and_then(|system| system.wifi.as_ref()) {
                let wifi = with_value(wifi, ground.folder)?;
                let (name, password) = system::wifi_of(&wifi);
                faults.extend(etc.join_wifi(name, password));
            }
            // The terminal also works with the board's own settings.
            faults.iter().for_each(|fault| out::say(&format!("  {}", line(fault))));
        }
        self.write(install, (earlier.map(|(text, _)| text), earlier_front), &agent).await
    }

    /// Returns the folder of the board's own settings. Away from the usual place, setup keeps to the configuration's
    /// folder.
    pub(super) fn etc(&self) -> Option<Etc> {
        let usual = (self.config == Path::new(DEFAULT_PATH)).then(|| PathBuf::from("/etc"));
        self.etc.clone().or(usual).map(Etc)
    }

    /// Replaces the answers for which there is an option.
    fn replace_answers(&self, given: &mut Answers) -> Result<(), Stop> {
        let file = |file: &PathBuf| {
            Secret::File(folder_of(file).join(file.file_name().unwrap_or_default()).display().to_string())
        };
        over(&mut given.board, self.board.as_ref());
        over(&mut given.terminal_id, self.terminal_id.as_ref());
        over(&mut given.merchant, Some(&self.merchant).filter(|lines| !lines.is_empty()));
        over(&mut given.country, self.country.as_ref());
        over(&mut given.currency, self.currency.as_ref());
        over(&mut given.max_amount, self.max_amount.as_ref());
        over(&mut given.reader, self.reader.as_ref());
        over(&mut given.gateway.url, self.gateway_url.as_ref());
        over(&mut given.gateway.entity_id, self.entity_id.as_ref());
        over(&mut given.gateway.ca, self.ca_file.as_ref().map(file).as_ref());
        let mode = self.mode.map(|mode| match mode {
            Mode::Live => "live".to_owned(),
            Mode::External => "external".to_owned(),
            Mode::Internal => "internal".to_owned(),
        });
        over(&mut given.gateway.mode, mode.as_ref());
        match &self.token_file {
            Some(input) if input == Path::new("-") => {
                let typed = person::secret_from_input()?;
                let text = String::from_utf8(typed.to_vec()).unwrap_or_default();
                given.gateway.token = Some(Secret::Value(Zeroizing::new(text)));
            }
            token => over(&mut given.gateway.token, token.as_ref().map(file).as_ref()),
        }
        if let Some(port) = &self.printer {
            let columns = given.printer.take().and_then(|printer| printer.columns);
            given.printer = Some(PrinterAnswers { port: port.clone(), columns });
        }
        if let Some(columns) = &self.columns {
            let wrong = || Stop::new(Exit::Usage, "--columns: must be 32, 42 or 48; nothing was written");
            let columns = columns.parse().map_err(|_| wrong())?;
            let no_port = || Stop::new(Exit::Usage, "--columns: needs the printer's port; add --printer");
            given.printer.as_mut().ok_or_else(no_port)?.columns = Some(columns);
        }
        self.tills.replace_answers(&mut given.till, file);
        Ok(())
    }
}

/// Replaces an answer if there is another.
pub(super) fn over<T: Clone>(answer: &mut Option<T>, other: Option<&T>) {
    if other.is_some() {
        *answer = other.cloned();
    }
}

/// Writes the board's udev rules and drop-in, and tells the running system.
pub(in crate::cli) fn prepare_board(draft: &Draft, etc: &Etc) -> Result<(), Stop> {
    // A board with its own file has its own rules.
    if let Ok(known) = board::known(&draft.board) {
        boards::install(known, &etc.0)?;
        etc.try_to_run("udevadm", &["control", "--reload"], SOON);
        etc.try_to_run("udevadm", &["trigger", "--subsystem-match=tty"], SOON);
        etc.try_to_run("systemctl", &["daemon-reload"], SOON);
    }
    Ok(())
}

/// Reads a file of answers.
fn read_file(file: &Path) -> Result<Answers, Stop> {
    let mut text = Zeroizing::new(String::new());
    let read = File::open(file).and_then(|open| open.take(LONGEST + 1).read_to_string(&mut text));
    read.map_err(|error| failed(file, &error))?;
    if text.len() as u64 > LONGEST {
        return Err(failed(file, &io::Error::other("is longer than 64 KiB")));
    }
    let value: Value = toml::from_str(&text).map_err(|error| {
        let line =
            1 + text.bytes().take(error.span().map_or(0, |span| span.start)).filter(|byte| *byte == b'\n').count();
        let what = error.message().replace(['\n', '\r'], " ");
        Stop::new(
            Exit::Usage,
            format!("{}: line {line}: {what}; correct the line; nothing was written", file.display()),
        )
    })?;
    read::answers(value, Source::File).map_err(|faults| faulty(file, &faults))
}

/// Returns the Wi-Fi with the password that its file holds.
fn with_value(wifi: &pos_first_boot::WifiAnswers, folder: &Path) -> Result<pos_first_boot::WifiAnswers, Stop> {
    let mut wifi = wifi.clone();
    if let Some(Secret::File(file)) = &wifi.password {
        let file = folder.join(file);
        let text = std::fs::read_to_string(&file).map(Zeroizing::new).map_err(|error| failed(&file, &error))?;
        wifi.password = Some(Secret::Value(Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned())));
    }
    Ok(wifi)
}

fn line(fault: &Fault) -> String {
    let key = if fault.key.is_empty() { String::new() } else { format!("{}: ", fault.key) };
    format!("{key}{}; {}", fault.wrong, fault.remedy)
}

/// Returns the stop that names every fault on its own line.
fn faulty(file: &Path, faults: &[Fault]) -> Stop {
    let lines: Vec<String> = faults.iter().map(|fault| format!("{}: {}", file.display(), line(fault))).collect();
    Stop::new(Exit::Usage, format!("{}\nnothing was written", lines.join("\n")))
}
