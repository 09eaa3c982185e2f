//! Checks any text as a script of the simulated reader. There is no panic, and comments, blanks and line ends change
//! nothing. A fault names a line of the text.

use pos_sim::reader::script::{MAX_TEXT, Script};

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lines = text.lines().count().max(1);
    let read = text.parse::<Script>();
    if let Err(error) = &read {
        assert!((1..=lines).contains(&error.line), "{error}: the text has {lines} lines");
        let _ = error.to_string();
    }
    let spaced: String = text.lines().map(|line| format!("\t {line} # on waiting: remove\r\n")).collect();
    if spaced.len() <= MAX_TEXT {
        assert_eq!(spaced.parse::<Script>(), read);
    }
}
