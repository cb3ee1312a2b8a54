//! The benchmark of the score: a plan, its cells in random order, what became of them, and what that says.
//!
//! A [`plan::Plan`] expands to [`cell::Cell`]s, a [`schedule`] orders them as runs, a [`verdict`] says which runs
//! count, [`analysis`] folds what counts, [`score`] makes one figure of it and [`anomaly`] says what is strange.

pub mod analysis;
pub mod anomaly;
pub mod calls;
pub mod cell;
pub mod plan;
pub mod schedule;
pub mod score;
pub mod verdict;
