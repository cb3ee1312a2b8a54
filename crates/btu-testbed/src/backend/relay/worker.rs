//! The thread that carries packets: read, pass through the chain, send, wait.

use std::io;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::Sender;
use std::sync::mpsc::TryRecvError;

use btu_core::link::Chain;
use btu_core::sample::DirectionSample;
use btu_core::units::Nanos;
use btu_sys::cpu::ThreadUse;
use btu_sys::packet::PacketSocket;
use btu_sys::wait::Waiter;
use btu_sys::wait::Waker;

use crate::capture::Capture;
use crate::capture::End;
use crate::capture::Recorder;
use crate::time::now;

use super::direction::Direction;
use super::pause::Pause;
use super::stamp::StampClock;
use super::stamping::Stamping;

/// What the thread is told to do.
pub(super) enum Command {
    /// Begin a new run with these chains, `up` and `down` per link.
    Configure { chains: Vec<[Chain; 2]>, done: Sender<()> },
    /// Record up to so many wire packets per direction from now on.
    Capture { limit: usize, done: Sender<()> },
    /// End the recording and hand it over, `up` and `down` per link: whoever asked joins them, since
    /// that copies both and would keep packets waiting here.
    EndCapture { reply: Sender<Vec<[Capture; 2]>> },
    /// Report the run, which is over: two records per link.
    Sample { reply: Sender<Vec<Told>> },
}

/// What the thread tells of a direction.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) sample: DirectionSample,
    /// Calls that failed: where the device dropped what they sent, it counts that, too.
    pub(super) known_refusals: u64,
}

/// One link and its sockets.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) near: PacketSocket,
    pub(super) far: PacketSocket,
    pub(super) up: Direction,
    pub(super) down: Direction,
}

/// Everything that one thread carries.
#[derive(Debug)]
pub(super) struct Worker {
    links: Vec<Link>,
    waiter: Waiter,
    /// Without the sockets: for traffic that can wait in them.
    calm_waiter: Waiter,
    waker: Waker,
    commands: Receiver<Command>,
    stamps: StampClock,
    pause: Pause,
    /// When the latest wait ended.
    woke: Nanos,
    /// The latest wait ended because something came, and nothing was carried since.
    in_vain: bool,
    run: RunStart,
    stamping: Stamping,
}

/// The rhythm of a thread whose packets are all delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Calm {
    /// No wake-up sooner than this after the one before: what is due within it leaves together.
    step: Nanos,
    /// Arrivals are collected at least this often.
    poll: Nanos,
}

impl Calm {
    /// A fiftieth of the delay is far below what a run may be late (5 %).
    fn of(delay: Nanos) -> Self {
        let part = |divisor| Nanos::new(delay.count() / divisor);
        Self { step: part(50).min(LONGEST_STEP), poll: part(8).min(LONGEST_POLL) }
    }

    /// From wake-up to wake-up: what the work between them took is no reason to be later still.
    fn next(self, woke: Nanos, now: Nanos, due: Option<Nanos>) -> Nanos {
        due.unwrap_or(Nanos::MAX).clamp(woke + self.step, now + self.poll)
    }
}

/// Readings at the start of a run.
#[derive(Debug)]
struct RunStart {
    at: Nanos,
    used: ThreadUse,
    clock_steps: u64,
}

impl Worker {
    /// Made in the thread that will run it.
    pub(super) fn new(
        links: Vec<Link>,
        waker: Waker,
        commands: Receiver<Command>,
        pause: Pause,
    ) -> btu_sys::Result<Self> {
        let (waiter, calm_waiter) = (Waiter::new()?, Waiter::new()?);
        waiter.add(&waker)?;
        calm_waiter.add(&waker)?;
        for link in &links {
            waiter.add(&link.near)?;
            waiter.add(&link.far)?;
        }
        let (stamps, woke) = (StampClock::new(), now());
        let run = RunStart { at: woke, used: ThreadUse::now(), clock_steps: 0 };
        Ok(Self {
            links,
            waiter,
            calm_waiter,
            waker,
            commands,
            stamps,
            pause,
            woke,
            in_vain: false,
            run,
            stamping: Stamping::new(woke),
        })
    }

