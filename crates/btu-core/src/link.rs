//! The link emulator without any I/O: chains of elements that delay, drop and shape wire packets.
//!
//! A backend reads packets, pushes their handles into a [`Chain`], and writes what comes out at its
//! time. Texts such as `drop 1@200,3@400/400` or `delay 10ms` become a [`ChainSpec`], the spec a
//! chain. Time and chance are arguments: the same packets, stamps and seed give the same fates.

mod chain;
pub(crate) mod chance;
mod codel;
mod continued;
mod distribution;
mod element;
mod followers;
mod in_order;
mod line;
mod netem;
mod packet;
mod pattern;
mod port;
mod queue;
mod reader;
mod ring;
mod select;
mod slots;
mod words;

pub use chain::Chain;
pub use chain::ChainSpec;
pub use chain::Limits;
pub use chain::Place;
pub use continued::Continued;
pub use continued::Counting;
pub use element::ELEMENTS;
pub use element::Element;
pub use element::ElementKind;
pub use element::ElementSpec;
pub use element::Site;
pub use line::Lines;
pub use netem::NetemLine;
pub use netem::NetemPart;
pub use netem::NetemSpec;
pub use netem::NotForNetem;
pub use packet::Flow;
pub use packet::Packet;
pub use packet::Slot;
pub use packet::Wire;
pub use pattern::Pattern;
pub use pattern::PatternError;
pub use port::Counters;
pub use port::Port;
pub use reader::Dialect;
pub use reader::Reader;
pub use words::Words;

/// Why a link cannot be made as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// A file that an element names cannot be read.
    #[error("link element \"{text}\": read {file}: {cause}")]
    File {
        /// The element's text.
        text: String,
        /// The file.
        file: String,
        /// What went wrong.
        cause: String,
    },
    /// Two chains mean different lines by one name.
    #[error("shared line \"{name}\": two links give it different rates, queues or wires")]
    SharedLine {
        /// The name.
        name: String,
    },
    /// An element's text is not legal.
    #[error("link element \"{text}\", character {position}: {cause}; write {forms}")]
    Syntax {
        /// The element's text.
        text: String,
        /// The offending character, from 1.
        position: usize,
        /// What is wrong there.
        cause: String,
        /// The legal texts.
        forms: String,
    },
    /// No element has this name.
    #[error("link element \"{text}\": no such element; the elements are {legal}")]
    UnknownElement {
        /// The element's text.
        text: String,
        /// The names of all elements.
        legal: String,
    },
    /// No kind of line has this name.
    #[error("wire \"{name}\": no such line; write ethernet, ip or atm")]
    UnknownWire {
        /// What was written.
        name: String,
    },
}

#[cfg(test)]
mod tests;
