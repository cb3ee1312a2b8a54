//! One black box on another host: what the engine asks of it, said to its agent.

mod run;

use std::net::SocketAddr;

use btu_control::client::Fault;
use btu_control::message::Answer;
use btu_control::message::LinkOrder;
use btu_control::message::Offer;
use btu_control::message::Request;
use btu_control::message::RunOf;
use btu_control::message::Signing;
use btu_control::message::Which;
use btu_control::secret::Hex32;
use btu_control::secret::NoRandomness;
use btu_core::disclosure::Fact;
use btu_core::disclosure::HostFacts;
use btu_core::journal::Record;
use btu_core::manifest;
use btu_core::manifest::Signature;
use btu_core::manifest::Statement;
use btu_core::role::Role;
use btu_core::run::cell::Direction;
use btu_core::run::plan::SocketPlan;
use btu_core::sample::CapturePoint;
use btu_core::sample::DirectionSample;
use btu_core::sample::Flag;
use btu_core::sample::HostSample;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::cellrun::BlackBox;
use btu_engine::comm::EndReport;
use btu_engine::comm::Terms;
use btu_engine::file::ftp::Access;
use btu_sys::clock;
use btu_testbed::local::LocalTestbed;

use self::run::Prepared;
use self::run::Run;
use super::packets::Handed;
use crate::conductor;
use crate::conductor::ANSWER;
use crate::conductor::NamedAgent;
use crate::conductor::PeerLink;
use crate::exit::Failure;
use crate::sign;

/// An agent whose time is ours.
pub(super) struct RemoteBox {
    pub(super) role: Role,
    pub(super) agent: NamedAgent,
    link: PeerLink,
    offer: Offer,
    shared: u32,
    sockets: SocketPlan,
    lead_in: Nanos,
    /// The run that comes next, is under way, or was the last.
    run: Run,
    fault: Option<Fault>,
}

impl RemoteBox {
    /// A reservation that was granted.
    pub(super) fn new(
        role: Role,
        agent: NamedAgent,
        link: PeerLink,
        (shared, offer): (u32, Offer),
        (sockets, lead_in): (SocketPlan, Nanos),
    ) -> Self {
        Self {
            role,
            agent,
            link,
            offer,
            shared,
            sockets,
            lead_in,
            run: Run::new((0, 0), Hex32::new([0; 32])),
            fault: None,
        }
    }

    /// Where its links can be emulated, or why not.
    pub(super) const fn offer(&self) -> &Offer {
        &self.offer
    }

    /// Where it was reached.
    pub(super) fn reached(&self) -> Option<SocketAddr> {
        self.link.reached()
    }

    /// How many conductors share it.
    pub(super) const fn shared(&self) -> u32 {
        self.shared
    }

    /// What the disclosure says of the emulator in front of it.
    pub(super) fn emulation_fact(&self) -> Fact {
        match &self.offer {
            Offer::None(reason) => Fact::unavailable(reason.clone()),
            Offer::At(address) => Fact::known(address.to_string()),
            Offer::ByNetem(address) => Fact::known(format!("{address} by netem")),
        }
    }

    /// The next run, with a fresh secret; what was said of the last one is no word on this one.
    pub(super) fn expect_run(
        &mut self,
        number_and_attempt: (u64, u32),
        link: Option<&LinkOrder>,
        of: Option<&RunOf>,
        record: bool,
    ) -> Result<(), NoRandomness> {
        let run = Run::new(number_and_attempt, Hex32::random()?);
        let (link_order, of) = (link.cloned(), of.cloned());
        self.run = Run { link_order, of, record, ..run };
        Ok(())
    }

    /// What a data connection of the next run has to know.
    pub(super) const fn secret(&self) -> [u8; 32] {
        *self.run.secret.bytes()
    }

    /// Which attempt the next run is.
    pub(super) const fn attempt(&self) -> u32 {
        self.run.attempt
    }

    /// Whether there is a fault that nobody took.
    pub(super) const fn is_lost(&self) -> bool {
        self.fault.is_some()
    }

