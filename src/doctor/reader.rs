//! The probe of the card reader. It reports the reader's state as the agent knows it. If no agent is running, the
//! doctor asks the reader.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::Access;

use chrono::Utc;

use super::{Agent, Past, Report};
use crate::agent::clock::said;
use crate::config::Config;
use crate::till::{ReaderState, ReaderView, StatusView};
use pos_journal::ReaderChange;
use pos_reader::config::ReaderProtocol;
use pos_reader::{ReaderEvent, ReaderFamily, ReaderIdentity, ReaderSettings, Unready};

/// The greatest number of devices that are named if the configured one is missing.
const NAMED: usize = 4;

/// The time, in milliseconds, for which a change of the reader is reported as a warning.
const CHANGE_IS_NEW_MS: i64 = 7 * 24 * 3600 * 1000;

pub(super) async fn look(report: &mut Report<'_>, config: &Config, agent: &Agent, past: &Past) {
    changed(report, past.reader.as_ref(), Utc::now().timestamp_millis());
    family(report, config.reader.protocol);
    match agent {
        Agent::Answers(status) => as_the_agent_sees_it(report, status, config.reader.warn_keys_left),
        Agent::Absent => {
            if device_can_be_opened(report, &config.reader.port, "reader") && nobody_holds(report, &config.reader.port)
            {
                as_it_says_itself(report, config).await;
            }
        }
        Agent::Closed | Agent::Silent(_) => {
            report.note("not checked: the agent may be using the reader and cannot be asked");
        }
    }
}

fn as_the_agent_sees_it(report: &mut Report<'_>, status: &StatusView, limit: u64) {
    let reader = &status.reader;
    if reader.state == ReaderState::Ready {
        report.ok(format!("the agent says: {}", reader.text));
        let files = reader.configuration.iter().map(|file| (file.name.as_str(), file.version.as_str()));
        configuration(report, &files.collect::<Vec<_>>());
        if reader.tampered {
            tampered(report);
        }
        keys_left(report, reader, limit);
    } else {
        report.say_fault(&reader.text);
    }
}

/// Reports the latest change of the reader or of its configuration, because a person may not have noticed it.
fn changed(report: &mut Report<'_>, change: Option<&ReaderChange>, now: i64) {
    let Some(change) = change.filter(|change| change.before.is_some()) else { return };
    let at = said(change.unix_ms);
    let seen = format!("the reader changed at {at}: {}", change.words());
    if now.saturating_sub(change.unix_ms) < CHANGE_IS_NEW_MS {
        report.warning(
            seen,
            "if this change was not intended, stop using the reader and have it checked; set serials in [reader] to \
             refuse other readers",
        );
    } else {
        report.note(seen);
    }
}

/// Reports what the readers of the configured protocol cannot do, and whether a real one is known to have sold.
fn family(report: &mut Report<'_>, protocol: ReaderProtocol) {
    if protocol.is_experimental() {
        // It is no fault of this terminal, so it does not change the doctor's result.
        report.note(format!(
            "{} is experimental: no sale with a real reader of it is known yet; try each kind of card with the \
             acquirer's test cards",
            protocol.name()
        ));
    }
    for limit in protocol.limits() {
        report.note(format!("{} readers cannot {limit}", protocol.name()));
    }
}

/// Reports that the reader was opened. Such a reader soon erases its keys.
fn tampered(report: &mut Report<'_>) {
    report.warning("the reader says that it was opened", "stop using the reader and have it checked or replaced");
}

/// Reports the files of the reader's configuration.
fn configuration(report: &mut Report<'_>, files: &[(&str, &str)]) {
    if files.is_empty() {
        return report.note("the reader does not report its configuration");
    }
    let files: Vec<_> = files.iter().map(|(name, version)| format!("{name} {version}")).collect();
    report.ok(format!("the reader's configuration: {}", files.join(", ")));
}

/// Reports the number of unused keys in the reader, which is known after the first card since the start.
fn keys_left(report: &mut Report<'_>, reader: &ReaderView, limit: u64) {
    let Some(left) = reader.keys_left else {
        return report.note("the number of keys left is known after the next card");
    };
    for (what, left) in [("card-data (SRED)", left.card), ("PIN", left.pin)] {
        match left {
            None => {}
            Some(left) if left < limit => report.warning(
                format!("{left} {what} keys are left in the reader"),
                "have new keys injected before these are used up; without keys, the reader cannot read cards",
            ),
            Some(left) => report.ok(format!("{left} {what} keys are left in the reader")),
        }
    }
}

