//! The receiving end of the simulation.

use super::Event;
use super::MSS;
use super::Model;
use super::Reply;
use super::SCALE;
use super::Segment;
use super::World;
use crate::tcp::ranges::Ranges;
use crate::units::BitRate;
use crate::units::Nanos;

pub(super) struct Receiver {
    buffer: u64,
    reading: Option<BitRate>,
    silly: bool,
    /// Everything before this was received, and read.
    received: u64,
    read: u64,
    waiting: Ranges,
    blocks: Vec<(u64, u64)>,
    /// Bytes that were not acknowledged yet.
    owed: u64,
    timers: u64,
    advertised: u64,
    echo: u32,
}

const READ_EVERY: Nanos = Nanos::from_millis(5);

impl Receiver {
    pub(super) fn new(model: &Model) -> Self {
        Self {
            buffer: model.receive_buffer,
            reading: model.reading,
            silly: model.silly,
            received: 0,
            read: 0,
            waiting: Ranges::default(),
            blocks: Vec::new(),
            owed: 0,
            timers: 0,
            advertised: model.receive_buffer,
            echo: 0,
        }
    }

    pub(super) fn window(&self) -> u64 {
        let free = self.buffer.saturating_sub(self.received - self.read);
        // RFC 9293, 3.8.6.2.2: no small windows.
        let told = free >> SCALE << SCALE;
        if self.silly || free >= MSS.min(self.buffer / 2) { told } else { 0 }
    }

    pub(super) fn is_done(&self) -> bool {
        self.reading.is_none() || self.read == self.received
    }

    pub(super) fn arrives(&mut self, world: &mut World, segment: &Segment) {
        self.echo = segment.stamp;
        if segment.end <= self.received {
            let duplicate = (segment.start, segment.end);
            return self.answer(world, Some(duplicate));
        }
        let in_order = segment.start <= self.received;
        let had_holes = !self.blocks.is_empty();
        if in_order {
            self.owed += segment.end - self.received;
            self.received = segment.end;
            self.join();
        } else {
            self.keep(segment);
        }
        if self.reading.is_none() {
            self.read = self.received;
        }
        if !in_order || had_holes || self.owed >= 2 * MSS {
            self.answer(world, None);
        } else {
            self.timers += 1;
            world.later(world.now + world.model.delayed_ack, Event::DelayedAck(self.timers));
        }
    }

    /// Blocks that now belong to what was received.
    fn join(&mut self) {
        self.blocks.sort_unstable();
        let received = &mut self.received;
        self.blocks.retain(|(start, end)| {
            if *start <= *received {
                *received = (*received).max(*end);
            }
            *end > *received
        });
        self.waiting.remove(0, i64::try_from(self.received).unwrap());
    }

    fn keep(&mut self, segment: &Segment) {
        let mut new = (segment.start, segment.end);
        self.blocks.retain(|(start, end)| {
            let touches = *start <= new.1 && new.0 <= *end;
            if touches {
                new = (new.0.min(*start), new.1.max(*end));
            }
            !touches
        });
        // The latest stands first (RFC 2018, 4).
        self.blocks.insert(0, new);
    }

    fn answer(&mut self, world: &mut World, duplicate: Option<(u64, u64)>) {
        self.owed = 0;
        self.timers += 1;
        self.advertised = self.window();
        let mut sacks = [(0, 0); 3];
        let all = duplicate.into_iter().chain(self.blocks.iter().copied());
        let count = all.take(3).enumerate().map(|(place, block)| sacks[place] = block).count();
        world.reply(Reply {
            acknowledged: self.received,
            window: self.advertised,
            echo: self.echo,
            sacks,
            count,
        });
    }

    pub(super) fn timer(&mut self, world: &mut World, number: u64) {
        if number == self.timers && self.owed > 0 {
            self.answer(world, None);
        }
    }

    /// The application reads, and a window that was small is told to be larger.
    pub(super) fn reads(&mut self, world: &mut World) {
        let Some(rate) = self.reading else { return };
        self.read = self.received.min(self.read + rate.amount_in(READ_EVERY).count());
        let window = self.window();
        let grown = window.saturating_sub(self.advertised);
        let tells = if self.silly { grown > 0 } else { grown >= (2 * MSS).min(self.buffer / 2) };
        if tells && self.advertised < 2 * MSS {
            self.answer(world, None);
        }
        world.later(world.now + READ_EVERY, Event::Reads);
    }
}
