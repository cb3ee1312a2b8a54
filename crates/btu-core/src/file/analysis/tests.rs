//! Tests of the analysis of a file service.

use super::*;
use crate::comparison::series::ByRound;
use crate::file::plan::Plan;
use crate::file::sample::Direction;
use crate::file::sample::Operation;
use crate::file::testing::journal;
use crate::file::testing::sample;
use crate::file::testing::server;
use crate::units::Bytes;

/// A journal of every trial of these experiments, each of whose clients took a second.
fn measured(names: &[&str]) -> Journal {
    let plan = Plan::new(names.iter().map(|name| (*name).to_owned()).collect(), 1);
    let way = |trial: &Trial| match trial.direction {
        Direction::Both => Direction::AToB,
        one => one,
    };
    let clients = |trial: &Trial| usize::try_from(trial.clients).unwrap();
    let see = |trial: &Trial| sample(trial, way(trial), &vec![1.0; clients(trial)]);
    let samples = plan.trials().iter().map(see).collect();
    journal(plan, samples)
}

#[test]
fn a_failed_trial_is_told_and_leaves_its_cell_empty() {
    let mut journal = measured(&["baseline"]);
    let Line::FileTrial(first) = &mut journal.lines[0] else { panic!() };
    first.clients[0].failure = Some("retrieve /zero/1048576: connection reset".into());
    let analysis = analyse(&journal);
    assert!(!analysis.complete);
    let [failure] = &analysis.failures[..] else { panic!("{:?}", analysis.failures) };
    assert_eq!(failure.reason, "client 1: retrieve /zero/1048576: connection reset");
    assert_eq!(failure.trial.label(), "ftp get 1 MB within A");
    let table = &analysis.experiments[0].findings.tables[0];
    let cells: Vec<bool> = table.rows[0].cells.iter().map(Option::is_some).collect();
    assert_eq!(cells, [false, true]);
}

#[test]
fn what_was_asked_for_cold_and_was_not_is_flagged_and_so_is_a_shared_host() {
    let mut journal = measured(&["cold-read"]);
    for line in &mut journal.lines {
        let Line::FileTrial(sample) = line else { panic!() };
        sample.servers.push(server(1.0, 0.5, 64, 0));
    }
    let Line::FileTrial(first) = &mut journal.lines[0] else { panic!() };
    first.servers[0].disk_read = None;
    let flags = analyse(&journal).flags;
    let names: Vec<&str> = flags.iter().map(|flag| flag.name.as_str()).collect();
    // Two sizes by two numbers of clients by two protocols.
    assert_eq!(names, [&[SHARED_HOST][..], &[NOT_COLD; 8]].concat());
    assert!(flags[1].detail.contains("nobody counted"), "{}", flags[1].detail);
    assert!(flags[2].detail.ends_with("0 % of the bytes came from a disk: told as warm"));
}

#[test]
fn a_cold_read_that_was_warm_in_some_rounds_is_flagged() {
    let mut journal = measured(&["cold-read"]);
    journal.lines.truncate(1);
    let Line::FileTrial(first) = &mut journal.lines[0] else { panic!() };
    first.servers.push(server(1.0, 0.5, 64, 1 << 20));
    let mut again = first.clone();
    (again.round, again.servers[0].disk_read) = (2, Some(Bytes::ZERO));
    journal.lines.push(Line::FileTrial(again));
    let flags = analyse(&journal).flags;
    let last = flags.last().unwrap();
    assert_eq!(last.name, NOT_COLD);
    assert!(last.detail.ends_with("warm in 1 of 2 rounds: its figures are of both"), "{last:?}");
}

#[test]
fn a_protocol_that_is_not_there_is_told_and_is_no_failure() {
    let mut journal = measured(&["baseline"]);
    let (protocol, reason) = ("quic".to_owned(), "not built".to_owned());
    journal.lines.push(Line::FileMissing { protocol, reason });
    let analysis = analyse(&journal);
    assert!(analysis.complete);
    assert_eq!(analysis.missing, [("quic".to_owned(), "not built".to_owned())]);
}

#[test]
fn a_trial_is_told_in_words() {
    let trial = Trial {
        protocol: "ftp".into(),
        operation: Operation::Put,
        direction: Direction::Both,
        size_bytes: Bytes::new(1536),
        count: 1,
        clients: 2,
        mtu_bytes: Some(Bytes::new(4144)),
        held: Held::Warm,
    };
    assert_eq!(trial.label(), "ftp put 1.5 KB A<->B, 2 clients, MTU 4144, warm");
}

#[test]
fn what_a_trial_is_compared_by_is_the_rate_of_each_round_that_counts() {
    let mut journal = measured(&["baseline"]);
    journal.lines.truncate(1);
    let Line::FileTrial(first) = &journal.lines[0] else { panic!() };
    let (mut again, mut warm) = (first.clone(), first.clone());
    (again.round, warm.warm_up) = (2, true);
    again.servers.push(server(1.0, 0.5, 64, 0));
    journal.lines.extend([again, warm].map(Line::FileTrial));
    let found = ByRound::of_file(&journal).series;
    let names: Vec<(&str, usize)> =
        found.iter().map(|one| (&*one.figure, one.rounds.len())).collect();
    let trial = "trial.ftp/get/within-a/1048576/1/own/nowhere";
    assert_eq!(names, [(&*format!("{trial}.rate"), 2), (&*format!("{trial}.server_cpu"), 1)]);
}
