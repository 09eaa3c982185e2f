//! Requests about the terminal: its state, sessions, sums, and texts to show, to type and to print.

#![allow(missing_docs, reason = "a field or an object is that of the Terminal API with its name")]

use std::ops::Not;

use serde::{Deserialize, Serialize};

use crate::nexo::enums::{
    Device, EventToNotify, InfoQualify, InputCommand, ReconciliationType, ServiceEnabled, TokenRequestedType,
    TotalDetail, TransactionAction,
};
use crate::nexo::output::{DisplayOutput, PrintOutput};
use crate::nexo::shared::{SaleTerminalData, or_default};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct DiagnosisRequest {
    #[serde(rename = "POIID", skip_serializing_if = "Option::is_none")]
    pub poi_id: Option<String>,
    /// `HostDiagnosisFlag`: the till wants the state of the hosts.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub host_diagnosis_flag: bool,
    /// `AcquirerID`: the acquirers to check. An empty list selects all.
    #[serde(rename = "AcquirerID", default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub acquirer_id: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct SaleSoftware {
    #[serde(rename = "ManufacturerID", skip_serializing_if = "Option::is_none")]
    pub manufacturer_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub software_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certification_code: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct LoginRequest {
    /// `DateTime`: the till's clock.
    pub date_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale_software: Option<SaleSoftware>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale_terminal_data: Option<SaleTerminalData>,
    /// `TrainingModeFlag`: until the logout, no transaction moves money.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub training_mode_flag: bool,
    /// `OperatorLanguage`: ISO 639-1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator_language: Option<String>,
    #[serde(rename = "OperatorID", skip_serializing_if = "Option::is_none")]
    pub operator_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift_number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_requested_type: Option<TokenRequestedType>,
    #[serde(rename = "POISerialNumber", skip_serializing_if = "Option::is_none")]
    pub poi_serial_number: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct LogoutRequest {
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub maintenance_allowed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PrintRequest {
    pub print_output: PrintOutput,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct DisplayRequest {
    pub display_output: Vec<DisplayOutput>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct InputData {
    pub device: Device,
    pub info_qualify: InfoQualify,
    pub input_command: InputCommand,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub notify_card_input_flag: bool,
    /// `MaxInputTime`, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_input_time: Option<u32>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub immediate_response_flag: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_decimal_length: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_user_validation_flag: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_input_string: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub string_mask: Option<String>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub from_right_to_left_flag: bool,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub mask_characters_flag: bool,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub beep_key_flag: bool,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub global_correction_flag: bool,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub disable_cancel_flag: bool,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub disable_correct_flag: bool,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub disable_valid_flag: bool,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub menu_back_flag: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct InputRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_output: Option<DisplayOutput>,
    pub input_data: InputData,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ReconciliationRequest {
    pub reconciliation_type: ReconciliationType,
    /// `POIReconciliationID`, for `PreviousReconciliation`.
    #[serde(rename = "POIReconciliationID", skip_serializing_if = "Option::is_none")]
    pub poi_reconciliation_id: Option<String>,
    #[serde(rename = "AcquirerID", default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub acquirer_id: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct TotalFilter {
    #[serde(rename = "POIID", skip_serializing_if = "Option::is_none")]
    pub poi_id: Option<String>,
    #[serde(rename = "SaleID", skip_serializing_if = "Option::is_none")]
    pub sale_id: Option<String>,
    #[serde(rename = "OperatorID", skip_serializing_if = "Option::is_none")]
    pub operator_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift_number: Option<String>,
    #[serde(rename = "TotalsGroupID", skip_serializing_if = "Option::is_none")]
    pub totals_group_id: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct GetTotalsRequest {
    /// `TotalDetails`: the criteria for dividing the sums.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub total_details: Vec<TotalDetail>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_filter: Option<TotalFilter>,
}

/// `EnableServiceRequest`: starts a payment before its amount is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct EnableServiceRequest {
    pub transaction_action: TransactionAction,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub services_enabled: Vec<ServiceEnabled>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_output: Option<DisplayOutput>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct EventNotification {
    pub time_stamp: String,
    pub event_to_notify: EventToNotify,
    /// `EventDetails`: pairs such as `message=…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_details: Option<String>,
    /// `RejectedMessage`, for `Reject`: the rejected message in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected_message: Option<String>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub maintenance_required_flag: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub customer_language: Option<String>,
}
