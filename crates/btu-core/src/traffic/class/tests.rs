//! Classes send what they say, and their limits are judged as far as figures are there.

use super::*;
use crate::traffic::Call;
use crate::traffic::Dialect;
use crate::traffic::Streams;
use crate::traffic::call;
use crate::traffic::language::quantity::float;
use crate::traffic::preview;

fn traffic(class: &Class) -> Call {
    let files = |_: &str| Err("no files".to_owned());
    call(&format!("{})", class.traffic), Dialect::Btu, &files).unwrap().0
}

/// Sizes of so many blocks that a session sends, bytes, and the seconds that they take.
fn sent(class: &Class, seed: u64, count: usize) -> (Vec<f64>, f64) {
    let blocks = preview(&traffic(class), &Streams::new(seed, "class"), Nanos::MAX, count);
    let time = blocks.last().unwrap().at.since(blocks[0].at);
    (blocks.iter().map(|block| float(block.bytes.count())).collect(), time.seconds())
}

/// Frames of films and conferences stay large for long, which is what fills a queue: a class of that name
/// sends them so.
#[test]
fn frames_of_a_class_remember_those_before_them() {
    for (name, least) in [("mpeg", 0.4), ("teleconf", 0.95)] {
        let (sizes, _) = sent(by_name(name).unwrap(), 1, 20_000);
        let mean = sizes.iter().sum::<f64>() / float(20_000);
        let product = |lag: usize| -> f64 {
            sizes.iter().zip(&sizes[lag..]).map(|(a, b)| (a - mean) * (b - mean)).sum()
        };
        let found = product(1) / product(0);
        assert!(found > least, "{name}: {found}");
    }
}

/// What the first number of sessions is guessed by is what they send.
#[test]
fn a_session_sends_at_the_rate_that_its_class_says() {
    for class in CLASSES.iter().filter(|class| class.bit_s > 0.0) {
        let (bytes, seconds) = (1..=40)
            .map(|seed| sent(class, seed, 5_000))
            .fold((0.0, 0.0), |(bytes, seconds), (sizes, time)| {
                (bytes + sizes.iter().sum::<f64>(), seconds + time)
            });
        let found = bytes * 8.0 / seconds;
        assert!((found / class.bit_s - 1.0).abs() < 0.03, "{}: {found}", class.name);
    }
}

#[test]
fn a_limit_whose_figure_nobody_has_is_not_judged() {
    let voice = by_name("voice").unwrap().limits;
    let run = Totals { worst_loss: Some(0.0), ..Totals::default() };
    assert_eq!(voice.not_judged(&[run.clone(), run.clone()], None), ["delay", "pdv", "carried"]);
    let timed =
        Totals { delay_p99: Some(0.01), pdv_p99: Some(0.01), carried: Some(1.0), ..run.clone() };
    assert_eq!(voice.not_judged(&[run.clone(), timed], None), [] as [&str; 0]);
    let bulk = ClassLimits { share: Some(0.5), ..ClassLimits::default() };
    assert_eq!(bulk.not_judged(std::slice::from_ref(&run), None), ["share"]);
    assert_eq!(bulk.not_judged(&[run], Some(1e6)), [] as [&str; 0]);
}

#[test]
fn a_run_whose_generator_fell_behind_is_no_fault_of_the_path() {
    let voice = by_name("voice").unwrap().limits;
    let good = Totals { delay_p99: Some(0.1), ..Totals::default() };
    let late = Totals { delay_p99: Some(0.2), host_limited: 1, ..Totals::default() };
    let slow = Totals { host_limited: 0, ..late.clone() };
    let tried = |runs: &[&Totals]| voice.tried(runs.iter().copied(), 3, None);
    assert_eq!(tried(&[&late, &good, &late]), Tried { met: 1, missed: None });
    assert_eq!(tried(&[&late, &slow]).missed.unwrap(), "p99 of delay 200.0 ms, limit 150");
    let why = tried(&[&late, &late, &late]).missed.unwrap();
    assert_eq!(why, "p99 of delay 200.0 ms, limit 150; the generator fell behind in 3 runs");
    // Whoever keeps the limits although it fell behind keeps them all the more when it does not.
    let fine = Totals { host_limited: 1, ..good };
    assert_eq!(tried(&[&fine]), Tried { met: 1, missed: None });
}

/// 160 sessions of the web offer 13.7 Mb/s to a line of 9.4 for 2 s: nothing waits for 3 s.
#[test]
fn an_overload_that_ends_before_its_delays_are_too_long_is_not_carried() {
    let web = by_name("web").unwrap();
    let over = Totals {
        arrival: 13.7e6,
        departure: 9.4e6,
        carried: Some(9.4e6),
        delay_p99: Some(0.9),
        ..Totals::default()
    };
    let why = web.limits.missed(&over, 160, Some(9.4e6)).unwrap();
    assert_eq!(why, "68.61 % of what was offered was carried, limit 95");
    // What is older than this limit was judged without it.
    let old = Totals { carried: None, ..over.clone() };
    assert_eq!(web.limits.missed(&old, 160, Some(9.4e6)), None);
    let nearly = Totals { carried: Some(13.2e6), ..over };
    assert_eq!(web.limits.missed(&nearly, 160, Some(13.5e6)), None);
    // A run is long enough for its limit, and for what was asked.
    assert_eq!(web.limits.time(Nanos::from_secs(2)), Nanos::from_secs(15));
    assert_eq!(web.limits.time(Nanos::from_secs(60)), Nanos::from_secs(60));
    let bulk = by_name("bulk").unwrap();
    assert_eq!(bulk.limits.time(Nanos::from_secs(2)), Nanos::from_secs(2));
    assert_eq!(bulk.limits.missed(&nearly, 1, Some(9.4e6)), None);
}

/// Of an overload the blocks that were read are those that were early.
#[test]
fn blocks_that_nobody_has_read_count_against_the_limit_of_delay() {
    let web = by_name("web").unwrap().limits;
    let read = Totals { delay_p99: Some(2.0), ..Totals::default() };
    assert_eq!(web.missed(&read, 1, None), None);
    let all = Totals { delay_p99_at_least: Some(14.0), ..read.clone() };
    assert_eq!(web.missed(&all, 1, None).unwrap(), "p99 of delay at least 14000 ms, limit 3000");
    let same = Totals { delay_p99: Some(14.0), ..all };
    assert_eq!(web.missed(&same, 1, None).unwrap(), "p99 of delay 14000 ms, limit 3000");
}

#[test]
fn the_worst_flow_decides_and_the_first_limit_is_named() {
    let voice = by_name("voice").unwrap().limits;
    let good = Totals {
        delay_p99: Some(0.1),
        pdv_p99: Some(0.04),
        worst_loss: Some(0.0),
        ..Totals::default()
    };
    assert_eq!(voice.missed(&good, 3, None), None);
    let slow = Totals { delay_p99: Some(0.16), ..good.clone() };
    assert_eq!(voice.missed(&slow, 3, None).unwrap(), "p99 of delay 160.0 ms, limit 150");
    let lossy = Totals { worst_loss: Some(0.02), ..good };
    assert_eq!(voice.missed(&lossy, 3, None).unwrap(), "loss 2.000 %, limit 1");
    let bulk = by_name("bulk").unwrap().limits;
    let starved = Totals { least_rate: Some(0.4e6), ..Totals::default() };
    assert!(bulk.missed(&starved, 2, Some(1e6)).unwrap().starts_with("0.80 of an even share"));
    assert_eq!(bulk.missed(&starved, 3, Some(1e6)), None);
}
