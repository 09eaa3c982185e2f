//! The fuzzer's program for `first_boot.rs` in `fuzz/src`, which describes the conditions.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pos_agent_fuzz::first_boot::holds(bytes));
