//! Whether a quantity drifts: the slope of a straight line through it, with its interval.

use super::Interval;
use super::arithmetic_mean;
use super::count;
use super::interval::t_quantile;

/// The slope of the line of least squares through places (x, y), with its 95 % interval: b +- t(0.975, n - 2) s / sqrt(Sxx),
/// where s^2 is the sum of squared residuals over n - 2 (Draper and Smith, Applied Regression Analysis, 1998, section 1.4).
///
/// `None` under three places, or where all have one x. Places that are not independent of their neighbours have a wider one.
pub fn slope(places: &[(f64, f64)]) -> Option<(f64, Interval)> {
    let [mean_x, mean_y] = [0, 1].map(|part| {
        let values: Vec<f64> =
            places.iter().map(|place| if part == 0 { place.0 } else { place.1 }).collect();
        arithmetic_mean(&values)
    });
    let (mean_x, mean_y) = (mean_x?, mean_y?);
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        places.iter().map(|(x, y)| of(x - mean_x, y - mean_y)).sum()
    };
    let (spread, common) = (sum(&|x, _| x * x), sum(&|x, y| x * y));
    let freedom = count(places.len()) - 2.0;
    if freedom < 1.0 || spread <= 0.0 {
        return None;
    }
    let slope = common / spread;
    let squares = sum(&|x, y| (y - slope * x).powi(2));
    let half = t_quantile(freedom, 0.975)? * (squares / freedom / spread).sqrt();
    Some((slope, Interval { low: slope - half, high: slope + half }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places (0, 0), (1, 2), (2, 1): Sxx 2, Sxy 1, residuals -0.5, 1, -0.5; half = 12.706 sqrt(1.5 / 2).
    #[test]
    fn a_slope_has_the_interval_of_its_residuals() {
        let (slope, interval) = slope(&[(0.0, 0.0), (1.0, 2.0), (2.0, 1.0)]).unwrap();
        assert!((slope - 0.5).abs() < 1e-12);
        assert!((interval.high - 0.5 - 12.7062 * 0.75_f64.sqrt()).abs() < 1e-3, "{interval:?}");
    }

    #[test]
    fn a_line_is_found_exactly_and_two_places_have_no_interval() {
        let (found, interval) = slope(&[(0.0, 1.0), (1.0, 3.0), (3.0, 7.0)]).unwrap();
        assert!((found - 2.0).abs() < 1e-12 && interval.half_width().abs() < 1e-6);
        assert_eq!(slope(&[(0.0, 1.0), (1.0, 3.0)]), None);
        assert_eq!(slope(&[(1.0, 1.0), (1.0, 3.0), (1.0, 4.0)]), None);
    }
}
