//! `btu run` and `btu report` where the disk, the journal, the rights or the reader fail.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::File;
use std::io::BufRead;
use std::io::BufReader;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::program::A_LOT;
use crate::program::Cells;
use crate::program::btu;
use crate::program::ended_within;
use crate::program::lines;
use crate::program::of_kind;
use crate::program::plan_file;
use crate::program::read_json;
use crate::program::report;
use crate::program::run_of;
use crate::program::said;
use crate::program::signal;
use crate::program::wait_until;
use crate::trust::verified;

/// A plan of one cell and its baseline.
fn short(passes: u32) -> Cells<'static> {
    Cells { passes, ..Cells::SHORT }
}

fn run(folder: &Path, text: impl Display) -> Command {
    let mut command = run_of(&plan_file(folder, text), "result");
    command.current_dir(folder);
    command
}

/// A complete result of two passes of [`short`], made once, copied for each test.
fn stored() -> (TempDir, PathBuf) {
    static MADE: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    let files = MADE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let made = run(folder.path(), short(2)).output().unwrap();
        assert!(made.status.success(), "{}", said(&made));
        let names = ["plan.toml", "hosts.json", "samples.jsonl", "events.jsonl", "result.json"];
        let read = |name: &str| std::fs::read(folder.path().join("result").join(name)).unwrap();
        names.map(|name| (name.to_owned(), read(name))).into()
    });
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("result");
    std::fs::create_dir(&result).unwrap();
    for (name, bytes) in files {
        std::fs::write(result.join(name), bytes).unwrap();
    }
    (folder, result)
}

/// Which cells were measured in which pass.
fn measured(result: &Path) -> BTreeSet<String> {
    let cells = of_kind(result, "cell").into_iter();
    cells.map(|line| format!("{} {} {}", line["case"], line["activity"], line["pass"])).collect()
}

/// Names and contents of the files of a directory.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

fn resume(result: &Path) -> Output {
    btu().args(["run", "--quiet", "--resume"]).arg(result).output().unwrap()
}

#[test]
fn a_torn_last_line_is_set_aside_and_its_run_is_repeated() {
    needs!();
    let (_folder, result) = stored();
    let samples = result.join("samples.jsonl");
    let (whole, cells) = (lines(&samples).len(), measured(&result));
    let bytes = std::fs::read(&samples).unwrap();
    let last = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    std::fs::write(&samples, &bytes[..last + 20]).unwrap();
    let read = report(&result, &[]);
    assert_eq!(read.status.code(), Some(0));
    let torn = format!("samples.jsonl:{whole}: torn last line (20 bytes)");
    assert!(said(&read).contains(&torn), "{}", said(&read));
    let resumed = resume(&result);
    assert!(resumed.status.success(), "{}", said(&resumed));
    let moved = format!("{torn} moved to samples.torn; its run is repeated");
    assert!(said(&resumed).contains(&moved), "{}", said(&resumed));
    let aside = std::fs::read(result.join("samples.torn")).unwrap();
    assert_eq!(aside.strip_suffix(b"\n").unwrap(), &bytes[last..last + 20]);
    assert_eq!(read_json(&result.join("result.json"))["complete"], true);
    assert_eq!(measured(&result), cells);
}

/// Whoever tries it on another host first loses nothing: its run would be missing from a journal that says "finished".
#[test]
fn a_resume_that_is_refused_leaves_a_torn_line_for_the_right_one() {
    needs!();
    let (_folder, result) = stored();
    let samples = result.join("samples.jsonl");
    let (cells, bytes) = (measured(&result), std::fs::read(&samples).unwrap());
    std::fs::write(&samples, &bytes[..bytes.len() - 9]).unwrap();
    let hosts = std::fs::read_to_string(result.join("hosts.json")).unwrap();
    let here: Value = serde_json::from_str(&hosts).unwrap();
    let program = here["tool"]["hash"]["value"].as_str().unwrap();
    std::fs::write(result.join("hosts.json"), hosts.replace(program, "another")).unwrap();
    let before = files(&result);
    let refused = resume(&result);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("the program's hash was another"), "{}", said(&refused));
    assert!(files(&result) == before, "a file changed");
    std::fs::write(result.join("hosts.json"), hosts).unwrap();
    let resumed = resume(&result);
    assert!(resumed.status.success(), "{}", said(&resumed));
    assert!(said(&resumed).contains("moved to samples.torn"), "{}", said(&resumed));
    assert_eq!(measured(&result), cells);
}

