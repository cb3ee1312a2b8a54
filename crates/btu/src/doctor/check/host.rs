//! The host's state and settings: what moves a measurement without stopping it.

use btu_core::words::several;

use crate::doctor::finding::Check;
use crate::doctor::finding::Finding;
use crate::doctor::finding::Serves;
use crate::doctor::machine::Attempt;
use crate::doctor::machine::Machine;

pub(super) static LOAD: Check = Check {
    name: "load",
    title: "load of the last minute",
    serves: Serves::Verbs(&["pingpong", "run", "traffic"]),
    needed: false,
    ask: |machine| {
        let read = machine.file("/proc/loadavg").ok();
        let first = read.as_deref().and_then(|text| text.split(' ').next());
        let Some(load) = first.and_then(|word| word.parse::<f64>().ok()) else {
            return Finding::limited("unknown", "/proc/loadavg gives no number", "mount /proc");
        };
        let cpus = machine.cpus();
        let found = format!("{load:.2} on {}", several(cpus, "CPU"));
        if !is_busy(load, cpus) {
            return Finding::ok(found);
        }
        Finding::limited(found, "other programs work on this host", "end them, or wait a minute")
    },
};

/// A load above a quarter of the CPUs is other people's work.
pub(crate) fn is_busy(load: f64, cpus: u32) -> bool {
    load > BUSY_SHARE * f64::from(cpus)
}

pub(super) static STEAL: Check = Check {
    name: "steal",
    title: "CPU time taken by the hypervisor since boot",
    serves: Serves::Verbs(&["pingpong", "run", "traffic"]),
    needed: false,
    ask: |machine| {
        let read = machine.file("/proc/stat").ok();
        let Some(percent) = read.as_deref().and_then(steal_percent) else {
            return Finding::limited("unknown", "/proc/stat gives no steal time", "mount /proc");
        };
        let found = format!("{percent:.2} %");
        if percent <= STEAL_PERCENT {
            return Finding::ok(found);
        }
        Finding::limited(
            found,
            "other virtual machines share these CPUs",
            "use dedicated CPUs; repeat at another hour and compare",
        )
    },
};

pub(super) static GOVERNOR: Check = Check {
    name: "governor",
    title: "CPU frequency governor",
    serves: Serves::Verbs(&["pingpong", "run", "traffic"]),
    needed: false,
    ask: |machine| {
        let path = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
        match machine.file(path).as_deref().map(str::trim) {
            Ok("performance") => Finding::ok("performance"),
            Ok(other) => Finding::limited(
                other,
                "the clock rises only after the load: short cells see a slower CPU",
                "as root: `cpupower frequency-set -g performance`",
            ),
            Err(_) => Finding::ok("none (a virtual machine, or a fixed clock)"),
        }
    },
};

pub(super) static CONGESTION_CONTROL: Check = Check {
    name: "congestion-control",
    title: "TCP congestion control of the host",
    serves: Serves::Verbs(&["pingpong", "run", "traffic"]),
    needed: false,
    ask: |machine| {
        let setting = |name: &str| machine.file(&format!("/proc/sys/net/{name}"));
        let control = setting("ipv4/tcp_congestion_control");
        let qdisc = setting("core/default_qdisc");
        match (control.as_deref().map(str::trim), qdisc.as_deref().map(str::trim)) {
            (Ok("bbr"), Ok(other)) if other != "fq" => Finding::limited(
                format!("bbr with {other}"),
                "without fq, bbr paces by a timer per socket; the local testbed sets cubic itself",
                match machine.attempt(Attempt::Qdisc("fq")) {
                    Ok(()) => {
                        "as root: `sysctl net.core.default_qdisc=fq` or \
                         net.ipv4.tcp_congestion_control=cubic"
                    }
                    Err(_) => "as root: `sysctl net.ipv4.tcp_congestion_control=cubic`",
                },
            ),
            (Ok(control), _) => Finding::ok(control),
            (Err(cause), _) => Finding::limited(
                "unknown",
                format!("read net.ipv4.tcp_congestion_control: {cause}"),
                "mount /proc with the network part",
            ),
        }
    },
};

