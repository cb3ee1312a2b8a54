//! `btu run` whose program is stopped in the middle of a cell: whoever stops one (a terminal, a container that is
//! paused) stops no clock.

use std::fs;
use std::path::Path;
use std::process::Child;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::commands::needs;
use crate::program::A_LOT;
use crate::program::Cells;
use crate::program::of_kind;
use crate::program::plan_file;
use crate::program::run_of;
use crate::program::signal;
use crate::wait::wait_within;

#[test]
fn a_run_in_which_the_program_stood_still_is_invalid() {
    needs!();
    if !Path::new("/proc/self/schedstat").exists() {
        skip!("kernel lacks: schedstat");
    }
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("result");
    let plan = plan_file(folder.path(), Cells { window: "3s", ..Cells::SHORT });
    let mut command = run_of(&plan, &result);
    let mut child = command.current_dir(folder.path()).stdout(Stdio::null()).spawn().unwrap();
    stop_within_a_cell(&mut child);
    thread::sleep(Duration::from_millis(400));
    signal(child.id(), "CONT");
    assert!(child.wait().unwrap().success());
    let cells = of_kind(&result, "cell");
    let stood = |cell: &Value| cell["invalid"].to_string().contains("stood still for");
    assert_eq!(cells.iter().filter(|cell| stood(cell)).count(), 1, "{cells:#?}");
}

/// A busy machine may let a cell end before the signal comes, and a thread stops only once it has a CPU.
fn stop_within_a_cell(child: &mut Child) {
    let program = child.id();
    wait_within(A_LOT, "a program that is stopped within a cell", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended before");
        is_within_a_cell(&threads(program)) && {
            signal(program, "STOP");
            wait_within(A_LOT, "threads that stand", || {
                threads(program).iter().all(|thread| thread.state == "T")
            });
            let stands = is_within_a_cell(&threads(program));
            if !stands {
                signal(program, "CONT");
            }
            stands
        }
    });
}

/// Its sender has worked for a while, and those who watch it and the receiver are there.
fn is_within_a_cell(threads: &[Thread]) -> bool {
    let of = |name: &str| threads.iter().find(|thread| thread.name == name);
    let is_sending = of("comm-test-0").is_some_and(|sender| sender.worked_ns > 2_000_000);
    is_sending && ["comm-near", "comm-far"].into_iter().all(|name| of(name).is_some())
}

struct Thread {
    name: String,
    state: String,
    /// The CPU time that it had; nothing where the kernel keeps no such account.
    worked_ns: u64,
}

/// Those of a process that did not end meanwhile.
fn threads(process: u32) -> Vec<Thread> {
    let listed = fs::read_dir(format!("/proc/{process}/task"));
    listed.into_iter().flatten().filter_map(|entry| Thread::at(&entry.ok()?.path())).collect()
}

impl Thread {
    /// `1234 (comm-test-0) R ...`, and the CPU time, which comes first.
    fn at(folder: &Path) -> Option<Self> {
        let text = |name| fs::read_to_string(folder.join(name)).ok();
        let stat = text("stat")?;
        let (front, rest) = stat.rsplit_once(") ")?;
        let (_, name) = front.split_once('(')?;
        let state = rest.split(' ').next()?;
        let account = text("schedstat");
        let worked_ns = account.and_then(|account| account.split(' ').next()?.parse().ok());
        let (name, state, worked_ns) = (name.into(), state.into(), worked_ns.unwrap_or(0));
        Some(Self { name, state, worked_ns })
    }
}
