//! Memory: size, huge pages, swap.

use std::collections::BTreeMap;

use btu_core::disclosure::Fact;

use super::Group;
use super::Source;
use super::table;
use crate::files::Files;

/// The group `memory`.
#[derive(Debug)]
pub(super) struct Memory;

impl Group for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn about(&self) -> &'static str {
        "size, huge pages, swap"
    }

    fn facts(&self, files: &Files) -> BTreeMap<String, Fact> {
        table(files, ROWS)
    }
}

const ROWS: &[(&str, Source)] = &[
    ("available", Source::Line("/proc/meminfo", ':', "MemAvailable")),
    ("huge_page_size", Source::Line("/proc/meminfo", ':', "Hugepagesize")),
    ("huge_pages", Source::Line("/proc/meminfo", ':', "HugePages_Total")),
    ("swap_total", Source::Line("/proc/meminfo", ':', "SwapTotal")),
    ("swappiness", Source::File("/proc/sys/vm/swappiness")),
    ("total", Source::Line("/proc/meminfo", ':', "MemTotal")),
    ("transparent_huge_pages", Source::File("/sys/kernel/mm/transparent_hugepage/enabled")),
];
