//! A till that uses the Terminal API. It sends one message over TLS, encrypted if it has a key, and prints the answer
//! to standard output.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use chrono::{SecondsFormat, Utc};
use clap::Subcommand;
use pos_protocols::nexo::enums::{Category, PaymentType, ReconciliationType, ResultWord, ReversalReason};
use pos_protocols::nexo::envelope::{Envelope, Message};
use pos_protocols::nexo::header::Header;
use pos_protocols::nexo::number::Decimal;
use pos_protocols::nexo::receipt::PaymentReceipt;
use pos_protocols::nexo::request::{
    AbortRequest, AmountsReq, DiagnosisRequest, PaymentData, PaymentRequest, PaymentTransaction, ReconciliationRequest,
    Request, RequestBody, ReversalRequest, TransactionStatusRequest,
};
use pos_protocols::nexo::response::{PaymentResponse, ResponseBody, ReversalResponse, TransactionTotals};
use pos_protocols::nexo::seal::{Key, Nonce};
use pos_protocols::nexo::shared::{
    MessageReference, OriginalPoiTransaction, Outcome, PoiData, SaleData, TransactionIdentification,
};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, StatusCode};

use pos_terms::money::{Amount, Currency};

/// The time for which a till waits for the answer, because a customer may search for a card, and the issuer may be
/// slow.
const LONGEST: Duration = Duration::from_secs(300);

/// `pos-sim till nexo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Ctrl-C while a payment is waiting for its card sends an Abort; the answer to the payment still arrives.\n\n\
Examples:\n  \
pos-front certificate --pem > ca.pem\n  \
pos-sim till nexo --ca ca.pem --passphrase-file key pay 12.50\n  \
pos-sim till nexo --ca ca.pem --passphrase-file key repeat KT1W2A9F      the outcome of that message\n  \
pos-sim till nexo --ca ca.pem --passphrase-file key reverse TRANSACTION  from the payment's answer\n  \
pos-sim till nexo --ca ca.pem --passphrase-file key end-of-day\n\n\
Without a passphrase the message is not sealed. By default a terminal accepts such a message only from its own board.")]
pub(super) struct Args {
    /// The address of the terminal
    #[arg(long, default_value = "https://127.0.0.1:8443/nexo/")]
    at: String,
    /// The CA of the terminal's certificate, a PEM file from `pos-front certificate --pem`
    #[arg(long)]
    ca: PathBuf,
    /// The value of sale-id in [[nexo.till]]
    #[arg(long, default_value = "POSSystemID12345")]
    sale_id: String,
    /// The value of poi-id in `[nexo]`
    #[arg(long, default_value = "PosAgent-0001")]
    poi_id: String,
    /// A file whose first line is the passphrase, as in [[nexo.till]]
    #[arg(long)]
    passphrase_file: Option<PathBuf>,
    /// The identifier of the key, as in [[nexo.till]]
    #[arg(long, default_value = "mykey")]
    key_identifier: String,
    /// The version of the key, as in [[nexo.till]]
    #[arg(long, default_value_t = 1)]
    key_version: u32,
    /// ISO 4217 code; the terminal accepts only its currency
    #[arg(long, default_value = "EUR", value_parser = super::currency)]
    currency: Currency,
    /// The identifier of this message, up to ten characters; the identifier of an earlier message sends that message
    /// again
    #[arg(long)]
    service_id: Option<String>,
    /// Also print each message as JSON, before encryption or after decryption
    #[arg(long)]
    trace: bool,
    #[command(subcommand)]
    command: Wish,
}

#[derive(Debug, Subcommand)]
enum Wish {
    /// Payment
    Pay {
        amount: String,
        /// SaleTransactionID: number and time of the till's transaction
        #[arg(long, num_args = 2, value_names = ["NUMBER", "TIME"])]
        transaction: Option<Vec<String>>,
    },
    /// Payment: a refund without an original payment; the terminal must allow it
    Refund { amount: String },
    /// Reversal of a payment, or a refund of a part of it
    Reverse { transaction: String, amount: Option<String> },
    /// Abort: cancel a payment that waits for its card
    Abort { service_id: String },
    /// TransactionStatus: the outcome of a message [default: the last message]
    Repeat { service_id: Option<String> },
    /// GetTotals
    Totals,
    /// Reconciliation
    EndOfDay,
    /// Diagnosis
    Diagnosis,
}

