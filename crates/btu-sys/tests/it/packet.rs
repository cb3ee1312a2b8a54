//! Frames pass unharmed between packet sockets and the kernel, in both receive forms.

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::Duration;
use std::time::Instant;

use btu_sys::clock;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Mac;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::VethEnd;
use btu_sys::packet::PacketSocket;
use btu_sys::packet::ReceiveForm;
use btu_sys::packet::VNET_HDR_LEN;
use btu_sys::wait::Waiter;
use nix::sys::socket::MsgFlags;
use nix::sys::socket::TimestampingFlag;
use nix::sys::socket::Timestamps;
use nix::sys::socket::recvmsg;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt;

use crate::isolated::isolated;

/// Two packet sockets, at the two ends of a veth pair.
struct Pair {
    near: PacketSocket,
    far: PacketSocket,
    far_waiter: Waiter,
    _near_namespace: NetNs,
}

impl Pair {
    fn new(form: ReceiveForm) -> Self {
        let (near, far) = (NetNs::create().unwrap(), NetNs::create().unwrap());
        let end = |namespace, last| VethEnd {
            namespace,
            name: "wire",
            mac: Mac([2, 0, 0, 0, 0, last]),
            mtu: 1500,
        };
        let mut neutral = Netlink::open(&NetNs::create().unwrap()).unwrap();
        neutral.add_veth(&end(&near, 1), &end(&far, 2)).unwrap();
        let open = |namespace: &NetNs| {
            let mut netlink = Netlink::open(namespace).unwrap();
            let link = netlink.link("wire").unwrap().index;
            netlink.set_up(link).unwrap();
            namespace.inside(|| PacketSocket::open(link, Some(form)).unwrap()).unwrap()
        };
        let (near_socket, far_socket) = (open(&near), open(&far));
        let far_waiter = Waiter::new().unwrap();
        far_waiter.add(&far_socket).unwrap();
        Self { near: near_socket, far: far_socket, far_waiter, _near_namespace: near }
    }

    /// The next frame at the far end that has our `EtherType`; the kernel sends some of its own.
    fn next(&mut self) -> (Vec<u8>, u64) {
        loop {
            let received = next_of(&mut self.far, &self.far_waiter);
            if received.0[12..14] == OURS {
                return received;
            }
        }
    }
}

/// The next frame and its stamp. A busy kernel delivers later than at once; and two CPUs may fill
/// two places of a ring together, which makes the socket readable with the second of them, before
/// the next frame is there.
fn next_of(socket: &mut PacketSocket, waiter: &Waiter) -> (Vec<u8>, u64) {
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        waiter.wait(Some(1_000_000_000)).unwrap();
        if let Some(received) = socket.receive().unwrap() {
            return (received.frame.to_vec(), received.stamp_ns);
        }
    }
    panic!("no frame within 20 s");
}

/// "Local experimental" of IEEE 802.
const OURS: [u8; 2] = [0x88, 0xb5];

fn frame(number: u16) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    frame.extend(OURS);
    frame.extend(number.to_be_bytes());
    frame.resize(60 + usize::from(number % 1400), 7);
    frame
}

fn frames_arrive_in_order_and_whole(form: ReceiveForm) {
    let mut pair = Pair::new(form);
    assert_eq!(pair.near.form(), form);
    for number in 0..3000_u16 {
        let sent = frame(number);
        let before = clock::realtime_ns();
        let (headers, payload) = sent.split_at(20);
        pair.near.send(&[0; VNET_HDR_LEN], headers, payload).unwrap();
        let (received, stamp) = pair.next();
        assert_eq!(received, sent);
        assert!(stamp >= before.saturating_sub(1_000_000), "the stamp is of this frame");
        assert!(stamp <= clock::realtime_ns() + 1_000_000);
    }
    assert_eq!(pair.far.losses().unwrap().dropped, 0);
    let echo = pair.near.receive().unwrap();
    assert!(echo.is_none_or(|echo| echo.frame[12..14] != OURS), "a socket sees its own output");
}

