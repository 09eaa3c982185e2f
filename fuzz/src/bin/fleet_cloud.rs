//! The fuzzer's program for `fleet/fleet_cloud.rs` in `fuzz/src`, which describes the conditions.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pos_agent_fuzz::fleet::fleet_cloud::holds(bytes));
