//! What a reader of the tables should know.

use super::Comparison;
use super::Function;
use super::LibraryFigures;
use super::Mode;

/// The notes, each a sentence.
pub fn notes(comparison: &Comparison) -> Vec<String> {
    let rounding =
        [Function::Floor, Function::Ceil].map(|function| call_and_inline(comparison, function));
    let mut notes: Vec<String> = rounding.into_iter().flatten().collect();
    notes.extend(without_rounding(comparison));
    notes.extend(not_optimised(comparison));
    notes.extend(inaccurate(comparison));
    notes
}

/// The finding of the study, within one machine: what the same function costs as a call and where it is inline.
fn call_and_inline(comparison: &Comparison, function: Function) -> Option<String> {
    let (call, called) = fastest(comparison, Mode::Call, function)?;
    let (inline, inlined) = fastest(comparison, Mode::Inline, function)?;
    Some(format!(
        "{} takes {called:.2} ns as a call ({}), {inlined:.2} ns inline ({}): {:.1} times as long",
        function.name(),
        call.name,
        inline.name,
        called / inlined
    ))
}

fn fastest(
    comparison: &Comparison,
    mode: Mode,
    function: Function,
) -> Option<(&LibraryFigures, f64)> {
    let of_mode = comparison.libraries.iter().filter(|library| library.mode == mode);
    let timed = of_mode.filter_map(|library| Some((library, library.ns_per_call(function)?)));
    timed.min_by(|left, right| left.1.total_cmp(&right.1))
}

/// Of x86-64 the least has no instruction that rounds (Intel SDM volume 2, ROUNDSD: SSE4.1).
fn without_rounding(comparison: &Comparison) -> Option<String> {
    let build = &comparison.build;
    let lacks =
        build.architecture == "x86_64" && !build.target_features.iter().any(|f| f == "sse4.1");
    let is_shown = fastest(comparison, Mode::Inline, Function::Floor).is_some()
        || fastest(comparison, Mode::Inline, Function::Ceil).is_some();
    let told = "this program was built without sse4.1, whose instruction rounds: floor and ceil of the library rust are calls, too";
    (lacks && is_shown).then(|| told.to_owned())
}

fn not_optimised(comparison: &Comparison) -> Option<String> {
    let told =
        "this program was built without optimisation: times of inline libraries mean nothing";
    (!comparison.build.is_optimised).then(|| told.to_owned())
}

/// Results that are off by more than the next number.
fn inaccurate(comparison: &Comparison) -> Vec<String> {
    let all = comparison.libraries.iter();
    let all =
        all.flat_map(|library| library.functions.iter().map(move |figures| (library, figures)));
    let wrong = all.filter(|(_, figures)| figures.error.error_ulp > ACCEPTED_ULP);
    let told = wrong.map(|(library, figures)| {
        let (name, error) = (figures.timing.function.name(), figures.error);
        format!(
            "{name} of {} is off by {:.3} ulp at {:?}",
            library.name, error.error_ulp, error.argument
        )
    });
    told.collect()
}

/// What libraries that do not round correctly promise at best (SLEEF: `u10`).
const ACCEPTED_ULP: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::super::Build;
    use super::super::FunctionFigures;
    use super::super::LargestError;
    use super::super::Timing;
    use super::*;
    use crate::units::Nanos;

    /// A library that has `floor` alone.
    fn library(name: &str, mode: Mode, floor_ns: u64, error_ulp: f64) -> LibraryFigures {
        let timing = Timing::of(Function::Floor, vec![Nanos::new(floor_ns)], 100).unwrap();
        let error = LargestError { error_ulp, argument: 2.5 };
        let functions = vec![FunctionFigures { timing, error }];
        LibraryFigures { name: name.to_owned(), mode, not_available: None, functions }
    }

    fn comparison(features: &[&str], libraries: Vec<LibraryFigures>) -> Comparison {
        let build = Build {
            architecture: "x86_64".to_owned(),
            target_features: features.iter().map(|feature| (*feature).to_owned()).collect(),
            is_optimised: true,
        };
        let (arguments, passes, repeats, seed) = (100, 1, 1, 1);
        let empty_loop = Vec::new();
        Comparison { build, arguments, passes, repeats, seed, cpu: None, empty_loop, libraries }
    }

    #[test]
    fn the_fastest_call_stands_beside_the_fastest_inline_code() {
        let libraries = vec![
            library("system", Mode::Call, 270, 0.0),
            library("sleef", Mode::Call, 408, 0.0),
            library("rust", Mode::Inline, 276, 0.0),
            library("native", Mode::Inline, 36, 0.0),
        ];
        let notes = notes(&comparison(&["sse4.1"], libraries));
        let wanted =
            "floor takes 2.70 ns as a call (system), 0.36 ns inline (native): 7.5 times as long";
        assert_eq!(notes, [wanted]);
    }

    #[test]
    fn what_makes_times_and_results_doubtful_is_told() {
        let mut doubtful = comparison(&["sse2"], vec![library("rust", Mode::Inline, 276, 1.5)]);
        doubtful.build.is_optimised = false;
        let [build, optimised, wrong] = &notes(&doubtful)[..] else { panic!("three notes") };
        assert!(build.contains("without sse4.1"), "{build}");
        assert!(optimised.contains("without optimisation"), "{optimised}");
        assert_eq!(wrong, "floor of rust is off by 1.500 ulp at 2.5");
    }

    #[test]
    fn nothing_is_said_of_functions_that_were_not_compared() {
        assert!(notes(&comparison(&["sse2"], Vec::new())).is_empty());
    }
}
