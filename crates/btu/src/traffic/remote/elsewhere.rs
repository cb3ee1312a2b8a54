//! A measurement between agents: one of them has an end in every connection and is asked to measure, the
//! others take it for a guest of this host, and this host has no connection of it.

use std::path::Path;

use btu_control::message::Reservation;
use btu_control::message::TestOrder;
use btu_core::role::Role;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::sample::Line;
use btu_core::units::Nanos;
use btu_report::OpenMode;
use btu_report::ResultFiles;
use btu_report::StoredTraffic;

use super::needs;
use super::peers::Needs;
use super::words;
use crate::agent::StateArgs;
use crate::conductor::NamedAgent;
use crate::elsewhere::tested;
use crate::elsewhere::tested::DAY;
use crate::elsewhere::tested::Tested;
use crate::elsewhere::tested::WAITING;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing;
use crate::state::StateDir;
use crate::traffic::finish;
use crate::traffic::options::OutputArgs;
use crate::traffic::options::TrafficArgs;
use crate::traffic::scenario;
use crate::traffic::start;

/// A measurement, and who takes part in it.
struct Elsewhere<'a> {
    output: &'a OutputArgs,
    state: &'a StateArgs,
    plan: &'a Plan,
    needs: Needs,
    tested: Tested<'a>,
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
        longest: longest(plan)?,
        reconnect: args.far().reconnect,
    };
    let one = Elsewhere { output, state, plan, needs, tested };
    tested::fits(one.order(0), SHORTER)?;
    let measured = one.tested.measured(one.reservation(), |seq| one.order(seq));
    match measured.and_then(|bundle| one.believed(&bundle)) {
        Ok(files) => one.show(&files),
        Err(failure) => one.cut(failure, interrupt),
    }
}

impl Elsewhere<'_> {
    fn reservation(&self) -> Reservation {
        let plan = format!("traffic {:016x}", self.plan.seed);
        Reservation {
            flows: self.needs.connections,
            services: vec![words::SERVICE.to_owned()],
            ..tested::reservation(plan, self.needs.silence, self.lease())
        }
    }

    fn order(&self, seq: u64) -> TestOrder {
        TestOrder {
            note: self.output.note.clone(),
            service: Some(words::SERVICE.to_owned()),
            ..self.tested.order(seq, self.lease(), self.plan.to_toml())
        }
    }

    /// The longest step: a run, or waiting for an agent that was lost in it.
    fn lease(&self) -> Nanos {
        self.needs.silence.saturating_add(Nanos::from_secs(self.tested.reconnect.into())).min(DAY)
    }

    /// What came is the result of this plan, signed by the host that measured; or it is none.
    fn believed(&self, bundle: &[u8]) -> Result<ResultFiles, Failure> {
        let files = self.tested.believed(bundle)?;
        let opened = StoredTraffic::open(&files, OpenMode::Strict);
        let stored = opened.map_err(|error| self.tested.lied(error.to_string()))?;
        self.is_ordered(&stored).map(|()| files)
    }

    fn is_ordered(&self, stored: &StoredTraffic) -> Result<(), Failure> {
        if stored.journal.plan.asked().to_toml() == self.plan.to_toml() {
            Ok(())
        } else {
            Err(self.tested.lied("the result of another plan"))
        }
    }

    /// The end of a measurement that was cut off: the report of the runs that were told before.
    fn cut(&self, failure: Failure, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let Some(journal) = tested::cut::<Line>(&self.tested, &failure, interrupt)? else {
            return tested::end(None, None, failure, interrupt);
        };
        let stored = closing::render_files(&journal, StoredTraffic::open)?;
        self.is_ordered(&stored)?;
        closing::show(journal.path(), &stored, self.output.json)?;
        let again = self.again(journal.path());
        tested::end(Some(journal.path()), Some(&again), failure, interrupt)
    }

    /// The report as after any measurement, and the exit code by its events.
    fn show(&self, files: &ResultFiles) -> Result<Exit, Failure> {
        let out = self.tested.copied.out();
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

/// How long the other hosts take the one that measures for a guest, waiting for them included.
fn longest(plan: &Plan) -> Result<Nanos, Failure> {
    if plan.course.is_some() {
        return Ok(DAY);
    }
    let estimate = scenario::estimate(plan)?;
    Ok(estimate.saturating_add(estimate).saturating_add(WAITING).min(DAY))
}

/// What makes a plan fit into one message.
const SHORTER: &str = "ask for fewer values, or run btu traffic on that host";
