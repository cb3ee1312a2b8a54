//! The link class of a run between hosts: rate and MTU of the devices by which its agents are reached.

use std::collections::BTreeSet;
use std::net::IpAddr;

use btu_core::disclosure::Fact;
use btu_engine::files::Files;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Way;
use serde_json::Value;

/// `1000 Mb/s, MTU 1500` of each device on the routes to these addresses, or why it is not known.
pub(super) fn link_class(addresses: impl Iterator<Item = IpAddr>, files: &Files) -> Fact {
    let mut netlink = match Netlink::here() {
        Ok(netlink) => netlink,
        Err(error) => return Fact::unavailable(told(error)),
    };
    let class = |address| of(&netlink.way_to(address).map_err(told)?, files);
    let classes: Result<BTreeSet<String>, String> = addresses.map(class).collect();
    match classes {
        Ok(classes) => Fact::known(classes.into_iter().collect::<Vec<_>>().join("; ")),
        Err(reason) => Fact::unavailable(reason),
    }
}

/// Bridges, tunnels and devices of virtual machines have no rate, or tell none.
fn of(way: &Way, files: &Files) -> Result<String, String> {
    let Way { device, mtu } = way;
    let speed = files.fact(&format!("/sys/class/net/{device}/speed"));
    let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
    let megabits = speed.value.as_ref().and_then(number);
    match megabits.filter(|megabits| *megabits > 0) {
        Some(megabits) => Ok(format!("{megabits} Mb/s, MTU {mtu}")),
        None => Err(format!("the device {device} on the route tells no rate (MTU {mtu})")),
    }
}

fn told(error: btu_sys::Error) -> String {
    format!("{:#}", anyhow::Error::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_device_on_the_route_and_of_no_other() {
        let folder = tempfile::tempdir().unwrap();
        for (device, speed) in [("eth0", "10000"), ("eth1", "1000"), ("tun0", "-1")] {
            let path = folder.path().join("sys/class/net").join(device);
            std::fs::create_dir_all(&path).unwrap();
            std::fs::write(path.join("speed"), format!("{speed}\n")).unwrap();
        }
        let files = Files::below(folder.path());
        let class = |device: &str| of(&Way { device: device.to_owned(), mtu: 9000 }, &files);
        assert_eq!(class("eth1"), Ok("1000 Mb/s, MTU 9000".to_owned()));
        for silent in ["tun0", "wg0"] {
            let why = format!("the device {silent} on the route tells no rate (MTU 9000)");
            assert_eq!(class(silent), Err(why));
        }
    }

    #[test]
    fn every_host_has_a_route_to_itself() {
        let way = Netlink::here().unwrap().way_to([127, 0, 0, 1].into()).unwrap();
        assert_eq!(way.device, "lo");
        assert!(way.mtu >= 1500, "{way:?}");
    }
}
