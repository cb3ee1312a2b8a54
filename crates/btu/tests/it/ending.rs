//! How whole runs end: with which code, with what of their options, and with which score.

use std::fmt::Display;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::commands::needs;
use crate::program::Cells;
use crate::program::btu;
use crate::program::plan_file;
use crate::program::read_json;
use crate::program::run_of;
use crate::program::said;
use crate::quick;

/// Runs a plan of this text in a folder of its own.
fn run(folder: &Path, plan: impl Display, options: &[&str]) -> Output {
    let mut command = run_of(&plan_file(folder, plan), "result");
    command.current_dir(folder).args(options).output().unwrap()
}

/// 64 KiB at 50 kbit/s take 10 s; a message has as long as it takes at 100 kbit/s.
const CAPPED: &str = r#"
[matrix]
cases = ["SEND"]
applications = ["video"]
activities = ["idle"]
[time]
amount = "4000B"
lead_in = "0ms"
alone = "20ms"
[passes]
min = 1
max = 1
[link]
rate = "rate 50kbit/s queue 20s"
[capture]
cells = "none"
"#;

#[test]
fn a_run_in_which_a_cell_met_its_cap_is_complete_and_ends_with_6() {
    needs!();
    let folder = tempfile::tempdir().unwrap();
    let ended = run(folder.path(), CAPPED, &[]);
    let message = said(&ended);
    if quick::is_late(&ended) {
        skip!("machine too busy: {message}");
    }
    assert_eq!(ended.status.code(), Some(6), "{message}");
    let why = "incomplete: what went wrong is in result/report.html\n";
    assert!(message.contains(why), "{message}");
    let result = read_json(&folder.path().join("result/result.json"));
    assert_eq!((&result["complete"], &result["rankable"]), (&true.into(), &false.into()));
    let cells = result["cells"].as_array().unwrap();
    let is_capped = |cell: &Value| cell["flags"].to_string().contains("censored");
    assert!(cells.len() == 2 && cells.iter().all(is_capped), "{cells:#?}");
    // Rendered again, it is no better.
    let again = btu().current_dir(folder.path()).args(["run", "--resume", "result"]).output();
    let again = again.unwrap();
    assert_eq!(again.status.code(), Some(6));
    assert!(said(&again).contains(why), "{}", said(&again));
}

#[test]
fn what_is_said_of_a_machine_comes_through_a_whole_run() {
    needs!();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("scratch");
    std::fs::create_dir(&place).unwrap();
    let more = "[activity]\nio_file = \"1MiB\"\n";
    let plan = Cells { activities: &["io"], more, ..Cells::SHORT };
    let options = ["--mark", "SPECint=76.9@spec.org", "--mark", "threads=2", "--price"];
    let rest = ["2900USD@2026-11", "--note", "rack 4", "--io-dir", "scratch", "--allow-tmpfs"];
    let ended = run(folder.path(), plan, &[&options[..], &rest].concat());
    assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
    let result = read_json(&folder.path().join("result/result.json"));
    assert_eq!(result["marks"], serde_json::json!(["SPECint=76.9@spec.org", "threads=2"]));
    assert_eq!((&result["price"], &result["note"]), (&"2900USD@2026-11".into(), &"rack 4".into()));
    let hosts = read_json(&folder.path().join("result/hosts.json"));
    let place = place.canonicalize().unwrap();
    assert_eq!(hosts["placement"]["io_directory"]["value"], place.to_str().unwrap());
    // How the program was made is known, and which devices the host has.
    for fact in ["compiler", "target", "features", "hash"] {
        assert!(hosts["tool"][fact]["value"].is_string(), "{fact}: {}", hosts["tool"]);
    }
    let commit = &hosts["tool"]["commit"];
    assert!(commit["value"].is_string() || commit["reason"].is_string(), "{commit}");
    assert!(hosts["hosts"]["test"]["nic"]["lo.offloads"]["value"].is_array());
    let report = std::fs::read_to_string(folder.path().join("result/report.html")).unwrap();
    for word in ["SPECint", "rack 4", "scratch", "over 1 case of communication, 1 host activity"] {
        assert!(report.contains(word), "{word}");
    }
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0, "the files of io are gone");
}
