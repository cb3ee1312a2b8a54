//! How a connection becomes a peer's: a secure channel, a greeting, at first a proof of an invitation.

use btu_core::units::Nanos;

use super::Action;
use super::Agent;
use super::ConnId;
use super::Joiner;
use super::Peer;
use super::connection::Connection;
use super::connection::Phase;
use crate::HostId;
use crate::invite::OpenInvite;
use crate::message::Answer;
use crate::message::MAJOR;
use crate::message::MINOR;
use crate::secret::Hex32;

impl Agent {
    pub(super) fn secured(&mut self, now: Nanos, conn: ConnId, peer: HostId, binding: [u8; 32]) {
        let Some(found) = self.connections.get_mut(&conn) else { return };
        if matches!(found.phase, Phase::Securing) {
            found.peer = Some(peer);
            found.binding = binding;
            found.enter(Phase::Greeting, now);
        }
    }

    /// A peer is welcome; who is not known has one try to join, while an invitation is open.
    pub(super) fn hello(&mut self, now: Nanos, conn: ConnId, major: u16, build: &str) {
        if major != MAJOR {
            let ours = &self.setup.build;
            let reason = format!(
                "this agent (btu {ours}) speaks protocol {MAJOR}.{MINOR}, yours (btu {build}) {major}"
            );
            return self.bye(now, conn, &reason);
        }
        let known = self.rights(conn).is_some();
        if !known && self.roster.invites.is_empty() {
            return self.bye(
                now,
                conn,
                "this agent does not know you; btu agent invite, there, helps",
            );
        }
        let peer = self.connections.get(&conn).and_then(|one| one.peer);
        let is_its = |one: &&Connection| one.peer == peer && !one.is_stranger();
        if self.connections.values().filter(is_its).count() >= MOST_OF_PEER {
            let reason = format!("{MOST_OF_PEER} connections of yours are open already");
            return self.bye(now, conn, &reason);
        }
        let Some(found) = self.connections.get_mut(&conn) else { return };
        found.enter(if known { Phase::Idle } else { Phase::Joining }, now);
        let build = self.setup.build.clone();
        self.send(conn, Answer::Welcome { major: MAJOR, minor: MINOR, build, known });
    }

    /// A right proof spends its invitation, whatever comes of it; a wrong one costs every open invitation a
    /// try, since nobody knows which was meant.
    pub(super) fn join(&mut self, now: Nanos, conn: ConnId, proof: &Hex32, name: &str) {
        let Some((id, binding)) =
            self.connections.get(&conn).and_then(|found| Some((found.peer?, found.binding)))
        else {
            return;
        };
        let is_meant = |open: &OpenInvite| open.secret.is_proved(&binding, proof);
        let Some(meant) = self.roster.invites.iter().find(|open| is_meant(open)).cloned() else {
            return self.misproved(now, conn);
        };
        self.tries_left(&meant, 0);
        let (name, rights, left) = (shown(name, id), meant.rights, self.roster.invites.clone());
        self.actions.push(Action::KeepPeer(Joiner { conn, id, name, rights, left }));
    }

    fn misproved(&mut self, now: Nanos, conn: ConnId) {
        for open in self.roster.invites.clone() {
            self.tries_left(&open, open.tries.saturating_sub(1));
        }
        let left = self.roster.invites.clone();
        self.actions.push(Action::KeepInvites(left));
        self.audit_of("refused", conn, "a wrong proof of an invitation");
        self.bye(now, conn, "no such invitation; it may have been used, or have expired");
    }

    /// An invitation may be tried so often from now on, whether or not anybody can keep that.
    fn tries_left(&mut self, invite: &OpenInvite, tries: u32) {
        self.tried.retain(|known| known.secret != invite.secret);
        self.tried.push(OpenInvite { tries, ..invite.clone() });
        self.hold_to_tries();
    }

    /// What is kept somewhere may be older than what happened here: the fewer tries hold.
    pub(super) fn hold_to_tries(&mut self) {
        for open in &mut self.roster.invites {
            let known = self.tried.iter().find(|known| known.secret == open.secret);
            open.tries = known.map_or(open.tries, |known| known.tries.min(open.tries));
        }
        self.roster.invites.retain(|open| open.tries > 0);
    }

    /// Who is kept is a peer. Nobody else is: at the next look at what is kept it would be none any more.
    pub(super) fn kept(&mut self, now: Nanos, joiner: Joiner, kept: Result<(), String>) {
        let Joiner { conn, id, name, rights, .. } = joiner;
        if let Err(reason) = kept {
            self.audit_of("refused", conn, &format!("a new peer cannot be kept: {reason}"));
            return self.bye(now, conn, NOT_KEPT);
        }
        let peer = Peer { id: id.to_string(), name, rights, added: String::new() };
        self.roster.peers.insert(id, peer);
        self.audit_of("joined", conn, &format!("{rights:?}"));
        if let Some(found) = self.connections.get_mut(&conn) {
            found.enter(Phase::Idle, now);
            self.send(conn, Answer::Joined {});
        }
    }

    pub(super) fn audit_of(&mut self, event: &'static str, conn: ConnId, detail: &str) {
        let taken = self.connections.remove(&conn);
        self.audit(event, taken.as_ref(), detail);
        if let Some(taken) = taken {
            self.connections.insert(conn, taken);
        }
    }
}

/// A name that can stand in a log and in a table.
fn shown(name: &str, id: HostId) -> String {
    let name: String = name.chars().filter(char::is_ascii_graphic).take(64).collect();
    if name.is_empty() { id.brief() } else { name }
}

/// Whoever sees to its disk sees there why.
const NOT_KEPT: &str = "this agent cannot write down new peers (its own messages say why), and the invitation is spent";
/// Connections of one peer: descriptors are for all of them.
const MOST_OF_PEER: usize = 16;
