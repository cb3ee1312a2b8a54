//! Level 2: score and penalty of each application class (maly1996, Figures 2 and 3).

use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::ApplicationScore;
use btu_core::run::analysis::Estimate;

use super::Run;
use super::Section;
use crate::document::Bar;
use crate::document::BarChart;
use crate::document::Block;
use crate::document::Column;
use crate::document::Level;
use crate::document::SecondAxis;
use crate::document::Table;
use crate::number;

/// What each class of applications gets.
#[derive(Debug)]
pub(super) struct Applications;

impl Section for Applications {
    fn name(&self) -> &'static str {
        "applications"
    }

    fn title(&self) -> &'static str {
        "Application classes"
    }

    fn level(&self) -> Level {
        Level::Applications
    }

    fn compose(&self, run: &Run<'_>) -> Vec<Block> {
        if run.analysis.applications.iter().all(|class| class.btu_mbps.value.is_none()) {
            return vec![Block::paragraph("No application class has a score.")];
        }
        vec![
            Block::Table(table(run.analysis)),
            Block::Bars(score_chart(run.analysis)),
            Block::Bars(penalty_chart(run.analysis)),
            Block::paragraph(classic(run.analysis)),
        ]
    }
}

/// One of the two figures that every class has.
struct Measure {
    /// Name with unit.
    title: &'static str,
    of: fn(&ApplicationScore) -> &Estimate,
    form: fn(f64) -> String,
}

const SCORE: Measure =
    Measure { title: "BTU, Mb/s", of: |class| &class.btu_mbps, form: number::figure };

const PENALTY: Measure =
    Measure { title: "penalty, %", of: |class| &class.penalty_percent, form: number::percent };

impl Measure {
    fn text(&self, class: &ApplicationScore) -> String {
        (self.of)(class).value.map_or_else(|| number::NONE.to_owned(), self.form)
    }

    fn interval(&self, class: &ApplicationScore) -> String {
        number::interval((self.of)(class).ci95, self.form)
    }

    fn bar(&self, class: &ApplicationScore) -> Bar {
        Bar {
            label: class.application.name.clone(),
            sublabel: format!("{} B", class.application.message_bytes.count()),
            value: (self.of)(class).value,
            interval: (self.of)(class).ci95,
            mark: None,
            text: self.text(class),
        }
    }

    /// What a bar is; whiskers exist from three passes on.
    fn legend(&self, what: &str, analysis: &Analysis) -> String {
        let mut classes = analysis.applications.iter();
        let has_whiskers = classes.any(|class| (self.of)(class).ci95.is_some());
        if has_whiskers { format!("{what}, with 95 % interval") } else { what.to_owned() }
    }

    /// The chart for somebody who cannot see it.
    fn description(&self, analysis: &Analysis) -> String {
        let values = analysis.applications.iter();
        let values: Vec<_> = values
            .map(|class| format!("{} {}", class.application.name, self.text(class)))
            .collect();
        format!("Bars of {}: {}.", self.title, values.join("; "))
    }

    fn table(&self, analysis: &Analysis) -> Table {
        let row = |class| vec![name(class), self.text(class), self.interval(class)];
        Table {
            title: String::new(),
            columns: vec![
                Column::left("class, bytes"),
                Column::right(self.title),
                Column::right("95 % interval"),
            ],
            rows: analysis.applications.iter().map(row).collect(),
            summary_rows: 0,
        }
    }
}

/// Figure 2 of the paper.
fn score_chart(analysis: &Analysis) -> BarChart {
    let bar =
        |class: &ApplicationScore| Bar { mark: class.btu_idle_mbps.value, ..SCORE.bar(class) };
    BarChart {
        name: "btu-by-application",
        title: "Bits to the user, by application class".to_owned(),
        description: SCORE.description(analysis) + &idle_bars(analysis),
        axis: SCORE.title.to_owned(),
        reach: 0.0,
        second_axis: Some(SecondAxis { title: "seconds for 32 Mb".to_owned(), numerator: 32.0 }),
        bars: analysis.applications.iter().map(bar).collect(),
        bar_legend: SCORE.legend("busy host", analysis),
        mark_legend: Some("idle host".to_owned()),
        reading: "A bar is the rate at which messages of this class reach their reader while the \
                  host is busy: the geometric mean over all cases and activities. The thin bar is \
                  the same mean with nothing else running. The right \
                  axis says how long the class needs for 32 Mb, the amount of the 1996 benchmark."
            .to_owned(),
        table: with_idle(SCORE.table(analysis), analysis),
    }
}