    /// Why the agent is lost, once.
    pub(super) const fn take_fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }

    /// Hears whether the agent is there.
    pub(super) fn ping(&mut self) -> Result<(), Fault> {
        self.link.ask(Request::Ping {}, ANSWER, &mut |_| ()).map(drop)
    }

    /// What its host says of itself.
    pub(super) fn facts(&mut self) -> Result<HostFacts, Failure> {
        conductor::facts(&mut self.link, &self.agent)
    }

    /// An FTP server there, for this run alone.
    pub(super) fn serve(&mut self) -> Result<Access, Failure> {
        let seq = self.link.next_seq();
        let secret = Hex32::random().map_err(Failure::environment)?.digits();
        let (user, password) = ("btu".to_owned(), secret);
        let request = Request::Serve { seq, user: user.clone(), password: password.clone() };
        let reply = self.link.ask(request, ANSWER, &mut |_| ());
        match reply.map_err(|fault| conductor::failure(&self.agent, fault))?.answer {
            Answer::Serving { address, .. } => {
                let door = conductor::door(self.link.reached(), address);
                let address = door.map_err(|what| self.lied(&what))?;
                Ok(Access { user, password, ..Access::anonymous(address) })
            }
            Answer::Failed { reason, .. } => Err(self.lied(&reason)),
            _ => Err(self.lied("no FTP server")),
        }
    }

    /// Its signature over what it measured of these records, or why there is none.
    pub(super) fn signature(&mut self, seed: u64, records: &[Record]) -> Result<Signature, String> {
        let accounts = manifest::accounts(self.role, records);
        let runs = accounts.keys().map(|run| (run.pass, run.position, run.attempt)).collect();
        let seq = self.link.next_seq();
        let request = Request::Sign(Box::new(Signing { seq, role: self.role, seed, runs }));
        let reply = self.link.ask(request, ANSWER, &mut |_| ()).map_err(|why| why.to_string())?;
        let (key, signature) = match reply.answer {
            Answer::Signed { key, signature, .. } => (key, signature),
            Answer::Failed { reason, .. } => return Err(reason),
            _ => return Err("it gave no signature".to_owned()),
        };
        let statement = Statement::over(self.role, seed, &accounts).text();
        let made = sign::of_another(self.role, key, signature);
        if sign::holds(&made, self.agent.id, statement.as_bytes()) {
            Ok(made)
        } else {
            Err("it signed other values than it reported".to_owned())
        }
    }

    fn lied(&self, what: &str) -> Failure {
        conductor::failure(&self.agent, Fault::Lied(what.to_owned()))
    }

    /// Asks, and keeps why the agent is lost if it is.
    fn ask(&mut self, request: Request, patience: Nanos) -> Result<(Answer, Vec<u8>), EngineError> {
        let is_run = matches!(request, Request::Prepare(_));
        let reply = self.link.ask(request, patience, &mut |_| ()).map_err(|fault| {
            let refused = EngineError::Refused(format!("agent {}: {fault}", self.agent.name));
            // The first one says why.
            self.fault.get_or_insert(fault);
            refused
        })?;
        match reply.answer {
            Answer::Failed { reason, .. } => {
                let refused = self.refused(&reason);
                // The next run would be refused as well.
                let by_policy = Fault::by_policy(reason).filter(|_| is_run);
                self.fault = self.fault.take().or(by_policy);
                Err(refused)
            }
            Answer::Stale { .. } => Err(self.refused("it took the request for an older one")),
            answer => Ok((answer, reply.document)),
        }
    }

    /// Where a connection of the run goes: to the host that was reached, over an emulated link to the
    /// address that it offered for that.
    fn door(&self, told: SocketAddr) -> Result<SocketAddr, String> {
        match self.offer.address().filter(|_| self.run.link_order.is_some()) {
            Some(address) => conductor::door(Some(SocketAddr::new(address, 0)), told),
            None => conductor::door(self.link.reached(), told),
        }
    }

    fn refused(&self, what: &str) -> EngineError {
        EngineError::Refused(format!("agent {}: {what}", self.agent.name))
    }

    fn which(&mut self) -> Which {
        let Run { number: run, attempt, .. } = self.run;
        Which { run, attempt, seq: self.link.next_seq() }
    }

    /// The packets of the last run, as one end of its link saw them.
    pub(super) fn packets(&mut self, seen_at: CapturePoint) -> Result<Handed, EngineError> {
        let which = self.which();
        let (_, file) = self.ask(Request::Packets { which, seen_at }, ANSWER)?;
        let (far_ends, since) = self.run.listens.clone();
        let link = LocalTestbed::link_name(self.role);
        Ok(Handed { agent: self.agent.name.clone(), link, far_ends, since, file })
    }

    /// What its host said of itself in the last run, where it was asked.
    pub(super) fn host(&self) -> Option<HostSample> {
        self.run.host.clone()
    }

    /// Whether the agent's policy was the limit of the last run.
    pub(super) fn limited(&self) -> Option<Flag> {
        let rate = self.run.held_back?;
        Some(Flag::new(Flag::POLICY_LIMITED, conductor::held_to(&self.agent.name, rate)))
    }

    /// What the emulator did in the last run.
    pub(super) fn emulation(&self) -> &[DirectionSample] {
        &self.run.emulation
    }
}

impl BlackBox for RemoteBox {
    fn role(&self) -> Role {
        self.role
    }

    fn listen(
        &mut self,
        flows: &[Direction],
        terms: &Terms,
    ) -> Result<Vec<SocketAddr>, EngineError> {
        let which = self.which();
        let limits = (&self.sockets, self.lead_in);
        let order = self.run.preparation(which, self.role, limits, flows, terms);
        let (flows, message) = (flows.to_vec(), terms.message);
        let (calls, hold, cap) = (terms.calls, terms.pinning.hold(), terms.cap);
        self.run.prepared = Some(Prepared { flows, message, calls, hold, cap });
        match self.ask(Request::Prepare(Box::new(order)), ANSWER)?.0 {
            Answer::Prepared { addresses, .. } => {
                let doors: Result<_, _> = addresses.iter().map(|told| self.door(*told)).collect();
                let doors = doors.map_err(|what| self.refused(&what))?;
                self.run.listens = (addresses, Nanos::new(clock::realtime_ns()));
                Ok(doors)
            }
            _ => Err(self.refused("no far ends")),
        }
    }

    fn cancel(&mut self) {
        if self.run.prepared.is_some() && self.fault.is_none() {
            let which = self.which();
            // A fault is kept, and an answer changes nothing.
            let _ = self.ask(Request::Cancel(which), ANSWER);
        }
    }

    fn finish(&mut self) -> Result<Vec<EndReport>, EngineError> {
        let Some(prepared) = self.run.prepared.take() else {
            return Err(self.refused("no run was prepared"));
        };
        let which = self.which();
        let patience = prepared.cap.saturating_add(COLLECTING);
        let (_, document) = self.ask(Request::Collect(which), patience)?;
        self.run.account(self.role, &document, &prepared).map_err(|what| {
            let refused = self.refused(&what);
            self.fault = Some(Fault::Lied(what));
            refused
        })
    }
}

/// What a far end may take beyond the cap of a run.
const COLLECTING: Nanos = Nanos::from_secs(70);
