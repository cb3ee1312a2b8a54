//! One run of a black box, and all that is known of it: nothing of that outlives it.

use std::net::SocketAddr;

use btu_control::message::Carried;
use btu_control::message::LinkOrder;
use btu_control::message::Preparation;
use btu_control::message::RunOf;
use btu_control::message::Which;
use btu_control::secret::Hex32;
use btu_core::role::Role;
use btu_core::run::calls::Calls;
use btu_core::run::cell::Direction;
use btu_core::run::plan::SocketPlan;
use btu_core::sample::DirectionSample;
use btu_core::sample::EndSample;
use btu_core::sample::Hold;
use btu_core::sample::HostSample;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::comm::Amount;
use btu_engine::comm::EndReport;
use btu_engine::comm::Terms;
use btu_testbed::local::LocalTestbed;

use crate::agent::worker::Account;

/// The run that comes next, is under way, or was the last.
pub(super) struct Run {
    pub(super) number: u64,
    pub(super) attempt: u32,
    pub(super) secret: Hex32,
    /// The elements of its link; `None` for the direct way.
    pub(super) link_order: Option<LinkOrder>,
    /// What it is signed as; `None` for one that is no part of a result.
    pub(super) of: Option<RunOf>,
    /// Whether its packets are recorded.
    pub(super) record: bool,
    /// Where its far ends listen, and since when, by the wall clock.
    pub(super) listens: (Vec<SocketAddr>, Nanos),
    /// What the agent's host said of itself, if anything.
    pub(super) host: Option<HostSample>,
    /// What the emulator did.
    pub(super) emulation: Vec<DirectionSample>,
    /// What the agent's policy allowed a connection, where one came near it.
    pub(super) held_back: Option<BitRate>,
    /// What was ordered, while it is prepared.
    pub(super) prepared: Option<Prepared>,
}

/// What the account of a run is held against.
pub(super) struct Prepared {
    /// Its connections, seen from the test host.
    pub(super) flows: Vec<Direction>,
    pub(super) message: Bytes,
    pub(super) calls: Calls,
    pub(super) hold: Hold,
    pub(super) cap: Nanos,
}

impl Prepared {
    /// True of ends that made the calls of the plan, from threads that were held as it says; those of an older program
    /// know of no others than its own.
    fn holds(&self, ends: &[EndReport]) -> bool {
        let asked = |direction: &Direction| match direction {
            Direction::Receive => self.message,
            Direction::Send => self.calls.black_box_read.size(self.message),
        };
        ends.iter().zip(&self.flows).all(|(end, direction)| {
            let EndSample { write_call, call_bytes, hold, .. } = end.sample;
            (write_call, call_bytes, hold) == (self.calls.write, asked(direction), self.hold)
        })
    }
}

impl Run {
    /// One of which nothing is known yet.
    pub(super) const fn new((number, attempt): (u64, u32), secret: Hex32) -> Self {
        Self {
            number,
            attempt,
            secret,
            link_order: None,
            of: None,
            record: false,
            listens: (Vec::new(), Nanos::ZERO),
            host: None,
            emulation: Vec::new(),
            held_back: None,
            prepared: None,
        }
    }

    /// What a black box in this role is told of it before it begins.
    pub(super) fn preparation(
        &self,
        which: Which,
        role: Role,
        (sockets, lead_in): (&SocketPlan, Nanos),
        flows: &[Direction],
        terms: &Terms,
    ) -> Preparation {
        let (placement, first_cpu) = terms.pinning.told();
        Preparation {
            which,
            role,
            flows: flows.to_vec(),
            message_bytes: terms.message,
            calls: terms.calls,
            placement,
            first_cpu,
            amount: match terms.amount {
                Amount::Messages(count) => Carried::Messages(count),
                Amount::Window(window) => Carried::WindowNs(window),
            },
            cap_ns: terms.cap,
            connect_ns: Some(LISTENING),
            lease_ns: lead_in.saturating_add(terms.cap),
            buffer_bytes: sockets.black_box_buffer,
            window_clamp_bytes: sockets.black_box_window_clamp,
            secret: self.secret,
            link: self.link_order.clone(),
            of: self.of.clone(),
            record: self.record,
        }
    }

