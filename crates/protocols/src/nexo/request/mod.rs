//! Requests of a till, by category.

#![allow(missing_docs, reason = "a body is that of the Terminal API with its name")]

mod payment;
mod service;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

pub use payment::{
    AbortRequest, AmountsReq, Instalment, PaymentData, PaymentRequest, PaymentTransaction, ReversalRequest,
    TransactionConditions, TransactionStatusRequest,
};
pub use service::{
    DiagnosisRequest, DisplayRequest, EnableServiceRequest, EventNotification, GetTotalsRequest, InputData,
    InputRequest, LoginRequest, LogoutRequest, PrintRequest, ReconciliationRequest, SaleSoftware, TotalFilter,
};

use super::additional::SaleToAcquirerData;
use super::enums::{Category, Device, InfoQualify};
use super::envelope::{ReadError, typed};
use super::fields;
use super::header::Header;
use super::output::OutputResult;
use super::reference::Identity;
use super::response::{
    DiagnosisResponse, DisplayResponse, GetTotalsResponse, InputResponse, InputResult, LoginResponse, PaymentResponse,
    PlainResponse, PrintResponse, ReconciliationResponse, ResponseBody, ReversalResponse, TransactionStatusResponse,
};
use super::shared::{Outcome, TransactionIdentification};

/// `SaleToPOIRequest`: a request, or a notification of an event, which gets no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Request {
    #[serde(rename = "MessageHeader")]
    pub header: Header,
    #[serde(flatten)]
    pub body: RequestBody,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum RequestBody {
    #[serde(rename = "PaymentRequest")]
    Payment(Box<PaymentRequest>),
    #[serde(rename = "ReversalRequest")]
    Reversal(Box<ReversalRequest>),
    #[serde(rename = "AbortRequest")]
    Abort(Box<AbortRequest>),
    #[serde(rename = "TransactionStatusRequest")]
    TransactionStatus(Box<TransactionStatusRequest>),
    #[serde(rename = "DiagnosisRequest")]
    Diagnosis(DiagnosisRequest),
    #[serde(rename = "LoginRequest")]
    Login(Box<LoginRequest>),
    #[serde(rename = "LogoutRequest")]
    Logout(LogoutRequest),
    #[serde(rename = "PrintRequest")]
    Print(Box<PrintRequest>),
    #[serde(rename = "DisplayRequest")]
    Display(DisplayRequest),
    #[serde(rename = "InputRequest")]
    Input(Box<InputRequest>),
    #[serde(rename = "ReconciliationRequest")]
    Reconciliation(ReconciliationRequest),
    #[serde(rename = "GetTotalsRequest")]
    GetTotals(Box<GetTotalsRequest>),
    #[serde(rename = "EnableServiceRequest")]
    EnableService(Box<EnableServiceRequest>),
    #[serde(rename = "EventNotification")]
    Event(Box<EventNotification>),
    /// A known category that this terminal does not support. Its body is not read.
    #[serde(untagged, serialize_with = "empty_body")]
    Unserved(Category),
}

impl RequestBody {
    /// Returns the till's data for the acquirer, which payments and reversals may have.
    #[must_use]
    pub fn sale_to_acquirer_data(&self) -> Option<&SaleToAcquirerData> {
        match self {
            Self::Payment(payment) => payment.sale_data.sale_to_acquirer_data.as_ref(),
            Self::Reversal(reversal) => {
                reversal.sale_data.as_ref().and_then(|data| data.sale_to_acquirer_data.as_ref())
            }
            _ => None,
        }
    }

    /// Reads the body of a category.
    pub(super) fn read(category: Category, raw: &RawValue) -> Result<Self, ReadError> {
        let name = category.request_name();
        Ok(match category {
            Category::Payment => {
                let mut payment: PaymentRequest = typed(&name, raw)?;
                payment.refused = fields::refused("PaymentRequest", raw.get())?;
                Self::Payment(Box::new(payment))
            }
            Category::Reversal => {
                let mut reversal: ReversalRequest = typed(&name, raw)?;
                reversal.refused = fields::refused("ReversalRequest", raw.get())?;
                Self::Reversal(Box::new(reversal))
            }
            Category::Abort => Self::Abort(typed(&name, raw)?),
            Category::TransactionStatus => Self::TransactionStatus(typed(&name, raw)?),
            Category::Diagnosis => Self::Diagnosis(typed(&name, raw)?),
            Category::Login => Self::Login(typed(&name, raw)?),
            Category::Logout => Self::Logout(typed(&name, raw)?),
            Category::Print => Self::Print(typed(&name, raw)?),
            Category::Display => Self::Display(typed(&name, raw)?),
            Category::Input => Self::Input(typed(&name, raw)?),
            Category::Reconciliation => Self::Reconciliation(typed(&name, raw)?),
            Category::GetTotals => Self::GetTotals(typed(&name, raw)?),
            Category::EnableService => Self::EnableService(typed(&name, raw)?),
            Category::Event => Self::Event(typed(&name, raw)?),
            unserved => Self::Unserved(unserved),
        })
    }

