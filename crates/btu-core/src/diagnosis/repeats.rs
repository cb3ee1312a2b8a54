//! The passes of a cell beside each other: what the fast ones have that the slow ones have not.
//!
//! A second run is one more pass; why passes differ is seen only where all of them stand side by side.

use serde::Serialize;

use super::Figure;
use super::seen::Seen;
use crate::sample::CellSample;
use crate::sample::TcpInfo;
use crate::stats::arithmetic_mean;
use crate::stats::correlation;
use crate::stats::count;
use crate::stats::geometric_mean;
use crate::stats::median;
use crate::tcp::float;
use crate::units::BitRate;
use crate::units::Nanos;
use crate::units::Ratio;

/// One scored run of a cell, its connections together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Repeat {
    /// What it carried.
    pub goodput: BitRate,
    /// Of the time with data outstanding, how long the receiver's window kept the sender back.
    pub window_limited: Option<Ratio>,
    /// Segments of data that the senders sent.
    pub segments: Option<u64>,
    /// Segments that came back to them.
    pub answers: Option<u64>,
    /// What other programs and the hypervisor took from the test host, of one CPU.
    pub taken: Option<Ratio>,
    /// Of a cache line, from one CPU of the test host to another and back.
    pub distance: Option<Nanos>,
}

impl Repeat {
    /// Of a run; `None` where nothing arrived.
    pub fn of(run: &CellSample) -> Option<Self> {
        let comm = run.comm.as_ref()?;
        let sum = |of: fn(&TcpInfo) -> Option<u64>| -> Option<u64> {
            comm.connections.iter().map(|one| of(one.sender.tcp_info.as_ref()?)).sum()
        };
        let (host, micros) = (&run.host, |count: Option<u64>| count.map(Nanos::from_micros));
        let limited = micros(sum(|info| info.rwnd_limited_us));
        let taken = host.foreign_cpu_ns.map(|foreign| foreign + host.steal_ns.unwrap_or_default());
        Some(Self {
            goodput: comm.bytes.per(comm.elapsed_ns).filter(|rate| rate.bit_per_second() > 0)?,
            window_limited: share(limited, micros(sum(|info| info.busy_us))),
            segments: sum(|info| info.data_segs_out),
            answers: sum(|info| info.segs_in),
            taken: share(taken, Some(host.elapsed_ns)),
            distance: host.cpu_distance_ns,
        })
    }

    /// The share of the time in which the receiver's window kept the sender back.
    pub(super) fn held(&self) -> Option<f64> {
        self.window_limited.map(Ratio::share)
    }

    /// Segments for each that came back: how much the stack takes at once.
    pub(super) fn joined(&self) -> Option<f64> {
        let answers = self.answers.filter(|answers| *answers > 0)?;
        Some(float(self.segments?) / float(answers))
    }

    /// The share of a CPU that others took.
    pub(super) fn taken(&self) -> Option<f64> {
        self.taken.map(Ratio::share)
    }

    /// How far apart the CPUs were.
    pub(super) fn distance_ns(&self) -> Option<f64> {
        self.distance.map(|distance| float(distance.count()))
    }
}

fn share(part: Option<Nanos>, whole: Option<Nanos>) -> Option<Ratio> {
    let (part, whole) = part.zip(whole)?;
    (whole > Nanos::ZERO).then(|| Ratio::new(part.seconds() / whole.seconds()))
}

/// The slow and the fast passes of a cell, parted where the goodputs leave the widest gap between groups: one pass that
/// stands alone is an `outlier`, and its figures say as little as one throw of dice.
#[derive(Debug)]
pub(super) struct Parted {
    pub(super) slow: Vec<Repeat>,
    pub(super) fast: Vec<Repeat>,
}

impl Parted {
    /// Those of a cell that somebody calls abnormal; the means of `figure` in the slow and in the fast ones; and how well it
    /// tells what a pass carried, from -1 to 1.
    pub(super) fn by(
        seen: &Seen<'_>,
        figure: fn(&Repeat) -> Option<f64>,
    ) -> Option<(Self, [f64; 2], f64)> {
        let evidence = seen.evidence;
        let parted = Self::of(&evidence.repeats).filter(|_| !evidence.abnormal.is_empty())?;
        let (means, correlation) = (parted.means(figure)?, parted.tells(figure)?);
        Some((parted, means, correlation))
    }

    /// `None` for fewer repeats than rules want, and where they are too alike to have a reason.
    fn of(repeats: &[Repeat]) -> Option<Self> {
        let mut slow = repeats.to_vec();
        slow.sort_by_key(|repeat| repeat.goodput);
        let gap = |at: &usize| slow[*at].goodput.mbps() / slow[*at - 1].goodput.mbps();
        let places = LEAST_GROUP..=slow.len().saturating_sub(LEAST_GROUP);
        let at = places.max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
        let fast = slow.split_off(at);
        let found = Self { slow, fast };
        let least = found.ratio().min(found.ratio_without_the_farthest()?);
        (repeats.len() >= FEWEST && least >= LEAST_RATIO).then_some(found)
    }

