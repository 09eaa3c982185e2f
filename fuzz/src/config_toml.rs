//! Any text as a configuration: no panic, and an end. Every fault is on a line of the file and is described in one
//! line. The text about a valid configuration contains no control sequences of a terminal.

use std::path::Path;

use pos_agent::config::{self, Error};

/// Checks the conditions for any bytes.
pub fn holds(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lines = text.lines().count().max(1) + 1;
    match config::parse(text, Path::new("config.toml")) {
        Ok(config) => {
            // The files that it names are not part of this: only the configuration itself is checked, and no file is
            // opened.
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
