//! A link that keeps its word, and links that do not.

use std::sync::Mutex;

use super::*;
use crate::capture::Capture;

/// An emulator of packets that never existed: it remembers its order and answers by arithmetic.
#[derive(Debug, Default)]
struct Imagined {
    elements: Mutex<[Vec<String>; 2]>,
    socket_drops: u64,
    /// What its elements took of what went up.
    taken: u64,
}

impl Emulator for Imagined {
    fn configure(&self, orders: &[Order], _seed: u64) -> Result<(), BackendError> {
        *self.elements.lock().unwrap() = [orders[0].up.texts(), orders[0].down.texts()];
        Ok(())
    }

    fn start_capture(&self, _limit: usize) -> Result<(), BackendError> {
        Ok(())
    }

    fn end_capture(&self) -> Result<Vec<Capture>, BackendError> {
        Ok(Vec::new())
    }

    fn samples(&self) -> Result<Vec<DirectionSample>, BackendError> {
        let (link, socket_drops) = ("test-active".to_owned(), self.socket_drops);
        let [up, _] = self.elements.lock().unwrap().clone();
        Ok(vec![DirectionSample {
            link,
            direction: "up".to_owned(),
            chain: up,
            dropped: self.taken,
            socket_drops,
            ..DirectionSample::default()
        }])
    }
}

/// Traffic through [`Imagined`], with errors of its own.
struct Traffic<'a> {
    emulator: &'a Imagined,
    extra_delay: Nanos,
    lost_trips: usize,
    also_missing: Option<u64>,
}

impl Traffic<'_> {
    fn element(&self, way: usize, name: &str) -> Option<String> {
        let elements = self.emulator.elements.lock().unwrap();
        elements[way].iter().find_map(|text| text.strip_prefix(name).map(str::to_owned))
    }

    fn delay(&self, way: usize) -> Nanos {
        self.element(way, "delay ").map_or(Nanos::ZERO, |text| text.parse().unwrap())
    }
}

impl Prober for Traffic<'_> {
    fn round_trips(
        &mut self,
        way: Way,
        count: u32,
        _patience: Nanos,
    ) -> Result<Vec<Option<Nanos>>, Fault> {
        let asked = self.delay(0) + self.delay(1);
        let added = if asked == Nanos::ZERO { asked } else { asked + self.extra_delay };
        let floor = Nanos::from_micros(if way == Way::Direct { 20 } else { 60 });
        let mut trips = vec![Some(floor + added); usize::try_from(count).unwrap()];
        trips[..self.lost_trips].fill(None);
        Ok(trips)
    }

    fn missing_packets(&mut self, way: Way, count: u64) -> Result<Vec<u64>, Fault> {
        let text = self.element(usize::from(way == Way::Down), "drop ");
        let pattern: Option<Pattern> = text.and_then(|text| text.parse().ok());
        let drops = |position: u64| pattern.as_ref().is_some_and(|pattern| pattern.hits(position));
        let hit = |position: &u64| drops(*position) || Some(*position) == self.also_missing;
        Ok((1..=count).filter(hit).collect())
    }

    fn bulk_rate(&mut self, way: Way, _time: Nanos) -> Result<BitRate, Fault> {
        Ok(BitRate::new(if way == Way::Up { 12_000_000_000 } else { 11_000_000_000 }))
    }
}

fn check() -> Check<'static> {
    Check {
        when: "before",
        link: "test-active",
        delay: Elements::both("delay 5ms"),
        drop: Elements::up("drop 1@200,3@400/400"),
        always: Elements::default(),
        seed: 1,
        effort: Effort::QUICK,
    }
}

fn honest(emulator: &Imagined) -> Traffic<'_> {
    Traffic { emulator, extra_delay: Nanos::ZERO, lost_trips: 0, also_missing: None }
}

#[test]
fn a_link_that_does_what_was_asked_has_no_mismatch() {
    let emulator = Imagined::default();
    let record = check_link(&emulator, &mut honest(&emulator), &check());
    assert_eq!(record.mismatches, Vec::<String>::new());
    assert_eq!(record.delayed_rtt_us.unwrap().n, 20, "0.2 s of round trips of 10 ms");
    assert_eq!(record.direct_rtt_us.unwrap().n, 200);
    assert_eq!((record.pattern_packets, record.pattern_expected), (2002, 18));
    assert_eq!(record.pattern_dropped, 18);
    assert_eq!(record.bulk_bit_s, Some(11e9));
}

#[test]
fn a_wrong_delay_is_told_with_both_numbers() {
    let emulator = Imagined::default();
    let mut traffic = Traffic { extra_delay: Nanos::from_millis(1), ..honest(&emulator) };
    let record = check_link(&emulator, &mut traffic, &check());
    let expected = "delay 5ms each way should add 10000 us to a round trip, it adds 11000 us \
                    (allowed: 500 us more or less)";
    assert_eq!(record.mismatches, [expected]);
}

