//! The verb `rank`: many results in one table, by BTU, with shared ranks.

use btu_core::ranking::Setting;
use btu_report::Candidate;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::rendering::Rendering;
use crate::stored;
use crate::stored::NamedRun;

/// Options of `btu rank`.
#[derive(Debug, clap::Args)]
pub(crate) struct RankArgs {
    /// Directories of results, or bundles; NAME=DIR gives one a name of your own
    #[arg(value_name = "[NAME=]DIR|FILE", required = true)]
    results: Vec<String>,
    /// Show results that may not be ranked among the others, marked; it is no ranking then
    #[arg(long)]
    unranked: bool,
    #[command(flatten)]
    rendering: Rendering,
}

/// Runs the verb.
pub(crate) fn rank(args: &RankArgs) -> Result<Exit, Failure> {
    let runs = once_each(stored::open_all(&args.results)?);
    let found = stored::differing(&runs);
    if !found.is_empty() {
        if args.rendering.is_json() {
            stored::not_comparable_json(&found, &runs)?;
        }
        return Err(stored::not_comparable(&found, &runs)
            .hint("rank results of one edition, preset, testbed class, link and emulation"));
    }
    let setting = runs.first().map(|run| Setting::of(&run.journal));
    let candidates = runs.iter().map(candidate).collect();
    let ranking = btu_report::ranking(candidates, setting.as_ref(), args.unranked);
    let document = btu_report::compose_ranking(&ranking);
    args.rendering.write(|format| {
        btu_report::render_ranking(format, &document, &ranking).map_err(Failure::usage)
    })?;
    if !ranking.hosts.is_empty() {
        return Ok(Exit::Done);
    }
    output::message("btu: none of these results may be ranked");
    output::message("hint: --unranked shows them in order all the same, marked");
    Ok(Exit::Incomparable)
}

/// Each result once, whatever copies of it were named: a host is no rival of its own. The copy that is
/// worth most counts; of equals the one that was named first.
fn once_each(runs: Vec<NamedRun>) -> Vec<NamedRun> {
    let mut kept: Vec<NamedRun> = Vec::new();
    for mut run in runs {
        let Some(other) = kept.iter_mut().find(|other| other.is_measured_as(&run)) else {
            kept.push(run);
            continue;
        };
        if run.worth() > other.worth() {
            std::mem::swap(&mut run, other);
        }
        let (left_out, counts) = (&run.name, &other.name);
        output::message(&format!(
            "{left_out} is the same measurement as {counts}: it counts once, as {counts}"
        ));
    }
    kept
}

fn candidate(run: &NamedRun) -> Candidate {
    let trust = run.verification.tier.words();
    Candidate::of(&run.name, &run.journal, &run.analysis, trust, &run.altered())
}
