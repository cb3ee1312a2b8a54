//! Invitations at an agent whose state nobody can write: they are good once and for so many tries all the same.

use btu_control::HostId;
use btu_control::Identity;
use btu_control::agent::Action;
use btu_control::agent::Agent;
use btu_control::agent::ConnId;
use btu_control::agent::Event;
use btu_control::agent::Joiner;
use btu_control::agent::Roster;
use btu_control::invite::OpenInvite;
use btu_control::invite::Rights;
use btu_control::invite::Secret;
use btu_control::message::Answer;
use btu_control::message::MAJOR;
use btu_control::message::MINOR;
use btu_control::message::Request;
use btu_control::policy::Policy;
use btu_core::units::Nanos;

use crate::agents::setup;

const NOW: Nanos = Nanos::from_secs(1);
const TRIES: u32 = 5;

/// An agent that reads its state before each greeting and each proof; nothing of it ever changes.
struct Door {
    agent: Agent,
    kept: Roster,
    last: u64,
}

impl Door {
    fn new(secrets: &[Secret]) -> Self {
        let own = Identity::ephemeral().unwrap().id();
        let invites = secrets.iter().map(|secret| open(*secret)).collect();
        let kept = Roster { invites, ..Roster::default() };
        let agent = Agent::new(setup(own, &Policy::default()), kept.clone());
        Self { agent, kept, last: 0 }
    }

    fn hear(&mut self, conn: ConnId, request: Request) -> Vec<Action> {
        self.agent.set_roster(self.kept.clone());
        self.agent.on(NOW, Event::Heard { conn, request })
    }

    /// What comes of a greeting.
    fn greet(&mut self, who: HostId) -> (ConnId, Vec<Action>) {
        self.last += 1;
        let conn = ConnId(self.last);
        self.agent.on(NOW, Event::Accepted { conn, from: [10, 0, 0, 1].into() });
        self.agent.on(NOW, Event::Secured { conn, peer: who, binding: [7; 32] });
        let hello = Request::Hello { major: MAJOR, minor: MINOR, build: "1".to_owned() };
        (conn, self.hear(conn, hello))
    }

    /// What comes of a proof by somebody who is not known.
    fn join(&mut self, secret: Secret) -> Vec<Action> {
        let (conn, greeted) = self.greet(stranger());
        if !is_welcome(&greeted) {
            return greeted;
        }
        let proof = secret.proof(&[7; 32]);
        self.hear(conn, Request::Join { proof, name: "guest".to_owned() })
    }
}

fn open(secret: Secret) -> OpenInvite {
    let (rights, expires_unix_s) = (Rights::Runner, u64::MAX);
    OpenInvite { secret, rights, expires_unix_s, tries: TRIES }
}

fn stranger() -> HostId {
    Identity::ephemeral().unwrap().id()
}

fn joiner(actions: &[Action]) -> Option<&Joiner> {
    actions.iter().find_map(|action| match action {
        Action::KeepPeer(joiner) => Some(joiner),
        _ => None,
    })
}

fn answer(actions: &[Action]) -> Option<&Answer> {
    actions.iter().find_map(|action| match action {
        Action::Send { answer, .. } => Some(answer),
        _ => None,
    })
}

fn is_welcome(actions: &[Action]) -> bool {
    matches!(answer(actions), Some(Answer::Welcome { .. }))
}

#[test]
fn tries_that_nobody_can_keep_are_counted() {
    let [secret, wrong] = [(), ()].map(|()| Secret::random().unwrap());
    let mut door = Door::new(&[secret]);
    for _ in 0..TRIES {
        let refused = door.join(wrong);
        assert!(refused.iter().any(|action| matches!(action, Action::KeepInvites(_))));
    }
    assert!(joiner(&door.join(secret)).is_none(), "it was tried more often than it may be");
    // One that is made meanwhile has its own tries.
    let later = Secret::random().unwrap();
    door.kept.invites.push(open(later));
    assert!(joiner(&door.join(secret)).is_none());
    assert_eq!(joiner(&door.join(later)).unwrap().left, []);
}

#[test]
fn an_invitation_that_is_spent_lets_nobody_in_again_though_it_stands_in_the_state() {
    let [secret, other] = [(), ()].map(|()| Secret::random().unwrap());
    let mut door = Door::new(&[secret, other]);
    let first = joiner(&door.join(secret)).unwrap().clone();
    assert_eq!(first.left, [open(other)]);
    door.agent.on(NOW, Event::Kept { joiner: first, kept: Ok(()) });
    assert!(joiner(&door.join(secret)).is_none());
}

#[test]
fn who_cannot_be_kept_is_told_so_and_is_no_peer() {
    let secret = Secret::random().unwrap();
    let mut door = Door::new(&[secret]);
    let joiner = joiner(&door.join(secret)).unwrap().clone();
    let (conn, id) = (joiner.conn, joiner.id);
    let kept = Err("write peers.json: no space left on device".to_owned());
    let told = door.agent.on(NOW, Event::Kept { joiner, kept });
    let Some(Answer::Bye { reason }) = answer(&told) else { panic!("{told:?}") };
    assert!(reason.starts_with("this agent cannot write down new peers"), "{reason}");
    assert!(told.contains(&Action::Close { conn }));
    // No invitation is left, either.
    assert!(!is_welcome(&door.greet(id).1));
}

#[test]
fn who_is_kept_is_a_peer_from_then_on() {
    let secret = Secret::random().unwrap();
    let mut door = Door::new(&[secret]);
    let actions = door.join(secret);
    assert!(answer(&actions).is_none(), "nobody knows yet whether it is kept: {actions:?}");
    let joiner = joiner(&actions).unwrap().clone();
    let request = Request::Status {};
    let conn = joiner.conn;
    let told = door.agent.on(NOW, Event::Kept { joiner, kept: Ok(()) });
    assert!(matches!(answer(&told), Some(Answer::Joined {})), "{told:?}");
    let told = door.agent.on(NOW, Event::Heard { conn, request });
    assert!(matches!(answer(&told), Some(Answer::Status(_))), "{told:?}");
}
