//! The probe of the gateway, in the order of a sale: name, TCP, TLS, certificates, token, query. The doctor sends
//! nothing that could move money.

use std::time::{Duration, UNIX_EPOCH};

use chrono::Utc;

use super::disk::millis;
use super::{Past, Report};
use crate::agent::clock::floor_unix_ms;
use crate::config::Config;
use pos_core::transaction::{ApprovedAmount, Cause, Inquiry, Transaction};
use pos_gateway::certificate::{Expiring, ends};
use pos_gateway::probe::{GatewayProbe, QueryProbe, credentials};
use pos_gateway::{Certificate, CertificateClock, Token};

/// The number of round trips on an open connection, of which the median is shown.
const TRIPS: usize = 5;
/// The longest wait for the gateway, in milliseconds. A technician does not wait as long as a payment does.
const PATIENCE_MS: u64 = 10_000;
/// The greatest accepted difference of the clocks, in seconds. Above it, a customer notices the wrong time on the
/// receipt.
const CLOCKS_DIFFER_S: u64 = 60;

pub(super) async fn look(report: &mut Report<'_>, config: &Config, past: &Past) {
    what_it_said(report, config, past);
    let mut settings = config.gateway.clone();
    settings.connect_timeout_ms = settings.connect_timeout_ms.min(PATIENCE_MS);
    settings.answer_timeout_ms = settings.answer_timeout_ms.min(PATIENCE_MS);
    let floor = UNIX_EPOCH + Duration::from_millis(floor_unix_ms(past.latest.unix_ms).unsigned_abs());
    let token = Token::load_from(&settings, credentials().as_deref());
    let has_token = token.is_ok();
    match &token {
        Err(_) if settings.token_credential.is_some() && credentials().is_none() => {
            report.note(
                "the doctor cannot read the token, which systemd gives only to the agent, so it asks the gateway \
                 without the token",
            );
        }
        Err(error) => report.say_fault(&error.to_string()),
        Ok(_) => {}
    }
    let mut probe = match GatewayProbe::new(&settings, token.ok(), CertificateClock::from(floor)) {
        Ok(probe) => probe,
        Err(error) => return report.say_fault(&error.to_string()),
    };
    let now = Utc::now().timestamp().max(floor_unix_ms(past.latest.unix_ms) / 1000);
    if reaches(report, &mut probe, now).await.is_none() {
        return;
    }
    expiries(report, &probe, now, settings.expiry_warning_days);
    if !answers(report, &mut probe).await || !has_token {
        return;
    }
    if lets_us_in(report, &mut probe, config).await {
        proves_its_path(report, &mut probe, past.approved.as_ref()).await;
    }
}

/// Reports faults that the gateway's answers to the latest transactions show.
fn what_it_said(report: &mut Report<'_>, config: &Config, past: &Past) {
    if let Some(sale) = &past.invalid_request {
        let remedy = "check entity-id in [gateway] and what the till sends; a different card does not help";
        report.fault(
            format!("the gateway refused sale {sale} as an invalid request and has processed no request since"),
            remedy,
        );
    }
    if past.doubted_declines > 0 && !config.gateway.assumptions.believe_declines_at_200 {
        let seen = format!(
            "declines without HTTP 400 that a look-up confirmed: {} of the latest sales",
            past.doubted_declines
        );
        let remedy = "ask the gateway's operator whether such declines are usual; if so, set believe-declines-at-200 = \
            true in [gateway.assumptions]: the agent then reports them without a look-up";
        report.warning(seen, remedy);
    }
}

/// Checks name, TCP and TLS, and reports the certificates.
async fn reaches(report: &mut Report<'_>, probe: &mut GatewayProbe, now: i64) -> Option<()> {
    match probe.resolve().await {
        Ok(places) => {
            let places: Vec<String> = places.iter().take(4).map(ToString::to_string).collect();
            report.ok(format!("the gateway's name resolves to {}", places.join(", ")));
        }
        Err(why) => {
            report.say_fault(&why.to_string());
            return None;
        }
    }
    let connected = probe.connect().await;
    match &connected {
        Ok(made) => {
            let (tcp, tls) = (millis(made.tcp), millis(made.tls));
            let (to, version, cipher) = (made.to, &made.version, &made.cipher);
            report.ok(format!("connected to {to} in {tcp} ms, {version} with {cipher} in {tls} ms"));
        }
        Err(why) => report.say_fault(&why.to_string()),
    }
    for (n, certificate) in probe.chain().iter().enumerate() {
        let whose = if n == 0 { "the gateway's certificate" } else { "an intermediate certificate" };
        report.note(format!("{whose}: {}", shown(certificate, now)));
    }
    for anchor in probe.anchors() {
        report.note(format!("a CA from ca-file in [gateway]: {}", shown(&anchor, now)));
    }
    if let Some(client) = probe.client() {
        report.note(format!("the terminal's certificate: {}", shown(&client, now)));
    }
    connected.ok().map(drop)
}

fn shown(certificate: &Certificate, now: i64) -> String {
    let Certificate { subject, issuer, not_after, pin, .. } = certificate;
    format!("{subject} by {issuer}, {}, key {pin}", ends(*not_after, now))
}

/// Warns about everything that expires soon. A certificate that made the handshake fail is reported elsewhere, as a
/// fault.
fn expiries(report: &mut Report<'_>, probe: &GatewayProbe, now: i64, days: u64) {
    let expiries = probe.expiries();
    let mut warned = false;
    for expiry in &expiries {
        if let Some(warning) = expiry.warning(now, days) {
            let over = expiry.at < now && matches!(expiry.what, Expiring::Token | Expiring::Client);
            if over {
                report.say_fault(&warning)
            } else {
                report.say_warning(&warning)
            }
            warned = true;
        }
    }
    if !warned && let Some(first) = expiries.iter().map(|expiry| expiry.at).min() {
        report.ok(format!("of the certificates and the token, the first {}", ends(first, now)));
    }
}

