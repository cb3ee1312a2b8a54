//! Figures of programmed curves (check P2).

use crate::pingpong::configuration::Configuration;
use crate::pingpong::configuration::Mode;
use crate::pingpong::curve::Curve;
use crate::pingpong::curve::CurvePoint;
use crate::pingpong::simulated::Noise;
use crate::pingpong::simulated::Simulated;
use crate::pingpong::sizes::Sizes;
use crate::pingpong::statistic::Statistic;
use crate::units::Bytes;
use crate::units::Nanos;

/// One exchange of each size, in rising order.
fn curve(mut path: Simulated) -> Curve {
    let tcp = Configuration::new("tcp");
    let mut point = |size| CurvePoint {
        size,
        time_us: path.exchange(size, &tcp).micros() / 2.0,
        interval_us: None,
        rounds_us: vec![],
    };
    let points = Sizes::default().points().into_iter().map(&mut point).collect();
    Curve { label: "tcp".into(), mode: Mode::PingPong, statistic: Statistic::Typical, points }
}

fn noisy(sd: f64) -> Noise {
    Noise::correlated(0.0, Nanos::from_secs(1), 3).and_each(sd)
}

#[track_caller]
fn assert_within(found: f64, want: f64, share: f64) {
    assert!((found / want - 1.0).abs() <= share, "{found}, expected {want} +- {share}");
}

/// 10 us and 1 GB/s: n1/2 = 10 kB, rate at the end 8000 Mb/s, saturation from 19 x 10 kB on.
#[test]
fn p2_one_regime_gives_its_latency_gap_and_half_size() {
    for path in [Simulated::new(10.0, 1.0), Simulated::new(10.0, 1.0).with_noise(noisy(0.005))] {
        let figures = curve(path).figures();
        assert_eq!(figures.regimes.len(), 1, "{:?}", figures.regimes);
        assert_within(figures.regimes[0].latency_us(), 10.001, 0.01);
        assert_within(figures.regimes[0].gap_ns(), 1.0, 0.01);
        assert_within(figures.latency_us.unwrap(), 10.001, 0.02);
        assert_within(figures.netpipe_latency_us.unwrap(), 10.02, 0.02);
        assert_within(figures.asymptotic_mbps.unwrap(), 8_000.0, 0.01);
        let half = figures.half_size_bytes.unwrap();
        assert!((8_192.0..=12_291.0).contains(&half), "{half} is off by a step of the grid");
        assert_eq!(figures.saturation, Some(Bytes::new(196_605)));
        assert!(figures.peak_mbps.unwrap().1 > Bytes::new(4 << 20) && figures.rises.is_empty());
    }
}

/// From 64 KiB on a rendezvous costs 20 us more, and each byte half as much.
#[test]
fn p2_the_break_of_two_regimes_is_found_within_a_point() {
    let two = || Simulated::new(10.0, 1.0).then(Bytes::new(65_536), 60.0, 0.5);
    for path in [two(), two().with_noise(noisy(0.005))] {
        let curve = curve(path);
        let regimes = curve.figures().regimes;
        assert_eq!(regimes.len(), 2, "{regimes:?}");
        let place = |size| curve.points.iter().position(|point| point.size == size).unwrap();
        let off = place(regimes[1].from).abs_diff(place(Bytes::new(65_536)));
        assert!(off <= 1, "{off} points off");
        assert_within(regimes[0].latency_us(), 10.001, 0.01);
        assert_within(regimes[1].gap_ns(), 0.5, 0.02);
    }
}

/// 10 us, then 30 us from 4 KiB on: 34.1 over 14.1 us.
#[test]
fn a_rise_between_regimes_is_told_from_a_chasm() {
    let figures = curve(Simulated::new(10.0, 1.0).then(Bytes::new(4_096), 30.0, 1.0)).figures();
    assert_eq!((figures.regimes.len(), figures.rises.len()), (2, 1));
    assert_eq!(figures.rises[0].at, Bytes::new(4_096));
    assert_within(figures.rises[0].ratio, 34.096 / 14.096, 0.01);
}

#[test]
fn a_curve_of_few_or_no_points_has_no_more_figures_than_it_can() {
    let mut curve = curve(Simulated::new(10.0, 1.0));
    curve.points.truncate(2);
    let figures = curve.figures();
    assert_eq!(figures.regimes.len(), 1);
    assert!(figures.saturation.is_none());
    curve.points.clear();
    let figures = curve.figures();
    assert!(figures.regimes.is_empty() && figures.peak_mbps.is_none());
}

#[test]
fn the_three_graphs_hold_the_same_points() {
    let curve = curve(Simulated::new(10.0, 1.0));
    let (signature, saturation, throughput) =
        (curve.signature(), curve.saturation(), curve.throughput());
    assert_eq!([signature.len(), saturation.len(), throughput.len()], [124; 3]);
    for ((signature, saturation), throughput) in signature.iter().zip(&saturation).zip(&throughput)
    {
        assert!((signature.0 - saturation.0).abs() < 1e-12);
        assert!((signature.1 - throughput.1).abs() < 1e-12 && saturation.1 == throughput.0);
    }
}
