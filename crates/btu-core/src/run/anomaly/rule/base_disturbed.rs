//! An activity whose run alone, the base of a slowdown, was disturbed or is invalid.

use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;

pub(super) const RULE: Rule = Rule {
    name: "base-disturbed",
    about: "the activity alone, the base of the run's slowdown, was invalid, or disturbed as foreign-cpu \
            or steal say it of a run",
    weight: Weight::Remark,
    find: |evidence| evidence.each_run(|run| run.base_doubt.clone()),
};