#[test]
fn a_corrupted_line_in_the_middle_is_named_and_nothing_behind_it_is_lost() {
    needs!();
    let (_folder, result) = stored();
    let samples = result.join("samples.jsonl");
    let mut bytes = std::fs::read(&samples).unwrap();
    let whole = lines(&samples).len();
    let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    bytes[second..second + 3].copy_from_slice(b"\xff\0}");
    std::fs::write(&samples, &bytes).unwrap();
    let following = format!("{} valid lines follow it", whole - 2);
    for refused in [report(&result, &[]), resume(&result)] {
        let said = said(&refused);
        assert_eq!((refused.status.code(), refused.stdout.len()), (Some(2), 0), "{said}");
        assert!(said.contains("samples.jsonl:2: ") && said.contains(&following), "{said}");
    }
    // Every verb that shows results names the remedy.
    for verb in ["report", "rank", "explain"] {
        let refused = btu().arg(verb).arg(&result).current_dir(&result).output().unwrap();
        let told = said(&refused);
        let hint = format!("hint: btu report --salvage {} shows what", result.display());
        assert!(refused.status.code() == Some(2) && told.contains(&hint), "{verb}: {told}");
    }
    assert_eq!(std::fs::read(&samples).unwrap(), bytes, "the journal is as it was");
    let salvaged = report(&result, &["--salvage", "--json"]);
    assert_eq!(salvaged.status.code(), Some(0));
    let document: Value = serde_json::from_slice(&salvaged.stdout).unwrap();
    let reasons = document["not_rankable_reasons"].to_string();
    assert!(reasons.contains("the journal is damaged"), "{reasons}");
}

/// Without its events nothing says when it was measured, and without its hosts nothing where.
#[test]
fn a_result_that_lacks_its_events_or_hosts_is_not_gone_on_with() {
    needs!();
    let (_folder, result) = stored();
    for (file, content, message) in [
        ("events.jsonl", "", "events.jsonl: nothing is in it, but samples.jsonl has"),
        ("hosts.json", "{", "hosts.json: not readable"),
        ("plan.toml", "\n", "plan.toml: nothing is in it"),
    ] {
        let before = std::fs::read(result.join(file)).unwrap();
        std::fs::write(result.join(file), content).unwrap();
        let refused = resume(&result);
        let said = said(&refused);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(message) && !said.contains("go on with"), "{said}");
        assert!(said.contains("hint: put the file back"), "{said}");
        std::fs::write(result.join(file), before).unwrap();
    }
}

/// Half of one matrix and half of another would be signed as one result.
#[test]
fn a_run_does_not_go_on_by_a_plan_that_was_changed_since() {
    needs!();
    let (_folder, result) = stored();
    let [plan, samples] = ["plan.toml", "samples.jsonl"].map(|name| result.join(name));
    let (text, whole) = (std::fs::read_to_string(&plan).unwrap(), std::fs::read(&samples).unwrap());
    let other = text.replace("window = \"", "window = \"1");
    assert!(other != text, "{text}");
    for length in [whole.len() - 9, whole.len()] {
        std::fs::write(&samples, &whole[..length]).unwrap();
        std::fs::write(&plan, &other).unwrap();
        let before = files(&result);
        let refused = resume(&result);
        let told = said(&refused);
        assert_eq!(refused.status.code(), Some(2), "{told}");
        for words in
            ["plan.toml: not the plan that the measurement began with", "put the plan back"]
        {
            assert!(told.contains(words), "{told}");
        }
        assert!(files(&result) == before, "a file changed");
        let (code, found) = verified(&result, &["--allow-unsigned"]);
        let violations = found["violations"].to_string();
        let named = violations.contains("not the plan that the measurement began with");
        assert!(code == Some(1) && named, "{found:#}");
        std::fs::write(&plan, &text).unwrap();
        assert!(resume(&result).status.success());
        std::fs::remove_file(result.join("manifest.json")).unwrap();
        std::fs::remove_file(result.join("signatures.json")).unwrap();
    }
}

