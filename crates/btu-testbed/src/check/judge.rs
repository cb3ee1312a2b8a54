//! Asked against measured: what counts as a mismatch, as pure functions.

use btu_core::link::Pattern;
use btu_core::run::cell::Direction;
use btu_core::run::plan::Elements;
use btu_core::sample::DirectionSample;
use btu_core::sample::Quantiles;
use btu_core::sample::VerificationSample;
use btu_core::stats::Sorted;
use btu_core::units::Nanos;

/// The delay that was added, against that of both ways that was asked for. Half of the round trips
/// must lie within 5 %, at least 200 us, of it.
pub(super) fn delay(record: &VerificationSample, asked: &Elements) -> Option<String> {
    let (floor, delayed) = (record.emulated_rtt_us?, record.delayed_rtt_us?);
    let (added, wanted) = (delayed.p50 - floor.p50, asked.round_trip().micros());
    let tolerance = (0.05 * wanted).max(200.0);
    ((added - wanted).abs() > tolerance).then(|| {
        format!(
            "delay {} should add {wanted:.0} us to a round trip, it adds {added:.0} us \
             (allowed: {tolerance:.0} us more or less)",
            both_ways(asked)
        )
    })
}

/// `5ms each way`, or `20ms up, 0ns down`
fn both_ways(asked: &Elements) -> String {
    match [Direction::Send, Direction::Receive].map(|way| asked.constant(way)) {
        [up, down] if up == down => format!("{up} each way"),
        [up, down] => format!("{up} up, {down} down"),
    }
}

/// Packets that did not come, of more than the elements took. Only elements that let packets go on at once, and in order,
/// have taken all that is missing.
pub(super) fn beside_elements(sample: &DirectionSample, missing: usize) -> Option<String> {
    let at_once = ["corrupt ", "drop ", "duplicate "];
    let is_at_once = |text: &String| at_once.iter().any(|name| text.starts_with(name));
    let taken = sample.dropped + sample.corrupted;
    let missing = u64::try_from(missing).unwrap_or(u64::MAX);
    (missing > taken && sample.chain.iter().all(is_at_once)).then(|| {
        let name = super::direction_name(sample);
        format!("{name}: {missing} packets did not come, its elements took {taken}")
    })
}

/// The packets that did not come, against the positions of the pattern.
pub(super) fn pattern(pattern: &Pattern, count: u64, missing: &[u64]) -> Option<String> {
    let expected: Vec<u64> = (1..=count).filter(|position| pattern.hits(*position)).collect();
    if expected == missing {
        return None;
    }
    let beyond = missing.iter().find(|position| !expected.contains(position));
    let spared = expected.iter().find(|position| !missing.contains(position));
    let detail = match (beyond, spared) {
        (Some(position), _) => format!("packet {position} was lost unasked"),
        (None, Some(position)) => format!("packet {position} should have been dropped"),
        (None, None) => "in another order".to_owned(),
    };
    Some(format!(
        "drop {pattern} should lose {} of {count} packets, {} were lost; {detail}",
        expected.len(),
        missing.len()
    ))
}

/// Enough packets for four hits, or for one where hits are rare.
pub(super) fn packets_for(pattern: &Pattern) -> u64 {
    let enough =
        |hits: u64| (FEWEST..=MOST).step_by(500).find(|count| pattern.count(*count) >= hits);
    let count = enough(4).or_else(|| enough(1)).unwrap_or(FEWEST);
    // The last packet comes, so that nobody has to wait for it in vain.
    (count..count + FEWEST).find(|last| !pattern.hits(*last)).unwrap_or(count)
}

/// Losses that nobody asked for.
pub(super) fn unasked(sample: &DirectionSample) -> Option<String> {
    let lost = sample.lost_unasked();
    (lost > 0).then(|| {
        format!(
            "{} lost {lost} packets unasked: {} for want of memory, {} before it saw them, {} in \
             sending",
            super::direction_name(sample),
            sample.overflow,
            sample.socket_drops,
            sample.send_errors
        )
    })
}

/// The distribution of some times, in microseconds.
pub(super) fn quantiles(times: impl Iterator<Item = Nanos>) -> Option<Quantiles> {
    let micros = Sorted::new(times.map(Nanos::micros).collect())?;
    Some(Quantiles {
        n: u64::try_from(micros.values().len()).ok()?,
        mean: micros.mean(),
        p50: micros.at(0.5),
        p99: micros.at(0.99),
        max: micros.at(1.0),
    })
}

const FEWEST: u64 = 1000;
const MOST: u64 = 20_000;
