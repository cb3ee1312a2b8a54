//! Memory that the host moved to and from swap: pages of programs that were measured may have been among it.

use btu_core::sample::HostSample;
use btu_core::units::Bytes;

use super::Figure;
use super::Probe;
use super::Reading;
use super::moved;
use crate::files::Files;

/// The probe `swap`.
#[derive(Debug)]
pub(super) struct Swap;

impl Probe for Swap {
    fn name(&self) -> &'static str {
        "swap"
    }

    fn summary(&self) -> &'static str {
        "memory that went to swap and came from it (/proc/vmstat)"
    }

    fn read(&self, files: &Files) -> Reading {
        let lines = files.pairs("/proc/vmstat", ' ').unwrap_or_default();
        let count =
            |name: &str| Some((name.to_owned(), Figure::Count(lines.get(name)?.parse().ok()?)));
        PAGES.into_iter().filter_map(count).collect()
    }

    fn fold(&self, before: &Reading, after: &Reading, sample: &mut HostSample) {
        let pages = PAGES.map(|name| moved(name, before, after));
        let pages =
            pages.into_iter().try_fold(0, |sum, part| Some(sum + u64::try_from(part?).ok()?));
        sample.swapped = pages.map(|pages| Bytes::new(pages * btu_sys::memory::page_bytes()));
    }
}

/// Pages in and out since boot, of the whole machine.
const PAGES: [&str; 2] = ["pswpin", "pswpout"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_in_and_out_are_told_as_bytes_and_none_where_the_kernel_tells_none() {
        let reading = |pages: [i64; 2]| {
            PAGES
                .iter()
                .zip(pages)
                .map(|(name, n)| ((*name).to_owned(), Figure::Count(n)))
                .collect()
        };
        let folded = |before: &Reading, after: &Reading| {
            let mut sample = HostSample::default();
            Swap.fold(before, after, &mut sample);
            sample.swapped
        };
        let page = btu_sys::memory::page_bytes();
        assert_eq!(folded(&reading([5, 7]), &reading([8, 9])), Some(Bytes::new(5 * page)));
        assert_eq!(folded(&reading([5, 7]), &reading([5, 7])), Some(Bytes::new(0)));
        assert_eq!(folded(&Reading::new(), &Reading::new()), None);
    }
}