    /// How many times as much the fast ones carry, but for the pass that is farthest from the one in the middle.
    fn ratio_without_the_farthest(&self) -> Option<f64> {
        let mut passes = [&self.slow[..], &self.fast[..]].concat();
        let middle = median(&goodputs(&passes))?;
        let far = |pass: &Repeat| (pass.goodput.mbps() / middle).ln().abs();
        let places = 0..passes.len();
        let farthest = places.max_by(|a, b| far(&passes[*a]).total_cmp(&far(&passes[*b])))?;
        passes.remove(farthest);
        let fast = passes.split_off(self.slow.len() - usize::from(farthest < self.slow.len()));
        Some(Self { slow: passes, fast }.ratio())
    }

    /// How many times as much the fast ones carry.
    pub(super) fn ratio(&self) -> f64 {
        let mean = |group: &[Repeat]| geometric_mean(&goodputs(group)).unwrap_or(1.0);
        mean(&self.fast) / mean(&self.slow)
    }

    /// What the slow ones lack of the fast ones, over all passes.
    pub(super) fn lost(&self) -> f64 {
        let sum = |group: &[Repeat]| goodputs(group).iter().sum::<f64>();
        let all = count(self.slow.len() + self.fast.len());
        let mean = (sum(&self.slow) + sum(&self.fast)) / all;
        1.0 - mean * count(self.fast.len()) / sum(&self.fast)
    }

    /// The means of `figure` in the slow and in the fast ones; `None` where a pass lacks it.
    pub(super) fn means(&self, figure: fn(&Repeat) -> Option<f64>) -> Option<[f64; 2]> {
        let of = |group: &[Repeat]| arithmetic_mean(&all(group, figure)?);
        Some([of(&self.slow)?, of(&self.fast)?])
    }

    /// The correlation of `figure` with the logarithm of the goodput.
    fn tells(&self, figure: fn(&Repeat) -> Option<f64>) -> Option<f64> {
        let passes = [&self.slow[..], &self.fast[..]].concat();
        let logs: Vec<f64> = goodputs(&passes).into_iter().map(f64::ln).collect();
        correlation(&all(&passes, figure)?, &logs)
    }

    /// `3 slow and 2 fast passes, 3.3 times apart`
    pub(super) fn words(&self) -> String {
        let (slow, fast) = (self.slow.len(), self.fast.len());
        format!("{slow} slow and {fast} fast passes, {:.1} times apart", self.ratio())
    }

    /// What any conclusion from passes rests on.
    pub(super) fn figures(&self, correlation: f64) -> [Figure; 4] {
        [
            Figure::new("slow passes", count(self.slow.len()), ""),
            Figure::new("fast passes", count(self.fast.len()), ""),
            Figure::new("fast over slow", self.ratio(), ""),
            Figure::new("correlation over passes", correlation, ""),
        ]
    }
}

fn goodputs(group: &[Repeat]) -> Vec<f64> {
    group.iter().map(|repeat| repeat.goodput.mbps()).collect()
}

fn all(group: &[Repeat], figure: fn(&Repeat) -> Option<f64>) -> Option<Vec<f64>> {
    group.iter().map(figure).collect()
}

/// Repeats, as the rules over repeats want them.
const FEWEST: usize = 5;
/// Passes of either group.
const LEAST_GROUP: usize = 2;
/// As the rules over repeats have it.
const LEAST_RATIO: f64 = 1.15;
/// Of five passes one in fifty has such a correlation by chance (one-sided).
pub(super) const TELLING: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;

    fn parted(mbit_s: &[u64]) -> Option<[usize; 2]> {
        let repeat =
            |mbit: &u64| Repeat { goodput: BitRate::new(mbit * 1_000_000), ..Repeat::default() };
        let repeats: Vec<Repeat> = mbit_s.iter().map(repeat).collect();
        Parted::of(&repeats).map(|parted| [parted.slow.len(), parted.fast.len()])
    }

    #[test]
    fn one_pass_that_stands_alone_is_no_group() {
        assert_eq!(parted(&[100, 101, 102, 103, 40]), None);
        assert_eq!(parted(&[100, 101, 102, 103, 104, 300]), None);
        assert_eq!(parted(&[100, 101, 102, 40, 41]), Some([2, 3]));
        // It hides no groups among the others.
        assert_eq!(parted(&[10, 100, 101, 102, 200, 201, 202]), Some([4, 3]));
        assert_eq!(parted(&[100, 200]), None);
        assert_eq!(parted(&[]), None);
    }
}
