//! What a capture says of the further way of a packet: the comments that the emulated link writes, and that whoever
//! follows connections understands.

/// Why a packet went no further than where it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// It was dropped there, because that was asked for as far as anybody says.
    Dropped,
    /// A full queue there had no place for it.
    QueueFull,
    /// The management of a queue there chose it (RFC 8289).
    Managed,
}

impl Remark {
    /// The comment.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Dropped => "dropped by the emulated link",
            Self::QueueFull => "dropped by a full queue of the emulated link",
            Self::Managed => "dropped by CoDel of the emulated link",
        }
    }

    /// What a comment says; of whoever says no more than that it was dropped, that.
    pub fn of(comment: &str) -> Option<Self> {
        let said = |one: &Self| comment.starts_with(one.text());
        let known = [Self::QueueFull, Self::Managed].into_iter().find(said);
        known.or_else(|| comment.starts_with("dropped").then_some(Self::Dropped))
    }
}

/// What the emulated link remarks on a packet that it handed on otherwise than it came. Whoever follows a connection
/// takes it for one that came; its headers are those that were sent.
pub const FLIPPED: &str = "a bit flipped by the emulated link";

/// A comment of the emulated link's own, in its own words; of others no more than that they say "dropped".
pub fn own_words(comment: &str) -> Option<&'static str> {
    if comment == FLIPPED { Some(FLIPPED) } else { Remark::of(comment).map(Remark::text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_is_read_as_it_was_written_and_others_say_that_it_was_dropped() {
        for remark in [Remark::Dropped, Remark::QueueFull, Remark::Managed] {
            assert_eq!(Remark::of(remark.text()), Some(remark));
        }
        assert_eq!(Remark::of("dropped"), Some(Remark::Dropped));
        assert_eq!(Remark::of("marked"), None);
        assert_eq!((Remark::of(FLIPPED), own_words(FLIPPED)), (None, Some(FLIPPED)));
        assert_eq!(own_words("dropped, I think"), Some(Remark::Dropped.text()));
        assert_eq!(own_words("\u{1b}[2J"), None);
    }
}
