//! What a run must find.
#![expect(clippy::excessive_precision, reason = "the digits are those of the source")]

use crate::app::kernel::Check;

/// The figures that are verified; residual and error are root mean squares for each of the five quantities.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figures {
    /// Of L(u) + forcing behind the last iteration.
    pub(super) residual: [f64; 5],
    /// Of the difference from the exact solution.
    pub(super) error: [f64; 5],
    /// Of the pressure, over the faces of a box.
    pub(super) surface: f64,
}

impl Figures {
    /// These beside those that should have been found.
    pub(super) fn beside(&self, reference: &Self) -> Vec<Check> {
        let pairs = self.named().zip(reference.named());
        pairs.map(|((name, found), (_, right))| Check::new(name, found, right, TOLERANCE)).collect()
    }

    fn named(&self) -> impl Iterator<Item = (String, f64)> {
        let numbered = |what: &'static str, values: [f64; 5]| {
            (1..).zip(values).map(move |(m, value)| (format!("{what} {m}"), value))
        };
        let surface = ("surface integral".to_owned(), self.surface);
        numbered("residual", self.residual).chain(numbered("error", self.error)).chain([surface])
    }
}

const TOLERANCE: f64 = 1e-8;

/// The figures of classes S, W and A: NPB 3.4.2, `verify.f90`.
pub(super) const OF_CLASS: [Figures; 3] = [
    Figures {
        residual: [
            1.619_634_321_097_670_2e-2,
            2.197_674_516_482_131_8e-3,
            1.517_992_765_339_918_5e-3,
            1.502_958_443_599_432_3e-3,
            3.426_407_315_589_646_1e-2,
        ],
        error: [
            6.422_331_995_796_092_4e-4,
            8.414_434_204_734_792_6e-5,
            5.858_826_961_648_518_6e-5,
            5.847_422_259_515_735_0e-5,
            1.310_334_791_411_129_4e-3,
        ],
        surface: 7.841_892_886_593_708_3,
    },
    Figures {
        residual: [
            0.123_651_163_819_2e2,
            0.131_722_847_779_9e1,
            0.255_012_071_309_5e1,
            0.232_618_775_025_2e1,
            0.282_679_944_418_9e2,
        ],
        error: [
            0.486_787_714_421_6,
            0.506_465_288_098_2e-1,
            0.928_181_810_196_0e-1,
            0.857_012_654_273_3e-1,
            0.108_427_741_779_2e1,
        ],
        surface: 0.116_139_931_102_3e2,
    },
    Figures {
        residual: [
            7.790_210_760_668_936_7e2,
            6.340_276_525_969_287_0e1,
            1.949_924_972_729_247_9e2,
            1.784_530_116_041_853_7e2,
            1.838_476_034_946_424_7e3,
        ],
        error: [
            2.996_408_568_547_194_3e1,
            2.819_457_636_500_334_9,
            7.347_341_269_877_474_2,
            6.713_922_568_777_705_1,
            7.071_531_568_839_257_8e1,
        ],
        surface: 2.603_092_560_488_627_7e1,
    },
];
