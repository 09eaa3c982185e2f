//! The till's own part of a transaction: whether the till prints, and the data that is returned with the transaction.

use std::collections::BTreeMap;

/// The greatest number of entries, and the greatest length of a name and of a value. They are enough for a till's bill,
/// shift and ticket, but are not meant for storing data.
const MOST_ENTRIES: usize = 16;
const LONGEST_NAME: usize = 32;
const LONGEST_VALUE: usize = 128;

/// The till's own statements about a transaction, which do not change the charge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TillSide {
    /// True if the till prints the receipts. Then the terminal prints only the slip to sign.
    pub prints: bool,
    /// The texts that are returned with the transaction, by their names.
    pub data: BTreeMap<String, String>,
}

impl TillSide {
    /// Returns the fault in the data, as a sentence that begins with `tillData`.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        if self.data.len() > MOST_ENTRIES {
            return Some(format!("tillData: at most {MOST_ENTRIES} entries"));
        }
        let plain = |text: &str| text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        self.data.iter().find_map(|(name, value)| {
            let named = (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic());
            match () {
                () if !named => {
                    Some(format!("tillData: a name must be 1 to {LONGEST_NAME} ASCII characters without spaces"))
                }
                () if value.len() > LONGEST_VALUE || !plain(value) => {
                    Some(format!("tillData: {name}: at most {LONGEST_VALUE} printable ASCII characters"))
                }
                () => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, value: &str) -> TillSide {
        TillSide { prints: false, data: [(name.to_owned(), value.to_owned())].into() }
    }

    #[test]
    fn data_are_few_short_and_plain() {
        assert_eq!(with("bill", "4711 / 12").fault(), None);
        for (name, value, wrong) in [
            ("", "1", "a name"),
            ("a b", "1", "a name"),
            ("bill", "a\u{7}", "printable"),
            ("bill", &"1 ".repeat(65), "printable"),
        ] {
            let fault = with(name, value).fault().unwrap();
            assert!(fault.contains(wrong), "{fault}");
        }
        let many = (0..17).map(|n| (n.to_string(), String::new())).collect();
        assert!(TillSide { prints: false, data: many }.fault().unwrap().contains("16 entries"));
    }
}
