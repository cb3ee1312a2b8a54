//! What an agent measured, test by test: the hash of each account, as the agent itself gave it. Only
//! from here comes what it signs, whatever a conductor says that it measured.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use btu_core::manifest::Accounts;
use btu_core::manifest::RunLabel;
use btu_core::manifest::Statement;
use btu_core::role::Role;
use btu_core::units::Nanos;
use serde::Deserialize;
use serde::Serialize;

use super::Action;
use super::Agent;
use super::ConnId;
use super::WorkerId;
use super::job::Job;
use crate::HostId;
use crate::message::Answer;
use crate::message::Request;
use crate::message::RunOf;
use crate::message::Signing;
use crate::secret::Hex32;

/// The account of one run, as it is kept over a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Whose run it was.
    pub peer: String,
    /// The peer that vouched for that one, where it was a guest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// This host's part in it.
    pub role: Role,
    /// The test.
    pub seed: u64,
    /// The run.
    pub run: RunLabel,
    /// Hash of what was said of it.
    pub hash: Hex32,
}

/// All accounts that are still known, by whole tests. Who has most of them forgets first: nobody's are
/// displaced by what another measures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    tests: BTreeMap<Test, Kept>,
    /// The oldest first.
    order: VecDeque<Test>,
}

/// Whose test, this host's part in it, and its seed.
type Test = (HostId, Role, u64);

/// What is known of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kept {
    /// Whose place it takes: guests have those of the peer that vouches for them, however many they are.
    owner: HostId,
    accounts: Accounts,
}

impl Measured {
    /// Keeps one. A run that is made again replaces what was known of it.
    pub fn keep(&mut self, account: &Account) {
        self.keep_beside(account, &[]);
    }

    /// The same while these tests go on: none of them is forgotten.
    fn keep_beside(&mut self, account: &Account, going_on: &[Test]) {
        let Ok(peer) = account.peer.parse() else { return };
        let host = account.host.as_ref().and_then(|host| host.parse().ok());
        let test: Test = (peer, account.role, account.seed);
        if !self.tests.contains_key(&test) {
            self.order.push_back(test);
        }
        let new = || Kept { owner: host.unwrap_or(peer), accounts: Accounts::new() };
        let Kept { owner, accounts } = self.tests.entry(test).or_insert_with(new);
        accounts.insert(account.run.clone(), *account.hash.bytes());
        if accounts.len() > MOST_OF_TEST {
            accounts.pop_first();
        }
        let owner = *owner;
        while self.order.len() > MOST_TESTS {
            let may_go = |one: &Test| *one != test && !going_on.contains(one);
            let Some(place) = self.to_forget(owner, may_go) else { return };
            let forgotten = self.order.remove(place);
            forgotten.map(|test| self.tests.remove(&test));
        }
    }

    /// The oldest test of whoever has most of them, and of `newcomer` among several who have as many.
    fn to_forget(&self, newcomer: HostId, may_go: impl Fn(&Test) -> bool) -> Option<usize> {
        let mut counts: BTreeMap<HostId, usize> = BTreeMap::new();
        for kept in self.tests.values() {
            *counts.entry(kept.owner).or_default() += 1;
        }
        let of_owner = |test: &Test| self.tests.get(test).map(|kept| kept.owner);
        let weight = |owner: HostId| (counts.get(&owner).copied(), owner == newcomer);
        let places = self.order.iter().enumerate().filter(|(_, test)| may_go(test));
        // Of several that weigh as much the last one is taken: the oldest has to be that.
        places.rev().max_by_key(|(_, test)| of_owner(test).map(weight)).map(|(place, _)| place)
    }

    /// The statement over the runs that a result holds; the error is the first that is not known.
    fn statement(&self, peer: HostId, wanted: &Signing) -> Result<Statement, String> {
        let unknown = |run: &(u32, u32, u32)| {
            let (pass, position, attempt) = run;
            format!(
                "no account of pass {pass}, position {position}, attempt {attempt} is kept; the oldest make room where \
                 there are too many"
            )
        };
        let all = self.tests.get(&(peer, wanted.role, wanted.seed));
        let find = |run: &(u32, u32, u32)| {
            let (pass, position, attempt) = *run;
            let first = RunLabel { pass, position, attempt, cell: String::new() };
            let (label, hash) = all?.accounts.range(first..).next()?;
            let found = (label.pass, label.position, label.attempt) == *run;
            found.then(|| (label.clone(), *hash))
        };
        let accounts: Result<Accounts, String> =
            wanted.runs.iter().map(|run| find(run).ok_or_else(|| unknown(run))).collect();
        Ok(Statement::over(wanted.role, wanted.seed, &accounts?))
    }
}

impl Agent {
    /// A run was accounted for: what was said of it is what will be signed.
    pub(super) fn keep_account(&mut self, conn: ConnId, of: (Role, RunOf), hash: Hex32) {
        let Some(peer) = self.connections.get(&conn).and_then(|one| one.peer) else { return };
        let (role, RunOf { seed, label: run }) = of;
        let host = Some(self.answerable(peer)).filter(|host| *host != peer);
        let host = host.map(|host| host.to_string());
        let account = Account { peer: peer.to_string(), host, role, seed, run, hash };
        let going_on = self.tests_that_go_on();
        self.setup.measured.keep_beside(&account, &going_on);
        self.actions.push(Action::KeepAccount(account));
    }

    /// Those whose reservation stands: what was accounted of them has still to be signed.
    fn tests_that_go_on(&self) -> Vec<Test> {
        let test = |job: &Job| {
            let peer = self.connections.get(&job.conn)?.peer?;
            job.test.map(|(role, seed)| (peer, role, seed))
        };
        self.jobs.values().filter_map(test).collect()
    }

