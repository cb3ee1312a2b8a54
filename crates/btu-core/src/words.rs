//! Counts in sentences, where one is no plural, and words of commands.

use std::fmt::Display;

/// `1 packet`, `3 packets`, `2 passes`
pub fn several(count: impl Display, one: &str) -> String {
    let count = count.to_string();
    let ending = match count.as_str() {
        "1" => "",
        _ if one.ends_with('s') => "es",
        _ => "s",
    };
    format!("{count} {one}{ending}")
}

/// `once`, `3 times`
pub fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// A word of a command line as a shell takes it: `/mnt/nvme-0`, `'/mnt/my disk'`
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+_-./=:@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_with_anything_special_is_quoted() {
        assert_eq!(shell_word("/mnt/nvme-0"), "/mnt/nvme-0");
        assert_eq!(shell_word("/mnt/my disk's"), r"'/mnt/my disk'\''s'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn one_is_no_plural() {
        let said = [several(1, "packet"), several(0, "packet"), several(1, "pass")];
        assert_eq!(said, ["1 packet", "0 packets", "1 pass"]);
        assert_eq!([several(3, "pass"), times(1), times(2)], ["3 passes", "once", "2 times"]);
    }
}
