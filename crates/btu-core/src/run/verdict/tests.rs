//! Recorded samples of a healthy emulator and of broken ones: the right verdict, the right cause.

use super::*;
use crate::journal::Record;
use crate::run::cell::ActivityName;
use crate::run::cell::Case;
use crate::run::cell::Cell;
use crate::run::plan::Choices;
use crate::run::plan::Vocabulary;
use crate::sample::Outcome;
use crate::sample::Quantiles;
use crate::sample::VerificationSample;
use crate::units::Bytes;

fn plan(edition: &str) -> Plan {
    let choices = Choices { edition: Some(edition), seed: Some(1), ..Choices::default() };
    Plan::resolve(&choices, &Vocabulary { activities: &["cpu", "ftp", "io"] }, 1).unwrap()
}

fn late(mean: f64, p50: f64, p99: f64, max: f64) -> Quantiles {
    Quantiles { n: 11_270, mean, p50, p99, max }
}

/// A direction that delays by 5 ms and is well.
fn delayed() -> DirectionSample {
    DirectionSample {
        link: "test-active".into(),
        direction: "up".into(),
        chain: vec!["delay 5ms".into()],
        packets: 11_270,
        bytes: 16_900_000,
        delay_asked_us: Some(5000.0),
        delay_error_us: Some(late(9.0, 6.0, 61.0, 310.0)),
        lateness_us: Some(late(8.0, 5.0, 60.0, 300.0)),
        thread_cpu_ns: Some(Nanos::from_millis(400)),
        run_delay_ns: Some(Nanos::from_millis(3)),
        elapsed_ns: Nanos::from_millis(2050),
        backend: "relay/ring".into(),
        wait: "sleep".into(),
        ..DirectionSample::default()
    }
}

/// The golden count of `1@200,3@400/400`: 11270 packets, 112 drops.
fn dropping() -> DirectionSample {
    let element = "drop 1@200,3@400/400";
    DirectionSample {
        chain: vec![element.into()],
        dropped: 112,
        dropped_by: vec![(element.into(), 112)],
        pattern_drops: Some(112),
        delay_asked_us: None,
        lateness_us: Some(late(120.0, 80.0, 510.0, 9000.0)),
        ..delayed()
    }
}

fn run_of(case: Case, emulation: Vec<DirectionSample>) -> CellSample {
    let application = plan("btu-26").applications[2].clone();
    CellSample {
        cell: Cell { case, application, activity: ActivityName::none() },
        pass: 1,
        position: 1,
        attempt: 1,
        started_at: "2026-11-21T20:00:00Z".into(),
        outcome: Outcome::Complete,
        comm: Some(CommSample {
            elapsed_ns: Nanos::from_secs(2),
            bytes: Bytes::new(16_000_000),
            connections: Vec::new(),
        }),
        activity_sample: None,
        emulation,
        host: HostSample { elapsed_ns: Nanos::from_secs(2), ..HostSample::default() },
        invalid: Vec::new(),
        flags: Vec::new(),
    }
}

#[track_caller]
fn assert_invalid(verdict: &Verdict, cause: &str) {
    let found = verdict.to_string();
    assert!(verdict.is_invalid() && found.contains(cause), "{found}\n  misses: {cause}");
}

#[test]
fn healthy_directions_are_valid() {
    assert_eq!(direction(&delayed(), &Context::default()), Verdict::Valid);
    let sample = run_of(Case::SendDelayed, vec![delayed()]);
    assert_eq!(run(&sample, &plan("btu-26"), None), Verdict::Valid);
}

#[test]
fn a_drop_only_direction_has_no_bound_on_lateness() {
    assert_eq!(direction(&dropping(), &Context::default()), Verdict::Valid);
}

#[test]
fn a_direct_path_needs_no_record_unless_the_edition_has_a_rate() {
    let sample = run_of(Case::Send, Vec::new());
    assert_eq!(run(&sample, &plan("btu-26"), None), Verdict::Valid);
    assert_invalid(&run(&sample, &plan("btu-96"), None), "left no record");
}

#[test]
fn e12_a_clock_step_is_invalid_even_where_nothing_is_delayed() {
    let stepped = DirectionSample { clock_steps: 1, ..dropping() };
    assert_invalid(&direction(&stepped, &Context::default()), "1 clock steps during the run");
}

