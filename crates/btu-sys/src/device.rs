//! What a network device says of itself, its MTU and the answers of ethtool that need no root, and what it does for the stack.
//!
//! A device is looked up in the network namespace of the thread that opened the connection.

use std::io;
use std::os::fd::AsRawFd;
use std::os::fd::OwnedFd;

use nix::sys::socket::AddressFamily;
use nix::sys::socket::SockFlag;
use nix::sys::socket::SockType;
use nix::sys::socket::socket;

/// A way to ask devices.
#[derive(Debug)]
pub struct Devices {
    socket: OwnedFd,
}

/// A question whose answer is numbers.
#[derive(Debug)]
pub struct Question {
    /// What it is about: `ring`.
    pub name: &'static str,
    command: u32,
    words: usize,
    /// The answers with their place in the structure, in words.
    answers: &'static [(&'static str, usize)],
}

/// Something that a device can do for the stack, or the stack in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// As ethtool writes it: `tx-tcp-segmentation`.
    pub name: String,
    /// True where it is on.
    pub is_on: bool,
    /// True where it can be switched.
    pub is_free: bool,
}

/// Speed and duplex of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// In 10^6 bit/s; `None` where the device does not know.
    pub speed_mbps: Option<u32>,
    /// `None` where the device does not know.
    pub is_full_duplex: Option<bool>,
}

/// Which driver it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Driver {
    /// `virtio_net`
    pub name: String,
    /// Its version, often that of the kernel.
    pub version: String,
    /// Empty where there is none.
    pub firmware: String,
    /// `0000:00:03.0`
    pub bus: String,
}

/// Every question whose answer is numbers.
pub static QUESTIONS: [Question; 4] = [
    Question {
        name: "ring",
        command: ETHTOOL_GRINGPARAM,
        words: 9,
        answers: &[("rx_max", 1), ("tx_max", 4), ("rx", 5), ("tx", 8)],
    },
    Question {
        name: "channels",
        command: ETHTOOL_GCHANNELS,
        words: 9,
        answers: &[("max_combined", 4), ("rx", 5), ("tx", 6), ("combined", 8)],
    },
    Question {
        name: "coalesce",
        command: ETHTOOL_GCOALESCE,
        words: 23,
        answers: &[
            ("rx_us", 1),
            ("rx_frames", 2),
            ("tx_us", 5),
            ("tx_frames", 6),
            ("adaptive_rx", 10),
            ("adaptive_tx", 11),
        ],
    },
    Question {
        name: "pause",
        command: ETHTOOL_GPAUSEPARAM,
        words: 4,
        answers: &[("autonegotiated", 1), ("rx", 2), ("tx", 3)],
    },
];

