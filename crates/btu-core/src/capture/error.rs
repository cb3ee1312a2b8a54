//! Why a file is no capture.

/// A file that cannot be read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// Nothing in it.
    #[error("the file is empty: a capture begins with a header of pcap or pcapng")]
    Empty,
    /// Another format, named where it is a usual one.
    #[error("the file begins with {begins}: neither pcap (tcpdump -w) nor pcapng")]
    OtherFormat {
        /// The first bytes, or what they are.
        begins: String,
    },
    /// It ends inside its first header.
    #[error("the file has {bytes} bytes: too short for the header of a capture")]
    Short {
        /// Length of the file.
        bytes: usize,
    },
    /// A version that is not known.
    #[error("{format} version {version} is not known: {known}")]
    Version {
        /// `pcap` or `pcapng`.
        format: &'static str,
        /// What the file says.
        version: String,
        /// What is known.
        known: &'static str,
    },
}

impl CaptureError {
    /// A file that begins with `bytes`.
    pub(super) fn other_format(bytes: &[u8]) -> Self {
        let begins = match bytes {
            [0x1f, 0x8b, ..] => "a gzip header (unpack it first)".to_owned(),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => "a zstd header (unpack it first)".to_owned(),
            [b'{', ..] => "JSON".to_owned(),
            _ if is_text(bytes) => "text".to_owned(),
            _ => hexadecimal(bytes),
        };
        Self::OtherFormat { begins }
    }
}

/// A plan, a table, a log.
fn is_text(bytes: &[u8]) -> bool {
    let of_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    bytes.iter().take(16).all(of_text)
}

fn hexadecimal(bytes: &[u8]) -> String {
    let shown = bytes.iter().take(4).map(|byte| format!("{byte:02x}"));
    format!("bytes {}", shown.collect::<Vec<_>>().join(" "))
}
