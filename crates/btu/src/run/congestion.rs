//! Whether this kernel has the congestion control that a plan names.
//!
//! Where the kernel refuses it to the routes of the testbed, a run goes on with another one and is not ranked, which
//! is known when all has been measured: a name that it never had is the plan's mistake.

use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::net::TcpListener;

use anyhow::anyhow;
use btu_core::plan::Plan;
use btu_sys::socket::Settings;

use crate::exit::Failure;

/// Refuses a plan whose congestion control no route of this host can have.
pub(super) fn had_here(file: &str, plan: &Plan) -> Result<(), Failure> {
    let Some(name) = &plan.sockets.congestion else { return Ok(()) };
    let Ok(listed) = std::fs::read_to_string(AVAILABLE) else { return Ok(()) };
    if is_among(&listed, name) || can_be_loaded(name) {
        return Ok(());
    }
    let legal: Vec<&str> = listed.split_whitespace().collect();
    let cause = anyhow!(
        "{file}: sockets.congestion = \"{name}\": this kernel has no such congestion control; write {}",
        legal.join(", ")
    );
    let hint = format!("where the kernel has it as a module, as root: modprobe tcp_{name}");
    Err(Failure::usage(cause).hint(hint))
}

fn is_among(listed: &str, name: &str) -> bool {
    listed.split_whitespace().any(|known| known == name)
}

/// Root's request of a control makes the kernel load its module, which routes then have, too.
fn can_be_loaded(name: &str) -> bool {
    let settings = Settings { congestion: Some(name.to_owned()), ..Settings::default() };
    let socket = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    socket.is_ok_and(|socket| settings.apply(&socket).is_ok())
}

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_is_one_of_the_words_of_the_list() {
        for (name, is_it) in [("cubic", true), ("bbr", true), ("bb", false), ("reno bbr", false)] {
            assert_eq!(is_among("reno bbr cubic\n", name), is_it, "{name}");
        }
        assert!(!can_be_loaded("no-such-one"));
    }
}
