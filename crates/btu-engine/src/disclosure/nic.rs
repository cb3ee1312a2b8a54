//! The network devices: driver, speed, MTU, queues, queueing disciplines, interrupts, offloads, sizes.

use std::collections::BTreeMap;
use std::io;

use btu_core::disclosure::Fact;
use btu_sys::device::Devices;
use btu_sys::device::QUESTIONS;
use btu_sys::netlink::LargestPieces;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Qdisc;
use serde_json::Map;
use serde_json::Value;

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
        "driver, speed, MTU, queues, qdiscs, interrupts, offloads, rings of the network devices"
    }

    fn facts(&self, files: &Files) -> BTreeMap<String, Fact> {
        let names = files.names("/sys/class/net");
        let kernel = Kernel::asked(files);
        let of = |device: &String| {
            let all = of_files(files, device).into_iter().chain(kernel.facts(files, device));
            all.map(|(name, fact)| (format!("{device}.{name}"), fact)).collect::<Vec<_>>()
        };
        let mut facts: BTreeMap<String, Fact> = names.iter().flat_map(of).collect();
        facts.insert("devices".to_owned(), Fact::known(names));
        facts
    }
}

/// `mtu`, `rx_queues` and so on.
fn of_files(files: &Files, device: &str) -> Vec<(String, Fact)> {
    let at = |path: &str| format!("/sys/class/net/{device}/{path}");
    let read = |name: &&str| ((*name).to_owned(), attribute(name, files.fact(&at(name))));
    let mut facts: Vec<(String, Fact)> = ATTRIBUTES.iter().map(read).collect();
    let queues = files.names(&at("queues"));
    let count = |kind: &str| queues.iter().filter(|queue| queue.starts_with(kind)).count();
    facts.push(("rx_queues".to_owned(), Fact::known(count("rx-"))));
    facts.push(("tx_queues".to_owned(), Fact::known(count("tx-"))));
    for (name, kind) in [("rps_cpus", "rx-"), ("xps_cpus", "tx-")] {
        let of_kind = queues.iter().filter(|queue| queue.starts_with(kind));
        let read =
            |queue: &String| (queue.clone(), files.text(&at(&format!("queues/{queue}/{name}"))));
        facts.push((name.to_owned(), several(of_kind.map(read), "the device has no such queue")));
    }
    facts.push(("irq_affinity".to_owned(), irq_affinity(files, device)));
    facts
}

/// What the kernel writes where a device does not say (`SPEED_UNKNOWN` and `DUPLEX_UNKNOWN` of
/// `torvalds/linux`, `net/core/net-sysfs.c`) is no speed.
fn attribute(name: &str, fact: Fact) -> Fact {
    let is_silent = match (name, &fact.value) {
        ("speed", Some(value)) => value.as_i64() == Some(-1) || value == "-1",
        ("duplex", Some(value)) => value == "unknown",
        _ => false,
    };
    if is_silent { Fact::unavailable(SILENT) } else { fact }
}

/// The CPUs that each interrupt of the device may go to, and that it does go to.
fn irq_affinity(files: &Files, device: &str) -> Fact {
    // The queues of a virtio device are interrupts of the PCI device that it is on.
    let places = ["device/msi_irqs", "device/../msi_irqs"];
    let mut names = places.iter().map(|at| files.names(&format!("/sys/class/net/{device}/{at}")));
    let numbers = names.find(|numbers| !numbers.is_empty()).unwrap_or_default();
    let cpus = |number: String| {
        let list = |name: &str| files.text(&format!("/proc/irq/{number}/{name}_list"));
        let told = list("smp_affinity").map(|asked| match list("effective_affinity") {
            Ok(used) if used != asked => format!("{asked}, now {used}"),
            _ => asked,
        });
        (number, told)
    };
    several(numbers.into_iter().map(cpus), "the device has no interrupts of its own (MSI)")
}

