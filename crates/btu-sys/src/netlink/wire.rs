//! Netlink in bytes: messages of a header and a body, and attributes, which nest.
//!
//! Both say their own length first and are filled up to a multiple of four bytes. Numbers are the
//! host's, where a family does not say otherwise.

use std::io;

/// `NLM_F_REQUEST`
const REQUEST: u16 = 1;
/// `struct nlmsghdr`, in bytes.
const HEADER: usize = 16;
/// Set on kinds of attributes that hold others, or whose numbers are in network order.
const MARKS: u16 = 0xc000;

/// A request to the kernel or what it says: what its body is, and the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// `RTM_NEWLINK` and the like.
    pub(crate) kind: u16,
    /// A header of the kind's own, then attributes.
    pub(crate) body: Vec<u8>,
}

/// A message where it stands in a datagram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received<'a> {
    pub(crate) kind: u16,
    /// The number of the request that it answers.
    pub(crate) sequence: u32,
    pub(crate) body: &'a [u8],
}

impl Message {
    /// A message whose body is these parts, one after the other.
    pub(crate) fn new(kind: u16, parts: &[&[u8]]) -> Self {
        Self { kind, body: parts.concat() }
    }

    /// The whole request; `flags` beyond `NLM_F_REQUEST`.
    pub(crate) fn request(&self, flags: u16, sequence: u32) -> Vec<u8> {
        let length = u32::try_from(HEADER + self.body.len()).unwrap_or(u32::MAX);
        let mut bytes = Vec::new();
        bytes.extend(length.to_ne_bytes());
        bytes.extend(self.kind.to_ne_bytes());
        bytes.extend((REQUEST | flags).to_ne_bytes());
        bytes.extend(sequence.to_ne_bytes());
        // The port of the sender is the socket's.
        bytes.extend([0; 4]);
        bytes.extend(&self.body);
        bytes
    }
}

/// The first message of a datagram and what follows it; none where it is cut off.
pub(crate) fn first_message(datagram: &[u8]) -> Option<(Received<'_>, &[u8])> {
    let length = usize::try_from(u32_at(datagram, 0)?).ok()?;
    let body = datagram.get(HEADER..length)?;
    let received = Received { kind: u16_at(datagram, 4)?, sequence: u32_at(datagram, 8)?, body };
    Some((received, datagram.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

/// The body of an acknowledgement or of the end of a list: nothing, zero or a negative error number.
pub(crate) fn verdict(body: &[u8]) -> io::Result<()> {
    match u32_at(body, 0).map_or(0, u32::cast_signed) {
        0.. => Ok(()),
        negative => Err(io::Error::from_raw_os_error(negative.saturating_neg())),
    }
}

/// Length and kind, then the value.
pub(crate) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// An attribute that holds others.
pub(crate) fn nest(kind: u16, attributes: &[&[u8]]) -> Vec<u8> {
    attribute(kind, &attributes.concat())
}

/// Text as the kernel reads it: with a zero at the end.
pub(crate) fn text(kind: u16, text: &str) -> Vec<u8> {
    nest(kind, &[text.as_bytes(), &[0]])
}

pub(crate) fn number(kind: u16, value: u32) -> Vec<u8> {
    attribute(kind, &value.to_ne_bytes())
}

/// Numbers one after the other: the members of a structure.
pub(crate) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Kinds and values of the attributes, up to the first that is cut off.
pub(crate) fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(rest, 0)?);
        let found = (u16_at(rest, 2)? & !MARKS, rest.get(4..length)?);
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(found)
    })
}

/// The value of the first attribute of this kind.
pub(crate) fn find(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    attributes(bytes).find_map(|(found, value)| (found == kind).then_some(value))
}

/// The number that the first attribute of this kind is.
pub(crate) fn find_number(bytes: &[u8], kind: u16) -> Option<u32> {
    u32_at(find(bytes, kind)?, 0)
}

/// The text that the first attribute of this kind is.
pub(crate) fn find_text(bytes: &[u8], kind: u16) -> Option<String> {
    let text = String::from_utf8_lossy(find(bytes, kind)?).into_owned();
    Some(text.trim_end_matches('\0').to_owned())
}

fn u16_at(bytes: &[u8], place: usize) -> Option<u16> {
    bytes.get(place..)?.first_chunk().map(|bytes| u16::from_ne_bytes(*bytes))
}

pub(crate) fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    bytes.get(place..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

pub(crate) fn u64_at(bytes: &[u8], place: usize) -> Option<u64> {
    bytes.get(place..)?.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_whole_words() {
        assert_eq!(text(1, "btu").len(), 8);
        assert_eq!(text(1, "count").len(), 12);
        assert_eq!(attribute(1, &[]).len(), 4);
    }

    #[test]
    fn what_is_written_is_read() {
        let inner = [number(1, 7), text(2, "seven")].concat();
        let outer = [number(9, 0), attribute(3 | MARKS, &inner)].concat();
        let nested = find(&outer, 3).unwrap();
        assert_eq!((find_number(nested, 1), find_text(nested, 2)), (Some(7), Some("seven".into())));
        assert_eq!(find(&outer, 4), None);
    }

    #[test]
    fn messages_of_a_datagram_are_read_one_after_the_other() {
        let one = Message::new(16, &[&[1, 2, 3]]);
        let mut datagram = one.request(0, 5);
        datagram.push(0);
        datagram.extend(Message::new(17, &[]).request(4, 6));
        let (first, rest) = first_message(&datagram).unwrap();
        assert_eq!((first.kind, first.sequence, first.body), (16, 5, [1, 2, 3].as_slice()));
        let (second, rest) = first_message(rest).unwrap();
        assert_eq!((second.kind, second.sequence, rest.len()), (17, 6, 0));
    }

    #[test]
    fn a_list_that_breaks_off_is_an_error_and_one_that_ends_is_none() {
        let errno = |body: &[u8]| verdict(body).map_err(|cause| cause.raw_os_error());
        assert_eq!(errno(&[]), Ok(()));
        assert_eq!(errno(&0_i32.to_ne_bytes()), Ok(()));
        assert_eq!(errno(&(-4_i32).to_ne_bytes()), Err(Some(4)));
        assert_eq!(errno(&i32::MIN.to_ne_bytes()), Err(Some(i32::MAX)));
    }

    /// Whatever the kernel sends: no cut makes a panic or a loop without end.
    #[test]
    fn what_is_cut_off_is_none() {
        let attributes_whole = [number(1, 7), text(2, "seven")].concat();
        let datagram = Message::new(16, &[&attributes_whole]).request(0, 1);
        for end in 0..datagram.len() {
            assert!(first_message(&datagram[..end]).is_none(), "{end}");
        }
        for end in 0..attributes_whole.len() {
            assert!(attributes(&attributes_whole[..end]).count() < 2 || end >= 18, "{end}");
        }
        assert!(first_message(&[0; 64]).is_none());
        assert_eq!(attributes(&[0; 64]).count(), 0);
    }
}
