//! What the hosts of a scenario say to each other around a run: the conductor orders, an agent's
//! service answers. While a run lasts nothing is said.

use std::net::IpAddr;

use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use serde::Deserialize;
use serde::Serialize;

use crate::traffic::expand::Cast;
use crate::traffic::expand::Talked;

/// The name of the service.
pub(crate) const SERVICE: &str = "traffic";

/// How to ask for fewer connections.
pub(crate) const FEWER_FLOWS: &str = "--sessions, or fewer flows in the scenario";
/// Connections of one conversation at once, as browsers have them, unless it has more.
pub(crate) const OF_A_TALK: usize = 6;
/// Blocks of all jobs that are open at an agent at once: both hosts keep 64 bytes for each.
pub(crate) const MOST_BLOCKS: usize = 8_000_000;
/// Of round trips under load: sixteen with load, four that probe, and room for earlier probes of which the
/// agent has not yet seen the end.
pub(crate) const OF_A_PROBE: usize = 24;

/// What the conductor says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "word", rename_all = "snake_case")]
pub(crate) enum Word {
    /// Wants to know how a job goes.
    Ask {
        /// Its number.
        job: u32,
    },
    /// Wants datagrams of a capacity search received.
    Capacity {
        /// The number of the job: of every one another.
        job: u32,
        /// Payload of a datagram.
        datagram_bytes: Bytes,
        /// How far the agent's clock is ahead.
        ahead_ns: i64,
    },
    /// Wants to know the agent's clock.
    Clock {},
    /// Ends a job, whatever it does.
    Close {
        /// Its number.
        job: u32,
    },
    /// Wants to know whether all connections are there.
    Met {
        /// The number of the job.
        job: u32,
    },
    /// Wants probes of a path MTU answered.
    PathMtu {
        /// The number of the job: of every one another.
        job: u32,
    },
    /// Wants the ends of a cluster.
    Prepare(Box<Preparation>),
    /// Wants a part of what was seen.
    Read {
        /// The number of the job.
        job: u32,
        /// From which byte of the report on.
        from: usize,
    },
    /// Wants requests answered.
    Respond {
        /// The number of the job.
        job: u32,
    },
    /// Everything that the conductor sends in a job was sent.
    Sent {
        /// The number of the job.
        job: u32,
        /// Datagrams of each flow; none for those that are not sent there.
        datagrams: Vec<Option<u64>>,
    },
    /// The first block is due then.
    Start {
        /// The number of the job.
        job: u32,
        /// On the agent's clock.
        at_ns: Nanos,
    },
}

/// A cluster as it concerns one agent. Both hosts draw the same trains from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Preparation {
    /// The number of the job: of every one another.
    pub(crate) job: u32,
    /// The part of the agent.
    pub(crate) role: Role,
    /// The cluster, as a scenario in its TOML form.
    pub(crate) scenario: String,
    /// Every test by so many sessions at once.
    pub(crate) sessions: u32,
    /// What all random streams derive from.
    pub(crate) seed: u64,
    /// How long a receiver may see nothing after its sender's end.
    pub(crate) linger_ns: Nanos,
    /// How long nothing may move before the job is given up.
    pub(crate) stall_ns: Nanos,
}

/// What the agent says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "told", rename_all = "snake_case")]
pub(crate) enum Told {
    /// Its clock.
    Clock {
        /// `CLOCK_MONOTONIC`.
        now_ns: Nanos,
    },
    /// The job is over, or never was.
    Closed {},
    /// The ends listen.
    Listening {
        /// Where.
        address: IpAddr,
        /// The port of each flow; none for those without an end there.
        ports: Vec<Option<u16>>,
        /// The port of each conversation; none for those without an end there.
        talks: Vec<Option<u16>>,
        /// What was drawn, in short: the same on both hosts.
        drawn: String,
        /// What flows over QUIC are shown there, in DER and in hexadecimal digits; none where none is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        certificate: Option<String>,
    },
    /// All connections are there, or the job has begun.
    Ready {},
    /// A part of what was seen.
    Part {
        /// From the byte that was asked for on.
        text: String,
    },
    /// It cannot be done.
    Refused {
        /// Operation, operand and cause.
        reason: String,
    },
    /// The job goes on.
    Running {
        /// Once all that is sent there was: datagrams of each flow, none for those that are not.
        sent: Option<Vec<Option<u64>>>,
        /// Payload so far: what shows that it goes on.
        #[serde(default)]
        moved_bytes: Bytes,
    },
    /// The job has ended.
    Over {
        /// How long the report is.
        length: usize,
        /// Datagrams of each flow that was sent there.
        sent: Vec<Option<u64>>,
    },
    /// Connections are awaited.
    Waiting {},
}

/// What was drawn, in short: hosts that draw other trains must not measure together.
pub(crate) fn drawn(cast: &Cast, talks: &[Talked]) -> String {
    let mut hash = blake3::Hasher::new_derive_key("btu traffic drawn 1");
    for one in &cast.flows {
        let text =
            format!("{} {} {} {} {:?}", one.test, one.session, one.from, one.to, one.flow.carrier);
        hash.update(text.as_bytes());
        if one.flow.has_receipts {
            hash.update(b" receipts");
        }
        let (count, bytes) = one.drawn();
        hash.update(&count.to_le_bytes());
        hash.update(&bytes.to_le_bytes());
    }
    for Talked { said: talk, .. } in talks {
        hash.update(format!("{} {} {} {}", talk.test, talk.session, talk.from, talk.to).as_bytes());
    }
    hash.finalize().to_hex()[..16].to_owned()
}
