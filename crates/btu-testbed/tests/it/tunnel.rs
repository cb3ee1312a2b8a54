//! Packets inside packets: a super-packet of a tunnel is divided before the emulator, and every byte arrives.

use std::process::Command;

use btu_sys::device::Devices;
use btu_sys::namespace::NetNs;
use btu_sys::packet::ReceiveForm;

use crate::isolated::isolated;
use crate::traffic::inside;
use crate::traffic::tcp_transfer;
use crate::world::World;
use crate::world::assert_nothing_unasked;
use crate::world::ends;

#[test]
fn tcp_in_a_tunnel_passes_and_nothing_is_lost() {
    isolated("tunnel::tcp_in_a_tunnel_passes_and_nothing_is_lost", || {
        if !crate::skip::installed("ip") {
            skip!("program missing: ip");
        }
        let world = World::new(ReceiveForm::Ring);
        let depth = world.around.depth();
        let [near, far] = [depth.near(), depth.far()].map(|address| address.to_string());
        let made = tunnel(world.around.near(), &far, "10.77.0.2/24")
            .and_then(|()| tunnel(world.around.far(), &near, "10.77.0.1/24"));
        if let Err(cause) = made {
            skip!("kernel lacks: vxlan ({cause})");
        }
        world.begin(&["drop 1@300/10000000"]);
        let inner = ends(&world.around, "10.77.0.1".parse().unwrap());
        let amount = 16 << 20;
        let (received, _) = tcp_transfer(inner, amount);
        assert!(received > amount - (1 << 20), "{received} of {amount}");
        let [up, down] = world.samples();
        assert_nothing_unasked(&up);
        assert_nothing_unasked(&down);
        assert_eq!(up.dropped, 1, "{up:?}");
        // In packets of 1450 bytes, tunnel and all: none of them is larger.
        assert!(up.packets > 11_000 && up.bytes <= up.packets * 1450, "{up:?}");
    });
}

#[test]
fn what_the_header_has_no_word_for_is_off_and_the_rest_is_on() {
    isolated("tunnel::what_the_header_has_no_word_for_is_off_and_the_rest_is_on", || {
        let world = World::new(ReceiveForm::Ring);
        for (namespace, device) in [(world.around.near(), "btu1"), (world.around.far(), "btu1far")]
        {
            let features = inside(namespace, || Devices::here().unwrap().features(device).unwrap());
            let is_on = |name: &str| features.iter().any(|it| it.name == name && it.is_on);
            for off in ["tx-udp_tnl-segmentation", "tx-gre-segmentation", "tx-sctp-segmentation"] {
                assert!(!is_on(off), "{off} of {device}");
            }
            assert!(is_on("tx-tcp-segmentation") && is_on("tx-tcp6-segmentation"), "{device}");
        }
    });
}

/// A tunnel of one namespace to the address `remote`, with an address of its own.
fn tunnel(namespace: &NetNs, remote: &str, own: &str) -> Result<(), String> {
    let mut make = vec!["link", "add", "tunnel", "type", "vxlan", "id", "7", "remote", remote];
    make.extend(["dstport", "4789"]);
    let orders: [&[&str]; 3] = [
        &make,
        &["address", "add", own, "dev", "tunnel"],
        &["link", "set", "tunnel", "mtu", "1400", "up"],
    ];
    orders.into_iter().try_for_each(|order| {
        let run = || Command::new("ip").args(order).output().unwrap();
        let output = inside(namespace, run);
        let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        if output.status.success() { Ok(()) } else { Err(complaint) }
    })
}
