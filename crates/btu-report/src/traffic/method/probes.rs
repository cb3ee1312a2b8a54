//! What was measured without a schedule: a capacity (RFC 9097), round trips under load.

use btu_core::traffic::figures::capacity::Adjustment;
use btu_core::traffic::figures::capacity::BOTTOM_OF_C;
use btu_core::traffic::probe::CapacityFigures;
use btu_core::traffic::probe::ProbeSample;
use btu_core::traffic::probe::ResponsivenessFigures;
use btu_core::traffic::sample::RunSample;

use crate::document::Block;
use crate::document::Pair;
use crate::number;
use crate::traffic::Seen;
use crate::traffic::rate;
use crate::traffic::span;

/// Nothing where neither was measured.
pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let capacities = of_passes(seen, ProbeSample::capacity, capacity);
    let trips = of_passes(seen, ProbeSample::responsiveness, responsiveness);
    capacities.into_iter().chain(trips).collect()
}

/// What each probe of a kind found, with its pass where there are several.
fn of_passes<T>(
    seen: &Seen<'_>,
    figures: fn(&ProbeSample) -> Option<T>,
    rows: fn(&T) -> Vec<Pair>,
) -> Vec<Block> {
    let block = |run: &RunSample| {
        let found = figures(run.probe.as_ref()?)?;
        let of = seen.journal.runs().filter(|other| other.cell == run.cell).count();
        let pass = (of > 1).then(|| Pair::new("pass", format!("{} of {of}", run.pass)));
        Some(Block::Facts { rows: pass.into_iter().chain(rows(&found)).collect() })
    };
    seen.journal.runs().filter_map(block).collect()
}

fn capacity(found: &CapacityFigures) -> Vec<Pair> {
    let at_least = if found.is_lower_bound { "at least " } else { "" };
    let mut rows = vec![
        Pair::new(
            "maximum IP-layer capacity (RFC 9097)",
            format!(
                "{at_least}{} in the best {} of the search",
                rate(found.capacity_bit_s),
                span(Some(found.sub_interval_s))
            ),
        ),
        Pair::new(
            "in that time",
            format!(
                "{} lost, delay variation {}",
                number::measured(found.best_lost_share * 100.0, "%"),
                span(found.delay_variation_s)
            ),
        ),
        Pair::new(
            "over the whole search",
            format!(
                "{}, {} lost; the rate goes up until datagrams wait or are lost",
                rate(found.mean_bit_s),
                number::measured(found.lost_share * 100.0, "%")
            ),
        ),
        Pair::new("smallest delay of one way", least_delay(found)),
        Pair::new("load adjustment", adjustment(found)),
    ];
    if let (true, Some((sent, asked))) = (found.is_lower_bound, found.offered()) {
        let told = format!(
            "the sender sent {} where it was asked for {}, and that came: the host was the limit, not the path",
            rate(sent),
            rate(asked)
        );
        rows.insert(1, Pair::new("host limited", told));
    }
    rows.extend(silence(found));
    rows
}

/// Times in which nothing came, and a search that ended of it.
fn silence(found: &CapacityFigures) -> Vec<Pair> {
    let cut = found.cut_after_s.map(|after| {
        let told = format!(
            "after {}: no report of the receiver came any more, and nobody sends on into that",
            span(Some(after))
        );
        Pair::new("ended before its time", told)
    });
    let silent = (found.silent_reports > 0).then(|| {
        let told = format!(
            "in the time of {} of {} reports, which have no delay to vary",
            found.silent_reports, found.reports
        );
        Pair::new("nothing came", told)
    });
    cut.into_iter().chain(silent).collect()
}

/// Which it was, and what that means for the figure.
fn adjustment(found: &CapacityFigures) -> String {
    match (found.adjustment, found.may_be_short()) {
        (Adjustment::B, _) => "type B".to_owned(),
        (Adjustment::C, false) => "type C (multiply and retry)".to_owned(),
        (Adjustment::C, true) => format!(
            "type C (multiply and retry), which steps back to the bottom below {}: up to a fifth may be missing, \
             type B finds it",
            rate(BOTTOM_OF_C.mbps() * 1e6)
        ),
    }
}

fn least_delay(found: &CapacityFigures) -> String {
    match (found.least_delay_s, found.least_delay_bound_s) {
        (Some(least), Some(bound)) => {
            format!("{}, known within {}", span(Some(least)), span(Some(bound)))
        }
        (None, Some(bound)) => format!(
            "not available: smaller than the clocks of both hosts are known to agree ({})",
            span(Some(bound))
        ),
        (least, None) => span(least),
    }
}

