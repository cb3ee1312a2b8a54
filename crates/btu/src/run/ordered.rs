//! A run that another host ordered: this host is under test, and its result goes there.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use btu_control::Progress;
use btu_control::Task;
use btu_control::Watcher;
use btu_control::message::TestOrder;
use btu_core::cell::Role;
use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_report::ResultFiles;
use btu_sys::clock;
use clap::Parser;

use super::Interrupt;
use super::RunArgs;
use super::finish;
use super::start;
use super::watch;
use crate::agent::state::StateDir;
use crate::cli::Cli;
use crate::cli::Verb;
use crate::exit::Failure;

/// Who hears of each step.
#[derive(Clone)]
pub(crate) struct Told(Arc<dyn Fn(&str) + Send + Sync>);

/// An order, and who hears how it goes.
#[derive(Clone, Debug)]
pub(super) struct Ordered {
    pub(super) order: TestOrder,
    pub(super) told: Told,
}

/// What came of it.
pub(crate) struct Measured {
    /// The result as one file.
    pub(crate) bundle: Vec<u8>,
    /// Payload of its runs.
    pub(crate) moved: Bytes,
}

impl Told {
    /// This one hears.
    pub(crate) fn new(hears: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hears))
    }

    /// Tells it.
    pub(super) fn tell(&self, text: &str) {
        (self.0)(text);
    }
}

impl fmt::Debug for Told {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Told(..)")
    }
}

/// Runs the order. Of its directory nothing is left.
pub(crate) fn run(state: &StateDir, order: &TestOrder, told: &Told) -> Result<Measured, Failure> {
    state.clear_test();
    let measured = measured(state, order, told);
    state.clear_test();
    measured
}

fn measured(state: &StateDir, order: &TestOrder, told: &Told) -> Result<Measured, Failure> {
    let interrupt = Interrupt::listen().map_err(Failure::environment)?;
    let args = arguments(state, order, told)?;
    let started = start::start(&args, &interrupt)?;
    let mut watcher = Telling(told.clone());
    let done = super::carry_out(&args, started, &mut watcher)?;
    let directory = done.journal.path().to_owned();
    // What became of it stands in its events: whoever ordered it reads them there.
    let closed = finish::close(done)?;
    let files = ResultFiles::read(&directory).map_err(Failure::environment)?;
    Ok(Measured { bundle: btu_report::pack(files.all()), moved: moved(&closed.journal) })
}

/// The options with which a user of this host would have asked for the same.
fn arguments(state: &StateDir, order: &TestOrder, told: &Told) -> Result<RunArgs, Failure> {
    let mut words: Vec<String> = ["btu", "run", "--quiet"].map(str::to_owned).into();
    let mut say = |option: &str, value: &str| words.push(format!("--{option}={value}"));
    let path = |path: &Path| path.display().to_string();
    say("state", &path(state.path()));
    say("out", &path(&state.test_folder()));
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
        Nanos::new(clock::monotonic_ns())
    }
}
