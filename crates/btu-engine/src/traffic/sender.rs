//! A sending thread: the due times of its flows in one heap, writes that never block.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::sample::Outcome;
use btu_core::units::Nanos;
use btu_sys::cpu::ThreadUse;
use btu_sys::wait::Ready;

use super::alarms::Alarms;
use super::answers;
use super::crew::Crew;
use super::flow;
use super::flow::Sent;
use super::job::Job;
use super::outgoing::Heed;
use super::outgoing::Progress;
use super::outgoing::Sender;
use super::pacer::Pacer;
use crate::error::EngineError;
use crate::time::now;

/// What a sending thread leaves behind.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) flows: Vec<Sent>,
    pub(super) cpu: Nanos,
    pub(super) run_delay: Option<Nanos>,
}

/// Serves the sending ends of some flows until all have ended.
pub(super) fn run(job: &Job<'_>, crew: &Crew<'_>, begin: Nanos) -> Result<Done, EngineError> {
    let mut ready = Ready::new(64)?;
    let mut pacer = Pacer::new(crew.members.iter().map(|member| member.flow), &mut ready)?;
    let mut thread = Thread::new(job, crew, begin, &ready)?;
    thread.set_alarms();
    let before = ThreadUse::now();
    thread.serve(&mut pacer, &mut ready)?;
    let used = ThreadUse::now().since(&before);
    let flows = thread.senders.into_iter().map(|sender| sender.finish(&pacer)).collect();
    Ok(Done { flows, cpu: Nanos::new(used.cpu_ns), run_delay: used.run_delay_ns.map(Nanos::new) })
}

/// The flows of one thread.
struct Thread<'a> {
    senders: Vec<Sender<'a>>,
    /// When each flow wants to be looked at again.
    due: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// When each flow that its rate holds back may go on.
    held: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// When connections that this process moves on want a turn.
    alarms: Alarms,
    /// Flows that could go on at once.
    runnable: Vec<usize>,
    data: Vec<u8>,
    job: &'a Job<'a>,
    open: usize,
    /// When it was last seen whether something moved.
    looked: Nanos,
    moved: Nanos,
    moved_bytes: u64,
}

impl<'a> Thread<'a> {
    fn new(
        job: &'a Job<'a>,
        crew: &Crew<'a>,
        begin: Nanos,
        ready: &Ready,
    ) -> Result<Self, EngineError> {
        let members = crew.members.iter();
        let senders: Vec<Sender<'_>> = members.map(|one| Sender::new(one, begin)).collect();
        for (place, sender) in senders.iter().enumerate() {
            if sender.is_quic() || sender.is_answered() {
                ready.add_reader(sender.socket, number(place))?;
            } else {
                ready.add_writer(sender.socket, number(place))?;
            }
        }
        let longest = senders.iter().map(|sender| sender.chunk).max().unwrap_or(1);
        let due =
            senders.iter().enumerate().map(|(place, one)| Reverse((one.start, place))).collect();
        let open = senders.len();
        let runnable = Vec::with_capacity(open);
        // What is sent does not matter, but zeros could be compressed on the way, and the last byte of a block says something.
        let byte = |at: usize| (at.wrapping_mul(31) >> 3).to_le_bytes()[0].min(answers::LAST - 1);
        let data = (0..longest).map(byte).collect();
        let (looked, moved, moved_bytes) = (begin, begin, 0);
        let (held, alarms) = (BinaryHeap::new(), Alarms::default());
        Ok(Self {
            senders,
            due,
            held,
            alarms,
            runnable,
            data,
            job,
            open,
            looked,
            moved,
            moved_bytes,
        })
    }

    fn set_alarms(&mut self) {
        for (place, sender) in self.senders.iter_mut().enumerate() {
            self.alarms.set(place, sender.alarm());
        }
    }

    fn serve(&mut self, pacer: &mut Pacer, ready: &mut Ready) -> Result<(), EngineError> {
        while self.open > 0 {
            let time = now();
            self.fire(time, ready)?;
            self.release(time, ready)?;
            while let Some(place) = self.alarms.take(time) {
                self.pump(place, ready)?;
            }
            self.go_on(ready)?;
            if self.open == 0 {
                break;
            }
            self.give_up_where_stalled(time, ready)?;
            pacer.until(self.next_turn(time), ready).map_err(EngineError::peer("wait"))?;
            for place in 0..ready.len() {
                self.turn_to(place, ready)?;
            }
        }
        Ok(())
    }

    /// A flow has room, or something came for it: what is due meanwhile goes first.
    fn turn_to(&mut self, at: usize, ready: &Ready) -> Result<(), EngineError> {
        let place = usize::try_from(ready.number(at)).unwrap_or(usize::MAX);
        let Some(sender) = self.senders.get_mut(place).filter(|sender| sender.is_answered()) else {
            return self.pump(place, ready);
        };
        sender.hear();
        if sender.is_over() || sender.is_deaf() || ready.has_room(at) {
            self.pump(place, ready)?;
        }
        self.fire(now(), ready)
    }

    /// Everything whose time has come.
    fn fire(&mut self, time: Nanos, ready: &Ready) -> Result<(), EngineError> {
        while let Some(Reverse((due, place))) =
            self.due.peek().copied().filter(|Reverse((due, _))| *due <= time)
        {
            self.due.pop();
            debug_assert!(due <= time, "only what is due");
            self.pump(place, ready)?;
            if let Some(next) = self.senders[place].next_look() {
                self.due.push(Reverse((next, place)));
            }
        }
        Ok(())
    }

