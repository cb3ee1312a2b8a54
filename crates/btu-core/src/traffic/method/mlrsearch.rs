//! Multiple loss ratio search: the highest loads that meet several goals of loss, by trials that may contradict each other.

use super::Method;
use super::frames::Frame;
use super::nothing_chosen;
use crate::traffic::course::SoFar;
use crate::traffic::figures::search::Goal;
use crate::traffic::figures::search::MultipleLossRatioSearch;
use crate::traffic::figures::search::Trial;
use crate::traffic::plan::Cell;
use crate::traffic::plan::Course;
use crate::traffic::plan::Group;
use crate::traffic::sample::RunSample;
use crate::traffic::trace::float;
use crate::units::BitRate;
use crate::units::Nanos;

/// Goals, trials of 1 s and 21 s of them are those of FD.io CSIT, which the authors of the draft make and which names its
/// goals NDR (nothing is lost) and PDR (half a percent).
pub(in crate::traffic) static METHOD: Method = Method {
    name: "mlrsearch",
    about: "for each frame size the highest loads without loss (NDR) and with up to 0.5 % of it (PDR), each by the \
            majority of its trials",
    source: "draft-ietf-bmwg-mlrsearch; trials and goals of FD.io CSIT",
    differs: &[
        "one direction",
        "every trial is as long as the last ones, and loads are halved by ratio: the draft leaves both to whoever measures",
        "what the sender did not manage to send counts as lost",
    ],
    trial: "trials",
    time: Nanos::from_secs(1),
    short_time: Nanos::from_millis(200),
    frames: &[64, 128, 256, 512, 1024, 1280, 1518],
    repeats: 21,
    // Half a percent of loss is half a percent of load: wider bounds would not tell the goals apart.
    width: 0.005,
    chosen: nothing_chosen,
    next,
};

/// Shares of loss that goals allow.
pub(in crate::traffic) const LOSSES: [f64; 2] = [0.0, 0.005];

/// The search of a course with these trials of one frame size: the load of each, and what became of it.
pub(in crate::traffic) fn search<'a>(
    course: &Course,
    range: (BitRate, BitRate),
    trials: impl Iterator<Item = (f64, &'a RunSample)>,
) -> MultipleLossRatioSearch {
    let time = TRIAL.saturating_mul(course.repeats.into());
    let goal = |loss| Goal { loss, exceed: MAJORITY, time, width: course.width };
    let most = usize::try_from(course.repeats).unwrap_or(usize::MAX).saturating_mul(MOST_LOADS);
    let mut search = MultipleLossRatioSearch::new(LOSSES.map(goal).to_vec(), range, TRIAL, most);
    for (x, run) in trials {
        search.record(Trial { load: super::frames::load(x), time: TRIAL, loss: super::lost(run) });
    }
    search
}

fn next(seen: &SoFar<'_>) -> Option<Cell> {
    seen.course.frames.iter().find_map(|size| of_size(seen, Frame(*size)))
}

/// Loads a tenth above and below what came of frames as fast as they go, as often as decides, and then what the search
/// wants: the trials of one load make a cell.
fn of_size(seen: &SoFar<'_>, frame: Frame) -> Option<Cell> {
    let time = seen.course.time_ns;
    let Some(ceiling) = seen.ceiling(frame) else {
        return seen.until(frame.ceiling(time), super::frames::CEILING_TRIES);
    };
    let at = |load: BitRate| frame.at(Group::Throughput, float(load.bit_per_second()), time);
    let guess = |share: f64| at(super::frames::load(ceiling * share));
    let decides = seen.course.repeats / 2 + 1;
    seen.until(guess(1.1), decides).or_else(|| seen.until(guess(0.9), decides)).or_else(|| {
        let trials = seen.sized(Group::Throughput, frame).map(|made| (made.cell.x, made.run));
        let mut search = search(seen.course, super::frames::range(ceiling), trials);
        search.raise_end();
        search.next_trial().map(|(load, _)| at(load))
    })
}

/// Trials of a search are all equally long.
const TRIAL: Nanos = Nanos::from_secs(1);
/// A load is as most of its trials are.
const MAJORITY: f64 = 0.5;
/// Loads of one frame size, where each took all of its trials: a dozen for each goal, and some to spare.
const MOST_LOADS: usize = 40;
