//! Round trips while more and more connections fill a path (draft-ietf-ippm-responsiveness).
//!
//! Load and probes are requests that the answering end of conversations knows: it reads as much as a
//! request says and answers with one byte. On a connection that carries load a probe is a short request
//! behind what waits there; on a connection of its own it is the first one.

mod flights;

use std::collections::VecDeque;
use std::io;
use std::net::TcpListener;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::thread::Scope;

use btu_core::traffic::figures::responsiveness::Stability;
use btu_core::traffic::plan::Probe;
use btu_core::traffic::probe::ForeignProbe;
use btu_core::traffic::probe::ResponsivenessSample;
use btu_core::traffic::probe::WorkingInterval;
use btu_core::units::Nanos;
use btu_sys::clock;
use btu_sys::socket;
use btu_sys::socket::Settings;

use super::answerer::Guests;
use super::answerer::answer_all;
use super::answerer::may_go_on;
use super::answerer::to_count;
use super::hands::both;
use super::hands::caught;
use super::hands::start;
use super::meeting::Door;
use super::opening::Met;
use super::opening::Respondent;
use super::request::Lengths;
use super::way::Way;
use super::way::within;
use crate::error::EngineError;
use crate::time::now;

use flights::Flights;

/// Adds a connection each interval until goodput and round trips have settled, at most so many intervals.
///
/// # Errors
/// The other end could not listen, no connection came up, or a thread did not start.
pub fn responsiveness(
    way: &Way<'_>,
    interval: Nanos,
    most: u32,
    cancel: &AtomicBool,
) -> Result<ResponsivenessSample, EngineError> {
    let settings = Settings::default();
    let listener = within(way.far, || Ok(socket::listen(way.door(), &settings)?))?;
    let listening = listener.local_addr().map_err(EngineError::peer("listen"))?;
    let over = AtomicBool::new(false);
    let ask = |_: &AtomicBool| {
        way.near.enter()?;
        let far = Respondent { at: listening, token: None };
        Asker { far, interval, most, cancel, moved: &AtomicU64::new(0) }.run()
    };
    let (sample, ()) = both(&over, ask, || answer(way, &listener, &over))?;
    Ok(sample)
}

/// The same with an answering end behind a door of another host; `moved` counts the payload of its load
/// meanwhile.
///
/// # Errors
/// No connection came up, or a thread did not start.
pub fn responsiveness_with(
    door: &Door,
    interval: Nanos,
    most: u32,
    cancel: &AtomicBool,
    moved: &AtomicU64,
) -> Result<ResponsivenessSample, EngineError> {
    let far = Respondent { at: door.at, token: Some(door.seat) };
    Asker { far, interval, most, cancel, moved }.run()
}

fn answer(way: &Way<'_>, listener: &TcpListener, over: &AtomicBool) -> Result<(), EngineError> {
    way.far.enter()?;
    answer_all(listener, over, &Guests::anybody())
}

/// The asking end.
struct Asker<'a> {
    far: Respondent,
    interval: Nanos,
    most: u32,
    cancel: &'a AtomicBool,
    /// Counts what is written and read under load.
    moved: &'a AtomicU64,
}

/// What all connections with load share.
struct Pool<'a> {
    stop: AtomicBool,
    moved: &'a AtomicU64,
    answered_bytes: AtomicU64,
    broken: AtomicU32,
    /// Round trips of probes beside the load.
    own: Mutex<Vec<Nanos>>,
    /// Probes on connections of their own.
    flights: Flights,
}

impl<'a> Pool<'a> {
    fn of(moved: &'a AtomicU64) -> Self {
        let (stop, answered_bytes) = (AtomicBool::new(false), AtomicU64::new(0));
        let (own, flights) = (Mutex::default(), Flights::default());
        Self { stop, moved, answered_bytes, broken: AtomicU32::new(0), own, flights }
    }
}

/// A connection that carries load.
#[derive(Default)]
struct Load {
    /// The next request is a probe.
    wants_probe: AtomicBool,
    /// Requests without an answer: when, how long, whether a probe.
    waiting: Mutex<VecDeque<(Nanos, u64, bool)>>,
}

