//! Answers about the terminal and its sums.

use super::flow::Flow;
use crate::clock::rfc3339;
use crate::nexo::enums::{
    GenericProfile, GlobalStatus, InputCommand, PoiCapability, PrinterStatus, ServiceProfile, TerminalEnvironment,
    TransactionType,
};
use crate::nexo::number::Decimal;
use crate::nexo::response::{
    HostStatus, Input, PaymentTotals, PoiProfile, PoiSoftware, PoiStatus, PoiSystemData, PoiTerminalData, ResponseBody,
    TransactionTotals,
};
use pos_till_api::{Close, Kind, Said, Status};

/// Adds the facts about the terminal to an answer.
pub(super) fn with_facts(body: ResponseBody, said: &Said, flow: &Flow<'_>) -> ResponseBody {
    match (body, said) {
        (ResponseBody::Diagnosis(mut answer), Said::Status(status)) => {
            answer.poi_status = Some(poi_status(status));
            answer.host_status =
                vec![HostStatus { acquirer_id: "gateway".to_owned(), is_reachable_flag: Some(is_reachable(status)) }];
            answer.logged_sale_id = flow.logged_in.then(|| flow.settings.sale_id.clone()).into_iter().collect();
            ResponseBody::Diagnosis(answer)
        }
        (ResponseBody::Login(mut answer), Said::Status(status)) => {
            answer.poi_system_data = Some(system_data(status, flow));
            ResponseBody::Login(answer)
        }
        (ResponseBody::Reconciliation(mut answer), Said::Close(close)) => {
            answer.poi_reconciliation_id = Some(close.number.to_string());
            answer.transaction_totals = totals(close);
            ResponseBody::Reconciliation(answer)
        }
        (ResponseBody::GetTotals(mut answer), Said::Close(close)) => {
            answer.poi_reconciliation_id = Some(close.number.to_string());
            answer.transaction_totals = totals(close);
            ResponseBody::GetTotals(answer)
        }
        (ResponseBody::Input(mut answer), Said::Typed(typed)) => {
            answer.input_result.input = Some(Input {
                input_command: InputCommand::DecimalString,
                confirmed_flag: None,
                text_input: Some(typed.amount.clone()),
                menu_entry_number: Vec::new(),
            });
            ResponseBody::Input(answer)
        }
        (body, _) => body,
    }
}

fn is_reachable(status: &Status) -> bool {
    matches!(status.gateway.state.as_str(), "answers" | "connected" | "not-asked-yet" | "throttles")
}

fn poi_status(status: &Status) -> PoiStatus {
    let reader = status.reader.state == "ready";
    let printer = status.printers.first().map(|printer| match printer.state.as_str() {
        "ready" | "not-used-yet" => PrinterStatus::Ok,
        "paper-low" => PrinterStatus::PaperLow,
        "no-paper" => PrinterStatus::NoPaper,
        "paper-jam" => PrinterStatus::PaperJam,
        _ => PrinterStatus::OutOfOrder,
    });
    let global_status = match () {
        () if status.busy => GlobalStatus::Busy,
        () if status.ready => GlobalStatus::Ok,
        () if reader => GlobalStatus::Unreachable,
        () => GlobalStatus::Maintenance,
    };
    PoiStatus {
        global_status,
        ped_ok_flag: Some(reader),
        card_reader_ok_flag: Some(reader),
        printer_status: printer,
        communication_ok_flag: Some(is_reachable(status)),
    }
}

fn system_data(status: &Status, flow: &Flow<'_>) -> PoiSystemData {
    let mut capabilities = vec![PoiCapability::Icc, PoiCapability::EmvContactless, PoiCapability::CustomerDisplay];
    capabilities.extend(status.printers.first().map(|_| PoiCapability::PrinterReceipt));
    PoiSystemData {
        date_time: status.clock.time.clone().unwrap_or_else(|| rfc3339(flow.now.unix_s)),
        poi_software: PoiSoftware {
            manufacturer_id: "pos-agent".to_owned(),
            application_name: "pos-agent".to_owned(),
            software_version: status.version.clone(),
            certification_code: "none".to_owned(),
        },
        poi_terminal_data: Some(PoiTerminalData {
            terminal_environment: TerminalEnvironment::Attended,
            poi_capabilities: capabilities,
            poi_profile: Some(PoiProfile {
                generic_profile: Some(GenericProfile::Basic),
                service_profiles: vec![ServiceProfile::OneTimeRes, ServiceProfile::Reservation],
            }),
            poi_serial_number: status.reader.serial.clone().unwrap_or_else(|| status.terminal_id.clone()),
        }),
        poi_status: Some(poi_status(status)),
    }
}

/// Returns the sums of a period, by brand and currency.
fn totals(close: &Close) -> Vec<TransactionTotals> {
    let mut all: Vec<TransactionTotals> = Vec::new();
    for sum in &close.schemes {
        let transaction_type = match sum.kind {
            Kind::Sale | Kind::ByRegistration => TransactionType::Debit,
            Kind::Refund | Kind::Credit => TransactionType::Credit,
            Kind::Reversal => TransactionType::ReverseDebit,
            Kind::Capture => TransactionType::CompletedReservation,
            Kind::PreAuthorisation | Kind::PreAuthorisationByRegistration => TransactionType::FirstReservation,
            Kind::Increment | Kind::Reauthorisation => TransactionType::UpdateReservation,
            Kind::StoreCard | Kind::ForgetCard | Kind::Other => continue,
        };
        let payment_totals = PaymentTotals {
            transaction_type,
            transaction_count: u32::try_from(sum.count).unwrap_or(u32::MAX),
            transaction_amount: sum.sum.parse().unwrap_or(Decimal::ZERO),
        };
        let same =
            |it: &TransactionTotals| it.card_brand == sum.scheme && it.payment_currency.as_ref() == Some(&sum.currency);
        let place = all.iter().position(same).unwrap_or_else(|| {
            all.push(TransactionTotals::of_cards(sum.scheme.clone(), sum.currency.clone()));
            all.len() - 1
        });
        all[place].add(payment_totals);
    }
    all
}
