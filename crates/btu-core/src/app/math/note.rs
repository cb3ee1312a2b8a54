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
        "{} as a call takes {called:.2} ns ({}), inline {inlined:.2} ns ({}): {:.1} times as much",
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
    let told = "this program was built without sse4.1: floor and ceil of rust are calls of the C library, too";
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
