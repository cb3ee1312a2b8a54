//! One direction of a link: from a frame that arrived to the runs that are sent.

use std::io;
use std::ops::Range;

use btu_core::link::Chain;
use btu_core::link::Continued;
use btu_core::link::Flow;
use btu_core::link::Packet;
use btu_core::link::Slot;
use btu_core::sample::DirectionSample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::packet::PacketSocket;
use btu_sys::packet::Received;

use crate::capture::Capture;
use crate::capture::Recorder;
use crate::segment;
use crate::segment::Frame;
use crate::segment::Vnet;
use crate::time::now;

use super::meter::Meter;
use super::store::Place;
use super::store::Store;
use super::store::index;

/// The chain of one direction, the bytes of what is inside it, and its account.
#[derive(Debug)]
pub(super) struct Direction {
    /// The chain of this run is the last; before it those of earlier runs that still hold packets.
    chains: Vec<Chain>,
    continued: Continued,
    store: Store,
    meter: Meter,
    last_arrival: Nanos,
    patience: Nanos,
    /// When nothing waited in the socket for the last time.
    all_read: Nanos,
    recorder: Option<Recorder>,
}

/// A frame whose bytes are still where the kernel put them.
#[derive(Clone, Copy, Debug)]
struct Fresh<'a> {
    slot: Slot,
    frame: &'a [u8],
}

impl Direction {
    pub(super) fn new(chain: Chain, store: Store) -> Self {
        let (chains, meter) = (vec![chain], Meter::new());
        Self {
            chains,
            continued: Continued::default(),
            store,
            meter,
            last_arrival: Nanos::ZERO,
            patience: Nanos::ZERO,
            all_read: Nanos::ZERO,
            recorder: None,
        }
    }

    /// Begins a new run. Packets of the old one leave when the old chain says.
    pub(super) fn configure(&mut self, mut chain: Chain) {
        self.patience = patience(&chain);
        self.continued.keep(&self.chains[self.chains.len() - 1]);
        self.continued.apply(&mut chain);
        self.chains.push(chain);
        if self.recorder.is_some() {
            self.current().watch_queues(REFUSED);
        }
        self.reclaim();
        self.abandon();
        self.meter.reset();
    }

    /// Drops what the oldest of too many chains still hold: a delay of an hour, and a run each second. Nobody counts
    /// it: the run that it came in is over.
    fn abandon(&mut self) {
        let surplus = self.chains.len().saturating_sub(MOST_CHAINS);
        for chain in self.chains.drain(..surplus) {
            chain.held_slots().for_each(|slot| self.store.give_back(slot));
        }
    }

    /// When the last packet came, on the monotonic clock; zero before the first.
    pub(super) fn last_arrival(&self) -> Nanos {
        self.last_arrival
    }

    /// The time that every packet has at least, from its arrival until it is due.
    pub(super) fn patience(&self) -> Nanos {
        self.patience
    }

    /// Nothing waits in the socket at `now`.
    pub(super) fn has_read_all(&mut self, now: Nanos) {
        self.all_read = now;
    }

    /// True where arrivals may wait in their socket: none of them can be due soon, and there is room.
    pub(super) fn reading_can_wait(&self, now: Nanos) -> bool {
        let longest = Nanos::new(self.patience.count() / 8).min(LONGEST_UNREAD);
        now.since(self.all_read) < longest
    }

    /// Takes a frame that came at `stamp`, and sends what is due. Without delay that is the frame
    /// itself, which so is never copied.
    pub(super) fn take_in(
        &mut self,
        received: &Received<'_>,
        stamp: Nanos,
        now: Nanos,
        out: &PacketSocket,
    ) {
        let vnet = Vnet::from_bytes(received.vnet);
        let frame = segment::read(vnet, received.frame);
        if frame == Frame::Uncounted {
            // What is not counted is no error either: ARP is repeated by itself.
            if let Err(cause) = out.send(&received.vnet, received.frame, &[]) {
                self.meter.counts.failed(&cause, vnet);
            }
            return;
        }
        let Some(slot) = self.store.take(vnet, &frame, received.frame.len()) else {
            return self.overflow(&frame);
        };
        self.record(vnet, &frame, received.frame, slot, stamp);
        self.meter.counts.opaque += u64::from(matches!(frame, Frame::Opaque { .. }));
        // Stamps of one device are in order, but where two CPUs send at once, and for steps of the wall clock.
        self.last_arrival = stamp.max(self.last_arrival).min(now);
        let packet = handle(&frame, received.frame, slot, self.last_arrival);
        self.current().push(packet);
        self.send_due(now, out, Some(Fresh { slot, frame: received.frame }), PER_ARRIVAL);
        self.store.fill(slot, received.frame);
    }

    /// Sends up to a batch of what is due at `now`; true where there was something.
    pub(super) fn release(&mut self, now: Nanos, out: &PacketSocket) -> bool {
        self.send_due(now, out, None, PER_BATCH)
    }

