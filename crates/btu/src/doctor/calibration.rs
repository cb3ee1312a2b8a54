//! A second of known traffic through an emulated link of this machine: achieved beside asked.

use std::net::IpAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use anyhow::Context;
use anyhow::anyhow;
use btu_core::link::ChainSpec;
use btu_core::link::Pattern;
use btu_core::link::Reader;
use btu_core::role::Role;
use btu_core::sample::DirectionSample;
use btu_core::stats::median;
use btu_core::units::Nanos;
use btu_engine::Place;
use btu_engine::prober::Path;
use btu_sys::clock;
use btu_sys::cpu::CpuSet;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Netlink;
use btu_sys::packet::PacketSocket;
use btu_testbed::around;
use btu_testbed::around::Around;
use btu_testbed::around::Depth;
use btu_testbed::around::FarEnd;
use btu_testbed::backend::BACKENDS;
use btu_testbed::backend::Emulator;
use btu_testbed::backend::LinkPorts;
use btu_testbed::backend::Order;
use btu_testbed::backend::Settings;

use super::machine::Arrival;
use super::machine::Calibration;

/// A link of its own, with nothing else on it.
struct Bench {
    around: Around,
    path: Path,
}

/// Sends one packet to a packet socket such as the relay has.
pub(crate) fn arrival() -> anyhow::Result<Arrival> {
    let bench = Bench::set_up()?;
    let port = Netlink::open(bench.around.wire())?.link(around::NEAR_PORT)?.index;
    let mut socket = bench.around.wire().inside(|| PacketSocket::open(port, None))??;
    let depth = bench.around.depth();
    bench.around.near().inside(|| -> anyhow::Result<()> {
        let sender = std::net::UdpSocket::bind((depth.near(), 0))?;
        sender.send_to(&[0; 64], (depth.far(), DISCARD))?;
        Ok(())
    })??;
    let end = Instant::now() + Duration::from_secs(1);
    while Instant::now() < end {
        if let Some(received) = socket.receive()? {
            let stamp_age_ns = clock::realtime_ns().abs_diff(received.stamp_ns);
            let memory_bytes = u64::try_from(socket.buffer_bytes()).unwrap_or(u64::MAX);
            return Ok(Arrival { form: socket.form().to_string(), memory_bytes, stamp_age_ns });
        }
        thread::yield_now();
    }
    Err(anyhow!("a packet socket saw nothing of a packet that was sent"))
}

/// Floor, error at 1 and 5 ms, counted packets, bulk.
pub(crate) fn calibrate() -> anyhow::Result<Calibration> {
    let bench = Bench::set_up()?;
    let emulator = bench.start()?;
    let mut unasked = 0;
    let floor = bench.median_rtt(emulator.as_ref(), &[], 200, &mut unasked)?;
    let error_1ms = bench.delay_error(emulator.as_ref(), "1ms", 50, &mut unasked)?;
    let error_5ms = bench.delay_error(emulator.as_ref(), "5ms", 20, &mut unasked)?;
    let counted = bench.counted(emulator.as_ref(), &mut unasked)?;
    configure(emulator.as_ref(), &[])?;
    let rate = bench.path.bulk_rate(BULK).context("bulk traffic")?;
    let samples = emulator.samples()?;
    unasked += lost(&samples);
    Ok(Calibration {
        backend: samples.first().map(|sample| sample.backend.clone()).unwrap_or_default(),
        floor_rtt_us: floor,
        error_1ms_us: error_1ms,
        error_5ms_us: error_5ms,
        bulk_bit_s: rate.bit_per_second(),
        counted,
        unasked_loss: unasked,
    })
}

impl Bench {
    fn set_up() -> anyhow::Result<Self> {
        let around = Around::create(Depth::OUTERMOST, FarEnd::Alone, 1500)?;
        let place = |role: Role, net: &NetNs| -> anyhow::Result<Place> {
            Ok(Place { role, net: Some(Arc::new(net.try_clone()?)), cpus: CpuSet::default() })
        };
        let depth = around.depth();
        let path = Path {
            near: place(Role::Test, around.near())?,
            near_address: IpAddr::V4(depth.near()),
            far: place(Role::Active, around.far())?,
            far_address: IpAddr::V4(depth.far()),
            cancel: Arc::default(),
        };
        Ok(Self { around, path })
    }

    fn start(&self) -> anyhow::Result<Box<dyn Emulator>> {
        let backend = BACKENDS.first().context("this build has no emulator backend")?;
        let ports = LinkPorts {
            name: LINK.to_owned(),
            near: around::NEAR_PORT.to_owned(),
            far: around::FAR_PORT.to_owned(),
        };
        Ok(backend.start(self.around.wire(), &[ports], &Settings::default())?)
    }

    /// The median of some round trips, microseconds.
    fn median_rtt(
        &self,
        emulator: &dyn Emulator,
        elements: &[String],
        count: u32,
        unasked: &mut u64,
    ) -> anyhow::Result<f64> {
        configure(emulator, elements)?;
        let trips = self.path.round_trips(count, PATIENCE).context("round trips")?;
        *unasked += lost(&emulator.samples()?);
        let times: Vec<f64> = trips.into_iter().flatten().map(Nanos::micros).collect();
        Ok(median(&times).unwrap_or(0.0))
    }

    /// Achieved minus asked delay, p50 and p99 in microseconds, the worse direction.
    fn delay_error(
        &self,
        emulator: &dyn Emulator,
        delay: &str,
        count: u32,
        unasked: &mut u64,
    ) -> anyhow::Result<[f64; 2]> {
        self.median_rtt(emulator, &[format!("delay {delay}")], count, unasked)?;
        let samples = emulator.samples()?;
        let errors = samples.iter().filter_map(|sample| sample.delay_error_us);
        Ok(errors.fold([0.0, 0.0], |worst: [f64; 2], error| {
            [worst[0].max(error.p50), worst[1].max(error.p99)]
        }))
    }

    /// Packets sent through the paper's pattern (maly1996, 4.1), those that never came, and what the formula says.
    fn counted(&self, emulator: &dyn Emulator, unasked: &mut u64) -> anyhow::Result<[u64; 3]> {
        let pattern: Pattern = PATTERN.parse()?;
        configure(emulator, &[format!("drop {PATTERN}")])?;
        let counted = self.path.counted_packets(PACKETS, PERIOD, PATIENCE);
        let counted = counted.context("counted packets")?;
        *unasked += lost(&emulator.samples()?);
        let missing = u64::try_from(counted.missing.len()).unwrap_or(u64::MAX);
        Ok([counted.sent, missing, pattern.count(counted.sent)])
    }
}

fn configure(emulator: &dyn Emulator, elements: &[String]) -> anyhow::Result<()> {
    let spec = ChainSpec::ordered(elements, &Reader::PLAN)?;
    let order = Order { link: LINK.to_owned(), up: spec.clone(), down: spec };
    emulator.configure(&[order], 1)?;
    Ok(())
}

/// Packets that no element dropped and that never left.
fn lost(samples: &[DirectionSample]) -> u64 {
    samples.iter().map(DirectionSample::lost_unasked).sum()
}

const LINK: &str = "doctor";
/// DR 0.01 (maly1996, section 4).
const PATTERN: &str = "1@200,3@400/400";
const PACKETS: u64 = 10_000;
/// The ring of an ordinary user has room for 1024 packets, so 50 ms without a CPU lose none.
const PERIOD: Nanos = Nanos::from_micros(50);
const PATIENCE: Nanos = Nanos::from_millis(500);
const BULK: Nanos = Nanos::from_millis(200);
/// The port of RFC 863.
const DISCARD: u16 = 9;
