//! Carries packets between two TUN devices as emulators without `vnet_hdr` do, one by one: the peer
//! that `cargo xtask bench emulator --only E8` compares the relay with.
//!
//! `tun_relay NAME NAME` makes both devices, prints `ready`, and works until it is killed. Reads
//! block, one thread per direction, nothing is emulated: what such a design can do at best.
#![forbid(unsafe_code)]

use std::error::Error;
use std::fs::File;
use std::io;
use std::io::Read;
use std::io::Write;
use std::thread;

/// More than an MTU.
const ROOM: usize = 65_536;

fn main() -> Result<(), Box<dyn Error>> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let [near, far] = names.as_slice() else { return Err("give two names of devices".into()) };
    let (near, far) = (btu_sys::tun::open(near)?, btu_sys::tun::open(far)?);
    writeln!(io::stdout(), "ready")?;
    thread::scope(|scope| {
        let up = scope.spawn(|| carry(&near, &far));
        let down = scope.spawn(|| carry(&far, &near));
        [up, down].into_iter().try_for_each(|thread| match thread.join() {
            Ok(ended) => Ok(ended?),
            Err(_) => Err("a thread panicked".into()),
        })
    })
}

/// What a device that is not up yet does not take is lost, as on any line.
fn carry(mut from: &File, mut to: &File) -> io::Result<()> {
    let mut packet = vec![0; ROOM];
    loop {
        let length = from.read(&mut packet)?;
        let _ = to.write(packet.get(..length).unwrap_or_default());
    }
}
