//! A measurement between agents: one of them has an end in every connection and is asked to measure, the
//! others take it for a guest of this host, and this host has no connection of it.

use std::path::Path;

use btu_core::role::Role;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::sample::Line;
use btu_report::OpenMode;
use btu_report::ResultFiles;
use btu_report::StoredTraffic;

use super::errand;
use super::errand::Errand;
use super::needs;
use crate::agent::StateArgs;
use crate::conductor::NamedAgent;
use crate::elsewhere::tested;
use crate::elsewhere::tested::Tested;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing;
use crate::state::StateDir;
use crate::traffic::finish;
use crate::traffic::options::OutputArgs;
use crate::traffic::options::TrafficArgs;
use crate::traffic::start;

/// A measurement, and what its user wants of it.
struct Elsewhere<'a> {
    output: &'a OutputArgs,
    state: &'a StateArgs,
    errand: Errand<'a>,
}

/// Lets the host that the plan calls `test` measure.
pub(in crate::traffic) fn run(
    args: &TrafficArgs,
    plan: &Plan,
    output: &OutputArgs,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let name = plan.agents.get(&Role::Test).map_or("", String::as_str);
    let needs = needs::of(plan, args.scenario(), interrupt)?;
    let state = &args.far().state;
    let own = StateDir::open(state)?.identity()?;
    let agents: Vec<(Role, NamedAgent)> = args.agents(plan)?.into_iter().collect();
    let (host, boxes): (Vec<_>, Vec<_>) =
        agents.into_iter().partition(|(role, _)| *role == Role::Test);
    let Some((_, host)) = host.first() else { return Err(super::casting::nobody(name)) };
    if boxes.iter().any(|(_, agent)| agent.id == host.id) {
        return Err(super::casting::one_host(name));
    }
    let default = || start::default_out(plan);
    let (copied, given) = tested::directory(args.resumed(), output.out.as_deref(), default, host)?;
    let tested = Tested {
        host,
        boxes: &boxes,
        own: &own,
        cancel: interrupt.flag(),
        tell: tested::heard(output.quiet || output.json),
        copied,
        given,
        longest: errand::longest(plan)?,
        reconnect: args.far().reconnect,
    };
    let note = output.note.clone();
    let one = Elsewhere { output, state, errand: Errand { plan, needs, note, tested } };
    match one.errand.run() {
        Ok(files) => one.show(&files),
        Err(failure) => one.cut(failure, interrupt),
    }
}

impl Elsewhere<'_> {
    /// The end of a measurement that was cut off: the report of the runs that were told before.
    fn cut(&self, failure: Failure, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let Some(journal) = tested::cut::<Line>(&self.errand.tested, &failure, interrupt)? else {
            return tested::end(None, None, failure, interrupt);
        };
        let stored = closing::render_files(&journal, StoredTraffic::open)?;
        self.errand.is_ordered(&stored)?;
        closing::show(journal.path(), &stored, self.output.json)?;
        let again = self.again(journal.path());
        tested::end(Some(journal.path()), Some(&again), failure, interrupt)
    }

    /// The report as after any measurement, and the exit code by its events.
    fn show(&self, files: &ResultFiles) -> Result<Exit, Failure> {
        let out = self.errand.tested.copied.out();
        tested::write(&out, files.all())?;
        let stored = StoredTraffic::open(files, OpenMode::Strict).map_err(Failure::unreadable)?;
        closing::show(&out, &stored, self.output.json)?;
        tested::ended(&stored.journal.events, &self.again(&out))?;
        Ok(closing::exit(&out, finish::holding(&stored)))
    }

    /// What goes on with a measurement that is not at its end: its plan names the hosts.
    fn again(&self, out: &Path) -> String {
        closing::again(finish::VERB, out, &self.state.again())
    }
}
