//! Webhooks: notifications to registered URLs about entries and stored cards (behaviour: Events; data-model: Webhook
//! notification body). This file makes the content. `queue` keeps the order and the results, `post` sends, and `seal`
//! encrypts.
//!
//! A payment never waits for a webhook. It only adds a notification to the queue of each URL. When a queue is full,
//! further notifications are dropped and counted. Each URL gets its notifications in order, with retries by the
//! gateway's clock.
//!
//! Where the interface is silent, the gateway assumes the following:
//!
//! - The calls are `POST`, `GET` and `DELETE /v1/webhooks`.
//! - Every URL gets all notifications.
//! - CREATED is sent for each new payment and stored card, UPDATED when a pending payment is decided, and DELETED when
//!   a stored card is deleted.
//! - Any HTTP status from 200 to 299 confirms a notification. Redirects are not followed.
//! - With a key the body is encrypted with AES-256-GCM.
//! - Registered URLs are forgotten when the gateway ends.
//! - The `notificationUrl` of a request (deprecated, data-model: Asynchronous payments) gets the notifications of that
//!   payment, in plain JSON: when it is booked and when it is decided. An address that is not allowed for a webhook is
//!   not called.

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
    /// Notifies that a payment was booked or decided.
    pub(super) fn tell_of_payment(&mut self, action: Action, booking: &Booking) {
        let entry = &booking.entry;
        let mut body = json!({
            "type": "PAYMENT",
            "action": action.as_str(),
            "payload": booking.answer,
            "presentationAmount": entry.amount,
            "presentationCurrency": entry.currency,
        });
        // Only the webhooks of captures and refunds have this field (data-model: Webhook notification body).
        if let Some(of) = entry.refers_to.as_ref().filter(|_| matches!(entry.kind, Kind::Capture | Kind::Refund)) {
            body["referencedId"] = json!(of);
        }
        self.tell(&body);
        if let Some((_, url)) = entry.details.iter().find(|(name, _)| name == "notificationUrl") {
            self.webhooks.tell_of_request(url, &body, self.clock.now());
            self.posted.notify_one();
        }
    }

    /// Notifies that a card was stored or deleted. `payload` is the answer to that request.
    pub(super) fn tell_of_registration(&mut self, action: Action, payload: &Value) {
        self.tell(&json!({ "type": "REGISTRATION", "action": action.as_str(), "payload": payload }));
    }

    fn tell(&mut self, body: &Value) {
        self.webhooks.tell(body, self.clock.now());
        self.posted.notify_one();
    }

    /// Registers the URLs from the options.
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

    /// Handles `POST /v1/webhooks` with `url` and the optional `key`, 64 hex digits.
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

    /// Handles `GET /v1/webhooks`, which returns all URLs and the state of their deliveries.
    pub(super) fn list_webhooks(&mut self, query: &[u8]) -> Result<Delivery, Refusal> {
        self.check_entity(&Form::parse(query, form::RETRIEVAL, self.reading())?, true)?;
        let webhooks = self.webhooks.shown();
        let result = result("000.000.100", "successful request");
        Ok(Delivery::Answer(200, json!({ "result": result, "webhooks": webhooks })))
    }

    /// Handles `DELETE /v1/webhooks/{id}`. The URL gets no further notifications, not even those that wait.
    pub(super) fn remove_webhook(&mut self, id: &str, query: &[u8]) -> Result<Delivery, Refusal> {
        self.check_entity(&Form::parse(query, form::RETRIEVAL, self.reading())?, true)?;
        if !self.webhooks.remove(id) {
            return Err(Refusal::NotFound);
        }
        let result = result("000.000.100", "successful request");
        Ok(Delivery::Answer(200, json!({ "id": id, "result": result })))
    }
}
