//! `btu run`: from a plan to a result, through interruptions, full disks and bad input.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::commands::needs;
use crate::dice::Dice;
use crate::link::contained::Inside;
use crate::link::contained::assert_no_device_is_left;
use crate::link::contained::namespaces_of;
use crate::link::users;
use crate::program::Cells;
use crate::program::btu;
use crate::program::ended_within;
use crate::program::lines;
use crate::program::plan_file;
use crate::program::read_json;
use crate::program::report;
use crate::program::run_of;
use crate::program::said;
use crate::program::tiny_plan;
use crate::program::tiny_run;
use crate::quick;

#[test]
fn a_run_leaves_every_file_that_scripts_rely_on() {
    needs!();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("result");
    let run = btu()
        .args(["run", "--plan"])
        .arg(tiny_plan(dir.path()))
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", said(&run));
    for file in [
        "plan.toml",
        "plan.given.toml",
        "hosts.json",
        "samples.jsonl",
        "events.jsonl",
        "result.json",
        "report.html",
    ] {
        assert!(out.join(file).is_file(), "{file}");
    }
    let result = read_json(&out.join("result.json"));
    assert!(result["btu_mbps"].as_f64().unwrap() > 0.0);
    assert_eq!(
        (result["preset"].as_str(), result["rankable"].as_bool()),
        (Some("custom"), Some(false))
    );
    let stdout = String::from_utf8(run.stdout).unwrap();
    assert!(stdout.contains("BTU") && stdout.contains("report.html"), "{stdout}");
}

#[test]
fn json_is_one_document_on_stdout_and_equals_the_file() {
    needs!();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("result");
    let run = btu()
        .args(["run", "--json", "--plan"])
        .arg(tiny_plan(dir.path()))
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    let printed: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(printed, read_json(&out.join("result.json")));
}

#[test]
fn a_stored_result_renders_again_byte_by_byte() {
    needs!();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("result");
    run_of(&tiny_plan(dir.path()), &out).output().unwrap();
    for (format, file) in [("json", "result.json"), ("html", "report.html")] {
        let again = report(&out, &["--format", format]);
        assert_eq!(again.stdout, std::fs::read(out.join(file)).unwrap(), "{format}");
    }
}

