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
    let below: Vec<String> = below.map(|line| format!("# {line}")).collect();
    format!("{}\n{}\n{}\n", times(comparison), errors(comparison), below.join("\n"))
}

fn times(comparison: &Comparison) -> String {
    let cell = |timing: &Timing| format!("{:.2}", timing.ns_per_call);
    let empty = line("empty loop", comparison.empty_loop.iter().map(cell));
    let rows = measured(comparison).map(|library| {
        let name = format!("{}, {}", library.name, library.mode.word());
        line(&name, library.functions.iter().map(|figures| cell(&figures.timing)))
    });
    let head = head("ns per call", comparison);
    table(&[head, empty].into_iter().chain(rows).collect::<Vec<_>>())
}

fn errors(comparison: &Comparison) -> String {
    let rows = measured(comparison).map(|library| {
        line(&library.name, library.functions.iter().map(|figures| ulp(figures.error.error_ulp)))
    });
    let head = head("largest error in ulp", comparison);
    table(&[head].into_iter().chain(rows).collect::<Vec<_>>())
}

fn ulp(error: f64) -> String {
    if error < NO_DIGIT_RIGHT_ULP { format!("{error:.3}") } else { "no digit".to_owned() }
}

fn head(corner: &str, comparison: &Comparison) -> Vec<String> {
    let timings = comparison.empty_loop.iter();
    line(corner, timings.map(|timing| timing.function.name().to_owned()))
}

fn line(name: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    [name.to_owned()].into_iter().chain(cells).collect()
}

/// Names to the left, numbers to the right; the first line has a cell for each column.
fn table(lines: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(String::len).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..lines.first().map_or(0, Vec::len)).map(width).collect();
    lines.iter().map(|line| aligned(line, &widths)).collect()
}

fn aligned(line: &[String], widths: &[usize]) -> String {
    let cells = line.iter().zip(widths).enumerate();
    let cells = cells.map(|(column, (cell, width))| match column {
        0 => format!("{cell:width$}"),
        _ => format!("  {cell:>width$}"),
    });
    cells.collect::<String>() + "\n"
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
