//! What the machine itself needs to copy a block: the reference line beside the transports.

use btu_core::pingpong::configuration::Configuration;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::clock;

use super::pool::Blocks;
use crate::error::EngineError;

/// Times of `units` units of `batch` exchanges, in the calling thread. An exchange copies the block
/// twice, as a block goes there and comes back; so half an exchange is one copy.
pub fn copies(
    wanted: &Configuration,
    size: Bytes,
    units: u32,
    batch: u32,
) -> Result<Vec<u64>, EngineError> {
    // Two buffers even where a transport would use one.
    let two = Configuration { verify: true, ..wanted.clone() };
    let mut blocks = Blocks::new(size.len(), &two)?;
    let mut unit_ns = Vec::with_capacity(usize::try_from(units).unwrap_or(0));
    let begun = clock::monotonic_ns();
    for _ in 0..units {
        let start = clock::monotonic_ns();
        for _ in 0..batch {
            let Some((block, space, _)) = blocks.both() else { break };
            space.copy_from_slice(std::hint::black_box(block));
            block.copy_from_slice(std::hint::black_box(space));
        }
        let end = clock::monotonic_ns();
        unit_ns.push(end.saturating_sub(start));
        if Nanos::new(end.saturating_sub(begun)) > LONGEST {
            break;
        }
    }
    Ok(unit_ns)
}

/// A reference line must not take longer than what it is a reference for.
const LONGEST: Nanos = Nanos::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_megabyte_takes_longer_than_a_byte() {
        let wanted = Configuration::new("memcpy");
        let fastest =
            |size| *copies(&wanted, Bytes::new(size), 20, 4).unwrap().iter().min().unwrap();
        assert!(fastest(1 << 20) > fastest(1));
    }
}
