//! Level 1: one score, one penalty, and what a reader must know beside them.

use btu_core::journal::EventRecord;
use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::Estimate;
use btu_core::run::plan::TestbedClass;
use btu_core::words::several;

use super::Run;
use super::Section;
use crate::document::Badge;
use crate::document::Block;
use crate::document::Card;
use crate::document::Figure;
use crate::document::Level;
use crate::document::Pair;
use crate::document::Tone;
use crate::number;
use crate::result::host_line;

/// One number for buyers.
#[derive(Debug)]
pub(super) struct Headline;

impl Section for Headline {
    fn name(&self) -> &'static str {
        "result"
    }

    fn title(&self) -> &'static str {
        "Result"
    }

    fn level(&self) -> Level {
        Level::Headline
    }

    fn compose(&self, run: &Run<'_>) -> Vec<Block> {
        vec![Block::Card(Card {
            figures: figures(run.analysis),
            badges: badges(run.analysis),
            reasons: run.analysis.not_rankable_reasons.clone(),
            sentence: sentence(run.analysis),
            facts: facts(run),
        })]
    }
}

fn figures(analysis: &Analysis) -> Vec<Figure> {
    vec![
        Figure {
            name: "BTU",
            value: number::figure_or_none(analysis.btu_mbps.value),
            unit: "Mb/s",
            interval: interval(&analysis.btu_mbps, number::figure),
            meaning: "delivered to applications while the host works",
        },
        Figure {
            name: "Penalty",
            value: number::percent_or_none(analysis.penalty_percent.value),
            unit: "%",
            interval: interval(&analysis.penalty_percent, number::percent),
            meaning: "more time that the host's own work takes beside traffic",
        },
        Figure {
            name: "BTU idle",
            value: number::figure_or_none(analysis.btu_idle_mbps.value),
            unit: "Mb/s",
            interval: interval(&analysis.btu_idle_mbps, number::figure),
            meaning: "the same traffic with no other work on the host",
        },
    ]
}

/// The interval in words, over the passes of this figure, or why there is none.
fn interval(estimate: &Estimate, form: fn(f64) -> String) -> String {
    let passes = several(estimate.n, "pass");
    match (estimate.value, estimate.ci95) {
        (None, _) => estimate.reason.clone().unwrap_or_else(|| "not computed".to_owned()),
        (_, Some([lo, hi])) => {
            format!("95 % interval {} to {}, {}", form(lo), form(hi), passes)
        }
        (_, None) => {
            let reason = estimate.ci95_reason.clone();
            reason.unwrap_or_else(|| format!("{passes}, no interval"))
        }
    }
}

/// Beside a score whose host did something else, too.
pub(crate) const DISTURBED: &str = "DISTURBED";

