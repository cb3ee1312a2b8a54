//! The program as its users see it.
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

#[macro_use]
#[path = "../../../../tests/skip.rs"]
mod skip;

#[cfg(test)]
#[path = "../../../../tests/isolated.rs"]
mod isolated;

#[path = "../../../../tests/wait.rs"]
mod wait;

mod agent;
mod app;
mod calibrated;
mod captures;
mod commands;
mod compare;
mod conversations;
#[path = "../../../../tests/dice.rs"]
mod dice;
mod disagreements;
mod doctor;
mod elements;
mod empty_environment;
mod ending;
mod explain;
mod far_wait;
mod faults;
mod file;
mod file_night;
mod file_target;
mod first_part;
mod history;
mod html;
mod link;
mod manual;
mod math;
mod media;
mod model;
mod parsers;
mod pingpong;
mod placed;
mod planted;
#[cfg(test)]
#[path = "../planted/mod.rs"]
mod planted_causes;
mod program;
#[path = "../../../../fuzz/properties.rs"]
mod properties;
mod pvm;
mod quick;
mod quota;
mod rank;
mod readme;
mod redact;
mod refusals;
mod run;
mod rx;
mod score;
mod standstill;
mod tcpdump;
mod third_party;
mod traffic;
mod traffic_fatal;
mod traffic_methods;
mod traffic_receipts;
mod traffic_ring;
mod trust;
mod verbs;
