//! The probe of the connections for tills: the Unix socket, and the loopback port if tills have tokens.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;

use tokio::net::TcpListener;

use super::{Agent, Report};
use crate::config::{self, Config};
use pos_daemon::access::{SocketAccess, way_in};

pub(super) async fn look(report: &mut Report<'_>, config: &Config, agent: &Agent) {
    let socket = &config.till.socket.path;
    let shown = socket.display();
    let facts = fs::symlink_metadata(socket);
    match (agent, &facts) {
        (_, Ok(facts)) if !facts.file_type().is_socket() => {
            report.fault(
                format!("{shown} is not a socket"),
                "move the file, or change socket in [till]; then restart the agent",
            );
        }
        (Agent::Answers(status), Ok(_)) => {
            who_may_use(report, config);
            if !status.ready {
                let why: Vec<_> = status.attention.iter().map(|one| one.text.as_str()).collect();
                report.note(format!("no sale can be taken now: {}", why.join("; ")));
            }
        }
        (Agent::Answers(_), Err(error)) => {
            report.note(format!("the agent answers, but {shown} cannot be checked: {error}"))
        }
        (Agent::Closed, _) => {
            report.fault(format!("this user may not use {shown}"), way_in(socket));
        }
        (Agent::Silent(why), _) => {
            report.fault(
                format!("the agent is not answering at {shown}: {why}"),
                "check journalctl -u pos-agent, then run: systemctl restart pos-agent",
            );
        }
        (Agent::Absent, Ok(_)) => {
            report.note(format!("{shown} is left over from an earlier run; the agent replaces it at its next start"))
        }
        (Agent::Absent, Err(error)) if error.kind() == io::ErrorKind::NotFound => {
            match socket.parent().map(fs::metadata) {
                Some(Err(error)) => report.note(format!(
                    "the folder of {shown} does not exist ({error}): systemd creates it when the agent starts"
                )),
                _ => report.note(format!("there is no {shown}: the agent creates it when it starts")),
            }
        }
        (Agent::Absent, Err(error)) => {
            report
                .fault(format!("{shown} cannot be read: {error}"), "run the doctor as root, or check socket in [till]");
        }
    }
    without_rights(report, config);
    if !config.till.token.is_empty() {
        port(report, config, agent).await;
    }
}

/// Checks the mode and the group of the socket. An empty group is accepted if tills connect with a token or as a
/// [[till.peer]].
fn who_may_use(report: &mut Report<'_>, config: &Config) {
    let socket = &config.till.socket.path;
    let Ok(access) = SocketAccess::of(socket) else { return };
    let SocketAccess { mode, owner, group } = access;
    let seen = format!("the agent answers at {} (mode {mode:04o}, owner {owner}, group {group})", socket.display());
    let remade = "find out who changed the socket, then restart the agent, which creates it again with mode 0660";
    let name = access.group_name();
    if mode & 0o007 != 0 {
        report.fault(format!("{seen}: every user may take payments"), remade);
    } else if !access.is_open_to_its_group() {
        report.fault(format!("{seen}: the group {name} may not use this socket"), remade);
    } else if config.till.token.is_empty() && config.till.peer.is_empty() && !access.has_a_user_in_its_group() {
        let remedy = format!(
            "add the users who take payments to the group (usermod -aG {name} USER; they log in again), or give a till \
             a [[till.token]]"
        );
        report.warning(
            format!("{seen}: the group {name} has no users, so only root and the owner may use this socket"),
            remedy,
        );
    } else {
        report.ok(seen);
    }
}

/// Warns about an entry with an empty list of rights, because earlier versions read it as the usual rights.
fn without_rights(report: &mut Report<'_>, config: &Config) {
    let nothing = config::Rights::default();
    let tokens = config.till.token.iter().filter(|entry| entry.rights == nothing);
    let tokens = tokens.map(|entry| (format!("till {}", entry.till), "its [[till.token]]"));
    let peers = config.till.peer.iter().filter(|entry| entry.rights == nothing);
    for (who, entry) in tokens.chain(peers.map(|entry| (format!("user {}", entry.uid), "its [[till.peer]]"))) {
        report.warning(
            format!("{who} has no rights: the list of rights is empty"),
            format!("remove rights from {entry} for the usual rights, or remove the entry"),
        );
    }
}

/// Checks the loopback port. If no agent is running, the port must be free.
async fn port(report: &mut Report<'_>, config: &Config, agent: &Agent) {
    let (http, tills) = (config.till.http, config.till.token.len());
    if let Agent::Answers(status) = agent
        && let Some(trouble) = status.http.as_ref().and_then(|port| port.trouble.as_ref())
    {
        return report.say_fault(trouble);
    }
    if !matches!(agent, Agent::Absent) {
        return report.ok(format!("tills that may connect to http://{http}: {tills}"));
    }
    match TcpListener::bind(http).await {
        Ok(_) => report.ok(format!("http://{http} is free (tills: {tills})")),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let port = http.port();
            let remedy = format!(
                "find the program with ss -ltnp 'sport = :{port}' and stop it, or choose a different http in [till]"
            );
            report.fault(format!("another program is using {http}"), remedy);
        }
        Err(error) => report.fault(format!("{http} cannot be opened: {error}"), "choose a different http in [till]"),
    }
}
