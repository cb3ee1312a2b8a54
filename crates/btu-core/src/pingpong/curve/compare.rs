//! Two curves beside each other, size by size.

use std::fmt;

use super::Curve;
use super::CurvePoint;
use crate::stats::Comparison;
use crate::stats::Interval;
use crate::stats::count;
use crate::stats::geometric_mean;
use crate::stats::holm;
use crate::stats::median;
use crate::stats::welch_on_logs;
use crate::units::Bytes;
use crate::units::Ratio;

/// Two curves compared.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveComparison {
    /// The sizes that both have.
    pub sizes: Vec<SizeComparison>,
    /// The share of them at which the intervals overlap; `None` where no size has two intervals.
    pub overlap: Option<Ratio>,
    /// The geometric mean of T of the second over T of the first.
    pub ratio: Option<f64>,
}

/// Two curves at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeComparison {
    /// The block.
    pub size: Bytes,
    /// T of the second over T of the first.
    pub ratio: f64,
    /// The intervals of both, in microseconds; `None` where one is missing.
    pub intervals_us: Option<[Interval; 2]>,
    /// Whether they overlap.
    pub overlap: Option<bool>,
    /// Whether the time of the one without an interval lies within that of the other; `None` where
    /// both have one, or neither.
    pub within: Option<bool>,
    /// Welch's test on the round medians; `None` where one curve has none.
    pub test: Option<Comparison>,
    /// Its p value, corrected for all sizes at once (Holm).
    pub adjusted_p: Option<f64>,
}

/// When two curves were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// One after the other: what a machine does from one half minute to the next may tell them apart.
    Own,
    /// In turn, in the same rounds.
    Shared,
}

/// Compares `second` with `first` at every size that both have.
pub fn compare(first: &Curve, second: &Curve, rounds: Rounds) -> CurveComparison {
    let at_both = first.points.iter().filter_map(|a| Some((a, second.at(a.size)?)));
    let mut sizes: Vec<SizeComparison> = at_both.map(|(a, b)| at_size(a, b, rounds)).collect();
    adjust(&mut sizes);
    let judged: Vec<bool> = sizes.iter().filter_map(|size| size.overlap).collect();
    let overlapping = judged.iter().filter(|overlap| **overlap).count();
    let ratios: Vec<f64> = sizes.iter().map(|size| size.ratio).collect();
    let overlap = (!judged.is_empty()).then(|| share(overlapping, judged.len()));
    CurveComparison { overlap, ratio: geometric_mean(&ratios), sizes }
}

fn share(part: usize, all: usize) -> Ratio {
    Ratio::new(count(part) / count(all))
}

/// What a comparison of two curves comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The intervals overlap at nine tenths of the sizes or more.
    Same,
    /// They overlap at fewer.
    Different,
    /// They overlap, and are so wide that most differences would not show.
    TooWide,
    /// No size has two intervals.
    Unknown,
}

impl CurveComparison {
    /// Whether the curves are the same, as far as their intervals tell.
    pub fn verdict(&self) -> Verdict {
        match self.overlap {
            None => Verdict::Unknown,
            Some(overlap) if overlap < EQUAL_FROM => Verdict::Different,
            Some(_) if self.half_width().is_some_and(|half| half > WIDEST) => Verdict::TooWide,
            Some(_) => Verdict::Same,
        }
    }

    /// The half width of the wider interval of each size, in the median of the sizes: 0.25 for one from
    /// four fifths to five quarters of its middle.
    pub fn half_width(&self) -> Option<f64> {
        let half = |bounds: Interval| (bounds.high / bounds.low).sqrt() - 1.0;
        let both = self.sizes.iter().filter_map(|size| size.intervals_us);
        median(&both.map(|[a, b]| half(a).max(half(b))).collect::<Vec<f64>>())
    }

    /// The sizes at which both have an interval, and those of them at which these overlap.
    pub fn judged(&self) -> (usize, usize) {
        let judged: Vec<bool> = self.sizes.iter().filter_map(|size| size.overlap).collect();
        (judged.len(), judged.iter().filter(|overlap| **overlap).count())
    }

    /// The sizes at which the intervals would overlap if the second were as fast as the first on the whole:
    /// many, where a machine became slower, and few, where the curves have another shape.
    pub fn overlapping_moved(&self) -> usize {
        let factor = self.ratio.unwrap_or(1.0);
        let intervals = self.sizes.iter().filter_map(|size| size.intervals_us);
        intervals.filter(|both| overlap(*both, factor)).count()
    }

    /// The sizes whose intervals do not overlap.
    pub fn apart(&self) -> impl Iterator<Item = Bytes> {
        self.sizes.iter().filter(|size| size.overlap == Some(false)).map(|size| size.size)
    }

