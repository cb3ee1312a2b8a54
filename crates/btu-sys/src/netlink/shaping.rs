//! What the kernel itself does to packets that leave a link: netem at its root, packets of one link
//! handed to another, and what was counted of both.

use super::CREATE;
use super::Netlink;
use super::REPLACE;
use super::answer;
use super::wire;
use super::wire::Message;
use crate::Error;
use crate::Result;

/// What netem does to the packets that leave a link. The default passes them on, a thousand at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Netem {
    /// The most packets that it holds at once; what comes beyond is lost.
    pub limit: u32,
    /// How long it holds each, in nanoseconds; the kernel counts in steps of 64.
    pub delay_ns: u64,
    /// How many it loses by chance, of 2^32.
    pub loss: u32,
    /// The line that they leave by one after the other.
    pub line: Option<NetemLine>,
}

/// A serial line of netem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetemLine {
    /// Its rate.
    pub bytes_per_second: u32,
    /// What a packet takes on the line beyond its bytes from the Ethernet header on.
    pub overhead: i32,
}

/// What the queueing discipline at the root of a link has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RootCounters {
    /// Wire packets that left, those of a super-packet one by one.
    pub packets: u64,
    /// Their bytes, Ethernet headers included.
    pub bytes: u64,
    /// Packets that it lost, for whatever reason; a super-packet counts once.
    pub dropped: u64,
    /// Packets inside; a super-packet counts once.
    pub held: u64,
}

impl Default for Netem {
    fn default() -> Self {
        Self { limit: USUAL_LIMIT, delay_ns: 0, loss: 0, line: None }
    }
}

impl Netlink {
    /// Puts netem at the root of a link, or changes the one that is there. Packets inside stay, and
    /// its counters go on.
    pub fn set_netem(&mut self, link: u32, netem: &Netem) -> Result<()> {
        let what = || format!("set qdisc netem on link {link}");
        self.acknowledged(what, CREATE | REPLACE, &netem_message(link, netem))
    }

    /// From now on whatever comes in by the link `from` leaves by the link `to`, Ethernet header and
    /// all, past everything else of this host.
    pub fn redirect(&mut self, from: u32, to: u32) -> Result<()> {
        let what = || format!("hand packets of link {from} to link {to}");
        self.create(what, &ingress(from))?;
        self.create(what, &redirection(from, to))
    }

    /// How many packets the target of a redirection from this link has not taken: its root lost them
    /// for want of room. A super-packet counts once.
    pub fn refused(&mut self, from: u32) -> Result<u64> {
        let what = || format!("list the filters of link {from}");
        let refused = self.list(what, &filters_of(from), answer::refused)?;
        Ok(refused.into_iter().sum())
    }

    /// What the queueing discipline at the root of a link has counted.
    pub fn root_counters(&mut self, link: u32) -> Result<RootCounters> {
        let what = || format!("look up the qdisc of link {link}");
        let counters = |answer: &Message| answer::root_counters(answer, link);
        let found = self.list(what, &any_qdisc(), counters)?.pop();
        found.ok_or_else(|| Error::new(what(), std::io::Error::from(std::io::ErrorKind::NotFound)))
    }
}

/// A queueing discipline with its default settings at the root of a link.
pub(super) fn root_qdisc(link: u32, kind: &str) -> Message {
    Message::new(
        libc::RTM_NEWQDISC,
        &[&header(link, 0, ROOT, 0), &wire::text(libc::TCA_KIND, kind)],
    )
}

pub(super) fn any_qdisc() -> Message {
    Message::new(libc::RTM_GETQDISC, &[&header(0, 0, 0, 0)])
}

fn netem_message(link: u32, netem: &Netem) -> Message {
    let mut message = root_qdisc(link, "netem");
    message.body.extend(wire::attribute(libc::TCA_OPTIONS, &options(netem)));
    message
}

/// `struct tc_netem_qopt`, then the line as an attribute. It is always said: a change that leaves it
/// out keeps the line that was there.
fn options(netem: &Netem) -> Vec<u8> {
    let Netem { limit, delay_ns, loss, line } = *netem;
    let ticks = u32::try_from(delay_ns.div_ceil(TICK_NS)).unwrap_or(u32::MAX);
    let (gap, duplicate, jitter) = (0, 0, 0);
    let head = wire::words(&[ticks, limit, loss, gap, duplicate, jitter]);
    let (rate, overhead) =
        line.map_or((0, 0), |line| (line.bytes_per_second, line.overhead.cast_unsigned()));
    let (cell_size, cell_overhead) = (0, 0);
    let of_line = wire::words(&[rate, overhead, cell_size, cell_overhead]);
    [head, wire::attribute(RATE, &of_line)].concat()
}

/// Where packets that come in are looked at.
fn ingress(link: u32) -> Message {
    let kind = wire::text(libc::TCA_KIND, "ingress");
    Message::new(libc::RTM_NEWQDISC, &[&header(link, INGRESS, INGRESS_HOOK, 0), &kind])
}

/// Every packet, whatever its protocol, is stolen and sent by `to`. The classifier is `u32`, the
/// oldest there is, with a key that fits everything.
fn redirection(from: u32, to: u32) -> Message {
    let first_of_every_protocol = (1 << 16) | u32::from(EVERY_PROTOCOL.to_be());
    let header = header(from, 0, INGRESS, first_of_every_protocol);
    let actions = wire::nest(ACTIONS, &[&wire::attribute(1, &redirect(to))]);
    let options = wire::nest(libc::TCA_OPTIONS, &[&actions, &every_packet()]);
    Message::new(libc::RTM_NEWTFILTER, &[&header, &wire::text(libc::TCA_KIND, "u32"), &options])
}

