//! What a transaction says: a table, a chain and a rule between two marks.

use std::io;

/// A table with one chain of one rule.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) table: String,
    /// The table belongs to the socket that makes it, and goes with it.
    pub(super) owned: bool,
    pub(super) chain: &'static str,
    /// Where packets enter the chain; nowhere without one.
    pub(super) base: Option<BaseChain>,
    pub(super) expressions: Vec<Expression>,
}

/// Where packets enter a chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct BaseChain {
    hook: u32,
    priority: i32,
    kind: &'static str,
}

/// One step of a rule.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expression {
    /// Counts packets modulo a number (`numgen inc`).
    Counter {
        /// The number.
        modulus: u32,
    },
    /// Goes on only where the register holds these bytes.
    Equals([u8; 4]),
    /// Loads the IPv4 source address into the register.
    LoadSource,
    /// Takes the address of the device by which the packet leaves.
    Masquerade,
}

impl Rules {
    /// The whole transaction.
    pub(super) fn batch(&self) -> Vec<u8> {
        [
            message(BATCH_BEGIN, REQUEST, 0, NFTABLES, &[]),
            message(NEW_TABLE, REQUEST | ACK | CREATE, IPV4, 0, &self.table()),
            message(NEW_CHAIN, REQUEST | ACK | CREATE, IPV4, 0, &self.chain()),
            message(NEW_RULE, REQUEST | ACK | CREATE | APPEND, IPV4, 0, &self.rule()),
            message(BATCH_END, REQUEST, 0, NFTABLES, &[]),
        ]
        .concat()
    }

    fn table(&self) -> Vec<u8> {
        let flags = if self.owned { TABLE_OWNER } else { 0 };
        [text(1, &self.table), number(2, flags)].concat()
    }

    fn chain(&self) -> Vec<u8> {
        let mut chain = [text(1, &self.table), text(3, self.chain)].concat();
        if let Some(base) = self.base {
            let hook = [number(1, base.hook), number(2, base.priority.cast_unsigned())].concat();
            chain.extend(attribute(4 | NESTED, &hook));
            chain.extend(text(7, base.kind));
        }
        chain
    }

    fn rule(&self) -> Vec<u8> {
        let steps: Vec<u8> = self.expressions.iter().flat_map(|step| step.encode()).collect();
        [text(1, &self.table), text(2, self.chain), attribute(4 | NESTED, &steps)].concat()
    }
}

impl BaseChain {
    /// `type nat hook postrouting priority srcnat`
    pub(super) const POST_ROUTING_NAT: Self = Self { hook: 4, priority: 100, kind: "nat" };
}

impl Expression {
    /// An element of the rule's list: a name and what it needs.
    fn encode(self) -> Vec<u8> {
        let (name, needs) = match self {
            Self::Counter { modulus } => {
                ("numgen", [number(1, REGISTER), number(2, modulus), number(3, 0)].concat())
            }
            Self::Equals(bytes) => {
                let data = attribute(3 | NESTED, &attribute(1, &bytes));
                ("cmp", [number(1, REGISTER), number(2, 0), data].concat())
            }
            Self::LoadSource => {
                let (network_header, offset, length) = (1, 12, 4);
                let needs = [
                    number(1, REGISTER),
                    number(2, network_header),
                    number(3, offset),
                    number(4, length),
                ];
                ("payload", needs.concat())
            }
            Self::Masquerade => ("masq", Vec::new()),
        };
        let expression = [text(1, name), attribute(2 | NESTED, &needs)].concat();
        attribute(1 | NESTED, &expression)
    }
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

/// Text as the kernel reads it: with a zero at the end.
fn text(kind: u16, text: &str) -> Vec<u8> {
    attribute(kind, &[text.as_bytes(), &[0]].concat())
}

/// Numbers of nftables are in network order.
fn number(kind: u16, value: u32) -> Vec<u8> {
    attribute(kind, &value.to_be_bytes())
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
pub(super) fn verdicts(datagram: &[u8]) -> io::Result<usize> {
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

/// Messages of a transaction that ask for an acknowledgement.
pub(super) const ACKNOWLEDGED: usize = 3;
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
const TABLE_OWNER: u32 = 2;
const REGISTER: u32 = 1;
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
        let rules = Rules {
            table: "t".to_owned(),
            owned: true,
            chain: "c",
            base: Some(BaseChain::POST_ROUTING_NAT),
            expressions: vec![Expression::LoadSource, Expression::Equals([1, 2, 3, 4])],
        };
        assert_eq!(rules.batch().len() % 4, 0);
    }
}
