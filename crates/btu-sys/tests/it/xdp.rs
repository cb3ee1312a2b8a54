//! A socket of the family `AF_XDP` on one end of a veth pair, a packet socket on the other.

use std::os::fd::AsFd;
use std::time::Duration;

use btu_sys::exchange;
use btu_sys::exchange::Call;
use btu_sys::exchange::Framing;
use btu_sys::exchange::Ready;
use btu_sys::frame::FrameSocket;
use btu_sys::namespace;
use btu_sys::xdp;
use btu_sys::xdp::LONGEST_FRAME;
use btu_sys::xdp::PROGRAM_NAME;
use btu_sys::xdp::XdpSocket;

use crate::netlink::FAR_MAC;
use crate::netlink::Host;
use crate::netlink::NEAR_MAC;
use crate::netlink::connected_hosts;

/// Why it cannot be tried here; nothing where it can.
fn lacking() -> Option<String> {
    let refusal = xdp::permitted().err()?;
    let kind = if namespace::is_privileged() { "kernel lacks" } else { "not root" };
    Some(format!("{kind}: {refusal}"))
}

fn shared(host: &mut Host, ether_type: u16) -> XdpSocket {
    let link = host.netlink.link("data").unwrap().index;
    let open = || {
        let mut socket = XdpSocket::open(link, ether_type).unwrap();
        socket.attach().unwrap();
        socket
    };
    host.namespace.inside(open).unwrap()
}

fn plain(host: &mut Host, ether_type: u16) -> FrameSocket {
    let link = host.netlink.link("data").unwrap().index;
    let open = || FrameSocket::open(link, ether_type, 1 << 20).unwrap();
    let socket = host.namespace.inside(open).unwrap();
    socket.bound_waits(PATIENCE).unwrap();
    socket
}

/// A frame for the near host whose data tell its number.
fn write(frame: &mut [u8], ether_type: u16, number: u32) {
    frame.fill(u8::try_from(number % 251).unwrap());
    frame[..6].copy_from_slice(&NEAR_MAC.0);
    frame[6..12].copy_from_slice(&FAR_MAC.0);
    frame[12..14].copy_from_slice(&ether_type.to_be_bytes());
    frame[14..18].copy_from_slice(&number.to_be_bytes());
}

fn frame(ether_type: u16, number: u32, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    write(&mut bytes, ether_type, number);
    bytes
}

/// The next frame, after whatever time the kernel takes.
fn next(socket: &mut XdpSocket) -> Vec<u8> {
    while !socket.has_frame() {
        let came = exchange::poll(socket.as_fd(), Ready::Read, Some(PATIENCE));
        assert!(came.unwrap(), "no frame came");
    }
    socket.receive().unwrap().to_vec()
}

#[test]
fn frames_of_one_type_reach_the_socket_and_all_others_pass() {
    if let Some(reason) = lacking() {
        skip!("{reason}");
    }
    let (mut near, mut far) = connected_hosts();
    let mut ours = shared(&mut near, 0x88b5);
    let (others, sender) = (plain(&mut near, 0x88b6), plain(&mut far, 0x88b7));
    // More than there are chunks.
    for number in 0..3000 {
        let length = if number % 2 == 0 { 60 } else { 1400 };
        for ether_type in [0x88b5, 0x88b6] {
            let sent = frame(ether_type, number, length);
            exchange::send(sender.as_fd(), &sent, Call::Sleeping).unwrap();
        }
        assert!(next(&mut ours) == frame(0x88b5, number, length), "{number}");
        let mut space = [0; 2048];
        let got = exchange::recv(others.as_fd(), &mut space, Call::Sleeping, Framing::Message);
        assert!(space[..got.unwrap()] == frame(0x88b6, number, length), "{number}");
    }
    assert!(!ours.has_frame());
}

#[test]
fn frames_leave_as_they_were_written_and_in_order() {
    if let Some(reason) = lacking() {
        skip!("{reason}");
    }
    let (mut near, mut far) = connected_hosts();
    let (mut sender, reader) = (shared(&mut far, 0x88b5), plain(&mut near, 0x88b6));
    for batch in 0..100_u32 {
        for number in batch * 32..batch * 32 + 32 {
            sender.push(1400, |place| write(place, 0x88b6, number)).unwrap();
        }
        while let Err(cause) = sender.flush() {
            assert_eq!(cause.kind(), std::io::ErrorKind::WouldBlock);
        }
        for number in batch * 32..batch * 32 + 32 {
            let mut space = [0; 2048];
            let got = exchange::recv(reader.as_fd(), &mut space, Call::Sleeping, Framing::Message);
            assert!(space[..got.unwrap()] == frame(0x88b6, number, 1400), "{number}");
        }
    }
    let fault = sender.push(LONGEST_FRAME + 1, |_| ()).unwrap_err();
    assert_eq!(fault.kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn the_program_has_a_name_and_goes_with_its_socket() {
    if let Some(reason) = lacking() {
        skip!("{reason}");
    }
    let (mut near, _far) = connected_hosts();
    let mut socket = shared(&mut near, 0x88b5);
    let found = near.netlink.xdp_programs().unwrap();
    assert_eq!(found.iter().map(|found| found.link.as_str()).collect::<Vec<_>>(), ["data"]);
    assert_eq!(xdp::program_name(found[0].program).unwrap(), PROGRAM_NAME);
    let link = near.netlink.link("data").unwrap().index;
    let second = near.namespace.inside(|| XdpSocket::open(link, 0x88b5).unwrap_err()).unwrap();
    assert_eq!(second.to_string(), format!("bind an AF_XDP socket to link {link}"));
    assert_eq!(second.kind(), std::io::ErrorKind::ResourceBusy);
    socket.detach();
    assert_eq!(near.netlink.xdp_programs().unwrap(), []);
    near.namespace.inside(|| socket.attach().unwrap()).unwrap();
    assert_eq!(near.netlink.xdp_programs().unwrap(), found);
    drop(socket);
    assert_eq!(near.netlink.xdp_programs().unwrap(), []);
}

#[test]
fn who_may_not_is_told_what_he_needs() {
    let Some(refused) = xdp::permitted().err() else {
        skip!("only as an ordinary user: this one may load BPF programs");
    };
    if refused.kind() != std::io::ErrorKind::PermissionDenied {
        skip!("kernel lacks: {refused}");
    }
    assert!(refused.to_string().contains("CAP_BPF and CAP_NET_ADMIN"), "{refused}");
}

/// Against waiting for ever.
const PATIENCE: Duration = Duration::from_secs(20);
