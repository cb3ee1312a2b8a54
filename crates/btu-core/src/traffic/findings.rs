//! What standard methods found: by frame size, by window, by a search, under load.

mod deviations;
mod runs;

use super::method::Frame;
use super::probe::CapacityFigures;
use super::probe::PathMtuFigures;
use super::probe::ProbeSample;
use super::probe::ResponsivenessFigures;
use super::sample::Journal;
use super::sample::RunSample;
use crate::traffic::figures::transfer::TransferFigures;

use self::runs::Runs;

/// The flag of a run whose frames went over IPv6.
pub const LONGER_FRAMES: &str = "longer-frames";
/// What that means.
pub const OF_IPV6: &str = "over IPv6 each frame is 20 B longer than it is called, and one of more than 1498 B goes out in \
                           two pieces: sizes and rates on the wire are those of IPv4";

/// What standard methods found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// By frame size, in the order of the plan.
    pub frames: Vec<FrameFinding>,
    /// Frame sizes of which a trial was shorter than the course asks for, with the shortest one, seconds.
    pub shortened: Vec<(u32, f64)>,
    /// Whether frames were sent over IPv6, whose headers are longer than those that they are counted with.
    pub over_ipv6: bool,
    /// The path MTU, where it was looked for.
    pub path_mtu: Option<PathMtuFigures>,
    /// TCP over its window, in rising order.
    pub transfers: Vec<TransferFinding>,
    /// Each capacity search.
    pub capacities: Vec<InPass<CapacityFigures>>,
    /// Each measurement of round trips under load.
    pub responsiveness: Vec<InPass<ResponsivenessFigures>>,
}

/// What a probe found, and in which pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InPass<T> {
    /// Number of the pass.
    pub pass: u32,
    /// What it found.
    pub figures: T,
}

/// What was found of one frame size (RFC 2544, RFC 9004).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameFinding {
    /// The frame, its checksum included.
    pub frame_bytes: u32,
    /// The highest load without loss, frames per second, of a search for several goals that which meets the first one in
    /// most of its trials; `None` where every load lost some, or none was decided.
    pub throughput_fps: Option<f64>,
    /// The lowest load above it that lost some, of a search for several goals that which misses the first one in most of its
    /// trials; `None` where none did.
    pub lossy_fps: Option<f64>,
    /// What was found for each goal, where several were searched for at once.
    pub goals: Vec<GoalFinding>,
    /// Trials that it took.
    pub trials: usize,
    /// How long each was.
    pub trial_s: f64,
    /// Median delay at the throughput, seconds; `None` where two clocks hide it.
    pub latency_p50_s: Option<f64>,
    /// The 99th percentile, seconds.
    pub latency_p99_s: Option<f64>,
    /// How far the clocks of two hosts may put that off, seconds; `None` where one clock measured both ends.
    pub latency_bound_s: Option<f64>,
    /// Loads in frames per second with the share that was lost, in falling order.
    pub losses: Vec<(f64, f64)>,
    /// Bursts.
    pub burst: Option<BurstFinding>,
}

/// The bounds of a load for a goal of loss (draft-ietf-bmwg-mlrsearch).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GoalFinding {
    /// The share of loss that it allows.
    pub loss: f64,
    /// The highest load that meets it in most of its trials, frames per second; `None` where none is known to.
    pub lower_fps: Option<f64>,
    /// The lowest load above that does not; `None` where none is known.
    pub upper_fps: Option<f64>,
}

/// The longest burst that comes whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstFinding {
    /// The mean of the searches, frames.
    pub frames: f64,
    /// The shortest.
    pub least: f64,
    /// The longest.
    pub most: f64,
    /// Searches.
    pub searches: usize,
    /// True where the longest that was tried came whole, too.
    pub open_end: bool,
    /// How fast bursts came, frames per second.
    pub rate_fps: f64,
    /// The buffer that they show, less what left meanwhile, frames; `None` where no throughput was found.
    pub buffer_frames: Option<f64>,
    /// The time of that buffer at the throughput, seconds.
    pub buffer_s: Option<f64>,
}

/// TCP with a window (RFC 6349).
#[derive(Clone, Debug, PartialEq)]
pub struct TransferFinding {
    /// The window in bandwidth-delay products, as it was, not as it was wanted.
    pub share: f64,
    /// The same in bytes, as it was asked for.
    pub label: String,
    /// What arrived, bit/s of payload.
    pub goodput_bit_s: f64,
    /// What a segment after the other would be at the measured bandwidth, bit/s of payload.
    pub ideal_bit_s: f64,
    /// The round trip of the idle path, seconds.
    pub idle_rtt_s: f64,
    /// The three figures.
    pub figures: TransferFigures,
}

impl FrameFinding {
    /// A rate of these frames on the wire, preamble and gap included, bit/s.
    pub fn wire_bit_s(&self, frames_s: f64) -> f64 {
        frames_s * Frame(self.frame_bytes).wire_bits()
    }
}

impl Findings {
    /// The findings of a journal.
    pub fn of(journal: &Journal) -> Self {
        let runs = Runs::of(journal);
        let courses = || journal.plan.course.iter();
        let frames = courses().flat_map(|c| c.frames.iter().map(move |size| (c, Frame(*size))));
        Self {
            frames: frames.filter_map(|(course, frame)| runs.of_course(course, frame)).collect(),
            shortened: courses().flat_map(|course| runs.shortened(course)).collect(),
            over_ipv6: journal
                .runs()
                .any(|run| run.flags.iter().any(|flag| flag.name == LONGER_FRAMES)),
            path_mtu: runs.path_mtu(),
            transfers: runs.transfers(),
            capacities: probed(journal, ProbeSample::capacity),
            responsiveness: probed(journal, ProbeSample::responsiveness),
        }
    }

    /// True where no standard method was run.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What the probes of a kind found, in the order of their runs.
fn probed<T>(journal: &Journal, figures: fn(&ProbeSample) -> Option<T>) -> Vec<InPass<T>> {
    let found = |run: &RunSample| {
        let figures = figures(run.probe.as_ref()?)?;
        Some(InPass { pass: run.pass, figures })
    };
    journal.runs().filter_map(found).collect()
}
