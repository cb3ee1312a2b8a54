//! A crowd of strangers at the data doors of a run: they say nothing, get no answer, and cost nothing.

use std::fs;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::process::Stdio;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use super::A_LOT;
use super::SOON;
use super::ended;
use super::hosts::Black;
use super::hosts::Hosts;
use super::measured;
use crate::isolated::isolated;
use crate::program::lines;

/// Runs with one connection, and with two.
const FEW: &str = r#"
[matrix]
cases = ["SEND", "SEND_RECV"]
applications = ["video"]
activities = ["idle"]
[time]
window = "60ms"
lead_in = "5ms"
alone = "20ms"
[passes]
min = 2
max = 2
"#;

/// The doors of the black box.
const DOORS: [u16; 2] = [7420, 7421];
/// Strangers that a data door hears at once.
const HEARD: usize = 64;

/// The crowd comes from another host, while the network to the host under test is cut: its own connections
/// come when the hall has long been full.
#[test]
fn a_crowd_of_silent_strangers_keeps_no_run_from_its_connections() {
    let name = "agent::crowd::a_crowd_of_silent_strangers_keeps_no_run_from_its_connections";
    isolated(name, || {
        btu_sys::limit::raise_descriptors().unwrap();
        let hosts = Hosts::new();
        hosts.join_black_boxes();
        let [first, last] = DOORS;
        let agent = hosts.agent(0, &[&format!("[[class]]\ndata_ports = [{first}, {last}]\n")]);
        hosts.pair(&agent, "lab1");
        let mut run = hosts.run(FEW, "result", &["--active", "lab1"]);
        let mut run = run.stderr(Stdio::piped()).spawn().unwrap();
        let (end, mut crowd) = (Instant::now() + A_LOT, Crowd::at(&agent));
        hosts.inside(1, || {
            while Instant::now() < end && run.try_wait().unwrap().is_none() {
                if crowd.knock(DOORS[0]) == Answer::Open {
                    hosts.cut(0);
                    crowd.throng(&agent);
                    hosts.mend(0);
                    crowd.await_the_end(end);
                }
            }
        });
        let (code, told) = ended(&mut run, SOON);
        let dir = hosts.path("result");
        let mut cells = lines(&dir.join("samples.jsonl"));
        cells.retain(|line| line["kind"] == "cell");
        let outcomes: Vec<_> = cells.iter().map(|cell| cell["outcome"].to_string()).collect();
        assert_eq!(code, Some(0), "{told}{outcomes:?}");
        assert_eq!(measured(&dir).len(), 2 * 2 * 2);
        let is_complete = |outcome: &String| outcome.contains("complete");
        assert!(outcomes.iter().all(is_complete), "{outcomes:?}");
        let most = crowd.descriptors.iter().max().copied().unwrap_or(0);
        println!("{} strangers; descriptors of a process: {:?}", crowd.came, crowd.descriptors);
        assert!(crowd.came > 1000 && most >= HEARD, "no crowd was inside");
        assert!(most < HEARD + 100, "strangers that are not heard any more have descriptors");
    });
}

/// Strangers that connect and say nothing.
struct Crowd {
    host: String,
    inside: Vec<TcpStream>,
    came: usize,
    /// The most that a process of the agent had open, each time that the crowd was there.
    descriptors: Vec<usize>,
}

/// What one that knocks finds.
#[derive(PartialEq)]
enum Answer {
    Closed,
    Open,
    /// There, but with more before it than the kernel lets wait.
    Thronged,
}

impl Crowd {
    fn at(agent: &Black<'_>) -> Self {
        let (host, _) = agent.address().rsplit_once(':').unwrap();
        Self { host: host.to_owned(), inside: Vec::new(), came: 0, descriptors: Vec::new() }
    }

    fn knock(&mut self, door: u16) -> Answer {
        let at: SocketAddr = format!("{}:{door}", self.host).parse().unwrap();
        match TcpStream::connect_timeout(&at, Duration::from_millis(20)) {
            Ok(stranger) => {
                self.inside.push(stranger);
                self.came += 1;
                Answer::Open
            }
            Err(cause) if cause.kind() == ErrorKind::ConnectionRefused => Answer::Closed,
            Err(_) => Answer::Thronged,
        }
    }

    /// Many more at each door that is open, and a look at the agent.
    fn throng(&mut self, agent: &Black<'_>) {
        for door in DOORS {
            for _ in 0..3 * HEARD {
                if self.knock(door) != Answer::Open {
                    break;
                }
            }
        }
        let open = agent.processes().into_iter().map(descriptors).max();
        self.descriptors.extend(open);
    }

    /// Stays until nobody listens any more.
    fn await_the_end(&mut self, end: Instant) {
        while Instant::now() < end && self.knock(DOORS[0]) != Answer::Closed {
            thread::sleep(Duration::from_millis(10));
        }
        self.inside.clear();
    }
}

/// How many descriptors a process has open; none where it has ended.
fn descriptors(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count)
}
