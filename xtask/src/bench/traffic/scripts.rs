//! T1: damaged scripts by the million, and every script of the corpus over the sockets of the local testbed.

use anyhow::Context;
use anyhow::Result;
use serde_json::Value;

use super::Verb;
use super::all_of;
use super::judged;
use super::of_a_million;

pub(super) fn scripts(program: &Verb<'_>) -> Result<usize> {
    let held = of_a_million(program, "BTU_SCRIPTS", DAMAGED)?;
    let mut missed =
        judged("T1 a million damaged scripts are refused, or equal to their TOML form", held);
    for script in CORPUS {
        let file = program.repo.path(FOLDER).join(script).display().to_string();
        let result = program.measure(&format!("script-{script}"), &[&file, "--seed", "1"]);
        missed += judge(script, &result.with_context(|| format!("T1 {script} did not run"))?);
    }
    Ok(missed)
}

/// A script that runs as it is ends well, and something of each of its tests is delivered.
fn judge(script: &str, result: &Value) -> usize {
    let flows = all_of(result, "flows");
    let ended = flows.iter().filter(|flow| flow["ended"] == "complete").count();
    let moved = flows.iter().filter(|flow| flow["delivered_bytes"].as_u64() > Some(0)).count();
    let told = format!("T1 {script}: {ended} of {} flows end well, {moved} deliver", flows.len());
    let is_whole = !flows.is_empty() && ended == flows.len() && moved == flows.len();
    judged(&told, is_whole && result["complete"] == true)
}

pub(super) const DAMAGED: &str =
    "traffic::tests::t1_scripts_that_nobody_meant_are_read_or_refused_and_convert_to_equal_plans";

const FOLDER: &str = "crates/btu-core/src/traffic/testdata";
const CORPUS: [&str; 5] = ["cbr-80ms.ns", "full-stream.ns", "mixed.ns", "quirks.ns", "vbr.ns"];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_script_of_the_corpus_is_run() {
        let folder =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/btu-core/src/traffic/testdata");
        let is_script = |name: &str| Path::new(name).extension().is_some_and(|end| end == "ns");
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.into_string().unwrap());
        let mut scripts: Vec<String> = names.filter(|name| is_script(name)).collect();
        scripts.sort();
        assert_eq!(scripts, CORPUS);
        assert!(folder.ends_with(FOLDER));
    }

    #[test]
    fn a_test_that_delivers_nothing_is_missed() {
        let flow = |bytes: u64, ended: &str| serde_json::json!({ "delivered_bytes": bytes, "ended": ended });
        let whole = flow(1, "complete");
        let judged = |flows: &[&Value], complete: bool| {
            judge("a.ns", &serde_json::json!({ "complete": complete, "flows": flows }))
        };
        assert_eq!(judged(&[&whole, &whole], true), 0);
        assert_eq!(judged(&[&whole, &flow(0, "complete")], true), 1);
        assert_eq!(judged(&[&whole, &flow(1, "generator overflow")], true), 1);
        assert_eq!(judged(&[&whole], false), 1);
        assert_eq!(judged(&[], true), 1);
    }
}
