//! Bytes on their way, as far as the kernel has them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::units::Nanos;
use hyper::body::Buf;
use hyper::body::Bytes;

use crate::file::reception::House;
use crate::time::now;

/// A part of a body. What hyper advances by, the kernel has taken.
#[derive(Debug)]
pub(super) struct Chunk {
    rest: Bytes,
    watch: Watch,
}

/// Who hears that bytes were sent.
#[derive(Clone)]
pub(super) enum Watch {
    /// The server whose files or blocks they are.
    House(Arc<House>),
    /// Nobody: they are words.
    Nobody,
    /// The client whose file or blocks they are.
    Passage(Arc<Passage>),
}

/// What a client has sent of a file or of its blocks, and when.
#[derive(Debug)]
pub(super) struct Passage {
    left: AtomicU64,
    /// In ns by the clock of the machine; 0 where it is still to come.
    first_ns: AtomicU64,
    last_ns: AtomicU64,
}

impl Chunk {
    pub(super) fn new(bytes: Bytes, watch: Watch) -> Self {
        Self { rest: bytes, watch }
    }
}

impl Buf for Chunk {
    fn remaining(&self) -> usize {
        self.rest.len()
    }

    fn chunk(&self) -> &[u8] {
        &self.rest
    }

    fn advance(&mut self, count: usize) {
        self.rest.advance(count);
        self.watch.sent(count);
    }
}

impl Watch {
    fn sent(&self, count: usize) {
        match self {
            Self::House(house) => house.count(count),
            Self::Nobody => {}
            Self::Passage(passage) => passage.sent(count),
        }
    }
}

impl Passage {
    /// Of so many bytes.
    pub(super) fn of(total: u64) -> Arc<Self> {
        let (first_ns, last_ns) = (AtomicU64::default(), AtomicU64::default());
        Arc::new(Self { left: AtomicU64::new(total), first_ns, last_ns })
    }

    fn sent(&self, count: usize) {
        let count = count as u64;
        let left = self.left.fetch_sub(count, Relaxed).saturating_sub(count);
        if self.first_ns.load(Relaxed) == 0 {
            self.first_ns.store(now().count(), Relaxed);
        }
        if left == 0 {
            self.last_ns.store(now().count(), Relaxed);
        }
    }

    /// Bytes that the kernel has still to take.
    pub(super) fn left(&self) -> u64 {
        self.left.load(Relaxed)
    }

    /// When it took the first of them, and the last.
    pub(super) fn moments(&self) -> [Option<Nanos>; 2] {
        [&self.first_ns, &self.last_ns]
            .map(|at| Some(at.load(Relaxed)).filter(|at| *at > 0).map(Nanos::new))
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::House(_) => "House",
            Self::Nobody => "Nobody",
            Self::Passage(_) => "Passage",
        })
    }
}
