//! First in, first out, of bounded length, in memory that is got once.

/// A queue that begins anew at its first place whenever it is empty, so that one that stays short stays in the
/// same few cache lines. A `VecDeque` walks through all of its memory, which for the handles of a link is megabytes.
#[derive(Debug)]
pub(super) struct Ring<T> {
    /// Every place that was used so far.
    places: Vec<T>,
    capacity: usize,
    first: usize,
    length: usize,
}

impl<T: Copy> Ring<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { places: Vec::with_capacity(capacity), capacity, first: 0, length: 0 }
    }

    /// Appends `one`; false where every place is taken.
    #[inline]
    pub(super) fn push(&mut self, one: T) -> bool {
        if self.length == self.capacity {
            return false;
        }
        let place = self.place(self.length);
        match self.places.get_mut(place) {
            Some(used) => *used = one,
            None => self.places.push(one),
        }
        self.length += 1;
        true
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        let first = *self.first()?;
        self.first = if self.length == 1 { 0 } else { self.place(1) };
        self.length -= 1;
        Some(first)
    }

    #[inline]
    pub(super) fn first(&self) -> Option<&T> {
        if self.length == 0 { None } else { self.places.get(self.first) }
    }

    #[inline]
    pub(super) fn first_mut(&mut self) -> Option<&mut T> {
        if self.length == 0 { None } else { self.places.get_mut(self.first) }
    }

    #[inline]
    pub(super) fn last_mut(&mut self) -> Option<&mut T> {
        let last = self.place(self.length.checked_sub(1)?);
        self.places.get_mut(last)
    }

    /// Where the element at `index` from the first is.
    #[inline]
    fn place(&self, index: usize) -> usize {
        let place = self.first + index;
        if place < self.capacity { place } else { place - self.capacity }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever is pushed and popped, it is what a queue of the standard library would hold.
        #[test]
        fn holds_what_a_deque_holds(capacity in 0_usize..6, pushes in prop::collection::vec(any::<bool>(), 0..200)) {
            let (mut ring, mut deque) = (Ring::new(capacity), VecDeque::new());
            for (number, is_push) in pushes.into_iter().enumerate() {
                if is_push {
                    let has_room = deque.len() < capacity;
                    prop_assert_eq!(ring.push(number), has_room);
                    deque.extend(has_room.then_some(number));
                } else {
                    prop_assert_eq!(ring.pop(), deque.pop_front());
                }
                prop_assert_eq!(ring.first(), deque.front());
                prop_assert_eq!(ring.first_mut(), deque.front_mut());
                prop_assert_eq!(ring.last_mut(), deque.back_mut());
            }
        }
    }

    /// A short queue uses a few places, however much goes through it.
    #[test]
    fn an_empty_queue_begins_anew() {
        let mut ring = Ring::new(1000);
        for number in 0..10_000 {
            assert!(ring.push(number) && ring.push(number));
            assert_eq!((ring.pop(), ring.pop(), ring.pop()), (Some(number), Some(number), None));
        }
        assert_eq!(ring.places.len(), 2);
    }
}
