//! The families of readers in a test. A seed or a number chooses the family, so that the cases of a test are spread
//! over all families. `POS_READER_FAMILY=miura|vipa|neo2` selects one family for all cases.

use std::sync::OnceLock;

use pos_reader::capability::Capability;
use pos_reader::config::ReaderProtocol;
use pos_sim::reader::Family;

/// Returns the family of the case with this number. Consecutive numbers have different families.
pub fn of_number(number: u64) -> Family {
    only().unwrap_or_else(|| Family::in_turn(number))
}

/// Returns the families of a test that runs with each family.
pub fn played() -> Vec<Family> {
    only().map_or_else(|| Family::ALL.to_vec(), |one| vec![one])
}

/// Returns the only family to test, if `POS_READER_FAMILY` names one.
pub fn only() -> Option<Family> {
    static ONLY: OnceLock<Option<Family>> = OnceLock::new();
    *ONLY.get_or_init(|| {
        let name = std::env::var("POS_READER_FAMILY").ok()?;
        let known = Family::ALL.into_iter().find(|family| family.as_str() == name);
        Some(known.unwrap_or_else(|| panic!("POS_READER_FAMILY is miura, vipa or neo2")))
    })
}

/// Returns whether the readers of a family have a capability, as their driver says.
pub fn can(family: Family, capability: Capability) -> bool {
    let protocol = ReaderProtocol::ALL.into_iter().find(|(_, name)| *name == family.protocol_name());
    protocol.is_some_and(|(protocol, _)| protocol.capabilities().contains(&capability))
}
