//! Which wire packets an element acts on: by counter, by list or by chance.

mod counted;

use std::fmt;
use std::sync::Arc;

use crate::units::Ratio;

use super::LinkError;
use super::chance::Chance;
use super::chance::Stream;
use super::continued::Counting;
use super::packet::Flow;
use super::packet::Packet;
use super::pattern::Pattern;
use super::words::Words;

pub(super) use counted::Counter;
pub(super) use counted::Table;

use counted::Counted;
use counted::CountedPerFlow;
use counted::Listed;

/// Chooses wire packets one after the other, so that the choice never depends on how they were
/// grouped to super-packets. Chance is drawn once per wire packet, chosen or not.
pub(super) trait Select: fmt::Debug + Send {
    /// How many of the next `count` packets pass before the first chosen one; that one is used up
    /// as well. `None` where all `count` pass.
    fn first_hit(&mut self, flow: Flow, count: u32) -> Option<u32>;

    /// How many packets the definition chooses of those seen in this run; `None` for chance.
    fn expected(&self) -> Option<u64> {
        None
    }

    /// As [`Element::counting`](super::element::Element::counting).
    fn counting(&self) -> Option<Counting> {
        None
    }

    /// As [`Element::go_on`](super::element::Element::go_on).
    fn go_on(&mut self, _from: &Counting) {}
}

/// A part of a run: chosen wire packets come one by one.
pub(super) enum Part {
    Hit(Packet),
    Passed(Packet),
}

/// Cuts a run into what `select` passes and what it chooses, in order.
pub(super) fn sort_out(select: &mut dyn Select, packet: Packet, mut each: impl FnMut(Part)) {
    let mut rest = Some(packet);
    while let Some(run) = rest {
        let hit = select.first_hit(run.flow(), run.count());
        if let Some(passed) = Packet::take_front(&mut rest, hit.unwrap_or(run.count())) {
            each(Part::Passed(passed));
        }
        if let Some(hit) = hit.and_then(|_| Packet::take_front(&mut rest, 1)) {
            each(Part::Hit(hit));
        }
    }
}

/// A selection as text: the part of an element's text that says which packets.
#[derive(Clone, Debug)]
pub(super) enum Selection {
    /// `list FILE`
    List { file: String, positions: Arc<[u64]> },
    /// `k@n/P [phase N] [continuous] [per flow]`
    Pattern { pattern: Pattern, start: Start, scope: Scope },
    /// `1%`
    Share(Ratio),
}

/// Where the counter of a pattern starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    /// Packets that pass before the counter starts.
    pub(super) phase: u64,
    /// True where a new run goes on counting.
    pub(super) continuous: bool,
}

/// What has a counter of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Direction,
    Flow,
}

impl Selection {
    pub(super) fn parse(words: &mut Words<'_>) -> Result<Self, LinkError> {
        if words.keyword("list") {
            return parse_list(words);
        }
        match words.peek() {
            Some(word) if word.contains(['@', '/']) => parse_pattern(words),
            _ => words.value_if("share", "from 0% to 100%", is_share).map(Self::Share),
        }
    }

    pub(super) fn build(&self, stream: Stream) -> Box<dyn Select> {
        match self {
            Self::List { positions, .. } => Box::new(Listed::new(Arc::clone(positions))),
            Self::Pattern { pattern, start, scope: Scope::Direction } => {
                Box::new(Counted::new(pattern.clone(), *start))
            }
            Self::Pattern { pattern, start, scope: Scope::Flow } => {
                Box::new(CountedPerFlow::new(pattern.clone(), *start))
            }
            Self::Share(share) => Box::new(Bernoulli { chance: Chance::new(*share), stream }),
        }
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List { file, .. } => write!(out, "list {file}"),
            Self::Pattern { pattern, start, scope } => {
                write!(out, "{pattern}")?;
                if start.phase > 0 {
                    write!(out, " phase {}", start.phase)?;
                }
                let continuous = if start.continuous { " continuous" } else { "" };
                let scope = if *scope == Scope::Flow { " per flow" } else { "" };
                write!(out, "{continuous}{scope}")
            }
            Self::Share(share) => write!(out, "{share}"),
        }
    }
}

/// Each packet by itself with the same probability.
#[derive(Debug)]
struct Bernoulli {
    chance: Chance,
    stream: Stream,
}

impl Select for Bernoulli {
    fn first_hit(&mut self, _flow: Flow, count: u32) -> Option<u32> {
        (0..count).find(|_| self.chance.hits(self.stream.draw()))
    }
}

pub(super) fn is_share(share: Ratio) -> bool {
    (0.0..=1.0).contains(&share.share())
}

fn parse_pattern(words: &mut Words<'_>) -> Result<Selection, LinkError> {
    let pattern = words.value("pattern")?;
    let mut start = Start::default();
    if words.keyword("phase") {
        start.phase = words.value_if("phase", "below 10^15 packets", |phase| phase < 1 << 49)?;
    }
    start.continuous = words.keyword("continuous");
    let mut scope = Scope::Direction;
    if words.keyword("per") {
        if !words.keyword("flow") {
            return Err(words.error("after \"per\" only \"flow\" is legal"));
        }
        scope = Scope::Flow;
    }
    Ok(Selection::Pattern { pattern, start, scope })
}

/// One position per line, from 1, in rising order; `#` starts a comment.
fn parse_list(words: &mut Words<'_>) -> Result<Selection, LinkError> {
    let here = words.here();
    let (file, text) = words.file()?;
    let mut positions: Vec<u64> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        match line.parse() {
            Ok(position) if position > positions.last().copied().unwrap_or(0) => {
                positions.push(position);
            }
            _ => {
                let number = index + 1;
                return Err(words.error_at(
                    here,
                    format!("{file}:{number}: \"{line}\" is no position above the one before"),
                ));
            }
        }
    }
    if positions.is_empty() {
        return Err(words.error_at(here, format!("{file}: no position is in it")));
    }
    Ok(Selection::List { file, positions: positions.into() })
}
