//! Two causes at once: that which costs more time is named first.
//!
//! What each costs is known: the same transfer without it ends so much sooner.

use super::*;

/// Something that slows a transfer down, by chance more or less.
struct Planted {
    names: &'static [&'static str],
    plant: fn(&mut Model, &mut ChaCha12Rng),
    /// It keeps few bytes in flight.
    is_brake: bool,
}

const PLANTED: [Planted; 6] = [
    Planted { names: &["application"], plant: pauses, is_brake: false },
    Planted { names: &["timeout", "tail-loss"], plant: bursts_lost, is_brake: false },
    Planted {
        names: &["fast-retransmit", "tail-loss", "timeout"],
        plant: single_losses,
        is_brake: true,
    },
    Planted { names: &["slow-reader"], plant: slow_reader, is_brake: false },
    Planted { names: &["small-receive-buffer"], plant: tiny_window, is_brake: true },
    Planted { names: &["bloated-queue"], plant: slow_line, is_brake: false },
];

/// Below this the order says nothing.
const CLEARLY: f64 = 2.5;
const SEEDS: u64 = 10;
const BYTES: u64 = 800_000;

#[test]
fn of_two_causes_the_stronger_is_named_first() {
    let mut wrong = Vec::new();
    let mut decided = 0;
    // Each of them is a part of several pairs.
    let alone = PLANTED
        .each_ref()
        .map(|one| (0..SEEDS).map(|seed| lasts(with(&[one], seed))).collect::<Vec<f64>>());
    for (number, one) in PLANTED.iter().enumerate() {
        // Losses and small windows keep a queue short: there is nothing bloated beside them.
        let others = PLANTED.iter().enumerate().skip(number + 1);
        let is_possible =
            |(_, other): &(usize, &Planted)| !(other.names == ["bloated-queue"] && one.is_brake);
        for (at, other) in others.filter(is_possible) {
            let without = alone[at].iter().zip(&alone[number]);
            let trials = (0..SEEDS).zip(without);
            let trials = trials.map(|(seed, (a, b))| trial([one, other], [*a, *b], seed));
            let trials: Vec<Trial> = trials.filter(|trial| *trial != Trial::Undecided).collect();
            decided += trials.len();
            wrong.extend(trials.into_iter().filter_map(Trial::missed));
        }
    }
    assert!(decided > 60, "{decided} pairs had a stronger cause");
    let enough = wrong.len() * 20 <= decided;
    assert!(enough, "{} of {decided} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Trial {
    /// What was said instead.
    Missed(String),
    Named,
    /// Neither cause is clearly stronger.
    Undecided,
}

impl Trial {
    fn missed(self) -> Option<String> {
        if let Self::Missed(said) = self { Some(said) } else { None }
    }
}

/// A transfer with these causes.
fn with(chosen: &[&Planted], seed: u64) -> Model {
    let mut model = Model { most_flight: 80_000, delay: Nanos::from_millis(5), ..Model::default() };
    model.writes = vec![(Nanos::ZERO, BYTES)];
    for planted in chosen {
        (planted.plant)(&mut model, &mut ChaCha12Rng::seed_from_u64(seed));
    }
    model
}

/// What is said of both; without either of them the transfer takes `without` seconds.
fn trial(pair: [&Planted; 2], without: [f64; 2], seed: u64) -> Trial {
    let both = lasts(with(&pair, seed));
    let saved = without.map(|left| (both - left).max(0.0));
    let stronger = usize::from(saved[1] > saved[0]);
    if saved[stronger] < saved[1 - stronger] * CLEARLY || saved[stronger] < 0.05 * both {
        return Trial::Undecided;
    }
    let found = said(with(&pair, seed), &Evidence::default());
    let is_right = found.first().is_some_and(|first| pair[stronger].names.contains(&first.cause));
    let of = pair.map(|one| one.names[0]).join(" and ");
    let costs = format!("{:.2} and {:.2} of {both:.2} s", saved[0], saved[1]);
    if is_right {
        return Trial::Named;
    }
    Trial::Missed(format!("{of}, seed {seed}: {costs}: {:?}", names(&found)))
}

fn lasts(model: Model) -> f64 {
    analyse(&model.run().capture()).connections[0].length.seconds()
}

fn pauses(model: &mut Model, chance: &mut ChaCha12Rng) {
    let count = chance.random_range(2..6);
    let every = millis(chance, 300, 1500);
    model.writes = (0..count).map(|number| (every * number, BYTES / count)).collect();
}

fn bursts_lost(model: &mut Model, chance: &mut ChaCha12Rng) {
    let count = chance.random_range(1..4);
    let starts = some(chance, count, 60..400);
    model.lost.extend(starts.iter().flat_map(|start| *start..start + 40));
}

fn single_losses(model: &mut Model, chance: &mut ChaCha12Rng) {
    let count = chance.random_range(1..12);
    model.lost.extend(some(chance, count, 60..500));
}

fn slow_reader(model: &mut Model, chance: &mut ChaCha12Rng) {
    model.reading = Some(BitRate::new(chance.random_range(3_000_000..20_000_000)));
    model.receive_buffer = model.receive_buffer.min(chance.random_range(100_000..400_000));
}

fn tiny_window(model: &mut Model, chance: &mut ChaCha12Rng) {
    model.receive_buffer = chance.random_range(4..14) * 1448;
}

fn slow_line(model: &mut Model, chance: &mut ChaCha12Rng) {
    model.rate = BitRate::new(chance.random_range(3_000_000..12_000_000));
}
