//! The fuzzer's program for `signed_command.rs` in `fuzz/src`, which describes the conditions.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pos_agent_fuzz::signed_command::holds(bytes));
