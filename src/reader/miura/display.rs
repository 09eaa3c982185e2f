//! The few texts that the driver itself shows on the reader, in the languages it has (readers: 2.2, D201). Everything
//! else on the display is the reader's own.

use std::time::Duration;

use super::line::{CommandPurpose, PLAIN_ANSWER, ReaderLine};
use super::message::Command;
use crate::reader::Language;

/// One row of the display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DisplayRow {
    TryAgain,
    InsertOrSwipe,
    SwipeCard,
    RemoveCard,
    Approved,
    Declined,
}

impl DisplayRow {
    /// What stands on the display.
    pub(super) fn of(self, language: Language) -> &'static str {
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
            Language::English => en,
            Language::German => de,
            Language::French => fr,
            Language::Spanish => es,
            Language::Italian => it,
            Language::Dutch => nl,
            Language::Polish => pl,
        }
    }
}

/// Shows rows on the reader. What is not ASCII is sent as UTF-8 and says so.
pub(super) fn display(line: &mut ReaderLine, rows: &[DisplayRow], language: Language, now: Duration) {
    let text = rows.iter().map(|row| row.of(language)).collect::<Vec<_>>().join("\n");
    let command = Command::DisplayText { light: true, utf8: !text.is_ascii(), text: text.as_bytes() };
    line.ask(CommandPurpose::Display, &command, PLAIN_ANSWER, now);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_fits_a_row() {
        let all = ["en", "de", "fr", "es", "it", "nl", "pl"].map(|code| Language::from_code(code).unwrap());
        for language in all {
            for row in [
                DisplayRow::TryAgain,
                DisplayRow::InsertOrSwipe,
                DisplayRow::SwipeCard,
                DisplayRow::RemoveCard,
                DisplayRow::Approved,
                DisplayRow::Declined,
            ] {
                let text = row.of(language);
                assert!((1..=21).contains(&text.chars().count()), "{text}");
                assert_eq!(language == Language::English, text == row.of(Language::English), "{text}");
            }
        }
    }

    #[test]
    fn the_card_s_first_known_language_counts() {
        for (preference, language) in [
            (&b"de"[..], Some(Language::German)),
            (b"FRen", Some(Language::French)),
            (b"xxplen", Some(Language::Polish)),
            (b"xx", None),
            (b"", None),
            (b"e", None),
            (b"\xFF\xFEde", Some(Language::German)),
            (b"xxyyzzwwde", None),
        ] {
            assert_eq!(Language::preferred(preference), language, "{preference:?}");
        }
    }
}
