//! What one role measured, as the text that its host signs.
//!
//! A black box signs its own ends of the connections and its own emulator, so that the test host, which
//! keeps the journal, cannot make the black boxes' times up. The test host signs besides what it alone
//! sees: its clock, its activities beside COMM and alone, and how each run ended. Names, addresses and
//! sentences are no part of it: the signature outlives their removal.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use crate::journal::AloneSample;
use crate::journal::Record;
use crate::role::Role;
use crate::sample::ActivitySample;
use crate::sample::CellSample;
use crate::sample::DirectionSample;
use crate::sample::EndSample;
use crate::sample::Flag;
use crate::sample::Outcome;

/// What a role measured, by hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    role: Role,
    extent: Extent,
    seed: u64,
    runs: usize,
    hash: [u8; 32],
}

/// How much a statement of the test host covers; those of the black boxes never changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// As the first programs stated it: nothing of the activities alone, nor of how runs ended.
    Earlier,
    /// Everything.
    Whole,
}

/// Which run an account is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunLabel {
    /// Number of the pass, from 1.
    pub pass: u32,
    /// Place in the pass, from 1.
    pub position: u32,
    /// 1 for the first try.
    pub attempt: u32,
    /// The point of the matrix: `SEND/video/cpu`; of an activity without COMM `cpu alone`.
    pub cell: String,
}

/// The accounts of a role: of each run that it had a part in, the hash of what it saw.
pub type Accounts = BTreeMap<RunLabel, [u8; 32]>;

impl Statement {
    /// The statement of a role over a run's journal. The seed names the run: a statement of another
    /// run says nothing of this one.
    pub fn of(role: Role, seed: u64, records: &[Record]) -> Self {
        Self::over(role, seed, &accounts(role, records))
    }

    /// What the test host stated in results of earlier programs: to tell those from forgeries.
    pub fn earlier(seed: u64, records: &[Record]) -> Self {
        let accounts = accounts_of(Role::Test, Extent::Earlier, records);
        Self { extent: Extent::Earlier, ..Self::over(Role::Test, seed, &accounts) }
    }

    /// The statement over accounts that the role kept itself.
    pub fn over(role: Role, seed: u64, accounts: &Accounts) -> Self {
        let mut hasher = blake3::Hasher::new();
        for account in accounts {
            add(&mut hasher, &account);
        }
        let (runs, hash) = (accounts.len(), *hasher.finalize().as_bytes());
        Self { role, extent: Extent::Whole, seed, runs, hash }
    }

    /// The bytes that are signed.
    pub fn text(&self) -> String {
        let hash = super::hex(&self.hash);
        let version = match (self.role, self.extent) {
            (Role::Test, Extent::Whole) => "statement 2\n",
            (Role::Active | Role::Passive | Role::Test, _) => "",
        };
        let Self { role, seed, runs, .. } = self;
        format!("{version}role {role}\nseed {seed}\nruns {runs}\nblake3 {hash}\n")
    }
}

/// What a journal holds of a role's own accounts.
pub fn accounts(role: Role, records: &[Record]) -> Accounts {
    accounts_of(role, Extent::Whole, records)
}

fn accounts_of(role: Role, extent: Extent, records: &[Record]) -> Accounts {
    let of_run = |record: &'_ Record| match record {
        Record::Cell(sample) => Some((RunLabel::of(sample), account_of(role, extent, sample)?)),
        Record::Alone(sample) => match (role, extent) {
            (Role::Test, Extent::Whole) => Some((RunLabel::alone(sample), account_alone(sample))),
            _ => None,
        },
        Record::Capture(_) | Record::Verification(_) => None,
    };
    records.iter().filter_map(of_run).collect()
}

impl RunLabel {
    fn of(sample: &CellSample) -> Self {
        let CellSample { pass, position, attempt, .. } = *sample;
        Self { pass, position, attempt, cell: sample.cell.id() }
    }

    fn alone(sample: &AloneSample) -> Self {
        let AloneSample { pass, position, attempt, activity, .. } = sample;
        let cell = format!("{activity} alone");
        Self { pass: *pass, position: *position, attempt: *attempt, cell }
    }
}

