//! Messages that come in pieces, too early, too long, or never.

use super::*;

const SENT_AT: Nanos = Nanos::new(77);

fn frame(tag: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap();
    [&Head::new(length, tag, SENT_AT).encode()[..], payload].concat()
}

/// Gives bytes in pieces, with nothing after each of them.
fn piecewise(mut left: Vec<u8>, piece: usize) -> impl FnMut(&mut [u8]) -> io::Result<usize> {
    let mut gives = true;
    move |space| {
        gives = !gives;
        let count = left.len().min(piece).min(space.len());
        if gives || count == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        space[..count].copy_from_slice(&left[..count]);
        left.drain(..count);
        Ok(count)
    }
}

fn receive(
    from: &mut Incoming,
    read: &mut impl FnMut(&mut [u8]) -> io::Result<usize>,
    (tag, length): (u32, usize),
    keep: &mut Keep,
) -> Vec<u8> {
    let mut space = vec![0; length];
    let mut wanted = Wanted { tag, space: &mut space };
    let mut sent_at = from.take_kept(&mut wanted, keep).unwrap();
    while sent_at.is_none() {
        if let TakenIn::Whole(at) = from.take_in(&mut *read, Some(&mut wanted), keep).unwrap() {
            sent_at = Some(at);
        }
    }
    assert_eq!(sent_at, Some(SENT_AT));
    space
}

#[test]
fn frames_come_out_whole_in_whatever_pieces_they_come() {
    let stream = [frame(1, b"bits"), frame(2, b""), frame(1, b"to the"), frame(3, &[5; 90])];
    for piece in [1, 3, 16, 17, 20, 64, 1000] {
        for ahead in [Head::BYTES, 40, 4096] {
            let mut read = piecewise(stream.concat(), piece);
            let (mut from, mut keep) = (Incoming::new(4, ahead), Keep::new(0, 1000));
            let mut next = |asked| receive(&mut from, &mut read, asked, &mut keep);
            assert_eq!(next((3, 90)), [5; 90], "{piece} B at once, {ahead} B ahead");
            assert_eq!(next((1, 4)), b"bits");
            assert_eq!(next((2, 0)), b"");
            assert_eq!(next((1, 6)), b"to the");
            assert_eq!(keep.kept_bytes, 0);
        }
    }
}

#[test]
fn a_message_that_is_asked_for_in_its_middle_goes_on_in_its_space() {
    let mut read = piecewise(frame(1, &[9; 50]), 30);
    let (mut from, mut keep) = (Incoming::new(4, Head::BYTES), Keep::new(0, 1000));
    while from.open.as_ref().is_none_or(|open| open.got == 0) {
        from.take_in(&mut read, None, &mut keep).unwrap();
    }
    assert_eq!(keep.kept_bytes, 16 + 50);
    assert_eq!(receive(&mut from, &mut read, (1, 50), &mut keep), [9; 50]);
    assert_eq!(keep.kept_bytes, 0);
}

/// What follows would be taken for something else.
#[test]
fn after_a_message_that_was_received_in_part_nothing_is() {
    let mut read = piecewise(frame(1, &[9; 50]), 30);
    let (mut from, mut keep) = (Incoming::new(4, Head::BYTES), Keep::new(0, 1000));
    let mut space = [0; 50];
    let mut wanted = Wanted { tag: 1, space: &mut space };
    while from.open.is_none() {
        from.take_in(&mut read, Some(&mut wanted), &mut keep).unwrap();
    }
    assert_eq!(from.take_in(&mut read, None, &mut keep), Err(torn(4)));
    assert_eq!(from.take_kept(&mut wanted, &mut keep), Err(torn(4)));
}

#[test]
fn empty_messages_are_kept_up_to_a_bound_too() {
    let mut read = piecewise(frame(1, &[]).repeat(100), 64);
    let (mut from, mut keep) = (Incoming::new(4, 64), Keep::new(2, 1000));
    let mut looks = (0..100).map(|_| from.take_in(&mut read, None, &mut keep));
    let flooded = LayerError::Flooded { rank: 2, kept_bytes: 1008, limit_bytes: 1000 };
    assert_eq!(looks.find_map(Result::err), Some(flooded));
}

#[test]
fn a_length_that_nobody_can_keep_takes_no_memory() {
    let mut read = piecewise(Head::new(u32::MAX, 1, SENT_AT).encode().to_vec(), 16);
    let (mut from, mut keep) = (Incoming::new(4, 64), Keep::new(2, 1000));
    let (kept_bytes, limit_bytes) = (16 + u64::from(u32::MAX), 1000);
    let flooded = LayerError::Flooded { rank: 2, kept_bytes, limit_bytes };
    assert_eq!(from.take_in(&mut read, None, &mut keep), Err(flooded));
}
