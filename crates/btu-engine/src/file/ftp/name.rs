//! Names of files on the FTP server, and what stands behind each.
//!
//! `/zero/N` and `/random/N` are files of N bytes that exist nowhere, to be read; what is written
//! below `/null/` is thrown away; every other name is a file or a directory in the server's memory.

use std::borrow::Borrow;

use btu_core::units::Bytes;

use super::source::Pattern;

/// An absolute name without `.`, `..` and empty parts; `/` is the root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::file) struct Name(String);

/// A name has more bytes than any file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::file) struct TooLong;

/// What a name stands for, as far as it can be told without the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::file) enum Meaning {
    /// A directory that is always there.
    Directory,
    /// A name below `/zero` or `/random` that is no size.
    Nothing,
    /// Below `/null`.
    Null,
    /// In memory, if at all.
    Stored,
    /// A file of this content and size.
    Synthetic(Pattern, Bytes),
}

impl Name {
    pub(in crate::file) fn root() -> Self {
        Self("/".to_owned())
    }

    /// `argument` as seen from the directory `self`.
    pub(in crate::file) fn resolve(&self, argument: &str) -> Result<Self, TooLong> {
        let base = if argument.starts_with('/') { "" } else { self.as_str() };
        let mut parts: Vec<&str> = Vec::new();
        for part in base.split('/').chain(argument.split('/')) {
            match part {
                "" | "." => {}
                // The parent of the root is the root, as in every file system.
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        let name = format!("/{}", parts.join("/"));
        if name.len() > LONGEST { Err(TooLong) } else { Ok(Self(name)) }
    }

    pub(in crate::file) fn as_str(&self) -> &str {
        &self.0
    }

    /// The directory of this name.
    pub(super) fn parent(&self) -> Self {
        let before = self.0.rsplit_once('/').map_or("", |(before, _)| before);
        if before.is_empty() { Self::root() } else { Self(before.to_owned()) }
    }

    /// The last part; empty for the root.
    pub(super) fn last(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(_, last)| last)
    }

    pub(in crate::file) fn meaning(&self) -> Meaning {
        let mut parts = self.0[1..].splitn(2, '/');
        let (first, rest) = (parts.next().unwrap_or_default(), parts.next());
        match (first, rest) {
            ("" | "null" | "random" | "zero", None) => Meaning::Directory,
            ("null", Some(_)) => Meaning::Null,
            ("random", Some(size)) => synthetic(Pattern::Random, size),
            ("zero", Some(size)) => synthetic(Pattern::Zero, size),
            _ => Meaning::Stored,
        }
    }
}

/// A name orders as its text does, so that a map can be searched by text.
impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// The directories that are always there, below the root.
pub(super) const STANDING: &[&str] = &["null", "random", "zero"];

fn synthetic(pattern: Pattern, size: &str) -> Meaning {
    let digits = size.bytes().all(|byte| byte.is_ascii_digit());
    match size.parse() {
        Ok(count) if digits => Meaning::Synthetic(pattern, Bytes::new(count)),
        _ => Meaning::Nothing,
    }
}

/// The longest name, as Linux has it.
const LONGEST: usize = 4096;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(text: &str) -> Name {
        Name::root().resolve(text).unwrap()
    }

    #[test]
    fn a_name_is_seen_from_its_directory() {
        let directory = name("/a/b");
        let seen = |argument: &str| directory.resolve(argument).unwrap().0;
        assert_eq!(seen("c"), "/a/b/c");
        assert_eq!(seen("../c/./d//"), "/a/c/d");
        assert_eq!(seen("/c"), "/c");
        assert_eq!(seen("../../../.."), "/");
        assert!(directory.resolve(&"x".repeat(4096)).is_err());
    }

    #[test]
    fn a_name_has_a_parent_and_a_last_part() {
        assert_eq!((name("/a/b").parent(), name("/a/b").last()), (name("/a"), "b"));
        assert_eq!((name("/a").parent(), name("/a").last()), (Name::root(), "a"));
        assert_eq!((Name::root().parent(), Name::root().last()), (Name::root(), ""));
    }

    #[test]
    fn a_name_means_what_its_first_part_says() {
        assert_eq!(
            name("zero/1000000").meaning(),
            Meaning::Synthetic(Pattern::Zero, Bytes::new(1_000_000))
        );
        assert_eq!(name("random/7").meaning(), Meaning::Synthetic(Pattern::Random, Bytes::new(7)));
        assert_eq!(name("null/any/thing").meaning(), Meaning::Null);
        for standing in ["/", "/null", "/random", "/zero"] {
            assert_eq!(name(standing).meaning(), Meaning::Directory);
        }
        for nothing in ["zero/x", "zero/1/2", "zero/+1", "zero/99999999999999999999"] {
            assert_eq!(name(nothing).meaning(), Meaning::Nothing);
        }
        assert_eq!(name("zeros/1").meaning(), Meaning::Stored);
    }

    proptest! {
        #[test]
        fn a_name_is_absolute_and_resolves_to_itself(from in "[a./]{0,20}", to in "[a./]{0,20}") {
            let name = name(&from).resolve(&to).unwrap();
            prop_assert!(name.0.starts_with('/'));
            prop_assert!(!name.0.contains("//") && !name.0.split('/').any(|p| p == ".."));
            prop_assert_eq!(&Name::root().resolve(&name.0).unwrap(), &name);
        }
    }
}
