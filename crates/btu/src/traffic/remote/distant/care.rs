//! What is said to the agents of a cluster while this host carries its ends: nothing as long as blocks are
//! due, then who has sent what, until all have ended.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::traffic::Flow;
use btu_engine::traffic::Watch;

use super::super::peers::misfit;
use super::super::words::Told;
use super::super::words::Word;
use super::Course;
use super::SLICE;
use super::patience::Patience;
use crate::traffic::expand;
use btu_engine::time::now;

/// Agents that are not waited for any more, with the reason.
pub(super) type Lost = BTreeMap<Role, String>;

/// A cluster whose ends here run.
pub(super) struct Care<'a> {
    course: &'a Course<'a>,
    watch: &'a Watch,
    /// The agents that know what was sent to them.
    told: BTreeSet<Role>,
    /// Agents that have nothing left to do or to tell.
    over: BTreeSet<Role>,
    patience: BTreeMap<Role, Patience<Standing>>,
    pub(super) lost: Lost,
}

/// What shows that a job goes on at an agent: payload that this host and that one moved, and whether each
/// has sent all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Standing {
    here: Bytes,
    there: Bytes,
    own_is_sent: bool,
    other_is_sent: bool,
}

impl<'a> Care<'a> {
    pub(super) fn new(course: &'a Course<'a>, watch: &'a Watch) -> Self {
        let (told, over) = (BTreeSet::new(), BTreeSet::new());
        Self { course, watch, told, over, patience: BTreeMap::new(), lost: Lost::new() }
    }

    /// Until all have ended here.
    pub(super) fn take(&mut self, begin: Nanos, is_over: impl Fn() -> bool) {
        let Course { peers, order, roles, over, .. } = self.course;
        let quiet_until = begin.saturating_add(self.course.span);
        while !is_over() {
            thread::park_timeout(Duration::from(SLICE));
            let gone = |role: &Role| peers.is_closed(*role);
            if order.interrupt.load(Relaxed) || roles.iter().any(gone) {
                self.give_up();
            }
            if now() < quiet_until || over.load(Relaxed) {
                continue;
            }
            self.exchange();
            peers.feed();
        }
        // Whoever only sends is often done before it was looked at again.
        if !over.load(Relaxed) {
            self.exchange();
        }
    }

    /// What was sent here goes there, and the other way round. One that does not go on is not waited for;
    /// if it is lost, nothing is, because the run is made again.
    fn exchange(&mut self) {
        for role in &self.course.roles {
            if self.lost.contains_key(role) || self.over.contains(role) {
                continue;
            }
            if let Err(cause) = self.exchange_with(*role) {
                if self.course.peers.is_away() {
                    return self.give_up();
                }
                self.lost.insert(*role, cause.sentence());
                self.watch.abandon(|number| is_of(*role, &self.course.flows[number]));
            }
        }
    }

    /// An agent hears of the flows to it as soon as they are sent: it must not wait for those to others.
    fn exchange_with(&mut self, role: Role) -> Result<(), EngineError> {
        let Course { peers, job, flows, order, .. } = self.course;
        let named =
            |reason: String| EngineError::Refused(format!("agent {}: {reason}", peers.name(role)));
        let news = self.watch.sent_of(|number| is_of(role, &flows[number]));
        let own_is_sent = news.is_some();
        if let Some(datagrams) = news.filter(|_| !self.told.contains(&role)) {
            peers.say(role, &Word::Sent { job: *job, datagrams })?;
            self.told.insert(role);
        }
        let (sent, there) = match peers.say(role, &Word::Ask { job: *job })? {
            Told::Running { sent, moved_bytes } => (sent, moved_bytes),
            Told::Over { sent, .. } => {
                let counts = of(role, flows, sent);
                if let Some(reason) = untold(role, flows, &counts) {
                    return Err(named(reason));
                }
                self.watch.sent_elsewhere(&counts);
                self.over.insert(role);
                return Ok(());
            }
            _ => return Err(misfit()),
        };
        let here = self.watch.moved_of(|number| is_of(role, &flows[number]));
        let other_is_sent = sent.is_some();
        if let Some(datagrams) = sent {
            self.watch.sent_elsewhere(&of(role, flows, datagrams));
        }
        let most = order.stall.saturating_add(BEYOND);
        let patience = self.patience.entry(role).or_insert_with(|| Patience::new(now(), most));
        let standing = Standing { here, there, own_is_sent, other_is_sent };
        patience.sees(now(), standing).map_err(named)
    }

    fn give_up(&self) {
        self.course.over.store(true, Relaxed);
        self.watch.give_up();
    }
}

/// Datagrams of the flows that an agent sends; it says nothing of others.
fn of(role: Role, flows: &[Flow], datagrams: Vec<Option<u64>>) -> Vec<Option<u64>> {
    let there = expand::place(role);
    flows.iter().zip(datagrams).map(|(flow, count)| count.filter(|_| flow.from == there)).collect()
}

/// Why an agent whose part is over, as it says, would be waited for without end: a flow that it sends
/// ends here once its count is known.
fn untold(role: Role, flows: &[Flow], counts: &[Option<u64>]) -> Option<String> {
    let there = expand::place(role);
    let is_told = |number: usize| counts.get(number).copied().flatten().is_some();
    let all_told = flows.iter().enumerate().all(|(n, flow)| flow.from != there || is_told(n));
    (!all_told).then(|| "it told an end of its part and not what it sent".to_owned())
}

/// True for a flow with an end at that part.
pub(super) fn is_of(role: Role, flow: &Flow) -> bool {
    let there = expand::place(role);
    flow.from == there || flow.to == there
}

/// How much longer an agent may see nothing than whoever sends to it: it is told the end a little later.
pub(super) const BEYOND: Nanos = Nanos::from_secs(10);

#[cfg(test)]
mod tests {
    use btu_core::traffic::Drain;
    use btu_core::units::Bytes;
    use btu_engine::traffic::Carrier;
    use btu_engine::traffic::Offer;

    use super::*;

    fn flow(from: Role, to: Role) -> Flow {
        Flow {
            from: expand::place(from),
            to: expand::place(to),
            address: None,
            carrier: Carrier::Udp,
            port: 0,
            offer: Offer::Endless(Vec::new().into()),
            start: Nanos::ZERO,
            duration: Nanos::ZERO,
            write: Bytes::ZERO,
            read: Bytes::ZERO,
            drain: Drain::No,
            pace: None,
            code_point: None,
            has_receipts: false,
            held_to: None,
        }
    }

    #[test]
    fn an_end_without_a_count_of_every_flow_that_is_sent_there_is_none() {
        let flows = [
            flow(Role::Test, Role::Active),
            flow(Role::Active, Role::Test),
            flow(Role::Passive, Role::Test),
        ];
        let untold = |role, counts: &[Option<u64>]| {
            untold(role, &flows, &of(role, &flows, counts.to_vec())).is_some()
        };
        for whole in [&[None, Some(0), None][..], &[Some(1), Some(7)], &[None, Some(3), Some(4)]] {
            assert!(!untold(Role::Active, whole), "{whole:?}");
        }
        for lie in [&[][..], &[None; 3], &[Some(1)], &[Some(1), None, Some(1)]] {
            assert!(untold(Role::Active, lie), "{lie:?}");
        }
        let only_receives = [flow(Role::Test, Role::Active)];
        assert_eq!(super::untold(Role::Active, &only_receives, &[]), None);
    }
}
