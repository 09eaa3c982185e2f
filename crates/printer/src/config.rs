//! The configuration section `[[printer]]` for a receipt printer. This module only holds the values.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use crate::code_page;
use crate::logo::logo_file;
use crate::template::Template;

use pos_daemon::settings::{BAUD, ConfigFault, FaultList, absolute, check, ensure, fault, is_made_of, port, within};

/// There is at most one printer for each copy.
const MAX_PRINTERS: usize = 2;

/// A receipt printer.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Printer {
    /// The printer's human-readable name. If the file gives none, it is `printer-1` or `printer-2`.
    #[serde(default)]
    pub name: String,
    /// `tcp://host:9100`, a tty, or a USB printer such as `/dev/usb/lp0`.
    pub port: String,
    /// Line speed of a tty, in baud.
    #[serde(default = "pos_daemon::settings::default_baud")]
    pub baud: u32,
    /// How a printer at a tty reports that its buffer is full.
    #[serde(default)]
    pub flow_control: FlowControl,
    /// Characters on a line: 32, 42 or 48.
    #[serde(default = "columns")]
    pub columns: u8,
    /// The code page: the characters of the printer's bytes above 7F.
    #[serde(default)]
    pub code_page: CodePage,
    /// The number of the code page at this printer (ESC t), if it differs from Epson's.
    pub code_page_number: Option<u8>,
    /// How the paper is cut.
    #[serde(default)]
    pub cut: Cut,
    /// A picture for the head of each receipt, as a PBM file: `convert shop.png -resize 384x -monochrome logo.pbm`.
    pub logo: Option<PathBuf>,
    /// The content of the QR code at the foot of the customer's copy, such as `https://shop.example/r/{reference}`.
    /// Other placeholders are `{number}`, `{terminal}`, `{amount}` and `{currency}`.
    #[cfg_attr(feature = "docs", schemars(with = "Option<String>"))]
    pub qr: Option<Template>,
    /// `true`: the printer answers about its state (DLE EOT). `false`: the agent never asks it. Without this key, the
    /// agent finds out whether the printer answers.
    pub status: Option<bool>,
    /// The copies that are printed automatically.
    #[serde(default)]
    pub copies: Copies,
}

impl Printer {
    /// Returns the number of dots in a line. A character of font A is 12 dots wide, and paper of 512 dots has 42
    /// characters (Epson TM-T20, TM-T88).
    #[must_use]
    pub fn dots(&self) -> usize {
        if self.columns == 42 { 512 } else { usize::from(self.columns) * 12 }
    }
}

/// How a device at a tty stops the flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "kebab-case")]
pub enum FlowControl {
    /// No flow control.
    #[default]
    None,
    /// Flow control by wire: RTS and CTS (printers call it DTR/DSR or hardware).
    RtsCts,
    /// Flow control by the bytes 11 and 13.
    XonXoff,
}

/// Code pages of ESC/POS printers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "kebab-case")]
pub enum CodePage {
    /// Only ASCII.
    Ascii,
    /// PC437, the default of most printers.
    Cp437,
    /// PC737: Greek.
    Cp737,
    /// PC775: Baltic.
    Cp775,
    /// PC850: Western Europe.
    Cp850,
    /// PC852: Central Europe (Polish, Czech, Hungarian, Croatian, …).
    Cp852,
    /// PC857: Turkish.
    Cp857,
    /// PC858: PC850 with the euro sign.
    #[default]
    Cp858,
    /// PC866: Cyrillic.
    Cp866,
    /// Windows-1250: Central Europe.
    Wpc1250,
    /// Windows-1251: Cyrillic.
    Wpc1251,
    /// Windows-1252: Western Europe.
    Wpc1252,
    /// Windows-1253: Greek.
    Wpc1253,
    /// Windows-1254: Turkish.
    Wpc1254,
    /// Windows-1257: Baltic.
    Wpc1257,
}

impl CodePage {
    /// The pages with European letters, and their names in the configuration. The most common ones are first.
    const COMMON: [(Self, &'static str); 4] =
        [(Self::Cp858, "cp858"), (Self::Cp852, "cp852"), (Self::Wpc1252, "wpc1252"), (Self::Wpc1250, "wpc1250")];

    fn has(self, letter: char) -> bool {
        letter.is_ascii() || code_page::byte(letter, self).is_some()
    }
}

/// How the paper is cut at the end of a receipt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// The cut leaves one point uncut.
    #[default]
    Partial,
    /// The cut goes all the way through.
    Full,
    /// The printer has no cutter. The paper is fed to the tear-off edge.
    None,
}

/// The copies that are printed automatically.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "kebab-case")]
pub enum Copies {
    /// The merchant's and the customer's.
    #[default]
    Both,
    /// The merchant's only.
    Merchant,
    /// The customer's only.
    Customer,
    /// No copy is printed, but receipts are kept.
    None,
}

/// Reads every `[[printer]]` section, or a single `[printer]` section, and gives each printer a name.
///
/// # Errors
/// Fails if the sections have the wrong form.
pub fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Printer>, D::Error> {
    struct OneOrSeveral;

    impl<'de> Visitor<'de> for OneOrSeveral {
        type Value = Vec<Printer>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("one [[printer]] table for each printer")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            Printer::deserialize(MapAccessDeserializer::new(map)).map(|printer| vec![printer])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(seq))
        }
    }

    let mut printers = deserializer.deserialize_any(OneOrSeveral)?;
    for (n, printer) in printers.iter_mut().enumerate().filter(|(_, printer)| printer.name.is_empty()) {
        printer.name = format!("printer-{}", n + 1);
    }
    Ok(printers)
}