    /// Carries packets until nobody can command it any more.
    pub(super) fn run(mut self) -> io::Result<()> {
        loop {
            self.stamps.keep(now());
            let mut is_busy = false;
            for link in &mut self.links {
                is_busy |= link.carry(&self.stamps)?;
            }
            match self.commands.try_recv() {
                Ok(command) => self.obey(command)?,
                Err(TryRecvError::Disconnected) => return Ok(()),
                Err(TryRecvError::Empty) if is_busy => {
                    self.in_vain = false;
                    self.stamp_traffic()?;
                }
                Err(TryRecvError::Empty) => self.wait()?,
            }
        }
    }

    fn wait(&mut self) -> io::Result<()> {
        if self.in_vain {
            self.links.iter().try_for_each(Link::take_errors)?;
        }
        let due = self.links.iter().filter_map(Link::next_wakeup).min();
        let moment = now();
        self.in_vain = match self.calm(moment) {
            Some(calm) => {
                let next = calm.next(self.woke, moment, due);
                self.pause.until(Some(next), &self.calm_waiter)?
            }
            None => self.pause.until(due, &self.waiter)?,
        };
        self.woke = now();
        self.waker.clear();
        // What came has a stamp that would be lost.
        if self.in_vain { Ok(()) } else { self.stamp(self.stamping.waited(self.woke)) }
    }

    /// How to wait where all traffic of the moment is delayed anyway.
    ///
    /// On a CPU that others share, each wake-up takes it from them: a thread that woke for every
    /// arrival would cut a sender's bursts into single segments, and the host would be measured with
    /// another traffic than its own. Packets wait in the sockets instead; their stamps are the
    /// kernel's.
    fn calm(&self, now: Nanos) -> Option<Calm> {
        let active = self.links.iter().filter(|link| link.is_active(now));
        let delay = active.map(Link::patience).min()?;
        (self.pause == Pause::Sleep && delay >= CALM_FROM).then(|| Calm::of(delay))
    }

    /// Whoever asked may be gone by now; then nobody misses the answer.
    fn obey(&mut self, command: Command) -> io::Result<()> {
        match command {
            Command::Configure { chains, done } => {
                self.begin(chains)?;
                let _ = done.send(());
            }
            Command::Capture { limit, done } => {
                for link in &mut self.links {
                    link.up.start_capture(Recorder::new(End::Near, limit));
                    link.down.start_capture(Recorder::new(End::Far, limit));
                }
                let _ = done.send(());
            }
            Command::EndCapture { reply } => {
                let offset = self.stamps.offset();
                let captures = self.links.iter_mut().map(|link| link.end_capture(offset));
                let _ = reply.send(captures.collect());
            }
            Command::Sample { reply } => {
                let samples = self.samples()?;
                let _ = reply.send(samples);
                self.stamp(Stamping::ended())?;
            }
        }
        Ok(())
    }

    /// Frames that do not count are none: the kernel announces itself on each device.
    fn stamp_traffic(&mut self) -> io::Result<()> {
        let now = now();
        let counts = self.links.iter().any(|link| link.is_active(now));
        if counts { self.stamp(self.stamping.carried(now)) } else { Ok(()) }
    }

    fn stamp(&mut self, next: Stamping) -> io::Result<()> {
        self.stamping.change_to(next, &self.links)
    }

    /// Losses before the start belong to no run.
    fn begin(&mut self, chains: Vec<[Chain; 2]>) -> io::Result<()> {
        self.stamp(Stamping::begun(now()))?;
        for (link, [up, down]) in self.links.iter_mut().zip(chains) {
            link.near.losses()?;
            link.far.losses()?;
            link.up.configure(up);
            link.down.configure(down);
        }
        let clock_steps = self.stamps.steps();
        self.run = RunStart { at: now(), used: ThreadUse::now(), clock_steps };
        Ok(())
    }

    fn samples(&mut self) -> io::Result<Vec<Told>> {
        let used = ThreadUse::now().since(&self.run.used);
        let mut samples = Vec::new();
        for link in &mut self.links {
            link.count_losses()?;
            for (direction, socket) in [(&link.up, &link.near), (&link.down, &link.far)] {
                let sample = DirectionSample {
                    thread_cpu_ns: Some(Nanos::new(used.cpu_ns)),
                    run_delay_ns: used.run_delay_ns.map(Nanos::new),
                    elapsed_ns: now().since(self.run.at),
                    clock_steps: self.stamps.steps() - self.run.clock_steps,
                    backend: format!("relay/{}", socket.form()),
                    wait: self.pause.name().to_owned(),
                    ..direction.sample()
                };
                samples.push(Told { sample, known_refusals: direction.known_refusals() });
            }
        }
        Ok(samples)
    }
}

