//! Connections of several configurations at once, opened when a visit needs them: what a sweep and
//! the search for chasms measure with.

use btu_core::pingpong::schedule::WARM_UP;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::pingpong::chasm::Answer;
use btu_core::pingpong::chasm::Probe;
use btu_core::pingpong::chasm::Request;
use btu_core::pingpong::chasm::not_given;
use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Mode;
use btu_core::pingpong::configuration::REFERENCE;
use btu_core::pingpong::sample::ConfigurationId;
use btu_core::pingpong::sample::Ended;
use btu_core::pingpong::sample::Fault;
use btu_core::pingpong::sample::Times;
use btu_core::pingpong::sample::VisitHost;
use btu_core::pingpong::sample::VisitSample;
use btu_core::pingpong::schedule::Limit;
use btu_core::pingpong::schedule::Stream;
use btu_core::pingpong::schedule::Visit;
use btu_core::sample::Flag;
use btu_core::stats;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::clock;
use btu_sys::cpu::ThreadUse;

use super::copy::copies;
use super::host::Host;
use super::session::Opening;
use super::session::Session;
use super::session::by_a_moving_clock;
use super::transport;
use super::verify::Plant;
use crate::error::EngineError;
use crate::path::PathSettings;
use crate::place::Party;

/// The connections between two hosts, at most one of each configuration.
#[derive(Debug)]
pub struct Sessions {
    /// The host whose end starts and times.
    pub near: Party,
    /// The host whose end answers, where that is a part of this process.
    pub far: Party,
    /// The host whose end answers, where it is another one.
    pub host: Option<Host>,
    /// How long to wait for a connection, and how long nothing may move of a visit that is over its limit.
    pub patience: Nanos,
    /// Set by whoever wants everything to end now.
    pub cancel: Arc<AtomicBool>,
    /// A fault of the far end, made on purpose.
    pub plant: Option<Plant>,
    /// How the path is set; `None` where it cannot be.
    pub path: Option<Box<dyn PathSettings>>,
    /// The largest packet that the path was set to.
    mtu: Option<Bytes>,
    open: Vec<Open>,
    slow: BTreeSet<(usize, Bytes)>,
}

/// A connection of a curve; two curves of equal configurations have one each.
#[derive(Debug)]
struct Open {
    id: ConfigurationId,
    configuration: Configuration,
    session: Option<Session>,
}

impl Sessions {
    /// Between two hosts, without any connection yet.
    pub fn between(near: Party, far: Party, patience: Nanos, cancel: Arc<AtomicBool>) -> Self {
        Self {
            near,
            far,
            host: None,
            patience,
            cancel,
            plant: None,
            path: None,
            mtu: None,
            open: Vec::new(),
            slow: BTreeSet::new(),
        }
    }

    /// With another host, without any connection yet.
    pub fn with_host(near: Party, host: Host, patience: Nanos, cancel: Arc<AtomicBool>) -> Self {
        Self { host: Some(host), ..Self::between(near.clone(), near, patience, cancel) }
    }

    /// Makes one visit, over a new connection where the visit wants one or there is none. Whatever
    /// happens is in the sample.
    pub fn visit(&mut self, configuration: &Configuration, visit: &Visit) -> VisitSample {
        if configuration.transport == REFERENCE {
            return self.copy(configuration, visit);
        }
        let at = self.place_of(visit.configuration, configuration);
        if visit.opens {
            self.open[at].session = None;
        }
        let begun = clock::monotonic_ns();
        if let Err(cause) = self.set_mtu(configuration.mtu_bytes) {
            return failed(visit, begun, &cause);
        }
        let (mut visit, mut remarks) = (visit.clone(), Vec::new());
        if self.open[at].session.as_ref().is_none_or(Session::is_broken) {
            // A broken one is closed first: another host counts its connections.
            self.open[at].session = None;
            match self.connect(configuration) {
                Err(cause) => return failed(&visit, begun, &cause),
                Ok(session) => {
                    remarks = session.remarks().to_vec();
                    visit.warm_up = visit.warm_up.max(WARM_UP);
                    self.open[at].session = Some(session);
                }
            }
        }
        let Some(session) = &mut self.open[at].session else { unreachable!("opened above") };
        let mut sample = session.visit(&visit);
        sample.elapsed_ns = Nanos::new(clock::monotonic_ns().saturating_sub(begun));
        sample.flags.extend(remarks.into_iter().map(|text| Flag::new("connection", text)));
        sample
    }