/// An earlier program did not write down which plan it began with.
#[test]
fn a_run_that_does_not_know_its_plan_goes_on() {
    needs!();
    let (_folder, result) = stored();
    let events = result.join("events.jsonl");
    let text = std::fs::read_to_string(&events).unwrap();
    let (before, after) = text.split_once("; plan.toml has BLAKE3 ").unwrap();
    std::fs::write(&events, format!("{before}{}", &after[64..])).unwrap();
    let samples = std::fs::read(result.join("samples.jsonl")).unwrap();
    std::fs::write(result.join("samples.jsonl"), &samples[..samples.len() - 9]).unwrap();
    let resumed = resume(&result);
    assert!(resumed.status.success(), "{}", said(&resumed));
}

#[test]
fn a_directory_that_is_being_written_has_no_second_writer() {
    needs!();
    let folder = tempfile::tempdir().unwrap();
    let mut first = run(folder.path(), Cells::LONG).spawn().unwrap();
    let result = folder.path().join("result");
    wait_until(|| result.join("plan.toml").is_file());
    let second = resume(&result);
    assert_eq!(second.status.code(), Some(2));
    assert!(said(&second).contains("another process writes to this result"), "{}", said(&second));
    let hint = "hint: wait until that one has ended";
    assert!(said(&second).contains(hint), "{}", said(&second));
    signal(first.id(), "KILL");
    first.wait().unwrap();
}

#[test]
fn a_run_that_is_terminated_or_whose_terminal_is_gone_reports_what_it_has() {
    needs!();
    for (name, code) in [("TERM", 143), ("HUP", 129)] {
        let folder = tempfile::tempdir().unwrap();
        // Whoever started the tests may ignore it, as nohup does.
        let asked = run(folder.path(), Cells::LONG);
        let mut env = through("env", &["--default-signal=HUP"], &asked);
        let mut running = env.current_dir(folder.path()).spawn().unwrap();
        let result = folder.path().join("result");
        wait_until(|| result.join("plan.toml").is_file());
        // Twice at once, as `timeout` does: its child, then the group of both.
        let (option, child) = (format!("-{name}"), running.id().to_string());
        let sent = Command::new("kill").args([&option, &child, &child]).status().unwrap();
        assert!(sent.success());
        assert_eq!(running.wait().unwrap().code(), Some(code), "{name}");
        assert_eq!(read_json(&result.join("result.json"))["complete"], false, "{name}");
        assert!(result.join("report.html").is_file(), "{name}");
    }
}

