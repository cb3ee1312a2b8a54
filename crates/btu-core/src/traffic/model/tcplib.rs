//! The tables of tcplib: what was measured of terminals and file transfers in 1989 and 1990.

use std::sync::LazyLock;

use super::prelude::*;
use crate::traffic::law::Interpolation;
use crate::traffic::law::Table;

/// Gaps between the keys of a terminal, in nanoseconds.
pub(in crate::traffic) fn gaps() -> &'static Law {
    static LAW: LazyLock<Law> =
        LazyLock::new(|| law("tcplib gaps", Interpolation::Linear, s(1.0), GAPS));
    &LAW
}

/// Files of a session: no number lies between two rows.
pub(in crate::traffic) fn files() -> &'static Law {
    static LAW: LazyLock<Law> =
        LazyLock::new(|| law("tcplib files", Interpolation::Step, 1.0, FILES));
    &LAW
}

/// Bytes of a file.
pub(in crate::traffic) fn sizes() -> &'static Law {
    static LAW: LazyLock<Law> =
        LazyLock::new(|| law("tcplib sizes", Interpolation::Linear, 1.0, SIZES));
    &LAW
}

/// The table that scenarios call by this name, as what is written of a law says it.
pub(in crate::traffic) fn named(name: &str) -> Option<&'static Law> {
    let is_of_name = |law: &&Law| matches!(law, Law::Table(table) if &*table.name == name);
    [gaps(), files(), sizes()].into_iter().find(is_of_name)
}

/// The law of rows of percents, in units of `scale`.
fn law(name: &str, between: Interpolation, scale: f64, rows: &[(f64, f64)]) -> Law {
    let rows = rows.iter().map(|(value, percent)| (value * scale, percent / 100.0)).collect();
    Table::new(name, between, rows).map_or_else(|_| Law::of("const", [scale, 0.0, 0.0]), Law::Table)
}

/// Seconds, and the percent of all gaps up to them: 66 of the 10,000 quantiles of `tcp/tcplib-telnet.cc` of ns-2.35.
const GAPS: &[(f64, f64)] = &[
    (0.000_606_4, 0.01),
    (0.001_018, 0.61),
    (0.001_674, 1.81),
    (0.003_227, 3.41),
    (0.007_144, 4.21),
    (0.025_78, 5.61),
    (0.057_79, 8.41),
    (0.075_59, 11.21),
    (0.098_64, 16.21),
    (0.100_3, 17.61),
    (0.111_8, 19.81),
    (0.144_4, 26.81),
    (0.165, 32.41),
    (0.175_7, 34.81),
    (0.182_3, 36.61),
    (0.186_8, 37.61),
    (0.194_8, 40.41),
    (0.199_9, 42.41),
    (0.236_4, 50.01),
    (0.248_3, 52.01),
    (0.286_8, 58.01),
    (0.308, 60.41),
    (0.343_6, 63.41),
    (0.376_8, 65.81),
    (0.409_6, 69.21),
    (0.456_7, 71.81),
    (0.495_9, 73.41),
    (0.508_6, 74.21),
    (0.629_2, 78.01),
    (0.869_8, 82.81),
    (0.990_2, 84.61),
    (0.999_9, 85.61),
    (1.237, 88.01),
    (1.566, 90.01),
    (2.119, 92.41),
    (2.924, 94.21),
    (4.924, 96.41),
    (5.075, 96.81),
    (5.66, 97.13),
    (6.026, 97.24),
    (6.477, 97.45),
    (6.756, 97.63),
    (7.501, 97.87),
    (8.391, 98.01),
    (8.52, 98.07),
    (8.817, 98.13),
    (9.198, 98.25),
    (10.93, 98.55),
    (12.25, 98.59),
    (12.64, 98.65),
    (13.0, 98.75),
    (14.94, 98.9),
    (17.39, 98.94),
    (17.76, 99.0),
    (20.21, 99.03),
    (21.51, 99.14),
    (22.05, 99.2),
    (26.09, 99.33),
    (27.94, 99.41),
    (33.59, 99.45),
    (42.87, 99.65),
    (45.91, 99.74),
    (59.19, 99.77),
    (59.7, 99.89),
    (59.98, 99.94),
    (209.9, 100.0),
];

