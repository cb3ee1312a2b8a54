//! Transport by wait mode: what waiting costs, apart from what the protocol costs.
//!
//! "User-level networking wins" (hollingsworth1998) compares two things at once: a message layer
//! that polls with a protocol that blocks. The table crosses both, and takes the gap apart.

use std::fmt;

use super::configuration::Configuration;
use super::configuration::Placement;
use super::configuration::Wait;
use super::configuration::size_f64;
use super::curve::Curve;
use super::nature::Layer;
use crate::stats::Interval;
use crate::units::Bytes;

/// The sizes of the table: 8 B, 1400 B and 64 KiB.
pub const WAIT_SIZES: [Bytes; 3] = [Bytes::new(8), Bytes::new(1_400), Bytes::new(64 << 10)];

/// Transport by wait mode and by where the ends run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WaitTable {
    rows: Vec<WaitRow>,
}

/// One curve of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitRow {
    /// The transport.
    pub transport: String,
    /// How its ends wait.
    pub wait: Wait,
    /// On which CPUs they run.
    pub placement: Placement,
    /// What its blocks pass.
    pub layer: Layer,
    /// What was measured of it.
    pub cells: Vec<WaitCell>,
}

/// One curve at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitCell {
    /// The size of the table.
    pub wanted: Bytes,
    /// The nearest size that was measured.
    pub size: Bytes,
    /// T, in microseconds.
    pub time_us: f64,
    /// Its 95 % interval.
    pub interval_us: Option<Interval>,
    /// The same beside the other cells, which were measured in the same rounds.
    pub beside_us: Option<Interval>,
}

/// The gap between a transport that blocks and another that spins, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// The slower one, blocking.
    pub from: String,
    /// The faster one, spinning.
    pub to: String,
    /// What the blocks of the faster one pass.
    pub layer: Layer,
    /// The size of the table.
    pub size: Bytes,
    /// `from`, blocking.
    pub blocking: Taken,
    /// `from`, spinning.
    pub spinning: Taken,
    /// `to`, spinning.
    pub other: Taken,
}

/// A transport with both ends on one CPU and with each on its own, waiting in one way.
#[derive(Clone, Debug, PartialEq)]
pub struct Pinning {
    /// The transport.
    pub transport: String,
    /// How its ends wait.
    pub wait: Wait,
    /// The size of the table.
    pub size: Bytes,
    /// Each end on a CPU of its own.
    pub split: Taken,
    /// Both on the same one.
    pub same: Taken,
}

/// A time of a cell, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taken {
    /// T.
    pub time_us: f64,
    /// Its 95 % interval beside the other cells, which were measured in the same rounds.
    pub beside_us: Option<Interval>,
}

/// What one time is above another, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The difference; below zero where the second is the slower one.
    pub us: f64,
    /// Its 95 % interval.
    pub interval_us: Interval,
}

impl WaitTable {
    /// The rows of some curves at some sizes, each by a size within a quarter.
    pub fn new(curves: &[(Configuration, Curve)], sizes: &[Bytes]) -> Self {
        let of_curve = |(configuration, curve): &(Configuration, Curve)| WaitRow {
            transport: configuration.transport.clone(),
            wait: configuration.wait,
            placement: configuration.placement,
            layer: configuration.nature.layer,
            cells: sizes.iter().filter_map(|size| cell(curve, *size)).collect(),
        };
        Self { rows: curves.iter().map(of_curve).collect() }
    }

    /// One row for each curve, in their order.
    pub fn rows(&self) -> &[WaitRow] {
        &self.rows
    }

    /// The gap between `from` with blocking and `to` with spinning ends, each on a CPU of its own.
    pub fn gap(&self, from: &str, to: &str, size: Bytes) -> Option<Gap> {
        let placement = self.of_spinning()?;
        let taken = |wait| Some(self.row(from, wait, placement)?.at(size)?.taken());
        let row = self.row(to, Wait::Spin, placement)?;
        Some(Gap {
            from: from.to_owned(),
            to: to.to_owned(),
            layer: row.layer,
            size,
            blocking: taken(Wait::Block)?,
            spinning: taken(Wait::Spin)?,
            other: row.at(size)?.taken(),
        })
    }

    /// The gaps from `from` at a size: to the fastest transport of frames, and to the fastest one of
    /// all where that is another. A copy of memory leaves out the whole network and shows what a
    /// machine could do; frames go over the same path, and show what the protocol costs there.
    pub fn gaps(&self, from: &str, size: Bytes) -> Vec<Gap> {
        let spinning = self.rows.iter().filter(|row| row.wait == Wait::Spin);
        let here = spinning.filter(|row| row.transport != from);
        let mut gaps: Vec<Gap> =
            here.filter_map(|row| self.gap(from, &row.transport, size)).collect();
        gaps.sort_by(|a, b| a.other.time_us.total_cmp(&b.other.time_us));
        let frames = gaps.iter().find(|gap| gap.layer == Layer::Frames).cloned();
        let fastest = gaps.first().cloned().filter(|gap| Some(gap) != frames.as_ref());
        frames.into_iter().chain(fastest).collect()
    }

