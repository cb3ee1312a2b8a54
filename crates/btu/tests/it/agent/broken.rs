//! Faults of network, peers, strangers and disks: nothing hangs, nothing stays, the next run works.

use std::fs::File;
use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use super::A_LOT;
use super::MANY;
use super::SOME;
use super::ended;
use super::has_records;
use super::hosts::Black;
use super::hosts::Hosts;
use super::hosts::said;
use super::measured;
use crate::commands::needs;
use crate::dice::Dice;
use crate::dice::mutated;
use crate::isolated::isolated;
use crate::parsers::corpus;
use crate::program::Cells;
use crate::program::btu;
use crate::program::ended_within;
use crate::program::of_kind;
use crate::program::read_json;
use crate::program::signal;
use crate::program::wait_until;
use crate::wait::wait_within;

/// [`MANY`] in two passes: 2 cases, 2 applications, the activity and its baseline.
const FEW: Cells<'_> = Cells { passes: 2, ..MANY };

/// Each cell of [`FEW`] is there once.
fn assert_whole(hosts: &Hosts, result: &str) {
    assert_has(hosts, result, 2 * 2 * 2 * 2);
}

/// So many cells are there, each once.
fn assert_has(hosts: &Hosts, result: &str, count: usize) {
    let cells = measured(&hosts.path(result));
    let mut unique = cells.clone();
    unique.dedup();
    assert_eq!((cells.len(), unique.len()), (count, count));
    assert_eq!(read_json(&hosts.path(result).join("result.json"))["complete"], true);
}

/// A run of a few cells, as if nothing had happened: an agent that is lost is not waited for.
pub(super) fn assert_works(hosts: &Hosts, agent: &Black<'_>, out: &str) {
    agent.is_idle_soon();
    let path = hosts.path(&format!("{out}.stderr"));
    let mut run = hosts.run(SOME, out, &["--active", "lab1", "--reconnect", "0"]);
    let mut run = run.stderr(File::create(&path).unwrap().into()).spawn().unwrap();
    let code = ended_within(&mut run, A_LOT).and_then(|ended| ended.code());
    if code.is_none() {
        let _ = run.kill();
    }
    let said = std::fs::read_to_string(&path).unwrap();
    assert_eq!(code, Some(0), "{said}\nlog of the agent: {}", log(agent));
}

pub(super) fn log(agent: &Black<'_>) -> String {
    std::fs::read_to_string(agent.state().join("audit.ndjson")).unwrap()
}

#[test]
fn a_silent_cut_ends_all_traffic_by_the_lease_and_the_run_goes_on_when_it_is_mended() {
    let name = "a_silent_cut_ends_all_traffic_by_the_lease_and_the_run_goes_on_when_it_is_mended";
    isolated(&format!("agent::broken::{name}"), || {
        let hosts = Hosts::new();
        let agent = hosts.lab1(&[]);
        let options = ["--active", "lab1", "--reconnect", "240"];
        let plan = Cells { window: "500ms", applications: &["video"], ..FEW };
        let mut run = hosts.run(plan, "result", &options);
        let mut run = run.stderr(Stdio::null()).spawn().unwrap();
        let result = hosts.path("result");
        // In the middle of a run: beside the control connection there is one for data.
        wait_until(|| has_records(&result, 4) && hosts.connections(0) >= 2);
        hosts.cut(0);
        // Should the run have ended just before, a conductor may be silent for a minute and more.
        wait_within(A_LOT, "the end of the lease", || agent.workers() == 0);
        wait_until(|| hosts.connections(0) == 0);
        assert!(log(&agent).contains("the lease expired"), "{}", log(&agent));
        hosts.mend(0);
        let ended = ended_within(&mut run, A_LOT).expect("the run hangs");
        assert_eq!(ended.code(), Some(0));
        assert_has(&hosts, "result", 2 * 2 * 2);
        agent.is_idle_soon();
    });
}

/// Before the first cell each link is checked by short runs: they are tried again as cells are.
#[test]
fn an_agent_that_is_lost_while_its_link_is_checked_is_used_again() {
    let name = "agent::broken::an_agent_that_is_lost_while_its_link_is_checked_is_used_again";
    isolated(name, || {
        let hosts = Hosts::new();
        let front = "[front]\ndevice = \"lan\"\naddress = \"10.77.0.9/24\"\n";
        let mut agent = hosts.lab1(&[front]);
        let plan = Cells {
            cases: &["SEND+DL"],
            applications: &["netscape"],
            window: "1s",
            alone: "1s",
            ..Cells::SHORT
        };
        let options = ["--active", "lab1", "--reconnect", "240"];
        let mut run = hosts.run(plan, "result", &options).begun();
        // The first of these runs goes the direct way, beside the control connection.
        wait_until(|| hosts.connections(0) >= 2);
        agent.kill();
        assert!(!has_records(&hosts.path("result"), 1), "the check was over");
        agent.restart();
        let (code, told) = ended(&mut run, A_LOT);
        // A busy machine may need longer than the cap of a cell.
        assert!(matches!(code, Some(0 | 6)), "{told}");
        let checks = of_kind(&hosts.path("result"), "verification");
        assert_eq!(checks.len(), 2, "before and after");
    });
}

