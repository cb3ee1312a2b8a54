//! How long a plan will take, before it starts.

use super::Amount;
use super::Plan;
use crate::cell::Case;
use crate::cell::Direction;
use crate::cell::Impairment;
use crate::units::BitRate;
use crate::units::Bytes;
use crate::units::Nanos;

impl Plan {
    /// The time of the passes that are sure to be made, checks of the emulation included.
    pub fn estimate(&self) -> Nanos {
        self.pass_time() * u64::from(self.passes.min) + VERIFICATIONS
    }

    /// The most time: all passes that the budget admits, repeats of disturbed runs, second runs. The
    /// budget is of time that passed, repeats included: no pass beyond the least ends after it.
    pub fn estimate_max(&self) -> Nanos {
        let passes = |count: u32| self.pass_time() * u64::from(count) + self.repeat_allowance;
        let budget = self.passes.budget.max(passes(self.passes.min));
        let second_runs = self.capture_limits().budget;
        passes(self.passes.max).min(budget) + second_runs + VERIFICATIONS
    }

    /// The time of one pass.
    fn pass_time(&self) -> Nanos {
        let per_case = self.cases.iter().map(|case| self.cell_time(*case) + CELL_OVERHEAD);
        let loads = u64::try_from(self.activities.len() + 1).unwrap_or(u64::MAX);
        let applications = u64::try_from(self.applications.len()).unwrap_or(u64::MAX);
        let cells = per_case.sum::<Nanos>() * (loads * applications);
        let alone = self.alone_window * (loads - 1);
        cells + alone
    }

    /// The link elements of a case, in order of traversal; none on a plain path.
    ///
    /// Delay and rate act both ways. Drops act on packets that arrive at the black box: its
    /// acknowledgements are spared, since three of them in a row stand for more than a window of
    /// data, and the cell would measure the retransmission timer instead of the host.
    pub fn chain(&self, case: Case, direction: Direction) -> Vec<String> {
        let drops = case.impairment() == Impairment::Drop && direction == Direction::Send;
        let drop = drops.then(|| format!("drop {}", self.link.drop));
        let delay =
            (case.impairment() == Impairment::Delay).then(|| format!("delay {}", self.link.delay));
        drop.into_iter().chain(self.link.rate.clone()).chain(delay).collect()
    }

    /// The time of one cell of a case.
    fn cell_time(&self, case: Case) -> Nanos {
        match self.amount {
            Amount::Window(window) => self.lead_in + window,
            Amount::Fixed(amount) => {
                self.lead_in + self.slowest_rate(case).unwrap_or(FAST).time_for(amount)
            }
        }
    }

    /// The lower of the line's rate and what the black boxes' windows allow over the delay.
    fn slowest_rate(&self, case: Case) -> Option<BitRate> {
        let line = self.link.rate.as_ref().and_then(|text| text.split(' ').nth(1)?.parse().ok());
        let round_trip = self.link.delay * 2;
        let flows = u64::try_from(case.flows().len()).unwrap_or(1);
        let window =
            self.sockets.black_box_window_clamp.filter(|_| case.impairment() == Impairment::Delay);
        let windowed = window.and_then(|clamp: Bytes| (clamp * flows).per(round_trip));
        [line, windowed].into_iter().flatten().min()
    }
}

/// Connections, sockets, journal: what a cell costs beside its window.
const CELL_OVERHEAD: Nanos = Nanos::from_millis(40);

/// Both checks of the emulation.
const VERIFICATIONS: Nanos = Nanos::from_secs(4);

/// A path without limits of its own.
const FAST: BitRate = BitRate::new(1_000_000_000);

#[cfg(test)]
mod tests {
    use crate::cell::Case;
    use crate::cell::Direction;
    use crate::plan::Choices;
    use crate::plan::Plan;
    use crate::plan::Vocabulary;
    use crate::units::Nanos;

    fn plan(edition: &str, official: bool) -> Plan {
        let choices = Choices { edition: Some(edition), official, ..Choices::default() };
        Plan::resolve(&choices, &Vocabulary { activities: &["cpu", "ftp", "io"] }, 7).unwrap()
    }

    fn estimate(edition: &str, official: bool) -> Nanos {
        plan(edition, official).estimate()
    }

    #[test]
    fn quick_fits_into_90_seconds_and_official_into_30_minutes() {
        assert!(estimate("btu-26", false) < Nanos::from_secs(85));
        assert!(estimate("btu-26", true) < Nanos::from_secs(1800));
    }

    #[test]
    fn the_most_time_has_all_that_may_be_added() {
        for (edition, official) in [("btu-26", false), ("btu-26", true), ("btu-96", false)] {
            let plan = plan(edition, official);
            assert!(plan.estimate_max() >= plan.estimate());
        }
        let most = plan("btu-26", false).estimate_max();
        assert!(most > Nanos::from_secs(60) && most <= Nanos::from_secs(90), "{most}");
    }

    #[test]
    fn the_chains_of_the_cases_are_the_papers() {
        let up = |edition, case| plan(edition, false).chain(case, Direction::Send);
        assert!(up("btu-26", Case::Send).is_empty());
        assert_eq!(up("btu-26", Case::SendDelayed), ["delay 5ms"]);
        assert_eq!(up("btu-26", Case::TwoSendDropped), ["drop 1@200,3@400/400"]);
        let rate = "rate 10Mbit/s queue 100ms shared ether";
        assert_eq!(up("btu-96", Case::Send), [rate]);
        assert_eq!(up("btu-96", Case::TwoRecvDelayed), [rate, "delay 10ms"]);
        let down = plan("btu-26", false).chain(Case::TwoSendDropped, Direction::Receive);
        assert!(down.is_empty());
    }

    #[test]
    fn the_faithful_edition_waits_for_its_4_kib_windows() {
        // 4,000,000 bytes at 4096 bytes a round trip of 20 ms: 19.5 s; the paper's machine needed
        // 1 to 2 hours in all (maly1996, 4.3).
        let total = estimate("btu-96", false);
        assert!(total > Nanos::from_secs(600) && total < Nanos::from_secs(7200), "{total}");
    }
}
