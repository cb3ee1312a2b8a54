//! A capacity search (RFC 9097): datagrams at a rate that follows what their receiver reports.
//!
//! Reports come back over the path as datagrams of their own; one that is lost leaves the rate as it is, and where none
//! comes for a second the sender ends.
//! Delays are those of one way: of one clock, or of two whose offset is known within a bound.

mod account;
mod end;
mod sender;

use std::io;
use std::net::SocketAddr;
use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use std::time::Instant;

use btu_core::traffic::course::LONGEST_TRIAL;
use btu_core::traffic::figures::capacity::Adjustment;
use btu_core::traffic::figures::capacity::FEEDBACK;
use btu_core::traffic::probe::CapacityReport;
use btu_core::traffic::probe::CapacitySample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::socket;

use super::answerer::may_go_on;
use super::answerer::to_count;
use super::connect::PATIENCE;
use super::hands::both;
use super::meeting::Door;
use super::meeting::unspecified;
use super::numbers;
use super::way::Way;
use super::way::is_ipv6;
use super::way::within;
use crate::door;
use crate::error::EngineError;
use crate::time::now;

use account::Account;
use account::Use;
use sender::send;

pub use end::CapacityEnd;
pub use sender::CapacitySent;

/// A search that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct CapacityOrder {
    /// Payload of a datagram.
    pub datagram: Bytes,
    /// How long it takes.
    pub time: Nanos,
    /// How the rate follows the reports.
    pub adjustment: Adjustment,
}

/// Searches between two hosts of this process.
///
/// # Errors
/// That is too long, a socket was refused, or a thread did not start.
pub fn capacity(
    way: &Way<'_>,
    order: CapacityOrder,
    cancel: &AtomicBool,
) -> Result<CapacitySample, EngineError> {
    bounded(order.time)?;
    let datagram = order.datagram;
    let far = within(way.far, || Ok(socket::bind_udp(way.door(), BUFFER)?))?;
    let listening = far.local_addr().map_err(EngineError::peer("bind"))?;
    let near = within(way.near, || {
        let near = socket::bind_udp(unspecified(listening), BUFFER)?;
        near.connect(listening).map_err(EngineError::peer(format!("connect to {listening}")))?;
        near.set_nonblocking(true).map_err(EngineError::peer("set O_NONBLOCK"))?;
        Ok(near)
    })?;
    let (over, moved) = (AtomicBool::new(false), AtomicU64::new(0));
    let receiver =
        Receiver { socket: &far, datagram, over: &over, cancel, moved: &moved, ahead_ns: 0 };
    let ask = |is_alone: &AtomicBool| {
        way.near.enter()?;
        let is_unwanted = || cancel.load(Relaxed) || is_alone.load(Relaxed);
        Ok(send(&near, order, is_unwanted, &AtomicU64::new(0)))
    };
    let answer = || way.far.enter().and_then(|()| receiver.run());
    let (sent, sample) = both(&over, ask, answer)?;
    Ok(sent.beside(CapacitySample { adjustment: order.adjustment, ..sample }))
}

/// The sending end alone, towards a [`CapacityEnd`] behind a door of another host; `moved` counts the payload of its
/// datagrams meanwhile.
///
/// # Errors
/// That is too long, or the other end was not reached.
pub fn capacity_with(
    door: &Door,
    order: CapacityOrder,
    cancel: &AtomicBool,
    moved: &AtomicU64,
) -> Result<CapacitySent, EngineError> {
    bounded(order.time)?;
    let near = socket::bind_udp(unspecified(door.at), BUFFER)?;
    near.connect(door.at).map_err(EngineError::peer(format!("connect to {}", door.at)))?;
    let near = OwnedFd::from(near);
    let greeted = door::greet(&near, &door.seat, Instant::now() + Duration::from(PATIENCE));
    greeted.map_err(EngineError::peer(format!("show the token to {}", door.at)))?;
    let near = UdpSocket::from(near);
    near.set_nonblocking(true).map_err(EngineError::peer("set O_NONBLOCK"))?;
    Ok(send(&near, order, || cancel.load(Relaxed), moved))
}

/// Whoever sends for longer hears no report at the end.
fn bounded(time: Nanos) -> Result<(), EngineError> {
    let refused =
        || EngineError::Refused(format!("a capacity search of {time}: at most {LONGEST_TRIAL}"));
    (time <= LONGEST_TRIAL).then_some(()).ok_or_else(refused)
}

/// The delay of a datagram, ns, where the clock of its receiver is ahead of that of its sender. Where that is known with
/// an error, a small delay may be read as a negative one.
fn delay_ns(sent_ns: u64, came: Nanos, ahead_ns: i64) -> i64 {
    let wide = i128::from(came.count()) - i128::from(sent_ns) - i128::from(ahead_ns);
    i64::try_from(wide).unwrap_or(if wide < 0 { i64::MIN } else { i64::MAX })
}

/// What a datagram says: number, time, rate.
struct Head {
    number: u64,
    sent_ns: u64,
    asked_bit_s: u64,
}

