//! `drop 4state`: netem's general model of losses in bursts and alone (Salsano et al., 2009).
//!
//! States: 1 good, 2 good inside a burst, 3 lost in a burst, 4 lost alone. From 4 the next packet
//! is always in 1.

use std::fmt;
use std::sync::Arc;

use crate::units::Ratio;

use super::Element;
use super::ElementKind;
use super::ElementSpec;
use super::LinkError;
use super::Site;
use super::Words;
use super::drop::losing;
use crate::link::chance::Chance;
use crate::link::chance::Stream;
use crate::link::chance::is_share_of_half;
use crate::link::packet::Flow;
use crate::link::select::Select;

pub(super) static KIND: ElementKind = ElementKind {
    name: "drop 4state",
    forms: "drop 4state P13 [P31 [P32 [P23 [P14]]]] (Pij from state i to j; 1%)",
    help: "loses wire packets in bursts or alone, by netem's 4-state Markov model",
    parse,
};

#[derive(Debug)]
struct FourStateSpec {
    p13: Ratio,
    p31: Ratio,
    p32: Ratio,
    p23: Ratio,
    p14: Ratio,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Good,
    GoodInBurst,
    LostInBurst,
    LostAlone,
}

/// From states 1 and 3 there are two ways out: the first below the first bound of a draw, the
/// second between the bounds.
#[derive(Debug)]
struct FourState {
    p14: Chance,
    p14_or_p13: Chance,
    p32: Chance,
    p32_or_p31: Chance,
    p23: Chance,
    state: State,
    stream: Stream,
}

impl ElementSpec for FourStateSpec {
    fn build(&self, site: Site<'_>) -> Result<Box<dyn Element>, LinkError> {
        let model = FourState {
            p14: Chance::new(self.p14),
            p14_or_p13: Chance::new(sum(self.p14, self.p13)),
            p32: Chance::new(self.p32),
            p32_or_p31: Chance::new(sum(self.p32, self.p31)),
            p23: Chance::new(self.p23),
            state: State::Good,
            stream: site.stream,
        };
        Ok(losing(Box::new(model), site.handles))
    }
}

impl fmt::Display for FourStateSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { p13, p31, p32, p23, p14 } = self;
        write!(out, "drop 4state {p13} {p31} {p32} {p23} {p14}")
    }
}

impl FourState {
    fn loses_next(&mut self) -> bool {
        let draw = self.stream.draw();
        self.state = match self.state {
            State::Good if self.p14.hits(draw) => State::LostAlone,
            State::Good if self.p14_or_p13.hits(draw) => State::LostInBurst,
            State::GoodInBurst if self.p23.hits(draw) => State::LostInBurst,
            State::LostInBurst if self.p32.hits(draw) => State::GoodInBurst,
            State::LostInBurst if self.p32_or_p31.hits(draw) => State::Good,
            State::LostAlone => State::Good,
            unchanged => unchanged,
        };
        matches!(self.state, State::LostAlone | State::LostInBurst)
    }
}

impl Select for FourState {
    fn first_hit(&mut self, _flow: Flow, count: u32) -> Option<u32> {
        (0..count).find(|_| self.loses_next())
    }
}

fn parse(words: &mut Words<'_>) -> Result<Arc<dyn ElementSpec>, LinkError> {
    let rule = "0%, or from 0.00000003% to 100%";
    let here = words.here();
    let p13 = words.value_if("share P13", rule, is_share_of_half)?;
    let mut next = |name: &str, default: Ratio| match words.peek() {
        Some(_) => words.value_if(name, rule, is_share_of_half),
        None => Ok(default),
    };
    let p31 = next("share P31", Ratio::new(1.0 - p13.share()))?;
    let p32 = next("share P32", Ratio::ZERO)?;
    let p23 = next("share P23", Ratio::ONE)?;
    let p14 = next("share P14", Ratio::ZERO)?;
    for (sum, name) in [(sum(p13, p14), "P13 + P14"), (sum(p31, p32), "P31 + P32")] {
        if sum.share() > 1.0 + 1e-12 {
            return Err(words.error_at(here, format!("{name} is {sum}, more than 100%")));
        }
    }
    Ok(Arc::new(FourStateSpec { p13, p31, p32, p23, p14 }))
}

fn sum(one: Ratio, other: Ratio) -> Ratio {
    Ratio::new(one.share() + other.share())
}
