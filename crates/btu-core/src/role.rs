//! The parts that hosts play.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

/// A host's part in the testbed (maly1996, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
//= maly1996#3
pub enum Role {
    /// `W_test`, the host being judged.
    Test,
    /// `W_active`, peer of almost all traffic.
    Active,
    /// `W_passive`, the second black box.
    Passive,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 3] = [Self::Test, Self::Active, Self::Passive];

    /// `test`, `active` or `passive`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Active => "active",
            Self::Passive => "passive",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