pub(super) static RMEM_MAX: Check = Check {
    name: "rmem-max",
    title: "largest receive buffer (net.core.rmem_max)",
    serves: Serves::Verbs(&["link", "run"]),
    needed: false,
    ask: |machine| {
        let read = machine.file("/proc/sys/net/core/rmem_max").ok();
        match read.and_then(|text| text.trim().parse::<u64>().ok()) {
            Some(bytes) if bytes >= GOOD_RMEM => Finding::ok(format!("{bytes} bytes")),
            // Root goes beyond it (SO_RCVBUFFORCE, socket(7)).
            Some(bytes) if has_socket_buffer(machine) => {
                Finding::ok(format!("{bytes} bytes; the relay may go beyond it"))
            }
            Some(bytes) => Finding::limited(
                format!("{bytes} bytes: the relay uses a ring instead of a socket buffer"),
                "the kernel's default is made for single packets, not for super-packets",
                format!("as root: `sysctl net.core.rmem_max={GOOD_RMEM}`"),
            ),
            None => Finding::limited(
                "unknown: the relay uses a ring",
                "this namespace does not show net.core.rmem_max",
                "none needed",
            ),
        }
    },
};

pub(super) static IO_DIRECTORY: Check = Check {
    name: "io-directory",
    title: "directory on a disk",
    serves: Serves::Activity("io"),
    needed: false,
    ask: io_directory,
};

pub(super) static RESOLVER: Check = Check {
    name: "resolver",
    title: "name resolver",
    serves: Serves::Verbs(&["link"]),
    needed: false,
    ask: |machine| {
        let text = machine.file("/etc/resolv.conf").unwrap_or_default();
        let servers: Vec<&str> = crate::link::resolver::servers(&text).collect();
        match servers.first() {
            None => Finding::ok("none"),
            Some(_) if crate::link::resolver::is_on_loopback(&text) => Finding::limited(
                servers.join(", "),
                "a resolver on the loopback is out of reach behind an emulated link",
                "none needed: btu link names the far end as resolver for its command",
            ),
            Some(_) => Finding::ok(servers.join(", ")),
        }
    },
};

/// Steal as a share of all CPU time, from the first line of `/proc/stat`.
fn steal_percent(stat: &str) -> Option<f64> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let fields: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let all: f64 = fields.iter().take(8).sum();
    let steal = fields.get(7)?;
    Some(100.0 * steal / all.max(1.0))
}

/// The first directory that is on a disk and has room.
fn io_directory(machine: &dyn Machine) -> Finding {
    let home = machine.variable("HOME");
    let candidates = [Some("."), Some("/var/tmp"), home.as_deref()];
    let mut refused = Vec::new();
    for path in candidates.into_iter().flatten() {
        match machine.directory(path) {
            Ok(found) if found.in_memory => refused.push(format!("{path} is in memory (tmpfs)")),
            Ok(found) if found.free_bytes < IO_BYTES => {
                refused.push(format!("{path} has {} MB free", found.free_bytes / 1_000_000));
            }
            Ok(found) => {
                return Finding::ok(format!("{path}, {} MB free", found.free_bytes / 1_000_000));
            }
            Err(cause) => refused.push(format!("{path}: {cause}")),
        }
    }
    Finding::missing(
        "none: the io activity cannot run",
        refused.join("; "),
        "`btu run --io-dir DIR` with a directory on a disk with 1 GB free",
    )
}

/// True where the relay was given a socket buffer as large as it needs, whatever the limit of others is.
fn has_socket_buffer(machine: &dyn Machine) -> bool {
    machine.calibration().is_ok_and(|done| done.backend.ends_with("/recvmsg"))
}

const BUSY_SHARE: f64 = 0.25;
const STEAL_PERCENT: f64 = 1.0;
const GOOD_RMEM: u64 = 67_108_864;
/// Files of the official preset and their copies, with room to spare.
const IO_BYTES: u64 = 1_000_000_000;