    /// When there is something to do again, unless a socket has room before.
    fn next_turn(&self, time: Nanos) -> Nanos {
        if !self.runnable.is_empty() {
            return time;
        }
        let first = |heap: &BinaryHeap<Reverse<(Nanos, usize)>>| heap.peek().map(|one| one.0.0);
        let look = time.saturating_add(LOOK);
        let own = first(&self.due).into_iter().chain(first(&self.held));
        own.chain(self.alarms.first()).fold(look, Nanos::min)
    }

    /// Flows that their rate held back until now.
    fn release(&mut self, time: Nanos, ready: &Ready) -> Result<(), EngineError> {
        while let Some(Reverse((_, place))) =
            self.held.peek().copied().filter(|Reverse((until, _))| *until <= time)
        {
            self.held.pop();
            self.senders[place].held_until = None;
            self.pump(place, ready)?;
        }
        Ok(())
    }

    /// Flows that did not finish what they had and were not held up either.
    fn go_on(&mut self, ready: &Ready) -> Result<(), EngineError> {
        let mut places = std::mem::take(&mut self.runnable);
        for place in places.drain(..) {
            self.pump(place, ready)?;
        }
        if self.runnable.capacity() == 0 {
            self.runnable = places;
        }
        Ok(())
    }

    fn pump(&mut self, place: usize, ready: &Ready) -> Result<(), EngineError> {
        let Some(sender) = self.senders.get_mut(place) else { return Ok(()) };
        if sender.is_over() {
            sender.tend();
            return self.leave(place, ready);
        }
        let progress = sender.pump(&mut self.data);
        if sender.is_answered() {
            heed(sender, place, matches!(progress, Progress::Blocked), ready)?;
        }
        match progress {
            Progress::Blocked if sender.is_quic() || sender.is_answered() => {}
            Progress::Blocked => ready.await_room(sender.socket, number(place))?,
            Progress::Held(until) if sender.held_until.is_none() => {
                sender.held_until = Some(until);
                self.held.push(Reverse((until, place)));
            }
            Progress::More if !self.runnable.contains(&place) => self.runnable.push(place),
            Progress::Held(_) | Progress::Idle | Progress::More => {}
            Progress::Over => return self.leave(place, ready),
        }
        let alarm = sender.alarm();
        self.alarms.set(place, alarm);
        Ok(())
    }

    /// Leaves a flow that is over alone, once what it sent needs nobody here any more.
    fn leave(&mut self, place: usize, ready: &Ready) -> Result<(), EngineError> {
        let sender = &mut self.senders[place];
        if !sender.is_gone() && !sender.delivers() && !sender.awaits(self.job.linger) {
            sender.let_go();
            self.open -= 1;
            ready.remove(sender.socket)?;
        }
        let alarm = sender.alarm();
        self.alarms.set(place, alarm);
        Ok(())
    }

    /// Nothing moved for too long, or nobody wants it any more: everything ends.
    fn give_up_where_stalled(&mut self, time: Nanos, ready: &Ready) -> Result<(), EngineError> {
        if time.since(self.looked) < LOOK {
            return Ok(());
        }
        self.looked = time;
        self.give_up((time, flow::ABANDONED), ready, |sender| sender.shared.is_abandoned())?;
        for place in 0..self.senders.len() {
            let sender = &mut self.senders[place];
            if sender.is_broken(time) {
                sender.let_go();
                self.open -= 1;
                ready.remove(sender.socket)?;
            } else if sender.is_over() && !sender.is_gone() {
                // One that waits for receipts may have waited long enough.
                self.leave(place, ready)?;
            }
        }
        let moved: u64 = self.senders.iter().map(Sender::arrived).sum();
        let waits = self.senders.iter().any(Sender::is_held_up);
        if moved != self.moved_bytes || !waits {
            (self.moved, self.moved_bytes) = (time, moved);
        }
        let reason = if self.job.cancel.load(Relaxed) {
            "interrupted".to_owned()
        } else if time.since(self.moved) > self.job.stall {
            format!("nothing arrived for {} s", self.job.stall.seconds())
        } else {
            return Ok(());
        };
        self.give_up((time, &reason), ready, |_| true)
    }

    fn give_up(
        &mut self,
        (time, reason): (Nanos, &str),
        ready: &Ready,
        of: impl Fn(&Sender<'_>) -> bool,
    ) -> Result<(), EngineError> {
        for sender in self.senders.iter_mut().filter(|sender| !sender.is_gone() && of(sender)) {
            if !sender.is_over() {
                sender.cut_short(time, Outcome::Capped { reason: reason.to_owned() });
            }
            sender.let_go();
            self.open -= 1;
            ready.remove(sender.socket)?;
        }
        Ok(())
    }
}

/// What wakes this thread for a sender whose socket it reads, from now on.
fn heed(
    sender: &mut Sender<'_>,
    place: usize,
    wants_room: bool,
    ready: &Ready,
) -> Result<(), EngineError> {
    let (number, socket, before) = (number(place), sender.socket, sender.heed);
    sender.heed = match (sender.is_deaf(), wants_room) {
        (true, _) => Heed::Room,
        (false, true) => Heed::Both,
        (false, false) => Heed::Receipts,
    };
    match sender.heed {
        Heed::Room if wants_room => ready.await_room(socket, number)?,
        Heed::Room if before != Heed::Room => ready.rest(socket, number)?,
        Heed::Both if before != Heed::Both => ready.await_room_too(socket, number)?,
        Heed::Receipts if before != Heed::Receipts => ready.only_read(socket, number)?,
        Heed::Room | Heed::Both | Heed::Receipts => {}
    }
    Ok(())
}

fn number(place: usize) -> u64 {
    u64::try_from(place).unwrap_or(u64::MAX)
}

/// How long nobody looks at the clock and at interrupts.
const LOOK: Nanos = Nanos::from_millis(50);

#[cfg(test)]
mod tests;