    /// When something may be due next.
    pub(super) fn next_wakeup(&self) -> Option<Nanos> {
        self.chains.iter().filter_map(Chain::next_wakeup).min()
    }

    /// Records every wire packet from now on.
    pub(super) fn start_capture(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
        self.current().watch_queues(REFUSED);
    }

    /// Ends the recording; `wall_offset_ns` is the wall clock's less the monotonic one's.
    pub(super) fn end_capture(&mut self, wall_offset_ns: i64) -> Capture {
        self.store.forget_records();
        let mut capture = self.recorder.take().map(Recorder::finish).unwrap_or_default();
        capture.wall_offset_ns = wall_offset_ns;
        capture
    }

    /// Frames that the kernel lost before we saw them.
    pub(super) fn count_socket_drops(&mut self, frames: u64) {
        self.meter.counts.socket_drops += frames;
    }

    /// The record of the run so far.
    pub(super) fn sample(&self) -> DirectionSample {
        let mut sample = self.chains.last().map(Chain::sample).unwrap_or_default();
        self.meter.complete(&mut sample);
        sample
    }

    /// What the device counted, at most, of sends that are known to have failed.
    pub(super) fn known_refusals(&self) -> u64 {
        self.meter.counts.known_refusals
    }

    fn send_due(
        &mut self,
        now: Nanos,
        out: &PacketSocket,
        fresh: Option<Fresh<'_>>,
        budget: usize,
    ) -> bool {
        let mut sent = 0;
        while sent < budget
            && let Some((packet, chain)) = self.pop(now)
        {
            self.send(&packet, chain, out, fresh);
            sent += 1;
        }
        self.reclaim();
        sent > 0
    }

    /// The next run that is due, and the chain that it leaves: the oldest that has one.
    fn pop(&mut self, now: Nanos) -> Option<(Packet, usize)> {
        let mut chains = self.chains.iter_mut().enumerate();
        chains.find_map(|(index, chain)| Some((chain.pop(now)?, index)))
    }

    fn send(
        &mut self,
        packet: &Packet,
        chain: usize,
        out: &PacketSocket,
        fresh: Option<Fresh<'_>>,
    ) {
        let began = now();
        let result = match self.store.packet(packet.slot()) {
            Some((place, stored)) => {
                let fresh = fresh.filter(|fresh| fresh.slot == packet.slot());
                write(out, place, fresh.map_or(stored, |fresh| fresh.frame), packet)
            }
            None => Err(io::ErrorKind::NotFound.into()),
        };
        self.chains[chain].done(packet);
        self.record_release(packet, began);
        if let Err(cause) = &result {
            let vnet = self.store.packet(packet.slot()).map(|(place, _)| place.vnet);
            self.meter.counts.failed(cause, vnet.unwrap_or_default());
        }
        if chain + 1 < self.chains.len() {
            return;
        }
        if result.is_ok() {
            return self.meter.sent(packet.count(), packet.at(), began, now());
        }
        self.meter.counts.send_errors += u64::from(packet.count());
    }

    /// Takes back the places of packets that are gone, and forgets chains that are empty.
    fn reclaim(&mut self) {
        for chain in &mut self.chains {
            while let Some((packet, why)) = chain.take_refused() {
                let records = self.store.packet(packet.slot()).and_then(|(place, _)| place.records);
                if let (Some(recorder), Some(base)) = (&mut self.recorder, records) {
                    recorder.refused(records_of(base, &packet), why);
                }
            }
            while let Some(slot) = chain.take_released() {
                if let (Some(recorder), Some((place, _))) =
                    (&mut self.recorder, self.store.packet(slot))
                    && let Some(wire) = place.recorded()
                {
                    recorder.left(wire);
                }
                self.store.give_back(slot);
            }
        }
        if self.chains.len() > 1 {
            let last = self.chains.len() - 1;
            let mut index = 0;
            self.chains.retain(|chain| {
                index += 1;
                index > last || chain.held() > 0
            });
        }
    }

    fn current(&mut self) -> &mut Chain {
        let last = self.chains.len() - 1;
        &mut self.chains[last]
    }

    fn record(&mut self, vnet: Vnet, frame: &Frame, bytes: &[u8], slot: Slot, stamp: Nanos) {
        if let (Some(recorder), Frame::Counted(shape)) = (&mut self.recorder, frame) {
            let records = recorder.arrived(vnet, shape, bytes, stamp);
            self.store.note_records(slot, records);
        }
    }

    /// The release is when the send began: its receiver may answer before it returns.
    fn record_release(&mut self, packet: &Packet, at: Nanos) {
        let place = self.store.packet(packet.slot()).map(|(place, _)| place);
        if let (Some(recorder), Some(base)) =
            (&mut self.recorder, place.and_then(|place| place.records))
        {
            recorder.released(records_of(base, packet), at, packet.flip().is_some());
        }
    }

