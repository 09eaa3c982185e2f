//! Requests about money: payments, reversals, and their status.

#![allow(missing_docs, reason = "a field or an object is that of the Terminal API with its name")]

use std::ops::Not;

use serde::{Deserialize, Serialize};

use crate::nexo::enums::{DocumentQualifier, ForceEntryMode, PaymentType, ReversalReason};
use crate::nexo::number::Decimal;
use crate::nexo::shared::{
    MessageReference, OriginalPoiTransaction, PaymentInstrumentData, SaleData, TransactionIdentification, or_default,
};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct AmountsReq {
    /// `Currency`: ISO 4217.
    pub currency: String,
    /// `RequestedAmount`. If it is absent, the amount of the earlier transaction applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_amount: Option<Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cash_back_amount: Option<Decimal>,
    /// `TipAmount`: a part of the requested amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tip_amount: Option<Decimal>,
    /// `PaidAmount`: the part of a split payment that is already paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paid_amount: Option<Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_amount_to_deliver: Option<Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum_cash_back_amount: Option<Decimal>,
    /// `MinimumSplitAmount`: the smallest acceptable partial approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_split_amount: Option<Decimal>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct TransactionConditions {
    /// `AllowedPaymentBrand`. An empty list allows all brands.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub allowed_payment_brand: Vec<String>,
    #[serde(rename = "AcquirerID", default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub acquirer_id: Vec<String>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub debit_preferred_flag: bool,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub force_online_flag: bool,
    /// `ForceEntryMode`. An empty list allows all modes. An unknown mode is refused, because the rest of the list might
    /// allow more.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub force_entry_mode: Vec<ForceEntryMode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merchant_category_code: Option<String>,
    /// `CustomerLanguage`: ISO 639-1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub customer_language: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PaymentTransaction {
    pub amounts_req: AmountsReq,
    #[serde(rename = "OriginalPOITransaction", skip_serializing_if = "Option::is_none")]
    pub original_poi_transaction: Option<OriginalPoiTransaction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction_conditions: Option<TransactionConditions>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Instalment {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u32>,
    #[serde(rename = "PlanID", skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_payment_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_nb_of_payments: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cumulative_amount: Option<Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_amount: Option<Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charges: Option<Decimal>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PaymentData {
    /// `PaymentType`. If it is absent, `Normal` applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_type: Option<PaymentType>,
    /// `SplitPaymentFlag`: this is one of several payments for one purchase.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub split_payment_flag: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_validity_date: Option<String>,
    /// `CardAcquisitionReference`: a card that was read earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card_acquisition_reference: Option<TransactionIdentification>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_instrument_data: Option<PaymentInstrumentData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instalment: Option<Instalment>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PaymentRequest {
    pub sale_data: SaleData,
    pub payment_transaction: PaymentTransaction,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_data: Option<PaymentData>,
    /// The first field that this terminal refuses ([`crate::nexo::fields`]), found when the request is read.
    #[serde(skip)]
    pub refused: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ReversalRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale_data: Option<SaleData>,
    #[serde(rename = "OriginalPOITransaction")]
    pub original_poi_transaction: OriginalPoiTransaction,
    /// `ReversedAmount`. If it is absent, the whole amount is reversed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reversed_amount: Option<Decimal>,
    pub reversal_reason: ReversalReason,
    /// The first field that this terminal refuses ([`crate::nexo::fields`]), found when the request is read.
    #[serde(skip)]
    pub refused: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct AbortRequest {
    pub message_reference: MessageReference,
    /// `AbortReason`: a human-readable reason.
    pub abort_reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct TransactionStatusRequest {
    /// `MessageReference`. If it is absent, the till's last message is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_reference: Option<MessageReference>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub receipt_reprint_flag: bool,
    /// `DocumentQualifier`: the receipts to repeat. An empty list requests all.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub document_qualifier: Vec<DocumentQualifier>,
}

impl PaymentRequest {
    /// Returns the payment type, or `Normal` if the till sends none.
    #[must_use]
    pub fn payment_type(&self) -> PaymentType {
        self.payment_data.as_ref().and_then(|data| data.payment_type).unwrap_or(PaymentType::Normal)
    }

    /// Returns the words of `tenderOption` in `SaleToAcquirerData`.
    #[must_use]
    pub fn tender_options(&self) -> Vec<String> {
        let data = self.sale_data.sale_to_acquirer_data.as_ref();
        let options = data.and_then(|data| data.get("tenderOption")).unwrap_or_default();
        options.split(',').map(|option| option.trim().to_owned()).filter(|option| !option.is_empty()).collect()
    }
}
