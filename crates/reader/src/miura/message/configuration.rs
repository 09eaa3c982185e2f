//! The reader's configuration files and their versions: the answer to GET CONFIGURATION (readers: 2.2). The files
//! contain AIDs, limits and CA keys. The answer does not include the keys for cards and PINs (`keys`).

use super::element::{MessageBody, MessageError, each, tags, wrapped};
use crate::ConfigFile;
use crate::apdu::text;
use pos_terms::emv::{TlvError, tlv};

/// Maximum number of files in one answer.
const MAX_FILES: usize = 64;

/// The answer to GET CONFIGURATION.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigurationAnswer {
    /// Names (DF0D) and versions (DF7F).
    pub files: Vec<ConfigFile>,
}

impl ConfigurationAnswer {
    /// Reads the body. The templates around the names are not confirmed, so the code ignores them and reads their
    /// content.
    ///
    /// # Errors
    /// Fails if the body is not BER-TLV.
    pub fn parse(body: &[u8]) -> Result<Self, MessageError> {
        let mut files: Vec<ConfigFile> = Vec::new();
        each(body, &mut |object| match object.tag {
            tags::NAME if files.len() < MAX_FILES => {
                files.push(ConfigFile { name: text(object.value), version: String::new() });
            }
            tags::VERSION => {
                if let Some(file) = files.last_mut().filter(|file| file.version.is_empty()) {
                    file.version = text(object.value);
                }
            }
            _ => {}
        })?;
        Ok(Self { files })
    }

    /// Writes the answer.
    ///
    /// # Errors
    /// Returns [`TlvError::Full`] if it is too long.
    pub fn encode(&self) -> Result<MessageBody, TlvError> {
        let mut body = MessageBody::new();
        for ConfigFile { name, version } in &self.files {
            let mut inner = MessageBody::new();
            tlv::push(&mut inner, tags::NAME, name.as_bytes())?;
            tlv::push(&mut inner, tags::VERSION, version.as_bytes())?;
            tlv::push(&mut body, tags::CONFIGURATION, &inner)?;
        }
        wrapped(tags::ANSWER_DATA, &body)
    }
}

#[cfg(test)]
mod tests {
    use super::super::element::split;
    use super::*;

    #[test]
    fn files_are_read_in_any_template_and_a_hostile_list_has_an_end() {
        let file = |name: &str, version: &str| ConfigFile { name: name.to_owned(), version: version.to_owned() };
        let configuration = ConfigurationAnswer { files: vec![file("ARQCDOL.CFG", "3"), file("emv.cfg", "1-2")] };
        let body = configuration.encode().unwrap();
        assert_eq!(ConfigurationAnswer::parse(split(&body).unwrap().0), Ok(configuration));
        // A body without an outer template or without a version, or with bytes that are not letters.
        let bare = hex::decode("ED0ADF0D0141DF7F03311B32ED04DF0D0142").unwrap();
        assert_eq!(ConfigurationAnswer::parse(&bare).unwrap().files, [file("A", "12"), file("B", "")]);
        assert_eq!(ConfigurationAnswer::parse(&[]), Ok(ConfigurationAnswer::default()));
        let many = "ED04DF0D0141".repeat(1000);
        assert_eq!(ConfigurationAnswer::parse(&hex::decode(many).unwrap()).unwrap().files.len(), MAX_FILES);
    }
}
