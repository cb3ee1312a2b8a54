//! How busy the host was when the run began.

use std::collections::BTreeMap;

use btu_core::disclosure::Fact;

use super::Group;
use super::Source;
use super::table;
use crate::files::Files;

/// The group `pressure`.
#[derive(Debug)]
pub(super) struct Pressure;

impl Group for Pressure {
    fn name(&self) -> &'static str {
        "pressure"
    }

    fn about(&self) -> &'static str {
        "how busy the host was when the run began"
    }

    fn facts(&self, files: &Files) -> BTreeMap<String, Fact> {
        table(files, ROWS)
    }
}

const ROWS: &[(&str, Source)] = &[
    ("cpu", Source::File("/proc/pressure/cpu")),
    ("io", Source::File("/proc/pressure/io")),
    ("load_average", Source::File("/proc/loadavg")),
    ("memory", Source::File("/proc/pressure/memory")),
    ("uptime_s", Source::File("/proc/uptime")),
];
