//! A run that another host ordered: this host is under test, and its result goes there.

use std::path::Path;

use btu_control::Progress;
use btu_control::Task;
use btu_control::Watcher;
use btu_control::message::TestOrder;
use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::time::now;
use btu_report::BundleError;
use btu_report::ResultFiles;
use clap::Parser;

use super::RunArgs;
use super::finish;
use super::start;
use super::start::Start;
use super::watch;
use crate::cli::Cli;
use crate::cli::Verb;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::Told;
use crate::state::StateDir;

/// An order, and who hears how it goes.
#[derive(Clone, Debug)]
pub(super) struct Ordered {
    pub(super) order: TestOrder,
    pub(super) told: Told,
}

/// Where a test has room on this host.
pub(crate) struct Site<'a> {
    /// The agent's state: the identity of this host, and the result until it is sent.
    pub(crate) state: &'a StateDir,
    /// The directory of the `io` activity, where the policy names one.
    pub(crate) scratch: Option<&'a Path>,
}

/// What came of it.
pub(crate) struct Measured {
    /// The result as one file.
    pub(crate) bundle: Vec<u8>,
    /// Payload of its runs.
    pub(crate) moved: Bytes,
}

/// Runs the order; what it shall go on with is in its directory then. Of that nothing is left.
pub(crate) fn run(site: &Site<'_>, order: &TestOrder, told: &Told) -> Result<Measured, Failure> {
    let measured = measured(site, order, told);
    site.state.clear_test();
    measured
}

fn measured(site: &Site<'_>, order: &TestOrder, told: &Told) -> Result<Measured, Failure> {
    let interrupt = Interrupt::listen().map_err(Failure::environment)?;
    let args = arguments(site, order, told)?;
    let started = match start::start(&args, &interrupt)? {
        Start::Ready(started) => *started,
        Start::Finished(_) => {
            return Err(Failure::usage(anyhow::anyhow!("the test to go on with is at its end")));
        }
    };
    let mut watcher = Telling(told.clone());
    let mut done = super::carry_out(&args, started, &mut watcher)?;
    let closing = finish::closing(&args, done.ending.clone(), &interrupt);
    let stored = finish::close(&closing, &mut done)?;
    let files = ResultFiles::read(done.journal.path()).map_err(Failure::environment)?;
    Ok(Measured { bundle: handed_over(&files)?, moved: moved(&stored.journal) })
}

/// A result as one file for whoever ordered it, who hears what helps where there can be none.
pub(crate) fn handed_over(files: &ResultFiles) -> Result<Vec<u8>, Failure> {
    btu_report::pack(files.all()).map_err(|error| Failure::environment(not_handed_over(&error)))
}

fn not_handed_over(error: &BundleError) -> anyhow::Error {
    anyhow::anyhow!(
        "the result is not handed over: {error}: ask for fewer passes or flows, or measure on that host \
         itself"
    )
}

/// The options with which a user of this host would have asked for the same.
fn arguments(site: &Site<'_>, order: &TestOrder, told: &Told) -> Result<RunArgs, Failure> {
    let mut words: Vec<String> = ["btu", "run", "--quiet"].map(str::to_owned).into();
    let mut say = |option: &str, value: &str| words.push(format!("--{option}={value}"));
    let path = |path: &Path| path.display().to_string();
    say("state", &path(site.state.path()));
    let out = if order.goes_on { "resume" } else { "out" };
    say(out, &path(&site.state.test_folder()));
    site.scratch.iter().for_each(|scratch| say("io-dir", &path(scratch)));
    say("reconnect", &order.reconnect_s.to_string());
    for one in &order.boxes {
        say(if one.role == Role::Active { "active" } else { "passive" }, &one.name);
    }
    order.price.iter().for_each(|price| say("price", price));
    order.marks.iter().for_each(|mark| say("mark", mark));
    order.note.iter().for_each(|note| say("note", note));
    let parsed = Cli::try_parse_from(words).map_err(Failure::usage)?;
    let Verb::Run(mut args) = parsed.verb else {
        return Err(Failure::usage(anyhow::anyhow!("an order of another verb")));
    };
    args.ordered = Some(Ordered { order: order.clone(), told: told.clone() });
    Ok(*args)
}

fn moved(journal: &Journal) -> Bytes {
    let cells = journal.records.iter().filter_map(|record| match record {
        Record::Cell(sample) => sample.comm.as_ref(),
        _ => None,
    });
    cells.map(|comm| comm.bytes).sum()
}

/// Tells each step between two of them.
struct Telling(Told);

impl Watcher for Telling {
    fn begins(&mut self, task: &Task) {
        if matches!(task, Task::Verify(_)) {
            self.0.tell(&watch::name(task));
        }
    }

    fn kept(&mut self, record: &Record, progress: &Progress) {
        self.0.tell(&watch::line(record, progress));
    }

    fn now(&self) -> Nanos {
        now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::StateArgs;

    /// Only the cause goes there, without a hint.
    #[test]
    fn whoever_ordered_too_much_hears_what_helps() {
        let told = not_handed_over(&BundleError::TooLarge(64)).to_string();
        assert!(told.contains("too large: more than 64 MiB: ask for fewer passes"), "{told}");
    }

    #[test]
    fn the_policy_says_where_a_test_writes_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDir::open(&StateArgs { state: Some(folder.path().into()) }).unwrap();
        let order = TestOrder {
            seq: 1,
            lease_ns: Nanos::from_secs(1),
            plan: String::new(),
            given: None,
            boxes: vec![btu_control::message::BlackBox {
                role: Role::Active,
                id: String::new(),
                address: String::new(),
                name: "lab1".to_owned(),
            }],
            reconnect_s: 5,
            price: None,
            marks: Vec::new(),
            note: None,
            service: None,
            limits: None,
            copies: false,
            goes_on: false,
        };
        let scratch = Path::new("/var/lib/btu-io");
        for scratch in [Some(scratch), None] {
            let site = Site { state: &state, scratch };
            let args = arguments(&site, &order, &Told::new(|_, _| ())).unwrap();
            assert_eq!(args.io_dir.as_deref(), scratch);
            assert_eq!((args.active.as_deref(), args.reconnect), (Some("lab1"), 5));
        }
    }
}
