//! Searches by hand: what they tell of rates, losses and silence.

use super::*;

#[test]
fn t13_the_capacity_is_that_of_the_best_tenth() {
    let report = |received| CapacityReport {
        received,
        lost: if received > 25 { 2 } else { 0 },
        elapsed_ns: Nanos::from_millis(50),
        ..CapacityReport::default()
    };
    let reports = (0..200).map(|n| report(if (100..120).contains(&n) { 50 } else { 25 }));
    let sample = CapacitySample {
        datagram_bytes: Bytes::new(1222),
        reports: reports.collect(),
        ..CapacitySample::default()
    };
    let figures = sample.figures().unwrap();
    // 50 packets of 10,000 bits each 50 ms.
    assert!((figures.capacity_bit_s - 10e6).abs() < 1.0, "{figures:?}");
    assert!(
        (figures.mean_bit_s - 5.5e6).abs() < 1.0 && (figures.sub_interval_s - 1.0).abs() < 1e-9
    );
    let lost = [(figures.best_lost_share, 2.0 / 52.0), (figures.lost_share, 40.0 / 5540.0)];
    assert!(lost.iter().all(|(got, want)| (got - want).abs() < 1e-12), "{figures:?}");
    assert_eq!(CapacitySample::default().figures(), None);
}

/// Half of a second was dead: its zeros, which older results have, are no delay of what came in the other half.
#[test]
fn silent_intervals_have_no_part_in_the_delay_variation() {
    let report = |received, delay_variation_ns| CapacityReport {
        received,
        delay_variation_ns,
        elapsed_ns: Nanos::from_millis(50),
        ..CapacityReport::default()
    };
    for of_silence in [None, Some(Nanos::ZERO)] {
        let alive = report(50, Some(Nanos::from_millis(40)));
        let reports = [vec![alive; 10], vec![report(0, of_silence); 10]].concat();
        let sample = CapacitySample { reports, ..CapacitySample::default() };
        let mut figures = sample.figures().unwrap();
        assert_eq!((figures.silent_reports, figures.reports), (10, 20));
        assert!((figures.delay_variation_s.unwrap() - 0.04).abs() < 1e-12, "{figures:?}");
        let dead = CapacitySample { reports: sample.reports[10..].to_vec(), ..sample };
        figures = dead.figures().unwrap();
        assert_eq!((figures.capacity_bit_s, figures.delay_variation_s), (0.0, None));
    }
}

/// 1222 bytes are packets of 1250 over IPv4 and of 1270 over IPv6.
#[test]
fn the_capacity_of_ipv6_counts_its_headers() {
    let capacity = |over_ipv6| {
        let report = CapacityReport {
            received: 50,
            elapsed_ns: Nanos::from_millis(50),
            ..CapacityReport::default()
        };
        let (datagram_bytes, reports) = (Bytes::new(1222), vec![report; 20]);
        let sample =
            CapacitySample { datagram_bytes, over_ipv6, reports, ..CapacitySample::default() };
        sample.figures().unwrap().capacity_bit_s
    };
    let found = [false, true].map(capacity);
    assert!((found[0] - 10e6).abs() < 1.0 && (found[1] - 10.16e6).abs() < 1.0, "{found:?}");
}

/// 60 s at 5 Mb/s with one second of 10 Mb/s: the maximum of a longer interval would be less than what the RFC
/// asks for. A lost report more or less changes nothing.
#[test]
fn a_long_search_has_sub_intervals_of_a_second() {
    for (reports, sub_interval_s) in [(1200, 1.0), (199, 1.0), (60, 0.3), (4, 0.05)] {
        let report = |n| CapacityReport {
            received: if (40..60).contains(&n) { 50 } else { 25 },
            elapsed_ns: Nanos::from_millis(50),
            ..CapacityReport::default()
        };
        let sample = CapacitySample {
            datagram_bytes: Bytes::new(1222),
            reports: (0..reports).map(report).collect(),
            ..CapacitySample::default()
        };
        let figures = sample.figures().unwrap();
        assert!((figures.sub_interval_s - sub_interval_s).abs() < 1e-9, "{reports}: {figures:?}");
        let want = if reports > 40 { 10e6 } else { 5e6 };
        assert!((figures.capacity_bit_s / want - 1.0).abs() < 1e-9, "{reports}: {figures:?}");
    }
}

