//! T2: what is left of it through the device, one way and both ways (CITI TR 92-2, section 2.2).

use super::Experiment;
use super::MB;
use super::at_mtu;
use super::foreign;
use super::total;
use super::trial;
use crate::file::plan::Plan;
use crate::file::point::Figure;
use crate::file::point::Point;
use crate::file::sample::Direction;
use crate::file::sample::Operation;
use crate::file::sample::Trial;
use crate::file::table::Column;
use crate::file::table::Findings;
use crate::file::table::Pair;
use crate::file::table::Table;
use crate::file::table::Unit;
use crate::file::table::size_text;
use crate::units::Bytes;

/// Files between the two hosts.
#[derive(Debug)]
pub(super) struct Transfer;

impl Experiment for Transfer {
    fn name(&self) -> &'static str {
        "transfer"
    }

    fn title(&self) -> &'static str {
        "Transfer"
    }

    fn about(&self) -> &'static str {
        "what passes between two hosts each way alone and both at once, by MTU and file size"
    }

    /// There are many trials of many bytes.
    fn warm_rounds(&self) -> u32 {
        1
    }

    fn trials(&self, plan: &Plan) -> Vec<Trial> {
        setups(plan).iter().flat_map(Setup::trials).collect()
    }

    fn findings(&self, plan: &Plan, points: &[Point]) -> Findings {
        let mut table = Table::new("Transfers between two hosts (T2)", "Test", columns());
        let mut pairs = Vec::new();
        let mut remarks = Vec::new();
        for setup in setups(plan) {
            setup.add(&mut table, points);
            pairs.extend(setup.pair(points));
            remarks.extend(setup.doubt(points));
        }
        let mtus = plan.mtus_or(&MTUS).len();
        let offloaded = points.iter().any(|point| point.offload == Some(true));
        remarks.extend((mtus > 1 && offloaded).then(|| OFFLOADED.to_owned()));
        Findings { tables: vec![table], pairs, remarks, ..Findings::default() }
    }
}

fn columns() -> Vec<Column> {
    let rates = ["A->B", "B->A", "sum"].map(|title| Column::new(title, Unit::KibPerSecond));
    let ratio = Column::new("sum / unidirectional", Unit::Ratio);
    rates.into_iter().chain([ratio]).collect()
}

/// A protocol with a size and an MTU.
struct Setup {
    protocol: String,
    size: Bytes,
    mtu: Option<Bytes>,
    /// Whether two clients are measured at once, too.
    is_first: bool,
}

fn setups(plan: &Plan) -> Vec<Setup> {
    let mut setups = Vec::new();
    for protocol in plan.protocols_or(&["ftp", "http"]) {
        for size in plan.sizes_or(&[MB, Bytes::new(11 << 20)]) {
            for (at, mtu) in plan.mtus_or(&MTUS).into_iter().enumerate() {
                let protocol = protocol.clone();
                setups.push(Setup { protocol, size, mtu, is_first: at == 0 });
            }
        }
    }
    setups
}

impl Setup {
    fn trials(&self) -> Vec<Trial> {
        let ways = [Direction::AToB, Direction::BToA, Direction::Both];
        let each = ways.map(|way| self.trial(way)).into_iter();
        each.chain(self.two()).collect()
    }

    /// Files are sent to who throws them away, as in the paper.
    fn trial(&self, way: Direction) -> Trial {
        let mtu_bytes = self.mtu;
        Trial { mtu_bytes, ..trial(&self.protocol, Operation::Put, way, self.size) }
    }

    /// Two transfers at once, at one MTU alone.
    fn two(&self) -> Option<Trial> {
        self.is_first.then(|| Trial { clients: 2, ..self.trial(Direction::AToB) })
    }

    fn label(&self) -> String {
        format!("{} {}{}", self.protocol, size_text(self.size), at_mtu(self.mtu))
    }