/// The thin bars, for somebody who cannot see them.
fn idle_bars(analysis: &Analysis) -> String {
    let idle =
        |class: &ApplicationScore| format!("{} {}", class.application.name, idle_text(class));
    let all: Vec<String> = analysis.applications.iter().map(idle).collect();
    format!(" Of the idle host: {}.", all.join("; "))
}

fn with_idle(mut table: Table, analysis: &Analysis) -> Table {
    table.columns.push(Column::right("idle"));
    for (row, class) in table.rows.iter_mut().zip(&analysis.applications) {
        row.push(idle_text(class));
    }
    table
}

fn idle_text(class: &ApplicationScore) -> String {
    number::figure_or_none(class.btu_idle_mbps.value)
}

/// Figure 3 of the paper.
fn penalty_chart(analysis: &Analysis) -> BarChart {
    BarChart {
        name: "penalty-by-application",
        title: "Penalty on the host's own work, by application class".to_owned(),
        description: PENALTY.description(analysis),
        axis: PENALTY.title.to_owned(),
        reach: ONE_PERCENT,
        second_axis: None,
        bars: analysis.applications.iter().map(|class| PENALTY.bar(class)).collect(),
        bar_legend: PENALTY.legend("how much longer the host's own work takes", analysis),
        mark_legend: None,
        reading: "A bar says how much longer the host's own work (computing, copying files, FTP) \
                  takes while messages of this size flow: 100 % means twice as long. An interval \
                  that holds zero: that the work was slowed at all is not shown."
            .to_owned(),
        table: PENALTY.table(analysis),
    }
}

const ONE_PERCENT: f64 = 1.0;

/// All figures of level 2 in one table.
fn table(analysis: &Analysis) -> Table {
    let all = ApplicationScore {
        application: btu_core::run::cell::Application {
            name: "all".to_owned(),
            message_bytes: btu_core::units::Bytes::ZERO,
        },
        btu_mbps: analysis.btu_mbps.clone(),
        btu_idle_mbps: analysis.btu_idle_mbps.clone(),
        penalty_percent: analysis.penalty_percent.clone(),
        penalty_classic_percent: analysis.penalty_classic_percent.clone(),
        seconds_for_32_mb: analysis.btu_mbps.value.map(|btu| 32.0 / btu),
    };
    let rows = analysis.applications.iter().chain([&all]).map(row);
    Table {
        title: "BTU and idle BTU in Mb/s, penalty in %, time for 32 Mb in s".to_owned(),
        columns: vec![
            Column::left("class, bytes"),
            Column::right("BTU"),
            Column::right("95 % interval"),
            Column::right("idle"),
            Column::right("penalty"),
            Column::right("95 % interval"),
            Column::right("s/32 Mb"),
        ],
        rows: rows.collect(),
        summary_rows: 1,
    }
}

fn row(class: &ApplicationScore) -> Vec<String> {
    vec![
        name(class),
        SCORE.text(class),
        SCORE.interval(class),
        idle_text(class),
        PENALTY.text(class),
        PENALTY.interval(class),
        number::figure_or_none(class.seconds_for_32_mb),
    ]
}

/// The class with its message size; the composite has none.
fn name(class: &ApplicationScore) -> String {
    let name = &class.application.name;
    match class.application.message_bytes.count() {
        0 => name.clone(),
        bytes => format!("{name} {bytes}"),
    }
}

/// The paper's own penalty, which is often undefined.
fn classic(analysis: &Analysis) -> String {
    let estimate = &analysis.penalty_classic_percent;
    let value = match (estimate.value, &estimate.reason) {
        (Some(value), _) => format!("{} %", number::percent(value)),
        (None, Some(reason)) => reason.clone(),
        (None, None) => "undefined".to_owned(),
    };
    format!(
        "Penalty by the letter of the 1996 paper (eq. 9-11, a geometric mean of percentages): \
         {value}. The penalty above is a geometric mean of ratios: it exists for every run, and \
         its order of hosts does not depend on the base."
    )
}