#[test]
fn calls_receive_what_was_sent() {
    isolated("packet::calls_receive_what_was_sent", || {
        frames_arrive_in_order_and_whole(ReceiveForm::Calls);
    });
}

#[test]
fn a_ring_receives_what_was_sent() {
    isolated("packet::a_ring_receives_what_was_sent", || {
        frames_arrive_in_order_and_whole(ReceiveForm::Ring);
    });
}

/// A header that asks for a checksum from 38 bytes on, of a super-packet where `segment` is not 0.
fn unfinished(segment: u16) -> [u8; VNET_HDR_LEN] {
    let mut header = [0; VNET_HDR_LEN];
    header[..2].copy_from_slice(&[1, u8::from(segment > 0)]);
    let headers_length = if segment > 0 { 58 } else { 0 };
    for (place, field) in header[2..].chunks_mut(2).zip([headers_length, segment, 38, 16_u16]) {
        place.copy_from_slice(&field.to_ne_bytes());
    }
    header
}

/// The beginning of an IPv4 packet with a TCP segment, without checksums.
fn segment_of_tcp() -> Vec<u8> {
    let mut headers = vec![0; 40];
    let length = (60_u16 + 500 - 14).to_be_bytes();
    headers[..12].copy_from_slice(&[0x45, 0, length[0], length[1], 0, 0, 0x40, 0, 64, 6, 0, 0]);
    headers[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    headers[32..34].copy_from_slice(&[0x50, 0x10]);
    headers
}

/// Frames that have work left to do to them, behind tags that name a priority as well.
fn a_tag_passes(form: ReceiveForm) {
    let mut pair = Pair::new(form);
    for (protocol, segment) in [(0x8100_u16, 0), (0x88a8, 0), (0x8100, 100)] {
        let mut sent = frame(500);
        if segment > 0 {
            sent[12..14].copy_from_slice(&[0x08, 0x00]);
            sent[14..54].copy_from_slice(&segment_of_tcp());
        }
        sent.splice(12..12, [protocol.to_be_bytes(), 0x6007_u16.to_be_bytes()].concat());
        let header = unfinished(segment);
        pair.near.send(&header, &sent, &[]).unwrap();
        let (received, its_header) = loop {
            pair.far_waiter.wait(Some(1_000_000_000)).unwrap();
            match pair.far.receive().unwrap() {
                Some(received) if received.frame[..12] == sent[..12] => {
                    break (received.frame.to_vec(), received.vnet);
                }
                _ => {}
            }
        };
        assert_eq!(received, sent);
        // But for the length of all headers, which is a hint.
        assert_eq!((&its_header[..2], &its_header[4..]), (&header[..2], &header[4..]));
    }
}

#[test]
fn a_tag_comes_through_calls() {
    isolated("packet::a_tag_comes_through_calls", || a_tag_passes(ReceiveForm::Calls));
}

#[test]
fn a_tag_comes_through_a_ring() {
    isolated("packet::a_tag_comes_through_a_ring", || a_tag_passes(ReceiveForm::Ring));
}

#[test]
fn what_a_full_ring_loses_is_counted() {
    isolated("packet::what_a_full_ring_loses_is_counted", || {
        let mut pair = Pair::new(ReceiveForm::Ring);
        for number in 0..2000 {
            pair.near.send(&[0; VNET_HDR_LEN], &frame(number), &[]).unwrap();
        }
        let (mut kept, mut lost) = (0, 0);
        let end = Instant::now() + Duration::from_secs(20);
        while kept + lost < 2000 && Instant::now() < end {
            while let Some(received) = pair.far.receive().unwrap() {
                kept += u64::from(received.frame[12..14] == OURS);
            }
            lost += pair.far.losses().unwrap().dropped;
        }
        assert!(kept >= 1000 && kept + lost >= 2000, "{kept} kept, {lost} lost");
    });
}

#[test]
fn an_unprivileged_user_gets_the_ring() {
    isolated("packet::an_unprivileged_user_gets_the_ring", || {
        let namespace = NetNs::create().unwrap();
        let open = || PacketSocket::open(1, None).unwrap().form();
        let form = namespace.inside(open).unwrap();
        let may_force = is_root_outside();
        let expected = if may_force { ReceiveForm::Calls } else { ReceiveForm::Ring };
        assert_eq!(form, expected);
    });
}

/// True for root of the initial user namespace, the only one for whom `SO_RCVBUFFORCE` works.
fn is_root_outside() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap();
    let fields: Vec<&str> = map.split_whitespace().collect();
    fields == ["0", "0", "4294967295"] && btu_sys::namespace::is_privileged()
}

