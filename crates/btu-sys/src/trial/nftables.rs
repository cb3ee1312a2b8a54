//! A rule of nftables that counts packets: one batch of netlink messages, built by hand.

use std::io;

use netlink_sys::Socket;
use netlink_sys::SocketAddr;
use netlink_sys::protocols::NETLINK_NETFILTER;

/// Makes a table, a chain and a rule with `numgen inc mod 400` in the network namespace of the
/// calling thread. They stay: use a namespace that nobody needs.
pub fn packet_counter() -> io::Result<()> {
    let mut socket = Socket::new(NETLINK_NETFILTER)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    socket.send(&batch(), 0)?;
    let mut acknowledged = 0;
    while acknowledged < MESSAGES {
        let (answer, _) = socket.recv_from_full()?;
        acknowledged += verdicts(&answer)?;
    }
    Ok(())
}

/// Table, chain and rule between the marks of a transaction.
fn batch() -> Vec<u8> {
    let table = attribute(1, b"btu\0");
    let chain = [attribute(1, b"btu\0"), attribute(3, b"count\0")].concat();
    let counter = [
        attribute(1, &1_u32.to_be_bytes()),
        attribute(2, &400_u32.to_be_bytes()),
        attribute(3, &0_u32.to_be_bytes()),
    ]
    .concat();
    let expression = [attribute(1, b"numgen\0"), attribute(2 | NESTED, &counter)].concat();
    let expressions = attribute(4 | NESTED, &attribute(1 | NESTED, &expression));
    let rule = [attribute(1, b"btu\0"), attribute(2, b"count\0"), expressions].concat();
    [
        message(BATCH_BEGIN, REQUEST, 0, NFTABLES, &[]),
        message(NEW_TABLE, REQUEST | ACK | CREATE, IPV4, 0, &table),
        message(NEW_CHAIN, REQUEST | ACK | CREATE, IPV4, 0, &chain),
        message(NEW_RULE, REQUEST | ACK | CREATE | APPEND, IPV4, 0, &rule),
        message(BATCH_END, REQUEST, 0, NFTABLES, &[]),
    ]
    .concat()
}

/// `nlmsghdr`, `nfgenmsg`, attributes.
fn message(kind: u16, flags: u16, family: u8, resource: u16, attributes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(16 + 4 + attributes.len()).unwrap_or(u32::MAX);
    let mut bytes = Vec::new();
    bytes.extend(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([family, 0]);
    bytes.extend(resource.to_be_bytes());
    bytes.extend(attributes);
    bytes
}

/// Length and kind, then the value, filled up to a multiple of four.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// How many acknowledgements a datagram holds; the first refusal is the error.
fn verdicts(datagram: &[u8]) -> io::Result<usize> {
    let (mut rest, mut count) = (datagram, 0);
    while let [a, b, c, d, kind, kind2, ..] = rest {
        let length = usize::try_from(u32::from_ne_bytes([*a, *b, *c, *d])).unwrap_or(usize::MAX);
        if let (ERROR, Some([a, b, c, d])) = (u16::from_ne_bytes([*kind, *kind2]), rest.get(16..20))
        {
            match i32::from_ne_bytes([*a, *b, *c, *d]) {
                0 => count += 1,
                negative => return Err(io::Error::from_raw_os_error(-negative)),
            }
        }
        rest = rest.get(length.max(16).next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(count)
}

/// Messages that ask for an acknowledgement.
const MESSAGES: usize = 3;
// `linux/netlink.h`, `linux/netfilter/nfnetlink.h`, `linux/netfilter/nf_tables.h`
const REQUEST: u16 = 0x1;
const ACK: u16 = 0x4;
const CREATE: u16 = 0x400;
const APPEND: u16 = 0x800;
const NESTED: u16 = 0x8000;
const ERROR: u16 = 2;
const NFTABLES: u16 = 10;
const BATCH_BEGIN: u16 = 0x10;
const BATCH_END: u16 = 0x11;
const NEW_TABLE: u16 = NFTABLES << 8;
const NEW_CHAIN: u16 = (NFTABLES << 8) | 3;
const NEW_RULE: u16 = (NFTABLES << 8) | 6;
const IPV4: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_among_acknowledgements_is_the_error() {
        let answer = |errno: i32| {
            let mut bytes =
                [36_u32.to_ne_bytes().as_slice(), &ERROR.to_ne_bytes(), &[0; 10]].concat();
            bytes.extend(errno.to_ne_bytes());
            bytes.resize(36, 0);
            bytes
        };
        assert_eq!(verdicts(&[answer(0), answer(0)].concat()).unwrap(), 2);
        let refused = verdicts(&[answer(0), answer(-2)].concat()).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(2));
    }

    #[test]
    fn lengths_are_whole_words() {
        assert_eq!(attribute(1, b"btu\0").len(), 8);
        assert_eq!(attribute(1, b"count\0").len(), 12);
        assert_eq!(batch().len() % 4, 0);
    }
}
