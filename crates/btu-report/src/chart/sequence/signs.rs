//! Marks and letters on the segments of a time-sequence chart, as tcptrace has them.

use btu_core::tcp::Mark;
use btu_core::tcp::Sign;

use super::MOST_MARKS;
use super::columns;
use crate::chart::scale::Axis;
use crate::chart::svg::Anchor;
use crate::chart::svg::Svg;
use btu_core::tcp::SegmentPoint;
use btu_core::tcp::SequenceData;

/// Its letter; none for what is simply sent.
pub(super) const fn letter_of(mark: Mark) -> Option<&'static str> {
    match mark {
        Mark::New => None,
        Mark::OutOfOrder => Some("O"),
        Mark::KeepAlive => Some("K"),
        Mark::WindowProbe => Some("P"),
        _ => Some("R"),
    }
}

/// The class of its colour.
pub(super) const fn class_of(mark: Mark) -> &'static str {
    match mark {
        Mark::New => "c0",
        Mark::OutOfOrder => "c6",
        Mark::KeepAlive | Mark::WindowProbe => "c1",
        _ => "c7",
    }
}

const fn class_of_sign(sign: Sign) -> &'static str {
    match sign {
        Sign::Syn | Sign::Fin | Sign::ResetIn | Sign::ResetOut => "c1",
        Sign::Marked | Sign::Reduced => "c4",
        Sign::Dropped | Sign::Urgent => "c7",
        Sign::ThirdDuplicate => "c2",
    }
}

/// A dot at each segment that is not simply sent, and its letter where there is room for it; a
/// diamond at each that is pushed, where there are few.
pub(super) fn marks(
    svg: &mut Svg,
    data: &SequenceData,
    x: &Axis,
    place: &impl Fn(f64, f64) -> [f64; 2],
) {
    for class in ["c6", "c1", "c7"] {
        let is_of = |one: &&SegmentPoint| one.mark != Mark::New && class_of(one.mark) == class;
        let marked = data.segments.iter().filter(is_of);
        let dots = columns(marked.map(|one| [one.at, one.to, one.to]), x);
        let dots = dots.iter().take(MOST_MARKS).map(|[at, _, high]| place(*at, *high));
        svg.dots(&format!("dots {class}"), &dots.collect::<Vec<_>>());
    }
    if data.segments.len() <= MOST_DIAMONDS {
        let pushed = data.segments.iter().filter(|one| one.is_pushed);
        let diamond = |one: &SegmentPoint| {
            let [x, y] = place(super::millis(one.at), super::float(one.to));
            vec![[x, y - 3.0], [x + 3.0, y], [x, y + 3.0], [x - 3.0, y], [x, y - 3.0]]
        };
        svg.strokes("curve c0", &pushed.map(diamond).collect::<Vec<_>>());
    }
}

/// The letters of marks and signs, as many as have room beside each other.
pub(super) fn letters(
    svg: &mut Svg,
    data: &SequenceData,
    x: &Axis,
    place: &impl Fn(f64, f64) -> [f64; 2],
) {
    let of_mark = |one: &SegmentPoint| {
        letter_of(one.mark).map(|letter| (one.at, one.to, letter, class_of(one.mark)))
    };
    let of_sign =
        |(at, to, sign): &(i64, i64, Sign)| (*at, *to, sign.letter(), class_of_sign(*sign));
    let marks = data.segments.iter().filter_map(of_mark);
    let mut all: Vec<_> = data.signs.iter().map(of_sign).chain(marks).collect();
    all.sort_by_key(|(at, ..)| *at);
    let mut room = f64::NEG_INFINITY;
    for (at, to, letter, class) in all {
        let at = super::millis(at);
        if x.place(at) < room {
            continue;
        }
        let [left, y] = place(at, super::float(to));
        svg.text(&format!("letter {class}"), [left, y - 6.0], Anchor::Middle, letter);
        room = left + 12.0 + 8.0 * f64::from(u32::try_from(letter.len()).unwrap_or(0));
    }
}

/// More of them hide each other.
const MOST_DIAMONDS: usize = 300;
