//! The server's side of the dialogue: order, refusals, nonsense, limits.

use std::io::ErrorKind;
use std::io::Read;
use std::io::Write;
use std::net::Ipv4Addr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::time::Duration;

use btu_engine::file::ftp::Access;
use btu_engine::file::ftp::Client;
use btu_engine::file::ftp::Login;
use btu_engine::file::ftp::Server;
use btu_engine::file::ftp::Serving;
use proptest::prelude::*;

use super::raw::Raw;

#[test]
fn a_client_that_did_not_log_in_gets_nothing() {
    let server = super::server();
    let mut raw = Raw::connect(&server);
    raw.hear();
    for command in ["RETR /zero/1", "EPSV", "PASV", "LIST", "PWD", "DELE x", "SIZE /zero/1"] {
        raw.expect(command, 530);
    }
    raw.expect("PASS x", 503);
    raw.expect("FEAT", 211);
    raw.expect("SYST", 215);
    raw.expect("NOOP", 200);
}

#[test]
fn a_wrong_password_is_refused_three_times_and_then_the_connection_ends() {
    let mut serving = super::serving();
    serving.login = Login::Only { user: "btu".to_owned(), password: "secret".to_owned() };
    let server = Server::start(serving).unwrap();
    let mut raw = Raw::connect(&server);
    raw.hear();
    for _ in 0..3 {
        raw.expect("USER btu", 331);
        raw.expect("PASS wrong", 530);
    }
    assert_eq!(raw.hear(), "");
    Client::connect(&Access::anonymous(server.address())).unwrap_err();
    let mut access = Access::anonymous(server.address());
    (access.user, access.password) = ("btu".to_owned(), "secret".to_owned());
    Client::connect(&access).unwrap().close().unwrap();
}

/// Nothing tells a stranger that an FTP server is there, and none takes the place of the client.
#[test]
fn a_server_for_one_address_hears_nobody_else() {
    let for_client = |client: &str, listen: &str| {
        let mut serving = Serving { client: Some(client.parse().unwrap()), ..super::serving() };
        serving.address.set_ip(listen.parse().unwrap());
        Server::start(serving)
    };
    let told = |server: &Server| {
        let at = (Ipv4Addr::LOCALHOST, server.address().port());
        let mut client = TcpStream::connect(at).unwrap();
        client.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let mut told = [0; 16];
        let count = client.read(&mut told).unwrap_or(0);
        String::from_utf8_lossy(&told[..count]).into_owned()
    };
    let others = for_client("127.0.0.9", "127.0.0.1").unwrap();
    for _ in 0..100 {
        assert_eq!(told(&others), "");
    }
    let own = for_client("::ffff:127.0.0.1", "127.0.0.1").unwrap();
    assert_eq!(told(&own), "220 btu ready\r\n");
    let Ok(both) = for_client("127.0.0.1", "::") else { return };
    assert_eq!(told(&both), "220 btu ready\r\n");
}

/// The server of an agent, which repeats nothing for ever.
fn bounded() -> Serving {
    let mut serving = super::serving();
    serving.sockets.user_timeout = Some(Duration::from_mins(1));
    serving.login = Login::Only { user: "btu".to_owned(), password: "secret".to_owned() };
    serving
}

/// Its connection is not reset: a last reply that is lost is said again.
#[test]
fn who_leaves_or_has_to_hears_the_last_reply_and_an_orderly_end_of_an_agents_server_too() {
    let server = Server::start(bounded()).unwrap();
    let mut leaving = Raw::connect(&server);
    leaving.hear();
    leaving.expect("QUIT", 221);
    assert_eq!(leaving.hear(), "");
    let mut guessing = Raw::connect(&server);
    guessing.hear();
    for _ in 0..3 {
        guessing.expect("USER btu", 331);
        guessing.expect("PASS wrong", 530);
    }
    assert_eq!(guessing.hear(), "");
}

/// Who says nothing for too long may have gone out of reach: nothing is said again.
#[test]
fn who_fell_silent_is_told_once_by_an_agents_server_and_reset() {
    let mut serving = bounded();
    serving.limits.control_idle = Duration::from_millis(20);
    let server = Server::start(serving).unwrap();
    let mut silent = Raw::connect(&server);
    silent.hear();
    assert!(silent.hear().starts_with("421"));
    let end = silent.control.read(&mut [0; 1]).unwrap_err();
    assert_eq!(end.kind(), ErrorKind::ConnectionReset);
}

