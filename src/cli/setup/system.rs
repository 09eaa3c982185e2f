//! What the board itself is told: its time zone, its time servers and its Wi-Fi.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use pos_daemon::settings::is_made_of;
use pos_first_boot::{Fault, WifiAnswers};
use rustix::fs::{MemfdFlags, memfd_create};
use zeroize::Zeroizing;

use super::super::out;
use super::files::{Prepared, sync_folder};

/// The system's time zones.
const ZONES: &str = "/usr/share/zoneinfo";
/// The places of the settings, below /etc.
const SERVERS: &str = "systemd/timesyncd.conf.d/pos-agent.conf";
const WIFI: &str = "NetworkManager/system-connections/pos-wifi.nmconnection";
/// The place of the time servers until the next start, if /etc is read-only.
const SERVERS_UNTIL_RESTART: &str = "/run/systemd/timesyncd.conf.d/pos-agent.conf";
/// The deadline for a program of the system that starts nothing and joins nothing.
pub(in crate::cli) const SOON: Duration = Duration::from_secs(15);
/// The deadline for NetworkManager to join a network, for which nmcli itself waits 30 seconds. With [`SOON`] for its
/// new file, it is below the front's patience of 90 seconds.
const JOINED: Duration = Duration::from_secs(40);
/// The deadline for systemd to start or stop a unit, which takes some seconds. With [`SOON`] before and after it, it is
/// below the front's patience of 120 seconds for a step of the writing.
pub(in crate::cli) const STARTED: Duration = Duration::from_secs(80);
/// The pause between two looks at a program that runs.
const LOOK: Duration = Duration::from_millis(10);
/// The greatest length of what a program says, in bytes: a line for each network device.
const LONGEST: u64 = 64 * 1024;
/// The maximum number of time servers; timesyncd asks one after the other.
const MOST_SERVERS: usize = 8;

/// The folder of the board's settings: /etc, or a folder of an image or a test.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Etc(pub(in crate::cli) PathBuf);

impl Etc {
    /// Returns whether this is the running system, whose programs are told about new settings.
    pub(in crate::cli) fn is_running(&self) -> bool {
        self.0 == Path::new("/etc") && Path::new("/run/systemd/system").is_dir()
    }

    /// Runs a program of the running system. Returns the reason why it did not succeed.
    pub(in crate::cli) fn run(&self, program: &str, arguments: &[&str], deadline: Duration) -> Result<(), String> {
        if self.is_running() { said_by(program, arguments, deadline).map(drop) } else { Ok(()) }
    }

    /// Runs a program whose failure leaves the terminal usable, and shows the failure.
    pub(in crate::cli) fn try_to_run(&self, program: &str, arguments: &[&str], deadline: Duration) {
        if let Err(why) = self.run(program, arguments, deadline) {
            out::say(&format!("  {why}"));
        }
    }

    /// Sets the time zone and the time servers. What is not given stays; an empty list means the usual servers.
    pub(in crate::cli) fn set_clock(&self, zone: Option<&str>, servers: Option<&[String]>) -> Vec<Fault> {
        let mut faults = Vec::new();
        if let Some(zone) = zone {
            faults.extend(self.set_zone(zone).err());
        }
        if let Some(servers) = servers {
            match faulty_servers(servers) {
                Some(fault) => faults.push(fault),
                None => faults.extend(self.set_servers(servers).err()),
            }
            self.try_to_run("systemctl", &["try-restart", "systemd-timesyncd.service"], SOON);
        }
        faults
    }

    fn set_zone(&self, zone: &str) -> Result<(), Fault> {
        let there = Path::new(ZONES).join(zone);
        let is_name = is_made_of(zone, 64, |byte| byte.is_ascii_alphanumeric() || b"_-+/".contains(&byte));
        if !is_name || zone.starts_with('/') || !there.is_file() {
            let remedy = "write the name of a zone in /usr/share/zoneinfo, for example Europe/Berlin";
            return Err(fault("time-zone", format!("there is no time zone {zone:?}"), remedy));
        }
        let link = self.0.join("localtime");
        let kept = || -> io::Result<()> {
            let beside = self.0.join(format!(".localtime.{}", std::process::id()));
            symlink(&there, &beside)?;
            fs::rename(&beside, &link).inspect_err(|_| drop(fs::remove_file(&beside)))?;
            sync_folder(&link)?;
            // Debian keeps the name here too.
            let name = self.0.join("timezone");
            if name.exists() { self.keep("timezone", format!("{zone}\n").as_bytes(), 0o644) } else { Ok(()) }
        };
        kept().map_err(|error| not_kept("time-zone", &link, &error))
    }

