//! Texts from a till for the terminal's printer (`Print`) and for the reader's display (`Display`).

use crate::nexo::additional;
use crate::nexo::enums::{
    Alignment, BarcodeType, CharacterHeight, CharacterStyle, CharacterWidth, Device, OutputFormat,
    QrCodeErrorCorrection,
};
use crate::nexo::output::{DisplayOutput, OutputBarcode, OutputText, PrintOutput};
use crate::nexo::receipt::{Line, Profile};
use crate::nexo::request::DisplayRequest;
use pos_till_api::{Align, PrintCode, PrintLine, Style};

/// Builds the lines of a text or a code, or returns the reason why it cannot be printed. The terminal's printer checks
/// the content of a code.
///
/// Pieces without an end of line form one line. A right-aligned piece is the value of the text before it. If the till
/// gets its receipts as pairs, this function also parses pairs. The till can then print such a receipt without changing
/// it.
pub(super) fn lines(print: &PrintOutput, profile: Profile) -> Result<Vec<PrintLine>, &'static str> {
    let content = &print.output_content;
    let mut lines = match (content.output_format, &content.output_barcode) {
        (OutputFormat::Text, None) => text_lines(&content.output_text, profile),
        (OutputFormat::BarCode, Some(barcode)) if content.output_text.is_empty() => vec![code_line(barcode)?],
        (OutputFormat::Text, Some(_)) | (OutputFormat::BarCode, Some(_)) => {
            return Err("OutputText and OutputBarcode need two requests: an OutputFormat has only one of them");
        }
        (OutputFormat::BarCode, None) => return Err("OutputBarcode is missing"),
        (OutputFormat::MessageRef | OutputFormat::Xhtml, _) => {
            return Err("this terminal prints only OutputFormat Text and BarCode");
        }
    };
    if print.required_signature_flag {
        let line = format!("X{}", "_".repeat(23));
        lines.extend([PrintLine::default(), PrintLine::default(), PrintLine::plain(line)]);
    }
    Ok(lines.into_iter().flat_map(PrintLine::in_parts).collect())
}

fn text_lines(pieces: &[OutputText], profile: Profile) -> Vec<PrintLine> {
    let (mut lines, mut open) = (Vec::new(), false);
    for piece in pieces {
        let part = line(piece, profile);
        match lines.last_mut() {
            Some(line) if open => join(line, part),
            _ => lines.push(part),
        }
        open = piece.end_of_line_flag == Some(false);
    }
    lines
}

fn code_line(barcode: &OutputBarcode) -> Result<PrintLine, &'static str> {
    if barcode.qr_code_binary_value.is_some() {
        return Err("QRCodeBinaryValue cannot be printed; use BarcodeValue");
    }
    if barcode.qr_code_version.is_some() {
        return Err("QRCodeVersion cannot be chosen, as BarcodeValue determines the size; omit it");
    }
    let kind = barcode.barcode_type.ok_or("BarcodeType is missing")?;
    let level = barcode.qr_code_error_correction;
    if level.is_some() && kind != BarcodeType::QrCode {
        return Err("QRCodeErrorCorrection is only for BarcodeType QRCode");
    }
    let code = match (kind, level) {
        (BarcodeType::Ean8, _) => PrintCode::Ean8,
        (BarcodeType::Ean13, _) => PrintCode::Ean13,
        (BarcodeType::Upca, _) => PrintCode::UpcA,
        (BarcodeType::Code25, _) => PrintCode::Code25,
        (BarcodeType::Code128, _) => PrintCode::Code128,
        (BarcodeType::Pdf417, _) => PrintCode::Pdf417,
        (BarcodeType::QrCode, None | Some(QrCodeErrorCorrection::M)) => PrintCode::Qr,
        (BarcodeType::QrCode, Some(QrCodeErrorCorrection::L)) => PrintCode::QrLow,
        (BarcodeType::QrCode, Some(QrCodeErrorCorrection::Q)) => PrintCode::QrQuartile,
        (BarcodeType::QrCode, Some(QrCodeErrorCorrection::H)) => PrintCode::QrHigh,
    };
    let text = barcode.barcode_value.clone().ok_or("BarcodeValue is missing")?;
    Ok(PrintLine { align: Align::Centre, code: Some(code), ..PrintLine::plain(text) })
}

/// Returns the text for the reader's display, or `None` for other content or another device.
pub(super) fn text_to_show(display: &DisplayRequest) -> Option<String> {
    let shown = |output: &DisplayOutput| {
        let is_text = output.output_content.output_format == OutputFormat::Text && output.menu_entry.is_empty();
        (output.device == Device::CustomerDisplay && is_text).then(|| output.output_content.lines().join("\n"))
    };
    let texts: Option<Vec<String>> = display.display_output.iter().map(shown).collect();
    texts.filter(|texts| !texts.is_empty()).map(|texts| texts.join("\n"))
}

