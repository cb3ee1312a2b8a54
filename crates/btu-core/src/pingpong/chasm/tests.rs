//! The finder against a path in virtual time (checks P3, P4, P5).

use super::*;
use crate::pingpong::configuration::Mode;
use crate::pingpong::configuration::Writes;
use crate::pingpong::point::summarize;
use crate::pingpong::sample::ConfigurationId;
use crate::pingpong::schedule::Order;
use crate::pingpong::schedule::Schedule;
use crate::pingpong::schedule::Sweep;
use crate::pingpong::simulated::Bursts;
use crate::pingpong::simulated::Dip;
use crate::pingpong::simulated::Noise;
use crate::pingpong::simulated::Reach;
use crate::pingpong::simulated::Simulated;
use crate::pingpong::sizes::Sizes;
use crate::pingpong::sizes::Step;
use crate::pingpong::statistic::Statistic;
use crate::sample::SocketOptions;
use crate::units::Nanos;

fn two_writes() -> Configuration {
    Configuration {
        writes: Writes::HeaderFirst(Bytes::new(16)),
        nodelay: Some(false),
        ..Configuration::new("tcp")
    }
}

fn options(mss: u64) -> SocketOptions {
    SocketOptions {
        nodelay: Some(false),
        mss_bytes: Some(mss),
        send_buffer_bytes: Some(87_040),
        ..SocketOptions::default()
    }
}

fn swept(path: &mut Simulated, base: &Configuration, end: u64, order: Order, seed: u64) -> Curve {
    let sizes = Sizes::new(Bytes::new(1), Bytes::new(end), Bytes::new(3), Step::NetPipe).unwrap();
    let budget = Nanos::from_millis(100);
    // As NetPIPE goes: over one connection.
    let connections = if order == Order::Rising { 1 } else { 3 };
    let sweep = Sweep { connections, budget, order, ..Sweep::new(sizes.points(), seed) };
    let mut schedule = Schedule::new(sweep);
    let samples = path.sweep(&mut schedule, std::slice::from_ref(base));
    let points = summarize(&samples, ConfigurationId(1), Mode::PingPong);
    Curve::new("simulated", Mode::PingPong, Statistic::Typical, &points)
}

fn search(path: &mut Simulated, finder: &mut Finder) -> Vec<Finding> {
    while let Some(request) = finder.next_request().cloned() {
        assert!(finder.answers().len() < 2_000, "no end in sight: {request:?}");
        finder.answer(path.answer(&request));
    }
    finder.findings().unwrap().to_vec()
}

fn busy(seed: u64) -> Noise {
    let bursts = Bursts { share: 0.05, length: Nanos::from_millis(5), factor: 3.0 };
    Noise::correlated(0.05, Nanos::from_millis(20), seed).and_each(0.05).and_bursts(bursts)
}

/// Two writes with Nagle on a busy machine: 44 ms for 17 bytes to less than a segment after the
/// header.
#[test]
fn p3_the_edges_of_two_writes_are_found_to_the_byte_and_explained() {
    for (mss, seed) in [(1448, 1), (488, 2), (1448, 3), (488, 4)] {
        let dip = Dip::later(Reach::Nagle(mss), 44_000.0);
        let mut path = Simulated::new(10.0, 1.0).with_dip(dip).with_noise(busy(seed));
        let base = two_writes();
        let curve = swept(&mut path, &base, 4096, Order::Random, seed);
        let factors = Factor::list(&base, &options(mss));
        let mut finder = Finder::new(Settings::default(), base, factors, &curve);
        let findings = search(&mut path, &mut finder);
        assert_eq!(findings.len(), 1, "{findings:?}");
        let chasm = findings[0].chasm().unwrap();
        assert_eq!((chasm.from.count(), chasm.to.count() + 1), (17, 16 + mss), "{chasm}");
        assert!(chasm.from_sure && chasm.to_sure && chasm.confirmed == (10, 10));
        assert!(chasm.ratio > 100.0 && chasm.holes.is_empty());
        assert_eq!(chasm.removed_by().collect::<Vec<_>>(), ["TCP_NODELAY", "one write"]);
        let half = mss / 2;
        let moved: Vec<(&str, Bytes, Bytes)> = chasm.moved_by().collect();
        let to = |segment| Bytes::new(16 + segment - 1);
        let by_segment = (&*format!("TCP_MAXSEG {half}"), Bytes::new(17), to(half - 12));
        // A packet of 1280 bytes holds whole segments of 488.
        let by_packet = ("MTU 1280", Bytes::new(17), to(1280 - 52));
        let expected = [by_segment, by_packet];
        let expected = if mss < 1228 { &expected[..1] } else { &expected };
        assert_eq!(moved, expected);
        let nothing = chasm.effects.iter().filter(|effect| effect.outcome == Outcome::Nothing);
        assert_eq!(nothing.count(), chasm.effects.len() - 2 - expected.len());
    }
}

