//! Texts to show and to print.

#![allow(missing_docs, reason = "a field or an object is that of the Terminal API with its name")]

use std::ops::Not;

use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer, Serialize};

use super::enums::{
    self, Alignment, BarcodeType, CharacterHeight, CharacterStyle, CharacterWidth, Device, DocumentQualifier,
    InfoQualify, MenuEntryTag, OutputFormat, QrCodeErrorCorrection, ResponseMode,
};
use super::shared::{Outcome, or_default};

/// `PredefinedContent`: a text that the other side knows by its ID.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PredefinedContent {
    #[serde(rename = "ReferenceID")]
    pub reference_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// `OutputText`: a piece of text and its style. An unknown style counts as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct OutputText {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, deserialize_with = "enums::known", skip_serializing_if = "Option::is_none")]
    pub character_width: Option<CharacterWidth>,
    #[serde(default, deserialize_with = "enums::known", skip_serializing_if = "Option::is_none")]
    pub character_height: Option<CharacterHeight>,
    #[serde(default, deserialize_with = "enums::known", skip_serializing_if = "Option::is_none")]
    pub character_style: Option<CharacterStyle>,
    #[serde(default, deserialize_with = "enums::known", skip_serializing_if = "Option::is_none")]
    pub alignment: Option<Alignment>,
    /// `EndOfLineFlag`. If it is absent, the line ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_of_line_flag: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct OutputBarcode {
    #[serde(default, deserialize_with = "barcode_type", skip_serializing_if = "Option::is_none")]
    pub barcode_type: Option<BarcodeType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub barcode_value: Option<String>,
    /// `QRCodeBinaryValue`: a field of nexo, outside the Terminal API.
    #[serde(rename = "QRCodeBinaryValue", default, skip_serializing_if = "Option::is_none")]
    pub qr_code_binary_value: Option<String>,
    /// `QRCodeErrorCorrection`: a field of nexo, outside the Terminal API.
    #[serde(rename = "QRCodeErrorCorrection", default, skip_serializing_if = "Option::is_none")]
    pub qr_code_error_correction: Option<QrCodeErrorCorrection>,
    /// `QRCodeVersion`: a field of nexo, outside the Terminal API.
    #[serde(rename = "QRCodeVersion", default, skip_serializing_if = "Option::is_none")]
    pub qr_code_version: Option<serde_json::Value>,
}

/// Reads the type of a barcode. The library's other list spells one type `QRCODE`.
fn barcode_type<'de, D: Deserializer<'de>>(from: D) -> Result<Option<BarcodeType>, D::Error> {
    let word =
        Option::<String>::deserialize(from)?.map(|word| if word == "QRCODE" { "QRCode".to_owned() } else { word });
    word.map(|word| BarcodeType::deserialize(word.into_deserializer())).transpose()
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct OutputContent {
    pub output_format: OutputFormat,
    /// `PredefinedContent`: for the format `MessageRef`. In some inputs, it names the screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predefined_content: Option<PredefinedContent>,
    /// `OutputText`: for the format `Text`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub output_text: Vec<OutputText>,
    /// `OutputXHTML`: for the format `XHTML`, in base64.
    #[serde(rename = "OutputXHTML", skip_serializing_if = "Option::is_none")]
    pub output_xhtml: Option<String>,
    /// `OutputBarcode`: for the format `BarCode`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_barcode: Option<OutputBarcode>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct MenuEntry {
    /// `MenuEntryTag`. If it is absent, the entry can be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub menu_entry_tag: Option<MenuEntryTag>,
    pub output_format: OutputFormat,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub default_selected_flag: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predefined_content: Option<PredefinedContent>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub output_text: Vec<OutputText>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct DisplayOutput {
    pub device: Device,
    pub info_qualify: InfoQualify,
    pub output_content: OutputContent,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub menu_entry: Vec<MenuEntry>,
    /// `MinimumDisplayTime`, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_display_time: Option<u32>,
    /// `ResponseRequiredFlag`. If it is absent, a response is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_required_flag: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PrintOutput {
    pub document_qualifier: DocumentQualifier,
    pub response_mode: ResponseMode,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub integrated_print_flag: bool,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub required_signature_flag: bool,
    pub output_content: OutputContent,
}

/// `OutputResult`: the outcome of one `DisplayOutput`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct OutputResult {
    pub device: Device,
    pub info_qualify: InfoQualify,
    #[serde(rename = "Response")]
    pub outcome: Outcome,
}

impl OutputContent {
    /// Creates a content from lines of text.
    #[must_use]
    pub fn text(lines: Vec<OutputText>) -> Self {
        Self {
            output_format: OutputFormat::Text,
            predefined_content: None,
            output_text: lines,
            output_xhtml: None,
            output_barcode: None,
        }
    }

    /// Returns the lines of the text, without layout.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let (mut lines, mut open) = (Vec::new(), false);
        for piece in &self.output_text {
            let text = piece.text.as_deref().unwrap_or_default();
            match lines.last_mut() {
                Some(line) if open => *line = format!("{line}{text}"),
                _ => lines.push(text.to_owned()),
            }
            open = piece.end_of_line_flag == Some(false);
        }
        lines
    }
}
