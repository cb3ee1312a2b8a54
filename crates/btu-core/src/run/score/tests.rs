//! The score by hand, and what must hold of it whatever the figures are.

use proptest::prelude::*;

use super::*;

fn figure(case: &str, application: &str, activity: &str, goodput: f64, slow: f64) -> Figure {
    Figure {
        case: case.to_owned(),
        application: application.to_owned(),
        activity: activity.to_owned(),
        repeat: 1,
        goodput_mbps: goodput,
        slowdown: (activity != "none").then_some(slow),
    }
}

/// Two cases, two applications, activities `none`, `cpu`, `io`.
fn small_host() -> Vec<Figure> {
    vec![
        figure("SEND", "telnet", "none", 9.0, 0.0),
        figure("RECV", "telnet", "none", 4.0, 0.0),
        figure("SEND", "telnet", "cpu", 2.0, 1.2),
        figure("RECV", "telnet", "cpu", 8.0, 1.2),
        figure("SEND", "telnet", "io", 1.0, 1.1),
        figure("RECV", "telnet", "io", 1.0, 1.1),
        figure("SEND", "video", "none", 25.0, 0.0),
        figure("RECV", "video", "none", 36.0, 0.0),
        figure("SEND", "video", "cpu", 16.0, 1.8),
        figure("RECV", "video", "cpu", 16.0, 1.8),
        figure("SEND", "video", "io", 4.0, 1.6),
        figure("RECV", "video", "io", 4.0, 1.6),
    ]
}

fn close(found: Option<f64>, want: f64) -> bool {
    found.is_some_and(|found| (found / want - 1.0).abs() < 1e-9)
}

/// telnet: cpu GM(2, 8) = 4, io 1, so 2. video: cpu 16, io 4, so 8. BTU = GM(2, 8) = 4.
/// Idle: telnet GM(9, 4) = 6, video GM(25, 36) = 30, GM = sqrt(180).
//= maly1996#5 eq. 6
//= maly1996#5 eq. 7
#[test]
fn the_small_host_has_4_mbps() {
    let score = score(&small_host());
    assert!(close(score.applications[0].btu_mbps, 2.0));
    assert!(close(score.applications[1].btu_mbps, 8.0));
    assert!(close(score.btu_mbps, 4.0));
    assert!(close(score.btu_idle_mbps, 180.0_f64.sqrt()));
}

/// Slowdowns telnet sqrt(1.2 x 1.1), video sqrt(1.8 x 1.6). Classic terms 20 10 80 60: telnet
/// sqrt(200), video sqrt(4800), and GM of both is the fourth root of 960,000 = 31.30.
//= maly1996#5 eq. 9
//= maly1996#5 eq. 10
//= maly1996#5 eq. 11
#[test]
fn both_penalties_of_the_small_host() {
    let score = score(&small_host());
    let ratio = (1.2 * 1.1 * 1.8 * 1.6_f64).powf(0.25);
    assert!(close(score.slowdown, ratio));
    assert!(close(score.slowdown.map(penalty_percent), (ratio - 1.0) * 100.0));
    assert!(close(score.applications[0].classic.percent(), 200.0_f64.sqrt()));
    assert!(close(score.classic.percent(), 960_000.0_f64.powf(0.25)));
}

#[test]
fn one_activity_that_gains_makes_the_classic_penalty_undefined() {
    let mut runs = small_host();
    for run in runs.iter_mut().filter(|run| run.application == "telnet" && run.activity == "io") {
        run.slowdown = Some(0.9);
    }
    let score = score(&runs);
    assert_eq!(score.classic.percent(), None);
    assert_eq!(score.classic.reason().unwrap(), "undefined (1 of 4 terms <= 0)");
    assert!(score.applications[1].classic.percent().is_some());
    assert!(score.slowdown.is_some());
}

#[test]
fn a_full_matrix_that_costs_nothing_counts_15_terms() {
    let classic = Classic::fold((0..5).map(|_| Classic::of_slowdowns(&[1.0, 0.99, 0.5])));
    assert_eq!(classic.to_string(), "undefined (15 of 15 terms <= 0)");
    assert_eq!(Classic::default().reason().unwrap(), "no slowdown was measured");
}

