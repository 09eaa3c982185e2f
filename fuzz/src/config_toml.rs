//! Checks any text as a configuration. Reading it ends without a panic. Every fault is on a line of the file and is
//! described in one line. The text about a valid configuration contains no terminal control sequences.

use std::path::Path;

use pos_agent::config::{self, Error};

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lines = text.lines().count().max(1) + 1;
    match config::parse(text, Path::new("config.toml")) {
        Ok(config) => {
            // This target checks only the configuration itself and opens none of the files that it names.
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
