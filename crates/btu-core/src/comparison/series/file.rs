//! A file service by round: the rate of each trial, and what it cost its server.

use super::Better;
use super::ByRound;
use super::Series;
use super::part;
use crate::file::Journal;
use crate::file::round::Round;
use crate::file::sample::Direction;
use crate::file::sample::Line;
use crate::file::sample::Trial;
use crate::file::sample::TrialSample;

impl ByRound {
    /// A file service; a round with a failure has no figure, and one that warms up is none.
    pub fn of_file(journal: &Journal) -> Self {
        let trials = journal.plan.trials();
        Self {
            series: trials.iter().flat_map(|trial| figures(journal, trial)).collect(),
            rules: &["path"],
            legal: "trial.PROTOCOL/OPERATION/DIRECTION/BYTES/CLIENTS/MTU/HELD.rate (or .server_cpu)",
        }
    }
}

fn figures(journal: &Journal, trial: &Trial) -> impl Iterator<Item = Series> {
    let lines = journal.lines.iter().filter_map(Line::trial);
    let is_counted = |sample: &&TrialSample| !sample.warm_up && sample.trial.is_like(trial);
    let rounds: Vec<Round<'_>> = lines.filter(is_counted).filter_map(Round::of).collect();
    let name = name(trial);
    let rate = rounds.iter().map(Round::total_kib_s).collect();
    let cost = rounds.iter().filter_map(Round::cpu_s_per_gib).collect();
    let rate = Series::of(format!("{name}.rate"), "KiB/s", Better::Higher, rate);
    let cost = Series::of(format!("{name}.server_cpu"), "s/GiB", Better::Lower, cost);
    rate.into_iter().chain(cost)
}

/// `trial.ftp/get/a-to-b/1048576/2/own/cold`
fn name(trial: &Trial) -> String {
    let mtu = trial.mtu_bytes.map_or_else(|| "own".to_owned(), |mtu| mtu.count().to_string());
    let parts = [
        part(&trial.protocol),
        trial.operation.name().to_owned(),
        way(trial.direction).to_owned(),
        trial.size_bytes.count().to_string(),
        trial.clients.to_string(),
        mtu,
        trial.held.name().to_owned(),
    ];
    format!("trial.{}", parts.join("/"))
}

/// Without what divides names, and conditions.
const fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::AToB => "a-to-b",
        Direction::BToA => "b-to-a",
        Direction::Both => "both",
        Direction::WithinA => "within-a",
        Direction::WithinB => "within-b",
    }
}
