//! How long functions and files are, as a distribution and as limits.

use super::Workspace;
use crate::source::Function;
use crate::source::Source;

/// A file without its tests; a test file counts as a whole.
const FILE_LINES: usize = 400;
const TEST_FILE_LINES: usize = 600;
const MAIN_LINES: usize = 60;

/// No row may be on the wrong side of its last column.
static ROWS: &[Row] = &[
    Row { label: "<= 10 lines", measure: |f| at_most(f, 10), bound: Bound::AtLeast(60.0) },
    Row { label: "<= 20", measure: |f| at_most(f, 20), bound: Bound::AtLeast(80.0) },
    Row { label: "<= 40", measure: |f| at_most(f, 40), bound: Bound::AtLeast(95.0) },
    Row { label: "<= 60", measure: |f| at_most(f, 60), bound: Bound::AtLeast(99.0) },
    Row { label: "lines in functions > 60", measure: lines_in_long, bound: Bound::AtMost(10.0) },
];

struct Row {
    label: &'static str,
    measure: fn(&[Function]) -> f64,
    bound: Bound,
}

enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Bound {
    fn holds(&self, percent: f64) -> bool {
        match self {
            Self::AtLeast(bound) => percent >= *bound,
            Self::AtMost(bound) => percent <= *bound,
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtLeast(bound) => write!(f, ">= {bound} %"),
            Self::AtMost(bound) => write!(f, "<= {bound} %"),
        }
    }
}

pub(super) fn check(workspace: &Workspace<'_>) -> Vec<String> {
    let functions: Vec<Function> = workspace.sources.iter().flat_map(Source::functions).collect();
    let mut found = table(&functions);
    found.extend(workspace.sources.iter().filter_map(too_long));
    found
}

/// Prints the table and returns the rows that break their bound.
fn table(functions: &[Function]) -> Vec<String> {
    println!("  {:<26} {:>8}  {:<8}", format!("{} functions", functions.len()), "here", "bound");
    let mut found = Vec::new();
    for row in ROWS {
        let percent = (row.measure)(functions);
        println!("  {:<26} {percent:>6.1} %  {:<8}", row.label, row.bound.to_string());
        if !row.bound.holds(percent) {
            found.push(format!("functions {}: {percent:.1} %, bound {}", row.label, row.bound));
        }
    }
    found
}

fn at_most(functions: &[Function], lines: usize) -> f64 {
    share(functions.iter().filter(|f| f.lines <= lines).count(), functions.len())
}

fn lines_in_long(functions: &[Function]) -> f64 {
    let long = functions.iter().map(|f| f.lines).filter(|&lines| lines > 60).sum();
    share(long, functions.iter().map(|f| f.lines).sum())
}

fn share(part: usize, whole: usize) -> f64 {
    let as_f64 = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    if whole == 0 { 0.0 } else { 100.0 * as_f64(part) / as_f64(whole) }
}

fn too_long(source: &Source) -> Option<String> {
    let lines = source.lines_without_tests();
    let limit = if source.path.ends_with("/main.rs") && !source.is_test() {
        MAIN_LINES
    } else if source.is_test() {
        TEST_FILE_LINES
    } else {
        FILE_LINES
    };
    (lines > limit).then(|| format!("{}: {lines} lines, limit {limit}", source.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[usize]) -> Vec<Function> {
        lines.iter().map(|&lines| Function { name: "f".into(), line: 1, lines }).collect()
    }

    #[test]
    fn shares_are_counted_in_functions_and_in_lines() {
        let functions = of(&[1, 10, 30, 99]);
        assert!((at_most(&functions, 10) - 50.0).abs() < 1e-9);
        assert!((lines_in_long(&functions) - 100.0 * 99.0 / 140.0).abs() < 1e-9);
    }

    #[test]
    fn a_function_of_a_hundred_lines_among_few_breaks_the_table() {
        assert!(!table(&of(&[100; 3])).is_empty());
        assert!(table(&of(&[5; 300])).is_empty());
    }
}
