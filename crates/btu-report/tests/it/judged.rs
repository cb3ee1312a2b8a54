//! An analysis of the fixture by the score's own formulas, so that figures fit each other.

use btu_core::analysis::AloneRun;
use btu_core::analysis::Analysis;
use btu_core::analysis::ApplicationScore;
use btu_core::analysis::CellSummary;
use btu_core::analysis::Estimate;
use btu_core::analysis::ScoredRun;
use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::sample::ActivitySample;
use btu_core::sample::CellSample;
use btu_core::score::Figure;
use btu_core::score::Score;
use btu_core::score::penalty_percent;
use btu_core::score::score;
use btu_core::stats::detectable_change;
use btu_core::stats::geometric_mean;
use btu_core::stats::median;
use btu_core::stats::robust_cv;
use btu_core::stats::student_on_logs;

pub(crate) fn judged(journal: &Journal) -> Analysis {
    let activity_runs: Vec<AloneRun> = journal.records.iter().filter_map(alone).collect();
    let runs: Vec<ScoredRun> =
        journal.records.iter().filter_map(|r| scored(r, &activity_runs)).collect();
    let passes: Vec<Score> = (1..=journal.plan.passes.min)
        .map(|pass| score(&runs.iter().filter(|r| r.pass == pass).map(figure).collect::<Vec<_>>()))
        .collect();
    let composites: Vec<f64> = passes.iter().filter_map(|p| p.btu_mbps).collect();
    let all = score(&runs.iter().map(figure).collect::<Vec<_>>());
    Analysis {
        cells: summaries(&runs),
        applications: applications(journal, &passes),
        btu_mbps: over(&passes, |p| p.btu_mbps),
        btu_idle_mbps: over(&passes, |p| p.btu_idle_mbps),
        penalty_percent: as_penalty(over(&passes, |p| p.slowdown)),
        penalty_classic_percent: Estimate {
            value: all.classic.percent(),
            reason: all.classic.reason(),
            ..Estimate::default()
        },
        complete_passes: u32::try_from(composites.len()).unwrap(),
        complete: !runs.is_empty(),
        partial: journal.plan.partial || runs.is_empty(),
        not_rankable_reasons: vec!["preset quick: only official runs are ranked".into()],
        warnings: Vec::new(),
        detectable_change: detectable_change(&composites),
        runs,
        activity_runs,
    }
}

fn alone(record: &Record) -> Option<AloneRun> {
    let Record::Alone(sample) = record else { return None };
    Some(AloneRun {
        activity: sample.activity.clone(),
        pass: sample.pass,
        units: sample.sample.units,
        elapsed: sample.sample.elapsed_ns,
        rate_per_s: sample.sample.rate_per_s(),
    })
}

fn scored(record: &Record, bases: &[AloneRun]) -> Option<ScoredRun> {
    let Record::Cell(sample) = record else { return None };
    let comm = sample.comm.as_ref()?;
    let rate = sample.activity_sample.as_ref().and_then(ActivitySample::rate_per_s);
    let base = bases.iter().find(|b| b.pass == sample.pass && b.activity == sample.cell.activity);
    Some(ScoredRun {
        cell: sample.cell.clone(),
        pass: sample.pass,
        bits: comm.bytes.bits(),
        elapsed: comm.elapsed_ns,
        goodput_mbps: goodput(sample),
        slowdown: base.and_then(|b| b.rate_per_s).zip(rate).map(|(base, rate)| base / rate),
        activity_rate_per_s: rate,
        flags: sample.flags.clone(),
        attempts: 1,
    })
}

#[expect(clippy::cast_precision_loss, reason = "bits of a run are far below 2^53")]
fn goodput(sample: &CellSample) -> f64 {
    let comm = sample.comm.as_ref().unwrap();
    comm.bytes.bits() as f64 / comm.elapsed_ns.seconds() / 1e6
}

fn figure(run: &ScoredRun) -> Figure {
    Figure {
        case: run.cell.case.name().into(),
        application: run.cell.application.name.clone(),
        activity: run.cell.activity.as_str().into(),
        goodput_mbps: run.goodput_mbps,
        slowdown: run.slowdown,
    }
}

fn over(passes: &[Score], of: fn(&Score) -> Option<f64>) -> Estimate {
    let values: Vec<f64> = passes.iter().filter_map(of).collect();
    let value = geometric_mean(&values);
    let ci95 = student_on_logs(&values).map(|interval| [interval.low, interval.high]);
    let none = |missing: bool| missing.then(|| "no complete pass".to_owned());
    Estimate {
        value,
        reason: none(value.is_none()),
        ci95,
        ci95_reason: none(ci95.is_none()),
        bootstrap95: None,
    }
}

fn as_penalty(slowdown: Estimate) -> Estimate {
    Estimate {
        value: slowdown.value.map(penalty_percent),
        ci95: slowdown.ci95.map(|ends| ends.map(penalty_percent)),
        ..slowdown
    }
}

fn applications(journal: &Journal, passes: &[Score]) -> Vec<ApplicationScore> {
    let of = |place: usize, figure: fn(&btu_core::score::ClassScore) -> Option<f64>| {
        let values: Vec<f64> =
            passes.iter().filter_map(|p| figure(p.applications.get(place)?)).collect();
        let single = |value: &f64| Score {
            applications: Vec::new(),
            btu_mbps: Some(*value),
            btu_idle_mbps: None,
            slowdown: None,
            classic: passes[0].classic,
        };
        over(&values.iter().map(single).collect::<Vec<_>>(), |p| p.btu_mbps)
    };
    let entry = |(place, application): (usize, &btu_core::cell::Application)| {
        let btu = of(place, |class| class.btu_mbps);
        ApplicationScore {
            application: application.clone(),
            seconds_for_32_mb: btu.value.map(|rate| 32.0 / rate),
            btu_mbps: btu,
            btu_idle_mbps: of(place, |class| class.btu_idle_mbps),
            penalty_percent: as_penalty(of(place, |class| class.slowdown)),
            penalty_classic_percent: of(place, |class| class.classic.percent()),
        }
    };
    journal.plan.applications.iter().enumerate().map(entry).collect()
}

fn summaries(runs: &[ScoredRun]) -> Vec<CellSummary> {
    let mut cells: Vec<CellSummary> = Vec::new();
    for run in runs {
        if !cells.iter().any(|known| known.cell == run.cell) {
            let repeats: Vec<&ScoredRun> = runs.iter().filter(|r| r.cell == run.cell).collect();
            cells.push(summary(&repeats));
        }
    }
    cells
}

fn summary(repeats: &[&ScoredRun]) -> CellSummary {
    let goodputs: Vec<f64> = repeats.iter().map(|run| run.goodput_mbps).collect();
    let slowdowns: Vec<f64> = repeats.iter().filter_map(|run| run.slowdown).collect();
    let goodput = geometric_mean(&goodputs).unwrap();
    let smallest = goodputs.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = goodputs.iter().copied().fold(0.0, f64::max);
    CellSummary {
        cell: repeats[0].cell.clone(),
        n: u32::try_from(repeats.len()).unwrap(),
        seconds: 32.0 / goodput,
        goodput_mbps: goodput,
        goodput_ci95: student_on_logs(&goodputs).map(|i| [i.low, i.high]),
        goodput_range: [smallest, median(&goodputs).unwrap(), largest],
        robust_cv: robust_cv(&goodputs).unwrap_or(0.0),
        slowdown: geometric_mean(&slowdowns),
        retransmissions: Some(0),
        writes_per_segment: Some(2.0),
        cpu_s_per_gb: Some(0.4),
        flags: repeats[0].flags.clone(),
    }
}