    /// Returns the category.
    #[must_use]
    pub fn category(&self) -> Category {
        match self {
            Self::Payment(_) => Category::Payment,
            Self::Reversal(_) => Category::Reversal,
            Self::Abort(_) => Category::Abort,
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
            Self::Event(_) => Category::Event,
            Self::Unserved(category) => *category,
        }
    }

    /// Returns `SaleTransactionID` for the categories that have one.
    #[must_use]
    pub fn transaction(&self) -> Option<&TransactionIdentification> {
        match self {
            Self::Payment(payment) => Some(&payment.sale_data.sale_transaction_id),
            Self::Reversal(reversal) => reversal.sale_data.as_ref().map(|data| &data.sale_transaction_id),
            _ => None,
        }
    }

    /// Builds an answer with only the outcome and the fields that every answer of its kind returns. Returns `None` for
    /// a category without an answer.
    #[must_use]
    pub fn answered(&self, outcome: Outcome) -> Option<ResponseBody> {
        Some(match self {
            Self::Payment(payment) => ResponseBody::Payment(Box::new(PaymentResponse {
                outcome,
                sale_data: payment.sale_data.returned(),
                poi_data: None,
                payment_result: None,
                payment_receipt: Vec::new(),
            })),
            Self::Reversal(reversal) => ResponseBody::Reversal(Box::new(ReversalResponse {
                outcome,
                poi_data: None,
                original_poi_transaction: Some(reversal.original_poi_transaction.clone()),
                reversed_amount: None,
                payment_receipt: Vec::new(),
            })),
            Self::TransactionStatus(status) => ResponseBody::TransactionStatus(Box::new(TransactionStatusResponse {
                outcome,
                message_reference: status.message_reference.clone(),
                repeated_message_response: None,
            })),
            Self::Diagnosis(_) => ResponseBody::Diagnosis(Box::new(DiagnosisResponse {
                outcome,
                logged_sale_id: Vec::new(),
                poi_status: None,
                host_status: Vec::new(),
            })),
            Self::Login(_) => ResponseBody::Login(Box::new(LoginResponse { outcome, poi_system_data: None })),
            Self::Logout(_) => ResponseBody::Logout(PlainResponse { outcome }),
            Self::Print(print) => {
                let document_qualifier = print.print_output.document_qualifier;
                ResponseBody::Print(PrintResponse { document_qualifier, outcome })
            }
            Self::Display(display) => {
                let result = |device: Device, info_qualify: InfoQualify| OutputResult {
                    device,
                    info_qualify,
                    outcome: outcome.clone(),
                };
                let shown = &display.display_output;
                let output_result = shown.iter().map(|output| result(output.device, output.info_qualify)).collect();
                ResponseBody::Display(DisplayResponse { output_result })
            }
            Self::Input(input) => ResponseBody::Input(Box::new(InputResponse {
                output_result: input.display_output.as_ref().map(|output| OutputResult {
                    device: output.device,
                    info_qualify: output.info_qualify,
                    outcome: outcome.clone(),
                }),
                input_result: InputResult {
                    device: input.input_data.device,
                    info_qualify: input.input_data.info_qualify,
                    outcome,
                    input: None,
                },
            })),
            Self::Reconciliation(reconciliation) => ResponseBody::Reconciliation(Box::new(ReconciliationResponse {
                outcome,
                reconciliation_type: reconciliation.reconciliation_type,
                poi_reconciliation_id: None,
                transaction_totals: Vec::new(),
            })),
            Self::GetTotals(_) => ResponseBody::GetTotals(GetTotalsResponse {
                outcome,
                poi_reconciliation_id: None,
                transaction_totals: Vec::new(),
            }),
            Self::EnableService(_) => ResponseBody::EnableService(PlainResponse { outcome }),
            Self::Abort(_) | Self::Event(_) => return None,
            Self::Unserved(category) => {
                category.response_name()?;
                ResponseBody::Unserved(*category, PlainResponse { outcome })
            }
        })
    }
}

impl Request {
    /// Returns the identity, which is the same for a repeated message.
    #[must_use]
    pub fn identity(&self) -> Identity<'_> {
        Identity::new(&self.header, self.body.transaction())
    }
}

fn empty_body<S: Serializer>(category: &Category, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map([(category.request_name(), serde_json::Map::new())])
}
