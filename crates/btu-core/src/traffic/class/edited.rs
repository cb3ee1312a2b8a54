//! Limits of application classes that somebody has set otherwise than the tables of the literature.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::Deserialize;
use serde::Serialize;

use super::CLASSES;
use super::Class;
use super::ClassLimits;
use super::by_name;
use crate::units::Nanos;
use crate::units::Ratio;

/// Limits by class and key, as a plan holds them: `[course.limits.voice]`, `delay_p99_s = 0.2`, `loss = "none"`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EditedLimits(BTreeMap<String, BTreeMap<String, Asked>>);

/// What a limit asks for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "write a number or \"none\"")]
enum Asked {
    /// This: of an upper limit `inf` and of a lower one 0 ask for nothing, as older plans have it.
    At(f64),
    /// Nothing. A word, because JSON has no number for it.
    Nothing(Word),
}

/// The word of a limit that asks for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    None,
}

/// A limit that can be set.
struct Limit {
    /// What an option calls it.
    name: &'static str,
    /// What plans and results call it, with its unit.
    key: &'static str,
    /// What an option writes.
    unit: Unit,
    /// What it may be.
    range: RangeInclusive<f64>,
    /// The value that asks for nothing.
    nothing: f64,
    field: fn(&mut ClassLimits) -> &mut Option<f64>,
}

/// What the value of a limit is.
enum Unit {
    Share,
    Time,
    Times,
}

impl EditedLimits {
    /// True where all classes have their own.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether limits of this class were set.
    pub fn has(&self, class: &str) -> bool {
        self.0.contains_key(class)
    }

    /// What sessions of a class have to bear here.
    pub fn of(&self, class: &Class) -> ClassLimits {
        let mut limits = class.limits;
        for (key, asked) in self.0.get(class.name).into_iter().flatten() {
            if let Some(limit) = LIMITS.iter().find(|limit| limit.key == key) {
                *(limit.field)(&mut limits) = limit.value(*asked);
            }
        }
        limits
    }

    /// The first class with limits of its own that is none of these.
    pub fn beyond(&self, classes: &[String]) -> Option<&str> {
        self.0.keys().find(|class| !classes.contains(class)).map(String::as_str)
    }

    /// Sets the limit of an option: `voice.delay=200ms`, `mpeg.loss=1%`, `web.delay=none`.
    ///
    /// # Errors
    /// What may be written in its place; a limit that was set before.
    pub fn set(&mut self, wish: &str) -> Result<(), String> {
        let (what, value) = wish.split_once('=').ok_or(FORM)?;
        let (class, name) = what.split_once('.').ok_or(FORM)?;
        let class = known(class)?;
        let limit = LIMITS.iter().find(|limit| limit.name == name);
        let limit =
            limit.ok_or_else(|| format!("no limit \"{name}\"; write {}", names(|l| l.name)))?;
        let asked = limit.read(value)?;
        let of_class = self.0.entry(class.name.to_owned()).or_default();
        match of_class.insert(limit.key.to_owned(), asked) {
            Some(_) => Err(format!("{what} was set before; write each limit once")),
            None => Ok(()),
        }
    }

    /// Whether every class and limit is known and every value legal.
    ///
    /// # Errors
    /// The first that is not, with what may be written in its place.
    pub fn check(&self) -> Result<(), String> {
        for (class, limits) in &self.0 {
            known(class)?;
            for (key, asked) in limits {
                let limit = LIMITS.iter().find(|limit| limit.key == key);
                let write = || names(|limit| limit.key);
                let limit =
                    limit.ok_or_else(|| format!("no limit \"{key}\"; write {}", write()))?;
                if let Asked::At(value) = asked {
                    limit.legal(*value).map_err(|cause| format!("{class}.{key}: {cause}"))?;
                }
            }
        }
        Ok(())
    }
}

