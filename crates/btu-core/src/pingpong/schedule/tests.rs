//! The schedule against a path in virtual time.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::*;
use crate::pingpong::configuration::Configuration;
use crate::pingpong::configuration::Writes;
use crate::pingpong::plan::Plan;
use crate::pingpong::plan::SizeChoice;
use crate::pingpong::sample::Early;
use crate::pingpong::sample::Fault;
use crate::pingpong::simulated::Dip;
use crate::pingpong::simulated::Reach;
use crate::pingpong::simulated::Simulated;
use crate::pingpong::sizes::Sizes;

fn run(sweep: Sweep, mut path: Simulated) -> (Schedule, Vec<VisitSample>) {
    let mut schedule = Schedule::new(sweep);
    let samples = path.sweep(&mut schedule, &[two_writes(), Configuration::new("unix")]);
    (schedule, samples)
}

fn two_writes() -> Configuration {
    Configuration {
        writes: Writes::HeaderFirst(Bytes::new(16)),
        nodelay: Some(false),
        ..Configuration::new("tcp")
    }
}

fn default_sweep() -> Sweep {
    Sweep::new(Sizes::default().points(), 7)
}

#[test]
fn each_round_visits_each_pair_once_in_a_new_order() {
    let two = vec![ConfigurationId(1), ConfigurationId(2)];
    let sweep = Sweep { configurations: two, budget: Nanos::from_secs(2), ..default_sweep() };
    let (_, samples) = run(sweep, Simulated::new(1.0, 0.01));
    let order = |round: u32| -> Vec<(Bytes, ConfigurationId)> {
        let of_round = samples.iter().filter(|sample| sample.round == round);
        of_round.map(|sample| (sample.size_bytes, sample.configuration)).collect()
    };
    for round in 1..=10 {
        let distinct: BTreeSet<_> = order(round).into_iter().collect();
        assert_eq!((order(round).len(), distinct.len()), (248, 248), "round {round}");
    }
    assert_ne!(order(1), order(2));
}

#[test]
fn a_stored_seed_gives_the_stored_order_for_ever() {
    let mut schedule = Schedule::new(default_sweep());
    let first: Vec<u64> =
        (0..4).filter_map(|_| schedule.next_visit()).map(|visit| visit.size.count()).collect();
    assert_eq!(first, GOLDEN_START);
}

#[test]
fn p11_the_default_sweep_keeps_to_31_seconds_and_10_rounds() {
    for (fixed_us, ns_per_byte) in [(10.0, 1.0), (60.0, 0.3)] {
        let (schedule, samples) = run(default_sweep(), Simulated::new(fixed_us, ns_per_byte));
        assert!(schedule.spent() <= Nanos::from_secs(31), "{:?}", schedule.spent());
        assert!(samples.len() == 1240 && schedule.remaining() == 0);
    }
}

#[test]
fn a_slow_path_still_gets_three_rounds_of_every_point() {
    let (_, samples) = run(default_sweep(), Simulated::new(100.0, 80.0));
    for size in Sizes::default().points() {
        let rounds = samples.iter().filter(|sample| sample.size_bytes == size).count();
        assert!(rounds >= 3, "{rounds} rounds of {size}");
    }
}

/// Rounds, and connections, of each size.
fn visited(samples: &[VisitSample]) -> BTreeMap<Bytes, (usize, usize)> {
    let mut all = BTreeMap::<Bytes, (usize, BTreeSet<u32>)>::new();
    for sample in samples {
        let (rounds, connections) = all.entry(sample.size_bytes).or_default();
        *rounds += usize::from(sample.attempt == 1);
        connections.insert(sample.connection);
    }
    all.into_iter().map(|(size, (rounds, over))| (size, (rounds, over.len()))).collect()
}

