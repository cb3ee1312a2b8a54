//! What each kernel passes, whatever carries it: the traffic of NPB 3.4.2, as it was counted, and the formulas that
//! reproduce the counts.
//!
//! From the start of a program to its end, warm-up included, as its senders count it. Broadcasts, barriers and single
//! reductions at the end of a run are no part of it.

use super::class::ProblemClass;
use super::class::ProblemClass::A;
use super::class::ProblemClass::S;
use super::class::ProblemClass::W;
use super::ranks::Collective;
use super::ranks::Count;
use super::ranks::Tally;
use crate::units::Bytes;

/// What a program should pass, all ranks together; of what is `None` there is no reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Messages between two ranks.
    pub messages: u64,
    /// Their bytes.
    pub bytes: Option<Bytes>,
    /// Of these, from ranks to themselves.
    pub own: Option<Count>,
    /// Calls of collectives.
    pub collectives: Vec<(Collective, Count)>,
}

/// Whether a program passed what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// In these figures it did not: what was found and what was expected.
    Differs(Vec<String>),
    /// It did.
    Equal,
    /// Nobody knows what it should pass.
    NoReference,
}

impl Agreement {
    /// That of a program whose ranks passed `found`, all together.
    pub fn of(kernel: &str, class: ProblemClass, ranks: u32, found: &Tally) -> Self {
        let Some(expected) = expected(kernel, class, ranks) else { return Self::NoReference };
        let differences = expected.differences(found);
        if differences.is_empty() { Self::Equal } else { Self::Differs(differences) }
    }
}

impl Expected {
    /// Each figure that is another one.
    fn differences(&self, found: &Tally) -> Vec<String> {
        let mut figures = vec![("messages".to_owned(), found.messages.count, self.messages)];
        let mut add = |name: &str, found: Count, wanted: Count| {
            figures.push((name.to_owned(), found.count, wanted.count));
            figures.push((format!("bytes of {name}"), found.bytes.count(), wanted.bytes.count()));
        };
        if let Some(own) = self.own {
            add("messages of ranks to themselves", found.own, own);
        }
        for (collective, wanted) in &self.collectives {
            add(&format!("{collective} calls"), found.collective(*collective), *wanted);
        }
        let bytes = self.bytes.map(Bytes::count);
        let bytes = bytes.map(|wanted| ("bytes".to_owned(), found.messages.bytes.count(), wanted));
        figures.extend(bytes);
        let other = figures.into_iter().filter(|(_, found, wanted)| found != wanted);
        other.map(|(name, found, wanted)| format!("{name}: {found}, not {wanted}")).collect()
    }
}

/// What a kernel should pass.
pub fn expected(kernel: &str, class: ProblemClass, ranks: u32) -> Option<Expected> {
    let is_it = |row: &&Row| (row.kernel, row.class, row.ranks) == (kernel, class, ranks);
    let counted = ROWS.iter().find(is_it).map(Row::expected);
    counted.or_else(|| by_formula(kernel, class, u64::from(ranks)))
}

fn by_formula(kernel: &str, class: ProblemClass, ranks: u64) -> Option<Expected> {
    match kernel {
        "ep" => Some(ep(ranks)),
        "is" => Some(is(class, ranks)),
        "ft" if ranks > 1 => Some(ft(class, ranks)),
        "cg" if ranks > 1 && ranks.is_power_of_two() => Some(cg(ranks)),
        "lu" if ranks == 2 => Some(lu_on_two(class)),
        "mg" if matches!(ranks, 2 | 4 | 8) => Some(mg(class, ranks)),
        "sp" => multipartition(ranks, class.of([100, 400, 400])),
        "bt" => multipartition(ranks, class.of([60, 200, 200])),
        _ => None,
    }
}

/// Sums of X, of Y, of ten counts, and of the time: 8, 8, 80 and 8 bytes.
fn ep(ranks: u64) -> Expected {
    let sums = count(4 * ranks, 104 * ranks);
    Expected {
        bytes: Some(Bytes::ZERO),
        own: Some(Count::default()),
        collectives: vec![(Collective::AllReduce, sums)],
        ..Expected::default()
    }
}

/// Eleven rankings: sums of buckets and five tests, counts for each rank, keys; at the end a key to the right.
fn is(class: ProblemClass, ranks: u64) -> Expected {
    let keys: u64 = class.of([1 << 16, 1 << 20, 1 << 23]);
    let buckets: u64 = class.of([1 << 9, 1 << 10, 1 << 10]);
    let calls = 11 * ranks;
    Expected {
        messages: ranks - 1,
        bytes: Some(Bytes::new(4 * (ranks - 1))),
        own: Some(Count::default()),
        collectives: vec![
            (Collective::AllReduce, count(calls, calls * 4 * (buckets + 5))),
            (Collective::AllToAll, count(calls, calls * 4 * ranks)),
            (Collective::AllToAllV, count(calls, 11 * 4 * keys)),
        ],
    }
}

