//! The wall clock of the host under test is stepped while it measures.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use super::A_LOT;
use super::MANY;
use super::SOME;
use super::ended;
use super::hosts::Hosts;
use crate::isolated::isolated;
use crate::program::of_kind;
use crate::program::read_json;
use crate::program::wait_until;

/// Where Debian's package libfaketime has what answers for the system's clock.
fn other_clock() -> Option<PathBuf> {
    let folders = fs::read_dir("/usr/lib").ok()?.filter_map(Result::ok);
    let mut files = folders.map(|folder| folder.path().join("faketime/libfaketimeMT.so.1"));
    files.find(|file| file.is_file())
}

/// Cells by the hour in which the host says that they began.
fn hours(result: &Path) -> Vec<String> {
    let cells = of_kind(result, "cell").into_iter();
    let mut hours: Vec<String> =
        cells.filter_map(|cell| Some(cell["started_at"].as_str()?.get(..13)?.to_owned())).collect();
    hours.dedup();
    hours
}

#[test]
fn a_wall_clock_that_is_stepped_under_a_run_moves_no_deadline_and_no_figure() {
    let name =
        "agent::stepped::a_wall_clock_that_is_stepped_under_a_run_moves_no_deadline_and_no_figure";
    let Some(library) = other_clock() else { skip!("not installed: faketime") };
    isolated(name, || {
        let hosts = Hosts::new();
        let _agent = hosts.lab1(&[]);
        let clock = hosts.path("clock");
        let step = |by: &str| {
            // Whoever reads the clock meanwhile finds a whole file.
            fs::write(hosts.path("next"), by).unwrap();
            fs::rename(hosts.path("next"), &clock).unwrap();
        };
        step("+0");
        let mut run = hosts.run(MANY, "stepped", &["--active", "lab1"]);
        run.env("LD_PRELOAD", &library).env("FAKETIME_TIMESTAMP_FILE", &clock);
        run.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        let mut run = run.begun();
        let dir = hosts.path("stepped");
        // The last line may not be whole yet: nobody parses it.
        let count = || {
            let text = fs::read_to_string(dir.join("samples.jsonl")).unwrap_or_default();
            text.lines().filter(|line| line.contains("\"kind\":\"cell\"")).count()
        };
        for (by, cells) in [("+5h", 4), ("-5h", 12), ("+0", 20)] {
            wait_until(|| count() >= cells);
            step(by);
        }
        // A step of the clock could keep it for ever.
        let (code, told) = ended(&mut run, A_LOT);
        assert_eq!(code, Some(0), "{told}");
        assert!(hours(&dir).len() >= 3, "its clock was not stepped: {:?}", hours(&dir));
        let result = read_json(&dir.join("result.json"));
        assert_eq!(result["complete"], true, "{result:#}");
        for cell in result["cells"].as_array().unwrap() {
            let seconds = cell["seconds"].as_f64().unwrap();
            assert!((0.05..5.0).contains(&seconds), "{cell}");
        }
        hosts.btu(2).args(["verify", "stepped"]).ends_with(0);
        // The agent, whose clock was not, serves the next one.
        hosts.run(SOME, "next-run", &["--active", "lab1"]).ends_with(0);
    });
}
