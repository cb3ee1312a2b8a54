//! All libraries side by side: every loop once in each repeat, in an order by chance, and its results judged.

use std::hint::black_box;

use btu_core::app::math::Build;
use btu_core::app::math::Comparison;
use btu_core::app::math::DoubleDouble;
use btu_core::app::math::Function;
use btu_core::app::math::FunctionFigures;
use btu_core::app::math::LargestError;
use btu_core::app::math::LibraryFigures;
use btu_core::app::math::Timing;
use btu_core::app::math::exact;
use btu_core::app::math::order;
use btu_core::units::Nanos;

use super::Functions;
use super::MathLibrary;
use super::lap::EmptyLoop;
use crate::error::EngineError;
use crate::time;

/// What is compared, and how thoroughly.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Columns.
    pub functions: Vec<Function>,
    /// Rows.
    pub libraries: Vec<&'static dyn MathLibrary>,
    /// How many arguments a function gets.
    pub arguments: usize,
    /// How often a loop goes through them.
    pub passes: u32,
    /// How often each loop is timed.
    pub repeats: u32,
    /// Decides the order within each repeat.
    pub seed: u64,
}

/// Compares on the calling thread, where that is. A library that is not there is told with the reason.
pub fn compare(terms: &Terms) -> Comparison {
    let opened: Vec<_> = terms.libraries.iter().map(|library| library.open()).collect();
    let tasks: Vec<Task> = terms.functions.iter().map(|function| terms.task(*function)).collect();
    let there = opened.iter().flatten().map(|functions| &**functions);
    let rows = [&EmptyLoop as &dyn Functions].into_iter().chain(there);
    let mut loops: Vec<Loop<'_>> = rows.flat_map(|row| row_of(row, &tasks)).collect();
    for repeat in 0..terms.repeats {
        for place in order(terms.seed, repeat, loops.len()) {
            loops[place].run(terms.passes);
        }
    }
    let mut rows = loops.chunks(tasks.len().max(1));
    let empty = rows.next().unwrap_or_default();
    let libraries = terms.libraries.iter().zip(&opened);
    Comparison {
        build: build(),
        arguments: terms.arguments,
        passes: terms.passes,
        repeats: terms.repeats,
        seed: terms.seed,
        cpu: None,
        empty_loop: empty.iter().filter_map(|one| one.timing(terms.passes)).collect(),
        libraries: libraries
            .map(|(library, opened)| figures(*library, opened, &mut rows, terms.passes))
            .collect(),
    }
}

impl Terms {
    fn task(&self, function: Function) -> Task {
        let arguments = function.arguments(self.arguments);
        let exact = arguments.iter().map(|argument| (*argument, exact(function, *argument)));
        Task { function, exact: exact.collect(), arguments }
    }
}

/// A function, its arguments, and what it should give for each.
struct Task {
    function: Function,
    arguments: Vec<f64>,
    exact: Vec<(f64, DoubleDouble)>,
}

/// A function of one library, and how long its loop took each time.
struct Loop<'t> {
    functions: &'t dyn Functions,
    task: &'t Task,
    elapsed: Vec<Nanos>,
}

fn row_of<'t>(functions: &'t dyn Functions, tasks: &'t [Task]) -> Vec<Loop<'t>> {
    let of_task = |task| Loop { functions, task, elapsed: Vec::new() };
    tasks.iter().map(of_task).collect()
}

impl Loop<'_> {
    fn run(&mut self, passes: u32) {
        let start = time::now();
        black_box(self.functions.sum(self.task.function, &self.task.arguments, passes));
        self.elapsed.push(time::now().since(start));
    }

    fn timing(&self, passes: u32) -> Option<Timing> {
        let calls = u64::try_from(self.task.arguments.len()).unwrap_or(u64::MAX);
        let calls = calls.saturating_mul(passes.into());
        Timing::of(self.task.function, self.elapsed.clone(), calls)
    }

    /// What is judged is what was timed: the sum over one argument, whose bits are those of the result.
    fn figures(&self, passes: u32) -> Option<FunctionFigures> {
        let sum = |argument| self.functions.sum(self.task.function, &[argument], 1);
        let value = |argument| f64::from_bits(sum(argument));
        let error = LargestError::over(&self.task.exact, value)?;
        Some(FunctionFigures { timing: self.timing(passes)?, error })
    }
}

/// Takes the next row for a library that is there.
fn figures<'t>(
    library: &dyn MathLibrary,
    opened: &Result<Box<dyn Functions>, EngineError>,
    rows: &mut impl Iterator<Item = &'t [Loop<'t>]>,
    passes: u32,
) -> LibraryFigures {
    let row = opened.as_ref().ok().and_then(|_| rows.next()).unwrap_or_default();
    LibraryFigures {
        name: library.name().to_owned(),
        mode: library.mode(),
        not_available: opened.as_ref().err().map(EngineError::sentence),
        functions: row.iter().filter_map(|one| one.figures(passes)).collect(),
    }
}

fn build() -> Build {
    let features = FEATURES.iter().filter(|(_, is_there)| *is_there);
    Build {
        architecture: std::env::consts::ARCH.to_owned(),
        target_features: features.map(|(name, _)| (*name).to_owned()).collect(),
        is_optimised: !cfg!(debug_assertions),
    }
}

/// What decides whether these functions can be inline: rounding, fused multiply-add, vectors.
const FEATURES: &[(&str, bool)] = &[
    ("sse2", cfg!(target_feature = "sse2")),
    ("sse4.1", cfg!(target_feature = "sse4.1")),
    ("avx", cfg!(target_feature = "avx")),
    ("avx2", cfg!(target_feature = "avx2")),
    ("fma", cfg!(target_feature = "fma")),
    ("avx512f", cfg!(target_feature = "avx512f")),
    ("neon", cfg!(target_feature = "neon")),
    ("f", cfg!(target_feature = "f")),
    ("d", cfg!(target_feature = "d")),
];
