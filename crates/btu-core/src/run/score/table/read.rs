//! A table of cells in JSON: from text to figures, each error with its place.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::btree_map::Entry;

use serde_json::Value;

use super::names::ACTIVITIES;
use super::names::OfResult;
use super::names::idle_flag;
use super::names::meant_none;
use super::names::unknown_activity;
use super::object::DOCUMENT;
use super::object::Object;
use super::object::as_object;
use crate::json;
use crate::run::cell::Case;
use crate::run::score::Figure;
use crate::words::several;

/// A table that cannot be scored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// Two figures of one cell cannot both be true.
    #[error("{place}: {cause}")]
    Contradiction {
        /// `cells[3] (SEND/audio/cpu, repeat 2)`.
        place: String,
        /// The figures, and what was expected of them.
        cause: String,
    },
    /// A key that must be there is not.
    #[error("{place}: {key} is missing; {remedy}")]
    Missing {
        /// The object.
        place: String,
        /// The key.
        key: String,
        /// What to write.
        remedy: String,
    },
    /// The text is no JSON.
    #[error("line {line}, column {column}: {cause}")]
    Syntax {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What the parser says.
        cause: String,
    },
    /// A key that no table has.
    #[error("{place}: unknown key \"{key}\"; legal keys: {legal}")]
    UnknownKey {
        /// The object.
        place: String,
        /// The key.
        key: String,
        /// The keys that a table may have there.
        legal: String,
    },
    /// A value is not legal.
    #[error("{place}: {value}: {legal}")]
    Value {
        /// `cells[3].seconds`.
        place: String,
        /// What was written.
        value: String,
        /// What would be legal.
        legal: String,
    },
}

/// The rows of a table.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) runs: Vec<Figure>,
    /// The message size of each application, where the table says it.
    pub(super) message_bytes: BTreeMap<String, u64>,
    pub(super) warnings: Vec<String>,
    /// Of a `result.json`.
    pub(super) result: Option<OfResult>,
}

/// Reads a table, or a whole `result.json`.
pub(super) fn table(text: &str) -> Result<Table, TableError> {
    let document = json::read(text.as_bytes()).map_err(|error| syntax(&error))?;
    let object = Object { place: DOCUMENT.into(), map: as_object(DOCUMENT, &document)? };
    let is_result = object.map.contains_key("schema_version");
    if is_result {
        refuse_other_documents(&object)?;
    } else {
        object.refuse_others(TABLE_KEYS)?;
    }
    let bases = Bases::read(&object, is_result)?;
    if object.value("cells").is_none() {
        return Err(object.missing("cells", "write \"cells\": [{\"case\": \"SEND\", ...}]"));
    }
    let rows = object.list("cells")?;
    let sizes = sizes_of_result(&object)?;
    let mut reader = Reader {
        bases,
        sizes,
        is_result,
        seen: BTreeMap::new(),
        left_out: 0,
        censored: 0,
        idle_flags: BTreeSet::new(),
        unknown: BTreeSet::new(),
    };
    let runs: Vec<Option<Figure>> =
        rows.iter().enumerate().map(|(at, row)| reader.row(at, row)).collect::<Result<_, _>>()?;
    let runs: Vec<Figure> = runs.into_iter().flatten().collect();
    if runs.is_empty() {
        let (place, value) = ("cells".to_owned(), format!("{} rows that count", runs.len()));
        return Err(TableError::Value { place, value, legal: "at least one row".into() });
    }
    let partial = object.value("partial").and_then(Value::as_bool).unwrap_or(false);
    let result =
        is_result.then(|| OfResult { partial, reasons: object.texts("not_rankable_reasons") });
    Ok(Table { runs, warnings: reader.warnings(), message_bytes: reader.sizes, result })
}

fn syntax(error: &serde_json::Error) -> TableError {
    let text = error.to_string();
    let cause = text.split(" at line ").next().unwrap_or_default().to_owned();
    TableError::Syntax { line: error.line(), column: error.column(), cause }
}

/// A document with a version is the result of a run, of a version that this program knows: keys of
/// another major version mean something else, and other verbs have cells of another kind.
fn refuse_other_documents(document: &Object<'_>) -> Result<(), TableError> {
    let refused = |key: &str, value: &Value, legal: String| {
        let (place, value) = (key.to_owned(), value.to_string());
        Err(TableError::Value { place, value, legal })
    };
    if let Some(verb) = document.value("verb") {
        let legal = "only the result.json of btu run, and tables, have a score".to_owned();
        return refused("verb", verb, legal);
    }
    let version = document.map.get("schema_version").unwrap_or(&Value::Null);
    let mut numbers = version.as_str().into_iter().flat_map(|text| text.split('.'));
    let major = numbers.next().and_then(|number| number.parse::<u32>().ok());
    if major == Some(RESULT_MAJOR) {
        return Ok(());
    }
    let legal =
        format!("results of version {RESULT_MAJOR}.0.0 and later {RESULT_MAJOR}.x are read");
    refused("schema_version", version, legal)
}

