//! RFC 6349: how well TCP uses a path whose round trip and bandwidth were measured before.

use super::Method;
use super::frames::Frame;
use super::frames::throughput;
use super::nothing_chosen;
use crate::traffic::course::SoFar;
use crate::traffic::figures::flow::rounded;
use crate::traffic::figures::path_mtu::LEAST_TIMER;
use crate::traffic::language::recipe;
use crate::traffic::language::settings::MSS;
use crate::traffic::language::settings::WINDOW;
use crate::traffic::plan::Cell;
use crate::traffic::plan::Course;
use crate::traffic::plan::Group;
use crate::traffic::plan::Probe;
use crate::traffic::probe::PathMtuFigures;
use crate::traffic::trace::float;
use crate::units::Bytes;
use crate::units::Nanos;

pub(in crate::traffic) static METHOD: Method = Method {
    name: "rfc6349",
    about: "transfer time ratio, TCP efficiency and buffer delay over the window",
    source: "RFC 6349, sections 3.1 (path MTU, by RFC 8899), 3.2 (round trip), 3.3 (bandwidth, by the throughput of full frames), 4 \
             (windows of a quarter to twice the bandwidth-delay product)",
    differs: &["no window below 8 KiB or above 512 MiB"],
    trial: "transfers",
    time: Nanos::from_secs(30),
    short_time: Nanos::from_secs(3),
    frames: &[],
    repeats: 1,
    width: super::WIDTH,
    chosen: nothing_chosen,
    next,
};

fn next(seen: &SoFar<'_>) -> Option<Cell> {
    let idle = Cell {
        group: Group::Idle,
        label: "small blocks on the idle path".to_owned(),
        x: 1.0,
        sessions: 1,
        scenario: recipe::bursts("burstq", recipe::TCP, Bytes::new(64), IDLE_PERIOD, IDLE),
        ..Cell::default()
    };
    let mtu = Cell {
        group: Group::PathMtu,
        label: "path MTU".to_owned(),
        x: 1.0,
        sessions: 1,
        probe: Some(probe(seen.course)),
        ..Cell::default()
    };
    seen.until(mtu, 1)
        .or_else(|| seen.until(idle, 1))
        .or_else(|| throughput(seen, full_frame(path_mtu(seen).as_ref())))
        .or_else(|| transfers(seen))
}

/// The transfers, where the path carries segments of any size that a socket takes.
fn transfers(seen: &SoFar<'_>) -> Option<Cell> {
    let is_too_small = path_mtu(seen).is_some_and(|found| too_small(&found).is_some());
    if is_too_small {
        return None;
    }
    windows(seen)?.into_iter().find_map(|window| transfer(seen, &window))
}

/// Why no transfer is made on a path: no connection can be told to have segments that fit.
pub(in crate::traffic) fn too_small(found: &PathMtuFigures) -> Option<String> {
    let least = *MSS.start() + headers(found.over_ipv6);
    let mtu = found.path_mtu.filter(|mtu| *mtu < least && *mtu < found.device)?;
    Some(format!(
        "no transfers: the path carries packets of {} B, and Linux has TCP segments of at least {} B \
         (TCP_MAXSEG), in packets of {} B",
        mtu.count(),
        MSS.start().count(),
        least.count()
    ))
}

/// Headers of IP and TCP without options.
fn headers(over_ipv6: bool) -> Bytes {
    Bytes::new(if over_ipv6 { 60 } else { 40 })
}

/// The search for the path MTU: the time that RFC 8899 asks for, and less of it in a short course.
pub(in crate::traffic) fn probe(course: &Course) -> Probe {
    let share = Nanos::new(course.time_ns.count() / TIMERS_OF_A_TRANSFER);
    Probe::PathMtu { timer_ns: share.clamp(SHORTEST_TIMER, LEAST_TIMER) }
}

/// What was found of the path MTU so far.
fn path_mtu(seen: &SoFar<'_>) -> Option<PathMtuFigures> {
    let made = seen.made().find(|made| made.cell.group == Group::PathMtu)?;
    made.run.probe.as_ref()?.path_mtu()
}

