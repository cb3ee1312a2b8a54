//! What a link says of itself: first what was understood, at the end what was done.

use btu_core::link::ChainSpec;
use btu_core::link::Pattern;
use btu_core::run::verdict::Verdict;
use btu_core::sample::DirectionSample;
use btu_core::sample::Quantiles;
use btu_core::units::Nanos;
use btu_core::units::Ratio;
use btu_core::words::several;

use super::elements::Elements;

/// `adds 10 ms each way, round trip +20 ms; drops 4 of 400`
pub(crate) fn understood(elements: &Elements) -> String {
    let (up, down) = (&elements.up, &elements.down);
    if up == down {
        return match (up.constant_delay(), effects(up)) {
            (None, effects) if effects.is_empty() => "changes nothing".to_owned(),
            (None, effects) => effects.join("; ") + ", each way",
            (Some(delay), effects) => {
                let mut parts = vec![format!(
                    "adds {} ms each way, round trip +{} ms",
                    decimal(delay.millis()),
                    decimal((delay + delay).millis())
                )];
                parts.extend(effects);
                parts.join("; ")
            }
        };
    }
    let (both_up, both_down) = (one_way(up), one_way(down));
    let round_trip =
        up.constant_delay().unwrap_or_default() + down.constant_delay().unwrap_or_default();
    let sum = match round_trip {
        Nanos::ZERO => String::new(),
        delay => format!("; round trip +{} ms", decimal(delay.millis())),
    };
    format!("up {both_up}; down {both_down}{sum}")
}

/// `up 23170 packets, dropped 229 (0.988 %, pattern says 229); delay 10 ms: p50 ... ; VALID`
pub(crate) fn done(sample: &DirectionSample, verdict: &Verdict) -> String {
    let mut parts = vec![format!(
        "{} {}, dropped {}{}",
        sample.direction,
        several(sample.packets, "packet"),
        sample.dropped,
        drops(sample)
    )];
    parts.extend(others(sample));
    parts.extend(delay(sample));
    parts.push(match verdict {
        Verdict::Valid => "VALID".to_owned(),
        Verdict::Limited(causes) => format!("LIMITED ({})", causes.join("; ")),
        Verdict::Invalid(causes) => format!("INVALID ({})", causes.join("; ")),
    });
    parts.join("; ")
}

fn one_way(chain: &ChainSpec) -> String {
    let delay = chain.constant_delay().map(|delay| format!("adds {} ms", decimal(delay.millis())));
    let parts: Vec<String> = delay.into_iter().chain(effects(chain)).collect();
    if parts.is_empty() { "changes nothing".to_owned() } else { parts.join(", ") }
}

/// Every element but the constant delays, in words where there are better ones than its text.
fn effects(chain: &ChainSpec) -> Vec<String> {
    let texts = chain.texts().into_iter().filter(|text| !text.starts_with("delay "));
    texts.map(|text| in_words(&text).unwrap_or(text)).collect()
}

fn in_words(text: &str) -> Option<String> {
    let drops = text.strip_prefix("drop ")?;
    let (first, rest) = drops.split_once(' ').unwrap_or((drops, ""));
    let rest = if rest.is_empty() { String::new() } else { format!(" ({rest})") };
    if let Ok(pattern) = first.parse::<Pattern>() {
        return Some(format!("drops {} of {}{rest}", pattern.hits_per_period(), pattern.period()));
    }
    let share = first.parse::<Ratio>().ok()?;
    Some(format!("drops {} % by chance{rest}", decimal(share.percent())))
}

fn drops(sample: &DirectionSample) -> String {
    let percent = ratio(sample.dropped, sample.packets) * 100.0;
    match (sample.pattern_drops, sample.dropped) {
        (Some(formula), _) => format!(" ({percent:.3} %, pattern says {formula})"),
        (None, 0) => String::new(),
        (None, _) => format!(" ({percent:.3} %)"),
    }
}