impl Asker<'_> {
    fn run(&self) -> Result<ResponsivenessSample, EngineError> {
        let mut sample = ResponsivenessSample::default();
        for _ in 0..IDLE_PROBES {
            if self.cancel.load(Relaxed) {
                return Ok(sample);
            }
            sample.idle.push(self.foreign(self.cancel, |_, _| ())?);
        }
        let pool = Pool::of(self.moved);
        let loads: Vec<Load> = (0..MOST_CONNECTIONS).map(|_| Load::default()).collect();
        thread::scope(|scope| {
            let ended = caught("traffic-ask", || self.work(scope, &pool, &loads, &mut sample));
            // What waits now has no round trip yet: how long it has waited is less than that will be.
            let moment = now();
            sample.pending = pool.flights.pending(moment);
            sample.own_pending_ns = loads.iter().flat_map(|load| load.pending(moment)).collect();
            pool.stop.store(true, Relaxed);
            ended
        })?;
        sample.broken = pool.broken.load(Relaxed);
        Ok(sample)
    }

    fn work<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        pool: &'scope Pool<'_>,
        loads: &'scope [Load],
        sample: &mut ResponsivenessSample,
    ) -> Result<(), EngineError> {
        let (mut goodput, mut trips) = (Stability::default(), Stability::default());
        // Probes that wait long make intervals longer; the whole has an end all the same.
        let probe = Probe::Responsiveness { interval_ns: self.interval, intervals: self.most };
        let end = now().saturating_add(probe.longest());
        for number in 0..self.most {
            if self.cancel.load(Relaxed) || now() > end {
                break;
            }
            let open = usize::try_from(number).unwrap_or(usize::MAX).min(loads.len());
            if let Some(load) = loads.get(open)
                && let Err(cause) = self.open(scope, pool, load)
            {
                if sample.intervals.is_empty() {
                    return Err(cause);
                }
                // A path that is full takes no more: what it did before is what was looked for.
                self.broke(pool);
                break;
            }
            let connections = (open + 1).min(loads.len());
            let interval = self.interval(scope, pool, &loads[..connections]);
            goodput.record(interval.goodput_bit_s);
            if sample.goodput_settled.is_none() && goodput.is_stable() {
                sample.goodput_settled = Some(number);
            }
            let rpm = ResponsivenessSample::interval_rpm(&interval);
            sample.intervals.push(interval);
            if let Some(rpm) = rpm.filter(|_| sample.goodput_settled.is_some()) {
                trips.record(rpm);
            }
            if trips.is_stable() {
                sample.settled = Some(number);
                break;
            }
        }
        Ok(())
    }

    /// One interval of probes of both kinds, each begun when it is due, whatever became of those before it. A probe
    /// belongs to the interval in which it comes to its end.
    fn interval<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        pool: &'scope Pool<'_>,
        loads: &[Load],
    ) -> WorkingInterval {
        let begin = now();
        let before = pool.answered_bytes.load(Relaxed);
        let step = Nanos::new(self.interval.count() / PROBES).min(LONGEST_STEP);
        let (mut turn, mut due) = (begin, 0);
        while turn.since(begin) < self.interval && !self.cancel.load(Relaxed) {
            loads[due % loads.len()].wants_probe.store(true, Relaxed);
            due += 1;
            self.probe(scope, pool);
            turn = turn.saturating_add(step);
            clock::sleep_until(turn.count());
        }
        let seconds = now().since(begin).seconds();
        let bytes = pool.answered_bytes.load(Relaxed) - before;
        let own_ns = std::mem::take(&mut *pool.own.lock().unwrap_or_else(PoisonError::into_inner));
        #[expect(clippy::cast_precision_loss, reason = "bytes of one interval")]
        let goodput_bit_s = bytes as f64 * 8.0 / seconds.max(1e-9);
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (connections, due, foreign) = (count(loads.len()), count(due), pool.flights.take());
        WorkingInterval { connections, goodput_bit_s, due, foreign, own_ns }
    }

    /// Begins a probe on a connection of its own, which nobody waits for, unless too many are under way.
    fn probe<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, pool: &'scope Pool<'_>) {
        let Some(number) = pool.flights.begin(now()) else { return };
        let work = move || {
            let connected = |connect_ns, open| pool.flights.connected(number, connect_ns, open);
            let came = self.foreign(&pool.stop, connected).inspect_err(|_| self.broke(pool));
            pool.flights.end(number, came.ok());
            Ok(())
        };
        if start(scope, "traffic-probe", work).is_err() {
            pool.flights.end(number, None);
            self.broke(pool);
        }
    }

    /// A connection or a probe that did not come to its end; one that nobody wanted any more did not break.
    fn broke(&self, pool: &Pool<'_>) {
        let is_wanted = !self.cancel.load(Relaxed) && !pool.stop.load(Relaxed);
        pool.broken.fetch_add(u32::from(is_wanted), Relaxed);
    }

    /// A connection of its own, one request and its answer; `connected` hears what the connection took, and when the
    /// request begins.
    fn foreign(
        &self,
        unwanted: &AtomicBool,
        connected: impl FnOnce(Nanos, Nanos),
    ) -> Result<ForeignProbe, EngineError> {
        // What the token takes is part neither of the connection nor of the exchange.
        let Met { stream, connect_ns } = self.meet(unwanted)?;
        let open = now();
        connected(connect_ns, open);
        let asked = socket::send(stream.as_fd(), &request(PROBE));
        match asked.and_then(|_| answered(&stream, open.saturating_add(PATIENCE), unwanted)) {
            Ok(1) => Ok(ForeignProbe { connect_ns, exchange_ns: now().since(open) }),
            Ok(_) => Err(EngineError::Refused("a probe was closed without an answer".to_owned())),
            Err(cause) => Err(EngineError::peer("exchange a probe")(cause)),
        }
    }

    /// A connection that was let in; no call of it waits for longer than nobody looks.
    fn meet(&self, unwanted: &AtomicBool) -> Result<Met, EngineError> {
        let met = self.far.meet(&Settings::default(), PATIENCE, unwanted)?;
        socket::bound_waits(&met.stream, LOOK.into())?;
        Ok(met)
    }

    /// One connection more.
    fn open<'scope>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        pool: &'scope Pool<'_>,
        load: &'scope Load,
    ) -> Result<(), EngineError> {
        let Met { stream, .. } = self.meet(self.cancel)?;
        // What waits in it at the end is nobody's: the connection is thrown away.
        socket::reset_on_close(&stream)?;
        let other = stream.try_clone().map_err(EngineError::peer("duplicate a socket"))?;
        start(scope, "traffic-fill", move || {
            fill(&stream, pool, load);
            Ok(())
        })?;
        start(scope, "traffic-drain", move || {
            drain(&other, pool, load);
            Ok(())
        })?;
        Ok(())
    }
}

