//! Every mathematical library of this machine: right to a unit in the last place, and ranked by its cost.

use std::hint::black_box;

use btu_core::app::math::Comparison;
use btu_core::app::math::Function;
use btu_core::app::math::LibraryFigures;
use btu_core::app::math::Mode;
use btu_engine::EngineError;
use btu_engine::math::Functions;
use btu_engine::math::MATH_LIBRARIES;
use btu_engine::math::MathLibrary;
use btu_engine::math::Terms;
use btu_engine::math::by_name;
use btu_engine::math::compare;
use btu_sys::clock;

/// A library whose every call takes 100 ns at least.
#[derive(Debug)]
struct Slow;

impl MathLibrary for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn about(&self) -> &'static str {
        "a delay"
    }

    fn mode(&self) -> Mode {
        Mode::Call
    }

    fn open(&self) -> Result<Box<dyn Functions>, EngineError> {
        Ok(Box::new(Self))
    }
}

impl Functions for Slow {
    fn sum(&self, _: Function, arguments: &[f64], passes: u32) -> u64 {
        let each = || (0..passes).flat_map(|_| arguments);
        each().for_each(|_| clock::spin_until(clock::monotonic_ns() + 100));
        each().fold(0, |sum, argument| sum.wrapping_add(argument.to_bits()))
    }
}

/// A library that this machine lacks.
#[derive(Debug)]
struct Absent;

impl MathLibrary for Absent {
    fn name(&self) -> &'static str {
        "absent"
    }

    fn about(&self) -> &'static str {
        "nothing"
    }

    fn mode(&self) -> Mode {
        Mode::Inline
    }

    fn open(&self) -> Result<Box<dyn Functions>, EngineError> {
        Err(EngineError::Refused("it was never written".to_owned()))
    }
}

fn compared(libraries: &[&'static dyn MathLibrary]) -> Comparison {
    compare(&Terms {
        functions: Function::ALL.to_vec(),
        libraries: libraries.to_vec(),
        arguments: 200,
        passes: 2,
        repeats: 20,
        seed: 1,
    })
}

/// Those of this machine whose code is optimised in a build for tests, too.
fn fast() -> Vec<&'static dyn MathLibrary> {
    let named = ["system", "rust", "native"].map(|name| by_name(name).unwrap());
    named.into_iter().filter(|library| library.open().is_ok()).collect()
}

fn row<'c>(comparison: &'c Comparison, name: &str) -> &'c LibraryFigures {
    comparison.libraries.iter().find(|library| library.name == name).unwrap()
}

/// Acceptance M8, its first half.
#[test]
fn a_library_with_a_delay_is_last_for_every_function() {
    let comparison = compared(&[&fast()[..], &[&Slow]].concat());
    for function in Function::ALL {
        let slow = row(&comparison, "slow").ns_per_call(function).unwrap();
        assert!(slow >= 100.0, "{function:?}: {slow}");
        let others = comparison.libraries.iter().filter(|library| library.name != "slow");
        for other in others {
            let time = other.ns_per_call(function).unwrap();
            assert!(time < slow, "{function:?} of {}: {time} ns, not below {slow}", other.name);
        }
    }
}

/// Acceptance M8, its second half; by a factor, since without optimisation nothing is inline.
#[test]
fn floor_as_a_call_is_not_faster_than_inline() {
    let comparison = compared(&fast());
    let of = |mode| {
        let libraries = comparison.libraries.iter().filter(move |library| library.mode == mode);
        libraries.filter_map(|library| library.ns_per_call(Function::Floor)).reduce(f64::min)
    };
    let Some((call, inline)) = of(Mode::Call).zip(of(Mode::Inline)) else { return };
    assert!(call > 0.6 * inline, "{call} ns as a call, {inline} ns inline");
}

#[test]
fn every_library_is_right_to_a_unit_in_the_last_place() {
    let comparison = compared(MATH_LIBRARIES);
    for library in comparison.libraries.iter().filter(|one| one.not_available.is_none()) {
        assert_eq!(library.functions.len(), Function::ALL.len(), "{}", library.name);
        for figures in &library.functions {
            let (function, error) = (figures.timing.function, figures.error);
            assert!(error.error_ulp <= 1.0, "{function:?} of {}: {error:?}", library.name);
            assert!(figures.timing.elapsed_ns.len() == 20, "{function:?} of {}", library.name);
        }
        for exact in [Function::Floor, Function::Ceil, Function::Fabs] {
            let error = library.figures(exact).unwrap().error.error_ulp;
            assert!(error == 0.0, "{exact:?} of {}: {error} ulp", library.name);
        }
    }
}

#[test]
fn a_library_that_is_missing_has_its_reason_and_shifts_no_other() {
    let rust = by_name("rust").unwrap();
    let comparison = compared(&[&Absent, rust, &Slow]);
    let absent = row(&comparison, "absent");
    assert_eq!(absent.not_available.as_deref(), Some("it was never written"));
    assert!(absent.functions.is_empty());
    let [rust, slow] = ["rust", "slow"].map(|name| row(&comparison, name));
    assert!(rust.ns_per_call(Function::Fabs).unwrap() < 100.0);
    assert!(slow.figures(Function::Log).unwrap().error.error_ulp > 1e9, "it gives its argument");
}

#[test]
fn what_is_summed_is_every_argument_as_often_as_asked() {
    for library in MATH_LIBRARIES {
        let Ok(functions) = library.open() else { continue };
        let sum = black_box(functions.sum(Function::Floor, &[1.5, 2.5, 4.0], 3));
        let once = [1.0_f64, 2.0, 4.0].map(f64::to_bits).into_iter().fold(0, u64::wrapping_add);
        assert_eq!(sum, once.wrapping_mul(3), "{}", library.name());
    }
}
