//! What standard methods found: by frame size, by window, by a search, under load.

use super::analysis::figures::Delays;
use super::analysis::path_mtu::LEAST_TIMER;
use super::analysis::search::corrected_buffer;
use super::analysis::transfer::Transfer;
use super::analysis::transfer::TransferFigures;
use super::course::QOS;
use super::course::methods_of_sheet;
use super::method;
use super::method::FRAMES_OF_A_TRIAL;
use super::method::Frame;
use super::method::MOST_FRAMES;
use super::method::full_frame;
use super::method::lost;
use super::plan::Cell;
use super::plan::Course;
use super::plan::Group;
use super::probe::CapacityFigures;
use super::probe::PathMtuFigures;
use super::probe::ProbeSample;
use super::probe::ResponsivenessFigures;
use super::sample::FlowSample;
use super::sample::Journal;
use super::sample::RunSample;
use super::trace::float;
use crate::stats;
use crate::units::Nanos;

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
    /// The highest load without loss, frames per second; `None` where every load lost some.
    pub throughput_fps: Option<f64>,
    /// The lowest load above it that lost some; `None` where none did.
    pub lossy_fps: Option<f64>,
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
    /// The window in bandwidth-delay products.
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
        let frames = journal.plan.course.iter().flat_map(|course| &course.frames);
        Self {
            frames: frames.filter_map(|size| runs.frame(Frame(*size))).collect(),
            shortened: journal
                .plan
                .course
                .iter()
                .flat_map(|course| runs.shortened(course))
                .collect(),
            over_ipv6: journal
                .runs()
                .any(|run| run.flags.iter().any(|flag| flag.name == LONGER_FRAMES)),
            path_mtu: runs.path_mtu(),
            transfers: runs.transfers(),
            capacities: probed(journal, |probe| match probe {
                ProbeSample::Capacity(sample) => sample.figures(),
                ProbeSample::PathMtu(_) | ProbeSample::Responsiveness(_) => None,
            }),
            responsiveness: probed(journal, |probe| match probe {
                ProbeSample::Responsiveness(sample) => sample.figures(),
                ProbeSample::Capacity(_) | ProbeSample::PathMtu(_) => None,
            }),
        }
    }

    /// What the text of its method asks for and a course, or what was made of it, is not.
    pub fn deviations(&self, course: &Course) -> Vec<String> {
        let known = method::find(&course.name);
        let mut found = match known {
            Some(method) => method.deviations(course),
            None if course.name == QOS => deviations_of_sheet(course),
            None => Vec::new(),
        };
        found.extend(self.over_ipv6.then(|| OF_IPV6.to_owned()));
        found.extend(self.path_mtu.as_ref().and_then(impatient));
        let of = |(frame, seconds): &(u32, f64)| format!("{seconds:.2} s with {frame} B");
        let shortened: Vec<String> = self.shortened.iter().map(of).collect();
        if !shortened.is_empty() {
            found.push(format!(
                "trials of {FRAMES_OF_A_TRIAL} frames at the most: down to {} instead of {} s",
                shortened.join(", "),
                course.time_ns.seconds()
            ));
        }
        found
    }

    /// True where no standard method was run.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A search for the path MTU that waits less for an answer than its text asks for, or that found none.
fn impatient(found: &PathMtuFigures) -> Option<String> {
    let unanswered = found.path_mtu.is_none().then_some("no probe was answered");
    if let Some(why) = found.unavailable.as_deref().or(unanswered) {
        return Some(format!("the path MTU is not known: {why}"));
    }
    (found.timer < LEAST_TIMER).then(|| {
        format!(
            "an answer to a probe of the path MTU waited for {} s beside four round trips instead of {} s (RFC 8899)",
            found.timer.seconds(),
            LEAST_TIMER.seconds()
        )
    })
}

/// What the probes of a kind found, in the order of their runs.
fn probed<T>(journal: &Journal, figures: fn(&ProbeSample) -> Option<T>) -> Vec<InPass<T>> {
    let found = |run: &RunSample| {
        let figures = figures(run.probe.as_ref()?)?;
        Some(InPass { pass: run.pass, figures })
    };
    journal.runs().filter_map(found).collect()
}

/// A sheet takes from each method one figure or two, in the time that it has for them.
fn deviations_of_sheet(course: &Course) -> Vec<String> {
    let parts = std::iter::once(OF_STREAMS.to_owned());
    let of_methods = methods_of_sheet(course).into_iter().flat_map(|(method, time)| {
        let own = Course { time_ns: time, ..method.standard() };
        let told = |deviation| format!("{}: {deviation}", method.name);
        method.deviations(&own).into_iter().map(told).collect::<Vec<_>>()
    });
    parts.chain(of_methods).collect()
}

