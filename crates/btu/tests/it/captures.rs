//! Second runs with capture: what they leave beside the journal, and that nothing is scored of them.

use std::path::Path;
use std::path::PathBuf;

use btu_core::capture;
use btu_core::tcp;
use btu_sys::cpu;
use serde_json::Value;

use crate::program::Cells;
use crate::program::btu;
use crate::program::lines;
use crate::program::of_kind;
use crate::program::packets_of;
use crate::program::plan_file;
use crate::program::read_json;
use crate::program::report;
use crate::program::run_of;
use crate::program::said;
use crate::program::tiny_plan;

/// A run of the tiny plan with these options.
fn run(dir: &Path, name: &str, options: &[&str]) -> PathBuf {
    let out = dir.join(name);
    let run = run_of(&tiny_plan(dir), &out).args(options).output().unwrap();
    let said = said(&run);
    assert!(matches!(run.status.code(), Some(0 | 6)), "{said}");
    out
}

/// The packets of a second run say what its sample says.
fn assert_whole(out: &Path, second: &Value) {
    let file = &second["file"];
    let packets = packets_of(out, second, 190);
    assert_eq!((&file["source"], file["lost"].as_u64()), (&"listener".into(), Some(0)), "{file}");
    let connections = tcp::analyse(&capture::read(&packets).unwrap()).connections;
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
        let again = report(&out, &["--format", format]);
        assert_eq!(again.stdout, std::fs::read(out.join(file)).unwrap(), "{format}");
    }
    a_report_is_the_same_on_one_cpu(&out);
    extracts_change_how_long_a_report_takes_and_nothing_else(&out, &second);
    extracts_stay_where_the_packets_do(&out);
    a_copy_without_packets_stays_as_it_was_signed(&out);
    a_cell_is_explained_on_request(&out, &second);
    third_parties_read_a_capture(&out, &second);
    deleted_and_changed_captures_are_named(&out, &second);
}

/// What a run leaves beside its captures: without it each packet is followed, and the same is told.
fn extracts_change_how_long_a_report_takes_and_nothing_else(out: &Path, second: &[Value]) {
    let capture = |sample: &Value| out.join(sample["file"]["path"].as_str().unwrap());
    let extracts: Vec<PathBuf> = second
        .iter()
        .map(|sample| PathBuf::from(format!("{}.extract", capture(sample).display())))
        .collect();
    let kept: Vec<Vec<u8>> = extracts.iter().map(|path| std::fs::read(path).unwrap()).collect();
    // They take what room the result and its signatures left.
    let written = |path: &Path| std::fs::metadata(path).unwrap().modified().unwrap();
    let signed = written(&out.join("signatures.json"));
    assert!(extracts.iter().all(|path| written(path) >= signed));
    let told = || {
        ["text", "md", "html", "csv", "json"].map(|form| report(out, &["--format", form]).stdout)
    };
    let by_extracts = told();
    // Packets of another content and the same length: nobody looks at them but a verification.
    let (packets, own) = (capture(&second[2]), std::fs::read(capture(&second[2])).unwrap());
    std::fs::write(&packets, vec![0; own.len()]).unwrap();
    assert!(told() == by_extracts && by_extracts.iter().all(|one| !one.is_empty()));
    assert!(verified(out).contains("changed after it was recorded"));
    std::fs::write(&packets, own).unwrap();
    assert!(!verified(out).contains("extract"), "{}", verified(out));
    std::fs::write(&extracts[0], &kept[1]).unwrap();
    std::fs::write(&extracts[1], b"torn").unwrap();
    assert!(verified(out).contains("2 extracts not used"), "{}", verified(out));
    for path in &extracts[2..] {
        std::fs::remove_file(path).unwrap();
    }
    assert!(told() == by_extracts, "what is missing, foreign or torn is passed over");
    // Where one cannot be written the files are rendered all the same, and all others.
    std::fs::create_dir(&extracts[7]).unwrap();
    let again = || btu().args(["run", "--resume"]).arg(out).output().unwrap();
    let refused = again();
    assert!(matches!(refused.status.code(), Some(0 | 6)), "{refused:?}");
    assert!(said(&refused).contains("each report follows these packets again"), "{refused:?}");
    assert!(told() == by_extracts);
    std::fs::remove_dir(&extracts[7]).unwrap();
    assert!(matches!(again().status.code(), Some(0 | 6)));
    let anew: Vec<Vec<u8>> = extracts.iter().map(|path| std::fs::read(path).unwrap()).collect();
    assert!(anew == kept);
}

/// Whoever goes on with a copy without packets sees what it holds, and what was signed stays.
fn a_copy_without_packets_stays_as_it_was_signed(out: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    std::fs::create_dir(&copy).unwrap();
    for entry in std::fs::read_dir(out).unwrap().map(Result::unwrap) {
        if entry.path().is_file() {
            std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
        }
    }
    let page = || std::fs::read(copy.join("report.html")).unwrap();
    let before = page();
    assert!(report(&copy, &["--format", "html"]).stdout != before, "it shows no packets");
    let again = btu().args(["run", "--resume"]).arg(&copy).output().unwrap();
    assert!(matches!(again.status.code(), Some(0 | 6)), "{again:?}");
    assert!(page() == before, "it was written");
    assert!(verified(&copy).contains("Verdict VALID"), "{}", verified(&copy));
}

