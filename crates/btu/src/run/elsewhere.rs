//! A run whose host under test is another machine: its agent is asked to run, and the black boxes to
//! take it for a guest of this host.

use std::time::SystemTime;

use anyhow::anyhow;
use btu_control::JournalDir;
use btu_control::message::Reservation;
use btu_control::message::TestOrder;
use btu_core::journal::Record;
use btu_core::run::plan::Plan;
use btu_core::units::Nanos;
use btu_report::OpenMode;
use btu_report::ResultFiles;
use btu_report::StoredRun;

use super::RunArgs;
use super::finish;
use super::options::Planned;
use super::remote::hosts::Hosts;
use super::start;
use crate::conductor::NamedAgent;
use crate::elsewhere::tested;
use crate::elsewhere::tested::DAY;
use crate::elsewhere::tested::Tested;
use crate::elsewhere::tested::WAITING;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing;
use crate::measurement::place;
use crate::state::StateDir;

/// A test, and who takes part in it.
struct Elsewhere<'a> {
    args: &'a RunArgs,
    plan: Plan,
    given: Option<String>,
    tested: Tested<'a>,
}

/// Runs the verb with `--test`.
pub(super) fn run(args: &RunArgs, name: &str, interrupt: &Interrupt) -> Result<Exit, Failure> {
    if let Some(journal) = finished(args)? {
        return finish::shown_again(args, &journal);
    }
    let Planned { plan, given } = planned(args)?;
    let state = StateDir::open(&args.state)?;
    let (own, test) = (state.identity()?, NamedAgent::find(&state, "--test", name)?);
    let boxes = Hosts::named(args, &plan, interrupt)?;
    if boxes.agents().iter().any(|(_, agent)| agent.id == test.id) {
        let cause = anyhow!("--test and a black box are the same agent");
        return Err(Failure::usage(cause).hint("name three hosts"));
    }
    let default = || place::default_out(&plan, SystemTime::now());
    let (resumed, named) = (args.resume.as_deref(), args.out.as_deref());
    let (copied, told) = tested::directory(resumed, named, default, &test)?;
    let tested = Tested {
        host: &test,
        boxes: boxes.agents(),
        own: &own,
        cancel: interrupt.flag(),
        tell: tested::heard(args.quiet || args.json),
        copied,
        given: told,
        longest: longest(&plan),
        reconnect: args.reconnect,
    };
    let one = Elsewhere { args, plan, given, tested };
    tested::fits(one.order(0), SHORTER)?;
    let measured = one.tested.measured(one.reservation(), |seq| one.order(seq));
    match measured.and_then(|bundle| one.believed(&bundle)) {
        Ok(files) => one.show(&files),
        Err(failure) => one.cut(failure, interrupt),
    }
}

/// The journal to go on with, where it is at its end already.
fn finished(args: &RunArgs) -> Result<Option<JournalDir>, Failure> {
    let Some(dir) = &args.resume else { return Ok(None) };
    start::stored_plan(dir)?;
    closing::finished::<Record>(dir)
}

/// The plan of a new test, or of the one to go on with.
fn planned(args: &RunArgs) -> Result<Planned, Failure> {
    let Some(dir) = &args.resume else { return args.plan() };
    let plan = start::stored_plan(dir)?;
    args.fits(&plan)?;
    Ok(Planned { plan, given: None })
}

impl Elsewhere<'_> {
    fn reservation(&self) -> Reservation {
        let plan = self.plan.edition_hash.chars().take(16).collect();
        let longest = self.plan.time_cap().saturating_add(self.plan.lead_in);
        tested::reservation(plan, longest, self.lease())
    }

    fn order(&self, seq: u64) -> TestOrder {
        TestOrder {
            given: self.given.clone(),
            price: self.args.price.clone(),
            marks: self.args.marks.clone(),
            note: self.args.note.clone(),
            ..self.tested.order(seq, self.lease(), self.plan.to_toml())
        }
    }

    /// What came is the result of this order, signed by the host under test; or it is none.
    fn believed(&self, bundle: &[u8]) -> Result<ResultFiles, Failure> {
        let files = self.tested.believed(bundle)?;
        let opened = btu_report::open_files(&files, OpenMode::Strict);
        let plan = opened.map_err(|error| self.tested.lied(error.to_string()))?.journal.plan;
        self.is_ordered(&plan).map(|()| files)
    }

    fn is_ordered(&self, plan: &Plan) -> Result<(), Failure> {
        if (plan.seed, &plan.edition_hash) == (self.plan.seed, &self.plan.edition_hash) {
            Ok(())
        } else {
            Err(self.tested.lied("the result of another plan"))
        }
    }

    /// The end of a test that was cut off: the report of the runs that were told before.
    fn cut(&self, failure: Failure, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let Some(journal) = tested::cut::<Record>(&self.tested, &failure, interrupt)? else {
            return tested::end(None, None, failure, interrupt);
        };
        let stored = closing::render_files(&journal, StoredRun::open)?;
        self.is_ordered(&stored.journal.plan)?;
        closing::show(journal.path(), &stored, self.args.json)?;
        let again = finish::again(self.args, journal.path());
        tested::end(Some(journal.path()), Some(&again), failure, interrupt)
    }

    /// The report as after any run, and its exit code by the events of the run.
    fn show(&self, files: &ResultFiles) -> Result<Exit, Failure> {
        let out = self.tested.copied.out();
        tested::write(&out, files.all())?;
        let files = ResultFiles::read(&out).map_err(Failure::unreadable)?;
        let stored = StoredRun::open(&files, OpenMode::Strict).map_err(Failure::unreadable)?;
        closing::show(&out, &stored, self.args.json)?;
        tested::ended(&stored.journal.events, &finish::again(self.args, &out))?;
        Ok(closing::exit(&out, finish::holding(&stored)))
    }

    /// The longest step, with what may go wrong in it before it is given up.
    fn lease(&self) -> Nanos {
        let step = self.plan.time_cap().max(self.plan.alone_window);
        step.saturating_add(self.plan.lead_in).saturating_add(MARGIN).min(DAY)
    }
}

/// How long the black boxes take the host under test for a guest, waiting for them included.
fn longest(plan: &Plan) -> Nanos {
    let estimate = plan.estimate();
    estimate.saturating_add(estimate).saturating_add(WAITING).min(DAY)
}

/// For answers of the black boxes around a step, and for an account that comes late.
const MARGIN: Nanos = Nanos::from_secs(120);
/// What makes a plan fit into one message.
const SHORTER: &str = "make the plan file shorter: its comments travel, too";
