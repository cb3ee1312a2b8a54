//! The chasm that needs no luck: header and payload in two calls, Nagle on, delayed
//! acknowledgements at the peer (RFC 896, RFC 1122 4.2.3.2). Every block that does not fill a
//! segment behind its header waits for a timer; the first one that does not.

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Writes;
use btu_core::units::Bytes;
use btu_engine::pingpong::Session;
use btu_engine::pingpong::transport;

use crate::pingpong::free;
use crate::pingpong::opening;
use crate::pingpong::visit;

/// The shortest time for which Linux delays an acknowledgement: `TCP_DELACK_MIN`, 40 ms
/// (include/net/tcp.h). What waits for one takes longer, however fast the machine is.
const DELAYED_ACK_NS: u64 = 40_000_000;

/// The fastest exchange of each size over one connection. The first exchanges of a connection are
/// acknowledged at once; they warm up.
fn fastest_ns(wanted: Configuration, sizes: &[u64]) -> Vec<u64> {
    let tcp = transport::by_name("tcp").unwrap();
    let mut session = Session::open(&opening(tcp, wanted)).unwrap();
    let times = sizes.iter().map(|size| {
        let mut one = visit(*size, 6);
        one.warm_up = 2;
        let sample = session.visit(&one);
        assert!(sample.counts(), "{sample:?}");
        sample.times.min_ns.count()
    });
    times.collect()
}

fn fixture() -> Configuration {
    Configuration {
        writes: Writes::HeaderFirst(Bytes::new(16)),
        nodelay: Some(false),
        max_segment_bytes: Some(Bytes::new(1460)),
        ..free()
    }
}

#[test]
fn two_writes_with_nagle_are_slow_up_to_the_byte_that_fills_a_segment() {
    let sizes = [16, 17, 700, 1463, 1464];
    let times = fastest_ns(fixture(), &sizes);
    let is_slow: Vec<bool> = times.iter().map(|time| *time >= DELAYED_ACK_NS).collect();
    assert_eq!(is_slow, [false, true, true, true, false], "{sizes:?} bytes: {times:?}");
}

#[test]
fn the_edge_of_the_chasm_moves_with_the_segment_size() {
    let wanted = Configuration { max_segment_bytes: Some(Bytes::new(500)), ..fixture() };
    let times = fastest_ns(wanted, &[503, 504]);
    assert!(times[0] >= DELAYED_ACK_NS && times[1] < DELAYED_ACK_NS, "{times:?}");
}

#[test]
fn the_chasm_goes_away_without_nagle_or_without_the_second_write() {
    let nodelay = Configuration { nodelay: Some(true), ..fixture() };
    let one_write = Configuration { writes: Writes::One, ..fixture() };
    assert!(fastest_ns(fixture(), &[700])[0] >= DELAYED_ACK_NS);
    for cure in [nodelay, one_write] {
        let clean = fastest_ns(cure, &[700])[0];
        assert!(clean < DELAYED_ACK_NS, "{clean} ns");
    }
}
