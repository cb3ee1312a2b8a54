//! The chasm that needs no luck: header and payload in two calls, Nagle on, delayed
//! acknowledgements at the peer (RFC 896, RFC 1122 4.2.3.2). Every block that does not fill a
//! segment behind its header waits for a timer; the first one that does not.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use btu_core::pingpong::chasm::Answer;
use btu_core::pingpong::chasm::Probe;
use btu_core::pingpong::chasm::Purpose;
use btu_core::pingpong::chasm::Request;
use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Writes;
use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::pingpong::Session;
use btu_engine::pingpong::Sessions;
use btu_engine::pingpong::transport;

use crate::pingpong::free;
use crate::pingpong::opening;
use crate::pingpong::party;
use crate::pingpong::visit;

/// The shortest time for which Linux delays an acknowledgement: `TCP_DELACK_MIN`, 40 ms
/// (include/net/tcp.h). What waits for one takes longer, however fast the machine is.
const DELAYED_ACK: Duration = Duration::from_millis(40);

/// The exchanges of one size, as a busy machine lets them be told apart.
#[derive(Clone, Copy, Debug)]
struct Seen {
    fastest: Duration,
    median: Duration,
}

impl Seen {
    /// A connection that nobody could serve for a while acknowledges at once for some segments, so
    /// not every exchange waits.
    fn waits(self) -> bool {
        self.median >= DELAYED_ACK
    }

    /// Whatever else is slow here, one exchange of a few is not.
    fn flows(self) -> bool {
        self.fastest < DELAYED_ACK
    }
}

/// Exchanges of each size over one connection. The first ones of a connection are acknowledged at
/// once; they warm up.
fn exchanges(wanted: Configuration, sizes: &[u64]) -> Vec<Seen> {
    let tcp = transport::by_name("tcp").unwrap();
    let mut session = Session::open(&opening(tcp, wanted)).unwrap();
    let seen = sizes.iter().map(|size| {
        let mut one = visit(*size, 7);
        one.warm_up = 2;
        let sample = session.visit(&one);
        assert!(sample.counts(), "{sample:?}");
        let times = sample.times;
        Seen {
            fastest: Duration::from_nanos(times.min_ns.count()),
            median: Duration::from_secs_f64(times.p50_ns / 1e9),
        }
    });
    seen.collect()
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
    let seen = exchanges(fixture(), &sizes);
    assert!(seen[1..4].iter().all(|seen| seen.waits()), "{sizes:?} bytes: {seen:?}");
    assert!(seen[0].flows() && seen[4].flows(), "{sizes:?} bytes: {seen:?}");
}

#[test]
fn the_edge_of_the_chasm_moves_with_the_segment_size() {
    let wanted = Configuration { max_segment_bytes: Some(Bytes::new(500)), ..fixture() };
    let seen = exchanges(wanted, &[503, 504]);
    assert!(seen[0].waits() && seen[1].flows(), "{seen:?}");
}

/// A buffer that no machine gives: a factor that changes nothing must not be called one that does nothing.
#[test]
fn a_factor_that_the_kernel_caps_is_told_and_not_measured() {
    let cancel = Arc::new(AtomicBool::new(false));
    let (near, far) = (party(Role::Test), party(Role::Active));
    let mut sessions = Sessions::between(near, far, Nanos::from_secs(60), cancel);
    let base = Configuration { transport: "tcp".to_owned(), ..free() };
    let huge = Some(Bytes::new(1 << 30));
    let asked = |changed: &Configuration| Request {
        purpose: Purpose::Cause("SO_SNDBUF".to_owned()),
        probes: vec![Probe { size: Bytes::new(64), configuration: changed.clone() }],
        base: Box::new(base.clone()),
        rounds: 1,
        exchanges: 1,
        enough_above_us: f64::INFINITY,
    };
    let until = Nanos::MAX;
    let sent = Configuration { send_buffer_bytes: huge, ..base.clone() };
    let Answer::Failed { reason } = sessions.answer(&asked(&sent), until) else {
        panic!("nothing was said of a buffer that no machine gives")
    };
    assert!(reason.starts_with("the kernel gave SO_SNDBUF "), "{reason}");
    assert!(reason.contains(" in place of 2147483648: net.core.wmem_max"), "{reason}");
    let received = Configuration { receive_buffer_bytes: huge, ..base.clone() };
    let answer = sessions.answer(&asked(&received), until);
    assert!(
        matches!(&answer, Answer::Failed { reason } if reason.contains("SO_RCVBUF")),
        "{answer:?}"
    );
    let small = Configuration { send_buffer_bytes: Some(Bytes::new(8_192)), ..base.clone() };
    for given in [base.clone(), small] {
        let answer = sessions.answer(&asked(&given), until);
        assert!(matches!(answer, Answer::Measured { .. }), "{answer:?}");
    }
}

#[test]
fn the_chasm_goes_away_without_nagle_or_without_the_second_write() {
    let nodelay = Configuration { nodelay: Some(true), ..fixture() };
    let one_write = Configuration { writes: Writes::One, ..fixture() };
    let slow = exchanges(fixture(), &[700])[0];
    assert!(slow.waits(), "{slow:?}");
    for cure in [nodelay, one_write] {
        let clean = exchanges(cure, &[700])[0];
        assert!(clean.flows(), "{clean:?}");
    }
}
