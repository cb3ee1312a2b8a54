//! Integration tests of the testbed: what the kernel and the emulator really do.
#![forbid(unsafe_code)]

#[macro_use]
#[path = "../../../../tests/skip.rs"]
mod skip;

#[cfg(test)]
mod apart;
#[cfg(test)]
mod capture;
#[cfg(test)]
mod chain_allocation;
#[cfg(test)]
#[path = "../../../../tests/isolated.rs"]
mod isolated;
#[cfg(test)]
mod local;
#[cfg(test)]
mod netem;
#[cfg(test)]
mod relay;
#[cfg(test)]
mod splitter;
#[cfg(test)]
mod traffic;
#[cfg(test)]
mod tunnel;
#[cfg(test)]
#[path = "../../../../tests/wait.rs"]
mod wait;
#[cfg(test)]
mod world;
