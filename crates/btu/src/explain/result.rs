//! `btu explain DIR [CELL]`: why the abnormal cells of a result behave so.

use anyhow::anyhow;
use btu_core::diagnosis::Worked;
use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::CongestionWindow;
use btu_core::run::analysis::Followed;
use btu_core::run::analysis::Omitted;
use btu_core::run::analysis::SecondRun;
use btu_report::Captures;
use btu_report::OpenMode;
use btu_report::ResultFiles;
use serde_json::Value;
use serde_json::json;

use super::ExplainArgs;
use super::write;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;

/// Explains every second run of the result, or that of one cell.
pub(super) fn explain(args: &ExplainArgs) -> Result<Exit, Failure> {
    refuse_options_of_files(args)?;
    let files = ResultFiles::read(&args.file).map_err(Failure::usage)?;
    refuse_other_verbs(args, &files)?;
    let opened = btu_report::open_files(&files, OpenMode::Strict).map_err(Failure::unreadable)?;
    let analysis = opened.analyse(Captures::Followed);
    let chosen = chosen(args, &analysis)?;
    let omitted = if args.cell.is_some() { &[][..] } else { &analysis.omitted };
    let document = btu_report::compose_second_runs(&opened.journal, &chosen, omitted);
    if let Some(file) = &args.html {
        write(file, &btu_report::explained_html(&document))?;
    }
    if args.json {
        let runs: Vec<Value> = chosen.iter().map(|run| described(run)).collect();
        let omitted: Vec<Value> = omitted.iter().map(left_out).collect();
        output::json(&json!({
            "schema_version": btu_report::SECOND_RUNS_SCHEMA_VERSION,
            "second_runs": runs,
            "not_run_again": omitted,
        }))?;
    } else {
        output::result(&btu_report::explained_text(&document))?;
    }
    Ok(Exit::Done)
}

/// Other verbs have no cells; their reports explain themselves.
fn refuse_other_verbs(args: &ExplainArgs, files: &ResultFiles) -> Result<(), Failure> {
    if files.is_run() {
        return Ok(());
    }
    let (dir, verb) = (args.file.display(), files.kind().verb);
    let cause = anyhow!("{dir}: the result of btu {verb}, which has no cells; btu run has");
    Err(Failure::usage(cause).hint(format!("btu report {dir} tells what was found")))
}

/// What belongs to one capture file is asked of that file.
fn refuse_options_of_files(args: &ExplainArgs) -> Result<(), Failure> {
    let given = [
        (args.connection.is_some(), "--connection"),
        (args.xplot.is_some(), "--xplot"),
        (args.pcapng.is_some(), "--pcapng"),
    ];
    let Some((_, option)) = given.into_iter().find(|(given, _)| *given) else { return Ok(()) };
    let dir = args.file.display();
    let cause = anyhow!("{option}: {dir} is a directory; name one of {dir}/captures");
    Err(Failure::usage(cause))
}

fn chosen<'r>(args: &ExplainArgs, analysis: &'r Analysis) -> Result<Vec<&'r SecondRun>, Failure> {
    let (dir, runs) = (args.file.display(), &analysis.second_runs);
    if runs.is_empty() && analysis.omitted.is_empty() {
        let cause = anyhow!("{dir}: no cell of it was run again with capture");
        let hint = "no rule called one abnormal; btu run --capture all captures every cell";
        return Err(Failure::usage(cause).hint(hint));
    }
    let Some(wanted) = &args.cell else { return Ok(runs.iter().collect()) };
    if let Some(omitted) = analysis.omitted.iter().find(|one| one.cell.id() == *wanted) {
        let cause = anyhow!("{wanted}: {dir} has no second run of it: {}", omitted.reason.words());
        return Err(Failure::usage(cause).hint(omitted.command()));
    }
    let found: Vec<&SecondRun> = runs.iter().filter(|run| run.cell.id() == *wanted).collect();
    if found.is_empty() {
        let legal: Vec<String> = runs.iter().map(|run| run.cell.id()).collect();
        let remedy = match &legal[..] {
            [] => "nor of any other".to_owned(),
            legal => format!("write {}", legal.join(", ")),
        };
        let cause = anyhow!("{wanted}: no second run of {dir} is of that cell; {remedy}");
        return Err(Failure::usage(cause));
    }
    Ok(found)
}

/// A cell that was due for a second run and has none.
fn left_out(one: &Omitted) -> Value {
    json!({
        "cell": one.cell.id(),
        "why": one.why,
        "reason": one.reason.words(),
        "command": one.command(),
    })
}

fn described(run: &SecondRun) -> Value {
    let file = run.file.as_ref();
    json!({
        "cell": run.cell.id(),
        "why": run.why,
        "goodput_mbps": run.goodput_mbps,
        "file": file.map(|file| &file.path),
        "packets": file.map(|file| file.packets),
        "lost": file.map(|file| file.lost),
        "no_packets": run.no_packets,
        "missing": run.missing,
        "connections": run.connections.iter().map(connection).collect::<Vec<Value>>(),
    })
}

fn connection(one: &Followed) -> Value {
    json!({
        "peer": one.peer,
        "direction": one.direction,
        "in_capture": one.connection.is_some(),
        "counts": one.connection.as_ref().map(|found| found.outline.counts),
        "worked": Worked::of(&one.evidence),
        "covered_share": one.evidence.covered.map(|covered| covered.share().share()),
        "lost_packets": one.evidence.lost_packets,
        "congestion_window": window(&one.congestion),
        "diagnoses": one.diagnoses,
    })
}

/// The readings, as columns, or why there are none.
fn window(congestion: &CongestionWindow) -> Value {
    let at_ns: Vec<u64> = congestion.readings.iter().map(|(at, _)| at.count()).collect();
    let bytes: Vec<u64> = congestion.readings.iter().map(|(_, bytes)| bytes.count()).collect();
    json!({ "at_ns": at_ns, "bytes": bytes, "missing": congestion.missing })
}
