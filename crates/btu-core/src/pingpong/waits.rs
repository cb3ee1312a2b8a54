//! Transport by wait mode: what waiting costs, apart from what the protocol costs.
//!
//! "User-level networking wins" (hollingsworth1998) compares two things at once: a message layer
//! that polls with a protocol that blocks. The table crosses both, and takes the gap apart.

use std::fmt;

use super::configuration::Configuration;
use super::configuration::Wait;
use super::configuration::size_f64;
use super::curve::Curve;
use crate::stats::Interval;
use crate::units::Bytes;

/// The sizes of the table: 8 B, 1400 B and 64 KiB.
pub const WAIT_SIZES: [Bytes; 3] = [Bytes::new(8), Bytes::new(1_400), Bytes::new(64 << 10)];

/// Transport by wait mode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WaitTable {
    cells: Vec<WaitCell>,
}

/// One transport with one wait mode at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitCell {
    /// The transport.
    pub transport: String,
    /// How its ends wait.
    pub wait: Wait,
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
    /// The size of the table.
    pub size: Bytes,
    /// `from`, blocking.
    pub blocking: Taken,
    /// `from`, spinning.
    pub spinning: Taken,
    /// `to`, spinning.
    pub other: Taken,
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
    /// The cells of some curves at some sizes, each by a size within a quarter.
    pub fn new(curves: &[(Configuration, Curve)], sizes: &[Bytes]) -> Self {
        let of_curve = |(configuration, curve): &(Configuration, Curve)| -> Vec<WaitCell> {
            sizes.iter().filter_map(|size| cell(configuration, curve, *size)).collect()
        };
        Self { cells: curves.iter().flat_map(of_curve).collect() }
    }

    /// All cells, in the order of the curves.
    pub fn cells(&self) -> &[WaitCell] {
        &self.cells
    }

    /// One cell.
    pub fn at(&self, transport: &str, wait: Wait, wanted: Bytes) -> Option<&WaitCell> {
        let same = |cell: &&WaitCell| {
            cell.transport == transport && cell.wait == wait && cell.wanted == wanted
        };
        self.cells.iter().find(same)
    }

    /// The gap between `from` with blocking and `to` with spinning ends.
    pub fn gap(&self, from: &str, to: &str, size: Bytes) -> Option<Gap> {
        let taken = |transport: &str, wait| {
            let cell = self.at(transport, wait, size)?;
            Some(Taken { time_us: cell.time_us, beside_us: cell.beside_us })
        };
        Some(Gap {
            from: from.to_owned(),
            to: to.to_owned(),
            size,
            blocking: taken(from, Wait::Block)?,
            spinning: taken(from, Wait::Spin)?,
            other: taken(to, Wait::Spin)?,
        })
    }
}

impl WaitTable {
    /// The gaps from `from` at a size: to the fastest transport of frames, and to the fastest one of
    /// all where that is another. A copy of memory leaves out the whole network and shows what a
    /// machine could do; frames go over the same path, and show what the protocol costs there.
    pub fn gaps(&self, from: &str, size: Bytes) -> Vec<Gap> {
        let spinning = self.cells.iter().filter(|cell| cell.wait == Wait::Spin);
        let here = spinning.filter(|cell| cell.wanted == size && cell.transport != from);
        let mut gaps: Vec<Gap> =
            here.filter_map(|cell| self.gap(from, &cell.transport, size)).collect();
        gaps.sort_by(|a, b| a.other.time_us.total_cmp(&b.other.time_us));
        let frames = gaps.iter().find(|gap| FRAMES.contains(&gap.to.as_str())).cloned();
        let fastest = gaps.first().cloned().filter(|gap| Some(gap) != frames.as_ref());
        frames.into_iter().chain(fastest).collect()
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
        let Self { from, to, size, blocking, other, .. } = self;
        let memory = if MEMORY.contains(&to.as_str()) { " (a copy of memory)" } else { "" };
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

fn cell(configuration: &Configuration, curve: &Curve, wanted: Bytes) -> Option<WaitCell> {
    let off = |size: Bytes| (size_f64(size) / size_f64(wanted)).ln().abs();
    let nearest = curve.points.iter().min_by(|a, b| off(a.size).total_cmp(&off(b.size)))?;
    (off(nearest.size) <= NEAR.ln()).then(|| WaitCell {
        transport: configuration.transport.clone(),
        wait: configuration.wait,
        wanted,
        size: nearest.size,
        time_us: nearest.time_us,
        interval_us: nearest.interval_us,
        beside_us: nearest.beside_us(),
    })
}

/// How far a measured size may be from that of the table.
const NEAR: f64 = 1.25;
/// Transports that pass frames of their own over the link, below every protocol of the kernel.
const FRAMES: [&str; 2] = ["raw", "xdp"];
/// Transports between two ends of one host that pass no link.
const MEMORY: [&str; 3] = ["shm", "unix", "seqpacket"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pingpong::configuration::Mode;
    use crate::pingpong::curve::CurvePoint;
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
        (Configuration { wait, ..Configuration::new(transport) }, curve)
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
        assert_eq!(table.cells().len(), 6, "no curve reaches 64 KiB");
        let gap = table.gap("tcp", "packet", Bytes::new(8)).unwrap();
        assert_eq!(
            gap.to_string(),
            "8B: tcp that blocks takes 11.80 us, packet that spins 1.80 us; waiting costs 8.10 us \
             [8.07, 8.13], the protocol costs 1.90 us [1.89, 1.91]"
        );
        assert_eq!(table.at("tcp", Wait::Spin, Bytes::new(1_400)).unwrap().size, Bytes::new(1_536));
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
}