#[test]
fn where_nothing_left_nothing_could_be_late() {
    let silent = DirectionSample { lateness_us: None, ..delayed() };
    assert!(direction(&silent, &Context::default()).to_string().contains("no lateness"));
    let held = DirectionSample { held: silent.packets, ..silent.clone() };
    assert_eq!(direction(&held, &Context::default()), Verdict::Valid);
}

#[test]
fn a_device_that_is_gone_is_invalid() {
    let gone = DirectionSample { device_gone: Some("near".into()), ..delayed() };
    assert_invalid(&direction(&gone, &Context::default()), "its device near was gone at the end");
}

#[test]
fn e12_a_full_ring_is_invalid() {
    let full = DirectionSample { overflow: 37, ..delayed() };
    assert_invalid(
        &direction(&full, &Context::default()),
        "test-active up: 37 packets lost for want of the emulator's memory: too much waited inside",
    );
    let socket = DirectionSample { socket_drops: 3, ..delayed() };
    assert_invalid(
        &direction(&socket, &Context::default()),
        "3 packets lost in the receive socket",
    );
}

#[test]
fn e12_eighty_percent_steal_is_invalid_and_named() {
    let starved = DirectionSample {
        lateness_us: Some(late(2100.0, 900.0, 16_000.0, 41_000.0)),
        run_delay_ns: Some(Nanos::from_millis(1400)),
        ..delayed()
    };
    let mut sample = run_of(Case::SendDelayed, vec![starved]);
    sample.host.steal_ns = Some(Nanos::from_millis(1600));
    assert_invalid(
        &run(&sample, &plan("btu-26"), None),
        "p99 lateness 16000 us > 1250 us (the hypervisor stole 80 % of a CPU)",
    );
    sample.host.steal_ns = None;
    assert_invalid(&run(&sample, &plan("btu-26"), None), "waited for a CPU 68 % of the time");
}

#[test]
fn e12_a_killed_relay_is_invalid() {
    let plan = plan("btu-26");
    let nothing = run_of(Case::TwoSendDropped, Vec::new());
    assert_invalid(&run(&nothing, &plan, None), "left no record: it ended before the run did");
    let early = DirectionSample { elapsed_ns: Nanos::from_millis(700), ..delayed() };
    let cut = run_of(Case::SendDelayed, vec![delayed(), early]);
    assert_invalid(&run(&cut, &plan, None), "record ends after 35 % of the run");
    let unseen = DirectionSample { packets: 0, ..delayed() };
    let past = run_of(Case::SendDelayed, vec![unseen]);
    assert_invalid(&run(&past, &plan, None), "no packet passed the emulator");
}

#[test]
fn drops_beside_the_formula_are_invalid() {
    let element = "drop 1@200,3@400/400";
    let off = DirectionSample { dropped_by: vec![(element.into(), 111)], ..dropping() };
    assert_invalid(
        &direction(&off, &Context::default()),
        "111 drops by the pattern, its formula says 112 of 11270",
    );
    let chance = ("drop 1%".to_owned(), 100);
    let both = DirectionSample {
        dropped: 212,
        dropped_by: vec![(element.into(), 112), chance],
        ..dropping()
    };
    assert_eq!(direction(&both, &Context::default()), Verdict::Valid);
}

/// A list says how many drops there are like a pattern does, whatever its file is called.
#[test]
fn drops_of_a_list_are_counted_with_those_of_the_pattern() {
    let element = "drop 1@200,3@400/400 phase 3 per flow";
    for list in ["drop list lost.txt", "drop list /tmp/a@b", "drop list 1@2/400"] {
        let both = |by_list| DirectionSample {
            chain: vec![element.into(), list.into(), "drop 1%".into()],
            dropped: 219 + by_list,
            dropped_by: vec![
                (element.into(), 112),
                (list.into(), by_list),
                ("drop 1%".into(), 100),
            ],
            pattern_drops: Some(119),
            ..dropping()
        };
        assert_eq!(direction(&both(7), &Context::default()), Verdict::Valid);
        let fewer = direction(&both(6), &Context::default());
        assert_invalid(&fewer, "118 drops by counter and list, which say 119 of 11270");
    }
}

