//! SIGHUP, SIGINT and SIGTERM: the first ends the run after its journal is whole, the second at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use anyhow::anyhow;
use btu_sys::process;
use btu_sys::process::FirstSignal;
use signal_hook::consts::SIGHUP;
use signal_hook::consts::SIGINT;
use signal_hook::consts::SIGTERM;
use signal_hook::flag;

use crate::exit::Exit;
use crate::exit::Failure;

/// Whether, and by which signal, the run was asked to end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt {
    asked: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Listens from now on.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let interrupt = Self { asked: Arc::default(), signal: Arc::default() };
        let first = FirstSignal::default();
        for (signal, exit) in ENDING {
            // Whoever started it by nohup wants it to go on.
            if signal == SIGHUP && process::ignores(signal) {
                continue;
            }
            let number = usize::try_from(signal).unwrap_or(0);
            first.exit_on_second(signal, exit as i32)?;
            flag::register_usize(signal, Arc::clone(&interrupt.signal), number)?;
            flag::register(signal, Arc::clone(&interrupt.asked))?;
        }
        Ok(interrupt)
    }

    /// The flag that running cells look at.
    pub(crate) fn flag(&self) -> &Arc<AtomicBool> {
        &self.asked
    }

    /// What became of a start that an agent was waited for in: one that was interrupted lost nobody.
    pub(crate) fn or(&self, failure: Failure) -> Failure {
        let is_asked = self.asked.load(Ordering::Relaxed);
        if is_asked && failure.exit == Exit::Agent { self.before_all() } else { failure }
    }

    /// The end of what has measured nothing yet.
    pub(crate) fn before_all(&self) -> Failure {
        let cause = anyhow!("interrupted before the first run");
        Failure { exit: self.exit(), cause, hint: None }
    }

    /// The exit code of the signal that came.
    pub(crate) fn exit(&self) -> Exit {
        let came = self.signal.load(Ordering::Relaxed);
        let known = ENDING.iter().find(|(signal, _)| usize::try_from(*signal) == Ok(came));
        known.map_or(Exit::Interrupted, |(_, exit)| *exit)
    }
}

/// Signals that end a run, and what it then exits with.
const ENDING: [(i32, Exit); 3] =
    [(SIGHUP, Exit::HungUp), (SIGINT, Exit::Interrupted), (SIGTERM, Exit::Terminated)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_is_told_instead_of_a_lost_agent_and_of_nothing_else() {
        let interrupt = Interrupt::default();
        let exit = |interrupt: &Interrupt, failure| interrupt.or(failure).exit;
        let (lost, wrong) = (|| Failure::agent(anyhow!("a")), || Failure::usage(anyhow!("b")));
        assert_eq!(exit(&interrupt, lost()), Exit::Agent);
        interrupt.flag().store(true, Ordering::Relaxed);
        assert_eq!(exit(&interrupt, lost()), Exit::Interrupted);
        assert_eq!(exit(&interrupt, wrong()), Exit::Usage);
    }
}
