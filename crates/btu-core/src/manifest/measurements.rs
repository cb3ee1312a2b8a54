//! What one role measured, as the text that its host signs.
//!
//! A black box signs its own ends of the connections and its own emulator, so that the test host, which
//! keeps the journal, cannot make the black boxes' times up. Names and addresses are no part of it: the
//! signature outlives their removal.

use serde::Serialize;

use crate::cell::Role;
use crate::journal::Record;
use crate::sample::CellSample;

/// What a role measured, by hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    role: Role,
    seed: u64,
    runs: u64,
    hash: [u8; 32],
}

impl Statement {
    /// The statement of a role over a run's journal. The seed names the run: a statement of another
    /// run says nothing of this one.
    pub fn of(role: Role, seed: u64, records: &[Record]) -> Self {
        let mut hasher = blake3::Hasher::new();
        let mut runs = 0;
        for record in records {
            if let Record::Cell(sample) = record {
                runs += 1;
                add_run(&mut hasher, role, sample);
            }
        }
        Self { role, seed, runs, hash: *hasher.finalize().as_bytes() }
    }

    /// The bytes that are signed.
    pub fn text(&self) -> String {
        let hash = super::hex(&self.hash);
        format!("role {}\nseed {}\nruns {}\nblake3 {hash}\n", self.role, self.seed, self.runs)
    }
}

/// One run as this role saw it: which run it was, and the role's clock, ends and emulator.
fn add_run(hasher: &mut blake3::Hasher, role: Role, sample: &CellSample) {
    add(hasher, &(sample.cell.id(), sample.pass, sample.position, sample.attempt));
    if role == Role::Test {
        let work = sample.activity_sample.as_ref();
        add(hasher, &sample.comm.as_ref().map(|comm| (comm.elapsed_ns, comm.bytes)));
        add(hasher, &work.map(|work| (work.elapsed_ns, work.units)));
    }
    for connection in sample.comm.iter().flat_map(|comm| &comm.connections) {
        for end in [&connection.sender, &connection.receiver] {
            if end.role == role {
                add(hasher, end);
            }
        }
    }
    let own_link = format!("test-{role}");
    for direction in sample.emulation.iter().filter(|one| one.link == own_link) {
        add(hasher, direction);
    }
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
    use crate::analysis::synthetic;

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

    #[test]
    fn a_journal_read_back_has_the_same_statement() {
        let line = crate::journal::codec::line(&records(100)[0]).unwrap();
        let read = crate::journal::codec::read("samples.jsonl", line.as_bytes()).unwrap();
        assert_eq!(text(Role::Active, 7, &read.records), text(Role::Active, 7, &records(100)));
    }
}
