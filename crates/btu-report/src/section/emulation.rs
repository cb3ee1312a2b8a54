//! What the link emulator was asked to do, and what it really did.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::run::cell::Case;
use btu_core::run::plan::Plan;
use btu_core::sample::DirectionSample;
use btu_core::sample::VerificationSample;
use btu_core::stats::median;

use super::Run;
use super::Section;
use crate::document::Block;
use crate::document::Column;
use crate::document::Level;
use crate::document::Table;
use crate::number;

/// Checks before and after the run, and the record of each impaired run.
#[derive(Debug)]
pub(super) struct Emulation;

impl Section for Emulation {
    fn name(&self) -> &'static str {
        "emulation"
    }

    fn title(&self) -> &'static str {
        "The emulated link"
    }

    fn level(&self) -> Level {
        Level::Appendix
    }

    fn compose(&self, run: &Run<'_>) -> Vec<Block> {
        let checks = checks(run.journal);
        let sums = achieved(run.journal);
        if checks.rows.is_empty() && sums.is_empty() {
            return Vec::new();
        }
        let mut blocks = vec![Block::paragraph(asked(run.journal))];
        blocks.extend(not_foretold(run.journal).map(Block::paragraph));
        blocks.extend(by_netem(run.journal).map(Block::paragraph));
        blocks.extend(mismatches(run.journal));
        let done = [
            table(
                "Done in the impaired runs: packets, and drops that were due and were made",
                &PACKETS,
                &sums,
            ),
            table("Done in the impaired runs: delay asked in ms, its error in us", &DELAYS, &sums),
        ];
        let tables = std::iter::once(checks).chain(done);
        blocks.extend(tables.filter(|table| !table.rows.is_empty()).map(Block::Table));
        blocks.extend((!sums.is_empty()).then(|| Block::paragraph(COLUMNS)));
        blocks
    }
}

const COLUMNS: &str = "Of all runs, repeated ones included. Due: drops that the pattern asks for, and their share of the \
    packets; drops: what was dropped, likewise. Full: packets that \
    found the queue of a rate full. Lost: packets that nobody asked to lose, those included that the kernel refused to send \
    on. Held: packets that were made to wait for later ones; inside: those that had not left when the record was made. Asked: the delay that was asked for, \
    ms. Error: the delay less that, us, of the median run; p99: that of the worst run. Late: packets that left more than 50 us after they were due.";

fn asked(journal: &Journal) -> String {
    let link = &journal.plan.link;
    let rate = link.rate_told().map_or_else(String::new, |rate| format!(" Line: {rate}."));
    let delay = match link.usual_delay() {
        Some(delay) => format!("a delay of {delay} each way in the +DL cases"),
        None => format!("({}) in the +DL cases", link.delay),
    };
    let drop = match link.usual_drop() {
        Some(pattern) => format!("drops by the counter pattern {pattern} in the +DR case"),
        None => format!("({}) in the +DR case", link.drop),
    };
    format!("Asked for: {delay}, {drop}.{rate} {}", path_of_ftp(&journal.plan))
}

/// What the checks could not know beforehand.
fn not_foretold(journal: &Journal) -> Option<String> {
    let tried: BTreeSet<&str> =
        verifications(journal).flat_map(|check| &check.not_foretold).map(String::as_str).collect();
    (!tried.is_empty()).then(|| {
        let tried: Vec<&str> = tried.into_iter().collect();
        format!(
            "The checks do not know beforehand what some elements do, and looked only for losses that these do \
             not explain: {}.",
            tried.join("; ")
        )
    })
}

/// A line that all share is shared by the activity `ftp`, too, where the emulator is of this machine; an
/// agent serves files on its own address.
fn path_of_ftp(plan: &Plan) -> &'static str {
    let usual = plan.link.usual_delay().and(plan.link.usual_drop()).is_some();
    let joins = plan.link.has_line() && plan.testbed_class.is_local();
    if joins && !usual {
        "FTP takes the emulated path in every cell: its packets pass the elements of the cell's link to the active \
         host, and count for them."
    } else if joins {
        "FTP takes the emulated path in every cell: it shares the rate, is delayed in the +DL cases, and \
         its packets to the active host count for the pattern and are dropped in the +DR case."
    } else {
        "FTP takes the direct path and is never delayed or dropped."
    }
}

