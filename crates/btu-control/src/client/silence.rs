//! How long an agent is told that its conductor will be silent: as long as anything that is under way needs.
//!
//! Every word to an agent begins its lease anew, so a short one would end what a longer one had announced:
//! a cluster that runs beside a longer one, or an agent that waits while another's report is read. What
//! each job needs is kept from its start to its end, and every word announces the longest of them.

use std::collections::BTreeMap;

use btu_core::units::Nanos;

/// The silence of a conductor towards one agent.
#[derive(Debug, Default)]
pub struct Silence {
    /// Until when each job that is under way has nothing to say.
    until: BTreeMap<u32, Nanos>,
    /// Until when the agent waits for a word.
    told: Nanos,
}

impl Silence {
    /// Between two words, where nothing runs.
    pub const LEASE: Nanos = Nanos::from_secs(10);

    /// A job has nothing to say until then.
    pub fn promise(&mut self, job: u32, until: Nanos) {
        self.until.insert(job, until);
    }

    /// A job is over.
    pub fn forget(&mut self, job: u32) {
        self.until.remove(&job);
    }

    /// The lease of a word that is said now.
    pub fn announce(&mut self, now: Nanos) -> Nanos {
        let lease = Self::LEASE.max(self.needed().since(now));
        self.told = now.saturating_add(lease);
        lease
    }

    /// True where the agent has to hear something soon.
    pub fn is_due(&self, now: Nanos) -> bool {
        self.told < self.needed().max(now.saturating_add(SOON))
    }

    fn needed(&self) -> Nanos {
        self.until.values().copied().max().unwrap_or(Nanos::ZERO)
    }
}

/// Well within [`Silence::LEASE`].
const SOON: Nanos = Nanos::from_secs(5);

#[cfg(test)]
mod tests {
    use crate::HostId;
    use crate::Identity;
    use crate::agent::Action;
    use crate::agent::Agent;
    use crate::agent::ConnId;
    use crate::agent::Event;
    use crate::agent::Measured;
    use crate::agent::Peer;
    use crate::agent::Roster;
    use crate::agent::Setup;
    use crate::agent::WorkerId;
    use crate::invite::Rights;
    use crate::message::Answer;
    use crate::message::MAJOR;
    use crate::message::MINOR;
    use crate::message::Offer;
    use crate::message::Request;
    use crate::message::Reservation;
    use crate::message::ServiceOrder;
    use crate::message::ServiceWord;
    use crate::message::Which;
    use crate::policy::Policy;
    use crate::secret::Hex32;
    use btu_core::units::Bytes;
    use serde_json::Value;

    use super::*;

    const CONN: ConnId = ConnId(1);
    const WORKER: WorkerId = WorkerId(1);

    fn s(count: u64) -> Nanos {
        Nanos::from_secs(count)
    }

    /// A real agent in virtual time, and what this host tells it.
    struct Line {
        agent: Agent,
        silence: Silence,
        seq: u64,
        is_alive: bool,
    }

    impl Line {
        fn new() -> Self {
            let [own, peer] = [(), ()].map(|()| Identity::ephemeral().unwrap().id());
            let setup = Setup {
                id: own,
                build: "1".to_owned(),
                policy: Policy::default(),
                emulation: Offer::None(String::new()),
                stopped: false,
                measured: Measured::default(),
            };
            let peers = [(peer, runner(peer))].into();
            let agent = Agent::new(setup, Roster { peers, invites: Vec::new() });
            let mut line = Self { agent, silence: Silence::default(), seq: 1, is_alive: true };
            line.on(Nanos::ZERO, Event::Accepted { conn: CONN, from: [10, 0, 0, 1].into() });
            line.on(Nanos::ZERO, Event::Secured { conn: CONN, peer, binding: [0; 32] });
            let hello = Request::Hello { major: MAJOR, minor: MINOR, build: "1".to_owned() };
            for request in [hello, Request::Reserve(reservation()), begin()] {
                line.on(Nanos::ZERO, Event::Heard { conn: CONN, request });
            }
            line.answered(Nanos::ZERO);
            line
        }

        fn on(&mut self, now: Nanos, event: Event) {
            let killed = Action::Kill { worker: WORKER };
            self.is_alive &= !self.agent.on(now, event).contains(&killed);
        }

        fn answered(&mut self, now: Nanos) {
            let which = Which { run: 1, attempt: 1, seq: self.seq };
            let answer = Answer::Said { which, said: Value::Null, moved_bytes: Bytes::ZERO };
            self.on(now, Event::Answered { worker: WORKER, answer });
        }

        /// A word with nothing to spare.
        fn say(&mut self, now: Nanos) {
            self.seq += 1;
            let which = Which { run: 1, attempt: 1, seq: self.seq };
            let lease_ns = self.silence.announce(now);
            let word = Request::Word(Box::new(ServiceWord { which, lease_ns, word: Value::Null }));
            self.on(now, Event::Heard { conn: CONN, request: word });
            self.answered(now);
        }
    }

    fn runner(id: HostId) -> Peer {
        let (id, name, added) = (id.to_string(), "host".to_owned(), String::new());
        Peer { id, name, rights: Rights::Runner, added }
    }

    fn reservation() -> Reservation {
        Reservation {
            plan: "traffic".to_owned(),
            longest_run_ns: s(300),
            silence_ns: s(10),
            flows: 2,
            activities: Vec::new(),
            emulation: false,
            services: vec!["traffic".to_owned()],
            test: false,
        }
    }

    fn begin() -> Request {
        Request::Service(Box::new(ServiceOrder {
            which: Which { run: 1, attempt: 1, seq: 1 },
            service: "traffic".to_owned(),
            flows: 2,
            lease_ns: s(10),
            secret: Hex32::new([9; 32]),
            order: Value::Null,
        }))
    }

    #[test]
    fn a_short_job_beside_a_long_one_does_not_end_it() {
        let mut line = Line::new();
        line.silence.promise(1, s(125));
        line.say(s(1));
        // All words of another job, in the first seconds of the long one.
        line.silence.promise(2, s(13));
        for at in 2..5 {
            line.say(s(at));
        }
        line.silence.forget(2);
        line.say(s(5));
        for at in 6..=125 {
            assert!(!line.silence.is_due(s(at)) || at >= 120, "at {at} s");
            line.on(s(at), Event::Tick);
            assert!(line.is_alive, "ended at {at} s");
        }
        // Once it is over, so is its lease.
        line.silence.forget(1);
        line.say(s(126));
        line.on(s(126 + 10 + 3), Event::Tick);
        assert!(!line.is_alive);
    }

    #[test]
    fn one_that_waits_while_another_is_spoken_to_is_told_in_time() {
        let mut line = Line::new();
        let mut words = 0;
        for at in 1..=1000 {
            if line.silence.is_due(s(at)) {
                line.say(s(at));
                words += 1;
            }
            line.on(s(at), Event::Tick);
            assert!(line.is_alive, "ended at {at} s");
        }
        assert_eq!(words, 1000_u64.div_ceil((Silence::LEASE - SOON).count() / 1_000_000_000 + 1));
        // Nobody says anything: that is what the lease is for.
        line.on(s(1000) + Silence::LEASE + s(3), Event::Tick);
        assert!(!line.is_alive);
    }
}
