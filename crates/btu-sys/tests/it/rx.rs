//! Rx by the library of the machine, in the process of this test.

use std::io;
use std::net::Ipv4Addr;
use std::net::SocketAddrV4;
use std::net::UdpSocket;

use btu_sys::rx;
use btu_sys::rx::Client;

#[test]
fn rx_starts_once_in_a_process_and_tells_where_nobody_answers() {
    if !rx::is_installed() {
        skip!("library missing: {}", rx::LIBRARY);
    }
    let client = Client::start().unwrap();
    let again = Client::start().unwrap_err();
    assert_eq!(again.to_string(), "start Rx at 0.0.0.0:0");
    let gone = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut connection =
        client.connect(SocketAddrV4::new(Ipv4Addr::LOCALHOST, gone.port()), 147).unwrap();
    let mut call = connection.call().unwrap();
    let told = call.read(&mut [0; 4]).unwrap_err();
    assert_eq!(told.kind(), io::ErrorKind::ConnectionAborted, "{told}");
    assert!(rx::statistics().is_some_and(|sent| sent.datagrams > 0));
}
