//! What each rank has on its host: a ring for what comes, and devices to send by.

use std::io;
use std::net::IpAddr;
use std::net::Ipv4Addr;

use btu_core::app::frames::Addresses;
use btu_core::app::frames::Header;
use btu_core::role::Role;
use btu_sys::clock;
use btu_sys::frame::link_with;
use btu_sys::packet::Inlet;

use super::route::Device;
use super::route::ETHER_TYPE;
use super::route::Route;
use crate::error::EngineError;
use crate::message::Seat;

/// One rank on its host.
///
/// A frame that leaves a host by its link is not heard there: those to ranks of the same host go by its loopback. The
/// ring hears all devices.
#[derive(Debug)]
pub(super) struct Station {
    rank: u16,
    role: Role,
    /// By this number the ring knows the frames that are for it.
    endpoint: u32,
    pub(super) inlet: Inlet,
    /// To ranks of the same host, where there are others.
    inward: Option<Device>,
    /// To ranks of other hosts, where there are some.
    outward: Option<Device>,
}

/// One for each seat.
pub(super) fn all(seats: &[Seat]) -> Result<Vec<Station>, EngineError> {
    // Tells the launches of one link apart, and their ranks.
    let first = u32::try_from(clock::monotonic_ns() & u64::from(u32::MAX)).unwrap_or(0);
    let station = |(rank, seat): (u16, &Seat)| {
        let count_here = seats.iter().filter(|other| other.place.role == seat.place.role).count();
        let (has_near, has_far) = (count_here > 1, count_here < seats.len());
        let (role, address) = (seat.place.role, seat.address);
        let endpoint = first.wrapping_add(rank.into());
        seat.inside(move || {
            let inlet = Inlet::open(ETHER_TYPE, endpoint).map_err(refused)?;
            let inward = has_near.then(|| device(Ipv4Addr::LOCALHOST.into())).transpose()?;
            let outward = has_far.then(|| device(address)).transpose()?;
            Ok(Station { rank, role, endpoint, inlet, inward, outward })
        })
    };
    (0..).zip(seats).map(station).collect()
}

impl Station {
    /// How many frames the ring holds.
    pub(super) fn places(&self) -> usize {
        self.inlet.places()
    }

    /// The longest payload that its devices take.
    pub(super) fn payload(&self) -> usize {
        let mtus = [&self.inward, &self.outward].into_iter().flatten().map(|way| way.link.mtu);
        let least = mtus.min().and_then(|mtu| usize::try_from(mtu).ok()).unwrap_or(usize::MAX);
        least.saturating_sub(Header::BYTES).max(1)
    }

    /// The way from this rank to another.
    pub(super) fn route(&self, to: &Self) -> Result<Route, EngineError> {
        let is_near = self.role == to.role;
        let device_of = |one: &Self| {
            let device = if is_near { one.inward.clone() } else { one.outward.clone() };
            device.ok_or_else(|| no_way(self.rank, to.rank))
        };
        let addresses = Addresses { endpoint: to.endpoint, from: self.rank };
        Ok(Route::new(&device_of(self)?, device_of(to)?.link.mac, addresses))
    }
}

/// The device with this address.
fn device(address: IpAddr) -> Result<Device, EngineError> {
    Ok(Device::open(link_with(address)?)?)
}

fn no_way(from: u16, to: u16) -> EngineError {
    EngineError::Refused(format!("rank {from} has no device towards rank {to}"))
}

/// An ordinary user has the right over networks of his own alone.
fn refused(cause: btu_sys::Error) -> EngineError {
    if cause.kind() != io::ErrorKind::PermissionDenied {
        return cause.into();
    }
    EngineError::Refused(
        "frames of our own need CAP_NET_RAW over the network; be root, or take --path direct, \
         whose hosts are networks of your own"
            .to_owned(),
    )
}
