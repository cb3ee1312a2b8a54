//! Options, single calls and ends of sockets, over loopback.

use super::*;

/// A connected pair over loopback, both ends with these options.
fn pair(settings: &Settings) -> (TcpStream, TcpStream) {
    let listener = listen("127.0.0.1:0".parse().unwrap(), settings).unwrap();
    let address = listener.local_addr().unwrap();
    let near = connect(address, settings, Duration::from_secs(5)).unwrap();
    let (far, _) = listener.accept().unwrap();
    (near, far)
}

#[test]
fn options_read_back_as_the_kernel_has_them() {
    let settings = Settings {
        nodelay: Some(true),
        send_buffer: Some(4096),
        receive_buffer: Some(4096),
        window_clamp: Some(4096),
        ..Settings::default()
    };
    let (near, far) = pair(&settings);
    for end in [Effective::of(&near), Effective::of(&far)] {
        assert_eq!(end.nodelay, Some(true));
        assert_eq!((end.send_buffer, end.receive_buffer), (Some(8192), Some(8192)));
        assert_eq!(end.window_clamp, Some(4096));
        assert!(end.congestion.is_some_and(|name| !name.is_empty()));
    }
}

#[test]
fn what_waits_to_be_sent_is_read_back_where_it_was_set() {
    let (near, _far) = pair(&Settings::default());
    assert_eq!(Effective::of(&near).not_sent_low_water, Some(0));
    option::set(&near, NOT_SENT_LOW_WATER, 131_072_u32).unwrap();
    assert_eq!(Effective::of(&near).not_sent_low_water, Some(131_072));
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    let other = Effective::of(&datagrams);
    assert_eq!((other.not_sent_low_water, other.negotiated), (None, None));
}

/// What a listening socket has, those that it accepts have.
#[test]
fn a_pace_is_inherited_by_accepted_connections() {
    let settings = Settings { pacing_byte_s: Some(125_000), ..Settings::default() };
    let (_near, far) = pair(&settings);
    let rate = option::get(&far, (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE), 0_u64);
    assert_eq!(rate.unwrap(), 125_000);
}

#[test]
fn the_system_keeps_what_nobody_set() {
    let (near, _far) = pair(&Settings::default());
    let end = Effective::of(&near);
    assert_eq!(end.nodelay, Some(false));
    assert!(end.mss.is_some_and(|mss| mss > 500));
}

/// What fits into the device's largest packet goes in one, and what the kernel would have to cut does not go.
#[test]
fn what_nobody_may_fragment_is_as_long_as_the_device_takes_it() {
    let devices = crate::device::Devices::here().unwrap();
    let mtu = usize::try_from(devices.mtu("lo").unwrap()).unwrap();
    // A length of 16 bits counts the header of IPv4, and not that of IPv6.
    for (address, headers, longest) in [("127.0.0.1:0", 28, 65_535), ("[::1]:0", 48, 65_575)] {
        let Ok(far) = UdpSocket::bind(address) else { continue };
        let near = bind_udp(address.parse().unwrap(), 1 << 20).unwrap();
        near.connect(far.local_addr().unwrap()).unwrap();
        forbid_fragments(&near).unwrap();
        let room = mtu.min(longest) - headers;
        assert_eq!(send(near.as_fd(), &vec![0; room]).unwrap(), room, "{address}");
        let refused = send(near.as_fd(), &vec![0; room + 1]).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EMSGSIZE), "{address}");
    }
}

#[test]
fn one_call_moves_one_message() {
    let (near, far) = pair(&Settings::default());
    assert_eq!(send(near.as_fd(), b"bits").unwrap(), 4);
    let mut space = [0; 16];
    assert_eq!(recv(far.as_fd(), &mut space).unwrap(), 4);
    assert_eq!(&space[..4], b"bits");
}

