//! Is: the whole documented payment service on one computer, with HTTPS, its own certification authority, test cards,
//! their issuers, and selectable faults.
//! Is not: a part of the agent, a program (`pos-sim` starts it), or a user of the agent's code.
//! Invariant: a request that is not as documented is refused with the name of its fault, and changes nothing.
//!
//! The service is written from the interface documents. It refuses every request that is not as documented, with HTTP
//! 400 and the parameter's name. It decrypts the reader's data and refuses a used key. It verifies PIN and cryptogram,
//! answers the chip, and records every charge. The cents of the amount choose the fault ([`outcomes::TABLE`]). It
//! shares only the parameter table with the agent (`pos_gateway_model`, see `form`).
//!
//! All documented follow-ups are supported: capture, reversal, refund, increments, stored cards, standing instructions.
//! A request that a payment's state does not allow is refused with a result code and the parameter's name, and changes
//! nothing. This is one reading of the interface. [`HostRules`] offers two others: no rules, and the letter of the
//! interface.
//!
//! A payment without a terminal has its payment data in the form (`remote_payment`), in clear. Only test data are
//! accepted. The payment has one means (`means`): a card, a bank account, a token, an account at a provider, a wallet
//! or a gift card. If the customer must act first, the payment waits for an action on a page (`redirect`, `page`). 3-D
//! Secure uses such a page too (`secure`). The service accepts, stores and returns every group of the data model.
//!
//! A shop's page pays through a checkout (`checkout`) and the hosted widget (`widget`). The documentation of both
//! modules lists the assumptions where the interface is silent.
//!
//! `clockwork` does the work that is due by the clock. Each module lists its assumptions where the interface is silent.
//! The manual lists all of them ("Simulate: What the gateway assumes").
//!
//! ```text
//!  server ─▶ route ─▶ form (encoding, names, formats) ─▶ payment ─▶ encrypted_data, clear_card_data (DUKPT)
//!  (TLS)     (token,         ▲                             │        ─▶ issuer (PIN, ARQC, ARPC), address_and_code
//!            path,           │ parameter table             │ follow_up, increment, registration, stored_payment,
//!            throttle)                                     │ standing_instruction, query; balance: what is left
//!                                                          │ remote_payment ─▶ means: card_not_present,
//!                                                          │   bank_account, token_account, virtual_account, wallet,
//!                                                          │   gift_card; included, secure ─▶ redirect ◀─ page
//!                                                          ▼
//!  response ◀── answer (JSON), or a fault of outcomes ◀─ booking ─▶ books (SQLite) ─▶ ledger (a copy, for tests)
//! ```
//!
//! The files are in layers, and a file uses no layer above its own: values (`form`, `entry`, `delivery`, `outcomes`),
//! kept data (`books`, `checkout`, `webhook/queue`), `host` with its state, `booking`, a file for each request, then
//! `route` and `server`.
//!
//! | request | effect |
//! |---|---|
//! | `POST /v1/payments` | DB, PA or CD with a card at a terminal, or with typed data; PA with `referenceUuid`: increment or reauthorisation |
//! | `POST /v1/payments/{id}` | CP, RV or RF |
//! | `GET /v1/payments/{id}`, `GET` or `POST /v1/query` | the outcome |
//! | `POST /v1/registrations` | stores a card that was read, or typed payment data |
//! | `POST /v1/registrations/{id}/payments` | DB or PA with the stored data |
//! | `DELETE /v1/registrations/{id}` | deletes the stored data |
//! | `GET`, `POST`, `DELETE /v1/schedules/{id}` | a subscription that a payment with `job.*` has set up (`schedule`) |
//! | `GET` or `POST /redirect/{id}` | the page on which a customer acts (`page`) |
//! | `GET /provider/…` | tokens of test cards (`provider`) |
//! | `POST /v1/checkouts`, `…/{id}` | makes or changes a checkout for the hosted widget; paths below it also work without `/v1` |
//! | `POST /v1/checkouts/{id}/payment`, `…/registration` | from a shopper's browser: pays, or stores what was typed |
//! | `GET /v1/checkouts/{id}/payment`, `…/registration` | the outcome |
//! | `GET /v1/paymentWidgets.js`, `GET /v1/fastcheckout/integrity` | the widget's script, and its hash |
//! | `GET /v1/reports/transactions`, `…/reconciliations` | the booked entries, and their settlement (`reports`, `settlement`) |
//! | `POST`, `GET /v1/webhooks`, `DELETE /v1/webhooks/{id}` | the addresses that get webhooks, and their deliveries (`webhook`) |
//! | `POST /simulator/clock` | sets the clock forward; only the simulator has this call |
//!
//! | step | code |
//! |---|---|
//! | a request comes | `server.rs` `handle`, `route.rs` `authorized`, `route` |
//! | its form is parsed by the documents | `form.rs` `parse`, `payment.rs` `payment` |
//! | the card data are decrypted, each key once | `encrypted_data.rs` `open`, `sealed_forms.rs` `zero_padded`, `clear_card_data.rs` `read_card` |
//! | the issuer decides about card, cryptogram and PIN | `issuer.rs` `decide` |
//! | the cents of the amount choose the fault | `outcomes.rs` `for_amount` |
//! | the strictness of the checks is set | `host_rules.rs` |
//! | a capture, refund or reversal is made; a payment is looked up | `follow_up.rs` `follow_up`, `query.rs` `query` |
//! | it is booked | `booking.rs` `book`, `books.rs` `enter` |
//! | it is answered | `answer.rs` `payment`, `response.rs` `deliver` |
//!
//! ```no_run
//! # async fn test() -> std::io::Result<()> {
//! use pos_payment_service::{Options, start};
//!
//! let gateway = start(Options::default()).await?;
//! println!("{} trusting {}", gateway.base_url(), gateway.ca_pem());
//! // … a sale …
//! assert_eq!(gateway.ledger().all_charged().count(), 1);
//! # Ok(()) }
//! ```

