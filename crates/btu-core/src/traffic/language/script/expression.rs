//! Values, distributions and calls from what is written, with units and legal values.

use super::Problem;
use super::distribution::Bound;
use super::distribution::Scale;
use super::distribution::bound;
use super::distribution::clamp_by;
use super::distribution::distributions;
use super::distribution::exp_by_rate;
use super::distribution::named_label;
use super::distribution::number;
use super::distribution::plain;
use super::distribution::shape;
use super::distribution::within;
use super::keyword::KEYWORDS;
use super::keyword::Keyword;
use super::token::Place;
use super::tree::Argument as Part;
use super::tree::Form;
use super::tree::Label;
use super::tree::Tree;
use crate::traffic::language::call;
use crate::traffic::language::call::Argument;
use crate::traffic::language::call::Call;
use crate::traffic::language::call::Parameter;
use crate::traffic::language::call::Takes;
use crate::traffic::language::quantity::Dialect;
use crate::traffic::language::quantity::Quantity;
use crate::traffic::language::recording::FileText;
use crate::traffic::language::variate::Variate;
use crate::traffic::law::Interpolation;
use crate::traffic::law::KINDS;
use crate::traffic::law::Law;
use crate::traffic::law::Table;
use crate::traffic::model::tcplib;

/// Reads expressions in one dialect.
pub(in crate::traffic) struct Expressions<'f> {
    pub(in crate::traffic) dialect: Dialect,
    files: &'f dyn Fn(&str) -> Result<FileText, String>,
    pub(in crate::traffic) warnings: Vec<Problem>,
}

impl<'f> Expressions<'f> {
    pub(in crate::traffic) fn new(
        dialect: Dialect,
        files: &'f dyn Fn(&str) -> Result<FileText, String>,
    ) -> Self {
        Self { dialect, files, warnings: Vec::new() }
    }

    /// A value of the parameter of this name.
    pub(in crate::traffic) fn variate(
        &mut self,
        tree: &Tree,
        quantity: Quantity,
        parameter: &str,
    ) -> Result<Variate, Problem> {
        let bare = self.bare(quantity, parameter);
        let law = self.law(tree, Scale { quantity, bare })?;
        let reach = law.reach().ok_or_else(|| {
            let remedy = "write clamp(X, LO, HI) or truncate(X, LO, HI) around it";
            Problem::at(tree.place, format!("this distribution has no mean; {remedy}"))
        })?;
        if reach <= LARGEST {
            return Ok(Variate::new(law, quantity));
        }
        let (unit, most) = quantity.bound_of_means();
        let cause = format!("the mean of this value may be {reach:e}{unit}; write at most {most}");
        Err(Problem::at(tree.place, cause))
    }

    /// NetSpec: sizes in bytes, periods in microseconds, other times in seconds.
    fn bare(&self, quantity: Quantity, parameter: &str) -> Option<f64> {
        match (self.dialect, quantity) {
            (_, Quantity::Count | Quantity::Number) => Some(1.0),
            (Dialect::Btu, _) => None,
            (Dialect::NetSpec, Quantity::Time) if parameter == "period" => Some(1e3),
            (Dialect::NetSpec, Quantity::Time) => Some(1e9),
            (Dialect::NetSpec, _) => Some(1.0),
        }
    }

    fn law(&mut self, tree: &Tree, scale: Scale) -> Result<Law, Problem> {
        match &tree.form {
            Form::Number(..) => {
                let value = number(tree, scale)?;
                if value < 0.0 && scale.quantity != Quantity::Number {
                    let cause = format!("{} is negative; write 0 or more", tree.form);
                    return Err(Problem::at(tree.place, cause));
                }
                Ok(Law::of("const", [value, 0.0, 0.0]))
            }
            Form::Call(name, parts) => match name.as_str() {
                "clamp" | "truncate" => self.bounded(tree.place, name, parts, scale),
                "mix" => self.mix(tree.place, parts, scale),
                "table" => self.table(tree.place, parts, scale),
                name => self.named(tree.place, name, parts, scale),
            },
            Form::Endpoint(..) | Form::Text(_) => {
                Err(Problem::at(tree.place, format!("wanted a number or {}", distributions())))
            }
        }
    }

