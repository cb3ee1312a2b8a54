//! Scenarios of one test that plans are made of, in the TOML form.

use super::trace::float;
use crate::units::Bytes;
use crate::units::Nanos;

/// What autotuned buffers hold would blur what was sent and what was received. Routes of the local testbed have
/// one congestion control everywhere; hosts have their own, and an agent without rights may not choose another.
pub const TCP: &str = "tcp(window=65536 B)";
/// napier, section 5 a: the blocks of the streams whose number is varied.
pub const STREAM: Bytes = Bytes::new(16 << 10);

/// A scenario of one test from the test host to the active one; `more` are further lines of it.
pub fn one_test(traffic: &str, transport: &str, more: &str) -> String {
    format!(
        "[[cluster]]\nname = \"sweep\"\n[[cluster.test]]\nname = \"flow\"\npath = \"test -> active\"\n\
         transport = \"{transport}\"\n{more}type = \"{traffic}\"\n"
    )
}

/// A full stream over TCP.
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
pub fn poisson(bit_s: f64, time: Nanos) -> String {
    let block = (bit_s / 8.0 / MOST_BLOCKS_S).max(SEGMENT).ceil();
    let period = block * 8e9 / bit_s;
    let traffic = format!(
        "burstq(blocksize={block:.0} B, period=exp({period:.0} ns), duration={} ns)",
        time.count()
    );
    one_test(&traffic, TCP, "")
}

/// The period of blocks at a rate.
pub fn period(block: Bytes, bit_s: f64) -> Nanos {
    Nanos::new(super::analysis::figures::rounded(float(block.bits()) * 1e9 / bit_s).max(1))
}

/// A line of a test.
const DRAIN: &str = "drain = \"yes\"\n";
/// TCP payload of a full segment on Ethernet.
const SEGMENT: f64 = 1448.0;
const MOST_BLOCKS_S: f64 = 5000.0;
