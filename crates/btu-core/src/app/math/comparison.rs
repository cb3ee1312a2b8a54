//! What was measured of each library, and under which conditions.

use serde::Deserialize;
use serde::Serialize;

use super::Function;
use super::LargestError;
use crate::units::Nanos;

/// All libraries, side by side. As JSON it is the result of `btu app math`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What this program was built for, which decides what is inline.
    pub build: Build,
    /// Arguments of a loop.
    pub arguments: usize,
    /// How often a loop goes through them.
    pub passes: u32,
    /// How often each loop was timed.
    pub repeats: u32,
    /// Seed of the order within the repeats.
    pub seed: u64,
    /// The CPU of the loops; `None` where the scheduler chose.
    pub cpu: Option<u32>,
    /// The loops without a function: what is in every other time, too. Nothing is subtracted.
    pub empty_loop: Vec<Timing>,
    /// In the order of their registry.
    pub libraries: Vec<LibraryFigures>,
}

/// The target of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// `x86_64`
    pub architecture: String,
    /// Instructions beyond the least of the architecture that this program takes for granted; of those that matter here.
    pub target_features: Vec<String>,
    /// Whether the loops were optimised: times of others mean nothing.
    pub is_optimised: bool,
}

/// How a function is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// By a pointer, as that of a library which is loaded.
    Call,
    /// As the compiler likes: by an instruction of the target, by code in the loop, or by a call nevertheless.
    Inline,
}

/// One library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LibraryFigures {
    /// Its name in the registry.
    pub name: String,
    /// How its functions are reached.
    pub mode: Mode,
    /// Why there are no figures.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_available: Option<String>,
    /// Its functions, in the order of the command line; none where it is not available.
    pub functions: Vec<FunctionFigures>,
}

/// One function of one library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionFigures {
    /// What it takes.
    #[serde(flatten)]
    pub timing: Timing,
    /// How wrong it is.
    #[serde(flatten)]
    pub error: LargestError,
}

/// The times of one loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// The function whose arguments it goes through.
    pub function: Function,
    /// The least time of a call, the loop around it included.
    pub ns_per_call: f64,
    /// Each repeat, in their order.
    pub elapsed_ns: Vec<Nanos>,
}

impl Mode {
    /// The word of tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Inline => "inline",
        }
    }
}

impl Timing {
    /// Of so many calls in each repeat; `None` where nothing was timed. The least is what the code takes, anything beyond it
    /// the machine's.
    pub fn of(function: Function, elapsed_ns: Vec<Nanos>, calls: u64) -> Option<Self> {
        let least = elapsed_ns.iter().min()?;
        #[expect(clippy::cast_precision_loss, reason = "53 bits of nanoseconds are 104 days")]
        let ns_per_call = least.count() as f64 / calls as f64;
        Some(Self { function, ns_per_call, elapsed_ns })
    }
}

impl LibraryFigures {
    /// What a call of this function takes, where it was measured.
    pub fn ns_per_call(&self, function: Function) -> Option<f64> {
        Some(self.figures(function)?.timing.ns_per_call)
    }

    /// What was measured of this function.
    pub fn figures(&self, function: Function) -> Option<&FunctionFigures> {
        self.functions.iter().find(|figures| figures.timing.function == function)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_takes_what_it_took_in_the_shortest_repeat() {
        let times = [500, 300, 900].map(Nanos::new).to_vec();
        let timing = Timing::of(Function::Floor, times, 200).unwrap();
        assert!((timing.ns_per_call - 1.5).abs() < 1e-12);
        assert_eq!(Timing::of(Function::Floor, Vec::new(), 200), None);
    }

    #[test]
    fn the_figures_of_a_function_are_one_flat_object_with_its_units() {
        let timing = Timing::of(Function::Log10, vec![Nanos::new(800)], 100).unwrap();
        let error = LargestError { error_ulp: 0.75, argument: 12.5 };
        let written = serde_json::to_value(FunctionFigures { timing, error }).unwrap();
        let wanted = serde_json::json!({
            "function": "log10", "ns_per_call": 8.0, "elapsed_ns": [800],
            "largest_error_ulp": 0.75, "largest_error_argument": 12.5,
        });
        assert_eq!(written, wanted);
    }
}
