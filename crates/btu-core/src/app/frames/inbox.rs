//! What comes from one rank: frames in their order, until their bytes are read, and what is owed for them.

use super::header::Header;
use super::header::Kind;
use super::is_before;
use super::slots::Slots;

/// The frames that came and were not read yet, those from `read` to `taken`.
#[derive(Debug)]
pub(super) struct Inbox {
    slots: Slots,
    window: u32,
    read: u32,
    taken: u32,
    /// How much of the first frame was read.
    used: usize,
    is_ended: bool,
    /// The credit that the other rank knows of.
    told_limit: u32,
    /// Where the last gap was that it was told of: once is enough.
    told_gap: Option<u32>,
    owed: Owed,
}

/// What is to be told, from the least to the most urgent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owed {
    Nothing,
    Credit,
    /// All that is behind was lost, as far as is known here.
    Loss,
}

/// What a frame tells of the other direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) taken: u32,
    pub(super) limit: u32,
    pub(super) is_loss: bool,
}

impl Inbox {
    pub(super) fn new(window: u32, fragment: usize) -> Self {
        Self {
            slots: Slots::new(window, fragment),
            window,
            read: 0,
            taken: 0,
            used: 0,
            is_ended: false,
            told_limit: window,
            told_gap: None,
            owed: Owed::Nothing,
        }
    }

    /// As if so many frames had come.
    #[cfg(test)]
    pub(super) fn starting_at(mut self, number: u32) -> Self {
        (self.read, self.taken) = (number, number);
        self.told_limit = self.limit();
        self
    }

    /// Takes a frame that is the next, notes a gap before one that is not.
    #[inline]
    pub(super) fn take(&mut self, header: &Header, payload: &[u8]) {
        let is_numbered = header.kind != Kind::Credit;
        if is_numbered && header.number == self.taken {
            self.take_next(header.kind, payload);
        } else if is_numbered && is_before(self.taken, header.number) {
            self.note_gap();
        }
        // Frames keep their order on a link: what was sent before the question and is not here will not come.
        if header.asks {
            self.owed = Owed::Loss;
        }
    }

    /// Reads what there is; tells how much.
    #[inline]
    pub(super) fn read(&mut self, space: &mut [u8]) -> usize {
        let mut count = 0;
        while self.has_frames() && count < space.len() {
            let payload = &self.slots.payload(self.read)[self.used..];
            let part = payload.len().min(space.len() - count);
            space[count..count + part].copy_from_slice(&payload[..part]);
            (count, self.used) = (count + part, self.used + part);
            if part == payload.len() {
                (self.read, self.used) = (self.read.wrapping_add(1), 0);
            }
        }
        if self.limit().wrapping_sub(self.told_limit) >= self.window / 2 {
            self.owe(Owed::Credit);
        }
        count
    }

    /// True where there is something to read.
    #[inline]
    pub(super) fn has_frames(&self) -> bool {
        self.read != self.taken
    }

    /// True where the last frame came: nothing follows what can be read.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// True where a frame should go for this alone.
    #[inline]
    pub(super) fn owes(&self) -> bool {
        self.owed != Owed::Nothing
    }

    /// What the next frame tells; then it is told.
    #[inline]
    pub(super) fn tell(&mut self) -> Told {
        self.told_limit = self.limit();
        let owed = std::mem::replace(&mut self.owed, Owed::Nothing);
        // The last frame has a number and needs no place.
        let taken = self.taken.wrapping_add(u32::from(self.is_ended));
        Told { taken, limit: self.told_limit, is_loss: owed == Owed::Loss }
    }

    fn take_next(&mut self, kind: Kind, payload: &[u8]) {
        if kind == Kind::End {
            self.is_ended = true;
            self.owe(Owed::Credit);
        } else if is_before(self.taken, self.limit()) && !self.is_ended {
            self.slots.put(self.taken, [payload, &[]]);
            self.taken = self.taken.wrapping_add(1);
        }
    }

    fn note_gap(&mut self) {
        if self.told_gap != Some(self.taken) && !self.is_ended {
            self.told_gap = Some(self.taken);
            self.owe(Owed::Loss);
        }
    }

    fn owe(&mut self, owed: Owed) {
        self.owed = self.owed.max(owed);
    }

    fn limit(&self) -> u32 {
        self.read.wrapping_add(self.window)
    }
}
