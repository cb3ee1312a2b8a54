//! Fuzzes what `properties::chart` says.
#![no_main]

#[path = "../properties.rs"]
#[allow(dead_code, reason = "a target needs one of them")]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::chart(bytes));
