//! The statistics of a point by name: what a curve may be drawn of.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::Serialize;

/// A statistic of the half round trips of one point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// The geometric mean of the round medians: the headline, with its interval.
    #[default]
    Typical,
    /// The fastest exchange.
    Min,
    /// The median of all exchanges.
    Median,
    /// The 99 % quantile of all exchanges; in a closed loop, so no latency under load.
    P99,
    /// The mean of all exchanges.
    Mean,
    /// The mean of the first 3,000 exchanges and those after them in their round (hollingsworth1998, "Micro-benchmarks").
    AverageOf3000,
    /// NetPIPE's: the smallest of three means of a third of the exchanges each.
    Netpipe,
}

/// A name that is no statistic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("statistic \"{name}\" is unknown; write {legal}")]
pub struct UnknownStatistic {
    name: String,
    legal: String,
}

impl Statistic {
    /// Every statistic, in the order in which tables show them.
    pub const ALL: &[Self] = &[
        Self::Typical,
        Self::Min,
        Self::Median,
        Self::P99,
        Self::Mean,
        Self::AverageOf3000,
        Self::Netpipe,
    ];

    /// The name in options and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Typical => "typical",
            Self::Min => "min",
            Self::Median => "median",
            Self::P99 => "p99",
            Self::Mean => "mean",
            Self::AverageOf3000 => "average-of-3000",
            Self::Netpipe => "netpipe",
        }
    }

    /// How it is computed, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Typical => "geometric mean of the medians of the rounds",
            Self::Min => "the fastest exchange",
            Self::Median => "median of all exchanges",
            Self::P99 => "99 % quantile of all exchanges",
            Self::Mean => "mean of all exchanges",
            Self::AverageOf3000 => {
                "mean of the first 3000 exchanges, the last round that it takes as a whole"
            }
            Self::Netpipe => "smallest of the means of three thirds of the exchanges",
        }
    }

    /// Why a point has no interval of it, where it has none.
    pub const fn without_interval(self) -> &'static str {
        match self {
            Self::Typical | Self::Median | Self::Mean | Self::Netpipe => "fewer than three rounds",
            Self::Min => "one sweep does not tell how fast the fastest exchange of another is",
            Self::P99 => "fewer than three stretches of rounds with 500 timed units each",
            Self::AverageOf3000 => "fewer than three rounds have its exchanges",
        }
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Statistic {
    type Err = UnknownStatistic;

    fn from_str(name: &str) -> Result<Self, UnknownStatistic> {
        let found = Self::ALL.iter().copied().find(|statistic| statistic.name() == name);
        found.ok_or_else(|| {
            let legal: Vec<&str> = Self::ALL.iter().map(|statistic| statistic.name()).collect();
            UnknownStatistic { name: name.to_owned(), legal: legal.join(", ") }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statistic_is_found_by_its_name() {
        for statistic in Statistic::ALL {
            assert_eq!(statistic.to_string().parse(), Ok(*statistic));
            let line = serde_json::to_string(statistic).unwrap();
            assert_eq!(line.trim_matches('"').replace("of3000", "of-3000"), statistic.name());
        }
        let error = "best".parse::<Statistic>().unwrap_err().to_string();
        assert!(error.starts_with("statistic \"best\" is unknown; write typical, min"));
    }
}
