//! The second run of a cell, with its packets: evidence for a diagnosis, never for the score.

use serde::Deserialize;
use serde::Serialize;

use super::CellSample;
use super::CounterDelta;
use super::Flag;
use super::HostSample;
use crate::role::Role;

/// One run of one cell beside the score. Its pass is 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaptureSample {
    /// What was seen, as of any run; nothing of it is ever scored.
    pub run: CellSample,
    /// What made the cell abnormal when it was chosen; empty for one that was asked for.
    pub why: Vec<Flag>,
    /// Protocol counters of each black box that moved during the run, as of the test host.
    pub black_boxes: Vec<(Role, Vec<CounterDelta>)>,
    /// What else their hosts said of themselves; empty where they are the test host's machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub black_box_hosts: Vec<(Role, HostSample)>,
    /// Where the packets are; `None` where they could not be recorded.
    pub file: Option<CaptureFile>,
    /// Why there are no packets; empty where there are.
    pub not_captured: String,
}

/// The packets of a run: a file beside the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureFile {
    /// Its path below the result's directory: `captures/SEND-telnet-none.pcapng`.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// BLAKE3 of its content, hexadecimal.
    pub blake3: String,
    /// Packets in it.
    pub packets: u64,
    /// Packets that passed and are not in it, for want of memory.
    pub lost: u64,
    /// What recorded them.
    pub source: CaptureSource,
    /// Where they are seen: what left there as it was sent, what came there as it arrived.
    pub seen_at: CapturePoint,
}

/// The end at which packets are seen: that of the sender, where there is a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapturePoint {
    /// The black box of each link.
    BlackBox,
    /// The host under test.
    Test,
}

/// What recorded packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureSource {
    /// The emulator, which carries them: wire packets, with the times of both ends.
    Emulator,
    /// A listener at the black box: frames as the stack handed them over.
    Listener,
}

impl CaptureFile {
    /// Where the packets of a cell go: one file of this name in the folder of captures.
    pub fn path_of(cell: &crate::run::cell::Cell) -> String {
        let (case, application) = (cell.case, plain(&cell.application.name));
        format!("{}/{case}-{application}-{}.pcapng", Self::FOLDER, cell.activity)
    }

    /// The folder of captures below a result's directory.
    pub const FOLDER: &str = "captures";
}

impl CapturePoint {
    /// The end, in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BlackBox => "the black box",
            Self::Test => "the test host",
        }
    }
}

impl CaptureSource {
    /// What recorded them, in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Emulator => "the emulator, wire packet by wire packet",
            Self::Listener => "a listener, frame by frame",
        }
    }
}

/// Application names are the user's own: nothing of them may lead out of the folder, and no two may be one file.
/// Bytes that are not plain are written as in addresses (RFC 3986, 2.1).
fn plain(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let written = |byte: u8| {
        if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    name.bytes().map(written).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::cell::ActivityName;
    use crate::run::cell::Application;
    use crate::run::cell::Case;
    use crate::run::cell::Cell;
    use crate::units::Bytes;

    #[test]
    fn the_file_of_a_cell_stays_in_its_folder_whatever_the_cell_is_called() {
        let path = |name: &str| {
            CaptureFile::path_of(&Cell {
                case: Case::SendDelayed,
                application: Application { name: name.to_owned(), message_bytes: Bytes::new(1) },
                activity: ActivityName::none(),
            })
        };
        assert_eq!(path("telnet"), "captures/SEND+DL-telnet-none.pcapng");
        assert_eq!(path("../etc"), "captures/SEND+DL-%2E%2E%2Fetc-none.pcapng");
        assert_ne!(path("a b"), path("a-b"));
        assert_ne!(path("\u{e9}"), path("\u{fc}"));
    }
}
