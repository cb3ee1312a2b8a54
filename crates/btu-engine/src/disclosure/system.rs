//! The machine and its system: vendor, kernel, clock source, limits of the container.

use std::collections::BTreeMap;

use btu_core::disclosure::Fact;

use super::Group;
use super::Source;
use super::table;
use crate::files::Files;

/// The group `system`.
#[derive(Debug)]
pub(super) struct System;

impl Group for System {
    fn name(&self) -> &'static str {
        "system"
    }

    fn about(&self) -> &'static str {
        "vendor, kernel, clock source, limits of the container"
    }

    fn facts(&self, files: &Files) -> BTreeMap<String, Fact> {
        table(files, ROWS)
    }
}

const ROWS: &[(&str, Source)] = &[
    ("bios_version", Source::File("/sys/class/dmi/id/bios_version")),
    ("boot_command_line", Source::File("/proc/cmdline")),
    ("cgroup_cpu_max", Source::File("/sys/fs/cgroup/cpu.max")),
    ("cgroup_memory_max", Source::File("/sys/fs/cgroup/memory.max")),
    (
        "clock_source",
        Source::File("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ),
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