/// What was asked, started by another program.
fn through(starter: &str, options: &[&str], asked: &Command) -> Command {
    let mut command = Command::new(starter);
    command.args(options).arg(asked.get_program()).args(asked.get_args()).stdout(Stdio::null());
    command.envs(asked.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

#[test]
fn a_run_that_nohup_started_outlives_its_terminal() {
    needs!();
    let folder = tempfile::tempdir().unwrap();
    let mut nohup = through("nohup", &[], &run(folder.path(), Cells::SHORT));
    let mut running = nohup.current_dir(folder.path()).spawn().unwrap();
    let result = folder.path().join("result");
    wait_until(|| result.join("plan.toml").is_file());
    signal(running.id(), "HUP");
    // A busy machine may need longer than the cap of a cell.
    assert!(matches!(running.wait().unwrap().code(), Some(0 | 6)));
    assert_eq!(read_json(&result.join("result.json"))["partial"], true);
}

/// The check of this plan's link outlasts every test: its first 200 round trips are lost in the queue
/// of a slow line, and each is waited for 4 delays.
const ENDLESS_CHECK: Cells<'_> = Cells {
    cases: &["SEND+DL"],
    passes: 2,
    more: "[link]\ndelay = \"2s\"\nrate = \"rate 100bit/s queue 1s\"\n",
    ..Cells::SHORT
};

/// Ends a run once its check has begun.
fn terminated_in_its_check(command: &mut Command) {
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(running.stderr.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap() == "checking the emulation"));
    signal(running.id(), "TERM");
    let status = ended_within(&mut running, A_LOT);
    if status.is_none() {
        running.kill().unwrap();
    }
    let told: Vec<String> = said.map(Result::unwrap).collect();
    assert_eq!(status.and_then(|status| status.code()), Some(143), "{told:?}");
    assert!(told.iter().any(|line| line.contains("go on with: btu run --resume")), "{told:?}");
}

#[test]
fn a_run_terminated_in_the_check_of_its_emulation_keeps_nothing_of_it_and_goes_on_later() {
    needs!();
    let folder = tempfile::tempdir().unwrap();
    let mut fresh = btu();
    fresh.current_dir(folder.path()).args(["run", "--out", "result", "--plan"]);
    let mut again = btu();
    again.current_dir(folder.path()).args(["run", "--resume", "result"]);
    for command in [fresh.arg(plan_file(folder.path(), ENDLESS_CHECK)), &mut again] {
        terminated_in_its_check(command);
        let result = folder.path().join("result");
        assert_eq!(lines(&result.join("samples.jsonl")).len(), 0);
        assert_eq!(read_json(&result.join("result.json"))["complete"], false);
        assert_eq!(report(&result, &[]).status.code(), Some(0));
    }
}

/// A limit of 48 KiB a file: above the disclosure of the hosts, below the journal of 20 passes.
#[test]
fn a_file_at_the_limit_of_its_size_is_named_and_the_journal_goes_on_later() {
    needs!();
    let folder = tempfile::tempdir().unwrap();
    plan_file(folder.path(), short(20));
    let script = "ulimit -f 96 && exec \"$0\" run --quiet --plan plan-of-mine.toml --out result";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(btu().get_program()).current_dir(folder.path());
    let ended = command.output().unwrap();
    assert_eq!(ended.status.code(), Some(3), "{}", said(&ended));
    let message = said(&ended);
    assert!(message.contains("write result/samples.jsonl: File too large"), "{message}");
    assert!(message.contains("hint: what was measured so far is kept"), "{message}");
    let result = folder.path().join("result");
    let kept = lines(&result.join("samples.jsonl")).len();
    assert!(kept > 0);
    assert_eq!(report(&result, &[]).status.code(), Some(0));
    let resumed = resume(&result);
    assert!(resumed.status.success(), "{}", said(&resumed));
    assert_eq!(measured(&result).len(), 40);
    assert!(lines(&result.join("samples.jsonl")).len() >= 60);
}

/// The program where a file system of this kind lies over the folder `full`.
fn over(folder: &Path, options: &str) -> Output {
    std::fs::create_dir(folder.join("full")).unwrap();
    plan_file(folder, short(2));
    let script = format!(
        "mount -t tmpfs -o {options} none full && \
         exec \"$0\" run --quiet --plan plan-of-mine.toml --io-dir . --out full/result"
    );
    let program = btu().get_program().to_owned();
    let mut command = Command::new("unshare");
    command.args(["-r", "-m", "sh", "-c", &script]).arg(program).current_dir(folder);
    command.output().unwrap()
}

#[test]
fn a_full_disk_is_named_with_the_file() {
    needs!("unshare", "mount");
    let folder = tempfile::tempdir().unwrap();
    let full = over(folder.path(), "size=32k");
    let said = said(&full);
    assert_eq!(full.status.code(), Some(3), "{said}");
    assert!(said.contains("full/result/") && said.contains("No space left"), "{said}");
    assert!(said.contains("hint: ") && !said.contains("internal error"), "{said}");
}

