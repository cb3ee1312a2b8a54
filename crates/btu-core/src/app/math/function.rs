//! The functions that are compared, and the arguments that they get.

use serde::Deserialize;
use serde::Serialize;

use crate::app::random::Random;

/// A function of one real number, in the order of the tables: first the four that the study found in software.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Function {
    /// The largest whole number that is not larger.
    Floor,
    /// The smallest whole number that is not smaller.
    Ceil,
    /// The number without its sign.
    Fabs,
    /// The logarithm to base 10.
    Log10,
    /// The natural logarithm.
    Log,
    /// The square root.
    Sqrt,
    /// The exponential function.
    Exp,
    /// The power with the exponent [`EXPONENT`].
    Pow,
}

impl Function {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Floor,
        Self::Ceil,
        Self::Fabs,
        Self::Log10,
        Self::Log,
        Self::Sqrt,
        Self::Exp,
        Self::Pow,
    ];

    /// The name, as C has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Ceil => "ceil",
            Self::Fabs => "fabs",
            Self::Log10 => "log10",
            Self::Log => "log",
            Self::Sqrt => "sqrt",
            Self::Exp => "exp",
            Self::Pow => "pow",
        }
    }

    /// The function of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name() == name)
    }

    /// So many arguments, always the same: evenly spread over 0.001 to 3700 in no order, so that no branch of a library
    /// is foreseen. `exp` gets a hundredth of them, negative, whose powers are neither 0 nor infinite.
    pub fn arguments(self, count: usize) -> Vec<f64> {
        let mut random = Random::new(SEED);
        let scale = if self == Self::Exp { EXP_SCALE } else { 1.0 };
        let mut draw = || scale * (LOWEST + (HIGHEST - LOWEST) * random.draw());
        (0..count).map(|_| draw()).collect()
    }
}

/// The exponent of every power.
pub const EXPONENT: f64 = 0.3;

const LOWEST: f64 = 0.001;
const HIGHEST: f64 = 3700.0;
const EXP_SCALE: f64 = -0.01;
/// That of the kernel EP (NASA report NAS-95-020, section 2.2.1), from which the study took its functions.
const SEED: u64 = 271_828_183;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_back_to_its_function() {
        for function in Function::ALL {
            assert_eq!(Function::by_name(function.name()), Some(function));
        }
        assert_eq!(Function::by_name("sin"), None);
    }

    #[test]
    fn arguments_are_within_their_domain_and_differ() {
        let arguments = Function::Log.arguments(4096);
        assert!(arguments.iter().all(|x| (LOWEST..HIGHEST).contains(x)));
        assert!(arguments.iter().any(|x| *x < 10.0) && arguments.iter().any(|x| *x > 3690.0));
        assert!(arguments.windows(2).all(|pair| pair[0].to_bits() != pair[1].to_bits()));
        assert!(Function::Exp.arguments(4096).iter().all(|x| (-37.0..0.0).contains(x)));
    }
}
