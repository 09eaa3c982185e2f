//! The fuzzer's program for `neo2_link.rs` in `fuzz/src`, which describes the conditions.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pos_agent_fuzz::neo2_link::holds(bytes));