    fn set_servers(&self, servers: &[String]) -> Result<(), Fault> {
        let place = self.0.join(SERVERS);
        if servers.is_empty() {
            return match fs::remove_file(&place) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(not_kept("system.time-servers", &place, &error))
                }
                _ => Ok(()),
            };
        }
        let text = format!("# Written by `pos-agent setup`.\n[Time]\nNTP={}\n", servers.join(" "));
        self.keep(SERVERS, text.as_bytes(), 0o644).map_err(|error| {
            if self.is_running() {
                let until_restart = Path::new(SERVERS_UNTIL_RESTART);
                let written = fs::create_dir_all(until_restart.parent().unwrap_or(Path::new("/run")));
                // The fault below is told in any case.
                let _ = written.and_then(|()| fs::write(until_restart, &text));
            }
            not_kept("system.time-servers", &place, &error)
        })
    }

    /// Joins a wireless network through NetworkManager. The password is only in NetworkManager's own file.
    pub(in crate::cli) fn join_wifi(&self, name: &str, password: Option<&str>) -> Vec<Fault> {
        if let Some(fault) = faulty_wifi(name, password) {
            return vec![fault];
        }
        if let Err(error) = self.keep(WIFI, keyfile(name, password).as_bytes(), 0o600) {
            return vec![not_kept("system.wifi", &self.0.join(WIFI), &error)];
        }
        let joined = self
            .run("nmcli", &["--wait", "10", "connection", "reload"], SOON)
            .and_then(|()| self.run("nmcli", &["--wait", "30", "connection", "up", "id", "pos-wifi"], JOINED));
        let Err(why) = joined else { return Vec::new() };
        vec![fault(
            "system.wifi",
            format!("the board cannot join this network: {why}"),
            "check the name, the password and the distance, then try again",
        )]
    }

    /// Returns whether the board can join a wireless network through NetworkManager.
    pub(in crate::cli) fn has_wifi(&self) -> bool {
        let devices = || said_by("nmcli", &["-t", "-f", "TYPE", "device"], SOON);
        self.is_running() && devices().is_ok_and(|said| said.split(|byte| *byte == b'\n').any(|line| line == b"wifi"))
    }

    fn keep(&self, name: &str, content: &[u8], mode: u32) -> io::Result<()> {
        let place = self.0.join(name);
        fs::create_dir_all(place.parent().unwrap_or(&self.0))?;
        Prepared::write(&place, content, mode)?.put_over()
    }
}

/// Runs a program, and ends it at the deadline. Returns what it said on standard output, or the reason why it did not
/// succeed, with its name.
fn said_by(program: &str, arguments: &[&str], deadline: Duration) -> Result<Vec<u8>, String> {
    let cannot = |error: io::Error| format!("{program} cannot run: {error}");
    // A pipe would have to be read while the program runs, and would stay open in a program that it leaves behind.
    let mut output = File::from(memfd_create(program, MemfdFlags::CLOEXEC).map_err(|error| cannot(error.into()))?);
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(output.try_clone().map_err(cannot)?).stderr(Stdio::null());
    let mut child = command.spawn().map_err(cannot)?;
    for _ in 0..deadline.as_millis() / LOOK.as_millis() {
        let Some(status) = child.try_wait().map_err(cannot)? else {
            thread::sleep(LOOK);
            continue;
        };
        if !status.success() {
            return Err(format!("{program} has failed ({status})"));
        }
        let mut said = Vec::new();
        output.rewind().and_then(|()| output.take(LONGEST).read_to_end(&mut said)).map_err(cannot)?;
        return Ok(said);
    }
    // It is not waited for: a program that hangs in the kernel does not end.
    let _ = child.kill();
    Err(format!("{program} has not ended within {} s", deadline.as_secs()))
}

/// Returns the fault in the board's answers, if any.
pub(super) fn faulty_servers(servers: &[String]) -> Option<Fault> {
    let is_name = |server: &String| {
        is_made_of(server, 253, |byte| byte.is_ascii_alphanumeric() || b".-:".contains(&byte))
            && !server.starts_with('-')
    };
    (servers.len() > MOST_SERVERS || !servers.iter().all(is_name)).then(|| {
        let remedy = "write up to 8 names or addresses, for example [\"pool.ntp.org\"]";
        fault("system.time-servers", "is no list of time servers".to_owned(), remedy)
    })
}

/// Returns the fault in the name or the password of a wireless network, if any (IEEE 802.11: up to 32 bytes; WPA: 8 to
/// 63 ASCII characters).
pub(super) fn faulty_wifi(name: &str, password: Option<&str>) -> Option<Fault> {
    let fits =
        |password: &str| (8..=63).contains(&password.len()) && password.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if !(1..=32).contains(&name.len()) {
        let remedy = "write the network's name, up to 32 characters";
        return Some(fault("system.wifi.name", "is no name of a network".to_owned(), remedy));
    }
    let is_key = |password: &str| password.len() == 64 && password.bytes().all(|byte| byte.is_ascii_hexdigit());
    password.filter(|password| !fits(password) && !is_key(password)).map(|_| {
        let remedy = "write 8 to 63 letters, digits and signs; omit it for an open network";
        fault("system.wifi.password", "is no password of a network".to_owned(), remedy)
    })
}

