//! The hour of the first boot. It begins with the first start of this program after the board has started. A mark in a
//! file says when it ends, so that a restart of this program, or of the front, gives no new hour.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use pos_first_boot::LASTS_S;

/// The file with the mark: the age of the system at the end of the hour, in seconds. It remains until the board starts
/// again.
const MARK: &str = "ends";
/// The age of the system, with the time of its sleep.
const AGE: &str = "/proc/uptime";

/// Returns the time that is left of the hour, and begins the hour if there is no mark.
pub(super) fn left(folder: &Path, age: Duration) -> io::Result<Duration> {
    let (mark, age) = (folder.join(MARK), age.as_secs());
    let ends: Option<u64> = match fs::read_to_string(&mark) {
        // A file without a number leaves no time.
        Ok(text) => Some(text.trim().parse().unwrap_or(0)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // A mark that is further away is of an earlier start of the board.
    let ends = match ends.filter(|ends| *ends <= age + LASTS_S) {
        Some(ends) => ends,
        None => {
            let beside = mark.with_extension("new");
            fs::create_dir_all(folder)?;
            fs::write(&beside, format!("{}\n", age + LASTS_S))?;
            fs::rename(&beside, &mark)?;
            age + LASTS_S
        }
    };
    Ok(Duration::from_secs(ends.saturating_sub(age)))
}

/// Returns the age of the running system.
pub(super) fn age_of_system() -> io::Result<Duration> {
    let text = fs::read_to_string(AGE)?;
    let seconds = text.split(['.', ' ']).next().and_then(|seconds| seconds.parse().ok());
    seconds.map(Duration::from_secs).ok_or_else(|| io::Error::other("holds no number of seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hour_begins_once_for_each_start_of_the_board() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        let left = |age| left(&run, Duration::from_secs(age)).unwrap().as_secs();
        assert_eq!((left(100), left(100), left(400)), (LASTS_S, LASTS_S, LASTS_S - 300));
        assert_eq!((left(100 + LASTS_S), left(1_000_000)), (0, 0));
        // The folder has outlived a restart of the board.
        assert_eq!((left(7), left(8)), (LASTS_S, LASTS_S - 1));
        fs::write(run.join(MARK), "long ago").unwrap();
        assert_eq!(left(9), 0);
        assert!(super::left(Path::new("/proc/none"), Duration::ZERO).is_err());
        assert!(age_of_system().unwrap() > Duration::ZERO);
    }
}
