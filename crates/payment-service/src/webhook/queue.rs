//! The registered URLs, and the notifications that wait for each of them.

use std::collections::VecDeque;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::seal::SealingKey;
use crate::envelope;
use crate::invalid::Invalid;
use crate::refusal::{Refusal, rule};

/// The maximum number of registered URLs.
const MOST_HOOKS: usize = 20;
/// The maximum number of request URLs with waiting notifications.
const MOST_OF_REQUESTS: usize = 100;
/// The maximum number of notifications that wait for one URL, about two megabytes.
const MOST_WAITING: usize = 1000;
/// The maximum length of an address in the interface (AN2048).
const LONGEST_URL: usize = 2048;
/// The minutes from each failed attempt to the next. After the last attempt, about a day and a half later, the
/// notification is dropped.
const PAUSES: [i64; 8] = [1, 5, 15, 60, 180, 360, 720, 1440];

/// The registered URLs.
#[derive(Default)]
pub(crate) struct Webhooks(Vec<Hook>);

/// One registered URL.
struct Hook {
    id: String,
    url: String,
    key: Option<SealingKey>,
    waiting: VecDeque<Notification>,
    /// True while a notification is being sent to the URL.
    busy: bool,
    delivered: u64,
    given_up: u64,
    dropped: u64,
    /// The reason for the failure of the latest attempt.
    failing: Option<String>,
    /// True for the `notificationUrl` of a request, which gets only that payment's notifications.
    is_of_request: bool,
}

/// A waiting notification.
struct Notification {
    body: Arc<str>,
    /// The number of attempts so far.
    attempts: usize,
    /// The earliest time for the next attempt.
    due: DateTime<Utc>,
}

/// A notification to be sent.
pub(super) struct Task {
    pub hook: String,
    pub url: String,
    pub key: Option<SealingKey>,
    pub body: Arc<str>,
}

/// The value of `action`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Created,
    Updated,
    Deleted,
}

impl Action {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Created => "CREATED",
            Self::Updated => "UPDATED",
            Self::Deleted => "DELETED",
        }
    }
}

impl Webhooks {
    /// Registers a URL.
    pub(super) fn register(&mut self, url: &str, key: Option<SealingKey>) -> Result<String, Refusal> {
        check(url)?;
        if self.0.iter().filter(|hook| !hook.is_of_request).count() >= MOST_HOOKS {
            return Err(rule("url", "800.110.100", "too many webhooks; remove one with DELETE /v1/webhooks/{id}"));
        }
        let new = Hook { key, ..Hook::new(url, false) };
        let id = new.id.clone();
        self.0.push(new);
        Ok(id)
    }

    /// Queues a notification for the `notificationUrl` of a request, if that URL is allowed.
    pub(super) fn tell_of_request(&mut self, url: &str, body: &Value, now: DateTime<Utc>) {
        if let Err(why) = check(url) {
            tracing::warn!("gateway: notificationUrl is not called: {why}");
            return;
        }
        let place = self.0.iter().position(|hook| hook.is_of_request && hook.url == url);
        if place.is_none() {
            if self.0.iter().filter(|hook| hook.is_of_request).count() >= MOST_OF_REQUESTS {
                tracing::warn!("gateway: notificationUrl is not called: {MOST_OF_REQUESTS} others wait");
                return;
            }
            self.0.push(Hook::new(url, true));
        }
        let place = place.unwrap_or(self.0.len() - 1);
        self.0[place].add(&body.to_string().into(), now);
    }

    pub(super) fn tell(&mut self, body: &Value, now: DateTime<Utc>) {
        if self.0.is_empty() {
            return;
        }
        let body: Arc<str> = body.to_string().into();
        for hook in self.0.iter_mut().filter(|hook| !hook.is_of_request) {
            hook.add(&body, now);
        }
    }

    /// Returns the notifications that may be sent: the first one of each queue.
    pub(super) fn due(&mut self, now: DateTime<Utc>) -> Vec<Task> {
        let mut tasks = Vec::new();
        for hook in self.0.iter_mut().filter(|hook| !hook.busy) {
            let Some(head) = hook.waiting.front().filter(|head| head.due <= now) else { continue };
            let body = Arc::clone(&head.body);
            hook.busy = true;
            tasks.push(Task { hook: hook.id.clone(), url: hook.url.clone(), key: hook.key.clone(), body });
        }
        tasks
    }

    /// Returns when the next notification may be sent.
    pub(super) fn next_due(&self) -> Option<DateTime<Utc>> {
        self.0.iter().filter(|hook| !hook.busy).filter_map(|hook| Some(hook.waiting.front()?.due)).min()
    }

    /// Records the result of an attempt.
    pub(super) fn sent(&mut self, id: &str, went: Result<(), String>, now: DateTime<Utc>) {
        self.went(id, went, now);
        self.0.retain(|hook| hook.busy || !hook.is_of_request || !hook.waiting.is_empty());
    }

