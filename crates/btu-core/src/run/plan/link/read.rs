//! The link of a plan, read: each element by the parser of `btu link`, in its canonical text.

use std::slice::from_ref;

use toml::Spanned;

use super::Elements;
use super::LinkPlan;
use super::RawLink;
use super::raw::RawElements;
use super::raw::RawLists;
use crate::link::ChainSpec;
use crate::link::ELEMENTS;
use crate::link::Pattern;
use crate::link::Reader as OfElements;
use crate::run::plan::PlanError;
use crate::run::plan::bounds;
use crate::run::plan::text::Reader;
use crate::units::Nanos;

/// A key of the link, and what it may say.
struct Key<'k> {
    name: &'static str,
    /// What all cells have beside it.
    line: &'k Elements,
}

impl Reader<'_> {
    /// The link of a plan.
    pub(in crate::run::plan) fn link(&self, raw: &RawLink) -> Result<LinkPlan, PlanError> {
        let none = Elements::default();
        let rate = match &raw.rate {
            None => none.clone(),
            Some(given) => self.rate(given, &Key { name: RATE, line: &none })?,
        };
        let delay = Key { name: "link.delay", line: &rate };
        let drop = Key { name: "link.drop", line: &rate };
        Ok(LinkPlan {
            delay: self.delay(raw.delay.as_ref(), &delay)?,
            drop: self.drop(raw.drop.as_ref(), &drop)?,
            rate,
        })
    }

    /// A time or an element, which act both ways, or lists.
    fn delay(
        &self,
        given: Option<&Spanned<RawElements>>,
        key: &Key<'_>,
    ) -> Result<Elements, PlanError> {
        let given = given.ok_or_else(|| self.unwritten(key.name))?;
        match given.get_ref() {
            RawElements::Lists(lists) => self.lists(lists, key),
            RawElements::Text(text) if is_element(text) => {
                let one = of(given, text);
                let up = self.list(from_ref(&one), key.name, &key.line.up)?;
                let down = self.list(from_ref(&one), key.name, &key.line.down)?;
                Ok(Elements { up, down })
            }
            RawElements::Text(text) => {
                let text = Some(of(given, text));
                let time = self.time(key.name, &text, &bounds::DELAY)?;
                Ok(Elements::both(format!("delay {time}")))
            }
        }
    }

    /// A pattern or an element, which act on what arrives at the black boxes, or lists.
    fn drop(
        &self,
        given: Option<&Spanned<RawElements>>,
        key: &Key<'_>,
    ) -> Result<Elements, PlanError> {
        let remedy = "write drop = \"1@200,3@400/400\"";
        let given = given.ok_or_else(|| self.missing(key.name, remedy))?;
        match given.get_ref() {
            RawElements::Lists(lists) => self.lists(lists, key),
            RawElements::Text(text) if is_element(text) => {
                let up = self.list(&[of(given, text)], key.name, &key.line.up)?;
                Ok(Elements { up, down: Vec::new() })
            }
            RawElements::Text(text) => {
                let pattern = self.value::<Pattern>(key.name, &of(given, text))?;
                Ok(Elements::up(format!("drop {pattern}")))
            }
        }
    }

    /// A line that both directions have, or one of each.
    fn rate(&self, given: &Spanned<RawElements>, key: &Key<'_>) -> Result<Elements, PlanError> {
        match given.get_ref() {
            RawElements::Lists(lists) => {
                for (way, texts) in [("up", &lists.up), ("down", &lists.down)] {
                    let name = format!("{}.{way}", key.name);
                    texts.iter().try_for_each(|text| self.is_rate(&name, text))?;
                }
                self.lists(lists, key)
            }
            RawElements::Text(text) => {
                let text = of(given, text);
                self.is_rate(key.name, &text)?;
                let up = self.list(&[text], key.name, &[])?;
                Ok(Elements { down: up.clone(), up })
            }
        }
    }

    /// A line is written with its name; what lacks it is told how it is written, or what else is wrong with it.
    fn is_rate(&self, key: &str, text: &Spanned<String>) -> Result<(), PlanError> {
        let given = text.get_ref();
        if is_line(given) {
            return Ok(());
        }
        let named = format!("rate {given}");
        let cause = match ChainSpec::as_given(&[&named], &OfElements::PLAN) {
            _ if is_element(given) => "write \"rate 10Mbit/s queue 100ms\"".to_owned(),
            Err(cause) => cause.to_string(),
            Ok(line) => {
                let line = line.texts().concat();
                format!("a link element begins with its name; write \"{line}\"")
            }
        };
        Err(self.illegal(key, text, &cause))
    }

    /// The elements of both directions, of which there is one at least.
    fn lists(&self, lists: &RawLists, key: &Key<'_>) -> Result<Elements, PlanError> {
        if lists.up.is_empty() && lists.down.is_empty() {
            let remedy = "list at least one element, up or down";
            return Err(self.missing(key.name, remedy));
        }
        Ok(Elements {
            up: self.list(&lists.up, &format!("{}.up", key.name), &key.line.up)?,
            down: self.list(&lists.down, &format!("{}.down", key.name), &key.line.down)?,
        })
    }

    /// The elements of one direction, beside the line that all cells have: in canonical texts, in the order of traversal.
    fn list(
        &self,
        texts: &[Spanned<String>],
        key: &str,
        line: &[String],
    ) -> Result<Vec<String>, PlanError> {
        let mut delay = Nanos::ZERO;
        let mut all: Vec<String> = Vec::new();
        for text in texts {
            let spec = ChainSpec::as_given(&[text.get_ref()], &OfElements::PLAN);
            let spec = spec.map_err(|cause| self.illegal(key, text, &cause.to_string()))?;
            let lines = line.iter().chain(&all).any(|other| is_line(other));
            if key != RATE && is_line(text.get_ref()) && is_shared(text.get_ref()) {
                let rule = "a shared line is that of all cells and both ways: write rate = \"rate ... shared NAME\"";
                return Err(self.illegal(key, text, rule));
            }
            if lines && is_line(text.get_ref()) {
                let rule = "a direction has one line: give one of them";
                return Err(self.illegal(key, text, rule));
            }
            delay = delay.saturating_add(spec.wait());
            self.is_short(key, text, delay)?;
            all.extend(spec.texts());
        }
        Ok(ChainSpec::in_order(all))
    }

    /// What packets wait in the elements of a direction up to this one is within the bound of a plan's delay.
    fn is_short(&self, key: &str, text: &Spanned<String>, sum: Nanos) -> Result<(), PlanError> {
        let most = *self.purpose.widened(&bounds::DELAY).end();
        if sum <= most {
            return Ok(());
        }
        let cause = format!("packets of a direction may wait {sum} in all; {most} is the most");
        Err(self.illegal(key, text, &cause))
    }
}

/// The text with its place.
fn of(given: &Spanned<RawElements>, text: &str) -> Spanned<String> {
    Spanned::new(given.span(), text.to_owned())
}

const RATE: &str = "link.rate";

fn is_shared(line: &str) -> bool {
    line.split_whitespace().any(|word| word == "shared")
}

/// True of what begins as an element does, and of no time or pattern.
fn is_element(text: &str) -> bool {
    let first = text.split_whitespace().next();
    ELEMENTS.iter().any(|kind| Some(kind.option()) == first)
}

fn is_line(text: &str) -> bool {
    text.split_whitespace().next() == Some("rate")
}
