//! What a worker moves, told to its agent while it does: a conductor that hangs up asks for no account.

use std::thread;
use std::time::Duration;

use btu_control::message::Answer;
use btu_control::message::MOVED_EVERY;
use btu_core::units::Bytes;
use btu_engine::comm::FarSide;
use btu_engine::file::ftp::Server;

use super::Work;

/// Payload that the agent knows of already.
pub(super) struct Counted {
    /// Whether the policy bounds it.
    metered: bool,
    /// Of the run that is prepared.
    pub(super) run: Bytes,
    /// Of the FTP server.
    pub(super) served: Bytes,
}

impl Counted {
    /// Nothing yet.
    pub(super) const fn of(metered: bool) -> Self {
        Self { metered, run: Bytes::ZERO, served: Bytes::ZERO }
    }

    /// How often somebody has to look, if at all.
    pub(super) fn look(&self) -> Option<Duration> {
        self.metered.then_some(Duration::from(MOVED_EVERY))
    }
}

impl Work {
    /// Says what was moved since the agent heard of that last, where the policy bounds it.
    pub(super) fn tell_moved(&mut self) -> anyhow::Result<()> {
        if !self.counted.metered {
            return Ok(());
        }
        let run = self.side.as_ref().map_or(self.counted.run, FarSide::moved);
        let of_run = run.saturating_sub(std::mem::replace(&mut self.counted.run, run));
        let served = self.server.as_ref().map_or(self.counted.served, Server::moved);
        let of_server = served.saturating_sub(std::mem::replace(&mut self.counted.served, served));
        let moved = [of_run, of_server, self.served.take_moved()];
        let moved_bytes = moved.into_iter().fold(Bytes::ZERO, Bytes::saturating_add);
        if moved_bytes.is_empty() {
            return Ok(());
        }
        self.output.say(&Answer::Moved { moved_bytes }, &[])
    }

    /// Waits for the end of the run, which its watchdog bounds, and tells meanwhile what it moves.
    pub(super) fn await_end(&mut self) -> anyhow::Result<()> {
        let naps = Duration::from(MOVED_EVERY).as_millis() / NAP.as_millis();
        let mut nap = 0;
        while self.counted.metered && !self.side.as_ref().is_none_or(FarSide::is_over) {
            thread::sleep(NAP);
            nap += 1;
            if nap % naps == 0 {
                self.tell_moved()?;
            }
        }
        Ok(())
    }
}

/// How much later than a run its account may come.
const NAP: Duration = Duration::from_millis(10);
