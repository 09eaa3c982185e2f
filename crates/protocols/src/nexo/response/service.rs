//! Answers about the terminal.

#![allow(missing_docs, reason = "a field or an object is that of the Terminal API with its name")]

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;

use crate::nexo::enums::{
    Device, DocumentQualifier, GenericProfile, GlobalStatus, InfoQualify, InputCommand, PaymentInstrumentType,
    PoiCapability, PrinterStatus, ReconciliationType, ServiceProfile, TerminalEnvironment, TransactionType,
};
use crate::nexo::number::Decimal;
use crate::nexo::output::OutputResult;
use crate::nexo::shared::{Outcome, or_default};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PoiStatus {
    pub global_status: GlobalStatus,
    /// `PEDOKFlag`: the PIN pad works.
    #[serde(rename = "PEDOKFlag", skip_serializing_if = "Option::is_none")]
    pub ped_ok_flag: Option<bool>,
    #[serde(rename = "CardReaderOKFlag", skip_serializing_if = "Option::is_none")]
    pub card_reader_ok_flag: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub printer_status: Option<PrinterStatus>,
    #[serde(rename = "CommunicationOKFlag", skip_serializing_if = "Option::is_none")]
    pub communication_ok_flag: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct HostStatus {
    #[serde(rename = "AcquirerID")]
    pub acquirer_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_reachable_flag: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct DiagnosisResponse {
    #[serde(rename = "Response")]
    pub outcome: Outcome,
    /// `LoggedSaleID`: the tills that are logged in.
    #[serde(rename = "LoggedSaleID", default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub logged_sale_id: Vec<String>,
    #[serde(rename = "POIStatus", skip_serializing_if = "Option::is_none")]
    pub poi_status: Option<PoiStatus>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub host_status: Vec<HostStatus>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PoiSoftware {
    #[serde(rename = "ManufacturerID")]
    pub manufacturer_id: String,
    pub application_name: String,
    pub software_version: String,
    pub certification_code: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PoiProfile {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generic_profile: Option<GenericProfile>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub service_profiles: Vec<ServiceProfile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PoiTerminalData {
    pub terminal_environment: TerminalEnvironment,
    #[serde(rename = "POICapabilities")]
    pub poi_capabilities: Vec<PoiCapability>,
    #[serde(rename = "POIProfile", skip_serializing_if = "Option::is_none")]
    pub poi_profile: Option<PoiProfile>,
    #[serde(rename = "POISerialNumber")]
    pub poi_serial_number: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PoiSystemData {
    /// `DateTime`: the terminal's clock.
    pub date_time: String,
    #[serde(rename = "POISoftware")]
    pub poi_software: PoiSoftware,
    #[serde(rename = "POITerminalData", skip_serializing_if = "Option::is_none")]
    pub poi_terminal_data: Option<PoiTerminalData>,
    #[serde(rename = "POIStatus", skip_serializing_if = "Option::is_none")]
    pub poi_status: Option<PoiStatus>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct LoginResponse {
    #[serde(rename = "Response")]
    pub outcome: Outcome,
    #[serde(rename = "POISystemData", skip_serializing_if = "Option::is_none")]
    pub poi_system_data: Option<PoiSystemData>,
}

/// An answer that consists only of its outcome: `LogoutResponse`, `EnableServiceResponse`, and unsupported categories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PlainResponse {
    #[serde(rename = "Response")]
    pub outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PrintResponse {
    pub document_qualifier: DocumentQualifier,
    #[serde(rename = "Response")]
    pub outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct DisplayResponse {
    pub output_result: Vec<OutputResult>,
}

/// `Input`: the typed input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Input {
    pub input_command: InputCommand,
    /// `ConfirmedFlag`, for `GetConfirmation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed_flag: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_input: Option<String>,
    /// `MenuEntryNumber`: the chosen menu entries.
    #[serde(default, deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    pub menu_entry_number: Vec<i32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct InputResult {
    pub device: Device,
    pub info_qualify: InfoQualify,
    #[serde(rename = "Response")]
    pub outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct InputResponse {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_result: Option<OutputResult>,
    pub input_result: InputResult,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PaymentTotals {
    pub transaction_type: TransactionType,
    pub transaction_count: u32,
    pub transaction_amount: Decimal,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct TransactionTotals {
    pub payment_instrument_type: PaymentInstrumentType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card_brand: Option<String>,
    /// `PaymentCurrency`: ISO 4217.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_currency: Option<String>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub payment_totals: Vec<PaymentTotals>,
}

impl TransactionTotals {
    /// Creates totals for one card brand and one currency, with no sums yet.
    #[must_use]
    pub fn of_cards(brand: Option<String>, currency: String) -> Self {
        Self {
            payment_instrument_type: PaymentInstrumentType::Card,
            card_brand: brand,
            payment_currency: Some(currency),
            payment_totals: Vec::new(),
        }
    }

    /// Adds a sum. Sums of the same type are combined.
    pub fn add(&mut self, more: PaymentTotals) {
        let known = self.payment_totals.iter_mut().find(|it| it.transaction_type == more.transaction_type);
        match known {
            Some(known) => {
                known.transaction_count = known.transaction_count.saturating_add(more.transaction_count);
                known.transaction_amount = known.transaction_amount.plus(more.transaction_amount);
            }
            None => self.payment_totals.push(more),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ReconciliationResponse {
    #[serde(rename = "Response")]
    pub outcome: Outcome,
    pub reconciliation_type: ReconciliationType,
    #[serde(rename = "POIReconciliationID", skip_serializing_if = "Option::is_none")]
    pub poi_reconciliation_id: Option<String>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub transaction_totals: Vec<TransactionTotals>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct GetTotalsResponse {
    #[serde(rename = "Response")]
    pub outcome: Outcome,
    #[serde(rename = "POIReconciliationID", skip_serializing_if = "Option::is_none")]
    pub poi_reconciliation_id: Option<String>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub transaction_totals: Vec<TransactionTotals>,
}

/// Reads a list. The library of some tills writes a single number instead of a list.
fn one_or_more<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<i32>, D::Error> {
    let raw = Box::<RawValue>::deserialize(from)?;
    let one = serde_json::from_str(raw.get()).map(|one| vec![one]);
    one.or_else(|_| serde_json::from_str::<Option<_>>(raw.get()).map(Option::unwrap_or_default))
        .map_err(de::Error::custom)
}
