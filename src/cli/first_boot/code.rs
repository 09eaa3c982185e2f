//! The code of the first boot, and the tries. A try is counted on the disk before the code is compared, so a restart of
//! this program gives no new ones.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pos_first_boot::{CODE_DIGITS, TRIES};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// The number of codes.
const CODES: u32 = 10_u32.pow(CODE_DIGITS as u32);

/// A code that no one can guess.
pub(super) struct Code(Zeroizing<String>);

impl Code {
    pub(super) fn new() -> io::Result<Self> {
        // Numbers from the incomplete last round would make some codes more likely than others.
        let whole = u32::MAX - u32::MAX % CODES;
        loop {
            let mut bytes = Zeroizing::new([0; 4]);
            getrandom::fill(bytes.as_mut_slice()).map_err(|error| io::Error::other(error.to_string()))?;
            let number = u32::from_le_bytes(*bytes);
            if number < whole {
                return Ok(Self(Zeroizing::new(format!("{:0width$}", number % CODES, width = CODE_DIGITS))));
            }
        }
    }

    /// Compares a typed code, in the same time for every code of this length.
    pub(super) fn is(&self, typed: &str) -> bool {
        self.0.as_bytes().ct_eq(typed.as_bytes()).into()
    }

    /// Returns the code in two groups, as it is shown.
    pub(super) fn shown(&self) -> Zeroizing<String> {
        let (first, last) = self.0.split_at(CODE_DIGITS / 2);
        Zeroizing::new(format!("{first} {last}"))
    }
}

/// The number of tries, in a file that remains until the board starts again.
pub(super) struct Tries(PathBuf);

impl Tries {
    pub(super) fn of(folder: &Path) -> Self {
        Self(folder.join("tries"))
    }

    /// Returns the number of tries that are left. A file that cannot be read leaves none.
    pub(super) fn left(&self) -> u32 {
        let used = match fs::read_to_string(&self.0) {
            Ok(text) => text.trim().parse().unwrap_or(TRIES),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(_) => TRIES,
        };
        TRIES.saturating_sub(used)
    }

    /// Counts a try, before the code is compared. Returns false if none is left.
    pub(super) fn take_one(&self) -> io::Result<bool> {
        let left = self.left();
        if left == 0 {
            return Ok(false);
        }
        self.set(left - 1)?;
        Ok(true)
    }

    /// Gives a try back, because its code was right.
    pub(super) fn give_back(&self) -> io::Result<()> {
        self.set((self.left() + 1).min(TRIES))
    }

    fn set(&self, left: u32) -> io::Result<()> {
        let beside = self.0.with_extension("new");
        fs::create_dir_all(self.0.parent().unwrap_or(Path::new("/run")))?;
        fs::write(&beside, format!("{}\n", TRIES - left))?;
        fs::rename(&beside, &self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_eight_digits_and_only_it_is_right() {
        let code = Code::new().unwrap();
        assert!(code.0.len() == CODE_DIGITS && code.0.bytes().all(|byte| byte.is_ascii_digit()));
        assert!(code.is(&code.0) && !code.is("") && !code.is(&code.0[..7]) && !code.is(&format!("{}0", *code.0)));
        let other = if &*code.0 == "00000000" { "00000001" } else { "00000000" };
        assert!(!code.is(other));
        assert_eq!(code.shown().replace(' ', ""), *code.0);
        let codes: std::collections::BTreeSet<_> = (0..50).map(|_| Code::new().unwrap().0.to_string()).collect();
        assert!(codes.len() > 45, "{codes:?}");
    }

    #[test]
    fn five_tries_are_counted_over_restarts_and_there_is_no_sixth() {
        let folder = tempfile::tempdir().unwrap();
        for left in (0..TRIES).rev() {
            // Each time, another process reads the file.
            let tries = Tries::of(folder.path());
            assert!(tries.take_one().unwrap());
            assert_eq!(tries.left(), left);
        }
        let tries = Tries::of(folder.path());
        assert!(!tries.take_one().unwrap());
        tries.give_back().unwrap();
        assert_eq!(tries.left(), 1);
        fs::write(folder.path().join("tries"), "many").unwrap();
        assert_eq!(tries.left(), 0, "a file without a number gives no tries");
    }
}