/// Now and then something else takes the CPU for milliseconds: one exchange of a clean size is then as
/// slow as one of the chasm.
#[test]
fn p3_a_pause_of_the_machine_is_not_taken_for_an_edge_that_stays() {
    for seed in 0..20 {
        let pauses = Bursts { share: 0.02, length: Nanos::from_millis(5), factor: 500.0 };
        let dip = Dip::later(Reach::Nagle(1448), 44_000.0);
        let noise = Noise::correlated(0.05, Nanos::from_millis(20), seed).and_bursts(pauses);
        let mut path = Simulated::new(10.0, 1.0).with_dip(dip).with_noise(noise);
        let base = two_writes();
        let curve = swept(&mut path, &base, 4096, Order::Random, seed);
        let factors = Factor::list(&base, &options(1448));
        let mut finder = Finder::new(Settings::default(), base, factors, &curve);
        let findings = search(&mut path, &mut finder);
        let chasm = findings.iter().find_map(Finding::chasm).unwrap();
        let moved: Vec<&str> = chasm.moved_by().map(|(factor, ..)| factor).collect();
        assert_eq!(moved, ["TCP_MAXSEG 724", "MTU 1280"], "seed {seed}: {chasm}");
    }
}

#[test]
fn p3_a_chasm_reads_as_one_sentence() {
    let dip = Dip::later(Reach::Nagle(1448), 44_000.0);
    let mut path = Simulated::new(10.0, 1.0).with_dip(dip);
    let base = two_writes();
    let curve = swept(&mut path, &base, 4096, Order::Random, 1);
    let factors = Factor::list(&base, &options(1448));
    let mut finder = Finder::new(Settings::default(), base, factors, &curve);
    let findings = search(&mut path, &mut finder);
    let text = findings[0].to_string();
    assert!(text.starts_with("between 17 and 1463 bytes, factor 4"), "{text}");
    let cause = "confirmed 10 of 10, removed by TCP_NODELAY, one write; moved by TCP_MAXSEG 724 to \
                 17..727 bytes; moved by MTU 1280 to 17..1243 bytes";
    assert!(text.ends_with(cause), "{text}");
}

/// A chasm, how it was measured, and what must be said of it: the factors that remove it, and those that
/// move it with the sizes that are slow then.
struct Caused {
    reach: Reach,
    base: Configuration,
    edges: (u64, u64),
    removed: &'static [&'static str],
    moved: &'static [(&'static str, u64, u64)],
}

fn caused() -> [Caused; 3] {
    let tcp = Configuration { nodelay: Some(false), ..Configuration::new("tcp") };
    let odd = Configuration { send_offset_bytes: Bytes::new(1), ..tcp.clone() };
    [
        // 87,040 B are given, 174,080 and 348,160 with twice and four times as much.
        Caused {
            reach: Reach::Beyond(87_040, 300_000),
            base: tcp.clone(),
            edges: (87_041, 300_000),
            removed: &["SO_SNDBUF x4"],
            moved: &[("SO_SNDBUF x2", 174_081, 300_000)],
        },
        Caused {
            reach: Reach::Offloaded(20_000..=60_000),
            base: tcp,
            edges: (20_000, 60_000),
            removed: &["segmentation offload off"],
            moved: &[],
        },
        Caused {
            reach: Reach::Unaligned(900..=2_100, 64),
            base: odd,
            edges: (900, 2_100),
            removed: &["aligned buffers"],
            moved: &[],
        },
    ]
}