/// Returns the file of the connection. The name is a list of bytes, so that it needs no escapes.
fn keyfile(name: &str, password: Option<&str>) -> Zeroizing<String> {
    let name = name.bytes().map(|byte| format!("{byte};")).collect::<String>();
    let mut text = Zeroizing::new(String::with_capacity(1024));
    *text += "[connection]\nid=pos-wifi\ntype=wifi\n\n[wifi]\nmode=infrastructure\nssid=";
    *text += &name;
    if let Some(password) = password {
        *text += "\n\n[wifi-security]\nkey-mgmt=wpa-psk\npsk=";
        for (n, letter) in password.chars().enumerate() {
            match letter {
                '\\' => *text += "\\\\",
                // A space at the start would be lost.
                ' ' if n == 0 => *text += "\\s",
                other => text.push(other),
            }
        }
    }
    *text += "\n\n[ipv4]\nmethod=auto\n\n[ipv6]\nmethod=auto\n";
    text
}

/// Returns the answers about a wireless network, whose password is a value.
pub(in crate::cli) fn wifi_of(wifi: &WifiAnswers) -> (&str, Option<&str>) {
    let password = match &wifi.password {
        Some(pos_first_boot::Secret::Value(password)) => Some(password.as_str()),
        _ => None,
    };
    (&wifi.name, password)
}

fn not_kept(key: &str, place: &Path, error: &io::Error) -> Fault {
    fault(key, format!("{}: {error}", place.display()), "make the place writable, or set it on the board by hand")
}

fn fault(key: &str, wrong: String, remedy: &str) -> Fault {
    Fault { key: key.to_owned(), wrong, remedy: remedy.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_clock_is_set_below_the_folder_and_a_name_never_leaves_it() {
        let folder = tempfile::tempdir().unwrap();
        let etc = Etc(folder.path().to_owned());
        fs::write(folder.path().join("timezone"), "Etc/UTC\n").unwrap();
        let servers = ["pool.ntp.org".to_owned(), "192.0.2.1".to_owned()];
        if Path::new(ZONES).join("Europe/Berlin").is_file() {
            assert_eq!(etc.set_clock(Some("Europe/Berlin"), Some(&servers)), []);
            let zone = fs::read_link(folder.path().join("localtime")).unwrap();
            assert_eq!(zone, Path::new(ZONES).join("Europe/Berlin"));
            assert_eq!(fs::read_to_string(folder.path().join("timezone")).unwrap(), "Europe/Berlin\n");
        } else {
            assert_eq!(etc.set_clock(None, Some(&servers)), []);
        }
        let kept = fs::read_to_string(folder.path().join(SERVERS)).unwrap();
        assert!(kept.ends_with("[Time]\nNTP=pool.ntp.org 192.0.2.1\n"), "{kept}");
        assert_eq!(etc.set_clock(None, Some(&[])), []);
        assert!(!folder.path().join(SERVERS).exists());
        for zone in ["", "/etc/passwd", "../../../etc/passwd", "Europe", "Mars/Base", "a\nb"] {
            assert_eq!(etc.set_clock(Some(zone), None)[0].key, "time-zone", "{zone:?}");
        }
        for server in ["", "a b", "a\n[Time]", "-x"] {
            assert_eq!(etc.set_clock(None, Some(&[server.to_owned()]))[0].key, "system.time-servers", "{server:?}");
        }
    }

    #[test]
    fn a_program_has_a_deadline_and_its_fault_has_its_name() {
        assert_eq!(said_by("echo", &["wifi"], SOON).unwrap(), b"wifi\n");
        // A program that it leaves behind, with its output, is not waited for.
        assert_eq!(said_by("sh", &["-c", "sleep 60 & echo done"], SOON).unwrap(), b"done\n");
        assert_eq!(said_by("sleep", &["60"], Duration::from_secs(1)).unwrap_err(), "sleep has not ended within 1 s");
        assert_eq!(said_by("false", &[], SOON).unwrap_err(), "false has failed (exit status: 1)");
        assert!(said_by("pos-none", &[], SOON).unwrap_err().starts_with("pos-none cannot run: "));
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Etc(folder.path().to_owned()).run("false", &[], SOON), Ok(()), "an image runs no program");
    }

    #[test]
    fn a_network_is_kept_in_a_closed_file_and_no_name_or_password_ends_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let etc = Etc(folder.path().to_owned());
        assert_eq!(etc.join_wifi("Shöp\n[x]", Some(" pass\\word=;#")), []);
        let place = folder.path().join(WIFI);
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o600);
        let kept = fs::read_to_string(place).unwrap();
        let name = "ssid=83;104;195;182;112;10;91;120;93;\n";
        assert!(kept.contains(name) && kept.contains("psk=\\spass\\\\word=;#\n"), "{kept}");
        let wrong = [("", None), ("x", Some("short")), ("x", Some("pass\nword")), ("x", Some("pässwörter"))];
        for (name, password) in wrong {
            assert!(!etc.join_wifi(name, password).is_empty(), "{name:?}");
        }
        assert!(!keyfile("Open", None).contains("security"));
    }
}
