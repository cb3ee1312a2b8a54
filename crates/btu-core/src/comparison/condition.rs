//! Conditions under which a comparison fails: `btu<-5%`, `application.*.penalty>10%`.

use std::str::FromStr;

use super::Change;
use super::Comparison;
use super::change::adjusted;
use crate::stats::SIGNIFICANCE;

/// A figure, a direction and a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    figure: String,
    side: Side,
    percent: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Above,
    Below,
}

/// What became of a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The condition as it was written.
    pub condition: String,
    /// True where some figure fulfils it: the comparison fails.
    pub met: bool,
    /// True where no figure fulfils it and one is a bound: whether that one does cannot be told.
    pub is_open: bool,
    /// Each figure beyond the limit, and whether that is sure; and each that is a bound.
    pub said: Vec<String>,
}

/// Why a text is no condition, or names nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// It has another form.
    #[error("\"{0}\": write FIGURE<PERCENT% or FIGURE>PERCENT%, such as btu<-5%")]
    Form(String),
    /// No figure has this name.
    #[error("\"{figure}\": no such figure; write {legal}; * for any name")]
    Unknown {
        /// What was written.
        figure: String,
        /// Which names there are.
        legal: &'static str,
    },
}

impl Condition {
    /// Asks a comparison. A change that its interval does not tell from none does not count, nor does one of several figures
    /// that chance alone gives one of them.
    ///
    /// # Errors
    /// The figure is not in the comparison.
    pub fn judge(&self, comparison: &Comparison) -> Result<Outcome, ConditionError> {
        let all = comparison.changes.iter().chain(&comparison.cells);
        let asked: Vec<&Change> = all.filter(|one| is_named(&self.figure, &one.figure)).collect();
        if asked.is_empty() {
            let (figure, legal) = (self.figure.clone(), comparison.legal);
            return Err(ConditionError::Unknown { figure, legal });
        }
        let mut outcome =
            Outcome { condition: self.text.clone(), met: false, is_open: false, said: Vec::new() };
        for (change, p) in asked.iter().zip(adjusted(&asked)) {
            let is_beyond = self.is_beyond(change.percent());
            if !is_beyond && !change.is_bound {
                continue;
            }
            let (is_sure, mut doubt) = surety(change, p, asked.len());
            outcome.met |= is_beyond && is_sure;
            if change.is_bound {
                outcome.is_open = true;
                BOUND.clone_into(&mut doubt);
            }
            outcome.said.push(format!("{} {:+.1} %{doubt}", change.figure, change.percent()));
        }
        outcome.is_open &= !outcome.met;
        Ok(outcome)
    }

    fn is_beyond(&self, percent: f64) -> bool {
        match self.side {
            Side::Above => percent > self.percent,
            Side::Below => percent < self.percent,
        }
    }
}

/// Whether a change counts, and what is said of that. One figure is judged by its interval, several by their p values,
/// which are those of all of them together.
fn surety(change: &Change, p: f64, figures: usize) -> (bool, String) {
    match change.ci95 {
        None => (true, " (no interval: the figure alone decides)".to_owned()),
        Some([low, high]) if low <= 1.0 && high >= 1.0 => {
            (false, " (not sure: its interval holds no change)".to_owned())
        }
        Some(_) if figures > 1 && p >= SIGNIFICANCE => {
            (false, format!(" (not sure: one of {figures} figures may do so by chance)"))
        }
        Some(_) => (true, String::new()),
    }
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let wrong = || ConditionError::Form(text.to_owned());
        let at = text.find(['<', '>']).ok_or_else(wrong)?;
        let (figure, limit) = (text[..at].trim(), text[at + 1..].trim());
        let number = limit.strip_suffix('%').ok_or_else(wrong)?;
        let percent: f64 = number.trim().parse().map_err(|_no_number| wrong())?;
        if figure.is_empty() || !percent.is_finite() {
            return Err(wrong());
        }
        let side = if text[at..].starts_with('<') { Side::Below } else { Side::Above };
        Ok(Self { text: text.to_owned(), figure: figure.to_owned(), side, percent })
    }
}