    fn add(&self, table: &mut Table, points: &[Point]) {
        let label = self.label();
        let alone = [Direction::AToB, Direction::BToA].map(|way| total(points, &self.trial(way)));
        table.row(&label, vec![alone[0], alone[1], None, None]);
        let [to, from, sum] = self.both(points);
        let ratio = self.over_alone(&self.trial(Direction::Both), points);
        table.row(format!("{label}, bidirectional"), vec![to, from, sum, ratio]);
        let Some(two) = self.two() else { return };
        let (sum, ratio) = (total(points, &two), self.over_alone(&two, points));
        table.row(format!("{label}, two clients (each)"), vec![sum.map(halved), None, sum, ratio]);
    }

    /// A->B, B->A and the sum while both ran.
    fn both(&self, points: &[Point]) -> [Option<Figure>; 3] {
        let Some(both) = super::point(points, &self.trial(Direction::Both)) else {
            return [None; 3];
        };
        let rate = |way| both.rates.get(&way).copied();
        [rate(Direction::AToB), rate(Direction::BToA), both.total]
    }

    /// A sum over the mean of the two directions alone, of the same round each. What other programs took from them is in no
    /// ratio: one transfer loses more to them than two.
    fn over_alone(&self, more: &Trial, points: &[Point]) -> Option<Figure> {
        let compared = self.compared(more, points)?;
        if compared.iter().any(|one| foreign(one).is_some()) {
            return None;
        }
        let [more, to, from] = compared.map(|one| &one.totals_kib_s);
        let ratio = |(round, sum): (&u32, &f64)| {
            let alone = f64::midpoint(*to.get(round)?, *from.get(round)?);
            (alone > 0.0).then(|| sum / alone)
        };
        Figure::of(&more.iter().filter_map(ratio).collect::<Vec<f64>>())
    }

    /// More than one transfer at once, then each direction alone.
    fn compared<'p>(&self, more: &Trial, points: &'p [Point]) -> Option<[&'p Point; 3]> {
        let of = |trial: &Trial| super::point(points, trial);
        let alone = |way| of(&self.trial(way));
        Some([of(more)?, alone(Direction::AToB)?, alone(Direction::BToA)?])
    }

    fn pair(&self, points: &[Point]) -> Option<Pair> {
        let [.., sum] = self.both(points);
        let ratio = self.over_alone(&self.trial(Direction::Both), points);
        Some(Pair { label: self.label(), sum_kib_s: sum?.value, sum_over_unidirectional: ratio })
    }

    /// Why a ratio is not there, or says more than one direction can have to give.
    fn doubt(&self, points: &[Point]) -> Option<String> {
        let (both, label) = (self.trial(Direction::Both), self.label());
        let compared = self.compared(&both, points)?;
        let most = compared.into_iter().filter_map(foreign).reduce(f64::max);
        if let Some(most) = most {
            return Some(format!(
                "{label}: sum / unidirectional is not available: other programs used up to {most:.0} % of the CPUs, and one \
                 transfer loses more to them than two; end them, and measure again"
            ));
        }
        let ratio = self.over_alone(&both, points)?.value;
        (ratio > 2.0).then(|| format!("{label}: sum / unidirectional is {ratio:.2}: {BEYOND}"))
    }
}

fn halved(figure: Figure) -> Figure {
    Figure::exact(figure.value / 2.0)
}

/// That of Ethernet, the device's own of the paper, a jumbo frame, the larger one of the paper.
const MTUS: [Bytes; 4] = [Bytes::new(1500), Bytes::new(4144), Bytes::new(9000), Bytes::new(32_767)];
const BEYOND: &str = "directions that do not help each other reach 2, so that one alone lost time by itself: to CPUs that slept \
     between its packets, or to programs that took them";
const OFFLOADED: &str = "The devices of the path cut segments for the system (TSO, GSO): an MTU then says little of what the \
     CPUs do.";
