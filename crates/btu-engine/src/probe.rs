//! Watching the host around a run: counters that moved, CPU time that others took, settings that
//! changed. Read just before and just after, never inside.

mod clock;
pub(crate) mod cpu;
mod devices;
mod distance;
pub mod drift;
mod heat;
mod others;
mod protocol;
mod quota;
mod swap;

use std::collections::BTreeMap;

use btu_core::sample::CounterDelta;
use btu_core::sample::HostSample;
use btu_core::units::Nanos;

use crate::files::Files;
use crate::time::now;

/// One kind of observation.
pub trait Probe: Sync {
    /// Its name in lists.
    fn name(&self) -> &'static str;
    /// What it gives, for lists.
    fn summary(&self) -> &'static str;
    /// Reads its figures as they are now, in the network namespace of the calling thread.
    /// A figure that the host does not give is left out.
    fn read(&self, files: &Files) -> Reading;
    /// Writes what two readings say into the sample.
    fn fold(&self, before: &Reading, after: &Reading, sample: &mut HostSample);
}

/// Figures of one probe at one moment.
pub type Reading = BTreeMap<String, Figure>;

/// A counter, or a setting in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Its difference is what counts.
    Count(i64),
    /// Should not change.
    Setting(String),
}

/// Every probe; what takes longest stands at the end.
pub static PROBES: &[&dyn Probe] = &[
    &clock::DayClock,
    &cpu::CpuTime,
    &quota::CpuQuota,
    &swap::Swap,
    &drift::Drift,
    &others::OtherProcesses,
    &protocol::Protocol,
    &devices::Devices,
    &heat::Heat,
    &distance::CpuDistance,
];

/// A reading of every probe.
#[derive(Debug)]
pub struct Observation {
    started: Nanos,
    readings: Vec<Reading>,
}

/// Reads every probe. Cheap: some small files, four more for each CPU that counts heat, three system calls for each
/// process, and a millisecond on two CPUs.
pub fn observe(files: &Files) -> Observation {
    let readings = PROBES.iter().map(|probe| probe.read(files)).collect();
    Observation { started: now(), readings }
}

impl Observation {
    /// What happened since.
    pub fn finish(&self, files: &Files) -> HostSample {
        let elapsed_ns = now().since(self.started);
        let mut sample = HostSample { elapsed_ns, ..HostSample::default() };
        for (probe, before) in PROBES.iter().zip(&self.readings) {
            probe.fold(before, &probe.read(files), &mut sample);
        }
        sample
    }
}

/// The counters that moved, and how far.
fn deltas(before: &Reading, after: &Reading) -> Vec<CounterDelta> {
    let of = |name: &String| {
        let delta = moved(name, before, after).filter(|delta| *delta != 0)?;
        Some(CounterDelta { name: name.clone(), delta })
    };
    after.keys().filter_map(of).collect()
}

/// How far a counter moved; `None` where either reading lacks it.
fn moved(name: &str, before: &Reading, after: &Reading) -> Option<i64> {
    match (before.get(name), after.get(name)) {
        (Some(Figure::Count(before)), Some(Figure::Count(after))) => Some(after - before),
        _ => None,
    }
}