#[test]
fn a_dry_run_prints_the_plan_and_touches_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let run = btu().current_dir(dir.path()).args(["run", "--dry-run"]).output().unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.contains("edition = \"btu-26\"") && text.contains(" steps in each of "), "{text}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn what_a_run_refuses_of_a_directory_a_dry_run_refuses_too() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("notes.txt"), "mine").unwrap();
    for (option, place, said_of_it) in [
        ("--io-dir", "nowhere", "--io-dir nowhere: "),
        ("--io-dir", "/dev/shm", "add --allow-tmpfs"),
        ("--out", ".", ".: the directory is not empty"),
    ] {
        let mut command = btu();
        command.current_dir(dir.path()).args(["run", "--dry-run", option, place]);
        let refused = command.output().unwrap();
        let told = said(&refused);
        assert_eq!((refused.status.code(), refused.stdout.len()), (Some(2), 0), "{told}");
        assert!(told.contains(said_of_it), "{told}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_directory_that_nothing_is_written_to_is_said_to_be_that() {
    for (activity, is_unused) in [("cpu", true), ("io", false)] {
        let mut command = btu();
        command.args(["run", "--dry-run", "--allow-tmpfs", "--io-dir", ".", "--activities"]);
        let told = command.arg(activity).output().unwrap();
        assert!(told.status.success(), "{}", said(&told));
        let note = "note: --io-dir . is not used: the plan has no activity io";
        assert_eq!(said(&told).contains(note), is_unused, "{activity}: {}", said(&told));
    }
}

#[test]
fn bad_options_name_place_value_and_legal_values() {
    let dir = tempfile::tempdir().unwrap();
    let plan = dir.path().join("night.toml");
    std::fs::write(&plan, "[time]\nwindow = \"120\"\n").unwrap();
    let empty = dir.path().join("empty.toml");
    std::fs::write(&empty, "# nothing yet\n").unwrap();
    let cases: [(&[&str], &str); 10] = [
        (
            &["--plan", empty.to_str().unwrap()],
            "empty.toml: the plan is empty; write what it changes",
        ),
        (&["--cases", "SND"], "unknown name; write SEND, RECV"),
        (&["--activities", "gpu"], "unknown name; write cpu"),
        (&["--edition", "btu-96", "--official"], "edition btu-96 has one preset"),
        (&["--price", "2900"], "write 2900USD or 2900USD@2026-11"),
        (&["--price", "-5USD"], "write 2900USD or 2900USD@2026-11"),
        (&["--seed", "-1"], "write a whole number from 0 to 18446744073709551615"),
        (&["--active", "lab1", "--reconnect", "1e3"], "write a whole number of seconds from 0 to"),
        (&["--active", "lab1", "--reconnect", "-1"], "write a whole number of seconds from 0 to"),
        (&["--plan", plan.to_str().unwrap()], "night.toml:2:10: time.window = \"120\""),
    ];
    for (options, message) in cases {
        let run = btu().current_dir(dir.path()).arg("run").args(options).output().unwrap();
        let stderr = said(&run);
        assert_eq!(run.status.code(), Some(2), "{options:?}: {stderr}");
        assert!(stderr.contains(message), "{options:?}: {stderr}");
    }
}

#[test]
fn options_that_contradict_each_other_are_named_and_nothing_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let against = "cannot be used with";
    let alone = "required arguments were not provided";
    let cases: [(&[&str], [&str; 3]); 9] = [
        (&["--official", "--plan", "mine.toml"], ["--official", against, "--plan <FILE>"]),
        (&["--official", "--resume", "old"], ["--official", against, "--resume <DIR>"]),
        (&["--resume", "old", "--plan", "mine.toml"], ["--resume <DIR>", against, "--plan <FILE>"]),
        (
            &["--resume", "old", "--cases", "SEND"],
            ["--resume <DIR>", against, "--cases <CASE,...>"],
        ),
        (&["--resume", "old", "--out", "new"], ["--resume <DIR>", against, "--out <DIR>"]),
        (&["--resume", "old", "--seed", "1"], ["--resume <DIR>", against, "--seed <NUMBER>"]),
        (&["--passive", "lab2"], ["--passive", alone, "--active <AGENT>"]),
        (&["--allow-tmpfs"], ["--allow-tmpfs", alone, "--io-dir <DIR>"]),
        (
            &["--active", "lab1", "--test", "lab2", "--io-dir", "."],
            ["--test <AGENT>", against, "--io-dir <DIR>"],
        ),
    ];
    for (options, words) in cases {
        let run = btu().current_dir(dir.path()).arg("run").args(options).output().unwrap();
        let stderr = said(&run);
        assert_eq!(run.status.code(), Some(2), "{options:?}: {stderr}");
        for word in words {
            assert!(stderr.contains(word), "{options:?}: {word}: {stderr}");
        }
        assert!(stderr.contains("Usage: ") && stderr.contains(" run "), "{options:?}: {stderr}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "{options:?}");
    }
}

#[test]
fn a_directory_with_something_in_it_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let plan = tiny_plan(dir.path());
    let run =
        btu().args(["run", "--plan"]).arg(plan).arg("--out").arg(dir.path()).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(said(&run).contains("not empty"));
}

#[test]
fn a_tmpfs_for_the_io_activity_is_refused_unless_allowed() {
    let stderr = refused_io_directory("/dev/shm");
    assert!(stderr.contains("tmpfs") && stderr.contains("--allow-tmpfs"), "{stderr}");
}

#[test]
fn a_directory_for_io_that_is_not_there_is_named_with_the_remedy() {
    let stderr = refused_io_directory("/var/tmp/not there");
    let named = ["--io-dir /var/tmp/not there", "give a directory that is there"];
    assert!(named.iter().all(|part| stderr.contains(part)), "{stderr}");
}

/// What a run says that is refused since the activity `io` cannot work there.
fn refused_io_directory(io_dir: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let mut command = btu();
    command.args(["run", "--activities", "io", "--io-dir", io_dir, "--plan"]);
    let run = command.arg(tiny_plan(dir.path())).arg("--out").arg(dir.path().join("r")).output();
    let run = run.unwrap();
    assert_eq!(run.status.code(), Some(2), "{}", said(&run));
    said(&run)
}

#[test]
fn an_interrupted_run_reports_what_it_has_and_resumes() {
    needs!();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("result");
    let mut run = run_of(&tiny_plan(dir.path()), &out).spawn().unwrap();
    wait_for_lines(&out, 3);
    crate::program::signal(run.id(), "INT");
    assert_eq!(run.wait().unwrap().code(), Some(130));
    let partial = read_json(&out.join("result.json"));
    assert_eq!(partial["complete"], false);
    let resumed = btu().args(["run", "--quiet", "--resume"]).arg(&out).output().unwrap();
    assert!(resumed.status.success(), "{}", said(&resumed));
    assert_eq!(read_json(&out.join("result.json"))["complete"], true);
    each_cell_was_measured_once(&out, &TINY);
}

