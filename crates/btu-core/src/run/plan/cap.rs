//! When a cell has taken too long: its time is then this cap.

use super::Amount;
use super::Plan;
use super::bounds::LONGEST_RUN;
use crate::units::BitRate;
use crate::units::Nanos;

impl Plan {
    /// The longest time of one cell, counted from its start.
    ///
    /// A windowed cell may drain for 5 windows after its own, but for no less than 5 s: a tail loss
    /// is repaired by timeouts of 200 ms and their doubles, whatever the window, and a counter
    /// pattern may hit several of them in a row. A fixed amount may
    /// crawl at a hundredth of the 10 Mb/s Ethernet it was made for: a whole message at least, and for no less than
    /// the same 5 s.
    pub fn time_cap(&self) -> Nanos {
        let messages = self.applications.iter().map(|application| application.message_bytes);
        match self.amount {
            Amount::Fixed(amount) => {
                let least = messages.max().unwrap_or(amount).max(amount);
                SLOWEST.time_for(least).clamp(LEAST_DRAIN, LONGEST_RUN)
            }
            Amount::Window(window) => window + (window * DRAIN_WINDOWS).max(LEAST_DRAIN),
        }
    }
}

const DRAIN_WINDOWS: u64 = 5;

const LEAST_DRAIN: Nanos = Nanos::from_secs(5);

const SLOWEST: BitRate = BitRate::new(100_000);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::plan::Choices;
    use crate::run::plan::Vocabulary;
    use crate::units::Bytes;

    /// btu-26 quick: 60 ms and 5 s of drain. btu-96: 32 Mb at 100 kb/s.
    #[test]
    fn the_caps_of_the_editions() {
        for (edition, cap) in
            [("btu-26", Nanos::from_millis(5060)), ("btu-96", Nanos::from_secs(320))]
        {
            let choices = Choices { edition: Some(edition), ..Choices::default() };
            let words = Vocabulary { activities: &["cpu", "ftp", "io"] };
            assert_eq!(Plan::resolve(&choices, &words, 1).unwrap().time_cap(), cap);
        }
    }

    /// A hundred bytes are sent as one message of 64 KiB, over a round trip of 20 ms; a terabyte at 100 kb/s takes years.
    #[test]
    fn the_cap_of_an_amount_is_neither_shorter_than_a_message_nor_longer_than_a_run() {
        let choices = Choices { edition: Some("btu-96"), ..Choices::default() };
        let words = Vocabulary { activities: &["cpu", "ftp", "io"] };
        let plan = Plan::resolve(&choices, &words, 1).unwrap();
        let cap =
            |bytes| Plan { amount: Amount::Fixed(Bytes::new(bytes)), ..plan.clone() }.time_cap();
        assert!(cap(100) > Nanos::from_secs(5), "{}", cap(100));
        assert_eq!(cap(1_000_000_000_000), LONGEST_RUN);
    }
}
