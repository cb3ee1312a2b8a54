//! What a mathematical library costs, and how far its results are from the exact ones.
//!
//! The question is that of a study of message passing, where a kernel that only computes was slow: its library had
//! `floor`, `ceil`, `fabs` and `log10` in software. Time is measured by whoever knows a clock; here is what is asked
//! for, what the exact answers are, and what follows from both.

mod accuracy;
mod comparison;
mod double_double;
mod function;
mod note;
mod order;
mod reference;

pub use accuracy::LargestError;
pub use accuracy::NO_DIGIT_RIGHT_ULP;
pub use comparison::Build;
pub use comparison::Comparison;
pub use comparison::FunctionFigures;
pub use comparison::LibraryFigures;
pub use comparison::Mode;
pub use comparison::Timing;
pub use double_double::DoubleDouble;
pub use function::EXPONENT;
pub use function::Function;
pub use note::notes;
pub use order::order;
pub use reference::exact;
