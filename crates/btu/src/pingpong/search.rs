//! The chasm finder let loose on a real transport: its questions measured, its answers kept.

use btu_core::pingpong::analysis::finder;
use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::curve::Curve;
use btu_core::pingpong::point::summarize;
use btu_core::pingpong::sample::ConfigurationId;
use btu_core::pingpong::sample::Line;
use btu_core::pingpong::sample::VisitSample;
use btu_core::pingpong::statistic::Statistic;
use btu_core::units::Nanos;

use super::start::Started;
use crate::exit::Failure;
use crate::measurement::journal::journal_failure;
use btu_engine::time::now;

/// Looks for chasms in one curve. What the journal holds already is not measured again; what is not
/// measured any more is answered with the reason, so that the search always comes to its end.
pub(super) fn search(
    started: &mut Started,
    id: ConfigurationId,
    configuration: &Configuration,
) -> Result<(), Failure> {
    let samples = samples(&started.lines, id);
    let options = samples.iter().find_map(|sample| sample.options.clone());
    let points = summarize(&samples, id, configuration.mode);
    let curve = Curve::new("", configuration.mode, Statistic::Typical, &points);
    let Some(mut finder) = finder(&started.plan, configuration, options.as_ref(), &curve) else {
        return Ok(());
    };
    for line in &started.lines {
        match line {
            Line::PingPongAnswer { id: of, answer } if *of == id => finder.answer(answer.clone()),
            _ => {}
        }
    }
    let time = started.plan.chasms.map_or(Nanos::ZERO, |search| search.time_ns);
    let until = now().saturating_add(time);
    while let Some(request) = finder.next_request().cloned() {
        started.progress.searches(configuration, &request);
        let answer = started.sessions.answer(&request, until);
        if started.sessions.lost().is_some() {
            // What was not asked is asked after a resume.
            break;
        }
        let line = Line::PingPongAnswer { id, answer: answer.clone() };
        started.journal.keep(&line).map_err(journal_failure)?;
        started.lines.push(line);
        finder.answer(answer);
    }
    started.sessions.close();
    Ok(())
}

fn samples(lines: &[Line], id: ConfigurationId) -> Vec<VisitSample> {
    let own = lines.iter().filter_map(|line| match line {
        Line::PingPongVisit(sample) if sample.configuration == id => Some((**sample).clone()),
        _ => None,
    });
    own.collect()
}
