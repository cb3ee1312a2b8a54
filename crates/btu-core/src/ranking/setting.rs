//! What must be equal before two results may stand beside each other.

use std::collections::BTreeSet;

use crate::disclosure::Fact;
use crate::disclosure::HostFacts;
use crate::journal::Journal;
use crate::journal::Record;
use crate::run::cell::ActivityName;
use crate::run::cell::Cell;
use crate::run::plan::ActivityPlan;
use crate::run::plan::Amount;
use crate::run::plan::Plan;
use crate::words::several;

/// Under what rules a result was measured: names and values, in the order in which they are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    fields: Vec<(&'static str, String)>,
}

/// A field in which results differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// `edition`, `testbed class`, `link class` ...
    pub field: &'static str,
    /// Each value, with the numbers of the results that have it.
    pub values: Vec<(String, Vec<usize>)>,
}

impl Setting {
    /// The setting of a run.
    pub fn of(journal: &Journal) -> Self {
        let plan = &journal.plan;
        let names = |names: Vec<&str>| names.join(" ");
        let activities = plan.activities.iter().map(ActivityName::as_str);
        let sockets = &plan.sockets;
        let own = "the system's own".to_owned();
        let size = |bytes: Option<crate::units::Bytes>| {
            bytes.map_or_else(|| own.clone(), |bytes| format!("{} B", bytes.count()))
        };
        let fields = vec![
            ("edition", plan.edition.clone()),
            ("edition hash", plan.edition_hash.clone()),
            ("preset", plan.preset.clone()),
            ("testbed class", plan.testbed_class.to_string()),
            ("link class", link_class(journal)),
            ("emulator", emulator(journal)),
            ("emulated delay", plan.link.delay_told()),
            ("emulated drops", plan.link.drop_told()),
            ("emulated rate", plan.link.rate_told().unwrap_or_else(|| "none".to_owned())),
            ("cases", names(plan.cases.iter().map(|case| case.name()).collect())),
            ("applications", applications(plan)),
            ("activities", names(activities.collect())),
            ("congestion control", sockets.congestion.clone().unwrap_or_else(|| own.clone())),
            ("black box buffers", size(sockets.black_box_buffer)),
            ("black box windows", size(sockets.black_box_window_clamp)),
            ("calls", plan.comm.to_string()),
            ("placement", plan.placement.to_string()),
            ("amount per cell", amount(plan.amount)),
            ("work of activities", format!("{:?}", plan.work).to_lowercase()),
            ("sizes of activities", sizes(plan)),
            ("lead-in of activities", plan.lead_in.to_string()),
            ("activities alone", format!("a window of {}", plan.alone_window)),
        ];
        Self { fields }
    }

    /// Names and values, in the order in which they are told.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.fields.iter().map(|(name, value)| (*name, value.as_str()))
    }
}

