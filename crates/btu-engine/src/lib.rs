//! Transports, measuring loops, host activities, file protocols and probes.
#![forbid(unsafe_code)]

pub mod disclosure;
pub mod files;
pub mod probe;
