//! The answer to a message that cannot be read or accepted: a notification of the event `Reject` in place of a
//! response.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::additional;
use super::enums::{Category, EventToNotify, MessageClass, MessageType};
use super::envelope::Message;
use super::header::{Header, PROTOCOL_VERSION};
use super::request::{EventNotification, Request, RequestBody};

/// Maximum number of characters in the reason.
const LONGEST_REASON: usize = 300;

/// The data of a rejection: the rejected message, the terminal, and the time.
#[derive(Clone, Copy, Debug)]
pub struct Rejected<'a> {
    /// The header, if it is readable ([`super::envelope::header_of`]).
    pub header: Option<&'a Header>,
    /// The body as it arrived. Sealed content stays sealed.
    pub received: &'a [u8],
    /// The terminal, if the header does not name it.
    pub poi_id: &'a str,
    /// A number for the notification, one to ten characters.
    pub device_id: &'a str,
    /// The current time in RFC 3339.
    pub time_stamp: &'a str,
}

impl Rejected<'_> {
    /// Builds the notification, with a human-readable reason.
    #[must_use]
    pub fn notification(&self, reason: &dyn fmt::Display) -> Message {
        let reason: String = reason.to_string().chars().take(LONGEST_REASON).collect();
        Message::Request(Request {
            header: Header {
                protocol_version: Some(PROTOCOL_VERSION.to_owned()),
                message_class: MessageClass::Event,
                message_category: Category::Event,
                message_type: MessageType::Notification,
                service_id: self.header.and_then(|header| header.service_id.clone()),
                device_id: Some(self.device_id.to_owned()),
                sale_id: self.header.and_then(|header| header.sale_id.clone()),
                poi_id: self.header.map_or(self.poi_id, |header| &header.poi_id).to_owned(),
            },
            body: RequestBody::Event(Box::new(EventNotification {
                time_stamp: self.time_stamp.to_owned(),
                event_to_notify: EventToNotify::Reject,
                event_details: Some(additional::write([("message", reason.as_str())])),
                rejected_message: Some(STANDARD.encode(self.received)).filter(|text| !text.is_empty()),
                maintenance_required_flag: false,
                customer_language: None,
            })),
        })
    }
}
