//! What an end of Rx has passed, told to the process that started it while it works.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

use btu_core::units::Bytes;

use super::words::Word;
use super::words::say;
use crate::error::EngineError;
use crate::threads;

/// A thread that tells it, until this is dropped.
#[derive(Debug)]
pub(super) struct Telling {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Telling {
    /// Tells what `moved` counts, when it has changed.
    pub(super) fn of(moved: &Arc<AtomicU64>, to: &UnixStream) -> Result<Self, EngineError> {
        let to = to.try_clone().map_err(EngineError::peer("share the channel of Rx"))?;
        let (ends, moved) = (Arc::new(AtomicBool::new(false)), Arc::clone(moved));
        let is_over = Arc::clone(&ends);
        let tell = move || {
            let mut told = 0;
            while !is_over.load(Relaxed) {
                let now = moved.load(Relaxed);
                // Whoever does not listen any more ends this process.
                if now != told && say(&to, &Word::Moved(Bytes::new(now))).is_err() {
                    return;
                }
                told = now;
                thread::park_timeout(PAUSE);
            }
        };
        Ok(Self { ends, thread: Some(threads::start("rx-telling", tell)?) })
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        self.ends.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// Short beside any patience, and rare beside calls.
const PAUSE: Duration = Duration::from_millis(20);
