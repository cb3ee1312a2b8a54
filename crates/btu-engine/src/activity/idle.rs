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
        Ok(vec![Box::new(Self)])
    }
}

impl Worker for Idle {
    fn step(&mut self) -> Result<f64, EngineError> {
        let start = clock::monotonic_ns();
        clock::sleep_until(start + NAP.count());
        Ok(Nanos::new(clock::monotonic_ns() - start).millis())
    }
}

/// Rare enough that its wake-ups do not show.
const NAP: Nanos = Nanos::from_millis(5);
