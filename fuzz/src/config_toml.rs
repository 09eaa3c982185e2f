//! Any text as a configuration: no panic, and an end; every fault is on a line of the file, in one line of words; and
//! what was read well has nothing that steers a terminal in what is said of it.

use std::path::Path;

use pos_agent::config::{self, Error};

/// What must hold for any bytes.
pub fn holds(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lines = text.lines().count().max(1) + 1;
    match config::parse(text, Path::new("config.toml")) {
        Ok(config) => {
            // Files that it names are another matter: here nothing is opened but what is checked by its name.
            let _ = format!("{config:?}");
        }
        Err(Error::Faulty { faults, .. }) => {
            assert!(!faults.is_empty());
            for fault in faults {
                assert!(
                    fault.line.is_none_or(|line| (1..=lines).contains(&line)),
                    "{fault}: the file has {lines} lines"
                );
                let said = fault.to_string();
                assert!(!said.contains('\n') && !said.contains('\r'), "{said:?}");
            }
        }
        Err(error) => panic!("a text is no file: {error}"),
    }
}
