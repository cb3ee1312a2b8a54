//! A capacity search (RFC 9097): datagrams at a rate that follows what their receiver reports.
//!
//! Reports come back over the path as datagrams of their own; one that is lost leaves the rate as it is.
//! Delays are those of one way: of one clock, or of two whose offset is known within a bound.

mod account;
mod end;

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

use btu_core::traffic::analysis::capacity::Adjustment;
use btu_core::traffic::analysis::capacity::CapacitySearch;
use btu_core::traffic::analysis::capacity::FEEDBACK;
use btu_core::traffic::analysis::capacity::Feedback;
use btu_core::traffic::course::LONGEST_TRIAL;
use btu_core::traffic::probe::CapacityReport;
use btu_core::traffic::probe::CapacitySample;
use btu_core::traffic::probe::headers;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::clock;
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

pub use end::CapacityEnd;

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
    let ((sent, late), mut sample) = both(&over, ask, answer)?;
    (sample.sent, sample.late, sample.adjustment) = (sent, late, order.adjustment);
    Ok(sample)
}

/// The sending end alone, towards a [`CapacityEnd`] behind a door of another host. Gives how many
/// datagrams were sent, and how often it was too late; `moved` counts their payload meanwhile.
///
/// # Errors
/// That is too long, or the other end was not reached.
pub fn capacity_with(
    door: &Door,
    order: CapacityOrder,
    cancel: &AtomicBool,
    moved: &AtomicU64,
) -> Result<(u64, u64), EngineError> {
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

/// Sends until the end, or until nobody wants it any more. Gives how many, and how often it was too late.
fn send(
    near: &UdpSocket,
    order: CapacityOrder,
    is_unwanted: impl Fn() -> bool,
    moved: &AtomicU64,
) -> (u64, u64) {
    let CapacityOrder { datagram, time, adjustment } = order;
    let _ = btu_sys::cpu::set_timer_slack(1);
    let mut data = vec![0x5a; datagram.len().max(HEAD)];
    let (mut search, mut number, mut late) = (CapacitySearch::new(adjustment), 0, 0);
    let packet = datagram + headers(near.peer_addr().is_ok_and(is_ipv6));
    let mut due = now();
    let (end, mut looked) = (due.saturating_add(time), due);
    loop {
        let moment = now();
        if moment >= end || is_unwanted() {
            return (number, late);
        }
        if moment.since(looked) >= LOOK || due > moment {
            looked = moment;
            reports(near, &mut search);
        }
        if due > moment {
            clock::wait_until(due.min(moment.saturating_add(LOOK)).count(), MARGIN.count());
            continue;
        }
        if moment.since(due) > MOST_LATE {
            (due, late) = (moment, late + 1);
        }
        let rate = search.rate();
        let asked_bit_s = rate.bit_per_second();
        Head { number, sent_ns: moment.count(), asked_bit_s }.write(&mut data);
        // A datagram that found no room is lost like any other.
        let _ = socket::send(near.as_fd(), &data);
        moved.fetch_add(datagram.count(), Relaxed);
        number += 1;
        due = due.saturating_add(rate.time_for(packet));
    }
}

/// What the receiver said meanwhile.
fn reports(near: &UdpSocket, search: &mut CapacitySearch) {
    let mut data = [0; HEAD];
    while let Ok(count) = socket::recv(near.as_fd(), &mut data) {
        let Some([sequence_errors, variation, _came]) = three(&data[..count]) else { continue };
        search.record(Feedback { sequence_errors, delay_variation: Nanos::new(variation) });
    }
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
            let moment = now();
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
            match self.socket.recv_from(&mut space) {
                Ok((count, from)) => {
                    sender = Some(from);
                    account.came_over(is_ipv6(from));
                    self.moved.fetch_add(to_count(count), Relaxed);
                    // Numbers that no sender reaches are none of this search.
                    let head =
                        Head::read(&space[..count]).filter(|head| head.number < numbers::MOST);
                    if let Some(head) = head {
                        account.note(&head, delay_ns(head.sent_ns, now(), self.ahead_ns));
                    }
                }
                // A report that found nobody any more: the sender has ended.
                Err(cause) if cause.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(cause) if may_go_on(&cause) => {}
                Err(cause) => return Err(EngineError::peer("receive")(cause)),
            }
        }
        Ok(account.finish())
    }

    fn tell(&self, sender: Option<SocketAddr>, report: &CapacityReport, packet: Bytes) {
        let Some(sender) = sender else { return };
        let bits = u128::from(packet.bits()) * u128::from(report.received);
        let received = bits * 1_000_000_000 / u128::from(report.elapsed_ns.count().max(1));
        let values = [
            report.lost + report.disordered,
            report.delay_variation_ns.count(),
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
/// How long nobody looks for reports.
const LOOK: Nanos = Nanos::from_millis(1);
const MARGIN: Nanos = Nanos::from_micros(60);
/// A sender that is later than this does not catch up: the rate is what it is asked for, not a burst.
const MOST_LATE: Nanos = Nanos::from_millis(5);
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
