//! The few texts that the session shows on the reader, in the reader's languages. Also a till's text between
//! transactions. All other texts on the display come from the reader.

use std::time::Duration;

use super::line::{PLAIN_ANSWER, ReaderLine};
use crate::ReaderLanguage;
use crate::capability::Capability;
use crate::family::{CommandPurpose, ReaderQuestion};

/// The size of the display in characters.
const ROWS: usize = 4;
const COLUMNS: usize = 21;

/// One row of the display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DisplayRow {
    TryAgain,
    InsertCard,
    InsertOrSwipe,
    SwipeCard,
    RemoveCard,
    Approved,
    Declined,
}

impl DisplayRow {
    /// Returns the text of the row.
    pub(super) fn of(self, language: ReaderLanguage) -> &'static str {
        // Columns: en, de, fr, es, it, nl, pl.
        let row = match self {
            Self::TryAgain => [
                "TRY AGAIN",
                "BITTE NOCHMALS",
                "RÉESSAYEZ",
                "INTENTE DE NUEVO",
                "RIPROVARE",
                "PROBEER OPNIEUW",
                "SPRÓBUJ PONOWNIE",
            ],
            Self::InsertCard => [
                "INSERT CARD",
                "KARTE STECKEN",
                "INSÉREZ LA CARTE",
                "INSERTE LA TARJETA",
                "INSERIRE LA CARTA",
                "STEEK KAART IN",
                "WSUŃ KARTĘ",
            ],
            Self::InsertOrSwipe => [
                "INSERT OR SWIPE",
                "STECKEN ODER ZIEHEN",
                "INSÉREZ OU GLISSEZ",
                "INSERTE O DESLICE",
                "INSERIRE O STRISCIARE",
                "INSTEKEN OF HALEN",
                "WSUŃ LUB PRZECIĄGNIJ",
            ],
            Self::SwipeCard => [
                "SWIPE CARD",
                "KARTE DURCHZIEHEN",
                "GLISSEZ LA CARTE",
                "DESLICE LA TARJETA",
                "STRISCIARE LA CARTA",
                "HAAL KAART DOOR",
                "PRZECIĄGNIJ KARTĘ",
            ],
            Self::RemoveCard => [
                "REMOVE CARD",
                "KARTE ENTNEHMEN",
                "RETIREZ LA CARTE",
                "RETIRE LA TARJETA",
                "RITIRARE LA CARTA",
                "NEEM KAART UIT",
                "WYJMIJ KARTĘ",
            ],
            Self::Approved => {
                ["APPROVED", "GENEHMIGT", "ACCEPTÉ", "APROBADA", "APPROVATA", "GOEDGEKEURD", "ZAAKCEPTOWANO"]
            }
            Self::Declined => ["DECLINED", "ABGELEHNT", "REFUSÉ", "DENEGADA", "RIFIUTATA", "GEWEIGERD", "ODMOWA"],
        };
        let [en, de, fr, es, it, nl, pl] = row;
        match language {
            ReaderLanguage::English => en,
            ReaderLanguage::German => de,
            ReaderLanguage::French => fr,
            ReaderLanguage::Spanish => es,
            ReaderLanguage::Italian => it,
            ReaderLanguage::Dutch => nl,
            ReaderLanguage::Polish => pl,
        }
    }
}

/// Shows rows on the reader.
pub(super) fn display(line: &mut ReaderLine, rows: &[DisplayRow], language: ReaderLanguage, now: Duration) {
    show(line, &rows.iter().map(|row| row.of(language)).collect::<Vec<_>>().join("\n"), now);
}

/// Shows a till's text, cut to the size of the display. It replaces a waiting text, so a transaction is delayed by at
/// most one text.
pub(super) fn display_text(line: &mut ReaderLine, text: &str, now: Duration) {
    line.take_back(CommandPurpose::Show);
    show(line, &fitted(text), now);
}

fn show(line: &mut ReaderLine, text: &str, now: Duration) {
    if line.speaker.can(Capability::Texts) {
        line.ask(&ReaderQuestion::Show(text), PLAIN_ANSWER, now);
    }
}

/// Arranges a text in rows and breaks it between words if possible.
fn fitted(text: &str) -> String {
    let mut rows: Vec<String> = Vec::new();
    for line in text.lines() {
        rows.push(String::new());
        for word in line.split_whitespace() {
            let mut word: String = word.chars().take(COLUMNS).collect();
            match rows.last_mut() {
                Some(row) if row.is_empty() => *row = word,
                Some(row) if row.chars().count() + 1 + word.chars().count() <= COLUMNS => {
                    word.insert(0, ' ');
                    row.push_str(&word);
                }
                _ => rows.push(word),
            }
        }
    }
    rows.truncate(ROWS);
    rows.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_fits_a_row() {
        let all = ["en", "de", "fr", "es", "it", "nl", "pl"].map(|code| ReaderLanguage::from_code(code).unwrap());
        for language in all {
            for row in [
                DisplayRow::TryAgain,
                DisplayRow::InsertCard,
                DisplayRow::InsertOrSwipe,
                DisplayRow::SwipeCard,
                DisplayRow::RemoveCard,
                DisplayRow::Approved,
                DisplayRow::Declined,
            ] {
                let text = row.of(language);
                assert!((1..=21).contains(&text.chars().count()), "{text}");
                assert_eq!(language == ReaderLanguage::English, text == row.of(ReaderLanguage::English), "{text}");
            }
        }
    }

    #[test]
    fn a_tills_text_fits_the_display() {
        assert_eq!(fitted("Total 12,34 EUR\nThank you for your visit"), "Total 12,34 EUR\nThank you for your\nvisit");
        assert_eq!(fitted(""), "");
        assert_eq!(fitted("a\n\nb\nc\nd\ne"), "a\n\nb\nc");
        let long = fitted(&"ä".repeat(500));
        assert_eq!(long.chars().count(), COLUMNS);
        assert!(fitted(&"word ".repeat(100)).lines().all(|row| row.chars().count() <= COLUMNS));
    }

    #[test]
    fn the_card_s_first_known_language_counts() {
        for (preference, language) in [
            (&b"de"[..], Some(ReaderLanguage::German)),
            (b"FRen", Some(ReaderLanguage::French)),
            (b"xxplen", Some(ReaderLanguage::Polish)),
            (b"xx", None),
            (b"", None),
            (b"e", None),
            (b"\xFF\xFEde", Some(ReaderLanguage::German)),
            (b"xxyyzzwwde", None),
        ] {
            assert_eq!(ReaderLanguage::preferred(preference), language, "{preference:?}");
        }
    }
}
