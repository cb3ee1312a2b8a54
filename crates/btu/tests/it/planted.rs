//! Causes planted in real traffic are named, without a look at what was planted. How often each is
//! named first is `cargo xtask bench diagnosis`; a busy machine adds causes of its own.

use btu_core::diagnosis::Pace;

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
            let is_named = named.iter().any(|name| plant.is_named_by(Some(name)));
            assert!(is_named, "{}: {named:?}", plant.name);
        }
    });
}

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
        let paces = found.connections.iter().map(|one| Pace::of(&one.evidence));
        let crowded = paces.filter_map(|pace| pace.receiver).any(|worked| worked.share() >= 0.9);
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
