//! A TCP segment as its headers tell, before anything is concluded from it.

use std::fmt;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::SocketAddr;

use serde::Deserialize;
use serde::Serialize;

use crate::units::Nanos;

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// Its address.
    pub address: IpAddr,
    /// Its port.
    pub port: u16,
}

/// The flags of a segment (RFC 9293, 3.1), FIN being the lowest bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

/// The options of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Largest segment that the sender of this one wants.
    pub mss: Option<u16>,
    /// Its windows are to be shifted left by this.
    pub scale: Option<u8>,
    /// It understands selective acknowledgements.
    pub sack_permitted: bool,
    /// Selective acknowledgements.
    pub sacks: [(u32, u32); 4],
    /// How many of them.
    pub sack_count: u8,
    /// Time stamp and echo.
    pub stamps: Option<(u32, u32)>,
}

/// One segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// When it passed.
    pub at: Nanos,
    /// Who sent it.
    pub from: Endpoint,
    /// Who was to get it.
    pub to: Endpoint,
    /// Sequence number of its first byte.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledged: u32,
    /// Its flags.
    pub flags: Flags,
    /// Its window, not scaled.
    pub window: u16,
    /// Bytes of payload, kept or not.
    pub payload: u32,
    /// Identification of the IPv4 packet.
    pub identification: Option<u16>,
    /// A router marked it (RFC 3168).
    pub is_congestion_marked: bool,
    /// Its options.
    pub options: Options,
}

impl Flags {
    /// The sender has no more to send.
    pub const FIN: Self = Self(0x01);
    /// The connection begins.
    pub const SYN: Self = Self(0x02);
    /// The connection is gone.
    pub const RST: Self = Self(0x04);
    /// The receiver should hand over what it has.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number counts.
    pub const ACK: Self = Self(0x10);
    /// There is urgent data.
    pub const URG: Self = Self(0x20);
    /// The sender has reduced its congestion window (RFC 3168).
    pub const CWR: Self = Self(0x80);

    /// True where all flags of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// True for a segment that begins or ends a connection.
    pub const fn is_control(self) -> bool {
        self.0 & (Self::FIN.0 | Self::SYN.0 | Self::RST.0) != 0
    }
}

impl Segment {
    /// Sequence numbers that it takes: payload, SYN and FIN.
    pub fn length(&self) -> u32 {
        let one = |flag| u32::from(self.flags.has(flag));
        self.payload.saturating_add(one(Flags::SYN)).saturating_add(one(Flags::FIN))
    }

    /// Its selective acknowledgements.
    pub fn sacks(&self) -> &[(u32, u32)] {
        &self.options.sacks[..usize::from(self.options.sack_count)]
    }
}

impl Default for Endpoint {
    fn default() -> Self {
        Self { address: Ipv4Addr::UNSPECIFIED.into(), port: 0 }
    }
}

impl Default for Segment {
    fn default() -> Self {
        let nobody = Endpoint::default();
        Self {
            at: Nanos::ZERO,
            from: nobody,
            to: nobody,
            sequence: 0,
            acknowledged: 0,
            flags: Flags::default(),
            window: 0,
            payload: 0,
            identification: None,
            is_congestion_marked: false,
            options: Options::default(),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            IpAddr::V4(address) => write!(out, "{address}:{}", self.port),
            IpAddr::V6(address) => write!(out, "[{address}]:{}", self.port),
        }
    }
}

impl Serialize for Endpoint {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Endpoint {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        let found: SocketAddr = text.parse().map_err(serde::de::Error::custom)?;
        Ok(Self { address: found.ip(), port: found.port() })
    }
}
