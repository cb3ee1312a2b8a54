//! A crowd of strangers at the data doors of a run: they say nothing, get no answer, and cost nothing.

use std::fs;
use std::io::ErrorKind;
use std::io::Read;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

use super::A_LOT;
use super::SOON;
use super::ended;
use super::hosts::Black;
use super::hosts::Hosts;
use super::measured;
use crate::isolated::isolated;
use crate::program::Cells;
use crate::program::of_kind;
use crate::program::signal;
use crate::wait::wait_within;

/// Runs with one connection, and with two.
const FEW: Cells<'_> = Cells {
    cases: &["SEND", "SEND_RECV"],
    window: "60ms",
    lead_in: "5ms",
    passes: 2,
    ..Cells::SHORT
};

/// The doors of the black box.
const DOORS: [u16; 2] = [7420, 7421];
/// Strangers that a data door hears at once.
const HEARD: usize = 64;
/// Strangers that come to an open door at once.
const THRONG: usize = 3 * HEARD;

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
        let agent = hosts.lab1(&[&format!("[[class]]\ndata_ports = [{first}, {last}]\n")]);
        let mut run = hosts.run(FEW, "result", &["--active", "lab1"]);
        let mut run = run.stderr(Stdio::piped()).spawn().unwrap();
        let mut crowd = Crowd::at(&agent);
        hosts.inside(1, || {
            while crowd.finds_a_door(|| run.try_wait().unwrap().is_some()) {
                hosts.cut(0);
                crowd.throng(&agent);
                hosts.mend(0);
                crowd.await_the_end();
            }
        });
        let (code, told) = ended(&mut run, SOON);
        let dir = hosts.path("result");
        let cells = of_kind(&dir, "cell");
        let outcomes: Vec<_> = cells.iter().map(|cell| cell["outcome"].to_string()).collect();
        assert_eq!(code, Some(0), "{told}{outcomes:?}");
        assert_eq!(measured(&dir).len(), 2 * 2 * 2);
        let is_complete = |outcome: &String| outcome.contains("complete");
        assert!(outcomes.iter().all(is_complete), "{outcomes:?}");
        let most = crowd.descriptors.iter().max().copied().unwrap_or(0);
        println!("came: {:?}; descriptors of a process: {:?}", crowd.came, crowd.descriptors);
        for came in &crowd.came {
            // A door that was open, and more before it than are heard.
            let open = came.iter().filter(|count| **count > 0).count();
            let full = came.iter().filter(|count| **count > HEARD).count();
            assert!(full >= 2 && 2 * full >= open, "no crowd was before a door");
        }
        assert!(most >= HEARD, "no crowd was inside");
        assert!(most < HEARD + 100, "strangers that are not heard any more have descriptors");
    });
}

/// The password of a run keeps strangers from files, not from the places of those that log in.
#[test]
fn the_ftp_server_of_a_run_hears_the_host_under_test_alone() {
    let name = "agent::crowd::the_ftp_server_of_a_run_hears_the_host_under_test_alone";
    isolated(name, || {
        let hosts = Hosts::new();
        hosts.join_black_boxes();
        let agent = hosts.lab1(&[]);
        let plan = Cells { activities: &["ftp"], ..Cells::LONG };
        let mut run = hosts.run(plan, "result", &["--active", "lab1"]);
        let mut run = run.stderr(Stdio::null()).spawn().unwrap();
        let greeted = |host| hosts.inside(host, || greeted_by(&hosts, &agent));
        wait_within(A_LOT, "the FTP server", || greeted(2));
        assert!(!greeted(1), "a stranger was greeted");
        assert!(greeted(2), "it has ended meanwhile");
        signal(run.id(), "KILL");
        run.wait().unwrap();
        agent.is_idle_soon();
    });
}

/// Whether an FTP server says its name, at one of the ports of the black box that are open.
fn greeted_by(hosts: &Hosts, agent: &Black<'_>) -> bool {
    let (host, own) = agent.address().rsplit_once(':').unwrap();
    let own: u16 = own.parse().unwrap();
    hosts.listening(0).into_iter().filter(|port| *port != own).any(|port| {
        let Ok(mut client) = TcpStream::connect(format!("{host}:{port}")) else { return false };
        client.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut told = [0; 4];
        client.read_exact(&mut told).is_ok() && told == *b"220 "
    })
}

/// Strangers that connect and say nothing.
#[derive(Default)]
struct Crowd {
    host: String,
    inside: Vec<TcpStream>,
    /// How many found each door open, each time that the crowd was there.
    came: [Vec<usize>; 2],
    /// The most that a process of the agent had open while the crowd was there, each time.
    descriptors: Vec<usize>,
    /// The processes of the agent, while the crowd is there.
    watched: Vec<u32>,
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
        Self { host: host.to_owned(), ..Self::default() }
    }

    fn knock(&mut self, door: u16) -> Answer {
        let at: SocketAddr = format!("{}:{door}", self.host).parse().unwrap();
        match TcpStream::connect_timeout(&at, Duration::from_millis(100)) {
            Ok(stranger) => {
                self.inside.push(stranger);
                Answer::Open
            }
            Err(cause) if cause.kind() == ErrorKind::ConnectionRefused => Answer::Closed,
            Err(_) => Answer::Thronged,
        }
    }

    /// Waits at the first door until somebody listens there; false where the run ended before.
    fn finds_a_door(&mut self, mut is_over: impl FnMut() -> bool) -> bool {
        let (mut found, mut over) = (false, false);
        wait_within(A_LOT, "an open door, or the end of the run", || {
            over = is_over();
            found = !over && self.knock(DOORS[0]) == Answer::Open;
            over || found
        });
        found
    }

    /// Many more at each door that is open; from now on somebody looks at the agent.
    fn throng(&mut self, agent: &Black<'_>) {
        for (place, door) in DOORS.into_iter().enumerate() {
            let came = (0..THRONG).take_while(|_| self.knock(door) == Answer::Open).count();
            self.came[place].push(came);
        }
        self.watched = agent.processes();
        self.descriptors.push(0);
        self.look();
    }

    /// Somebody is heard only once the network is mended: the most comes late.
    fn look(&mut self) {
        let open = self.watched.iter().map(|process| descriptors(*process)).max();
        let most = self.descriptors.last_mut().unwrap();
        *most = (*most).max(open.unwrap_or(0));
    }

    /// Stays until nobody listens any more.
    fn await_the_end(&mut self) {
        wait_within(A_LOT, "a door that closes", || {
            self.look();
            self.knock(DOORS[0]) == Answer::Closed
        });
        self.inside.clear();
    }
}

/// How many descriptors a process has open; none where it has ended.
fn descriptors(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count)
}
