//! One emulated link between two namespaces, and threads inside them.

use std::net::IpAddr;

use btu_core::link::ChainSpec;
use btu_core::link::Reader;
use btu_core::sample::DirectionSample;
use btu_sys::namespace;
use btu_sys::packet::ReceiveForm;
use btu_testbed::around::Around;
use btu_testbed::around::Depth;
use btu_testbed::around::FAR_PORT;
use btu_testbed::around::FarEnd;
use btu_testbed::around::NEAR_PORT;
use btu_testbed::backend::Emulator;
use btu_testbed::backend::LinkPorts;
use btu_testbed::backend::Order;
use btu_testbed::backend::Settings;
use btu_testbed::backend::relay::Relay;

use crate::traffic::Ends;

/// A link with its relay.
pub(crate) struct World {
    pub(crate) around: Around,
    pub(crate) relay: Relay,
}

/// The name of the link.
pub(crate) const LINK: &str = "link";

impl World {
    pub(crate) fn new(form: ReceiveForm) -> Self {
        Self::with(&Settings { form: Some(form), shared_cpus: true, ..Settings::default() })
    }

    pub(crate) fn with(settings: &Settings) -> Self {
        let around = Around::create(Depth::OUTERMOST, FarEnd::Alone, 1500).unwrap();
        let ports = LinkPorts { name: LINK.into(), near: NEAR_PORT.into(), far: FAR_PORT.into() };
        let relay = Relay::start(around.wire(), &[ports], settings).unwrap();
        Self { around, relay }
    }

    /// Begins a run with the same elements in both directions.
    pub(crate) fn begin(&self, elements: &[&str]) {
        self.relay.configure(&[order(elements, elements)], 7).unwrap();
    }

    pub(crate) fn ends(&self) -> Ends<'_> {
        ends(&self.around, far())
    }

    /// The records of `up` and `down`.
    pub(crate) fn samples(&self) -> [DirectionSample; 2] {
        self.relay.samples().unwrap().try_into().unwrap()
    }
}

pub(crate) fn order(up: &[&str], down: &[&str]) -> Order {
    let spec = |texts: &[&str]| ChainSpec::as_given(texts, &Reader::PLAN).unwrap();
    Order { link: LINK.to_owned(), up: spec(up), down: spec(down) }
}

/// The two ends of a link, by an address of the far one.
pub(crate) fn ends(around: &Around, address: IpAddr) -> Ends<'_> {
    Ends { near: around.near(), far: around.far(), address }
}

/// The address of the far end.
pub(crate) fn far() -> IpAddr {
    Depth::OUTERMOST.far().into()
}

/// Nothing may be lost that was not asked for. An ordinary user's socket buffer holds only a few
/// super-packets, so there the calls form does lose some (which is why the ring is the default).
pub(crate) fn assert_nothing_unasked(sample: &DirectionSample) {
    let mut unasked = [sample.overflow, sample.socket_drops, sample.send_errors, sample.opaque];
    if sample.backend == "relay/recvmsg" && !is_root_outside() {
        unasked[1] = 0;
    }
    assert_eq!(unasked, [0; 4], "{sample:?}");
}

/// True for root of the initial user namespace, the only one who gets large socket buffers.
pub(crate) fn is_root_outside() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap();
    namespace::is_privileged() && map.split_whitespace().eq(["0", "0", "4294967295"])
}
