//! The comparison as people read it: times, errors, conditions, notes.

use btu_core::app::math::Comparison;
use btu_core::app::math::LibraryFigures;
use btu_core::app::math::NO_DIGIT_RIGHT_ULP;
use btu_core::app::math::Timing;
use btu_core::app::math::notes;
use btu_core::words::several;

/// Both tables, with what stands around them.
pub(super) fn text(comparison: &Comparison) -> String {
    let absent = comparison.libraries.iter().filter_map(absence);
    let below = absent.chain([conditions(comparison)]).chain(notes(comparison));
    let below: String = below.map(|line| format!("# {line}\n")).collect();
    format!("{}\n{}\n{below}", times(comparison), errors(comparison))
}

fn times(comparison: &Comparison) -> String {
    let cell = |timing: &Timing| format!("{:.2}", timing.ns_per_call);
    let empty = comparison.empty_loop.iter().map(cell);
    let empty = [vec!["empty loop".to_owned()].into_iter().chain(empty).collect()];
    let rows = measured(comparison).map(|library| {
        let name = format!("{}, {}", library.name, library.mode.word());
        let cells = library.functions.iter().map(|figures| cell(&figures.timing));
        [name].into_iter().chain(cells).collect()
    });
    table(&head("ns per call", comparison), empty.into_iter().chain(rows).collect())
}

fn errors(comparison: &Comparison) -> String {
    let rows = measured(comparison).map(|library| {
        let cells = library.functions.iter().map(|figures| ulp(figures.error.error_ulp));
        [library.name.clone()].into_iter().chain(cells).collect()
    });
    table(&head("largest error in ulp", comparison), rows.collect())
}

fn ulp(error: f64) -> String {
    if error < NO_DIGIT_RIGHT_ULP { format!("{error:.3}") } else { "no digit".to_owned() }
}

fn head(corner: &str, comparison: &Comparison) -> Vec<String> {
    let functions = comparison.empty_loop.iter().map(|timing| timing.function.name().to_owned());
    [corner.to_owned()].into_iter().chain(functions).collect()
}

/// Names to the left, numbers to the right.
fn table(head: &Vec<String>, rows: Vec<Vec<String>>) -> String {
    let lines: Vec<&Vec<String>> = [head].into_iter().chain(&rows).collect();
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(String::len).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    lines.iter().map(|line| aligned(line, &widths)).collect()
}

fn aligned(line: &[String], widths: &[usize]) -> String {
    let cells = line.iter().zip(widths).enumerate();
    let cells = cells.map(|(column, (cell, width))| match column {
        0 => format!("{cell:width$}"),
        _ => format!("  {cell:>width$}"),
    });
    cells.collect::<String>().trim_end().to_owned() + "\n"
}

fn measured(comparison: &Comparison) -> impl Iterator<Item = &LibraryFigures> {
    comparison.libraries.iter().filter(|library| library.not_available.is_none())
}

fn absence(library: &LibraryFigures) -> Option<String> {
    Some(format!("{}: not available: {}", library.name, library.not_available.as_ref()?))
}

/// `minimum of 15 repeats of 50 x 4096 calls; built for x86_64 with sse2; on any CPU; seed 1`
fn conditions(comparison: &Comparison) -> String {
    let Comparison { build, arguments, passes, repeats, seed, cpu, .. } = comparison;
    let features = match build.target_features.join(", ") {
        none if none.is_empty() => String::new(),
        features => format!(" with {features}"),
    };
    let cpu = cpu.map_or_else(|| "any CPU".to_owned(), |cpu| format!("CPU {cpu}"));
    format!(
        "minimum of {} of {passes} x {arguments} calls, the loop included; built for {}{features}; on {cpu}; seed {seed}",
        several(repeats, "repeat"),
        build.architecture,
    )
}