/// Nagle's algorithm and the segment have their tests above.
#[test]
fn p3_send_buffer_offload_and_alignment_are_named_as_causes_and_nothing_else_is() {
    for (seed, case) in (1..).zip(caused()) {
        let Caused { reach, base, edges, removed, moved } = case;
        let dip = Dip::later(reach.clone(), 44_000.0);
        let mut path = Simulated::new(10.0, 1.0).with_dip(dip).with_noise(busy(seed));
        let curve = swept(&mut path, &base, 1 << 20, Order::Random, seed);
        let factors = Factor::list(&base, &options(1448));
        let count = factors.len();
        let mut finder = Finder::new(Settings::default(), base, factors, &curve);
        let findings = search(&mut path, &mut finder);
        assert_eq!(findings.len(), 1, "{reach:?}: {findings:?}");
        let chasm = findings[0].chasm().unwrap();
        assert_eq!((chasm.from.count(), chasm.to.count()), edges, "{chasm}");
        assert_eq!(chasm.removed_by().collect::<Vec<_>>(), removed, "{chasm}");
        let moves: Vec<(&str, u64, u64)> =
            chasm.moved_by().map(|(by, from, to)| (by, from.count(), to.count())).collect();
        assert_eq!(moves, moved, "{chasm}");
        let nothing = chasm.effects.iter().filter(|effect| effect.outcome == Outcome::Nothing);
        assert_eq!(nothing.count(), count - removed.len() - moved.len(), "{chasm}");
    }
}

/// A default sweep: NetPIPE's 124 sizes to 8 MiB, ten rounds, three connections. A point has fewer exchanges
/// than on a machine, and more noise for it.
fn swept_by_default(path: &mut Simulated, base: &Configuration, order: Order, seed: u64) -> Curve {
    let connections = if order == Order::Rising { 1 } else { 3 };
    let all = Sizes::default().points();
    let sweep = Sweep { connections, order, point_exchanges: 50, ..Sweep::new(all, seed) };
    let samples = path.sweep(&mut Schedule::new(sweep), std::slice::from_ref(base));
    let points = summarize(&samples, ConfigurationId(1), Mode::PingPong);
    assert_eq!(points.len(), 124);
    Curve::new("simulated", Mode::PingPong, Statistic::Typical, &points)
}

/// What is simulated here is a machine on which 5 % of the time belongs to others.
fn candidates_and_chasms(order: Order, noise: impl Fn(u64) -> Noise) -> (usize, usize) {
    let (mut candidates, mut chasms) = (0, 0);
    for seed in 0..100 {
        let mut path = Simulated::new(10.0, 1.0).with_noise(noise(seed));
        let tcp = Configuration::new("tcp");
        let curve = swept_by_default(&mut path, &tcp, order, seed);
        let mut finder = Finder::new(Settings::default(), tcp, vec![], &curve);
        candidates += finder.candidates().len();
        let findings = search(&mut path, &mut finder);
        chasms += findings.iter().filter(|finding| finding.chasm().is_some()).count();
    }
    (candidates, chasms)
}

#[test]
fn p4_noise_that_hangs_together_makes_no_chasm_in_random_order() {
    let (random, false_chasms) = candidates_and_chasms(Order::Random, busy);
    assert!(false_chasms <= 1, "{false_chasms} false chasms in 100 sweeps");
    let (rising, false_chasms) = candidates_and_chasms(Order::Rising, busy);
    assert!(rising > 10 * random.max(1), "{rising} in rising, {random} in random order");
    assert!(false_chasms <= 1, "{false_chasms} false chasms in 100 rising sweeps");
}

#[test]
fn p4_five_percent_of_wandering_within_some_visits_makes_no_chasm() {
    wandering_makes_no_chasm(Nanos::from_millis(20));
}

#[test]
fn p4_five_percent_of_wandering_over_a_round_and_more_makes_no_chasm() {
    wandering_makes_no_chasm(Nanos::from_secs(3));
}

fn wandering_makes_no_chasm(memory: Nanos) {
    let wandering = |seed| Noise::correlated(0.05, memory, seed);
    let (_, false_chasms) = candidates_and_chasms(Order::Random, wandering);
    assert!(false_chasms <= 1, "{false_chasms} false chasms in 100 sweeps");
}

