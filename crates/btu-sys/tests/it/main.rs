//! Integration tests of the wrappers: what the kernel really does.
#![forbid(unsafe_code)]

#[macro_use]
#[path = "../../../../tests/skip.rs"]
mod skip;

#[cfg(test)]
#[path = "../../../../tests/isolated.rs"]
mod isolated;
#[cfg(test)]
mod namespace;
#[cfg(test)]
mod netlink;
#[cfg(test)]
mod nftables;
#[cfg(test)]
mod packet;
#[cfg(test)]
mod rx;
#[cfg(test)]
#[path = "../../../../tests/wait.rs"]
mod wait;
#[cfg(test)]
mod xdp;
