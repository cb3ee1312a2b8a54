//! A path with an MTU of its own: two hosts in namespaces.

use std::sync::Arc;
use std::sync::Mutex;

use btu_core::file::sample::Direction;
use btu_core::file::sample::Operation;
use btu_core::file::sample::Trial;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::PathSettings;
use btu_engine::file::service::Service;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Netlink;

use super::assert_whole;
use super::built;
use super::service;
use super::trial;
use crate::isolated::isolated;
use crate::veth;

/// The link of both hosts.
#[derive(Debug)]
struct Link([Arc<NetNs>; 2]);

impl PathSettings for Link {
    fn set_offload(&self, _: bool) -> Result<(), EngineError> {
        unreachable!("a file service leaves offload as it is")
    }

    fn set_mtu(&self, mtu: Option<Bytes>) -> Result<(), EngineError> {
        let mtu = mtu.map_or(1500, |mtu| u32::try_from(mtu.count()).unwrap());
        for host in &self.0 {
            let mut netlink = Netlink::open(host)?;
            let link = netlink.link(veth::LINK)?.index;
            netlink.set_mtu(link, mtu)?;
        }
        Ok(())
    }
}

/// A link one end of which refuses large packets: what it was told.
#[derive(Clone, Debug, Default)]
struct HalfFixed(Arc<Mutex<Vec<Option<Bytes>>>>);

impl PathSettings for HalfFixed {
    fn set_offload(&self, _: bool) -> Result<(), EngineError> {
        unreachable!("a file service leaves offload as it is")
    }

    fn set_mtu(&self, mtu: Option<Bytes>) -> Result<(), EngineError> {
        self.0.lock().unwrap().push(mtu);
        let refused = || EngineError::Refused("the far end has no such MTU".to_owned());
        mtu.map_or(Ok(()), |_| Err(refused()))
    }
}

fn mtu(host: &NetNs) -> u32 {
    Netlink::open(host).unwrap().link(veth::LINK).unwrap().mtu
}

#[test]
fn a_trial_has_the_mtu_that_it_asks_for_and_leaves_the_path_as_it_was() {
    let name = "file_service::path::\
                a_trial_has_the_mtu_that_it_asks_for_and_leaves_the_path_as_it_was";
    isolated(name, || {
        let [a, b] = veth::hosts();
        let hosts = [&a, &b].map(|host| host.place.net.clone().unwrap());
        let mut service = Service::between(a, b, Nanos::from_secs(60), Arc::default());
        service.path = Some(Box::new(Link(hosts.clone())));
        for protocol in built() {
            for mtu_bytes in [Some(Bytes::new(4144)), None] {
                let base = trial(protocol.name(), Operation::Put);
                let wanted = Trial { direction: Direction::Both, mtu_bytes, ..base };
                let seen = service.trial(&wanted);
                seen.clients.iter().for_each(|client| assert_whole(client, &wanted));
                assert_eq!(seen.path_mtu_bytes, mtu_bytes.or(Some(Bytes::new(1500))));
                assert!(seen.offload.is_some());
            }
        }
        service.trial(&Trial { mtu_bytes: Some(Bytes::new(9000)), ..trial("ftp", Operation::Put) });
        assert_eq!(mtu(&hosts[1]), 9000);
        drop(service);
        assert_eq!(mtu(&hosts[1]), 1500);
    });
}

#[test]
fn an_mtu_that_is_refused_fails_its_trial_and_stays_at_neither_end() {
    let link = HalfFixed::default();
    let mut service = service();
    service.path = Some(Box::new(link.clone()));
    let large = Some(Bytes::new(9000));
    for _ in 0..2 {
        let seen = service.trial(&Trial { mtu_bytes: large, ..trial("tcp-rpc", Operation::Call) });
        assert_eq!(seen.clients[0].failure.as_deref(), Some("the far end has no such MTU"));
        assert_eq!(std::mem::take(&mut *link.0.lock().unwrap()), [large, None]);
    }
    let usual = trial("tcp-rpc", Operation::Call);
    assert_whole(&service.trial(&usual).clients[0], &usual);
}
