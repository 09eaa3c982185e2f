//! The few texts that the driver itself shows on the reader, in the languages it has (readers: 2.2, D201). Everything
//! else on the display is the reader's own.

use std::time::Duration;

use super::line::{CommandPurpose, PLAIN_ANSWER, ReaderLine};
use super::message::MpiCommand;
use crate::reader::ReaderLanguage;

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

/// Shows rows on the reader. What is not ASCII is sent as UTF-8 and says so.
pub(super) fn display(line: &mut ReaderLine, rows: &[DisplayRow], language: ReaderLanguage, now: Duration) {
    let text = rows.iter().map(|row| row.of(language)).collect::<Vec<_>>().join("\n");
    let command = MpiCommand::DisplayText { light: true, utf8: !text.is_ascii(), text: text.as_bytes() };
    line.ask(CommandPurpose::Display, &command, PLAIN_ANSWER, now);
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