#[test]
fn one_packet_beside_the_pattern_is_found() {
    let emulator = Imagined::default();
    let mut traffic = Traffic { also_missing: Some(77), ..honest(&emulator) };
    let record = check_link(&emulator, &mut traffic, &check());
    assert_eq!(record.mismatches.len(), 2);
    assert!(record.mismatches[0].ends_with("packet 77 was lost unasked"), "{record:?}");
}

#[test]
fn lost_round_trips_and_unasked_losses_are_mismatches() {
    let emulator = Imagined { socket_drops: 3, ..Imagined::default() };
    let mut traffic = Traffic { lost_trips: 2, ..honest(&emulator) };
    let found = check_link(&emulator, &mut traffic, &check()).mismatches.join("; ");
    assert!(found.contains("2 of 200 round trips were lost (direct path)"), "{found}");
    assert!(found.contains("test-active up lost 3 packets unasked"), "{found}");
}

#[test]
fn rare_hits_get_enough_packets_and_hopeless_ones_the_least() {
    let count = |text: &str| judge::packets_for(&text.parse().unwrap());
    assert_eq!(count("1@200,3@400/400"), 1001);
    assert_eq!(count("1@2000,3@4000/4000"), 4500);
    assert_eq!(count("1@20000,3@40000/40000"), 20_001);
    assert_eq!(count("1@900000/900000"), 1000);
}

#[test]
fn delays_that_differ_by_direction_add_up() {
    let emulator = Imagined::default();
    let up = vec!["delay 20ms".to_owned()];
    let check = Check { delay: Elements { up, down: Vec::new() }, ..check() };
    let record = check_link(&emulator, &mut honest(&emulator), &check);
    assert_eq!((record.mismatches.as_slice(), record.delay_asked_us), (&[][..], 10_000.0));
    let mut late = Traffic { extra_delay: Nanos::from_millis(2), ..honest(&emulator) };
    let found = check_link(&emulator, &mut late, &check).mismatches;
    let beginning = "delay 20ms up, 0ns down should add 20000 us to a round trip, it adds 22000 us";
    assert!(found.len() == 1 && found[0].starts_with(beginning), "{found:?}");
}

/// A pattern of acknowledgements beside loss by chance: the pattern is held to its formula.
#[test]
fn each_direction_is_judged_by_what_is_known_of_it() {
    let (up, down) = (vec!["drop ge 1% 30%".to_owned()], vec!["drop 1@200/400".to_owned()]);
    let check = Check { drop: Elements { up, down }, ..check() };
    let emulator = Imagined::default();
    let record = check_link(&emulator, &mut honest(&emulator), &check);
    assert_eq!(record.mismatches, [""; 0]);
    assert_eq!((record.pattern_packets, record.pattern_expected), (1500, 4));
    assert_eq!(record.not_foretold, ["DR up: drop ge 1% 30%"]);
}

#[test]
fn what_an_unforetold_element_did_not_take_is_lost_unasked() {
    let up = vec!["drop ge 1% 30%".to_owned()];
    let check = |up| Check { drop: Elements { up, down: Vec::new() }, ..check() };
    let mismatches = |taken, up| {
        let emulator = Imagined { taken, ..Imagined::default() };
        let mut traffic = Traffic { also_missing: Some(77), ..honest(&emulator) };
        check_link(&emulator, &mut traffic, &check(up)).mismatches
    };
    let lost = "test-active up: 1 packets did not come, its elements took 0";
    assert_eq!(mismatches(0, up.clone()), [lost]);
    assert_eq!(mismatches(1, up), [""; 0]);
    // What waits is not lost.
    assert_eq!(mismatches(0, vec!["jitter exp(300ms)".to_owned()]), [""; 0]);
}

/// Neither is its round trip foretold, nor is it left untried.
#[test]
fn delays_by_counter_are_tried_for_losses_alone() {
    let up = vec!["hold 3@400/400 10ms".to_owned(), "delay 1ms".to_owned()];
    let check = Check { delay: Elements { up, down: Vec::new() }, ..check() };
    let emulator = Imagined { socket_drops: 2, ..Imagined::default() };
    let record = check_link(&emulator, &mut honest(&emulator), &check);
    assert_eq!((record.delayed_rtt_us, record.delay_asked_us), (None, 0.0));
    assert_eq!(record.not_foretold, ["DL up: hold 3@400/400 10ms, delay 1ms"]);
    let lost = record.mismatches.iter().filter(|text| text.contains("2 packets unasked"));
    assert_eq!(lost.count(), 5, "floor, DL, DR of both directions, bulk: {:?}", record.mismatches);
}
