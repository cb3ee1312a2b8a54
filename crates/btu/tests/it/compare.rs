//! `btu compare`: what changed between two results, for people and for CI.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::said;
use crate::program::tiny_run;
use crate::quick::quick_run;
use crate::trust::copied;

/// Makes every run of a stored result twice as slow.
fn slowed(folder: &Path) {
    with_each_run(folder, |run| {
        let elapsed = run["comm"]["elapsed_ns"].as_u64().unwrap();
        run["comm"]["elapsed_ns"] = Value::from(2 * elapsed);
    });
}

/// Changes every run of a stored result.
fn with_each_run(folder: &Path, change: impl Fn(&mut Value)) {
    let samples = folder.join("samples.jsonl");
    let text = std::fs::read_to_string(&samples).unwrap();
    let changed = |line: &str| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        if record["kind"] == "cell" {
            change(&mut record);
        }
        record.to_string() + "\n"
    };
    std::fs::write(&samples, text.lines().map(changed).collect::<String>()).unwrap();
}

#[test]
fn a_result_against_itself_has_not_changed_and_fails_nothing() {
    needs!();
    let quick = quick_run!();
    let mut command = btu();
    command.args([
        "compare",
        "--json",
        "--fail-if",
        "btu<-1%,penalty>1%",
        "--fail-if",
        "cell.*/*/*<0%",
    ]);
    let said =
        run(command.arg(&quick.folder).arg(format!("b={}", quick.folder.display()))).unwrap();
    let found: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (&found["comparable"], found["conditions"].as_array().unwrap().len()),
        (&Value::Bool(true), 3)
    );
    for change in
        found["changes"].as_array().unwrap().iter().chain(found["cells"].as_array().unwrap())
    {
        assert!((change["ratio"].as_f64().unwrap() - 1.0).abs() < 1e-9, "{change:#}");
        assert_ne!(change["different"], true);
    }
    assert!(found["disclosure"].as_array().unwrap().is_empty());
}

#[test]
fn an_altered_result_is_shown_with_doubt_and_no_condition_is_judged_by_it() {
    needs!();
    let quick = quick_run!();
    let folder = TempDir::new().unwrap();
    let slow = copied(&quick.folder, &folder.path().join("slow"));
    slowed(&slow);
    let mut asked = btu();
    asked.args(["compare", "--json", "--fail-if", "btu<-40%"]).arg(&quick.folder).arg(&slow);
    let ended = asked.output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(5), "{said}");
    assert!(said.contains("verification: as it was measured ("), "{said}");
    assert!(said.contains("altered: samples.jsonl:"), "{said}");
    assert!(said.contains("without --fail-if"), "{said}");
    let found: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(
        (&found["comparable"], &found["differences"][0]["field"]),
        (&false.into(), &"verification".into())
    );
    let said = run(btu().args(["compare", "--json"]).arg(&quick.folder).arg(&slow)).unwrap();
    let found: Value = serde_json::from_str(&said).unwrap();
    let altered = "slow was altered after it was measured";
    assert!(found["doubts"].as_array().unwrap().contains(&altered.into()), "{found:#}");
    for ending in ["txt", "md", "html", "csv", "json"] {
        let file = folder.path().join(format!("c.{ending}"));
        run(btu().arg("compare").arg(&quick.folder).arg(&slow).arg("--export").arg(&file)).unwrap();
        assert!(std::fs::read_to_string(file).unwrap().contains("btu"), "{ending}");
    }
}

#[test]
fn a_machine_that_is_not_the_same_is_told_beside_the_figures() {
    needs!();
    let quick = quick_run!();
    let folder = TempDir::new().unwrap();
    let at_distance = |name: &str, ns: u64| {
        let copy = copied(&quick.folder, &folder.path().join(name));
        with_each_run(&copy, |run| run["host"]["cpu_distance_ns"] = Value::from(ns));
        copy
    };
    let [near, far] = [("near", 80), ("far", 400)].map(|(name, ns)| at_distance(name, ns));
    let told = run(btu().arg("compare").arg(&near).arg(&far)).unwrap();
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "from one CPU to another and back, ns: 80.0 before, 400 after";
    assert!(told.contains(expected), "{told}");
    let same = run(btu().arg("compare").arg(&near).arg(&near)).unwrap();
    assert!(!same.contains("not the same"), "{same}");
    let found = run(btu().args(["compare", "--json"]).arg(&near).arg(&far)).unwrap();
    let found: Value = serde_json::from_str(&found).unwrap();
    let all = found["surroundings"].as_array().unwrap();
    let distance = all.iter().find(|one| one["name"] == "cpu_distance_ns").unwrap();
    assert_eq!(distance["moved"], true, "{distance:#}");
}

