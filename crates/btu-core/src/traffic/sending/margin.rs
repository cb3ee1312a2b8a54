//! How long before its time a sleeper must wake up, learned from the wake-ups seen so far.

use crate::units::Nanos;

/// What a wake-up takes on this machine now: grown at once, forgotten slowly. Short naps alone would not
/// show it, since a CPU that sleeps for longer also wakes up more slowly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Margin(Nanos);

impl Margin {
    /// Wide enough for nearly all of `late`, which it sorts; the widest where there are none.
    pub fn of(late: &mut [Nanos]) -> Self {
        late.sort_unstable();
        let nearly_all = (late.len() - late.len() / 100).checked_sub(1).and_then(|at| late.get(at));
        Self(nearly_all.map_or(WIDEST, |late| room_for(*late)))
    }

    /// No margin: asleep until the time itself.
    pub const fn none() -> Self {
        Self(Nanos::ZERO)
    }

    /// Never asleep.
    pub const fn always() -> Self {
        Self(Nanos::MAX)
    }

    /// How long before the time to wake up.
    pub const fn width(self) -> Nanos {
        self.0
    }

    /// A wake-up came so late after the time that was asked of the kernel.
    pub fn saw(&mut self, late: Nanos) {
        let wanted = room_for(late);
        let surplus = self.0.since(wanted);
        self.0 = wanted.max(self.0.since(Nanos::new(surplus.count() / MEMORY)));
    }
}

fn room_for(late: Nanos) -> Nanos {
    late.saturating_add(SPARE).min(WIDEST)
}

/// From waking up to looking at the clock again.
const SPARE: Nanos = Nanos::from_micros(10);
/// More would be an activity of the host in its own right.
const WIDEST: Nanos = Nanos::from_micros(150);
/// Wake-ups after which two thirds of a surplus are forgotten: one late one in a hundred is remembered.
const MEMORY: u64 = 256;

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(count: u64) -> Nanos {
        Nanos::from_micros(count)
    }

    #[test]
    fn a_late_wake_up_widens_at_once_and_is_remembered_for_the_next_hundred() {
        let mut margin = Margin::of(&mut [us(5); 300]);
        assert_eq!(margin.width(), us(15));
        margin.saw(us(80));
        assert_eq!(margin.width(), us(90));
        for _ in 0..100 {
            margin.saw(us(5));
        }
        assert!((us(60)..us(70)).contains(&margin.width()), "{margin:?}");
        for _ in 0..3000 {
            margin.saw(us(5));
        }
        assert!(margin.width() < us(16), "{margin:?}");
    }

    #[test]
    fn a_stall_widens_no_further_than_the_widest() {
        let mut margin = Margin::of(&mut [us(5), us(7)]);
        margin.saw(Nanos::from_millis(20));
        assert_eq!(margin.width(), WIDEST);
        assert_eq!(Margin::of(&mut []).width(), WIDEST);
    }

    #[test]
    fn one_in_a_hundred_is_let_go_when_measured_and_the_rest_is_covered() {
        let mut late: Vec<Nanos> = (1..=300).map(us).collect();
        assert_eq!(Margin::of(&mut late).width(), WIDEST);
        let mut late: Vec<Nanos> = (0..300).map(|at| us(if at < 297 { 20 } else { 140 })).collect();
        assert_eq!(Margin::of(&mut late).width(), us(30));
    }
}
