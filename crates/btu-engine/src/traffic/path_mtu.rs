//! The search for a path MTU (RFC 8899): datagrams that nobody may fragment, and whoever answers those that come.
//!
//! Messages of routers are not believed: what they say of a socket is read and forgotten.

use std::io;
use std::net::SocketAddr;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use std::time::Instant;

use btu_core::traffic::figures::path_mtu::LARGEST;
use btu_core::traffic::figures::path_mtu::PathMtuSearch;
use btu_core::traffic::figures::path_mtu::patience;
use btu_core::traffic::plan::Probe;
use btu_core::traffic::probe::PathMtuProbe;
use btu_core::traffic::probe::PathMtuSample;
use btu_core::traffic::probe::headers;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::netlink::Netlink;
use btu_sys::socket;

use super::answerer::may_go_on;
use super::answerer::to_count;
use super::connect::PATIENCE;
use super::hands::both;
use super::meeting::Door;
use super::meeting::unspecified;
use super::way::Way;
use super::way::is_ipv6;
use super::way::within;
use crate::door;
use crate::error::EngineError;
use crate::time::now;

/// Searches between two hosts of this process. An answer is waited for `timer` and four times the slowest one.
///
/// # Errors
/// A socket was refused, the kernel did not tell the device, or a thread did not start.
pub fn path_mtu(
    way: &Way<'_>,
    timer: Nanos,
    cancel: &AtomicBool,
) -> Result<PathMtuSample, EngineError> {
    let far = within(way.far, || Ok(socket::bind_udp(way.door(), BUFFER)?))?;
    let listening = far.local_addr().map_err(EngineError::peer("bind"))?;
    let over = AtomicBool::new(false);
    let moved = AtomicU64::new(0);
    let ask = |_: &AtomicBool| {
        within(way.near, || Prober::open(listening, &moved)?.search(timer, cancel))
    };
    let (found, ()) = both(&over, ask, || answer_probes(&far, &over, &AtomicU64::new(0)))?;
    Ok(found)
}

/// The searching end alone, towards an answerer behind a door of another host; `moved` counts payload meanwhile.
///
/// # Errors
/// The other end was not reached, or as those of [`path_mtu`].
pub fn path_mtu_with(
    door: &Door,
    timer: Nanos,
    cancel: &AtomicBool,
    moved: &AtomicU64,
) -> Result<PathMtuSample, EngineError> {
    let prober = Prober::open(door.at, moved)?;
    let near = OwnedFd::from(prober.socket);
    let greeted = door::greet(&near, &door.seat, Instant::now() + Duration::from(PATIENCE));
    greeted.map_err(EngineError::peer(format!("show the token to {}", door.at)))?;
    Prober { socket: UdpSocket::from(near), ..prober }.search(timer, cancel)
}

/// Answers each probe that comes whole with its number and size, until it is over.
pub(super) fn answer_probes(
    far: &UdpSocket,
    over: &AtomicBool,
    moved: &AtomicU64,
) -> Result<(), EngineError> {
    socket::bound_waits(far, Duration::from_millis(20))?;
    let mut space = vec![0; 1 << 16];
    while !over.load(Relaxed) {
        match far.recv_from(&mut space) {
            Ok((count, from)) => {
                moved.fetch_add(to_count(count), Relaxed);
                let Some(said) = Said::read(&space[..count]) else { continue };
                let length = Bytes::new(to_count(count)) + headers(is_ipv6(from));
                // What a path cut or mended is not what was sent; an answer that does not leave is one that was lost.
                if said.size == length {
                    let _ = far.send_to(&said.written(), from);
                }
            }
            Err(cause) if may_go_on(&cause) || is_of_the_path(&cause) => {}
            Err(cause) => return Err(EngineError::peer("receive a probe")(cause)),
        }
    }
    Ok(())
}

/// The searching end.
struct Prober<'a> {
    socket: UdpSocket,
    /// The largest packet of the device by which probes leave.
    device: Bytes,
    /// What IP and UDP add to a datagram.
    headers: Bytes,
    /// Payload of probes.
    moved: &'a AtomicU64,
}

impl<'a> Prober<'a> {
    fn open(at: SocketAddr, moved: &'a AtomicU64) -> Result<Self, EngineError> {
        let way = Netlink::here()?.way_to(at.ip().to_canonical())?;
        let socket = socket::bind_udp(unspecified(at), BUFFER)?;
        socket.connect(at).map_err(EngineError::peer(format!("connect to {at}")))?;
        socket::forbid_fragments(&socket)?;
        // The loopback says 65,536, of which no packet is.
        let device = Bytes::new(way.mtu.into()).min(LARGEST);
        Ok(Self { socket, device, headers: headers(is_ipv6(at)), moved })
    }

