//! What is around a trial: the test host's own figures before and after, and how the path is set.

use std::net::IpAddr;

use btu_core::file::sample::Direction;
use btu_core::file::sample::TrialSample;
use btu_core::units::Bytes;
use btu_sys::device::Devices;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Way;

use crate::error::EngineError;
use crate::files::Files;
use crate::place::Party;
use crate::probe;
use crate::probe::Observation;

/// What was read before.
#[derive(Debug)]
pub(super) struct Surroundings {
    observed: Observation,
    mtu: Option<Bytes>,
    offload: Option<bool>,
}

impl Surroundings {
    /// Reads them in the network of `a`; a path within a host has nothing to be told.
    pub(super) fn before(a: &Party, b: IpAddr, direction: Direction) -> Result<Self, EngineError> {
        let is_within = matches!(direction, Direction::WithinA | Direction::WithinB);
        at(a, move || {
            let way = (!is_within).then(|| way_to(b)).flatten();
            Self {
                mtu: way.as_ref().map(|way| Bytes::new(way.mtu.into())),
                offload: way.and_then(|way| segments(&way.device)),
                observed: probe::observe(&Files::host()),
            }
        })
    }

    /// Adds to the sample what happened since.
    pub(super) fn after(self, a: &Party, sample: TrialSample) -> Result<TrialSample, EngineError> {
        let Self { observed, mtu, offload } = self;
        let host = at(a, move || observed.finish(&Files::host()))?;
        Ok(TrialSample { host: Some(host), path_mtu_bytes: mtu, offload, ..sample })
    }
}

fn at<T: Send + 'static>(
    party: &Party,
    look: impl FnOnce() -> T + Send + 'static,
) -> Result<T, EngineError> {
    let looking = party.place.spawn("file-look", move || Ok(look()))?;
    looking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The device towards an address; `None` for the loopback, whose MTU is no path's.
fn way_to(address: IpAddr) -> Option<Way> {
    let way = Netlink::here().and_then(|mut netlink| netlink.way_to(address.to_canonical()));
    way.ok().filter(|way| way.device != "lo")
}

/// Whether the device, or the stack for it, cuts what TCP hands over in large pieces.
fn segments(device: &str) -> Option<bool> {
    let features = Devices::here().and_then(|devices| devices.features(device)).ok()?;
    let does = |name: &str| features.iter().any(|feature| feature.name == name && feature.is_on);
    Some(does("tx-tcp-segmentation") || does("tx-generic-segmentation"))
}
