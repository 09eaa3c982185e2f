//! Webhooks: what is booked, and what becomes of stored cards, is told to registered URLs (behaviour: Events;
//! data-model: Webhook notification body). Who is told what is here; in which order, and what becomes of it, is in
//! `queue`, how it is sent in `post`, how it is sealed in `seal`.
//!
//! A payment never waits: it only puts a notification into the queue of each URL. A queue is bounded; what comes beyond
//! it is dropped and counted. Each URL is told one thing after the other, and tried again by the gateway's clock.
//!
//! Assumed, as the interface is silent: `POST`, `GET` and `DELETE /v1/webhooks`; every URL is told everything; CREATED
//! is said of each payment and stored card, UPDATED of a pending payment that was decided, DELETED of a stored card;
//! any HTTP status 200 to 299 takes a notification; a redirect is not followed; with a key the body is sealed by
//! AES-256-GCM. Registered URLs are forgotten when the gateway ends. The `notificationUrl` of a request (deprecated,
//! data-model: Asynchronous payments) is told the same of its own payment, in plain JSON, when it is booked and when it
//! is decided; one that a webhook may not have is not called.

pub(crate) mod post;
pub(crate) mod queue;
mod seal;

use serde_json::{Value, json};

use super::books::Booking;
use super::delivery::Delivery;
use super::entry::Kind;
use super::envelope::result;
use super::form::{self, Form};
use super::host::Host;
use super::invalid::Invalid;
use super::refusal::Refusal;
use pos_gateway_model::{form as encoded, shown};
use queue::Action;
use seal::SealingKey;

impl Host {
    /// Tells that a payment was booked, or decided.
    pub(super) fn tell_of_payment(&mut self, action: Action, booking: &Booking) {
        let entry = &booking.entry;
        let mut body = json!({
            "type": "PAYMENT",
            "action": action.as_str(),
            "payload": booking.answer,
            "presentationAmount": entry.amount,
            "presentationCurrency": entry.currency,
        });
        // Of captures and refunds, and here alone (data-model: Webhook notification body).
        if let Some(of) = entry.refers_to.as_ref().filter(|_| matches!(entry.kind, Kind::Capture | Kind::Refund)) {
            body["referencedId"] = json!(of);
        }
        self.tell(&body);
        if let Some((_, url)) = entry.details.iter().find(|(name, _)| name == "notificationUrl") {
            self.webhooks.tell_of_request(url, &body, self.clock.now());
            self.posted.notify_one();
        }
    }

    /// Tells that a card was stored or deleted; `payload` is what was answered.
    pub(super) fn tell_of_registration(&mut self, action: Action, payload: &Value) {
        self.tell(&json!({ "type": "REGISTRATION", "action": action.as_str(), "payload": payload }));
    }

    fn tell(&mut self, body: &Value) {
        self.webhooks.tell(body, self.clock.now());
        self.posted.notify_one();
    }

    /// Registers the URLs that it was started with.
    pub(super) fn register_options(&mut self) -> Result<(), String> {
        let options = self.options().clone();
        let key = match options.webhook_key.as_deref() {
            Some(text) => Some(SealingKey::read(text).ok_or_else(|| format!("the webhooks' key {}", seal::MUST_BE))?),
            None => None,
        };
        for url in &options.webhooks {
            let refused = |refusal: Refusal| format!("webhook: {}", refusal.note().unwrap_or_default());
            self.webhooks.register(url, key.clone()).map_err(refused)?;
        }
        Ok(())
    }

    /// `POST /v1/webhooks`: `url`, and if wanted `key`, 64 hex digits.
    pub(super) fn register_webhook(&mut self, body: &[u8]) -> Result<Delivery, Refusal> {
        let pairs = encoded::decode(body).map_err(|wrong| Invalid::new(wrong.name, wrong.problem))?;
        let (mut url, mut key) = (None, None);
        let (mut others, mut seen) = (Vec::new(), Vec::new());
        for (name, value) in pairs {
            if seen.contains(&name) {
                return Err(Invalid::new(shown(&name), "sent twice").into());
            }
            seen.push(name.clone());
            match name.as_str() {
                "url" => url = Some(value),
                "key" => key = Some(SealingKey::read(&value).ok_or_else(|| Invalid::new("key", seal::MUST_BE))?),
                "entityId" => others.push((name, value)),
                _ => return Err(Invalid::new(shown(&name), "not a parameter of this request").into()),
            }
        }
        self.check_entity(&Form::of(others), true)?;
        let url = url.ok_or_else(|| Invalid::new("url", "required and not sent"))?;
        let id = self.webhooks.register(&url, key)?;
        let result = result("000.000.100", "successful request");
        Ok(Delivery::Answer(200, json!({ "id": id, "result": result })))
    }

    /// `GET /v1/webhooks`: all of them, and how it goes.
    pub(super) fn list_webhooks(&mut self, query: &[u8]) -> Result<Delivery, Refusal> {
        self.check_entity(&Form::parse(query, form::RETRIEVAL, self.reading())?, true)?;
        let webhooks = self.webhooks.shown();
        let result = result("000.000.100", "successful request");
        Ok(Delivery::Answer(200, json!({ "result": result, "webhooks": webhooks })))
    }

    /// `DELETE /v1/webhooks/{id}`: it is told nothing more, not even what waits.
    pub(super) fn remove_webhook(&mut self, id: &str, query: &[u8]) -> Result<Delivery, Refusal> {
        self.check_entity(&Form::parse(query, form::RETRIEVAL, self.reading())?, true)?;
        if !self.webhooks.remove(id) {
            return Err(Refusal::NotFound);
        }
        let result = result("000.000.100", "successful request");
        Ok(Delivery::Answer(200, json!({ "id": id, "result": result })))
    }
}
