//! What the test host was like while each of two results was measured: a figure that moved with it tells of the
//! machine, and not of what was changed on purpose.

use std::collections::BTreeSet;

use crate::disclosure::Disclosure;
use crate::journal::Journal;
use crate::journal::Record;
use crate::run::analysis::Analysis;
use crate::run::anomaly::FOREIGN_CPU_PERCENT;
use crate::run::anomaly::STOLEN_PERCENT;
use crate::run::anomaly::THROTTLED_PERCENT;
use crate::run::cell::Cell;
use crate::sample::HostSample;
use crate::stats::geometric_mean;
use crate::tcp::float;
use crate::units::Nanos;

/// One reading of the test host beside the runs of two results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surrounding {
    /// Its name, with its unit: `cpu_distance_ns`.
    pub name: &'static str,
    /// What it is, for people.
    pub about: &'static str,
    /// Over the runs that count, before; `None` where none of them has it.
    pub before: Option<f64>,
    /// The same after.
    pub after: Option<f64>,
    /// True where it differs by more than what marks a run; `None` where that says nothing.
    pub moved: Option<bool>,
    /// Why it says nothing.
    pub moved_reason: Option<&'static str>,
}

/// Why a result has no reading of its surroundings.
pub const UNREAD: &str = "no run that counts has read it";
const OTHER_HARDWARE: &str = "two machines have CPUs that lie otherwise";

/// A reading of the runs of one result.
struct Reading {
    name: &'static str,
    about: &'static str,
    figure: Figure,
}

/// What it is of several runs, and when that of two results differs.
enum Figure {
    /// The geometric mean of the distance of two CPUs: rates go with its logarithm (decision 127).
    Distance,
    /// Of the time of the runs, percent; two differ by more than this.
    Share { part: fn(&HostSample) -> Option<Nanos>, most: f64 },
}

const READINGS: &[Reading] = &[
    Reading {
        name: "cpu_distance_ns",
        about: "a cache line from one CPU to another and back, ns",
        figure: Figure::Distance,
    },
    Reading {
        name: "stolen_percent",
        about: "CPU time that the hypervisor took, % of a CPU",
        figure: Figure::Share { part: |host| host.steal_ns, most: STOLEN_PERCENT },
    },
    Reading {
        name: "throttled_percent",
        about: "time stopped by a CPU quota, all CPUs together, %",
        figure: Figure::Share { part: |host| host.throttled_ns, most: THROTTLED_PERCENT },
    },
    Reading {
        name: "foreign_cpu_percent",
        about: "CPU time of other programs, % of a CPU",
        figure: Figure::Share { part: |host| host.foreign_cpu_ns, most: FOREIGN_CPU_PERCENT },
    },
    Reading {
        name: "hot_percent",
        about: "time too hot for the clock, %",
        figure: Figure::Share { part: |host| host.hot_ns, most: HOT_PERCENT },
    },
];

/// The rule marks any spell of a run; two results differ by as much as by stolen time.
const HOT_PERCENT: f64 = STOLEN_PERCENT;

/// Every reading that either result has.
pub fn surroundings(
    before: (&Journal, &Analysis),
    after: (&Journal, &Analysis),
) -> Vec<Surrounding> {
    let (first, second) = (counted(before), counted(after));
    let is_one_machine = hardware(&before.0.hosts) == hardware(&after.0.hosts);
    let each = |reading: &Reading| reading.beside(&first, &second, is_one_machine);
    READINGS.iter().filter_map(each).collect()
}

impl Reading {
    fn beside(
        &self,
        first: &[&HostSample],
        second: &[&HostSample],
        is_one_machine: bool,
    ) -> Option<Surrounding> {
        let Self { name, about, .. } = *self;
        let (before, after) = (self.figure.of(first), self.figure.of(second));
        before.or(after)?;
        let moved = match before.zip(after) {
            None => Err(UNREAD),
            Some(_) if self.figure.is_of_hardware() && !is_one_machine => Err(OTHER_HARDWARE),
            Some((before, after)) => Ok(self.figure.differs(before, after)),
        };
        Some(Surrounding {
            name,
            about,
            before,
            after,
            moved: moved.ok(),
            moved_reason: moved.err(),
        })
    }
}

impl Figure {
    fn of(&self, hosts: &[&HostSample]) -> Option<f64> {
        match self {
            Self::Distance => geometric_mean(&distances(hosts)),
            Self::Share { part, .. } => share(hosts, *part),
        }
    }

    fn differs(&self, a: f64, b: f64) -> bool {
        match self {
            Self::Distance => a.max(b) / a.min(b) > HostSample::APART,
            Self::Share { most, .. } => (a - b).abs() > *most,
        }
    }

    /// True where it tells something of one machine alone.
    const fn is_of_hardware(&self) -> bool {
        matches!(self, Self::Distance)
    }
}