/// The same name; a star stands for anything between two points, in a cell between two slashes.
pub fn is_named(pattern: &str, name: &str) -> bool {
    let parts = |text: &str| text.split(['.', '/']).map(ToOwned::to_owned).collect::<Vec<_>>();
    let (pattern, name) = (parts(pattern), parts(name));
    pattern.len() == name.len() && pattern.iter().zip(&name).all(|(p, n)| p == "*" || p == n)
}

/// What is said of a figure that a run with a cap went into.
const BOUND: &str = " (a bound: a run met its cap, or failed, or its activity finished nothing)";

#[cfg(test)]
mod tests {
    use super::*;

    fn change(figure: &str, ratio: f64, ci95: Option<[f64; 2]>) -> Change {
        Change {
            figure: figure.to_owned(),
            before: 100.0,
            after: 100.0 * ratio,
            ratio,
            ci95,
            ci95_reason: None,
            p: ci95.map(|_| 0.04),
            different: None,
            is_bound: false,
        }
    }

    fn comparison() -> Comparison {
        Comparison {
            changes: vec![
                change("btu", 0.90, Some([0.88, 0.92])),
                change("application.video.btu", 0.80, Some([0.60, 1.10])),
                change("application.telnet.btu", 0.99, None),
            ],
            cells: vec![change("cell.SEND/video/cpu", 0.5, None)],
            legal: "btu",
        }
    }

    fn judged(text: &str) -> Result<Outcome, ConditionError> {
        text.parse::<Condition>()?.judge(&comparison())
    }

    #[test]
    fn a_sure_change_beyond_its_limit_meets_the_condition() {
        for (text, met) in [
            ("btu<-5%", true),
            ("btu < -5 %", true),
            ("btu<-15%", false),
            ("btu>5%", false),
            ("application.video.btu<-5%", false),
            ("application.*.btu<0%", true),
            ("cell.*/video/*<-40%", true),
        ] {
            assert_eq!(judged(text).unwrap().met, met, "{text}");
        }
        let unsure = judged("application.video.btu<-5%").unwrap().said;
        assert_eq!(
            unsure,
            ["application.video.btu -20.0 % (not sure: its interval holds no change)"]
        );
    }

    /// Of a hundred figures without any change five have an interval that holds none.
    #[test]
    fn one_of_many_figures_is_beyond_its_limit_by_chance_and_a_sure_one_is_not() {
        let cell = |name: &str, p: f64| {
            let figure = format!("cell.SEND/{name}/cpu");
            Change { p: Some(p), ..change(&figure, 0.7, Some([0.5, 0.95])) }
        };
        let mut cells: Vec<Change> = (0..24).map(|at| cell(&format!("a{at}"), 0.03)).collect();
        let judged = |cells: &[Change], text: &str| {
            let all = Comparison { changes: Vec::new(), cells: cells.to_vec(), legal: "" };
            text.parse::<Condition>().unwrap().judge(&all).unwrap()
        };
        let many = judged(&cells, "cell.*/*/*<-20%");
        assert!(!many.met, "{many:?}");
        let said = "cell.SEND/a0/cpu -30.0 % (not sure: one of 24 figures may do so by chance)";
        assert_eq!(many.said[0], said);
        assert!(judged(&cells, "cell.SEND/a0/cpu<-20%").met, "it was asked for by its name");
        cells[7].p = Some(0.001);
        assert!(judged(&cells, "cell.*/*/*<-20%").met);
    }

    #[test]
    fn what_is_no_condition_says_how_to_write_one() {
        for text in ["btu", "btu<5", "<5%", "btu=5%", "btu<x%", "btu<inf%", ""] {
            assert!(matches!(text.parse::<Condition>(), Err(ConditionError::Form(_))), "{text}");
        }
        for text in ["speed<5%", "application.audio.btu<1%", "cell.SEND<1%"] {
            assert!(matches!(judged(text), Err(ConditionError::Unknown { .. })), "{text}");
        }
    }
}
