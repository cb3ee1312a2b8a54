//! Time over block size, and what a curve says in a few numbers.

mod line;

pub use line::Line;
pub use line::LineFit;
