//! Objects in both requests and responses.

#![allow(missing_docs, reason = "a field or an object is that of the Terminal API with its name")]

use serde::{Deserialize, Deserializer, Serialize};

use super::additional::SaleToAcquirerData;
use super::enums::{Category, EntryMode, ErrorCondition, PaymentInstrumentType, ResultWord, TokenRequestedType};

/// Reads a value and accepts `null` as absent, because some tills send `null` for all fields without a value.
pub(super) fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

/// The number and the time of a transaction: the till's, the terminal's or the acquirer's.
#[derive(Clone, Debug, Default, Hash, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct TransactionIdentification {
    #[serde(rename = "TransactionID")]
    pub transaction_id: String,
    /// `TimeStamp`, in its original spelling.
    pub time_stamp: String,
}

/// `MessageReference`: names an earlier message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct MessageReference {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_category: Option<Category>,
    #[serde(rename = "ServiceID", skip_serializing_if = "Option::is_none")]
    pub service_id: Option<String>,
    #[serde(rename = "DeviceID", skip_serializing_if = "Option::is_none")]
    pub device_id: Option<String>,
    /// `SaleID`: the till. If it is absent, the requesting till is meant.
    #[serde(rename = "SaleID", skip_serializing_if = "Option::is_none")]
    pub sale_id: Option<String>,
    #[serde(rename = "POIID", skip_serializing_if = "Option::is_none")]
    pub poi_id: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct SaleTerminalData {
    #[serde(rename = "TotalsGroupID", skip_serializing_if = "Option::is_none")]
    pub totals_group_id: Option<String>,
}

/// `SaleData`: the till's side of a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct SaleData {
    /// `OperatorID`: the cashier.
    #[serde(rename = "OperatorID", skip_serializing_if = "Option::is_none")]
    pub operator_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator_language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift_number: Option<String>,
    #[serde(rename = "SaleTransactionID")]
    pub sale_transaction_id: TransactionIdentification,
    /// `SaleReferenceID`: the common reference of all transactions of one purchase.
    #[serde(rename = "SaleReferenceID", skip_serializing_if = "Option::is_none")]
    pub sale_reference_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale_terminal_data: Option<SaleTerminalData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_requested_type: Option<TokenRequestedType>,
    #[serde(rename = "SaleToPOIData", skip_serializing_if = "Option::is_none")]
    pub sale_to_poi_data: Option<String>,
    /// `SaleToAcquirerData`. In a reversal it contains the currency of the amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale_to_acquirer_data: Option<SaleToAcquirerData>,
}

impl SaleData {
    /// Creates data with only the transaction.
    #[must_use]
    pub fn new(sale_transaction_id: TransactionIdentification) -> Self {
        Self { sale_transaction_id, ..Self::default() }
    }

    /// Returns the part that the answer contains.
    #[must_use]
    pub fn returned(&self) -> Self {
        Self { sale_reference_id: self.sale_reference_id.clone(), ..Self::new(self.sale_transaction_id.clone()) }
    }
}

/// `POIData`: the terminal's side of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PoiData {
    #[serde(rename = "POITransactionID")]
    pub poi_transaction_id: TransactionIdentification,
    /// `POIReconciliationID`: the period in which the transaction counts.
    #[serde(rename = "POIReconciliationID", skip_serializing_if = "Option::is_none")]
    pub poi_reconciliation_id: Option<String>,
}

/// `OriginalPOITransaction`: the earlier transaction that this one refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct OriginalPoiTransaction {
    #[serde(rename = "SaleID", skip_serializing_if = "Option::is_none")]
    pub sale_id: Option<String>,
    #[serde(rename = "POIID", skip_serializing_if = "Option::is_none")]
    pub poi_id: Option<String>,
    #[serde(rename = "POITransactionID", skip_serializing_if = "Option::is_none")]
    pub poi_transaction_id: Option<TransactionIdentification>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reuse_card_data_flag: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_code: Option<String>,
    #[serde(rename = "AcquirerID", skip_serializing_if = "Option::is_none")]
    pub acquirer_id: Option<String>,
    #[serde(rename = "HostTransactionID", skip_serializing_if = "Option::is_none")]
    pub host_transaction_id: Option<TransactionIdentification>,
}

/// `PaymentToken`: a stored card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PaymentToken {
    pub token_requested_type: TokenRequestedType,
    pub token_value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry_date_time: Option<String>,
}

/// `CardData`. Card numbers, tracks and expiry dates from a till are skipped without being read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct CardData {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_brand: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masked_pan: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card_country_code: Option<String>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub entry_mode: Vec<EntryMode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_token: Option<PaymentToken>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_account_ref: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PaymentInstrumentData {
    pub payment_instrument_type: PaymentInstrumentType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card_data: Option<CardData>,
}

/// `Response`: the outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Outcome {
    pub result: ResultWord,
    /// `ErrorCondition`: the reason for a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_condition: Option<ErrorCondition>,
    /// `AdditionalResponse`: pairs, or a human-readable sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_response: Option<String>,
}

impl Outcome {
    /// Returns a success.
    #[must_use]
    pub fn success() -> Self {
        Self { result: ResultWord::Success, error_condition: None, additional_response: None }
    }

    /// Returns a failure with this condition.
    #[must_use]
    pub fn failure(condition: ErrorCondition) -> Self {
        Self { result: ResultWord::Failure, error_condition: Some(condition), additional_response: None }
    }

    /// Returns a partial success, in which a smaller amount was approved.
    #[must_use]
    pub fn partial() -> Self {
        Self { result: ResultWord::Partial, ..Self::success() }
    }

    /// Adds this text to the outcome ([`super::additional::write`]).
    #[must_use]
    pub fn with(self, additional: String) -> Self {
        Self { additional_response: Some(additional), ..self }
    }
}
