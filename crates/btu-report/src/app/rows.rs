//! One row per launch, for spreadsheets and statistics programs.

use btu_core::app::analysis::Analysis;
use btu_core::app::analysis::Launch;
use btu_core::app::analysis::ProgramFigures;
use btu_core::app::analysis::Verdict;
use btu_core::app::journal::Journal;
use btu_core::app::ranks::Tally;
use btu_core::app::sample::LaunchSample;
use btu_core::app::sample::Line;
use btu_core::app::sample::RankSample;
use btu_core::units::Nanos;

/// The head and the rows.
pub(crate) fn csv_rows(journal: &Journal, analysis: &Analysis) -> Vec<Vec<String>> {
    let head = COLUMNS.map(ToOwned::to_owned).to_vec();
    let rows = journal.lines.iter().filter_map(|line| {
        let Line::AppLaunch(sample) = line else { return None };
        Some(row(sample, judged(analysis, sample)?))
    });
    std::iter::once(head).chain(rows).collect()
}

const COLUMNS: [&str; 19] = [
    "kernel",
    "class",
    "ranks",
    "layer",
    "wait",
    "round",
    "position",
    "started_at",
    "elapsed_s",
    "verdict",
    "wait_ns_all_ranks",
    "transfer_ns_all_ranks",
    "cpu_ns_all_ranks",
    "run_delay_ns_all_ranks",
    "messages",
    "message_bytes",
    "cpus",
    "detail",
    "flags",
];

/// The launch of the analysis that a sample became.
fn judged<'a>(analysis: &'a Analysis, sample: &LaunchSample) -> Option<&'a Launch> {
    let mut all = analysis.programs.iter().flat_map(ProgramFigures::launches);
    let is_it =
        |(round, position): (u32, u32)| (round, position) == (sample.round, sample.position);
    all.find(|(job, launch)| job.job == sample.job && is_it((launch.round, launch.position)))
        .map(|(_, launch)| launch)
}

fn row(sample: &LaunchSample, launch: &Launch) -> Vec<String> {
    let (job, mut tally) = (&sample.job, Tally::default());
    sample.ranks.iter().for_each(|rank| tally.join(&rank.tally));
    let (verdict, detail) = match &launch.verdict {
        Verdict::Failed(why) => ("failed", why.as_str()),
        Verdict::Verified => ("verified", ""),
        Verdict::Wrong(what) => ("wrong", what.as_str()),
    };
    let flags: Vec<&str> = sample.flags.iter().map(|flag| flag.name.as_str()).collect();
    vec![
        job.kernel.clone(),
        job.class.to_string(),
        job.ranks.to_string(),
        job.layer.clone(),
        job.wait.to_string(),
        sample.round.to_string(),
        sample.position.to_string(),
        sample.started_at.clone(),
        launch.elapsed_s.map_or_else(String::new, |elapsed| elapsed.to_string()),
        verdict.to_owned(),
        sum(sample, |rank| Some(rank.split.wait_ns)),
        sum(sample, |rank| Some(rank.split.transfer_ns)),
        sum(sample, |rank| rank.cpu_ns),
        sum(sample, |rank| rank.run_delay_ns),
        tally.messages.count.to_string(),
        tally.messages.bytes.count().to_string(),
        sample.cpus.to_string(),
        detail.to_owned(),
        flags.join(" "),
    ]
}

/// Over all ranks; nothing where one of them does not know.
fn sum(sample: &LaunchSample, part: impl Fn(&RankSample) -> Option<Nanos>) -> String {
    let parts: Option<Vec<u64>> =
        sample.ranks.iter().map(|rank| part(rank).map(Nanos::count)).collect();
    parts.map_or_else(String::new, |parts| parts.iter().sum::<u64>().to_string())
}