/// Counts that are worth a word only where they are not 0.
fn others(sample: &DirectionSample) -> Option<String> {
    let queue = if sample.has_codel() {
        "dropped by a queue (full, or by CoDel)"
    } else {
        "dropped by a full queue"
    };
    let counts = [
        (sample.queue_dropped, queue),
        (sample.duplicated, "duplicated"),
        (sample.corrupted, "corrupted"),
        (sample.held_back, "held back"),
        (sample.opaque, "not understood"),
        (sample.lost_unasked(), "lost unasked"),
    ];
    let told: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// The achieved delay in milliseconds: asked plus error. Where elements hold packets for different times, only
/// the error is known: how long after its own due time each left.
fn delay(sample: &DirectionSample) -> Option<String> {
    let asked = sample.delay_asked_us?;
    let Quantiles { p50, p99, max, .. } = sample.delay_error_us?;
    if !sample.delays_alike() {
        return Some(format!(
            "delay {} ms and what other elements add: released p50 {p50:.0} p99 {p99:.0} max {max:.0} us after due",
            decimal(asked / 1e3)
        ));
    }
    let achieved = |error: f64| (asked + error) / 1e3;
    Some(format!(
        "delay {} ms: p50 {:.3} p99 {:.3} max {:.3}",
        decimal(asked / 1e3),
        achieved(p50),
        achieved(p99),
        achieved(max)
    ))
}

/// Without the noise of binary fractions, and without needless digits.
fn decimal(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[expect(clippy::cast_precision_loss, reason = "a percentage with three digits")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use btu_core::link::Reader;
    use btu_core::link::Wire;

    use super::*;

    fn chain(texts: &[&str]) -> ChainSpec {
        ChainSpec::ordered(texts, &Reader::COMMAND_LINE).unwrap()
    }

    fn elements(up: &[&str], down: &[&str]) -> Elements {
        Elements { up: chain(up), down: chain(down), wire: Wire::default() }
    }

    #[test]
    fn a_link_is_told_in_words() {
        let both = ["delay 10ms", "drop 1@200,3@400/400"];
        assert_eq!(
            understood(&elements(&both, &both)),
            "adds 10 ms each way, round trip +20 ms; drops 4 of 400"
        );
        assert_eq!(understood(&elements(&[], &[])), "changes nothing");
        assert_eq!(
            understood(&elements(&["delay 0.1ms"], &["drop 1%"])),
            "up adds 0.1 ms; down drops 1 % by chance; round trip +0.1 ms"
        );
    }

    #[test]
    fn the_end_line_compares_with_the_formula() {
        let sample = DirectionSample {
            direction: "up".to_owned(),
            packets: 23_170,
            dropped: 229,
            pattern_drops: Some(229),
            delay_asked_us: Some(10_000.0),
            delay_error_us: Some(Quantiles { n: 9, mean: 6.0, p50: 6.0, p99: 28.0, max: 131.0 }),
            ..DirectionSample::default()
        };
        assert_eq!(
            done(&sample, &Verdict::Valid),
            "up 23170 packets, dropped 229 (0.988 %, pattern says 229); \
             delay 10 ms: p50 10.006 p99 10.028 max 10.131; VALID"
        );
    }

    /// Behind a line packets wait as long as its queue is: what they waited in all is not recorded.
    #[test]
    fn the_end_line_claims_no_delay_that_a_queue_made_longer() {
        let of = |chain: &[&str]| DirectionSample {
            direction: "up".to_owned(),
            chain: chain.iter().map(ToString::to_string).collect(),
            delay_asked_us: Some(10_000.0),
            delay_error_us: Some(Quantiles { n: 9, mean: 6.0, p50: 67.0, p99: 91.2, max: 131.0 }),
            ..DirectionSample::default()
        };
        let achieved = done(&of(&["drop 1%", "delay 10ms"]), &Verdict::Valid);
        assert!(achieved.contains("; delay 10 ms: p50 10.067 "), "{achieved}");
        for other in ["rate 1Mbit/s queue 100ms", "hold 1@1/2 5ms", "jitter exp(1ms)"] {
            let late = done(&of(&[other, "delay 10ms"]), &Verdict::Valid);
            let wanted = "delay 10 ms and what other elements add: released p50 67 p99 91 max 131 us after due";
            assert!(late.contains(wanted), "{late}");
        }
    }
}
