//! Threads that fail beside others that would go on for an hour.

use std::net::Ipv4Addr;
use std::sync::Arc;

use btu_core::role::Role;
use btu_core::traffic::Drain;
use btu_core::traffic::sending::burst::Block;
use btu_core::traffic::sending::burst::Discipline;
use btu_core::traffic::sending::burst::Limits;
use btu_sys::socket::Settings;

use super::*;
use crate::place::Party;
use crate::time::now;
use crate::traffic::connect;
use crate::traffic::job::Carrier;
use crate::traffic::job::Offer;
use crate::wait::wait_until;

const HOUR: Nanos = Nanos::from_secs(3600);

fn flow(carrier: Carrier) -> Flow {
    Flow {
        from: 0,
        to: 1,
        address: None,
        carrier,
        port: 0,
        offer: Offer::Train {
            blocks: [Nanos::ZERO, HOUR].map(|due| Block { due, size: Bytes::new(1000) }).into(),
            discipline: Discipline::Queue,
            limits: Limits::default(),
        },
        start: Nanos::ZERO,
        duration: HOUR,
        write: Bytes::new(1000),
        read: Bytes::new(1000),
        drain: Drain::Yes,
        pace: None,
        code_point: None,
        has_receipts: false,
        held_to: None,
    }
}

/// How a job of a stream and of datagrams ends, each with threads of its own where there are CPUs for them.
fn ended(work: Work) -> Result<(), String> {
    let carrying = thread::spawn(move || {
        let party = |role| Party {
            place: Place::here(role),
            address: Ipv4Addr::LOCALHOST.into(),
            sockets: Settings::default(),
        };
        let parties = [Role::Test, Role::Active].map(party);
        let flows = [Carrier::Udp, Carrier::Tcp(Settings::default())].map(flow);
        let cancel = Arc::default();
        let job = Job { parties: &parties, flows: &flows, linger: HOUR, stall: HOUR, cancel };
        let ends = connect::connect(&job).unwrap();
        carry_by(&work, &job, &ends, now()).map(drop).map_err(|cause| cause.sentence())
    });
    wait_until("the job ended", || carrying.is_finished());
    carrying.join().unwrap()
}

fn has_first(crew: &Crew<'_>) -> bool {
    crew.members.iter().any(|member| member.number == 0)
}

#[test]
fn a_thread_that_panics_ends_the_job_and_is_named() {
    let send = |job: &Job<'_>, crew: &Crew<'_>, begin| {
        assert!(!has_first(crew), "lost its place");
        sender::run(job, crew, begin)
    };
    let told = ended(Work { send, ..OVER_SOCKETS });
    assert_eq!(told, Err("thread traffic-send panicked: lost its place".to_owned()));
    let receive = |job: &Job<'_>, crew: &Crew<'_>, begin| {
        assert!(!has_first(crew), "lost its place");
        receiver::run(job, crew, begin)
    };
    let told = ended(Work { receive, ..OVER_SOCKETS });
    assert_eq!(told, Err("thread traffic-sink panicked: lost its place".to_owned()));
    let told = ended(Work { watch: |_, _, _| panic!("blind"), ..OVER_SOCKETS });
    assert_eq!(told, Err("thread traffic-watch panicked: blind".to_owned()));
}

#[test]
fn a_thread_that_fails_ends_the_job_with_its_cause() {
    let send = |job: &Job<'_>, crew: &Crew<'_>, begin| {
        let refused = || EngineError::Refused("no room".to_owned());
        if has_first(crew) { Err(refused()) } else { sender::run(job, crew, begin) }
    };
    assert_eq!(ended(Work { send, ..OVER_SOCKETS }), Err("no room".to_owned()));
}
