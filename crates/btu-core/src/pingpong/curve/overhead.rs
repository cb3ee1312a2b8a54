//! What an upper layer costs above a lower one, at a few sizes (snell1996, figure 8).

use super::Curve;
use super::CurvePoint;
use crate::pingpong::configuration::size_f64;
use crate::stats::Interval;
use crate::stats::welch_difference;
use crate::stats::welch_on_logs;
use crate::units::Bytes;

/// The sizes of the overhead table: 8 B, 1400 B, 64 KiB and 1 MiB.
pub const TABLE_SIZES: [Bytes; 4] =
    [Bytes::new(8), Bytes::new(1_400), Bytes::new(64 << 10), Bytes::new(1 << 20)];

/// One row: an upper layer at one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverheadRow {
    /// The size that was asked for.
    pub wanted: Bytes,
    /// The size that both layers measured, the nearest one.
    pub size: Bytes,
    /// T of the lower layer, in microseconds: the base of the ratio.
    pub lower_us: f64,
    /// T of the upper layer, in microseconds.
    pub upper_us: f64,
    /// 95 % interval of the difference; `None` without rounds.
    pub difference_us: Option<Interval>,
    /// 95 % interval of T upper / T lower; `None` without rounds.
    pub ratio: Option<Interval>,
}

/// The rows of `sizes` that both curves have within a quarter of the size.
pub fn overhead(lower: &Curve, upper: &Curve, sizes: &[Bytes]) -> Vec<OverheadRow> {
    sizes.iter().filter_map(|wanted| row(lower, upper, *wanted)).collect()
}

fn row(lower: &Curve, upper: &Curve, wanted: Bytes) -> Option<OverheadRow> {
    let off = |point: &&CurvePoint| (size_f64(point.size) / size_f64(wanted)).ln().abs();
    let common = lower.points.iter().filter(|point| upper.at(point.size).is_some());
    let nearest = common.min_by(|a, b| off(a).total_cmp(&off(b)))?;
    let (low, up) = (nearest, upper.at(nearest.size)?);
    (off(&nearest) <= NEAR.ln()).then(|| OverheadRow {
        wanted,
        size: nearest.size,
        lower_us: low.time_us,
        upper_us: up.time_us,
        difference_us: welch_difference(&low.rounds_us, &up.rounds_us).map(|(_, bounds)| bounds),
        ratio: welch_on_logs(&low.rounds_us, &up.rounds_us).map(|found| found.interval),
    })
}

/// How far a measured size may be from the wanted one.
const NEAR: f64 = 1.25;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pingpong::configuration::Mode;
    use crate::pingpong::statistic::Statistic;

    fn curve(sizes: &[u64], rounds_us: [f64; 3]) -> Curve {
        let point = |size: &u64| CurvePoint {
            size: Bytes::new(*size),
            time_us: rounds_us[1],
            interval_us: None,
            rounds_us: rounds_us.to_vec(),
        };
        let points = sizes.iter().map(point).collect();
        Curve { label: String::new(), mode: Mode::PingPong, statistic: Statistic::Typical, points }
    }

    /// 9, 10, 11 against 19, 20, 21: difference 10, error sqrt(2 / 3), t(0.975, 4) = 2.776.
    #[test]
    fn a_row_has_difference_and_ratio_with_their_intervals() {
        let (lower, upper) = ([9.0, 10.0, 11.0], [19.0, 20.0, 21.0]);
        let rows = overhead(&curve(&[8], lower), &curve(&[8], upper), &TABLE_SIZES);
        assert_eq!(rows.len(), 1);
        let half = 2.7764 * (2.0_f64 / 3.0).sqrt();
        let found = rows[0].difference_us.unwrap();
        assert!(
            (found.low - (10.0 - half)).abs() < 1e-3 && (found.high - 10.0 - half).abs() < 1e-3
        );
        assert!(rows[0].ratio.unwrap().contains(2.0) && !rows[0].ratio.unwrap().contains(1.5));
    }

    #[test]
    fn the_nearest_common_size_stands_for_the_wanted_one_and_says_so() {
        let (lower, upper) = (curve(&[1_021, 1_533], [1.0; 3]), curve(&[1_400, 1_533], [2.0; 3]));
        let rows = overhead(&lower, &upper, &TABLE_SIZES);
        assert_eq!(
            (rows.len(), rows[0].wanted, rows[0].size),
            (1, Bytes::new(1_400), Bytes::new(1_533))
        );
    }
}