/// What a sheet says by RFC 6349.
const OF_STREAMS: &str =
    "rfc6349: efficiency and buffer delay alone, of full streams with one window";

/// Every run with its cell.
struct Runs<'a>(Vec<(&'a Cell, &'a RunSample)>);

impl<'a> Runs<'a> {
    fn of(journal: &'a Journal) -> Self {
        let with_cell = |run: &'a RunSample| Some((journal.plan.cell(run.cell)?, run));
        Self(journal.runs().filter_map(with_cell).collect())
    }

    fn group(&self, group: Group) -> impl Iterator<Item = (&'a Cell, &'a RunSample)> {
        self.0.iter().copied().filter(move |(cell, _)| cell.group == group)
    }

    fn sized(&self, group: Group, frame: Frame) -> impl Iterator<Item = (&'a Cell, &'a RunSample)> {
        let series = frame.series();
        self.group(group).filter(move |(cell, _)| cell.series.as_ref() == Some(&series))
    }

    /// Trials that ended before the time of the course because they had all the frames that one may have.
    fn shortened(&self, course: &Course) -> Vec<(u32, f64)> {
        let shortest = |frame: Frame| {
            let trials = [Group::Throughput, Group::Latency, Group::FrameLoss];
            let runs = trials.into_iter().flat_map(|group| self.sized(group, frame));
            let whole = runs.map(|(_, run)| run).filter(|run| run.is_complete());
            whole.flat_map(RunSample::flows).map(|flow| flow.duration_ns).min()
        };
        let full = Some(self.full_frame().0).filter(|size| !course.frames.contains(size));
        let sizes = course.frames.iter().copied().chain(full);
        let times = sizes.filter_map(|size| Some((size, shortest(Frame(size))?)));
        let short = times.filter(|(_, time)| *time < course.time_ns);
        short.map(|(size, time)| (size, time.seconds())).collect()
    }

    fn frame(&self, frame: Frame) -> Option<FrameFinding> {
        let fps = |load: f64| load / frame.wire_bits();
        let loads = |lossy: bool| {
            let trials = self.sized(Group::Throughput, frame);
            trials.filter(move |(_, run)| (lost(run) > 0.0) == lossy).map(|(cell, _)| cell.x)
        };
        let upper = loads(true).min_by(f64::total_cmp);
        let below = |load: &f64| upper.is_none_or(|upper| *load < upper);
        let lower = loads(false).filter(below).max_by(f64::total_cmp);
        let trials = self.sized(Group::Throughput, frame).count();
        let (_, first) = self.sized(Group::Throughput, frame).next()?;
        let mut losses: Vec<(f64, f64)> = self
            .sized(Group::FrameLoss, frame)
            .map(|(cell, run)| (fps(cell.x), lost(run)))
            .collect();
        losses.sort_by(|a, b| b.0.total_cmp(&a.0));
        let latency = self.sized(Group::Latency, frame).find_map(|(_, run)| run.flows().next());
        let delay = |of: fn(&Delays) -> f64| {
            latency.and_then(|flow| flow.one_way(flow.figures.delay.as_ref().map(of)))
        };
        Some(FrameFinding {
            frame_bytes: frame.0,
            throughput_fps: lower.map(fps),
            lossy_fps: upper.map(fps),
            trials,
            trial_s: first.flows().next().map_or(0.0, |flow| flow.duration_ns.seconds()),
            latency_p50_s: delay(|delay| delay.p50_s),
            latency_p99_s: delay(|delay| delay.p99_s),
            latency_bound_s: latency.and_then(FlowSample::delay_bound_s),
            losses,
            burst: self.burst(frame, lower.map(fps)),
        })
    }

    /// Searches are told apart by where they begin: with one frame.
    fn burst(&self, frame: Frame, throughput_fps: Option<f64>) -> Option<BurstFinding> {
        let mut longest: Vec<f64> = Vec::new();
        let mut rates = Vec::new();
        for (cell, run) in self.sized(Group::BackToBack, frame) {
            if cell.x <= 1.0 {
                longest.push(0.0);
            }
            rates.extend(burst_rate(run, cell.x));
            if lost(run) <= 0.0
                && let Some(longest) = longest.last_mut()
            {
                *longest = longest.max(cell.x);
            }
        }
        let frames = stats::arithmetic_mean(&longest)?;
        let rate_fps = stats::median(&rates)?;
        let buffer = throughput_fps.filter(|throughput| *throughput > 0.0).map(|throughput| {
            let frames = corrected_buffer(frames, throughput, rate_fps);
            (frames, frames / throughput)
        });
        Some(BurstFinding {
            frames,
            least: longest.iter().copied().min_by(f64::total_cmp)?,
            most: longest.iter().copied().max_by(f64::total_cmp)?,
            searches: longest.len(),
            open_end: longest.iter().any(|frames| *frames >= float(MOST_FRAMES)),
            rate_fps,
            buffer_frames: buffer.map(|(frames, _)| frames),
            buffer_s: buffer.map(|(_, seconds)| seconds),
        })
    }

