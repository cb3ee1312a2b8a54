//! Packets of the simulation: IPv4 and TCP headers without payload.

use super::PEER_FIRST;
use super::Reply;
use super::SCALE;
use super::Segment;

/// Length on the wire, and the headers.
type Frame = (u32, Vec<u8>);

pub(super) fn syn(number: u32, acknowledged: Option<u32>, window: u64) -> Frame {
    let options = [2, 4, 5, 180, 1, 3, 3, SCALE, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0];
    let flags = if acknowledged.is_some() { 0x12 } else { 0x02 };
    let is_from_sender = acknowledged.is_none();
    let window = u16::try_from(window.min(65_535)).unwrap();
    build(is_from_sender, 0, [number, acknowledged.unwrap_or(0)], [flags, 0], window, &options, 0)
}

pub(super) fn data(first: u32, segment: &Segment) -> Frame {
    let sequence = first.wrapping_add(1).wrapping_add(wrapped(segment.start));
    let payload = u32::try_from(segment.end - segment.start).unwrap();
    let numbers = [sequence, PEER_FIRST + 1];
    build(true, segment.number, numbers, [0x10, 0], 512, &stamps(segment.stamp, 0), payload)
}

pub(super) fn reply(first: u32, reply: &Reply) -> Frame {
    let number = |place: u64| first.wrapping_add(1).wrapping_add(wrapped(place));
    let mut options = stamps(reply.echo, reply.echo);
    if reply.count > 0 {
        options.extend([1, 1, 5, u8::try_from(2 + reply.count * 8).unwrap()]);
        for (start, end) in &reply.sacks[..reply.count] {
            options.extend(number(*start).to_be_bytes());
            options.extend(number(*end).to_be_bytes());
        }
    }
    let window = u16::try_from((reply.window >> SCALE).min(65_535)).unwrap();
    let numbers = [PEER_FIRST + 1, number(reply.acknowledged)];
    build(false, 0, numbers, [0x10, 0], window, &options, 0)
}

fn stamps(own: u32, echo: u32) -> Vec<u8> {
    [&[1, 1, 8, 10][..], &own.to_be_bytes(), &echo.to_be_bytes()].concat()
}

/// The number of a place, which wraps every 4 GiB.
fn wrapped(place: u64) -> u32 {
    u32::try_from(place & 0xffff_ffff).unwrap()
}

fn build(
    is_from_sender: bool,
    number: u16,
    numbers: [u32; 2],
    [flags, _]: [u8; 2],
    window: u16,
    options: &[u8],
    payload: u32,
) -> Frame {
    let header = 20 + options.len();
    let total = u32::try_from(20 + header).unwrap() + payload;
    let mut out = vec![0x45, 0];
    out.extend(u16::try_from(total).unwrap().to_be_bytes());
    out.extend(number.to_be_bytes());
    out.extend([0x40, 0, 64, 6, 0, 0]);
    let ends = [[10, 0, 0, 1], [10, 0, 0, 2]];
    let ports = [40_000_u16, 5_001];
    let (from, to) = if is_from_sender { (0, 1) } else { (1, 0) };
    out.extend([ends[from], ends[to]].concat());
    out.extend([ports[from].to_be_bytes(), ports[to].to_be_bytes()].concat());
    out.extend(numbers.map(u32::to_be_bytes).concat());
    out.extend([u8::try_from(header / 4).unwrap() << 4, flags]);
    out.extend(window.to_be_bytes());
    out.extend([0; 4]);
    out.extend(options);
    (total, out)
}
