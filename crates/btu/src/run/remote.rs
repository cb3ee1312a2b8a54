//! Real hosts as a runner: the host under test is this machine, its black boxes are agents.

mod black_box;
mod check;
mod drift;
pub(super) mod hosts;
mod packets;
mod reach;
mod second;
mod ways;

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use btu_control::AloneRun;
use btu_control::CaptureRun;
use btu_control::CellRun;
use btu_control::Runner;
use btu_control::When;
use btu_control::client::Fault;
use btu_control::message::LinkOrder;
use btu_control::message::RunOf;
use btu_core::disclosure::Fact;
use btu_core::disclosure::HostFacts;
use btu_core::journal::AloneSample;
use btu_core::journal::Record;
use btu_core::manifest::RunLabel;
use btu_core::manifest::Signature;
use btu_core::ranking::LINK_CLASS;
use btu_core::role::Role;
use btu_core::run::cell::Case;
use btu_core::run::cell::Direction;
use btu_core::run::cell::Flow;
use btu_core::run::plan::Plan;
use btu_core::sample::CaptureSample;
use btu_core::sample::CellSample;
use btu_core::sample::VerificationSample;
use btu_core::units::BitRate;
use btu_engine::Party;
use btu_engine::Place;
use btu_engine::cellrun;
use btu_engine::cellrun::BlackBox;
use btu_engine::cellrun::CellOrder;
use btu_engine::comm::NearToken;
use btu_engine::comm::Seat;
use btu_engine::comm::Terms;
use btu_engine::files::Files;
use btu_engine::probe::observe;
use btu_sys::socket::Settings;

use self::black_box::RemoteBox;
use self::hosts::Hosts;
use self::reach::told;
use super::local;
use super::local::activities::Activities;
use super::options::RunArgs;
use super::orders;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::losses::Losses;
use crate::measurement::place::timestamp;

/// Three hosts, of which this is one.
pub(crate) struct RemoteRunner {
    plan: Plan,
    boxes: BTreeMap<Role, RemoteBox>,
    activities: Activities,
    directory: PathBuf,
    files: Files,
    interrupt: Interrupt,
    hosts: Hosts,
    /// Runs asked for so far, repeats and lost ones included.
    run: u64,
    /// Whether the agents record the packets of the runs that they are asked for.
    recording: bool,
    lost: Loss,
    emulator_rate: Option<BitRate>,
}

/// The agent that was lost for good, if one was; shared with whoever reports the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Loss(Arc<Mutex<Option<String>>>);

impl Loss {
    /// What was lost, and why.
    pub(super) fn told(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn tell(&self, what: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }
}

impl RemoteRunner {
    /// Gets the agents' time and prepares this host. A new plan loses the cases that cannot be run.
    pub(super) fn new(
        args: &RunArgs,
        plan: &mut Plan,
        directory: PathBuf,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let hosts = Hosts::named(args, plan, interrupt)?;
        let mut boxes = hosts.reserve(plan)?;
        if args.resume.is_none() {
            hosts::without_emulation(plan, &boxes)?;
        }
        let access = hosts::ftp_server(plan, &mut boxes)?;
        let place = Place::here(Role::Test);
        let activities = Activities::prepared(plan, place, directory.clone(), access)?;
        Ok(Self {
            plan: plan.clone(),
            boxes,
            activities,
            directory,
            files: Files::host(),
            interrupt: interrupt.clone(),
            hosts,
            run: 0,
            recording: false,
            lost: Loss::default(),
            emulator_rate: None,
        })
    }

    /// Where an agent's loss will be told.
    pub(super) fn loss(&self) -> Loss {
        self.lost.clone()
    }

    /// What the agents' hosts say of themselves.
    pub(super) fn facts(&mut self) -> Result<BTreeMap<String, HostFacts>, Failure> {
        let boxes = self.boxes.iter_mut();
        boxes.map(|(role, one)| Ok((role.name().to_owned(), one.facts()?))).collect()
    }