    /// The account of its far ends in this role, if it can be one.
    pub(super) fn account(
        &mut self,
        role: Role,
        document: &[u8],
        prepared: &Prepared,
    ) -> Result<Vec<EndReport>, String> {
        let Account { ends, emulation, held_back, host } =
            serde_json::from_slice(document).map_err(|error| error.to_string())?;
        let flows = prepared.flows.len();
        if ends.len() != flows || !ends.iter().all(|end| end.sample.role == role) {
            return Err(format!("the account of {} ends, {flows} were prepared", ends.len()));
        }
        if ends.iter().any(|end| end.bytes > MOST || end.messages > MOST.count()) {
            return Err("more bytes than a host can send".to_owned());
        }
        if !prepared.holds(&ends) {
            return Err(
                "its ends made other calls than the plan's, or were placed otherwise (comm); \
                        run the same btu there"
                    .to_owned(),
            );
        }
        if self.link_order.is_some() && emulation.len() != 2 {
            return Err("no account of the emulated link".to_owned());
        }
        let link = LocalTestbed::link_name(role);
        self.emulation = emulation
            .into_iter()
            .map(|seen| DirectionSample { link: link.clone(), ..seen })
            .collect();
        self.held_back = held_back;
        self.host = host;
        Ok(ends)
    }
}

/// From the preparation of a run to its first byte: connections are made, an activity starts.
const LISTENING: Nanos = Nanos::from_secs(15);
/// Of what one connection of a run can carry: sums of such numbers are still numbers.
const MOST: Bytes = Bytes::new(1 << 50);

#[cfg(test)]
mod tests {
    use btu_core::run::calls::ReadCall;
    use btu_core::run::calls::WriteCall;

    use super::*;

    /// The far end of one connection, as an agent tells it.
    fn end(said: &serde_json::Value) -> EndReport {
        let mut sample = serde_json::json!({
            "role": "active", "calls": 1, "cpu_ns": null, "run_delay_ns": null,
            "voluntary_switches": null, "involuntary_switches": null, "cpus": [],
            "options": {}, "tcp_info": null, "series": null,
        });
        sample.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        let report = serde_json::json!({
            "sample": sample, "bytes": 1, "messages": 0, "started": null, "ended": null,
            "read_elapsed": 0, "longest_pause": null, "unacknowledged": null, "fault": null,
        });
        serde_json::from_value(report).unwrap()
    }

    #[test]
    fn an_agent_that_makes_other_calls_than_the_plan_s_is_found_out() {
        let calls = Calls {
            write: WriteCall::Batched,
            black_box_read: ReadCall::LowWater,
            ..Calls::default()
        };
        let flows = vec![Direction::Send];
        let (message, hold) = (Bytes::new(100), Hold::Pinned);
        let mut prepared = Prepared { flows, message, calls, hold, cap: Nanos::ZERO };
        let holds = |said| prepared.holds(&[end(&said)]);
        assert!(holds(serde_json::json!({"call_bytes": 262_144, "write_call": "batched"})));
        // One that knows nothing of calls.
        assert!(!holds(serde_json::json!({"call_bytes": 100})));
        assert!(!holds(serde_json::json!({"call_bytes": 262_144})));
        assert!(!holds(serde_json::json!({"call_bytes": 100, "write_call": "batched"})));
        // One that pins whatever it is told.
        prepared.hold = Hold::Free;
        let said = serde_json::json!({"call_bytes": 262_144, "write_call": "batched"});
        assert!(!prepared.holds(&[end(&said)]));
        let said =
            serde_json::json!({"call_bytes": 262_144, "write_call": "batched", "hold": "free"});
        assert!(prepared.holds(&[end(&said)]));
    }
}
