//! The testbed of planted causes: one connection, everything recorded that a second run records.

use std::io;
use std::io::Read as _;
use std::net::IpAddr;
use std::net::Shutdown;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

use btu_core::capture;
use btu_core::capture::Packet;
use btu_core::capture::PcapNg;
use btu_core::link::ChainSpec;
use btu_core::link::Reader as LinkReader;
use btu_core::role::Role;
use btu_core::run::analysis::SecondRun;
use btu_core::run::analysis::second_run;
use btu_core::run::cell::ActivityName;
use btu_core::run::cell::Application;
use btu_core::run::cell::Case;
use btu_core::run::cell::Cell;
use btu_core::run::cell::Direction;
use btu_core::run::plan::Choices;
use btu_core::run::plan::Plan;
use btu_core::run::plan::Vocabulary;
use btu_core::sample::CaptureFile;
use btu_core::sample::CapturePoint;
use btu_core::sample::CaptureSample;
use btu_core::sample::CaptureSource;
use btu_core::sample::CellSample;
use btu_core::sample::CommSample;
use btu_core::sample::ConnectionSample;
use btu_core::sample::EndSample;
use btu_core::sample::Outcome;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::comm::over_run;
use btu_engine::files::Files;
use btu_engine::probe::observe;
use btu_engine::socket_options;
use btu_sys::clock;
use btu_sys::cpu;
use btu_sys::cpu::CpuSet;
use btu_sys::cpu::ThreadUse;
use btu_sys::socket;
use btu_sys::socket::Effective;
use btu_sys::socket::Settings;
use btu_sys::tcp_info::TcpInfo;
use btu_testbed::capture::End;
use btu_testbed::capture::write_pcapng;
use btu_testbed::local::LocalConfig;
use btu_testbed::local::LocalTestbed;
use btu_testbed::local::Path;

use super::Plant;
use super::Rivals;

/// Three hosts for one trial after the other.
pub(crate) struct Bed {
    testbed: LocalTestbed,
}

/// What a diagnosis gets to see: no more than a second run leaves.
pub(crate) struct Trial {
    pub(crate) sample: CaptureSample,
    pub(crate) pcapng: Vec<u8>,
}

/// One end after its part.
struct EndAccount {
    sample: EndSample,
    bytes: u64,
    started: u64,
    ended: u64,
}

impl Trial {
    /// What the diagnosis says, the strongest cause first.
    pub(crate) fn diagnoses(&self) -> Vec<String> {
        let found = self.second_run();
        let diagnoses = found.connections.iter().flat_map(|one| &one.diagnoses);
        diagnoses.map(|one| one.cause.to_owned()).collect()
    }

    /// What else used the machine meanwhile; nothing is wrong on purpose alone then.
    pub(crate) fn disturbance(&self) -> Option<String> {
        btu_core::run::anomaly::disturbance(&self.sample.run.host)
    }

    /// The trial as the second run of a cell, with what was found of it.
    pub(crate) fn second_run(&self) -> SecondRun {
        let words = Vocabulary { activities: &["cpu", "ftp", "io"] };
        let plan = Plan::resolve(&Choices::default(), &words, 1).expect("the default plan");
        let found = second_run(&plan, &self.sample, Ok(self.pcapng.clone()), &[], None);
        assert_eq!(found.no_packets, "", "the capture can be read");
        found
    }
}

impl Bed {
    pub(crate) fn new() -> Self {
        let config = LocalConfig { congestion: Some("cubic".to_owned()), ..LocalConfig::default() };
        Self { testbed: LocalTestbed::new(&config).expect("a local testbed") }
    }

    /// Plants the cause and records what happens.
    pub(crate) fn trial(&self, plant: &Plant, seed: u64) -> Trial {
        let (forth, back) = (chain(plant.link[0]), chain(plant.link[1]));
        let (up, down) =
            if plant.direction == Direction::Send { (forth, back) } else { (back, forth) };
        self.testbed.impair(&[(Role::Active, up, down)], seed).expect("link elements");
        self.bounded(plant, || self.recorded(plant))
    }