/// The message sizes of a `result.json`, which stand in its list of applications.
fn sizes_of_result(document: &Object<'_>) -> Result<BTreeMap<String, u64>, TableError> {
    let list = document.value("applications").and_then(Value::as_array);
    let mut sizes = BTreeMap::new();
    for (at, one) in list.into_iter().flatten().enumerate() {
        let place = format!("applications[{at}]");
        let one = Object { map: as_object(&place, one)?, place };
        let size = one.whole("message_bytes")?;
        sizes.extend(size.map(|size| Ok((one.text("name")?, size))).transpose()?);
    }
    Ok(sizes)
}

/// The rates of the activities alone.
#[derive(Debug, Default)]
struct Bases {
    /// For all repeats: `activities_base`.
    common: BTreeMap<String, f64>,
    /// Of one repeat: `activities`, by activity and repeat. A run that failed has no rate.
    of_repeat: BTreeMap<String, BTreeMap<u64, Option<f64>>>,
}

impl Bases {
    fn read(document: &Object<'_>, is_result: bool) -> Result<Self, TableError> {
        let mut bases = Self::default();
        if let Some(value) = document.value("activities_base") {
            let map = as_object("activities_base", value)?;
            let rates = Object { place: "activities_base".into(), map };
            for name in map.keys() {
                let rate = rates.positive(name, "units per second")?;
                bases.common.extend(rate.map(|rate| (name.clone(), rate)));
            }
        }
        for (at, run) in document.list("activities")?.iter().enumerate() {
            let place = format!("activities[{at}]");
            let run = Object { map: as_object(&place, run)?, place };
            bases.of_one_repeat(run, is_result)?;
        }
        Ok(bases)
    }

    /// One run of an activity alone. Of a result it may have failed, and then has no rate.
    fn of_one_repeat(&mut self, mut run: Object<'_>, is_result: bool) -> Result<(), TableError> {
        if !is_result {
            run.refuse_others(ACTIVITY_KEYS)?;
        }
        let rate = run.positive("rate_per_s", "units per second")?;
        if rate.is_none() && !is_result {
            return Err(
                run.missing("rate_per_s", "write its units per second, or leave the row out")
            );
        }
        let (activity, repeat) = (run.text("activity")?, run.whole("repeat")?.unwrap_or(1));
        run.place = format!("{} ({activity}, repeat {repeat})", run.place);
        match self.of_repeat.entry(activity).or_default().entry(repeat) {
            Entry::Occupied(_) => Err(run.contradiction(
                "this activity and repeat stand in the table twice; leave one of them out",
            )),
            Entry::Vacant(place) => {
                place.insert(rate);
                Ok(())
            }
        }
    }

    /// The base of the same repeat; the common one where the activity has no repeats of its own.
    fn of(&self, activity: &str, repeat: u64) -> Option<f64> {
        match self.of_repeat.get(activity) {
            Some(repeats) => repeats.get(&repeat).copied().flatten(),
            None => self.common.get(activity).copied(),
        }
    }

    /// The activities that have a rate alone.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.common.keys().chain(self.of_repeat.keys()).map(String::as_str)
    }

    /// What to write so that there is one.
    fn remedy(&self, activity: &str, repeat: u64) -> String {
        let place = if self.of_repeat.contains_key(activity) {
            format!("a row of {activity}, repeat {repeat}, in activities")
        } else {
            format!("activities_base.{activity}")
        };
        format!("the rate beside COMM needs {place} to be compared with")
    }
}

/// The repeats of one cell that were read.
#[derive(Debug, Default)]
struct Repeats {
    numbers: BTreeSet<u64>,
    /// All up to this one are taken.
    counted: u64,
}

impl Repeats {
    /// The first number that no row has.
    fn next(&mut self) -> u64 {
        while self.numbers.contains(&(self.counted + 1)) {
            self.counted += 1;
        }
        self.counted + 1
    }
}

/// Reads the rows one by one.
#[derive(Debug)]
struct Reader {
    bases: Bases,
    sizes: BTreeMap<String, u64>,
    is_result: bool,
    /// The repeats of each cell.
    seen: BTreeMap<String, Repeats>,
    left_out: usize,
    /// Rows that are bounds.
    censored: usize,
    /// Flags that change no figure.
    idle_flags: BTreeSet<String>,
    /// Activities that nothing says a word of.
    unknown: BTreeSet<String>,
}

