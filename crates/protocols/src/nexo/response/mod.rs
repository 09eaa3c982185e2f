//! Answers to a till, by category.

#![allow(missing_docs, reason = "a body is that of the Terminal API with its name")]

mod payment;
mod service;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

pub use payment::{
    AmountsResp, PaymentAcquirerData, PaymentResponse, PaymentResult, RepeatedBody, RepeatedMessageResponse,
    ReversalResponse, TransactionStatusResponse,
};
pub use service::{
    DiagnosisResponse, DisplayResponse, GetTotalsResponse, HostStatus, Input, InputResponse, InputResult,
    LoginResponse, PaymentTotals, PlainResponse, PoiProfile, PoiSoftware, PoiStatus, PoiSystemData, PoiTerminalData,
    PrintResponse, ReconciliationResponse, TransactionTotals,
};

use super::enums::Category;
use super::envelope::{ReadError, typed};
use super::header::Header;

/// `SaleToPOIResponse`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Response {
    #[serde(rename = "MessageHeader")]
    pub header: Header,
    #[serde(flatten)]
    pub body: ResponseBody,
}

/// The body of a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum ResponseBody {
    #[serde(rename = "PaymentResponse")]
    Payment(Box<PaymentResponse>),
    #[serde(rename = "ReversalResponse")]
    Reversal(Box<ReversalResponse>),
    #[serde(rename = "TransactionStatusResponse")]
    TransactionStatus(Box<TransactionStatusResponse>),
    #[serde(rename = "DiagnosisResponse")]
    Diagnosis(Box<DiagnosisResponse>),
    #[serde(rename = "LoginResponse")]
    Login(Box<LoginResponse>),
    #[serde(rename = "LogoutResponse")]
    Logout(PlainResponse),
    #[serde(rename = "PrintResponse")]
    Print(PrintResponse),
    #[serde(rename = "DisplayResponse")]
    Display(DisplayResponse),
    #[serde(rename = "InputResponse")]
    Input(Box<InputResponse>),
    #[serde(rename = "ReconciliationResponse")]
    Reconciliation(Box<ReconciliationResponse>),
    #[serde(rename = "GetTotalsResponse")]
    GetTotals(GetTotalsResponse),
    #[serde(rename = "EnableServiceResponse")]
    EnableService(PlainResponse),
    /// The answer for an unsupported category.
    #[serde(untagged, serialize_with = "plain_body")]
    Unserved(Category, PlainResponse),
}

impl ResponseBody {
    /// Reads the body of a category.
    pub(super) fn read(category: Category, name: &str, raw: &RawValue) -> Result<Self, ReadError> {
        Ok(match category {
            Category::Payment => Self::Payment(typed(name, raw)?),
            Category::Reversal => Self::Reversal(typed(name, raw)?),
            Category::TransactionStatus => Self::TransactionStatus(typed(name, raw)?),
            Category::Diagnosis => Self::Diagnosis(typed(name, raw)?),
            Category::Login => Self::Login(typed(name, raw)?),
            Category::Logout => Self::Logout(typed(name, raw)?),
            Category::Print => Self::Print(typed(name, raw)?),
            Category::Display => Self::Display(typed(name, raw)?),
            Category::Input => Self::Input(typed(name, raw)?),
            Category::Reconciliation => Self::Reconciliation(typed(name, raw)?),
            Category::GetTotals => Self::GetTotals(typed(name, raw)?),
            Category::EnableService => Self::EnableService(typed(name, raw)?),
            unserved => Self::Unserved(unserved, typed(name, raw)?),
        })
    }

    /// Returns the category.
    #[must_use]
    pub fn category(&self) -> Category {
        match self {
            Self::Payment(_) => Category::Payment,
            Self::Reversal(_) => Category::Reversal,
            Self::TransactionStatus(_) => Category::TransactionStatus,
            Self::Diagnosis(_) => Category::Diagnosis,
            Self::Login(_) => Category::Login,
            Self::Logout(_) => Category::Logout,
            Self::Print(_) => Category::Print,
            Self::Display(_) => Category::Display,
            Self::Input(_) => Category::Input,
            Self::Reconciliation(_) => Category::Reconciliation,
            Self::GetTotals(_) => Category::GetTotals,
            Self::EnableService(_) => Category::EnableService,
            Self::Unserved(category, _) => *category,
        }
    }
}

fn plain_body<S: Serializer>(category: &Category, body: &PlainResponse, to: S) -> Result<S::Ok, S::Error> {
    // An answer without a name does not occur, because `RequestBody::answered` excludes it.
    to.collect_map([(category.response_name().unwrap_or_default(), body)])
}