    /// What a second CPU costs a transport that waits so.
    pub fn pinning(&self, transport: &str, wait: Wait, size: Bytes) -> Option<Pinning> {
        let taken = |placement| Some(self.row(transport, wait, placement)?.at(size)?.taken());
        let (split, same) = (taken(Placement::Split)?, taken(Placement::Same)?);
        Some(Pinning { transport: transport.to_owned(), wait, size, split, same })
    }

    /// The first curve of these three: one that was measured twice has two rows.
    fn row(&self, transport: &str, wait: Wait, placement: Placement) -> Option<&WaitRow> {
        let is_it = |row: &&WaitRow| {
            row.transport == transport && (row.wait, row.placement) == (wait, placement)
        };
        self.rows.iter().find(is_it)
    }

    /// Where the ends of the first curve run that spin: gaps are taken apart there.
    fn of_spinning(&self) -> Option<Placement> {
        self.rows.iter().find(|row| row.wait == Wait::Spin).map(|row| row.placement)
    }
}

impl WaitRow {
    /// Its cell of a size of the table.
    pub fn at(&self, wanted: Bytes) -> Option<&WaitCell> {
        self.cells.iter().find(|cell| cell.wanted == wanted)
    }
}

impl WaitCell {
    fn taken(&self) -> Taken {
        Taken { time_us: self.time_us, beside_us: self.beside_us }
    }
}

impl Gap {
    /// What waiting costs: `from` blocking less `from` spinning; `None` where their intervals do not tell
    /// them apart.
    pub fn waiting(&self) -> Option<Term> {
        self.blocking.above(&self.spinning)
    }

    /// What the protocol costs: `from` less `to`, both spinning; `None` where their intervals do not tell
    /// them apart.
    pub fn protocol(&self) -> Option<Term> {
        self.spinning.above(&self.other)
    }
}

impl Pinning {
    /// What the second CPU costs; `None` where the intervals do not tell the two apart.
    pub fn second_cpu(&self) -> Option<Term> {
        self.split.above(&self.same)
    }
}

impl Taken {
    /// What this is above `other`. The interval of a difference has the squares of the distances of both
    /// from their bounds added (G. Zou and A. Donner, "Construction of confidence limits about effect
    /// measures", Statistics in Medicine 27, 2008, eq. 3).
    fn above(&self, other: &Self) -> Option<Term> {
        let (a, b) = (self.beside_us?, other.beside_us?);
        let us = self.time_us - other.time_us;
        let down = (self.time_us - a.low).hypot(b.high - other.time_us);
        let up = (a.high - self.time_us).hypot(other.time_us - b.low);
        let interval_us = Interval { low: us - down, high: us + up };
        (a.low > b.high || b.low > a.high).then_some(Term { us, interval_us })
    }
}

impl Term {
    /// `costs 8.10 us [7.95, 8.25]`, or what it saves.
    fn verb(self) -> String {
        let Interval { low, high } = self.interval_us;
        let (verb, sign, low, high) =
            if self.us < 0.0 { ("saves", -1.0, -high, -low) } else { ("costs", 1.0, low, high) };
        format!("{verb} {:.2} us [{low:.2}, {high:.2}]", sign * self.us)
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, layer, size, blocking, other, .. } = self;
        let memory = if *layer == Layer::Memory { " (a copy of memory)" } else { "" };
        write!(
            out,
            "{size}: {from} that blocks takes {:.2} us, {to}{memory} that spins {:.2} us; ",
            blocking.time_us, other.time_us
        )?;
        match (self.waiting(), self.protocol()) {
            (None, None) => out.write_str("waiting and protocol cannot be told apart here"),
            (Some(waiting), None) => {
                write!(out, "waiting {}; the protocol cannot be told apart here", waiting.verb())
            }
            (None, Some(protocol)) => {
                write!(out, "waiting cannot be told apart here; the protocol {}", protocol.verb())
            }
            (Some(waiting), Some(protocol)) => {
                write!(out, "waiting {}, the protocol {}", waiting.verb(), protocol.verb())
            }
        }
    }
}

impl fmt::Display for Pinning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { transport, wait, size, split, same } = self;
        let ends =
            if *wait == Wait::Block { "blocks".to_owned() } else { format!("waits by {wait}") };
        write!(
            out,
            "{size}: {transport} that {ends} takes {:.2} us with each end on a CPU of its own, {:.2} us \
             with both on one; ",
            split.time_us, same.time_us
        )?;
        match self.second_cpu() {
            None => out.write_str("what the second CPU costs cannot be told here"),
            Some(term) => write!(out, "the second CPU {}", term.verb()),
        }
    }
}

fn cell(curve: &Curve, wanted: Bytes) -> Option<WaitCell> {
    let off = |size: Bytes| (size_f64(size) / size_f64(wanted)).ln().abs();
    let nearest = curve.points.iter().min_by(|a, b| off(a.size).total_cmp(&off(b.size)))?;
    (off(nearest.size) <= NEAR.ln()).then(|| WaitCell {
        wanted,
        size: nearest.size,
        time_us: nearest.time_us,
        interval_us: nearest.interval_us,
        beside_us: nearest.beside_us(),
    })
}

/// How far a measured size may be from that of the table.
const NEAR: f64 = 1.25;

#[cfg(test)]
mod tests;
