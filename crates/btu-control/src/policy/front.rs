//! Where emulated links begin on an agent's host, and by what.

use std::net::IpAddr;

use serde::Deserialize;

use super::network;

/// Where emulated links begin on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Front {
    /// The device that leads to the test host.
    pub device: String,
    /// An address for the data sockets behind the emulator; nobody else on that network has it.
    pub address: IpAddr,
    /// Length of that network's prefix.
    pub prefix: u8,
    /// What emulates the link.
    pub mechanism: Mechanism,
}

/// What emulates the link in front of an agent. Its owner chooses; a conductor is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mechanism {
    /// The kernel's own netem: no counter patterns, and no record of its lateness.
    Netem,
    /// BTU's own relay.
    #[default]
    Relay,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFront {
    device: String,
    address: String,
    mechanism: Option<String>,
}

impl RawFront {
    pub(super) fn legal(self) -> Result<Front, String> {
        let illegal = || format!("front.address = \"{}\": write 10.0.4.8/24", self.address);
        let (address, prefix) = network(&self.address).ok_or_else(illegal)?;
        if self.device.is_empty() || self.device.len() > 15 {
            return Err(format!("front.device = \"{}\": write a device's name", self.device));
        }
        let mechanism = match self.mechanism.as_deref() {
            None | Some("relay") => Mechanism::Relay,
            Some("netem") => Mechanism::Netem,
            Some(other) => {
                return Err(format!("front.mechanism = \"{other}\": write relay or netem"));
            }
        };
        Ok(Front { device: self.device, address, prefix, mechanism })
    }
}
