//! Frames of one size: what they hold, how often they come at a rate, and the search for their throughput.

use crate::traffic::course::Made;
use crate::traffic::course::SoFar;
use crate::traffic::figures::search;
use crate::traffic::figures::search::Bounds;
use crate::traffic::figures::search::MultipleLossRatioSearch;
use crate::traffic::figures::search::Trial;
use crate::traffic::language::recipe;
use crate::traffic::plan::Cell;
use crate::traffic::plan::Group;
use crate::traffic::sample::RunSample;
use crate::traffic::trace::float;
use crate::units::BitRate;
use crate::units::Bytes;
use crate::units::Nanos;

/// An Ethernet frame that carries a UDP datagram over IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::traffic) struct Frame(pub(in crate::traffic) u32);

impl Frame {
    /// UDP payload: the frame less Ethernet (14), its checksum (4), IPv4 (20) and UDP (8).
    pub(in crate::traffic) fn payload(self) -> Bytes {
        Bytes::new(u64::from(self.0.saturating_sub(46)).max(1))
    }

    /// Bits on the wire: the frame, its preamble (8) and the gap behind it (12).
    pub(in crate::traffic) fn wire_bits(self) -> f64 {
        f64::from(self.0 + 20) * 8.0
    }

    /// The name of its curves.
    pub(in crate::traffic) fn series(self) -> String {
        format!("{} B", self.0)
    }

    /// Frames at a load on the wire for some time.
    pub(super) fn at(self, group: Group, load: f64, time: Nanos) -> Cell {
        let period = recipe::period(Bytes::new(1), 8.0 * load / self.wire_bits());
        let most = period * FRAMES_OF_A_TRIAL;
        Cell {
            group,
            label: format!("{} B at {:.3} Mbit/s", self.0, load / 1e6),
            x: load,
            sessions: 1,
            series: Some(self.series()),
            scenario: recipe::bursts("burstq", "udp", self.payload(), period, time.min(most)),
            ..Cell::default()
        }
    }

    /// Frames as fast as they go: what comes of them is where the search looks.
    pub(super) fn ceiling(self, time: Nanos) -> Cell {
        Cell {
            group: Group::Ceiling,
            label: format!("{} B as fast as they go", self.0),
            x: f64::from(self.0),
            sessions: 1,
            series: Some(self.series()),
            scenario: recipe::full_over("udp", self.payload(), time.clamp(CEILING.0, CEILING.1)),
            ..Cell::default()
        }
    }
}

impl<'a> SoFar<'a> {
    /// The runs of a group with frames of one size.
    pub(super) fn sized(&self, group: Group, frame: Frame) -> impl Iterator<Item = &Made<'a>> {
        let series = frame.series();
        self.made().filter(move |made| {
            made.cell.group == group && made.cell.series.as_deref() == Some(series.as_str())
        })
    }

    /// What came of frames that were sent as fast as they go, bit/s on the wire.
    pub(super) fn ceiling(&self, frame: Frame) -> Option<f64> {
        let payload = float(frame.payload().bits());
        let rates = self.sized(Group::Ceiling, frame).map(filled);
        let got = rates.filter(|rate| *rate > 0.0).max_by(f64::total_cmp)?;
        Some(got / payload * frame.wire_bits())
    }

    /// The most that came of frames of a size, as fast as they go or without loss, bit/s on the wire.
    pub(super) fn most(&self, frame: Frame) -> Option<f64> {
        let whole = self.bounds(frame)?.lower.map_or(0.0, |load| float(load.bit_per_second()));
        Some(self.ceiling(frame)?.max(whole))
    }

    /// The bounds that the trials of a frame size have shown.
    pub(super) fn bounds(&self, frame: Frame) -> Option<Bounds> {
        self.search(frame).map(|search| search.bounds()[0])
    }

    fn search(&self, frame: Frame) -> Option<MultipleLossRatioSearch> {
        let trial =
            |made: &Made<'_>| Trial { load: load(made.cell.x), time: TRIAL, loss: lost(made.run) };
        let range = range(self.ceiling(frame)?);
        let mut search = search::rfc2544(range, TRIAL, self.course.width, MOST_TRIALS);
        self.sized(Group::Throughput, frame).map(trial).for_each(|trial| search.record(trial));
        search.raise_end();
        Some(search)
    }
}

/// What came of frames that filled the path, bit/s of payload: from the first to the last, since the length of a way
/// is no part of its rate.
fn filled(made: &Made<'_>) -> f64 {
    let rates: Option<f64> = made.run.flows().map(|flow| flow.curves.read_rate()).sum();
    rates.unwrap_or_else(|| made.totals.carried_at_all().unwrap_or(0.0))
}

/// Where a search looks at first, from what came of frames as fast as they go.
pub(super) fn range(ceiling: f64) -> (BitRate, BitRate) {
    (load(ceiling * 0.01), load(ceiling * 1.5))
}

/// The next step to the throughput of a frame size (RFC 2544, 26.1): frames as fast as they go, loads a
/// tenth above and below what came of them, then the bisection.
pub(super) fn throughput(seen: &SoFar<'_>, frame: Frame) -> Option<Cell> {
    let time = seen.course.time_ns;
    let Some(ceiling) = seen.ceiling(frame) else {
        return seen.until(frame.ceiling(time), CEILING_TRIES);
    };
    let guess = |share: f64| {
        frame.at(Group::Throughput, float(load(ceiling * share).bit_per_second()), time)
    };
    seen.until(guess(1.1), 1).or_else(|| seen.until(guess(0.9), 1)).or_else(|| {
        let (next, _) = seen.search(frame)?.next_trial()?;
        let next = frame.at(Group::Throughput, float(next.bit_per_second()), time);
        // A trial that a search wants again would have no end.
        seen.until(next, 1)
    })
}

/// Of all frames that a run should have sent; all of them where it did not come to its end. What the sender
/// did not manage to send counts as lost: a load that was not offered was not carried.
pub(in crate::traffic) fn lost(run: &RunSample) -> f64 {
    let flows = || run.flows().map(|flow| &flow.figures);
    let due: u64 = flows().map(|f| f.blocks.due.max(f.loss.map_or(0, |loss| loss.sent))).sum();
    let came: u64 = flows().filter_map(|f| f.loss).map(|loss| loss.received).sum();
    if !run.is_complete() || due == 0 {
        return 1.0;
    }
    (1.0 - float(came) / float(due)).max(0.0)
}

pub(super) fn load(bit_s: f64) -> BitRate {
    BitRate::new(crate::traffic::figures::flow::rounded(bit_s))
}

/// Trials of a search are all equally long.
const TRIAL: Nanos = Nanos::from_secs(1);
const MOST_TRIALS: usize = 40;
/// Frames of one trial at most: a record is kept of each.
pub(in crate::traffic) const FRAMES_OF_A_TRIAL: u64 = 3_500_000;
/// How long frames go as fast as they go.
const CEILING: (Nanos, Nanos) = (Nanos::from_millis(300), Nanos::from_secs(1));
/// How often that is tried on a host that carries nothing meanwhile.
pub(super) const CEILING_TRIES: u32 = 5;
