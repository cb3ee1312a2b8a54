//! Single values of a plan: text to quantities with their place, and a plan back to its text.

use std::fmt::Display;
use std::fmt::Write;
use std::str::FromStr;

use toml::Spanned;

use super::Amount;
use super::Elements;
use super::LinkPlan;
use super::Plan;
use super::PlanError;
use super::TestbedClass;
use super::Vocabulary;
use super::Work;
use super::bounds::Purpose;
use super::error::Source;
use crate::run::cell::ActivityName;

/// Reads the values of one file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'r> {
    pub(super) source: Source<'r>,
    pub(super) words: &'r Vocabulary<'r>,
    pub(super) purpose: Purpose,
}

impl Reader<'_> {
    /// A value that must be legal.
    pub(super) fn value<T: FromStr<Err: Display>>(
        &self,
        key: &str,
        text: &Spanned<String>,
    ) -> Result<T, PlanError> {
        text.get_ref().parse().map_err(|cause: T::Err| self.illegal(key, text, &cause.to_string()))
    }

    /// A value that must be given.
    pub(super) fn required<T: FromStr<Err: Display>>(
        &self,
        key: &str,
        text: Option<&Spanned<String>>,
    ) -> Result<T, PlanError> {
        let given = text.ok_or_else(|| self.unwritten(key))?;
        self.value(key, given)
    }

    /// A single word: a name that the kernel will judge.
    pub(super) fn word(
        &self,
        key: &str,
        text: Option<&Spanned<String>>,
    ) -> Result<Option<String>, PlanError> {
        let legal = |word: &str| {
            !word.is_empty()
                && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        };
        match text {
            Some(given) if !legal(given.get_ref()) => {
                Err(self.illegal(key, given, "write one word, such as \"cubic\""))
            }
            given => Ok(given.map(|word| word.get_ref().clone())),
        }
    }

    /// An activity of this build.
    pub(super) fn activity(&self, text: &Spanned<String>) -> Result<ActivityName, PlanError> {
        let known = self.words.activities;
        if known.contains(&text.get_ref().as_str()) {
            return Ok(ActivityName::new(text.get_ref()));
        }
        let cause = format!("unknown activity; write {}", known.join(", "));
        Err(self.illegal("matrix.activities", text, &cause))
    }

    /// The class of the testbed.
    pub(super) fn testbed_class(
        &self,
        text: Option<&Spanned<String>>,
    ) -> Result<TestbedClass, PlanError> {
        let Some(given) = text else { return Ok(TestbedClass::Local) };
        TestbedClass::named(given.get_ref()).ok_or_else(|| {
            let all = TestbedClass::ALL.map(TestbedClass::name).join(", ");
            let cause = format!("unknown testbed class; write {all}");
            self.illegal("testbed_class", given, &cause)
        })
    }

    /// An axis of the matrix needs at least one entry.
    pub(super) fn not_empty(
        &self,
        key: &str,
        is_empty: bool,
        known: &[&str],
    ) -> Result<(), PlanError> {
        // A result of an edition that this build does not have: nobody knows what it could list.
        let known = if known.is_empty() { "" } else { &format!(", such as {}", known.join(", ")) };
        let remedy = format!("list at least one{known}");
        if is_empty { Err(self.missing(key, &remedy)) } else { Ok(()) }
    }

    /// A value that is not legal.
    pub(super) fn illegal(&self, key: &str, text: &Spanned<String>, cause: &str) -> PlanError {
        PlanError::Illegal {
            place: self.source.place(text.span()),
            key: key.to_owned(),
            value: format!("\"{}\"", text.get_ref()),
            cause: cause.to_owned(),
        }
    }

    /// A number that is not legal.
    pub(super) fn illegal_number(
        &self,
        key: &str,
        number: &Spanned<u32>,
        cause: &str,
    ) -> PlanError {
        PlanError::Illegal {
            place: self.source.place(number.span()),
            key: key.to_owned(),
            value: number.get_ref().to_string(),
            cause: cause.to_owned(),
        }
    }

    /// A value without which there is no plan.
    pub(super) fn unwritten(&self, key: &str) -> PlanError {
        self.missing(key, "write it into the plan")
    }

    /// A value that must be given is not.
    pub(super) fn missing(&self, key: &str, remedy: &str) -> PlanError {
        PlanError::Missing {
            place: self.source.name.to_owned(),
            key: key.to_owned(),
            remedy: remedy.to_owned(),
        }
    }
}

