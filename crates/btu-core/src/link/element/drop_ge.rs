//! `drop ge`: losses in bursts, the model of Gilbert (1960) and Elliott (1963).
//!
//! Two states, good and bad, each with its own loss. Stationary loss is (P*B + R*G) / (P + R);
//! with B = 100 % and G = 0 bursts are geometric with mean 1/R.

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
    name: "drop ge",
    forms: "drop ge P R [B [G]] (P good to bad, R bad to good, B loss in bad, G loss in good; 1%)",
    help: "loses wire packets in bursts, by the Gilbert-Elliott model",
    parse,
};

#[derive(Debug)]
struct GilbertElliottSpec {
    to_bad: Ratio,
    to_good: Ratio,
    loss_in_bad: Ratio,
    loss_in_good: Ratio,
}

/// The state moves first, then the packet meets the new state. The upper half of a draw moves, the
/// lower half loses.
#[derive(Debug)]
struct GilbertElliott {
    to_bad: Chance,
    to_good: Chance,
    loss_in_bad: Chance,
    loss_in_good: Chance,
    bad: bool,
    stream: Stream,
}

impl ElementSpec for GilbertElliottSpec {
    fn build(&self, site: Site<'_>) -> Result<Box<dyn Element>, LinkError> {
        let model = GilbertElliott {
            to_bad: Chance::new(self.to_bad),
            to_good: Chance::new(self.to_good),
            loss_in_bad: Chance::new(self.loss_in_bad),
            loss_in_good: Chance::new(self.loss_in_good),
            bad: false,
            stream: site.stream,
        };
        Ok(losing(Box::new(model), site.handles))
    }
}

impl fmt::Display for GilbertElliottSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { to_bad, to_good, loss_in_bad, loss_in_good } = self;
        write!(out, "drop ge {to_bad} {to_good} {loss_in_bad} {loss_in_good}")
    }
}

impl GilbertElliott {
    fn loses_next(&mut self) -> bool {
        let draw = self.stream.draw();
        let moves = if self.bad { self.to_good } else { self.to_bad };
        self.bad ^= moves.hits_upper(draw);
        let loss = if self.bad { self.loss_in_bad } else { self.loss_in_good };
        loss.hits_lower(draw)
    }
}

impl Select for GilbertElliott {
    fn first_hit(&mut self, _flow: Flow, count: u32) -> Option<u32> {
        (0..count).find(|_| self.loses_next())
    }
}

fn parse(words: &mut Words<'_>) -> Result<Arc<dyn ElementSpec>, LinkError> {
    let rule = "0%, or from 0.00000003% to 100%";
    let to_bad = words.value_if("share P", rule, is_share_of_half)?;
    let to_good = words.value_if("share R", rule, is_share_of_half)?;
    let mut spec =
        GilbertElliottSpec { to_bad, to_good, loss_in_bad: Ratio::ONE, loss_in_good: Ratio::ZERO };
    if words.peek().is_some() {
        spec.loss_in_bad = words.value_if("share B", rule, is_share_of_half)?;
    }
    if words.peek().is_some() {
        spec.loss_in_good = words.value_if("share G", rule, is_share_of_half)?;
    }
    Ok(Arc::new(spec))
}
