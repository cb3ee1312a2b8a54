//! Traffic models: what applications send, each with its source.
//!
//! To add a model, write `model/NAME.rs` with a `MODEL` and name it in [`MODELS`]. A model says
//! which law each of its parts follows; [`super::check`] tests that the train keeps them.

mod voice_cbr;

use crate::units::BitRate;

use super::call::Call;
use super::call::Parameter;
use super::call::Shape;
use super::call::Takes;
use super::chance::Streams;
use super::law::Law;
use super::quantity::Quantity;
use super::quantity::whole;
use super::train::Train;

/// Every traffic model, in the order of the documentation.
pub static MODELS: &[&Model] = &[&voice_cbr::MODEL];

/// A traffic model.
#[derive(Debug)]
pub struct Model {
    /// Name, sentence and parameters.
    pub shape: Shape,
    /// Where it is from: the paper, the standard, the file.
    pub source: &'static str,
    /// Whether its parameters were compared with the source.
    pub verified: Verified,
    /// The mean rates forward and backward, in bytes per second, where answers take no time.
    pub(super) rates: fn(&Call) -> [f64; 2],
    /// The train of a test.
    pub(super) train: fn(&Call, &Streams) -> Train,
    /// What can be tested about it.
    pub(super) claims: fn(&Call) -> Vec<Claim>,
}

/// Whether the parameters of a model were compared with its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    /// Not; what is missing.
    No(&'static str),
    /// Yes.
    Yes,
}

/// Something that a model says about its train.
#[derive(Debug)]
pub struct Claim {
    /// What it is about, such as `size of a frame`.
    pub what: &'static str,
    /// What is claimed.
    pub says: Says,
}

/// What is claimed of a sequence of values.
#[derive(Clone, Debug, PartialEq)]
pub enum Says {
    /// The correlation of each value with the next.
    Correlation(f64),
    /// Independent values of this distribution.
    Follows(Law),
    /// Independent values of this distribution, rounded to whole numbers of at least 1.
    FollowsRounded(Law),
    /// Self-similar counts with this Hurst parameter.
    Hurst(f64),
}

/// The model of this name.
pub fn find(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.shape.name == name).copied()
}

impl Model {
    /// The name.
    pub const fn name(&self) -> &'static str {
        self.shape.name
    }

    /// The mean rates forward and backward, where answers take no time.
    pub fn mean_rates(&self, call: &Call) -> [BitRate; 2] {
        (self.rates)(call).map(|bytes| BitRate::new(whole(8.0 * bytes)))
    }

    /// What can be tested about it with these arguments.
    pub fn claims(&self, call: &Call) -> Vec<Claim> {
        (self.claims)(call)
    }
}

/// The duration that every model takes.
const DURATION: Parameter = Parameter {
    name: "duration",
    takes: Takes::Value(Quantity::Time),
    default: "60 s",
    about: "how long to send",
};

/// A parameter that chooses among variants; the first is the default.
const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    about: &'static str,
) -> Parameter {
    Parameter { name, takes: Takes::Word(words), default: "", about }
}

/// A span in nanoseconds, for laws.
const fn ms(count: f64) -> f64 {
    count * 1e6
}

/// A span in nanoseconds, for laws.
const fn s(count: f64) -> f64 {
    count * 1e9
}

/// Gaps between the packets of a telnet session, for the word of NetSpec.
pub(super) fn telnet_gaps() -> Law {
    Law::of("pareto", [ms(121.5), 0.9, 0.0]).clamped(ms(121.5), s(45.0))
}

/// Durations of telnet sessions, for the word of NetSpec.
pub(super) fn telnet_durations() -> Law {
    Law::log_normal(240_f64.ln(), 7.8_f64.ln(), 1e9)
}

/// Sizes of video frames, for the word of NetSpec.
pub(super) fn mpeg_frames() -> Law {
    Law::of("const", [1.0, 0.0, 0.0])
}
