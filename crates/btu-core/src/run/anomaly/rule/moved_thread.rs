//! A data thread that did not stay on the CPU that it was held on.

use crate::run::analysis::CountedRun;
use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;

pub(super) const RULE: Rule = Rule {
    name: "moved-thread",
    about: "a data thread that was pinned was seen on more than one CPU",
    weight: Weight::Remark,
    find: |evidence| evidence.each_run(judge),
};

fn judge(run: &CountedRun<'_>) -> Option<String> {
    let connections = run.sample.comm.iter().flat_map(|comm| &comm.connections);
    let mut ends = connections.flat_map(|one| [&one.sender, &one.receiver]);
    let moved = ends.find(|end| end.hold.is_pinned() && end.cpus.len() > 1)?;
    let cpus: Vec<String> = moved.cpus.iter().map(u32::to_string).collect();
    Some(format!("the data thread of {} was seen on CPUs {}", moved.role, cpus.join(", ")))
}
