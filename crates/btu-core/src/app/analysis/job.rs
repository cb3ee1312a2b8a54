//! A program over one layer: its times, beside those over the fastest layer.

use super::super::sample::Job;
use super::super::sample::LaunchSample;
use super::launch::Launch;
use super::split::Shares;
use super::split::Undivided;
use super::traffic::Traffic;
use crate::stats::Interval;
use crate::stats::geometric_mean;
use crate::stats::median;
use crate::stats::student_on_logs;

/// A program over one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct JobFigures {
    /// Which.
    pub job: Job,
    /// Every launch, in the order of rounds.
    pub launches: Vec<Launch>,
    /// How long it takes; `None` where no launch was verified.
    pub elapsed: Option<Elapsed>,
    /// How much longer than over the fastest layer; `None` over that one, and where no round has both.
    pub ratio: Option<Ratio>,
    /// Where the time of the median launch goes.
    pub split: Result<Shares, Undivided>,
    /// What is passed; `None` where no launch came to its end.
    pub traffic: Option<Traffic>,
}

/// How long a job takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elapsed {
    /// The median over launches.
    pub median_s: f64,
    /// The 95 % interval: Student's t over launches, on logs; `None` below three.
    pub interval_s: Option<Interval>,
}

/// The time over one layer by that over another.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    /// The layer of the divisor.
    pub to: String,
    /// The geometric mean over rounds, each of which has both.
    pub ratio: f64,
    /// The 95 % interval: Student's t over rounds, on logs; `None` below three.
    pub interval: Option<Interval>,
    /// So many rounds.
    pub rounds: usize,
}

impl JobFigures {
    /// Those of a job, out of these launches.
    pub(super) fn of(job: Job, samples: &[&LaunchSample]) -> Self {
        let own: Vec<&LaunchSample> =
            samples.iter().copied().filter(|sample| sample.job == job).collect();
        let launches: Vec<Launch> = own.iter().map(|sample| Launch::of(sample)).collect();
        let middle = middle(&launches).map(|place| Shares::of(own[place]));
        Self {
            elapsed: Elapsed::of(&launches),
            ratio: None,
            split: middle.unwrap_or(Err(Undivided::Untimed)),
            traffic: Traffic::of(&own),
            job,
            launches,
        }
    }

    fn median_s(&self) -> f64 {
        self.elapsed.map_or(f64::INFINITY, |elapsed| elapsed.median_s)
    }

    /// The time of the launch of a round.
    pub(super) fn in_round(&self, round: u32) -> Option<f64> {
        self.launches.iter().find(|launch| launch.round == round)?.elapsed_s
    }

    /// The ratio to another, out of the rounds that have both.
    fn beside(&self, other: &Self) -> Option<Ratio> {
        let ratio = |launch: &Launch| Some(launch.elapsed_s? / other.in_round(launch.round)?);
        let ratios: Vec<f64> = self.launches.iter().filter_map(ratio).collect();
        ratio_of(&other.job.layer, &ratios)
    }
}

impl Elapsed {
    fn of(launches: &[Launch]) -> Option<Self> {
        let times: Vec<f64> = launches.iter().filter_map(|launch| launch.elapsed_s).collect();
        Some(Self { median_s: median(&times)?, interval_s: interval(&times) })
    }
}

/// The ratio to a layer, out of one for each round.
pub(super) fn ratio_of(layer: &str, ratios: &[f64]) -> Option<Ratio> {
    Some(Ratio {
        to: layer.to_owned(),
        ratio: geometric_mean(ratios)?,
        interval: interval(ratios),
        rounds: ratios.len(),
    })
}

/// The layer with the smallest median.
pub(super) fn fastest(jobs: &[JobFigures]) -> Option<&JobFigures> {
    let timed = jobs.iter().filter(|job| job.elapsed.is_some());
    timed.min_by(|one, other| one.median_s().total_cmp(&other.median_s()))
}

/// The same jobs, each with its ratio to the fastest of them.
pub(super) fn beside_the_fastest(mut jobs: Vec<JobFigures>) -> Vec<JobFigures> {
    let Some(base) = fastest(&jobs).cloned() else { return jobs };
    for job in jobs.iter_mut().filter(|job| job.job != base.job) {
        job.ratio = job.beside(&base);
    }
    jobs
}

/// The place of the launch with the median time, of two the faster one.
fn middle(launches: &[Launch]) -> Option<usize> {
    let timed = launches.iter().enumerate();
    let mut timed: Vec<(usize, f64)> =
        timed.filter_map(|(place, launch)| Some((place, launch.elapsed_s?))).collect();
    timed.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let place = timed.len().checked_sub(1)? / 2;
    timed.get(place).map(|(place, _)| *place)
}

fn interval(values: &[f64]) -> Option<Interval> {
    if values.len() < LEAST { None } else { student_on_logs(values) }
}

/// Two values have an interval that is right and useless.
const LEAST: usize = 3;
