//! Every kernel over every layer: K2, K4 and K5 of what shows that applications are right (docs/app-checks.md).

use std::ffi::OsString;

use btu_core::app::class::ProblemClass;
use btu_core::app::kernel::KERNELS;
use btu_core::app::kernel::Kernel;
use btu_core::app::ranks::Tally;
use btu_core::app::sample::Job;
use btu_engine::app::launch;

use super::*;

/// The bits of all figures of all ranks, and what all of them passed.
pub(super) type Seen = (Vec<u64>, Tally);

/// Kernels that take no two ranks have four.
#[test]
fn k2_k4_k5_every_kernel_verifies_over_every_layer_with_the_same_bits_and_messages() {
    let layers: Vec<_> = layers().collect();
    for kernel in KERNELS.iter().copied() {
        let ranks = if kernel.takes(2) { 2 } else { 4 };
        let seen: Vec<Seen> = layers.iter().map(|layer| seen(kernel, ranks, *layer)).collect();
        for (layer, one) in layers.iter().zip(&seen) {
            assert!(*one == seen[0], "{} over {}", kernel.name(), layer.name());
        }
    }
}

fn seen(kernel: &'static dyn Kernel, ranks: u32, layer: &dyn MessageLayer) -> Seen {
    seen_by(kernel, ranks, layer, &[])
}

/// Ranks that are processes execute `program`.
pub(super) fn seen_by(
    kernel: &'static dyn Kernel,
    ranks: u32,
    layer: &dyn MessageLayer,
    program: &[OsString],
) -> Seen {
    let (name, layer) = (kernel.name().to_owned(), layer.name().to_owned());
    let (class, wait) = (ProblemClass::S, Wait::Block);
    let job = Job { kernel: name, class, ranks, layer, wait };
    let seats = seats(ranks as usize);
    let launched =
        launch(kernel, &job, &seats, Nanos::from_secs(60), &Arc::default(), program).unwrap();
    let (mut bits, mut tally) = (Vec::new(), Tally::default());
    for rank in &launched.ranks {
        let outcome = rank.outcome.as_ref().filter(|outcome| outcome.is_verified());
        let outcome = outcome.unwrap_or_else(|| panic!("{job:?}: {rank:?}"));
        bits.extend(outcome.checks.iter().map(|check| check.found.to_bits()));
        tally.join(&rank.tally);
    }
    (bits, tally)
}
