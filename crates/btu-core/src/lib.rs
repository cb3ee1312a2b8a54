//! The domain of BTU, without any I/O, clock, thread or unsafe code.
//!
//! A [`plan::Plan`] expands to [`cell::Cell`]s, a [`schedule`] orders them as runs, runs become
//! [`sample`]s in a [`journal`], and samples become scores. Time, chance and I/O are arguments.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod anomaly;
pub mod calls;
pub mod capture;
pub mod cell;
pub mod comparison;
pub mod diagnosis;
pub mod disclosure;
pub mod journal;
pub mod json;
pub mod link;
pub mod manifest;
pub mod pingpong;
pub mod placement;
pub mod plan;
pub mod ranking;
pub mod redaction;
pub mod sample;
pub mod schedule;
pub mod score;
pub mod stats;
pub mod tcp;
pub mod traffic;
pub mod units;
pub mod verb;
pub mod verdict;
pub mod words;