/// A pattern that hit nothing yet does not stand among the elements that dropped.
#[test]
fn random_drops_are_no_hits_of_the_pattern() {
    let by_chance = DirectionSample {
        packets: 150,
        dropped: 2,
        dropped_by: vec![("drop 1%".into(), 2)],
        pattern_drops: Some(0),
        ..dropping()
    };
    assert_eq!(direction(&by_chance, &Context::default()), Verdict::Valid);
}

/// One thread carries both directions: it is said once that it was busy, and once that time jumped.
#[test]
fn what_both_directions_share_is_said_once() {
    let busy = DirectionSample { thread_cpu_ns: Some(Nanos::from_millis(1950)), ..delayed() };
    let down = DirectionSample { direction: "down".into(), ..busy.clone() };
    let sample = run_of(Case::SendDelayed, vec![busy.clone(), down.clone()]);
    assert_eq!(run(&sample, &plan("btu-26"), None).causes().len(), 1);
    let stepped = |sample| DirectionSample { clock_steps: 1, ..sample };
    let sample = run_of(Case::SendDelayed, vec![stepped(busy), stepped(down)]);
    assert_eq!(run(&sample, &plan("btu-26"), None).causes(), ["1 clock steps during the run"]);
}

#[test]
fn opaque_packets_matter_under_a_drop_element_only() {
    let opaque = |sample| DirectionSample { opaque: 2, ..sample };
    assert_eq!(direction(&opaque(delayed()), &Context::default()), Verdict::Valid);
    assert_invalid(&direction(&opaque(dropping()), &Context::default()), "2 opaque packets");
}

/// 5 ms asked: valid to 250 us, limited to 1250 us. 100 us asked: 50 and 500 us.
#[test]
fn the_bounds_of_lateness_grow_with_the_delay_that_was_asked() {
    let verdict = |asked: f64, mean: f64, p99: f64| {
        let lateness_us = Some(late(mean, 5.0, p99, p99));
        let sample = DirectionSample { delay_asked_us: Some(asked), lateness_us, ..delayed() };
        direction(&sample, &Context::default()).to_string()
    };
    assert_eq!(verdict(5000.0, 8.0, 250.0), "valid");
    assert!(verdict(5000.0, 8.0, 251.0).starts_with("limited: test-active up: p99"));
    assert!(verdict(5000.0, 8.0, 1251.0).starts_with("invalid: test-active up: p99"));
    assert!(verdict(5000.0, 251.0, 252.0).starts_with("invalid: test-active up: mean"));
    assert_eq!(verdict(100.0, 8.0, 50.0), "valid");
    assert!(verdict(100.0, 8.0, 51.0).starts_with("limited"));
    assert!(verdict(100.0, 8.0, 501.0).starts_with("invalid"));
}

#[test]
fn an_emulator_at_its_limit_makes_a_lower_bound() {
    let busy = DirectionSample { thread_cpu_ns: Some(Nanos::from_millis(1950)), ..delayed() };
    let found = direction(&busy, &Context::default());
    assert!(found.to_string().contains("used 95 % > 90 % of a CPU"), "{found}");
    let spinning = DirectionSample { wait: "spin".into(), ..busy };
    assert_eq!(direction(&spinning, &Context::default()), Verdict::Valid);

    let check = VerificationSample { bulk_bit_s: Some(120e6), ..VerificationSample::default() };
    let rate = emulator_rate(&[Record::Verification(check)]);
    let sample = run_of(Case::SendDelayed, vec![delayed()]);
    let found = run(&sample, &plan("btu-26"), rate).to_string();
    assert!(found.contains("goodput 64 Mb/s > half of the emulator's own 120 Mb/s"), "{found}");
    // A rate that was asked for is no limit of the emulator.
    let chain = vec!["delay 5ms".into(), "rate 120Mbit/s queue 30pkt".into()];
    let asked = run_of(Case::SendDelayed, vec![DirectionSample { chain, ..delayed() }]);
    assert_eq!(run(&asked, &plan("btu-26"), rate), Verdict::Valid);
}

#[test]
fn invalid_outweighs_limited() {
    let limited = Verdict::Limited(vec!["a".into()]);
    let invalid = Verdict::Invalid(vec!["b".into()]);
    assert_eq!(limited.clone().and(invalid.clone()), invalid);
    assert_eq!(Verdict::Valid.and(limited.clone()), limited);
    let other = Verdict::Limited(vec!["c".into(), "a".into()]);
    assert_eq!(limited.and(other).causes(), ["a", "c"]);
}
