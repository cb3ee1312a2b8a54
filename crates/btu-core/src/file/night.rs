//! A measurement that goes on through a night: when each of its slots is due, and which are missed.
//!
//! The clock is the caller's: nothing here asks for the time.

use serde::Deserialize;
use serde::Serialize;

use super::sample::Line;
use crate::units::Nanos;

/// When the rounds of a plan are made: each is a slot, and the first is due when the night begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Night {
    /// From one slot to the next.
    pub every_ns: Nanos,
    /// The time of the day (UTC) at which the first is due: `22:00`; `None` for at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<TimeOfDay>,
}

/// An hour and a minute of every day, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeOfDay {
    minutes: u32,
}

/// The slots of a night, from the moment at which the first is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// When the first is due.
    pub first: Nanos,
    /// From one to the next.
    pub every: Nanos,
    /// How many there are.
    pub count: u32,
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The slot of this number begins.
    Begin(u32),
    /// It is too late for this slot: it is never caught up.
    Miss {
        /// Its number, from 1.
        slot: u32,
        /// How long ago it was due.
        late: Nanos,
    },
    /// Every slot was begun or missed.
    Over,
    /// The next one is due then.
    Wait(Nanos),
}

impl Slots {
    /// What is to be done `now`, where `next` is the first slot that was neither begun nor missed.
    ///
    /// A slot may begin late by a tenth of the time between two: later it would stand for another hour than its own.
    pub fn step(&self, now: Nanos, next: u32) -> Step {
        if next > self.count {
            return Step::Over;
        }
        let due = self.due(next);
        let late = now.since(due);
        if now < due {
            Step::Wait(due)
        } else if late.saturating_mul(LATEST) > self.every {
            Step::Miss { slot: next, late }
        } else {
            Step::Begin(next)
        }
    }

    /// When a slot is due.
    pub fn due(&self, slot: u32) -> Nanos {
        self.first + self.every * u64::from(slot.saturating_sub(1))
    }
}

impl TimeOfDay {
    /// How long after this moment, in seconds of its day, it is this time again.
    pub fn seconds_after(self, second_of_day: u64) -> u64 {
        let own = u64::from(self.minutes) * 60;
        (own + DAY - second_of_day % DAY) % DAY
    }

    /// From this time to another one, on the same day or the next.
    pub fn until(self, other: Self) -> Nanos {
        Nanos::from_secs(other.seconds_after(u64::from(self.minutes) * 60))
    }
}

impl std::str::FromStr for TimeOfDay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is no time of the day; write 22:00, UTC");
        let (hours, minutes) = text.split_once(':').ok_or_else(wrong)?;
        let number = |part: &str, most: u32| {
            let is_two = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse::<u32>().ok().filter(|number| is_two && *number <= most)
        };
        let hours = number(hours, 23).ok_or_else(wrong)?;
        let minutes = number(minutes, 59).ok_or_else(wrong)?;
        Ok(Self { minutes: 60 * hours + minutes })
    }
}

impl TryFrom<String> for TimeOfDay {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<TimeOfDay> for String {
    fn from(time: TimeOfDay) -> Self {
        format!("{:02}:{:02}", time.minutes / 60, time.minutes % 60)
    }
}

/// The first slot that a journal says nothing of. One that was begun is not begun again, however far it came.
pub fn next_slot(lines: &[Line]) -> u32 {
    let slot = |line: &Line| match line {
        Line::FileTrial(sample) => Some(sample.round),
        Line::FileSlotMissed { slot, .. } => Some(*slot),
        _ => None,
    };
    lines.iter().filter_map(slot).max().unwrap_or(0).saturating_add(1)
}

/// The part of the time between two slots by which one may be late.
const LATEST: u64 = 10;
const DAY: u64 = 24 * 60 * 60;

#[cfg(test)]
mod tests;
