//! The probe of the agent as a systemd service. It reports the state of the unit if the agent does not answer.

use super::{Agent, Report};
use pos_daemon::systemd;

pub(super) fn look(report: &mut Report<'_>, agent: &Agent) {
    match (agent, systemd::unit_runs("pos-agent.service")) {
        (Agent::Answers(status), _) => report.ok(format!("pos-agent {} runs", status.version)),
        (_, None) => report.warning("no agent answers, and this board does not use systemd", "start pos-agent run"),
        (Agent::Absent, Some(true)) => report.fault(
            "the unit runs, but no agent answers at the socket",
            "check that [till] socket in the unit's configuration is the socket checked here; systemctl status \
             pos-agent shows more",
        ),
        (Agent::Closed | Agent::Silent(_), Some(true)) => report.note("the unit pos-agent runs"),
        (_, Some(false)) => report.fault(
            "no agent answers, and the unit pos-agent does not run",
            "systemctl status pos-agent shows why; start it with systemctl enable --now pos-agent",
        ),
    }
}
