//! Points that were stopped before their rounds were made, and those that were never visited, by reason.

use std::collections::BTreeMap;

use btu_core::pingpong::analysis::Measured;
use btu_core::pingpong::plan::Plan;
use btu_core::pingpong::schedule::Stop;
use btu_core::units::Bytes;
use btu_core::words::several;

/// A sentence for each reason.
pub(super) fn told(curve: &Measured, plan: &Plan) -> Vec<String> {
    let mut left_out = BTreeMap::<Stop, Vec<Bytes>>::new();
    for (size, stop) in curve.left_out() {
        left_out.entry(stop).or_default().push(size);
    }
    let mut fewer = BTreeMap::<Stop, Vec<Bytes>>::new();
    for point in &curve.points {
        if let Some(stop) = curve.stops.get(&point.size) {
            fewer.entry(*stop).or_default().push(point.size);
        }
    }
    let line = |what: String, (stop, sizes): (Stop, Vec<Bytes>)| {
        let (count, range) = (several(sizes.len(), "size"), range(&sizes));
        format!("{}: {count} {what}: {} ({range}).", curve.label, why(stop, plan))
    };
    let never = left_out.into_iter().map(|one| line("not measured".to_owned(), one));
    let asked = several(curve.asked_rounds, "round");
    let short = fewer.into_iter().map(|one| line(format!("with fewer than {asked}"), one));
    never.chain(short).collect()
}

/// A reason in words, with the number that it depends on.
fn why(stop: Stop, plan: &Plan) -> String {
    match stop {
        Stop::BlockTime => format!("a block takes more than {}", plan.block_time_ns),
        Stop::PointTime => {
            format!(
                "the time of a point was over; --point-time above {} has more",
                plan.point_time_ns
            )
        }
        Stop::Budget => {
            format!(
                "the time of all points was over; --point-time above {} has more",
                plan.point_time_ns
            )
        }
        Stop::Exchanges | Stop::Failures | Stop::Slow => stop.to_string(),
    }
}

/// The smallest and the largest.
fn range(sizes: &[Bytes]) -> String {
    let [first, last] =
        [sizes.iter().min(), sizes.iter().max()].map(|size| size.map_or(0, |size| size.count()));
    if first == last { format!("{first} bytes") } else { format!("{first} to {last} bytes") }
}