/// What another mechanism than the relay means for the figures.
fn by_netem(journal: &Journal) -> Option<String> {
    let links = journal.records.iter().filter_map(|record| match record {
        Record::Cell(sample) => Some(&sample.emulation),
        _ => None,
    });
    let has_it = links.flatten().any(|direction| direction.backend == "netem");
    has_it.then(|| {
        "Links are emulated by netem, the kernel's own emulator, as the owner of an agent chose. It \
         records no lateness, so what is known of its error are the checks below, and every delayed \
         cell is a lower bound. Its rate there is how much it carries."
            .to_owned()
    })
}

fn verifications(journal: &Journal) -> impl Iterator<Item = &VerificationSample> {
    journal.records.iter().filter_map(|record| match record {
        Record::Verification(check) => Some(check),
        _ => None,
    })
}

fn mismatches(journal: &Journal) -> Option<Block> {
    let items: Vec<_> = verifications(journal)
        .flat_map(|check| {
            check.mismatches.iter().map(|what| format!("{}, {}: {what}", check.link, check.when))
        })
        .collect();
    (!items.is_empty()).then_some(Block::List { items })
}

/// The checks before the first and after the last cell.
fn checks(journal: &Journal) -> Table {
    Table {
        title: "Checks with no other traffic: median round trips in ms, drops, bulk rate"
            .to_owned(),
        columns: vec![
            Column::left("link"),
            Column::left("when"),
            Column::right("direct"),
            Column::right("emulated"),
            Column::right("delayed"),
            Column::right("asked"),
            Column::right("drops/due"),
            Column::right("Mb/s"),
            Column::left("verdict"),
        ],
        rows: verifications(journal).map(check_row).collect(),
        summary_rows: 0,
    }
}

fn check_row(check: &VerificationSample) -> Vec<String> {
    let millis = |quantiles: Option<btu_core::sample::Quantiles>| {
        quantiles.map_or_else(|| number::NONE.to_owned(), |q| number::fixed(q.p50 / 1e3, 3))
    };
    let verdict = if check.mismatches.is_empty() { "ok" } else { "differs" };
    vec![
        check.link.clone(),
        check.when.clone(),
        millis(check.direct_rtt_us),
        millis(check.emulated_rtt_us),
        millis(check.delayed_rtt_us),
        number::fixed(2.0 * check.delay_asked_us / 1e3, 3),
        format!("{}/{}", check.pattern_dropped, check.pattern_expected),
        number::figure_or_none(check.bulk_bit_s.map(|rate| rate / 1e6)),
        verdict.to_owned(),
    ]
}

/// What the emulator did in all runs of one case, link and direction together.
#[derive(Default)]
struct Achieved {
    packets: u64,
    dropped: u64,
    expected: Option<u64>,
    queued_out: u64,
    lost: u64,
    held_back: u64,
    inside: u64,
    late: u64,
    delay_asked_us: Option<f64>,
    worst_p99_us: Option<f64>,
    medians_us: Vec<f64>,
}

impl Achieved {
    fn add(&mut self, sample: &DirectionSample) {
        self.packets += sample.packets;
        self.dropped += sample.dropped;
        self.queued_out += sample.queue_dropped;
        self.lost += sample.lost_unasked();
        self.held_back += sample.held_back;
        self.inside += sample.held;
        self.late += sample.late;
        self.expected = match (self.expected, sample.pattern_drops) {
            (None, None) => None,
            (sum, more) => Some(sum.unwrap_or(0) + more.unwrap_or(0)),
        };
        self.delay_asked_us = sample.delay_asked_us.or(self.delay_asked_us);
        if let Some(error) = sample.delay_error_us.filter(|error| error.n > 0) {
            self.medians_us.push(error.p50);
            self.worst_p99_us = Some(self.worst_p99_us.unwrap_or(error.p99).max(error.p99));
        }
    }

    /// So many of its packets, in percent.
    fn share(&self, part: u64) -> String {
        let share = (self.packets > 0).then(|| 100.0 * float(part) / float(self.packets));
        share.map_or_else(none, |percent| number::fixed(percent, 3))
    }
}

/// A figure of what was done: its heading, its text, and whether it is shown where it is zero everywhere.
struct Figure {
    heading: &'static str,
    text: fn(&Achieved) -> String,
    is_shown: fn(&Achieved) -> bool,
}

impl Figure {
    const fn always(heading: &'static str, text: fn(&Achieved) -> String) -> Self {
        Self { heading, text, is_shown: |_| true }
    }
}