fn join(line: &mut PrintLine, part: PrintLine) {
    if part.align == Align::Right || !line.value.is_empty() {
        line.value.push_str(&part.text);
    } else {
        line.text.push_str(&part.text);
        line.value = part.value;
    }
}

fn line(piece: &OutputText, profile: Profile) -> PrintLine {
    let style = match (piece.character_width, piece.character_height, piece.character_style) {
        (Some(CharacterWidth::DoubleWidth), _, _) => Style::Big,
        (_, Some(CharacterHeight::DoubleHeight), _) => Style::Tall,
        (_, _, Some(CharacterStyle::Bold)) => Style::Bold,
        _ => Style::Plain,
    };
    let align = match piece.alignment {
        Some(Alignment::Centred) => Align::Centre,
        Some(Alignment::Right) => Align::Right,
        Some(Alignment::Left | Alignment::Justified) | None => Align::Left,
    };
    let text = piece.text.clone().unwrap_or_default();
    match pair(&text).filter(|_| profile == Profile::Adyen) {
        Some((name, value)) => PrintLine { text: name, value, align, style, code: None },
        None => PrintLine { text, align, style, ..PrintLine::default() },
    }
}

/// Reads `name=…&value=…&key=…`, of which parts may be missing. Returns `None` for any other text.
fn pair(text: &str) -> Option<(String, String)> {
    let is_part = |(part, _): &(String, String)| matches!(part.as_str(), "name" | "value" | "key");
    if !text.contains('=') || !additional::read(text).iter().all(is_part) {
        return None;
    }
    let line = Line::from_pairs(text, None, None);
    Some((line.name, line.value.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nexo::enums::{DocumentQualifier, ResponseMode};
    use crate::nexo::output::OutputContent;

    fn printed(pieces: Vec<OutputText>, signed: bool, profile: Profile) -> Vec<PrintLine> {
        let print = PrintOutput {
            document_qualifier: DocumentQualifier::Document,
            response_mode: ResponseMode::PrintEnd,
            integrated_print_flag: false,
            required_signature_flag: signed,
            output_content: OutputContent::text(pieces),
        };
        lines(&print, profile).unwrap()
    }

    fn piece(text: &str) -> OutputText {
        OutputText { text: Some(text.to_owned()), ..OutputText::default() }
    }

    #[test]
    fn pieces_become_lines_with_their_looks() {
        let lines = printed(
            vec![
                OutputText {
                    alignment: Some(Alignment::Centred),
                    character_width: Some(CharacterWidth::DoubleWidth),
                    ..piece("VOUCHER")
                },
                OutputText { end_of_line_flag: Some(false), ..piece("Total ") },
                OutputText { alignment: Some(Alignment::Right), ..piece("12,34") },
                OutputText { end_of_line_flag: Some(false), ..piece("a ") },
                OutputText { character_style: Some(CharacterStyle::Bold), ..piece("b") },
                OutputText { text: None, ..OutputText::default() },
            ],
            true,
            Profile::Plain,
        );
        let shown: Vec<_> = lines.iter().map(|line| (line.text.as_str(), line.value.as_str(), line.style)).collect();
        let expected = [
            ("VOUCHER", "", Style::Big),
            ("Total ", "12,34", Style::Plain),
            ("a b", "", Style::Plain),
            ("", "", Style::Plain),
            ("", "", Style::Plain),
            ("", "", Style::Plain),
            ("X_______________________", "", Style::Plain),
        ];
        assert_eq!(shown, expected);
        assert_eq!(lines[0].align, Align::Centre);
    }

    #[test]
    fn a_receipt_of_an_adyen_terminal_is_printed_as_it_reads() {
        let lines = printed(
            vec![
                piece("name=TOTAL&value=%e2%82%ac%201.00&key=totalAmount"),
                piece("key=filler"),
                piece("name=Thank%20you"),
                piece("2 + 2 = 4 & more"),
            ],
            false,
            Profile::Adyen,
        );
        let shown: Vec<_> = lines.iter().map(|line| (line.text.as_str(), line.value.as_str())).collect();
        assert_eq!(shown, [("TOTAL", "€ 1.00"), ("", ""), ("Thank you", ""), ("2 + 2 = 4 & more", "")]);
        // This till gets no pairs, so the text is printed unchanged.
        let [line] = printed(vec![piece("name=Bob")], false, Profile::Plain).try_into().unwrap();
        assert_eq!(line, PrintLine::plain("name=Bob"));
    }
}
