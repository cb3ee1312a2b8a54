//! Worked examples of what a journal of applications says.

use super::super::kernel::Outcome;
use super::super::plan::Path;
use super::super::plan::Plan;
use super::super::plan::Verb;
use super::super::ranks::Collective;
use super::super::ranks::Count;
use super::super::ranks::Split;
use super::super::ranks::Tally;
use super::super::sample::RankSample;
use super::super::sample::Wait;
use super::*;
use crate::comparison::series::ByRound;
use crate::disclosure::Disclosure;
use crate::journal::EventRecord;
use crate::sample::Flag;
use crate::units::Bytes;
use crate::units::Nanos;

fn plan() -> Plan {
    Plan {
        verb: Verb::App,
        path: Path::Loopback,
        class: ProblemClass::S,
        layers: ["tcp", "shm"].map(ToOwned::to_owned).to_vec(),
        wait: Wait::Block,
        launches: 3,
        cap_ns: Nanos::from_secs(60),
        seed: 7,
        programs: vec![Program { kernel: "ep".to_owned(), ranks: 2 }],
    }
}

/// A rank that timed 100 ms, waited 20 of them and passed messages in 10.
fn rank(rank: u32, elapsed: Nanos) -> RankSample {
    let sums = Count { count: 4, bytes: Bytes::new(104) };
    let tally = Tally { collectives: [(Collective::AllReduce, sums)].into(), ..Tally::default() };
    RankSample {
        rank,
        elapsed_ns: Some(elapsed),
        split: Split {
            wait_ns: Nanos::from_millis(20),
            transfer_ns: Nanos::from_millis(10),
            undated: 0,
        },
        lived_ns: Nanos::from_millis(200),
        tally,
        outcome: Some(Outcome { checks: vec![Check::new("sx", 3.0, 3.0, 1e-8)] }),
        ..RankSample::default()
    }
}

/// Each launch of the plan: 100, 110 and 120 ms over shm, twice that over tcp.
fn samples() -> Vec<LaunchSample> {
    let sample = |slot: super::super::plan::Slot| {
        let factor = if slot.job.layer == "tcp" { 2 } else { 1 };
        let elapsed = Nanos::from_millis(factor * (90 + 10 * u64::from(slot.round)));
        LaunchSample {
            job: slot.job,
            round: slot.round,
            position: slot.position,
            started_at: "2026-11-28T12:00:00.000Z".to_owned(),
            ranks: vec![rank(0, elapsed), rank(1, elapsed.since(Nanos::from_millis(4)))],
            host: None,
            cpus: 2,
            flags: Vec::new(),
        }
    };
    plan().order().into_iter().map(sample).collect()
}

fn analysed(samples: Vec<LaunchSample>) -> Analysis {
    let event = |event: &str| EventRecord {
        at: "2026-11-28T12:00:00.000Z".to_owned(),
        event: event.to_owned(),
        detail: String::new(),
    };
    let lines = samples.into_iter().map(|sample| Line::AppLaunch(Box::new(sample))).collect();
    let events = vec![event(EventRecord::STARTED), event(EventRecord::FINISHED)];
    analyse(&Journal { plan: plan(), hosts: Disclosure::default(), lines, events })
}

fn only(analysis: &Analysis) -> &ProgramFigures {
    assert_eq!(analysis.programs.len(), 1);
    &analysis.programs[0]
}

/// What is told where the first launch over shm is changed.
fn changed(change: impl Fn(&mut LaunchSample)) -> Analysis {
    let mut samples = samples();
    samples.iter_mut().filter(|one| one.round == 1 && one.job.layer == "shm").for_each(change);
    analysed(samples)
}

#[test]
fn the_time_of_a_launch_is_that_of_its_last_rank_and_that_of_a_job_its_median() {
    let analysis = analysed(samples());
    let program = only(&analysis);
    assert_eq!(program.fastest().unwrap().job.layer, "shm");
    let [tcp, shm] = [&program.jobs[0], &program.jobs[1]];
    let times: Vec<f64> = shm.launches.iter().filter_map(|launch| launch.elapsed_s).collect();
    assert_eq!(times, [0.1, 0.11, 0.12]);
    let elapsed = shm.elapsed.unwrap();
    assert!((elapsed.median_s - 0.11).abs() < 1e-12);
    assert!(elapsed.interval_s.unwrap().contains(0.11));
    let ratio = tcp.ratio.as_ref().unwrap();
    assert!((ratio.ratio - 2.0).abs() < 1e-9, "{ratio:?}");
    let interval = ratio.interval.unwrap();
    assert!(interval.high - interval.low < 1e-9, "rounds are paired: {interval:?}");
    assert_eq!((ratio.to.as_str(), ratio.rounds, &shm.ratio), ("shm", 3, &None));
    assert!(analysis.complete && program.is_verified());
}

#[test]
fn the_layers_stand_in_the_order_of_their_means_over_all_programs() {
    let analysis = analysed(samples());
    let [shm, tcp] = &analysis.layers[..] else { panic!("{:?}", analysis.layers) };
    assert_eq!((shm.layer.as_str(), shm.fastest_in, &shm.ratio), ("shm", 1, &None));
    let ratio = tcp.ratio.as_ref().unwrap();
    assert!(tcp.fastest_in == 0 && (ratio.ratio - 2.0).abs() < 1e-9 && ratio.rounds == 3);
}

