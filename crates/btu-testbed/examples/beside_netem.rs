//! The kernel's own emulator beside the relay, on one machine and with the same elements: how long
//! each takes, whether order is kept, how much waits before a line, whether losses are accounted for.
//!
//! Prints a line of JSON per check, each with what relay and netem did. Needs root, or a user
//! namespace with network rights, and a kernel with `sch_netem`.

use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;
use std::net::UdpSocket;
use std::time::Duration;

use btu_core::link::ChainSpec;
use btu_core::link::Reader;
use btu_core::sample::DirectionSample;
use btu_sys::clock::monotonic_ns;
use btu_testbed::around::Around;
use btu_testbed::around::Depth;
use btu_testbed::around::FAR_PORT;
use btu_testbed::around::FarEnd;
use btu_testbed::around::NEAR_PORT;
use btu_testbed::backend::BACKENDS;
use btu_testbed::backend::Emulator;
use btu_testbed::backend::LinkPorts;
use btu_testbed::backend::Order;
use btu_testbed::backend::Settings;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let links = ["relay", "netem"].map(Link::over);
    let [relay, netem] = links;
    let links = [relay?, netem?];
    for micros in [100, 1000, 10_000, 100_000] {
        let mut medians = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (link, medians) in links.iter().zip(&mut medians) {
                medians.push(median(link.times(micros)?));
            }
        }
        let [relay, netem] = medians.map(told);
        say(&format!(
            r#"{{"check":"delay","asked_us":{micros},"relay":{relay},"netem":{netem}}}"#
        ))?;
    }
    let [relay, netem] = each(&links, Link::disorder)?;
    say(&format!(r#"{{"check":"order","relay":{relay},"netem":{netem}}}"#))?;
    let [relay, netem] = each(&links, Link::queued)?;
    say(&format!(r#"{{"check":"queue","asked":{QUEUE},"relay":{relay},"netem":{netem}}}"#))?;
    let [relay, netem] = each(&links, Link::losses)?;
    say(&format!(r#"{{"check":"losses","sent":{MANY},"relay":{relay},"netem":{netem}}}"#))
}

/// Of an odd number of times, or the upper of both in the middle.
fn median(mut times: Vec<u64>) -> u64 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The medians of the rounds, and theirs: what disturbs the machine for a moment is in few of them.
fn told(medians: Vec<u64>) -> String {
    let micros = |ns: &u64| format!("{:.0}", Duration::from_nanos(*ns).as_secs_f64() * 1e6);
    let rounds: Vec<String> = medians.iter().map(micros).collect();
    let p50 = micros(&median(medians));
    format!(r#"{{"rounds_us":[{}],"p50_us":{p50}}}"#, rounds.join(","))
}

fn each<T>(links: &[Link; 2], of: impl Fn(&Link) -> Result<T>) -> Result<[T; 2]> {
    let [relay, netem] = links;
    Ok([of(relay)?, of(netem)?])
}

fn say(line: &str) -> Result<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}

/// An emulated link, and a socket at either end.
struct Link {
    emulator: Box<dyn Emulator>,
    near: UdpSocket,
    far: UdpSocket,
    _around: Around,
}

impl Link {
    fn over(backend: &str) -> Result<Self> {
        let around = Around::create(Depth::OUTERMOST, FarEnd::Alone, 1500)?;
        let ports = LinkPorts { name: LINK.into(), near: NEAR_PORT.into(), far: FAR_PORT.into() };
        let found = BACKENDS.iter().find(|one| one.name() == backend).ok_or("no such backend")?;
        let settings = Settings { shared_cpus: true, ..Settings::default() };
        let emulator = found.start(around.wire(), &[ports], &settings)?;
        let at = |address| UdpSocket::bind(SocketAddr::new(address, 0));
        let far = around.far().inside(|| at(Depth::OUTERMOST.far().into()))??;
        let near = around.near().inside(|| at(Depth::OUTERMOST.near().into()))??;
        near.connect(far.local_addr()?)?;
        far.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { emulator, near, far, _around: around })
    }

    fn begin(&self, elements: &[String]) -> Result<()> {
        let up = ChainSpec::as_given(elements, &Reader::PLAN)?;
        let order = Order { link: LINK.to_owned(), up, down: ChainSpec::default() };
        Ok(self.emulator.configure(&[order], 1)?)
    }

    /// Datagrams from near to far, one every [`GAP`]: nanoseconds that each took.
    fn times(&self, micros: u64) -> Result<Vec<u64>> {
        self.begin(&[format!("delay {micros}us")])?;
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| self.probe());
            let mut times = Vec::new();
            for number in 0..PROBES + WARM_UP {
                let mut sent = [0; 8];
                self.far.recv(&mut sent)?;
                if number >= WARM_UP {
                    times.push(monotonic_ns() - u64::from_ne_bytes(sent));
                }
            }
            sender.join().map_err(|_| "the sender of probes panicked")??;
            Ok(times)
        })
    }

    /// Sends when each datagram was sent.
    fn probe(&self) -> std::io::Result<()> {
        for _ in 0..PROBES + WARM_UP {
            self.near.send(&monotonic_ns().to_ne_bytes())?;
            std::thread::sleep(GAP);
        }
        Ok(())
    }

    /// A burst over a delay: how many came after one that was sent later, or not at all.
    fn disorder(&self) -> Result<String> {
        self.begin(&["delay 10ms".to_owned()])?;
        self.burst(FEW, 64)?;
        let came = self.arrivals(FEW)?;
        let wrong = came.windows(2).filter(|pair| pair[0] > pair[1]).count();
        Ok(format!(r#"{{"came":{},"out_of_order":{wrong}}}"#, came.len()))
    }

    /// A burst before a slow line: how many had room.
    fn queued(&self) -> Result<String> {
        self.begin(&[format!("rate 1Mbit/s queue {QUEUE}pkt")])?;
        let start = monotonic_ns();
        self.burst(FEW, DATAGRAM)?;
        // What the line took meanwhile made room for as many.
        let took = monotonic_ns() - start;
        let on_the_line = took / LINE_NS;
        let came = self.arrivals(FEW)?.len();
        let [up, _] = self.samples()?;
        let lost = up.queue_dropped;
        Ok(format!(r#"{{"came":{came},"counted_lost":{lost},"sent_meanwhile":{on_the_line}}}"#))
    }

    /// Losses by chance: what did not come, and what was counted.
    fn losses(&self) -> Result<String> {
        self.begin(&["drop 10%".to_owned()])?;
        let mut missing = MANY;
        for _ in 0..MANY / FEW {
            self.burst(FEW, 64)?;
            missing -= u64::try_from(self.arrivals(FEW)?.len())?;
        }
        let [up, _] = self.samples()?;
        let (counted, packets) = (up.dropped, up.packets);
        Ok(format!(r#"{{"missing":{missing},"counted":{counted},"packets":{packets}}}"#))
    }

    fn burst(&self, count: u64, length: usize) -> Result<()> {
        let mut datagram = vec![0; length];
        for number in 0..count {
            datagram[..8].copy_from_slice(&number.to_ne_bytes());
            self.near.send(&datagram)?;
        }
        Ok(())
    }

    /// The numbers of those that come, up to `most`, until none comes for a while.
    fn arrivals(&self, most: u64) -> Result<Vec<u64>> {
        let mut datagram = [0; DATAGRAM];
        let mut came = Vec::new();
        while came.len() < usize::try_from(most)? && self.far.recv(&mut datagram).is_ok() {
            came.push(u64::from_ne_bytes(datagram[..8].try_into()?));
        }
        Ok(came)
    }

    fn samples(&self) -> Result<[DirectionSample; 2]> {
        let samples = self.emulator.samples()?;
        samples.try_into().map_err(|_| "a link has two directions".into())
    }
}

const LINK: &str = "link";
const FEW: u64 = 200;
const MANY: u64 = 2000;
/// Of both links in turn.
const ROUNDS: usize = 9;
/// Datagrams of a round that count.
const PROBES: u64 = 40;
/// Short, so that no CPU of an emulated machine sleeps deep: it would take a millisecond to wake, and longer
/// the more programs a packet meets.
const GAP: Duration = Duration::from_millis(3);
/// The first packets of a path take longer.
const WARM_UP: u64 = 5;
/// Wire packets that may wait before the line.
const QUEUE: u64 = 50;
const DATAGRAM: usize = 1000;
/// What a datagram takes on a line of 1 Mbit/s: headers of UDP, IP and Ethernet, FCS, preamble, gap.
const LINE_NS: u64 = (1000 + 8 + 20 + 38) * 8 * 1000;
const PATIENCE: Duration = Duration::from_millis(700);
