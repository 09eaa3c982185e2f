//! `nexo.rs` says what is tried.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pos_agent_fuzz::nexo::holds(bytes));