#[test]
fn a_read_only_directory_is_named_with_the_remedy() {
    needs!("unshare", "mount");
    let folder = tempfile::tempdir().unwrap();
    let refused = over(folder.path(), "ro");
    let said = said(&refused);
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(said.contains("create full/result: Read-only file system"), "{said}");
    assert!(said.contains("hint: name another directory with --out"), "{said}");
}

#[test]
fn a_working_directory_that_is_gone_is_named_with_the_remedy() {
    needs!();
    let folder = tempfile::tempdir().unwrap();
    for words in ["run --quiet --cases SEND --activities cpu", "score table.json"] {
        let script = format!("mkdir gone && cd gone && rmdir ../gone && exec \"$0\" {words}");
        let program = btu().get_program().to_owned();
        let mut command = Command::new("sh");
        let refused = command.args(["-c", &script]).arg(program).current_dir(folder.path());
        let said = said(&refused.output().unwrap());
        assert!(said.contains("hint: the working directory was removed"), "{words}: {said}");
    }
}

#[test]
fn a_read_only_result_that_is_to_go_on_is_told_what_to_do_first() {
    needs!("unshare", "mount");
    let (folder, _result) = stored();
    let script = "mount --bind result result && mount -o remount,bind,ro result && \
                  exec \"$0\" run --quiet --resume result";
    let mut command = Command::new("unshare");
    command.args(["-r", "-m", "sh", "-c", script]).arg(btu().get_program());
    let refused = command.current_dir(folder.path()).output().unwrap();
    let said = said(&refused);
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(said.contains("hint: btu report shows what is there"), "{said}");
}

/// Everywhere that `io` may work unasked is in memory: no disk is hidden by the result's own directory.
#[test]
fn where_no_directory_is_on_a_disk_the_activity_io_is_refused_with_the_remedy() {
    needs!("unshare", "mount");
    let folder = tempfile::tempdir().unwrap();
    let memory = folder.path().join("memory");
    std::fs::create_dir(&memory).unwrap();
    plan_file(folder.path(), Cells { activities: &["io"], ..short(2) });
    let script = "mount -t tmpfs none memory && mount -t tmpfs none /var/tmp && \
                  exec \"$0\" run --quiet --plan plan-of-mine.toml --out memory/result";
    let program = btu().get_program().to_owned();
    let mut command = Command::new("unshare");
    command.args(["-r", "-m", "sh", "-c", script]).arg(program).current_dir(folder.path());
    let refused = command.env("HOME", &memory).output().unwrap();
    let said = said(&refused);
    assert_eq!(refused.status.code(), Some(3), "{said}");
    let cause = "no directory on a disk in which files can be made, among memory, /var/tmp, ";
    assert!(said.contains(cause), "{said}");
    assert!(said.contains("hint: name a directory on a disk with --io-dir"), "{said}");
    assert!(!said.contains("internal error"), "{said}");
}

/// The program in a user namespace where a limit is 0, without the rights of its root.
fn limited(folder: &Path, limit: &str, rights: &str) -> Output {
    plan_file(folder, short(2));
    let script = format!(
        "echo 0 > /proc/sys/user/{limit} && \
         exec {rights} \"$0\" run --quiet --plan plan-of-mine.toml --out result"
    );
    let program = btu().get_program().to_owned();
    let mut command = Command::new("unshare");
    command.args(["-r", "sh", "-c", &script]).arg(program).current_dir(folder);
    command.output().unwrap()
}

