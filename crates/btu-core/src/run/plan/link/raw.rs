//! The link of a plan as it is written: a text for the usual case, or lists of elements.

use std::fmt;

use serde::Deserialize;
use serde::Deserializer;
use serde::de;
use serde::de::MapAccess;
use serde::de::Visitor;
use serde::de::value::MapAccessDeserializer;
use toml::Spanned;

/// The emulated link.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::run::plan) struct RawLink {
    pub(super) delay: Option<Spanned<RawElements>>,
    pub(super) drop: Option<Spanned<RawElements>>,
    pub(super) rate: Option<Spanned<RawElements>>,
}

/// What a key of the link says.
#[derive(Clone, Debug)]
pub(super) enum RawElements {
    /// `"5ms"`, or an element.
    Text(String),
    /// `{ up = [...], down = [...] }`
    Lists(RawLists),
}

/// The elements of both directions. What is left out has none.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLists {
    #[serde(default)]
    pub(super) up: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) down: Vec<Spanned<String>>,
}

impl RawLink {
    /// These values where they are given, else those of `base`.
    pub(in crate::run::plan) fn or(self, base: &Self) -> Self {
        Self {
            delay: self.delay.or_else(|| base.delay.clone()),
            drop: self.drop.or_else(|| base.drop.clone()),
            rate: self.rate.or_else(|| base.rate.clone()),
        }
    }
}

/// By hand: what is derived for either of two forms takes unknown keys, and speaks of its own types.
impl<'de> Deserialize<'de> for RawElements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EitherForm)
    }
}

struct EitherForm;

impl<'de> Visitor<'de> for EitherForm {
    type Value = RawElements;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a text, or lists of link elements { up = [...], down = [...] }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<RawElements, E> {
        Ok(RawElements::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<RawElements, A::Error> {
        RawLists::deserialize(MapAccessDeserializer::new(fields)).map(RawElements::Lists)
    }
}
