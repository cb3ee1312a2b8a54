//! The hours of a day in which an agent works.

use std::fmt;
use std::str::FromStr;

/// From one minute of the day to another, UTC; over midnight where the second is the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours {
    from: u64,
    to: u64,
}

impl Hours {
    /// Whether all of a stretch of time lies within: from `unix_s` on, so many seconds.
    pub const fn hold(self, unix_s: u64, lasting_s: u64) -> bool {
        let since = (unix_s % DAY + DAY - self.from * MINUTE) % DAY;
        let open = (self.to + MINUTES - self.from) % MINUTES * MINUTE;
        since < open && lasting_s <= open - since
    }
}

impl FromStr for Hours {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (from, to) = text.split_once('-').ok_or(LEGAL)?;
        let hours = Self { from: minute(from).ok_or(LEGAL)?, to: minute(to).ok_or(LEGAL)? };
        if hours.from == hours.to { Err(LEGAL) } else { Ok(hours) }
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to } = self;
        write!(out, "{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60)
    }
}

/// `22:00`, as minutes since midnight.
fn minute(text: &str) -> Option<u64> {
    let (hour, minute) = text.trim().split_once(':')?;
    let number = |text: &str, below: u64| {
        let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u64>().ok().filter(|number| digits && *number < below)
    };
    Some(number(hour, 24)? * 60 + number(minute, 60)?)
}

const LEGAL: &str = "write two times of the day, UTC: 22:00-06:00";
const MINUTE: u64 = 60;
const MINUTES: u64 = 24 * 60;
const DAY: u64 = 24 * 60 * 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_may_go_over_midnight() {
        let night: Hours = "22:00-06:00".parse().unwrap();
        let day: Hours = "09:00-17:30".parse().unwrap();
        let at = |hour: u64, minute: u64| 20_000 * DAY + hour * 3600 + minute * 60;
        for (hours, time, lasting, holds) in [
            (night, at(22, 0), 0, true),
            (night, at(21, 59), 0, false),
            (night, at(23, 0), 7 * 3600, true),
            (night, at(23, 0), 7 * 3600 + 1, false),
            (night, at(5, 59), 60, true),
            (night, at(6, 0), 0, false),
            (day, at(9, 0), 8 * 3600 + 1800, true),
            (day, at(8, 59), 0, false),
            (day, at(17, 30), 0, false),
            (day, at(12, 0), u64::MAX, false),
        ] {
            assert_eq!(hours.hold(time, lasting), holds, "{hours} {} {lasting}", time % DAY);
        }
        assert_eq!(
            (night.to_string(), day.to_string()),
            ("22:00-06:00".into(), "09:00-17:30".into())
        );
    }

    #[test]
    fn what_is_no_time_of_the_day_is_refused() {
        for text in
            ["", "22:00", "22-06", "24:00-06:00", "22:60-06:00", "+2:00-06:00", "06:00-06:00"]
        {
            assert_eq!(text.parse::<Hours>(), Err(LEGAL), "{text}");
        }
    }
}