/// A slow path, a long exchange and a chasm: by the time of the sweep, that of a point, and the number of exchanges.
#[test]
fn whatever_stops_a_point_it_has_rounds_over_three_connections() {
    let dip = Dip::later(Reach::Nagle(1448), 44_000.0);
    let few = Sweep { budget: Nanos::from_secs(60), ..Sweep::new(vec![Bytes::new(8 << 20)], 7) };
    for (sweep, path, causes) in [
        (default_sweep(), Simulated::new(100.0, 80.0), vec![Stop::Budget, Stop::PointTime]),
        (few, Simulated::new(10.0, 50.0), vec![Stop::PointTime]),
        (default_sweep(), Simulated::new(10.0, 1.0).with_dip(dip), vec![Stop::Budget, Stop::Slow]),
    ] {
        let (schedule, samples) = run(sweep, path);
        let (visited, stopped) = (visited(&samples), schedule.stopped(ConfigurationId(1)));
        assert!(visited.values().all(|(rounds, over)| (3..=10).contains(rounds) && *over == 3));
        let fewer = visited.iter().filter(|(_, (rounds, _))| *rounds < 10).map(|(size, _)| *size);
        assert!(fewer.eq(stopped.iter().map(|one| one.size_bytes)), "each is told");
        let told: BTreeSet<Stop> = stopped.iter().map(|one| one.cause).collect();
        assert_eq!(told, BTreeSet::from_iter(causes));
    }
}

/// 10 Mbit/s: a block of 1.25 MB takes a second, 8 MiB 6.7.
#[test]
fn blocks_that_take_longer_than_a_second_are_left_out() {
    for seed in 0..20 {
        let plan = Plan { seed, ..Plan::new(vec![Configuration::new("tcp")], seed) };
        let sweep = plan.sweep(&[(ConfigurationId(1), Bytes::new(1 << 30))], Nanos::new(30));
        let (schedule, samples) = run(sweep, Simulated::new(100.0, 800.0));
        let (visited, stopped) = (visited(&samples), schedule.stopped(ConfigurationId(1)));
        let above = |size: &Bytes| size.count() > 1_250_000;
        let below = visited.iter().filter(|(size, _)| !above(size));
        assert!(below.clone().count() == 106 && below.into_iter().all(|(_, made)| made.1 == 3));
        assert!(visited.keys().filter(|size| above(size)).count() <= 4, "seed {seed}: {visited:?}");
        let left_out = stopped.iter().filter(|one| one.cause == Stop::BlockTime);
        assert!(left_out.map(|one| one.size_bytes).eq(plan.points().into_iter().filter(above)));
        assert!(schedule.spent() < Nanos::from_secs(180), "{}", schedule.spent());
    }
}

#[test]
fn a_longer_block_time_has_every_size() {
    let sizes = SizeChoice::Listed([1 << 10, 64 << 10, 1 << 20, 2 << 20].map(Bytes::new).to_vec());
    for (seconds, wanted) in [(1, 3), (2, 4)] {
        let block_time_ns = Nanos::from_secs(seconds);
        let plan = Plan { block_time_ns, sizes: sizes.clone(), ..Plan::new(vec![two_writes()], 3) };
        let sweep = plan.sweep(&[(ConfigurationId(1), Bytes::new(1 << 30))], Nanos::new(30));
        let (_, samples) = run(sweep, Simulated::new(100.0, 800.0));
        assert_eq!(visited(&samples).values().filter(|made| made.1 == 3).count(), wanted);
    }
}

#[test]
fn one_connection_has_the_first_three_rounds_of_a_slow_point() {
    let sweep = Sweep { connections: 1, ..Sweep::new(vec![Bytes::new(8 << 20)], 7) };
    let (_, samples) = run(sweep, Simulated::new(10.0, 80.0));
    assert!(samples.iter().map(|sample| sample.round).eq([1, 2, 3]));
}

#[test]
fn a_longer_time_of_a_point_makes_all_of_its_rounds() {
    let sizes = [8, 64 << 10, 1 << 20, 8 << 20].map(Bytes::new).to_vec();
    for seconds in [1, 4, 20] {
        let plan = Plan {
            point_time_ns: Nanos::from_secs(seconds),
            sizes: SizeChoice::Listed(sizes.clone()),
            ..Plan::new(vec![two_writes()], 7)
        };
        let sweep = plan.sweep(&[(ConfigurationId(1), Bytes::new(1 << 30))], Nanos::new(30));
        let (schedule, samples) = run(sweep, Simulated::new(10.0, 1.0));
        assert!(visited(&samples).values().all(|made| *made == (10, 3)), "{seconds} s");
        assert_eq!(schedule.stopped(ConfigurationId(1)), []);
        let large = samples.iter().filter(|sample| sample.size_bytes == sizes[3]);
        let spent: Nanos = large.map(|sample| sample.elapsed_ns).sum();
        assert!(spent.seconds() > 0.7 * f64::from(u32::try_from(seconds).unwrap()), "{spent}");
    }
}

