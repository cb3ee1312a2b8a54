//! What is abnormal in the samples: one rule per file, each a pure function with one sentence.
//!
//! To add a rule, write `rule/NAME.rs` with a `RULE` and name it in [`RULES`]. A rule sees the runs
//! that count and says of which run or cell it found something, with the figure and its limit in the
//! sentence. It marks; nothing is ever dropped for it.

mod evidence;
mod rule;
#[cfg(test)]
mod tests;

use crate::run::analysis::CountedRun;
use crate::sample::Flag;
use crate::sample::HostSample;

pub use evidence::CellRuns;
pub use evidence::Evidence;
pub use rule::RULES;
pub use rule::faster_loaded::FASTER_LOADED;

pub(crate) use rule::cpu_quota::MOST as THROTTLED_PERCENT;
pub(crate) use rule::foreign_cpu::MOST as FOREIGN_CPU_PERCENT;
pub(crate) use rule::steal::MOST as STOLEN_PERCENT;

/// One rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The name of its flag: kebab case, stable.
    pub name: &'static str,
    /// What it looks for, with its limits, in one line.
    pub about: &'static str,
    /// What a hit means for the cell.
    pub weight: Weight,
    /// Every hit.
    find: fn(&Evidence<'_>) -> Vec<Finding>,
}

/// What a hit means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The cell behaves strangely: it deserves a chart and a diagnosis.
    Abnormal,
    /// Something a reader should know when judging the figure.
    Remark,
}

/// A hit: of what, and the sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The run or the cell.
    pub subject: Subject,
    /// What was seen, with its figure and its limit.
    pub detail: String,
}

/// What a finding is about, by its place in the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A cell over all its passes: place in [`Evidence::cells`].
    Cell(usize),
    /// One run: place in [`Evidence::runs`].
    Run(usize),
}

/// The findings of all rules, as flags, in the order of [`RULES`].
pub fn flags(evidence: &Evidence<'_>) -> Vec<(Subject, Flag)> {
    let of = |rule: &Rule| {
        let name = rule.name;
        let flag = move |found: Finding| (found.subject, Flag::new(name, found.detail));
        (rule.find)(evidence).into_iter().map(flag)
    };
    RULES.iter().flat_map(of).collect()
}

/// What else used the test host while it was measured, with the figure and its limit: a repeat may cure that.
pub fn disturbance(host: &HostSample) -> Option<String> {
    rule::foreign_cpu::judge(host).or_else(|| rule::steal::judge(host))
}

/// Why a black box was the limit of a run, its data threads aside: what those cost depends on the
/// other end, and a diagnosis weighs that.
pub fn limits_of_black_boxes(run: &CountedRun<'_>) -> Vec<String> {
    rule::blackbox_limited::beside_threads(run)
}

/// True for the flag of a run that something else disturbed, as [`disturbance`] tells it.
pub fn is_disturbance(flag: &Flag) -> bool {
    [rule::foreign_cpu::RULE.name, rule::steal::RULE.name].contains(&flag.name.as_str())
}

/// True for the flag of a rule that makes a cell abnormal.
pub fn is_abnormal(flag: &Flag) -> bool {
    RULES.iter().any(|rule| rule.name == flag.name && rule.weight == Weight::Abnormal)
}