    fn went(&mut self, id: &str, went: Result<(), String>, now: DateTime<Utc>) {
        let Some(hook) = self.0.iter_mut().find(|hook| hook.id == id) else { return };
        hook.busy = false;
        let Err(why) = went else {
            hook.waiting.pop_front();
            hook.delivered += 1;
            hook.failing = None;
            return;
        };
        let Some(head) = hook.waiting.front_mut() else { return };
        match PAUSES.get(head.attempts) {
            Some(minutes) => {
                tracing::warn!(
                    "gateway: the webhook {id} was not notified: {why}; next try in {minutes} minutes of its clock"
                );
                head.attempts += 1;
                head.due = now + TimeDelta::minutes(*minutes);
            }
            None => {
                tracing::error!("gateway: the webhook {id} was not notified: {why}; the notification is dropped");
                hook.waiting.pop_front();
                hook.given_up += 1;
            }
        }
        hook.failing = Some(why);
    }

    /// Returns all URLs and the state of their deliveries.
    pub(super) fn shown(&self) -> Vec<Value> {
        self.0.iter().filter(|hook| !hook.is_of_request).map(Hook::shown).collect()
    }

    /// Removes a URL and its waiting notifications; returns false if the id is unknown.
    pub(super) fn remove(&mut self, id: &str) -> bool {
        let place = self.0.iter().position(|hook| hook.id == id && !hook.is_of_request);
        place.is_some_and(|place| {
            self.0.remove(place);
            true
        })
    }
}

impl Hook {
    fn new(url: &str, is_of_request: bool) -> Self {
        Self {
            id: envelope::new_id(),
            url: url.to_owned(),
            key: None,
            waiting: VecDeque::new(),
            busy: false,
            delivered: 0,
            given_up: 0,
            dropped: 0,
            failing: None,
            is_of_request,
        }
    }

    /// Adds a notification if there is room.
    fn add(&mut self, body: &Arc<str>, now: DateTime<Utc>) {
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push_back(Notification { body: Arc::clone(body), attempts: 0, due: now });
            return;
        }
        if self.dropped == 0 {
            tracing::warn!(
                "gateway: notifications for the webhook {} are dropped: {MOST_WAITING} already wait",
                self.id
            );
        }
        self.dropped += 1;
    }

    /// Returns the state of the deliveries. The part of each URL after its path may be a secret, so it is omitted.
    fn shown(&self) -> Value {
        json!({
            "id": self.id,
            "url": self.url.split(['?', '#']).next(),
            "encrypted": self.key.is_some(),
            "state": if self.failing.is_some() { "failing" } else { "good" },
            "error": self.failing,
            "attempts": self.waiting.front().map_or(0, |head| head.attempts),
            "waiting": self.waiting.len(),
            "delivered": self.delivered,
            "givenUp": self.given_up,
            "dropped": self.dropped,
        })
    }
}

/// Checks that an address uses HTTPS, or HTTP on this machine.
fn check(url: &str) -> Result<(), Invalid> {
    let wrong = |why: &str| Err(Invalid::new("url", why));
    let Some(parsed) = (url.len() <= LONGEST_URL).then(|| url.parse::<hyper::Uri>().ok()).flatten() else {
        return wrong("must be an absolute address of at most 2048 characters, such as https://shop.example/notify");
    };
    let (Some(scheme), Some(authority)) = (parsed.scheme_str(), parsed.authority()) else {
        return wrong("must be absolute, such as https://shop.example/notify");
    };
    if authority.as_str().contains('@') {
        return wrong("must hold no user name or password");
    }
    match (scheme, authority.host()) {
        ("https", _) | ("http", "localhost" | "127.0.0.1" | "[::1]") => Ok(()),
        ("http", _) => wrong("must be https; http may only go to this machine"),
        _ => wrong("must be https"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_one_that_may_be_told() {
        for good in
            ["https://shop.example/notify?t=1", "http://127.0.0.1:8080/", "http://[::1]:1/x", "http://localhost"]
        {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        let long = format!("https://shop.example/{}", "x".repeat(2048));
        for wrong in [
            "",
            "/notify",
            "shop.example",
            "http://shop.example/",
            "ftp://shop.example/",
            "https://a:b@shop.example/",
            &long,
        ] {
            assert_eq!(check(wrong).unwrap_err().name, "url", "{wrong}");
        }
    }

    #[test]
    fn a_queue_is_bounded_and_what_is_not_taken_is_given_up_at_last() {
        let mut hooks = Webhooks::default();
        let id = hooks.register("https://shop.example/", None).unwrap();
        let mut now: DateTime<Utc> = "2026-11-23T12:00:00Z".parse().unwrap();
        (0..MOST_WAITING + 5).for_each(|n| hooks.tell(&json!(n), now));
        assert_eq!((hooks.0[0].waiting.len(), hooks.0[0].dropped), (MOST_WAITING, 5));
        for attempt in 0..=PAUSES.len() {
            assert_eq!(hooks.due(now).len(), 1, "{attempt}");
            assert!(hooks.due(now).is_empty(), "one at a time");
            hooks.sent(&id, Err("down".to_owned()), now);
            if attempt < PAUSES.len() {
                assert!(hooks.due(now).is_empty(), "not before its pause is over");
                now = hooks.next_due().unwrap();
            }
        }
        assert_eq!((hooks.0[0].given_up, hooks.0[0].waiting.len()), (1, MOST_WAITING - 1));
        let task = hooks.due(now).remove(0);
        assert_eq!(&*task.body, "1", "the next one follows");
        hooks.sent(&id, Ok(()), now);
        assert_eq!((hooks.0[0].delivered, hooks.0[0].failing.clone()), (1, None));
    }
}
