//! What the kernel itself does to packets that leave a link: netem at its root, packets of one link
//! handed to another, and what was counted of both.

use netlink_packet_core::DefaultNla;
use netlink_packet_core::NLM_F_CREATE;
use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_core::NLM_F_REPLACE;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::TcAction;
use netlink_packet_route::tc::TcActionAttribute;
use netlink_packet_route::tc::TcActionGeneric;
use netlink_packet_route::tc::TcActionMirror;
use netlink_packet_route::tc::TcActionMirrorOption;
use netlink_packet_route::tc::TcActionOption;
use netlink_packet_route::tc::TcActionType;
use netlink_packet_route::tc::TcAttribute;
use netlink_packet_route::tc::TcFilterU32;
use netlink_packet_route::tc::TcFilterU32Option;
use netlink_packet_route::tc::TcHandle;
use netlink_packet_route::tc::TcMessage;
use netlink_packet_route::tc::TcMirror;
use netlink_packet_route::tc::TcMirrorActionType;
use netlink_packet_route::tc::TcOption;
use netlink_packet_route::tc::TcStats2;
use netlink_packet_route::tc::TcStatsQueue;
use netlink_packet_route::tc::TcU32Key;
use netlink_packet_route::tc::TcU32Selector;
use netlink_packet_route::tc::TcU32SelectorFlags;

use super::Netlink;
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
        let message = RouteNetlinkMessage::NewQueueDiscipline(netem_message(link, netem));
        self.acknowledged(what, NLM_F_CREATE | NLM_F_REPLACE, message)
    }

    /// From now on whatever comes in by the link `from` leaves by the link `to`, Ethernet header and
    /// all, past everything else of this host.
    pub fn redirect(&mut self, from: u32, to: u32) -> Result<()> {
        let what = || format!("hand packets of link {from} to link {to}");
        self.create(what, RouteNetlinkMessage::NewQueueDiscipline(ingress(from)))?;
        self.create(what, RouteNetlinkMessage::NewTrafficFilter(redirection(from, to)))
    }

    /// How many packets the target of a redirection from this link has not taken: its root lost them
    /// for want of room. A super-packet counts once.
    pub fn refused(&mut self, from: u32) -> Result<u64> {
        let what = || format!("list the filters of link {from}");
        let all = RouteNetlinkMessage::GetTrafficFilter(filters_of(from));
        let answers = self.exchange.answer(&what, NLM_F_DUMP, all)?;
        Ok(answers.iter().flat_map(actions_of).filter_map(queue_of_action).sum())
    }

    /// What the queueing discipline at the root of a link has counted.
    pub fn root_counters(&mut self, link: u32) -> Result<RootCounters> {
        let what = || format!("look up the qdisc of link {link}");
        let all = RouteNetlinkMessage::GetQueueDiscipline(super::message::any_qdisc());
        let answers = self.exchange.answer(&what, NLM_F_DUMP, all)?;
        let found = answers.iter().find_map(|answer| counters_of(answer, link));
        found.ok_or_else(|| Error::new(what(), std::io::Error::from(std::io::ErrorKind::NotFound)))
    }
}

fn netem_message(link: u32, netem: &Netem) -> TcMessage {
    let mut message = super::message::root_qdisc(link, "netem");
    message.attributes.push(TcAttribute::Other(DefaultNla::new(OPTIONS, options(netem))));
    message
}

/// `struct tc_netem_qopt`, then the line as an attribute. It is always said: a change that leaves it
/// out keeps the line that was there.
fn options(netem: &Netem) -> Vec<u8> {
    let Netem { limit, delay_ns, loss, line } = *netem;
    let ticks = u32::try_from(delay_ns.div_ceil(TICK_NS)).unwrap_or(u32::MAX);
    let (gap, duplicate, jitter) = (0, 0, 0);
    let head: [u32; 6] = [ticks, limit, loss, gap, duplicate, jitter];
    let (rate, overhead) =
        line.map_or((0, 0), |line| (line.bytes_per_second, line.overhead.cast_unsigned()));
    let (cell_size, cell_overhead) = (0, 0);
    let of_line: [u32; 4] = [rate, overhead, cell_size, cell_overhead];
    let words = |words: &[u32]| words.iter().flat_map(|it| it.to_ne_bytes()).collect::<Vec<u8>>();
    let of_line = words(&of_line);
    let length = u16::try_from(of_line.len() + 4).unwrap_or(u16::MAX);
    [words(&head), length.to_ne_bytes().into(), RATE.to_ne_bytes().into(), of_line].concat()
}

/// Where packets that come in are looked at.
fn ingress(link: u32) -> TcMessage {
    let mut message = super::message::root_qdisc(link, "ingress");
    message.header.parent = TcHandle::INGRESS;
    message.header.handle = INGRESS;
    message
}

