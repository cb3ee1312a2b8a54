//! How exactly the emulator delays an idle link, where nobody else uses its CPU.
//!
//! One thread holds both ends and never sleeps, so that no wake-up of an end is in the figures. It
//! sends datagrams over the direct path and over the emulated one in turn, and takes the time that
//! each needs. Prints a line of JSON per link: microseconds of the direct path, and of the
//! emulated one beyond what the link asks for. Needs root, or a user namespace with network rights.

use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;
use std::net::UdpSocket;
use std::time::Duration;

use btu_core::link::ChainSpec;
use btu_core::link::Reader;
use btu_core::role::Role;
use btu_sys::clock::monotonic_ns;
use btu_sys::cpu;
use btu_testbed::backend::WaitChoice;
use btu_testbed::local::LocalConfig;
use btu_testbed::local::LocalTestbed;
use btu_testbed::local::Path;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let config = LocalConfig { wait: WaitChoice::Hybrid, ..LocalConfig::default() };
    let testbed = LocalTestbed::new(&config)?;
    cpu::pin(testbed.cpus(Role::Test))?;
    let mut ways = [Way::over(&testbed, Path::Direct)?, Way::over(&testbed, Path::Emulated)?];
    for (link, asked) in LINKS {
        let chain = ChainSpec::as_given(link, &Reader::PLAN)?;
        testbed.impair(&[(Role::Active, chain, ChainSpec::default())], 1)?;
        measure(&mut ways)?;
        let [direct, emulated] = &mut ways;
        let (direct, emulated) = (direct.figures(Duration::ZERO), emulated.figures(*asked));
        let elements = link.join(", ");
        writeln!(
            std::io::stdout(),
            r#"{{"link":"{elements}","direct":{direct},"emulated":{emulated}}}"#
        )?;
    }
    Ok(())
}

/// Both ends of a path, and how long datagrams took on it.
struct Way {
    near: UdpSocket,
    far: UdpSocket,
    times_ns: Vec<u64>,
}

impl Way {
    fn over(testbed: &LocalTestbed, path: Path) -> Result<Self> {
        let there = SocketAddr::new(testbed.address(Role::Active, path), 0);
        let here = SocketAddr::new(testbed.test_address(Role::Active, path), 0);
        let far = testbed.net(Role::Active).inside(|| UdpSocket::bind(there))??;
        let near = testbed.net(Role::Test).inside(|| UdpSocket::bind(here))??;
        near.connect(far.local_addr()?)?;
        far.set_nonblocking(true)?;
        Ok(Self { near, far, times_ns: Vec::new() })
    }

    /// A datagram carries the time of its start.
    fn send(&self) -> Result<()> {
        self.near.send(&monotonic_ns().to_ne_bytes())?;
        Ok(())
    }

    fn receive(&mut self) {
        let mut start = [0; 8];
        if matches!(self.far.recv(&mut start), Ok(8)) {
            self.times_ns.push(monotonic_ns() - u64::from_ne_bytes(start));
        }
    }

    fn is_short(&self) -> bool {
        u64::try_from(self.times_ns.len()).is_ok_and(|count| count < PROBES)
    }

    /// Median and 99th percentile beyond `asked`, of this round.
    fn figures(&mut self, asked: Duration) -> String {
        let mut times = std::mem::take(&mut self.times_ns);
        times.sort_unstable();
        let micros = |span: Duration| span.as_secs_f64() * 1e6;
        let at = |rank: usize| micros(Duration::from_nanos(times[rank])) - micros(asked);
        let (middle, high) = (times.len() / 2, times.len() * 99 / 100);
        format!(r#"{{"n":{},"p50":{:.2},"p99":{:.2}}}"#, times.len(), at(middle), at(high))
    }
}

/// Sends all probes at their pace and waits for the last.
fn measure(ways: &mut [Way; 2]) -> Result<()> {
    let start = monotonic_ns();
    let mut sent = 0_u64;
    while ways.iter().any(Way::is_short) {
        let now = monotonic_ns();
        if sent < 2 * PROBES && now >= start + sent * PACE_NS {
            ways[usize::from(sent % 2 == 1)].send()?;
            sent += 1;
        }
        ways.iter_mut().for_each(Way::receive);
        if now > start + 2 * PROBES * PACE_NS + PATIENCE_NS {
            return Err("a datagram was lost on an idle path".into());
        }
    }
    Ok(())
}

/// Elements of a link, and the time that a datagram has to take on it.
static LINKS: &[(&[&str], Duration)] = &[
    (&["delay 100us"], Duration::from_micros(100)),
    (&["delay 1ms"], Duration::from_millis(1)),
    (&["delay 10ms"], Duration::from_millis(10)),
    (&["delay 100ms"], Duration::from_millis(100)),
    (&["delay 1s"], Duration::from_secs(1)),
    // The shortest frame is 84 bytes on the wire, preamble and gap included.
    (&["rate 10Mbit/s", "delay 1ms"], Duration::from_nanos(1_067_200)),
];
/// Over each path.
const PROBES: u64 = 1000;
/// No delay is a multiple of it, or the thread would be sending when what was delayed comes: each comes
/// at least 0.1 ms after one datagram was sent and 0.2 ms before the next.
const PACE_NS: u64 = 1_700_000;
const PATIENCE_NS: u64 = 2_000_000_000;