/// Whoever could measure again and again, would keep the best.
#[test]
fn a_finished_run_is_not_measured_again_and_stays_as_it_was() {
    needs!();
    let dir = tempfile::tempdir().unwrap();
    let (text, budget) = (Cells::TINY.to_string(), "max = 6\nbudget = \"1ms\"");
    assert!(text.contains("max = 2"), "{text}");
    let plan = plan_file(dir.path(), text.replace("max = 2", budget));
    let out = dir.path().join("result");
    let first = run_of(&plan, &out).output().unwrap();
    assert_eq!(first.status.code(), Some(0), "{}", said(&first));
    let files = || {
        let read = |name: &str| std::fs::read(out.join(name)).unwrap();
        ["samples.jsonl", "events.jsonl", "result.json", "report.html", "signatures.json"].map(read)
    };
    let again = |done: &str| {
        let again = btu().args(["run", "--quiet", "--resume"]).arg(&out).output().unwrap();
        let said = said(&again);
        assert_eq!(again.status.code(), Some(0), "{said}");
        assert!(said.contains(&format!("the measurement is finished; {done}")), "{said}");
    };
    let before = files();
    std::fs::remove_file(out.join("signatures.json")).unwrap();
    std::fs::remove_file(out.join("report.html")).unwrap();
    again("only its files are rendered again");
    assert!(files() == before, "a file changed");
    // Deleted, it is made again: it is what was signed.
    std::fs::remove_file(out.join("report.html")).unwrap();
    again("its files stay as they were signed");
    assert!(files() == before, "a file changed");
    // What is signed is not written, whatever this program would write today.
    std::fs::write(out.join("report.html"), "of another program").unwrap();
    let signed = files();
    again("its files stay as they were signed");
    assert!(files() == signed, "a file was written");
    let shown = another_build(dir.path()).args(["run", "--resume"]).arg(&out).output().unwrap();
    let said = said(&shown);
    assert_eq!(shown.status.code(), Some(0), "{said}");
    assert!(said.contains("its files stay as they were signed"), "{said}");
}

/// The program with another hash.
fn another_build(folder: &Path) -> Command {
    let copy = folder.join("another-build");
    let mut bytes = std::fs::read(btu().get_program()).unwrap();
    bytes.push(0);
    std::fs::write(&copy, bytes).unwrap();
    std::fs::set_permissions(&copy, PermissionsExt::from_mode(0o755)).unwrap();
    Command::new(copy)
}

/// Whoever takes the passes out that he does not like gets no signature for the rest.
#[test]
fn a_finished_run_that_was_cut_by_hand_is_not_signed_anew() {
    needs!();
    let dir = tempfile::tempdir().unwrap();
    let out = tiny_run(dir.path());
    let samples = out.join("samples.jsonl");
    let text = std::fs::read_to_string(&samples).unwrap();
    let of_pass_1 = |line: &&str| !line.contains("\"pass\":1,");
    let left: String = text.lines().filter(of_pass_1).flat_map(|line| [line, "\n"]).collect();
    assert!(left.len() < text.len());
    std::fs::write(&samples, left).unwrap();
    for name in ["manifest.json", "signatures.json"] {
        std::fs::remove_file(out.join(name)).unwrap();
    }
    let before = std::fs::read(out.join("result.json")).unwrap();
    let again = btu().args(["run", "--quiet", "--resume"]).arg(&out).output().unwrap();
    let said = said(&again);
    assert_eq!(again.status.code(), Some(2), "{said}");
    let place = "not what was measured: samples.jsonl: pass 1 is missing: the next one is pass 2";
    assert!(said.contains(place), "{said}");
    assert!(!out.join("signatures.json").exists());
    assert!(std::fs::read(out.join("result.json")).unwrap() == before, "it was rendered again");
}

/// Killed before its plan was there: nothing was begun, so the same command begins it.
#[test]
fn a_run_that_was_killed_before_it_began_is_started_again() {
    needs!();
    let dir = tempfile::tempdir().unwrap();
    let (plan, out) = (tiny_plan(dir.path()), dir.path().join("result"));
    std::fs::create_dir(&out).unwrap();
    for name in ["samples.jsonl", "events.jsonl", "hosts.json"] {
        std::fs::write(out.join(name), "").unwrap();
    }
    let resumed = btu().args(["run", "--quiet", "--resume"]).arg(&out).output().unwrap();
    let told = said(&resumed);
    assert_eq!(resumed.status.code(), Some(2), "{told}");
    assert!(told.contains("start the run again, with --out and this directory"), "{told}");
    let run = run_of(&plan, &out).output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    assert_eq!(read_json(&out.join("result.json"))["complete"], true);
}