#[test]
fn a_connection_that_was_begun_is_recognised_by_its_address() {
    let settings = Settings::default();
    let listener = listen("127.0.0.1:0".parse().unwrap(), &settings).unwrap();
    let near = begin_connect(listener.local_addr().unwrap(), &settings).unwrap();
    let (far, from) = listener.accept().unwrap();
    assert_eq!(near.local_addr().unwrap(), from);
    mark_packets(&near, 46).unwrap();
    assert_eq!(unread(&far).unwrap(), 0);
    while send(near.as_fd(), b"bits").is_err() {}
    // What was sent arrives before the end of the stream does.
    drop(near);
    assert_eq!(far.peek(&mut [0; 16]).unwrap(), 4);
    assert_eq!(unread(&far).unwrap(), 4);
}

#[test]
fn an_abort_ends_a_blocked_receive() {
    let (near, _far) = pair(&Settings::default());
    let blocked = std::thread::spawn({
        let near = near.try_clone().unwrap();
        move || recv(near.as_fd(), &mut [0; 16]).unwrap()
    });
    abort(&near);
    assert_eq!(blocked.join().unwrap(), 0);
    assert_eq!(send(near.as_fd(), b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}

#[test]
fn an_abort_ends_a_blocked_accept() {
    let listener = listen("127.0.0.1:0".parse().unwrap(), &Settings::default()).unwrap();
    let blocked = std::thread::spawn({
        let listener = listener.try_clone().unwrap();
        move || listener.accept().unwrap_err()
    });
    abort(&listener);
    assert_eq!(blocked.join().unwrap().kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn a_bounded_wait_ends_by_itself() {
    let listener = listen("127.0.0.1:0".parse().unwrap(), &Settings::default()).unwrap();
    bound_waits(&listener, Duration::from_millis(1)).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    let (near, _far) = pair(&Settings::default());
    bound_waits(&near, Duration::from_millis(1)).unwrap();
    assert_eq!(recv(near.as_fd(), &mut [0; 16]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn a_reset_discards_what_was_not_sent() {
    let small = Settings { receive_buffer: Some(4096), ..Settings::default() };
    let (near, far) = pair(&small);
    reset_on_close(&near).unwrap();
    assert_closing_discards(near, &far);
    // What a listening socket has, those that it accepts have.
    let (near, far) = pair(&Settings { reset_on_close: true, ..small });
    assert_closing_discards(far, &near);
}

fn assert_closing_discards(near: TcpStream, far: &TcpStream) {
    near.set_nonblocking(true).unwrap();
    let sent: usize = std::iter::from_fn(|| send(near.as_fd(), &[0; 4096]).ok()).sum();
    drop(near);
    let mut read = 0;
    let end = loop {
        match recv(far.as_fd(), &mut [0; 4096]) {
            Ok(count) => read += count,
            Err(cause) => break cause.kind(),
        }
    };
    assert_eq!(end, io::ErrorKind::ConnectionReset);
    assert!(read < sent, "read {read} of {sent}");
}

#[test]
fn unread_bytes_are_unacknowledged_only_while_the_window_is_full() {
    let (near, far) = pair(&Settings { receive_buffer: Some(4096), ..Settings::default() });
    near.set_nonblocking(true).unwrap();
    while send(near.as_fd(), &[0; 4096]).is_ok() {}
    assert!(unacknowledged(&near).unwrap() > 0);
    drop(far);
}

#[test]
fn errors_name_operation_and_operand() {
    let address: SocketAddr = "192.0.2.1:1".parse().unwrap();
    let fault = listen(address, &Settings::default()).unwrap_err();
    assert_eq!(fault.to_string(), "bind 192.0.2.1:1");
    assert_eq!(fault.kind(), io::ErrorKind::AddrNotAvailable);
    let settings = Settings { congestion: Some("nosuch".to_owned()), ..Settings::default() };
    let fault = listen("127.0.0.1:0".parse().unwrap(), &settings).unwrap_err();
    assert_eq!(fault.to_string(), "set TCP_CONGESTION to nosuch");
}

#[test]
fn a_congestion_control_is_there_or_not_whoever_may_use_it() {
    assert!(has_congestion("reno").unwrap(), "every kernel has it");
    assert!(!has_congestion("nosuch").unwrap());
}
