//! What the finder has to say of each candidate, as values and as a sentence.

use std::fmt;
use std::ops::RangeInclusive;

use serde::Deserialize;
use serde::Serialize;

use super::Candidate;
use crate::units::Bytes;
use crate::words::several;

/// What became of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum Finding {
    /// It is a chasm.
    Confirmed(Box<Chasm>),
    /// It did not come again: other work on the machine, most likely.
    NotReproduced {
        /// First point of the candidate.
        from: Bytes,
        /// Last point of the candidate.
        to: Bytes,
        /// How slow it was in the sweep.
        ratio_seen: f64,
        /// How slow it was when measured again.
        ratio_again: f64,
        /// In how many rounds of how many it was slow again.
        rounds: (u32, u32),
    },
    /// It could not be examined to its end.
    Incomplete {
        /// First point of the candidate.
        from: Bytes,
        /// Last point of the candidate.
        to: Bytes,
        /// What went wrong.
        reason: String,
    },
}

/// A confirmed chasm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chasm {
    /// The first slow size.
    pub from: Bytes,
    /// The last slow size.
    pub to: Bytes,
    /// Whether the left edge was confirmed beside its clean neighbour.
    pub from_sure: bool,
    /// Whether the right edge was confirmed beside its clean neighbour.
    pub to_sure: bool,
    /// T of the worst point over what is expected of it.
    pub ratio: f64,
    /// What is expected of it, in microseconds: the base of the ratio.
    pub clean_us: f64,
    /// In how many rounds of how many it was slow again.
    pub confirmed: (u32, u32),
    /// p value after Holm's correction over all candidates.
    pub p: f64,
    /// Ranges of good sizes inside.
    pub holes: Vec<RangeInclusive<u64>>,
    /// Why they could not be looked for to the end.
    pub holes_unknown: Option<String>,
    /// What each factor does.
    pub effects: Vec<Effect>,
}

/// What a factor does to a chasm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The factor's name.
    pub factor: String,
    /// What it does.
    pub outcome: Outcome,
}

/// What changing one factor does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// No size is slow any more.
    Removes,
    /// The slow sizes are others.
    Moves {
        /// The first slow size.
        from: Bytes,
        /// The last slow size.
        to: Bytes,
    },
    /// The edges stay where they are.
    Nothing,
    /// It could not be told.
    Unclear {
        /// Why.
        reason: String,
    },
    /// It cannot be tried here.
    Untested {
        /// Why.
        reason: String,
    },
}

impl Chasm {
    /// The factors without which there is no chasm.
    pub fn removed_by(&self) -> impl Iterator<Item = &str> {
        let removes = |effect: &&Effect| effect.outcome == Outcome::Removes;
        self.effects.iter().filter(removes).map(|effect| effect.factor.as_str())
    }

    /// The factors that move an edge, and where to.
    pub fn moved_by(&self) -> impl Iterator<Item = (&str, Bytes, Bytes)> {
        self.effects.iter().filter_map(|effect| match effect.outcome {
            Outcome::Moves { from, to } => Some((effect.factor.as_str(), from, to)),
            _ => None,
        })
    }

    /// The factors that change nothing.
    pub fn without_effect(&self) -> impl Iterator<Item = &str> {
        let nothing = |effect: &&Effect| effect.outcome == Outcome::Nothing;
        self.effects.iter().filter(nothing).map(|effect| effect.factor.as_str())
    }

    /// The factors of which it could not be told what they do, with the reason.
    pub fn unclear(&self) -> impl Iterator<Item = (&str, &str)> {
        self.effects.iter().filter_map(|effect| match &effect.outcome {
            Outcome::Unclear { reason } => Some((effect.factor.as_str(), reason.as_str())),
            _ => None,
        })
    }

    /// The factors that could not be tried, with the reason.
    pub fn untested(&self) -> impl Iterator<Item = (&str, &str)> {
        self.effects.iter().filter_map(|effect| match &effect.outcome {
            Outcome::Untested { reason } => Some((effect.factor.as_str(), reason.as_str())),
            _ => None,
        })
    }

    /// How many factors of how many say nothing of the cause.
    fn unknown(&self) -> String {
        let of = self.effects.len();
        let counts = [
            (self.untested().count(), "could not be tried"),
            (self.unclear().count(), "are unclear"),
        ];
        let told = counts.iter().filter(|(factors, _)| *factors > 0);
        let told: Vec<String> =
            told.map(|(factors, what)| format!("{factors} of {of} factors {what}")).collect();
        if told.is_empty() {
            format!("none of {of} factors removes or moves it")
        } else {
            told.join(", ")
        }
    }

