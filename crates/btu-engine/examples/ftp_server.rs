//! An FTP server on loopback until standard input ends: `cargo run -p btu-engine --example ftp_server`.
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::error::Error;
use std::io::Read;
use std::net::IpAddr;
use std::net::Ipv4Addr;

use btu_core::role::Role;
use btu_engine::Place;
use btu_engine::file::ftp::Server;
use btu_engine::file::ftp::Serving;

fn main() -> Result<(), Box<dyn Error>> {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let server = Server::start(Serving::at(Place::here(Role::Active), loopback))?;
    println!("ftp://{}/  (/zero/N, /random/N, /null/NAME; the rest is memory)", server.address());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
