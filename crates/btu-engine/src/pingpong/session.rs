//! A connection between two threads, and the visits over it.
//!
//! Each end has a thread that entered its place, made its end and then waits for orders. The thread
//! that asks for a visit watches both: when one breaks off, or a visit is over its limit and nothing moves,
//! both connections are ended, so that no visit lasts for ever whatever a peer does. After that the session is
//! broken and has to be opened again.

mod distant;
mod far;
mod report;
mod silence;
mod worker;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Placement;
use btu_core::pingpong::configuration::Wait;
use btu_core::pingpong::configuration::Writes;
use btu_core::pingpong::sample::VisitSample;
use btu_core::pingpong::schedule::Visit;
use btu_core::sample::SocketOptions;
use btu_core::units::Nanos;
use btu_sys::clock;
use btu_sys::cpu::CpuSet;

use self::distant::Distant;
use self::report::Outcome;
pub(super) use self::report::by_a_moving_clock;
pub use self::silence::LONGEST_WITH_A_PEER;
use self::silence::Silence;
use self::worker::Done;
use self::worker::Order;
use self::worker::Side;
use self::worker::Worker;
use super::host::Host;
use super::transport::Transport;
use super::verify::Plant;
use crate::door::Seat;
use crate::error::EngineError;
use crate::place::Party;
use crate::place::Place;
use crate::time::now;

pub(super) use self::far::FarEnd;

/// How a session is to be opened.
#[derive(Clone, Debug)]
pub struct Opening {
    /// What carries the blocks.
    pub transport: &'static dyn Transport,
    /// Waiting, buffers, options.
    pub configuration: Configuration,
    /// The end that starts and times; its address is its own on this path.
    pub near: Party,
    /// The end that answers; not looked at where another host has it.
    pub far: Party,
    /// The host that has the end which answers; `None` for this process.
    pub host: Option<Host>,
    /// What the connection must know, where it is one between hosts.
    pub token: Option<Seat>,
    /// Ports to listen on, the first and the last; `None` for any.
    pub ports: Option<(u16, u16)>,
    /// How long to wait for a connection, and how long nothing may move of a visit that is over its limit.
    pub patience: Nanos,
    /// Set by whoever wants everything to end now.
    pub cancel: Arc<AtomicBool>,
    /// A fault of the far end, made on purpose.
    pub plant: Option<Plant>,
}

/// An open connection.
#[derive(Debug)]
pub struct Session {
    near: Worker,
    far: Far,
    remarks: Vec<String>,
    done: Receiver<Done>,
    opening: Opening,
    unit_ns: Vec<u64>,
    verified: u64,
    told_options: bool,
    broken: bool,
}

/// The end that answers.
#[derive(Debug)]
enum Far {
    /// A thread of this process.
    Here(Box<Worker>),
    /// Another host's.
    There(Distant),
}

impl Session {
    /// Starts both threads and connects them; where another host has the far end, it is asked for it.
    pub fn open(opening: &Opening) -> Result<Self, EngineError> {
        opening.refuse_what_cannot_be()?;
        let [near_cpus, far_cpus] = opening.cpus()?;
        let (report, done) = mpsc::channel();
        let mut opening = opening.clone();
        let (mut far, at) = match &opening.host {
            None => {
                let mut far = Worker::far(&opening, far_cpus, report.clone())?;
                let at = far.rendezvous()?;
                (Far::Here(Box::new(far)), at)
            }
            Some(host) => {
                let (far, at, seat) = Distant::listen(&opening, host)?;
                opening.token = Some(seat);
                (Far::There(far), at)
            }
        };
        let mut near = Worker::near(&opening, near_cpus, at, report)?;
        // A near end that cannot connect leaves a far end that waits: hear the near one first.
        near.wait_until_open()?;
        let mut remarks = near.remarks.clone();
        match &mut far {
            Far::Here(far) => far.wait_until_open()?,
            Far::There(far) => {
                let theirs = far.wait_until_open(opening.patience)?;
                remarks.extend(theirs.into_iter().map(|remark| format!("far end: {remark}")));
            }
        }
        Ok(Self {
            near,
            far,
            remarks,
            done,
            opening,
            unit_ns: Vec::new(),
            verified: 0,
            told_options: false,
            broken: false,
        })
    }

    /// True once a visit broke off: every later one fails until a new session is opened.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// What is known of the connection that is no fault: such as polling without anything to poll.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The options of the near end's socket as they were read back; `None` where it is no socket.
    pub fn options(&self) -> Option<&SocketOptions> {
        self.near.options.as_ref()
    }

    /// Makes one visit. Whatever happens is in the sample. Over its limit the visit goes on as long as its
    /// connection moves; where nobody counts that, it is ended after the patience of the session.
    pub fn visit(&mut self, visit: &Visit) -> VisitSample {
        let begun = clock::monotonic_ns();
        let outcome =
            if self.broken { Outcome::of_a_broken_session() } else { self.attempt(visit) };
        self.broken |= outcome.is_failure();
        let elapsed = Nanos::new(clock::monotonic_ns().saturating_sub(begun));
        let options = self.near.options.clone().filter(|_| !self.told_options);
        self.told_options = true;
        let sample = outcome.sample(visit, elapsed, options, self.opening.configuration.verify);
        self.unit_ns = outcome.into_times();
        sample
    }

