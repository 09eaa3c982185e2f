//! The probe of the agent as a systemd service. It reports the state of the unit if the agent does not answer.

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
}
