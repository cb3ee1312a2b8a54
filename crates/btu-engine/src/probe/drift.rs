//! The drift guard: settings of the host that must not change while it is measured.

use std::collections::BTreeSet;

use btu_core::sample::HostSample;
use btu_sys::device::Devices;
use btu_sys::device::Feature;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Qdisc;
use serde_json::Value;

use super::Figure;
use super::Probe;
use super::Reading;
use crate::disclosure::SYSCTLS;
use crate::disclosure::Source;
use crate::files::Files;

/// The probe `drift`.
#[derive(Debug)]
pub(super) struct Drift;

impl Probe for Drift {
    fn name(&self) -> &'static str {
        "drift"
    }

    fn summary(&self) -> &'static str {
        "settings that must not change: CPUs, governor, turbo, clock source, the network stack, devices"
    }

    fn read(&self, files: &Files) -> Reading {
        let told = guarded().filter_map(|setting| {
            let text = match setting.source.read(files).value? {
                Value::String(text) => text,
                other => other.to_string(),
            };
            Some((format!("{}.{}", setting.group, setting.name), Figure::Setting(text)))
        });
        let mut reading: Reading = told.collect();
        if files.is_host() {
            reading.extend(devices(files));
        }
        reading.insert(SUSPENDED.to_owned(), Figure::Count(suspended_ms()));
        reading
    }

    fn fold(&self, before: &Reading, after: &Reading, sample: &mut HostSample) {
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names {
            let [was, is] = [before, after].map(|reading| said(reading.get(name)));
            if was != is && stayed(name, [before, after]) {
                sample.drift.push(format!("{name} changed from {was} to {is}"));
            }
        }
        if super::moved(SUSPENDED, before, after).is_some_and(|slept| slept > 50) {
            sample.drift.push("the machine was suspended".to_owned());
        }
    }
}

/// The settings of the whole host that are guarded, as the disclosure calls them: group and name.
pub fn disclosed() -> impl Iterator<Item = (&'static str, &'static str)> {
    guarded().map(|setting| (setting.group, setting.name))
}

/// A setting of the whole host, and where the disclosure has it.
struct Guarded {
    group: &'static str,
    name: &'static str,
    source: Source,
}

fn guarded() -> impl Iterator<Item = Guarded> {
    let of_hardware = SETTINGS.iter().map(|&(group, name, source)| Guarded { group, name, source });
    let of_stack = SYSCTLS.iter().filter(|name| !PASSING.contains(name)).map(|name| Guarded {
        group: "network_stack",
        name,
        source: Source::Sysctl(name),
    });
    of_hardware.chain(of_stack)
}

/// A setting in quotes. What the host does not give, be it that it never did, is unknown.
fn said(figure: Option<&Figure>) -> String {
    match figure {
        Some(Figure::Setting(text)) => format!("\"{text}\""),
        Some(Figure::Count(_)) | None => "unknown".to_owned(),
    }
}

