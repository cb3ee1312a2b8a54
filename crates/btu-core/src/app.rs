//! Parallel applications: eight kernels over any message layer, verified with the reference values of the NAS Parallel
//! Benchmarks.
//!
//! A [`kernel::Kernel`] is arithmetic and messages. What carries the messages is an [`endpoint::Endpoint`]; between the
//! two stands [`ranks::Ranks`], which counts what the application sent, whatever carried it, and tells where time went.

pub mod analysis;
pub mod class;
pub mod endpoint;
pub mod frames;
pub mod journal;
pub mod kernel;
pub mod math;
pub mod oracle;
pub mod plan;
pub mod random;
pub mod ranks;
pub mod sample;

#[cfg(test)]
pub(crate) mod testing;
