//! How busy the host was when the run began.

use std::collections::BTreeMap;

use btu_core::disclosure::Fact;

use super::Group;
use super::Source;
use super::table;
use crate::files::Files;
use crate::probe::cpu;

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
        let mut facts = table(files, ROWS);
        facts.insert("steal_since_boot_s".to_owned(), steal(files));
        facts
    }
}

/// CPU time that the hypervisor gave to others, of all CPUs together (proc(5)).
fn steal(files: &Files) -> Fact {
    let text = match files.text("/proc/stat") {
        Ok(text) => text,
        Err(error) => return crate::files::unavailable(&error),
    };
    let stolen = cpu::total(&text).find(|(name, _)| *name == cpu::STEAL);
    let none = || Fact::unavailable("/proc/stat has no eighth field of \"cpu\"");
    stolen.map_or_else(none, |(_, time_ns)| Fact::known(time_ns / 1_000_000_000))
}

const ROWS: &[(&str, Source)] = &[
    ("cpu", Source::File("/proc/pressure/cpu")),
    ("io", Source::File("/proc/pressure/io")),
    ("load_average", Source::File("/proc/loadavg")),
    ("memory", Source::File("/proc/pressure/memory")),
    ("uptime_s", Source::File("/proc/uptime")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_the_eighth_field_in_seconds() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("proc")).unwrap();
        let stat = "cpu  1 2 3 4 5 6 7 1234 0 0\ncpu0 1 2 3 4 5 6 7 999 0 0\n";
        std::fs::write(dir.path().join("proc/stat"), stat).unwrap();
        let facts = Pressure.facts(&Files::below(dir.path()));
        assert_eq!(facts["steal_since_boot_s"], Fact::known(12));
        // What is no number ends what is known of the line.
        std::fs::write(dir.path().join("proc/stat"), "cpu  1 2 3 4 x 6 7 1234\n").unwrap();
        let facts = Pressure.facts(&Files::below(dir.path()));
        assert_eq!(facts["steal_since_boot_s"].value, None);
    }
}