    /// The sizes whose intervals do not overlap as ranges of neighbours: `1 to 96, 128 bytes`; the rest
    /// of many is counted.
    fn ranges_apart(&self) -> String {
        let ranges = self.sizes.chunk_by(|a, b| a.overlap == b.overlap);
        let apart: Vec<String> = ranges.filter_map(range_apart).collect();
        let more = apart.len().saturating_sub(SHOWN_RANGES);
        let mut shown = apart;
        shown.truncate(SHOWN_RANGES);
        let shown = shown.join(", ");
        match more {
            0 => format!("{shown} bytes"),
            1 => format!("{shown} bytes and 1 more range"),
            _ => format!("{shown} bytes and {more} more ranges"),
        }
    }

    /// The sizes at which the second differs, all sizes tested at once.
    pub fn differing(&self) -> impl Iterator<Item = &SizeComparison> {
        self.sizes.iter().filter(|size| {
            let sure = size.adjusted_p.is_some_and(|p| p < 0.05);
            sure && size.test.is_some_and(Comparison::is_different)
        })
    }
}

impl fmt::Display for CurveComparison {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(ratio) = self.ratio else { return out.write_str("no size in common") };
        let (judged, overlapping) = self.judged();
        match self.verdict() {
            Verdict::Same => {
                write!(out, "no difference: intervals overlap at {overlapping} of {judged} sizes")?;
            }
            Verdict::Different => {
                let apart = self.ranges_apart();
                write!(
                    out,
                    "differ at {apart}: intervals overlap at {overlapping} of {judged} sizes"
                )?;
                let moved = self.overlapping_moved();
                if share(moved, judged) >= EQUAL_FROM {
                    write!(out, ", at {moved} if one is moved as a whole")?;
                }
            }
            Verdict::TooWide => {
                let half = self.half_width().unwrap_or_default() * 100.0;
                write!(
                    out,
                    "no verdict, as the intervals are too wide to tell ({half:.0} % to each side in the \
                     median): they overlap at {overlapping} of {judged} sizes"
                )?;
            }
            Verdict::Unknown => {
                let within = self.sizes.iter().filter_map(|size| size.within);
                let (held, known) = within.fold((0, 0), |(held, known), is_within| {
                    (held + usize::from(is_within), known + 1)
                });
                write!(out, "no verdict, as not both have intervals")?;
                if known > 0 {
                    write!(out, "; one lies within those of the other at {held} of {known} sizes")?;
                }
            }
        }
        write!(out, "; T {ratio:.3} times as long, in the geometric mean of {}", self.sizes.len())
    }
}

/// A run of neighbouring sizes whose intervals do not overlap: `1 to 96`.
fn range_apart(run: &[SizeComparison]) -> Option<String> {
    let [first, last] = [run.first()?, run.last()?];
    let (from, to) = (first.size.count(), last.size.count());
    let one_or_more = || if from == to { from.to_string() } else { format!("{from} to {to}") };
    (first.overlap == Some(false)).then(one_or_more)
}

fn at_size(a: &CurvePoint, b: &CurvePoint, rounds: Rounds) -> SizeComparison {
    let intervals = match rounds {
        Rounds::Own => a.interval_us.zip(b.interval_us),
        Rounds::Shared => a.beside_us().zip(b.beside_us()),
    };
    let intervals = intervals.map(<[Interval; 2]>::from);
    let holds = |interval: Interval, time: f64| (interval.low..=interval.high).contains(&time);
    let within = match (a.interval_us, b.interval_us) {
        (Some(interval), None) => Some(holds(interval, b.time_us)),
        (None, Some(interval)) => Some(holds(interval, a.time_us)),
        _ => None,
    };
    SizeComparison {
        size: a.size,
        ratio: b.time_us / a.time_us,
        intervals_us: intervals,
        overlap: intervals.map(|both| overlap(both, 1.0)),
        within,
        test: welch_on_logs(&a.rounds_us, &b.rounds_us),
        adjusted_p: None,
    }
}

/// Whether the first overlaps the second made `factor` times shorter.
fn overlap([first, second]: [Interval; 2], factor: f64) -> bool {
    first.low <= second.high / factor && second.low / factor <= first.high
}

fn adjust(sizes: &mut [SizeComparison]) {
    let tested = sizes.iter_mut().filter_map(|size| Some((size.test?.p, &mut size.adjusted_p)));
    let (p_values, adjusted): (Vec<f64>, Vec<&mut Option<f64>>) = tested.unzip();
    for (adjusted, p) in adjusted.into_iter().zip(holm(&p_values)) {
        *adjusted = Some(p);
    }
}

/// The share of overlapping intervals from which two curves are called equal.
const EQUAL_FROM: Ratio = Ratio::new(0.9);
/// The half width from which overlapping intervals say nothing.
const WIDEST: f64 = 0.25;
/// Ranges that a sentence names one by one.
const SHOWN_RANGES: usize = 4;

#[cfg(test)]
mod tests;