/// Every packet, whatever its protocol, is stolen and sent by `to`. The classifier is `u32`, the
/// oldest there is, with a key that fits everything.
fn redirection(from: u32, to: u32) -> TcMessage {
    let mut message = filters_of(from);
    message.header.info = (1 << 16) | u32::from(EVERY_PROTOCOL.to_be());
    let mut generic = TcActionGeneric::default();
    generic.action = TcActionType::Stolen;
    let mut mirror = TcMirror::default();
    mirror.generic = generic;
    mirror.eaction = TcMirrorActionType::EgressRedir;
    mirror.ifindex = to;
    let mut action = TcAction::default();
    action.attributes = vec![
        TcActionAttribute::Kind(TcActionMirror::KIND.to_owned()),
        TcActionAttribute::Options(vec![TcActionOption::Mirror(TcActionMirrorOption::Parms(
            mirror,
        ))]),
    ];
    let mut selector = TcU32Selector::default();
    selector.flags = TcU32SelectorFlags::Terminal;
    selector.nkeys = 1;
    selector.keys = vec![TcU32Key::default()];
    let options =
        vec![TcFilterU32Option::Action(vec![action]), TcFilterU32Option::Selector(selector)];
    message.attributes = vec![
        TcAttribute::Kind(TcFilterU32::KIND.to_owned()),
        TcAttribute::Options(options.into_iter().map(TcOption::U32).collect()),
    ];
    message
}

fn filters_of(link: u32) -> TcMessage {
    let mut message = TcMessage::default();
    message.header.index = i32::try_from(link).unwrap_or(i32::MAX);
    message.header.parent = INGRESS;
    message
}

/// The actions of the filter that an answer describes.
fn actions_of(answer: &RouteNetlinkMessage) -> Vec<&TcAction> {
    let RouteNetlinkMessage::NewTrafficFilter(message) = answer else { return Vec::new() };
    let options = message.attributes.iter().filter_map(|attribute| match attribute {
        TcAttribute::Options(options) => Some(options),
        _ => None,
    });
    let actions = options.flatten().filter_map(|option| match option {
        TcOption::U32(TcFilterU32Option::Action(actions)) => Some(actions),
        _ => None,
    });
    actions.flatten().collect()
}

/// An action counts as over its limit what the link behind it did not take.
fn queue_of_action(action: &TcAction) -> Option<u64> {
    let stats = action.attributes.iter().find_map(|attribute| match attribute {
        TcActionAttribute::Stats(stats) => Some(stats),
        _ => None,
    })?;
    queue(stats).map(|queue| queue.overlimits.into())
}

fn counters_of(answer: &RouteNetlinkMessage, link: u32) -> Option<RootCounters> {
    let RouteNetlinkMessage::NewQueueDiscipline(message) = answer else { return None };
    let is_it =
        u32::try_from(message.header.index) == Ok(link) && message.header.parent == TcHandle::ROOT;
    let stats =
        message.attributes.iter().filter(|_| is_it).find_map(|attribute| match attribute {
            TcAttribute::Stats2(stats) => Some(stats),
            _ => None,
        })?;
    let queue = queue(stats)?;
    let basic = stats.iter().find_map(|one| match one {
        TcStats2::Basic(basic) => Some(basic),
        _ => None,
    })?;
    Some(RootCounters {
        packets: basic.packets.into(),
        bytes: basic.bytes,
        dropped: queue.drops.into(),
        held: queue.qlen.into(),
    })
}

fn queue(stats: &[TcStats2]) -> Option<&TcStatsQueue> {
    stats.iter().find_map(|one| match one {
        TcStats2::Queue(queue) => Some(queue),
        _ => None,
    })
}

/// What netem holds where nothing else is said, as in the kernel's own tools.
pub const USUAL_LIMIT: u32 = 1000;
/// A step of the kernel's packet scheduler (`PSCHED_SHIFT`).
const TICK_NS: u64 = 64;
/// `TCA_OPTIONS`
const OPTIONS: u16 = 2;
/// `TCA_NETEM_RATE`
const RATE: u16 = 6;
/// `ffff:`, the handle of every ingress.
const INGRESS: TcHandle = TcHandle { major: u16::MAX, minor: 0 };
/// `ETH_P_ALL`
const EVERY_PROTOCOL: u16 = 3;

#[cfg(test)]
mod tests {
    use netlink_packet_core::Emitable;

    use super::*;

    fn bytes(message: &TcMessage) -> Vec<u8> {
        let mut bytes = vec![0; message.buffer_len()];
        message.emit(&mut bytes);
        bytes
    }

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
        assert_eq!(bytes(&netem_message(3, &netem)), hex(&[header, kind, options].concat()));
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
        assert_eq!(bytes(&redirection(3, 2)), hex(&words));
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
