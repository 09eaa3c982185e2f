//! The fuzzer's program for `printer_status.rs` in `fuzz/src`, which describes the conditions.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pos_agent_fuzz::printer_status::holds(bytes));
