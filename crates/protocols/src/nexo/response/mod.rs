//! What a till is told, by its category.

mod payment;
mod service;

use serde::Serialize;
use serde::ser::SerializeMap;
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// `MessageHeader`.
    pub header: Header,
    /// What is answered.
    pub body: ResponseBody,
}

/// The body of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResponseBody {
    /// `PaymentResponse`.
    Payment(Box<PaymentResponse>),
    /// `ReversalResponse`.
    Reversal(Box<ReversalResponse>),
    /// `TransactionStatusResponse`.
    TransactionStatus(Box<TransactionStatusResponse>),
    /// `DiagnosisResponse`.
    Diagnosis(Box<DiagnosisResponse>),
    /// `LoginResponse`.
    Login(Box<LoginResponse>),
    /// `LogoutResponse`.
    Logout(PlainResponse),
    /// `PrintResponse`.
    Print(PrintResponse),
    /// `DisplayResponse`.
    Display(DisplayResponse),
    /// `InputResponse`.
    Input(Box<InputResponse>),
    /// `ReconciliationResponse`.
    Reconciliation(Box<ReconciliationResponse>),
    /// `GetTotalsResponse`.
    GetTotals(GetTotalsResponse),
    /// `EnableServiceResponse`.
    EnableService(PlainResponse),
    /// Of a category that is not served.
    Unserved(Category, PlainResponse),
}

impl ResponseBody {
    /// Reads the body of this category.
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

    /// Its category.
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

impl Serialize for Response {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        // One without a name is built by nobody: `RequestBody::answered` asks first.
        let name = &self.body.category().response_name().unwrap_or_default();
        let mut map = to.serialize_map(Some(2))?;
        map.serialize_entry("MessageHeader", &self.header)?;
        match &self.body {
            ResponseBody::Payment(body) => map.serialize_entry(name, body)?,
            ResponseBody::Reversal(body) => map.serialize_entry(name, body)?,
            ResponseBody::TransactionStatus(body) => map.serialize_entry(name, body)?,
            ResponseBody::Diagnosis(body) => map.serialize_entry(name, body)?,
            ResponseBody::Login(body) => map.serialize_entry(name, body)?,
            ResponseBody::Print(body) => map.serialize_entry(name, body)?,
            ResponseBody::Display(body) => map.serialize_entry(name, body)?,
            ResponseBody::Input(body) => map.serialize_entry(name, body)?,
            ResponseBody::Reconciliation(body) => map.serialize_entry(name, body)?,
            ResponseBody::GetTotals(body) => map.serialize_entry(name, body)?,
            ResponseBody::Logout(body) | ResponseBody::EnableService(body) | ResponseBody::Unserved(_, body) => {
                map.serialize_entry(name, body)?;
            }
        }
        map.end()
    }
}
