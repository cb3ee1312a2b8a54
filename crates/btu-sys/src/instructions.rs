//! Code that is compiled for instructions which the least CPU of the architecture lacks, and run where this one has them.

/// Shows that this CPU has SSE4.1, whose ROUNDSD rounds to a whole number (Intel SDM, volume 2).
#[derive(Clone, Copy, Debug)]
pub struct Sse41(());

impl Sse41 {
    /// `None` where this CPU lacks it.
    #[cfg(target_arch = "x86_64")]
    pub fn of_this_cpu() -> Option<Self> {
        std::arch::is_x86_feature_detected!("sse4.1").then_some(Self(()))
    }

    /// `None`: it is a part of x86-64.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn of_this_cpu() -> Option<Self> {
        None
    }

    /// Does the work, with these instructions where an optimised build inlines it: it should be `#[inline(always)]`.
    #[inline]
    pub fn run<R>(self, work: impl FnOnce() -> R) -> R {
        // SAFETY: `self` exists where the CPU has what the function is compiled for.
        unsafe { compiled_for_sse41(work) }
    }
}

/// # Safety
/// The CPU has SSE4.1.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "sse4.1"))]
unsafe fn compiled_for_sse41<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_gives_the_same_with_more_instructions() {
        if let Some(instructions) = Sse41::of_this_cpu() {
            let floors = instructions.run(|| [2.5_f64, -2.5].map(f64::floor));
            assert!(floors.map(f64::to_bits) == [2.0_f64, -3.0].map(f64::to_bits), "{floors:?}");
        }
    }
}