mod address_and_code;
mod answer;
mod balance;
mod bank_account;
mod booking;
mod books;
mod brand;
mod card_not_present;
mod certificate;
mod checkout;
mod clear_card_data;
mod clock;
mod clockwork;
mod counters;
mod customer_acts;
mod database;
mod declined;
mod delivery;
mod echo;
mod encrypted_data;
mod entry;
mod envelope;
mod follow_up;
mod form;
mod gift_card;
mod host;
mod host_rules;
mod included;
mod increment;
mod invalid;
mod issuer;
pub mod kept_port;
mod ledger;
mod masked_card;
mod means;
mod measured_stream;
mod method;
mod options;
pub mod outcomes;
mod page;
mod paying;
mod payment;
pub mod provider;
mod query;
mod redirect;
mod redirect_book;
mod refusal;
mod registration;
mod registration_book;
mod remote_payment;
mod reports;
mod response;
mod route;
mod schedule;
mod sealed_forms;
mod secure;
mod server;
mod settlement;
mod shared;
mod standing_instruction;
mod stored_payment;
mod test_card;
mod throttle;
mod token_account;
mod virtual_account;
mod wallet;
mod webhook;
mod widget;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use checkout::reminder;
use webhook::post;

pub use certificate::{Certificate, Demand};
pub use counters::{GatewayCounters, PaymentTimes, WireEvent};
pub use entry::{Kind, LedgerEntry, State};
pub use host_rules::HostRules;
pub use ledger::Ledger;
pub use method::Method;
pub use options::{LateShopCall, MOST_SCHEMES, Mode, Options};
pub use outcomes::Outcome;
pub use schedule::Timetable;

/// Returns the text for `--help` about the choice of outcomes: the cents of an amount, test cards, gift cards, and the
/// cents for events in the settlement files.
#[must_use]
pub fn help() -> String {
    outcomes::help() + &test_card::help() + &gift_card::help() + &settlement::help()
}

/// A running gateway. It ends when this value is dropped.
pub struct Gateway {
    address: SocketAddr,
    ca_pem: String,
    options: Arc<Options>,
    shared: Arc<shared::Shared>,
    control: mpsc::Sender<server::Control>,
    task: JoinHandle<()>,
    clockwork: JoinHandle<()>,
    postman: JoinHandle<()>,
}