/// Sends one message. The exit code is 0 if it succeeded.
pub(super) async fn run(args: Args) -> io::Result<u8> {
    let till = Till::new(&args)?;
    let service_id = args.service_id.clone().unwrap_or_else(number);
    let body = message(&args, &service_id)?;
    say(&format!("{}, ServiceID {service_id}", body.category()));
    let asked = till.asks(&service_id, body);
    let answer = if matches!(args.command, Wish::Pay { .. } | Wish::Refund { .. }) {
        tokio::pin!(asked);
        tokio::select! {
            answer = &mut asked => answer?,
            _ = tokio::signal::ctrl_c() => {
                till.asks(&number(), abort(&args, &service_id)).await?;
                say("an Abort is sent");
                asked.await?
            }
        }
    } else {
        asked.await?
    };
    Ok(answer.map_or(0, |answer| shown(&answer)))
}

/// Makes a number that no message of the last 48 hours has: the time in milliseconds, written in letters and digits.
fn number() -> String {
    const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKLMNPQRSTVWXY";
    let time = u64::try_from(Utc::now().timestamp_millis()).unwrap_or_default();
    (0..9)
        .rev()
        .map(|place| char::from(DIGITS[usize::try_from(time >> (5 * place) & 31).unwrap_or_default()]))
        .collect()
}

/// Makes the identification of a transaction of the till or the terminal, with the current time.
fn identification(number: &str) -> TransactionIdentification {
    let time_stamp = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
    TransactionIdentification { transaction_id: number.to_owned(), time_stamp }
}

fn wrong(error: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error.to_string())
}

fn message(args: &Args, service_id: &str) -> io::Result<RequestBody> {
    Ok(match &args.command {
        Wish::Pay { amount, transaction } => {
            let mut own = identification(service_id);
            if let Some([number, time]) = transaction.as_deref() {
                own = TransactionIdentification { transaction_id: number.clone(), time_stamp: time.clone() };
            }
            say(&format!("SaleTransactionID {} {}", own.transaction_id, own.time_stamp));
            payment(own, decimal(args, amount)?, args.currency, None)
        }
        Wish::Refund { amount } => {
            let kind = PaymentData { payment_type: Some(PaymentType::Refund), ..PaymentData::default() };
            payment(identification(service_id), decimal(args, amount)?, args.currency, Some(kind))
        }
        Wish::Reverse { transaction, amount } => RequestBody::Reversal(Box::new(ReversalRequest {
            sale_data: None,
            original_poi_transaction: OriginalPoiTransaction {
                // The number identifies the payment. The terminal ignores the time of a payment with an id.
                poi_transaction_id: Some(identification(transaction)),
                ..OriginalPoiTransaction::default()
            },
            reversed_amount: amount.as_deref().map(|amount| decimal(args, amount)).transpose()?,
            reversal_reason: ReversalReason::MerchantCancel,
            refused: None,
        })),
        Wish::Abort { service_id } => abort(args, service_id),
        Wish::Repeat { service_id } => RequestBody::TransactionStatus(Box::new(TransactionStatusRequest {
            message_reference: service_id.as_deref().map(|service_id| payment_named(args, service_id)),
            receipt_reprint_flag: true,
            document_qualifier: Vec::new(),
        })),
        Wish::Totals => RequestBody::GetTotals(Box::default()),
        Wish::EndOfDay => RequestBody::Reconciliation(ReconciliationRequest {
            reconciliation_type: ReconciliationType::SaleReconciliation,
            poi_reconciliation_id: None,
            acquirer_id: Vec::new(),
        }),
        Wish::Diagnosis => {
            RequestBody::Diagnosis(DiagnosisRequest { host_diagnosis_flag: true, ..DiagnosisRequest::default() })
        }
    })
}

fn decimal(args: &Args, amount: &str) -> io::Result<Decimal> {
    let amount = Amount::parse(amount, args.currency).map_err(|error| wrong(&error))?;
    Decimal::from_minor(amount.minor(), args.currency.exponent()).map_err(|error| wrong(&error))
}

fn payment(
    own: TransactionIdentification,
    amount: Decimal,
    currency: Currency,
    kind: Option<PaymentData>,
) -> RequestBody {
    RequestBody::Payment(Box::new(PaymentRequest {
        sale_data: SaleData::new(own),
        payment_transaction: PaymentTransaction {
            amounts_req: AmountsReq {
                currency: currency.code().to_owned(),
                requested_amount: Some(amount),
                ..AmountsReq::default()
            },
            original_poi_transaction: None,
            transaction_conditions: None,
        },
        payment_data: kind,
        refused: None,
    }))
}

