//! Numbers in the byte order of whoever wrote a file.

/// Which byte comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The most significant one.
    Big,
    /// The least significant one.
    Little,
}

impl Order {
    /// The 16-bit number at `at`.
    pub(super) fn word(self, bytes: &[u8], at: usize) -> Option<u16> {
        let two: [u8; 2] = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(match self {
            Self::Big => u16::from_be_bytes(two),
            Self::Little => u16::from_le_bytes(two),
        })
    }

    /// The 32-bit number at `at`.
    pub(super) fn long(self, bytes: &[u8], at: usize) -> Option<u32> {
        let four: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(match self {
            Self::Big => u32::from_be_bytes(four),
            Self::Little => u32::from_le_bytes(four),
        })
    }

    /// The 64-bit number at `at`.
    pub(super) fn quad(self, bytes: &[u8], at: usize) -> Option<u64> {
        let eight: [u8; 8] = bytes.get(at..at.checked_add(8)?)?.try_into().ok()?;
        Some(match self {
            Self::Big => u64::from_be_bytes(eight),
            Self::Little => u64::from_le_bytes(eight),
        })
    }
}

/// A 32-bit length as a place in memory.
pub(super) fn place(length: u32) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}