/// RFC 959, 4.2: 500 for what is no command, 501 for a bad argument, 502 for what this server
/// leaves out, 503 and 425 for a bad order.
#[test]
fn malformed_commands_are_answered_and_the_session_goes_on() {
    let server = super::server();
    let mut raw = Raw::enter(&server);
    raw.expect("XYZZY", 500);
    raw.expect("", 500);
    raw.expect("RETR", 501);
    raw.expect("TYPE Q", 504);
    raw.expect("PORT 127,0,0,1,4,1", 502);
    raw.expect("RETR /zero/1", 425);
    raw.expect("STOR /x", 425);
    raw.expect("RETR /nothing", 550);
    raw.expect("RETR /zero/many", 550);
    raw.expect("STOR /nowhere/x", 550);
    raw.expect("STOR /random/5", 553);
    raw.expect("CWD /nothing", 550);
    raw.expect("EPSV 2", 522);
    raw.expect("EPSV ALL", 200);
    raw.expect("PASV", 503);
    raw.expect("ABOR", 226);
    raw.say(b"RETR \xff\xfe\xfd\r\n");
    assert!(raw.hear().starts_with("501"));
    raw.say(&[&[b'x'; 10_000][..], b"\r\n"].concat());
    assert!(raw.hear().starts_with("500"));
    raw.expect("NOOP", 200);
    raw.expect("QUIT", 221);
    assert_eq!(raw.hear(), "");
}

#[test]
fn commands_that_arrive_together_are_answered_in_order() {
    let server = super::server();
    let mut raw = Raw::enter(&server);
    raw.say(b"MKD a\r\nCWD a\nPWD\r\nCD");
    raw.say(b"UP\r\nPWD\r\n");
    let heard: Vec<String> = (0..5).map(|_| raw.hear()).collect();
    assert_eq!(heard[0], "257 \"/a\" made");
    assert_eq!(heard[2], "257 \"/a\" is the current directory");
    assert_eq!(heard[4], "257 \"/\" is the current directory");
}

#[test]
fn pasv_names_the_address_that_the_client_reached() {
    let server = super::server();
    let mut raw = Raw::enter(&server);
    let reply = raw.expect("PASV", 227);
    let numbers = reply.split(['(', ')']).nth(1).unwrap();
    let numbers: Vec<u16> = numbers.split(',').map(|n| n.parse().unwrap()).collect();
    assert_eq!(numbers[..4], [127, 0, 0, 1]);
    let port = numbers[4] * 256 + numbers[5];
    let mut data = TcpStream::connect(("127.0.0.1", port)).unwrap();
    raw.expect("RETR /zero/5", 150);
    let mut read = Vec::new();
    data.read_to_end(&mut read).unwrap();
    assert_eq!((read, raw.hear()), (vec![0; 5], "226 transfer complete".to_owned()));
}

#[test]
fn a_client_may_connect_after_the_command() {
    let server = super::server();
    let mut raw = Raw::enter(&server);
    let address = raw.data_address();
    raw.expect("APPE x", 150);
    TcpStream::connect(address).unwrap().write_all(b"be").unwrap();
    assert!(raw.hear().starts_with("226"));
    let address = raw.data_address();
    raw.expect("APPE x", 150);
    TcpStream::connect(address).unwrap().write_all(b"fore").unwrap();
    assert!(raw.hear().starts_with("226"));
    raw.expect("SIZE x", 213);
    let address = raw.data_address();
    raw.expect("RETR x", 150);
    let mut read = String::new();
    TcpStream::connect(address).unwrap().read_to_string(&mut read).unwrap();
    assert_eq!(read, "before");
}

#[test]
fn listings_show_what_is_there() {
    let server = super::server();
    let mut raw = Raw::enter(&server);
    raw.expect("MKD sub", 257);
    let mut listed = |command: &str| {
        let mut data = TcpStream::connect(raw.data_address()).unwrap();
        raw.expect(command, 150);
        let mut text = String::new();
        data.read_to_string(&mut text).unwrap();
        assert!(raw.hear().starts_with("226"));
        text
    };
    assert_eq!(listed("NLST"), "null\r\nrandom\r\nzero\r\nsub\r\n");
    let long = listed("LIST -la /");
    assert!(long.lines().all(|line| line.starts_with("drwx")), "{long}");
    assert_eq!(listed("NLST sub"), "");
    assert!(listed("LIST /zero/17").contains(" 17 "));
    raw.expect("RMD sub", 250);
    raw.expect("RMD sub", 550);
}

/// lftp ends a transfer so: it says ABOR, and keeps the data connection until it is answered.
#[test]
fn an_abort_ends_a_transfer_that_stands_still() {
    let server = super::server();
    let mut raw = Raw::enter(&server);
    for command in ["RETR /zero/1000000000000", "STOR x", "STOR /null/x"] {
        let data = TcpStream::connect(raw.data_address()).unwrap();
        raw.expect(command, 150);
        raw.say(b"\xff\xf4\xffABOR\r\n");
        assert!(raw.hear().starts_with("426"), "{command}");
        assert!(raw.hear().starts_with("226"), "{command}");
        drop(data);
    }
    raw.expect("SIZE x", 550);
}