    fn search(&self, timer: Nanos, cancel: &AtomicBool) -> Result<PathMtuSample, EngineError> {
        let over_ipv6 = self.headers == headers(true);
        let mut seen = Seen {
            search: PathMtuSearch::new(self.device, over_ipv6),
            sample: PathMtuSample {
                device_mtu_bytes: self.device,
                over_ipv6,
                timer_ns: timer,
                ..PathMtuSample::default()
            },
            began: now(),
        };
        let end = seen.began.saturating_add(Probe::PathMtu { timer_ns: timer }.longest());
        while let Some(size) = seen.search.probe()
            && now() < end
            && !cancel.load(Relaxed)
        {
            self.probe(size, &mut seen, cancel)?;
        }
        Ok(seen.sample)
    }

    /// One probe, and what is heard until its time is over or the search goes on.
    fn probe(&self, size: Bytes, seen: &mut Seen, cancel: &AtomicBool) -> Result<(), EngineError> {
        let end = now().saturating_add(patience(seen.sample.timer_ns, seen.sample.slowest()));
        self.send(&Said { number: to_count(seen.sample.probes.len()), size });
        let sent_ns = now().since(seen.began);
        seen.sample.probes.push(PathMtuProbe { size_bytes: size, sent_ns, answered_ns: None });
        while !cancel.load(Relaxed) {
            let left = end.since(now());
            if left == Nanos::ZERO {
                seen.search.unanswered();
                return Ok(());
            }
            if let Some(said) = self.hear(left.min(LOOK))? {
                seen.answered(&said);
            }
            if seen.search.probe() != Some(size) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// A datagram that finds a message of a router waiting at its socket does not leave: the next one does. One that is
    /// too large for the device never does, and has no answer.
    fn send(&self, said: &Said) {
        let mut data = vec![0x5a; said.size.saturating_sub(self.headers).len().max(HEAD)];
        data[..HEAD].copy_from_slice(&said.written());
        self.moved.fetch_add(to_count(data.len()), Relaxed);
        for _ in 0..MESSAGES {
            if socket::send(self.socket.as_fd(), &data).is_ok() {
                return;
            }
        }
    }

    /// The next answer within this time.
    fn hear(&self, time: Nanos) -> Result<Option<Said>, EngineError> {
        // Less than a microsecond would be no bound at all.
        let time = Duration::from(time.max(Nanos::from_micros(10)));
        socket::bound_waits(&self.socket, time)?;
        let mut space = [0; 64];
        match socket::recv(self.socket.as_fd(), &mut space) {
            Ok(count) => Ok(Said::read(&space[..count])),
            Err(cause) if may_go_on(&cause) || is_of_the_path(&cause) => Ok(None),
            Err(cause) => Err(EngineError::peer("receive the answer to a probe")(cause)),
        }
    }
}

/// A search while it runs.
struct Seen {
    search: PathMtuSearch,
    sample: PathMtuSample,
    began: Nanos,
}

impl Seen {
    /// An answer counts whenever it comes, if it is one to what was sent.
    fn answered(&mut self, said: &Said) {
        let took = now().since(self.began);
        let number = usize::try_from(said.number).unwrap_or(usize::MAX);
        let Some(probe) = self.sample.probes.get_mut(number) else { return };
        if probe.size_bytes == said.size && probe.answered_ns.is_none() {
            probe.answered_ns = Some(took.since(probe.sent_ns));
            self.search.answered(said.size);
        }
    }
}

/// What a probe says, and its answer: a number, and the size of the packet from its IP header on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Said {
    number: u64,
    size: Bytes,
}

impl Said {
    fn written(self) -> [u8; HEAD] {
        let mut data = [0; HEAD];
        data[..8].copy_from_slice(&self.number.to_le_bytes());
        data[8..].copy_from_slice(&self.size.count().to_le_bytes());
        data
    }