/// A black box's account of one run: its ends in the order of the case, and its emulated link. The
/// conductor is told both, and the hash stays with the black box until it signs.
pub fn account<'s>(
    ends: impl IntoIterator<Item = &'s EndSample>,
    emulation: impl IntoIterator<Item = &'s DirectionSample>,
) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    ends.into_iter().for_each(|end| add(&mut hasher, end));
    emulation.into_iter().for_each(|direction| add(&mut hasher, direction));
    *hasher.finalize().as_bytes()
}

/// One run as this role saw it: its ends and emulator; of the test host also its clock and work, and
/// how the run ended. `None` for a black box without a part in it.
fn account_of(role: Role, extent: Extent, sample: &CellSample) -> Option<[u8; 32]> {
    let connections = sample.comm.iter().flat_map(|comm| &comm.connections);
    let ends = connections.flat_map(|connection| [&connection.sender, &connection.receiver]);
    let ends: Vec<&EndSample> = ends.filter(|end| end.role == role).collect();
    let own_link = format!("test-{role}");
    let emulation = sample.emulation.iter().filter(|one| one.link == own_link);
    let seen = account(ends.iter().copied(), emulation);
    if role != Role::Test {
        return (!ends.is_empty()).then_some(seen);
    }
    let work = sample.activity_sample.as_ref().map(|work| (work.elapsed_ns, work.units));
    let clock = sample.comm.as_ref().map(|comm| (comm.elapsed_ns, comm.bytes));
    let mut hasher = blake3::Hasher::new();
    add(&mut hasher, &(clock, work, seen));
    if extent == Extent::Whole {
        let failures = sample.activity_sample.as_ref().map(|work| work.failures.len());
        let causes = sample.invalid.len();
        add(&mut hasher, &(ended(&sample.outcome), failures, causes, names(&sample.flags)));
    }
    Some(*hasher.finalize().as_bytes())
}

/// An activity without COMM: the base of every slowdown of its pass.
fn account_alone(alone: &AloneSample) -> [u8; 32] {
    let ActivitySample { elapsed_ns, units, failures, .. } = &alone.sample;
    let mut hasher = blake3::Hasher::new();
    add(&mut hasher, &(elapsed_ns, units, failures.len(), names(&alone.flags)));
    // Nothing where there is none: so it was stated before anybody looked for causes.
    if !alone.invalid.is_empty() {
        add(&mut hasher, &alone.invalid.len());
    }
    *hasher.finalize().as_bytes()
}

const fn ended(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Capped { .. } => "capped",
        Outcome::Complete => "complete",
        Outcome::Failed { .. } => "failed",
    }
}

fn names(flags: &[Flag]) -> Vec<&str> {
    flags.iter().map(|flag| flag.name.as_str()).collect()
}

