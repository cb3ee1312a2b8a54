//! The seed of a measurement to which none was given.

use std::time::SystemTime;
use std::time::UNIX_EPOCH;

/// A seed that differs between runs and fits a TOML integer.
pub(crate) fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mixed = now.as_nanos() ^ (u128::from(std::process::id()) << 32);
    u64::try_from(mixed & 0x7fff_ffff_ffff_ffff).unwrap_or(1).max(1)
}
