//! T2: what is left of it through the device, one way and both ways (CITI TR 92-2, section 2.2).

use super::Experiment;
use super::MB;
use super::at_mtu;
use super::foreign;
use super::of_target;
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
        let mut table = Table::new("Transfers between two hosts (T2)", "Test", columns(plan));
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

fn columns(plan: &Plan) -> Vec<Column> {
    let [to, from] = ALONE.map(|way| way.towards(plan.far()));
    let rates = [to, from, "sum".to_owned()].map(|title| Column::new(title, Unit::KibPerSecond));
    let ratio = Column::new("sum / unidirectional", Unit::Ratio);
    rates.into_iter().chain([ratio]).collect()
}

/// A protocol with a size and an MTU.
struct Setup<'p> {
    plan: &'p Plan,
    protocol: String,
    size: Bytes,
    mtu: Option<Bytes>,
    /// Whether two clients are measured at once, too.
    is_first: bool,
}

fn setups(plan: &Plan) -> Vec<Setup<'_>> {
    let mut setups = Vec::new();
    for protocol in plan.protocols_or(&["ftp", "http"]) {
        for size in plan.sizes_or(&[MB, Bytes::new(11 << 20)]) {
            for (at, mtu) in plan.mtus_or(&MTUS).into_iter().enumerate() {
                let protocol = protocol.clone();
                setups.push(Setup { plan, protocol, size, mtu, is_first: at == 0 });
            }
        }
    }
    setups
}

impl Setup<'_> {
    fn trials(&self) -> Vec<Trial> {
        let each = self.ways().iter().map(|way| self.trial(*way));
        each.chain(self.two()).collect()
    }

    /// All clients of a server of others are here: it gets files, and gives them, and no client of its own sends.
    fn ways(&self) -> &'static [Direction] {
        match (&self.plan.target, &self.plan.object) {
            (None, _) => &[Direction::AToB, Direction::BToA, Direction::Both],
            (Some(_), None) => &ALONE,
            (Some(_), Some(_)) => &[Direction::BToA],
        }
    }

    /// Files are sent to who throws them away, as in the paper; from a server of others they are retrieved.
    fn trial(&self, way: Direction) -> Trial {
        let is_asked = self.plan.target.is_some() && way == Direction::BToA;
        let operation = if is_asked { Operation::Get } else { Operation::Put };
        let one = trial(&self.protocol, operation, way, self.size);
        of_target(self.plan, Trial { mtu_bytes: self.mtu, ..one })
    }

    /// Two transfers at once, at one MTU alone.
    fn two(&self) -> Option<Trial> {
        let one = self.trial(*self.ways().first()?);
        self.is_first.then_some(Trial { clients: 2, ..one })
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
        let each = |way| sum.filter(|_| two.direction == way).map(halved);
        let cells = vec![each(Direction::AToB), each(Direction::BToA), sum, ratio];
        table.row(format!("{label}, two clients (each)"), cells);
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

    /// More than one transfer at once, then each direction alone. To a server of others and from there are different
    /// things: there more is compared with its own direction.
    fn compared<'p>(&self, more: &Trial, points: &'p [Point]) -> Option<[&'p Point; 3]> {
        let of = |trial: &Trial| super::point(points, trial);
        let [to, from] = match self.plan.target {
            None => ALONE,
            Some(_) => [more.direction; 2],
        };
        Some([of(more)?, of(&self.trial(to))?, of(&self.trial(from))?])
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

const ALONE: [Direction; 2] = [Direction::AToB, Direction::BToA];
/// That of Ethernet, the device's own of the paper, a jumbo frame, the larger one of the paper.
const MTUS: [Bytes; 4] = [Bytes::new(1500), Bytes::new(4144), Bytes::new(9000), Bytes::new(32_767)];
const BEYOND: &str = "directions that do not help each other reach 2, so that one alone lost time by itself: to CPUs that slept \
     between its packets, or to programs that took them";
const OFFLOADED: &str = "The devices of the path cut segments for the system (TSO, GSO): an MTU then says little of what the \
     CPUs do.";
