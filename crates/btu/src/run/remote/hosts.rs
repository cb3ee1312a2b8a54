//! Which agents a run needs, and how their time is got.

use std::collections::BTreeMap;

use anyhow::anyhow;
use btu_control::Identity;
use btu_control::client::Fault;
use btu_control::message::BlackBox;
use btu_control::message::Offer;
use btu_control::message::Reservation;
use btu_core::disclosure::Fact;
use btu_core::link::ChainSpec;
use btu_core::link::Reader;
use btu_core::role::Role;
use btu_core::run::cell::Case;
use btu_core::run::cell::Direction;
use btu_core::run::cell::Impairment;
use btu_core::run::plan::Plan;
use btu_core::units::Nanos;
use btu_engine::file::ftp::Access;

use super::black_box::RemoteBox;
use crate::conductor;
use crate::conductor::Asking;
use crate::conductor::Granted;
use crate::conductor::NamedAgent;
use crate::elsewhere::tested::DAY;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::Told;
use crate::output;
use crate::run::options::RunArgs;
use crate::run::ordered::Ordered;
use crate::state::StateDir;

/// The agents of a run, in the order in which their time is asked for.
pub(in crate::run) struct Hosts {
    agents: Vec<(Role, NamedAgent)>,
    own: Identity,
    interrupt: Interrupt,
    quiet: bool,
    /// Who ordered the run, where that is another host.
    told: Option<Told>,
    /// How long a lost agent is waited for.
    pub(super) patience: Nanos,
}

impl Hosts {
    /// The agents that the options name. All conductors ask for agents in the same order, that of
    /// their identities: two of them never wait for each other.
    pub(in crate::run) fn named(
        args: &RunArgs,
        plan: &Plan,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let state = StateDir::open(&args.state)?;
        Ok(Self {
            agents: chosen(&state, args, plan)?,
            own: state.identity()?,
            interrupt: interrupt.clone(),
            quiet: args.quiet,
            told: args.ordered.as_ref().map(|ordered| ordered.told.clone()),
            patience: Nanos::from_secs(args.reconnect.into()),
        })
    }

    /// Says something between two steps, to whoever waits for the run.
    pub(super) fn tell(&self, text: &str) {
        match &self.told {
            Some(told) => told.tell(text),
            None if self.quiet => {}
            None => output::message(text),
        }
    }

    /// Whoever ordered the run hears that it goes on.
    pub(super) fn still_waits(&self, name: &str) {
        if let Some(told) = &self.told {
            told.tell(&format!("waits for agent {name}"));
        }
    }

    /// The agents with their parts.
    pub(in crate::run) fn agents(&self) -> &[(Role, NamedAgent)] {
        &self.agents
    }

    /// The parts that agents have.
    pub(super) fn roles(&self) -> Vec<Role> {
        let mut roles: Vec<Role> = self.agents.iter().map(|(role, _)| *role).collect();
        roles.sort_unstable();
        roles
    }

    /// Gets the time of every agent.
    pub(super) fn reserve(&self, plan: &Plan) -> Result<BTreeMap<Role, RemoteBox>, Failure> {
        let mut boxes = BTreeMap::new();
        for (role, agent) in &self.agents {
            let reserved = self.reserve_one(*role, agent, plan);
            let reserved = reserved.map_err(|fault| conductor::failure(agent, fault))?;
            match reserved {
                Ok(one) => drop(boxes.insert(*role, one)),
                Err(reason) => {
                    let cause = anyhow!("agent {}: {reason}", agent.name);
                    return Err(Failure::agent(cause).hint("btu agent status, there, says more"));
                }
            }
        }
        Ok(boxes)
    }

    /// Gets the time of one agent; the inner error is its refusal.
    fn reserve_one(
        &self,
        role: Role,
        agent: &NamedAgent,
        plan: &Plan,
    ) -> Result<Result<RemoteBox, String>, Fault> {
        let wanted = reservation(plan, role);
        let tell = |text: &str| self.tell(text);
        let (own, cancel) = (&self.own, self.interrupt.flag());
        let asking = Asking { own, cancel, tell: &tell, meanwhile: &|| () };
        Ok(asking.reserve(agent, wanted)?.map(|Granted { link, shared, emulation }| {
            let terms = (plan.sockets.clone(), plan.lead_in);
            let agent = NamedAgent { secret: None, ..agent.clone() };
            RemoteBox::new(role, agent, link, (shared, emulation), terms)
        }))
    }

    pub(super) const fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }
}