impl Devices {
    /// A way to ask the devices of the calling thread's network namespace.
    pub fn here() -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Inet, SockType::Datagram, flags, None)?;
        Ok(Self { socket })
    }

    /// The number by which other calls name it.
    pub fn index(&self, device: &str) -> io::Result<u32> {
        self.number(device, SIOCGIFINDEX)
    }

    /// The largest packet, from the IP header on.
    pub fn mtu(&self, device: &str) -> io::Result<u32> {
        self.number(device, SIOCGIFMTU)
    }

    fn number(&self, device: &str, command: libc::c_ulong) -> io::Result<u32> {
        let mut request = Request::new(device)?;
        self.call(command, &mut request)?;
        let [a, b, c, d, ..] = request.rest;
        Ok(u32::from_ne_bytes([a, b, c, d]))
    }

    /// Speed and duplex.
    pub fn line(&self, device: &str) -> io::Result<Line> {
        // `struct ethtool_cmd`
        let mut words = [0_u32; 11];
        words[0] = ETHTOOL_GSET;
        self.ask(device, &mut words)?;
        let bytes = bytes_of(&words);
        let half = |at: usize| u32::from(u16::from_ne_bytes([bytes[at], bytes[at + 1]]));
        let speed = (half(28) << 16) | half(12);
        let is_full_duplex = match bytes[14] {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        };
        let speed_mbps = Some(speed).filter(|it| ![0, u32::from(u16::MAX), u32::MAX].contains(it));
        Ok(Line { speed_mbps, is_full_duplex })
    }

    /// Which driver it has.
    pub fn driver(&self, device: &str) -> io::Result<Driver> {
        // `struct ethtool_drvinfo`: names of 32 bytes behind the command.
        let mut words = [0_u32; 49];
        words[0] = ETHTOOL_GDRVINFO;
        self.ask(device, &mut words)?;
        let bytes = bytes_of(&words);
        let name = |place: usize| text(&bytes[4 + 32 * place..36 + 32 * place]);
        Ok(Driver { name: name(0), version: name(1), firmware: name(2), bus: name(3) })
    }

    /// The numbers of one question.
    pub fn answers(
        &self,
        device: &str,
        question: &Question,
    ) -> io::Result<Vec<(&'static str, u32)>> {
        let mut words = vec![0_u32; question.words];
        words[0] = question.command;
        self.ask(device, &mut words)?;
        Ok(question.answers.iter().map(|(name, place)| (*name, words[*place])).collect())
    }

    /// What it does for the stack (offloads), in the kernel's order.
    pub fn features(&self, device: &str) -> io::Result<Vec<Feature>> {
        let names = self.feature_names(device)?;
        let blocks = names.len().div_ceil(32);
        // `struct ethtool_gfeatures`: for 32 features each a word of those that are available,
        // requested, active and never changed.
        let mut words = vec![0_u32; 2 + 4 * blocks];
        words[0] = ETHTOOL_GFEATURES;
        words[1] = u32::try_from(blocks).map_err(io::Error::other)?;
        self.ask(device, &mut words)?;
        let has = |place: usize, kind: usize| {
            let word = words[2 + place / 32 * 4 + kind];
            (word >> (place % 32)) & 1 == 1
        };
        let of = |(place, name)| Feature {
            name,
            is_on: has(place, ACTIVE),
            is_free: has(place, AVAILABLE) && !has(place, NEVER_CHANGED),
        };
        let known = names.into_iter().enumerate().filter(|(_, name)| !name.is_empty());
        Ok(known.map(of).collect())
    }

    /// Has a device leave these to the stack. Those that it has not, or that cannot be switched, stay as they are.
    pub fn switch_off(&self, device: &str, features: &[&str]) -> io::Result<()> {
        let names = self.feature_names(device)?;
        let blocks = names.len().div_ceil(32);
        // `struct ethtool_sfeatures`: for 32 features each a word of those that are meant, and one of
        // those among them that are to be on.
        let mut words = vec![0_u32; 2 + 2 * blocks];
        words[0] = ETHTOOL_SFEATURES;
        words[1] = u32::try_from(blocks).map_err(io::Error::other)?;
        let meant = |(_, name): &(usize, String)| features.contains(&name.as_str());
        for (place, _) in names.into_iter().enumerate().filter(meant) {
            words[2 + place / 32 * 2] |= 1 << (place % 32);
        }
        self.ask(device, &mut words)
    }

    /// The names of all features that this kernel knows, by their number.
    fn feature_names(&self, device: &str) -> io::Result<Vec<String>> {
        // `struct ethtool_sset_info`: a mask of 64 bits, then the length of each set.
        let mut lengths = [ETHTOOL_GSSET_INFO, 0, 0, 0, 0];
        // The mask is a native number of 64 bits at bytes 8 to 15.
        let mask = (1_u64 << ETH_SS_FEATURES).to_ne_bytes();
        lengths[2] = u32::from_ne_bytes([mask[0], mask[1], mask[2], mask[3]]);
        lengths[3] = u32::from_ne_bytes([mask[4], mask[5], mask[6], mask[7]]);
        self.ask(device, &mut lengths)?;
        let count = usize::try_from(lengths[4]).map_err(io::Error::other)?;
        let mut words = vec![0_u32; 3 + count * NAME_WORDS];
        words[..3].copy_from_slice(&[ETHTOOL_GSTRINGS, ETH_SS_FEATURES, lengths[4]]);
        self.ask(device, &mut words)?;
        let names = bytes_of(&words[3..]);
        Ok(names.chunks(4 * NAME_WORDS).map(text).collect())
    }

    /// One question of ethtool; its answer stands in the same words.
    fn ask(&self, device: &str, words: &mut [u32]) -> io::Result<()> {
        let mut request = Request::new(device)?;
        let address = words.as_mut_ptr().expose_provenance().to_ne_bytes();
        request.rest[..address.len()].copy_from_slice(&address);
        self.call(SIOCETHTOOL, &mut request)
    }

    fn call(&self, command: libc::c_ulong, request: &mut Request) -> io::Result<()> {
        // SAFETY: the kernel reads and writes a `struct ifreq`, and for ethtool the words that it
        // points to, of the length that their command implies; both outlive the call.
        let done = unsafe { libc::ioctl(self.socket.as_raw_fd(), command, request) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// `struct ifreq`: the name of a device, then a number or an address.
#[repr(C, align(8))]
struct Request {
    name: [u8; NAME_LEN],
    rest: [u8; 24],
}

impl Request {
    fn new(device: &str) -> io::Result<Self> {
        let mut request = Self { name: [0; NAME_LEN], rest: [0; 24] };
        // With its final zero.
        let room = request.name.get_mut(..device.len()).filter(|_| device.len() < NAME_LEN);
        room.ok_or(io::ErrorKind::InvalidInput)?.copy_from_slice(device.as_bytes());
        Ok(request)
    }
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// The text up to the first zero.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// `linux/if.h`
const NAME_LEN: usize = 16;
/// `ETH_GSTRING_LEN`, in words.
const NAME_WORDS: usize = 8;
/// `linux/sockios.h`
const SIOCETHTOOL: libc::c_ulong = 0x8946;
const SIOCGIFMTU: libc::c_ulong = 0x8921;
const SIOCGIFINDEX: libc::c_ulong = 0x8933;
/// `linux/ethtool.h`
const ETHTOOL_GSET: u32 = 0x01;
const ETHTOOL_GDRVINFO: u32 = 0x03;
const ETHTOOL_GCOALESCE: u32 = 0x0e;
const ETHTOOL_GRINGPARAM: u32 = 0x10;
const ETHTOOL_GPAUSEPARAM: u32 = 0x12;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_GFEATURES: u32 = 0x3a;
const ETHTOOL_SFEATURES: u32 = 0x3b;
const ETHTOOL_GCHANNELS: u32 = 0x3c;
const ETH_SS_FEATURES: u32 = 4;
/// Places in a block of features.
const AVAILABLE: usize = 0;
const ACTIVE: usize = 2;
const NEVER_CHANGED: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_says_its_mtu_and_what_it_does_for_the_stack() {
        let devices = Devices::here().unwrap();
        assert!(devices.mtu("lo").unwrap() >= 1500);
        let features = devices.features("lo").unwrap();
        let found = |name: &str| features.iter().find(|feature| feature.name == name).unwrap();
        assert!(found("loopback").is_on && !found("loopback").is_free);
        assert!(found("tx-tcp-segmentation").is_free);
    }

    #[test]
    fn a_question_that_a_device_does_not_answer_is_an_error_with_its_number() {
        let devices = Devices::here().unwrap();
        let refused = devices.answers("lo", &QUESTIONS[0]).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EOPNOTSUPP));
    }

    #[test]
    fn a_device_that_is_not_there_and_a_name_that_is_too_long_are_errors() {
        let devices = Devices::here().unwrap();
        let errors = ["nosuch0", "sixteen-letters-"].map(|name| devices.mtu(name).unwrap_err());
        assert_eq!(errors[0].raw_os_error(), Some(libc::ENODEV));
        assert_eq!(errors[1].kind(), io::ErrorKind::InvalidInput);
    }
}
