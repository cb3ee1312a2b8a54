//! When the kernel stamps what arrives: while something does, and not before or after, since all packets of the machine
//! pay for it.

use std::io;

use btu_core::units::Nanos;
use btu_sys::packet::PacketSocket;

use super::worker::Link;

/// Whether it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stamping {
    /// Until this time, if nothing comes.
    On { until: Nanos },
    /// It begins once something was carried in more rounds than these.
    Off { stragglers: u32 },
}

impl Stamping {
    /// New sockets stamp.
    pub(super) fn new(now: Nanos) -> Self {
        Self::On { until: now }
    }

    /// A run begins: its first packets have stamps if they come soon, and if not, those that follow them.
    pub(super) fn begun(now: Nanos) -> Self {
        Self::On { until: now + AT_FIRST }
    }

    /// A run is over: what comes late from it is not worth a stamp; more than that is traffic.
    pub(super) fn ended() -> Self {
        Self::Off { stragglers: STRAGGLERS }
    }

    /// Something was carried.
    pub(super) fn carried(self, now: Nanos) -> Self {
        match self {
            Self::On { .. } | Self::Off { stragglers: 0 } => Self::On { until: now + PATIENCE },
            Self::Off { stragglers } => Self::Off { stragglers: stragglers - 1 },
        }
    }

    /// Nothing was.
    pub(super) fn waited(self, now: Nanos) -> Self {
        match self {
            Self::On { until } if now >= until => Self::Off { stragglers: 0 },
            other => other,
        }
    }

    /// Tells the sockets, where it is another than before.
    pub(super) fn change_to(&mut self, next: Self, links: &[Link]) -> io::Result<()> {
        if self.is_on() != next.is_on() {
            let mut sockets = links.iter().flat_map(|link| [&link.near, &link.far]);
            sockets.try_for_each(|socket: &PacketSocket| socket.stamp(next.is_on()))?;
        }
        *self = next;
        Ok(())
    }

    fn is_on(self) -> bool {
        matches!(self, Self::On { .. })
    }
}

const AT_FIRST: Nanos = Nanos::from_millis(100);
/// Longer than `ping` waits by itself.
const PATIENCE: Nanos = Nanos::from_secs(10);
const STRAGGLERS: u32 = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_pays_for_stamps_of_a_link_that_nothing_passes() {
        let begun = Stamping::begun(Nanos::ZERO);
        assert_eq!(begun.waited(AT_FIRST.since(Nanos::new(1))), begun);
        let rests = begun.waited(AT_FIRST);
        assert!(!rests.is_on() && !rests.waited(PATIENCE).is_on());
        assert!(!Stamping::new(AT_FIRST).waited(AT_FIRST).is_on());
    }

    #[test]
    fn once_something_passes_what_follows_has_stamps() {
        let first = Stamping::begun(Nanos::ZERO).waited(AT_FIRST).carried(PATIENCE);
        let second = first.waited(PATIENCE + Nanos::from_secs(9));
        assert!(first.is_on() && second.is_on());
        assert!(!second.waited(PATIENCE + PATIENCE).is_on());
    }

    #[test]
    fn what_comes_late_from_a_run_does_not_begin_it() {
        let mut stamping = Stamping::ended();
        for _ in 0..STRAGGLERS {
            stamping = stamping.carried(Nanos::ZERO);
            assert!(!stamping.is_on());
        }
        assert!(stamping.carried(Nanos::ZERO).is_on());
    }
}