/// The agents of a run, in the order in which their time is asked for, where the plan can be run with them.
pub(in crate::run) fn chosen(
    state: &StateDir,
    args: &RunArgs,
    plan: &Plan,
) -> Result<Vec<(Role, NamedAgent)>, Failure> {
    lasts(plan)?;
    let mut agents = match &args.ordered {
        Some(ordered) => ordered.agents()?,
        None => of_options(state, args)?,
    };
    agents.sort_by_key(|(_, agent)| agent.id);
    if agents.windows(2).any(|pair| pair[0].1.id == pair[1].1.id) {
        let cause = anyhow!("--active and --passive are the same agent");
        return Err(Failure::usage(cause).hint("the cases with two peers need two of them"));
    }
    let two_peers = |case: &&Case| case.flows().iter().any(|flow| flow.peer == Role::Passive);
    if let Some(case) = plan.cases.iter().find(two_peers).filter(|_| args.passive.is_none()) {
        let cause = anyhow!("case {case} has two peers, and only --active is given");
        return Err(Failure::usage(cause)
            .hint("name the second agent with --passive, or choose others with --cases"));
    }
    Ok(agents)
}

/// The agents that the command line names.
fn of_options(state: &StateDir, args: &RunArgs) -> Result<Vec<(Role, NamedAgent)>, Failure> {
    let named =
        [(Role::Active, "--active", &args.active), (Role::Passive, "--passive", &args.passive)];
    let mut agents = Vec::new();
    for (role, option, name) in named {
        if let Some(name) = name {
            agents.push((role, NamedAgent::find(state, option, name)?));
        }
    }
    Ok(agents)
}

impl Ordered {
    /// The agents that an order names. They know this host as a guest of the one that ordered.
    fn agents(&self) -> Result<Vec<(Role, NamedAgent)>, Failure> {
        let agent = |one: &BlackBox| Ok((one.role, NamedAgent::of_box(one)?));
        self.order.boxes.iter().map(agent).collect()
    }
}

/// No agent lets a cell go on for longer than a day: better said before its time is asked for.
fn lasts(plan: &Plan) -> Result<(), Failure> {
    let longest = plan.time_cap().saturating_add(plan.lead_in);
    if longest <= DAY {
        return Ok(());
    }
    let cause = anyhow!("a cell of this plan may take {longest}, on an agent at most {DAY}");
    Err(Failure::usage(cause).hint("make time.amount smaller: about 1 GB fits into a day"))
}

fn reservation(plan: &Plan, role: Role) -> Reservation {
    let of_role = |case: &Case| case.flows().iter().filter(|flow| flow.peer == role).count();
    let flows = plan.cases.iter().map(of_role).max().unwrap_or(0);
    let ftp = role == Role::Active && plan.activities.iter().any(|name| name.as_str() == "ftp");
    Reservation {
        plan: plan.edition_hash.chars().take(16).collect(),
        longest_run_ns: plan.time_cap().saturating_add(plan.lead_in),
        silence_ns: plan.alone_window.saturating_add(plan.lead_in).max(plan.time_cap()),
        flows: u32::try_from(flows).unwrap_or(u32::MAX),
        activities: ftp.then(|| "ftp".to_owned()).into_iter().collect(),
        emulation: plan.cases.iter().any(|case| case.impairment() != Impairment::None),
        services: Vec::new(),
        test: false,
    }
}

/// Takes the cases out of the plan that need an emulated link where there is none. They are missing
/// in the result, never measured as something else.
pub(super) fn without_emulation(
    plan: &mut Plan,
    boxes: &BTreeMap<Role, RemoteBox>,
) -> Result<(), Failure> {
    if plan.link.has_line() {
        let cause = anyhow!("the plan wants an emulated rate for every cell, FTP included");
        return Err(Failure::usage(cause).hint("between real hosts btu-26 runs, without a rate"));
    }
    let Some(LeftOut { names, reason, kept }) = left_out(plan, |case| refusal(plan, case, boxes))
    else {
        return Ok(());
    };
    if kept.is_empty() {
        return Err(Failure::environment(anyhow!(
            "no case is left: {names} need emulation; {reason}"
        )));
    }
    output::message(&format!("note: {names} are left out: they need an emulated link; {reason}"));
    plan.cases = kept;
    plan.partial = Some(true);
    Ok(())
}

/// The plan of a run that is gone on with, or whose agent was lost meanwhile, stands in its result: it loses no case
/// any more.
pub(super) fn emulated_as_before(
    plan: &Plan,
    boxes: &BTreeMap<Role, RemoteBox>,
) -> Result<(), Failure> {
    left_out(plan, |case| refusal(plan, case, boxes)).map_or(Ok(()), |lost| Err(lost.refused()))
}

