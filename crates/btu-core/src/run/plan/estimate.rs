//! How long a plan will take, before it starts.

use std::collections::BTreeMap;

use super::Amount;
use super::Plan;
use crate::run::cell::Case;
use crate::run::cell::Direction;
use crate::run::cell::Impairment;
use crate::run::schedule::Step;
use crate::units::BitRate;
use crate::units::Bytes;
use crate::units::Nanos;

impl Plan {
    /// The time of the passes that are sure to be made, checks of the emulation included.
    pub fn estimate(&self) -> Nanos {
        let checks = self.check_time() * 2;
        self.pass_time().saturating_mul(u64::from(self.passes.min)).saturating_add(checks)
    }

    /// The most time: all passes that the budget admits, repeats of disturbed runs, second runs. The
    /// budget is of time that passed, repeats included: no pass beyond the least ends after it.
    pub fn estimate_max(&self) -> Nanos {
        let all = |count: u32| self.pass_time().saturating_mul(u64::from(count));
        let passes = |count: u32| all(count).saturating_add(self.repeat_allowance);
        let budget = self.pass_budget().max(passes(self.passes.min));
        let rest = self.time_beside_passes(self.capture_limits().budget);
        passes(self.passes.max).min(budget).saturating_add(rest)
    }

    /// No pass beyond the least begins if it would end after this time: the plan's budget, or what a
    /// preset that promises its end leaves for the passes. Second runs of all cells are beyond any promise: they take
    /// no pass away.
    pub fn pass_budget(&self) -> Nanos {
        let promised = PROMISES.iter().find(|(preset, _)| *preset == self.preset);
        promised.map_or(self.passes.budget, |(_, promise)| {
            let captures = self.capture_limits().budget.min(self.promised_captures());
            self.passes.budget.min(promise.since(self.time_beside_passes(captures)))
        })
    }

    /// The most time before and after the passes: checks of the emulation, second runs.
    fn time_beside_passes(&self, captures: Nanos) -> Nanos {
        self.check_time().saturating_mul(2).saturating_add(captures)
    }

    /// The time of one pass.
    pub fn pass_time(&self) -> Nanos {
        self.step_times().pass
    }

    /// The times of the steps: activities do not change them.
    pub fn step_times(&self) -> StepTimes {
        let sizes = || self.applications.iter().map(|application| application.message_bytes);
        let kinds = self.cases.iter().flat_map(|case| sizes().map(|size| (*case, size)));
        let estimate = |(case, size)| self.cell_time(case, size).saturating_add(CELL_OVERHEAD);
        let cells = kinds.map(|kind| (kind, estimate(kind))).collect();
        let mut times = StepTimes { alone: self.alone_window, cells, pass: Nanos::ZERO };
        let steps = self.steps().into_iter().map(|step| times.of(&step));
        times.pass = steps.fold(Nanos::ZERO, Nanos::saturating_add);
        times
    }

    /// The time of one check of the emulation.
    pub fn check_time(&self) -> Nanos {
        if self.emulates() { CHECK } else { Nanos::ZERO }
    }

    /// True where some cell of the plan passes through the emulator.
    pub fn emulates(&self) -> bool {
        self.link.has_line() || self.cases.iter().any(|case| self.is_emulated(*case))
    }

    /// The time of one cell of a case with messages of this size.
    fn cell_time(&self, case: Case, message: Bytes) -> Nanos {
        let time = match self.amount {
            Amount::Window(window) => window.saturating_add(self.drain_time(case, message)),
            Amount::Fixed(amount) => self.slowest_rate(case).unwrap_or(FAST).time_for(amount),
        };
        self.lead_in.saturating_add(time.min(self.time_cap()))
    }

    /// What a window put into the sockets has to pass a line after it, a whole message at least. Flows in one direction
    /// share a line that is shared, and so do all where both directions share one.
    fn drain_time(&self, case: Case, message: Bytes) -> Nanos {
        let flows = if self.has_one_line(case) { case.flows().len() } else { 1 };
        let lines = ways(case).into_iter().filter_map(|way| self.line_rate(case, way));
        let one = lines.min().map_or(Nanos::ZERO, |line| line.time_for(message.max(IN_SOCKETS)));
        one.saturating_mul(u64::try_from(flows).unwrap_or(1))
    }

    /// True where all flows of a case share one line, as on an Ethernet bus.
    pub fn has_one_line(&self, case: Case) -> bool {
        let shared = |way: Direction| {
            let chain = self.chain(case, way);
            chain.iter().any(|text| text.split(' ').any(|word| word == "shared"))
        };
        ways(case).into_iter().all(shared)
    }

    /// True where packets of any case pass a line, either way.
    pub fn has_lines(&self) -> bool {
        let has = |case: Case, way| self.line_rate(case, way).is_some();
        Case::ALL
            .into_iter()
            .any(|case| has(case, Direction::Send) || has(case, Direction::Receive))
    }

    /// The rate of the line that the data of a case pass in a direction, headers included.
    pub fn line_rate(&self, case: Case, direction: Direction) -> Option<BitRate> {
        self.spec(case, direction).rate()
    }

    /// The lower of the line's rate and what the black boxes' windows allow over the delay.
    fn slowest_rate(&self, case: Case) -> Option<BitRate> {
        let lines = ways(case).into_iter().filter_map(|way| self.spec(case, way).rate());
        let round_trip = match case.impairment() {
            Impairment::Delay => self.link.delay.round_trip(),
            Impairment::Drop => self.link.drop.round_trip(),
            Impairment::None => Nanos::ZERO,
        };
        let flows = u64::try_from(case.flows().len()).unwrap_or(1);
        let window = self.sockets.black_box_window_clamp.filter(|_| round_trip > Nanos::ZERO);
        let windowed = window.and_then(|clamp: Bytes| (clamp * flows).per(round_trip));
        lines.chain(windowed).min()
    }
}