impl Limit {
    /// What it asks for; `None` for nothing.
    fn value(&self, asked: Asked) -> Option<f64> {
        match asked {
            Asked::At(value) => (value.to_bits() != self.nothing.to_bits()).then_some(value),
            Asked::Nothing(Word::None) => None,
        }
    }

    fn read(&self, text: &str) -> Result<Asked, String> {
        if text == "none" {
            return Ok(Asked::Nothing(Word::None));
        }
        let value = match self.unit {
            Unit::Share => {
                text.parse::<Ratio>().map(Ratio::share).map_err(|cause| cause.to_string())
            }
            Unit::Time => text.parse().map(Nanos::seconds).map_err(|cause| cause.to_string()),
            Unit::Times => text.parse::<f64>().map_err(|cause| cause.to_string()),
        };
        value.and_then(|value| self.legal(value)).map(Asked::At)
    }

    fn legal(&self, value: f64) -> Result<f64, String> {
        let nothing = value.to_bits() == self.nothing.to_bits();
        let (least, most) = (self.range.start(), self.range.end());
        (nothing || self.range.contains(&value))
            .then_some(value)
            .ok_or_else(|| format!("{value}: write {least} to {most} {}", self.unit.name()))
    }
}

impl Unit {
    fn name(&self) -> &'static str {
        match self {
            Self::Share => "of 1, or \"none\"",
            Self::Time => "seconds, or \"none\"",
            Self::Times => "times, or \"none\"",
        }
    }
}

fn known(class: &str) -> Result<&'static Class, String> {
    let all = || CLASSES.iter().map(|class| class.name).collect::<Vec<_>>().join(", ");
    by_name(class).ok_or_else(|| format!("no application class \"{class}\"; write {}", all()))
}

fn names(of: fn(&Limit) -> &'static str) -> String {
    LIMITS.iter().map(of).collect::<Vec<_>>().join(", ")
}

const FORM: &str = "write CLASS.LIMIT=VALUE, such as voice.delay=200ms";
/// A run lasts several times the delay that its class bears.
const TIMES: RangeInclusive<f64> = 0.000_1..=60.0;

