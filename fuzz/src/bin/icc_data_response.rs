//! The fuzzer's program for `icc_data_response.rs` in `fuzz/src`, which describes the conditions.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pos_agent_fuzz::icc_data_response::holds(bytes));
