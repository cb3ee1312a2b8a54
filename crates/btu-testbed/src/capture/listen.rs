//! The capture of a direct path: the headers of what passes one end of it, while the traffic goes on.
//!
//! There is no emulator between the ends, so arrival and release are one stamp, that of the end
//! which listens. Super-packets stay whole: on a veth pair nothing else passes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::sync::mpsc::Sender;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

use btu_core::units::Nanos;
use btu_sys::clock;
use btu_sys::cpu;
use btu_sys::cpu::CpuSet;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Netlink;
use btu_sys::packet::Tap;

use super::Capture;
use super::End;
use super::Own;
use super::Recorder;
use crate::backend::BackendError;
use crate::segment;
use crate::segment::Frame;
use crate::segment::Vnet;

/// A listener at the far end of a direct path. It ends when it is finished or dropped.
#[derive(Debug)]
pub struct Listening {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Capture, BackendError>>>,
}

/// Which device, how much, and where the thread runs.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub(crate) device: String,
    /// The name of the capture.
    pub(crate) link: String,
    /// Packets of each direction to keep.
    pub(crate) limit: usize,
    pub(crate) cpus: CpuSet,
}

impl Listening {
    /// Listens in the namespace of a black box; returns once nothing can be missed any more.
    pub(crate) fn start(host: &NetNs, watch: Watch) -> Result<Self, BackendError> {
        let host = host.try_clone();
        let host = host.map_err(|cause| btu_sys::Error::new("share a namespace", cause))?;
        let stop = Arc::new(AtomicBool::new(false));
        let (ready, started) = mpsc::channel();
        let thread = {
            let stop = Arc::clone(&stop);
            thread::Builder::new()
                .name("btu-listen".to_owned())
                .spawn(move || listen(&host, &watch, &stop, &ready))
                .map_err(btu_sys::limit::no_thread)?
        };
        let mut listening = Self { stop, thread: Some(thread) };
        match started.recv() {
            Ok(()) => Ok(listening),
            Err(mpsc::RecvError) => listening.end().and(Err(stopped("it did not start"))),
        }
    }

    /// Ends the listening and hands over what passed.
    pub fn finish(mut self) -> Result<Capture, BackendError> {
        self.end()
    }

    fn end(&mut self) -> Result<Capture, BackendError> {
        self.stop.store(true, Relaxed);
        let thread = self.thread.take().ok_or_else(|| stopped("it ended before"))?;
        thread.join().unwrap_or_else(|_| Err(stopped("its thread panicked")))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if self.thread.is_some() {
            // What it saw is of no use to anybody any more.
            let _ = self.end();
        }
    }
}

/// The life of the thread; dropping `ready` unsent says that it did not start.
fn listen(
    host: &NetNs,
    watch: &Watch,
    stop: &AtomicBool,
    ready: &Sender<()>,
) -> Result<Capture, BackendError> {
    host.enter()?;
    cpu::pin(&watch.cpus)?;
    let device = Netlink::open(host)?.link(&watch.device)?;
    let mut tap = Tap::open(device.index)?;
    let mut scribe = Scribe::new(watch.limit);
    // Whoever started the thread waits for this; if not, it ends by itself at once.
    let _ = ready.send(());
    let mut lost = 0;
    loop {
        let is_last = stop.load(Relaxed);
        scribe.note_all(&mut tap, None);
        lost += tap.lost()?;
        if is_last {
            return Ok(scribe.finish(watch.link.clone(), lost));
        }
        thread::sleep(NAP);
    }
}

/// Both directions, on the monotonic clock.
#[derive(Debug)]
pub(super) struct Scribe {
    up: Recorder,
    down: Recorder,
    wall_offset_ns: i64,
}

impl Scribe {
    pub(super) fn new(limit: usize) -> Self {
        let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
        let wall_offset_ns = signed(clock::realtime_ns()) - signed(clock::monotonic_ns());
        let (up, down) = (Recorder::new(End::Near, limit), Recorder::new(End::Far, limit));
        Self { up, down, wall_offset_ns }
    }

    /// Notes what the tap heard; where it is said whose packets are wanted, those alone.
    pub(super) fn note_all(&mut self, tap: &mut Tap, own: Option<&Own>) {
        while let Some(head) = tap.next_head() {
            let Frame::Counted(shape) =
                segment::read_head(Vnet::default(), head.bytes, head.length)
            else {
                continue;
            };
            let is_wanted = |own: &Own| own.admits(shape.ends(head.bytes), head.is_outgoing);
            if !own.is_none_or(is_wanted) {
                continue;
            }
            let recorder = if head.is_outgoing { &mut self.down } else { &mut self.up };
            let at = Nanos::new(head.stamp_ns.saturating_add_signed(-self.wall_offset_ns));
            if let Some(first) = recorder.arrived(Vnet::default(), &shape, head.bytes, at) {
                recorder.released(first..first + 1, at, false);
            }
        }
    }

    pub(super) fn finish(self, link: String, lost: u64) -> Capture {
        let mut capture = self.up.finish().joined(self.down.finish());
        (capture.link, capture.wall_offset_ns) = (link, self.wall_offset_ns);
        capture.lost += lost;
        capture
    }
}

fn stopped(cause: &str) -> BackendError {
    BackendError::Stopped { cause: format!("the listener: {cause}") }
}

/// Between two looks at the ring, which holds what passes in a second.
const NAP: Duration = Duration::from_millis(2);
