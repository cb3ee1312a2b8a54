//! Every check of `btu doctor`, in the order in which it prints them.

mod confinement;
mod emulation;
mod facility;
mod host;
mod pingpong;
mod timing;

pub(crate) use host::is_busy;
pub(crate) use timing::STOPPED;
pub(crate) use timing::quota;

use super::finding::Check;

/// Every check.
pub(crate) static CHECKS: &[&Check] = &[
    &emulation::KERNEL,
    &emulation::NAMESPACES,
    &emulation::CONTAINMENT,
    &emulation::RELAY,
    &emulation::RECEIVE_MEMORY,
    &emulation::STAMPS,
    &emulation::DELAY_ERROR,
    &timing::CLOCK_SOURCE,
    &timing::TIMERS,
    &timing::CPUS,
    &timing::CPU_QUOTA,
    &timing::REALTIME,
    &facility::NETEM,
    &facility::XDP,
    &facility::XDP_PROGRAMS,
    &facility::IO_URING,
    &confinement::LANDLOCK,
    &confinement::SECCOMP,
    &pingpong::TRANSPORTS,
    &host::LOAD,
    &host::STEAL,
    &host::GOVERNOR,
    &host::CONGESTION_CONTROL,
    &host::RMEM_MAX,
    &host::IO_DIRECTORY,
    &host::RESOLVER,
];
