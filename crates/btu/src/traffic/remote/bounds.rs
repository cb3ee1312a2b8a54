//! What the policy of this host leaves to a measurement that another host ordered here: what its own
//! sockets may send, for how long, over how many connections.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use anyhow::anyhow;
use btu_control::message::Limits;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_engine::EngineError;
use btu_engine::traffic::Carrier;
use btu_engine::traffic::Flow;

use super::meter::Counting;
use super::meter::Meter;
use super::peers::Needs;
use super::words;
use crate::agent::service;
use crate::exit::Failure;
use crate::measurement::Told;
use crate::state::unix_seconds;
use crate::traffic::expand::Talked;

/// Connections of one cluster; dropped, there is room for others.
pub(in crate::traffic) struct Opened<'a> {
    bounds: &'a Bounds,
    connections: usize,
}

/// The bounds of this host, and what was used of them.
pub(in crate::traffic) struct Bounds {
    limits: Limits,
    needs: Needs,
    /// What one connection may send.
    rate: Option<BitRate>,
    /// Connections of the clusters that run now.
    open: AtomicUsize,
    /// Payload.
    meter: Arc<Meter>,
}

impl Bounds {
    /// Those of a measurement that needs so much at the most; an error where that is too much. The agent
    /// hears of payload by `told`.
    pub(in crate::traffic) fn new(
        limits: Limits,
        needs: Needs,
        told: Told,
    ) -> Result<Self, Failure> {
        let connections = usize::try_from(needs.connections).unwrap_or(usize::MAX);
        let part = service::part_of(limits.max_rate, connections, words::FEWER_FLOWS);
        let rate = part.map_err(|reason| Failure::agent(anyhow!(reason)))?;
        let meter = Meter::new(told);
        let open = AtomicUsize::new(0);
        let bounds = Self { limits, needs, rate, open, meter };
        bounds.admits().map_err(|reason| Failure::agent(anyhow!(reason)))?;
        if bounds.limits.is_metered() {
            Meter::look(&bounds.meter).map_err(Failure::environment)?;
        }
        Ok(bounds)
    }

    /// Whether the next run may begin, which may take as long as the longest.
    pub(in crate::traffic) fn admits(&self) -> Result<(), String> {
        let Needs { connections, silence } = self.needs;
        let moved = self.meter.moved();
        let refused = self.limits.refuses(silence, connections, moved, unix_seconds());
        refused.map_or(Ok(()), Err)
    }

    /// Lets a cluster have so many connections until what is given is dropped. What a course decides on
    /// the way may be more than its plan told before, by which each has its part of the rate.
    pub(in crate::traffic) fn open(&self, connections: usize) -> Result<Opened<'_>, EngineError> {
        let most = self.needs.connections;
        let before = self.open.fetch_add(connections, Relaxed);
        let opened = Opened { bounds: self, connections };
        let all = before.saturating_add(connections);
        if u32::try_from(all).is_ok_and(|all| all <= most) {
            return Ok(opened);
        }
        Err(EngineError::Refused(format!("{all} connections at once, {most} were announced")))
    }

    /// What one connection may send; `None` for what the path takes.
    pub(in crate::traffic) const fn rate(&self) -> Option<BitRate> {
        self.rate
    }

    /// Holds what is sent from here to the rate.
    pub(in crate::traffic) fn hold(&self, flows: &mut [Flow], talks: &mut [Talked]) {
        hold(flows.iter_mut(), talks, self.rate);
    }

    /// Whether a probe may send: nobody holds those to a rate.
    pub(in crate::traffic) fn admits_probes(&self) -> Result<(), EngineError> {
        if self.rate.is_none() { Ok(()) } else { Err(self.unheld("what a probe sends")) }
    }

    fn unheld(&self, what: &str) -> EngineError {
        EngineError::Refused(service::unheld(self.limits.max_rate, what))
    }

    /// Counts payload by a figure that only grows, until what is given is dropped.
    pub(in crate::traffic) fn count(
        &self,
        source: impl Fn() -> Bytes + Send + 'static,
    ) -> Counting {
        Meter::count(&self.meter, source)
    }

    /// Payload that the agent does not know of yet.
    pub(in crate::traffic) fn take_untold(&self) -> Bytes {
        self.meter.take_untold()
    }
}

/// Holds connections to a rate: the kernel paces streams of its own, whoever sends all others.
pub(crate) fn hold<'a>(
    flows: impl Iterator<Item = &'a mut Flow>,
    talks: &mut [Talked],
    rate: Option<BitRate>,
) {
    if rate.is_none() {
        return;
    }
    for flow in flows {
        match &mut flow.carrier {
            // Streams of the kernel are held open until their job is closed.
            Carrier::Tcp(settings) => service::pace_held(settings, rate),
            Carrier::Quic(settings) => settings.held_to = rate,
            Carrier::Udp => {}
        }
        flow.held_to = rate;
    }
    for talk in talks {
        service::pace(&mut talk.dialogue.settings, rate);
        talk.dialogue.quic.iter_mut().for_each(|settings| settings.held_to = rate);
    }
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        self.bounds.open.fetch_sub(self.connections, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use btu_core::units::Nanos;

    use super::*;

    #[test]
    fn clusters_have_together_no_more_connections_than_were_announced() {
        let limits = Limits {
            max_rate: None,
            max_run: Nanos::from_secs(600),
            max_flows: 64,
            max_bytes_per_day: Bytes::new(u64::MAX),
            spent: Bytes::ZERO,
            hours: None,
        };
        let needs = Needs { connections: 3, silence: Nanos::from_secs(60) };
        let told = Told::new(|_, _| ());
        let bounds = Bounds::new(limits, needs, told).map_err(|failure| failure.cause).unwrap();
        let first = bounds.open(2).unwrap();
        let Err(refused) = bounds.open(2) else { panic!("four of three") };
        assert!(refused.to_string().contains("4 connections at once, 3 were announced"));
        let beside = bounds.open(1).unwrap();
        drop((first, beside));
        drop(bounds.open(3).unwrap());
        assert!(bounds.open(4).is_err());
    }
}
