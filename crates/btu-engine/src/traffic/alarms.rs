//! When each of some connections wants to be looked at again.

use std::collections::BTreeSet;

use btu_core::units::Nanos;

/// At most one time for each place.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    times: BTreeSet<(Nanos, usize)>,
    by_place: Vec<Option<Nanos>>,
}

impl Alarms {
    /// Sets the time of a place anew; `None` for none.
    pub(super) fn set(&mut self, place: usize, at: Option<Nanos>) {
        if self.by_place.len() <= place {
            self.by_place.resize(place + 1, None);
        }
        let known = std::mem::replace(&mut self.by_place[place], at);
        if known == at {
            return;
        }
        if let Some(known) = known {
            self.times.remove(&(known, place));
        }
        if let Some(at) = at {
            self.times.insert((at, place));
        }
    }

    /// The first time.
    pub(super) fn first(&self) -> Option<Nanos> {
        self.times.first().map(|(at, _)| *at)
    }

    /// Takes a place whose time has come.
    pub(super) fn take(&mut self, time: Nanos) -> Option<usize> {
        let (_, place) = self.times.first().copied().filter(|(at, _)| *at <= time)?;
        self.set(place, None);
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_one_time_and_is_taken_once() {
        let mut alarms = Alarms::default();
        alarms.set(3, Some(Nanos::new(10)));
        alarms.set(1, Some(Nanos::new(20)));
        alarms.set(3, Some(Nanos::new(30)));
        assert_eq!(alarms.first(), Some(Nanos::new(20)));
        assert_eq!(alarms.take(Nanos::new(19)), None);
        assert_eq!(alarms.take(Nanos::new(40)), Some(1));
        assert_eq!(alarms.take(Nanos::new(40)), Some(3));
        assert_eq!((alarms.take(Nanos::new(40)), alarms.first()), (None, None));
        alarms.set(0, Some(Nanos::new(5)));
        alarms.set(0, None);
        assert_eq!(alarms.first(), None);
    }
}
