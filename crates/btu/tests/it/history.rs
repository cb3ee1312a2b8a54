//! `btu compare` of results with plans of their own, and of a directory of many nights.

use std::path::Path;
use std::path::PathBuf;
use std::process::Output;
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::run;
use crate::program::btu;
use crate::program::said;
use crate::trust::copied;

/// A measurement of one program over one layer, made once.
fn measured() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = TempDir::new().unwrap().keep();
        let mut command = btu();
        command.current_dir(&folder).args(["app", "run", "is", "--ranks", "2", "--launches", "3"]);
        run(command.args(["--class", "S", "--layers", "shm", "--out", "out"])).unwrap();
        folder.join("out")
    })
}

/// Each line of a file, changed.
fn with_each_line(file: &Path, change: impl Fn(&mut Value)) {
    let text = std::fs::read_to_string(file).unwrap();
    let changed = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        change(&mut line);
        line.to_string() + "\n"
    };
    std::fs::write(file, text.lines().map(changed).collect::<String>()).unwrap();
}

/// A copy that began at the night of this number and took so many times as long; nobody signed it, and it was cut short,
/// so that it is altered in no way that anybody could know.
fn night(folder: &Path, number: u32, factor: f64) {
    let copy = copied(measured(), &folder.join(format!("n{number:02}")));
    for made_at_the_end in ["result.json", "report.html", "manifest.json", "signatures.json"] {
        std::fs::remove_file(copy.join(made_at_the_end)).unwrap();
    }
    with_each_line(&copy.join("samples.jsonl"), |line| {
        for rank in line["ranks"].as_array_mut().unwrap() {
            let elapsed = rank["elapsed_ns"].as_f64().unwrap() * factor;
            rank["elapsed_ns"] = Value::from(format!("{elapsed:.0}").parse::<u64>().unwrap());
        }
    });
    with_each_line(&copy.join("events.jsonl"), |line| {
        line["at"] = format!("2026-10-{number:02}T01:00:00.000Z").into();
        if line["event"] == "finished" {
            line["event"] = "paused".into();
        }
    });
}

/// Nights that hardly differ, of which those from the 13th on took an eighth longer.
fn nights(folder: &Path, count: u32) {
    for number in 1..=count {
        let wobble = 1.0 + 0.004 * f64::from(number * 7 % 5);
        night(folder, number, if number < 13 { wobble } else { 1.125 * wobble });
    }
}

fn history(folder: &Path, options: &[&str]) -> Output {
    btu().args(["compare", "--history"]).arg(folder).args(options).output().unwrap()
}

fn document(ended: &Output) -> Value {
    serde_json::from_slice(&ended.stdout).unwrap_or_else(|_| panic!("{}", said(ended)))
}

