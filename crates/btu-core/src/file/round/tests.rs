//! Tests of figures of one trial.

use super::*;
use crate::file::sample::Trial;
use crate::file::testing::client;
use crate::file::testing::sample;
use crate::file::testing::server;

fn trial(size: u64, count: u32, direction: Direction) -> Trial {
    Trial {
        protocol: "ftp".into(),
        operation: Operation::Get,
        direction,
        size_bytes: Bytes::new(size),
        count,
        clients: 1,
        mtu_bytes: None,
        held: Held::Nowhere,
    }
}

fn rates(sizes_kib: &[f64], elapsed_s: &[f64]) -> Vec<String> {
    let rate = |(size, elapsed): (&f64, &f64)| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "sizes of the paper"
        )]
        let trial = trial((size * KIB) as u64, 1000, Direction::AToB);
        let sample = sample(&trial, Direction::AToB, &[*elapsed]);
        format!("{:.0}", Round::of(&sample).unwrap().total_kib_s())
    };
    sizes_kib.iter().zip(elapsed_s).map(rate).collect()
}

/// CITI TR 92-2, table 3: throughput follows from size and elapsed.
#[test]
fn the_rates_of_the_papers_table_3_follow_from_its_times() {
    let sizes = [1.5, 3.0, 4.0, 6.0, 12.0, 24.0, 48.0, 96.0];
    let small = rates(&sizes, &[5.7, 7.3, 7.3, 9.9, 15.5, 25.3, 48.1, 86.4]);
    assert_eq!(small, ["263", "411", "548", "606", "774", "949", "998", "1111"]);
    let large = rates(&sizes, &[6.3, 7.2, 8.0, 10.1, 16.4, 27.4, 51.1, 94.2]);
    assert_eq!(large, ["238", "417", "500", "594", "732", "876", "939", "1019"]);
}

/// A sends 4 files of 1 KiB from 0 to 4 s, B from 1 to 5 s: both run from 1 to 4 s, with 3 files each.
#[test]
fn of_both_directions_at_once_only_what_ran_beside_the_other_counts() {
    let trial = trial(1024, 4, Direction::Both);
    let mut both = sample(&trial, Direction::AToB, &[4.0]);
    both.clients.push(client(&trial, 1, Direction::BToA, [1.0, 5.0]));
    let round = Round::of(&both).unwrap();
    assert!((round.elapsed_s() - 3.0).abs() < 1e-9);
    for way in [Direction::AToB, Direction::BToA] {
        assert!((round.rate_kib_s(way).unwrap() - 1.0).abs() < 1e-9);
    }
    assert!((round.total_kib_s() - 2.0).abs() < 1e-9);
}

#[test]
fn directions_that_never_ran_at_once_and_clients_that_failed_have_no_figures() {
    let trial = trial(1024, 1, Direction::Both);
    let mut apart = sample(&trial, Direction::AToB, &[1.0]);
    apart.clients.push(client(&trial, 1, Direction::BToA, [2.0, 3.0]));
    assert!(Round::of(&apart).is_none());
    assert_eq!(failure(&apart).unwrap(), "the two directions never ran at once");
    apart.clients[1].failure = Some("hung at 1 KB".into());
    assert_eq!(failure(&apart).unwrap(), "client 1: hung at 1 KB");
    let mut none = sample(&trial, Direction::AToB, &[]);
    assert_eq!(failure(&none).unwrap(), "no client passed a byte");
    none.trial.direction = Direction::AToB;
    assert!(Round::of(&none).is_none());
}

#[test]
fn a_read_that_was_asked_for_cold_and_came_from_no_disk_was_warm() {
    let cold = Trial { held: Held::Cold, ..trial(1 << 20, 1, Direction::BToA) };
    for (read, held) in
        [(1 << 20, Held::Cold), (60_000, Held::Cold), (50_000, Held::Warm), (0, Held::Warm)]
    {
        let mut one = sample(&cold, Direction::BToA, &[1.0]);
        one.servers.push(server(1.0, 0.1, 64, read));
        assert_eq!(Round::of(&one).unwrap().held(), held, "{read}");
    }
    let mut unknown = sample(&cold, Direction::BToA, &[1.0]);
    unknown.servers.push(server(1.0, 0.1, 64, 0));
    unknown.servers[0].disk_read = None;
    assert_eq!(Round::of(&unknown).unwrap().held(), Held::Cold);
    assert_eq!(Round::of(&unknown).unwrap().disk_per_delivered(), None);
}

/// 1 MiB in 2 s with 0.5 s of CPU and 64 calls.
#[test]
fn what_a_server_did_is_told_by_time_and_by_bytes() {
    let mut one = sample(&trial(1 << 20, 1, Direction::BToA), Direction::BToA, &[2.0]);
    assert_eq!(Round::of(&one).unwrap().server_cpus(), None, "no server, no figure");
    one.servers.push(server(2.0, 0.5, 64, 0));
    let round = Round::of(&one).unwrap();
    let found =
        [round.server_cpus(), round.calls_per_s(), round.calls_per_kib(), round.cpu_s_per_gib()];
    for (found, wanted) in found.into_iter().zip([0.25, 32.0, 64.0 / 1024.0, 512.0]) {
        assert!((found.unwrap() - wanted).abs() < 1e-9, "{wanted}");
    }
}

/// The 15 times of CITI TR 92-2, table 5, each of one file.
#[test]
fn the_papers_clients_fared_alike() {
    assert_eq!(jain(&[]), None);
    assert!((jain(&[1.0, 1.0, 1.0]).unwrap() - 1.0).abs() < 1e-12);
    // One has all: 1 / n.
    assert!((jain(&[5.0, 0.0, 0.0, 0.0]).unwrap() - 0.25).abs() < 1e-12);
}