/// The fields in which these settings are not all equal.
pub fn differences(settings: &[Setting]) -> Vec<Difference> {
    let Some(first) = settings.first() else { return Vec::new() };
    let of_field = |(place, (field, _)): (usize, &(&'static str, String))| {
        let value = |setting: &Setting| setting.fields.get(place).map(|(_, value)| value.clone());
        Difference::of(field, settings.iter().map(|setting| value(setting).unwrap_or_default()))
    };
    first.fields.iter().enumerate().filter_map(of_field).collect()
}

/// Where results have not measured the same cells: their means are then means of different things.
pub fn different_cells(journals: &[&Journal]) -> Option<Difference> {
    Difference::of("cells measured", journals.iter().map(|journal| measured_cells(journal)))
}

impl Difference {
    /// The difference of these values, in the order of the results; `None` where all are equal.
    fn of(field: &'static str, all: impl Iterator<Item = String>) -> Option<Self> {
        let mut values: Vec<(String, Vec<usize>)> = Vec::new();
        for (number, value) in all.enumerate() {
            match values.iter_mut().find(|(known, _)| *known == value) {
                Some((_, who)) => who.push(number),
                None => values.push((value, vec![number])),
            }
        }
        (values.len() > 1).then_some(Self { field, values })
    }
}

/// How many cells were measured: `120`, or `68 of 120, without SEND/audio/io and 51 more`.
pub fn measured_cells(journal: &Journal) -> String {
    let found: BTreeSet<String> = journal.records.iter().filter_map(cell_of).collect();
    let all = journal.plan.cells();
    let lacks: Vec<String> =
        all.iter().map(Cell::id).filter(|cell| !found.contains(cell)).collect();
    match lacks.as_slice() {
        [] => all.len().to_string(),
        [one] => format!("{} of {}, without {one}", all.len() - 1, all.len()),
        [first, more @ ..] => {
            let (n, more) = (all.len() - lacks.len(), more.len());
            format!("{n} of {}, without {first} and {more} more", all.len())
        }
    }
}

fn cell_of(record: &Record) -> Option<String> {
    match record {
        Record::Cell(sample) => Some(sample.cell.id()),
        _ => None,
    }
}

fn applications(plan: &Plan) -> String {
    let of =
        |y: &crate::run::cell::Application| format!("{} {} B", y.name, y.message_bytes.count());
    plan.applications.iter().map(of).collect::<Vec<_>>().join(", ")
}

fn amount(amount: Amount) -> String {
    match amount {
        Amount::Fixed(bytes) => format!("{} B", bytes.count()),
        Amount::Window(window) => format!("a window of {window}"),
    }
}

/// How much each activity does at a time: with another size the host does something else.
fn sizes(plan: &Plan) -> String {
    let ActivityPlan { cpu_threads, io_file, ftp_transfer } = plan.activity;
    let size = |name: &str| match name {
        "cpu" => Some(cpu_threads.map_or_else(|| PER_CPU.to_owned(), |n| several(n, "thread"))),
        "ftp" => Some(format!("{} B", ftp_transfer.count())),
        "io" => Some(format!("{} B", io_file.count())),
        _ => None,
    };
    let of = |name: &ActivityName| Some(format!("{name} {}", size(name.as_str())?));
    plan.activities.iter().filter_map(of).collect::<Vec<_>>().join(", ")
}

/// What emulated the links of the cells; the form in which a relay receives is no matter.
fn emulator(journal: &Journal) -> String {
    let cells = journal.records.iter().filter_map(|record| match record {
        Record::Cell(sample) => Some(&sample.emulation),
        _ => None,
    });
    let names = cells.flatten().filter_map(|direction| direction.backend.split('/').next());
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
    if names.is_empty() { "none".to_owned() } else { Vec::from_iter(names).join(" and ") }
}

/// Rate and MTU of the devices in use. On the local testbed there is none: the links are veth pairs.
fn link_class(journal: &Journal) -> String {
    if journal.plan.testbed_class.is_local() {
        return "namespaces of one machine".to_owned();
    }
    let undisclosed = || UNDISCLOSED.to_owned();
    if let Some(told) = journal.hosts.placement.get(LINK_CLASS) {
        return text(told).unwrap_or_else(undisclosed);
    }
    // A result of a version that did not look for the route.
    journal.hosts.hosts.get("test").map_or_else(undisclosed, devices)
}

/// `1000 Mb/s, MTU 1500` of each device that is up and knows its speed.
fn devices(host: &HostFacts) -> String {
    let Some(facts) = host.get("nic") else { return UNDISCLOSED.to_owned() };
    let names = facts.keys().filter_map(|key| key.strip_suffix(".operstate"));
    let of = |name: &str| {
        let fact = |what: &str| facts.get(&format!("{name}.{what}")).and_then(text);
        let up = fact("operstate").is_some_and(|state| state == "up");
        let speed = fact("speed").filter(|speed| up && !speed.starts_with('-'))?;
        Some(format!("{speed} Mb/s, MTU {}", fact("mtu").unwrap_or_else(|| "unknown".to_owned())))
    };
    let mut classes: Vec<String> = names.filter_map(of).collect();
    classes.sort();
    classes.dedup();
    if classes.is_empty() { UNDISCLOSED.to_owned() } else { classes.join("; ") }
}

fn text(fact: &Fact) -> Option<String> {
    match fact.value.as_ref()? {
        serde_json::Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The fact of a placement that says by what links black boxes were reached.
pub const LINK_CLASS: &str = "link_class";
/// Without a number of its own.
const PER_CPU: &str = "a thread per CPU";
/// Two of these are no sign that the links were alike.
const UNDISCLOSED: &str = "not disclosed, so not compared";

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::run::analysis::synthetic;
    use crate::run::plan::Elements;
    use crate::run::plan::TestbedClass;

    #[test]
    fn equal_settings_have_no_difference_and_others_name_theirs() {
        let journal = synthetic::journal(synthetic::plan(3));
        let same = Setting::of(&journal);
        assert!(differences(&[same.clone(), same.clone()]).is_empty());
        let mut other = journal;
        other.plan.testbed_class = TestbedClass::Lab;
        other.plan.edition_hash = "00".to_owned();
        let found = differences(&[same.clone(), Setting::of(&other), same]);
        let fields: Vec<&str> = found.iter().map(|one| one.field).collect();
        assert_eq!(fields, ["edition hash", "testbed class", "link class"]);
        assert_eq!(
            found[1].values,
            [("local".to_owned(), vec![0, 2]), ("lab".to_owned(), vec![1])]
        );
    }

    #[test]
    fn results_of_other_placements_are_told_apart() {
        let journal = synthetic::journal(synthetic::plan(3));
        let mut free = journal.clone();
        free.plan.placement = crate::placement::Placement::Free;
        let found = differences(&[Setting::of(&journal), Setting::of(&free)]);
        let values = [("split".to_owned(), vec![0]), ("free".to_owned(), vec![1])];
        assert_eq!(found, [Difference { field: "placement", values: values.into() }]);
    }

    #[test]
    fn results_of_other_cells_are_told_apart() {
        let mut whole = synthetic::journal(synthetic::plan(3));
        let cells = whole.plan.cells();
        let run = |cell: &Cell| synthetic::run(&whole.plan, &cell.id(), 1, 100, 50.0).into();
        whole.records = cells.iter().map(run).collect();
        let mut cut = whole.clone();
        let last = cells.last().unwrap().id();
        cut.records.pop();
        assert_eq!(different_cells(&[&whole, &whole]), None);
        let found = different_cells(&[&whole, &cut]).unwrap();
        let all = cells.len();
        let without = format!("{} of {all}, without {last}", all - 1);
        assert_eq!(found.values, [(all.to_string(), vec![0]), (without, vec![1])]);
    }

    #[test]
    fn own_plans_that_make_the_host_do_something_else_are_told_apart() {
        let mut journal = synthetic::journal(synthetic::plan(3));
        journal.plan.activities = ["cpu", "ftp", "io"].map(ActivityName::new).into();
        let second = crate::units::Nanos::from_secs(1);
        let differing = |change: &dyn Fn(&mut Plan)| {
            let mut other = journal.clone();
            change(&mut other.plan);
            let found = differences(&[Setting::of(&journal), Setting::of(&other)]);
            found.iter().map(|one| one.field).collect::<Vec<_>>()
        };
        assert_eq!(differing(&|plan| plan.lead_in = second * 7), ["lead-in of activities"]);
        assert_eq!(differing(&|plan| plan.alone_window = second * 7), ["activities alone"]);
        for change in [
            |plan: &mut Plan| plan.activity.cpu_threads = Some(1),
            |plan: &mut Plan| plan.activity.io_file = crate::units::Bytes::new(7),
            |plan: &mut Plan| plan.activity.ftp_transfer = crate::units::Bytes::new(7),
        ] {
            assert_eq!(differing(&change), ["sizes of activities"]);
        }
        let lossy = |plan: &mut Plan| plan.link.drop = Elements::up("drop ge 1% 30% 100% 0%");
        assert_eq!(differing(&lossy), ["emulated drops"]);
        let lost_acknowledgements = |plan: &mut Plan| plan.link.drop.down = vec!["drop 1%".into()];
        assert_eq!(differing(&lost_acknowledgements), ["emulated drops"]);
        // What nobody runs has any size.
        journal.plan.activities.pop();
        let mut other = journal.clone();
        other.plan.activity.io_file = crate::units::Bytes::new(7);
        assert!(differences(&[Setting::of(&journal), Setting::of(&other)]).is_empty());
    }

    #[test]
    fn the_link_class_of_real_hosts_is_that_of_their_devices() {
        let mut journal = synthetic::journal(synthetic::plan(3));
        journal.plan.testbed_class = TestbedClass::Lab;
        let fact = |name: &str, value: &str| (name.to_owned(), Fact::known(value));
        let nic = BTreeMap::from([
            fact("eth0.operstate", "up"),
            fact("eth0.speed", "10000"),
            fact("eth0.mtu", "1500"),
            fact("eth1.operstate", "down"),
            fact("eth1.speed", "1000"),
            fact("lo.operstate", "unknown"),
        ]);
        let host = BTreeMap::from([("nic".to_owned(), nic)]);
        journal.hosts.hosts.insert("test".to_owned(), host);
        assert_eq!(link_class(&journal), "10000 Mb/s, MTU 1500");
        // What was said of the route counts, and so does that nothing is known of it.
        let mut told = |fact| {
            journal.hosts.placement.insert(LINK_CLASS.to_owned(), fact);
            link_class(&journal)
        };
        assert_eq!(told(Fact::known("1000 Mb/s, MTU 9000")), "1000 Mb/s, MTU 9000");
        assert_eq!(told(Fact::unavailable("wg0 tells no rate")), "not disclosed, so not compared");
    }
}