/// 59 to 72 kB three times slower, as in snell1996, figure 10, with good sizes inside: around the
/// grid's 64,000 and, between two of its sizes, where random ones come across it, above 68,000.
#[test]
fn p5_holes_in_a_dip_are_reported_as_holes() {
    let reach = Reach::Unaligned(59_001..=72_000, 4096);
    let dip = Dip::slower(reach, 3.0).with_hole(63_990..=64_010).with_hole(68_001..=69_990);
    for seed in [1, 2, 3] {
        let noise = Noise::correlated(0.02, Nanos::from_millis(20), seed).and_each(0.02);
        let mut path = Simulated::new(10.0, 1.0).with_dip(dip.clone()).with_noise(noise);
        let one = Bytes::new(1);
        let base = Configuration { send_offset_bytes: one, ..Configuration::new("tcp") };
        let zoom = Sizes::new(
            Bytes::new(50_000),
            Bytes::new(90_000),
            Bytes::ZERO,
            Step::Every(Bytes::new(2_000)),
        );
        let sweep =
            Sweep { budget: Nanos::from_secs(2), ..Sweep::new(zoom.unwrap().points(), seed) };
        let samples = path.sweep(&mut Schedule::new(sweep), std::slice::from_ref(&base));
        let points = summarize(&samples, ConfigurationId(1), Mode::PingPong);
        let curve = Curve::new("atm", Mode::PingPong, Statistic::Typical, &points);
        let factors = Factor::list(&base, &options(1448));
        let mut finder = Finder::new(Settings::default(), base, factors, &curve);
        let findings = search(&mut path, &mut finder);
        assert_eq!(findings.len(), 1, "{findings:?}");
        let chasm = findings[0].chasm().unwrap();
        assert_eq!((chasm.from.count(), chasm.to.count()), (59_001, 72_000), "{chasm}");
        assert_eq!(chasm.holes, [63_990..=64_010, 68_001..=69_990], "{chasm}");
        assert_eq!(chasm.removed_by().collect::<Vec<_>>(), ["aligned buffers"]);
    }
}

#[test]
fn a_dip_that_passes_is_not_reproduced() {
    let mut path = Simulated::new(10.0, 1.0).with_dip(Dip::slower(Reach::Always(900..=2100), 5.0));
    let tcp = Configuration::new("tcp");
    let curve = swept(&mut path, &tcp, 65_536, Order::Random, 1);
    let mut finder = Finder::new(Settings::default(), tcp, vec![], &curve);
    assert_eq!(finder.candidates().len(), 1);
    let findings = search(&mut Simulated::new(10.0, 1.0), &mut finder);
    assert!(matches!(findings[0], Finding::NotReproduced { rounds: (0, 10), .. }));
    assert!(findings[0].to_string().contains("factor 5.0 in the sweep: not reproduced"));
}

#[test]
fn the_answers_alone_lead_to_the_same_findings() {
    let mut path = Simulated::new(10.0, 1.0).with_dip(Dip::slower(Reach::Always(900..=2100), 5.0));
    let tcp = Configuration::new("tcp");
    let curve = swept(&mut path, &tcp, 65_536, Order::Random, 1);
    let mut finder = Finder::new(Settings::default(), tcp.clone(), vec![], &curve);
    let findings = search(&mut path, &mut finder);
    let mut again = Finder::new(Settings::default(), tcp, vec![], &curve);
    for answer in finder.answers() {
        let line = serde_json::to_string(answer).unwrap();
        again.answer(serde_json::from_str(&line).unwrap());
    }
    assert_eq!(again.findings(), Some(&*findings));
}

/// Who has no more time answers every further request with that.
#[test]
fn a_search_that_is_cut_short_keeps_what_is_confirmed() {
    let mut path = Simulated::new(10.0, 1.0).with_dip(Dip::slower(Reach::Always(900..=2100), 5.0));
    let tcp = Configuration::new("tcp");
    let curve = swept(&mut path, &tcp, 65_536, Order::Random, 1);
    let factors = Factor::list(&tcp, &SocketOptions::default());
    let mut finder = Finder::new(Settings::default(), tcp, factors, &curve);
    while let Some(request) = finder.next_request().cloned() {
        let late = matches!(request.purpose, Purpose::Holes | Purpose::Cause(_));
        let cut = Answer::Failed { reason: "the time is over".into() };
        finder.answer(if late { cut } else { path.answer(&request) });
    }
    let chasm = finder.findings().unwrap()[0].chasm().unwrap();
    assert_eq!((chasm.from.count(), chasm.to.count()), (900, 2100));
    assert_eq!(chasm.holes_unknown.as_deref(), Some("the time is over"));
    assert!(chasm.to_string().ends_with("cause unknown: 2 of 2 factors could not be tried"));
}

#[test]
fn a_measurement_that_fails_ends_its_candidate_with_the_reason() {
    let mut path = Simulated::new(10.0, 1.0).with_dip(Dip::slower(Reach::Always(900..=2100), 5.0));
    let tcp = Configuration::new("tcp");
    let curve = swept(&mut path, &tcp, 65_536, Order::Random, 1);
    let mut finder = Finder::new(Settings::default(), tcp, vec![], &curve);
    finder.answer(Answer::Measured { medians_us: vec![vec![1.0]] });
    let findings = finder.findings().unwrap();
    assert!(findings[0].to_string().contains("not examined to its end: answer does not hold"));
}
