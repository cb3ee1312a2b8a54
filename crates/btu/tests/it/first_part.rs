//! A measurement that is gone on with: on the disk and the CPUs of its first part, or not at all.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;

use crate::commands::needs;
use crate::program::A_LOT;
use crate::program::Cells;
use crate::program::btu;
use crate::program::ended_within;
use crate::program::is_of_io;
use crate::program::lines;
use crate::program::plan_file;
use crate::program::read_json;
use crate::program::said;
use crate::program::signal;
use crate::program::wait_until;

/// Every activity beside one case.
const PLAN: Cells<'_> = Cells {
    activities: &["cpu", "ftp", "io"],
    window: "50ms",
    lead_in: "5ms",
    alone: "50ms",
    passes: 4,
    more: "[activity]\nftp_transfer = \"100kB\"\nio_file = \"1MiB\"\n[capture]\ncells = \"none\"\n",
    ..Cells::SHORT
};

/// Runs of the plan: four passes of four cells and three activities alone.
const RUNS: usize = 4 * (4 + 3);

/// A directory with a plan, a place for the files of `io`, and one for nothing.
fn places() -> (tempfile::TempDir, [PathBuf; 2]) {
    let dir = tempfile::tempdir().unwrap();
    plan_file(dir.path(), PLAN);
    let places = ["disk of mine", "elsewhere"].map(|name| dir.path().join(name));
    for place in &places {
        fs::create_dir(place).unwrap();
    }
    (dir, places)
}

/// The first part, cut short by SIGINT; gives what it said.
fn first_part(dir: &Path) -> String {
    let mut command = btu();
    command.current_dir(dir).args(["run", "--quiet", "--allow-tmpfs", "--io-dir", "disk of mine"]);
    command.args(["--plan", "plan-of-mine.toml", "--out", "my result"]);
    let run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let samples = dir.join("my result/samples.jsonl");
    wait_until(|| fs::read_to_string(&samples).is_ok_and(|text| text.lines().count() >= 3));
    signal(run.id(), "INT");
    let ended = run.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", said(&ended));
    said(&ended)
}

/// The rest, started in `place` with these options.
fn rest(dir: &Path, place: &Path, options: &[&str]) -> Command {
    let mut command = btu();
    command.current_dir(place).args(["run", "--quiet", "--resume"]).arg(dir.join("my result"));
    command.args(options).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Where the nameless files of `io` are that a process has open.
fn places_of_io(run: &Child) -> Vec<PathBuf> {
    let Ok(open) = fs::read_dir(format!("/proc/{}/fd", run.id())) else { return Vec::new() };
    let names = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    let of_io = names.filter(|name| is_of_io(name));
    of_io.filter_map(|name| Some(name.parent()?.to_owned())).collect()
}

/// A run that was stopped has its result; killed when it went on, it has none and was not altered.
#[test]
fn a_run_that_is_killed_when_it_goes_on_is_unfinished_and_not_altered() {
    needs!();
    let (dir, _) = places();
    first_part(dir.path());
    let result = dir.path().join("my result");
    assert!(result.join("result.json").is_file() && result.join("report.html").is_file());
    let count = || fs::read_to_string(result.join("samples.jsonl")).unwrap().lines().count();
    let before = count();
    let mut run = rest(dir.path(), dir.path(), &[]).spawn().unwrap();
    wait_until(|| count() > before);
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(!result.join("result.json").exists() && !result.join("report.html").exists());
    let verified = btu().args(["verify", "--json"]).arg(&result).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&verified.stdout).unwrap();
    let violations = found["violations"].as_array().unwrap().iter();
    let rules: Vec<&serde_json::Value> = violations.map(|one| &one["rule"]).collect();
    assert_eq!(rules, ["unsigned", "unfinished"], "{found:#}");
}

fn is_refused(ended: &Output, why: &str) {
    assert_eq!(ended.status.code(), Some(2), "{}", said(ended));
    assert!(said(ended).contains("not as in the first part: "), "{}", said(ended));
    assert!(said(ended).contains(why), "{}", said(ended));
}

#[test]
fn a_run_goes_on_on_the_disk_of_its_first_part() {
    needs!();
    let (dir, [disk, elsewhere]) = places();
    let told = first_part(dir.path());
    let again = "go on with: btu run --resume 'my result' --io-dir 'disk of mine' --allow-tmpfs";
    assert!(told.contains(again), "{told}");
    // From another directory, and without a word of it.
    let mut run = rest(dir.path(), &elsewhere, &[]).spawn().unwrap();
    let mut seen = Vec::new();
    wait_until(|| {
        seen = places_of_io(&run);
        seen.len() == 2 || run.try_wait().unwrap().is_some()
    });
    assert_eq!(seen, vec![disk.canonicalize().unwrap(); 2]);
    assert!(ended_within(&mut run, A_LOT).is_some(), "the run hangs");
    let ended = run.wait_with_output().unwrap();
    assert!(matches!(ended.status.code(), Some(0 | 6)), "{}", said(&ended));
    let result = dir.path().join("my result");
    assert_eq!(read_json(&result.join("result.json"))["complete"], true);
    let first = |line: &serde_json::Value| line["attempt"].as_u64().is_none_or(|nth| nth == 1);
    let samples = lines(&result.join("samples.jsonl"));
    assert_eq!(samples.iter().filter(|line| first(line)).count(), RUNS);
    let placement = &read_json(&result.join("hosts.json"))["placement"];
    assert_eq!(placement["io_directory"]["value"], disk.canonicalize().unwrap().to_str().unwrap());
}

