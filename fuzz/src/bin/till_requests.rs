//! The fuzzer's program for `till_requests.rs` in `fuzz/src`, which describes the conditions.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pos_agent_fuzz::till_requests::holds(bytes));
