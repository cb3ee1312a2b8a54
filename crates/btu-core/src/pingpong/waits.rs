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
mod tests {
    use super::*;
    use crate::pingpong::configuration::Mode;
    use crate::pingpong::curve::CurvePoint;
    use crate::pingpong::nature::Nature;
    use crate::pingpong::statistic::Statistic;

    /// A curve whose rounds are within `spread` of its time.
    fn spread(transport: &str, wait: Wait, time_us: f64, spread: f64) -> (Configuration, Curve) {
        let point = |size| CurvePoint {
            size: Bytes::new(size),
            time_us,
            interval_us: None,
            rounds_us: vec![time_us / spread, time_us, time_us * spread],
        };
        let points = [8, 1_536].map(point).to_vec();
        let (label, statistic) = (transport.to_owned(), Statistic::Typical);
        let curve = Curve { label, mode: Mode::PingPong, statistic, points };
        let layer = match transport {
            "raw" | "xdp" => Layer::Frames,
            "shm" => Layer::Memory,
            _ => Layer::Protocol,
        };
        let nature = Nature { layer, ..Nature::default() };
        (Configuration { wait, nature, ..Configuration::new(transport) }, curve)
    }

    /// The same with both ends on one CPU.
    fn on_one_cpu(mut measured: (Configuration, Curve)) -> (Configuration, Curve) {
        measured.0.placement = Placement::Same;
        measured
    }

    fn curve(transport: &str, wait: Wait, time_us: f64) -> (Configuration, Curve) {
        spread(transport, wait, time_us, 1.001)
    }

    /// What is said of 8 bytes from TCP.
    fn told(curves: &[(Configuration, Curve)]) -> Vec<String> {
        let gaps = WaitTable::new(curves, &WAIT_SIZES).gaps("tcp", Bytes::new(8));
        gaps.iter().map(ToString::to_string).collect()
    }

    /// Measured on a 2-CPU guest: TCP 11.8 and 3.7 us, raw frames 1.8 us. Student's t of three rounds of
    /// logs -0.001, 0 and 0.001 is 0.2484 % to each side: 0.0293, 0.0092 and 0.0045 us.
    #[test]
    fn the_gap_is_parted_into_waiting_and_protocol() {
        let curves = [
            curve("tcp", Wait::Block, 11.8),
            curve("tcp", Wait::Spin, 3.7),
            curve("packet", Wait::Spin, 1.8),
        ];
        let table = WaitTable::new(&curves, &WAIT_SIZES);
        let cells: usize = table.rows().iter().map(|row| row.cells.len()).sum();
        assert_eq!(cells, 6, "no curve reaches 64 KiB");
        let gap = table.gap("tcp", "packet", Bytes::new(8)).unwrap();
        assert_eq!(
            gap.to_string(),
            "8B: tcp that blocks takes 11.80 us, packet that spins 1.80 us; waiting costs 8.10 us \
             [8.07, 8.13], the protocol costs 1.90 us [1.89, 1.91]"
        );
        assert_eq!(table.rows()[1].at(Bytes::new(1_400)).unwrap().size, Bytes::new(1_536));
        assert_eq!(table.gap("tcp", "shm", Bytes::new(8)), None);
    }

    /// The micro-benchmark parts waiting from protocol on one path: shared memory is not on it.
    #[test]
    fn frames_are_told_beside_a_faster_copy_of_memory() {
        let mut curves = vec![
            curve("tcp", Wait::Block, 11.8),
            curve("tcp", Wait::Spin, 3.7),
            curve("raw", Wait::Spin, 1.8),
            curve("xdp", Wait::Spin, 2.0),
            curve("shm", Wait::Spin, 0.2),
        ];
        let raw = "8B: tcp that blocks takes 11.80 us, raw that spins 1.80 us; waiting costs 8.10 us \
                   [8.07, 8.13], the protocol costs 1.90 us [1.89, 1.91]";
        let shm = "8B: tcp that blocks takes 11.80 us, shm (a copy of memory) that spins 0.20 us; \
                   waiting costs 8.10 us [8.07, 8.13], the protocol costs 3.50 us [3.49, 3.51]";
        assert_eq!(told(&curves), [raw, shm]);
        curves.pop();
        assert_eq!(told(&curves), [raw]);
        curves.truncate(2);
        assert!(told(&curves).is_empty());
        // Frames are cut at the MTU where TCP hands over a large block in one piece.
        curves.push(curve("raw", Wait::Spin, 13.7));
        assert!(told(&curves)[0].contains("the protocol saves 10.00 us [9.96, 10.04]"));
    }

    /// Two ends that spin on one CPU each wait for the other's time slice.
    #[test]
    fn what_waiting_saves_has_no_sign_and_what_overlaps_is_not_told() {
        let curves = |spinning: f64| {
            [
                curve("tcp", Wait::Block, 60.0),
                spread("tcp", Wait::Spin, 297.1, spinning),
                curve("raw", Wait::Spin, 0.4),
            ]
        };
        let sure = told(&curves(1.001)).remove(0);
        assert!(sure.contains("waiting saves 237.10 us [236."), "{sure}");
        assert!(sure.contains("the protocol costs 296.70 us [29"), "{sure}");
        let wide = told(&curves(20.0)).remove(0);
        assert!(wide.ends_with("waiting and protocol cannot be told apart here"), "{wide}");
        let half = told(&curves(2.0)).remove(0);
        assert!(half.contains("waiting cannot be told apart here; the protocol costs"), "{half}");
        let mut bare = curves(1.001);
        bare[2].1.points[0].rounds_us.clear();
        let bare = told(&bare).remove(0);
        assert!(bare.ends_with("; the protocol cannot be told apart here"), "{bare}");
    }

    /// Waiting costs less where both ends share a CPU: nobody is woken elsewhere. Gaps are those of two CPUs,
    /// where ends can spin.
    #[test]
    fn each_row_is_its_own_and_the_second_cpu_has_its_sentence() {
        let curves = [
            on_one_cpu(curve("tcp", Wait::Block, 8.0)),
            curve("tcp", Wait::Block, 11.8),
            curve("tcp", Wait::Block, 11.9),
            curve("tcp", Wait::Spin, 3.7),
            curve("raw", Wait::Spin, 1.8),
        ];
        let table = WaitTable::new(&curves, &WAIT_SIZES);
        let eight = Bytes::new(8);
        let times: Vec<f64> =
            table.rows().iter().map(|row| row.at(eight).unwrap().time_us).collect();
        assert!(times.iter().zip([8.0, 11.8, 11.9, 3.7, 1.8]).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!(told(&curves)[0].contains("tcp that blocks takes 11.80 us"), "{:?}", told(&curves));
        let pinning = table.pinning("tcp", Wait::Block, eight).unwrap();
        assert_eq!(
            pinning.to_string(),
            "8B: tcp that blocks takes 11.80 us with each end on a CPU of its own, 8.00 us with both on \
             one; the second CPU costs 3.80 us [3.76, 3.84]"
        );
        assert_eq!(table.pinning("tcp", Wait::Spin, eight), None);
        let wide = [
            on_one_cpu(spread("tcp", Wait::BusyPoll, 8.0, 3.0)),
            spread("tcp", Wait::BusyPoll, 9.0, 3.0),
        ];
        let wide =
            WaitTable::new(&wide, &WAIT_SIZES).pinning("tcp", Wait::BusyPoll, eight).unwrap();
        let said = wide.to_string();
        assert!(said.contains("tcp that waits by busy-poll"), "{said}");
        assert!(said.ends_with("what the second CPU costs cannot be told here"), "{said}");
    }
}
