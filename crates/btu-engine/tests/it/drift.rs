//! Settings of a host and its devices that change while it is measured.
//!
//! Switched offloads are tried with made-up readings (`probe::drift`) alone: nothing here can switch one.

use btu_engine::files::Files;
use btu_engine::probe::observe;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Netlink;
use btu_sys::sysctl;

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

#[test]
fn a_setting_of_the_hosts_own_network_stack_that_was_changed_meanwhile_is_named() {
    isolated(
        "drift::a_setting_of_the_hosts_own_network_stack_that_was_changed_meanwhile_is_named",
        || {
            let hosts = veth::hosts();
            let [near, far] = hosts.map(|host| host.place.net.unwrap());
            let files = Files::host();
            let observe = |host: &NetNs| host.inside(|| observe(&files)).unwrap();
            let (at_near, at_far) = (observe(&near), observe(&far));
            let corking = "net.ipv4.tcp_autocorking";
            near.inside(|| sysctl::write(corking, "0")).unwrap().unwrap();
            let told = near.inside(|| at_near.finish(&files)).unwrap().drift;
            assert_eq!(told, [format!("network_stack.{corking} changed from \"1\" to \"0\"")]);
            let told = far.inside(|| at_far.finish(&files)).unwrap().drift;
            assert_eq!(told, Vec::<String>::new());
        },
    );
}

/// A loopback that was never up has no queueing discipline.
#[test]
fn a_setting_that_a_device_did_not_have_before_is_named() {
    isolated("drift::a_setting_that_a_device_did_not_have_before_is_named", || {
        let namespace = NetNs::create().unwrap();
        let files = Files::host();
        let before = namespace.inside(|| observe(&files)).unwrap();
        let mut netlink = Netlink::open(&namespace).unwrap();
        let loopback = netlink.link("lo").unwrap().index;
        netlink.set_up(loopback).unwrap();
        let changed = namespace.inside(|| before.finish(&files)).unwrap();
        assert_eq!(changed.drift, ["lo qdiscs changed from unknown to \"root noqueue\""]);
    });
}
