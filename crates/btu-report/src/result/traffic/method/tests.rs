//! What is said of a method's figures that are not there, and of its goals.

use super::*;

/// Whoever reads a latency between two hosts reads how well it is known, too.
#[test]
fn a_latency_stands_beside_the_bound_of_its_clocks() {
    let (latency_p99_s, latency_bound_s) = (Some(0.005), Some(0.003));
    let found = FrameFinding { latency_p99_s, latency_bound_s, ..FrameFinding::default() };
    let told = frame(&found);
    assert_eq!((told.latency_p99_s, told.latency_bound_s), (latency_p99_s, latency_bound_s));
    assert_eq!(told.latency_p50_s, None, "below the bound");
}

/// Where one trial of many lost something, no load has missed the goal, and that no load lost any frame is not so; of
/// a search that was cut short neither is known.
#[test]
fn a_bound_by_majority_that_is_missing_has_a_reason_of_its_own() {
    let told = |throughput_fps: Option<f64>, lossy_fps, by_majority: bool| {
        let goal = GoalFinding { loss: 0.0, lower_fps: throughput_fps, upper_fps: lossy_fps };
        let goals = if by_majority { vec![goal] } else { Vec::new() };
        let found = FrameFinding { throughput_fps, lossy_fps, goals, ..FrameFinding::default() };
        let mut told = frame(&found);
        let wire = told.throughput_wire_bit_s_reason.take();
        assert_eq!(wire, told.throughput_frames_s_reason);
        for goal in &told.goals {
            assert_eq!(goal.met_frames_s_reason, told.throughput_frames_s_reason);
            assert_eq!(goal.met_wire_bit_s_reason, told.throughput_frames_s_reason);
            assert_eq!(goal.missed_frames_s_reason, told.lossy_frames_s_reason);
        }
        let reasons = [told.throughput_frames_s_reason, told.lossy_frames_s_reason];
        reasons.map(Option::unwrap_or_default)
    };
    let all = "every load that was decided meets the goal";
    let none = "no load below the lowest that misses the goal was decided to meet it";
    assert_eq!(told(None, None, true), ["no load was decided"; 2]);
    assert_eq!(told(Some(1.0), None, true), ["", all]);
    assert_eq!(told(None, Some(1.0), true), [none, ""]);
    assert_eq!(told(Some(1.0), Some(2.0), true), ["", ""]);
    assert_eq!(told(Some(1.0), None, false), ["", "no load lost any frame"]);
    assert_eq!(told(None, Some(1.0), false), ["no load without loss was found", ""]);
}