#[test]
fn a_killed_conductor_leaves_no_connection_and_resumes() {
    isolated("agent::broken::a_killed_conductor_leaves_no_connection_and_resumes", || {
        let hosts = Hosts::new();
        let agent = hosts.lab1(&[]);
        let mut run = hosts.run(FEW, "result", &["--active", "lab1"]);
        let mut run = run.stderr(Stdio::null()).spawn().unwrap();
        wait_until(|| has_records(&hosts.path("result"), 4));
        signal(run.id(), "KILL");
        run.wait().unwrap();
        wait_until(|| agent.workers() == 0 && hosts.connections(0) == 0);
        let mut again = hosts.btu(2);
        again.args(["run", "--quiet", "--active", "lab1", "--resume"]).arg(hosts.path("result"));
        again.ends_with(0);
        assert_whole(&hosts, "result");
    });
}

/// The start of a TLS record that claims 16 KiB, a byte at a time.
struct Slow {
    stream: TcpStream,
    fed: usize,
}

impl Slow {
    /// One byte more; true once the agent has closed the connection.
    fn is_closed_after_a_byte(&mut self) -> bool {
        const RECORD: [u8; 5] = [0x16, 3, 1, 0x40, 0];
        let byte = RECORD.get(self.fed).copied().unwrap_or(1);
        self.fed += 1;
        let sent = self.stream.write_all(&[byte]);
        sent.is_err() || self.stream.read(&mut [0; 8]).is_ok()
    }
}

/// Bytes from the corpus of frames, damaged.
pub(super) fn garbage() -> Vec<Vec<u8>> {
    let files = corpus("frame");
    let damaged = |seed: u64| {
        let bytes = &files[usize::try_from(seed).unwrap() % files.len()].1;
        mutated(bytes, &mut Dice::new(seed))
    };
    (0..10_000).map(damaged).collect()
}