/// Eight passes of four cells and an activity alone.
fn plan_of_cases(dir: &Path, cases: &[&str]) -> PathBuf {
    let plan = Cells {
        cases,
        applications: &["netscape"],
        passes: 8,
        more: Cells::WITHOUT_CAPTURES,
        ..Cells::TINY
    };
    plan_file(dir, plan)
}

/// How many runs a plan has.
struct Counts {
    /// Of an activity alone.
    alone: usize,
    cells: usize,
}

/// Of the plan of cases.
const EIGHT_PASSES: Counts = Counts { alone: 8, cells: 8 * 4 };
/// Of the tiny plan: two passes of two cases and two applications, beside `cpu` and beside nothing.
const TINY: Counts = Counts { alone: 2, cells: 2 * 8 };

/// Six times with cells that pass through the emulator, whose check comes first each time; then with
/// cells that do not.
#[test]
fn killed_twenty_times_at_random_moments_each_cell_is_measured_once() {
    needs!();
    let dir = tempfile::tempdir().unwrap();
    let mut dice = Dice::new(20);
    let mut kills = 0;
    // A run that comes to its end before it was killed often enough is followed by another.
    for number in 1_u32..=20 {
        let (cases, wanted) = match number {
            1 => (["SEND", "2SEND+DR"], 6),
            _ => (["SEND", "RECV"], 20 - kills),
        };
        let plan = plan_of_cases(dir.path(), &cases);
        let out = dir.path().join(format!("result-{number}"));
        kills += kill_and_resume(&plan, &out, wanted, &mut dice);
        if let Err(busy) = go_on_to_the_end(&out) {
            skip!("machine too busy: {busy}");
        }
        each_cell_was_measured_once(&out, &EIGHT_PASSES);
        if kills == 20 {
            return;
        }
    }
    panic!("{kills} kills in 20 runs: the plan is too short");
}

/// Starts a run, kills it at random moments and resumes it, until it was killed so many times, or
/// came to its end, or found no calm moment to begin. Gives the number of kills.
fn kill_and_resume(plan: &Path, out: &Path, wanted: usize, dice: &mut Dice) -> usize {
    let (mut kills, mut in_vain) = (0, 0);
    let mut run = spawn(&mut run_of(plan, out));
    // What there is before the first line cannot be resumed.
    wait_for_lines(out, 1);
    loop {
        if is_alive_until(&mut run, out, dice) {
            run.kill().unwrap();
            run.wait().unwrap();
            kills += 1;
        } else {
            in_vain += 1;
        }
        if kills == wanted || in_vain == 5 || is_complete(out) {
            return kills;
        }
        run = spawn(&mut resume(out));
    }
}

fn resume(out: &Path) -> Command {
    let mut command = btu();
    command.args(["run", "--quiet", "--resume"]).arg(out);
    command
}