#[test]
fn no_point_passes_its_cap_of_exchanges() {
    let (_, samples) = run(default_sweep(), Simulated::new(0.05, 0.01));
    let of = |size: u64| samples.iter().filter(move |sample| sample.size_bytes.count() == size);
    let exchanges: u64 = of(64).map(|sample| sample.times.exchanges()).sum();
    let batch = of(64).next_back().map_or(0, |sample| u64::from(sample.times.batch));
    assert!(exchanges <= 100_000 + batch, "{exchanges}");
    assert!(batch > 1, "exchanges of 0.1 us need batches on a clock of 30 ns");
    assert!(of(98_304).all(|sample| sample.times.batch == 1));
}

/// Two writes with Nagle cost 44 ms a half round trip at 39 of the points.
#[test]
fn a_slow_point_stops_at_six_exchanges() {
    let dip = Dip::later(Reach::Nagle(1448), 44_000.0);
    let (schedule, samples) = run(default_sweep(), Simulated::new(10.0, 1.0).with_dip(dip));
    let slow = |sample: &&VisitSample| (17..=1463).contains(&sample.size_bytes.count());
    let late_rounds = samples.iter().filter(slow).filter(|sample| sample.round > 1);
    assert!(late_rounds.clone().all(|sample| sample.times.n == 1));
    for size in [64, 1024, 19] {
        let of = samples.iter().filter(|sample| sample.size_bytes == Bytes::new(size));
        let exchanges: u64 = of.map(|sample| sample.times.exchanges()).sum();
        assert!((4..=6).contains(&exchanges), "{exchanges} exchanges of {size} bytes");
    }
    assert!(schedule.spent() <= Nanos::from_secs(45), "{:?}", schedule.spent());
}

#[test]
fn three_exchanges_far_slower_than_a_larger_block_end_a_visit() {
    let dip = Dip::later(Reach::Always(17..=1463), 1_000.0);
    let (_, samples) = run(default_sweep(), Simulated::new(10.0, 1.0).with_dip(dip));
    let early = |sample: &&VisitSample| sample.ended == Ended::Early { cause: Early::Slow };
    let ended: Vec<&VisitSample> = samples.iter().filter(early).collect();
    assert!(ended.len() > 10 && ended.iter().all(|sample| sample.times.n == 3));
}

