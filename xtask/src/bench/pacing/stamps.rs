//! The times of datagrams in a capture.

use anyhow::Result;
use anyhow::bail;

/// Microseconds of every packet that holds a datagram with so much payload; others are of a generator's control.
pub(super) fn of_datagrams(file: &[u8], payload: u64) -> Result<Vec<f64>> {
    let Some((head, mut rest)) = file.split_at_checked(HEAD) else {
        bail!("a capture without head")
    };
    let unit_us = match word(head, 0) {
        MICROSECONDS => 1.0,
        NANOSECONDS => 1e-3,
        _ => bail!("no capture in the form of pcap"),
    };
    // Ethernet of loopback, IPv4, UDP.
    let wanted = u64::from(HEADERS) + payload;
    let mut stamps = Vec::new();
    while let Some((record, data)) = rest.split_at_checked(RECORD) {
        let [seconds, parts, kept, length] = [0, 4, 8, 12].map(|at| word(record, at));
        let Some((_, next)) = data.split_at_checked(usize::try_from(kept)?) else { break };
        rest = next;
        if u64::from(length) == wanted {
            stamps.push(f64::from(seconds) * 1e6 + f64::from(parts) * unit_us);
        }
    }
    Ok(stamps)
}

/// The number at a place, as this machine writes it.
fn word(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_ne_bytes(word)
}

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
const HEAD: usize = 24;
const RECORD: usize = 16;
const HEADERS: u32 = 14 + 20 + 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_of_the_size_are_stamped_and_others_left_out() {
        let mut file = vec![0; HEAD];
        file[..4].copy_from_slice(&NANOSECONDS.to_ne_bytes());
        for (nanos, length) in [(1_500_u32, 142_u32), (2_000, 60), (1_001_500, 142)] {
            for word in [3, nanos, 4, length] {
                file.extend(word.to_ne_bytes());
            }
            file.extend([0; 4]);
        }
        // A record that was cut off.
        file.extend([0; 9]);
        assert_eq!(of_datagrams(&file, 100).unwrap(), [3_000_001.5, 3_001_001.5]);
        assert!(of_datagrams(&file[..10], 100).is_err());
        assert!(of_datagrams(&[0; 24], 100).is_err());
    }
}