/// The times that the steps of a plan take, each found once: a link is text that is read.
#[derive(Clone, Debug)]
pub struct StepTimes {
    alone: Nanos,
    cells: BTreeMap<(Case, Bytes), Nanos>,
    pass: Nanos,
}

impl StepTimes {
    /// The time of a step; nothing of one that the plan has not.
    pub fn of(&self, step: &Step) -> Nanos {
        match step {
            Step::Alone(_) => self.alone,
            Step::Cell(cell) => {
                let kind = (cell.case, cell.application.message_bytes);
                self.cells.get(&kind).copied().unwrap_or(Nanos::ZERO)
            }
        }
    }

    /// The time of one pass.
    pub fn pass(&self) -> Nanos {
        self.pass
    }
}

/// The directions in which a case has data.
fn ways(case: Case) -> Vec<Direction> {
    let has = |way: &Direction| case.flows().iter().any(|flow| flow.direction == *way);
    [Direction::Send, Direction::Receive].into_iter().filter(has).collect()
}

/// What the sockets of a flow hold when a window ends: 100 to 300 kB were measured on lines of 5 and
/// 10 Mbit/s.
const IN_SOCKETS: Bytes = Bytes::new(128 << 10);

/// Connections, sockets, journal: what a cell costs beside its window.
const CELL_OVERHEAD: Nanos = Nanos::from_millis(40);

/// A check of the emulation.
const CHECK: Nanos = Nanos::from_secs(2);

/// What a whole run of a preset takes at most where its machine keeps up.
const PROMISES: [(&str, Nanos); 2] =
    [("official", Nanos::from_secs(1800)), ("quick", Nanos::from_secs(90))];

/// A path without limits of its own.
const FAST: BitRate = BitRate::new(1_000_000_000);

#[cfg(test)]
mod tests {
    use crate::run::cell::Case;
    use crate::run::cell::Direction;
    use crate::run::plan::Captured;
    use crate::run::plan::Choices;
    use crate::run::plan::Elements;
    use crate::run::plan::LinkPlan;
    use crate::run::plan::Plan;
    use crate::run::plan::Vocabulary;
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
    fn the_most_time_has_all_that_may_be_added_and_keeps_each_preset_s_promise() {
        for (edition, official, promise_s) in
            [("btu-26", false, 90), ("btu-26", true, 1800), ("btu-96", false, 7200)]
        {
            let plan = plan(edition, official);
            let (least, most) = (plan.estimate(), plan.estimate_max());
            assert!(least < most && most <= Nanos::from_secs(promise_s), "{edition}: {most}");
        }
        // What a promise leaves for passes is used.
        assert!(plan("btu-26", false).estimate_max() > Nanos::from_secs(60));
        assert!(plan("btu-26", true).estimate_max() > Nanos::from_secs(1700));
    }

    /// 60 ms, then 128 KiB of each flow over the line: 105 ms at 10 Mbit/s, and 10 s at 100 kbit/s,
    /// where the cap of a cell ends it.
    #[test]
    fn a_windowed_cell_ends_when_its_sockets_are_empty() {
        let timed = |rate: &str| {
            let link = LinkPlan { rate: Elements::both(rate), ..plan("btu-26", false).link };
            let plan = Plan { link, ..plan("btu-26", false) };
            let message = plan.applications[0].message_bytes;
            plan.cell_time(Case::TwoSendDropped, message).millis() - plan.lead_in.millis()
        };
        let close = |found: f64, wanted: f64| (found - wanted).abs() < 1.0;
        assert!(close(timed("rate 1Gbit/s"), 61.0));
        assert!(close(timed("rate 10Mbit/s queue 100ms"), 60.0 + 104.9));
        assert!(close(timed("rate 10Mbit/s queue 100ms shared ether"), 60.0 + 2.0 * 104.9));
        assert!(close(timed("rate 100kbit/s"), 5060.0), "{}", timed("rate 100kbit/s"));
    }

    #[test]
    fn second_runs_of_all_cells_take_no_pass_away() {
        for official in [false, true] {
            let plan = plan("btu-26", official);
            let all = Plan { captured: Captured::All, ..plan.clone() };
            assert_eq!(all.pass_budget(), plan.pass_budget());
            assert!(all.estimate_max() > plan.estimate_max());
            let none = Plan { captured: Captured::None, ..plan.clone() };
            assert!(none.pass_budget() >= plan.pass_budget());
        }
    }

    #[test]
    fn what_emulates_nothing_is_not_checked() {
        let whole = plan("btu-26", false);
        let plain = Plan { cases: vec![Case::Send], ..whole.clone() };
        let passes = |plan: &Plan| plan.pass_time() * u64::from(plan.passes.min);
        assert_eq!(plain.estimate(), passes(&plain));
        assert!(whole.estimate() > passes(&whole));
    }

    #[test]
    fn a_plan_of_one_s_own_has_the_budget_that_it_names() {
        let own = Plan { preset: "custom".to_owned(), ..plan("btu-26", true) };
        assert_eq!(own.pass_budget(), Nanos::from_secs(1800));
        assert!(plan("btu-26", true).pass_budget() < own.pass_budget());
        assert_eq!(plan("btu-26", false).pass_budget(), Nanos::from_secs(80));
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
