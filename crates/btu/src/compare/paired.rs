//! Two results of a verb with a plan of its own.

use anyhow::anyhow;
use btu_core::comparison::FactChange;
use btu_core::comparison::changed_facts;
use btu_core::comparison::changed_plan;
use btu_core::comparison::is_ruled;
use btu_core::comparison::paired;
use btu_core::journal::file;
use btu_report::PairedDocument;
use btu_report::PairedSide;
use btu_report::ResultFiles;

use super::ALTERED_HINT;
use super::CompareArgs;
use super::FORCE_HINT;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::stored::NamedResult;

/// Compares two results of this verb.
pub(super) fn compare(
    args: &CompareArgs,
    verb: &'static str,
    [first, second]: [(String, ResultFiles); 2],
) -> Result<Exit, Failure> {
    let open = |(name, files)| NamedResult::of(name, files).map_err(Failure::unreadable);
    let [before, after] = named_apart([open(first)?, open(second)?]);
    crate::report::warn(before.stored.warnings());
    crate::report::warn(after.stored.warnings());
    let [first, second] = [before.stored.by_round(), after.stored.by_round()];
    let (found, plan): (Vec<_>, Vec<_>) = changed_plan(before.plan(), after.plan())
        .into_iter()
        .partition(|one| is_ruled(&one.name, first.rules));
    refuse(args, &found, [&before, &after])?;
    if before.files.get(file::SAMPLES) == after.files.get(file::SAMPLES) {
        let (one, other) = (&after.name, &before.name);
        output::message(&format!("{one} is the same measurement as {other}: nothing differs"));
    }
    let paired = paired(&first, &second);
    let outcomes = args.judged(&paired.comparison)?;
    let exit = super::exit(&outcomes);
    let facts = changed_facts(before.stored.hosts(), after.stored.hosts());
    let differences = told(&found, [&before, &after]);
    let sides = [side(&before), side(&after)];
    let document = PairedDocument::of(verb, sides, &paired, differences, [plan, facts], outcomes);
    args.rendering.write(|format| document.render(format).map_err(Failure::usage))?;
    Ok(exit)
}

/// Two results of one name are called by where they lie.
fn named_apart(mut both: [NamedResult; 2]) -> [NamedResult; 2] {
    if both[0].name == both[1].name {
        for one in &mut both {
            one.name = one.files.origin().display().to_string();
        }
    }
    both
}

/// Results of different things, and a condition of one that was altered (docs/decisions/0144).
fn refuse(
    args: &CompareArgs,
    found: &[FactChange],
    both: [&NamedResult; 2],
) -> Result<(), Failure> {
    let altered = altered(both).filter(|_| !args.fail_if.is_empty());
    let all: Vec<FactChange> = found.iter().cloned().chain(altered).collect();
    if all.is_empty() || args.force {
        return Ok(());
    }
    if args.rendering.is_json() {
        output::json(&not_comparable(&all, both))?;
    }
    let lines = told(&all, both).join("\n  ");
    let cause = anyhow!("these results are not comparable:\n  {lines}");
    let hint = if found.is_empty() { ALTERED_HINT } else { FORCE_HINT };
    Err(Failure { exit: Exit::Incomparable, cause, hint: None }.hint(hint))
}

/// Which side is not as it was measured; `None` where both are.
fn altered(both: [&NamedResult; 2]) -> Option<FactChange> {
    let first = |one: &NamedResult| one.altered().first().cloned();
    let [before, after] = both.map(first);
    if before.is_none() && after.is_none() {
        return None;
    }
    let text = |told: Option<String>| told.unwrap_or_else(|| "as it was measured".to_owned());
    let (before, after) = (text(before), text(after));
    Some(FactChange { name: "verification".to_owned(), before, after })
}

/// `class: S (before); W (after)`
fn told(found: &[FactChange], [before, after]: [&NamedResult; 2]) -> Vec<String> {
    let (first, second) = (&before.name, &after.name);
    let line = |one: &FactChange| {
        format!("{}: {} ({first}); {} ({second})", one.name, one.before, one.after)
    };
    found.iter().map(line).collect()
}

fn not_comparable(found: &[FactChange], [before, after]: [&NamedResult; 2]) -> serde_json::Value {
    let difference = |one: &FactChange| {
        let value = |value: &String, name: &String| serde_json::json!({ "value": value, "results": [name] });
        let values = [value(&one.before, &before.name), value(&one.after, &after.name)];
        serde_json::json!({ "field": one.name, "values": values })
    };
    let all: Vec<_> = found.iter().map(difference).collect();
    serde_json::json!({ "comparable": false, "differences": all })
}

fn side(one: &NamedResult) -> PairedSide {
    let trust = one.verification.tier.words();
    PairedSide::of(&one.name, &*one.stored, trust, one.altered())
}
