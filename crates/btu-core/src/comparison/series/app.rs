//! Parallel applications by round: the time of each program over each layer.

use super::Better;
use super::ByRound;
use super::Series;
use super::part;
use crate::app::analysis::Analysis;
use crate::app::analysis::JobFigures;

impl ByRound {
    /// Applications; a launch that was not verified has no time.
    pub fn of_app(analysis: &Analysis) -> Self {
        let jobs = analysis.programs.iter().flat_map(|program| &program.jobs);
        Self {
            series: jobs.filter_map(time).collect(),
            rules: &["class", "path", "wait"],
            legal: "job.KERNEL/RANKS/LAYER.time",
        }
    }
}

fn time(job: &JobFigures) -> Option<Series> {
    let name = [part(&job.job.kernel), job.job.ranks.to_string(), part(&job.job.layer)];
    let rounds = job.launches.iter().filter_map(|launch| launch.elapsed_s).collect();
    Series::of(format!("job.{}.time", name.join("/")), "s", Better::Lower, rounds)
}
