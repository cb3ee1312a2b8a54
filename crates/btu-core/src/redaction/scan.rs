//! Words of a text that identify a host by their form alone.

use std::net::Ipv4Addr;
use std::net::Ipv6Addr;

use super::Kind;

/// The text in pieces: words, and what stands between them.
pub(super) fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for piece in pieces(text, is_word) {
        if kind(piece).is_some() || !piece.starts_with(is_word) {
            words.push(piece);
        } else {
            // `192.0.2.7:80`, `UUID=...` and `(lab7)`: what is inside counts, too.
            words.extend(pieces(piece, |c| is_word(c) && !":=/@".contains(c)));
        }
    }
    words
}

/// What a word identifies.
pub(super) fn kind(word: &str) -> Option<Kind> {
    if is_mac(word) {
        Some(Kind::Mac)
    } else if is_uuid(word) {
        Some(Kind::Uuid)
    } else if is_address(word) {
        Some(Kind::Address)
    } else if is_home(word) {
        Some(Kind::Path)
    } else if is_account(word) {
        Some(Kind::Account)
    } else {
        None
    }
}

/// Longest runs of characters that all are, or all are not, of a kind.
fn pieces(text: &str, of: impl Fn(char) -> bool) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (place, character) in text.char_indices() {
        let now = of(character);
        if before.is_some_and(|before| before != now) {
            pieces.push(&text[start..place]);
            start = place;
        }
        before = Some(now);
    }
    pieces.push(&text[start..]);
    pieces
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || "._-:@/=".contains(character)
}

fn is_mac(word: &str) -> bool {
    let pairs: Vec<&str> = word.split([':', '-']).collect();
    let pair = |pair: &&str| pair.len() == 2 && pair.bytes().all(|b| b.is_ascii_hexdigit());
    pairs.len() == 6 && pairs.iter().all(pair)
}

fn is_uuid(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let hex = |part: &&str| part.bytes().all(|b| b.is_ascii_hexdigit());
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) && parts.iter().all(hex)
}

/// Addresses of this host itself say nothing.
fn is_address(word: &str) -> bool {
    let four = word.parse::<Ipv4Addr>();
    let six = word.parse::<Ipv6Addr>();
    four.is_ok_and(|four| !four.is_loopback() && !four.is_unspecified())
        || six.is_ok_and(|six| !six.is_loopback() && !six.is_unspecified())
}

fn is_home(word: &str) -> bool {
    ["/home/", "/Users/", "/root/"].iter().any(|home| word.starts_with(home) && word != *home)
}

/// `user@host`: letters on both sides, and no other sign of a price or a version.
fn is_account(word: &str) -> bool {
    let name = |part: &str| {
        part.starts_with(|c: char| c.is_alphabetic())
            && part.chars().all(|c| c.is_alphanumeric() || "._-".contains(c))
    };
    word.split_once('@').is_some_and(|(user, host)| name(user) && name(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_known_and_nothing_else_is() {
        let known = [
            ("00:1b:44:11:3a:b7", Kind::Mac),
            ("0a1b2c3d-0001-0002-0003-0a1b2c3d4e5f", Kind::Uuid),
            ("192.0.2.7", Kind::Address),
            ("2001:db8::1", Kind::Address),
            ("/home/anna/results", Kind::Path),
            ("builder@forge", Kind::Account),
        ];
        for (word, found) in known {
            assert_eq!(kind(word), Some(found), "{word}");
        }
        for plain in
            ["127.0.0.1", "::1", "6.18.44", "01:33:27.719", "/dev/vda", "10ms", "a@", "", "1@200"]
        {
            assert_eq!(kind(plain), None, "{plain}");
        }
    }

    #[test]
    fn the_words_of_a_text_make_the_text() {
        for text in ["", "connect 192.0.2.7:80 (lab7)", "root=UUID=a b", "::", " \u{20ac} x"] {
            assert_eq!(words(text).concat(), text);
        }
        assert!(words("connect 192.0.2.7:80 (lab7)").contains(&"192.0.2.7"));
        assert!(words("on (lab7)").contains(&"lab7"));
    }
}
