//! Visits that broke off: which point, why, and whether the point has a time all the same.

use crate::pingpong::point::PointSummary;
use crate::pingpong::sample::Ended;
use crate::pingpong::sample::Fault as Kind;
use crate::pingpong::sample::VisitSample;
use crate::units::Bytes;

/// The faults of one point that have one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The block.
    pub size: Bytes,
    /// What went wrong.
    pub kind: Kind,
    /// Operation, operand and cause, of the first visit.
    pub detail: String,
    /// Visits that ended so.
    pub visits: usize,
    /// True where the point has no time at all, or its contents were found wrong.
    pub is_lasting: bool,
}

/// The faults of a configuration, by size.
pub(super) fn faults(samples: &[VisitSample], points: &[PointSummary]) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    for sample in samples {
        let Ended::Failed { fault, detail } = &sample.ended else { continue };
        let same = |known: &&mut Fault| (known.size, known.kind) == (sample.size_bytes, *fault);
        match faults.iter_mut().find(same) {
            Some(known) => known.visits += 1,
            None => faults.push(Fault {
                size: sample.size_bytes,
                kind: *fault,
                detail: detail.clone(),
                visits: 1,
                is_lasting: is_wrong(*fault, sample)
                    || points.iter().all(|point| point.size != sample.size_bytes),
            }),
        }
    }
    faults.sort_by_key(|fault| fault.size);
    faults
}

/// True for contents that were not what was sent: no later visit makes that good. Where time is taken, blocks
/// that come again are known by their number and dropped: the visit is spoilt, and no content.
fn is_wrong(fault: Kind, sample: &VisitSample) -> bool {
    match fault {
        Kind::Corrupted | Kind::Short => true,
        Kind::Duplicated | Kind::Late => sample.times.is_empty(),
        Kind::PeerGone | Kind::Stalled | Kind::System => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pingpong::sample::Times;
    use crate::pingpong::schedule::Visit;
    use crate::units::Nanos;

    #[test]
    fn an_old_block_spoils_a_timed_visit_and_the_contents_of_a_checked_one() {
        let visit = Visit::single(Bytes::new(8), 1, Nanos::from_secs(1));
        let ended = Ended::Failed { fault: Kind::Duplicated, detail: String::new() };
        let checked = VisitSample::of(&visit, Nanos::from_secs(1), ended);
        let timed = VisitSample { times: Times::fold(&[9_000], 1, 64), ..checked.clone() };
        for fault in [Kind::Duplicated, Kind::Late] {
            assert!(is_wrong(fault, &checked) && !is_wrong(fault, &timed));
        }
        assert!(is_wrong(Kind::Corrupted, &timed) && is_wrong(Kind::Short, &timed));
    }
}