impl Link {
    /// Both directions once. True where there was anything to do.
    fn carry(&mut self, stamps: &StampClock) -> io::Result<bool> {
        let up = carry(&mut self.near, &self.far, &mut self.up, stamps)?;
        let down = carry(&mut self.far, &self.near, &mut self.down, stamps)?;
        Ok(up || down)
    }

    /// True where packets came lately.
    fn is_active(&self, now: Nanos) -> bool {
        let last = self.up.last_arrival().max(self.down.last_arrival());
        last > Nanos::ZERO && now.since(last) < LATELY
    }

    /// The time that every packet has at least, from its arrival until it is due.
    fn patience(&self) -> Nanos {
        self.up.patience().min(self.down.patience())
    }

    fn next_wakeup(&self) -> Option<Nanos> {
        [self.up.next_wakeup(), self.down.next_wakeup()].into_iter().flatten().min()
    }

    fn end_capture(&mut self, wall_offset_ns: i64) -> [Capture; 2] {
        [&mut self.up, &mut self.down].map(|direction| direction.end_capture(wall_offset_ns))
    }

    /// A device that went down, or is gone, ends every wait until its error is taken.
    fn take_errors(&self) -> io::Result<()> {
        self.near.take_error()?;
        self.far.take_error()
    }

    fn count_losses(&mut self) -> io::Result<()> {
        for (socket, direction) in [(&mut self.near, &mut self.up), (&mut self.far, &mut self.down)]
        {
            let losses = socket.losses()?;
            direction.count_socket_drops(losses.dropped + losses.truncated);
        }
        Ok(())
    }
}

/// Sends what is due to `to`, then reads a batch from `from`.
///
/// Where every packet is delayed, reading waits a little while something is due: arrivals have their
/// stamps and are due later than all that is, so that no release is late for the time that a copy
/// takes. Who cannot keep up reads as much as it sends.
fn carry(
    from: &mut PacketSocket,
    to: &PacketSocket,
    direction: &mut Direction,
    stamps: &StampClock,
) -> io::Result<bool> {
    let start = now();
    let mut is_busy = direction.release(start, to);
    if is_busy && direction.reading_can_wait(start) {
        return Ok(true);
    }
    for _ in 0..PER_READ {
        let Some(received) = receive(from)? else {
            direction.has_read_all(start);
            break;
        };
        let now = now();
        direction.take_in(&received, stamps.monotonic(received.stamp_ns, now), now, to);
        is_busy = true;
    }
    Ok(is_busy)
}

/// A device that goes down reports it once and then has nothing more to read.
fn receive(socket: &mut PacketSocket) -> io::Result<Option<btu_sys::packet::Received<'_>>> {
    match socket.receive() {
        Err(cause) if cause.kind() == io::ErrorKind::NetworkDown => Ok(None),
        answer => answer,
    }
}

const CALM_FROM: Nanos = Nanos::from_millis(1);
const LATELY: Nanos = Nanos::from_millis(10);
const LONGEST_STEP: Nanos = Nanos::from_micros(100);
const LONGEST_POLL: Nanos = Nanos::from_micros(500);

/// Frames read from a device before what is due is looked at again.
const PER_READ: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calm_thread_wakes_for_what_is_due_but_not_more_often_than_its_step() {
        let calm = Calm::of(Nanos::from_millis(5));
        let now = Nanos::from_secs(1);
        let at = |micros| now + Nanos::from_micros(micros);
        assert_eq!(calm.next(now, now, Some(at(10))), at(100));
        assert_eq!(calm.next(now, now, Some(at(300))), at(300));
        assert_eq!(calm.next(now, now, None), at(500));
    }

    #[test]
    fn the_step_is_counted_from_the_wake_up_not_from_the_end_of_its_work() {
        let calm = Calm::of(Nanos::from_millis(5));
        let woke = Nanos::from_secs(1);
        let at = |micros| woke + Nanos::from_micros(micros);
        assert_eq!(calm.next(woke, at(60), Some(at(70))), at(100));
        assert_eq!(calm.next(woke, at(160), Some(at(170))), at(170));
        assert_eq!(calm.next(woke, at(160), Some(at(150))), at(150), "due already: no wait");
        assert_eq!(calm.next(woke, at(160), None), at(660));
    }
}