/// A transposition for each of eight transforms, of 16 bytes a point; a checksum in each of six iterations.
fn ft(class: ProblemClass, ranks: u64) -> Expected {
    let points: u64 = class.of([1 << 18, 1 << 19, 1 << 23]);
    Expected {
        bytes: Some(Bytes::ZERO),
        own: Some(Count::default()),
        collectives: vec![
            (Collective::AllToAll, count(8 * ranks, 8 * 16 * points)),
            (Collective::Reduce, count(6 * ranks, 6 * 16 * ranks)),
        ],
        ..Expected::default()
    }
}

/// 15 iterations and a warm-up, on a grid of as many columns as rows or twice as many: p (it + 1) (79 l + 26) messages,
/// l the binary logarithm of the columns.
fn cg(ranks: u64) -> Expected {
    let columns_log = u64::from(ranks.ilog2().div_ceil(2));
    Expected { messages: ranks * 16 * (79 * columns_log + 26), ..Expected::default() }
}

/// Two ranks share a side of n by n points. Over it go, both ways, two layers of five numbers, for each of it iterations
/// and four times more; in each iteration and the warm-up's, both ways, the inner points of a row of every inner plane;
/// and once, to one of them, two rows and the row of two planes with both its ends, for the integral.
fn lu_on_two(class: ProblemClass) -> Expected {
    let (iterations, n): (u64, u64) = class.of([(50, 12), (300, 33), (250, 64)]);
    let (faces, rows) = (2 * (iterations + 4), 2 * (iterations + 1) * (n - 2));
    let integral = 2 * n + 2 * (n + 2);
    let numbers = faces * 2 * 5 * n * n + rows * 5 * (n - 2) + integral;
    Expected {
        messages: faces + rows + 3,
        bytes: Some(Bytes::new(8 * numbers)),
        own: Some(NONE),
        ..Expected::default()
    }
}

/// Each rank passes both borders of its part of every grid along x, along y with the borders that came, and along z with
/// all: in five cycles three times, on the coarsest grid twice, on the finest four times more. The axes are halved, z
/// first; along one that is not, ranks send to themselves.
fn mg(class: ProblemClass, ranks: u64) -> Expected {
    let finest: u32 = class.of([5, 7, 8]);
    let parts = [1 + u64::from(ranks >= 8), 1 + u64::from(ranks >= 4), 2];
    let (mut all, mut own) = (NONE, NONE);
    for level in 1..=finest {
        let times = if level == 1 { 10 } else { 15 + 4 * u64::from(level == finest) };
        let [x, y, z] = parts.map(|parts| (1 << level) / parts);
        let borders = [y * z, (x + 2) * z, (x + 2) * (y + 2)];
        for (parts, points) in parts.into_iter().zip(borders) {
            let messages = 2 * ranks * times;
            let passed = count(messages, messages * 8 * points);
            all.join(passed);
            own.join(if parts == 1 { passed } else { NONE });
        }
    }
    Expected { messages: all.count, bytes: Some(all.bytes), own: Some(own), ..Expected::default() }
}

/// q^2 ranks: p (6 q (it + 1) + 6) messages, and two sums of five norms.
fn multipartition(ranks: u64, iterations: u64) -> Option<Expected> {
    let q = ranks.isqrt();
    (q > 1 && q * q == ranks).then(|| Expected {
        messages: ranks * (6 * q * (iterations + 1) + 6),
        collectives: vec![(Collective::AllReduce, count(2 * ranks, 80 * ranks))],
        ..Expected::default()
    })
}

const fn count(count: u64, bytes: u64) -> Count {
    Count { count, bytes: Bytes::new(bytes) }
}

/// A program whose messages were counted.
struct Row {
    kernel: &'static str,
    class: ProblemClass,
    ranks: u32,
    messages: Count,
    own: Option<Count>,
    sums: Option<Count>,
}

impl Row {
    const fn new(kernel: &'static str, class: ProblemClass, messages: Count) -> Self {
        Self { kernel, class, ranks: 4, messages, own: None, sums: None }
    }

    const fn of_two(self) -> Self {
        Self { ranks: 2, ..self }
    }

    const fn own(self, own: Count) -> Self {
        Self { own: Some(own), ..self }
    }

    const fn sums(self, sums: Count) -> Self {
        Self { sums: Some(sums), ..self }
    }

    fn expected(&self) -> Expected {
        Expected {
            messages: self.messages.count,
            bytes: Some(self.messages.bytes),
            own: self.own,
            collectives: self.sums.map(|sums| (Collective::AllReduce, sums)).into_iter().collect(),
        }
    }
}