#[test]
fn what_the_connections_agreed_on_is_shown_and_compared() {
    needs!();
    let quick = quick_run!();
    let shown = run(btu().arg("report").arg(&quick.folder)).unwrap();
    assert!(shown.contains("Connections of COMM, as negotiated"), "{shown}");
    let folder = TempDir::new().unwrap();
    let with_sack = |name: &str, sack: bool| {
        let copy = copied(&quick.folder, &folder.path().join(name));
        with_each_run(&copy, |run| {
            for connection in run["comm"]["connections"].as_array_mut().unwrap() {
                for end in ["sender", "receiver"] {
                    connection[end]["options"]["negotiated"]["sack"] = sack.into();
                }
            }
        });
        copy
    };
    let [whole, stripped] = [("whole", true), ("stripped", false)].map(|(n, on)| with_sack(n, on));
    let told = run(btu().arg("compare").arg(&whole).arg(&stripped)).unwrap();
    assert!(told.contains("connections.SACK: yes -> no"), "{told}");
    let same = run(btu().arg("compare").arg(&whole).arg(&whole)).unwrap();
    assert!(!same.contains("connections."), "{same}");
}

/// Leaves of a stored result what a run leaves that is killed: the journal up to some moment.
fn killed(folder: &Path) {
    for made_at_the_end in ["result.json", "report.html", "manifest.json", "signatures.json"] {
        std::fs::remove_file(folder.join(made_at_the_end)).unwrap();
    }
    let events = folder.join("events.jsonl");
    let text = std::fs::read_to_string(&events).unwrap();
    let before = text.lines().filter(|line| !line.contains(r#""event":"finished""#));
    std::fs::write(&events, before.map(|line| line.to_owned() + "\n").collect::<String>()).unwrap();
}

#[test]
fn a_run_that_was_killed_is_incomplete_and_not_altered() {
    needs!();
    let quick = quick_run!();
    let folder = TempDir::new().unwrap();
    let cut = copied(&quick.folder, &folder.path().join("cut"));
    std::fs::remove_file(cut.join("result.json")).unwrap();
    let told = run(btu().arg("compare").arg(&quick.folder).arg(&cut)).unwrap();
    assert!(told.contains("altered: result.json: missing"), "it came to its end: {told}");
    std::fs::write(cut.join("result.json"), "{}").unwrap();
    killed(&cut);
    let told = run(btu().arg("compare").arg(&quick.folder).arg(&cut)).unwrap();
    assert!(told.contains("cut (INCOMPLETE"), "{told}");
    assert!(!told.contains("altered"), "{told}");
    let verified = btu().args(["verify", "--json"]).arg(&cut).output().unwrap();
    let found: Value = serde_json::from_slice(&verified.stdout).unwrap();
    assert_eq!(verified.status.code(), Some(1), "{found:#}");
    let rules: Vec<&Value> =
        found["violations"].as_array().unwrap().iter().map(|one| &one["rule"]).collect();
    assert_eq!(rules, ["unsigned", "unfinished"], "{found:#}");
}

/// Makes the runs of a stored result beside one activity some that met their cap.
fn capped(folder: &Path) {
    let samples = folder.join("samples.jsonl");
    let text = std::fs::read_to_string(&samples).unwrap();
    let whole = r#""outcome":{"ended":"complete"}"#;
    let cut = r#""outcome":{"ended":"capped","reason":"no byte for 5 s"}"#;
    let of_cpu = |line: &str| line.contains(r#""activity":"cpu""#);
    let cap = |line: &str| if of_cpu(line) { line.replace(whole, cut) } else { line.to_owned() };
    let lines: String = text.lines().map(|line| cap(line) + "\n").collect();
    assert!(lines.contains(cut));
    std::fs::write(&samples, lines).unwrap();
}

#[test]
fn a_side_that_is_a_bound_says_so_in_every_format_and_leaves_its_conditions_open() {
    needs!();
    let quick = quick_run!();
    let folder = TempDir::new().unwrap();
    let cut = copied(&quick.folder, &folder.path().join("cut"));
    capped(&cut);
    killed(&cut);
    let compared = |options: &[&str]| {
        let ended = btu().arg("compare").args(options).arg(&quick.folder).arg(&cut).output();
        let ended = ended.unwrap();
        (ended.status.code(), String::from_utf8_lossy(&ended.stdout).into_owned())
    };
    let (code, text) = compared(&["--fail-if", "btu<-1000%"]);
    assert_eq!(code, Some(6), "{text}");
    for told in ["cut (INCOMPLETE, CENSORED", "NOT TOLD: btu<-1000%: btu ", "cut: not rankable: "] {
        assert!(text.contains(told), "{told}: {text}");
    }
    let row = text.lines().find(|line| line.starts_with("btu ")).unwrap();
    assert!(row.ends_with("CENSORED"), "{row}");
    assert_eq!(compared(&["--fail-if", "idle<-1000%"]).0, Some(0));
    for format in ["md", "html", "csv"] {
        assert!(compared(&["--format", format]).1.contains("CENSORED"), "{format}");
    }
    let found: Value = serde_json::from_str(&compared(&["--json"]).1).unwrap();
    let btu = &found["changes"][0];
    assert_eq!((&btu["figure"], &btu["different"]), (&"btu".into(), &Value::Null));
    let reason = btu["different_reason"].as_str().unwrap();
    assert_eq!(
        reason,
        "a run met its cap, or failed, or its activity finished nothing: a side is a bound"
    );
    assert!(found["after"]["badges"].to_string().contains("CENSORED"), "{}", found["after"]);
}

#[test]
fn what_is_asked_of_stdout_is_written_there_beside_the_files() {
    needs!();
    let quick = quick_run!();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("beside.csv");
    for verb in [&["report"][..], &["rank", "--unranked"], &["compare"]] {
        let said = |options: &[&str]| {
            let mut command = btu();
            command.args(verb).arg(&quick.folder).arg("--export").arg(&file).args(options);
            if verb == ["compare"] {
                command.arg(&quick.folder);
            }
            let said = run(&mut command).unwrap();
            assert!(std::fs::read_to_string(&file).unwrap().contains(','), "{verb:?}");
            std::fs::remove_file(&file).unwrap();
            said
        };
        assert_eq!(said(&[]), "", "{verb:?}");
        let document: Value = serde_json::from_str(&said(&["--json"])).unwrap();
        assert!(document["schema_version"].is_string(), "{verb:?}: {document}");
        assert!(said(&["--format", "md"]).starts_with("# "), "{verb:?}");
    }
}

#[test]
fn results_of_different_plans_are_refused_unless_forced() {
    needs!();
    let quick = quick_run!();
    let folder = TempDir::new().unwrap();
    let out = tiny_run(folder.path());
    let refused = btu().arg("compare").arg(&quick.folder).arg(&out).output().unwrap();
    let said = said(&refused);
    assert_eq!(refused.status.code(), Some(5), "{said}");
    assert!(said.contains("custom (tiny)"), "{said}");
    // Code 5 comes before code 1: of what cannot be compared nothing has failed.
    let mut asked = btu();
    asked.args(["compare", "--fail-if", "btu<1000%"]).arg(&quick.folder).arg(&out);
    assert_eq!(asked.output().unwrap().status.code(), Some(5));
    let forced = run(btu().args(["compare", "--force"]).arg(&quick.folder).arg(&out)).unwrap();
    assert!(forced.starts_with("NOT COMPARABLE") && !forced.contains(" different\n"), "{forced}");
}

#[test]
fn a_condition_that_says_nothing_is_named() {
    needs!();
    let quick = quick_run!();
    for (condition, hint) in [("btu<5", "such as btu<-5%"), ("speed<5%", "no such figure")] {
        let mut command = btu();
        command.args(["compare", "--fail-if", condition]).args([&quick.folder, &quick.folder]);
        let ended = command.output().unwrap();
        let said = said(&ended);
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(
            said.contains(condition.split(['<', '>']).next().unwrap()) && said.contains(hint),
            "{said}"
        );
    }
}