/// What became of the packets.
const PACKETS: [Figure; 9] = [
    Figure::always("packets", |sum| sum.packets.to_string()),
    Figure::always("due", |sum| sum.expected.map_or_else(none, |n| n.to_string())),
    Figure::always("%", |sum| sum.expected.map_or_else(none, |n| sum.share(n))),
    Figure::always("drops", |sum| sum.dropped.to_string()),
    Figure::always("%", |sum| sum.share(sum.dropped)),
    Figure::always("full", |sum| sum.queued_out.to_string()),
    Figure::always("lost", |sum| sum.lost.to_string()),
    Figure {
        heading: "held",
        text: |sum| sum.held_back.to_string(),
        is_shown: |sum| sum.held_back > 0,
    },
    Figure {
        heading: "inside",
        text: |sum| sum.inside.to_string(),
        is_shown: |sum| sum.inside > 0,
    },
];

/// When they left.
const DELAYS: [Figure; 4] = [
    Figure::always("asked", |sum| {
        sum.delay_asked_us.map_or_else(none, |us| number::fixed(us / 1e3, 3))
    }),
    Figure::always("error", |sum| {
        median(&sum.medians_us).map_or_else(none, |us| number::fixed(us, 1))
    }),
    Figure::always("p99", |sum| sum.worst_p99_us.map_or_else(none, |us| number::fixed(us, 1))),
    Figure::always("late", |sum| sum.late.to_string()),
];

fn none() -> String {
    number::NONE.to_owned()
}

#[expect(clippy::cast_precision_loss, reason = "packets of a run are far fewer than 2^53")]
const fn float(count: u64) -> f64 {
    count as f64
}

/// Every impaired run, summed by case, link and direction.
type Sums<'j> = BTreeMap<(Case, &'j str, &'j str), Achieved>;

fn achieved(journal: &Journal) -> Sums<'_> {
    let mut sums = Sums::new();
    for record in &journal.records {
        let Record::Cell(sample) = record else { continue };
        for direction in &sample.emulation {
            let key = (sample.cell.case, direction.link.as_str(), direction.direction.as_str());
            sums.entry(key).or_default().add(direction);
        }
    }
    sums
}

fn table(title: &str, figures: &[Figure], sums: &Sums<'_>) -> Table {
    let figures: Vec<&Figure> =
        figures.iter().filter(|figure| sums.values().any(figure.is_shown)).collect();
    let row = |((case, link, way), sum): (&(Case, &str, &str), &Achieved)| {
        let place = format!("{case} {} {way}", link.trim_start_matches("test-"));
        std::iter::once(place).chain(figures.iter().map(|figure| (figure.text)(sum))).collect()
    };
    let headings = figures.iter().map(|figure| Column::right(figure.heading));
    Table {
        title: title.to_owned(),
        columns: std::iter::once(Column::left("case, link, way")).chain(headings).collect(),
        rows: sums.iter().map(row).collect(),
        summary_rows: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of one run in which these directions were emulated.
    fn told(samples: &[DirectionSample]) -> String {
        let mut sum = Achieved::default();
        for sample in samples {
            sum.add(sample);
        }
        let shown = PACKETS.iter().filter(|figure| (figure.is_shown)(&sum));
        let told: Vec<String> =
            shown.map(|figure| format!("{} {}", figure.heading, (figure.text)(&sum))).collect();
        told.join(", ")
    }

    #[test]
    fn what_was_dropped_stands_beside_what_the_pattern_asks_for() {
        let run = |packets, dropped| DirectionSample {
            packets,
            dropped,
            pattern_drops: Some(dropped),
            ..DirectionSample::default()
        };
        let said = told(&[run(400, 4), run(400, 2)]);
        assert!(
            said.starts_with("packets 800, due 6, % 0.750, drops 6, % 0.750, full 0"),
            "{said}"
        );
        let bare = told(&[DirectionSample::default()]);
        assert_eq!(bare, "packets 0, due -, % -, drops 0, % -, full 0, lost 0");
    }

    /// The verdict, `btu link` and the check of the links count all three.
    #[test]
    fn what_the_kernel_refused_to_send_is_lost_and_what_was_held_is_told() {
        let run = DirectionSample {
            packets: 100,
            overflow: 1,
            socket_drops: 20,
            send_errors: 300,
            ..DirectionSample::default()
        };
        let said = told(std::slice::from_ref(&run));
        assert!(said.ends_with(", lost 321"), "{said}");
        let held = told(&[DirectionSample { held_back: 7, held: 2, ..run }]);
        assert!(held.contains("lost 321, held 7, inside 2"), "{held}");
    }
}