/// Opens the reader as the agent does. The doctor does not set the reader's clock, but shows its time.
async fn as_it_says_itself(report: &mut Report<'_>, config: &Config) {
    let family = match ReaderFamily::of(&config.reader) {
        Ok(family) => family,
        Err(error) => return report.say_fault(&error.to_string()),
    };
    let (_handle, mut events) = pos_reader::spawn(ReaderSettings::of(&config.reader), family);
    while let Some(event) = events.recv().await {
        match event {
            ReaderEvent::Ready(identity) => return ready(report, &identity),
            // The reader restarts, and the driver tries again. The probe's deadline limits the wait.
            ReaderEvent::Unready(Unready::Restarting { .. }) => {}
            ReaderEvent::Unready(Unready::Absent { port, cause }) if cause.to_lowercase().contains("busy") => {
                let remedy = "run the doctor as root to see which program, and stop that program (ModemManager and getty take \
                     serial lines)";
                return report.fault(format!("another program is using {port}: {cause}"), remedy);
            }
            ReaderEvent::Unready(why) => return report.say_fault(&why.to_string()),
            _ => {}
        }
    }
}

fn ready(report: &mut Report<'_>, identity: &ReaderIdentity) {
    let ReaderIdentity { serial, model, firmware, configuration: files, pin_key, tampered: opened, clock } = identity;
    report.ok(format!("{model} {firmware}, serial {serial}, holds a card-data key (SRED)"));
    configuration(report, &files.iter().map(|file| (file.name.as_str(), file.version.as_str())).collect::<Vec<_>>());
    if *opened {
        tampered(report);
    }
    if *pin_key {
        report.ok("the reader holds a PIN key");
    } else {
        report.note("the reader holds no PIN key: a payment that needs a PIN is sent without it, or refused");
    }
    if let Some(time) = clock {
        let (year, month, day) = (time.year, time.month, time.day);
        report.note(format!(
            "the reader's clock says 20{year:02}-{month:02}-{day:02} {:02}:{:02}",
            time.hour, time.minute
        ));
    }
}

/// Checks whether a serial device exists and may be opened. A TCP port is checked later, by connecting. The printer's
/// probe also uses this function.
pub(super) fn device_can_be_opened(report: &mut Report<'_>, port: &str, what: &str) -> bool {
    if port.starts_with("tcp://") {
        return true;
    }
    let facts = match fs::metadata(port) {
        Ok(facts) => facts,
        Err(error) => {
            let there = devices();
            let remedy = if there.is_empty() {
                format!(
                    "check the device's power and cable; set port in [{what}] to the device, which ls \
                     /dev/serial/by-id/ shows when it is connected"
                )
            } else {
                format!("check the device's power and cable, or set port in [{what}] to one of: {}", there.join(", "))
            };
            report.fault(format!("no device at {port}: {error}"), remedy);
            return false;
        }
    };
    if !facts.file_type().is_char_device() {
        report
            .fault(format!("{port} is not a device"), format!("set port in [{what}] to a path in /dev/serial/by-id/"));
        return false;
    }
    if rustix::fs::access(port, Access::READ_OK | Access::WRITE_OK).is_err() {
        let (mode, group) = (facts.permissions().mode() & 0o777, facts.gid());
        let seen = format!("this user may not open {port} (mode {mode:04o}, owner {}, group {group})", facts.uid());
        report.fault(
            seen,
            "run the doctor as root; make the service's user own the device, with 70-pos-agent.rules or \
            a udev rule of the board",
        );
        return false;
    }
    true
}

/// Checks that no other program has the serial device open, because two programs on one line would each get half of an
/// answer. Only root sees the open files of all users. For other users, opening such a device fails (TIOCEXCL), but not
/// for root.
fn nobody_holds(report: &mut Report<'_>, port: &str) -> bool {
    let Some(holder) = held_by(port) else { return true };
    let seen = format!("another program is using {port}: {holder}");
    report.fault(seen, "stop that program and keep it from starting again (ModemManager and getty take serial lines)");
    false
}

/// Returns the program that has a serial device open, and its process number. Only root sees the programs of all users.
#[must_use]
pub fn held_by(port: &str) -> Option<String> {
    holder(&fs::canonicalize(port).ok()?)
}

/// Returns the program that has a file open, and its process number.
fn holder(file: &Path) -> Option<String> {
    let pty = file.starts_with("/dev/pts");
    let processes = fs::read_dir("/proc").ok()?.flatten();
    processes.filter(|process| process.file_name() != std::process::id().to_string().as_str()).find_map(|process| {
        let files = fs::read_dir(process.path().join("fd")).ok()?.flatten();
        let open: Vec<_> = files.filter_map(|fd| fs::read_link(fd.path()).ok()).collect();
        // The program that created a pty uses its other end, and may also keep this end open.
        let other_end = pty && open.iter().any(|path| path.ends_with("ptmx"));
        if other_end || !open.iter().any(|path| path == file) {
            return None;
        }
        let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
        Some(format!("{} (process {})", name.trim(), process.file_name().display()))
    })
}

/// Returns the names of the board's serial devices.
fn devices() -> Vec<String> {
    let entries = fs::read_dir(Path::new("/dev/serial/by-id")).into_iter().flatten().flatten();
    entries.take(NAMED).map(|entry| entry.path().display().to_string()).collect()
}
