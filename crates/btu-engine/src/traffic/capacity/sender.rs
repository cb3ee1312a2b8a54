//! The sender of a search: its rate follows the reports, and nobody sends to who says nothing any more.

use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::traffic::figures::capacity::CapacitySearch;
use btu_core::traffic::figures::capacity::FEEDBACK;
use btu_core::traffic::figures::capacity::Feedback;
use btu_core::traffic::probe::CapacitySample;
use btu_core::traffic::probe::headers;
use btu_core::units::Nanos;
use btu_sys::clock;
use btu_sys::socket;

use super::CapacityOrder;
use super::HEAD;
use super::Head;
use super::three;
use crate::time::now;
use crate::traffic::way::is_ipv6;

/// What a sender did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapacitySent {
    /// Datagrams.
    pub datagrams: u64,
    /// Times at which it was too late for its rate and let it go.
    pub late: u64,
    /// How long it had sent when it ended before its time, because no report came any more.
    pub cut_after: Option<Nanos>,
}

impl CapacitySent {
    /// What the receiver says, and this with it.
    #[must_use]
    pub fn beside(self, received: CapacitySample) -> CapacitySample {
        let Self { datagrams: sent, late, cut_after: cut_after_ns } = self;
        CapacitySample { sent, late, cut_after_ns, ..received }
    }
}

/// Sends until the end, until nobody wants it any more, or until nobody reports any more.
pub(super) fn send(
    near: &UdpSocket,
    order: CapacityOrder,
    is_unwanted: impl Fn() -> bool,
    moved: &AtomicU64,
) -> CapacitySent {
    let CapacityOrder { datagram, time, adjustment } = order;
    let _ = btu_sys::cpu::set_timer_slack(1);
    let mut data = vec![0x5a; datagram.len().max(HEAD)];
    let (mut search, mut sent) = (CapacitySearch::new(adjustment), CapacitySent::default());
    let packet = datagram + headers(near.peer_addr().is_ok_and(is_ipv6));
    let begin = now();
    let (end, mut due, mut silence) = (begin.saturating_add(time), begin, Silence::since(begin));
    loop {
        let moment = now();
        if moment >= end || is_unwanted() {
            return sent;
        }
        if moment.since(silence.looked) >= LOOK || due > moment {
            let heard = reports(near, &mut search);
            silence.look(moment, heard);
            if silence.is_final() {
                return CapacitySent { cut_after: Some(moment.since(begin)), ..sent };
            }
        }
        if due > moment {
            clock::wait_until(due.min(moment.saturating_add(LOOK)).count(), MARGIN.count());
            continue;
        }
        if moment.since(due) > MOST_LATE {
            (due, sent.late) = (moment, sent.late + 1);
        }
        let rate = search.rate();
        let asked_bit_s = rate.bit_per_second();
        Head { number: sent.datagrams, sent_ns: moment.count(), asked_bit_s }.write(&mut data);
        // A datagram that found no room is lost like any other.
        let _ = socket::send(near.as_fd(), &data);
        moved.fetch_add(datagram.count(), Relaxed);
        sent.datagrams += 1;
        due = due.saturating_add(rate.time_for(packet));
    }
}

/// Takes what the receiver said since the last look, as much as the search can wait for, and gives how many reports it was. A report of nothing that came is one
/// of an interval without a delay.
fn reports(near: &UdpSocket, search: &mut CapacitySearch) -> usize {
    let (mut data, mut heard) = ([0; HEAD], 0);
    for _ in 0..AT_ONCE {
        let Ok(count) = socket::recv(near.as_fd(), &mut data) else { break };
        let Some([sequence_errors, variation, came_bit_s]) = three(&data[..count]) else {
            continue;
        };
        let delay_variation = (came_bit_s > 0).then(|| Nanos::new(variation));
        search.record(Feedback { sequence_errors, delay_variation });
        heard += 1;
    }
    heard
}

/// For how long no report came, while the sender was there to hear it.
struct Silence {
    looked: Nanos,
    lasted: Nanos,
    allowed: Nanos,
}

