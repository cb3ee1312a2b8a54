//! The knee of delay: where waiting, which grows all the way to the rate of a path, begins to count.

/// W(rho) = W0 + c rho / (1 - rho), fitted to delays below the knee.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayKnee {
    /// The delay of an idle path, seconds.
    pub idle_s: f64,
    /// c, seconds.
    pub queueing_s: f64,
    /// Where W = 2 W0; `None` where delay does not grow.
    pub doubled_at: Option<f64>,
    /// Where the power d / W is greatest (Kleinrock, ICC 1979), of the loads that were measured.
    pub most_power_at: Option<f64>,
    /// Where the curve bends most (Satopaa et al., "Finding a Kneedle in a haystack", 2011).
    pub bends_at: Option<f64>,
}

impl DelayKnee {
    /// The delay knee of points (rho, W); only those with 0 < rho < 1 count.
    pub fn of(points: &[(f64, f64)]) -> Option<Self> {
        let mut inside: Vec<(f64, f64)> = points
            .iter()
            .copied()
            .filter(|(rho, delay)| *rho > 0.0 && *rho < 1.0 && *delay > 0.0)
            .collect();
        inside.sort_by(|a, b| a.0.total_cmp(&b.0));
        if inside.len() < 3 {
            return None;
        }
        let grown: Vec<(f64, f64)> =
            inside.iter().map(|(rho, w)| (rho / (1.0 - rho), *w)).collect();
        let (idle_s, queueing_s) = line(&grown)?;
        let share = (idle_s > 0.0 && queueing_s > 0.0).then(|| idle_s / queueing_s);
        let power = |point: &&(f64, f64)| point.0 / point.1;
        Some(Self {
            idle_s,
            queueing_s,
            doubled_at: share.map(|x| x / (1.0 + x)),
            most_power_at: inside.iter().max_by(|a, b| power(a).total_cmp(&power(b))).map(|p| p.0),
            bends_at: kneedle(&inside),
        })
    }
}

/// Intercept and slope by least squares of relative errors: delays differ by factors.
fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let (mut n, mut sx, mut sy, mut sxx, mut sxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (x, y) in points {
        let weight = 1.0 / (y * y);
        n += weight;
        sx += weight * x;
        sy += weight * y;
        sxx += weight * x * x;
        sxy += weight * x * y;
    }
    let determinant = n * sxx - sx * sx;
    (determinant.abs() > 1e-12 * n * sxx).then(|| {
        let slope = (n * sxy - sx * sy) / determinant;
        ((sy - slope * sx) / n, slope)
    })
}

/// The point of a convex rising curve that lies farthest below the line from its first to its last.
fn kneedle(points: &[(f64, f64)]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    let (width, height) = (last.0 - first.0, last.1 - first.1);
    if width <= 0.0 || height <= 0.0 {
        return None;
    }
    let below = |p: &(f64, f64)| (p.0 - first.0) / width - (p.1 - first.1) / height;
    points.iter().max_by(|a, b| below(a).total_cmp(&below(b))).map(|p| p.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// M/M/1: W = S + S rho / (1 - rho), doubled at one half.
    #[test]
    fn t11_the_delay_knee_of_a_queue_is_where_delay_has_doubled() {
        let delay = |rho: f64| 0.01 / (1.0 - rho);
        let points: Vec<(f64, f64)> =
            (1..10).map(|k| f64::from(k) / 10.0).map(|rho| (rho, delay(rho))).collect();
        let knee = DelayKnee::of(&points).unwrap();
        assert!((knee.idle_s / 0.01 - 1.0).abs() < 1e-9);
        assert!((knee.doubled_at.unwrap() - 0.5).abs() < 1e-9);
        assert_eq!(knee.most_power_at, Some(0.5));
        assert!(knee.bends_at.is_some_and(|rho| (0.5..=0.8).contains(&rho)));
        assert_eq!(DelayKnee::of(&points[..2]), None);
    }
}
