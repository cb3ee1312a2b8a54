//! Two results of `btu run`.

use btu_core::comparison::changed_facts;
use btu_core::comparison::changed_handshakes;
use btu_core::comparison::compare as comparison_of;
use btu_core::comparison::surroundings;
use btu_core::journal::Journal;
use btu_core::ranking::Difference;
use btu_core::ranking::different_cells;
use btu_core::run::analysis::Analysis;
use btu_report::ComparisonDocument;
use btu_report::Side;

use super::ALTERED_HINT;
use super::CompareArgs;
use super::FORCE_HINT;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::stored;
use crate::stored::NamedRun;

/// Compares two runs, by their names or paths.
pub(super) fn compare(args: &CompareArgs, given: &[String]) -> Result<Exit, Failure> {
    let runs = stored::open_all(given)?;
    let mut found = stored::differing(&runs);
    let journals: Vec<&Journal> = runs.iter().map(|run| &run.journal).collect();
    found.extend(different_cells(&journals));
    let is_fair = found.is_empty();
    found.extend(altered(&runs).filter(|_| !args.fail_if.is_empty()));
    if !found.is_empty() && !args.force {
        if args.rendering.is_json() {
            stored::not_comparable_json(&found, &runs)?;
        }
        let hint = if is_fair { ALTERED_HINT } else { FORCE_HINT };
        return Err(stored::not_comparable(&found, &runs).hint(hint));
    }
    let [before, after] = &runs[..] else {
        return Err(Failure::usage(anyhow::anyhow!("two results are compared")));
    };
    if before.is_measured_as(after) {
        let (one, other) = (&after.name, &before.name);
        output::message(&format!("{one} is the same measurement as {other}: nothing differs"));
    }
    let comparison = comparison_of(&before.analysis, &after.analysis);
    let outcomes = args.judged(&comparison)?;
    let exit = super::exit(&outcomes);
    let mut facts = changed_facts(&before.journal.hosts, &after.journal.hosts);
    facts.extend(changed_handshakes(&before.journal, &after.journal));
    let meanwhile = surroundings(measured(before), measured(after));
    let differences = stored::told(&found, &runs);
    let document = ComparisonDocument::of(
        [side(before), side(after)],
        &comparison,
        differences,
        (meanwhile, facts),
        outcomes,
    );
    let composed = btu_report::compose_comparison(&document);
    args.rendering.write(|format| {
        btu_report::render_comparison(format, &composed, &document).map_err(Failure::usage)
    })?;
    Ok(exit)
}

/// A condition is asked by who acts on its answer unseen: of a result that is not what was measured it has none.
/// `None` where neither was altered.
fn altered(runs: &[NamedRun]) -> Option<Difference> {
    let told: Vec<String> = runs
        .iter()
        .map(|run| {
            run.altered().first().cloned().unwrap_or_else(|| "as it was measured".to_owned())
        })
        .collect();
    let is_any = runs.iter().any(|run| !run.altered().is_empty());
    let values = told.into_iter().zip(0..).map(|(told, number)| (told, vec![number])).collect();
    is_any.then_some(Difference { field: "verification", values })
}

fn measured(run: &NamedRun) -> (&Journal, &Analysis) {
    (&run.journal, &run.analysis)
}

fn side(run: &NamedRun) -> Side {
    let trust = run.verification.tier.words();
    Side::of(&run.name, measured(run), trust, run.altered())
}
