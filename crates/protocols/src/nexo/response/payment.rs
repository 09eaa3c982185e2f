//! Answers about money.

#![allow(missing_docs, reason = "a field or an object is that of the Terminal API with its name")]

use serde::{Deserialize, Serialize};

use crate::nexo::enums::{AuthenticationMethod, PaymentType};
use crate::nexo::header::Header;
use crate::nexo::number::Decimal;
use crate::nexo::receipt::PaymentReceipt;
use crate::nexo::shared::{
    MessageReference, OriginalPoiTransaction, Outcome, PaymentInstrumentData, PoiData, SaleData,
    TransactionIdentification, or_default,
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct AmountsResp {
    /// `Currency`: ISO 4217.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    pub authorized_amount: Decimal,
    /// `TipAmount`: a part of the authorised amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tip_amount: Option<Decimal>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PaymentAcquirerData {
    #[serde(rename = "MerchantID")]
    pub merchant_id: String,
    #[serde(rename = "AcquirerPOIID")]
    pub acquirer_poi_id: String,
    #[serde(rename = "AcquirerTransactionID", skip_serializing_if = "Option::is_none")]
    pub acquirer_transaction_id: Option<TransactionIdentification>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_code: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PaymentResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_type: Option<PaymentType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_instrument_data: Option<PaymentInstrumentData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amounts_resp: Option<AmountsResp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub online_flag: Option<bool>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub authentication_method: Vec<AuthenticationMethod>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_acquirer_data: Option<PaymentAcquirerData>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PaymentResponse {
    #[serde(rename = "Response")]
    pub outcome: Outcome,
    pub sale_data: SaleData,
    /// `POIData`, absent only if no transaction was begun.
    #[serde(rename = "POIData", skip_serializing_if = "Option::is_none")]
    pub poi_data: Option<PoiData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_result: Option<PaymentResult>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub payment_receipt: Vec<PaymentReceipt>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ReversalResponse {
    #[serde(rename = "Response")]
    pub outcome: Outcome,
    #[serde(rename = "POIData", skip_serializing_if = "Option::is_none")]
    pub poi_data: Option<PoiData>,
    #[serde(rename = "OriginalPOITransaction", skip_serializing_if = "Option::is_none")]
    pub original_poi_transaction: Option<OriginalPoiTransaction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reversed_amount: Option<Decimal>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub payment_receipt: Vec<PaymentReceipt>,
}

/// `RepeatedResponseMessageBody`: contains one of the two bodies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct RepeatedBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_response: Option<PaymentResponse>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reversal_response: Option<ReversalResponse>,
}

/// `RepeatedMessageResponse`: the repeated answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct RepeatedMessageResponse {
    /// `MessageHeader`: the header of the earlier answer.
    pub message_header: Header,
    pub repeated_response_message_body: RepeatedBody,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct TransactionStatusResponse {
    #[serde(rename = "Response")]
    pub outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_reference: Option<MessageReference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated_message_response: Option<RepeatedMessageResponse>,
}
