//! The reasons why settings or keys from the fleet are not taken.

use pos_fleet_terms::{DOCUMENT_VERSION, Envelope, Fault, Id};
use ring::digest::{SHA256, digest};

use crate::config::Fleet;
use crate::fleet::CommandSigner;

/// Why a document is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetRefusal {
    /// It is no envelope of this kind.
    Malformed(String),
    /// No known key signed it. The terminal does not answer it.
    NotSigned,
    /// A known key signed it, but it cannot be taken. The report says so.
    Refused(Fault),
}

pub(super) fn refused(code: &str, text: impl Into<String>) -> FleetRefusal {
    FleetRefusal::Refused(fault(code, text))
}

pub(super) fn fault(code: &str, text: impl Into<String>) -> Fault {
    Fault { code: code.to_owned(), text: text.into() }
}

/// Checks that a document has the known form, and is for this terminal.
pub(super) fn for_this_terminal(fleet: &Fleet, v: u32, org: &Id, terminal: &Id) -> Result<(), FleetRefusal> {
    if v != DOCUMENT_VERSION {
        return Err(refused("unsupported", format!("the form {v} is not known to this version")));
    }
    if org.as_str() != fleet.org || terminal.as_str() != fleet.terminal {
        let text = format!("it is for {terminal} of {org}, and this is {} of {}", fleet.terminal, fleet.org);
        return Err(refused("wrong-terminal", text));
    }
    Ok(())
}

/// Returns the names of keys for a sentence and for the journal.
pub(super) fn names(signers: &[&CommandSigner]) -> Vec<String> {
    signers.iter().map(|signer| signer.name.clone()).collect()
}

/// Returns the SHA-256 of a document, in hexadecimal.
pub(super) fn sha256(envelope: &Envelope) -> String {
    hex::encode(digest(&SHA256, &envelope.document))
}