#[test]
fn two_results_of_a_verb_are_compared_figure_by_figure_in_every_format() {
    let folder = TempDir::new().unwrap();
    night(folder.path(), 1, 1.0);
    night(folder.path(), 2, 1000.0);
    let [before, after] = ["n01", "n02"].map(|name| folder.path().join(name));
    let compared = |options: &[&str]| {
        btu().arg("compare").args(options).args([&before, &after]).output().unwrap()
    };
    let found = document(&compared(&["--json"]));
    let [time] = &found["changes"].as_array().unwrap()[..] else { panic!("{found:#}") };
    assert_eq!((&time["figure"], &time["unit"]), (&"job.is/2/shm.time".into(), &"s".into()));
    assert_eq!((&time["different"], &time["worse"]), (&true.into(), &true.into()));
    let met = compared(&["--fail-if", "job.*/*/shm.time>50%"]);
    assert_eq!(met.status.code(), Some(1), "{}", said(&met));
    assert_eq!(compared(&["--fail-if", "job.*/*/shm.time<-50%"]).status.code(), Some(0));
    let unknown = compared(&["--fail-if", "btu<-5%"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(said(&unknown).contains("write job.KERNEL/RANKS/LAYER.time"), "{}", said(&unknown));
    for format in ["text", "md", "html", "csv"] {
        let told = compared(&["--format", format]);
        assert!(String::from_utf8_lossy(&told.stdout).contains("different"), "{format}");
    }
}

#[test]
fn results_of_two_verbs_or_of_other_problems_are_not_compared() {
    let folder = TempDir::new().unwrap();
    night(folder.path(), 1, 1.0);
    let [app, other, file] = ["n01", "other", "file"].map(|name| folder.path().join(name));
    copied(&app, &other);
    copied(&app, &file);
    let plan = std::fs::read_to_string(app.join("plan.toml")).unwrap();
    std::fs::write(other.join("plan.toml"), plan.replace("class = \"S\"", "class = \"W\""))
        .unwrap();
    std::fs::write(file.join("plan.toml"), "verb = \"file\"\n").unwrap();
    let refused = |second: &Path| {
        let ended = btu().arg("compare").args([&*app, second]).output().unwrap();
        assert_eq!(ended.status.code(), Some(5), "{}", said(&ended));
        said(&ended)
    };
    let told = refused(&file);
    assert!(told.contains("n01 is of btu app and file of btu file"), "{told}");
    let told = refused(&other);
    assert!(told.contains("class: S (n01); W (other)"), "{told}");
}

#[test]
fn a_history_names_the_night_of_a_change_and_its_newest_result_tells_it_once() {
    let folder = TempDir::new().unwrap();
    nights(folder.path(), 12);
    let condition = ["--json", "--fail-if", "job.*/*/*.time>5%"];
    let mut codes = vec![history(folder.path(), &condition).status.code()];
    for number in 13..=16 {
        night(folder.path(), number, 1.125 * (1.0 + 0.004 * f64::from(number * 7 % 5)));
        codes.push(history(folder.path(), &condition).status.code());
    }
    assert_eq!(codes.iter().filter(|code| **code == Some(1)).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| matches!(code, Some(0 | 1))), "{codes:?}");
    let found = document(&history(folder.path(), &["--json"]));
    let [change] = &found["figures"][0]["changes"].as_array().unwrap()[..] else {
        panic!("{found:#}")
    };
    assert_eq!((&change["name"], &change["worse"]), (&"n13".into(), &true.into()));
    let chart = history(folder.path(), &["--format", "html"]);
    assert!(String::from_utf8_lossy(&chart.stdout).contains("course-1-title"));
    let otava = folder.path().join("otava.csv");
    let ended = history(folder.path(), &["--otava", otava.to_str().unwrap()]);
    assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
    let table = std::fs::read_to_string(otava).unwrap();
    assert!(table.starts_with("time,result,job.is/2/shm.time\n2026-10-01T"), "{table}");
    assert_eq!(table.lines().count(), 17);
}

#[test]
fn what_is_no_part_of_a_history_is_named_and_no_condition_is_asked_past_it() {
    let folder = TempDir::new().unwrap();
    nights(folder.path(), 3);
    std::fs::write(folder.path().join("n02/samples.jsonl"), "torn\n{}\n").unwrap();
    let found = document(&history(folder.path(), &["--json"]));
    assert_eq!(found["results"].as_array().unwrap().len(), 2, "{found:#}");
    assert_eq!(found["left_out"][0]["result"], "n02");
    copied(&folder.path().join("n03"), &folder.path().join("n03-again"));
    let found = document(&history(folder.path(), &["--json"]));
    assert_eq!(found["results"].as_array().unwrap().len(), 2, "{found:#}");
    assert_eq!(found["left_out"][1]["reason"], "the same measurement as n03");
    let refused = history(folder.path(), &["--fail-if", "job.*/*/*.time>5%"]);
    assert_eq!(refused.status.code(), Some(5), "{}", said(&refused));
    assert!(said(&refused).contains("n02: unreadable"), "{}", said(&refused));
    let unknown = history(folder.path(), &["--metric", "job.*/*/*.time", "--metric", "btu"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", said(&unknown));
    let empty = TempDir::new().unwrap();
    assert_eq!(history(empty.path(), &[]).status.code(), Some(2));
}
