//! Counts in sentences, where one is no plural, and words of commands.

use std::fmt::Display;

/// `1 packet`, `3 packets`, `2 passes`, `5 launches`
pub fn several(count: impl Display, one: &str) -> String {
    let count = count.to_string();
    let ending = match count.as_str() {
        "1" => "",
        _ if one.ends_with('s') || one.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{count} {one}{ending}")
}

/// What is said of so many, where what is said of several begins with its verb: `are invalid`, and `is invalid`
/// of one.
pub fn agreeing(count: usize, said: &str) -> String {
    let of_one = |(many, one): &(&str, &str)| {
        let rest = said.strip_prefix(many)?.strip_prefix(' ')?;
        Some(format!("{one} {}", rest.replace(" their ", " its ")))
    };
    VERBS.iter().filter(|_| count == 1).find_map(of_one).unwrap_or_else(|| said.to_owned())
}

/// Those that have a form of their own for one.
const VERBS: [(&str, &str); 4] =
    [("are", "is"), ("fail", "fails"), ("have", "has"), ("were", "was")];

/// `once`, `3 times`
pub fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// An error and its causes on one line, joined by ": ".
pub fn sentence(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// `90.4 % > 90 %`: a figure beyond its bound, both with as many decimals, `least` or more, as it takes to
/// see that. `than` is `>` or `<`.
pub fn beyond(found: f64, than: char, bound: f64, least: usize, unit: &str) -> String {
    let written = |value: f64, decimals: usize| format!("{value:.decimals$}");
    let shows = |decimals: &usize| written(found, *decimals) != written(bound, *decimals);
    let decimals = (least..MOST_DECIMALS).find(shows).unwrap_or(MOST_DECIMALS);
    let (found, bound) = (written(found, decimals), written(bound, decimals));
    let bound = if bound.contains('.') { bound.trim_end_matches('0') } else { &bound };
    format!("{found}{unit} {than} {}{unit}", bound.trim_end_matches('.'))
}

/// More tell nobody anything.
const MOST_DECIMALS: usize = 9;

/// A word of a command line as a shell takes it: `/mnt/nvme-0`, `'/mnt/my disk'`
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+_-./=:@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The known word that `word` may be a slip of the finger for: one character is other, missing, too
/// many, or has changed places with its neighbour.
pub fn slip_of<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    known.iter().copied().find(|known| is_slip(word, known))
}

fn is_slip(word: &str, known: &str) -> bool {
    let (mut a, mut b): (Vec<char>, Vec<char>) = (word.chars().collect(), known.chars().collect());
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    a.drain(..same);
    b.drain(..same);
    while !a.is_empty() && a.last() == b.last() {
        a.pop();
        b.pop();
    }
    let swapped = a.len() == 2 && b.len() == 2 && a[0] == b[1] && a[1] == b[0];
    swapped || (a.len() <= 1 && b.len() <= 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_beyond_its_bound_is_written_so() {
        let over = |found, least| beyond(found, '>', 90.0, least, " %");
        assert_eq!(over(95.2, 0), "95 % > 90 %");
        assert_eq!(over(95.2, 1), "95.2 % > 90 %");
        assert_eq!(over(90.4, 0), "90.4 % > 90 %");
        assert_eq!(over(90.04, 0), "90.04 % > 90 %");
        assert_eq!(beyond(1250.26, '>', 1250.0, 0, " us"), "1250.3 us > 1250 us");
        assert_eq!(beyond(15.43, '>', 15.38, 0, ""), "15.43 > 15.38");
        assert_eq!(beyond(69.96, '<', 70.0, 0, " %"), "69.96 % < 70 %");
        assert_eq!(beyond(100.0, '>', 10.0, 0, ""), "100 > 10");
    }

    #[test]
    fn one_slip_is_recognised_and_no_more() {
        let known = ["none", "cpu", "ftp", "video"];
        for (word, meant) in [
            ("non", Some("none")),
            ("nonee", Some("none")),
            ("cup", Some("cpu")),
            ("vidio", Some("video")),
            ("smtp", None),
            ("CPU", None),
            ("", None),
        ] {
            assert_eq!(slip_of(word, &known), meant, "{word}");
        }
    }

    #[test]
    fn a_word_with_anything_special_is_quoted() {
        assert_eq!(shell_word("/mnt/nvme-0"), "/mnt/nvme-0");
        assert_eq!(shell_word("/mnt/my disk's"), r"'/mnt/my disk'\''s'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn what_is_said_of_one_agrees_with_it() {
        assert_eq!(agreeing(1, "are invalid"), "is invalid");
        assert_eq!(agreeing(2, "are invalid"), "are invalid");
        assert_eq!(agreeing(1, "have no slowdown"), "has no slowdown");
        assert_eq!(agreeing(1, "had one"), "had one");
    }

    #[test]
    fn one_is_no_plural() {
        let said = [several(1, "packet"), several(0, "packet"), several(1, "pass")];
        assert_eq!(said, ["1 packet", "0 packets", "1 pass"]);
        assert_eq!([several(3, "pass"), times(1), times(2)], ["3 passes", "once", "2 times"]);
    }
}
