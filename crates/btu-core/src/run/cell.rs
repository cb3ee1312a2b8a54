//! What a run measures: case x application x activity, and the stable name of that point.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::Serialize;

use crate::role::Role;
use crate::units::Bytes;

/// A way of communicating of the test host (maly1996, 4.2, eq. 3), in the paper's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
//= maly1996#4.2 eq. 3
pub enum Case {
    /// test -> active
    #[serde(rename = "SEND")]
    Send,
    /// active -> test
    #[serde(rename = "RECV")]
    Recv,
    /// test -> active, delayed
    #[serde(rename = "SEND+DL")]
    SendDelayed,
    /// test -> active and active -> test at once
    #[serde(rename = "SEND_RECV")]
    SendRecv,
    /// active -> test and passive -> test, delayed
    #[serde(rename = "2RECV+DL")]
    TwoRecvDelayed,
    /// test -> active and test -> passive, with drops
    #[serde(rename = "2SEND+DR")]
    TwoSendDropped,
}

/// What the link of a case does to packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Impairment {
    /// Every packet is delayed by the plan's DL, each way.
    Delay,
    /// Packets that carry the data are dropped by the plan's DR pattern; what comes back is spared.
    Drop,
    /// The packets pass as they are.
    None,
}

/// Where data flows, seen from the test host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Towards the test host.
    Receive,
    /// Away from the test host.
    Send,
}

/// One connection of a case: the black box at its far end, and where its data flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow {
    /// The black box.
    pub peer: Role,
    /// Seen from the test host.
    pub direction: Direction,
}

/// A class of applications, known by its message size (maly1996, eq. 2).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
//= maly1996#4.2 eq. 2
pub struct Application {
    /// `telnet`, `ftp`, `audio`, `netscape`, `video`.
    pub name: String,
    /// Size of one message, one write each.
    pub message_bytes: Bytes,
}

/// The name of a host activity, or of its absence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActivityName(String);

/// One point of the matrix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// The case x.
    pub case: Case,
    /// The application y.
    pub application: Application,
    /// The activity z, `none` for a baseline.
    pub activity: ActivityName,
}

impl Case {
    /// All cases, in the paper's order.
    pub const ALL: [Self; 6] = [
        Self::Send,
        Self::Recv,
        Self::SendDelayed,
        Self::SendRecv,
        Self::TwoRecvDelayed,
        Self::TwoSendDropped,
    ];

    /// The paper's acronym.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Send => "SEND",
            Self::Recv => "RECV",
            Self::SendDelayed => "SEND+DL",
            Self::SendRecv => "SEND_RECV",
            Self::TwoRecvDelayed => "2RECV+DL",
            Self::TwoSendDropped => "2SEND+DR",
        }
    }

    /// The connections of the case; each carries an equal part of the amount.
    pub const fn flows(self) -> &'static [Flow] {
        match self {
            Self::Send | Self::SendDelayed => &[SEND],
            Self::Recv => &[RECV],
            Self::SendRecv => &[SEND, RECV],
            Self::TwoRecvDelayed => &[RECV, PASSIVE_RECV],
            Self::TwoSendDropped => &[SEND, PASSIVE_SEND],
        }
    }

    /// What the link of this case does.
    pub const fn impairment(self) -> Impairment {
        match self {
            Self::Send | Self::Recv | Self::SendRecv => Impairment::None,
            Self::SendDelayed | Self::TwoRecvDelayed => Impairment::Delay,
            Self::TwoSendDropped => Impairment::Drop,
        }
    }
}

impl ActivityName {
    /// The name of an activity in its registry.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// No activity: a baseline.
    pub fn none() -> Self {
        Self::new("none")
    }

    /// True for a baseline.
    pub fn is_none(&self) -> bool {
        self.0 == "none"
    }

    /// The name as written in plans and results.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Cell {
    /// The same point on every host and in every version: `SEND+DL/audio/cpu`.
    pub fn id(&self) -> String {
        self.to_string()
    }
}

/// The text is not the acronym of a case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown case \"{0}\"; write SEND, RECV, SEND+DL, SEND_RECV, 2RECV+DL or 2SEND+DR")]
pub struct UnknownCase(String);

impl FromStr for Case {
    type Err = UnknownCase;
    fn from_str(text: &str) -> Result<Self, UnknownCase> {
        let found = Self::ALL.into_iter().find(|case| case.name() == text);
        found.ok_or_else(|| UnknownCase(text.to_owned()))
    }
}

impl fmt::Display for Case {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl fmt::Display for ActivityName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}/{}", self.case, self.application.name, self.activity)
    }
}

const SEND: Flow = Flow { peer: Role::Active, direction: Direction::Send };
const RECV: Flow = Flow { peer: Role::Active, direction: Direction::Receive };
const PASSIVE_SEND: Flow = Flow { peer: Role::Passive, direction: Direction::Send };
const PASSIVE_RECV: Flow = Flow { peer: Role::Passive, direction: Direction::Receive };

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(peer: Role, direction: Direction) -> Flow {
        Flow { peer, direction }
    }

    //= maly1996#3
    //= maly1996#4.2 eq. 3
    #[test]
    fn the_cases_have_the_connections_and_impairments_of_the_paper() {
        use Direction::{Receive, Send};
        use Role::{Active, Passive};
        let table: [(&str, &[Flow], Impairment); 6] = [
            ("SEND", &[flow(Active, Send)], Impairment::None),
            ("RECV", &[flow(Active, Receive)], Impairment::None),
            ("SEND+DL", &[flow(Active, Send)], Impairment::Delay),
            ("SEND_RECV", &[flow(Active, Send), flow(Active, Receive)], Impairment::None),
            ("2RECV+DL", &[flow(Active, Receive), flow(Passive, Receive)], Impairment::Delay),
            ("2SEND+DR", &[flow(Active, Send), flow(Passive, Send)], Impairment::Drop),
        ];
        for (case, (name, flows, impairment)) in Case::ALL.into_iter().zip(table) {
            assert_eq!((case.name(), case.impairment()), (name, impairment));
            assert_eq!(case.flows(), flows, "{name}");
            assert_eq!(name.parse(), Ok(case));
        }
    }
}