    /// Gives both ends their orders and waits for both.
    fn attempt(&mut self, visit: &Visit) -> Outcome {
        let mut times = std::mem::take(&mut self.unit_ns);
        times.clear();
        times.reserve(usize::try_from(visit.units).unwrap_or(0));
        let from = self.opening.configuration.verify.then_some(self.verified);
        self.verified += u64::from(visit.units) * u64::from(visit.batch.max(1));
        let steal = report::steal_ns();
        let cap = visit.limit.time.saturating_add(self.opening.patience);
        let order =
            |times| Order { visit: visit.clone(), verify_from: from, times, division: None };
        match &self.far {
            Far::Here(far) => far.order(order(Vec::new())),
            Far::There(far) => {
                if let Some(done) = far.order(visit, from, cap) {
                    return Outcome::of_one(done);
                }
            }
        }
        self.near.order(order(times));
        let mut outcome = self.wait_for_both(visit.limit.time);
        outcome.add_steal(steal);
        outcome
    }

    fn wait_for_both(&self, limit: Nanos) -> Outcome {
        let longest = match &self.far {
            Far::Here(_) => silence::LONGEST,
            Far::There(_) => LONGEST_WITH_A_PEER,
        };
        let mut silence =
            Silence::after(now().saturating_add(limit), self.opening.patience, longest);
        let mut outcome = Outcome::default();
        while !outcome.has_both() {
            let left = silence.left(now());
            match self.done.recv_timeout(Duration::from(left).min(LOOK_AROUND)) {
                Ok(done) => {
                    if outcome.take(done) {
                        self.abort();
                    }
                    self.hear_distant(&mut outcome);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let cancelled = self.opening.cancel.load(Relaxed);
                    if cancelled || silence.is_over(now(), || self.near.moved()) {
                        self.abort();
                        outcome.cut_short(cancelled);
                        return self.collect(outcome);
                    }
                }
            }
        }
        outcome
    }

    /// Waits for ends whose connections were ended; one that stays away is not waited for for ever.
    fn collect(&self, mut outcome: Outcome) -> Outcome {
        while !outcome.has_both() {
            let Ok(done) = self.done.recv_timeout(LAST_GRACE) else { break };
            outcome.take(done);
            self.hear_distant(&mut outcome);
        }
        outcome
    }

    /// A far end on another host does not report by itself: it is asked once the near one has.
    fn hear_distant(&self, outcome: &mut Outcome) {
        if let Far::There(far) = &self.far
            && !outcome.has_both()
        {
            outcome.take(far.over(outcome.is_broken()));
        }
    }

    fn abort(&self) {
        self.near.abort();
        if let Far::Here(far) = &self.far {
            far.abort();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.abort();
    }
}

impl Opening {
    /// With nothing special: a minute at most for whatever happens.
    pub fn new(
        transport: &'static dyn Transport,
        configuration: Configuration,
        near: Party,
        far: Party,
    ) -> Self {
        Self {
            transport,
            configuration,
            near,
            far,
            host: None,
            token: None,
            ports: None,
            patience: Nanos::from_secs(5),
            cancel: Arc::default(),
            plant: None,
        }
    }

    fn party(&self, side: Side) -> &Party {
        match side {
            Side::Far => &self.far,
            Side::Near => &self.near,
        }
    }

    fn refuse_what_cannot_be(&self) -> Result<(), EngineError> {
        let (name, wanted) = (self.transport.name(), &self.configuration);
        match &self.near.place.net {
            None => self.transport.available()?,
            Some(net) => net.inside(|| self.transport.available())??,
        }
        let refuse = |reason: String| Err(EngineError::Refused(format!("{name}: {reason}")));
        if !self.transport.properties().waits.contains(&wanted.wait) {
            return refuse(format!("has no wait \"{}\"", wanted.wait));
        }
        if let (Some(_), Some(reason)) = (&self.host, self.transport.properties().reach.ends_here())
        {
            return refuse(reason.to_owned());
        }
        if self.host.is_some() && wanted.placement == Placement::Same {
            return refuse("two hosts have no CPU in common".to_owned());
        }
        if self.transport.properties().bounded && wanted.writes != Writes::One {
            return refuse("two writes would be two messages".to_owned());
        }
        Ok(())
    }

    /// The CPUs of the near and of the far thread; empty for all of the place.
    fn cpus(&self) -> Result<[CpuSet; 2], EngineError> {
        let near = self.near.place.cpus()?;
        let first = near.nth_round(0);
        if self.host.is_some() {
            let free = self.configuration.placement == Placement::Free;
            return Ok([
                if free { CpuSet::default() } else { CpuSet::of(first) },
                CpuSet::default(),
            ]);
        }
        let far = self.far.place.cpus()?;
        let other = far.iter().find(|cpu| Some(*cpu) != first);
        if self.configuration.wait == Wait::Spin
            && (self.configuration.placement == Placement::Same || other.is_none())
        {
            let reason = "two ends that spin on one CPU measure the scheduler: \
                          give them two CPUs, or wait by block";
            return Err(EngineError::Refused(reason.to_owned()));
        }
        Ok(match self.configuration.placement {
            Placement::Free => [CpuSet::default(), CpuSet::default()],
            Placement::Same => [CpuSet::of(first), CpuSet::of(first)],
            Placement::Split => [CpuSet::of(first), CpuSet::of(other.or(first))],
        })
    }
}

/// A place cut down to these CPUs.
fn pinned(place: &Place, cpus: CpuSet) -> Place {
    if cpus.is_empty() { place.clone() } else { Place { cpus, ..place.clone() } }
}

/// How often a waiting session looks whether it is still wanted.
const LOOK_AROUND: Duration = Duration::from_millis(50);

/// How long an end may take to notice that its connection was ended.
const LAST_GRACE: Duration = Duration::from_secs(2);
