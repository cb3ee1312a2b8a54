//! Probes over loopback, where the answers are known.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::role::Role;
use btu_core::units::Nanos;
use btu_engine::Place;
use btu_engine::prober::Path;

fn loopback() -> Path {
    let address = "127.0.0.1".parse().unwrap();
    let (near, far) = (Place::here(Role::Test), Place::here(Role::Active));
    Path { near, near_address: address, far, far_address: address, cancel: Arc::default() }
}

const PATIENCE: Nanos = Nanos::from_secs(5);

#[test]
fn every_round_trip_over_loopback_comes_back() {
    for path in [loopback(), loopback().reversed()] {
        let trips = path.round_trips(50, PATIENCE).unwrap();
        assert_eq!(trips.len(), 50);
        assert!(trips.iter().all(|trip| trip.is_some_and(|trip| trip > Nanos::ZERO)), "{trips:?}");
    }
}

#[test]
fn loopback_loses_no_counted_packet() {
    let counted = loopback().counted_packets(2000, Nanos::from_micros(5), PATIENCE).unwrap();
    assert_eq!((counted.sent, counted.repeated), (2000, 0));
    assert_eq!(counted.missing, Vec::<u64>::new());
}

#[test]
fn a_bulk_transfer_has_a_rate() {
    let rate = loopback().bulk_rate(Nanos::from_millis(30)).unwrap();
    assert!(rate.bit_per_second() > 0);
}

#[test]
fn an_address_of_nobody_is_named() {
    let mut path = loopback();
    path.far_address = "192.0.2.1".parse().unwrap();
    let fault = path.round_trips(1, PATIENCE).unwrap_err().to_string();
    assert_eq!(fault, "bind 192.0.2.1:0");
}

#[test]
fn traffic_that_is_cancelled_ends_with_what_came_until_then() {
    let path = loopback();
    path.cancel.store(true, Relaxed);
    let trips = path.round_trips(50, PATIENCE).unwrap();
    assert_eq!(trips, []);
}