/// Measures round trips on the open connection, without the token, and compares the gateway's clock with the board's.
async fn answers(report: &mut Report<'_>, probe: &mut GatewayProbe) -> bool {
    let mut times = Vec::with_capacity(TRIPS);
    for _ in 0..TRIPS {
        match probe.round_trip().await {
            Ok(time) => times.push(time),
            Err(why) => {
                report.say_fault(&why);
                return false;
            }
        }
    }
    times.sort_unstable();
    report.ok(format!("answers in {} ms (median of {TRIPS} requests on an open connection)", millis(times[TRIPS / 2])));
    if let Some(theirs) = probe.gateway_unix_s() {
        let differ = theirs.abs_diff(Utc::now().timestamp());
        let seen = format!("the gateway's clock and the board's clock differ by {differ} s");
        if differ > CLOCKS_DIFFER_S {
            report.warning(
                seen,
                "set the board's clock (timedatectl); if the board's clock is right, tell the gateway's operator",
            );
        } else {
            report.ok(seen);
        }
    }
    true
}

/// Sends a query for a reference that was never used. It must find nothing. It also shows whether the gateway accepts
/// the token.
async fn lets_us_in(report: &mut Report<'_>, probe: &mut GatewayProbe, config: &Config) -> bool {
    let mut random = [0; 16];
    if let Err(error) = getrandom::fill(&mut random) {
        report.fault(format!("the system provides no random numbers: {error}"), "restart the board");
        return false;
    }
    let QueryProbe { status, inquiry, description } = match probe.ask(&format!("doctor-{}", hex::encode(random))).await
    {
        Ok(asked) => asked,
        Err(why) => {
            report.say_fault(&why);
            return false;
        }
    };
    let words = description.map(|text| format!(": {text}")).unwrap_or_default();
    let path = &config.gateway.assumptions.query_path;
    match (status, inquiry) {
        // This case comes first, because a setting decides which answer means "nothing found" (`query-not-found`).
        (_, Inquiry::Payments(found)) if found.is_empty() => {
            report.ok(format!(
                "the gateway accepts the terminal's token, and {path} finds nothing for an unused reference"
            ));
            true
        }
        (401 | 403, _) => {
            let file = config.gateway.token_file.as_ref().map_or_else(
                || "the credential's file and restart the agent".to_owned(),
                |file| format!("{}; the agent uses the new token immediately", file.display()),
            );
            let seen = format!("the gateway refuses the terminal's access token (HTTP {status}{words})");
            report.fault(seen, format!("ask the gateway's operator for a new token and write it to {file}"));
            false
        }
        (404, _) => {
            let seen = format!("there is no query at {path} (HTTP 404{words})");
            let remedy = "ask the gateway's operator for the path and set query-path in [gateway.assumptions]; if this \
                answer means that nothing was found, set query-not-found";
            report.fault(seen, remedy);
            false
        }
        (400, _) => {
            let seen = format!("the gateway refuses the query (HTTP 400{words})");
            report
                .fault(seen, "check entity-id in [gateway], and query-path and query-method in [gateway.assumptions]");
            false
        }
        (_, Inquiry::Payments(_)) => {
            let seen = format!("{path} finds payments for an unused reference");
            report.fault(
                seen,
                "ask the gateway's operator for the right path and set query-path in [gateway.assumptions]",
            );
            false
        }
        (_, Inquiry::CannotAsk { why } | Inquiry::NotReached { why }) => {
            let remedy = "ask the gateway's operator whether the query works; without the query, an unconfirmed sale \
                cannot be resolved";
            report.fault(format!("{}{words}", said(&why)), remedy);
            false
        }
    }
}

/// Sends a query for a transaction that the journal knows as approved. It must be found with the same amount. An empty
/// result for an unused reference alone would prove little.
async fn proves_its_path(report: &mut Report<'_>, probe: &mut GatewayProbe, approved: Option<&Transaction>) {
    let Some(order) = approved.map(Transaction::order) else {
        return report.note("the journal has no approved sale yet with which to test the query");
    };
    let sale = format!("sale {} of till {} ({})", order.reference, order.till, order.amount);
    let remedy = "set query-path in [gateway.assumptions] to the gateway operator's value; until then, a lost answer cannot be \
         resolved";
    match probe.ask(&order.merchant_transaction_id).await {
        Err(why) => report.say_fault(&why),
        Ok(QueryProbe { inquiry: Inquiry::CannotAsk { why } | Inquiry::NotReached { why }, .. }) => {
            report.fault(format!("the query for {sale} failed: {}", said(&why)), remedy);
        }
        Ok(QueryProbe { inquiry: Inquiry::Payments(found), .. }) => {
            let same = |amount| matches!(amount, ApprovedAmount::Said(amount) if amount == order.amount);
            if found.iter().any(|payment| same(payment.amount)) {
                report.ok(format!("the query finds {sale} with its amount"));
            } else if found.is_empty() {
                let seen = format!("the query does not find {sale}, which the gateway approved");
                report.warning(
                    seen,
                    "ask the gateway's operator how long payments can be found; if the sale is newer, the path is \
                     wrong",
                );
            } else {
                report.fault(format!("the query finds {sale} with a different amount"), remedy);
            }
        }
    }
}

/// Returns the observation, without the remedy that follows it.
fn said(why: &Cause) -> &str {
    why.detail.as_deref().and_then(|detail| detail.split("; ").next()).unwrap_or_default()
}
