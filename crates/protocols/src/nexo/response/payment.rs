//! What a till is told about money.

use serde::{Deserialize, Serialize};

use crate::nexo::enums::{AuthenticationMethod, PaymentType};
use crate::nexo::header::Header;
use crate::nexo::number::Decimal;
use crate::nexo::receipt::PaymentReceipt;
use crate::nexo::shared::{
    MessageReference, OriginalPoiTransaction, Outcome, PaymentInstrumentData, PoiData, SaleData,
    TransactionIdentification, or_default,
};

/// `AmountsResp`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct AmountsResp {
    /// `Currency`: ISO 4217.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// `AuthorizedAmount`.
    pub authorized_amount: Decimal,
    /// `TotalFeesAmount`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_fees_amount: Option<Decimal>,
    /// `CashBackAmount`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cash_back_amount: Option<Decimal>,
    /// `TipAmount`: a part of the authorised amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tip_amount: Option<Decimal>,
}

/// `PaymentAcquirerData`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PaymentAcquirerData {
    /// `AcquirerID`.
    #[serde(rename = "AcquirerID", skip_serializing_if = "Option::is_none")]
    pub acquirer_id: Option<String>,
    /// `MerchantID`.
    #[serde(rename = "MerchantID")]
    pub merchant_id: String,
    /// `AcquirerPOIID`.
    #[serde(rename = "AcquirerPOIID")]
    pub acquirer_poi_id: String,
    /// `AcquirerTransactionID`.
    #[serde(rename = "AcquirerTransactionID", skip_serializing_if = "Option::is_none")]
    pub acquirer_transaction_id: Option<TransactionIdentification>,
    /// `ApprovalCode`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_code: Option<String>,
}

/// `PaymentResult`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PaymentResult {
    /// `PaymentType`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_type: Option<PaymentType>,
    /// `PaymentInstrumentData`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_instrument_data: Option<PaymentInstrumentData>,
    /// `AmountsResp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amounts_resp: Option<AmountsResp>,
    /// `MerchantOverrideFlag`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merchant_override_flag: Option<bool>,
    /// `CustomerLanguage`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub customer_language: Option<String>,
    /// `OnlineFlag`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub online_flag: Option<bool>,
    /// `AuthenticationMethod`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub authentication_method: Vec<AuthenticationMethod>,
    /// `ValidityDate`: of a reservation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validity_date: Option<String>,
    /// `PaymentAcquirerData`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_acquirer_data: Option<PaymentAcquirerData>,
}

/// `PaymentResponse`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PaymentResponse {
    /// `Response`.
    #[serde(rename = "Response")]
    pub outcome: Outcome,
    /// `SaleData`.
    pub sale_data: SaleData,
    /// `POIData`; absent only where no transaction was begun.
    #[serde(rename = "POIData", skip_serializing_if = "Option::is_none")]
    pub poi_data: Option<PoiData>,
    /// `PaymentResult`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_result: Option<PaymentResult>,
    /// `PaymentReceipt`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub payment_receipt: Vec<PaymentReceipt>,
}

/// `ReversalResponse`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ReversalResponse {
    /// `Response`.
    #[serde(rename = "Response")]
    pub outcome: Outcome,
    /// `POIData`.
    #[serde(rename = "POIData", skip_serializing_if = "Option::is_none")]
    pub poi_data: Option<PoiData>,
    /// `OriginalPOITransaction`.
    #[serde(rename = "OriginalPOITransaction", skip_serializing_if = "Option::is_none")]
    pub original_poi_transaction: Option<OriginalPoiTransaction>,
    /// `ReversedAmount`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reversed_amount: Option<Decimal>,
    /// `PaymentReceipt`.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub payment_receipt: Vec<PaymentReceipt>,
}

/// `RepeatedResponseMessageBody`: one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct RepeatedBody {
    /// `PaymentResponse`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_response: Option<PaymentResponse>,
    /// `ReversalResponse`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reversal_response: Option<ReversalResponse>,
}

/// `RepeatedMessageResponse`: the answer once more, as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct RepeatedMessageResponse {
    /// `MessageHeader`: that of the answer then.
    pub message_header: Header,
    /// `RepeatedResponseMessageBody`.
    pub repeated_response_message_body: RepeatedBody,
}

/// `TransactionStatusResponse`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct TransactionStatusResponse {
    /// `Response`.
    #[serde(rename = "Response")]
    pub outcome: Outcome,
    /// `MessageReference`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_reference: Option<MessageReference>,
    /// `RepeatedMessageResponse`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated_message_response: Option<RepeatedMessageResponse>,
}