/// Others close the data connection first.
#[test]
fn an_abandoned_transfer_is_reported_and_the_session_goes_on() {
    let server = super::server();
    let mut raw = Raw::enter(&server);
    let mut data = TcpStream::connect(raw.data_address()).unwrap();
    raw.expect("RETR /zero/1000000000000", 150);
    data.read_exact(&mut [0; 1000]).unwrap();
    drop(data);
    raw.say(b"\xff\xf4\xffABOR\r\n");
    assert!(raw.hear().starts_with("426"));
    assert!(raw.hear().starts_with("226"));
    raw.expect("NOOP", 200);
}

#[test]
fn one_session_too_many_is_told_so() {
    let mut serving = super::serving();
    serving.limits.sessions = 2;
    let server = Server::start(serving).unwrap();
    let (mut one, _two) = (Raw::enter(&server), Raw::enter(&server));
    assert!(Raw::connect(&server).hear().starts_with("421"));
    one.expect("QUIT", 221);
    assert_eq!(one.hear(), "");
    // The session of `one` ends by itself; its place is free as soon as its thread has ended.
    while !Raw::connect(&server).hear().starts_with("220") {}
}

#[test]
fn who_is_not_logged_in_takes_no_place() {
    let mut serving = super::serving();
    serving.limits.sessions = 2;
    let server = Server::start(serving).unwrap();
    let mut silent: Vec<Raw> = (0..3).map(|_| Raw::connect(&server)).collect();
    let _both = (Raw::enter(&server), Raw::enter(&server));
    assert!(Raw::connect(&server).hear().starts_with("421"));
    // Who was there before the places were taken is told when it logs in.
    let late = &mut silent[2];
    late.hear();
    late.expect("USER anonymous", 331);
    late.expect("PASS x", 421);
    assert_eq!(late.hear(), "");
}

#[test]
fn the_first_of_many_that_do_not_log_in_makes_room() {
    let mut serving = super::serving();
    serving.limits.sessions = 3;
    let server = Server::start(serving).unwrap();
    // Connections are taken in the order in which they came, and are heard before they have to go.
    let connected = |_| {
        let mut raw = Raw::connect(&server);
        assert!(raw.hear().starts_with("220"));
        raw
    };
    let mut silent: Vec<Raw> = (0..17).map(connected).collect();
    assert_eq!(silent[0].hear(), "");
    silent[1].expect("NOOP", 200);
    Raw::enter(&server).expect("NOOP", 200);
}

#[test]
fn silence_has_a_limit_on_data_connections() {
    let mut serving = super::serving();
    serving.limits.data_idle = Duration::from_millis(20);
    serving.limits.connect = Duration::from_millis(20);
    let server = Server::start(serving).unwrap();
    let mut raw = Raw::enter(&server);
    raw.data_address();
    raw.expect("RETR /zero/5", 150);
    assert!(raw.hear().starts_with("425"), "no data connection came");
    let _silent = TcpStream::connect(raw.data_address()).unwrap();
    raw.expect("STOR x", 150);
    assert!(raw.hear().starts_with("426"), "nothing came over the data connection");
    raw.expect("SIZE x", 550);
}

#[test]
fn silence_has_a_limit_on_the_control_connection() {
    let mut serving = super::serving();
    serving.limits.control_idle = Duration::from_millis(20);
    let server = Server::start(serving).unwrap();
    let mut raw = Raw::connect(&server);
    assert_eq!(raw.hear(), "220 btu ready");
    assert!(raw.hear().starts_with("421"), "nothing was said");
    assert_eq!(raw.hear(), "");
}

#[test]
fn an_address_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut serving = super::serving();
    serving.address = taken.local_addr().unwrap();
    let fault = Server::start(serving).unwrap_err().sentence();
    let address = taken.local_addr().unwrap();
    assert!(fault.contains(&address.to_string()) && fault.contains("in use"), "{fault}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn garbage_ends_no_server(garbage in prop::collection::vec(any::<u8>(), 0..20_000)) {
        let server = super::server();
        let mut raw = Raw::enter(&server);
        raw.say(&garbage);
        raw.say(b"\r\nQUIT\r\n");
        let mut said = Vec::new();
        // A QUIT in the garbage may close the connection before all of it was read.
        let _ = raw.control.read_to_end(&mut said);
        prop_assert!(said.split(|b| *b == b'\n').all(|l| l.is_empty() || l[0].is_ascii_digit() || l[0] == b' '));
        Raw::enter(&server).expect("NOOP", 200);
    }
}