/// What the result says of agents: of their emulators, where a case of the plan uses them, and by how many they may
/// be shared.
pub(super) fn facts(plan: &Plan, boxes: &BTreeMap<Role, RemoteBox>) -> BTreeMap<String, Fact> {
    let is_used = plan.cases.iter().any(|case| case.impairment() != Impairment::None);
    let facts = boxes.iter().flat_map(|(role, one)| {
        let emulator = match one.emulation_fact() {
            Fact { value: Some(_), .. } if !is_used => Fact::unavailable(NOT_USED),
            told => told,
        };
        [
            (format!("emulator_{role}"), emulator),
            (format!("shared_{role}"), Fact::known(one.shared())),
        ]
    });
    facts.collect()
}

const NOT_USED: &str = "no case of the plan has an impaired link";

/// Cases that need an emulated link where there is none.
#[derive(Debug)]
struct LeftOut {
    names: String,
    /// Of the first of them.
    reason: String,
    kept: Vec<Case>,
}

impl LeftOut {
    fn refused(self) -> Failure {
        let Self { names, reason, .. } = self;
        let cause = anyhow!("{names}: no emulated link as before; {reason}");
        Failure::usage(cause)
            .hint("give that agent its emulator back, then go on with --resume; or start a new run")
    }
}

/// What `refusal` says of the cases of a plan; `None` where no case is refused.
fn left_out(plan: &Plan, refusal: impl Fn(Case) -> Option<String>) -> Option<LeftOut> {
    let (mut kept, mut names, mut first) = (Vec::new(), Vec::new(), None);
    for case in &plan.cases {
        match refusal(*case) {
            None => kept.push(*case),
            Some(reason) => {
                names.push(case.name());
                first.get_or_insert(reason);
            }
        }
    }
    first.map(|reason| LeftOut { names: names.join(", "), reason, kept })
}

/// Why the links of a case cannot be emulated in front of these agents.
fn refusal(plan: &Plan, case: Case, boxes: &BTreeMap<Role, RemoteBox>) -> Option<String> {
    boxes.values().find_map(|one| no_emulation(plan, case, one))
}

/// Why the links of a case cannot be emulated in front of an agent; `None` where they can, or need not.
fn no_emulation(plan: &Plan, case: Case, one: &RemoteBox) -> Option<String> {
    if case.impairment() == Impairment::None {
        return None;
    }
    let name = &one.agent.name;
    match one.offer() {
        Offer::None(reason) => Some(format!("agent {name}: {reason}")),
        Offer::At(_) => None,
        Offer::ByNetem(_) => {
            let ways = [Direction::Send, Direction::Receive];
            let refused = ways.iter().find_map(|way| not_for_netem(&plan.chain(case, *way)))?;
            Some(format!("agent {name}: {refused} (there: mechanism = \"relay\" in [front])"))
        }
    }
}

fn not_for_netem(elements: &[String]) -> Option<String> {
    let chain = ChainSpec::as_given(elements, &Reader::PLAN).map_err(|error| error.to_string());
    chain.and_then(|chain| chain.netem().map_err(|error| error.to_string())).err()
}

/// The FTP server that the plan's activities need, on the active black box.
pub(super) fn ftp_server(
    plan: &Plan,
    boxes: &mut BTreeMap<Role, RemoteBox>,
) -> Result<Option<Access>, Failure> {
    let wanted = plan.activities.iter().any(|name| name.as_str() == "ftp");
    let active = boxes.get_mut(&Role::Active).filter(|_| wanted);
    active.map(RemoteBox::serve).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;
    use crate::run::options::stored;

    #[test]
    fn a_run_that_is_gone_on_with_loses_no_case() {
        let plan = stored("a.toml", "[matrix]\ncases = [\"SEND\", \"SEND+DL\"]\n").unwrap();
        let no_front = |case: Case| {
            (case.impairment() != Impairment::None).then(|| "agent lab1: no [front]".to_owned())
        };
        assert!(left_out(&plan, |_| None).is_none());
        let lost = left_out(&plan, no_front).unwrap();
        assert_eq!(lost.kept, [Case::Send]);
        let refused = lost.refused();
        assert_eq!(refused.exit, Exit::Usage);
        assert_eq!(
            refused.cause.to_string(),
            "SEND+DL: no emulated link as before; agent lab1: no [front]"
        );
    }

    /// At 100 kb/s, the slowest that a fixed amount may crawl, a day is for 1.08 GB.
    #[test]
    fn a_plan_with_a_cell_that_no_agent_lets_go_on_is_refused_before_one_is_asked() {
        let plan = |time: &str| stored("long.toml", &format!("[time]\n{time}\n")).unwrap();
        for fits in ["amount = \"1.07GB\"", "window = \"3600s\""] {
            lasts(&plan(fits)).unwrap_or_else(|refused| panic!("{fits}: {:#}", refused.cause));
        }
        let refused = lasts(&plan("amount = \"1.1GB\"")).unwrap_err();
        assert!(refused.cause.to_string().contains("at most 86400s"), "{:#}", refused.cause);
        assert!(refused.hint.unwrap().contains("time.amount"));
    }
}
