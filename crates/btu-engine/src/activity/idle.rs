//! The activity that does nothing: beside it every figure has to equal its baseline.

use btu_core::units::Nanos;
use btu_sys::clock;

use super::Activity;
use super::Prepared;
use super::Setup;
use super::Worker;
use crate::error::EngineError;

/// The activity `idle`. Its unit is time itself, so that its slowdown is 1 by construction.
#[derive(Debug)]
pub struct Idle;

/// A thread that lets time pass.
#[derive(Debug, Default)]
struct Sleeper {
    counted_until: Option<u64>,
}

impl Activity for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn about(&self) -> &'static str {
        "does nothing; shows that the procedure itself costs nothing"
    }

    fn prepare(&self, _setup: &Setup) -> Result<Box<dyn Prepared>, EngineError> {
        Ok(Box::new(Self))
    }
}

impl Prepared for Idle {
    fn unit(&self) -> String {
        "1 ms of waiting".to_owned()
    }

    fn workers(&self) -> Result<Vec<Box<dyn Worker>>, EngineError> {
        Ok(vec![Box::new(Sleeper::default())])
    }
}

impl Worker for Sleeper {
    fn step(&mut self) -> Result<f64, EngineError> {
        let since = self.counted_until.unwrap_or_else(clock::monotonic_ns);
        clock::sleep_until(clock::monotonic_ns() + NAP.count());
        let now = clock::monotonic_ns();
        self.counted_until = Some(now);
        Ok(Nanos::new(now - since).millis())
    }
}

/// Rare enough that its wake-ups do not show.
const NAP: Nanos = Nanos::from_millis(5);
