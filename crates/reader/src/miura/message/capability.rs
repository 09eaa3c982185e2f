//! The reader's capabilities: the answer to GET DEVICE INFO (readers: 2.1, 2.2).

use super::element::{MessageBody, MessageError, each, tags, wrapped};
use crate::apdu::text;
use pos_terms::emv::{TlvError, tlv};

/// The words in the name of the capability "commands longer than one packet" (case-insensitive). UNCERTAIN: the name is
/// not published (readers: 10, point 2). `[reader] extended-apdu-capability` sets a different name. Without the
/// capability, commands stay within one packet, which every device accepts.
const EXTENDED_APDU: [&str; 2] = ["extended", "apdu"];

/// Maximum number of capabilities in one answer.
const MAX_CAPABILITIES: usize = 64;

/// The answer to GET DEVICE INFO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfoAnswer {
    /// The names (DF0D), with their values (DF7F) if they have any.
    pub capabilities: Vec<(String, Option<String>)>,
}

impl DeviceInfoAnswer {
    /// Reads the body. The templates around the names are not published, so the code ignores them and reads their
    /// content.
    ///
    /// # Errors
    /// Fails if the body is not BER-TLV.
    pub fn parse(body: &[u8]) -> Result<Self, MessageError> {
        let mut capabilities: Vec<(String, Option<String>)> = Vec::new();
        each(body, &mut |object| match object.tag {
            tags::NAME if capabilities.len() < MAX_CAPABILITIES => capabilities.push((text(object.value), None)),
            tags::VERSION => {
                if let Some((_, value)) = capabilities.last_mut() {
                    *value = Some(text(object.value));
                }
            }
            _ => {}
        })?;
        Ok(Self { capabilities })
    }

    /// Writes the answer.
    ///
    /// # Errors
    /// Returns [`TlvError::Full`] if it is too long.
    pub fn encode(&self) -> Result<MessageBody, TlvError> {
        let mut body = MessageBody::new();
        for (name, value) in &self.capabilities {
            let mut inner = MessageBody::new();
            tlv::push(&mut inner, tags::NAME, name.as_bytes())?;
            if let Some(value) = value {
                tlv::push(&mut inner, tags::VERSION, value.as_bytes())?;
            }
            tlv::push(&mut body, tags::SOFTWARE, &inner)?;
        }
        wrapped(tags::ANSWER_DATA, &body)
    }

    /// Returns whether commands may be longer than one packet. `name` is the capability's name, if the settings give
    /// one.
    #[must_use]
    pub fn extended_apdu(&self, name: Option<&str>) -> bool {
        let is_it = |capability: &str| match name {
            Some(name) => capability.eq_ignore_ascii_case(name),
            None => {
                let capability = capability.to_ascii_lowercase();
                EXTENDED_APDU.iter().all(|word| capability.contains(word))
            }
        };
        let denied = |value: &Option<String>| {
            value.as_deref().is_some_and(|value| ["0", "no", "false"].iter().any(|no| value.eq_ignore_ascii_case(no)))
        };
        self.capabilities.iter().any(|(capability, value)| is_it(capability) && !denied(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capability_is_found_by_guess_or_by_name_and_can_be_denied() {
        let info = |list: &[(&str, Option<&str>)]| DeviceInfoAnswer {
            capabilities: list.iter().map(|(name, value)| ((*name).into(), value.map(Into::into))).collect(),
        };
        for (list, name, expected) in [
            (&[("Contactless", None), ("Extended APDU", None)][..], None, true),
            (&[("extended-apdu", Some("1"))], None, true),
            (&[("Extended APDU", Some("0"))], None, false),
            (&[("Extended APDU", Some("False"))], None, false),
            (&[("Contactless", Some("1"))], None, false),
            (&[("LongCommands", None)], Some("longcommands"), true),
            (&[("Extended APDU", None)], Some("LongCommands"), false),
            (&[], None, false),
        ] {
            let info = info(list);
            assert_eq!(info.extended_apdu(name), expected, "{info:?} {name:?}");
            let (body, _) =
                super::super::element::split(&info.encode().unwrap()).map(|(b, s)| (b.to_vec(), s)).unwrap();
            assert_eq!(DeviceInfoAnswer::parse(&body), Ok(info));
        }
    }
}