impl Silence {
    fn since(looked: Nanos) -> Self {
        Self { looked, lasted: Nanos::ZERO, allowed: UNTIL_THE_FIRST }
    }

    /// Where the sender itself stood still, the other end may have, too: that is no silence of its.
    fn look(&mut self, moment: Nanos, heard: usize) {
        let step = moment.since(self.looked).min(FEEDBACK);
        self.looked = moment;
        if heard > 0 {
            (self.lasted, self.allowed) = (Nanos::ZERO, BETWEEN_TWO);
        } else {
            self.lasted = self.lasted.saturating_add(step);
        }
    }

    fn is_final(&self) -> bool {
        self.lasted >= self.allowed
    }
}

/// Twenty reports of which none comes: nobody is there to be asked how much the path carries.
const BETWEEN_TWO: Nanos = Nanos::from_secs(1);
/// The first has the way there and back to go; until then the rate is the lowest.
const UNTIL_THE_FIRST: Nanos = Nanos::from_secs(5);
/// Reports that are read at one look: one comes in fifty milliseconds, whatever else does.
const AT_ONCE: usize = 64;
/// How long nobody looks for reports.
const LOOK: Nanos = Nanos::from_millis(1);
const MARGIN: Nanos = Nanos::from_micros(60);
/// A sender that is later than this does not catch up: the rate is what it is asked for, not a burst.
const MOST_LATE: Nanos = Nanos::from_millis(5);

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use btu_core::traffic::figures::capacity::Adjustment;
    use btu_core::units::Bytes;

    use super::*;

    /// The far end reports once and dies: ten minutes of datagrams would be for nobody.
    #[test]
    fn a_sender_that_hears_nothing_any_more_ends() {
        let far = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let near = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        near.connect(far.local_addr().unwrap()).unwrap();
        near.set_nonblocking(true).unwrap();
        far.send_to(&[0; HEAD], near.local_addr().unwrap()).unwrap();
        let (datagram, time) = (Bytes::new(1250), Nanos::from_secs(600));
        let order = CapacityOrder { datagram, time, adjustment: Adjustment::B };
        let sent = send(&near, order, || false, &AtomicU64::new(0));
        assert!(sent.cut_after.unwrap() >= BETWEEN_TWO && sent.datagrams > 0, "{sent:?}");
    }

    /// Whoever reports without a pause keeps no search from its end: the rest is for the next look.
    #[test]
    fn a_look_takes_no_more_reports_than_it_has_time_for() {
        let [far, near] = [(); 2].map(|()| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        near.connect(far.local_addr().unwrap()).unwrap();
        near.set_nonblocking(true).unwrap();
        for _ in 0..=AT_ONCE {
            far.send_to(&[0; HEAD], near.local_addr().unwrap()).unwrap();
        }
        let mut search = CapacitySearch::new(Adjustment::B);
        assert_eq!([(); 3].map(|()| reports(&near, &mut search)), [AT_ONCE, 1, 0]);
    }

    #[test]
    fn the_first_report_may_come_later_than_the_next() {
        let at = Nanos::from_millis;
        let silent = |mut silence: Silence, from: u64| {
            let looks = (1..).map(|n| from + n * 10);
            let mut looks = looks.skip_while(|ms| {
                silence.look(at(*ms), 0);
                !silence.is_final()
            });
            looks.next().unwrap() - from
        };
        assert_eq!(silent(Silence::since(at(7)), 7), 5000);
        let mut heard = Silence::since(at(7));
        heard.look(at(4000), 1);
        assert_eq!(silent(heard, 4000), 1000);
    }

    /// Stopped for a minute, it has not listened for a minute.
    #[test]
    fn a_sender_that_stood_still_has_heard_no_silence() {
        let mut silence = Silence::since(Nanos::ZERO);
        silence.look(Nanos::from_millis(10), 1);
        silence.look(Nanos::from_secs(60), 0);
        assert!(!silence.is_final() && silence.lasted == FEEDBACK);
    }
}
