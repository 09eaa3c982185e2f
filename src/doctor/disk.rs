//! The probe of the journal's file system: its free space, and the time until a write is safely on the disk.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::StatVfsMountFlags;
use tokio::time::Instant;

use super::{Report, is_root, on_a_thread};

/// The limit in bytes below which a day of sales with their WAL does not fit.
const TOO_LITTLE: u64 = 16 << 20;
/// The limit in bytes below which other data is probably filling the disk.
const LITTLE: u64 = 128 << 20;
/// The number of writes that are measured.
const SYNCS: usize = 5;
/// The longest acceptable time of a write. A sale waits for two syncs between card and request, so the customer notices
/// a slower disk.
const SLOW: Duration = Duration::from_millis(200);
/// A page with the size that SQLite writes.
const PAGE: [u8; 4096] = [0x55; 4096];

pub(super) async fn look(report: &mut Report<'_>, journal: &Path) {
    let folder = journal.parent().unwrap_or(Path::new("/")).to_owned();
    let shown = folder.display();
    match rustix::fs::statvfs(&folder) {
        Err(error) => {
            let remedy = format!(
                "create the folder, owned by the agent's user (StateDirectory= in the unit does this): {shown}"
            );
            return report.fault(format!("the journal's folder {shown} cannot be read: {error}"), remedy);
        }
        Ok(facts) if facts.f_flag.contains(StatVfsMountFlags::RDONLY) => {
            let remedy =
                "find the cause in the kernel's log (dmesg); replace the SD card, or mount it writable in /etc/fstab";
            return report.fault(format!("the file system of {shown} is read-only"), remedy);
        }
        Ok(facts) => room(report, &folder, facts.f_bavail.saturating_mul(facts.f_frsize)),
    }
    let place = folder.clone();
    match on_a_thread(move || sync_times(&place)).await {
        Some(Ok(times)) => {
            let worst = times.iter().max().copied().unwrap_or_default();
            let seen = format!("the slowest of {} syncs took {} ms", times.len(), millis(worst));
            if worst > SLOW {
                report.warning(seen, "each sale waits for a sync: use a better SD card or eMMC for the journal");
            } else {
                report.ok(seen);
            }
        }
        Some(Err(error)) if error.kind() == io::ErrorKind::PermissionDenied && !is_root() => {
            report.note(format!("this user may not write to {shown}: only root can measure the sync time"));
        }
        Some(Err(error)) => {
            report.fault(format!("{shown} cannot be written: {error}"), "check the disk's free space and health");
        }
        None => report.fault("the disk could not be measured", "run the doctor again"),
    }
}

fn room(report: &mut Report<'_>, folder: &Path, free: u64) {
    let seen = format!("{} MiB free in {}", free >> 20, folder.display());
    let remedy =
        "free up space on this file system (df -h, journalctl --vacuum-size=50M); never delete the agent's journal";
    match free {
        ..TOO_LITTLE => report.fault(seen, remedy),
        TOO_LITTLE..LITTLE => report.warning(seen, remedy),
        _ => report.ok(seen),
    }
}

/// Returns the time that each of several writes takes to reach the disk. The test file is next to the journal.
fn sync_times(folder: &Path) -> io::Result<Vec<Duration>> {
    struct Removed(PathBuf);
    impl Drop for Removed {
        fn drop(&mut self) {
            // The file remains only if the disk fails now.
            let _ = fs::remove_file(&self.0);
        }
    }
    let path = folder.join(format!(".doctor-{}", std::process::id()));
    let mut file = File::options().write(true).create_new(true).open(&path)?;
    let _removed = Removed(path);
    (0..SYNCS)
        .map(|_| {
            let start = Instant::now();
            file.write_all(&PAGE)?;
            file.sync_data()?;
            Ok(start.elapsed())
        })
        .collect()
}

/// Formats a time as milliseconds with one decimal, without floating-point numbers.
pub(super) fn millis(time: Duration) -> String {
    format!("{}.{}", time.as_millis(), time.subsec_micros() / 100 % 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::{Probe, Severity};

    #[test]
    fn little_room_is_warned_of_and_too_little_is_a_fault() {
        let mut nobody = |_: super::super::DoctorNews<'_>| {};
        let mut report = Report { probe: Probe::Disk, findings: Vec::new(), tell: &mut nobody };
        for free in [0, TOO_LITTLE - 1, TOO_LITTLE, LITTLE - 1, LITTLE] {
            room(&mut report, Path::new("/data"), free);
        }
        let severities: Vec<_> = report.findings.iter().map(|finding| finding.judgement.severity()).collect();
        use Severity::{Fault, Ok, Warning};
        assert_eq!(severities, [Fault, Fault, Warning, Warning, Ok]);
        assert_eq!(report.findings[2].seen, "16 MiB free in /data");
    }

    #[test]
    fn milliseconds_have_one_decimal() {
        assert_eq!(millis(Duration::from_micros(1_234_567)), "1234.5");
        assert_eq!(millis(Duration::from_micros(90)), "0.0");
    }
}