#[test]
fn strangers_are_closed_and_change_nothing() {
    isolated("agent::broken::strangers_are_closed_and_change_nothing", || {
        btu_sys::limit::raise_descriptors().unwrap();
        let hosts = Hosts::new();
        let agent = hosts.lab1(&[]);
        let address = agent.address().to_owned();
        let connect = || TcpStream::connect(&address).unwrap();
        let idle: Vec<TcpStream> = hosts.inside(2, || (0..1000).map(|_| connect()).collect());
        let mut run = hosts.run(FEW, "result", &["--active", "lab1"]);
        let mut run = run.stderr(Stdio::null()).spawn().unwrap();
        // Until it is known, a conductor is a stranger of this address, too, and makes room for others.
        wait_until(|| agent.workers() == 1);
        hosts.inside(2, || {
            for ten in garbage().chunks(10) {
                // It may close before it has read everything.
                let _ = connect().write_all(&ten.concat());
            }
        });
        let mut slow: Vec<Slow> = hosts.inside(2, || {
            let slow = |_| Slow { stream: connect(), fed: 0 };
            (0..4).map(slow).collect()
        });
        for one in &slow {
            one.stream.set_nonblocking(true).unwrap();
        }
        wait_until(|| {
            slow.retain_mut(|one| !one.is_closed_after_a_byte());
            slow.is_empty()
        });
        assert_eq!(ended_within(&mut run, A_LOT).expect("the run hangs").code(), Some(0));
        assert_whole(&hosts, "result");
        // Of 1000 that said nothing most were closed to make room, without an answer.
        let closed = idle.iter().filter(|stream| {
            stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
            let mut stream = *stream;
            stream.read(&mut [0; 64]).is_ok_and(|count| count == 0)
        });
        assert!(closed.count() >= 1000 - 8, "more than 8 strangers of one address were kept");
        assert!(log(&agent).lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    });
}

#[test]
fn an_interrupt_ends_waiting_for_an_agent_that_is_silent_from_the_start() {
    let name =
        "agent::broken::an_interrupt_ends_waiting_for_an_agent_that_is_silent_from_the_start";
    isolated(name, || {
        let hosts = Hosts::new();
        let agent = hosts.lab1(&[]);
        let mut blocks = hosts.btu(2);
        blocks.args(["pingpong", "tcp", "--peer", "lab1", "--quiet", "--out", "blocks"]);
        let mut traffic = hosts.btu(2);
        traffic
            .args(["traffic", "sweep", "sessions", "--peer", "lab1", "--quiet", "--out", "flows"]);
        let run = hosts.run(SOME, "result", &["--active", "lab1"]);
        // The kernel takes connections for it, and that is all.
        let all = agent.processes();
        let tell = |word: &str| {
            for process in &all {
                signal(*process, word);
            }
        };
        tell("STOP");
        for mut command in [run, blocks, traffic] {
            wait_until(|| hosts.connections(2) == 0);
            let mut waiting = command.begun();
            wait_until(|| hosts.connections(2) > 0);
            signal(waiting.id(), "INT");
            let (code, told) = ended(&mut waiting, A_LOT);
            assert_eq!(code, Some(130), "{told}");
            assert!(told.contains("interrupted before the first run"), "{told}");
        }
        tell("CONT");
        assert_works(&hosts, &agent, "works");
    });
}

#[test]
fn a_full_disk_of_the_conductor_frees_the_agent() {
    isolated("agent::broken::a_full_disk_of_the_conductor_frees_the_agent", || {
        needs!("unshare", "mount");
        let hosts = Hosts::new();
        let agent = hosts.lab1(&[]);
        std::fs::create_dir(hosts.path("full")).unwrap();
        std::fs::write(hosts.path("some.toml"), SOME.to_string()).unwrap();
        let script = "mount -t tmpfs -o size=32k none full && \
                      exec \"$0\" run --quiet --active lab1 --plan some.toml --out full/result";
        let mut full = Command::new("unshare");
        full.args(["-m", "sh", "-c", script]).arg(btu().get_program());
        full.current_dir(hosts.dir()).env("BTU_STATE_DIR", hosts.state("2"));
        let full = hosts.inside(2, || full.output().unwrap());
        assert_eq!(full.status.code(), Some(3), "{}", said(&full));
        assert!(said(&full).contains("No space left"), "{}", said(&full));
        assert_works(&hosts, &agent, "result");
    });
}

/// Hosts of which the first keeps its state on a disk of half a MiB.
fn with_a_small_disk() -> Hosts {
    let hosts = Hosts::new();
    std::fs::create_dir_all(hosts.state("0")).unwrap();
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=512k", "none"]).arg(hosts.state("0"));
    assert!(mount.status().unwrap().success());
    hosts
}

#[test]
fn an_agent_whose_disk_is_full_works_and_logs_again_when_there_is_room() {
    let name = "agent::broken::an_agent_whose_disk_is_full_works_and_logs_again_when_there_is_room";
    isolated(name, || {
        needs!("unshare", "mount");
        in_mounts_of_its_own(name, || {
            let hosts = with_a_small_disk();
            let agent = hosts.lab1(&[]);
            // To the end of its page: what is left there would have room for some lines more.
            let path = agent.state().join("audit.ndjson");
            let rest = 4096 - std::fs::metadata(&path).unwrap().len() % 4096;
            let pad = format!("\"{}\"\n", "-".repeat(usize::try_from(rest).unwrap().max(3) - 3));
            let mut file = File::options().append(true).open(&path).unwrap();
            file.write_all(pad.as_bytes()).unwrap();
            let filler = hosts.state("0").join("filler");
            let mut file = File::create(&filler).unwrap();
            while file.write_all(&[7; 512]).is_ok() {}
            assert_works(&hosts, &agent, "full");
            let before = log(&agent).lines().count();
            std::fs::remove_file(&filler).unwrap();
            drop(file);
            assert_works(&hosts, &agent, "roomy");
            let log = log(&agent);
            assert!(log.lines().count() > before, "{log}");
            assert!(log.contains("\"suppressed\""), "{log}");
        });
    });
}

/// Its state is read before each proof, and cannot be written.
#[test]
fn an_agent_whose_disk_is_full_lets_nobody_join_and_no_invitation_is_good_twice() {
    let name = "agent::broken::an_agent_whose_disk_is_full_lets_nobody_join_and_no_invitation_is_good_twice";
    isolated(name, || {
        needs!("unshare", "mount");
        in_mounts_of_its_own(name, || {
            let hosts = with_a_small_disk();
            let agent = hosts.agent(0, &[]);
            let invite = agent.invite();
            let filler = hosts.state("0").join("filler");
            let mut file = File::create(&filler).unwrap();
            while file.write_all(&[7; 512]).is_ok() {}
            let pair = |state: &str| {
                let mut pair = hosts.btu(2);
                pair.env("BTU_STATE_DIR", hosts.state(state));
                said(&pair.args(["pair", &invite, "--name", "lab1"]).ends_with(4))
            };
            let told = pair("2");
            assert!(told.contains("this agent cannot write down new peers"), "{told}");
            std::fs::remove_file(&filler).unwrap();
            drop(file);
            for state in ["2", "third"] {
                let told = pair(state);
                assert!(told.contains("no such invitation"), "{told}");
            }
            assert!(!log(&agent).contains("\"joined\""), "{}", log(&agent));
            hosts.pair(&agent, "lab1");
        });
    });
}

/// Runs `test` again where what it mounts is seen by nobody else.
fn in_mounts_of_its_own(name: &str, test: impl FnOnce()) {
    const MARK: &str = "BTU_TEST_MOUNTS";
    if std::env::var_os(MARK).is_some() {
        return test();
    }
    let mut again = Command::new("unshare");
    again.arg("-m").arg(std::env::current_exe().unwrap());
    again.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(MARK, "1");
    let Output { status, stdout, stderr } = again.output().unwrap();
    let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(status.success() && stdout.contains("1 passed"), "{stdout}{stderr}");
}
