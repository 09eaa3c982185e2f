//! Everything that setup writes: it is prepared under temporary names, and the configuration gets its name last.
//!
//! A power cut before that leaves a terminal without a configuration, and a later one leaves a complete terminal. The
//! operators are in the journal before the configuration has its name, so they are never missing. While the files get
//! their names, a mark in their folder says so. After a power cut, [`mend`] removes what would disturb the next setup.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::super::exit::Stop;
use super::draft::Draft;
use super::failed;
use super::files::{Placed, Prepared, put_all, sync_folder, take_back};
use super::front_file::{FRONT, LOGO};
use super::staff::{self, NewOperator};
use crate::config;

/// The name of the mark that files are getting their names.
const MARK: &str = ".first-boot";

/// The content of a terminal's files.
#[derive(Debug)]
pub(in crate::cli) struct Install {
    pub(in crate::cli) draft: Draft,
    /// The gateway's token, if it is new.
    pub(super) token: Option<Zeroizing<String>>,
    /// The gateway's CA, if it is not in its place yet.
    pub(super) ca: Option<Vec<u8>>,
    pub(super) staff: Vec<NewOperator>,
}

/// The files under their temporary names.
#[derive(Debug)]
pub(in crate::cli) struct Ready {
    others: Vec<Prepared>,
    last: Vec<Prepared>,
    mark: Mark,
}

impl Install {
    /// Writes all files under temporary names.
    pub(in crate::cli) fn prepare(&self) -> Result<Ready, Stop> {
        let draft = &self.draft;
        let folder = draft.file.parent().unwrap_or(Path::new("/"));
        super::make(folder).map_err(|error| failed(folder, &error))?;
        let mark = Mark::set(folder, !draft.file.exists()).map_err(|error| failed(&folder.join(MARK), &error))?;
        let prepare = |place: &Path, content: &[u8], mode| {
            Prepared::write(place, content, mode).map_err(|error| failed(place, &error))
        };
        // An existing file with the same content is not written again, so no second copy of a secret is made. This
        // applies to a token file only if it is closed to other users.
        let token = self.token.as_ref();
        let token = token.filter(|token| !config::secret_file(&draft.token_file()).is_ok_and(|there| there == **token));
        let ca = self.ca.as_ref().filter(|ca| !fs::read(&draft.ca_file).is_ok_and(|there| there == **ca));
        let token = token.map(|token| prepare(&draft.token_file(), token.as_bytes(), 0o600)).transpose()?;
        let ca = ca.map(|ca| prepare(&draft.ca_file, ca, 0o644)).transpose()?;
        let front = draft.front.as_ref();
        let secret = front.and_then(|front| front.new_secret());
        let secret = secret.filter(|(place, secret, _)| !fs::read(place).is_ok_and(|there| there == *secret));
        let secret = match secret {
            Some((place, secret, owner)) => {
                let prepared = prepare(&place, secret, 0o600)?;
                // Only root can give a file to another user.
                let owner = owner.filter(|_| rustix::process::geteuid().is_root());
                owner.map_or(Ok(()), |owner| prepared.give_to(owner)).map_err(|error| failed(&place, &error))?;
                Some(prepared)
            }
            None => None,
        };
        let logo = front.and_then(|front| front.logo.as_ref());
        let logo = logo.map(|logo| prepare(&folder.join(LOGO), logo, 0o644)).transpose()?;
        let front = front.map(|front| prepare(&front.file, front.final_text().as_bytes(), 0o644)).transpose()?;
        let config = prepare(&draft.file, draft.text().as_bytes(), 0o644)?;
        let others = [token, ca, secret, logo].into_iter().flatten().collect();
        Ok(Ready { others, last: front.into_iter().chain([config]).collect(), mark })
    }

    /// Adds the operators to the journal.
    pub(in crate::cli) fn add_operators(&self, ready: &Ready) -> Result<(), Stop> {
        let config = ready.last.last().expect("the configuration is prepared");
        staff::add(&self.staff, config.beside())
    }
}

impl Ready {
    /// Gives all files their names, the configuration's last.
    pub(in crate::cli) fn put(self, replace: bool) -> Result<InPlace, Stop> {
        let Self { others, last, mark } = self;
        let placed = put_all(others, last, replace).map_err(|(place, error)| failed(&place, &error))?;
        drop(mark);
        Ok(InPlace(placed))
    }
}

/// The files under their names.
#[derive(Debug)]
pub(in crate::cli) struct InPlace(pub(super) Vec<Placed>);

impl InPlace {
    /// Restores the earlier state, the configuration first.
    pub(in crate::cli) fn take_back(&self) {
        self.0.iter().rev().for_each(take_back);
    }
}

/// The mark in a folder. Dropping it removes it.
#[derive(Debug)]
struct Mark(Option<PathBuf>);

impl Mark {
    /// Sets the mark, if it is needed: beside an existing configuration, nothing is unfinished.
    fn set(folder: &Path, is_needed: bool) -> io::Result<Self> {
        if !is_needed {
            return Ok(Self(None));
        }
        let mark = folder.join(MARK);
        File::create(&mark)?.sync_all()?;
        sync_folder(&mark)?;
        Ok(Self(Some(mark)))
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        // A mark that stays does no harm beside a configuration.
        let _ = self.0.as_ref().map(fs::remove_file);
    }
}

/// Removes what a power cut left of an unfinished setup: the temporary files, and a front's file without a
/// configuration, which would start the front alone.
pub(in crate::cli) fn mend(config: &Path) -> io::Result<()> {
    let folder = config.parent().unwrap_or(Path::new("/"));
    let mark = folder.join(MARK);
    if !mark.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_temporary = name.strip_prefix('.').and_then(|name| name.rsplit_once('.'));
        let is_temporary = is_temporary.is_some_and(|(_, number)| number.parse::<u32>().is_ok());
        if is_temporary || (name == FRONT && !config.exists()) {
            fs::remove_file(&path)?;
        }
    }
    fs::remove_file(&mark)?;
    sync_folder(&mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_power_cut_left_is_removed_and_nothing_else() {
        for (has_mark, has_config) in [(true, false), (true, true), (false, false)] {
            let folder = tempfile::tempdir().unwrap();
            let place = |name: &str| folder.path().join(name);
            for name in [".gateway-token.4711", ".hidden", "front.toml", "gateway-ca.pem"] {
                fs::write(place(name), "").unwrap();
            }
            let config = place("config.toml");
            if has_config {
                fs::write(&config, "").unwrap();
            }
            if has_mark {
                std::mem::forget(Mark::set(folder.path(), true).unwrap());
            }
            mend(&config).unwrap();
            let expected: &[&str] = match (has_mark, has_config) {
                (true, false) => &[".hidden", "gateway-ca.pem"],
                (true, true) => &[".hidden", "config.toml", "front.toml", "gateway-ca.pem"],
                (false, _) => &[".gateway-token.4711", ".hidden", "front.toml", "gateway-ca.pem"],
            };
            assert_eq!(names(folder.path()), expected);
        }
    }

    #[test]
    fn the_mark_stands_until_the_configuration_has_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config.toml");
        let install = Install { draft: Draft::for_file(&config), token: None, ca: None, staff: Vec::new() };
        let ready = install.prepare().unwrap();
        assert!(folder.path().join(MARK).exists() && !config.exists());
        let placed = ready.put(false).unwrap();
        assert_eq!(names(folder.path()), ["config.toml"]);
        placed.take_back();
        assert!(names(folder.path()).is_empty());
    }
}
