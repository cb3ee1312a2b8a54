//! What a device in front of the emulator hands over in one piece: no more than a `virtio_net_hdr` can say.
//!
//! A super-packet in a tunnel comes with the type of the packet inside and nothing that tells where that begins; sent
//! on as it came, the kernel refuses it. One of SCTP does not even come (`virtio_net_hdr_from_skb` and
//! `virtio_net_hdr_to_skb` of `linux/virtio_net.h`). So the stack that sends them divides both.

use btu_sys::device::Devices;
use btu_sys::namespace::NetNs;
use btu_sys::sysctl;

/// Has the stack of `namespace` divide what its `device` could not hand over whole.
///
/// Where ethtool is refused, such packets come all the same, and are counted as not understood and as lost.
pub(crate) fn restrain(namespace: &NetNs, device: &str) {
    let features: Vec<&str> = UNSPEAKABLE.iter().copied().chain(of_datagrams()).collect();
    let _ = namespace.inside(|| Devices::here()?.switch_off(device, &features));
}

/// Super-packets of datagrams, where the header has no word for them.
fn of_datagrams() -> Option<&'static str> {
    let release = sysctl::read("kernel.osrelease").unwrap_or_default();
    version(&release).is_none_or(|version| version < TELLS_DATAGRAMS).then_some(DATAGRAMS)
}

/// `6.2.0-39-generic` is 6.2.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// As ethtool writes them.
const UNSPEAKABLE: [&str; 7] = [
    "tx-gre-segmentation",
    "tx-gre-csum-segmentation",
    "tx-ipxip4-segmentation",
    "tx-ipxip6-segmentation",
    "tx-udp_tnl-segmentation",
    "tx-udp_tnl-csum-segmentation",
    "tx-sctp-segmentation",
];
const DATAGRAMS: &str = "tx-udp-segmentation";
/// `VIRTIO_NET_HDR_GSO_UDP_L4` came with Linux 6.2.
const TELLS_DATAGRAMS: (u32, u32) = (6, 2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_begins_with_its_version() {
        assert_eq!(version("6.18.44-cloud"), Some((6, 18)));
        assert_eq!(version("5.10-rc1"), Some((5, 10)));
        assert_eq!(version("unknown"), None);
    }
}