/// Counted with NPB 3.4.2 over MPI, where no formula gives the bytes, too.
static ROWS: &[Row] = &[
    Row::new("cg", S, count(6_720, 18_664_448)).own(count(832, 4_659_200)).sums(count(0, 0)),
    Row::new("cg", W, count(6_720, 93_211_648)).own(count(832, 23_296_000)).sums(count(0, 0)),
    Row::new("cg", A, count(6_720, 186_395_648)).own(count(832, 46_592_000)).sums(count(0, 0)),
    Row::new("cg", W, count(3_360, 46_605_824)).of_two(),
    Row::new("mg", S, count(1_776, 2_250_112)).own(count(592, 392_576)).sums(MG_SUMS),
    Row::new("mg", W, count(2_496, 32_584_576)).own(count(832, 6_290_816)).sums(MG_SUMS),
    Row::new("mg", A, count(2_856, 128_074_368)).own(count(952, 25_165_184)).sums(MG_SUMS),
    Row::new("mg", W, count(1_248, 25_866_496)).of_two(),
    Row::new("lu", S, count(4_520, 3_305_152)).own(NONE).sums(LU_SUMS),
    Row::new("lu", W, count(77_088, 152_221_856)).own(NONE).sums(LU_SUMS),
    Row::new("lu", A, count(126_536, 487_302_080)).own(NONE).sums(LU_SUMS),
    Row::new("lu", W, count(19_273, 76_110_928)).of_two(),
    Row::new("sp", S, count(4_872, 14_807_040)).own(NONE).sums(NORMS),
    Row::new("sp", W, count(19_272, 606_087_168)).own(NONE).sums(NORMS),
    Row::new("sp", A, count(19_272, 1_974_193_152)).own(NONE).sums(NORMS),
    Row::new("bt", S, count(2_952, 14_328_480)).own(NONE).sums(NORMS),
    Row::new("bt", W, count(9_672, 169_984_800)).own(NONE).sums(NORMS),
    Row::new("bt", A, count(9_672, 1_132_615_200)).own(NONE).sums(NORMS),
];

const NONE: Count = count(0, 0);
const MG_SUMS: Count = count(352, 4_096);
const LU_SUMS: Count = count(40, 960);
const NORMS: Count = count(8, 320);

#[cfg(test)]
mod tests {
    use super::*;

    fn collective(kernel: &str, class: ProblemClass, wanted: Collective) -> (u64, u64) {
        let expected = expected(kernel, class, 4).unwrap();
        let found = expected.collectives.iter().find(|(one, _)| *one == wanted).unwrap().1;
        (found.count, found.bytes.count())
    }

    /// The counts of NPB 3.4.2 with 4 ranks.
    #[test]
    fn formulas_of_collectives_give_what_was_counted() {
        for class in ProblemClass::ALL {
            assert_eq!(collective("ep", class, Collective::AllReduce), (16, 416));
            assert_eq!(collective("ft", class, Collective::Reduce), (24, 384));
            assert_eq!(collective("is", class, Collective::AllToAll), (44, 704));
            assert_eq!(expected("is", class, 4).unwrap().bytes, Some(Bytes::new(12)));
        }
        let of =
            |kernel, collective_of| ProblemClass::ALL.map(|c| collective(kernel, c, collective_of));
        let sums = [(44, 90_992), (44, 181_104), (44, 181_104)];
        assert_eq!(of("is", Collective::AllReduce), sums);
        let keys = [(44, 2_883_584), (44, 46_137_344), (44, 369_098_752)];
        assert_eq!(of("is", Collective::AllToAllV), keys);
        let parts = [(32, 33_554_432), (32, 67_108_864), (32, 1_073_741_824)];
        assert_eq!(of("ft", Collective::AllToAll), parts);
    }

    #[test]
    fn formulas_of_messages_give_what_was_counted() {
        for row in ROWS.iter().filter(|row| row.kernel != "lu" || row.ranks == 2) {
            let (name, counted) = (format!("{} {}", row.kernel, row.class), row.expected());
            let formula = by_formula(row.kernel, row.class, row.ranks.into()).unwrap();
            assert_eq!(formula.messages, counted.messages, "{name}");
            // Where a formula has no bytes, or nobody counted what ranks send to themselves, there is nothing to compare.
            assert_eq!(formula.bytes.or(counted.bytes), counted.bytes, "{name}");
            assert_eq!(counted.own.and(formula.own), formula.own.and(counted.own), "{name}");
        }
        let at = |kernel, ranks| expected(kernel, S, ranks).map(|expected| expected.messages);
        assert_eq!((at("cg", 8), at("sp", 9), at("sp", 8)), (Some(23_552), Some(16_416), None));
        assert_eq!((at("mg", 2), at("lu", 2)), (Some(888), Some(1_131)));
        assert_eq!([at("mg", 16), at("lu", 8), at("ft", 1), at("xy", 4)], [None; 4]);
    }

    #[test]
    fn another_figure_is_told_with_the_one_that_was_expected() {
        let mut found = Tally { messages: count(6_720, 18_664_448), ..Tally::default() };
        found.own = count(832, 4_659_200);
        assert_eq!(Agreement::of("cg", S, 4, &found), Agreement::Equal);
        assert_eq!(Agreement::of("mg", S, 16, &found), Agreement::NoReference);
        found.messages.bytes = Bytes::new(7);
        found.collectives.insert(Collective::AllReduce, count(1, 8));
        let told = [
            "all-reduce calls: 1, not 0",
            "bytes of all-reduce calls: 8, not 0",
            "bytes: 7, not 18664448",
        ];
        let told = told.map(ToOwned::to_owned).to_vec();
        assert_eq!(Agreement::of("cg", S, 4, &found), Agreement::Differs(told));
    }
}