fn payment_named(args: &Args, service_id: &str) -> MessageReference {
    MessageReference {
        message_category: Some(Category::Payment),
        service_id: Some(service_id.to_owned()),
        sale_id: Some(args.sale_id.clone()),
        ..MessageReference::default()
    }
}

fn abort(args: &Args, service_id: &str) -> RequestBody {
    let (message_reference, abort_reason) = (payment_named(args, service_id), "MerchantAbort".to_owned());
    RequestBody::Abort(Box::new(AbortRequest { message_reference, abort_reason }))
}

struct Till<'a> {
    args: &'a Args,
    client: Client,
    key: Option<Key>,
}

impl<'a> Till<'a> {
    fn new(args: &'a Args) -> io::Result<Self> {
        let read = |path: &PathBuf| {
            let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
            std::fs::read_to_string(path).map_err(named)
        };
        // An error means that another part of this program has already installed a provider, which also works.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let authority = Certificate::from_pem_bundle(read(&args.ca)?.as_bytes()).map_err(|error| wrong(&error))?;
        let client = Client::builder()
            .user_agent(concat!("pos-sim/", env!("CARGO_PKG_VERSION")))
            .tls_certs_only(authority)
            .redirect(Policy::none())
            // A repeated message must say that it is repeated, so the client never repeats a message automatically.
            .retry(reqwest::retry::never())
            .no_proxy()
            .timeout(LONGEST)
            .build()
            .map_err(|error| wrong(&error))?;
        let key = args.passphrase_file.as_ref().map(|path| {
            let text = read(path)?;
            let passphrase = text.lines().next().unwrap_or_default();
            let key = Key::derive(passphrase, &args.key_identifier, args.key_version);
            key.map_err(|error| wrong(&format!("{}: {error}", path.display())))
        });
        Ok(Self { args, client, key: key.transpose()? })
    }

    /// Returns the answer; an Abort has no answer.
    async fn asks(&self, service_id: &str, body: RequestBody) -> io::Result<Option<Message>> {
        let header = Header::request(body.category(), service_id, &self.args.sale_id, &self.args.poi_id);
        header.check().map_err(|error| wrong(&error))?;
        let message = Message::Request(Request { header, body });
        self.traced("▶", &message);
        let bytes = match &self.key {
            Some(key) => {
                let mut nonce = Nonce::default();
                getrandom::fill(&mut nonce).map_err(io::Error::other)?;
                message.seal(key, nonce)
            }
            None => message.write(),
        };
        let posted = self.client.post(&self.args.at).header("content-type", "application/json").body(bytes);
        let unknown = |error: reqwest::Error| {
            let at = &self.args.at;
            let asks = format!(
                "{at}: {error}; check that the front is running, then use `repeat {service_id}` to see the outcome"
            );
            io::Error::new(io::ErrorKind::ConnectionAborted, asks)
        };
        let answer = posted.send().await.map_err(unknown)?;
        let status = answer.status();
        let bytes = answer.bytes().await.map_err(unknown)?;
        if bytes.is_empty() && status == StatusCode::OK {
            return Ok(None);
        }
        let unreadable = |error: &dyn std::fmt::Display| io::Error::other(format!("HTTP {status}: {error}"));
        let message = match Envelope::read(&bytes).map_err(|error| unreadable(&error))? {
            Envelope::Plain(message) => message,
            Envelope::Sealed(sealed) => {
                let keys = self.key.as_slice();
                let opened = sealed.open(keys).map_err(|error| unreadable(&error))?;
                opened.message.map_err(|error| unreadable(&error))?
            }
        };
        self.traced("◀", &message);
        Ok(Some(message))
    }

    fn traced(&self, way: &str, message: &Message) {
        if self.args.trace {
            say(&format!("{way} {}", String::from_utf8_lossy(&message.write())));
        }
    }
}

