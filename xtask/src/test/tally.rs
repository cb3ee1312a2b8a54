//! How many tests passed, failed and were skipped.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use anyhow::Result;
use serde::Deserialize;
use serde::Serialize;

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Tally {
    passed: usize,
    failed: usize,
    skipped: usize,
    /// Passed, though only when no other test ran beside them.
    disturbed: usize,
    /// Runs that ended badly without a failed test: a build error, a crash.
    broken: usize,
}

impl Tally {
    /// Takes `test result: ok. 3 passed; 0 failed; ...` and ignores every other line.
    pub(super) fn read(&mut self, line: &str) {
        let Some((_, counts)) = line.split_once("test result: ") else { return };
        for part in counts.split([';', '.']) {
            match part.trim().split_once(' ') {
                Some((n, "passed")) => self.passed += n.parse().unwrap_or(0),
                Some((n, "failed")) => self.failed += n.parse().unwrap_or(0),
                _ => {}
            }
        }
    }

    pub(super) fn ended(&mut self, well: bool) {
        if !well && self.failed == 0 {
            self.broken += 1;
        }
    }

    /// The runner counts a skipped test as passed.
    pub(super) fn skip(&mut self, skipped: usize) {
        self.skipped += skipped;
        self.passed = self.passed.saturating_sub(skipped);
    }

    /// The tally after those that failed have run once more, alone.
    pub(super) fn settled(mut self, alone: Self) -> Self {
        if alone.is_green() && alone.passed == self.failed {
            self.disturbed += self.failed;
            self.passed += self.failed;
            self.failed = 0;
        }
        self
    }

    pub(super) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.disturbed += other.disturbed;
        self.broken += other.broken;
    }

    pub(super) fn is_green(&self) -> bool {
        self.failed == 0 && self.broken == 0 && self.passed > 0
    }

    /// Keeps this pass beside earlier ones and returns the sum of all.
    pub(super) fn append(self, summary: &Path) -> Result<Self> {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(summary)
            .with_context(|| format!("open {}", summary.display()))?;
        writeln!(file, "{}", serde_json::to_string(&self)?)?;
        let mut total = Self::default();
        for line in std::fs::read_to_string(summary)?.lines() {
            total.add(serde_json::from_str(line)?);
        }
        Ok(total)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.broken > 0 {
            writeln!(f, "{} test runs broke off", self.broken)?;
        }
        if self.disturbed > 0 {
            writeln!(f, "{} passed only alone: named above, after \"once more\"", self.disturbed)?;
        }
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runners_closing_lines_add_up_and_skips_are_not_passes() {
        let mut tally = Tally::default();
        tally.read("running 3 tests");
        tally.read("test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
        tally
            .read("test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out");
        tally.skip(1);
        assert_eq!(tally.to_string(), "3 passed, 2 failed, 1 skipped");
        assert!(!tally.is_green());
    }

    #[test]
    fn a_run_that_breaks_off_is_red_even_without_a_failed_test() {
        let mut tally = Tally::default();
        tally.read("test result: ok. 3 passed; 0 failed; 0 ignored");
        tally.ended(false);
        assert!(!tally.is_green());
    }

    #[test]
    fn no_test_at_all_is_red() {
        assert!(!Tally::default().is_green());
    }

    #[test]
    fn passes_are_kept_beside_each_other_and_summed() {
        let folder = std::env::temp_dir().join(format!("btu-tally-{}", std::process::id()));
        let one = Tally { passed: 1, ..Tally::default() };
        assert_eq!(one.append(&folder).unwrap().passed, 1);
        assert_eq!(one.append(&folder).unwrap().passed, 2);
        std::fs::remove_file(folder).unwrap();
    }
}