    fn recorded(&self, plant: &Plant) -> Trial {
        let path = path(plant);
        let recording = self.testbed.record(&[Role::Active], path, MOST_PACKETS);
        let recording = recording.expect("a recording");
        let files = Files::host();
        let before = BOXES.map(|role| self.inside(role, || observe(&files)));
        let rivals = self.rivals(plant.rivals);
        let (writer, reader) = self.talk(plant);
        rivals.end();
        let window = writer.sample.tcp_info.as_ref().and_then(|info| info.cwnd_segments);
        let most = plant.most_window.map_or(u64::MAX, u64::from);
        assert!(window <= Some(most), "the kernel keeps to the bound of a route: {window:?}");
        thread::sleep(LAST_PACKETS);
        let [host, far] = [0, 1].map(|at| self.inside(BOXES[at], || before[at].finish(&files)));
        let captures = recording.finish().expect("the packets");
        let (end, seen_at) = match (path, plant.direction) {
            (Path::Emulated, Direction::Send) => (End::Near, CapturePoint::Test),
            _ => (End::Far, CapturePoint::BlackBox),
        };
        let mut pcapng = Vec::new();
        let packets = write_pcapng(&mut pcapng, &captures, end).expect("memory takes everything");
        let mut emulation = Vec::new();
        if plant.link_is_known {
            emulation = self.testbed.emulation().expect("the link's account");
        } else {
            pcapng = without_fates(&pcapng);
        }
        let run = CellSample { host, emulation, ..cell_sample(plant, writer, reader) };
        let file = CaptureFile {
            path: CaptureFile::path_of(&run.cell),
            bytes: u64::try_from(pcapng.len()).unwrap_or(0),
            blake3: String::new(),
            packets,
            lost: captures.iter().map(|capture| capture.lost).sum(),
            source: match path {
                Path::Direct => CaptureSource::Listener,
                Path::Emulated => CaptureSource::Emulator,
            },
            seen_at,
        };
        let sample = CaptureSample {
            run,
            why: Vec::new(),
            black_boxes: vec![(Role::Active, far.counters)],
            black_box_hosts: Vec::new(),
            file: Some(file),
            not_captured: String::new(),
        };
        Trial { sample, pcapng }
    }

    /// What `work` does while the sender's route bounds the congestion window (`RTAX_CWND`).
    fn bounded<T>(&self, plant: &Plant, work: impl FnOnce() -> T) -> T {
        let Some(most) = plant.most_window else { return work() };
        let (role, to) = match plant.direction {
            Direction::Send => (Role::Test, self.testbed.address(Role::Active, path(plant))),
            Direction::Receive => {
                (Role::Active, self.testbed.test_address(Role::Active, path(plant)))
            }
        };
        let ip = |words: String| {
            let words = || words.split_whitespace();
            let asked = self.inside(role, || Command::new("ip").args(words()).output());
            let said = asked.expect("ip of iproute2 is installed");
            assert!(said.status.success(), "ip: {said:?}");
            String::from_utf8(said.stdout).expect("words")
        };
        let route = ip(format!("route show match {to}"));
        ip(format!("route change {route} cwnd lock {most}"));
        // A connection takes its bound from what the kernel remembers of the far host, which it keeps
        // for an hour whatever the route says since: it is to forget that and to learn the bound.
        ip("tcp_metrics flush".to_owned());
        self.meet(role, to);
        let done = work();
        ip(format!("route change {route}"));
        ip("tcp_metrics flush".to_owned());
        done
    }

    /// A connection of nothing: at its end the kernel remembers the far host, with the route's bounds.
    fn meet(&self, from: Role, to: IpAddr) {
        let far = if from == Role::Test { Role::Active } else { Role::Test };
        let plain = Settings::default();
        let listener = self.inside(far, || socket::listen(SocketAddr::new(to, 0), &plain));
        let listener = listener.expect("a listening socket");
        let address = listener.local_addr().expect("its address");
        let stream = self.inside(from, || socket::connect(address, &plain, PATIENCE));
        let (mut near, mut far) = (stream.expect("a connection"), listener.accept().expect("it").0);
        near.shutdown(Shutdown::Write).expect("the near end of it");
        far.read_to_end(&mut Vec::new()).expect("the end of it");
        drop(far);
        near.read_to_end(&mut Vec::new()).expect("the end of the far end");
    }

    fn inside<T: Send>(&self, role: Role, work: impl FnOnce() -> T + Send) -> T {
        self.testbed.net(role).inside(work).expect("the namespace of a host")
    }

