//! The chasm finder over the answers of a journal.

use crate::pingpong::chasm::Answer;
use crate::pingpong::chasm::Factor;
use crate::pingpong::chasm::Finder;
use crate::pingpong::chasm::Finding;
use crate::pingpong::configuration::Configuration;
use crate::pingpong::configuration::REFERENCE;
use crate::pingpong::curve::Curve;
use crate::pingpong::journal::Journal;
use crate::pingpong::plan::Plan;
use crate::pingpong::sample::ConfigurationId;
use crate::pingpong::sample::Line;
use crate::sample::SocketOptions;

/// The finder for a curve of typical times; `None` where the plan looks for no chasms, or the curve
/// is none that could have one.
pub fn finder(
    plan: &Plan,
    configuration: &Configuration,
    options: Option<&SocketOptions>,
    curve: &Curve,
) -> Option<Finder> {
    let is_reference = configuration.transport == REFERENCE;
    if plan.chasms.is_none() || is_reference || configuration.verify || curve.points.is_empty() {
        return None;
    }
    let options = options.cloned().unwrap_or_default();
    let factors = Factor::list(configuration, &options);
    Some(Finder::new(plan.chasm_settings(), configuration.clone(), factors, curve))
}

/// What the finder found with the answers of the journal; what has no answer was cut short.
pub(super) fn findings(
    journal: &Journal,
    id: ConfigurationId,
    configuration: &Configuration,
    options: Option<&SocketOptions>,
    curve: &Curve,
) -> Option<Vec<Finding>> {
    let mut finder = finder(&journal.plan, configuration, options, curve)?;
    for line in &journal.lines {
        match line {
            Line::PingPongAnswer { id: of, answer } if *of == id => finder.answer(answer.clone()),
            _ => {}
        }
    }
    while finder.next_request().is_some() {
        finder.answer(Answer::Failed { reason: "the search was cut short".to_owned() });
    }
    finder.findings().map(<[Finding]>::to_vec)
}