    /// Signs what is known here, and nothing that the conductor says.
    pub(super) fn sign(&mut self, now: Nanos, conn: ConnId, worker: WorkerId, wanted: &Signing) {
        let Some(peer) = self.connections.get(&conn).and_then(|one| one.peer) else { return };
        let seq = wanted.seq;
        match self.setup.measured.statement(peer, wanted) {
            Ok(statement) => {
                let detail = format!("role {} seed {}", wanted.role, wanted.seed);
                self.audit_of("signed", conn, &detail);
                self.actions.push(Action::Sign { worker, seq, statement: statement.text() });
            }
            Err(reason) => self.answered(now, worker, Answer::Failed { seq, reason }),
        }
    }
}

/// The run that a request is to be accounted as.
pub(super) fn run_of(request: &Request) -> Option<(Role, RunOf)> {
    match request {
        Request::Prepare(order) => Some((order.role, order.of.clone()?)),
        _ => None,
    }
}

/// A seed names a test, so a peer that asks for more of them displaces its own old ones.
const MOST_TESTS: usize = 64;
const MOST_OF_TEST: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Identity;

    fn account(peer: HostId, seed: u64, position: u32, hash: u8) -> Account {
        let run = RunLabel { pass: 1, position, attempt: 1, cell: "SEND/video/cpu".to_owned() };
        let hash = Hex32::new([hash; 32]);
        Account { peer: peer.to_string(), host: None, role: Role::Active, seed, run, hash }
    }

    fn wanted(seed: u64, runs: &[u32]) -> Signing {
        let runs = runs.iter().map(|position| (1, *position, 1)).collect();
        Signing { seq: 1, role: Role::Active, seed, runs }
    }

    #[test]
    fn only_what_was_accounted_to_this_peer_is_stated() {
        let [peer, other] = [(), ()].map(|()| Identity::ephemeral().unwrap().id());
        let mut measured = Measured::default();
        for position in 1..=3 {
            measured.keep(&account(peer, 7, position, 1));
        }
        let whole = measured.statement(peer, &wanted(7, &[1, 2, 3])).unwrap();
        assert_eq!(measured.statement(peer, &wanted(7, &[3, 2, 1])).unwrap(), whole);
        assert_ne!(measured.statement(peer, &wanted(7, &[1, 2])).unwrap(), whole);
        measured.keep(&account(peer, 7, 2, 9));
        assert_ne!(measured.statement(peer, &wanted(7, &[1, 2, 3])).unwrap(), whole);
        for (peer, wanted) in
            [(peer, wanted(7, &[4])), (peer, wanted(8, &[1])), (other, wanted(7, &[1]))]
        {
            let refused = measured.statement(peer, &wanted).unwrap_err();
            assert!(refused.starts_with("no account of pass 1, position "), "{refused}");
        }
    }

    #[test]
    fn old_tests_make_room_for_new_ones() {
        let peer = Identity::ephemeral().unwrap().id();
        let mut measured = Measured::default();
        for seed in 0..=MOST_TESTS as u64 {
            measured.keep(&account(peer, seed, 1, 1));
        }
        assert!(measured.statement(peer, &wanted(0, &[1])).is_err());
        assert!(measured.statement(peer, &wanted(MOST_TESTS as u64, &[1])).is_ok());
        assert_eq!((measured.tests.len(), measured.order.len()), (MOST_TESTS, MOST_TESTS));
    }

    /// The peer that measures most makes room, itself or by its guests; who has less keeps all of it.
    #[test]
    fn what_one_peer_measures_displaces_nothing_of_another() {
        let [greedy, modest] = [(), ()].map(|()| Identity::ephemeral().unwrap().id());
        let mut measured = Measured::default();
        measured.keep(&account(modest, 1, 1, 1));
        for seed in 0..2 * MOST_TESTS as u64 {
            measured.keep(&account(greedy, seed, 1, 1));
            let guest = Identity::ephemeral().unwrap().id();
            let host = Some(greedy.to_string());
            measured.keep(&Account { host, ..account(guest, seed, 1, 1) });
        }
        assert!(measured.statement(modest, &wanted(1, &[1])).is_ok());
        assert_eq!((measured.tests.len(), measured.order.len()), (MOST_TESTS, MOST_TESTS));
        // Whoever comes when all places are taken gets those of the one that has most.
        for seed in 2..=MOST_TESTS as u64 / 2 {
            measured.keep(&account(modest, seed, 1, 1));
        }
        let mut all = 1..=MOST_TESTS as u64 / 2;
        assert!(all.all(|seed| measured.statement(modest, &wanted(seed, &[1])).is_ok()));
        // With half of them each it is the own oldest.
        measured.keep(&account(modest, 1000, 1, 1));
        assert!(measured.statement(modest, &wanted(1, &[1])).is_err());
        assert!(measured.statement(modest, &wanted(2, &[1])).is_ok());
    }

    #[test]
    fn a_test_that_goes_on_is_not_forgotten() {
        let peer = Identity::ephemeral().unwrap().id();
        let mut measured = Measured::default();
        for seed in 0..2 * MOST_TESTS as u64 {
            measured.keep_beside(&account(peer, seed, 1, 1), &[(peer, Role::Active, 0)]);
        }
        assert!(measured.statement(peer, &wanted(0, &[1])).is_ok());
        assert!(measured.statement(peer, &wanted(1, &[1])).is_err());
        assert_eq!((measured.tests.len(), measured.order.len()), (MOST_TESTS, MOST_TESTS));
    }
}
