//! The processors: model, microcode, topology, caches, mitigations.

use std::collections::BTreeMap;

use btu_core::disclosure::Fact;

use super::Group;
use super::Source;
use super::table;
use crate::files::Files;

/// The group `cpu`.
#[derive(Debug)]
pub(super) struct Cpu;

impl Group for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn about(&self) -> &'static str {
        "model, microcode, topology, caches, mitigations of the processors"
    }

    fn facts(&self, files: &Files) -> BTreeMap<String, Fact> {
        table(files, ROWS)
    }
}

const ROWS: &[(&str, Source)] = &[
    ("caches", Source::PerCpu("cache/index3/size")),
    ("core_siblings", Source::PerCpu("topology/core_cpus_list")),
    ("flags", Source::Line("/proc/cpuinfo", ':', "flags")),
    ("isolated", Source::File("/sys/devices/system/cpu/isolated")),
    ("l2_cache", Source::PerCpu("cache/index2/size")),
    ("microcode", Source::Line("/proc/cpuinfo", ':', "microcode")),
    ("mitigations", Source::Directory("/sys/devices/system/cpu/vulnerabilities")),
    ("model", Source::Line("/proc/cpuinfo", ':', "model name")),
    ("nohz_full", Source::File("/sys/devices/system/cpu/nohz_full")),
    ("numa_nodes", Source::File("/sys/devices/system/node/online")),
    ("online", Source::File("/sys/devices/system/cpu/online")),
    ("packages", Source::PerCpu("topology/physical_package_id")),
    ("smt_active", Source::File("/sys/devices/system/cpu/smt/active")),
    ("vendor", Source::Line("/proc/cpuinfo", ':', "vendor_id")),
];