pub(crate) fn spawn(command: &mut Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits for a random moment of a run's life: after its start, whatever it does then, or after it kept
/// another line. False if it ended before.
fn is_alive_until(run: &mut Child, out: &Path, dice: &mut Dice) -> bool {
    let before = kept(out);
    let awaits_a_line = dice.once_in(2);
    while awaits_a_line && kept(out) == before {
        if ended_within(run, Duration::from_millis(2)).is_some() {
            return false;
        }
    }
    let most = if awaits_a_line { 60 } else { 400 };
    ended_within(run, Duration::from_millis(dice.below(most))).is_none()
}

/// Runs in the journal: all its lines but the checks of the emulation.
fn kept(out: &Path) -> usize {
    let text = std::fs::read_to_string(out.join("samples.jsonl")).unwrap_or_default();
    text.lines().filter(|line| !line.contains("\"kind\":\"verification\"")).count()
}

fn is_complete(out: &Path) -> bool {
    let result = std::fs::read(out.join("result.json")).unwrap_or_default();
    serde_json::from_slice::<Value>(&result).is_ok_and(|result| result["complete"] == true)
}

/// Resumes until every pass is done. `Err` where the emulation is never calm enough to begin.
fn go_on_to_the_end(out: &Path) -> Result<(), String> {
    let ended = quick::undisturbed(|_| resume(out).output().unwrap(), quick::is_late);
    let said = said(&ended);
    match ended.status.code() {
        Some(0 | 6) => Ok(()),
        _ if quick::is_late(&ended) => Err(said.lines().next().unwrap_or_default().to_owned()),
        code => panic!("{code:?}: {said}"),
    }
}

/// No attempt stands in the journal twice, none is missing, and the result has each cell once.
fn each_cell_was_measured_once(out: &Path, counts: &Counts) {
    let mut attempts: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for line in lines(&out.join("samples.jsonl")) {
        let name = match line["kind"].as_str() {
            Some("cell") => {
                let application = &line["application"]["name"];
                format!("{} {} {application} {}", line["pass"], line["case"], line["activity"])
            }
            Some("alone") => format!("{} alone {}", line["pass"], line["activity"]),
            _ => continue,
        };
        attempts.entry(name).or_default().push(line["attempt"].as_u64().unwrap_or(1));
    }
    assert_eq!(attempts.len(), counts.cells + counts.alone, "{attempts:?}");
    // A second attempt follows one that was invalid or disturbed.
    for (name, attempts) in &attempts {
        assert!(matches!(attempts[..], [1] | [1, 2]), "{name}: {attempts:?}");
    }
    let result = read_json(&out.join("result.json"));
    assert_eq!(result["complete"], true);
    let cells = result["cells"].as_array().unwrap();
    let name = |cell: &Value| {
        format!("{} {} {} {}", cell["repeat"], cell["case"], cell["application"], cell["activity"])
    };
    let names: BTreeSet<String> = cells.iter().map(name).collect();
    assert_eq!((names.len(), cells.len()), (counts.cells, counts.cells));
}

/// Waits until the journal holds so many lines.
fn wait_for_lines(out: &Path, wanted: usize) {
    let samples = out.join("samples.jsonl");
    crate::program::wait_until(|| {
        std::fs::read_to_string(&samples).is_ok_and(|t| t.lines().count() >= wanted)
    });
}

/// Long enough to be killed in the middle: every activity beside the cells of these cases.
fn long_plan(dir: &Path, cases: &[&str]) -> PathBuf {
    let plan = Cells {
        cases,
        applications: &["netscape"],
        activities: &["cpu", "ftp", "io"],
        window: "100ms",
        lead_in: "5ms",
        alone: "100ms",
        passes: 50,
        more: "",
    };
    plan_file(dir, plan)
}

/// Check E16 of the emulation, for the program that makes the testbed itself: killed between two
/// checks of the emulation, and beside its activities.
#[test]
fn kill_9_of_a_run_leaves_no_process_namespace_or_device() {
    needs!();
    let moments: [(&[&str], &str); 2] =
        [(&["SEND+DL", "2SEND+DR"], "verification"), (&["SEND"], "cell")];
    for (user, (cases, kind)) in
        users::users().into_iter().flat_map(|user| moments.map(|m| (user, m)))
    {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let (plan, out) = (long_plan(dir.path(), cases), dir.path().join("result"));
        let mut command = users::btu(user);
        command.env("BTU_STATE_DIR", dir.path().join("state"));
        command.args(["run", "--quiet", "--plan"]).arg(&plan).arg("--out").arg(&out);
        let mut run = spawn(&mut command);
        let wanted = format!("\"kind\":\"{kind}\"");
        let is_wanted =
            |line: &str| line.contains(&wanted) && !line.contains("\"activity\":\"none\"");
        crate::program::wait_until(|| {
            assert_eq!(run.try_wait().unwrap(), None, "{user:?}: ended before its first {kind}");
            let journal = std::fs::read_to_string(out.join("samples.jsonl")).unwrap_or_default();
            journal.lines().any(is_wanted)
        });
        nothing_survives(user, &mut run, &out);
    }
}

/// Kills a run the hard way, and looks for what is left of the hosts of its testbed.
pub(crate) fn nothing_survives(user: users::User, run: &mut Child, out: &Path) {
    let own = namespaces_of("self");
    let mut namespaces = namespaces_of(&run.id().to_string());
    namespaces.retain(|one| !own.contains(one));
    assert!(namespaces.len() >= 2, "{user:?}: the hosts of the testbed: {namespaces:?}");
    let inside = Inside::of(namespaces, out.display().to_string());
    assert!(!inside.survivors().is_empty(), "the test sees nothing");
    run.kill().unwrap();
    run.wait().unwrap();
    inside.are_gone_soon();
    assert_no_device_is_left();
}