    fn overflow(&mut self, frame: &Frame) {
        let (packets, bytes) = match frame {
            Frame::Counted(shape) => (shape.count, shape.headers() * shape.count + shape.payload()),
            Frame::Opaque { l3 } => (1, *l3),
            Frame::Uncounted => (0, 0),
        };
        self.meter.counts.overflow += u64::from(packets);
        self.meter.counts.overflow_bytes += u64::from(bytes);
    }
}

/// The records of a run, where those of its frame begin at `base`.
fn records_of(base: usize, packet: &Packet) -> Range<usize> {
    let first = base + index(packet.first());
    first..first + index(packet.count())
}

/// Chains of runs that hold packets, that of this run included.
const MOST_CHAINS: usize = 16;

/// Runs that queues drop between two looks: more are recorded as dropped and no more.
const REFUSED: usize = 8192;

/// The constant delay of a chain; none where it has none.
fn patience(chain: &Chain) -> Nanos {
    chain
        .sample()
        .delay_asked_us
        .map_or(Nanos::ZERO, |micros| Nanos::from(std::time::Duration::from_secs_f64(micros / 1e6)))
}

/// The chain's view of a frame.
fn handle(frame: &Frame, bytes: &[u8], slot: Slot, arrival: Nanos) -> Packet {
    let wide = |length: u32| Bytes::new(u64::from(length));
    match frame {
        Frame::Counted(shape) => {
            let (headers, segment) = (wide(shape.headers()), wide(shape.segment()));
            Packet::segmented(slot, headers, segment, wide(shape.payload()), arrival)
                .with_flow(Flow(shape.flow(bytes)))
        }
        Frame::Opaque { l3 } => Packet::single(slot, wide(*l3), arrival),
        Frame::Uncounted => Packet::single(slot, Bytes::ZERO, arrival),
    }
}

/// Sends a run: whole as it came, in part with new headers, or with a bit flipped.
fn write(out: &PacketSocket, place: &Place, frame: &[u8], packet: &Packet) -> io::Result<()> {
    let wire = packet.first()..packet.first() + packet.count();
    let part = place.shape.filter(|shape| wire != (0..shape.count));
    match (packet.flip(), part, place.shape) {
        (None, None, _) | (Some(_), _, None) => out.send(&place.vnet.to_bytes(), frame, &[]),
        (None, Some(shape), _) => {
            let run = shape.run(place.vnet, frame, wire);
            out.send(&run.vnet().to_bytes(), run.headers(), &frame[run.payload()])
        }
        (Some(bit), _, Some(shape)) => {
            let run = shape.run(place.vnet, frame, wire);
            let mut broken = run.to_frame(frame);
            let vnet = segment::corrupted(run.vnet(), &mut broken, bit);
            out.send(&vnet.to_bytes(), &broken, &[])
        }
    }
}

/// Runs sent at once after each arrival: a super-packet that a pattern cut into three leaves whole.
const PER_ARRIVAL: usize = 3;
/// Runs sent before the other direction has its turn.
const PER_BATCH: usize = 8;
/// A ring has room for a thousand frames: what a fast sender of small ones makes in twice this time.
const LONGEST_UNREAD: Nanos = Nanos::from_micros(500);

#[cfg(test)]
mod tests {
    use btu_core::link::ChainSpec;
    use btu_core::link::Limits;
    use btu_core::link::Lines;
    use btu_core::link::Place as ChainPlace;
    use btu_core::link::Reader;
    use btu_core::link::Wire;

    use super::*;

    fn chain(elements: &[&str]) -> Chain {
        let spec = ChainSpec::as_given(elements, &Reader::PLAN).unwrap();
        let limits = Limits { slots: 16, handles: 16, positions: 16 };
        let (wire, link, direction) = (Wire::default(), "link", "up");
        let place = ChainPlace { seed: 1, link, direction, wire, limits };
        Chain::new(&spec, &place, &mut Lines::default()).unwrap()
    }

    /// How long arrivals may wait behind what is due, once all were read.
    fn longest_wait(elements: &[&str]) -> u64 {
        let store = Store::new(Bytes::new(1 << 20)).unwrap();
        let mut direction = Direction::new(chain(&[]), store);
        direction.configure(chain(elements));
        let read = Nanos::from_secs(1);
        direction.has_read_all(read);
        let can_wait =
            |micros: &u64| direction.reading_can_wait(read + Nanos::from_micros(*micros));
        (0..10_000).take_while(can_wait).count().try_into().unwrap()
    }

    #[test]
    fn arrivals_wait_an_eighth_of_the_delay_at_most_and_not_at_all_without_one() {
        assert_eq!(longest_wait(&["delay 800us"]), 100);
        assert_eq!(longest_wait(&["drop 1%", "delay 1s"]), 500);
        assert_eq!(longest_wait(&["rate 10Mbit/s"]), 0);
        assert_eq!(longest_wait(&[]), 0);
    }
}
