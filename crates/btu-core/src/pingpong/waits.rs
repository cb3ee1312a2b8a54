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
    /// T of `from`, blocking, in microseconds.
    pub blocking_us: f64,
    /// T of `from`, spinning, in microseconds.
    pub spinning_us: f64,
    /// T of `to`, spinning, in microseconds.
    pub other_us: f64,
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
        let time = |transport: &str, wait| self.at(transport, wait, size).map(|cell| cell.time_us);
        Some(Gap {
            from: from.to_owned(),
            to: to.to_owned(),
            size,
            blocking_us: time(from, Wait::Block)?,
            spinning_us: time(from, Wait::Spin)?,
            other_us: time(to, Wait::Spin)?,
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
        gaps.sort_by(|a, b| a.other_us.total_cmp(&b.other_us));
        let frames = gaps.iter().find(|gap| FRAMES.contains(&gap.to.as_str())).cloned();
        let fastest = gaps.first().cloned().filter(|gap| Some(gap) != frames.as_ref());
        frames.into_iter().chain(fastest).collect()
    }
}

impl Gap {
    /// What waiting costs: `from` blocking less `from` spinning, in microseconds.
    pub fn waiting_us(&self) -> f64 {
        self.blocking_us - self.spinning_us
    }

    /// What the protocol costs: `from` less `to`, both spinning, in microseconds; below zero where
    /// `to` is the slower one.
    pub fn protocol_us(&self) -> f64 {
        self.spinning_us - self.other_us
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, size, blocking_us, other_us, .. } = self;
        let (protocol, protocol_us) = match self.protocol_us() {
            saved if saved < 0.0 => ("the protocol saves", -saved),
            cost => ("the protocol", cost),
        };
        let memory = if MEMORY.contains(&to.as_str()) { " (a copy of memory)" } else { "" };
        write!(
            out,
            "{size}: {from} that blocks takes {blocking_us:.2} us, {to}{memory} that spins \
             {other_us:.2} us; waiting costs {:.2} us of that, {protocol} {protocol_us:.2} us",
            self.waiting_us()
        )
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

    fn curve(transport: &str, wait: Wait, time_us: f64) -> (Configuration, Curve) {
        let point = |size| CurvePoint {
            size: Bytes::new(size),
            time_us,
            interval_us: None,
            rounds_us: vec![],
        };
        let points = [8, 1_536].map(point).to_vec();
        let (label, statistic) = (transport.to_owned(), Statistic::Typical);
        let curve = Curve { label, mode: Mode::PingPong, statistic, points };
        (Configuration { wait, ..Configuration::new(transport) }, curve)
    }

    /// Measured on a 2-CPU guest: TCP 11.8 and 3.7 us, raw frames 1.8 us.
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
            "8B: tcp that blocks takes 11.80 us, packet that spins 1.80 us; waiting costs 8.10 us of \
             that, the protocol 1.90 us"
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
        let told = |curves: &[(Configuration, Curve)]| -> Vec<String> {
            let gaps = WaitTable::new(curves, &WAIT_SIZES).gaps("tcp", Bytes::new(8));
            gaps.iter().map(ToString::to_string).collect()
        };
        let raw = "8B: tcp that blocks takes 11.80 us, raw that spins 1.80 us; waiting costs 8.10 us \
                   of that, the protocol 1.90 us";
        let shm = "8B: tcp that blocks takes 11.80 us, shm (a copy of memory) that spins 0.20 us; \
                   waiting costs 8.10 us of that, the protocol 3.50 us";
        assert_eq!(told(&curves), [raw, shm]);
        curves.pop();
        assert_eq!(told(&curves), [raw]);
        curves.truncate(2);
        assert!(told(&curves).is_empty());
        // Frames are cut at the MTU where TCP hands over a large block in one piece.
        curves.push(curve("raw", Wait::Spin, 13.7));
        assert!(told(&curves)[0].ends_with("of that, the protocol saves 10.00 us"));
    }
}
