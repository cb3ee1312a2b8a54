//! What a viewer sees: frames in their order, and when the picture stood still.

use crate::units::Nanos;

/// How often the picture stood still, and for how long all in all, by the times at which frames were shown.
///
/// The rule of `freezeCount` and `totalFreezesDuration` (W3C, Identifiers for WebRTC's Statistics API): a frame that
/// comes at least max(3 d, d + 150 ms) after the one before, d being the mean time between frames. d is that of
/// libwebrtc (`video_quality_observer2.cc`): over the last 30 times, the one at hand included, from the fifth on. A picture
/// that stands still at the end has nobody seen move again: it counts up to there.
pub(super) fn freezes(shown: &[Nanos], end: Nanos) -> (usize, Nanos) {
    let last = shown.last().map(|last| end.since(*last));
    let gaps = shown.windows(2).map(|pair| pair[1].since(pair[0]));
    let gaps: Vec<Nanos> = gaps.chain(last).collect();
    let frozen: Vec<Nanos> =
        (0..gaps.len()).filter(|at| is_freeze(&gaps[..=*at])).map(|at| gaps[at]).collect();
    (frozen.len(), frozen.into_iter().sum())
}

/// Whether the last of these times between frames is a freeze.
fn is_freeze(gaps: &[Nanos]) -> bool {
    let recent = &gaps[gaps.len().saturating_sub(AVERAGED)..];
    let Some(gap) = recent.last().filter(|_| recent.len() >= LEAST) else { return false };
    let count = u64::try_from(recent.len()).unwrap_or(u64::MAX);
    let mean = Nanos::new(recent.iter().copied().sum::<Nanos>().count() / count);
    *gap >= (mean * 3).max(mean.saturating_add(MORE))
}

const AVERAGED: usize = 30;
const LEAST: usize = 5;
const MORE: Nanos = Nanos::from_millis(150);

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames after so many milliseconds each, the first one at once, up to an end so long after the last.
    fn found(gaps: &[u64], rest: u64) -> (usize, u64) {
        let mut at = 0;
        let mut shown = vec![Nanos::ZERO];
        for gap in gaps {
            at += gap;
            shown.push(Nanos::from_millis(at));
        }
        let (count, time) = freezes(&shown, Nanos::from_millis(at + rest));
        (count, time.count() / 1_000_000)
    }

    #[test]
    fn freezes_are_those_of_a_hand_made_sequence() {
        // Ten frames of 30 ms, one of x, ten more: d = (300 + x) / 11, and x has to be d + 150.
        let around = |x| [vec![30; 10], vec![x], vec![30; 10]].concat();
        assert_eq!(found(&around(194), 30), (0, 0), "d = 44.9");
        assert_eq!(found(&around(195), 30), (1, 195), "d = 45.0");
        // 3 d is more where frames are further apart: d = (1000 + x) / 11, and x has to be 3 (1000 + x) / 11.
        let slow = |x| [vec![100; 10], vec![x]].concat();
        assert_eq!(found(&slow(370), 100), (0, 0));
        assert_eq!(found(&slow(380), 100), (1, 380));
        // Two of them, and one that lasts.
        let two = [vec![33; 20], vec![500], vec![33; 20], vec![300], vec![33; 5]].concat();
        assert_eq!(found(&two, 33), (2, 800));
        assert_eq!(found(&two, 2000), (3, 2800));
        // Of four times nobody knows what is usual.
        assert_eq!(found(&[33, 33, 33, 900], 33), (0, 0));
        assert_eq!(freezes(&[], Nanos::from_secs(9)), (0, Nanos::ZERO));
    }
}