fn responsiveness(found: &ResponsivenessFigures) -> Vec<Pair> {
    let idle = found.idle_rpm.map_or_else(|| number::NONE.to_owned(), |rpm| number::fixed(rpm, 0));
    vec![
        Pair::new(
            "round trips per minute under load (RPM)",
            format!(
                "{}{}, confidence {}",
                if found.pending_probes > 0 { "at most " } else { "" },
                number::fixed(found.rpm, 0),
                found.confidence.word()
            ),
        ),
        Pair::new("on connections of their own", number::fixed(found.foreign_rpm, 0)),
        Pair::new("on connections that carry load", number::fixed(found.loaded_rpm, 0)),
        Pair::new("on the idle path", idle),
        Pair::new(
            "goodput of the load",
            format!(
                "{} on {} connections; {} broke",
                rate(found.goodput_bit_s),
                found.connections,
                found.broken
            ),
        ),
        Pair::new("probes of the last intervals", probed(found)),
    ]
}

/// How many probes there were: whoever asks less often under load than he wanted to hears of the load less than it was.
fn probed(found: &ResponsivenessFigures) -> String {
    let due = found.probes_due.map_or_else(String::new, |due| format!("{due} of each kind due, "));
    let came = format!(
        "{} on connections of their own and {} on those with load were answered",
        found.foreign_probes, found.loaded_probes
    );
    let pending = match found.pending_probes {
        0 => String::new(),
        1 => "; 1 was still waiting and counts with its time until then".to_owned(),
        many => format!("; {many} were still waiting and count with their time until then"),
    };
    format!("{due}{came}{pending}")
}

#[cfg(test)]
mod tests {
    use btu_core::traffic::probe::Confidence;

    use super::*;

    #[test]
    fn probes_that_still_waited_make_a_rate_an_upper_bound() {
        let found = |pending_probes, probes_due| ResponsivenessFigures {
            rpm: 120.0,
            foreign_rpm: 100.0,
            loaded_rpm: 140.0,
            idle_rpm: None,
            goodput_bit_s: 1e6,
            connections: 4,
            broken: 0,
            confidence: Confidence::Low,
            probes_due,
            foreign_probes: 12,
            loaded_probes: 33,
            pending_probes,
        };
        let said = |pending, due| format!("{:?}", responsiveness(&found(pending, due)));
        let bound = said(6, Some(40));
        for word in ["at most 120, confidence low", "40 of each kind due, 12 on", "; 6 were still"]
        {
            assert!(bound.contains(word), "no {word} in {bound}");
        }
        let old = said(0, None);
        assert!(
            !old.contains("at most") && !old.contains("due") && !old.contains("still"),
            "{old}"
        );
    }

    #[test]
    fn a_capacity_that_the_host_limited_is_a_lower_bound() {
        let found = |is_lower_bound: bool| CapacityFigures {
            adjustment: Adjustment::B,
            capacity_bit_s: 1.5e9,
            sub_interval_s: 1.0,
            asked_bit_s: Some(10e9),
            sent_bit_s: Some(1.5e9),
            is_lower_bound,
            mean_bit_s: 1e9,
            lost_share: 0.2,
            best_lost_share: 0.0,
            delay_variation_s: Some(0.0),
            least_delay_s: Some(0.001),
            least_delay_bound_s: None,
            reports: 200,
            silent_reports: 0,
            cut_after_s: None,
        };
        let said = |found: CapacityFigures| format!("{:?}", capacity(&found));
        let limited = said(found(true));
        assert!(limited.contains("at least 1.50 Gb/s in the best"), "{limited}");
        assert!(limited.contains("sent 1.50 Gb/s where it was asked for 10.0 Gb/s"), "{limited}");
        let free = said(found(false));
        assert!(!free.contains("at least") && !free.contains("limit"), "{free}");
        assert!(free.contains("\"0 % lost, ") && free.contains(", 20.0 % lost; "), "{free}");
        let apart = |least_delay_s| CapacityFigures {
            least_delay_s,
            least_delay_bound_s: Some(0.01),
            ..found(false)
        };
        let known = said(apart(Some(0.011)));
        assert!(known.contains("11.0 ms, known within 10.0 ms"), "{known}");
        assert!(known.contains("\"type B\""), "{known}");
        let of_c = |capacity_bit_s| {
            let adjustment = Adjustment::C;
            said(CapacityFigures { adjustment, capacity_bit_s, ..found(false) })
        };
        assert!(of_c(9e6).contains("type B finds it") && !of_c(20e6).contains("type B finds it"));
        let dead = CapacityFigures { silent_reports: 21, cut_after_s: Some(2.0), ..found(false) };
        let dead = said(dead);
        assert!(
            dead.contains("after 2.00 s: no report") && dead.contains("of 21 of 200"),
            "{dead}"
        );
        assert!(!free.contains("nothing came") && !free.contains("ended before"), "{free}");
        let hidden = said(apart(None));
        assert!(hidden.contains("known to agree (10.0 ms)"), "{hidden}");
    }
}
