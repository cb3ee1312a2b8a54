//! `reorder`: lets some packets overtake a chosen one.

use std::fmt;
use std::sync::Arc;

use crate::units::Nanos;

use super::Element;
use super::ElementKind;
use super::ElementSpec;
use super::LinkError;
use super::Site;
use super::Words;
use crate::link::followers::Behind;
use crate::link::followers::HoldForFollowers;
use crate::link::followers::Patience;
use crate::link::followers::Rule;
use crate::link::select::Selection;

pub(super) static KIND: ElementKind = ElementKind {
    name: "reorder",
    forms: "reorder SHARE (1%) after FOLLOWERS (3pkt) (or a pattern k@n[,k@n]*/P, or list FILE)",
    help: "lets chosen wire packets leave only after so many followers, or 50 ms",
    parse,
};

#[derive(Debug)]
struct ReorderSpec {
    selection: Selection,
    followers: u64,
}

impl ElementSpec for ReorderSpec {
    fn build(&self, site: Site<'_>) -> Result<Box<dyn Element>, LinkError> {
        let rule = Rule { followers: self.followers, behind: Behind::Overtake, patience: PATIENCE };
        let select = self.selection.build(site.stream);
        Ok(Box::new(HoldForFollowers::new(select, rule, site.handles)))
    }
}

impl fmt::Display for ReorderSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "reorder {} after {}pkt", self.selection, self.followers)
    }
}

fn parse(words: &mut Words<'_>) -> Result<Arc<dyn ElementSpec>, LinkError> {
    let selection = Selection::parse(words)?;
    if !words.keyword("after") {
        return Err(words.error("after what? write \"after\" and a count of packets"));
    }
    let followers = words.packets("followers")?;
    Ok(Arc::new(ReorderSpec { selection, followers }))
}

const PATIENCE: Patience = Patience::Age(Nanos::from_millis(50));