#[test]
fn a_run_does_not_go_on_on_another_disk() {
    needs!();
    let (dir, [disk, elsewhere]) = places();
    first_part(dir.path());
    let options = ["--allow-tmpfs", "--io-dir", elsewhere.to_str().unwrap()];
    let [was, is] = [&disk, &elsewhere].map(|place| place.canonicalize().unwrap());
    let why = format!("io_directory was {} and is {}", was.display(), is.display());
    is_refused(&rest(dir.path(), dir.path(), &options).output().unwrap(), &why);
    fs::remove_dir(&disk).unwrap();
    let gone = rest(dir.path(), dir.path(), &[]).output().unwrap();
    assert_eq!(gone.status.code(), Some(3), "{}", said(&gone));
    assert!(said(&gone).contains("io worked there in the first part"), "{}", said(&gone));
}

#[test]
fn a_run_does_not_go_on_on_other_cpus() {
    needs!("taskset");
    if btu_sys::cpu::allowed().unwrap().len() < 2 {
        skip!("too few CPUs: on one, all roles share it anyway");
    }
    let (dir, _) = places();
    first_part(dir.path());
    is_refused(&on_the_first_cpu(&rest(dir.path(), dir.path(), &[])), "cpus_separate was ");
}

/// The same command with one CPU.
fn on_the_first_cpu(rest: &Command) -> Output {
    let first = btu_sys::cpu::allowed().unwrap().iter().next().unwrap().to_string();
    let mut command = Command::new("taskset");
    command.args(["-c", &first]).arg(rest.get_program()).args(rest.get_args());
    command.envs(rest.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(rest.get_current_dir().unwrap()).output().unwrap()
}

/// Ping-pong and traffic, which last for minutes if nobody ends them.
const OTHERS: [&[&str]; 2] = [
    &["pingpong", "tcp", "--sizes", "8B,64B,4kB", "--point-time", "9s", "--chasms", "off"],
    &["traffic", "sweep", "sessions", "--values", "1", "--time", "200ms", "--passes", "500"],
];

#[test]
fn ping_pong_and_traffic_do_not_go_on_by_another_plan_either() {
    needs!();
    let measured: [&[&str]; 2] = [
        &["pingpong", "tcp", "--sizes", "8B,64B", "--point-time", "50ms", "--chasms", "off"],
        &["traffic", "sweep", "sessions", "--values", "1", "--time", "200ms", "--passes", "1"],
    ];
    for measured in measured {
        let dir = tempfile::tempdir().unwrap();
        let mut first = btu();
        first.current_dir(dir.path()).args(measured).args(["--quiet", "--out", "result"]);
        let ended = first.output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
        let plan = dir.path().join("result/plan.toml");
        let text = fs::read_to_string(&plan).unwrap();
        fs::write(&plan, format!("{text}# of mine\n")).unwrap();
        let mut rest = btu();
        rest.current_dir(dir.path()).args([measured[0], "--quiet", "--resume", "result"]);
        let refused = rest.output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
        let why = "result/plan.toml: not the plan that the measurement began with";
        assert!(said(&refused).contains(why), "{}", said(&refused));
    }
}

#[test]
fn ping_pong_and_traffic_do_not_go_on_on_other_cpus_either() {
    needs!("taskset");
    if btu_sys::cpu::allowed().unwrap().len() < 2 {
        skip!("too few CPUs: on one, all roles share it anyway");
    }
    for measured in OTHERS {
        let dir = tempfile::tempdir().unwrap();
        let mut first = btu();
        first.current_dir(dir.path()).args(measured).args(["--quiet", "--out", "my result"]);
        let first = first.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let samples = dir.path().join("my result/samples.jsonl");
        wait_until(|| fs::read_to_string(&samples).is_ok_and(|text| text.lines().count() >= 5));
        signal(first.id(), "INT");
        let ended = first.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(130), "{}", said(&ended));
        let verb = measured[0];
        let again = format!("go on with: btu {verb} --resume 'my result'\n");
        assert!(said(&ended).contains(&again), "{}", said(&ended));
        let mut rest = btu();
        rest.current_dir(dir.path()).args([verb, "--quiet", "--resume", "my result"]);
        is_refused(&on_the_first_cpu(&rest), "cpus_separate was ");
    }
}
