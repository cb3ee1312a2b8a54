//! What a journal of applications says: times over each layer, where they went, what was passed, whether it is right.
//!
//! A pure function of the journal. Launches that did not verify have no time.

mod job;
mod launch;
mod overall;
mod sameness;
mod split;
mod traffic;

use super::class::ProblemClass;
use super::journal::Journal;
use super::kernel::Check;
use super::oracle::Agreement;
use super::plan::Program;
use super::sample::LaunchSample;
use super::sample::Line;

pub use job::Elapsed;
pub use job::JobFigures;
pub use job::Ratio;
pub use launch::Launch;
pub use launch::Verdict;
pub use overall::LayerFigures;
pub use sameness::Sameness;
pub use split::Shares;
pub use split::Undivided;
pub use traffic::Traffic;

/// What a journal says.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The programs, in the order of the plan.
    pub programs: Vec<ProgramFigures>,
    /// The layers over all programs, the fastest first.
    pub layers: Vec<LayerFigures>,
    /// What was asked for and is not there, with the reason.
    pub missing: Vec<(String, String)>,
    /// False where the measurement was cut short, or something in it is wrong.
    pub complete: bool,
}

/// A kernel with a number of ranks, over every layer.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramFigures {
    /// Which.
    pub program: Program,
    /// How large its problem is.
    pub class: ProblemClass,
    /// Over each layer, in the order of the plan.
    pub jobs: Vec<JobFigures>,
    /// Whether it passed what the benchmark passes; `None` where no launch came to its end.
    pub agreement: Option<Agreement>,
    /// Whether it found the same bits in every launch.
    pub outcomes: Sameness,
    /// Whether it passed the same in every launch.
    pub traffic: Sameness,
    /// What was verified in the first launch that came so far, rank by rank.
    pub checks: Vec<(u32, Check)>,
}

/// What a journal says.
pub fn analyse(journal: &Journal) -> Analysis {
    let samples = samples(&journal.lines);
    let programs = journal.plan.programs.iter();
    let programs: Vec<_> = programs.map(|program| figures(journal, program, &samples)).collect();
    let missing = journal.lines.iter().filter_map(|line| match line {
        Line::AppMissing { what, reason } => Some((what.clone(), reason.clone())),
        Line::AppLaunch(_) => None,
    });
    let layers = overall::layers(&programs);
    let missing = missing.collect();
    let mut analysis = Analysis { programs, layers, missing, complete: false };
    analysis.complete = journal.is_complete() && !analysis.has_faults();
    analysis
}

fn samples(lines: &[Line]) -> Vec<&LaunchSample> {
    let launches = lines.iter().filter_map(|line| match line {
        Line::AppLaunch(sample) => Some(&**sample),
        Line::AppMissing { .. } => None,
    });
    launches.collect()
}

fn figures(journal: &Journal, program: &Program, samples: &[&LaunchSample]) -> ProgramFigures {
    let plan = &journal.plan;
    let jobs: Vec<_> = plan.layers.iter().map(|layer| plan.job(program, layer)).collect();
    let own: Vec<&LaunchSample> =
        samples.iter().copied().filter(|sample| jobs.contains(&sample.job)).collect();
    let jobs = jobs.into_iter().map(|job| JobFigures::of(job, &own)).collect();
    let whole: Vec<&LaunchSample> =
        own.iter().copied().filter(|sample| launch::is_whole(sample)).collect();
    let first = whole.first();
    let agreement = first.map(|sample| {
        Agreement::of(&program.kernel, plan.class, program.ranks, &traffic::total(sample))
    });
    ProgramFigures {
        program: program.clone(),
        class: plan.class,
        jobs: job::beside_the_fastest(jobs),
        agreement,
        outcomes: sameness::of(&whole, sameness::bits),
        traffic: sameness::of(&whole, traffic::by_rank),
        checks: first.map_or_else(Vec::new, |sample| launch::checks(sample)),
    }
}

impl ProgramFigures {
    /// The layer over which it is fastest.
    pub fn fastest(&self) -> Option<&JobFigures> {
        job::fastest(&self.jobs)
    }

    /// Every launch over every layer.
    pub fn launches(&self) -> impl Iterator<Item = (&JobFigures, &Launch)> {
        self.jobs.iter().flat_map(|job| job.launches.iter().map(move |launch| (job, launch)))
    }

    /// True where every launch that there is was verified, and there is one.
    pub fn is_verified(&self) -> bool {
        let mut launches = self.launches().peekable();
        launches.peek().is_some() && launches.all(|(_, one)| one.verdict == Verdict::Verified)
    }

    /// What is wrong with what all launches share.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.outcomes == Sameness::Different {
            faults.push("its launches found different bits".to_owned());
        }
        if self.traffic == Sameness::Different {
            faults.push("its launches passed different messages".to_owned());
        }
        if let Some(Agreement::Differs(figures)) = &self.agreement {
            let figures = figures.join("; ");
            faults.push(format!("it passed other messages than the benchmark: {figures}"));
        }
        faults
    }
}

impl Analysis {
    /// True where a launch failed or was not verified, or launches differ in what never may.
    pub fn has_faults(&self) -> bool {
        self.wrong().next().is_some() || self.programs.iter().any(|one| !one.faults().is_empty())
    }

    /// Launches that have no time, with their programs and layers.
    pub fn wrong(&self) -> impl Iterator<Item = (&ProgramFigures, &JobFigures, &Launch)> {
        let of = |program| {
            ProgramFigures::launches(program).map(move |(job, launch)| (program, job, launch))
        };
        self.programs.iter().flat_map(of).filter(|(.., one)| one.verdict != Verdict::Verified)
    }
}

#[cfg(test)]
mod tests;