/// A line of 49 packets in 50 ms under a rate that swings once in 27 reports, with seven of them below it.
#[test]
fn t13_a_rate_that_swings_about_the_capacity_finds_it_wherever_it_began() {
    for phase in 0..27 {
        let received = |n: u64| if (n + phase) % 27 < 7 { 30 } else { 49 };
        let report = |n| CapacityReport {
            received: received(n),
            elapsed_ns: Nanos::from_millis(50),
            ..CapacityReport::default()
        };
        let reports = (0..200).map(report).collect();
        let datagram_bytes = Bytes::new(1222);
        let sample = CapacitySample { datagram_bytes, reports, ..CapacitySample::default() };
        let found = sample.figures().unwrap().capacity_bit_s;
        assert!((found / 9.8e6 - 1.0).abs() < 1e-9, "{phase}: {found}");
    }
}

/// The row of 10 Gb/s, of which the sender sent 1.5 and all of it came: the path carries at least that. Where
/// less came than was sent, or all was sent that was asked for, the path is what stood in the way.
#[test]
fn a_sender_that_did_not_keep_its_rate_gives_a_lower_bound() {
    let found = |asked_mbit_s: u64, sent_mbit_s: u64, came_mbit_s: u64| {
        let datagrams = |mbit_s: u64| mbit_s * 5; // of 1250 bytes in 50 ms
        let report = CapacityReport {
            asked_bit_s: BitRate::new(asked_mbit_s * 1_000_000),
            elapsed_ns: Nanos::from_millis(50),
            received: datagrams(came_mbit_s),
            lost: datagrams(sent_mbit_s - came_mbit_s),
            sent_in_ns: Nanos::from_millis(50),
            due_in_ns: Nanos::new(50_000_000 * sent_mbit_s / asked_mbit_s),
            ..CapacityReport::default()
        };
        let datagram_bytes = Bytes::new(1222);
        let reports = vec![report; 20];
        let sample = CapacitySample { datagram_bytes, reports, ..CapacitySample::default() };
        sample.figures().unwrap()
    };
    for (asked, sent, came, want) in [
        (10_000, 1_500, 1_500, true),
        (10_000, 1_500, 1_000, false),
        (1_500, 1_500, 1_000, false),
        (1_500, 1_490, 1_490, false),
    ] {
        let figures = found(asked, sent, came);
        assert_eq!(figures.is_lower_bound, want, "{figures:?}");
        for (got, want) in [(figures.asked_bit_s, asked), (figures.sent_bit_s, sent)] {
            assert!((got.unwrap() / (float(want) * 1e6) - 1.0).abs() < 1e-6, "{figures:?}");
        }
    }
    let old = CapacityReport {
        received: 5,
        elapsed_ns: Nanos::from_millis(50),
        ..CapacityReport::default()
    };
    let old = CapacitySample { reports: vec![old], ..CapacitySample::default() };
    let old = old.figures().unwrap();
    assert_eq!((old.asked_bit_s, old.sent_bit_s, old.is_lower_bound), (None, None, false));
}

/// 50 us that two clocks read as -200 or as 300 us are not known; 21 ms that they read as 11 are, within 10.
#[test]
fn a_delay_below_the_bound_of_the_clocks_is_not_said() {
    let report = CapacityReport { elapsed_ns: Nanos::from_millis(50), ..CapacityReport::default() };
    for (least_delay_ns, bound, want) in [
        (50_000, None, Some(0.000_05)),
        (-200_000, Some(350), None),
        (300_000, Some(350), None),
        (11_000_000, Some(10_000), Some(0.011)),
    ] {
        let sample = CapacitySample {
            least_delay_ns,
            least_delay_bound_ns: bound.map(Nanos::from_micros),
            reports: vec![report],
            ..CapacitySample::default()
        };
        let figures = sample.figures().unwrap();
        assert_eq!(figures.least_delay_s, want);
        let wanted = sample.least_delay_bound_ns.map(Nanos::seconds);
        assert_eq!(figures.least_delay_bound_s, wanted);
        // Journals that are older than the name of the bound have another one.
        let told = serde_json::to_string(&sample).unwrap();
        let older = told.replace("least_delay_bound_ns", "delay_bound_ns");
        assert_eq!(older != told, bound.is_some());
        assert_eq!(serde_json::from_str::<CapacitySample>(&older).unwrap(), sample);
    }
}
