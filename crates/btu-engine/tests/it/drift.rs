//! Settings of a host's devices that change while it is measured.

use btu_engine::files::Files;
use btu_engine::probe::observe;
use btu_sys::netlink::Netlink;

use crate::isolated::isolated;
use crate::veth;

#[test]
fn a_device_that_was_set_otherwise_meanwhile_is_named_with_both_values() {
    isolated("drift::a_device_that_was_set_otherwise_meanwhile_is_named_with_both_values", || {
        let [near, _far] = veth::hosts();
        let namespace = near.place.net.unwrap();
        let files = Files::host();
        let before = namespace.inside(|| observe(&files)).unwrap();
        let still = namespace.inside(|| before.finish(&files)).unwrap();
        assert_eq!(still.drift, Vec::<String>::new());
        let mut netlink = Netlink::open(&namespace).unwrap();
        let link = netlink.link(veth::LINK).unwrap().index;
        netlink.set_mtu(link, 1400).unwrap();
        netlink.set_root_qdisc(link, "pfifo").unwrap();
        let changed = namespace.inside(|| before.finish(&files)).unwrap();
        assert_eq!(
            changed.drift,
            [
                "data MTU changed from \"1500\" to \"1400\"",
                "data qdiscs changed from \"root noqueue\" to \"root pfifo\"",
            ]
        );
    });
}
