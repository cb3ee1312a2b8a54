//! The runs of a journal, each with its cell, and what they say of frames, bursts, the path MTU and transfers.

use super::BurstFinding;
use super::FrameFinding;
use super::GoalFinding;
use super::TransferFinding;
use crate::stats;
use crate::traffic::figures::flow::Delays;
use crate::traffic::figures::flow::rounded;
use crate::traffic::figures::search::Bounds;
use crate::traffic::figures::search::corrected_buffer;
use crate::traffic::figures::transfer::Transfer;
use crate::traffic::method::Frame;
use crate::traffic::method::MOST_FRAMES;
use crate::traffic::method::full_frame;
use crate::traffic::method::lost;
use crate::traffic::method::mlrsearch;
use crate::traffic::plan::Cell;
use crate::traffic::plan::Course;
use crate::traffic::plan::Group;
use crate::traffic::probe::PathMtuFigures;
use crate::traffic::sample::FlowSample;
use crate::traffic::sample::Journal;
use crate::traffic::sample::RunSample;
use crate::traffic::trace::float;
use crate::units::BitRate;
use crate::units::Nanos;

/// Every run with its cell.
pub(super) struct Runs<'a>(Vec<(&'a Cell, &'a RunSample)>);

impl<'a> Runs<'a> {
    pub(super) fn of(journal: &'a Journal) -> Self {
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
    pub(super) fn shortened(&self, course: &Course) -> Vec<(u32, f64)> {
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

    /// What was found of a frame size by the method of a course.
    pub(super) fn of_course(&self, course: &Course, frame: Frame) -> Option<FrameFinding> {
        let found = self.frame(frame)?;
        if course.name != mlrsearch::METHOD.name {
            return Some(found);
        }
        let goals = self.goals(course, frame);
        let first = goals.first()?;
        let (throughput_fps, lossy_fps) = (first.lower_fps, first.upper_fps);
        Some(FrameFinding { throughput_fps, lossy_fps, goals, ..found })
    }

    /// The bounds of each goal, which the range of the search has no part in.
    fn goals(&self, course: &Course, frame: Frame) -> Vec<GoalFinding> {
        let trials = self.sized(Group::Throughput, frame).map(|(cell, run)| (cell.x, run));
        let range = (BitRate::new(0), BitRate::new(u64::MAX));
        let fps = |load: BitRate| float(load.bit_per_second()) / frame.wire_bits();
        let bounds = mlrsearch::search(course, range, trials).bounds();
        let goal = |(loss, bounds): (f64, Bounds)| GoalFinding {
            loss,
            lower_fps: bounds.lower.map(fps),
            upper_fps: bounds.upper.map(fps),
        };
        mlrsearch::LOSSES.into_iter().zip(bounds).map(goal).collect()
    }

    pub(super) fn frame(&self, frame: Frame) -> Option<FrameFinding> {
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
            goals: Vec::new(),
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

    pub(super) fn path_mtu(&self) -> Option<PathMtuFigures> {
        self.group(Group::PathMtu).find_map(|(_, run)| run.probe.as_ref()?.path_mtu())
    }

    /// The frame by which the bandwidth of the path was found.
    fn full_frame(&self) -> Frame {
        full_frame(self.path_mtu().as_ref())
    }

    pub(super) fn transfers(&self) -> Vec<TransferFinding> {
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
        ideal: BitRate::new(rounded(ideal)),
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
    Nanos::new(rounded(seconds * 1e9))
}
