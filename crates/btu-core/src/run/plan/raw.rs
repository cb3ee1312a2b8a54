//! Plans and editions as they are written: every value optional, with its place in the file.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::Deserializer;
use serde::de;
use serde::de::MapAccess;
use serde::de::Visitor;
use serde::de::value::MapAccessDeserializer;
use toml::Spanned;

use super::link::RawLink;

/// A text value and where it stands.
pub(super) type Text = Option<Spanned<String>>;

/// A plan of the user's own, or the canonical plan of a result.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPlan {
    pub(super) edition: Text,
    pub(super) edition_hash: Text,
    pub(super) preset: Text,
    /// What the program that made the plan knew of its edition; this build asks its own, where it has it.
    pub(super) partial: Option<bool>,
    pub(super) testbed_class: Text,
    pub(super) seed: Option<u64>,
    #[serde(default)]
    pub(super) matrix: RawMatrix,
    #[serde(default)]
    pub(super) time: RawTime,
    #[serde(default)]
    pub(super) passes: RawPasses,
    #[serde(default)]
    pub(super) link: RawLink,
    #[serde(default)]
    pub(super) sockets: RawSockets,
    #[serde(default)]
    pub(super) comm: RawComm,
    #[serde(default)]
    pub(super) activity: RawActivity,
    #[serde(default)]
    pub(super) capture: RawCapture,
}

/// An edition's file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEdition {
    pub(super) name: Spanned<String>,
    pub(super) matrix: RawMatrix,
    #[serde(default)]
    pub(super) time: RawTime,
    #[serde(default)]
    pub(super) link: RawLink,
    #[serde(default)]
    pub(super) sockets: RawSockets,
    #[serde(default)]
    pub(super) comm: RawComm,
    #[serde(default)]
    pub(super) activity: RawActivity,
    pub(super) preset: BTreeMap<String, RawPreset>,
}

/// What a preset adds to its edition.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPreset {
    #[serde(default)]
    pub(super) time: RawTime,
    #[serde(default)]
    pub(super) passes: RawPasses,
    #[serde(default)]
    pub(super) activity: RawActivity,
}

/// The axes of the matrix.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMatrix {
    pub(super) cases: Option<Vec<Spanned<String>>>,
    pub(super) applications: Option<Vec<Spanned<RawApplication>>>,
    pub(super) activities: Option<Vec<Spanned<String>>>,
}

/// An application class of the edition by name, or one of the user's own.
#[derive(Clone, Debug)]
pub(super) enum RawApplication {
    Named(String),
    Own(RawOwn),
}

/// A class of the user's own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawOwn {
    pub(super) name: String,
    pub(super) message: String,
}

/// By hand: what is derived for either of two forms takes unknown keys, and speaks of its own types.
impl<'de> Deserialize<'de> for RawApplication {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EitherForm)
    }
}

struct EitherForm;

impl<'de> Visitor<'de> for EitherForm {
    type Value = RawApplication;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the name of an application, or { name = \"mine\", message = \"300B\" }")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<RawApplication, E> {
        Ok(RawApplication::Named(name.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<RawApplication, A::Error> {
        RawOwn::deserialize(MapAccessDeserializer::new(fields)).map(RawApplication::Own)
    }
}

macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident { $($field:ident),* $(,)? })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name {
            $(pub(super) $field: Text,)*
        }

        impl $name {
            /// These values where they are given, else those of `base`.
            pub(super) fn or(self, base: &Self) -> Self {
                Self { $($field: self.$field.or_else(|| base.$field.clone()),)* }
            }
        }
    )* };
}

tables! {
    /// How long and how much.
    RawTime { window, amount, work, lead_in, alone, repeat_allowance }
    /// Socket settings.
    RawSockets { congestion, black_box_buffer, black_box_window_clamp }
    /// By which calls COMM writes and reads, and where its threads run.
    RawComm { write, test_read, black_box_read, placement }
    /// Sizes of the host activities.
    RawActivity { cpu_threads, io_file, ftp_transfer }
}

/// Which cells are run again with capture.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCapture {
    pub(super) cells: Text,
}

/// How many passes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPasses {
    pub(super) min: Option<Spanned<u32>>,
    pub(super) max: Option<Spanned<u32>>,
    pub(super) budget: Text,
    pub(super) half_width: Text,
}

impl RawPasses {
    /// These values where they are given, else those of `base`.
    pub(super) fn or(self, base: &Self) -> Self {
        Self {
            min: self.min.or_else(|| base.min.clone()),
            max: self.max.or_else(|| base.max.clone()),
            budget: self.budget.or_else(|| base.budget.clone()),
            half_width: self.half_width.or_else(|| base.half_width.clone()),
        }
    }
}
