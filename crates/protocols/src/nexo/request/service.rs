//! What a till asks for about the terminal: state, sessions, sums, and what is shown, typed and printed.

use std::ops::Not;

use serde::{Deserialize, Serialize};

use crate::nexo::enums::{
    Device, EventToNotify, InfoQualify, InputCommand, ReconciliationType, ServiceEnabled, TokenRequestedType,
    TotalDetail, TransactionAction,
};
use crate::nexo::output::{DisplayOutput, PrintOutput};
use crate::nexo::shared::{SaleTerminalData, or_default};

/// `DiagnosisRequest`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct DiagnosisRequest {
    /// `POIID`.
    #[serde(rename = "POIID", skip_serializing_if = "Option::is_none")]
    pub poi_id: Option<String>,
    /// `HostDiagnosisFlag`: the hosts are asked too.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub host_diagnosis_flag: bool,
    /// `AcquirerID`: which; none, all.
    #[serde(rename = "AcquirerID", default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub acquirer_id: Vec<String>,
}

/// `SaleSoftware`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct SaleSoftware {
    /// `ManufacturerID`.
    #[serde(rename = "ManufacturerID", skip_serializing_if = "Option::is_none")]
    pub manufacturer_id: Option<String>,
    /// `ApplicationName`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application_name: Option<String>,
    /// `SoftwareVersion`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub software_version: Option<String>,
    /// `CertificationCode`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certification_code: Option<String>,
}

/// `LoginRequest`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct LoginRequest {
    /// `DateTime`: the till's clock.
    pub date_time: String,
    /// `SaleSoftware`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale_software: Option<SaleSoftware>,
    /// `SaleTerminalData`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale_terminal_data: Option<SaleTerminalData>,
    /// `TrainingModeFlag`: nothing moves money until the logout.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub training_mode_flag: bool,
    /// `OperatorLanguage`: ISO 639-1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator_language: Option<String>,
    /// `OperatorID`.
    #[serde(rename = "OperatorID", skip_serializing_if = "Option::is_none")]
    pub operator_id: Option<String>,
    /// `ShiftNumber`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift_number: Option<String>,
    /// `TokenRequestedType`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_requested_type: Option<TokenRequestedType>,
    /// `POISerialNumber`.
    #[serde(rename = "POISerialNumber", skip_serializing_if = "Option::is_none")]
    pub poi_serial_number: Option<String>,
}

/// `LogoutRequest`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct LogoutRequest {
    /// `MaintenanceAllowed`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub maintenance_allowed: bool,
}

/// `PrintRequest`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PrintRequest {
    /// `PrintOutput`.
    pub print_output: PrintOutput,
}

/// `DisplayRequest`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct DisplayRequest {
    /// `DisplayOutput`.
    pub display_output: Vec<DisplayOutput>,
}

/// `InputData`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct InputData {
    /// `Device`.
    pub device: Device,
    /// `InfoQualify`.
    pub info_qualify: InfoQualify,
    /// `InputCommand`.
    pub input_command: InputCommand,
    /// `NotifyCardInputFlag`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub notify_card_input_flag: bool,
    /// `MaxInputTime`: seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_input_time: Option<u32>,
    /// `ImmediateResponseFlag`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub immediate_response_flag: bool,
    /// `MinLength`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u32>,
    /// `MaxLength`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    /// `MaxDecimalLength`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_decimal_length: Option<u32>,
    /// `WaitUserValidationFlag`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_user_validation_flag: Option<bool>,
    /// `DefaultInputString`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_input_string: Option<String>,
    /// `StringMask`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub string_mask: Option<String>,
    /// `FromRightToLeftFlag`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub from_right_to_left_flag: bool,
    /// `MaskCharactersFlag`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub mask_characters_flag: bool,
    /// `BeepKeyFlag`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub beep_key_flag: bool,
    /// `GlobalCorrectionFlag`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub global_correction_flag: bool,
    /// `DisableCancelFlag`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub disable_cancel_flag: bool,
    /// `DisableCorrectFlag`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub disable_correct_flag: bool,
    /// `DisableValidFlag`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub disable_valid_flag: bool,
    /// `MenuBackFlag`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub menu_back_flag: bool,
}

/// `InputRequest`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct InputRequest {
    /// `DisplayOutput`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_output: Option<DisplayOutput>,
    /// `InputData`.
    pub input_data: InputData,
}

/// `ReconciliationRequest`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ReconciliationRequest {
    /// `ReconciliationType`.
    pub reconciliation_type: ReconciliationType,
    /// `POIReconciliationID`: of `PreviousReconciliation`.
    #[serde(rename = "POIReconciliationID", skip_serializing_if = "Option::is_none")]
    pub poi_reconciliation_id: Option<String>,
    /// `AcquirerID`.
    #[serde(rename = "AcquirerID", default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub acquirer_id: Vec<String>,
}

/// `TotalFilter`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct TotalFilter {
    /// `POIID`.
    #[serde(rename = "POIID", skip_serializing_if = "Option::is_none")]
    pub poi_id: Option<String>,
    /// `SaleID`.
    #[serde(rename = "SaleID", skip_serializing_if = "Option::is_none")]
    pub sale_id: Option<String>,
    /// `OperatorID`.
    #[serde(rename = "OperatorID", skip_serializing_if = "Option::is_none")]
    pub operator_id: Option<String>,
    /// `ShiftNumber`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift_number: Option<String>,
    /// `TotalsGroupID`.
    #[serde(rename = "TotalsGroupID", skip_serializing_if = "Option::is_none")]
    pub totals_group_id: Option<String>,
}

/// `GetTotalsRequest`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct GetTotalsRequest {
    /// `TotalDetails`: what the sums are told apart by.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub total_details: Vec<TotalDetail>,
    /// `TotalFilter`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_filter: Option<TotalFilter>,
}

/// `EnableServiceRequest`: a payment begins before its amount is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct EnableServiceRequest {
    /// `TransactionAction`.
    pub transaction_action: TransactionAction,
    /// `ServicesEnabled`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub services_enabled: Vec<ServiceEnabled>,
    /// `DisplayOutput`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_output: Option<DisplayOutput>,
}

/// `EventNotification`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct EventNotification {
    /// `TimeStamp`.
    pub time_stamp: String,
    /// `EventToNotify`.
    pub event_to_notify: EventToNotify,
    /// `EventDetails`: pairs: `message=…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_details: Option<String>,
    /// `RejectedMessage`: of `Reject`: base64 of what was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected_message: Option<String>,
    /// `MaintenanceRequiredFlag`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub maintenance_required_flag: bool,
    /// `CustomerLanguage`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub customer_language: Option<String>,
}
