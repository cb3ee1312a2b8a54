//! Media over a line in virtual time.

use std::collections::BTreeMap;

use super::*;
use crate::traffic::Dialect;
use crate::traffic::Streams;
use crate::traffic::Train;
use crate::traffic::call;
use crate::traffic::language::quantity::float;
use crate::traffic::language::quantity::whole;
use crate::units::BitRate;
use crate::units::Bytes;

/// A line with a queue of 1 MiB in one direction; reports come back after the same delay.
struct Line<'a> {
    /// bit/s, headers of 28 bytes included.
    rate: &'a dyn Fn(f64) -> f64,
    delay: Nanos,
    /// Whether a packet that left then is lost behind the queue.
    loses: &'a dyn Fn(f64, &Head) -> bool,
}

/// A line of 50 ms there and back that loses nothing.
fn line(rate: &dyn Fn(f64) -> f64) -> Line<'_> {
    Line { rate, delay: Nanos::from_millis(25), loses: &|_, _| false }
}

enum Event {
    Packet(Head),
    Report(Report),
}

/// A sender and a receiver on a line.
struct World<'a> {
    line: &'a Line<'a>,
    media: Media,
    events: BTreeMap<(Nanos, u64), Event>,
    free: Nanos,
    left: BTreeMap<u64, Nanos>,
    /// The target after each report, and what each packet that came took: both with the time, seconds.
    targets: Vec<(f64, f64)>,
    delays: Vec<(f64, f64)>,
    keys: Vec<f64>,
}

impl<'a> World<'a> {
    fn new(text: &str, line: &'a Line<'a>) -> Self {
        let (events, left) = (BTreeMap::new(), BTreeMap::new());
        let (targets, delays, keys) = (Vec::new(), Vec::new(), Vec::new());
        let media = media(text);
        Self { line, media, events, free: Nanos::ZERO, left, targets, delays, keys }
    }

    fn run(&mut self, end: Nanos) -> &mut Self {
        let mut now = Nanos::ZERO;
        while now < end + Nanos::from_secs(2) {
            if now < end {
                self.send(now);
            }
            if self.media.receiver.due() <= now {
                let report = self.media.receiver.report(now);
                self.answer(now, report);
            }
            while let Some(next) = self.events.first_entry()
                && next.key().0 <= now
            {
                let event = next.remove();
                self.happen(now, event);
            }
            let next = self.events.keys().next().map_or(Nanos::MAX, |(at, _)| *at);
            let next = next.min(self.media.receiver.due());
            let next = if now < end { next.min(self.media.sender.next_due()) } else { next };
            now = next.max(now + Nanos::new(1));
        }
        self
    }

    fn send(&mut self, now: Nanos) {
        while let Some(Due { head, size, .. }) = self.media.sender.take(now) {
            self.left.insert(head.number, now);
            if matches!(head.kind, Kind::Video { part: 0, is_key: true, .. }) {
                self.keys.push(now.seconds());
            }
            let rate = (self.line.rate)(now.seconds());
            if self.free.since(now).seconds() * rate > 8.0 * 1_048_576.0 {
                continue;
            }
            let rate = BitRate::new(whole(rate));
            self.free = self.free.max(now) + rate.time_for(size + Bytes::new(28));
            if !(self.line.loses)(now.seconds(), &head) {
                self.put(self.free, Event::Packet(head));
            }
        }
    }

    fn happen(&mut self, now: Nanos, event: Event) {
        match event {
            Event::Packet(head) => {
                let took = now.since(self.left[&head.number]);
                self.delays.push((now.seconds(), took.seconds()));
                let report = self.media.receiver.hear(now, &head);
                self.answer(now, report);
            }
            Event::Report(report) => {
                self.media.sender.hear(now, &report);
                let target = self.media.sender.target();
                self.targets.push((now.seconds(), float(target.bit_per_second())));
            }
        }
    }