impl Reader {
    /// The figure of one row; `None` for one that counts for no composite.
    fn row(&mut self, at: usize, row: &Value) -> Result<Option<Figure>, TableError> {
        let place = format!("cells[{at}]");
        let mut cell = Object { map: as_object(&place, row)?, place };
        if !self.is_result {
            cell.refuse_others(CELL_KEYS)?;
        }
        let (case, application) = (cell.text("case")?, cell.text("application")?);
        let activity = cell.text("activity")?;
        case.parse::<Case>().map_err(|error| cell.illegal("case", &case, &error.to_string()))?;
        let name = format!("{case}/{application}/{activity}");
        let repeat = self.repeat(&mut cell, &name)?;
        self.size(&cell, &application)?;
        let goodput_mbps = cell.goodput()?;
        let slowdown = self.slowdown(&cell, &activity, repeat)?;
        if !self.is_result && !self.knows(&activity) {
            // Who gives a slowdown means a loaded host.
            if let Some(legal) = meant_none(&activity).filter(|_| slowdown.is_none()) {
                return Err(cell.illegal("activity", &activity, &legal));
            }
            self.unknown.insert(activity.clone());
        }
        if cell.is_of_incomplete_pass() {
            self.left_out += 1;
            return Ok(None);
        }
        if !self.is_result {
            self.idle_flags.extend(cell.flags()?);
        }
        self.censored += usize::from(cell.is_censored());
        Ok(Some(Figure { case, application, activity, repeat, goodput_mbps, slowdown }))
    }

    /// True for an activity of the editions, and for one that has a rate alone.
    fn knows(&self, activity: &str) -> bool {
        activity == "none"
            || ACTIVITIES.contains(&activity)
            || self.bases.names().any(|name| name == activity)
    }

    /// The number of the repeat; rows without one are counted. Names the cell in its place.
    fn repeat(&mut self, cell: &mut Object<'_>, name: &str) -> Result<u64, TableError> {
        let given = cell.whole("repeat")?;
        let seen = self.seen.entry(name.to_owned()).or_default();
        let repeat = given.unwrap_or_else(|| seen.next());
        cell.place = format!("{} ({name}, repeat {repeat})", cell.place);
        if !seen.numbers.insert(repeat) {
            return Err(cell.contradiction("this cell and repeat stand in the table twice"));
        }
        Ok(repeat)
    }

    /// Keeps the message size of the row's class, which is one for all its rows.
    fn size(&mut self, cell: &Object<'_>, application: &str) -> Result<(), TableError> {
        let Some(size) = cell.whole("message_bytes")? else { return Ok(()) };
        let known = *self.sizes.entry(application.to_owned()).or_insert(size);
        if known == size {
            return Ok(());
        }
        let cause = format!("message_bytes = {size}, but another row of {application} has {known}");
        Err(cell.contradiction(&cause))
    }

    fn slowdown(
        &self,
        cell: &Object<'_>,
        activity: &str,
        repeat: u64,
    ) -> Result<Option<f64>, TableError> {
        let given = cell.positive("slowdown", "base rate / loaded rate")?;
        let rate = cell.loaded_rate()?;
        if activity == "none" {
            return cell.baseline(given, rate).map(|()| None);
        }
        let Some(rate) = rate else { return Ok(given) };
        match (given, self.bases.of(activity, repeat)) {
            (given, Some(base)) => cell.agreed_slowdown(given, base, rate).map(Some),
            (Some(given), None) => Ok(Some(given)),
            (None, None) if self.is_result => Ok(None),
            (None, None) => Err(cell.missing("slowdown", &self.bases.remedy(activity, repeat))),
        }
    }

    fn warnings(&self) -> Vec<String> {
        let rows = several(self.left_out, "row");
        let left_out = format!("{rows} of an incomplete pass left out");
        let left_out = (self.left_out > 0).then_some(left_out);
        let censored = (self.censored > 0).then(|| {
            let rows = several(self.censored, "row");
            format!(
                "CENSORED: {rows} met a cap, failed, or had an activity that finished nothing: the figures are bounds"
            )
        });
        let idle = self.idle_flags.iter().map(|name| idle_flag(name));
        let unknown = self.unknown.iter().map(|name| unknown_activity(name));
        left_out.into_iter().chain(censored).chain(idle).chain(unknown).collect()
    }
}

/// The version of the results whose keys are read here.
const RESULT_MAJOR: u32 = 1;

const TABLE_KEYS: &[&str] = &["activities_base", "activities", "cells", "name", "note", "$schema"];

const ACTIVITY_KEYS: &[&str] = &["activity", "repeat", "rate_per_s", "note"];

const CELL_KEYS: &[&str] = &[
    "case",
    "application",
    "activity",
    "repeat",
    "bits",
    "seconds",
    "goodput_mbps",
    "slowdown",
    "activity_rate_per_s",
    "activity_rate",
    "message_bytes",
    "flags",
    "note",
];