/// Returns the number of characters that fit 80 mm paper in font A.
fn columns() -> u8 {
    42
}

/// Checks rules that the types cannot express.
pub fn check_values(found: &mut FaultList, printers: &[Printer]) {
    found.add(check(
        printers.len() <= MAX_PRINTERS,
        "printer",
        "there are more than two",
        "keep one or two [[printer]] tables",
    ));
    let mut names = BTreeSet::new();
    for (n, entry) in printers.iter().enumerate() {
        printer(found, entry, |key| format!("printer[{n}].{key}"));
        let unique = names.insert(&entry.name);
        found.add(check(
            unique,
            &format!("printer[{n}].name"),
            "two printers have the same name",
            "give each printer a different name",
        ));
    }
}

/// Returns the first common page that has these letters, with its name. Without such a page, it is ASCII.
#[must_use]
pub fn page_with(letters: &BTreeSet<char>) -> (CodePage, &'static str) {
    let fits = |(page, _): &(CodePage, _)| letters.iter().all(|letter| page.has(*letter));
    CodePage::COMMON.into_iter().find(fits).unwrap_or((CodePage::Ascii, "ascii"))
}

/// Checks that each printer has the letters of the terminal's language, which is named by its code. A page without any
/// letters outside ASCII is the technician's choice.
pub fn check_letters(found: &mut FaultList, printers: &[Printer], (language, letters): (&str, &BTreeSet<char>)) {
    let lacking = |page: CodePage| letters.iter().filter(|letter| !page.has(**letter)).collect::<String>();
    for (n, printer) in printers.iter().enumerate().filter(|(_, printer)| printer.code_page != CodePage::Ascii) {
        let lacks = lacking(printer.code_page);
        found.add(ensure(lacks.is_empty(), &format!("printer[{n}].code-page"), || {
            let (_, fits) = page_with(letters);
            let remedy = format!("write code-page = \"{fits}\" if the printer has this page, or \"ascii\"");
            (format!("the page lacks {lacks} of the language {language}"), remedy)
        }));
    }
}

fn printer(found: &mut FaultList, printer: &Printer, key: impl Fn(&str) -> String) {
    let name = is_made_of(&printer.name, 32, |b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    found.add(check(name, &key("name"), "must be 1 to 32 letters, digits, - or _", "write it as \"counter\""));
    found.add(port(&key("port"), &printer.port, "9100"));
    found.add(within(&key("baud"), u64::from(printer.baud), &(u64::from(*BAUD.start())..=u64::from(*BAUD.end()))));
    let fits = matches!(printer.columns, 32 | 42 | 48);
    found.add(check(
        fits,
        &key("columns"),
        "must be 32, 42 or 48",
        "write the number of characters per line in the printer's self-test",
    ));
    found.add(check(
        printer.code_page_number.is_none() || printer.code_page != CodePage::Ascii,
        &key("code-page-number"),
        "has no effect with the code page ascii",
        "choose the code page with this number, or omit the number",
    ));
    if let Some(template) = &printer.qr {
        found.add(template.check(&key("qr")));
    }
}

/// Checks every picture that the settings name.
pub fn check_files(found: &mut FaultList, printers: &[Printer]) {
    for (n, printer) in printers.iter().enumerate() {
        found.add(logo(n, printer));
    }
}

/// Checks that the picture exists, is valid, and fits the paper.
fn logo(n: usize, printer: &Printer) -> Result<(), ConfigFault> {
    let Some(file) = &printer.logo else { return Ok(()) };
    let key = format!("printer[{n}].logo");
    absolute(&key, file)?;
    let logo = logo_file(file).map_err(|error| {
        let text = error.to_string();
        let (wrong, remedy) = text.split_once("; ").unwrap_or((&text, "create the picture again"));
        fault(&key, wrong, remedy)
    })?;
    let dots = printer.dots();
    ensure(logo.width() <= dots, &key, || {
        let wrong = format!("{}: is {} dots wide, but the paper has {dots}", file.display(), logo.width());
        (wrong, format!("create the picture again with -resize {dots}x"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printer_has_the_letters_of_the_language() {
        let told = |page: &str, letters: &str| {
            let printer = serde_json::json!({ "name": "counter", "port": "/dev/ttyS1", "code-page": page });
            let mut found = FaultList::default();
            let letters = letters.chars().collect();
            check_letters(&mut found, &[serde_json::from_value(printer).unwrap()], ("xx", &letters));
            found.0.first().map(ToString::to_string)
        };
        for (page, letters) in [("cp858", "ÄÖÜßé"), ("cp852", "ÓĄć"), ("cp437", ""), ("ascii", "Ą")] {
            assert_eq!(told(page, letters), None, "{page}");
        }
        let fault = told("cp858", "ÓĄć").unwrap();
        for part in ["printer[0].code-page", "lacks Ąć of the language xx", "write code-page = \"cp852\""] {
            assert!(fault.contains(part), "{part}: {fault}");
        }
        assert!(told("cp866", "é").unwrap().contains("\"cp858\""));
    }
}
