//! From a journal and its analysis to `result.json`.

use btu_core::journal::EventRecord;
use btu_core::journal::Journal;
use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::ApplicationScore;
use btu_core::run::analysis::Estimate;

use super::ApplicationResult;
use super::BesideIdle;
use super::ResultDocument;
use super::SCHEMA_VERSION;
use super::cells;
use super::host::fact_text;
use super::host::host_line;

const NO_NOTE: &str = "none was given (--note), or btu redact left it out";

/// The result of a run, for programs.
pub fn result(journal: &Journal, analysis: &Analysis) -> ResultDocument {
    let plan = &journal.plan;
    let [btu, idle] = [&analysis.btu_mbps, &analysis.btu_idle_mbps].map(Shown::of);
    let penalty = Shown::of(&analysis.penalty_percent);
    let classic = Shown::of(&analysis.penalty_classic_percent);
    let hosts = &journal.hosts;
    let tool_version = fact_text(hosts.tool.get("version"));
    let started_at = EventRecord::started_at(&journal.events).map(str::to_owned);
    let finished_at = EventRecord::finished_at(&journal.events).map(str::to_owned);
    let detectable_change = analysis.detectable_change.filter(|v| v.is_finite());
    ResultDocument {
        schema_version: SCHEMA_VERSION.to_owned(),
        tool_version_reason: why_no(tool_version.as_ref(), "hosts.json does not say"),
        tool_version,
        edition: plan.edition.clone(),
        edition_hash: plan.edition_hash.clone(),
        testbed_class: plan.testbed_class.to_string(),
        preset: plan.preset.clone(),
        seed: plan.seed,
        host: host_line(hosts),
        started_at_reason: why_no(started_at.as_ref(), "events.jsonl does not say"),
        started_at,
        finished_at_reason: why_no(finished_at.as_ref(), "the run did not come to its end"),
        finished_at,
        price_reason: why_no(hosts.price.as_ref(), "none was given (--price)"),
        price: hosts.price.clone(),
        marks: hosts.marks.clone(),
        note_reason: why_no(hosts.note.as_ref(), NO_NOTE),
        note: hosts.note.clone(),
        passes: analysis.complete_passes,
        complete: analysis.complete,
        partial: analysis.partial,
        rankable: analysis.not_rankable_reasons.is_empty(),
        not_rankable_reasons: analysis.not_rankable_reasons.clone(),
        btu_mbps: btu.value,
        btu_mbps_reason: btu.reason,
        btu_ci95_mbps: btu.interval,
        btu_ci95_mbps_reason: btu.interval_reason,
        btu_bootstrap95_mbps: btu.bootstrap,
        btu_bootstrap95_mbps_reason: btu.bootstrap_reason,
        btu_idle_mbps: idle.value,
        btu_idle_mbps_reason: idle.reason,
        beside_idle: beside_idle(analysis),
        penalty_percent: penalty.value,
        penalty_percent_reason: penalty.reason,
        penalty_ci95_percent: penalty.interval,
        penalty_ci95_percent_reason: penalty.interval_reason,
        penalty_classic_percent: classic.value,
        penalty_classic_percent_reason: classic.reason,
        detectable_change_reason: reason_unless(
            detectable_change.is_some(),
            analysis.btu_mbps.ci95_reason.as_ref(),
        ),
        detectable_change,
        applications: analysis.applications.iter().map(application).collect(),
        cells: cells::cells(analysis),
        cell_summaries: analysis.cells.iter().map(cells::summary).collect(),
        activities: analysis.activity_runs.iter().map(cells::activity).collect(),
        activities_base: cells::bases(&analysis.activity_runs),
        remarks: cells::remarks(analysis),
    }
}

fn beside_idle(analysis: &Analysis) -> BesideIdle {
    let idle = Shown::of(&analysis.btu_idle_mbps);
    let share = Shown::percent_of(&analysis.share_of_idle);
    BesideIdle {
        btu_idle_ci95_mbps: idle.interval,
        btu_idle_ci95_mbps_reason: idle.interval_reason,
        share_of_idle_percent: share.value,
        share_of_idle_percent_reason: share.reason,
        share_of_idle_ci95_percent: share.interval,
        share_of_idle_ci95_percent_reason: share.interval_reason,
    }
}

fn application(score: &ApplicationScore) -> ApplicationResult {
    let btu = Shown::of(&score.btu_mbps);
    let idle = Shown::of(&score.btu_idle_mbps);
    let penalty = Shown::of(&score.penalty_percent);
    let classic = Shown::of(&score.penalty_classic_percent);
    let seconds_for_32_mb = score.seconds_for_32_mb.filter(|v| v.is_finite());
    ApplicationResult {
        name: score.application.name.clone(),
        message_bytes: score.application.message_bytes.count(),
        btu_mbps: btu.value,
        btu_mbps_reason: btu.reason,
        btu_ci95_mbps: btu.interval,
        btu_ci95_mbps_reason: btu.interval_reason,
        btu_idle_mbps: idle.value,
        btu_idle_mbps_reason: idle.reason,
        penalty_percent: penalty.value,
        penalty_percent_reason: penalty.reason,
        penalty_ci95_percent: penalty.interval,
        penalty_ci95_percent_reason: penalty.interval_reason,
        penalty_classic_percent: classic.value,
        penalty_classic_percent_reason: classic.reason,
        seconds_for_32_mb_reason: reason_unless(
            seconds_for_32_mb.is_some(),
            score.btu_mbps.reason.as_ref(),
        ),
        seconds_for_32_mb,
    }
}

/// An estimate as JSON can show it: finite, and never missing without a reason.
struct Shown {
    value: Option<f64>,
    reason: Option<String>,
    interval: Option<[f64; 2]>,
    interval_reason: Option<String>,
    bootstrap: Option<[f64; 2]>,
    bootstrap_reason: Option<String>,
}

impl Shown {
    /// A ratio, in percent.
    fn percent_of(estimate: &Estimate) -> Self {
        let percent = |share: f64| share * 100.0;
        let ci95 = estimate.ci95.map(|ends| ends.map(percent));
        Self::of(&Estimate { value: estimate.value.map(percent), ci95, ..estimate.clone() })
    }

    fn of(estimate: &Estimate) -> Self {
        let value = estimate.value.filter(|v| v.is_finite());
        let interval = finite_pair(estimate.ci95);
        let bootstrap = finite_pair(estimate.bootstrap95);
        let no_interval = estimate.ci95_reason.as_ref();
        Self {
            value,
            reason: reason_unless(value.is_some(), estimate.reason.as_ref()),
            interval,
            interval_reason: reason_unless(interval.is_some(), no_interval),
            bootstrap,
            bootstrap_reason: reason_unless(bootstrap.is_some(), no_interval),
        }
    }
}

fn reason_unless(present: bool, reason: Option<&String>) -> Option<String> {
    (!present).then(|| reason.cloned().unwrap_or_else(|| "not computed".to_owned()))
}

/// The reason beside a value that may be missing; none beside one that is there.
pub(super) fn why_no<T: Copy>(value: Option<T>, reason: &str) -> Option<String> {
    value.is_none().then(|| reason.to_owned())
}

pub(super) fn finite_pair(pair: Option<[f64; 2]>) -> Option<[f64; 2]> {
    pair.filter(|ends| ends.iter().all(|v| v.is_finite()))
}