/// As JSON with the length before it: no two lists of parts have the same text.
fn add(hasher: &mut blake3::Hasher, part: &impl Serialize) {
    let text = serde_json::to_vec(part).unwrap_or_default();
    hasher.update(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
    hasher.update(&text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::analysis::synthetic;

    fn records(mbps: u64) -> Vec<Record> {
        let plan = synthetic::plan(1);
        vec![synthetic::run(&plan, "SEND/video/cpu", 1, mbps, 10.0).into()]
    }

    fn text(role: Role, seed: u64, records: &[Record]) -> String {
        Statement::of(role, seed, records).text()
    }

    #[test]
    fn a_statement_is_of_its_role_its_run_and_its_figures() {
        let base = text(Role::Active, 7, &records(100));
        assert!(base.starts_with("role active\nseed 7\nruns 1\nblake3 "));
        assert_eq!(base, text(Role::Active, 7, &records(100)));
        for other in [
            text(Role::Passive, 7, &records(100)),
            text(Role::Active, 8, &records(100)),
            text(Role::Active, 7, &records(101)),
            text(Role::Active, 7, &[]),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn what_only_the_test_host_sees_is_the_test_host_s_to_sign() {
        let mut changed = records(100);
        let Record::Cell(sample) = &mut changed[0] else { unreachable!() };
        sample.activity_sample.as_mut().unwrap().units += 1.0;
        assert_eq!(text(Role::Active, 7, &changed), text(Role::Active, 7, &records(100)));
        assert_ne!(text(Role::Test, 7, &changed), text(Role::Test, 7, &records(100)));
    }

    /// The base of every slowdown and what keeps a result from its rank are signed, not their sentences.
    #[test]
    fn activities_alone_and_how_runs_ended_are_the_test_host_s_to_sign() {
        let journal = || {
            let mut journal = records(100);
            journal.insert(0, synthetic::alone("cpu", 1, 100.0));
            let Record::Cell(sample) = &mut journal[1] else { unreachable!() };
            sample.outcome = Outcome::Failed { reason: "connect: refused by lab7".into() };
            sample.invalid.push("MTU of lab7 changed".into());
            sample.flags.push(Flag::new("policy-limited", "by lab7"));
            journal
        };
        let whole = text(Role::Test, 7, &journal());
        assert!(whole.starts_with("statement 2\nrole test\nseed 7\nruns 2\nblake3 "), "{whole}");
        let signed = |change: fn(&mut AloneSample, &mut CellSample)| {
            let mut changed = journal();
            let [Record::Alone(alone), Record::Cell(sample)] = &mut changed[..] else {
                unreachable!()
            };
            change(alone, sample);
            let black_box = text(Role::Active, 7, &changed) == text(Role::Active, 7, &journal());
            assert!(black_box, "a black box sees nothing of it");
            text(Role::Test, 7, &changed) == whole
        };
        assert!(!signed(|alone, _| alone.sample.units /= 2.0));
        assert!(!signed(|alone, _| alone.sample.failures.push("reset".into())));
        assert!(!signed(|alone, _| alone.invalid.push("MTU changed".into())));
        assert!(!signed(|alone, _| alone.attempt = 2));
        assert!(!signed(|_, sample| sample.outcome = Outcome::Complete));
        assert!(!signed(|_, sample| sample.invalid.clear()));
        assert!(!signed(|_, sample| sample.flags.clear()));
        assert!(!signed(|_, sample| {
            sample.activity_sample.as_mut().unwrap().failures.push("reset".into());
        }));
        assert!(signed(|_, sample| {
            sample.outcome = Outcome::Failed { reason: "connect: refused by host-3f9a01c2".into() };
            sample.invalid = vec!["MTU of host-3f9a01c2 changed".into()];
            sample.flags[0].detail = "by host-3f9a01c2".into();
        }));
    }

    #[test]
    fn the_earlier_statement_of_the_test_host_is_the_one_that_was_signed_then() {
        let mut journal = records(100);
        let earlier = Statement::earlier(7, &journal).text();
        let hash = "21c780bbed22d9e40e3b1eebf85df115c517d785df8ee4593b7a2e0ffba22e48";
        assert_eq!(earlier, format!("role test\nseed 7\nruns 1\nblake3 {hash}\n"));
        journal.push(synthetic::alone("cpu", 1, 100.0));
        let Record::Cell(sample) = &mut journal[0] else { unreachable!() };
        sample.outcome = Outcome::Failed { reason: "reset".into() };
        assert_eq!(Statement::earlier(7, &journal).text(), earlier);
    }

    #[test]
    fn a_black_box_can_state_what_it_kept_without_the_journal() {
        let journal = records(100);
        let Record::Cell(sample) = &journal[0] else { unreachable!() };
        let connections = &sample.comm.as_ref().unwrap().connections;
        let own = connections.iter().flat_map(|one| [&one.sender, &one.receiver]);
        let own: Vec<_> = own.filter(|end| end.role == Role::Active).collect();
        let kept = Accounts::from([(RunLabel::of(sample), account(own, []))]);
        let statement = Statement::over(Role::Active, 7, &kept);
        assert_eq!(statement, Statement::of(Role::Active, 7, &journal));
        // It had a part in nothing else, and says nothing of it.
        assert!(accounts(Role::Passive, &journal).is_empty());
    }

    #[test]
    fn a_journal_read_back_has_the_same_statement() {
        let line = crate::journal::codec::line(&records(100)[0]).unwrap();
        let read = crate::journal::codec::read("samples.jsonl", line.as_bytes()).unwrap();
        assert_eq!(text(Role::Active, 7, &read.records), text(Role::Active, 7, &records(100)));
    }
}