/// The words that stand beside the score, worst first.
pub(crate) fn badges(analysis: &Analysis) -> Vec<Badge> {
    let rankable = analysis.not_rankable_reasons.is_empty();
    let watch = |word| Badge { word, tone: Tone::Watch };
    [
        (!analysis.complete).then(|| watch("INCOMPLETE")),
        analysis.partial.then(|| watch("PARTIAL")),
        is_bound(analysis).then(|| watch("CENSORED")),
        is_disturbed(analysis).then(|| watch(DISTURBED)),
        (!rankable).then(|| watch("NOT RANKABLE")),
        rankable.then_some(Badge { word: "RANKABLE", tone: Tone::Good }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A run that met its cap, or failed, counts with the cap: whatever it enters looks like a figure, and is none.
fn is_bound(analysis: &Analysis) -> bool {
    analysis.runs.iter().any(|run| run.capped)
}

/// From a tenth of the runs on it is no accident: the figures are of a host that did something else, too.
pub(crate) fn is_disturbed(analysis: &Analysis) -> bool {
    analysis.disturbed_runs() * 10 > analysis.runs.len()
}

fn disturbed(analysis: &Analysis) -> Option<String> {
    is_disturbed(analysis).then(|| {
        format!(
            "in {} of {} runs other programs, or the hypervisor, took CPU time: the idle host was not idle, and the \
             figures are of this host beside them",
            analysis.disturbed_runs(),
            analysis.runs.len()
        )
    })
}

/// The result as one would say it.
fn sentence(analysis: &Analysis) -> String {
    if is_bound(analysis) {
        let capped = analysis.runs.iter().filter(|run| run.capped).count();
        let count = if capped == 1 { "counts" } else { "count" };
        let capped = several(capped, "run");
        return format!(
            "{capped} met a time cap, or failed, and {count} with the cap: the figures are bounds, and say \
             little of this host."
        );
    }
    let Some(share) = analysis.share_of_idle.value else {
        return "Too little was measured for a sentence about this host.".to_owned();
    };
    let delivered = delivered(&analysis.share_of_idle, share);
    match analysis.penalty_percent.value {
        Some(penalty) => format!("{delivered}; {}.", own_work(&analysis.penalty_percent, penalty)),
        None => format!("{delivered}."),
    }
}

/// What the host delivers of what it delivers idle, as far as the passes show it.
fn delivered(estimate: &Estimate, share: f64) -> String {
    let percent = |share: f64| number::fixed(100.0 * share, 0);
    let figure = percent(share);
    match shown(estimate, 1.0) {
        Shown::Difference(range) => format!(
            "While it works, this host delivers {figure} % of what it delivers idle ({})",
            range.told(percent)
        ),
        Shown::None(range) => format!(
            "While it works, this host delivers {figure} % of what it delivers idle, which shows no difference ({})",
            range.told(percent)
        ),
        Shown::Unknown => format!(
            "While it works, this host delivered {figure} % of what it delivered idle (no interval)"
        ),
    }
}

/// What became of the host's own work, as far as the passes show it.
fn own_work(estimate: &Estimate, penalty: f64) -> String {
    let figure = number::percent(penalty);
    match shown(estimate, 0.0) {
        Shown::Difference(range) if penalty > 0.0 => {
            let range = range.told(number::percent);
            format!("traffic makes its own work take {figure} % longer ({range})")
        }
        Shown::Difference(_) => "its own work was not slowed by the traffic".to_owned(),
        Shown::None(range) => {
            let range = range.told(number::percent);
            format!("that traffic slows its own work is not shown: {figure} % ({range})")
        }
        Shown::Unknown if penalty < 0.05 => {
            "its own work was not slowed by the traffic (no interval)".to_owned()
        }
        Shown::Unknown => format!("its own work took {figure} % longer (no interval)"),
    }
}

/// What the interval of a figure says of a value that stands for no difference.
enum Shown {
    /// It does not hold it.
    Difference(Range),
    /// It holds it.
    None(Range),
    /// There is no interval.
    Unknown,
}

struct Range([f64; 2]);

fn shown(estimate: &Estimate, no_difference: f64) -> Shown {
    match estimate.ci95 {
        None => Shown::Unknown,
        Some([low, high]) if low <= no_difference && no_difference <= high => {
            Shown::None(Range([low, high]))
        }
        Some(ends) => Shown::Difference(Range(ends)),
    }
}

impl Range {
    /// `95 % interval 73 to 92 %`
    fn told(&self, form: impl Fn(f64) -> String) -> String {
        let [low, high] = self.0.map(form);
        format!("95 % interval {low} to {high} %")
    }
}

fn facts(run: &Run<'_>) -> Vec<Pair> {
    let (plan, analysis) = (&run.journal.plan, run.analysis);
    let hash: String = plan.edition_hash.chars().take(12).collect();
    let mut facts = vec![
        Pair::new("Host", host_line(&run.journal.hosts)),
        Pair::new("Edition", format!("{}, preset {} (hash {hash})", plan.edition, plan.preset)),
        Pair::new("Testbed", testbed(plan.testbed_class)),
        Pair::new("Measured", measured(run.journal, analysis)),
    ];
    facts.extend(disturbed(analysis).map(|text| Pair::new("Disturbed", text)));
    facts.extend(smallest_change(analysis).map(|text| Pair::new("Resolution", text)));
    facts.extend(run.journal.hosts.price.iter().map(|price| Pair::new("Price", price)));
    facts.extend(run.journal.hosts.marks.iter().map(|mark| Pair::new("Mark", mark)));
    facts.extend(run.journal.hosts.note.iter().map(|note| Pair::new("Note", note)));
    facts
}

fn testbed(class: TestbedClass) -> String {
    match class {
        TestbedClass::Local => "local: all three hosts are namespaces of this machine; \
                    never ranked against results over a real network"
            .to_owned(),
        TestbedClass::Cloud | TestbedClass::Lab | TestbedClass::Wan => {
            format!("{class}: real hosts")
        }
    }
}

fn measured(journal: &Journal, analysis: &Analysis) -> String {
    let from = EventRecord::started_at(&journal.events).unwrap_or("at an unknown time");
    let to = EventRecord::finished_at(&journal.events)
        .map_or_else(String::new, |at| format!(" to {at}"));
    let passes = several(analysis.complete_passes, "complete pass");
    format!("{from}{to}; {passes}, {}", kept(&journal.records))
}

/// `262 runs, 4 second runs, 12 checks of the emulation`: only the first of them are scored.
fn kept(records: &[Record]) -> String {
    let count = |is: fn(&Record) -> bool| records.iter().filter(|record| is(record)).count();
    let runs = count(|record| matches!(record, Record::Alone(_) | Record::Cell(_)));
    let others = [
        (count(|record| matches!(record, Record::Capture(_))), "second run", ""),
        (count(|record| matches!(record, Record::Verification(_))), "check", " of the emulation"),
    ];
    let others = others.into_iter().filter(|(count, ..)| *count > 0);
    let others = others.map(|(count, one, of)| format!(", {}{of}", several(count, one)));
    others.fold(several(runs, "run"), |said, other| said + &other)
}

fn smallest_change(analysis: &Analysis) -> Option<String> {
    let change = number::percent(100.0 * analysis.detectable_change?);
    Some(format!(
        "a change of the score of {change} % or more would probably be seen beside another run like this one"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_has_the_passes_that_it_is_over() {
        let over =
            |n| Estimate { value: Some(20.0), n, ci95: Some([10.0, 30.0]), ..Estimate::default() };
        let analysis = Analysis {
            complete_passes: 5,
            btu_mbps: over(5),
            penalty_percent: over(3),
            btu_idle_mbps: Estimate { ci95: None, ..over(2) },
            ..Analysis::default()
        };
        let told: Vec<String> = figures(&analysis).into_iter().map(|one| one.interval).collect();
        assert!(told[0].ends_with(", 5 passes") && told[1].ends_with(", 3 passes"), "{told:?}");
        assert_eq!(told[2], "2 passes, no interval");
    }

    /// What chance can do is not told as a fact of the host.
    #[test]
    fn the_sentence_says_what_the_passes_show() {
        let of = |value: f64, ci95| Estimate { value: Some(value), ci95, ..Estimate::default() };
        let said = |share, penalty| {
            sentence(&Analysis {
                share_of_idle: share,
                penalty_percent: penalty,
                ..Analysis::default()
            })
        };
        assert_eq!(
            said(of(0.85, Some([0.73, 0.92])), of(37.5, Some([30.0, 45.0]))),
            "While it works, this host delivers 85 % of what it delivers idle (95 % interval 73 to 92 %); \
             traffic makes its own work take 37.5 % longer (95 % interval 30.0 to 45.0 %)."
        );
        assert_eq!(
            said(of(0.85, Some([0.73, 1.0])), of(0.2, Some([-1.0, 1.5]))),
            "While it works, this host delivers 85 % of what it delivers idle, which shows no difference (95 % \
             interval 73 to 100 %); that traffic slows its own work is not shown: 0.2 % (95 % interval \
             -1.0 to 1.5 %)."
        );
        assert_eq!(
            said(of(0.85, None), of(4.0, None)),
            "While it works, this host delivered 85 % of what it delivered idle (no interval); its own \
             work took 4.0 % longer (no interval)."
        );
    }
}
