//! The same chart with fewer points: of each short stretch of time what reaches furthest is kept.

use super::Detail;
use super::Mark;
use super::SegmentPoint;
use super::SequenceData;
use super::Sign;

impl SequenceData {
    /// Of each stretch of time and each kind of mark the first, the last, the lowest and the highest
    /// entry: a picture of all of it looks the same, and nothing in it is made up. A stretch is so many of
    /// the finest ones, so that a thinned chart gives any coarser one.
    #[must_use]
    pub fn thinned(&self, stretches: u32) -> Self {
        let finest = (self.end() / i64::from(Detail::FINEST)).max(1);
        let step = finest.saturating_mul(i64::from((Detail::FINEST / stretches.max(1)).max(1)));
        Self {
            segments: segments(&self.segments, step),
            answers: kept(&self.answers, step, |one| one.0, &[|one| one.1, |one| edge(one.2)]),
            sacks: kept(&self.sacks, step, |one| one.0, &[|one| one.1, |one| one.2]),
            trips: kept(&self.trips, step, |one| one.0, &[|one| one.1]),
            windows: self.windows.clone(),
            pauses: self.pauses.clone(),
            shut: kept(&self.shut, step, |one| one.0, &[|one| one.1]),
            signs: signs(&self.signs, step),
        }
    }
}

fn edge(edge: Option<i64>) -> i64 {
    edge.unwrap_or(-1)
}

/// Each kind of mark by itself, so that none hides another one.
fn segments(all: &[SegmentPoint], step: i64) -> Vec<SegmentPoint> {
    let of = |mark: &Mark| {
        let same: Vec<SegmentPoint> = all.iter().filter(|one| one.mark == *mark).copied().collect();
        kept(&same, step, |one| one.at, &[|one| one.from, |one| one.to, |one| one.flight])
    };
    let mut found: Vec<SegmentPoint> = Mark::ALL.iter().flat_map(of).collect();
    found.sort_by_key(|one| one.at);
    found
}

fn signs(all: &[(i64, i64, Sign)], step: i64) -> Vec<(i64, i64, Sign)> {
    let of = |sign: &Sign| {
        let same: Vec<_> = all.iter().filter(|one| one.2 == *sign).copied().collect();
        kept(&same, step, |one| one.0, &[])
    };
    let mut found: Vec<_> = Sign::ALL.iter().flat_map(of).collect();
    found.sort_by_key(|one| one.0);
    found
}

/// Of each stretch the first, the last, and the lowest and highest by each of these values.
fn kept<T: Copy>(all: &[T], step: i64, at: fn(&T) -> i64, values: &[fn(&T) -> i64]) -> Vec<T> {
    let mut found = Vec::new();
    for stretch in all.chunk_by(|one, next| at(one) / step == at(next) / step) {
        let mut places = vec![0, stretch.len() - 1];
        for value in values {
            let places_of = || stretch.iter().enumerate();
            places.extend(places_of().min_by_key(|(_, one)| value(one)).map(|(place, _)| place));
            places.extend(places_of().max_by_key(|(_, one)| value(one)).map(|(place, _)| place));
        }
        places.sort_unstable();
        places.dedup();
        found.extend(places.into_iter().map(|place| stretch[place]));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(at: i64, mark: Mark) -> SegmentPoint {
        SegmentPoint { at, from: at, to: at + 1448, mark, is_pushed: false, flight: at % 977 }
    }

    #[test]
    fn a_million_points_become_a_few_thousand_that_reach_as_far() {
        let mut segments: Vec<SegmentPoint> =
            (0..1_000_000).map(|at| point(at * 1000, Mark::New)).collect();
        segments[555_555].mark = Mark::Timeout;
        let whole = SequenceData { segments, ..SequenceData::default() };
        let thin = whole.thinned(4_000);
        assert!(thin.segments.len() < 30_000, "{}", thin.segments.len());
        let marked = |data: &SequenceData| {
            data.segments
                .iter()
                .filter(|one| one.mark == Mark::Timeout)
                .copied()
                .collect::<Vec<_>>()
        };
        assert_eq!(marked(&thin), marked(&whole), "a rare mark stays");
        let most = |data: &SequenceData| data.segments.iter().map(|one| one.flight).max();
        assert_eq!((most(&thin), thin.end()), (most(&whole), whole.end()));
        assert!(thin.segments.is_sorted_by_key(|one| one.at));
        assert!(thin.segments.iter().all(|one| {
            let place = usize::try_from(one.at / 1000).unwrap();
            whole.segments[place] == *one
        }));
    }

    #[test]
    fn few_points_stay_as_they_are() {
        let segments = (0..50).map(|at| point(at * 1_000_000, Mark::New)).collect();
        let trips = vec![(1, 5), (40_000_000, 9)];
        let whole = SequenceData { segments, trips, ..SequenceData::default() };
        assert_eq!(whole.thinned(4_000), whole);
    }

    #[test]
    fn a_thinned_chart_gives_every_coarser_one() {
        let mark = |at: i64| if at % 97 == 0 { Mark::Timeout } else { Mark::New };
        let segments = (0..90_001)
            .map(|at| SegmentPoint { flight: at * 7919 % 10_007, ..point(at, mark(at)) });
        let answers =
            (0..70_000).map(|at| (at * 13 / 10, at * 31 % 5_003, (at % 3 > 0).then_some(at % 701)));
        let trips = (0..50_000).map(|at| (at, at * 17 % 997)).collect();
        let signs = (0..90_000).map(|at| (at, at, Sign::ALL[usize::from(at % 5 == 0)])).collect();
        let data = SequenceData { segments: segments.collect(), ..SequenceData::default() };
        let whole = SequenceData { answers: answers.collect(), trips, signs, ..data };
        let halved = |stretches: u32| (0..6).map(move |times| stretches >> times);
        let once: Vec<_> = halved(Detail::FINEST).map(|fine| (fine, whole.thinned(fine))).collect();
        for (number, (fine, fine_chart)) in once.iter().enumerate() {
            for (coarse, coarse_chart) in &once[number..] {
                let [fine, coarse] =
                    [*fine, *coarse].map(|stretches| Detail::Thinned { stretches });
                assert!(
                    fine.holds(coarse) && Detail::Whole.holds(fine) && !fine.holds(Detail::Whole)
                );
                let twice = fine_chart.clone().in_detail(coarse);
                assert!(twice == *coarse_chart, "{fine:?} {coarse:?}");
            }
        }
        assert!(whole.thinned(125).segments.len() < whole.thinned(4_000).segments.len());
    }
}
