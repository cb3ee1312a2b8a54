//! The domain of BTU, without any I/O, clock, thread or unsafe code.
//!
//! Five folders are measurements, each from plan to figures: [`run`], the benchmark of the score, [`pingpong`],
//! [`traffic`], [`file`](mod@file), a file service, and [`app`], parallel applications. Beside them stand what they share ([`units`], [`stats`], [`link`], [`sample`], [`journal`],
//! [`disclosure`]), what is read out of packets ([`capture`], [`tcp`], [`diagnosis`]), and what is done with results
//! ([`comparison`], [`ranking`], [`manifest`], [`redaction`]). Time, chance and I/O are arguments.
#![forbid(unsafe_code)]

pub mod app;
pub mod capture;
pub mod comparison;
pub mod diagnosis;
pub mod disclosure;
pub mod file;
pub mod journal;
pub mod json;
pub mod link;
pub mod manifest;
pub mod mesh;
pub mod pingpong;
pub mod placement;
pub mod ranking;
pub mod redaction;
pub mod role;
pub mod run;
pub mod sample;
pub mod stats;
pub mod tcp;
pub mod traffic;
pub mod units;
pub mod verb;
pub mod words;