    /// Makes a connection and ends it, to know whether it can be made.
    pub fn try_out(&mut self, configuration: &Configuration) -> Result<(), EngineError> {
        self.set_mtu(configuration.mtu_bytes)?;
        self.connect(configuration).map(drop)
    }

    /// Why the other host is lost for good, if it is.
    pub fn lost(&self) -> Option<String> {
        self.host.as_ref().and_then(Host::lost)
    }

    /// Ends every connection.
    pub fn close(&mut self) {
        self.open.clear();
        self.slow.clear();
        // Whoever measures next says so if it cannot be set.
        let _ = self.set_mtu(None);
    }

    /// Lets the path carry packets of this size at most: for a connection that is made and for every
    /// visit over it, since a datagram is cut by what holds when it is sent.
    fn set_mtu(&mut self, wanted: Option<Bytes>) -> Result<(), EngineError> {
        if wanted == self.mtu {
            return Ok(());
        }
        let Some(path) = &self.path else {
            return Err(EngineError::Refused("the MTU of this path cannot be set".to_owned()));
        };
        path.set_mtu(wanted)?;
        self.mtu = wanted;
        Ok(())
    }

    /// Measures what the chasm finder asks for, all probes interleaved. `until` is a moment on the
    /// monotonic clock after which the rest is not measured any more.
    pub fn answer(&mut self, request: &Request, until: Nanos) -> Answer {
        let mut medians_us = vec![Vec::new(); request.probes.len()];
        for round in 1..=request.rounds {
            for at in request.order(round) {
                if self.cancel.load(Relaxed) {
                    return Answer::Failed { reason: "interrupted".to_owned() };
                }
                if clock::monotonic_ns() >= until.count() {
                    return Answer::Failed { reason: "the time for chasms is over".to_owned() };
                }
                match self.probe(&request.probes[at], request) {
                    Ok(median) => medians_us[at].push(median),
                    Err(reason) => return Answer::Failed { reason },
                }
            }
        }
        Answer::Measured { medians_us }
    }

    /// The median T of one visit. A visit that stops early needs one more exchange to tell the other
    /// end; so a size that was slow before is tried with a single one.
    fn probe(&mut self, probe: &Probe, request: &Request) -> Result<f64, String> {
        let configuration = &probe.configuration;
        let key = (self.place_of(PROBE, configuration), probe.size);
        let halves = if configuration.mode == Mode::PingPong { 2.0 } else { 1.0 };
        let enough_ns = request.enough_above_us * 1e3 * halves;
        let was_slow = self.slow.contains(&key);
        let units = if was_slow { 1 } else { request.exchanges.max(1) };
        let visit = Visit {
            configuration: PROBE,
            limit: Limit {
                time: PROBE_TIME,
                slow_above: Some(whole_ns(enough_ns)),
                slow_after: 1,
                ..Visit::single(probe.size, units, PROBE_TIME).limit
            },
            stream: (configuration.mode == Mode::Streaming).then(|| Stream::within(STREAM_TIME)),
            ..Visit::single(probe.size, units, PROBE_TIME)
        };
        let sample = self.visit(configuration, &visit);
        if let Ended::Failed { detail, .. } = &sample.ended {
            return Err(detail.clone());
        }
        let given = self.open[key.0].session.as_ref().and_then(Session::options);
        if let Some(reason) = given.and_then(|given| not_given(&request.base, configuration, given))
        {
            return Err(reason);
        }
        let batch = sample.times.batch;
        if sample.times.p50_ns > enough_ns * f64::from(batch.max(1)) {
            self.slow.insert(key);
        } else {
            self.slow.remove(&key);
        }
        Ok(configuration.mode.time_us(median_ns(&sample.times), batch))
    }