    /// What removes and what moves it.
    fn cause(&self) -> String {
        let removed: Vec<&str> = self.removed_by().collect();
        let moved = self.moved_by().map(|(factor, from, to)| {
            format!("moved by {factor} to {}..{} bytes", from.count(), to.count())
        });
        let removed = (!removed.is_empty()).then(|| format!("removed by {}", removed.join(", ")));
        let parts: Vec<String> = removed.into_iter().chain(moved).collect();
        match (parts.is_empty(), self.effects.is_empty()) {
            (false, _) => parts.join("; "),
            (true, true) => "no cause looked for".to_owned(),
            (true, false) => format!("cause unknown: {}", self.unknown()),
        }
    }
}

impl Finding {
    pub(super) fn incomplete(candidate: &Candidate, reason: String) -> Self {
        Self::Incomplete { from: candidate.from, to: candidate.to, reason }
    }

    /// The chasm, if it is one.
    pub fn chasm(&self) -> Option<&Chasm> {
        match self {
            Self::Confirmed(chasm) => Some(chasm),
            Self::NotReproduced { .. } | Self::Incomplete { .. } => None,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Confirmed(chasm) => chasm.fmt(out),
            Self::NotReproduced { from, to, ratio_seen, rounds: (slow, rounds), .. } => write!(
                out,
                "{}, factor {ratio_seen:.1} in the sweep: not reproduced (slow in {slow} of {rounds} rounds)",
                sizes((*from, ""), (*to, ""))
            ),
            Self::Incomplete { from, to, reason } => {
                let sizes = sizes((*from, ""), (*to, ""));
                write!(out, "{sizes}: not examined to its end: {reason}")
            }
        }
    }
}

impl fmt::Display for Chasm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unsure = |sure| if sure { "" } else { " (edge not confirmed)" };
        let (slow, rounds) = self.confirmed;
        write!(
            out,
            "{}, factor {:.1}, confirmed {slow} of {rounds}, {}",
            sizes((self.from, unsure(self.from_sure)), (self.to, unsure(self.to_sure))),
            self.ratio,
            self.cause()
        )?;
        let holes: Vec<String> =
            self.holes.iter().map(|hole| format!("{}..{}", hole.start(), hole.end())).collect();
        if holes.is_empty() {
            Ok(())
        } else {
            write!(out, "; good sizes inside: {}", holes.join(", "))
        }
    }
}

/// `between 17 and 1463 bytes`, `at 6 bytes`; each edge with what is to be said of it.
fn sizes((from, of_from): (Bytes, &str), (to, of_to): (Bytes, &str)) -> String {
    let (least, most) = (from.count(), to.count());
    if least == most {
        let doubt = if of_from.is_empty() { of_to } else { of_from };
        return format!("at {}{doubt}", several(least, "byte"));
    }
    format!("between {least}{of_from} and {most}{of_to} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_that_is_unclear_is_not_counted_as_one_that_does_nothing() {
        let effect = |factor: &str, outcome| Effect { factor: factor.to_owned(), outcome };
        let reason = || "slow in 2 of 5 rounds".to_owned();
        let chasm = |effects| Chasm {
            from: Bytes::new(100),
            to: Bytes::new(200),
            from_sure: true,
            to_sure: true,
            ratio: 4.0,
            clean_us: 10.0,
            confirmed: (5, 5),
            p: 0.001,
            holes: Vec::new(),
            holes_unknown: None,
            effects,
        };
        let nothing = || effect("MTU 9000", Outcome::Nothing);
        let unclear = || effect("SO_SNDBUF x2", Outcome::Unclear { reason: reason() });
        let untested = || effect("wait spin", Outcome::Untested { reason: reason() });
        let cause = |effects: Vec<Effect>| chasm(effects).cause();
        assert_eq!(cause(vec![nothing()]), "cause unknown: none of 1 factors removes or moves it");
        assert_eq!(cause(vec![nothing(), unclear()]), "cause unknown: 1 of 2 factors are unclear");
        assert_eq!(
            cause(vec![nothing(), unclear(), untested()]),
            "cause unknown: 1 of 3 factors could not be tried, 1 of 3 factors are unclear"
        );
        let all = chasm(vec![nothing(), unclear(), untested()]);
        assert_eq!(all.without_effect().collect::<Vec<_>>(), ["MTU 9000"]);
        assert_eq!(all.unclear().collect::<Vec<_>>(), [("SO_SNDBUF x2", "slow in 2 of 5 rounds")]);
        assert_eq!(all.untested().collect::<Vec<_>>(), [("wait spin", "slow in 2 of 5 rounds")]);
    }
}