    /// A run that is gone on with has the cases of its plan and no fewer.
    pub(super) fn loses_no_case(&self) -> Result<(), Failure> {
        hosts::emulated_as_before(&self.plan, &self.boxes)
    }

    /// How roles, emulator and files were placed.
    pub(super) fn placement(&self) -> BTreeMap<String, Fact> {
        let mut facts = self.activities.facts();
        facts.extend(hosts::facts(&self.plan, &self.boxes));
        let ways = self.boxes.values().filter_map(|one| Some(one.reached()?.ip()));
        facts.insert(LINK_CLASS.to_owned(), ways::link_class(ways, &self.files));
        facts
    }

    /// One try of a cell, as it was seen from here; `None` where it was interrupted.
    fn measure(
        &mut self,
        run: &CellRun,
        flows: &[Flow],
        link: Option<&LinkOrder>,
        started_at: String,
    ) -> Option<CellSample> {
        self.run += 1;
        let Ok(terms) = self.terms(run, flows, link) else {
            return Some(local::failed(run, started_at, "the system gives no random numbers"));
        };
        let near = Party {
            place: Place::here(Role::Test),
            address: std::net::Ipv4Addr::UNSPECIFIED.into(),
            sockets: Settings::default(),
        };
        let load = orders::load(&self.plan, run, &self.activities);
        let order = CellOrder { flows, terms, near: &near, fars: &[], load };
        let mut boxes: Vec<&mut dyn BlackBox> =
            self.boxes.values_mut().map(|one| -> &mut dyn BlackBox { one }).collect();
        let before = observe(&self.files);
        let measured = cellrun::run_among(&order, &mut boxes);
        let host = before.finish(&self.files);
        let measured = measured.filter(|_| !self.is_interrupted())?;
        let mut sample = CellSample {
            comm: measured.comm,
            activity_sample: measured.activity,
            host,
            ..local::sample(run, started_at, measured.outcome)
        };
        let used = |role: &Role| flows.iter().any(|flow| flow.peer == *role);
        let boxes = self.boxes.iter().filter(|(role, _)| used(role));
        sample.emulation = boxes.clone().flat_map(|(_, one)| one.emulation().to_vec()).collect();
        sample.flags.extend(boxes.clone().filter_map(|(_, one)| one.limited()));
        let hosts = boxes.filter_map(|(role, one)| Some((*role, one.host()?)));
        sample.invalid.extend(hosts.flat_map(|(role, host)| drift::told(role, &host)));
        local::judge(&mut sample, &self.plan, self.emulator_rate);
        Some(sample)
    }

    /// What both sides of a run agree on; each black box gets its own fresh secret.
    fn terms(
        &mut self,
        run: &CellRun,
        flows: &[Flow],
        link: Option<&LinkOrder>,
    ) -> Result<Terms, btu_control::secret::NoRandomness> {
        let mut terms = orders::terms(&self.plan, run, flows, self.interrupt.flag());
        let of = self.run_of(run);
        for one in self.boxes.values_mut() {
            one.expect_run((self.run, run.attempt), link, of.as_ref(), self.recording)?;
        }
        let seats = flows.iter().enumerate().map(|(place, flow)| self.seat(flows, place, *flow));
        terms.preamble = Some(Arc::new(NearToken { seats: seats.collect() }));
        Ok(terms)
    }

    /// What the agents sign a run as. Checks and captures have pass 0, and nobody signs them.
    fn run_of(&self, run: &CellRun) -> Option<RunOf> {
        let CellRun { pass, position, attempt, .. } = *run;
        let label = RunLabel { pass, position, attempt, cell: run.cell.id() };
        (pass > 0).then_some(RunOf { seed: self.plan.seed, label })
    }

    /// What a connection has to know: its place among those of its black box.
    fn seat(&self, flows: &[Flow], place: usize, flow: Flow) -> Seat {
        let before = flows[..place].iter().filter(|other| other.peer == flow.peer).count();
        let secret = self.boxes.get(&flow.peer).map_or([0; 32], RemoteBox::secret);
        let attempt = self.boxes.get(&flow.peer).map_or(0, RemoteBox::attempt);
        Seat { secret, run: self.run, attempt, flow: u16::try_from(before).unwrap_or(u16::MAX) }
    }