/// Those that can be read by name, or why there is none.
fn several(all: impl Iterator<Item = (String, io::Result<String>)>, none: &str) -> Fact {
    let (mut known, mut reason) = (Map::new(), Fact::unavailable(none));
    for (name, read) in all {
        match read {
            Ok(text) => drop(known.insert(name, Value::String(text))),
            Err(error) => reason = crate::files::unavailable(&error),
        }
    }
    if known.is_empty() { reason } else { Fact::known(known) }
}

/// What only the kernel itself says, and nobody where the files are another host's.
struct Kernel {
    devices: io::Result<Devices>,
    qdiscs: Result<Vec<Qdisc>, String>,
    largest: Result<Vec<LargestPieces>, String>,
}

impl Kernel {
    fn asked(files: &Files) -> Self {
        if !files.is_host() {
            let absent = "the files are not those of this host";
            let (qdiscs, largest) = (Err(absent.to_owned()), Err(absent.to_owned()));
            return Self { devices: Err(io::Error::other(absent)), qdiscs, largest };
        }
        let qdiscs = Netlink::here().and_then(|mut netlink| netlink.qdiscs());
        let largest = Netlink::here().and_then(|mut netlink| netlink.largest_pieces());
        Self {
            devices: Devices::here(),
            qdiscs: qdiscs.map_err(|error| error.to_string()),
            largest: largest.map_err(|error| error.to_string()),
        }
    }

    fn facts(&self, files: &Files, device: &str) -> Vec<(String, Fact)> {
        let mut facts = self.driver(files, device);
        facts.push(("offloads".to_owned(), self.fact(|devices| offloads(devices, device))));
        let link = files.text(&format!("/sys/class/net/{device}/ifindex"));
        let link = link.ok().and_then(|text| text.parse::<u32>().ok());
        facts.push(("qdiscs".to_owned(), self.qdiscs(link)));
        facts.extend(self.largest(link));
        for question in &QUESTIONS {
            let answered = self.fact(|devices| {
                let answers = devices.answers(device, question)?.into_iter();
                let named = answers.map(|(name, value)| (name.to_owned(), Value::from(value)));
                Ok(Value::Object(named.collect()))
            });
            facts.push((question.name.to_owned(), answered));
        }
        facts
    }

    /// The driver as the device names it, else as its files do.
    fn driver(&self, files: &Files, device: &str) -> Vec<(String, Fact)> {
        let told = self.devices.as_ref().ok().and_then(|devices| devices.driver(device).ok());
        let Some(told) = told else { return vec![("driver".to_owned(), driver(files, device))] };
        let known = |text: String| match text.as_str() {
            "" | "N/A" => Fact::unavailable(SILENT),
            _ => Fact::known(text),
        };
        [
            ("bus", told.bus),
            ("driver", told.name),
            ("driver_version", told.version),
            ("firmware", told.firmware),
        ]
        .map(|(name, text)| (name.to_owned(), known(text)))
        .into()
    }

    /// `root mq`, `:1 fq_codel`
    fn qdiscs(&self, link: Option<u32>) -> Fact {
        match (&self.qdiscs, link) {
            (Err(reason), _) => Fact::unavailable(reason.as_str()),
            (Ok(_), None) => Fact::unavailable(NO_NUMBER),
            (Ok(all), Some(link)) => {
                let own = all.iter().filter(|qdisc| qdisc.link == link);
                Fact::known(own.map(|it| format!("{} {}", it.place, it.kind)).collect::<Vec<_>>())
            }
        }
    }

    /// `gso_max_bytes` and so on.
    fn largest(&self, link: Option<u32>) -> [(String, Fact); 4] {
        let found = match (&self.largest, link) {
            (Err(reason), _) => Err(reason.as_str()),
            (Ok(_), None) => Err(NO_NUMBER),
            (Ok(all), Some(link)) => all.iter().find(|one| one.link == link).ok_or("it went away"),
        };
        let fact = |of: fn(&LargestPieces) -> Option<u32>| match found.map(of) {
            Ok(Some(value)) => Fact::known(value),
            Ok(None) => Fact::unavailable("the kernel does not say"),
            Err(reason) => Fact::unavailable(reason),
        };
        [
            ("gro_max_bytes", fact(|largest| largest.gro_bytes)),
            ("gso_max_bytes", fact(|largest| largest.gso_bytes)),
            ("gso_max_segments", fact(|largest| largest.gso_segments)),
            ("tso_max_bytes", fact(|largest| largest.tso_bytes)),
        ]
        .map(|(name, fact)| (name.to_owned(), fact))
    }

