//! Counts in sentences: one is no plural.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        let said = [several(1, "packet"), several(0, "packet"), several(1, "pass")];
        assert_eq!(said, ["1 packet", "0 packets", "1 pass"]);
        assert_eq!([several(3, "pass"), times(1), times(2)], ["3 passes", "once", "2 times"]);
    }
}