/// Files, and the percent of all sessions with so many at the most: `nitems` of `glomosim/tcplib/ftp.h` of `GloMoSim`.
const FILES: &[(f64, f64)] = &[
    (1.0, 16.4),
    (2.0, 33.2),
    (3.0, 47.6),
    (4.0, 57.4),
    (5.0, 62.0),
    (6.0, 68.3),
    (7.0, 71.7),
    (8.0, 74.4),
    (9.0, 78.5),
    (10.0, 81.0),
    (11.0, 83.0),
    (12.0, 84.5),
    (13.0, 85.5),
    (14.0, 86.6),
    (15.0, 88.1),
    (16.0, 89.4),
    (17.0, 90.6),
    (18.0, 91.2),
    (19.0, 91.9),
    (20.0, 92.6),
    (21.0, 93.7),
    (22.0, 94.7),
    (23.0, 95.0),
    (24.0, 95.2),
    (25.0, 95.5),
    (26.0, 95.7),
    (27.0, 96.2),
    (28.0, 96.7),
    (29.0, 97.0),
    (32.0, 97.2),
    (33.0, 97.5),
    (34.0, 97.7),
    (35.0, 97.9),
    (39.0, 98.2),
    (41.0, 98.5),
    (44.0, 98.7),
    (51.0, 98.8),
    (53.0, 99.0),
    (54.0, 99.2),
    (57.0, 99.3),
    (60.0, 99.5),
    (71.0, 99.7),
    (139.0, 99.8),
    (347.0, 100.0),
];

/// Bytes, and the percent of all files up to them: 61 of the 290 rows of `itemsize` there.
const SIZES: &[(f64, f64)] = &[
    (0.0, 0.1),
    (5.0, 1.7),
    (15.0, 6.0),
    (25.0, 7.7),
    (35.0, 10.2),
    (55.0, 12.1),
    (70.0, 15.8),
    (105.0, 19.6),
    (120.0, 20.4),
    (175.0, 24.9),
    (180.0, 25.2),
    (185.0, 27.1),
    (210.0, 29.0),
    (250.0, 30.5),
    (280.0, 32.5),
    (335.0, 34.9),
    (365.0, 35.7),
    (370.0, 37.7),
    (405.0, 39.0),
    (420.0, 39.3),
    (470.0, 42.2),
    (500.0, 43.2),
    (510.0, 51.3),
    (710.0, 53.4),
    (1_010.0, 55.1),
    (1_030.0, 59.4),
    (1_510.0, 61.5),
    (1_540.0, 63.9),
    (2_030.0, 65.0),
    (2_060.0, 67.3),
    (2_540.0, 67.7),
    (2_600.0, 70.5),
    (2_950.0, 70.8),
    (3_070.0, 71.7),
    (3_470.0, 72.1),
    (3_810.0, 73.3),
    (4_020.0, 73.6),
    (4_090.0, 74.3),
    (4_510.0, 74.4),
    (5_000.0, 75.5),
    (12_000.0, 80.5),
    (19_000.0, 83.8),
    (21_000.0, 85.1),
    (33_000.0, 88.4),
    (50_000.0, 91.4),
    (55_000.0, 91.6),
    (60_000.0, 92.0),
    (65_000.0, 92.5),
    (70_000.0, 92.8),
    (75_000.0, 93.2),
    (90_000.0, 93.8),
    (95_000.0, 93.9),
    (100_000.0, 95.4),
    (150_000.0, 96.4),
    (250_000.0, 97.6),
    (450_000.0, 98.4),
    (500_000.0, 98.9),
    (950_000.0, 99.5),
    (1_200_000.0, 99.7),
    (3_700_000.0, 99.9),
    (22_050_000.0, 100.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// What the whole tables of the sources have: the rows that are left out here change nothing that one could see.
    #[test]
    fn the_tables_have_the_means_and_shares_of_their_sources() {
        for (law, unit, mean, points) in [
            (gaps(), s(1.0), 1.0919, &[(0.0200, 0.05), (0.2364, 0.5), (1.0, 0.8561)][..]),
            (files(), 1.0, 7.81, &[(1.0, 0.164), (5.0, 0.62), (30.0, 0.97), (138.0, 0.997)]),
            (sizes(), 1.0, 39_861.0, &[(300.0, 0.332), (1_100.0, 0.599), (27_000.0, 0.87)]),
        ] {
            let found = law.mean().unwrap() / unit / mean;
            assert!((found - 1.0).abs() < 0.01, "{law:?}: {found} of its mean");
            for (value, share) in points {
                let found = law.cdf(value * unit);
                assert!((found - share).abs() < 0.003, "{value}: {found} for {share}");
            }
        }
    }
}