    /// The elements of a case's links; `None` for the direct way.
    fn link(&self, case: Case) -> Option<LinkOrder> {
        let [up, down] =
            [Direction::Send, Direction::Receive].map(|way| self.plan.chain(case, way));
        let direct = up.is_empty() && down.is_empty();
        (!direct).then_some(LinkOrder { up, down, seed: self.plan.seed })
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.flag().load(Ordering::Relaxed)
    }

    /// The agent that was lost in the last run.
    fn fault(&mut self) -> Option<(Role, Fault)> {
        self.boxes.iter_mut().find_map(|(role, one)| Some((*role, one.take_fault()?)))
    }

    /// Gets the agents' time again for the run that an agent was lost in; false where that failed for good,
    /// or where it was lost in too many tries of this run.
    fn is_tried_again(&mut self, losses: &mut Losses, role: Role, fault: &Fault) -> bool {
        if fault.is_by_policy() {
            let agent = self.boxes.get(&role).map_or("", |one| one.agent.name.as_str());
            self.lost.tell(format!("agent {agent}: {fault}"));
            return false;
        }
        if let Err(reason) = losses.one_more() {
            self.lost.tell(format!("{reason}; the last time {role}: {fault}"));
            return false;
        }
        self.regain(role, fault)
    }

    /// Gets the agents' time again; false where that failed for good.
    fn regain(&mut self, role: Role, fault: &Fault) -> bool {
        match self.reach_again(role, fault) {
            Ok(()) => true,
            Err(failure) => {
                if !self.is_interrupted() {
                    self.lost.tell(told(&failure));
                }
                false
            }
        }
    }
}

impl Runner for RemoteRunner {
    fn alone(&mut self, run: &AloneRun) -> Option<AloneSample> {
        let mut losses = Losses::default();
        loop {
            let started_at = timestamp();
            let (place, cancel) = (Place::here(Role::Test), self.interrupt.flag());
            let before = observe(&self.files);
            let sample = orders::alone(&self.plan, run, &self.activities, &place, cancel);
            let host = before.finish(&self.files);
            let sample = sample?;
            if let Some((role, fault)) = self.silent_agent() {
                if !self.is_tried_again(&mut losses, role, &fault) {
                    return None;
                }
                continue;
            }
            return Some(run.sampled(started_at, sample, host));
        }
    }

    /// A run in which an agent was lost is no run: it is made again once the agent is back.
    fn cell(&mut self, run: &CellRun) -> Option<CellSample> {
        let mut losses = Losses::default();
        loop {
            let case = run.cell.case;
            let link = self.link(case);
            let sample = self.measure(run, case.flows(), link.as_ref(), timestamp())?;
            let Some((role, fault)) = self.fault() else { return Some(sample) };
            if self.is_interrupted() || !self.is_tried_again(&mut losses, role, &fault) {
                return None;
            }
        }
    }

    fn capture(&mut self, run: &CaptureRun, directory: &Path) -> Option<CaptureSample> {
        self.second(run, directory)
    }

    fn verify(&mut self, when: When) -> Option<Vec<VerificationSample>> {
        self.check_links(when)
    }

    fn signatures(
        &mut self,
        seed: u64,
        records: &[Record],
    ) -> Vec<(Role, Result<Signature, String>)> {
        let named = self.hosts.roles();
        let lost = || Err("the agent is lost".to_owned());
        let of = |role| {
            let one = self.boxes.get_mut(&role);
            (role, one.map_or_else(lost, |one| one.signature(seed, records)))
        };
        named.into_iter().map(of).collect()
    }
}

impl RemoteRunner {
    /// An agent that does not answer between two runs.
    fn silent_agent(&mut self) -> Option<(Role, Fault)> {
        self.boxes.iter_mut().find_map(|(role, one)| Some((*role, one.ping().err()?)))
    }
}