impl Plan {
    /// The canonical text: every value written out, so that `--plan` on it repeats the run.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        self.write_head(&mut out);
        self.write_matrix(&mut out);
        self.write_tables(&mut out);
        out
    }

    fn write_head(&self, out: &mut String) {
        let texts = [
            ("edition", self.edition.as_str()),
            ("edition_hash", &self.edition_hash),
            ("preset", &self.preset),
            ("testbed_class", self.testbed_class.name()),
        ];
        for (key, value) in texts {
            put(out, key, value);
        }
        if let Some(partial) = self.partial {
            let _ = writeln!(out, "partial = {partial}");
        }
        let _ = writeln!(out, "seed = {}", self.seed);
    }

    fn write_matrix(&self, out: &mut String) {
        let list = |items: Vec<String>| items.join(", ");
        let cases = list(self.cases.iter().map(quoted).collect());
        let activities = list(self.activities.iter().map(quoted).collect());
        let applications = self.applications.iter().map(|a| {
            format!("{{ name = {}, message = {} }}", quoted(&a.name), quoted(a.message_bytes))
        });
        let applications = list(applications.collect());
        let _ = write!(
            out,
            "\n[matrix]\ncases = [{cases}]\napplications = [{applications}]\nactivities = [{activities}]\n"
        );
    }

    fn write_tables(&self, out: &mut String) {
        out.push_str("\n[time]\n");
        match self.amount {
            Amount::Fixed(amount) => put(out, "amount", amount),
            Amount::Window(window) => put(out, "window", window),
        }
        put(out, "work", if self.work == Work::Steady { "steady" } else { "calibrated" });
        put(out, "lead_in", self.lead_in);
        put(out, "alone", self.alone_window);
        put(out, "repeat_allowance", self.repeat_allowance);
        let _ = write!(out, "\n[passes]\nmin = {}\nmax = {}\n", self.passes.min, self.passes.max);
        put(out, "budget", self.passes.budget);
        put(out, "half_width", self.passes.half_width);
        out.push_str("\n[link]\n");
        let LinkPlan { delay, drop, rate } = &self.link;
        put_elements(out, "delay", self.link.usual_delay(), delay);
        put_elements(out, "drop", self.link.usual_drop(), drop);
        if self.link.has_line() {
            put_elements(out, "rate", self.link.usual_rate(), rate);
        }
        out.push_str("\n[sockets]\n");
        put_some(out, "congestion", self.sockets.congestion.as_ref());
        put_some(out, "black_box_buffer", self.sockets.black_box_buffer);
        put_some(out, "black_box_window_clamp", self.sockets.black_box_window_clamp);
        self.write_calls(out);
        out.push_str("\n[activity]\n");
        put_some(out, "cpu_threads", self.activity.cpu_threads);
        put(out, "io_file", self.activity.io_file);
        put(out, "ftp_transfer", self.activity.ftp_transfer);
        out.push_str("\n[capture]\n");
        put(out, "cells", self.captured);
    }

    /// Nothing of the calls and the placement of every edition, which older programs know no words for.
    fn write_calls(&self, out: &mut String) {
        let (has_calls, is_placed) = (!self.comm.is_default(), !self.placement.is_split());
        if has_calls || is_placed {
            out.push_str("\n[comm]\n");
        }
        if has_calls {
            put(out, "write", self.comm.write);
            put(out, "test_read", self.comm.test_read);
            put(out, "black_box_read", self.comm.black_box_read);
        }
        if is_placed {
            put(out, "placement", self.placement);
        }
    }
}

/// `key = "value"`
fn put(out: &mut String, key: &str, value: impl Display) {
    let _ = writeln!(out, "{key} = {}", quoted(value));
}

/// `key = "value"`, or nothing.
fn put_some(out: &mut String, key: &str, value: Option<impl Display>) {
    if let Some(value) = value {
        put(out, key, value);
    }
}

/// A key of the link: its usual text, or the lists of both directions.
fn put_elements(out: &mut String, key: &str, usual: Option<&str>, elements: &Elements) {
    let list = |texts: &[String]| texts.iter().map(quoted).collect::<Vec<_>>().join(", ");
    let Elements { up, down } = elements;
    match usual {
        Some(usual) => put(out, key, usual),
        None => {
            let _ = writeln!(out, "{key} = {{ up = [{}], down = [{}] }}", list(up), list(down));
        }
    }
}

/// A TOML string.
fn quoted(value: impl Display) -> String {
    toml::Value::String(value.to_string()).to_string()
}
