//! Conditions that must hold for any bytes, for each parser of bytes from outside.
//!
//! Each file has a function `holds`. The fuzzer calls it with its inputs (`src/bin/`, one line per target).
//! `cargo test` calls it with the seeds in `seeds/NAME/` (`tests/fuzz`; for `fleet`, `crates/fleet/tests/fuzz`).
//! Each finding becomes a seed.

pub mod caisse_ap;
pub mod config_toml;
pub mod escpos;
pub mod first_boot;
// The agent's tests include this file too, and the agent does not depend on the fleet's server.
#[cfg(not(test))]
pub mod fleet;
pub mod gateway_answer;
pub mod icc_data_response;
pub mod journal_pages;
pub mod masking;
pub mod miura_link;
pub mod neo2_link;
pub mod nexo;
pub mod overlay;
pub mod parameters;
pub mod pbm;
pub mod printer_status;
pub mod reader_script;
pub mod reconcile_csv;
mod recording;
pub mod signed_command;
pub mod till_requests;
pub mod timetable;
pub mod tlv;
pub mod vipa_link;
pub mod zvt;

/// A target: its name, and the function that checks the conditions.
pub type Target = (&'static str, fn(&[u8]));

/// Every target but those of the fleet.
pub const TARGETS: &[Target] = &[
    ("caisse_ap", caisse_ap::holds),
    ("config_toml", config_toml::holds),
    ("escpos", escpos::holds),
    ("first_boot", first_boot::holds),
    ("gateway_answer", gateway_answer::holds),
    ("icc_data_response", icc_data_response::holds),
    ("journal_pages", journal_pages::holds),
    ("masking", masking::holds),
    ("miura_link", miura_link::holds),
    ("neo2_link", neo2_link::holds),
    ("nexo", nexo::holds),
    ("overlay", overlay::holds),
    ("parameters", parameters::holds),
    ("pbm", pbm::holds),
    ("printer_status", printer_status::holds),
    ("reader_script", reader_script::holds),
    ("reconcile_csv", reconcile_csv::holds),
    ("signed_command", signed_command::holds),
    ("till_requests", till_requests::holds),
    ("timetable", timetable::holds),
    ("tlv", tlv::holds),
    ("vipa_link", vipa_link::holds),
    ("zvt", zvt::holds),
];
