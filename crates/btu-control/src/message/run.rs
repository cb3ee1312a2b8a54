//! One run of a cell, as conductor and agent speak of it.

use btu_core::placement::Placement;
use btu_core::role::Role;
use btu_core::run::calls::Calls;
use btu_core::run::cell::Direction;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use serde::Deserialize;
use serde::Serialize;

use super::RunOf;
use crate::secret::Hex32;

/// One run of a cell, as it concerns one black box.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preparation {
    /// Which request, run and attempt.
    #[serde(flatten)]
    pub which: Which,
    /// The part of this black box.
    pub role: Role,
    /// The connections, seen from the test host.
    pub flows: Vec<Direction>,
    /// Size of a message.
    pub message_bytes: Bytes,
    /// By which calls both sides write and read.
    #[serde(default, skip_serializing_if = "Calls::is_default")]
    pub calls: Calls,
    /// On which CPUs the data threads run.
    #[serde(default, skip_serializing_if = "Placement::is_split")]
    pub placement: Placement,
    /// Which of the CPUs that the agent may use is the first data thread's, from 0 and going round.
    #[serde(default)]
    pub first_cpu: u16,
    /// How much each connection carries.
    pub amount: Carried,
    /// When a run that has not ended is given up.
    pub cap_ns: Nanos,
    /// How long the conductor may take to make the first data connection; `None` for as long as the
    /// lease.
    #[serde(default)]
    pub connect_ns: Option<Nanos>,
    /// How long it will be silent once the last one is there: no traffic outlives it.
    pub lease_ns: Nanos,
    /// `SO_SNDBUF` and `SO_RCVBUF` of this end.
    pub buffer_bytes: Option<Bytes>,
    /// `TCP_WINDOW_CLAMP` of this end.
    pub window_clamp_bytes: Option<Bytes>,
    /// What a data connection must know.
    pub secret: Hex32,
    /// What the link does; `None` for the direct way.
    pub link: Option<LinkOrder>,
    /// Which run of which test this is; `None` for one that is no part of a result.
    #[serde(default)]
    pub of: Option<RunOf>,
    /// Whether its packets are to be recorded.
    #[serde(default)]
    pub record: bool,
}

/// The elements of an emulated link, in their text form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkOrder {
    /// Away from the test host.
    pub up: Vec<String>,
    /// Towards it.
    pub down: Vec<String>,
    /// Seed of the elements that draw.
    pub seed: u64,
}

/// The whole list of what the keeper of a link can be asked, a line each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum LinkWish {
    /// Give the link these elements, and count anew.
    Configure {
        /// The elements.
        link: LinkOrder,
    },
    /// Say what the link did since then.
    Samples {},
}

/// How much a connection carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carried {
    /// So many messages.
    Messages(u64),
    /// As many as can be written in this time.
    WindowNs(Nanos),
}

/// Which request of which run: what makes a command idempotent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Which {
    /// Number of the run within the reservation.
    pub run: u64,
    /// 1 for the first try.
    pub attempt: u32,
    /// Number of the request; each is answered once.
    pub seq: u64,
}

/// The most wire packets that an agent records of one direction of a link: with their headers, those
/// of both directions fit into a document.
pub const MOST_PACKETS: usize = 100_000;
