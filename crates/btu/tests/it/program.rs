//! The program under test, and what its tests share.

use std::fmt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::ExitStatus;
use std::process::Output;
use std::time::Duration;
use std::time::Instant;

use btu_core::capture;
use serde_json::Value;

use crate::commands::run;

/// The program as built for this test run, or from `BTU_BIN` where the tests run apart from it.
pub(crate) fn btu() -> Command {
    let built = || PathBuf::from(env!("CARGO_BIN_EXE_btu"));
    let mut command = Command::new(std::env::var_os("BTU_BIN").map_or_else(built, PathBuf::from));
    // A key of these tests, not that of whoever runs them.
    let state = format!("btu-state-{}", std::process::id());
    command.env("BTU_STATE_DIR", std::env::temp_dir().join(state));
    command
}

/// A plan: which cells, how long, how often. Shown, it is the text of its file.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'t> {
    pub(crate) cases: &'t [&'t str],
    pub(crate) applications: &'t [&'t str],
    pub(crate) activities: &'t [&'t str],
    pub(crate) window: &'t str,
    pub(crate) lead_in: &'t str,
    pub(crate) alone: &'t str,
    pub(crate) passes: u32,
    /// Further sections, such as `[link]`.
    pub(crate) more: &'t str,
}

impl Cells<'_> {
    /// One case beside an idle host, in one pass as short as it can be.
    pub(crate) const SHORT: Self = Self {
        cases: &["SEND"],
        applications: &["video"],
        activities: &["idle"],
        window: "20ms",
        lead_in: "0ms",
        alone: "20ms",
        passes: 1,
        more: "",
    };
    /// Two cases, two applications, one activity and two short passes.
    pub(crate) const TINY: Self = Self {
        cases: &["SEND", "RECV"],
        applications: &["netscape", "video"],
        activities: &["cpu"],
        lead_in: "5ms",
        passes: 2,
        ..Self::SHORT
    };
    /// Its first step outlasts every test.
    pub(crate) const LONG: Self = Self { window: "1ms", alone: "500s", ..Self::SHORT };
    /// No second runs.
    pub(crate) const WITHOUT_CAPTURES: &'static str = "[capture]\ncells = \"none\"\n";
}

impl fmt::Display for Cells<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cases, applications, activities, window, lead_in, alone, passes, more } = self;
        writeln!(f, "[matrix]\ncases = {cases:?}\napplications = {applications:?}")?;
        writeln!(f, "activities = {activities:?}\n[time]\nwindow = {window:?}")?;
        writeln!(f, "lead_in = {lead_in:?}\nalone = {alone:?}")?;
        write!(f, "[passes]\nmin = {passes}\nmax = {passes}\n{more}")
    }
}

/// A plan in a file of this directory.
pub(crate) fn plan_file(dir: &Path, text: impl fmt::Display) -> PathBuf {
    let path = dir.join("plan-of-mine.toml");
    std::fs::write(&path, text.to_string()).unwrap();
    path
}

/// `btu run` of a plan, without a word meanwhile.
pub(crate) fn run_of(plan: &Path, out: impl AsRef<Path>) -> Command {
    let mut command = btu();
    command.args(["run", "--quiet", "--plan"]).arg(plan).arg("--out").arg(out.as_ref());
    command
}

/// The plan [`Cells::TINY`] in a file.
pub(crate) fn tiny_plan(dir: &Path) -> PathBuf {
    let path = dir.join("tiny.toml");
    std::fs::write(&path, Cells::TINY.to_string()).unwrap();
    path
}

/// The result of that plan.
pub(crate) fn tiny_run(dir: &Path) -> PathBuf {
    let out = dir.join("tiny");
    run(&mut run_of(&tiny_plan(dir), &out)).unwrap();
    out
}

/// `btu report` of a result.
pub(crate) fn report(result: &Path, options: &[&str]) -> Output {
    btu().arg("report").arg(result).args(options).output().unwrap()
}

/// The file of a second run's packets: it is what its sample says, and holds this much of each at the most.
pub(crate) fn packets_of(result: &Path, second: &Value, most_bytes: usize) -> Vec<u8> {
    let file = &second["file"];
    let path = file["path"].as_str().unwrap_or_else(|| panic!("{second}"));
    let bytes = std::fs::read(result.join(path)).unwrap();
    assert_eq!(file["blake3"], blake3::hash(&bytes).to_hex().as_str());
    let read = capture::read(&bytes).unwrap();
    assert_eq!(file["packets"], read.packets.len());
    assert!(read.packets.iter().all(|packet| packet.data.len() <= most_bytes), "headers only");
    bytes
}

/// A report that is made again from the journal in `out` is the stored one, and names this word.
pub(crate) fn assert_reported_again(dir: &Path, word: &str) {
    let again = |format: &str| {
        run(btu().current_dir(dir).args(["report", "out", "--format", format])).unwrap()
    };
    let file = |name: &str| std::fs::read_to_string(dir.join("out").join(name)).unwrap();
    assert_eq!(again("html"), file("report.html"));
    assert_eq!(again("json"), file("result.json"));
    for format in ["text", "md", "csv"] {
        assert!(again(format).contains(word), "{format}");
        assert_eq!(again(format), again(format), "{format}");
    }
}

/// What only a hang takes longer than.
pub(crate) const A_LOT: Duration = Duration::from_mins(5);

/// What a program said to people.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A JSON file.
pub(crate) fn read_json(path: &Path) -> Value {
    let text = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap()
}

/// The whole lines of a journal file.
pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The samples of this kind in a result: `cell`, `alone`, `capture`.
pub(crate) fn of_kind(result: &Path, kind: &str) -> Vec<Value> {
    let mut all = lines(&result.join("samples.jsonl"));
    all.retain(|line| line["kind"] == kind);
    all
}

/// True for the name that `/proc` gives a file of `io`, which never had one: `DIR/#INODE (deleted)`; where a file
/// system makes no nameless ones, it had one until it was open.
pub(crate) fn is_of_io(name: &Path) -> bool {
    let own = name.file_name().unwrap_or_default().to_string_lossy();
    own.ends_with(" (deleted)") && (own.starts_with('#') || own.starts_with(".btu-io-"))
}

/// Sends a signal by name.
pub(crate) fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(pid.to_string()).status().unwrap();
    assert!(sent.success());
}

/// The end of a child if it comes within `time`.
pub(crate) fn ended_within(child: &mut Child, time: Duration) -> Option<ExitStatus> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::park_timeout(Duration::from_millis(2));
    }
    None
}

/// Waits for a condition, at most a minute.
pub(crate) fn wait_until(condition: impl FnMut() -> bool) {
    crate::wait::wait_until("what this test waits for", condition);
}

/// Whoever goes on with a result that is finished sees it again, and changes nothing of it.
pub(crate) fn is_left_alone(result: &Path, verb: &str) {
    let kept = ["samples.jsonl", "events.jsonl", "result.json", "signatures.json"];
    let content = || kept.map(|name| std::fs::read(result.join(name)).unwrap());
    let before = content();
    let again = btu().args([verb, "--resume"]).arg(result).output().unwrap();
    assert_eq!(again.status.code(), Some(0));
    let said = said(&again);
    assert!(said.contains("the measurement is finished"), "{said}");
    assert!(content() == before, "it was changed");
}
