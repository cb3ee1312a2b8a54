//! The drift guard: settings of the host that must not change while it is measured.

use btu_core::sample::HostSample;
use btu_sys::device::Devices;
use btu_sys::device::Feature;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Qdisc;

use super::Figure;
use super::Probe;
use super::Reading;
use crate::files::Files;

/// The probe `drift`.
#[derive(Debug)]
pub(super) struct Drift;

impl Probe for Drift {
    fn name(&self) -> &'static str {
        "drift"
    }

    fn summary(&self) -> &'static str {
        "settings that must not change: CPUs, governor, turbo, clock source, congestion control, devices"
    }

    fn read(&self, files: &Files) -> Reading {
        let setting = |path: &&str| {
            let text = files.text(path).ok()?;
            Some(((*path).to_owned(), Figure::Setting(text)))
        };
        let paths = SETTINGS.iter().map(|(path, ..)| path);
        let mut reading: Reading = paths.filter_map(setting).collect();
        if files.is_host() {
            reading.extend(devices(files));
        }
        reading.insert(SUSPENDED.to_owned(), Figure::Count(suspended_ms()));
        reading
    }

    fn fold(&self, before: &Reading, after: &Reading, sample: &mut HostSample) {
        for (name, was) in before {
            let is = after.get(name);
            if let (Figure::Setting(was), Some(Figure::Setting(is))) = (was, is)
                && was != is
            {
                sample.drift.push(format!("{name} changed from \"{was}\" to \"{is}\""));
            }
        }
        if super::moved(SUSPENDED, before, after).is_some_and(|slept| slept > 50) {
            sample.drift.push("the machine was suspended".to_owned());
        }
    }
}

/// The settings of the whole host that are guarded, as the disclosure calls them: group and name.
pub fn disclosed() -> impl Iterator<Item = (&'static str, &'static str)> {
    SETTINGS.iter().map(|(_, group, name)| (*group, *name))
}

/// MTU, speed, offloads and queueing disciplines of the devices in the network namespace of this thread.
/// What the kernel does not tell is left out: not every device has a speed.
fn devices(files: &Files) -> Reading {
    let text = files.text("/proc/thread-self/net/dev").unwrap_or_default();
    let Ok(devices) = Devices::here() else { return Reading::new() };
    let qdiscs = Netlink::here().and_then(|mut netlink| netlink.qdiscs()).unwrap_or_default();
    let names = text.lines().filter_map(|line| Some(line.split_once(':')?.0.trim()));
    let of = |name| {
        let all = settings(&devices, &qdiscs, name).into_iter();
        all.map(move |(what, value)| (format!("{name} {what}"), Figure::Setting(value)))
    };
    names.flat_map(of).collect()
}

/// `MTU` and so on, of one device.
fn settings(devices: &Devices, qdiscs: &[Qdisc], name: &str) -> Vec<(String, String)> {
    let number = |value: u32| value.to_string();
    let mtu = devices.mtu(name).ok().map(number);
    let speed = devices.line(name).ok().and_then(|line| line.speed_mbps).map(number);
    let link = devices.index(name).ok();
    let own = qdiscs.iter().filter(|qdisc| Some(qdisc.link) == link);
    let own: Vec<String> = own.map(|qdisc| format!("{} {}", qdisc.place, qdisc.kind)).collect();
    let own = (!own.is_empty()).then(|| own.join(", "));
    let known = [("MTU", mtu), ("speed in Mbit/s", speed), ("qdiscs", own)];
    let known = known.into_iter().filter_map(|(what, value)| Some((what.to_owned(), value?)));
    let offload = |feature: Feature| {
        let value = if feature.is_on { "on" } else { "off" };
        (format!("offload {}", feature.name), value.to_owned())
    };
    known.chain(devices.features(name).unwrap_or_default().into_iter().map(offload)).collect()
}

/// How long the machine was ever suspended: the boot clock goes on, the monotonic one does not.
fn suspended_ms() -> i64 {
    let asleep = btu_sys::clock::boottime_ns().saturating_sub(btu_sys::clock::monotonic_ns());
    i64::try_from(asleep / 1_000_000).unwrap_or(i64::MAX)
}

const SUSPENDED: &str = "suspended";

/// Files of settings, each with its group and its name in the disclosure. Of the governors, which the
/// disclosure has of all CPUs, the first one stands for those that are set together.
const SETTINGS: [(&str, &str, &str); 10] = [
    ("/proc/sys/net/core/rmem_max", "network_stack", "net.core.rmem_max"),
    ("/proc/sys/net/core/wmem_max", "network_stack", "net.core.wmem_max"),
    (
        "/proc/sys/net/ipv4/tcp_congestion_control",
        "network_stack",
        "net.ipv4.tcp_congestion_control",
    ),
    ("/proc/sys/net/ipv4/tcp_rmem", "network_stack", "net.ipv4.tcp_rmem"),
    ("/proc/sys/net/ipv4/tcp_wmem", "network_stack", "net.ipv4.tcp_wmem"),
    ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "system", "clock_source"),
    ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "cpu_power", "governor"),
    ("/sys/devices/system/cpu/cpufreq/boost", "cpu_power", "turbo_boost"),
    ("/sys/devices/system/cpu/intel_pstate/no_turbo", "cpu_power", "turbo_off"),
    ("/sys/devices/system/cpu/online", "cpu", "online"),
];

#[cfg(test)]
mod tests {
    use btu_core::disclosure::Fact;

    use super::*;
    use crate::disclosure::host_facts;

    fn setting(text: &str) -> Reading {
        Reading::from([("/proc/sys/x".to_owned(), Figure::Setting(text.to_owned()))])
    }

    #[test]
    fn a_changed_setting_is_named_with_both_values() {
        let mut sample = HostSample::default();
        Drift.fold(&setting("a"), &setting("b"), &mut sample);
        assert_eq!(sample.drift, ["/proc/sys/x changed from \"a\" to \"b\""]);
    }

    /// Both read the same file of a machine that has no other.
    #[test]
    fn each_guarded_setting_is_the_one_that_the_disclosure_has_by_its_name() {
        for (path, group, name) in SETTINGS {
            let machine = tempfile::tempdir().unwrap();
            let file = machine.path().join(&path[1..]);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "as it is\n").unwrap();
            let files = Files::below(machine.path());
            let guarded = Figure::Setting("as it is".to_owned());
            assert_eq!(Drift.read(&files).get(path), Some(&guarded), "{path}");
            let told = &host_facts(&files)[group][name];
            assert_eq!(told, &Fact::known("as it is"), "{group}.{name}");
        }
    }

    #[test]
    fn this_machine_holds_still_for_a_moment() {
        let files = Files::host();
        let mut sample = HostSample::default();
        Drift.fold(&Drift.read(&files), &Drift.read(&files), &mut sample);
        assert_eq!(sample.drift, Vec::<String>::new());
    }
}
