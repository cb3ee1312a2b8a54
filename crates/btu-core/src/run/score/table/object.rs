//! An object of a table in JSON: its values by key, each legal or refused with its place.

use serde_json::Map;
use serde_json::Value;

use super::read::TableError;
use crate::run::analysis::INCOMPLETE_PASS;
use crate::words::slip_of;

/// The place of the outermost object.
pub(super) const DOCUMENT: &str = "the document";

/// A JSON object and where it stands.
#[derive(Debug)]
pub(super) struct Object<'v> {
    pub(super) place: String,
    pub(super) map: &'v Map<String, Value>,
}

/// The rate of an activity beside COMM.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadedRate {
    /// The key that it was written by.
    key: &'static str,
    per_s: f64,
}

impl Object<'_> {
    /// The value of a key; `null` is as good as absent.
    pub(super) fn value(&self, key: &str) -> Option<&Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, key: &str) -> Result<String, TableError> {
        match self.value(key) {
            Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
            Some(other) => Err(self.illegal(key, &other.to_string(), "a name is expected")),
            None => Err(self.missing(key, "write its name")),
        }
    }

    /// A number above zero, where there is one. Beyond these bounds nothing is measured, and quotients and means
    /// would be more than a number can hold.
    pub(super) fn positive(&self, key: &str, unit: &str) -> Result<Option<f64>, TableError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let number = value.as_f64().filter(|number| (LEAST..=MOST).contains(number));
        let legal = format!("a number above 0 is expected ({unit}), {LEAST:e} to {MOST:e}");
        number.map(Some).ok_or_else(|| self.illegal(key, &value.to_string(), &legal))
    }

    /// `bits` or `seconds`, whose names are their units.
    fn needed(&self, key: &str) -> Result<f64, TableError> {
        self.positive(key, key)?
            .ok_or_else(|| self.missing(key, "write bits and seconds, or goodput_mbps alone"))
    }

    /// A whole number from 1, where there is one.
    pub(super) fn whole(&self, key: &str) -> Result<Option<u64>, TableError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let number = value.as_u64().filter(|number| *number > 0);
        let legal = "a whole number from 1 is expected";
        number.map(Some).ok_or_else(|| self.illegal(key, &value.to_string(), legal))
    }

    /// A list, empty where there is none.
    pub(super) fn list(&self, key: &str) -> Result<&[Value], TableError> {
        match self.value(key) {
            None => Ok(&[]),
            Some(Value::Array(values)) => Ok(values),
            Some(other) => Err(self.illegal(key, &shortened(other), "a list [...] is expected")),
        }
    }

    /// bits / seconds in Mb/s; a goodput that stands beside them must agree, or stands alone.
    pub(super) fn goodput(&self) -> Result<f64, TableError> {
        let given = self.positive("goodput_mbps", "Mb/s")?;
        if let (Some(given), None, None) = (given, self.value("bits"), self.value("seconds")) {
            return Ok(given);
        }
        let (bits, seconds) = (self.needed("bits")?, self.needed("seconds")?);
        let computed = bits / seconds / 1e6;
        match given {
            Some(given) if !agree(given, computed) => Err(self.contradiction(&format!(
                "goodput_mbps = {given}, but bits / seconds = {bits} / {seconds} s = {computed} Mb/s"
            ))),
            _ => Ok(computed),
        }
    }

    /// The rate of the activity, by the name that results write, or by the short one of tables.
    pub(super) fn loaded_rate(&self) -> Result<Option<LoadedRate>, TableError> {
        let mut found: Option<LoadedRate> = None;
        for key in RATE_KEYS {
            let Some(per_s) = self.positive(key, "units per second")? else { continue };
            match found {
                Some(LoadedRate { key: other, per_s: first }) if !agree(per_s, first) => {
                    let cause =
                        format!("{key} = {per_s}, but {other} = {first}: they are one rate");
                    return Err(self.contradiction(&cause));
                }
                Some(_) => {}
                None => found = Some(LoadedRate { key, per_s }),
            }
        }
        Ok(found)
    }

    pub(super) fn agreed_slowdown(
        &self,
        given: Option<f64>,
        base: f64,
        LoadedRate { key, per_s: rate }: LoadedRate,
    ) -> Result<f64, TableError> {
        let computed = base / rate;
        match given {
            Some(given) if !agree(given, computed) => Err(self.contradiction(&format!(
                "slowdown = {given}, but base / {key} = {base} / {rate} = {computed}"
            ))),
            _ => Ok(computed),
        }
    }

    /// A baseline has no activity that could be slower or have a rate.
    pub(super) fn baseline(
        &self,
        slowdown: Option<f64>,
        rate: Option<LoadedRate>,
    ) -> Result<(), TableError> {
        if let Some(slowdown) = slowdown.filter(|slowdown| !agree(*slowdown, 1.0)) {
            let cause = format!("slowdown = {slowdown}, but activity none cannot be slowed");
            return Err(self.contradiction(&cause));
        }
        rate.map_or(Ok(()), |LoadedRate { key, per_s }| {
            let cause = format!("{key} = {per_s}, but activity none does nothing");
            Err(self.contradiction(&cause))
        })
    }

    /// True for a run that its own result leaves out of every composite.
    pub(super) fn is_of_incomplete_pass(&self) -> bool {
        self.has_flag(INCOMPLETE_PASS)
    }

    /// True for a run whose figure is a bound.
    pub(super) fn is_censored(&self) -> bool {
        self.has_flag(CENSORED)
    }

    /// The flags of a row that change no figure, each a name, alone or as results write it.
    pub(super) fn flags(&self) -> Result<Vec<String>, TableError> {
        let legal = format!("a list of names is expected; {} count", COUNTING.join(" and "));
        let mut idle = Vec::new();
        for flag in self.list("flags")? {
            let Some(name) = flag.get("name").unwrap_or(flag).as_str() else {
                return Err(self.illegal("flags", &shortened(flag), &legal));
            };
            if COUNTING.contains(&name) {
                continue;
            }
            if let Some(meant) = slip_of(&name.to_lowercase(), &COUNTING) {
                return Err(self.illegal("flags", &shortened(flag), &format!("write {meant}")));
            }
            idle.push(name.to_owned());
        }
        Ok(idle)
    }

    /// The texts of a list; what is none is passed over.
    pub(super) fn texts(&self, key: &str) -> Vec<String> {
        let list = self.value(key).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(|one| one.as_str().map(str::to_owned)).collect()
    }

    fn has_flag(&self, wanted: &str) -> bool {
        let flags = self.value("flags").and_then(Value::as_array).into_iter().flatten();
        let mut names = flags.map(|flag| flag.get("name").unwrap_or(flag));
        names.any(|name| name == wanted)
    }

    pub(super) fn refuse_others(&self, legal: &[&str]) -> Result<(), TableError> {
        let unknown = self.map.keys().find(|key| !legal.contains(&key.as_str()));
        unknown.map_or(Ok(()), |key| {
            let (place, key) = (self.place.clone(), key.clone());
            Err(TableError::UnknownKey { place, key, legal: legal.join(", ") })
        })
    }

    pub(super) fn illegal(&self, key: &str, value: &str, legal: &str) -> TableError {
        let whole = self.place == DOCUMENT;
        let place = if whole { key.to_owned() } else { format!("{}.{key}", self.place) };
        let value = value.replace('\n', "\\n");
        TableError::Value { place, value, legal: legal.to_owned() }
    }

    pub(super) fn missing(&self, key: &str, remedy: &str) -> TableError {
        let (place, key) = (self.place.clone(), key.to_owned());
        TableError::Missing { place, key, remedy: remedy.to_owned() }
    }

    pub(super) fn contradiction(&self, cause: &str) -> TableError {
        TableError::Contradiction { place: self.place.clone(), cause: cause.to_owned() }
    }
}

pub(super) fn as_object<'v>(
    place: &str,
    value: &'v Value,
) -> Result<&'v Map<String, Value>, TableError> {
    value.as_object().ok_or_else(|| {
        let legal = "an object {\"key\": value} is expected".to_owned();
        TableError::Value { place: place.to_owned(), value: shortened(value), legal }
    })
}

/// The beginning of a value, which may be a whole table.
fn shortened(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}

/// True for two figures that are one figure, printed and read back.
fn agree(a: f64, b: f64) -> bool {
    (a - b).abs() <= AGREEMENT * b.abs()
}

/// The flag of a run whose figure is a bound.
const CENSORED: &str = "censored";

/// The flags that say how a row counts.
pub(super) const COUNTING: [&str; 2] = [CENSORED, INCOMPLETE_PASS];

/// The names of the rate of an activity beside COMM: of results, and of tables written by hand.
const RATE_KEYS: [&str; 2] = ["activity_rate_per_s", "activity_rate"];

/// The largest relative difference of two ways to the same figure.
const AGREEMENT: f64 = 1e-6;

/// The least and the largest number of a table.
const LEAST: f64 = 1e-100;
const MOST: f64 = 1e100;
