//! What a transaction says: a table, a chain and a rule between two marks.

use std::io;

use crate::netlink::wire;
use crate::netlink::wire::Message;
use crate::netlink::wire::attribute;
use crate::netlink::wire::text;

/// A table with one chain of one rule; it belongs to the socket that makes it, and goes with it.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) table: String,
    pub(super) chain: &'static str,
    /// Where packets enter the chain.
    pub(super) base: BaseChain,
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
            message(BATCH_BEGIN, 0, 0, NFTABLES, &[]),
            message(NEW_TABLE, ACK | CREATE, IPV4, 0, &self.table()),
            message(NEW_CHAIN, ACK | CREATE, IPV4, 0, &self.chain()),
            message(NEW_RULE, ACK | CREATE | APPEND, IPV4, 0, &self.rule()),
            message(BATCH_END, 0, 0, NFTABLES, &[]),
        ]
        .concat()
    }

    fn table(&self) -> Vec<u8> {
        [text(1, &self.table), number(2, TABLE_OWNER)].concat()
    }

    fn chain(&self) -> Vec<u8> {
        let BaseChain { hook, priority, kind } = self.base;
        let hook = [number(1, hook), number(2, priority.cast_unsigned())].concat();
        let (hook, kind) = (attribute(4 | NESTED, &hook), text(7, kind));
        [text(1, &self.table), text(3, self.chain), hook, kind].concat()
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

/// `nfgenmsg`, attributes.
fn message(kind: u16, flags: u16, family: u8, resource: u16, attributes: &[u8]) -> Vec<u8> {
    let [high, low] = resource.to_be_bytes();
    let version = 0;
    Message::new(kind, &[&[family, version, high, low], attributes]).request(flags, 0)
}

/// Numbers of nftables are in network order.
fn number(kind: u16, value: u32) -> Vec<u8> {
    attribute(kind, &value.to_be_bytes())
}

/// How many acknowledgements a datagram holds; the first refusal is the error.
pub(super) fn verdicts(datagram: &[u8]) -> io::Result<usize> {
    let (mut rest, mut count) = (datagram, 0);
    while let Some((received, after)) = wire::first_message(rest) {
        rest = after;
        if received.kind == ERROR {
            wire::verdict(received.body)?;
            count += 1;
        }
    }
    Ok(count)
}

/// Messages of a transaction that ask for an acknowledgement.
pub(super) const ACKNOWLEDGED: usize = 3;
// `linux/netlink.h`, `linux/netfilter/nfnetlink.h`, `linux/netfilter/nf_tables.h`
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
        let rules = Rules {
            table: "t".to_owned(),
            chain: "c",
            base: BaseChain::POST_ROUTING_NAT,
            expressions: vec![Expression::LoadSource, Expression::Equals([1, 2, 3, 4])],
        };
        assert_eq!(rules.batch().len() % 4, 0);
    }
}
