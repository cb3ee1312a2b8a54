//! Lines that several chains share by name, as all stations of the 1996 Ethernet did.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use super::Line;
use super::LineLimits;
use super::LinkError;
use super::Nanos;
use super::Packet;
use super::Port;
use super::Wire;

/// The shared lines of a testbed, by name; every chain that shares one is made with the same
/// `Lines`. Chains that share a line should be driven by one thread: a push of one chain may change
/// when another has to be asked next.
#[derive(Debug, Default)]
pub struct Lines {
    by_name: BTreeMap<String, (LineLimits, Wire, Arc<Mutex<Line>>)>,
}

/// One chain's hold on a line of its own or on a shared one.
#[derive(Debug)]
pub(in crate::link) enum LineAccess {
    Own(Box<Line>),
    Shared { line: Arc<Mutex<Line>>, lane: usize },
}

impl Lines {
    /// The line `name`, made at first use. Whoever asks later must ask for the same line.
    pub(in crate::link) fn share(
        &mut self,
        name: &str,
        limits: LineLimits,
        wire: Wire,
        handles: usize,
    ) -> Result<LineAccess, LinkError> {
        if let Some((known, known_wire, line)) = self.by_name.get(name) {
            if (*known, *known_wire) != (limits, wire) {
                return Err(LinkError::SharedLine { name: name.to_owned() });
            }
            let lane = lock(line).add_lane();
            return Ok(LineAccess::Shared { line: Arc::clone(line), lane });
        }
        let line = Arc::new(Mutex::new(Line::new(limits, wire, handles)));
        self.by_name.insert(name.to_owned(), (limits, wire, Arc::clone(&line)));
        Ok(LineAccess::Shared { line, lane: 0 })
    }
}

impl LineAccess {
    pub(in crate::link) fn push(&mut self, packet: Packet, port: &mut Port<'_>) {
        match self {
            Self::Own(line) => line.push(0, packet, port),
            Self::Shared { line, lane } => lock(line).push(*lane, packet, port),
        }
    }

    pub(in crate::link) fn pop(&mut self, now: Nanos, port: &mut Port<'_>) -> Option<Packet> {
        match self {
            Self::Own(line) => line.pop(0, now, port),
            Self::Shared { line, lane } => lock(line).pop(*lane, now, port),
        }
    }

    pub(in crate::link) fn next_wakeup(&self) -> Option<Nanos> {
        match self {
            Self::Own(line) => line.next_wakeup(0),
            Self::Shared { line, lane } => lock(line).next_wakeup(*lane),
        }
    }

    pub(in crate::link) fn held(&self) -> u64 {
        match self {
            Self::Own(line) => line.held(0),
            Self::Shared { line, lane } => lock(line).held(*lane),
        }
    }
}

/// A panic of another chain's thread leaves the line as it was between two packets.
fn lock(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}
