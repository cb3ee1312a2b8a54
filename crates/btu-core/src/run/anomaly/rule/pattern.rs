//! A run so short that the drop pattern never hit its data.

use crate::run::analysis::CountedRun;
use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::run::cell::Direction;
use crate::run::cell::Flow;
use crate::run::cell::Impairment;
use crate::sample::DirectionSample;

pub(super) const RULE: Rule = Rule {
    name: "pattern-not-exercised",
    about: "a case with drops in which the pattern hits no packet of a data direction",
    weight: Weight::Remark,
    find: |evidence| evidence.each_run(judge),
};

fn judge(run: &CountedRun<'_>) -> Option<String> {
    let case = run.scored.cell.case;
    if case.impairment() != Impairment::Drop {
        return None;
    }
    let mut directions = run.sample.emulation.iter();
    let carries = |each: &DirectionSample| case.flows().iter().any(|flow| is_of(*flow, each));
    let missed = directions.find(|each| carries(each) && each.pattern_drops == Some(0))?;
    let (link, packets) = (&missed.link, missed.packets);
    Some(format!("the drop pattern hits none of the {packets} packets of {link}"))
}

/// True for the direction in which the data of `flow` goes.
fn is_of(flow: Flow, each: &DirectionSample) -> bool {
    let direction = match flow.direction {
        Direction::Receive => "down",
        Direction::Send => "up",
    };
    each.direction == direction && each.link == format!("test-{}", flow.peer)
}