/// Starts a gateway on the current tokio runtime.
///
/// # Errors
///
/// Fails if the address is in use, no key can be made, the ledger's file cannot be used, or there are more than
/// [`MOST_SCHEMES`].
pub async fn start(options: Options) -> io::Result<Gateway> {
    if options.schemes.len() > MOST_SCHEMES {
        let why = format!("at most {MOST_SCHEMES} card schemes can have requestors");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let (ca_pem, tls) = certificate::make(options.certificate, options.name.as_deref(), &options.demand)?;
    let listener = TcpListener::bind(options.listen).await?;
    let address = listener.local_addr()?;
    let base_url = format!("https://{}:{}/", options.name.as_deref().unwrap_or("localhost"), address.port());
    let options = Arc::new(options);
    let shared = Arc::new(shared::Shared::new(Arc::clone(&options), base_url).map_err(|why| unusable(&options, &why))?);
    let (control, orders) = mpsc::channel(1);
    let remind = reminder::remind_shops(Arc::clone(&shared), reminder::trust(options.shop_ca.as_deref())?);
    let serve = server::serve(listener, address, TlsAcceptor::from(tls), Arc::clone(&shared), orders);
    shared.host().register_options().map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
    // Most gateways send no webhooks, so the system's certification authorities are loaded only when needed.
    let client = if options.webhooks.is_empty() { None } else { Some(post::client(&options)?) };
    let postman = tokio::spawn(post::run(Arc::clone(&shared), Arc::clone(&options), client));
    let clockwork = tokio::spawn(clockwork::run(Arc::clone(&shared)));
    let both = async {
        tokio::select! {
            () = serve => {}
            () = remind => {}
        }
    };
    Ok(Gateway { address, ca_pem, options, shared, control, task: tokio::spawn(both), clockwork, postman })
}

/// Explains how to handle a ledger that cannot be opened.
fn unusable(options: &Options, why: &rusqlite::Error) -> io::Error {
    let file = options.ledger.as_deref().map_or_else(String::new, |file| format!(" {}", file.display()));
    let advice = "use a new file, or one that this program created";
    io::Error::new(io::ErrorKind::InvalidInput, format!("the ledger{file} cannot be used: {why}; {advice}"))
}

impl Gateway {
    /// Returns the address that the gateway listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the base address with the name from the certificate, for example `https://localhost:8443/`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("https://localhost:{}/", self.address.port())
    }

    /// Returns the certificate of the authority that clients must trust, as PEM.
    #[must_use]
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// Returns the access token.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.options.token
    }

    /// Returns the entity id.
    #[must_use]
    pub fn entity_id(&self) -> &str {
        &self.options.entity_id
    }

    /// Returns the host rules.
    #[must_use]
    pub fn host_rules(&self) -> HostRules {
        self.options.host_rules
    }

    /// Returns a copy of all charged, declined and reversed entries so far.
    ///
    /// # Panics
    ///
    /// Panics if the ledger's file cannot be read, because a test would get a wrong ledger.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.shared.host().books.ledger().expect("the books were opened and nobody else writes them")
    }

    /// Throttles the next requests, regardless of the rate.
    pub fn throttle_next(&self, requests: u32) {
        self.shared.host().throttle.next(requests);
    }

    /// Stops the clock at this time. When this function returns, all work due by then is done.
    pub fn set_clock(&self, at: DateTime<Utc>) {
        self.shared.host().stand_at(at);
        self.shared.clock_or_checkouts_changed.notify_one();
    }

    /// Returns the settlement file of a date, with the entries that the ledger has so far.
    ///
    /// # Panics
    ///
    /// Panics if the ledger's file cannot be read.
    #[must_use]
    pub fn settlement_file(&self, date: NaiveDate) -> String {
        let records = self.shared.host().settled_on(date).expect("the books were opened and nobody else writes them");
        settlement::csv(&records)
    }

    /// Sets the delay before all further answers.
    pub fn set_delay(&self, delay: Duration) {
        self.shared.host().delay = delay;
    }

    /// Returns the traffic counters.
    #[must_use]
    pub fn counters(&self) -> GatewayCounters {
        self.shared.counters()
    }

    /// Calls `watcher` with every later event on the connection, before the gateway continues. There can be only one
    /// watcher: returns false if one is already set.
    pub fn watch(&self, watcher: impl Fn(WireEvent<'_>) + Send + Sync + 'static) -> bool {
        self.shared.watch(Box::new(watcher))
    }

    /// Returns the times of the latest `POST /v1/payments`; `None` before the first.
    #[must_use]
    pub fn last_payment(&self) -> Option<PaymentTimes> {
        self.shared.last_payment()
    }

    /// Returns the latest payment request as plain HTTP, for a benchmark that sends the same bytes; empty except in
    /// [`Mode::Fast`].
    #[must_use]
    pub fn last_request(&self) -> Vec<u8> {
        self.shared.last_request()
    }

    /// Sets the outcome of a later payment or reversal, regardless of its amount. Several outcomes are used in their
    /// order.
    pub fn force(&self, outcome: Outcome) {
        self.shared.host().forced.push_back(outcome);
    }

    /// Refuses connections and cuts the open ones (`true`), or accepts connections again on the same port (`false`).
    ///
    /// # Errors
    ///
    /// Fails if another program has taken the port in the meantime.
    pub async fn set_offline(&self, offline: bool) -> io::Result<()> {
        let (done, when_done) = oneshot::channel();
        let order = server::Control::Offline(offline, done);
        self.control.send(order).await.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        when_done.await.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?
    }

    /// Ends the gateway. When this function returns, the port is free and every connection is cut.
    pub async fn stop(mut self) {
        self.task.abort();
        self.clockwork.abort();
        self.postman.abort();
        let _ = (&mut self.task).await;
        let _ = (&mut self.clockwork).await;
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.task.abort();
        self.clockwork.abort();
        self.postman.abort();
    }
}