#[test]
fn where_namespaces_are_forbidden_the_remedy_is_named() {
    needs!("unshare", "setpriv");
    let cases = [
        ("max_user_namespaces", "setpriv --bounding-set=-all", "sysctl user.max_user_namespaces="),
        ("max_net_namespaces", "", "start it outside of other namespaces"),
    ];
    for (limit, rights, remedy) in cases {
        let folder = tempfile::tempdir().unwrap();
        let refused = limited(folder.path(), limit, rights);
        let said = said(&refused);
        assert_eq!(refused.status.code(), Some(3), "{limit}: {said}");
        assert!(said.contains("hint: ") && said.contains(remedy), "{limit}: {said}");
        assert!(!folder.path().join("result").exists(), "{limit}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let mut list = btu().arg("list").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(list.stdout.take());
    let ended = list.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), said(&ended).as_str()), (Some(0), ""));
}

#[test]
fn a_result_that_cannot_be_printed_is_a_fault() {
    for words in [&["list"][..], &["--help"], &["run", "--help"], &["--version"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ended = btu().args(words).stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(ended.status.code(), Some(3), "{words:?}");
        let told = said(&ended);
        assert!(told.contains("write to stdout: No space left"), "{words:?}: {told}");
    }
}

/// The runtime opens /dev/null in its place, where every write works.
#[test]
fn a_result_for_a_stdout_that_is_closed_is_a_fault() {
    let closed = |words: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec \"$0\" {words} >&-")]).arg(btu().get_program());
        shell.output().unwrap()
    };
    for words in ["list", "list --json", "--help", "run --help", "run --dry-run", "--version"] {
        let ended = closed(words);
        assert_eq!(ended.status.code(), Some(3), "{words}: {}", said(&ended));
        let told = said(&ended);
        assert!(told.contains("btu: write to stdout: it is closed\nhint: "), "{words}: {told}");
    }
    // Nothing was for stdout here, and the command line is wrong in any case.
    let folder = tempfile::tempdir().unwrap();
    let pages = format!("man --out {}", folder.path().display());
    for (words, code) in [(pages.as_str(), 0), ("no-such-verb", 2)] {
        let ended = closed(words);
        assert_eq!(ended.status.code(), Some(code), "{words}: {}", said(&ended));
    }
}

#[test]
fn a_plan_that_is_not_legal_runs_nothing() {
    let cases = [
        ("[time]\nwindw = \"20ms\"\n", "plan-of-mine.toml:2:1: unknown field `windw`"),
        ("[time]\nwindow = \"20\"\n", "\"20\" has no unit; write ns, us, ms, s, min or h"),
        ("[time]\nwindow = \"1ms\"\namount = \"4000B\"\n", "window is given, too"),
        ("[passes]\nmin = 3\nmax = 2\n", "min = 3 is more than max = 2"),
        ("[matrix]\ncases = [\"SND\"]\n", "plan-of-mine.toml:2:10: matrix.cases = \"SND\""),
        (
            "[matrix]\napplications = [{ name = \"x\", message = \"100GB\" }]\n",
            "a message has at most 64MiB",
        ),
        (
            "seed = 4\ntestbed_class = \"lab\"\n",
            "plan-of-mine.toml:2:17: testbed_class = \"lab\": this run is on the local testbed; write \"local\"",
        ),
    ];
    for (text, message) in cases {
        let folder = tempfile::tempdir().unwrap();
        let refused = run(folder.path(), text).output().unwrap();
        let said = said(&refused);
        assert_eq!((refused.status.code(), refused.stdout.len()), (Some(2), 0), "{text}: {said}");
        assert!(said.contains(message), "{text}: {said}");
        assert!(!folder.path().join("result").exists(), "{text}");
    }
}

#[test]
fn another_congestion_control_than_the_plan_s_is_not_rankable() {
    needs!();
    let folder = tempfile::tempdir().unwrap();
    let text = Cells { more: "[sockets]\ncongestion = \"nosuch\"\n", ..short(2) };
    let ended = run(folder.path(), text).output().unwrap();
    assert!(ended.status.success(), "{}", said(&ended));
    let result = read_json(&folder.path().join("result/result.json"));
    let reasons = result["not_rankable_reasons"].to_string();
    assert!(reasons.contains("did not have congestion control nosuch"), "{reasons}");
}
