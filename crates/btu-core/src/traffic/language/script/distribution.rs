//! Distributions by name: parameters by place or by name, and bounds.

use super::Problem;
use super::token::Place;
use super::tree::Argument as Part;
use super::tree::Form;
use super::tree::Label;
use super::tree::Tree;
use crate::traffic::language::quantity::Quantity;
use crate::traffic::language::quantity::snap;
use crate::traffic::law::KINDS;
use crate::traffic::law::Kind;
use crate::traffic::law::Law;
use crate::traffic::law::Measures;

/// What a distribution's values measure, and what a number without a unit counts.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    pub(super) quantity: Quantity,
    pub(super) bare: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    High,
    Low,
}

pub(super) fn named_label(name: &str) -> Label {
    Label::Name(name.to_owned())
}

pub(super) fn bound(part: &Part) -> Option<Bound> {
    match &part.label {
        Label::Name(name) if name == "min" || name == "lo" => Some(Bound::Low),
        Label::Name(name) if name == "max" || name == "hi" => Some(Bound::High),
        _ => None,
    }
}

/// A number in the base unit of the quantity.
pub(super) fn number(tree: &Tree, scale: Scale) -> Result<f64, Problem> {
    let Form::Number(value, unit) = &tree.form else {
        return Err(Problem::at(tree.place, "wanted a number"));
    };
    scale.quantity.base(*value, unit, scale.bare).map_err(|cause| Problem::at(tree.place, cause))
}

/// A number without a unit.
pub(super) fn shape(tree: &Tree) -> Result<f64, Problem> {
    number(tree, Scale { quantity: Quantity::Number, bare: Some(1.0) })
}

/// `exp(lambda=L)`: lambda is per byte, per second, or, in NetSpec's periods, per microsecond.
pub(super) fn exp_by_rate(part: &Part, scale: Scale) -> Result<Law, Problem> {
    let lambda = shape(&part.value)?;
    if lambda <= 0.0 {
        return Err(Problem::at(part.place, "lambda must be above 0"));
    }
    let unit = scale.bare.unwrap_or(scale.quantity.natural());
    Ok(Law::of("exp", [snap(unit / lambda), 0.0, 0.0]))
}

/// One of [`KINDS`]: the first of that name that has the parameters that are named.
pub(super) fn plain(
    place: Place,
    name: &str,
    parts: &[&Part],
    scale: Scale,
) -> Result<Law, Problem> {
    let fits = |kind: &&Kind| {
        parts.iter().all(|part| match &part.label {
            Label::Name(key) => kind.parameters.iter().any(|p| p.name == key),
            Label::None => true,
            Label::Weight(_) => false,
        })
    };
    let mut kinds = KINDS.iter().filter(|kind| kind.name == name);
    let first = kinds.clone().next();
    let Some(kind) = kinds.find(fits) else {
        let form = first.map_or("", |kind| kind.form);
        return Err(Problem::at(place, format!("write {form}")));
    };
    let mut values: Vec<Option<f64>> = vec![None; kind.parameters.len()];
    for (index, part) in parts.iter().enumerate() {
        let position = match &part.label {
            Label::Name(key) => kind.parameters.iter().position(|p| p.name == key),
            _ => Some(index),
        };
        let slot = position.filter(|at| values.get(*at).is_some_and(Option::is_none));
        let Some(at) = slot else {
            return Err(Problem::at(part.place, format!("write {}", kind.form)));
        };
        values[at] = Some(match kind.parameters[at].measures {
            Measures::Same | Measures::Unit => number(&part.value, scale)?,
            Measures::Shape => shape(&part.value)?,
        });
    }
    finished(place, kind, &values, scale)
}

pub(super) fn finished(
    place: Place,
    kind: &'static Kind,
    given: &[Option<f64>],
    scale: Scale,
) -> Result<Law, Problem> {
    let mut values = [0.0; 3];
    for ((value, given), parameter) in values.iter_mut().zip(given).zip(kind.parameters) {
        let unit = || scale.bare.unwrap_or(scale.quantity.natural());
        *value = match given {
            Some(given) => *given,
            None if parameter.measures == Measures::Unit => unit(),
            None => {
                let cause = format!("{} is missing; write {}", parameter.name, kind.form);
                return Err(Problem::at(place, cause));
            }
        };
    }
    let (legal, rule) = kind.rule;
    if legal(values) {
        return Ok(Law::Plain(kind, values));
    }
    Err(Problem::at(place, format!("{}: {rule}", kind.form)))
}

/// Clamps by `min=` and `max=`.
pub(super) fn clamp_by(
    place: Place,
    law: Law,
    parts: &[Part],
    scale: Scale,
) -> Result<Law, Problem> {
    let (mut low, mut high) = (None, None);
    for part in parts {
        match bound(part) {
            Some(Bound::Low) => low = Some(number(&part.value, scale)?),
            Some(Bound::High) => high = Some(number(&part.value, scale)?),
            None => {}
        }
    }
    if low.is_none() && high.is_none() {
        return Ok(law);
    }
    within(place, law, (low, high), "clamp")
}

/// The law within its bounds, if they leave something.
pub(super) fn within(
    place: Place,
    law: Law,
    (low, high): (Option<f64>, Option<f64>),
    name: &str,
) -> Result<Law, Problem> {
    if let (Some(low), Some(high)) = (low, high)
        && low >= high
    {
        return Err(Problem::at(place, "the lower bound must be below the upper one"));
    }
    if name == "clamp" {
        return Ok(Law::Clamp(Box::new(law), low, high));
    }
    let (from, to) = law.shares(low, high);
    if to - from < LEAST_SHARE {
        return Err(Problem::at(place, "nearly no value lies within these bounds"));
    }
    Ok(Law::Truncate(Box::new(law), low, high))
}

/// All forms, for errors.
pub(super) fn distributions() -> String {
    let mut forms: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    forms.dedup();
    forms.extend(["table", "mix", "clamp", "truncate"]);
    forms.join(", ")
}

/// A share of values that can be drawn by trying again.
const LEAST_SHARE: f64 = 1e-6;
