//! The block devices: model, scheduler, queue, kind.

use std::collections::BTreeMap;

use btu_core::disclosure::Fact;

use super::Group;
use crate::files::Files;

/// The group `disk`: one set of facts per block device that holds anything.
#[derive(Debug)]
pub(super) struct Disk;

impl Group for Disk {
    fn name(&self) -> &'static str {
        "disk"
    }

    fn about(&self) -> &'static str {
        "model, scheduler, queue and kind of the block devices"
    }

    fn facts(&self, files: &Files) -> BTreeMap<String, Fact> {
        let in_use =
            |name: &String| files.text(&format!("/sys/block/{name}/size")).is_ok_and(|s| s != "0");
        let devices: Vec<String> = files.names("/sys/block").into_iter().filter(in_use).collect();
        let of_device = |device: &String| {
            let row = |(name, path): &(&str, &str)| {
                (format!("{device}.{name}"), files.fact(&format!("/sys/block/{device}/{path}")))
            };
            ATTRIBUTES.iter().map(row).collect::<Vec<_>>()
        };
        let mut facts: BTreeMap<String, Fact> = devices.iter().flat_map(of_device).collect();
        facts.insert("mounts".to_owned(), mounts(files));
        facts.insert("devices".to_owned(), Fact::known(devices));
        facts
    }
}

/// Mounted disks with their file system and options.
fn mounts(files: &Files) -> Fact {
    match files.text("/proc/self/mounts") {
        Ok(text) => {
            Fact::known(text.lines().filter(|line| line.starts_with("/dev/")).collect::<Vec<_>>())
        }
        Err(error) => crate::files::unavailable(&error),
    }
}

const ATTRIBUTES: &[(&str, &str)] = &[
    ("model", "device/model"),
    ("queue_depth", "queue/nr_requests"),
    ("read_ahead_kb", "queue/read_ahead_kb"),
    ("rotational", "queue/rotational"),
    ("scheduler", "queue/scheduler"),
    ("sectors", "size"),
    ("write_cache", "queue/write_cache"),
];
