//! The seed of a measurement to which none was given.

/// A seed that differs between runs and fits a TOML integer.
pub(crate) fn fresh_seed() -> u64 {
    let now = jiff::Timestamp::now().as_nanosecond();
    let mixed = now ^ (i128::from(std::process::id()) << 32);
    u64::try_from(mixed & 0x7fff_ffff_ffff_ffff).unwrap_or(1).max(1)
}
