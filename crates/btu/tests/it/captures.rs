//! Second runs with capture: what they leave beside the journal, and that nothing is scored of them.

use std::path::Path;
use std::path::PathBuf;
use std::process::Output;

use btu_core::capture;
use btu_core::tcp;
use serde_json::Value;

use crate::program::btu;
use crate::program::lines;
use crate::program::read_json;
use crate::program::tiny_plan;

/// A run of the tiny plan with these options.
fn run(dir: &Path, name: &str, options: &[&str]) -> PathBuf {
    let out = dir.join(name);
    let mut command = btu();
    command.args(["run", "--quiet", "--plan"]).arg(tiny_plan(dir)).args(options);
    let run = command.arg("--out").arg(&out).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(matches!(run.status.code(), Some(0 | 6)), "{said}");
    out
}

fn of_kind(out: &Path, kind: &str) -> Vec<Value> {
    let all = lines(&out.join("samples.jsonl"));
    all.into_iter().filter(|line| line["kind"] == kind).collect()
}

fn report(out: &Path, format: &str) -> Output {
    btu().args(["report", "--format", format]).arg(out).output().unwrap()
}

/// The packets of a second run say what its sample says.
fn assert_whole(out: &Path, second: &Value) {
    let file = &second["file"];
    let bytes = std::fs::read(out.join(file["path"].as_str().unwrap())).unwrap();
    assert_eq!(file["blake3"], blake3::hash(&bytes).to_hex().as_str());
    let read = capture::read(&bytes).unwrap();
    assert_eq!(file["packets"], read.packets.len());
    assert_eq!((&file["source"], file["lost"].as_u64()), (&"listener".into(), Some(0)), "{file}");
    assert!(read.packets.iter().all(|packet| packet.data.len() <= 190), "headers only");
    let connections = tcp::analyse(&read).connections;
    let payload: u64 = connections.iter().map(|one| one.streams()[0].counts.new_bytes).sum();
    let delivered = second["run"]["comm"]["bytes"].as_u64().unwrap();
    // 'ready', 'go' and the receipt are bytes that nobody counts.
    assert!((delivered..delivered + 4).contains(&payload), "{payload} passed, {delivered} counted");
}

#[test]
fn every_cell_is_captured_on_request_and_nothing_of_it_is_scored() {
    let dir = tempfile::tempdir().unwrap();
    let out = run(dir.path(), "all", &["--capture", "all"]);
    let second = of_kind(&out, "capture");
    assert_eq!(second.len(), 2 * 2 * 2, "every cell once");
    for sample in &second {
        assert_eq!(sample["run"]["pass"], 0);
        assert_whole(&out, sample);
    }
    let result = read_json(&out.join("result.json"));
    assert_eq!(result["cells"].as_array().unwrap().len(), 2 * second.len(), "two passes");
    let last_scored = lines(&out.join("samples.jsonl"));
    let last_scored = last_scored.iter().rposition(|line| line["kind"] != "capture").unwrap();
    assert_eq!(last_scored + 1 + second.len(), lines(&out.join("samples.jsonl")).len());
    for (format, file) in [("json", "result.json"), ("html", "report.html")] {
        let again = report(&out, format);
        assert_eq!(again.stdout, std::fs::read(out.join(file)).unwrap(), "{format}");
    }
    a_cell_is_explained_on_request(&out, &second);
    deleted_and_changed_captures_are_named(&out, &second);
}

fn a_cell_is_explained_on_request(out: &Path, second: &[Value]) {
    let explain = |args: &[&str]| btu().arg("explain").arg(out).args(args).output().unwrap();
    let all: Value = serde_json::from_slice(&explain(&["--json"]).stdout).unwrap();
    let all = all["second_runs"].as_array().unwrap();
    assert_eq!(all.len(), second.len());
    assert!(all.iter().all(|run| run["connections"][0]["in_capture"] == true), "{all:?}");
    let cell = all[3]["cell"].as_str().unwrap();
    let text = String::from_utf8(explain(&[cell]).stdout).unwrap();
    assert!(text.contains(&format!("{cell}: ")) && text.contains("Evidence"), "{text}");
    let others = all.iter().filter(|run| run["cell"] != cell);
    assert!(others.into_iter().all(|run| !text.contains(run["cell"].as_str().unwrap())), "{text}");
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("id=\"sequence-1\""), "level 4 has charts");
    assert!(page.contains("kB of congestion window"), "with the window of the sender");
    assert!(!page.contains("the first write is not in the capture"), "both clocks meet in it");
    let wrong = explain(&["SEND/nothing/none"]);
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert_eq!(wrong.status.code(), Some(2), "{said}");
    assert!(said.contains("write ") && said.contains(cell), "{said}");
}

/// Evidence that is gone takes nothing else with it.
fn deleted_and_changed_captures_are_named(out: &Path, second: &[Value]) {
    let path = |at: usize| second[at]["file"]["path"].as_str().unwrap();
    std::fs::remove_file(out.join(path(0))).unwrap();
    std::fs::write(out.join(path(1)), b"something else").unwrap();
    let shown = report(out, "text");
    assert_eq!(shown.status.code(), Some(0));
    let text = String::from_utf8(shown.stdout).unwrap();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("{} is gone", path(0))), "{text}");
    assert!(words.contains(&format!("{} is not the file that was written", path(1))), "{text}");
    assert!(words.contains("sender CPU of the data thread"), "the hosts' evidence stays: {text}");
}

#[test]
fn no_cell_is_captured_where_nobody_wants_it() {
    let dir = tempfile::tempdir().unwrap();
    let out = run(dir.path(), "none", &["--capture", "none"]);
    assert_eq!(of_kind(&out, "capture").len(), 0);
    assert!(!out.join("captures").exists());
    let plan = std::fs::read_to_string(out.join("plan.toml")).unwrap();
    assert!(plan.contains("[capture]\ncells = \"none\""), "{plan}");
    let wrong = btu().args(["run", "--capture", "some"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(said.contains("some") && said.contains("write abnormal, all or none"), "{said}");
}
