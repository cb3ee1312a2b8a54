//! Scenarios of one test that plans are made of, in the TOML form.

use crate::link::ChainSpec;
use crate::link::Reader;
use crate::traffic::plan::Link;
use crate::traffic::plan::Plan;
use crate::traffic::trace::float;
use crate::units::Bytes;
use crate::units::Nanos;

/// What autotuned buffers hold would blur what was sent and what was received. Routes of the local testbed have
/// one congestion control everywhere; hosts have their own, and an agent without rights may not choose another.
pub const TCP: &str = "tcp(window=65536 B)";
/// The same with buffers that the kernel fits to the path.
const FITTED: &str = "tcp";
/// A block of the bursts of napier, section 4 b.
pub const BURST: Bytes = Bytes::new(12_500);
/// What a socket of [`TCP`] has under way at the least.
const WINDOW: Bytes = Bytes::new(65_536);

/// What flows of a study pass.
#[derive(Clone, Copy, Debug)]
pub enum Path<'a> {
    /// The local testbed, with this between its hosts.
    Local(Option<&'a Link>),
    /// The network between this host and agents, of which nothing is known.
    Network,
}

/// Seconds from burst to burst of [`BURST`], where they offer this rate, bit/s.
pub fn burst_period_s(rate: f64) -> f64 {
    float(BURST.bits()) / rate
}

impl<'a> Path<'a> {
    /// That of a plan.
    pub fn of(plan: &'a Plan) -> Self {
        if plan.agents.is_empty() { Self::Local(plan.link.as_ref()) } else { Self::Network }
    }

    /// The TCP whose streams measure the path: with a fixed window where that is known to hold what the path has
    /// under way, else with buffers that the kernel fits to it. A window that is too small would be measured in
    /// the place of the path: no stream is faster than its window per round trip. One that is as large as the
    /// kernel lets it grow overshoots where a path has just been filled, and a short run is then that of its losses.
    pub fn tcp(self) -> &'static str {
        match self {
            Self::Local(link) if link.is_none_or(holds) => TCP,
            Self::Local(_) | Self::Network => FITTED,
        }
    }
}

/// Whether the fixed window holds what a link has under way at its rate.
fn holds(link: &Link) -> bool {
    let (mut trip, mut rate) = (Nanos::ZERO, None);
    for text in link.up.iter().chain(&link.down) {
        let Ok(element) = ChainSpec::as_given(&[text], &Reader::PLAN) else { return false };
        if element.timed() {
            let Some(delay) = element.constant_delay() else { return false };
            trip = trip.saturating_add(delay);
        }
        if link.up.contains(text) {
            rate = rate.into_iter().chain(element.rate()).min();
        }
    }
    trip == Nanos::ZERO || rate.is_some_and(|rate| rate.amount_in(trip) <= WINDOW)
}

/// napier, section 5 a: the blocks of the streams whose number is varied.
pub const STREAM: Bytes = Bytes::new(16 << 10);

/// A scenario of one test from the test host to the active one; `more` are further lines of it.
pub fn one_test(traffic: &str, transport: &str, more: &str) -> String {
    format!(
        "[[cluster]]\nname = \"sweep\"\n[[cluster.test]]\nname = \"flow\"\npath = \"test -> active\"\n\
         transport = \"{transport}\"\n{more}type = \"{traffic}\"\n"
    )
}

/// A full stream over TCP with a fixed window.
pub fn full(block: Bytes, time: Nanos) -> String {
    full_over(TCP, block, time)
}

/// A full stream.
pub fn full_over(transport: &str, block: Bytes, time: Nanos) -> String {
    let traffic = format!("full(blocksize={} B, duration={} ns)", block.count(), time.count());
    one_test(&traffic, transport, "")
}

/// Blocks at a constant period; `form` is `burst` or `burstq`.
pub fn bursts(form: &str, transport: &str, block: Bytes, period: Nanos, time: Nanos) -> String {
    one_test(&periodic(form, block, period, time), transport, "")
}

/// Queued blocks at a constant period; those that still wait at the end are sent, too.
pub fn drained(transport: &str, block: Bytes, period: Nanos, time: Nanos) -> String {
    one_test(&periodic("burstq", block, period, time), transport, DRAIN)
}

fn periodic(form: &str, block: Bytes, period: Nanos, time: Nanos) -> String {
    let (block, period, time) = (block.count(), period.count(), time.count());
    format!("{form}(blocksize={block} B, period={period} ns, duration={time} ns)")
}

/// So many datagrams at one instant.
pub fn volley(datagram: Bytes, count: u64, time: Nanos) -> String {
    let (size, time) = (datagram.count(), time.count());
    let traffic = format!(
        "burstq(blocksize={size} B, repeats={count}, period={time} ns, duration={time} ns)"
    );
    one_test(&traffic, "udp", DRAIN)
}

/// Blocks at random times, at a mean rate in bit/s: what theory says most of. Beyond what a sender can
/// do one by one the blocks are longer.
pub fn poisson(tcp: &str, bit_s: f64, time: Nanos) -> String {
    let block = (bit_s / 8.0 / MOST_BLOCKS_S).max(SEGMENT).ceil();
    let period = block * 8e9 / bit_s;
    let traffic = format!(
        "burstq(blocksize={block:.0} B, period=exp({period:.0} ns), duration={} ns)",
        time.count()
    );
    one_test(&traffic, tcp, "")
}

/// The period of blocks at a rate.
pub fn period(block: Bytes, bit_s: f64) -> Nanos {
    Nanos::new(crate::traffic::figures::flow::rounded(float(block.bits()) * 1e9 / bit_s).max(1))
}

/// A line of a test.
const DRAIN: &str = "drain = \"yes\"\n";
/// TCP payload of a full segment on Ethernet.
const SEGMENT: f64 = 1448.0;
const MOST_BLOCKS_S: f64 = 5000.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::Role;
    use crate::traffic::plan::Study;

    #[test]
    fn a_window_is_fixed_only_where_the_path_needs_less() {
        let link = |up: &[&str], down: &[&str]| {
            let [up, down] =
                [up, down].map(|all| all.iter().map(|one| (*one).to_owned()).collect());
            Link { up, down, wire: "ethernet".to_owned() }
        };
        let rate = "rate 1Gbit/s queue 10ms";
        for (up, down, want) in [
            (vec![rate], vec![rate], TCP),
            (vec!["rate 1.7Mbit/s queue 64kB", "delay 70ms"], vec!["delay 70ms"], TCP),
            // 5 Mb/s and 100 ms are 62,500 B.
            (vec!["rate 5Mbit/s queue 64kB", "delay 50ms"], vec!["delay 50ms"], TCP),
            (vec!["rate 5.3Mbit/s queue 64kB", "delay 50ms"], vec!["delay 50ms"], FITTED),
            (vec!["delay 50ms"], vec!["rate 1Mbit/s queue 64kB"], FITTED),
            (vec!["rate 1Mbit/s queue 64kB", "jitter uniform(0ms,2ms)"], vec![], FITTED),
        ] {
            let link = link(&up, &down);
            assert_eq!(Path::Local(Some(&link)).tcp(), want, "{link:?}");
        }
        assert_eq!(Path::Local(None).tcp(), TCP);
        let mut plan = Plan::new(Study::Qos, Vec::new(), 1);
        assert_eq!(Path::of(&plan).tcp(), TCP);
        plan.agents.insert(Role::Active, "lab1".to_owned());
        assert_eq!(Path::of(&plan).tcp(), FITTED);
    }
}
