//! The layer `frames` between two hosts, with ranks on both.

use btu_engine::Party;
use btu_sys::netlink::Netlink;

use super::*;
use crate::isolated::isolated;
use crate::veth;

fn frames() -> &'static dyn MessageLayer {
    message::by_name("frames").unwrap()
}

/// In turn on each host.
fn seats_on(hosts: &[Party; 2], ranks: usize) -> Vec<Seat> {
    let seat = |host: &Party| Seat { place: host.place.clone(), address: host.address };
    hosts.iter().map(seat).cycle().take(ranks).collect()
}

/// Ranks of one host have frames over its loopback.
fn set_loopback_up(host: &Party) {
    let mut netlink = Netlink::open(host.place.net.as_deref().unwrap()).unwrap();
    let loopback = netlink.link("lo").unwrap().index;
    netlink.set_up(loopback).unwrap();
}

#[test]
fn ranks_on_two_hosts_pass_all_messages_over_the_link_and_the_loopbacks() {
    isolated(
        "messages::frames::ranks_on_two_hosts_pass_all_messages_over_the_link_and_the_loopbacks",
        || {
            let hosts = veth::hosts();
            hosts.iter().for_each(set_loopback_up);
            for wait in frames().waits() {
                let outcomes = among_seats(frames(), &seats_on(&hosts, 4), &terms(*wait), |end| {
                    all_to_all(end);
                    collectives(end).unwrap()
                });
                assert!(outcomes.iter().all(|bits| *bits == outcomes[0]));
            }
        },
    );
}

#[test]
fn a_link_that_carries_no_frame_is_no_way_to_join_ranks() {
    isolated("messages::frames::a_link_that_carries_no_frame_is_no_way_to_join_ranks", || {
        let [near, far] = [veth::hosts(), veth::hosts()];
        let apart = [near[0].clone(), far[1].clone()];
        let refused = join(frames(), &seats_on(&apart, 2), &terms(Wait::Block)).unwrap_err();
        let told = "no frame of rank 0 reaches rank 1; both must be on one link that filters none";
        assert_eq!(refused.to_string(), told);
    });
}
