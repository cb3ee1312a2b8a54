//! Tables made by hand, with the gaps and costs that follow from them.

use super::*;
use crate::pingpong::configuration::Mode;
use crate::pingpong::curve::CurvePoint;
use crate::pingpong::nature::Nature;
use crate::pingpong::statistic::Statistic;

/// A curve whose rounds are within `spread` of its time.
fn spread(transport: &str, wait: Wait, time_us: f64, spread: f64) -> (Configuration, Curve) {
    let point = |size| CurvePoint {
        size: Bytes::new(size),
        time_us,
        interval_us: None,
        rounds_us: vec![time_us / spread, time_us, time_us * spread],
    };
    let points = [8, 1_536].map(point).to_vec();
    let (label, statistic) = (transport.to_owned(), Statistic::Typical);
    let curve = Curve { label, mode: Mode::PingPong, statistic, points };
    let layer = match transport {
        "raw" | "xdp" => Layer::Frames,
        "shm" => Layer::Memory,
        _ => Layer::Protocol,
    };
    let nature = Nature { layer, ..Nature::default() };
    (Configuration { wait, nature, ..Configuration::new(transport) }, curve)
}

/// The same with both ends on one CPU.
fn on_one_cpu(mut measured: (Configuration, Curve)) -> (Configuration, Curve) {
    measured.0.placement = Placement::Same;
    measured
}

fn curve(transport: &str, wait: Wait, time_us: f64) -> (Configuration, Curve) {
    spread(transport, wait, time_us, 1.001)
}

/// What is said of 8 bytes from TCP.
fn told(curves: &[(Configuration, Curve)]) -> Vec<String> {
    let gaps = WaitTable::new(curves, &WAIT_SIZES).gaps("tcp", Bytes::new(8));
    gaps.iter().map(ToString::to_string).collect()
}

/// Measured on a 2-CPU guest: TCP 11.8 and 3.7 us, raw frames 1.8 us. Student's t of three rounds of
/// logs -0.001, 0 and 0.001 is 0.2484 % to each side: 0.0293, 0.0092 and 0.0045 us.
#[test]
fn the_gap_is_parted_into_waiting_and_protocol() {
    let curves = [
        curve("tcp", Wait::Block, 11.8),
        curve("tcp", Wait::Spin, 3.7),
        curve("packet", Wait::Spin, 1.8),
    ];
    let table = WaitTable::new(&curves, &WAIT_SIZES);
    let cells: usize = table.rows().iter().map(|row| row.cells.len()).sum();
    assert_eq!(cells, 6, "no curve reaches 64 KiB");
    let gap = table.gap("tcp", "packet", Bytes::new(8)).unwrap();
    assert_eq!(
        gap.to_string(),
        "8B: tcp that blocks takes 11.80 us, packet that spins 1.80 us; waiting costs 8.10 us \
         [8.07, 8.13], the protocol costs 1.90 us [1.89, 1.91]"
    );
    assert_eq!(table.rows()[1].at(Bytes::new(1_400)).unwrap().size, Bytes::new(1_536));
    assert_eq!(table.gap("tcp", "shm", Bytes::new(8)), None);
}

/// The micro-benchmark parts waiting from protocol on one path: shared memory is not on it.
#[test]
fn frames_are_told_beside_a_faster_copy_of_memory() {
    let mut curves = vec![
        curve("tcp", Wait::Block, 11.8),
        curve("tcp", Wait::Spin, 3.7),
        curve("raw", Wait::Spin, 1.8),
        curve("xdp", Wait::Spin, 2.0),
        curve("shm", Wait::Spin, 0.2),
    ];
    let raw = "8B: tcp that blocks takes 11.80 us, raw that spins 1.80 us; waiting costs 8.10 us \
               [8.07, 8.13], the protocol costs 1.90 us [1.89, 1.91]";
    let shm = "8B: tcp that blocks takes 11.80 us, shm (a copy of memory) that spins 0.20 us; \
               waiting costs 8.10 us [8.07, 8.13], the protocol costs 3.50 us [3.49, 3.51]";
    assert_eq!(told(&curves), [raw, shm]);
    curves.pop();
    assert_eq!(told(&curves), [raw]);
    curves.truncate(2);
    assert!(told(&curves).is_empty());
    // Frames are cut at the MTU where TCP hands over a large block in one piece.
    curves.push(curve("raw", Wait::Spin, 13.7));
    assert!(told(&curves)[0].contains("the protocol saves 10.00 us [9.96, 10.04]"));
}

/// Two ends that spin on one CPU each wait for the other's time slice.
#[test]
fn what_waiting_saves_has_no_sign_and_what_overlaps_is_not_told() {
    let curves = |spinning: f64| {
        [
            curve("tcp", Wait::Block, 60.0),
            spread("tcp", Wait::Spin, 297.1, spinning),
            curve("raw", Wait::Spin, 0.4),
        ]
    };
    let sure = told(&curves(1.001)).remove(0);
    assert!(sure.contains("waiting saves 237.10 us [236."), "{sure}");
    assert!(sure.contains("the protocol costs 296.70 us [29"), "{sure}");
    let wide = told(&curves(20.0)).remove(0);
    assert!(wide.ends_with("waiting and protocol cannot be told apart here"), "{wide}");
    let half = told(&curves(2.0)).remove(0);
    assert!(half.contains("waiting cannot be told apart here; the protocol costs"), "{half}");
    let mut bare = curves(1.001);
    bare[2].1.points[0].rounds_us.clear();
    let bare = told(&bare).remove(0);
    assert!(bare.ends_with("; the protocol cannot be told apart here"), "{bare}");
}

/// Waiting costs less where both ends share a CPU: nobody is woken elsewhere. Gaps are those of two CPUs,
/// where ends can spin.
#[test]
fn each_row_is_its_own_and_the_second_cpu_has_its_sentence() {
    let curves = [
        on_one_cpu(curve("tcp", Wait::Block, 8.0)),
        curve("tcp", Wait::Block, 11.8),
        curve("tcp", Wait::Block, 11.9),
        curve("tcp", Wait::Spin, 3.7),
        curve("raw", Wait::Spin, 1.8),
    ];
    let table = WaitTable::new(&curves, &WAIT_SIZES);
    let eight = Bytes::new(8);
    let times: Vec<f64> = table.rows().iter().map(|row| row.at(eight).unwrap().time_us).collect();
    assert!(times.iter().zip([8.0, 11.8, 11.9, 3.7, 1.8]).all(|(a, b)| (a - b).abs() < 1e-12));
    assert!(told(&curves)[0].contains("tcp that blocks takes 11.80 us"), "{:?}", told(&curves));
    let pinning = table.pinning("tcp", Wait::Block, eight).unwrap();
    assert_eq!(
        pinning.to_string(),
        "8B: tcp that blocks takes 11.80 us with each end on a CPU of its own, 8.00 us with both on \
         one; the second CPU costs 3.80 us [3.76, 3.84]"
    );
    assert_eq!(table.pinning("tcp", Wait::Spin, eight), None);
    let wide = [
        on_one_cpu(spread("tcp", Wait::BusyPoll, 8.0, 3.0)),
        spread("tcp", Wait::BusyPoll, 9.0, 3.0),
    ];
    let wide = WaitTable::new(&wide, &WAIT_SIZES).pinning("tcp", Wait::BusyPoll, eight).unwrap();
    let said = wide.to_string();
    assert!(said.contains("tcp that waits by busy-poll"), "{said}");
    assert!(said.ends_with("what the second CPU costs cannot be told here"), "{said}");
}