/// The median launch over shm has 110 ms on rank 0, 106 on rank 1; 30 of each are communication.
#[test]
fn the_split_is_the_mean_over_the_ranks_of_the_median_launch() {
    let analysis = analysed(samples());
    let shares = only(&analysis).jobs[1].split.clone().unwrap();
    let found = [shares.compute_s, shares.wait_s, shares.transfer_s];
    for (found, wanted) in found.into_iter().zip([0.078, 0.020, 0.010]) {
        assert!((found - wanted).abs() < 1e-9, "{shares:?}");
    }
    assert!((shares.communication_share() - 30.0 / 108.0).abs() < 1e-9);
}

#[test]
fn a_median_launch_whose_ranks_had_no_cpu_is_not_divided() {
    let flag = Flag::new(Flag::OVERSUBSCRIBED, "4 ranks on 2 CPUs");
    let mut flagged = samples();
    for sample in &mut flagged {
        sample.flags.push(flag.clone());
    }
    let analysis = analysed(flagged);
    let job = &only(&analysis).jobs[0];
    assert_eq!(job.split, Err(Undivided::Oversubscribed("4 ranks on 2 CPUs".to_owned())));
    assert!(job.elapsed.is_some() && analysis.complete);
    let mut undated = samples();
    for sample in &mut undated {
        sample.ranks[0].split.undated = 3;
    }
    assert_eq!(only(&analysed(undated)).jobs[0].split, Err(Undivided::Undated(3)));
}

#[test]
fn what_all_ranks_pass_is_compared_with_the_benchmark() {
    let analysis = analysed(samples());
    let program = only(&analysis);
    let traffic = program.jobs[0].traffic.as_ref().unwrap();
    assert_eq!(traffic.collectives(), Count { count: 8, bytes: Bytes::new(208) });
    assert_eq!((traffic.mean_bytes(), traffic.distinct_sizes()), (None, 0));
    assert_eq!(
        (program.agreement.clone(), program.traffic),
        (Some(Agreement::Equal), Sameness::Same(6))
    );
    let other = changed(|sample| sample.ranks[1].tally.messages.count = 9);
    assert_eq!(only(&other).traffic, Sameness::Different);
    assert!(other.has_faults() && !other.complete);
}

#[test]
fn a_launch_that_found_something_else_has_no_time_and_is_told() {
    let analysis = changed(|sample| {
        sample.ranks[1].outcome.as_mut().unwrap().checks[0].found = 4.0;
    });
    let (program, job, launch) = analysis.wrong().next().unwrap();
    assert_eq!((program.program.ranks, job.job.layer.as_str(), launch.elapsed_s), (2, "shm", None));
    let told = "sx on rank 1 is 4e0, not 3e0".to_owned();
    assert_eq!(launch.verdict, Verdict::Wrong(told));
    assert_eq!(program.outcomes, Sameness::Different);
    assert!(analysis.has_faults() && !analysis.complete && !program.is_verified());
    assert_eq!(only(&analysis).jobs[0].ratio.as_ref().unwrap().rounds, 2);
}

/// The last digits of a figure, which pass.
#[test]
fn other_bits_are_a_fault_where_they_are_within_the_tolerance() {
    let analysis = changed(|sample| {
        sample.ranks[1].outcome.as_mut().unwrap().checks[0].found = 3.0_f64.next_up();
    });
    assert!(only(&analysis).is_verified() && analysis.has_faults());
    assert_eq!(only(&analysis).faults(), ["its launches found different bits"]);
}

#[test]
fn a_launch_that_did_not_come_to_its_end_is_told_with_its_reason() {
    let analysis = changed(|sample| {
        let gone = RankSample {
            rank: 1,
            failure: Some("rank 0 is gone: it ended".to_owned()),
            ..RankSample::default()
        };
        sample.ranks[1] = gone;
    });
    let verdict = analysis.wrong().next().unwrap().2.verdict.clone();
    assert_eq!(verdict, Verdict::Failed("rank 1: rank 0 is gone: it ended".to_owned()));
    assert_eq!(only(&analysis).outcomes, Sameness::Same(5));
}

#[test]
fn a_launch_is_read_from_its_line_as_it_was_written() {
    let mut sample = samples().remove(0);
    sample.ranks[0].tally.messages = Count { count: 3, bytes: Bytes::new(24) };
    sample.ranks[0].tally.sizes = [(0, 1), (12, 2)].into();
    let line = Line::AppLaunch(Box::new(sample));
    let text = crate::journal::codec::line(&line).unwrap();
    assert!(text.contains("\"sizes\":[[0,1],[12,2]]"), "{text}");
    let read = crate::journal::codec::read::<Line>("samples.jsonl", text.as_bytes()).unwrap();
    assert_eq!(read.records, [line]);
}

#[test]
fn a_journal_without_launches_says_nothing() {
    let analysis = analysed(Vec::new());
    let program = only(&analysis);
    assert!(program.fastest().is_none() && !program.is_verified() && !analysis.has_faults());
    assert_eq!((program.outcomes, &program.agreement), (Sameness::Unknown, &None));
    assert_eq!(program.jobs[0].split, Err(Undivided::Untimed));
}

#[test]
fn what_a_job_is_compared_by_is_the_time_of_each_verified_launch() {
    let found = changed(|sample| sample.ranks[1].failure = Some("it fell".to_owned()));
    let by_round = ByRound::of_app(&found);
    let told: Vec<_> =
        by_round.series.iter().map(|one| (&*one.figure, one.rounds.clone())).collect();
    let want =
        [("job.ep/2/tcp.time", vec![0.2, 0.22, 0.24]), ("job.ep/2/shm.time", vec![0.11, 0.12])];
    assert_eq!(told, want);
}
