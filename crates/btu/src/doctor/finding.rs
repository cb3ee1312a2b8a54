//! One line of `btu doctor`: what was found, what it means, what to do about it.

use std::fmt;

use serde::Serialize;

use super::machine::Machine;

/// A question to the machine.
pub(crate) struct Check {
    /// Stable, kebab case.
    pub(crate) name: &'static str,
    /// What is asked, for people.
    pub(crate) title: &'static str,
    /// What needs it.
    pub(crate) serves: Serves,
    /// True where `btu run` and `btu link` cannot work without it.
    pub(crate) needed: bool,
    /// Asks.
    pub(crate) ask: fn(&dyn Machine) -> Finding,
}

/// What a check is for, by names of registries and of the command line: a line of what nothing needs would have
/// remedies that change nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Serves {
    /// A host activity.
    Activity(&'static str),
    /// An emulator backend.
    Backend(&'static str),
    /// A transport of the ping-pong.
    Transport(&'static str),
    /// All that these verbs do.
    Verbs(&'static [&'static str]),
}

impl fmt::Display for Serves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Activity(name) => write!(f, "activity {name}"),
            Self::Backend(name) => write!(f, "backend {name}"),
            Self::Transport(name) => write!(f, "transport {name}"),
            Self::Verbs(names) => {
                let verbs: Vec<String> = names.iter().map(|name| format!("btu {name}")).collect();
                f.write_str(&verbs.join(", "))
            }
        }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Finding {
    /// How good the news is.
    pub(crate) status: Status,
    /// What was found, with its number.
    pub(crate) found: String,
    /// Why it is so; `None` where all is well.
    pub(crate) cause: Option<String>,
    /// What the reader can do, commands between backticks: those stay whole. `None` where nothing needs to be done.
    pub(crate) remedy: Option<String>,
}

/// How good the news is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// As it should be.
    Ok,
    /// Works, with less precision, speed or choice.
    Limited,
    /// Does not work.
    Missing,
}

impl Finding {
    /// All is well.
    pub(crate) fn ok(found: impl Into<String>) -> Self {
        Self { status: Status::Ok, found: found.into(), cause: None, remedy: None }
    }

    /// Works less well than it could.
    pub(crate) fn limited(
        found: impl Into<String>,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::bad(Status::Limited, found, cause, remedy)
    }

    /// Does not work.
    pub(crate) fn missing(
        found: impl Into<String>,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::bad(Status::Missing, found, cause, remedy)
    }

    fn bad(
        status: Status,
        found: impl Into<String>,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let (found, cause, remedy) = (found.into(), cause.into(), remedy.into());
        Self { status, found, cause: Some(cause), remedy: Some(remedy) }
    }
}