impl Head {
    fn write(&self, data: &mut [u8]) {
        for (place, value) in [self.number, self.sent_ns, self.asked_bit_s].into_iter().enumerate()
        {
            data[place * 8..place * 8 + 8].copy_from_slice(&value.to_le_bytes());
        }
    }

    fn read(data: &[u8]) -> Option<Self> {
        let [number, sent_ns, asked_bit_s] = three(data)?;
        Some(Self { number, sent_ns, asked_bit_s })
    }
}

fn three(data: &[u8]) -> Option<[u64; 3]> {
    let mut values = [0; 3];
    for (place, value) in values.iter_mut().enumerate() {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(data.get(place * 8..place * 8 + 8)?);
        *value = u64::from_le_bytes(bytes);
    }
    Some(values)
}

/// The receiving end.
struct Receiver<'a> {
    socket: &'a UdpSocket,
    datagram: Bytes,
    /// The sender has ended.
    over: &'a AtomicBool,
    /// Nobody waits for the result, whatever still comes.
    cancel: &'a AtomicBool,
    /// Payload, either way.
    moved: &'a AtomicU64,
    /// How far its clock is ahead of the sender's.
    ahead_ns: i64,
}

impl Receiver<'_> {
    /// Reads until the sender has ended and nothing comes any more, or nobody wants it.
    fn run(&self) -> Result<CapacitySample, EngineError> {
        socket::bound_waits(self.socket, Duration::from_millis(5))?;
        let mut account = Account::new(self.datagram);
        let mut space = vec![0; 1 << 16];
        let mut began = now();
        let mut sender: Option<SocketAddr> = None;
        while !self.cancel.load(Relaxed) {
            self.hear(&mut account, &mut sender, &mut space)?;
            let moment = now();
            // Only after it was listened: what waited for a receiver that was late is no silence of the path.
            if moment.since(began) >= FEEDBACK {
                let is_over = self.over.load(Relaxed);
                if is_over && account.is_silent() || to_count(account.reports()) >= MOST_REPORTS {
                    break;
                }
                let used = if is_over { Use::Told } else { Use::Kept };
                let packet = account.packet();
                self.tell(sender, &account.close(moment.since(began), used), packet);
                began = moment;
            }
        }
        Ok(account.finish())
    }

    /// The next datagram, where one comes.
    fn hear(
        &self,
        account: &mut Account,
        sender: &mut Option<SocketAddr>,
        space: &mut [u8],
    ) -> Result<(), EngineError> {
        match self.socket.recv_from(space) {
            Ok((count, from)) => {
                *sender = Some(from);
                account.came_over(is_ipv6(from));
                self.moved.fetch_add(to_count(count), Relaxed);
                // Numbers that no sender reaches are none of this search.
                let head = Head::read(&space[..count]).filter(|head| head.number < numbers::MOST);
                if let Some(head) = head {
                    account.note(&head, delay_ns(head.sent_ns, now(), self.ahead_ns));
                }
                Ok(())
            }
            // A report that found nobody any more: the sender has ended.
            Err(cause) if cause.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
            Err(cause) if may_go_on(&cause) => Ok(()),
            Err(cause) => Err(EngineError::peer("receive")(cause)),
        }
    }

    fn tell(&self, sender: Option<SocketAddr>, report: &CapacityReport, packet: Bytes) {
        let Some(sender) = sender else { return };
        let bits = u128::from(packet.bits()) * u128::from(report.received);
        let received = bits * 1_000_000_000 / u128::from(report.elapsed_ns.count().max(1));
        let values = [
            report.lost + report.disordered,
            report.delay_variation_ns.map_or(0, Nanos::count),
            u64::try_from(received).unwrap_or(u64::MAX),
        ];
        let mut data = [0; HEAD];
        for (place, value) in values.into_iter().enumerate() {
            data[place * 8..place * 8 + 8].copy_from_slice(&value.to_le_bytes());
        }
        // A report that does not leave is a report that was lost.
        let told = self.socket.send_to(&data, sender).unwrap_or(0);
        self.moved.fetch_add(to_count(told), Relaxed);
    }
}

const HEAD: usize = 24;
const BUFFER: usize = 4 << 20;
/// Of one search: those of the longest.
const MOST_REPORTS: u64 = LONGEST_TRIAL.count() / FEEDBACK.count();

#[cfg(test)]
mod tests {
    use super::*;

    /// 50 us of a way, and an offset of which 250 us are wrong: nobody makes zero of that.
    #[test]
    fn a_delay_below_the_error_of_the_clocks_is_read_as_a_negative_one() {
        let (ahead, sent) = (7_000_250_000, 1_000_000_000);
        let came = Nanos::new(sent + 7_000_000_000 + 50_000);
        assert_eq!(delay_ns(sent, came, ahead), -200_000);
        assert_eq!(delay_ns(9_000, Nanos::new(4_300), -5_000), 300);
        assert_eq!(delay_ns(u64::MAX, Nanos::ZERO, ahead), i64::MIN);
    }
}
