//! How long somebody is waited for who says nothing new.

use btu_core::units::Nanos;

/// What was seen last of something that is to go on, and when that was new.
#[derive(Debug)]
pub(super) struct Patience<T> {
    /// How long it may stay the same.
    most: Nanos,
    since: Nanos,
    seen: Option<T>,
}

impl<T: PartialEq> Patience<T> {
    /// From `now` on.
    pub(super) const fn new(now: Nanos, most: Nanos) -> Self {
        Self { most, since: now, seen: None }
    }

    /// Sees how it is; an error where that is not new and was not for too long.
    pub(super) fn sees(&mut self, now: Nanos, seen: T) -> Result<(), String> {
        if self.seen.as_ref() != Some(&seen) {
            (self.since, self.seen) = (now, Some(seen));
        }
        if now.since(self.since) <= self.most {
            return Ok(());
        }
        Err(format!("nothing new of its part in the run for {} s", self.most.seconds()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_begins_anew_with_everything_new_and_ends_without() {
        let s = Nanos::from_secs;
        let mut patience = Patience::new(s(5), s(30));
        for at in 5..1000 {
            patience.sees(s(at), (at / 30, false)).unwrap();
        }
        for at in 1000..=1020 {
            patience.sees(s(at), (33, false)).unwrap();
        }
        let reason = "nothing new of its part in the run for 30 s";
        assert_eq!(patience.sees(s(1021), (33, false)), Err(reason.to_owned()));
        patience.sees(s(1022), (33, true)).unwrap();
        assert_eq!(patience.sees(s(1053), (33, true)), Err(reason.to_owned()));
    }
}
