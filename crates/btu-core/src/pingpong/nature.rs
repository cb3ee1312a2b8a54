//! What a transport is by its own account, kept with each configuration: labels, reports and the chasm
//! finder know it from there and have no list of names.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

/// What a transport is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Nature {
    /// What its blocks pass.
    pub layer: Layer,
    /// Settings that mean nothing to it.
    pub lacks: Vec<Setting>,
    /// True where a block is cut at the MTU of the link, without segments of TCP.
    pub cut_at_mtu: bool,
    /// What bounds its largest block, and the remedy where there is one.
    pub bound: Option<String>,
}

/// What the blocks of a transport pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Frames of its own over the link, below every protocol of the kernel.
    Frames,
    /// No link: a copy between two ends of one host.
    Memory,
    /// A protocol over the link.
    #[default]
    Protocol,
}

/// A setting that not every transport has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// `TCP_MAXSEG`
    MaxSegment,
    /// The MTU of the path.
    Mtu,
    /// `TCP_NODELAY`
    Nodelay,
    /// Segmentation offload of the path.
    Offload,
    /// `TCP_QUICKACK`
    QuickAck,
    /// `SO_RCVBUF`
    ReceiveBuffer,
    /// `SO_SNDBUF`
    SendBuffer,
}

impl Nature {
    /// True for nothing special, as TCP is.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Copies of memory, the machine's own limit: nothing of a socket and nothing of a link.
    pub fn of_copies() -> Self {
        Self { layer: Layer::Memory, lacks: Setting::ALL.to_vec(), ..Self::default() }
    }
}

impl Setting {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::MaxSegment,
        Self::Mtu,
        Self::Nodelay,
        Self::Offload,
        Self::QuickAck,
        Self::ReceiveBuffer,
        Self::SendBuffer,
    ];

    /// What a reader knows it by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaxSegment => "TCP_MAXSEG",
            Self::Mtu => "MTU",
            Self::Nodelay => "TCP_NODELAY",
            Self::Offload => "segmentation offload",
            Self::QuickAck => "TCP_QUICKACK",
            Self::ReceiveBuffer => "SO_RCVBUF",
            Self::SendBuffer => "SO_SNDBUF",
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
