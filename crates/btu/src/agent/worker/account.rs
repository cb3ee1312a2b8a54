//! What a run leaves behind at a black box, and whether the agent's policy held it back.

use btu_core::manifest;
use btu_core::role::Role;
use btu_core::sample::DirectionSample;
use btu_core::sample::HostSample;
use btu_core::units::BitRate;
use btu_engine::comm::EndReport;
use btu_testbed::local::LocalTestbed;
use serde::Deserialize;
use serde::Serialize;

/// What a run leaves behind at a black box.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Account {
    /// The far ends, in the order of the preparation.
    pub(crate) ends: Vec<EndReport>,
    /// What the emulator did; empty without one.
    pub(crate) emulation: Vec<DirectionSample>,
    /// What the agent's policy allowed a connection, where one came near it.
    #[serde(default)]
    pub(crate) held_back: Option<BitRate>,
    /// What this host says of itself: of a run whose packets are recorded everything, counters that moved
    /// included, of any other the settings that changed, if some did.
    #[serde(default)]
    pub(crate) host: Option<HostSample>,
}

impl Account {
    /// With the name that the link to this role has in a result.
    pub(super) fn of_role(mut self, role: Role) -> Self {
        let link = LocalTestbed::link_name(role);
        self.emulation.iter_mut().for_each(|seen| seen.link.clone_from(&link));
        self
    }

    /// What the host will sign of it.
    pub(super) fn hash(&self) -> [u8; 32] {
        manifest::account(self.ends.iter().map(|end| &end.sample), &self.emulation)
    }
}

/// A fair part of a rate among so many senders, never less than the byte per second without which a
/// kernel does not pace at all.
pub(in crate::agent) fn share(rate: BitRate, senders: usize) -> BitRate {
    let part = rate.bit_per_second() / u64::try_from(senders.max(1)).unwrap_or(u64::MAX);
    BitRate::new(part.max(8))
}

/// Whether an end sent four fifths of what it was allowed, or more: the kernel counts headers
/// and rounds up to whole segments, the end counts user bytes.
pub(super) fn is_at(end: &EndReport, part: BitRate) -> bool {
    let sent = end.started.zip(end.ended).filter(|_| end.messages > 0);
    let rate = sent.and_then(|(started, ended)| end.bytes.per(ended.since(started)));
    rate.is_some_and(|rate| rate.bit_per_second() / 4 >= part.bit_per_second() / 5)
}
