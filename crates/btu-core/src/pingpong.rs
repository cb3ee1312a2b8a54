//! Ping-pong: the time of a block there and back, over block size, for any transport (NetPIPE).
//!
//! [`sizes`] says which blocks, [`schedule`] in which order and how often, [`sample`] what is kept of
//! a visit. [`point`] makes a time with its interval of all visits of a size, [`curve`] figures and
//! comparisons of all points, [`chasm`] finds and explains sizes that are too slow, [`waits`] parts
//! waiting from protocol, and [`import`] reads the curves of other tools. [`nature`] is what a
//! transport says of itself, [`plan`] what is asked for, [`journal`] what was kept, [`analysis`] what that says. Nothing here measures: the
//! engine does, or [`simulated`] in virtual time.
//!
//! Source: Snell, Mikler and Gustafson, "NetPIPE: a network protocol independent performance
//! evaluator", IASTED Conference on Intelligent Information Management and Systems, 1996
//! ("snell1996" below).

pub mod analysis;
pub mod chasm;
pub mod configuration;
pub mod curve;
pub mod import;
pub mod journal;
pub mod nature;
pub mod plan;
pub mod point;
pub mod sample;
pub mod schedule;
pub mod simulated;
pub mod sizes;
pub mod statistic;
pub mod waits;