static LIMITS: [Limit; 6] = [
    Limit {
        name: "delay",
        key: "delay_p99_s",
        unit: Unit::Time,
        range: TIMES,
        nothing: f64::INFINITY,
        field: |limits| &mut limits.delay_p99_s,
    },
    Limit {
        name: "pdv",
        key: "pdv_p99_s",
        unit: Unit::Time,
        range: TIMES,
        nothing: f64::INFINITY,
        field: |limits| &mut limits.pdv_p99_s,
    },
    Limit {
        name: "loss",
        key: "loss",
        unit: Unit::Share,
        range: 0.0..=1.0,
        nothing: f64::INFINITY,
        field: |limits| &mut limits.loss,
    },
    Limit {
        name: "slowdown",
        key: "slowdown",
        unit: Unit::Times,
        range: 1.0..=1e6,
        nothing: f64::INFINITY,
        field: |limits| &mut limits.slowdown,
    },
    Limit {
        name: "carried",
        key: "carried",
        unit: Unit::Share,
        range: 0.01..=1.0,
        nothing: 0.0,
        field: |limits| &mut limits.carried,
    },
    Limit {
        name: "share",
        key: "share",
        unit: Unit::Share,
        range: 0.01..=1.0,
        nothing: 0.0,
        field: |limits| &mut limits.share,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::analysis::Totals;

    fn edited(wishes: &[&str]) -> EditedLimits {
        let mut limits = EditedLimits::default();
        for wish in wishes {
            limits.set(wish).unwrap();
        }
        limits
    }

    #[test]
    fn a_limit_that_was_set_decides_in_the_place_of_the_usual_one() {
        let limits = edited(&["voice.delay=200ms", "voice.pdv=none", "bulk.share=50%"]);
        let voice = by_name("voice").unwrap();
        let run = Totals { delay_p99: Some(0.18), pdv_p99: Some(0.1), ..Totals::default() };
        assert!(voice.limits.missed(&run, 1, None).is_some());
        let now = limits.of(voice);
        assert_eq!((now.missed(&run, 1, None), now.loss), (None, voice.limits.loss));
        assert_eq!(now.time(Nanos::from_millis(1)), Nanos::from_secs(1));
        let late = Totals { delay_p99: Some(0.21), ..Totals::default() };
        assert_eq!(now.missed(&late, 1, None).unwrap(), "p99 of delay 210.0 ms, limit 200");
        assert_eq!(limits.of(by_name("bulk").unwrap()).share, Some(0.5));
        assert_eq!([limits.has("voice"), limits.has("web")], [true, false]);
        assert_eq!(limits.of(by_name("web").unwrap()), by_name("web").unwrap().limits);
    }

    #[test]
    fn plans_keep_them_and_refuse_what_no_option_could_set() {
        let limits = edited(&["voice.delay=200ms", "web.delay=none", "mpeg.carried=none"]);
        let text = toml::to_string(&limits).unwrap();
        let read: EditedLimits = toml::from_str(&text).unwrap();
        assert_eq!((&read, read.check()), (&limits, Ok(())), "{text}");
        let json = serde_json::to_value(&limits).unwrap();
        assert_eq!(
            (&json["web"]["delay_p99_s"], &json["mpeg"]["carried"]),
            (&"none".into(), &"none".into())
        );
        // As a plan says it that people write, or an older program.
        for text in [
            "[web]\ndelay_p99_s = \"none\"\n[mpeg]\ncarried = \"none\"",
            "[web]\ndelay_p99_s = inf\n[mpeg]\ncarried = 0",
        ] {
            let read: EditedLimits = toml::from_str(text).unwrap();
            read.check().unwrap();
            for class in ["web", "mpeg"] {
                let class = by_name(class).unwrap();
                assert_eq!(read.of(class), limits.of(class), "{text}");
            }
        }
        let wrong = toml::from_str::<EditedLimits>("[voice]\nloss = \"1%\"").unwrap_err();
        assert!(wrong.message().contains("write a number or \"none\""), "{wrong}");
        for (text, why) in [
            ("[nobody]\nloss = 0.1", "no application class \"nobody\""),
            ("[voice]\nlose = 0.1", "no limit \"lose\"; write delay_p99_s, "),
            ("[voice]\nloss = 1.5", "voice.loss: 1.5: write 0 to 1 of 1, or \"none\""),
            ("[voice]\ndelay_p99_s = nan", "voice.delay_p99_s: NaN: write 0.0001 to 60 seconds"),
            ("[voice]\nshare = inf", "voice.share: inf: write"),
        ] {
            let read: EditedLimits = toml::from_str(text).unwrap();
            let said = read.check().unwrap_err();
            assert!(said.starts_with(why), "{said}");
        }
        for (wish, why) in [
            ("voice", "write CLASS.LIMIT=VALUE"),
            ("voice=1", "write CLASS.LIMIT=VALUE"),
            ("fax.delay=1s", "no application class \"fax\""),
            ("voice.speed=1", "no limit \"speed\"; write delay, pdv, loss"),
            ("voice.delay=90s", "90: write 0.0001 to 60 seconds, or \"none\""),
            ("voice.slowdown=0.5", "0.5: write 1 to 1000000 times, or \"none\""),
        ] {
            let said = EditedLimits::default().set(wish).unwrap_err();
            assert!(said.starts_with(why), "{said}");
        }
    }

    #[test]
    fn a_limit_is_set_once_and_of_a_class_that_is_measured() {
        let mut limits = edited(&["voice.delay=200ms", "voice.loss=2%"]);
        let twice = limits.set("voice.delay=100ms").unwrap_err();
        assert_eq!(twice, "voice.delay was set before; write each limit once");
        let classes =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(limits.beyond(&classes(&["bulk"])), Some("voice"));
        assert_eq!(limits.beyond(&classes(&["bulk", "voice"])), None);
    }
}
