//! A chain in the terms of the kernel's own emulator: what netem does exactly alike, and nothing else.
//!
//! netem has one queue. A packet is first lost or not, by chance; then it waits for the line, or for
//! its delay. It counts no packets, so it has no patterns, and one limit bounds both what waits for
//! the line and what is on its way.

use crate::units::BitRate;
use crate::units::Bytes;
use crate::units::Nanos;
use crate::units::Ratio;

use super::packet::Wire;

/// What netem does of one link element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NetemPart {
    /// Each packet is lost by itself, with this probability.
    Loss(Ratio),
    /// One packet after the other at this rate; so many wait beside the one on the line.
    Line {
        /// The rate.
        rate: BitRate,
        /// Wire packets that may wait.
        packets: u64,
    },
    /// Every packet is held for so long.
    Delay(Nanos),
}

/// A serial line with a queue of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetemLine {
    /// Its rate, in the kernel's unit.
    pub bytes_per_second: u32,
    /// What a packet takes on the line beyond its bytes from the Ethernet header on.
    pub overhead: i32,
}

/// One direction of a link as netem does it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetemSpec {
    /// How long every packet is held.
    pub delay: Nanos,
    /// Which share of them is lost.
    pub loss: Ratio,
    /// The line, if there is one.
    pub line: Option<(BitRate, u64)>,
}

/// What of a chain netem does not do exactly so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("netem does not do exactly {}: {reason}; the relay does", elements.join(" and "))]
pub struct NotForNetem {
    /// Texts of the elements.
    elements: Vec<String>,
    reason: &'static str,
}

impl NetemSpec {
    /// Texts of elements in order of traversal, each with what netem does of it.
    pub(super) fn of(
        elements: impl Iterator<Item = (String, Option<NetemPart>)>,
    ) -> Result<Self, NotForNetem> {
        let elements: Vec<(String, Option<NetemPart>)> = elements.collect();
        let parts: Vec<NetemPart> = elements.iter().filter_map(|(_, part)| *part).collect();
        let texts = |wanted: fn(Option<NetemPart>) -> bool| {
            let wanted = elements.iter().filter(|(_, part)| wanted(*part));
            wanted.map(|(text, _)| format!("\"{text}\"")).collect::<Vec<_>>()
        };
        let refused = |elements, reason| Err(NotForNetem { elements, reason });
        if parts.len() < elements.len() {
            return refused(texts(|part| part.is_none()), ONLY);
        }
        if !parts.is_sorted_by(|one, next| place(*one) < place(*next)) {
            return refused(texts(|_| true), IN_ORDER);
        }
        if parts
            .iter()
            .any(|part| matches!(part, NetemPart::Line { rate, .. } if bytes(*rate).is_none()))
        {
            return refused(texts(is_line), TOO_FAST);
        }
        let spec = parts.into_iter().fold(Self::PASSING, Self::with);
        if spec.loss.share() > 0.0 && spec.loss_of_u32() == 0 {
            return refused(texts(is_loss), TOO_RARE);
        }
        if spec.delay > LONGEST {
            return refused(texts(|part| place_of(part) == 2), TOO_LONG);
        }
        if spec.line.is_some() && spec.delay > Nanos::ZERO {
            return refused(texts(|part| place_of(part) > 0), ONE_QUEUE);
        }
        Ok(spec)
    }

    /// Packets leave when they come.
    const PASSING: Self = Self { delay: Nanos::ZERO, loss: Ratio::ZERO, line: None };

    const fn with(self, part: NetemPart) -> Self {
        match part {
            NetemPart::Loss(loss) => Self { loss, ..self },
            NetemPart::Line { rate, packets } => Self { line: Some((rate, packets)), ..self },
            NetemPart::Delay(delay) => Self { delay, ..self },
        }
    }

    /// The line in the kernel's terms.
    ///
    /// # Errors
    /// Where sizes on this wire are none that the kernel reckons with.
    pub fn line(&self, wire: Wire) -> Result<Option<NetemLine>, NotForNetem> {
        let Some((rate, packets)) = self.line else { return Ok(None) };
        // The kernel counts from the Ethernet header on.
        let overhead = match wire {
            Wire::Ethernet => Some(FRAME - ETHERNET_HEADER),
            Wire::Ip => Some(-ETHERNET_HEADER),
            Wire::Atm => None,
        };
        let line = overhead.zip(bytes(rate));
        let line =
            line.map(|(overhead, bytes_per_second)| NetemLine { bytes_per_second, overhead });
        let refused = || NotForNetem {
            elements: vec![format!("\"rate {rate} queue {packets}pkt\" on a wire of cells")],
            reason: "it reckons with packets",
        };
        line.map(Some).ok_or_else(refused)
    }

    /// The share that is lost, of 2^32.
    pub fn loss_of_u32(&self) -> u32 {
        let scaled = (self.loss.share() * 4_294_967_296.0).round().clamp(0.0, f64::from(u32::MAX));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is a whole number within those of 32 bits"
        )]
        let whole = scaled as u32;
        whole
    }

    /// How many packets netem has to have room for. Of a line: those that may wait, and the one on
    /// it. Of a delay: one and a half times what a link of `fastest` has under way, all of them as
    /// small as they come, so that nothing is ever lost for want of room.
    pub fn limit(&self, fastest: BitRate) -> u32 {
        let packets = self.line.map_or_else(
            || {
                let under_way = fastest.amount_in(self.delay).count() / SMALLEST.count();
                (under_way + under_way / 2).max(FEWEST)
            },
            |(_, packets)| packets.saturating_add(1),
        );
        u32::try_from(packets).unwrap_or(u32::MAX)
    }

    /// True where packets have to come one by one: what is lost or sent by the line is a wire packet,
    /// never a whole super-packet.
    pub fn wants_wire_packets(&self) -> bool {
        self.line.is_some() || self.loss.share() > 0.0
    }
}