/// What of the test host stays as it is, whatever runs on it.
fn hardware(hosts: &Disclosure) -> [Option<&serde_json::Value>; 3] {
    let find = |(group, name): (&str, &str)| {
        hosts.hosts.get("test")?.get(group)?.get(name)?.value.as_ref()
    };
    [("cpu", "model"), ("cpu", "online"), ("memory", "total")].map(find)
}

/// The test host beside the runs that count.
fn counted<'j>((journal, analysis): (&'j Journal, &Analysis)) -> Vec<&'j HostSample> {
    let runs: BTreeSet<(&Cell, u32, u32)> =
        analysis.runs.iter().map(|run| (&run.cell, run.pass, run.attempt)).collect();
    let host = |record: &'j Record| match record {
        Record::Cell(run) if runs.contains(&(&run.cell, run.pass, run.attempt)) => Some(&run.host),
        _ => None,
    };
    journal.records.iter().filter_map(host).collect()
}

fn distances(hosts: &[&HostSample]) -> Vec<f64> {
    let told = hosts.iter().filter_map(|host| host.cpu_distance_ns);
    told.filter(|distance| *distance > Nanos::ZERO).map(|ns| float(ns.count())).collect()
}

/// Of the time of those runs that have it, percent.
fn share(hosts: &[&HostSample], part: fn(&HostSample) -> Option<Nanos>) -> Option<f64> {
    let told = hosts.iter().filter_map(|host| Some((part(host)?, host.elapsed_ns)));
    let (parts, wholes) = told.fold((0.0, 0.0), |(parts, wholes), (part, whole)| {
        (parts + part.seconds(), wholes + whole.seconds())
    });
    (wholes > 0.0).then(|| 100.0 * parts / wholes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disclosure::Fact;
    use crate::run::analysis::analyse;
    use crate::run::analysis::synthetic;

    /// Two passes whose host is as `tell` makes it; of the first run there is an invalid attempt with a host of its own.
    fn result(tell: impl Fn(&mut HostSample)) -> Journal {
        let plan = synthetic::plan(2);
        let mut journal = synthetic::journal(plan.clone());
        for pass in 1..=2 {
            for cell in plan.cells() {
                let mut run = synthetic::run(&plan, &cell.id(), pass, 1000, 50.0);
                tell(&mut run.host);
                journal.records.push(Record::from(run));
            }
        }
        let Some(Record::Cell(first)) = journal.records.first_mut() else { unreachable!() };
        let mut void = first.clone();
        first.attempt = 2;
        void.invalid = vec!["its emulation was late".to_owned()];
        void.host.steal_ns = Some(Nanos::from_secs(1));
        journal.records.insert(0, Record::Cell(void));
        journal
    }

    fn between(before: &Journal, after: &Journal) -> Vec<Surrounding> {
        surroundings((before, &analyse(before)), (after, &analyse(after)))
    }

    #[test]
    fn cpus_that_were_moved_apart_are_told() {
        let apart = |ns| result(move |host| host.cpu_distance_ns = Some(Nanos::new(ns)));
        let told = |a, b| {
            let found = between(&apart(a), &apart(b));
            let distance = *found.iter().find(|one| one.name == "cpu_distance_ns").unwrap();
            (distance.before.unwrap().round(), distance.after.unwrap().round(), distance.moved)
        };
        assert_eq!(told(80, 400), (80.0, 400.0, Some(true)));
        assert_eq!(told(400, 80), (400.0, 80.0, Some(true)));
        assert_eq!(told(80, 100), (80.0, 100.0, Some(false)));
    }

    #[test]
    fn the_cpus_of_two_machines_lie_as_they_do() {
        let apart = |ns| result(move |host| host.cpu_distance_ns = Some(Nanos::new(ns)));
        let (near, mut far) = (apart(80), apart(400));
        let cpu = far.hosts.hosts.entry("test".into()).or_default().entry("cpu".into());
        cpu.or_default().insert("model".into(), Fact::known("another"));
        let [distance] = between(&near, &far)[..] else { panic!() };
        assert_eq!((distance.moved, distance.moved_reason), (None, Some(OTHER_HARDWARE)));
    }

    #[test]
    fn only_runs_that_count_are_looked_at() {
        let stolen = |ms| result(move |host| host.steal_ns = Some(Nanos::from_millis(ms)));
        let found = between(&stolen(5), &stolen(30));
        let [stolen] = &found[..] else { panic!("{found:?}") };
        assert!((stolen.before.unwrap() - 0.5).abs() < 1e-9, "{stolen:?}");
        assert!((stolen.after.unwrap() - 3.0).abs() < 1e-9, "{stolen:?}");
        assert_eq!(stolen.moved, Some(true));
    }

    #[test]
    fn what_one_side_did_not_read_is_not_judged() {
        let (silent, told) = (result(|_| ()), result(|host| host.hot_ns = Some(Nanos::ZERO)));
        let found = between(&silent, &told);
        let hot = found.iter().find(|one| one.name == "hot_percent").unwrap();
        assert_eq!((hot.before, hot.after, hot.moved), (None, Some(0.0), None));
        assert!(found.iter().all(|one| one.name != "throttled_percent"), "{found:?}");
    }
}