/// Repeats 1 and 4 of a cell are one cell of 2, and weigh no more than a cell with one repeat.
#[test]
fn repeats_are_folded_before_cells_are() {
    let runs = [
        figure("SEND", "ftp", "cpu", 1.0, 1.0),
        figure("SEND", "ftp", "cpu", 4.0, 4.0),
        figure("RECV", "ftp", "cpu", 8.0, 2.0),
    ];
    let score = score(&runs);
    assert!(close(score.btu_mbps, 4.0));
    assert!(close(score.slowdown, 2.0));
    assert_eq!(score.btu_idle_mbps, None);
}

/// 32 Mb in 10 s and in 40 s: GM 20 s, 1.6 Mb/s.
//= maly1996#5 eq. 5
#[test]
fn an_amount_over_the_mean_of_its_times_is_the_mean_of_its_goodputs() {
    let megabits = 32.0;
    let of = |case, seconds| figure(case, "ftp", "cpu", megabits / seconds, 1.0);
    let score = score(&[of("SEND", 10.0), of("RECV", 40.0)]);
    assert!(close(score.applications[0].btu_mbps, 1.6));
}

/// A small matrix: 2 cases, 3 applications, baselines and 3 activities.
fn hosts(values: &[(f64, f64)]) -> Vec<Figure> {
    let mut values = values.iter();
    let mut figures = Vec::new();
    for case in ["SEND", "2SEND+DR"] {
        for application in ["telnet", "audio", "video"] {
            for activity in ["none", "cpu", "ftp", "io"] {
                let (goodput, slow) = values.next().copied().unwrap_or((1.0, 1.0));
                figures.push(figure(case, application, activity, goodput, slow));
            }
        }
    }
    figures
}

fn any_host() -> impl Strategy<Value = Vec<Figure>> {
    prop::collection::vec((1e-3..1e5f64, 0.5..20.0f64), 24).prop_map(|values| hosts(&values))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_change_of_unit_scales_the_score_and_leaves_the_penalty(
        host in any_host(),
        unit in 1e-3..1e3f64,
    ) {
        let mut scaled = host.clone();
        for run in &mut scaled {
            run.goodput_mbps *= unit;
        }
        let (before, after) = (score(&host), score(&scaled));
        prop_assert!(close(after.btu_mbps, before.btu_mbps.unwrap() * unit));
        prop_assert!(close(after.slowdown, before.slowdown.unwrap()));
    }

    #[test]
    fn the_ratio_of_two_hosts_is_the_same_against_any_reference(
        host in any_host(),
        other in any_host(),
        reference in any_host(),
    ) {
        let against = |host: &[Figure]| {
            let mut relative = host.to_vec();
            for (run, base) in relative.iter_mut().zip(&reference) {
                run.goodput_mbps /= base.goodput_mbps;
            }
            score(&relative).btu_mbps.unwrap()
        };
        let plain = score(&host).btu_mbps.unwrap() / score(&other).btu_mbps.unwrap();
        prop_assert!(close(Some(against(&host) / against(&other)), plain));
    }

    #[test]
    fn work_as_fast_as_its_base_has_no_penalty(host in any_host()) {
        let mut alone = host;
        for run in &mut alone {
            run.slowdown = run.slowdown.map(|_| 1.0);
        }
        prop_assert!(penalty_percent(score(&alone).slowdown.unwrap()).abs() < 1e-9);
    }

    #[test]
    fn times_of_equal_amounts_and_goodputs_give_one_score(
        times in prop::collection::vec(1e-3..1e4f64, 1..12),
    ) {
        let case = |at: usize, time: &f64| figure(&at.to_string(), "ftp", "cpu", 32.0 / time, 1.0);
        let runs: Vec<Figure> = times.iter().enumerate().map(|(at, time)| case(at, time)).collect();
        let by_times = 32.0 / geometric_mean(&times).unwrap();
        prop_assert!(close(score(&runs).btu_mbps, by_times));
    }

    #[test]
    fn nested_means_of_a_full_matrix_are_one_flat_mean(host in any_host()) {
        let loaded = host.iter().filter(|run| run.activity != "none");
        let flat: Vec<f64> = loaded.map(|run| run.goodput_mbps).collect();
        prop_assert!(close(score(&host).btu_mbps, geometric_mean(&flat).unwrap()));
    }
}
