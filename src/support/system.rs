//! Facts about the system from the kernel, the disks, systemd and the devices. If a part cannot be read, the text
//! contains the error instead.

use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The number of lines of the service's log.
const LOG_LINES: &str = "2000";
/// The greatest number of bytes that are taken from the end of the log or of a file.
const MOST: usize = 1 << 20;
/// The time-out for a systemd program.
const PATIENCE: Duration = Duration::from_secs(10);

/// The properties of a unit to ask for. They do not include its files, because an administrator may have written a
/// secret into them.
const UNIT: &str = "--property=LoadState,ActiveState,SubState,Result,NRestarts,ExecMainStartTimestamp,ExecMainStatus,MainPID,\
                    MemoryCurrent,TasksCurrent,WatchdogUSec,User,DevicePolicy,DeviceAllow,FragmentPath,DropInPaths";

/// The files that describe the system and its state.
const FILES: [&str; 8] = [
    "/etc/os-release",
    "/proc/device-tree/model",
    "/proc/version",
    "/proc/cmdline",
    "/proc/uptime",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/self/limits",
];

/// Returns the end of a service's log.
pub(super) fn log(unit: &str) -> String {
    said("journalctl", &["--unit", unit, "--lines", LOG_LINES, "--no-pager", "--output=short-iso-precise"])
}

/// Returns facts about the system, the file systems of `places`, the units and their processes.
pub(super) fn facts(places: &[PathBuf]) -> String {
    let mut text = String::new();
    for file in FILES {
        part(&mut text, file, &contents(Path::new(file)));
    }
    part(&mut text, "disks", &places.iter().map(|place| room(place)).collect::<String>());
    for unit in ["pos-agent.service", "pos-front.service"] {
        part(&mut text, &format!("systemctl show {unit}"), &said("systemctl", &["show", unit, "--no-pager", UNIT]));
        let processes = fs::read_to_string(Path::new("/sys/fs/cgroup/system.slice").join(unit).join("cgroup.procs"));
        for process in processes.unwrap_or_default().lines() {
            for file in ["limits", "status"] {
                let path = Path::new("/proc").join(process).join(file);
                part(&mut text, &path.display().to_string(), &contents(&path));
            }
        }
    }
    text
}

/// Returns the serial ports, the USB devices, and their names from udev.
pub(super) fn devices() -> String {
    let mut text = String::new();
    for folder in ["/dev/pos", "/dev/serial/by-id", "/dev/serial/by-path"] {
        part(&mut text, folder, &links(Path::new(folder)));
    }
    part(&mut text, "/dev/usb", &names(Path::new("/dev/usb"), |_| true));
    part(&mut text, "/dev", &names(Path::new("/dev"), |name| name.starts_with("rtc") || name.starts_with("watchdog")));
    part(&mut text, "/sys/class/tty", &ports());
    part(&mut text, "USB", &usb());
    for file in ["/sys/class/tty/console/active", "/proc/tty/drivers", "/proc/devices"] {
        part(&mut text, file, &contents(Path::new(file)));
    }
    text
}

fn part(text: &mut String, name: &str, contents: &str) {
    let _ = writeln!(text, "== {name}\n{}\n", contents.trim_end().replace('\0', ""));
}

fn contents(file: &Path) -> String {
    match fs::read(file) {
        Ok(bytes) => end_of(&bytes),
        Err(error) => format!("({error})"),
    }
}

/// Returns the end of a long text, starting at the beginning of a line.
fn end_of(bytes: &[u8]) -> String {
    let from = bytes.len().saturating_sub(MOST);
    let skipped =
        if from == 0 { 0 } else { bytes[from..].iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1) };
    String::from_utf8_lossy(&bytes[from + skipped..]).into_owned()
}

fn room(place: &Path) -> String {
    let shown = place.display();
    match rustix::fs::statvfs(place) {
        Ok(facts) => {
            let mib = |blocks: u64| blocks.saturating_mul(facts.f_frsize) >> 20;
            let (free, all) = (mib(facts.f_bavail), mib(facts.f_blocks));
            format!("{shown}: {free} of {all} MiB free, {} of {} inodes free\n", facts.f_favail, facts.f_files)
        }
        Err(error) => format!("{shown}: ({error})\n"),
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn links(folder: &Path) -> String {
    let line = |link: &PathBuf| {
        let leads_to = fs::read_link(link).map_or_else(|error| format!("({error})"), |path| path.display().to_string());
        format!("{} -> {leads_to}\n", link.display())
    };
    entries(folder).iter().map(line).collect()
}

fn names(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> String {
    let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let found: Vec<_> = entries(folder).iter().filter_map(name).filter(|name| is_wanted(name)).collect();
    found.join("\n")
}

/// Returns the ports that have a device, with the driver of the device.
fn ports() -> String {
    let line = |port: &PathBuf| {
        let device = port.join("device");
        let driver = fs::read_link(device.join("driver")).ok()?;
        let at = fs::canonicalize(&device).unwrap_or(device);
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Some(format!("{} {} {}\n", name(port), name(&driver), at.display()))
    };
    entries(Path::new("/sys/class/tty")).iter().filter_map(line).collect()
}

fn usb() -> String {
    let line = |device: &PathBuf| {
        let fact = |name: &str| fs::read_to_string(device.join(name)).ok().map(|text| text.trim().to_owned());
        let (vendor, product) = (fact("idVendor")?, fact("idProduct")?);
        let rest: Vec<_> = ["manufacturer", "product", "serial"].into_iter().filter_map(fact).collect();
        let place = device.file_name().unwrap_or_default().to_string_lossy();
        Some(format!("{place} {vendor}:{product} {}\n", rest.join(", ")))
    };
    entries(Path::new("/sys/bus/usb/devices")).iter().filter_map(line).collect()
}

/// Runs a program and returns its output on both streams, or the reason why there is none. A program that exceeds the
/// time-out is stopped.
fn said(program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(arguments).env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return format!("({program} cannot be started: {error})\n"),
    };
    let (sender, receiver) = mpsc::channel();
    let outputs: [Option<Box<dyn std::io::Read + Send>>; 2] = [
        child.stdout.take().map(|out| Box::new(out) as Box<dyn std::io::Read + Send>),
        child.stderr.take().map(|out| Box::new(out) as Box<dyn std::io::Read + Send>),
    ];
    for mut output in outputs.into_iter().flatten() {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = output.read_to_end(&mut bytes);
            drop(sender.send(bytes));
        });
    }
    drop(sender);
    let first = receiver.recv_timeout(PATIENCE);
    let second = if first.is_ok() { receiver.recv_timeout(PATIENCE) } else { Err(mpsc::RecvTimeoutError::Timeout) };
    let text = match (first, second) {
        (Ok(one), Ok(two)) => end_of(&one) + &end_of(&two),
        _ => format!("({program} did not end within {} s)\n", PATIENCE.as_secs()),
    };
    // The program has ended or is stopped here, so no process remains.
    let _ = child.kill();
    let _ = child.wait();
    text
}