    fn fact(&self, ask: impl FnOnce(&Devices) -> io::Result<Value>) -> Fact {
        match &self.devices {
            Ok(devices) => ask(devices).map_or_else(|e| crate::files::unavailable(&e), Fact::known),
            Err(error) => Fact::unavailable(error.to_string()),
        }
    }
}

/// The names of what the device does for the stack.
fn offloads(devices: &Devices, device: &str) -> io::Result<Value> {
    let features = devices.features(device)?.into_iter();
    Ok(features.filter(|feature| feature.is_on).map(|feature| feature.name).collect())
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

const SILENT: &str = "the device does not say";

const NO_NUMBER: &str = "the device has no number";

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_what_its_loopback_does_and_why_it_has_no_rings() {
        let facts = Nic.facts(&Files::host());
        let known = |name: &str| facts[name].value.clone().unwrap();
        let offloads = known("lo.offloads");
        assert!(offloads.as_array().unwrap().contains(&Value::from("loopback")), "{offloads}");
        assert_eq!(known("lo.qdiscs"), Value::from(vec!["root noqueue"]));
        assert!(known("lo.gso_max_bytes").as_u64().unwrap() >= 65_535);
        assert!(facts["lo.ring"].reason.as_ref().unwrap().contains("not supported"));
        assert!(facts["lo.irq_affinity"].reason.is_some());
    }

    #[test]
    fn a_device_that_does_not_say_its_speed_has_none() {
        let dir = tempfile::tempdir().unwrap();
        for (device, speed, duplex) in [("eth0", "-1\n", "unknown\n"), ("eth1", "1000\n", "full\n")]
        {
            let device = dir.path().join("sys/class/net").join(device);
            std::fs::create_dir_all(&device).unwrap();
            for (name, text) in [("speed", speed), ("duplex", duplex), ("operstate", "unknown\n")] {
                std::fs::write(device.join(name), text).unwrap();
            }
        }
        let facts = Nic.facts(&Files::below(dir.path()));
        assert_eq!(facts["eth0.speed"], Fact::unavailable("the device does not say"));
        assert_eq!(facts["eth0.duplex"], Fact::unavailable("the device does not say"));
        assert_eq!(facts["eth0.operstate"], Fact::known("unknown"));
        assert_eq!(
            (&facts["eth1.speed"], &facts["eth1.duplex"]),
            (&Fact::known(1000), &Fact::known("full"))
        );
    }

    #[test]
    fn the_interrupts_and_queues_of_a_device_name_their_cpus() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("sys/class/net/eth7/device/msi_irqs/38", "msix\n");
        write("sys/class/net/eth7/device/msi_irqs/39", "msix\n");
        write("sys/class/net/eth7/queues/rx-0/rps_cpus", "3\n");
        for number in [38, 39] {
            write(&format!("proc/irq/{number}/smp_affinity_list"), "0-1\n");
        }
        write("proc/irq/38/effective_affinity_list", "1\n");
        let facts = Nic.facts(&Files::below(dir.path()));
        let irqs = serde_json::json!({ "38": "0-1, now 1", "39": "0-1" });
        assert_eq!(facts["eth7.irq_affinity"], Fact::known(irqs));
        assert_eq!(facts["eth7.rps_cpus"], Fact::known(serde_json::json!({ "rx-0": "3" })));
        assert_eq!(facts["eth7.xps_cpus"].reason.as_deref(), Some("the device has no such queue"));
        assert!(facts["eth7.offloads"].reason.is_some());
    }
}