/// False of the settings of a device that came or went: containers and tunnels bring theirs at any time,
/// and a run that loses its own device fails by itself.
fn stayed(name: &str, readings: [&Reading; 2]) -> bool {
    // Only what a device has stands after a space.
    let Some((device, _)) = name.split_once(' ') else { return true };
    let had_by_all = format!("{device} {MTU}");
    readings.iter().all(|reading| reading.contains_key(&had_by_all))
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
    let known = [(MTU, mtu), ("speed in Mbit/s", speed), ("qdiscs", own)];
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

/// What every device has.
const MTU: &str = "MTU";

/// They grow with a module that somebody's connection loads, the second one with some of them (BBR), and with a
/// default that is set in any namespace. Nothing else changes by that.
const PASSING: [&str; 2] =
    ["net.ipv4.tcp_available_congestion_control", "net.ipv4.tcp_allowed_congestion_control"];

/// Settings that are none of the network stack, each as the disclosure has it: group, name, source.
const SETTINGS: [(&str, &str, Source); 5] = [
    (
        "system",
        "clock_source",
        Source::File("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ),
    ("cpu_power", "governor", Source::PerCpu("cpufreq/scaling_governor")),
    ("cpu_power", "turbo_boost", Source::File("/sys/devices/system/cpu/cpufreq/boost")),
    ("cpu_power", "turbo_off", Source::File("/sys/devices/system/cpu/intel_pstate/no_turbo")),
    ("cpu", "online", Source::File("/sys/devices/system/cpu/online")),
];

#[cfg(test)]
mod tests {
    use btu_core::disclosure::Fact;

    use super::*;
    use crate::disclosure::host_facts;

    fn machine(entries: &[(&str, &str)]) -> (tempfile::TempDir, Files) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in entries {
            let file = dir.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let files = Files::below(dir.path());
        (dir, files)
    }

    fn change(before: &Reading, after: &Reading) -> Vec<String> {
        let mut sample = HostSample::default();
        Drift.fold(before, after, &mut sample);
        sample.drift
    }

    fn setting(name: &str, text: &str) -> Reading {
        Reading::from([(name.to_owned(), Figure::Setting(text.to_owned()))])
    }

    #[test]
    fn a_changed_setting_is_named_with_both_values() {
        let told = change(&setting("cpu.online", "0-1"), &setting("cpu.online", "0"));
        assert_eq!(told, ["cpu.online changed from \"0-1\" to \"0\""]);
    }

    #[test]
    fn a_setting_that_came_or_vanished_is_unknown_on_the_other_side() {
        let boost = "sys/devices/system/cpu/cpufreq/boost";
        let (dir, files) = machine(&[(boost, "1\n")]);
        let with = Drift.read(&files);
        std::fs::remove_file(dir.path().join(boost)).unwrap();
        let without = Drift.read(&files);
        let told = |was, is| [format!("cpu_power.turbo_boost changed from {was} to {is}")];
        assert_eq!(change(&with, &without), told("\"1\"", "unknown"));
        assert_eq!(change(&without, &with), told("unknown", "\"1\""));
    }

    #[test]
    fn the_governor_of_any_cpu_is_guarded() {
        let file = |cpu: u32| format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
        let both = [file(0), file(1)];
        let (dir, files) = machine(&[(&both[0], "performance"), (&both[1], "performance")]);
        let before = Drift.read(&files);
        std::fs::write(dir.path().join(&both[1]), "powersave").unwrap();
        let told = r#"{"cpu0":"performance","cpu1":"powersave"}"#;
        assert_eq!(
            change(&before, &Drift.read(&files)),
            [format!("cpu_power.governor changed from \"performance\" to \"{told}\"")]
        );
    }

    /// A link that goes down has no speed any more; a tunnel that ends takes all that it had along.
    #[test]
    fn a_device_that_loses_its_speed_is_told_and_one_that_goes_is_not() {
        let device = setting("eth0 MTU", "1500");
        let mut up = device.clone();
        up.extend(setting("eth0 speed in Mbit/s", "1000"));
        let told = "eth0 speed in Mbit/s changed from \"1000\" to unknown";
        assert_eq!(change(&up, &device), [told]);
        assert_eq!(change(&up, &Reading::new()), Vec::<String>::new());
        assert_eq!(change(&Reading::new(), &up), Vec::<String>::new());
    }

    #[test]
    fn a_switched_offload_is_named_with_its_device() {
        let offload = |state| {
            let mut reading = setting("eth0 MTU", "1500");
            reading.extend(setting("eth0 offload tx-tcp-segmentation", state));
            reading
        };
        let told = "eth0 offload tx-tcp-segmentation changed from \"on\" to \"off\"";
        assert_eq!(change(&offload("on"), &offload("off")), [told]);
    }

    /// With BBR the kernel has one more congestion control, which everybody may use.
    #[test]
    fn a_congestion_control_that_somebody_loads_changes_nothing_and_another_default_does() {
        let file = |name: &str| format!("proc/sys/net/ipv4/tcp_{name}congestion_control");
        let told = |name: &str| {
            let (dir, files) = machine(&[(&file(name), "reno cubic\n")]);
            let before = Drift.read(&files);
            std::fs::write(dir.path().join(file(name)), "reno cubic bbr\n").unwrap();
            change(&before, &Drift.read(&files)).len()
        };
        assert_eq!(["available_", "allowed_", ""].map(told), [0, 0, 1]);
    }

    /// Both read the same of a machine that says something else in each of its files.
    #[test]
    fn each_guarded_setting_is_the_one_that_the_disclosure_has_by_its_name() {
        let files: Vec<(String, &str)> =
            guarded().map(|one| (path(one.source), one.name)).collect();
        let entries: Vec<(&str, &str)> =
            files.iter().map(|(path, name)| (&path[..], *name)).collect();
        let (_dir, files) = machine(&entries);
        let (reading, facts) = (Drift.read(&files), host_facts(&files));
        assert_eq!(disclosed().count(), 5 + SYSCTLS.len() - PASSING.len());
        for (group, name) in disclosed() {
            let guarded = Figure::Setting(name.to_owned());
            assert_eq!(reading.get(&format!("{group}.{name}")), Some(&guarded));
            assert_eq!(&facts[group][name], &Fact::known(name), "{group}.{name}");
        }
    }

    /// Where a machine of one CPU has it.
    fn path(source: Source) -> String {
        match source {
            Source::File(path) => path[1..].to_owned(),
            Source::PerCpu(path) => format!("sys/devices/system/cpu/cpu0/{path}"),
            Source::Sysctl(name) => format!("proc/sys/{}", name.replace('.', "/")),
            other => panic!("{other:?} is not guarded"),
        }
    }

    #[test]
    fn this_machine_holds_still_for_a_moment() {
        let files = Files::host();
        assert_eq!(change(&Drift.read(&files), &Drift.read(&files)), Vec::<String>::new());
    }
}