    /// A report as it goes over the wire.
    fn answer(&mut self, now: Nanos, report: Option<Report>) {
        if let Some(report) = report {
            self.put(now, Event::Report(Report::read(&report.write()).unwrap()));
        }
    }

    fn put(&mut self, at: Nanos, event: Event) {
        let mut key = (at + self.line.delay, 0);
        while self.events.contains_key(&key) {
            key.1 += 1;
        }
        self.events.insert(key, event);
    }

    fn noticed(&self, seconds: u64) -> BTreeMap<&'static str, f64> {
        let Media { sender, receiver, .. } = &self.media;
        let all = noticed(sender, receiver, Nanos::from_secs(seconds));
        all.into_iter().map(|one| (one.name, one.value)).collect()
    }
}

fn media(text: &str) -> Media {
    let files = |_: &str| Err("no files".to_owned());
    let (call, _) = call(text, Dialect::Btu, &files).map_err(|e| e.to_string()).unwrap();
    match call.train(&Streams::new(1, "webrtc")) {
        Some(Train::Media(media)) => *media,
        _ => panic!("{text} follows no reports"),
    }
}

/// The mean of what there is from one time to another.
fn mean(values: &[(f64, f64)], from: f64, to: f64) -> f64 {
    let within = values.iter().filter(|(at, _)| (from..to).contains(at));
    let values: Vec<f64> = within.map(|(_, value)| *value).collect();
    crate::stats::arithmetic_mean(&values).unwrap()
}

/// What a target of the video takes of a line: with speech, and with headers of 28 bytes of 120 and of about 1000.
fn on_the_line(target: f64) -> f64 {
    48e3 * 148.0 / 120.0 + target * 1.028
}

#[test]
fn the_rate_settles_just_below_that_of_a_line_and_the_queue_stays_short() {
    for rate in [0.5e6, 1e6, 2e6] {
        let constant = |_| rate;
        let line = line(&constant);
        let mut world = World::new("webrtc(rate=5 Mbit/s)", &line);
        let World { targets, delays, .. } = world.run(Nanos::from_secs(100));
        let share = on_the_line(mean(targets, 40.0, 100.0)) / rate;
        assert!((0.7..=1.0).contains(&share), "{share} of {rate}");
        // 25 ms are those of the line.
        let delay = mean(delays, 40.0, 100.0);
        assert!((0.025..0.1).contains(&delay), "{delay} s at {rate}");
    }
}

/// A fixed rate above that of the line fills the queue for as long as it lasts: 20 % too much for 60 s are 10 s.
#[test]
fn the_rate_follows_a_line_that_becomes_slower_and_faster_again() {
    let rate = |at: f64| if (40.0..80.0).contains(&at) { 0.8e6 } else { 1.6e6 };
    let line = line(&rate);
    let mut world = World::new("webrtc(rate=5 Mbit/s, start=1 Mbit/s)", &line);
    let World { targets, delays, .. } = world.run(Nanos::from_secs(140));
    let share = |from, to, of: f64| on_the_line(mean(targets, from, to)) / of;
    let shares = [(20.0, 40.0, 1.6e6), (50.0, 80.0, 0.8e6), (110.0, 140.0, 1.6e6)]
        .map(|(from, to, of)| share(from, to, of));
    assert!(shares.iter().all(|share| (0.7..=1.0).contains(share)), "{shares:?}");
    // Two seconds after the line became slower it is used with what it has left.
    assert!(share(42.0, 44.0, 0.8e6) < 1.0);
    let delay = mean(delays, 50.0, 80.0);
    assert!(delay < 0.12, "{delay} s");
}

