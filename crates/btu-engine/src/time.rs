//! The clock of the machine as a time of the domain.

use btu_core::units::Nanos;
use btu_sys::clock;

/// The monotonic clock.
#[inline]
pub fn now() -> Nanos {
    Nanos::new(clock::monotonic_ns())
}
