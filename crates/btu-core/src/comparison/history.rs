//! Results of many nights, each in its place: when did a figure change for good, and what else changed just then?

use std::collections::BTreeMap;

use super::Change;
use super::Comparison;
use super::FactChange;
use super::changed_facts;
use super::series::Better;
use super::series::ByRound;
use super::series::Series;
use crate::disclosure::Disclosure;
use crate::stats::ChangePoint;
use crate::stats::ChangeRule;
use crate::stats::Values;
use crate::stats::change_points;
use crate::stats::geometric_mean;
use crate::stats::student_on_logs;

/// One result of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Night {
    /// What it is called.
    pub name: String,
    /// When it began, UTC, RFC 3339.
    pub started_at: String,
    /// What was disclosed of its hosts.
    pub hosts: Disclosure,
    /// Its figures.
    pub by_round: ByRound,
}

/// One figure over the nights.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Its name.
    pub figure: String,
    /// Its unit.
    pub unit: &'static str,
    /// Which change is a good one.
    pub better: Better,
    /// The nights that have it, in their order.
    pub points: Vec<NightPoint>,
    /// Where it changed for good, in the order of nights.
    pub turns: Vec<Turn>,
}

/// A figure of one night.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NightPoint {
    /// The place of the night.
    pub night: usize,
    /// The geometric mean of its rounds.
    pub value: f64,
    /// Its 95 % interval; `None` under three rounds.
    pub ci95: Option<[f64; 2]>,
}

/// A change for good: a regime ends, and another begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The place of the first night of the new regime.
    pub night: usize,
    /// The two regimes, by the values of their nights: geometric means, ratio, interval.
    pub change: Change,
    /// The p value of the t test that found it.
    pub p: f64,
    /// True where it is for the worse.
    pub is_worse: bool,
    /// True where nothing of it was seen before the last night: it is told once.
    pub is_new: bool,
    /// What was disclosed of the hosts otherwise than the night before.
    pub facts: Vec<FactChange>,
}

/// The figures of these nights, which are given in their order, and their changes.
///
/// Values are compared by their logarithms, so a change has the same size on its way there and back.
pub fn courses(nights: &[Night], rule: ChangeRule, is_asked: impl Fn(&str) -> bool) -> Vec<Course> {
    let (mut courses, mut places) = (Vec::new(), BTreeMap::new());
    for (night, one) in nights.iter().enumerate() {
        for series in one.by_round.series.iter().filter(|series| is_asked(&series.figure)) {
            let Some(point) = NightPoint::of(night, series) else { continue };
            let place = *places.entry(&*series.figure).or_insert(courses.len());
            if place == courses.len() {
                courses.push(Course::of(series));
            }
            courses[place].points.push(point);
        }
    }
    for course in &mut courses {
        course.turns = course.turns(nights, rule);
    }
    courses
}

/// The changes that are told for the first time, as figures that conditions are asked of.
///
/// Each was found by a test of many nights: Welch's of the few after it has a larger p value and a wider interval, and a
/// condition that waited for those would be asked of it in no later night.
pub fn new_turns(courses: &[Course], legal: &'static str) -> Comparison {
    let is_told = |turn: &&Turn| turn.is_new && turn.is_worse;
    let sure = |turn: &Turn| Change {
        p: Some(turn.p),
        ci95: turn.change.ci95.filter(|[low, high]| *low > 1.0 || *high < 1.0),
        ..turn.change.clone()
    };
    let told = |course: &Course| course.turns.iter().rfind(is_told).map(sure);
    let change = |course: &Course| told(course).unwrap_or_else(|| Change::none(&course.figure));
    Comparison { changes: courses.iter().map(change).collect(), cells: Vec::new(), legal }
}

impl Course {
    /// A figure before its first night.
    fn of(series: &Series) -> Self {
        Self {
            figure: series.figure.clone(),
            unit: series.unit,
            better: series.better,
            points: Vec::new(),
            turns: Vec::new(),
        }
    }

    fn turns(&self, nights: &[Night], rule: ChangeRule) -> Vec<Turn> {
        let logs: Vec<f64> = self.points.iter().map(|point| point.value.ln()).collect();
        let found = of_logs(&logs, rule);
        let earlier = of_logs(&logs[..logs.len().saturating_sub(1)], rule);
        let is_of_newest = self.points.last().is_some_and(|one| one.night + 1 == nights.len());
        let ends = |place: usize| {
            let from = place.checked_sub(1).map_or(0, |before| found[before].at);
            [from, found[place].at, found.get(place + 1).map_or(logs.len(), |next| next.at)]
        };
        let turn = |(place, point): (usize, &ChangePoint)| {
            let is_known = earlier.iter().any(|one| one.at.abs_diff(point.at) <= SAME_TURN);
            self.turn(nights, ends(place), (point.p, is_of_newest && !is_known))
        };
        found.iter().enumerate().filter_map(turn).collect()
    }