    fn read(data: &[u8]) -> Option<Self> {
        let number = data.get(..8)?.try_into().ok().map(u64::from_le_bytes)?;
        let size = data.get(8..HEAD)?.try_into().ok().map(u64::from_le_bytes)?;
        Some(Self { number, size: Bytes::new(size) })
    }
}

/// What a message of a router or of the other host made of a socket: it says nothing of the next packet.
fn is_of_the_path(cause: &io::Error) -> bool {
    use io::ErrorKind::ConnectionRefused;
    use io::ErrorKind::HostUnreachable;
    use io::ErrorKind::NetworkUnreachable;
    let is_too_long = cause.raw_os_error() == Some(TOO_LONG);
    is_too_long || matches!(cause.kind(), ConnectionRefused | HostUnreachable | NetworkUnreachable)
}

const HEAD: usize = 16;
const BUFFER: usize = 1 << 20;
/// How long nobody looks whether it is over.
const LOOK: Nanos = Nanos::from_millis(20);
/// Messages of the path that one probe may find.
const MESSAGES: u32 = 4;
/// `EMSGSIZE`
const TOO_LONG: i32 = 90;

#[cfg(test)]
mod tests {
    use std::thread;

    use std::net::Ipv4Addr;

    use super::*;

    /// Over the loopback, which takes more than the largest packet.
    #[test]
    fn a_path_that_carries_all_of_its_device_is_known_after_two_probes() {
        let place = crate::place::Place::here(btu_core::role::Role::Test);
        for (address, base) in [("127.0.0.1", 1200), ("::1", 1280)] {
            let address: std::net::IpAddr = address.parse().unwrap();
            // Some hosts have no IPv6.
            if UdpSocket::bind((address, 0)).is_err() {
                continue;
            }
            let way = Way { near: &place, far: &place, address };
            let found = path_mtu(&way, Nanos::from_secs(1), &AtomicBool::new(false)).unwrap();
            let (mtu, figures) = (found.device_mtu_bytes, found.figures());
            assert!(figures.is_exact && mtu <= Bytes::new(65_535), "{figures:?}");
            assert_eq!((figures.path_mtu, figures.over_ipv6), (Some(mtu), address.is_ipv6()));
            assert_eq!(found.probes[0].size_bytes, Bytes::new(base), "{found:?}");
            assert!(found.probes.iter().all(|probe| probe.size_bytes <= mtu), "{found:?}");
        }
    }

    /// Every second probe is lost, and all that is larger than 1400 bytes: over the loopback, whose device takes 65,535.
    /// What left is counted by then, and not once the search has ended.
    #[test]
    fn a_path_that_loses_probes_is_no_narrower_for_it() {
        let path = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let at = path.local_addr().unwrap();
        let (over, moved) = (AtomicBool::new(false), AtomicU64::new(0));
        let found = thread::scope(|scope| {
            scope.spawn(|| lose(&path, &over, &moved));
            let prober = Prober::open(at, &moved).unwrap();
            let found = prober.search(Nanos::from_millis(50), &AtomicBool::new(false));
            over.store(true, Relaxed);
            found.unwrap()
        });
        let figures = found.figures();
        assert_eq!(
            (figures.path_mtu, figures.is_exact),
            (Some(Bytes::new(1400)), true),
            "{found:?}"
        );
        assert!(figures.answered < figures.probes);
    }

    fn lose(path: &UdpSocket, over: &AtomicBool, moved: &AtomicU64) {
        socket::bound_waits(path, Duration::from_millis(20)).unwrap();
        let (mut space, mut came, mut total) = (vec![0; 1 << 16], 0, 0);
        while !over.load(Relaxed) {
            let Ok((count, from)) = path.recv_from(&mut space) else { continue };
            came += 1;
            total += to_count(count);
            assert!(moved.load(Relaxed) >= total, "{moved:?} of {total}");
            let is_lost = came % 2 == 0 || count > 1400 - 28;
            if !is_lost {
                path.send_to(&space[..HEAD], from).unwrap();
            }
        }
    }

    /// A stranger's answer names what nobody sent.
    #[test]
    fn answers_to_what_was_not_sent_are_none() {
        let size = Bytes::new(1200);
        let mut seen = Seen {
            search: PathMtuSearch::new(Bytes::new(1500), false),
            sample: PathMtuSample::default(),
            began: now(),
        };
        let probe = PathMtuProbe { size_bytes: size, ..PathMtuProbe::default() };
        seen.sample.probes.push(probe);
        for wrong in [Said { number: 1, size }, Said { number: 0, size: Bytes::new(1201) }] {
            seen.answered(&wrong);
            assert_eq!(seen.search.found(), None, "{wrong:?}");
        }
        let right = Said { number: 0, size };
        assert_eq!(Said::read(&right.written()), Some(right));
        assert_eq!(Said::read(&right.written()[..15]), None);
        seen.answered(&right);
        assert_eq!(seen.search.found(), Some(size));
    }
}
