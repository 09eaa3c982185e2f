//! `icc_data_response.rs` says what is tried.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pos_agent_fuzz::icc_data_response::holds(bytes));
