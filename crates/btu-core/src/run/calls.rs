//! By which calls of the system COMM's messages are written and read: each has a name, is part of
//! what was measured, and is never mixed with another in one figure.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::Serialize;

use crate::role::Role;
use crate::units::Bytes;

/// The calls of both sides. Only the default is ever ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// How every end writes.
    pub write: WriteCall,
    /// How the host under test reads.
    pub test_read: ReadCall,
    /// How the black boxes read.
    pub black_box_read: ReadCall,
}

/// How messages are written, one call for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteCall {
    /// `send`, and the kernel joins small messages as it does by default (Nagle).
    #[default]
    Plain,
    /// `send` with `TCP_NODELAY`.
    NoDelay,
    /// `send` with `MSG_MORE`.
    Batched,
    /// `sendfile` of a file that has the message.
    Sendfile,
}

/// What kind of file `sendfile` sends from: it decides what the call costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageFile {
    /// In the page cache of a file system on a disk, as what web servers and file servers send.
    Disk,
    /// On no disk: in a temporary file system, or of a process that may make no files.
    Memory,
}

/// How many bytes a read asks for, and when it returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum ReadCall {
    /// As many as a message has.
    #[default]
    Message,
    /// So many.
    Size(Bytes),
    /// 256 KiB, and the kernel wakes the reader for [`LOW_WATER`] (`SO_RCVLOWAT`).
    LowWater,
    /// 256 KiB, and the kernel throws the bits away (`MSG_TRUNC`): no user ever sees them.
    Sink,
}

/// A word is no name of a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write {0}")]
pub struct UnknownCall(String);

impl Calls {
    /// How a host reads.
    pub fn read_by(&self, role: Role) -> ReadCall {
        match role {
            Role::Test => self.test_read,
            Role::Active | Role::Passive => self.black_box_read,
        }
    }

    /// True of what editions are made of.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Calls {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { write, test_read, black_box_read } = self;
        write!(
            out,
            "written by {write}, read by {test_read}, at the black boxes by {black_box_read}"
        )
    }
}

impl WriteCall {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Plain, Self::NoDelay, Self::Batched, Self::Sendfile];

    /// The name in plans and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::NoDelay => "nodelay",
            Self::Batched => "batched",
            Self::Sendfile => "sendfile",
        }
    }

    /// One line for people.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Plain => "send, as the system has it; what editions are made of",
            Self::NoDelay => "send with TCP_NODELAY: no message waits for an acknowledgement",
            Self::Batched => "send with MSG_MORE: the kernel waits for full segments",
            Self::Sendfile => "sendfile from a file: no copy from memory of the user's own",
        }
    }

    /// True of the way of editions.
    pub fn is_plain(&self) -> bool {
        *self == Self::Plain
    }
}

impl fmt::Display for WriteCall {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl FromStr for WriteCall {
    type Err = UnknownCall;

    fn from_str(text: &str) -> Result<Self, UnknownCall> {
        let names = || Self::ALL.map(Self::name).join(", ");
        Self::ALL.into_iter().find(|one| one.name() == text).ok_or_else(|| UnknownCall(names()))
    }
}

impl ReadCall {
    /// Those that are words, with a line for people.
    pub const WORDS: [(&'static str, Self, &'static str); 3] = [
        ("message", Self::Message, "as many bytes as a message has; what editions are made of"),
        ("lowat", Self::LowWater, "256 KiB, and woken for 128 KiB (SO_RCVLOWAT): fewer wake-ups"),
        (
            "sink",
            Self::Sink,
            "256 KiB that the kernel throws away (MSG_TRUNC): no user has the bits",
        ),
    ];

    /// How many bytes each call asks for where messages have this size.
    pub fn size(self, message: Bytes) -> Bytes {
        match self {
            Self::Message => message,
            Self::Size(size) => size,
            Self::LowWater | Self::Sink => LARGE_READ,
        }
    }

    /// For how many bytes the kernel wakes the reader; `None` for any.
    pub fn low_water(self) -> Option<Bytes> {
        (self == Self::LowWater).then_some(LOW_WATER)
    }

    /// True where every bit comes to the memory of a user.
    pub fn reaches_the_user(self) -> bool {
        self != Self::Sink
    }
}

impl fmt::Display for ReadCall {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(size) => size.fmt(out),
            word => {
                let found = Self::WORDS.iter().find(|(_, one, _)| one == word);
                out.pad(found.map_or("message", |(name, ..)| name))
            }
        }
    }
}

impl FromStr for ReadCall {
    type Err = UnknownCall;

    fn from_str(text: &str) -> Result<Self, UnknownCall> {
        let word = Self::WORDS.iter().find(|(name, ..)| *name == text);
        let size = || text.parse().ok().filter(|size| *size > Bytes::ZERO && *size <= MOST);
        word.map(|(_, way, _)| *way)
            .or_else(|| size().map(Self::Size))
            .ok_or_else(|| UnknownCall(format!("message, lowat, sink or a size from 1B to {MOST}")))
    }
}

impl From<ReadCall> for String {
    fn from(way: ReadCall) -> Self {
        way.to_string()
    }
}

impl TryFrom<String> for ReadCall {
    type Error = UnknownCall;

    fn try_from(text: String) -> Result<Self, UnknownCall> {
        text.parse()
    }
}

/// As of a reader that takes what there is.
const LARGE_READ: Bytes = Bytes::new(256 << 10);
/// Half of that.
const LOW_WATER: Bytes = Bytes::new(128 << 10);
/// The largest message that there is.
const MOST: Bytes = Bytes::new(1 << 30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_is_read_back_from_its_text() {
        for write in WriteCall::ALL {
            assert_eq!(write.to_string().parse(), Ok(write));
            assert_eq!(serde_json::to_value(write).unwrap(), write.name());
        }
        let sizes = [1, 1250, 256 << 10, 1 << 30].map(|size| ReadCall::Size(Bytes::new(size)));
        for way in ReadCall::WORDS.into_iter().map(|(_, way, _)| way).chain(sizes) {
            assert_eq!(way.to_string().parse(), Ok(way));
            let text = serde_json::to_string(&way).unwrap();
            assert_eq!(serde_json::from_str::<ReadCall>(&text).unwrap(), way);
        }
    }

    #[test]
    fn another_word_is_refused_with_what_is_legal() {
        let refused = |text: &str| text.parse::<ReadCall>().unwrap_err().to_string();
        for text in ["", "0B", "2GiB", "lowwater", "-1"] {
            assert_eq!(refused(text), "write message, lowat, sink or a size from 1B to 1GiB");
        }
        let refused = "zc".parse::<WriteCall>().unwrap_err().to_string();
        assert_eq!(refused, "write plain, nodelay, batched, sendfile");
    }

    #[test]
    fn each_reader_asks_for_its_own_size() {
        let message = Bytes::new(100);
        let asked = |way: ReadCall| (way.size(message).count(), way.low_water().map(Bytes::count));
        assert_eq!(asked(ReadCall::Message), (100, None));
        assert_eq!(asked(ReadCall::Size(Bytes::new(7))), (7, None));
        assert_eq!(asked(ReadCall::LowWater), (262_144, Some(131_072)));
        assert_eq!(asked(ReadCall::Sink), (262_144, None));
    }
}