/// `struct tc_mirred`: the packet is taken away from where it is and leaves by another link.
fn redirect(to: u32) -> Vec<u8> {
    let (index, capabilities, references, binds) = (0, 0, 0, 0);
    let parameters = [index, capabilities, STOLEN, references, binds, REDIRECT_OUT, to];
    let parameters = wire::attribute(PARAMETERS, &wire::words(&parameters));
    let options = wire::attribute(libc::TCA_OPTIONS | NESTED, &parameters);
    [wire::text(libc::TCA_KIND, "mirred"), options].concat()
}

/// `struct tc_u32_sel`: a key of no bits, after which nothing else is looked at.
fn every_packet() -> Vec<u8> {
    let (terminal, shift, keys) = (1, 0, 1);
    let mut selector = vec![terminal, shift, keys];
    selector.resize(SELECTOR + KEY, 0);
    wire::attribute(SELECT, &selector)
}

fn filters_of(link: u32) -> Message {
    Message::new(libc::RTM_GETTFILTER, &[&header(link, 0, INGRESS, 0)])
}

/// `struct tcmsg`
fn header(link: u32, handle: u32, parent: u32, info: u32) -> Vec<u8> {
    wire::words(&[0, link, handle, parent, info])
}

/// What netem holds where nothing else is said, as in the kernel's own tools.
pub const USUAL_LIMIT: u32 = 1000;
/// A step of the kernel's packet scheduler (`PSCHED_SHIFT`).
const TICK_NS: u64 = 64;
/// `TCA_NETEM_RATE`
const RATE: u16 = 6;
/// `TC_H_ROOT`
pub(super) const ROOT: u32 = u32::MAX;
/// `ffff:`, the handle of every ingress.
const INGRESS: u32 = 0xffff_0000;
/// `TC_H_INGRESS`, where it hangs.
pub(super) const INGRESS_HOOK: u32 = 0xffff_fff1;
/// `TCA_U32_SEL`
const SELECT: u16 = 5;
/// `TCA_U32_ACT`
pub(super) const ACTIONS: u16 = 7;
/// `TCA_MIRRED_PARMS`
const PARAMETERS: u16 = 2;
/// `TC_ACT_STOLEN`
const STOLEN: u32 = 4;
/// `TCA_EGRESS_REDIR`
const REDIRECT_OUT: u32 = 1;
/// `NLA_F_NESTED`
const NESTED: u16 = 0x8000;
/// `struct tc_u32_sel` without keys, in bytes.
const SELECTOR: usize = 16;
/// `struct tc_u32_key`, in bytes.
const KEY: usize = 16;
/// `ETH_P_ALL`
const EVERY_PROTOCOL: u16 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<char> = text.chars().filter(char::is_ascii_hexdigit).collect();
        let byte = |pair: &[char]| u8::from_str_radix(&String::from_iter(pair), 16).unwrap();
        digits.chunks(2).map(byte).collect()
    }

    /// As `tc` of iproute2 6.1 says it: `tc qdisc add dev LINK3 root netem limit 2000 delay 10ms loss 1% rate
    /// 10mbit 24`.
    #[cfg(target_endian = "little")]
    #[test]
    fn netem_is_asked_for_in_the_words_of_tc() {
        let line = Some(NetemLine { bytes_per_second: 1_250_000, overhead: 24 });
        let netem = Netem { limit: 2000, delay_ns: 10_000_000, loss: 42_949_673, line };
        let header = "00000000 03000000 00000000 ffffffff 00000000";
        let kind = "0a000100 6e6574656d000000";
        let options = "30000200 5a620200 d0070000 295c8f02 00000000 00000000 00000000 \
                       14000600 d0121300 18000000 00000000 00000000";
        assert_eq!(netem_message(3, &netem).body, hex(&[header, kind, options].concat()));
    }

    /// `tc filter add dev LINK3 parent ffff: protocol all prio 1 u32 match u32 0 0 action mirred egress redirect
    /// dev LINK2`.
    #[cfg(target_endian = "little")]
    #[test]
    fn a_redirection_is_asked_for_in_the_words_of_tc() {
        let header = "00000000 03000000 00000000 0000ffff 00030100";
        let kind = "08000100 75333200";
        let action = "38000700 34000100 0b000100 6d697272 65640000 24000280 20000200 00000000 00000000 \
                      04000000 00000000 00000000 01000000 02000000";
        let selector =
            "24000500 01000100 00000000 00000000 00000000 00000000 00000000 00000000 00000000";
        let words = [header, kind, "60000200", action, selector].concat();
        assert_eq!(redirection(3, 2).body, hex(&words));
    }

    #[test]
    fn delays_are_told_in_whole_steps_and_none_is_shortened() {
        let told = |delay_ns| {
            let options = options(&Netem { delay_ns, ..Netem::default() });
            u32::from_ne_bytes(options[..4].try_into().unwrap())
        };
        assert_eq!(told(64), 1);
        assert_eq!(told(65), 2);
        assert_eq!(told(100_000), 1563);
        assert_eq!(told(u64::MAX), u32::MAX);
    }
}
