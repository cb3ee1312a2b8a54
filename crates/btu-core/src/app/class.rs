//! How large a problem is: the classes of the NAS Parallel Benchmarks.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::Serialize;

/// A size with published reference values.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum ProblemClass {
    /// A sample: less than a second.
    #[default]
    S,
    /// A workstation of 1996: seconds.
    W,
    /// The smallest of the machines that the suite was made for: minutes.
    A,
}

impl ProblemClass {
    /// Every class, the smallest first.
    pub const ALL: [Self; 3] = [Self::S, Self::W, Self::A];

    /// The value of this class out of those of S, W and A.
    pub(crate) fn of<T>(self, [s, w, a]: [T; 3]) -> T {
        match self {
            Self::S => s,
            Self::W => w,
            Self::A => a,
        }
    }
}

impl fmt::Display for ProblemClass {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, out)
    }
}

/// There is no such class.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no problem class; write S, W or A")]
pub struct UnknownClass(String);

impl FromStr for ProblemClass {
    type Err = UnknownClass;

    fn from_str(text: &str) -> Result<Self, UnknownClass> {
        let named = |class: &Self| class.to_string().eq_ignore_ascii_case(text);
        Self::ALL.into_iter().find(named).ok_or_else(|| UnknownClass(text.to_owned()))
    }
}