    /// Threads on the test host's CPUs that never rest.
    fn rivals(&self, rivals: Rivals) -> Running {
        let count = if let Rivals::Threads(count) = rivals { count } else { 0 };
        let stop = Arc::new(AtomicBool::new(false));
        let start = |_| {
            let (cpus, stop) = (self.testbed.cpus(Role::Test).clone(), Arc::clone(&stop));
            thread::spawn(move || {
                cpu::pin(&cpus).expect("the test host's CPUs");
                while !stop.load(Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        Running { threads: (0..count).map(start).collect(), stop }
    }

    /// Both ends, from the connection to its end: the writer, then the reader.
    fn talk(&self, plant: &Plant) -> (EndAccount, EndAccount) {
        let (near, far) = (Role::Test, Role::Active);
        let address = SocketAddr::new(self.testbed.address(far, path(plant)), 0);
        let (from, to) = match plant.direction {
            Direction::Send => (near, far),
            Direction::Receive => (far, near),
        };
        let settings = |role: Role| Settings {
            send_buffer: plant.sockets.send_buffer.filter(|_| role == from),
            receive_buffer: plant.sockets.receive_buffer.filter(|_| role == to),
            nodelay: Some(plant.sockets.nodelay),
            ..Settings::default()
        };
        let listener = self.inside(far, || socket::listen(address, &settings(far)));
        let listener = listener.expect("a listening socket");
        let address = listener.local_addr().expect("its address");
        let (writer, reader) = (plant.writer, plant.reader);
        let part = move |role: Role, stream: TcpStream, cpus: CpuSet| {
            if role == from {
                serve(role, stream, &cpus, WRITE, |stream| writer.write(stream))
            } else {
                serve(role, stream, &cpus, reader.read_size(), |stream| reader.read(stream))
            }
        };
        let far_cpus = self.testbed.cpus(far).clone();
        let accepting =
            thread::spawn(move || part(far, listener.accept().expect("the other end").0, far_cpus));
        let near_cpus = self.testbed.cpus(near).clone();
        let here = self.inside(near, || {
            let stream = socket::connect(address, &settings(near), PATIENCE);
            part(near, stream.expect("a connection"), near_cpus)
        });
        let there = accepting.join().expect("the far end");
        if from == near { (here, there) } else { (there, here) }
    }
}

/// The life of one end on its thread.
fn serve(
    role: Role,
    mut stream: TcpStream,
    cpus: &CpuSet,
    call_bytes: usize,
    work: impl FnOnce(&mut TcpStream) -> io::Result<u64>,
) -> EndAccount {
    cpu::pin(cpus).expect("the host's CPUs");
    let info = |stream: &TcpStream| TcpInfo::of(stream).ok();
    let (before, used, started) = (info(&stream), ThreadUse::now(), clock::monotonic_ns());
    let bytes = work(&mut stream).expect("the connection lasts");
    let ended = clock::monotonic_ns();
    let used = ThreadUse::now().since(&used);
    let sample = EndSample {
        role,
        calls: 0,
        call_bytes: Bytes::new(u64::try_from(call_bytes).unwrap_or(0)),
        write_call: btu_core::run::calls::WriteCall::Plain,
        message_file: None,
        stood_still_ns: Nanos::ZERO,
        cpu_ns: Some(Nanos::new(used.cpu_ns)),
        run_delay_ns: used.run_delay_ns.map(Nanos::new),
        voluntary_switches: Some(used.voluntary_switches),
        involuntary_switches: Some(used.involuntary_switches),
        port: stream.local_addr().ok().map(|address| address.port()),
        cpus: cpus.iter().collect(),
        hold: btu_core::sample::Hold::Pinned,
        ftp_session: None,
        options: socket_options(Effective::of(&stream)),
        tcp_info: info(&stream).map(|after| over_run(&after, before.as_ref())),
        series: None,
    };
    EndAccount { sample, bytes, started, ended }
}

/// The run as a journal has it.
fn cell_sample(plant: &Plant, writer: EndAccount, reader: EndAccount) -> CellSample {
    let elapsed_ns = Nanos::new(reader.ended.saturating_sub(writer.started));
    let bytes = Bytes::new(reader.bytes);
    let connection = ConnectionSample {
        peer: Role::Active,
        direction: plant.direction,
        bytes,
        messages: 0,
        elapsed_ns,
        receiver_elapsed_ns: elapsed_ns,
        sender: writer.sample,
        receiver: reader.sample,
        proof_failures: Vec::new(),
        longest_pause_ns: None,
    };
    let case = if plant.direction == Direction::Send { Case::Send } else { Case::Recv };
    let application = Application { name: "planted".to_owned(), message_bytes: Bytes::new(1024) };
    CellSample {
        cell: Cell { case, application, activity: ActivityName::none() },
        pass: 0,
        position: 1,
        attempt: 1,
        started_at: String::new(),
        outcome: Outcome::Complete,
        comm: Some(CommSample { elapsed_ns, bytes, connections: vec![connection] }),
        activity_sample: None,
        emulation: Vec::new(),
        host: btu_core::sample::HostSample::default(),
        invalid: Vec::new(),
        flags: Vec::new(),
    }
}

/// The same packets without the remarks of the link that dropped some of them.
fn without_fates(pcapng: &[u8]) -> Vec<u8> {
    let read = capture::read(pcapng).expect("what was just written");
    let mut file = PcapNg::new("");
    for interface in &read.interfaces {
        file.interface(interface);
    }
    for packet in &read.packets {
        file.packet(&Packet { comment: None, ..*packet });
    }
    file.finish()
}

/// Threads that end when they are told to.
struct Running {
    threads: Vec<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
}

impl Running {
    fn end(self) {
        self.stop.store(true, Relaxed);
        self.threads.into_iter().for_each(|thread| thread.join().expect("a rival"));
    }
}

fn path(plant: &Plant) -> Path {
    if plant.is_emulated() { Path::Emulated } else { Path::Direct }
}

fn chain(texts: &[&str]) -> ChainSpec {
    ChainSpec::as_given(texts, &LinkReader::PLAN).expect("a chain of link elements")
}

const BOXES: [Role; 2] = [Role::Test, Role::Active];
const MOST_PACKETS: usize = 250_000;
const WRITE: usize = 64 << 10;
const PATIENCE: Duration = Duration::from_secs(10);
/// What is still on its way when both ends are done.
const LAST_PACKETS: Duration = Duration::from_millis(150);
