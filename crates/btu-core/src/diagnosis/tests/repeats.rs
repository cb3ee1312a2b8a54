//! Passes of a cell that differ: what parts them is named, and chance alone hardly ever.

use super::*;
use crate::stats::two_groups;

/// Passes with these goodputs in Mb/s; how long the window kept the sender back, and what others took of
/// a CPU, in percent.
fn passes(all: &[(u64, u32, u32)]) -> Vec<Repeat> {
    let percent = |value: u32| Some(Ratio::new(f64::from(value) / 100.0));
    let one = |(mbps, held, taken): &(u64, u32, u32)| Repeat {
        goodput: BitRate::new(mbps * 1_000_000),
        window_limited: percent(*held),
        segments: Some(1_000_000),
        answers: Some(if *held > 30 { 20_000 } else { 120_000 }),
        taken: percent(*taken),
        distance: None,
    };
    all.iter().map(one).collect()
}

fn abnormal(repeats: Vec<Repeat>) -> Evidence {
    Evidence { repeats, abnormal: vec!["repeats differ".to_owned()], ..Evidence::default() }
}

/// Passes of SEND/ftp that were measured on an idle machine.
const BY_WINDOW: [(u64, u32, u32); 5] =
    [(2567, 0, 0), (2371, 0, 0), (2483, 0, 0), (8849, 56, 0), (7664, 46, 0)];
/// Passes of another cell while other programs ran in two of them.
const BY_OTHERS: [(u64, u32, u32); 5] =
    [(3449, 4, 0), (3479, 0, 0), (3619, 2, 1), (1006, 0, 110), (767, 0, 140)];

#[test]
fn passes_that_differ_by_the_window_run_in_two_modes() {
    named("two-modes", |chance| (healthy(chance), abnormal(passes(&BY_WINDOW))));
    let found = said(healthy(&mut ChaCha12Rng::seed_from_u64(1)), &abnormal(passes(&BY_WINDOW)));
    let sentence = &found[0].sentence;
    assert!(sentence.starts_with("3 slow and 2 fast passes, 3.3 times apart: "), "{sentence}");
    assert!(sentence.contains("51 % of the time"), "{sentence}");
    assert!(sentence.contains("50 segments for each answer, and 8 in the slow"), "{sentence}");
    // 2473.7, 8256.5 and their mean, 4786.8 Mb/s: 42 % below the fast ones.
    assert!((found[0].share.share() - 0.42).abs() < 0.005, "{:?}", found[0].share);
}

#[test]
fn passes_that_others_disturbed_are_disturbed_whatever_the_window_did() {
    named("disturbed-passes", |chance| (healthy(chance), abnormal(passes(&BY_OTHERS))));
    let both = BY_OTHERS.map(|(mbps, _, taken)| (mbps, if taken > 50 { 0 } else { 60 }, taken));
    named("disturbed-passes", |chance| (healthy(chance), abnormal(passes(&both))));
    let found = said(healthy(&mut ChaCha12Rng::seed_from_u64(1)), &abnormal(passes(&both)));
    assert_eq!(found.len(), 1, "{found:?}");
}

/// Passes of 64 KiB on a virtual machine whose two CPUs were moved: nobody took anything from it.
#[test]
fn passes_whose_cpus_were_apart_are_slow_by_that() {
    let goodputs = [(45_600, 0, 0), (63_000, 0, 0), (46_900, 0, 0), (65_200, 0, 0), (47_400, 0, 0)];
    let apart = |distances: [u64; 5]| {
        let mut repeats = passes(&goodputs);
        for (repeat, distance) in repeats.iter_mut().zip(distances) {
            repeat.distance = Some(Nanos::new(distance));
        }
        abnormal(repeats)
    };
    let far = [560, 230, 540, 210, 520];
    named("distant-cpus", |chance| (healthy(chance), apart(far)));
    let found = said(healthy(&mut ChaCha12Rng::seed_from_u64(1)), &apart(far));
    let sentence = &found[0].sentence;
    let times = "took 540 ns from one CPU of the host to another and back in the slow ones, and 220 ns in the fast";
    assert!(sentence.starts_with("3 slow and 2 fast passes, 1.4 times apart: "), "{sentence}");
    assert!(sentence.contains(times), "{sentence}");
    let clocks = said(healthy(&mut ChaCha12Rng::seed_from_u64(1)), &apart([80, 70, 80, 70, 80]));
    assert_eq!(clocks[0].cause, "unknown", "{clocks:?}");
}

#[test]
fn nobody_asks_why_the_passes_of_a_normal_cell_differ() {
    let model = || healthy(&mut ChaCha12Rng::seed_from_u64(1));
    let evidence = Evidence { abnormal: Vec::new(), ..abnormal(passes(&BY_WINDOW)) };
    assert_eq!(names(&said(model(), &evidence)), []);
    // Nor of four passes, nor where one of them does not tell.
    let mut silent = passes(&BY_WINDOW);
    silent[2].window_limited = None;
    for repeats in [passes(&BY_WINDOW[..4]), silent] {
        let found = said(model(), &abnormal(repeats));
        assert_eq!(found[0].cause, "unknown", "{found:?}");
    }
}

/// Two groups whose passes know nothing of the window or of others: every one in fifty may seem to.
#[test]
fn chance_alone_is_hardly_ever_a_mode() {
    let chance = &mut ChaCha12Rng::seed_from_u64(68);
    let model = healthy(chance);
    let recorded = model.run();
    let connection = &analyse(&recorded.capture()).connections[0];
    let named = (0..400).filter(|_| {
        let mut one = |goodput: [u64; 2]| {
            let goodput = chance.random_range(goodput[0]..goodput[1]);
            (goodput, chance.random_range(0..100), chance.random_range(0..100))
        };
        let repeats = [[900, 1000]; 3].into_iter().chain([[1800, 2000]; 2]).map(&mut one);
        let repeats = passes(&repeats.collect::<Vec<_>>());
        let goodputs: Vec<f64> = repeats.iter().map(|one| one.goodput.mbps()).collect();
        assert!(two_groups(&goodputs, 1.15).is_some());
        diagnose(connection, &abnormal(repeats)).iter().any(Diagnosis::is_known)
    });
    let named = named.count();
    assert!(named <= 24, "{named} of 400, by two figures of one chance in fifty each");
}