impl Load {
    /// How long its probes have waited that nobody has answered.
    fn pending(&self, now: Nanos) -> Vec<Nanos> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let probes = waiting.iter().filter(|(_, _, is_probe)| *is_probe);
        probes.map(|(asked, ..)| now.since(*asked)).collect()
    }
}

/// Waits for the answer of one byte, and gives how much came.
fn answered(stream: &TcpStream, end: Nanos, unwanted: &AtomicBool) -> io::Result<usize> {
    loop {
        match socket::recv(stream.as_fd(), &mut [0; 1]) {
            Err(cause) if may_go_on(&cause) && !unwanted.load(Relaxed) && now() < end => {}
            answered => return answered,
        }
    }
}

/// A request of so many bytes for an answer of one. How long they are is said each time: load and probes take turns.
fn request(length: usize) -> Vec<u8> {
    let head = Lengths::of(to_count(length), 1).head(None);
    let mut data = vec![0x5a; length];
    data[..head.bytes().len()].copy_from_slice(head.bytes());
    data
}

/// Writes requests back to back, a probe among them where one is wanted.
fn fill(stream: &TcpStream, pool: &Pool<'_>, load: &Load) {
    let (chunk, probe) = (request(CHUNK), request(PROBE));
    while !pool.stop.load(Relaxed) {
        let is_probe = load.wants_probe.swap(false, Relaxed);
        let data: &[u8] = if is_probe { &probe } else { &chunk };
        let entry = (now(), to_count(data.len()), is_probe);
        load.waiting.lock().unwrap_or_else(PoisonError::into_inner).push_back(entry);
        if write_all(stream, data, pool).is_err() {
            pool.broken.fetch_add(u32::from(!pool.stop.load(Relaxed)), Relaxed);
            return;
        }
    }
}

fn write_all(stream: &TcpStream, mut data: &[u8], pool: &Pool<'_>) -> io::Result<()> {
    while !data.is_empty() {
        match socket::send(stream.as_fd(), data) {
            Ok(count) => {
                pool.moved.fetch_add(to_count(count), Relaxed);
                data = &data[count..];
            }
            Err(cause) if may_go_on(&cause) && !pool.stop.load(Relaxed) => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(())
}

/// Reads answers, one byte each, in the order of the requests.
fn drain(stream: &TcpStream, pool: &Pool<'_>, load: &Load) {
    let mut space = [0; 256];
    while !pool.stop.load(Relaxed) {
        let count = match socket::recv(stream.as_fd(), &mut space) {
            Ok(0) => return,
            Ok(count) => count,
            Err(cause) if may_go_on(&cause) => continue,
            Err(_) => return,
        };
        pool.moved.fetch_add(to_count(count), Relaxed);
        let time = now();
        let mut waiting = load.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for (asked, bytes, is_probe) in (0..count).map_while(|_| waiting.pop_front()) {
            pool.answered_bytes.fetch_add(bytes, Relaxed);
            if is_probe {
                let mut own = pool.own.lock().unwrap_or_else(PoisonError::into_inner);
                own.push(time.since(asked));
            }
        }
    }
}

/// The most connections with load (MNP).
const MOST_CONNECTIONS: usize = 16;
const IDLE_PROBES: usize = 10;
/// Probes of each kind in an interval.
const PROBES: u64 = 10;
const LONGEST_STEP: Nanos = Nanos::from_millis(100);
/// A request of load: short enough that a probe among them waits for what is in the socket, not for its
/// own application.
const CHUNK: usize = 16 << 10;
/// Bytes of a probe.
const PROBE: usize = 16;
/// How long nobody looks whether it is over.
const LOOK: Nanos = Nanos::from_millis(50);
/// How long a connection may take, and the answer of a probe.
const PATIENCE: Nanos = Nanos::from_secs(10);

#[cfg(test)]
mod tests;
