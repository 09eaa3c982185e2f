//! The fuzzer's program for `vipa_link.rs` in `fuzz/src`, which describes the conditions.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pos_agent_fuzz::vipa_link::holds(bytes));
