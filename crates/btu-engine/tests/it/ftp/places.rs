//! The server and the activity in a network of their own.

use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::sync::Arc;

use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::Place;
use btu_engine::activity;
use btu_engine::activity::Setup;
use btu_engine::file::ftp::Access;
use btu_engine::file::ftp::Client;
use btu_engine::file::ftp::Server;
use btu_engine::file::ftp::Serving;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Netlink;

use crate::isolated::isolated;

/// A host whose network is its own loopback.
fn apart(role: Role) -> Place {
    let net = NetNs::create().unwrap();
    let mut netlink = Netlink::open(&net).unwrap();
    let loopback = netlink.link("lo").unwrap().index;
    netlink.set_up(loopback).unwrap();
    Place { net: Some(Arc::new(net)), ..Place::here(role) }
}

#[test]
fn every_connection_stays_in_the_network_of_its_place() {
    isolated("ftp::places::every_connection_stays_in_the_network_of_its_place", || {
        let place = apart(Role::Active);
        let serving = Serving::at(place.clone(), IpAddr::V4(Ipv4Addr::LOCALHOST));
        let server = Server::start(serving).unwrap();
        let access = Access::anonymous(server.address());
        Client::connect(&access).unwrap_err();
        let inside = place.net.as_ref().unwrap();
        let sent = inside.inside(|| {
            let mut client = Client::connect(&access).unwrap();
            super::send_all(client.store("/x").unwrap(), b"bits");
            super::receive_all(client.retrieve("/x").unwrap())
        });
        assert_eq!(sent.unwrap(), b"bits");
        let setup = Setup {
            place: Place { role: Role::Test, ..place },
            cpu_threads: None,
            io_directory: ".".into(),
            io_file: Bytes::new(1),
            ftp_transfer: Bytes::new(100_000),
            ftp_server: Some(Access::anonymous(server.address())),
        };
        let ftp = activity::by_name("ftp").unwrap().prepare(&setup).unwrap();
        let (cap, never) = (Nanos::from_secs(30), false.into());
        let sample = activity::alone_fixed(&*ftp, &setup.place, 4.0, cap, &never).unwrap();
        assert_eq!(sample.failures, Vec::<String>::new());
        assert!(sample.units >= 4.0);
    });
}