#[test]
fn the_kernel_says_what_is_left_to_do() {
    isolated("packet::the_kernel_says_what_is_left_to_do", || {
        let namespace = NetNs::create().unwrap();
        let mut netlink = Netlink::open(&namespace).unwrap();
        let loopback = netlink.link("lo").unwrap().index;
        netlink.set_up(loopback).unwrap();
        let form = Some(ReceiveForm::Ring);
        let mut socket = namespace.inside(|| PacketSocket::open(loopback, form).unwrap()).unwrap();
        let sender = namespace.inside(|| UdpSocket::bind("127.0.0.1:0").unwrap()).unwrap();
        let target = sender.local_addr().unwrap();
        sender.send_to(&[3; 1000], target).unwrap();
        let waiter = Waiter::new().unwrap();
        waiter.add(&socket).unwrap();
        assert!((0..20).any(|_| waiter.wait(Some(1_000_000_000)).unwrap()), "no frame within 20 s");
        let received = socket.receive().unwrap().expect("the only frame");
        assert_eq!(received.frame.len(), 14 + 20 + 8 + 1000);
        assert_eq!(received.vnet[0] & 1, 1, "the checksum is still to be completed");
    });
}

/// Datagrams of a namespace whose sockets ask for no stamp are given one all the same as long as anybody does.
struct Bystander(UdpSocket);

impl Bystander {
    fn new() -> Self {
        let namespace = NetNs::create().unwrap();
        let mut netlink = Netlink::open(&namespace).unwrap();
        let loopback = netlink.link("lo").unwrap().index;
        netlink.set_up(loopback).unwrap();
        let socket = namespace.inside(|| UdpSocket::bind("127.0.0.1:0").unwrap()).unwrap();
        let tell = TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE;
        setsockopt(&socket, sockopt::Timestamping, &tell).unwrap();
        Self(socket)
    }

    fn is_stamped(&self) -> bool {
        self.0.send_to(&[3], self.0.local_addr().unwrap()).unwrap();
        let (mut space, mut control) = ([0], nix::cmsg_space!(Timestamps));
        let mut parts = [IoSliceMut::new(&mut space)];
        let flags = MsgFlags::empty();
        recvmsg::<()>(self.0.as_raw_fd(), &mut parts, Some(&mut control), flags)
            .unwrap()
            .cmsgs()
            .unwrap()
            .next()
            .is_some()
    }

    /// The kernel switches some moments after it was asked, and other tests may have sockets with stamps.
    fn is_soon_stamped(&self, wanted: bool) -> bool {
        let end = Instant::now() + Duration::from_secs(20);
        while Instant::now() < end && self.is_stamped() != wanted {
            std::thread::sleep(Duration::from_millis(1));
        }
        Instant::now() < end
    }
}

#[test]
fn stamps_that_are_given_back_cost_nobody_anything() {
    isolated("packet::stamps_that_are_given_back_cost_nobody_anything", || {
        let bystander = Bystander::new();
        if !bystander.is_soon_stamped(false) {
            skip!("machine too busy: a program wants stamps all the time");
        }
        let pair = Pair::new(ReceiveForm::Calls);
        assert!(bystander.is_soon_stamped(true), "a new socket has stamps");
        for socket in [&pair.near, &pair.far] {
            socket.stamp(false).unwrap();
        }
        let given_back = bystander.is_soon_stamped(false);
        pair.far.stamp(true).unwrap();
        assert!(bystander.is_soon_stamped(true), "asked for once more");
        drop(pair);
        if !given_back && !bystander.is_soon_stamped(false) {
            skip!("machine too busy: a program began to want stamps");
        }
        assert!(given_back, "given back with the sockets alone");
    });
}
