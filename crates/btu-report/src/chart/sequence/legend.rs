//! What each colour and letter of a time-sequence chart stands for: those that are in it.

use btu_core::tcp::Mark;
use btu_core::tcp::Sign;

use super::LEFT;
use super::RIGHT;
use super::signs::class_of;
use super::signs::letter_of;
use crate::chart::svg::Anchor;
use crate::chart::svg::Svg;
use btu_core::tcp::SequenceData;

/// Two rows: the lines, then marks and letters, as far as they are there.
pub(super) fn draw(svg: &mut Svg, data: &SequenceData) {
    let lines = [("segments", "c0"), ("acknowledged", "c2"), ("window", "c4"), ("SACK", "c3")];
    let mut left = LEFT;
    for (text, class) in lines {
        line(svg, [left, 40.0], class, text);
        left += 142.0;
    }
    if data.segments.iter().any(|one| one.is_pushed) {
        svg.text("legend", [left, 44.0], Anchor::Start, "\u{25c7} pushed");
    }
    let mut left = LEFT;
    for (class, text) in marks(data).into_iter().chain(signs(data)) {
        let width = 30.0 + 7.2 * f64::from(u32::try_from(text.chars().count()).unwrap_or(0));
        if left + width > RIGHT {
            break;
        }
        line(svg, [left, 56.0], class, &text);
        left += width + 12.0;
    }
}

fn line(svg: &mut Svg, [left, y]: [f64; 2], class: &str, text: &str) {
    svg.strokes(&format!("curve {class}"), &[vec![[left, y], [left + 18.0, y]]]);
    svg.text("legend", [left + 23.0, y + 4.0], Anchor::Start, text);
}

/// The kinds of marks that are there, those that share a colour and a letter together.
fn marks(data: &SequenceData) -> Vec<(&'static str, String)> {
    let kinds: [(Mark, &str); 4] = [
        (Mark::Resent, "R sent again"),
        (Mark::OutOfOrder, "O out of order"),
        (Mark::KeepAlive, "K keep-alive"),
        (Mark::WindowProbe, "P window probe"),
    ];
    let is_there = |letter| data.segments.iter().any(|one| letter_of(one.mark) == letter);
    let there = kinds.into_iter().filter(|(mark, _)| is_there(letter_of(*mark)));
    there.map(|(mark, text)| (class_of(mark), text.to_owned())).collect()
}

/// Letters that need a word; the others are words.
fn signs(data: &SequenceData) -> Vec<(&'static str, String)> {
    let all = [
        (Sign::ThirdDuplicate, "c2", "3 third duplicate"),
        (Sign::Dropped, "c7", "D dropped"),
        (Sign::Marked, "c4", "CE marked"),
        (Sign::Reduced, "c4", "CWR reduced"),
        (Sign::Urgent, "c7", "U urgent"),
    ];
    let is_there = |sign| data.signs.iter().any(|one| one.2 == sign);
    let there = all.into_iter().filter(|(sign, ..)| is_there(*sign));
    there.map(|(_, class, text)| (class, text.to_owned())).collect()
}
