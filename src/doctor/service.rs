//! The probe of the agent as a systemd service. It reports the state of the unit if the agent does not answer, and a
//! log that ends with the board's power.

use std::fs;
use std::path::Path;

use super::{Agent, Report};
use pos_daemon::systemd;

pub(super) fn look(report: &mut Report<'_>, agent: &Agent, file: &Path) {
    let is_set_up = file.try_exists().unwrap_or(true);
    let started =
        |remedy: &'static str| if is_set_up { remedy } else { "run pos-agent setup as root, then start the agent" };
    match (agent, systemd::unit_runs("pos-agent.service")) {
        (Agent::Answers(status), _) => report.ok(format!("pos-agent {} is running", status.version)),
        (_, None) => report.warning(
            "no agent answers, and this board does not use systemd",
            started("start the agent: pos-agent run"),
        ),
        (Agent::Absent, Some(true)) => report.fault(
            "the unit is running, but no agent answers at the socket",
            "check that socket in [till] of the unit's configuration is the socket checked here; for more, run \
             systemctl status pos-agent",
        ),
        (Agent::Closed | Agent::Silent(_), Some(true)) => report.note("the unit pos-agent is running"),
        (_, Some(false)) => report.fault(
            "no agent answers, and the unit pos-agent is not running",
            started(
                "run systemctl status pos-agent to see why, then start the unit with systemctl enable --now pos-agent",
            ),
        ),
    }
    log(report, Path::new("/"));
}

/// Warns of a log that systemd's journal keeps in memory. When the journal writes to the disk, it removes its files in
/// `/run` (systemd-journald.service(8)). `root` is the root of the file system.
fn log(report: &mut Report<'_>, root: &Path) {
    let Ok(machine) = fs::read_to_string(root.join("etc/machine-id")) else { return };
    if root.join("run/log/journal").join(machine.trim()).join("system.journal").exists() {
        report.warning(
            "the system keeps its log in memory, so the log is lost at each start of the board",
            "run: install -D -m 644 /usr/share/doc/pos-agent/examples/persistent-log.conf \
             /etc/systemd/journald.conf.d/pos-agent.conf && systemctl restart systemd-journald && journalctl --flush",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::{DoctorNews, Finding, Probe, Severity};

    #[test]
    fn a_log_that_is_only_in_memory_is_named_with_the_example_that_keeps_it() {
        let root = tempfile::tempdir().unwrap();
        let found = || -> Vec<Finding> {
            let mut unheard = |_: DoctorNews<'_>| {};
            let mut report = Report { probe: Probe::Service, findings: Vec::new(), tell: &mut unheard };
            log(&mut report, root.path());
            report.findings
        };
        let write = |file: &str, text: &str| {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        assert!(found().is_empty(), "no systemd");
        write("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
        write("var/log/journal/0123456789abcdef0123456789abcdef/system.journal", "");
        assert!(found().is_empty(), "on the disk");
        // The journal of another machine, and a namespace of this one.
        write("run/log/journal/00000000000000000000000000000000/system.journal", "");
        write("run/log/journal/0123456789abcdef0123456789abcdef.other/system.journal", "");
        assert!(found().is_empty(), "other journals");
        // A file on the disk may be left from earlier.
        write("run/log/journal/0123456789abcdef0123456789abcdef/system.journal", "");
        let found = found();
        assert_eq!((found.len(), found[0].judgement.severity()), (1, Severity::Warning), "{found:?}");
        let remedy = found[0].judgement.remedy().unwrap();
        let example = remedy.split_whitespace().find(|word| word.contains("/examples/")).unwrap();
        let example = Path::new("systemd/examples").join(Path::new(example).file_name().unwrap());
        let text = fs::read_to_string(&example).unwrap();
        assert!(text.contains("\n[Journal]\nStorage=persistent\n"), "{text}");
        // The example gives the same commands.
        assert!(remedy.split(" && ").all(|command| text.contains(command.trim_start_matches("run: "))), "{text}");
    }
}
