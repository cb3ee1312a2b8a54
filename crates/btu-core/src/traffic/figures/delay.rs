//! What theory says of a queue, to draw beside what was measured.

/// W over [0, T] of a fluid that arrives rho times as fast as it departs: (T/2)(1 - 1/rho); nothing
/// waits below 1.
pub fn fluid_window(time_s: f64, rho: f64) -> f64 {
    if rho > 1.0 { time_s / 2.0 * (1.0 - 1.0 / rho) } else { 0.0 }
}

/// The mean delay of a byte of that fluid, once all is read: (T/2)(rho - 1).
pub fn fluid_drained(time_s: f64, rho: f64) -> f64 {
    (time_s / 2.0 * (rho - 1.0)).max(0.0)
}

/// M/D/1: W = S (1 + rho / (2 (1 - rho))); `None` from rho = 1 on (Pollaczek, Khinchine).
pub fn m_d_1(service_s: f64, rho: f64) -> Option<f64> {
    (rho < 1.0).then(|| service_s * (1.0 + rho / (2.0 * (1.0 - rho))))
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rand::SeedableRng;
    use rand_chacha::ChaCha12Rng;

    use super::*;
    use crate::traffic::figures::flow::Figures;
    use crate::traffic::figures::flow::rounded;
    use crate::traffic::sending::burst::Block;
    use crate::traffic::sending::burst::Discipline;
    use crate::traffic::simulated::Line;
    use crate::units::Bytes;
    use crate::units::Nanos;

    /// M/M/1: W = S / (1 - rho).
    fn m_m_1(service_s: f64, rho: f64) -> Option<f64> {
        (rho < 1.0).then(|| service_s / (1.0 - rho))
    }

    /// M/G/1: W = S + lambda E[S^2] / (2 (1 - rho)), rho = lambda S.
    fn m_g_1(arrivals_per_s: f64, service_s: f64, square_s2: f64) -> Option<f64> {
        let rho = arrivals_per_s * service_s;
        (rho < 1.0).then(|| service_s + arrivals_per_s * square_s2 / (2.0 * (1.0 - rho)))
    }

    #[test]
    fn the_formulas_agree_where_they_must() {
        // Deterministic service: E[S^2] = S^2; exponential: 2 S^2.
        let (service, rho) = (0.01, 0.7);
        let lambda = rho / service;
        let both = [(m_d_1(service, rho), 1.0), (m_m_1(service, rho), 2.0)];
        for (want, moment) in both {
            let got = m_g_1(lambda, service, moment * service * service).unwrap();
            assert!((got / want.unwrap() - 1.0).abs() < 1e-12);
        }
        assert_eq!((m_d_1(1.0, 1.0), fluid_window(10.0, 0.9)), (None, 0.0));
        // 54.5 s at T = 120 s and rho = 10.9 (napier, figure 10).
        assert!((fluid_window(120.0, 10.9) - 54.495).abs() < 1e-3);
        assert!((fluid_drained(10.0, 3.0) - 10.0).abs() < 1e-12);
    }

    /// T3: Poisson arrivals of equal and of exponential blocks over a line, in virtual time.
    #[test]
    fn t3_poisson_trains_wait_as_m_d_1_and_m_m_1_say() {
        let mean = 10_000.0;
        let rate = 8e6;
        for (seed, rho) in [(1, 0.5), (2, 0.7), (3, 0.9)] {
            let mut chance = ChaCha12Rng::seed_from_u64(seed);
            let mut exponential = |mean: f64| -mean * (1.0 - chance.random::<f64>()).ln();
            let service = mean * 8.0 / rate;
            let blocks = blocks();
            let (mut equal, mut drawn, mut due) = (Vec::new(), Vec::new(), 0.0);
            for _ in 0..blocks {
                due += exponential(service / rho);
                let block = |size: f64| Block {
                    due: Nanos::new(rounded(due * 1e9)),
                    size: Bytes::new(rounded(size).max(1)),
                };
                equal.push(block(mean));
                drawn.push(block(exponential(mean)));
            }
            // Whole blocks as segments: a queue of customers, as the formulas have it.
            let line = Line::new(rate).with_buffer(Bytes::new(1 << 40));
            for (train, want) in [(equal, m_d_1(service, rho)), (drawn, m_m_1(service, rho))] {
                let trace = line.carry(&train, Nanos::MAX, Discipline::Queue);
                let got = Figures::of(&trace).delay.unwrap().mean_s;
                let error = got / want.unwrap() - 1.0;
                // The error of a mean of correlated delays grows with 1/(1 - rho); of a million it is none.
                let chance = 0.012 / (1.0 - rho) * (FEW / f64::from(blocks)).sqrt();
                let bound = if blocks < MANY { 0.03 + chance } else { 0.03 };
                assert!(error.abs() < bound, "rho {rho}: {error}");
            }
        }
    }

    /// How many: some ten thousand, or as many as the bench says.
    #[expect(clippy::disallowed_methods, reason = "a bench of a million asks this test for them")]
    fn blocks() -> u32 {
        std::env::var("BTU_BLOCKS").map_or(60_000, |number| number.parse().unwrap())
    }

    const FEW: f64 = 60_000.0;
    const MANY: u32 = 1_000_000;
}