/// Prints an answer, and returns the exit code.
fn shown(answer: &Message) -> u8 {
    let response = match answer {
        Message::Response(response) => response,
        Message::Request(Request { body: RequestBody::Event(event), .. }) => {
            let why = event.event_details.as_deref().unwrap_or("no reason is given");
            say(&format!("rejected: {}", spaced(why)));
            return 1;
        }
        Message::Request(request) => {
            say(&format!("received {} instead of an answer", request.body.category()));
            return 1;
        }
    };
    match &response.body {
        ResponseBody::Payment(payment) => paid(payment),
        ResponseBody::Reversal(reversal) => reversed(reversal),
        ResponseBody::TransactionStatus(status) => {
            let code = ended(&status.outcome);
            let Some(repeated) = &status.repeated_message_response else { return code };
            say(&format!("of ServiceID {}:", repeated.message_header.service_id()));
            let body = &repeated.repeated_response_message_body;
            let payment = body.payment_response.as_ref().map(paid);
            payment.or_else(|| body.reversal_response.as_ref().map(reversed)).unwrap_or(code)
        }
        ResponseBody::Diagnosis(diagnosis) => {
            let code = ended(&diagnosis.outcome);
            if let Some(status) = &diagnosis.poi_status {
                say(&format!("terminal {}", status.global_status));
                let parts = [
                    ("reader", status.card_reader_ok_flag),
                    ("PIN pad", status.ped_ok_flag),
                    ("communication", status.communication_ok_flag),
                ];
                for (part, is_well) in parts {
                    let words = is_well.map(|is_well| if is_well { "ready" } else { "not ready" });
                    words.into_iter().for_each(|words| say(&format!("{part} {words}")));
                }
            }
            for host in &diagnosis.host_status {
                let answers = if host.is_reachable_flag == Some(true) { "answers" } else { "does not answer" };
                say(&format!("{} {answers}", host.acquirer_id));
            }
            code
        }
        ResponseBody::GetTotals(totals) => {
            sums(&totals.transaction_totals);
            ended(&totals.outcome)
        }
        ResponseBody::Reconciliation(closed) => {
            sums(&closed.transaction_totals);
            ended(&closed.outcome)
        }
        other => {
            say(&format!("{other:?}"));
            1
        }
    }
}

fn paid(payment: &PaymentResponse) -> u8 {
    let code = ended(&payment.outcome);
    if let Some(amounts) = payment.payment_result.as_ref().and_then(|result| result.amounts_resp.as_ref()) {
        say(&format!("approved {} {}", amounts.authorized_amount, amounts.currency.as_deref().unwrap_or_default()));
    }
    named(payment.poi_data.as_ref(), &payment.payment_receipt);
    code
}

fn reversed(reversal: &ReversalResponse) -> u8 {
    let code = ended(&reversal.outcome);
    if let Some(amount) = reversal.reversed_amount {
        say(&format!("reversed {amount}"));
    }
    named(reversal.poi_data.as_ref(), &reversal.payment_receipt);
    code
}

/// Prints the terminal's transaction id and its receipts.
fn named(data: Option<&PoiData>, receipts: &[PaymentReceipt]) {
    if let Some(data) = data {
        say(&format!("transaction {}", data.poi_transaction_id.transaction_id));
    }
    for receipt in receipts {
        say(&format!("  {}", receipt.document_qualifier));
        receipt.output_content.lines().iter().for_each(|line| say(&format!("  | {line}")));
    }
}

fn sums(totals: &[TransactionTotals]) {
    for totals in totals {
        let (brand, currency) = (totals.card_brand.as_deref(), totals.payment_currency.as_deref());
        for sum in &totals.payment_totals {
            let (kind, count, amount) = (sum.transaction_type, sum.transaction_count, sum.transaction_amount);
            let (brand, currency) = (brand.unwrap_or_default(), currency.unwrap_or_default());
            say(&format!("  {kind} {brand}: {count}, {amount} {currency}"));
        }
    }
}

/// Prints the result on one line, and returns the exit code.
fn ended(outcome: &Outcome) -> u8 {
    let mut line = outcome.result.to_string();
    line.extend(outcome.error_condition.map(|condition| format!(" {condition}")));
    line.extend(outcome.additional_response.as_deref().map(|more| format!(" ({})", spaced(more))));
    say(&line);
    u8::from(!matches!(outcome.result, ResultWord::Success | ResultWord::Partial))
}

/// Decodes form-encoded text: names, values, and percent-encoded characters.
fn spaced(text: &str) -> String {
    let pairs = form_urlencoded::parse(text.as_bytes());
    let pairs =
        pairs.map(|(name, value)| if value.is_empty() { name.into_owned() } else { format!("{name}: {value}") });
    pairs.collect::<Vec<_>>().join(", ")
}

/// Prints a line, and ignores a closed standard output.
fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}