    fn path_mtu(&self) -> Option<PathMtuFigures> {
        self.group(Group::PathMtu).find_map(|(_, run)| match &run.probe {
            Some(ProbeSample::PathMtu(sample)) => Some(sample.figures()),
            _ => None,
        })
    }

    /// The frame by which the bandwidth of the path was found.
    fn full_frame(&self) -> Frame {
        full_frame(self.path_mtu().as_ref())
    }

    fn transfers(&self) -> Vec<TransferFinding> {
        let idle = self
            .group(Group::Idle)
            .find_map(|(_, run)| run.flows().next()?.least_rtt_ns)
            .filter(|rtt| *rtt > Nanos::ZERO);
        let full = self.frame(self.full_frame()).and_then(|found| found.throughput_fps);
        let Some((idle, full)) = idle.zip(full) else { return Vec::new() };
        let found = self
            .group(Group::Transfer)
            .filter_map(|(cell, run)| transfer(cell, run.flows().next()?, idle, full));
        let mut found: Vec<TransferFinding> = found.collect();
        found.sort_by(|a, b| a.share.total_cmp(&b.share));
        found
    }
}

/// Payload of a full frame is what the largest segment of the connection holds.
fn transfer(cell: &Cell, flow: &FlowSample, idle: Nanos, full_fps: f64) -> Option<TransferFinding> {
    let segment = float(flow.sender_options.mss_bytes?);
    let ideal = full_fps * segment * 8.0;
    let (acknowledged, again) = (flow.acknowledged_bytes?, flow.retransmitted_bytes?);
    let transfer = Transfer {
        delivered: flow.figures.departed_bytes,
        sent: acknowledged + again,
        retransmitted: again,
        time: flow.duration_ns,
        base_rtt: idle,
        mean_rtt: flow.places.map(|places| nanos(places.least_rtt_s + places.queueing_s)),
        ideal: crate::units::BitRate::new(super::analysis::figures::rounded(ideal)),
    };
    Some(TransferFinding {
        share: cell.x,
        label: cell.label.clone(),
        goodput_bit_s: flow.figures.departure_rate_bit_s,
        ideal_bit_s: ideal,
        idle_rtt_s: idle.seconds(),
        figures: transfer.figures()?,
    })
}

/// Frames per second of a burst, from the first to the last write.
fn burst_rate(run: &RunSample, frames: f64) -> Option<f64> {
    let spread = run.flows().next()?.figures.spread_s?;
    (frames > 1.0 && spread > 0.0).then(|| (frames - 1.0) / spread)
}

fn nanos(seconds: f64) -> Nanos {
    Nanos::new(super::analysis::figures::rounded(seconds * 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each method is followed in part, and in less time than its text asks for.
    #[test]
    fn a_sheet_says_in_which_respects_its_methods_are_not_what_their_texts_ask_for() {
        let said = |time: Nanos| {
            let course = Course { name: QOS.into(), time_ns: time, ..Course::default() };
            Findings::default().deviations(&course)
        };
        let short = said(Nanos::from_millis(500));
        for (method, deviation) in [
            ("rfc9097", "the search of 2.5 s instead of 10 s"),
            ("rfc6349", "transfers of 0.5 s instead of 30 s"),
            ("responsiveness", "intervals of 0.5 s instead of 1 s"),
        ] {
            let told = |deviation: &str| short.contains(&format!("{method}: {deviation}"));
            assert!(told(deviation), "{short:#?}");
            let always = method::find(method).unwrap().differs;
            assert!(always.iter().all(|deviation| told(deviation)), "{short:#?}");
        }
        assert!(short[0].contains("efficiency and buffer delay alone"), "{short:#?}");
        let long = said(Nanos::from_secs(30));
        assert!(
            long.len() + 3 == short.len() && long.iter().all(|one| short.contains(one)),
            "{long:#?}"
        );
    }
}
