//! The machine and its system: vendor, kernel, C library, clock, limits of the container.

use std::collections::BTreeMap;

use btu_core::disclosure::Fact;
use btu_sys::clock::Discipline;

use super::Group;
use super::Source;
use super::table;
use crate::control_group::ControlGroups;
use crate::control_group::Quota;
use crate::control_group::Version;
use crate::files::Files;
use crate::files::unavailable;

/// The group `system`.
#[derive(Debug)]
pub(super) struct System;

impl Group for System {
    fn name(&self) -> &'static str {
        "system"
    }

    fn about(&self) -> &'static str {
        "vendor, kernel, C library, clock, limits of the container"
    }

    fn facts(&self, files: &Files) -> BTreeMap<String, Fact> {
        let mut facts = table(files, ROWS);
        facts.extend(limits(files));
        facts.extend(clock(files));
        let library = btu_sys::library::version().filter(|_| files.is_host());
        let library = library.map_or_else(|| Fact::unavailable("it does not say"), Fact::known);
        facts.insert("c_library".to_owned(), library);
        facts
    }
}

/// What the control groups leave to this process, whichever version they have.
fn limits(files: &Files) -> [(String, Fact); 3] {
    let read = |path: &str| files.text(path);
    let of = |controller, told: &dyn Fn(&ControlGroups) -> Fact| {
        ControlGroups::with(controller, &read)
            .map_or_else(|error| unavailable(&error), |all| told(&all))
    };
    let quota = |groups: &ControlGroups| match groups.quota(&read) {
        Some(Quota { quota_us, period_us }) => Fact::known(format!("{quota_us} {period_us}")),
        None => Fact::known("max"),
    };
    let own = |one: &'static str, two: &'static str| {
        move |groups: &ControlGroups| {
            let name = if groups.version == Version::One { one } else { two };
            files.fact(&groups.own_file(name))
        }
    };
    [
        ("cgroup_cpu_max", of("cpu", &quota)),
        ("cgroup_cpuset", of("cpuset", &own("cpuset.effective_cpus", "cpuset.cpus.effective"))),
        ("cgroup_memory_max", of("memory", &own("memory.limit_in_bytes", "memory.max"))),
    ]
    .map(|(name, fact)| (name.to_owned(), fact))
}

/// How the clock of the day is kept right.
fn clock(files: &Files) -> [(String, Fact); 3] {
    let told = if files.is_host() {
        btu_sys::clock::discipline().map_err(|error| error.to_string())
    } else {
        Err("the files are not those of this host".to_owned())
    };
    let fact = |of: fn(Discipline) -> Fact| told.clone().map_or_else(Fact::unavailable, of);
    [
        ("clock_frequency_ppb", fact(|clock| Fact::known(clock.frequency_ppb))),
        ("clock_max_error_us", fact(|clock| Fact::known(clock.max_error_us))),
        ("clock_synchronised", fact(|clock| Fact::known(clock.is_synchronised))),
    ]
    .map(|(name, fact)| (name.to_owned(), fact))
}

const ROWS: &[(&str, Source)] = &[
    ("bios_version", Source::File("/sys/class/dmi/id/bios_version")),
    ("boot_command_line", Source::File("/proc/cmdline")),
    (
        "clock_source",
        Source::File("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ),
    ("cpus_allowed", Source::Line("/proc/self/status", ':', "Cpus_allowed_list")),
    ("distribution", Source::Line("/etc/os-release", '=', "PRETTY_NAME")),
    ("host_name", Source::File("/proc/sys/kernel/hostname")),
    ("hypervisor", Source::File("/sys/hypervisor/type")),
    ("kernel", Source::File("/proc/sys/kernel/osrelease")),
    ("kernel_build", Source::File("/proc/version")),
    ("lsm", Source::File("/sys/kernel/security/lsm")),
    ("product_name", Source::File("/sys/class/dmi/id/product_name")),
    ("product_vendor", Source::File("/sys/class/dmi/id/sys_vendor")),
    ("scheduler_autogroup", Source::File("/proc/sys/kernel/sched_autogroup_enabled")),
    ("tainted", Source::File("/proc/sys/kernel/tainted")),
    ("unprivileged_namespaces", Source::File("/proc/sys/user/max_user_namespaces")),
];