/// The frame of the largest packet of the path; that of 1500 B where nobody knows it. Frames are counted as those of
/// IPv4: over IPv6 the same payload is in a packet that is 20 B longer.
pub(in crate::traffic) fn full_frame(found: Option<&PathMtuFigures>) -> Frame {
    let known = found.and_then(|found| {
        let beyond_ipv4 = if found.over_ipv6 { 20 } else { 0 };
        let packet = found.path_mtu?.count().saturating_sub(beyond_ipv4);
        u32::try_from(packet + ETHERNET).ok()
    });
    known.map_or(FULL_FRAME, Frame)
}

/// What a segment of this frame holds, with the option of timestamps that Linux has in each.
fn payload(frame: Frame) -> Bytes {
    let segment = u64::from(frame.0).saturating_sub(ETHERNET + headers(false).count());
    Bytes::new(segment.clamp(MSS.start().count(), MSS.end().count()) - TIMESTAMPS)
}

/// The transport of a transfer, as a scenario may say it. Where packets of the device do not come through, segments are as
/// small as the path wants them, whether or not its routers say so.
fn transport(window: u64, found: Option<&PathMtuFigures>) -> String {
    let smaller = found.and_then(|found| {
        let mtu = found.path_mtu.filter(|mtu| *mtu < found.device)?;
        Some(mtu.saturating_sub(headers(found.over_ipv6)).clamp(*MSS.start(), *MSS.end()))
    });
    match smaller {
        Some(segment) => format!("tcp(window={window} B, mss={} B)", segment.count()),
        None => format!("tcp(window={window} B)"),
    }
}

/// A window, and how many bandwidth-delay products it is.
struct Share {
    window: Bytes,
    of_product: f64,
}

/// The shares that are wanted, as far as windows go; those that come to one window are one.
fn windows(seen: &SoFar<'_>) -> Option<Vec<Share>> {
    let product = product(seen)?;
    let window = |wanted: &f64| {
        let window = Bytes::new(rounded(product * wanted)).clamp(LEAST_WINDOW, *WINDOW.end());
        Share { window, of_product: (float(window.count()) / product * 1e3).round() / 1e3 }
    };
    let mut windows: Vec<Share> = WANTED.iter().map(window).collect();
    windows.dedup_by_key(|share| share.window);
    Some(windows)
}

/// The bandwidth-delay product of the idle path (3.3.1), bytes of payload: a window counts no headers.
fn product(seen: &SoFar<'_>) -> Option<f64> {
    let rtt = seen
        .made()
        .find(|made| made.cell.group == Group::Idle)
        .and_then(|made| made.run.flows().next()?.least_rtt_ns)?;
    let full = full_frame(path_mtu(seen).as_ref());
    let frames_s = float(seen.bounds(full)?.lower?.bit_per_second()) / full.wire_bits();
    let product = frames_s * float(payload(full).count()) * rtt.seconds();
    (product > 0.0).then_some(product)
}

/// A full stream with this window.
fn transfer(seen: &SoFar<'_>, share: &Share) -> Option<Cell> {
    let transport = transport(share.window.count(), path_mtu(seen).as_ref());
    let cell = Cell {
        group: Group::Transfer,
        label: format!("window {} B, {} of the product", share.window.count(), share.of_product),
        x: share.of_product,
        sessions: 1,
        scenario: recipe::full_over(&transport, Bytes::new(64 << 10), seen.course.time_ns),
        ..Cell::default()
    };
    seen.until(cell, seen.course.repeats)
}

/// The frame by which the bandwidth is measured where nobody knows the path MTU.
const FULL_FRAME: Frame = Frame(1518);
/// Header and checksum of a frame.
const ETHERNET: u64 = 18;
/// The TCP option, padded.
const TIMESTAMPS: u64 = 12;
/// 30 s of a transfer, 1 s of a timer.
const TIMERS_OF_A_TRANSFER: u64 = 30;
/// On a path without delay, while others use the CPU.
const SHORTEST_TIMER: Nanos = Nanos::from_millis(100);
/// Windows in bandwidth-delay products.
const WANTED: [f64; 5] = [0.25, 0.5, 0.75, 1.0, 2.0];
/// Below, a connection has hardly a segment under way.
const LEAST_WINDOW: Bytes = Bytes::new(8 << 10);
const IDLE: Nanos = Nanos::from_millis(500);
const IDLE_PERIOD: Nanos = Nanos::from_millis(20);
