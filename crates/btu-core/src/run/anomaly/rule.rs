//! The rules, and the list of them.

mod activity_outlier;
mod asymmetry;
mod base_disturbed;
pub(super) mod blackbox_limited;
mod clock_difference;
mod clock_step;
pub(super) mod cpu_quota;
mod device_errors;
mod dip;
pub(super) mod faster_loaded;
mod few_units;
pub(super) mod foreign_cpu;
mod heat;
mod moved_thread;
mod noisy;
mod outlier;
mod pattern;
mod retransmissions;
mod spread;
mod stall;
pub(super) mod steal;
mod swapping;
mod two_groups;

use super::Rule;

/// Every rule: first those that make a cell abnormal, then those that only remark on a run.
pub static RULES: &[Rule] = &[
    dip::RULE,
    two_groups::RULE,
    spread::RULE,
    stall::RULE,
    retransmissions::RULE,
    asymmetry::RULE,
    activity_outlier::RULE,
    base_disturbed::RULE,
    blackbox_limited::RULE,
    clock_difference::RULE,
    clock_step::RULE,
    cpu_quota::RULE,
    device_errors::RULE,
    faster_loaded::RULE,
    few_units::RULE,
    foreign_cpu::RULE,
    heat::RULE,
    moved_thread::RULE,
    noisy::RULE,
    outlier::RULE,
    pattern::RULE,
    steal::RULE,
    swapping::RULE,
];