    /// A distribution by name; `min=` and `max=` clamp it.
    fn named(
        &mut self,
        place: Place,
        name: &str,
        parts: &[Part],
        scale: Scale,
    ) -> Result<Law, Problem> {
        if let Some(keyword) = KEYWORDS.iter().find(|keyword| keyword.name == name) {
            return self.keyword(place, keyword, parts, scale);
        }
        if !KINDS.iter().any(|kind| kind.name == name) {
            let legal = distributions();
            return Err(Problem::at(
                place,
                format!("unknown distribution \"{name}\"; write {legal}"),
            ));
        }
        let inner = |part: &&Part| name == "uniform" || bound(part).is_none();
        let own: Vec<&Part> = parts.iter().filter(inner).collect();
        let law = if name == "exp" && own.len() == 1 && own[0].label == named_label("lambda") {
            exp_by_rate(own[0], scale)?
        } else {
            plain(place, name, &own, scale)?
        };
        if own.len() == parts.len() { Ok(law) } else { clamp_by(place, law, parts, scale) }
    }

    fn keyword(
        &mut self,
        place: Place,
        keyword: &'static Keyword,
        parts: &[Part],
        scale: Scale,
    ) -> Result<Law, Problem> {
        if !keyword.warning.is_empty() {
            self.warnings
                .push(Problem::at(place, format!("{}: {}", keyword.name, keyword.warning)));
        }
        let mut values = Vec::new();
        for name in keyword.parameters {
            let part = parts.iter().find(|part| part.label == named_label(name));
            let Some(part) = part else {
                if keyword.name == "videompegframesize" {
                    continue;
                }
                return Err(Problem::at(place, format!("{}: {name}= is missing", keyword.name)));
            };
            let value = shape(&part.value)?;
            if value <= 0.0 {
                return Err(Problem::at(part.place, format!("{name} must be above 0")));
            }
            values.push(value);
        }
        let known = |part: &&Part| {
            keyword.parameters.iter().any(|name| part.label == named_label(name))
                || bound(part).is_some()
        };
        if let Some(stray) = parts.iter().find(|part| !known(part)) {
            let legal = [keyword.parameters, &["min", "max"]].concat().join(", ");
            return Err(Problem::at(stray.place, format!("{} takes {legal}", keyword.name)));
        }
        // What these words draw are periods: their bounds are in microseconds wherever they stand.
        let micros = scale.quantity == Quantity::Time && self.dialect == Dialect::NetSpec;
        let scale = if micros { Scale { bare: Some(1e3), ..scale } } else { scale };
        clamp_by(place, (keyword.law)(&values), parts, scale)
    }

    fn bounded(
        &mut self,
        place: Place,
        name: &str,
        parts: &[Part],
        scale: Scale,
    ) -> Result<Law, Problem> {
        let form = format!("write {name}(X, LO, HI), or with one of lo= and hi=");
        let Some((first, rest)) = parts.split_first().filter(|(_, rest)| !rest.is_empty()) else {
            return Err(Problem::at(place, form));
        };
        let law = self.law(&first.value, scale)?;
        let (mut low, mut high) = (None, None);
        for (index, part) in rest.iter().enumerate() {
            let target = match (&part.label, bound(part), index) {
                (_, Some(Bound::Low), _) | (Label::None, None, 0) => &mut low,
                (_, Some(Bound::High), _) | (Label::None, None, 1) => &mut high,
                _ => return Err(Problem::at(part.place, form)),
            };
            *target = Some(number(&part.value, scale)?);
        }
        within(place, law, (low, high), name)
    }

    fn mix(&mut self, place: Place, parts: &[Part], scale: Scale) -> Result<Law, Problem> {
        let form = "write mix(0.9: X, 0.1: Y) with weights above 0";
        if parts.is_empty() {
            return Err(Problem::at(place, form));
        }
        let mut mixed = Vec::new();
        for part in parts {
            match part.label {
                Label::Weight(weight) if weight > 0.0 && weight <= 1e9 => {
                    mixed.push((weight, self.law(&part.value, scale)?));
                }
                _ => return Err(Problem::at(part.place, form)),
            }
        }
        Ok(Law::Mix(mixed))
    }

    fn table(&mut self, place: Place, parts: &[Part], scale: Scale) -> Result<Law, Problem> {
        let form = "write table(\"FILE.csv\", linear) or table(\"FILE.csv\", step)";
        let [file, how] = parts else { return Err(Problem::at(place, form)) };
        let interpolation = match &how.value.form {
            Form::Call(word, none) if word == "linear" && none.is_empty() => Interpolation::Linear,
            Form::Call(word, none) if word == "step" && none.is_empty() => Interpolation::Step,
            _ => return Err(Problem::at(how.place, form)),
        };
        let Form::Text(name) = &file.value.form else {
            return Err(Problem::at(file.place, form));
        };
        if let Some(known) = tcplib::named(name) {
            return as_written(known, interpolation, scale).map_err(|p| Problem::at(how.place, p));
        }
        let text = self.text_of(name, file.place)?;
        let unit = scale.quantity.natural();
        let table = Table::read(name, interpolation, &text, unit);
        table.map(Law::Table).map_err(|cause| Problem::at(file.place, cause))
    }

