//! The header of a message: its kind, its sender and its receiver.

use serde::{Deserialize, Serialize};

use super::enums::{Category, MessageClass, MessageType};

/// The supported version of the protocol.
pub const PROTOCOL_VERSION: &str = "3.0";
/// Maximum length of a ServiceID or DeviceID (Terminal API: one to ten characters).
const LONGEST_ID: usize = 10;
/// Maximum length of the name of a till or a terminal. The Terminal API sets no limit, but these names appear in lists.
const LONGEST_NAME: usize = 128;

/// The error of a wrong field in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("MessageHeader.{field} {wrong}")]
pub struct HeaderError {
    /// The name of the field.
    pub field: &'static str,
    /// The error.
    pub wrong: HeaderWrong,
}

/// The error in a field of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderWrong {
    /// The field is missing.
    #[error("is missing")]
    Missing,
    /// The field is empty or too long.
    #[error("must have 1 to {most} characters")]
    Length {
        /// Most characters.
        most: usize,
    },
    /// The field has characters that are not allowed in a name.
    #[error("has unprintable characters, or a space at an end")]
    Characters,
    /// The protocol version is not the supported one.
    #[error("must be 3.0")]
    Version,
    /// A response arrived in place of a request, or vice versa.
    #[error("does not fit this kind of message")]
    Kind,
}

/// `MessageHeader`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Header {
    /// `ProtocolVersion`. Some tills omit it in messages about devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// `MessageClass`. It does not have to match the category: tills send a print request in a service message or in a
    /// device message.
    pub message_class: MessageClass,
    /// `MessageCategory`.
    pub message_category: Category,
    /// `MessageType`.
    pub message_type: MessageType,
    /// `ServiceID`: the number that the till gives its request, unique for the till within 48 hours.
    #[serde(rename = "ServiceID", skip_serializing_if = "Option::is_none")]
    pub service_id: Option<String>,
    /// `DeviceID`: the number of a message about a device.
    #[serde(rename = "DeviceID", skip_serializing_if = "Option::is_none")]
    pub device_id: Option<String>,
    /// `SaleID`: the till.
    #[serde(rename = "SaleID", skip_serializing_if = "Option::is_none")]
    pub sale_id: Option<String>,
    /// `POIID`: the terminal.
    #[serde(rename = "POIID")]
    pub poi_id: String,
}

impl Header {
    /// Creates the header of a till's request. The class follows from the category.
    #[must_use]
    pub fn request(category: Category, service_id: &str, sale_id: &str, poi_id: &str) -> Self {
        let message_class = match category {
            Category::Display | Category::Input | Category::InputUpdate | Category::Print | Category::Sound => {
                MessageClass::Device
            }
            Category::Event => MessageClass::Event,
            _ => MessageClass::Service,
        };
        let is_event = category == Category::Event;
        Self {
            protocol_version: Some(PROTOCOL_VERSION.to_owned()),
            message_class,
            message_category: category,
            message_type: if is_event { MessageType::Notification } else { MessageType::Request },
            service_id: Some(service_id.to_owned()),
            device_id: None,
            sale_id: Some(sale_id.to_owned()),
            poi_id: poi_id.to_owned(),
        }
    }

    /// Returns the number that the till gave its request. For a message about a device without such a number, returns
    /// the DeviceID.
    #[must_use]
    pub fn service_id(&self) -> &str {
        self.service_id.as_deref().or(self.device_id.as_deref()).unwrap_or_default()
    }

    /// Returns the header of the response.
    #[must_use]
    pub fn response(&self) -> Self {
        Self { message_type: MessageType::Response, ..self.clone() }
    }

    /// Checks lengths, characters and required fields.
    ///
    /// # Errors
    /// Returns the first [`HeaderError`].
    pub fn check(&self) -> Result<(), HeaderError> {
        let text = |field, text: &str, most| {
            let wrong = if text.is_empty() || text.chars().count() > most {
                HeaderWrong::Length { most }
            } else if text.chars().any(char::is_control) || text.trim() != text {
                HeaderWrong::Characters
            } else {
                return Ok(());
            };
            Err(HeaderError { field, wrong })
        };
        let version = self.protocol_version.as_deref().unwrap_or(PROTOCOL_VERSION);
        if version != PROTOCOL_VERSION {
            return Err(HeaderError { field: "ProtocolVersion", wrong: HeaderWrong::Version });
        }
        self.service_id.as_deref().map_or(Ok(()), |id| text("ServiceID", id, LONGEST_ID))?;
        self.device_id.as_deref().map_or(Ok(()), |id| text("DeviceID", id, LONGEST_ID))?;
        self.sale_id.as_deref().map_or(Ok(()), |id| text("SaleID", id, LONGEST_NAME))?;
        text("POIID", &self.poi_id, LONGEST_NAME)?;
        let missing = |field| Err(HeaderError { field, wrong: HeaderWrong::Missing });
        match self.message_class {
            // The rejection of an unreadable message may have neither a SaleID nor a ServiceID.
            MessageClass::Event => Ok(()),
            _ if self.sale_id.is_none() => missing("SaleID"),
            MessageClass::Device if self.device_id.is_some() => Ok(()),
            MessageClass::Service | MessageClass::Device if self.service_id.is_none() => missing("ServiceID"),
            MessageClass::Service | MessageClass::Device => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_bounded_and_the_field_is_named() {
        let right = Header::request(Category::Payment, "0123456789", "Kasse 1", "P400Plus-123456789");
        assert_eq!((right.check(), right.response().check()), (Ok(()), Ok(())));
        let wrong = |change: fn(&mut Header)| {
            let mut header = right.clone();
            change(&mut header);
            header.check().unwrap_err().to_string()
        };
        let length = |field, most| format!("MessageHeader.{field} must have 1 to {most} characters");
        assert_eq!(wrong(|it| it.service_id = Some("01234567890".into())), length("ServiceID", 10));
        assert_eq!(wrong(|it| it.service_id = Some(String::new())), length("ServiceID", 10));
        assert_eq!(wrong(|it| it.device_id = Some("x".repeat(11))), length("DeviceID", 10));
        assert_eq!(wrong(|it| it.sale_id = Some("x".repeat(129))), length("SaleID", 128));
        assert_eq!(wrong(|it| it.poi_id.clear()), length("POIID", 128));
        let letters = "has unprintable characters, or a space at an end";
        assert_eq!(wrong(|it| it.sale_id = Some("a\nb".into())), format!("MessageHeader.SaleID {letters}"));
        assert_eq!(wrong(|it| it.poi_id.push(' ')), format!("MessageHeader.POIID {letters}"));
        assert_eq!(wrong(|it| it.service_id = None), "MessageHeader.ServiceID is missing");
        assert_eq!(wrong(|it| it.sale_id = None), "MessageHeader.SaleID is missing");
        assert_eq!(wrong(|it| it.protocol_version = Some("2.0".into())), "MessageHeader.ProtocolVersion must be 3.0");
    }

    #[test]
    fn a_message_about_a_device_has_one_number_or_the_other() {
        let print = Header::request(Category::Print, "1", "till", "poi");
        assert_eq!(print.message_class, MessageClass::Device);
        assert_eq!(Header { device_id: Some("7".into()), service_id: None, ..print }.check(), Ok(()));
    }
}