const fn place(part: NetemPart) -> u8 {
    match part {
        NetemPart::Loss(_) => 0,
        NetemPart::Line { .. } => 1,
        NetemPart::Delay(_) => 2,
    }
}

fn place_of(part: Option<NetemPart>) -> u8 {
    part.map_or(0, place)
}

fn is_line(part: Option<NetemPart>) -> bool {
    place_of(part) == 1
}

fn is_loss(part: Option<NetemPart>) -> bool {
    matches!(part, Some(NetemPart::Loss(_)))
}

/// The kernel's unit of a rate; `None` beyond its 32 bits, and between two of it.
fn bytes(rate: BitRate) -> Option<u32> {
    let bits = rate.bit_per_second();
    u32::try_from(bits / 8).ok().filter(|bytes| *bytes > 0 && bits.is_multiple_of(8))
}

const ONLY: &str = "it knows drops by chance (1%), a rate with a queue of packets, and a delay, but \
                    no counter patterns or other elements";
const IN_ORDER: &str = "it loses first, then sends by the line, then delays, each of it once";
const ONE_QUEUE: &str = "its one limit would bound what waits for the line and what is on its way \
                         together";
const TOO_FAST: &str = "its rate is one from 8 bit/s to 34 Gbit/s, in steps of 8 bit/s";
const TOO_LONG: &str = "its longest delay is 274 s";
const TOO_RARE: &str = "the least that it loses is one packet of 4294967296";
/// The kernel's ticks of 64 ns in 32 bits reach a little further.
const LONGEST: Nanos = Nanos::from_secs(274);
/// What netem holds at the least: its own default.
const FEWEST: u64 = 1000;
/// The smallest packet on an Ethernet wire.
const SMALLEST: Bytes = Bytes::new(84);
/// What Ethernet puts around a packet that needs no padding: header, FCS, preamble and gap.
const FRAME: i32 = 38;
const ETHERNET_HEADER: i32 = 14;

#[cfg(test)]
mod tests {
    use crate::link::ChainSpec;
    use crate::link::Reader;

    use super::*;

    fn netem(texts: &[&str]) -> Result<NetemSpec, String> {
        let chain = ChainSpec::as_given(texts, &Reader::PLAN).unwrap();
        chain.netem().map_err(|refused| refused.to_string())
    }

    #[test]
    fn delay_loss_and_rate_are_told_in_the_kernels_terms() {
        let delay = netem(&["drop 1%", "delay 10ms"]).unwrap();
        assert_eq!(delay.delay, Nanos::from_millis(10));
        assert_eq!(delay.loss_of_u32(), 42_949_673);
        assert_eq!(delay.line(Wire::Atm), Ok(None));
        assert!(delay.wants_wire_packets());
        let line = netem(&["rate 10Mbit/s queue 50pkt"]).unwrap();
        let expected = NetemLine { bytes_per_second: 1_250_000, overhead: 24 };
        assert_eq!(line.line(Wire::Ethernet), Ok(Some(expected)));
        assert!(line.line(Wire::Atm).unwrap_err().to_string().contains("wire of cells"));
        assert_eq!(line.limit(BitRate::new(10_000_000_000)), 51);
        let passing = netem(&[]).unwrap();
        assert_eq!(passing, NetemSpec::PASSING);
        assert!(!passing.wants_wire_packets());
        assert_eq!(netem(&["drop 100%"]).unwrap().loss_of_u32(), u32::MAX);
    }

    #[test]
    fn there_is_room_for_one_and_a_half_times_what_is_under_way() {
        let fastest = BitRate::new(10_000_000_000);
        // 10 Gbit/s x 10 ms = 12.5 MB, in packets of 84 bytes.
        let delay = netem(&["delay 10ms"]).unwrap();
        assert_eq!(delay.limit(fastest), 148_809 + 74_404);
        assert_eq!(netem(&["delay 1us"]).unwrap().limit(fastest), 1000);
    }

    #[test]
    fn what_netem_cannot_do_exactly_is_named_with_the_remedy() {
        let cases: [(&[&str], &str); 9] = [
            (&["drop 0.00000000001%"], "the least that it loses is one packet"),
            (&["drop 1@200,3@400/400", "delay 10ms"], "exactly \"drop 1@200,3@400/400\": it knows"),
            (&["hold 3@100/100 10ms"], "\"hold 3@100/100 10ms\""),
            (&["rate 10Mbit/s"], "a queue of packets"),
            (&["rate 12bit/s queue 5pkt"], "in steps of 8 bit/s"),
            (&["delay 5min"], "its longest delay is 274 s"),
            (&["delay 1ms", "drop 1%"], "it loses first"),
            (&["delay 1ms", "delay 2ms"], "each of it once"),
            (&["drop 1%", "rate 1Mbit/s queue 5pkt", "delay 1ms"], "its one limit"),
        ];
        for (texts, expected) in cases {
            let refused = netem(texts).unwrap_err();
            assert!(refused.contains(expected), "{refused}");
            assert!(refused.ends_with("the relay does"), "{refused}");
        }
        let refused = netem(&["drop 1%", "rate 1Mbit/s queue 5pkt", "delay 1ms"]).unwrap_err();
        assert!(refused.contains("\"rate 1Mbit/s queue 5pkt\" and \"delay 1ms\""), "{refused}");
    }
}