    /// The place of a configuration among the connections; a new one where it has none.
    fn place_of(&mut self, id: ConfigurationId, configuration: &Configuration) -> usize {
        let is_it = |open: &Open| open.id == id && open.configuration == *configuration;
        self.open.iter().position(is_it).unwrap_or_else(|| {
            self.open.push(Open { id, configuration: configuration.clone(), session: None });
            self.open.len() - 1
        })
    }

    /// Opens a connection, with the path as the configuration wants it.
    fn connect(&self, configuration: &Configuration) -> Result<Session, EngineError> {
        let name = &configuration.transport;
        let transport = transport::by_name(name)
            .ok_or_else(|| EngineError::Refused(format!("no transport is called \"{name}\"")))?;
        let (near, far) = (self.near.clone(), self.far.clone());
        let opening = Opening {
            patience: self.patience,
            cancel: Arc::clone(&self.cancel),
            plant: self.plant,
            host: self.host.clone(),
            ..Opening::new(transport, configuration.clone(), near, far)
        };
        let Some(on) = configuration.offload else { return Session::open(&opening) };
        let Some(path) = &self.path else {
            let reason = "segmentation offload of this path cannot be set".to_owned();
            return Err(EngineError::Refused(reason));
        };
        // A connection keeps what its device had when it was made.
        path.set_offload(on)?;
        let session = Session::open(&opening);
        path.set_offload(true)?;
        session
    }

    /// A visit to the machine's own memory.
    fn copy(&self, configuration: &Configuration, visit: &Visit) -> VisitSample {
        let (begun, wanted) = (clock::monotonic_ns(), configuration.clone());
        let (size, units, batch) = (visit.size, visit.units, visit.batch);
        let worker = self.near.place.spawn("copy", move || {
            let before = ThreadUse::now();
            let times = copies(&wanted, size, units, batch)?;
            Ok((times, ThreadUse::now().since(&before)))
        });
        let done = worker.and_then(|worker| {
            let gone = |_| EngineError::Refused("the copying thread panicked".to_owned());
            worker.join().map_err(gone).and_then(|done| done)
        });
        match done {
            Err(cause) => failed(visit, begun, &cause),
            Ok((times, used)) => {
                let times = Times::fold(&times, batch, KEPT);
                let host = VisitHost {
                    run_delay_ns: used.run_delay_ns.map(Nanos::new),
                    cpu_ns: Some(Nanos::new(used.cpu_ns)),
                    ..VisitHost::default()
                };
                let ended = by_a_moving_clock(Ended::Complete, &times);
                VisitSample { times, host, ..sample(visit, begun, ended) }
            }
        }
    }
}

/// The median of the units of a probe; where a slow one ended it early, that one is the answer.
fn median_ns(times: &Times) -> f64 {
    let raw: Vec<f64> = times.raw_ns.iter().map(|ns| Nanos::new(*ns).micros() * 1e3).collect();
    stats::median(&raw).unwrap_or(times.p50_ns)
}

fn failed(visit: &Visit, begun: u64, cause: &EngineError) -> VisitSample {
    sample(visit, begun, Ended::Failed { fault: Fault::System, detail: cause.sentence() })
}

/// A sample without times.
fn sample(visit: &Visit, begun: u64, ended: Ended) -> VisitSample {
    let elapsed_ns = Nanos::new(clock::monotonic_ns().saturating_sub(begun));
    VisitSample::of(visit, elapsed_ns, ended)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and no time is below zero"
)]
fn whole_ns(ns: f64) -> Nanos {
    Nanos::new(ns as u64)
}

/// The number of what belongs to no curve.
const PROBE: ConfigurationId = ConfigurationId(0);
/// The most time of a probe: some exchanges of a block that a delayed acknowledgement holds up.
const PROBE_TIME: Nanos = Nanos::from_secs(2);
/// The time of a probe that is a stream, as that of a point's visit where nothing else is asked for.
const STREAM_TIME: Nanos = Nanos::from_millis(20);
/// How many times of a visit stay as they are.
const KEPT: usize = 64;
