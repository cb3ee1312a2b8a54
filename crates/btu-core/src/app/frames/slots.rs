//! Payloads of the frames of a window, each in the place of its number.

/// Memory for so many payloads.
#[derive(Debug)]
pub(super) struct Slots {
    memory: Box<[u8]>,
    lengths: Box<[usize]>,
    fragment: usize,
}

impl Slots {
    /// For the payloads of `window` frames, each of at most `fragment` bytes.
    pub(super) fn new(window: u32, fragment: usize) -> Self {
        let places = usize::try_from(window).unwrap_or(usize::MAX);
        let memory = vec![0; places.saturating_mul(fragment)].into_boxed_slice();
        Self { memory, lengths: vec![0; places].into_boxed_slice(), fragment }
    }

    /// Keeps what fits of both parts, one behind the other, in the place of this number; tells how much that is.
    #[inline]
    pub(super) fn put(&mut self, number: u32, parts: [&[u8]; 2]) -> usize {
        let place = self.place(number);
        let slot = &mut self.memory[place * self.fragment..][..self.fragment];
        let mut length = 0;
        for part in parts {
            let count = part.len().min(slot.len() - length);
            slot[length..length + count].copy_from_slice(&part[..count]);
            length += count;
        }
        self.lengths[place] = length;
        length
    }

    /// The payload of this number.
    #[inline]
    pub(super) fn payload(&self, number: u32) -> &[u8] {
        let place = self.place(number);
        &self.memory[place * self.fragment..][..self.lengths[place]]
    }

    /// The number of places is a power of two, so that numbers may begin anew after 2^32.
    fn place(&self, number: u32) -> usize {
        usize::try_from(number).unwrap_or(0) % self.lengths.len()
    }
}
