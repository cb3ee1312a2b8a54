//! What the tests of SP and BT have in common.

use crate::app::class::ProblemClass;
use crate::app::kernel::Kernel;
use crate::app::ranks::Collective;
use crate::app::ranks::Tally;
use crate::app::testing::run;
use crate::app::testing::run_spoiled;
use crate::app::testing::total;

/// What a run of so many steps passes that is verified, with the same outcome on each rank.
pub(crate) fn passed_by_verified(
    kernel: &dyn Kernel,
    (class, steps): (ProblemClass, u64),
    count: usize,
) -> Tally {
    let ended = run(kernel, class, count);
    let (outcome, ..) = &ended[0];
    assert!(outcome.is_verified(), "{count} ranks: {outcome:?}");
    assert!(ended.iter().all(|(other, ..)| other == outcome), "{count} ranks: {ended:?}");
    let tally = total(&ended);
    assert_eq!(tally.messages.count, messages(count as u64, steps), "{count} ranks");
    assert_eq!(tally.own.count, 0, "{count} ranks");
    let reduced = tally.collective(Collective::AllReduce);
    let calls = 2 * count as u64;
    assert_eq!((reduced.count, reduced.bytes.count()), (calls, 40 * calls), "{count} ranks");
    tally
}

/// Spoils borders and sweeps, and leaves the sums of the norms alone.
pub(crate) fn fails_where_spoiled(kernel: &dyn Kernel) {
    let ended = run_spoiled(kernel, ProblemClass::S, 4, |message| {
        if message.len() > 5 * size_of::<f64>() {
            flip_exponent(message);
        }
    });
    assert!(ended.iter().all(|(outcome, ..)| !outcome.is_verified()), "{ended:?}");
}

/// The bytes of all messages by their sizes.
pub(crate) fn sizes(tally: &Tally) -> Vec<(u64, u64)> {
    tally.sizes.iter().map(|(size, count)| (*size, *count)).collect()
}

/// The formula of the oracle: six borders before each step, before the warm-up and before the residual, and two messages
/// per axis and slice but the last. A single rank has nobody to send to.
fn messages(ranks: u64, steps: u64) -> u64 {
    let slices = ranks.isqrt();
    if slices == 1 { 0 } else { ranks * (6 * slices * (steps + 1) + 6) }
}

/// The top bit of the exponent of an `f64` in the middle.
fn flip_exponent(message: &mut [u8]) {
    let middle = message.len() / size_of::<f64>() / 2;
    message[middle * size_of::<f64>() + 7] ^= 0x40;
}
