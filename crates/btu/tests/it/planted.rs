//! Causes planted in real traffic are named first, without a look at what was planted. A busy machine
//! adds causes of its own, which are passed over here; how often each is the very first one on an idle
//! machine is `cargo xtask bench diagnosis`.

use btu_core::diagnosis::Worked;

use crate::isolated::isolated;
use crate::planted_causes::Bed;
use crate::planted_causes::CAUSES;
use crate::planted_causes::HEALTHY;
use crate::planted_causes::PAIRS;
use crate::planted_causes::Plant;
use crate::planted_causes::Trial;

/// Causes that protocol constants make, whatever else the machine does.
const STURDY: [&str; 5] = [
    "nagle-delayed-ack",
    "tiny receive buffer",
    "burst loss, timeout",
    "rate, bloated queue",
    "bloated queue over pauses",
];

#[test]
fn planted_causes_are_named() {
    isolated("planted::planted_causes_are_named", || {
        let bed = Bed::new();
        let chosen: Vec<&Plant> =
            CAUSES.iter().chain(PAIRS).filter(|plant| STURDY.contains(&plant.name)).collect();
        assert_eq!(chosen.len(), STURDY.len());
        for plant in chosen {
            let trial = bed.trial(plant, 1);
            assert_whole(plant, &trial);
            let named = trial.diagnoses();
            let beside = trial.disturbance();
            assert!(is_first(plant, &named), "{}: {named:?}, {beside:?}", plant.name);
        }
    });
}

/// True where the cause is the first one that is named, those aside that a busy machine adds by itself
/// and that nobody planted: threads that wait for a CPU.
fn is_first(plant: &Plant, named: &[String]) -> bool {
    let is_planted = |name: &&String| {
        let name = name.as_str();
        !OF_A_BUSY_MACHINE.contains(&name) || plant.expected.contains(&name)
    };
    plant.is_named_by(named.iter().find(is_planted))
}

/// What is concluded from CPU time alone, or from an emulator that had to wait for its own.
const OF_A_BUSY_MACHINE: [&str; 5] =
    ["blackbox-limited", "blackbox-path", "starved-receiver", "starved-sender", "stolen-time"];

#[test]
fn messages_and_answers_on_a_calm_path_have_no_cause_in_the_network() {
    let name = "planted::messages_and_answers_on_a_calm_path_have_no_cause_in_the_network";
    isolated(name, || {
        let calm = HEALTHY.iter().find(|plant| plant.name == "messages and answers").unwrap();
        let trial = Bed::new().trial(calm, 1);
        assert_whole(calm, &trial);
        let found = trial.second_run();
        let named = trial.diagnoses();
        let wrong = |name: &&String| CAUSES.iter().any(|plant| plant.is_named_by(Some(name)));
        // A crowded machine keeps either host from its work; that is none of the network's causes. A
        // black box is the limit only where its thread never rested.
        let ends = found.connections.iter().map(|one| Worked::of(&one.evidence));
        let crowded = ends.filter_map(|end| end.receiver).any(|worked| worked.share() >= 0.9);
        let of_hosts = |name: &&String| match name.as_str() {
            "application" => true,
            "blackbox-limited" => crowded,
            name => name.starts_with("starved"),
        };
        let mut found = named.iter().filter(wrong).filter(|name| !of_hosts(name));
        assert_eq!(found.next(), None, "{named:?}");
    });
}

/// The evidence of a trial is that of a second run: a connection with both ends, and its packets.
fn assert_whole(plant: &Plant, trial: &Trial) {
    let file = trial.sample.file.as_ref().unwrap();
    assert_eq!(file.lost, 0, "{}", plant.name);
    let comm = trial.sample.run.comm.as_ref().unwrap();
    assert!(comm.connections[0].sender.tcp_info.is_some(), "{}", plant.name);
}