#[test]
fn connections_share_the_rounds_and_warm_up_first() {
    let mut schedule = Schedule::new(Sweep { rounds: 10, ..Sweep::new(vec![Bytes::new(8)], 1) });
    let visits: Vec<Visit> = std::iter::from_fn(|| schedule.next_visit()).collect();
    let connections: Vec<u32> = visits.iter().map(|visit| visit.connection).collect();
    assert_eq!(connections, [1, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
    let opening: Vec<u32> =
        visits.iter().filter(|visit| visit.warm_up == 2 && visit.opens).map(|v| v.round).collect();
    assert_eq!(opening, [1, 5, 8]);
}

/// 8 MiB take 16 ms there and back in the one sweep, and 1.6 s in the other.
#[test]
fn large_blocks_warm_up_in_every_visit_that_has_the_time_for_it() {
    let sizes = vec![Bytes::new(8), Bytes::new(256 << 10), Bytes::new(8 << 20)];
    let warmed = |gap_ns: f64| {
        let sweep = Sweep { budget: Nanos::from_secs(6), ..Sweep::new(sizes.clone(), 1) };
        let (mut schedule, mut path) = (Schedule::new(sweep), Simulated::new(10.0, gap_ns));
        let mut visits = Vec::new();
        while let Some(visit) = schedule.next_visit() {
            schedule.record(&visit, &path.visit(&visit, &two_writes()));
            visits.push(visit);
        }
        let later = move |visit: &&Visit| !visit.opens && visit.round > 1;
        let of = |size: u64| {
            let of_size = visits.iter().filter(later).filter(|v| v.size.count() == size);
            of_size.map(|visit| visit.warm_up).collect::<std::collections::BTreeSet<u32>>()
        };
        sizes.iter().map(|size| of(size.count()).into_iter().collect()).collect::<Vec<Vec<u32>>>()
    };
    assert_eq!(warmed(1.0), [[0], [2], [2]]);
    assert_eq!(warmed(100.0)[2], [0]);
}

#[test]
fn a_disturbed_visit_is_repeated_once() {
    let mut schedule = Schedule::new(Sweep { rounds: 3, ..Sweep::new(vec![Bytes::new(8)], 1) });
    let mut path = Simulated::new(10.0, 1.0);
    let mut attempts = Vec::new();
    while let Some(visit) = schedule.next_visit() {
        let mut sample = path.visit(&visit, &two_writes());
        sample.host.run_delay_ns = Some(sample.elapsed_ns);
        schedule.record(&visit, &sample);
        attempts.push((visit.round, visit.attempt, visit.connection, visit.opens));
    }
    let first = [1, 2, 3].map(|round| (round, 1, round, true));
    let again = [1, 2, 3].map(|round| (round, 2, 3, false));
    assert_eq!(attempts, [first, again].concat(), "over the last connection");
}

#[test]
fn a_peer_that_is_gone_ends_the_sweep_and_keeps_its_points() {
    let mut schedule = Schedule::new(default_sweep());
    let mut path = Simulated::new(10.0, 1.0);
    let mut visits = 0;
    while let Some(visit) = schedule.next_visit() {
        visits += 1;
        let mut sample = path.visit(&visit, &two_writes());
        if visits > 100 {
            sample.ended = Ended::Failed { fault: Fault::PeerGone, detail: "recv: reset".into() };
        }
        schedule.record(&visit, &sample);
    }
    assert_eq!(visits, 105);
}

fn rising(connections: u32) -> Vec<VisitSample> {
    let two = vec![ConfigurationId(1), ConfigurationId(2)];
    let (order, budget) = (Order::Rising, Nanos::from_secs(2));
    let sweep = Sweep { configurations: two, connections, budget, order, ..default_sweep() };
    let (_, samples) = run(sweep, Simulated::new(1.0, 0.01));
    assert!(samples.iter().map(|sample| sample.position).eq(1..=2480));
    samples
}

#[test]
fn a_rising_order_makes_all_rounds_of_a_size_at_once() {
    let samples = rising(1);
    assert!(samples.is_sorted_by_key(|sample| sample.size_bytes));
    let of = |sample: &VisitSample| (sample.round, sample.configuration.0);
    let in_turn = (1..=10).flat_map(|round| [(round, 1), (round, 2)]);
    assert!(samples[..20].iter().map(of).eq(in_turn));
    assert!(samples.iter().all(|sample| sample.connection == 1));
}

#[test]
fn a_rising_order_over_three_connections_rises_three_times() {
    let samples = rising(3);
    let connections: Vec<&[VisitSample]> =
        samples.chunk_by(|a, b| a.connection == b.connection).collect();
    let rounds = |samples: &[VisitSample]| -> Vec<u32> {
        let rounds: BTreeSet<u32> = samples.iter().map(|sample| sample.round).collect();
        rounds.into_iter().collect()
    };
    let found: Vec<Vec<u32>> = connections.iter().map(|samples| rounds(samples)).collect();
    assert_eq!(found, [vec![1, 2, 3, 4], vec![5, 6, 7], vec![8, 9, 10]]);
    let is_rising = |samples: &&[VisitSample]| samples.is_sorted_by_key(|one| one.size_bytes);
    assert!(connections.iter().all(is_rising));
}

const GOLDEN_START: [u64; 4] = [2, 189, 1536, 8189];