/// Each so manieth packet is lost: the draft holds 2 to 10 % for no congestion, and 20 % for one.
#[test]
fn two_percent_of_loss_take_nothing_and_twenty_do() {
    let targets = |each: u64| {
        let wide = |_| 20e6;
        let loses =
            |at: f64, head: &Head| at > 10.0 && each > 0 && head.number.is_multiple_of(each);
        let line = Line { loses: &loses, ..line(&wide) };
        let mut world = World::new("webrtc(rate=2 Mbit/s, start=2 Mbit/s)", &line);
        world.run(Nanos::from_secs(30));
        [mean(&world.targets, 5.0, 10.0), mean(&world.targets, 25.0, 30.0)]
    };
    for each in [0, 50, 20] {
        let [before, after] = targets(each);
        assert!(after > 0.99 * before, "one of {each}: {before} {after}");
    }
    let [before, after] = targets(5);
    assert!(after < before / 10.0, "{before} {after}");
}

/// All packets of half a second are lost: what was sent last of it comes again, as it is still of use; before that
/// nothing can be shown, so a key frame is asked for.
#[test]
fn what_is_beyond_repair_brings_a_key_frame_and_freezes_the_picture_until_then() {
    let wide = |_| 20e6;
    let loses = |at: f64, _: &Head| (5.0..5.5).contains(&at);
    let line = Line { loses: &loses, ..line(&wide) };
    let mut world = World::new("webrtc(rate=2 Mbit/s, start=2 Mbit/s)", &line);
    let keys = world.run(Nanos::from_secs(8)).keys.clone();
    assert_eq!(keys.len(), 2, "the first one, and that: {keys:?}");
    // 0.2 s and two round trips are awaited, and reports come each 0.1 s.
    assert!((5.5..6.2).contains(&keys[1]), "{keys:?}");
    let noticed = world.noticed(8);
    assert_eq!((noticed["key frames on request"], noticed["freezes"]), (1.0, 1.0), "{noticed:?}");
    assert!((0.5..1.3).contains(&noticed["frozen, s"]), "{noticed:?}");
    let lost = noticed["frames never whole"];
    assert!((5.0..=16.0).contains(&lost), "{noticed:?}");
}

/// One of 50 packets is lost, and what is sent again as well: frames come later, and nearly all of them.
#[test]
fn single_packets_are_sent_again_in_time() {
    let noticed = |each: u64| {
        let wide = |_| 20e6;
        let loses = |_: f64, head: &Head| each > 0 && head.number % each == 7;
        let line = Line { loses: &loses, ..line(&wide) };
        let mut world = World::new("webrtc(rate=1 Mbit/s, start=1 Mbit/s)", &line);
        world.run(Nanos::from_secs(30)).noticed(30)
    };
    let (all, repaired) = (noticed(0), noticed(50));
    assert_eq!((all["frames never whole"], all["key frames on request"]), (0.0, 0.0));
    assert!(repaired["frames never whole"] <= 3.0, "{repaired:?}");
    assert!(repaired["key frames on request"] <= 3.0, "{repaired:?}");
    // A report and a round trip more.
    assert!(repaired["frame delay p99, s"] > all["frame delay p99, s"] + 0.05, "{repaired:?}");
    assert!(repaired["frame delay p50, s"] < all["frame delay p50, s"] + 0.02, "{repaired:?}");
}

/// A line that is cut for good: the rate goes down to the least, and nobody waits for anything.
#[test]
fn whoever_hears_nothing_any_more_hardly_sends_any_more() {
    let wide = |_| 20e6;
    let loses = |at: f64, _: &Head| at > 5.0;
    let line = Line { loses: &loses, ..line(&wide) };
    let mut world = World::new("webrtc(rate=2 Mbit/s, start=2 Mbit/s)", &line);
    world.run(Nanos::from_secs(20));
    assert_eq!(world.media.sender.target(), BitRate::new(30_000));
    let noticed = world.noticed(20);
    assert!((14.0..15.1).contains(&noticed["frozen, s"]), "it lasts: {noticed:?}");
    assert!(noticed["mean target rate, Mb/s"] < 1.0 && noticed["least target rate, Mb/s"] < 0.04);
}
