//! The network devices: driver, speed, MTU, queues, offload sizes.

use std::collections::BTreeMap;

use btu_core::disclosure::Fact;

use super::Group;
use crate::files::Files;

/// The group `nic`: one set of facts per device, loopback included.
#[derive(Debug)]
pub(super) struct Nic;

impl Group for Nic {
    fn name(&self) -> &'static str {
        "nic"
    }

    fn about(&self) -> &'static str {
        "driver, speed, MTU, queues, offload sizes of the network devices"
    }

    fn facts(&self, files: &Files) -> BTreeMap<String, Fact> {
        let devices = files.names("/sys/class/net");
        let mut facts: BTreeMap<String, Fact> =
            devices.iter().flat_map(|device| of_device(files, device)).collect();
        facts.insert("devices".to_owned(), Fact::known(devices));
        facts
    }
}

/// `eth0.mtu`, `eth0.driver` and so on.
fn of_device(files: &Files, device: &str) -> Vec<(String, Fact)> {
    let at = |path: &str| format!("/sys/class/net/{device}/{path}");
    let mut facts: Vec<(String, Fact)> =
        ATTRIBUTES.iter().map(|name| (format!("{device}.{name}"), files.fact(&at(name)))).collect();
    let queues = files.names(&at("queues"));
    let count = |kind: &str| queues.iter().filter(|queue| queue.starts_with(kind)).count();
    facts.push((format!("{device}.rx_queues"), Fact::known(count("rx-"))));
    facts.push((format!("{device}.tx_queues"), Fact::known(count("tx-"))));
    facts.push((format!("{device}.driver"), driver(files, device)));
    facts
}

/// `DRIVER=virtio_net` in the device's uevent.
fn driver(files: &Files, device: &str) -> Fact {
    match files.pairs(&format!("/sys/class/net/{device}/device/uevent"), '=') {
        Ok(pairs) => pairs.get("DRIVER").map_or_else(
            || Fact::unavailable("the device names no driver"),
            |driver| Fact::known(driver.as_str()),
        ),
        Err(error) => crate::files::unavailable(&error),
    }
}

const ATTRIBUTES: &[&str] = &[
    "carrier",
    "duplex",
    "gro_flush_timeout",
    "mtu",
    "napi_defer_hard_irqs",
    "operstate",
    "speed",
    "threaded",
    "tx_queue_len",
];