    /// The text of a file that is named at a place. What it lacks is no reason to refuse it, and has to be known.
    fn text_of(&mut self, name: &str, place: Place) -> Result<String, Problem> {
        let FileText { text, lacks } =
            (self.files)(name).map_err(|cause| Problem::at(place, cause))?;
        for lack in lacks {
            let warning = Problem::at(place, format!("{name}: {lack}"));
            // A value of a matrix is read for each test that takes it.
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        Ok(text)
    }

    /// A call of a shape: `full(...)`, or a model.
    pub(in crate::traffic) fn call(&mut self, tree: &Tree) -> Result<Call, Problem> {
        let Form::Call(name, parts) = &tree.form else {
            let legal = call::shapes();
            return Err(Problem::at(tree.place, format!("wanted a type; write {legal}")));
        };
        let shape = call::shape(name).ok_or_else(|| {
            let legal = call::shapes();
            Problem::at(tree.place, format!("unknown type \"{name}\"; write {legal}"))
        })?;
        let mut call = Call::plain(shape);
        for part in parts {
            let parameter = parameter(&call, part)?;
            let value = self.argument(parameter, &part.value)?;
            if call.written(parameter.name).is_some() {
                let cause = format!("{} is written twice", parameter.name);
                return Err(Problem::at(part.place, cause));
            }
            call.set(parameter, value);
        }
        let needed = |parameter: &&Parameter| matches!(parameter.takes, Takes::Needed(_));
        let missing = shape.parameters.iter().filter(needed);
        let missing = missing.into_iter().find(|one| call.written(one.name).is_none());
        if let Some(parameter) = missing {
            let cause = format!("{name}: {} is missing: {}", parameter.name, parameter.about);
            return Err(Problem::at(tree.place, cause));
        }
        let Some((small, cause)) = call.conflict() else { return Ok(call) };
        let written = parts.iter().find(|part| part.label == named_label(small));
        Err(Problem::at(written.map_or(tree.place, |part| part.value.place), cause))
    }

    /// A value for a parameter of a shape.
    pub(in crate::traffic) fn argument(
        &mut self,
        parameter: &'static Parameter,
        tree: &Tree,
    ) -> Result<Argument, Problem> {
        let name = parameter.name;
        match (parameter.takes, &tree.form) {
            (Takes::Word(words), Form::Call(word, none)) if none.is_empty() => {
                let found = words.iter().find(|legal| *legal == word);
                found.map(|word| Argument::Word(word)).ok_or_else(|| {
                    let legal = words.join(", ");
                    Problem::at(tree.place, format!("{name} = \"{word}\"; write one of {legal}"))
                })
            }
            (Takes::Word(words), _) => {
                Err(Problem::at(tree.place, format!("{name}: write one of {}", words.join(", "))))
            }
            (Takes::File(read), Form::Text(file)) => {
                let text = self.text_of(file, tree.place)?;
                let content = read(&text)
                    .map_err(|cause| Problem::at(tree.place, format!("{file}{cause}")))?;
                Ok(Argument::File(file.clone(), content))
            }
            (Takes::File(_), _) => {
                Err(Problem::at(tree.place, format!("{name}: write the name of a file in \"\"")))
            }
            (
                Takes::Fixed(quantity)
                | Takes::Needed(quantity)
                | Takes::Optional(quantity)
                | Takes::Value(quantity),
                _,
            ) => {
                let value = self.variate(tree, quantity, name)?;
                match parameter.refusal(&value) {
                    None => Ok(Argument::Value(value)),
                    Some(cause) => Err(Problem::at(tree.place, cause)),
                }
            }
        }
    }
}

fn parameter(call: &Call, part: &Part) -> Result<&'static Parameter, Problem> {
    let shape = call.shape();
    let legal = || shape.parameters.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
    let Label::Name(name) = &part.label else {
        let cause = format!("{}: write NAME=VALUE with one of {}", shape.name, legal());
        return Err(Problem::at(part.place, cause));
    };
    shape.parameter(name).ok_or_else(|| {
        let cause = format!("{} has no parameter \"{name}\"; write {}", shape.name, legal());
        Problem::at(part.place, cause)
    })
}

/// A table of tcplib by its name, where how values between two rows are distributed is said as it is.
fn as_written(known: &Law, asked: Interpolation, scale: Scale) -> Result<Law, String> {
    let is_so = matches!(known, Law::Table(table) if table.interpolation == asked);
    let told = || format!("write {}", Variate::new(known.clone(), scale.quantity));
    is_so.then(|| known.clone()).ok_or_else(told)
}

/// Half a year in nanoseconds, 16 PB: what [`Quantity::bound_of_means`] says.
const LARGEST: f64 = 1.6e16;