/// What a verification says, in text.
fn verified(out: &Path) -> String {
    let verified = btu().arg("verify").arg(out).output().unwrap();
    let text = String::from_utf8(verified.stdout).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// They hold addresses, as packets do: no bundle, no manifest and no redacted result has them.
fn extracts_stay_where_the_packets_do(out: &Path) {
    let manifest = std::fs::read_to_string(out.join("manifest.json")).unwrap();
    assert!(!manifest.contains("captures/"), "{manifest}");
    let folder = tempfile::tempdir().unwrap();
    for (verb, name) in [("bundle", "result.btu"), ("redact", "redacted")] {
        let copy = folder.path().join(name);
        let made = btu().arg(verb).arg(out).arg("-o").arg(&copy).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        let text = String::from_utf8(report(&copy, &["--format", "text"]).stdout).unwrap();
        assert!(text.contains("is gone") || text.contains("captures/"), "{text}");
        assert!(!copy.join("captures").exists());
    }
}

/// Second runs are judged and drawn on all CPUs; what is read must not tell how many there were.
fn a_report_is_the_same_on_one_cpu(out: &Path) {
    let allowed = cpu::allowed().unwrap();
    if allowed.len() < 2 {
        skip!("too few CPUs: nothing to compare with");
    }
    for format in ["text", "md", "html", "csv", "json"] {
        let on_all = report(out, &["--format", format]).stdout;
        let on_one = std::thread::scope(|scope| {
            let pinned = || {
                cpu::pin(&allowed.iter().take(1).collect()).unwrap();
                report(out, &["--format", format]).stdout
            };
            scope.spawn(pinned).join().unwrap()
        });
        assert!(on_all == on_one && !on_all.is_empty(), "{format}");
    }
}

/// Wireshark's parser finds nothing to complain about, neither in the file nor in a packet.
fn third_parties_read_a_capture(out: &Path, second: &[Value]) {
    if !crate::skip::installed("tshark") {
        skip!("program missing: tshark");
    }
    for sample in [&second[0], &second[second.len() - 1]] {
        let file = out.join(sample["file"]["path"].as_str().unwrap());
        let mut tshark = std::process::Command::new("tshark");
        tshark.arg("-nr").arg(file).args(["-T", "fields", "-e", "frame.number"]);
        let fields = ["_ws.malformed", "_ws.expert.message", "_ws.expert.severity"];
        tshark.args(fields.iter().flat_map(|field| ["-e", field]));
        let read = tshark.output().unwrap();
        let (said, rows) = (said(&read), String::from_utf8(read.stdout).unwrap());
        let complaints = said.lines().filter(|line| !line.contains("as user \"root\""));
        assert_eq!(complaints.collect::<Vec<_>>(), Vec::<&str>::new());
        assert_eq!(sample["file"]["packets"], rows.lines().count());
        let wrong =
            rows.lines().find(|row| row.contains("Malformed") || row.contains(EXPERT_ERROR));
        assert_eq!(wrong, None);
    }
}

/// Severity of what Wireshark calls an error (`PI_ERROR`).
const EXPERT_ERROR: &str = "8388608";

/// Black boxes with a receive buffer of 4 KiB slow SEND down tenfold and leave RECV as it is.
const NARROW: Cells<'_> = Cells {
    cases: &["SEND", "RECV"],
    window: "150ms",
    passes: 5,
    more: "[sockets]\nblack_box_buffer = \"4KiB\"\n",
    ..Cells::SHORT
};

/// From a rule that fires to a named cause with its chart, by the program alone.
#[test]
fn an_abnormal_cell_gets_its_cause_and_its_chart() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("narrow");
    let ended = run_of(&plan_file(dir.path(), NARROW), &out).output().unwrap();
    assert!(matches!(ended.status.code(), Some(0 | 6)), "{ended:?}");
    let second = of_kind(&out, "capture");
    let narrow = second.iter().find(|one| one["run"]["case"] == "SEND").expect("a second run");
    let rules = narrow["why"].as_array().unwrap();
    assert!(rules.iter().any(|rule| rule["name"] == "asymmetry"), "{rules:?}");

    // Idle or beside an activity that does nothing: whichever of the two has an interval beyond the bound.
    let cell = &format!("SEND/video/{}", narrow["run"]["activity"].as_str().unwrap_or("none"));
    let said = btu().arg("explain").arg(&out).args([cell, "--json"]).output().unwrap();
    assert!(said.status.success(), "{said:?}");
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    let causes = said["second_runs"][0]["connections"][0]["diagnoses"].as_array().unwrap();
    let names: Vec<&Value> = causes.iter().map(|found| &found["cause"]).collect();
    assert!(names.contains(&&"small-receive-buffer".into()), "{said:#}");
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    let chart = format!("{cell}, test -&gt; active</title>");
    assert!(
        page.contains(&chart) && page.contains("small-receive-buffer"),
        "level 4 of the report"
    );
    assert!(page.contains("application/octet-stream"), "with the data to zoom into");
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
    let said = said(&wrong);
    assert_eq!(wrong.status.code(), Some(2), "{said}");
    assert!(said.contains("write ") && said.contains(cell), "{said}");
}

/// Evidence that is gone takes nothing else with it.
fn deleted_and_changed_captures_are_named(out: &Path, second: &[Value]) {
    let path = |at: usize| second[at]["file"]["path"].as_str().unwrap();
    std::fs::remove_file(out.join(path(0))).unwrap();
    std::fs::write(out.join(path(1)), b"something else").unwrap();
    let shown = report(out, &["--format", "text"]);
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
    let said = said(&wrong);
    assert!(
        said.contains("some") && said.contains("[possible values: abnormal, all, none]"),
        "{said}"
    );
}