    /// The change between the regimes from one end to the next and from there to the last.
    fn turn(
        &self,
        nights: &[Night],
        [from, at, to]: [usize; 3],
        (p, is_new): (f64, bool),
    ) -> Option<Turn> {
        let values = |points: &[NightPoint]| points.iter().map(|one| one.value).collect::<Vec<_>>();
        let [before, after] = [values(&self.points[from..at]), values(&self.points[at..to])];
        let change = Change::of(self.figure.clone(), [&before, &after], "results", true)?;
        let [last, night] = [self.points[at - 1].night, self.points[at].night];
        Some(Turn {
            night,
            is_worse: self.better.is_worse(change.ratio),
            change,
            p,
            is_new,
            facts: changed_facts(&nights[last].hosts, &nights[night].hosts),
        })
    }
}

impl NightPoint {
    /// `None` where a round is zero: it has no logarithm.
    fn of(night: usize, series: &Series) -> Option<Self> {
        let value = geometric_mean(&series.rounds)?;
        let interval = student_on_logs(&series.rounds).filter(|_| series.rounds.len() >= LEAST);
        Some(Self { night, value, ci95: interval.map(|bounds| [bounds.low, bounds.high]) })
    }
}

/// Change points of logarithms: how large a change is tells the ratio, not the share of a logarithm.
fn of_logs(logs: &[f64], rule: ChangeRule) -> Vec<ChangePoint> {
    change_points(logs, ChangeRule { values: Values::Logarithms, ..rule })
}

/// Rounds from which a night has an interval.
const LEAST: usize = 3;
/// One night more moves a change by so many places, and it is the same.
const SAME_TURN: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Condition;
    use crate::disclosure::Fact;

    /// Nights of 4 rounds each, all of them of these values but for a wobble; the kernel is another one from `update` on.
    fn nights(values: &[f64], update: usize) -> Vec<Night> {
        let night = |(at, value): (usize, &f64)| {
            let wobble = 1.0 + 0.002 * f64::from(u8::try_from(at * 7 % 5).unwrap());
            let mut hosts = Disclosure::default();
            let system = hosts.hosts.entry("test".into()).or_default().entry("system".into());
            let kernel = if at < update { "6.18" } else { "6.19" };
            system.or_default().insert("kernel".into(), Fact::known(kernel));
            let series = Series {
                figure: "btu".into(),
                unit: "Mb/s",
                better: Better::Higher,
                rounds: [1.0, 1.01, 0.99, 1.0].map(|round| round * value * wobble).to_vec(),
            };
            let by_round = ByRound { series: vec![series], rules: &[], legal: "btu" };
            Night { name: format!("n{at}"), started_at: format!("day {at:03}"), hosts, by_round }
        };
        values.iter().enumerate().map(night).collect()
    }

    fn step(before: usize, after: usize) -> Vec<f64> {
        [vec![100.0; before], vec![90.0; after]].concat()
    }

    fn course(nights: &[Night]) -> Course {
        courses(nights, ChangeRule::default(), |_| true).remove(0)
    }

    #[test]
    fn a_change_is_told_with_its_night_its_size_and_what_changed_just_then() {
        let course = course(&nights(&step(20, 10), 20));
        let [turn] = &course.turns[..] else { panic!("{course:?}") };
        assert_eq!((turn.night, turn.is_worse, turn.is_new), (20, true, false));
        assert!((turn.change.percent() + 10.0).abs() < 0.3, "{turn:?}");
        let [low, high] = turn.change.ci95.unwrap();
        assert!(low < turn.change.ratio && turn.change.ratio < high && high < 0.95);
        let [fact] = &turn.facts[..] else { panic!("{turn:?}") };
        assert_eq!((&*fact.name, &*fact.after), ("test.system.kernel", "6.19"));
        assert_eq!(course.points.len(), 30);
        assert!(course.points[0].ci95.is_some());
    }

    #[test]
    fn the_last_night_tells_a_change_once() {
        let new_at = |after: usize| {
            let all = courses(&nights(&step(20, after), 99), ChangeRule::default(), |_| true);
            new_turns(&all, "btu").changes[0].percent() < -5.0
        };
        let told: Vec<usize> = (1..10).filter(|after| new_at(*after)).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0] <= 3, "{told:?}");
    }

    /// Beside 40 figures Welch's p of three nights tells nothing, and its interval is wide.
    #[test]
    fn a_change_that_was_found_is_told_whatever_few_nights_after_it_say() {
        let nights = nights(&step(20, 3), 99);
        let even = courses(&nights[..20], ChangeRule::default(), |_| true).remove(0);
        let mut slower = course(&nights);
        assert_eq!(slower.turns.len(), 1, "{slower:?}");
        let turn = &mut slower.turns[0];
        (turn.is_new, turn.p, turn.change.p) = (true, 1e-5, Some(0.01));
        for ci95 in [[0.85, 0.95], [0.8, 1.01]] {
            slower.turns[0].change.ci95 = Some(ci95);
            let mut all = vec![even.clone(); 39];
            all.push(slower.clone());
            let condition: Condition = "btu<-5%".parse().unwrap();
            let outcome = condition.judge(&new_turns(&all, "btu")).unwrap();
            assert!(outcome.met, "{outcome:?}");
        }
    }

    #[test]
    fn only_figures_that_are_asked_for_are_looked_at() {
        assert!(courses(&nights(&step(3, 3), 9), ChangeRule::default(), |_| false).is_empty());
    }
}
