//! Whether a licence expression (SPDX, or the older form with slashes) allows our use.

/// Permissive licences; of an "or" one is enough, of an "and" each must stand here.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub(super) fn allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    either(&mut rest) == Some(true) && rest.is_empty()
}

/// `None` where the expression breaks off.
fn either(rest: &mut &[&str]) -> Option<bool> {
    let mut good = both(rest)?;
    while take(rest, "OR") {
        good |= both(rest)?;
    }
    Some(good)
}

fn both(rest: &mut &[&str]) -> Option<bool> {
    let mut good = one(rest)?;
    while take(rest, "AND") {
        good &= one(rest)?;
    }
    Some(good)
}

fn one(rest: &mut &[&str]) -> Option<bool> {
    if take(rest, "(") {
        let good = either(rest)?;
        return take(rest, ")").then_some(good);
    }
    let name = next(rest)?;
    if !take(rest, "WITH") {
        return Some(ALLOWED.contains(&name));
    }
    let licence = format!("{name} WITH {}", next(rest)?);
    Some(ALLOWED.contains(&licence.as_str()))
}

fn next<'a>(rest: &mut &[&'a str]) -> Option<&'a str> {
    let (first, after) = rest.split_first()?;
    *rest = after;
    Some(first)
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    let found = rest.first() == Some(&word);
    if found {
        *rest = &rest[1..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::allowed;

    #[test]
    fn one_side_of_an_or_and_both_sides_of_an_and_must_be_allowed() {
        for good in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/GPL-3.0",
            "(MIT OR GPL-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR MIT",
        ] {
            assert!(allowed(good), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND LGPL-2.1", "EUPL-1.2", "MIT OR", "(MIT"] {
            assert!(!allowed(bad), "{bad}");
        }
    }
}
