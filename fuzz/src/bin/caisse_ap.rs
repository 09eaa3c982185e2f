//! The fuzzer's program for `caisse_ap.rs` in `fuzz/src`, which describes the conditions.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pos_agent_fuzz::caisse_ap::holds(bytes));
